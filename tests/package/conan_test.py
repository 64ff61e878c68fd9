#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""conan_test.py SOURCE BUILD VERSION COMPILER GENERATOR: the recipe for Conan, as far as it can be checked without Conan.

A stand-in for the module "conan" has just what the recipe may use. The exported sources are configured for real, with the
options that the recipe sets and a stand-in for Conan's package of the C client; what is packaged is what the tested build
installs.
"""

import fnmatch
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import types

source, build, version, compiler, generator = sys.argv[1:]
work = tempfile.mkdtemp(prefix="zkrecipes-conan-")


class Settings:
    os = "Linux"


class Options:
    shared = False
    fPIC = True
    tools = True


class CppInfo:
    def __init__(self):
        self.properties = {}

    def set_property(self, name, value):
        self.properties[name] = value


class ConanFile:
    recipe_folder = os.path.join(source, "packaging", "conan")
    export_sources_folder = source_folder = os.path.join(work, "exported")
    package_folder = os.path.join(work, "package")

    def __init__(self):
        self.declared = self.options, self.settings
        self.options = Options()
        self.settings = Settings()
        self.cpp_info = CppInfo()
        self.required = []
        self.cppstd = None
        self.laid_out = False

    def requires(self, reference, transitive_headers=False, transitive_libs=False):
        self.required.append(reference.split("/")[0])


class ConanInvalidConfiguration(Exception):
    pass


class CMakeToolchain:
    variables = {}
    generated = False

    def __init__(self, recipe):
        self.cache_variables = CMakeToolchain.variables

    def generate(self):
        CMakeToolchain.generated = True


class CMakeDeps:
    generated = False

    def __init__(self, recipe):
        pass

    def generate(self):
        CMakeDeps.generated = True


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout}")
    return done.stdout


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self):
        options = [f"-D{name}={'ON' if value else 'OFF'}" for name, value in CMakeToolchain.variables.items()]
        output = run("cmake", "-S", self.recipe.source_folder, "-B", os.path.join(work, "build"), "-G", generator,
                     f"-DCMAKE_CXX_COMPILER={compiler}", f"-Dzookeeper-client-c_DIR={work}", *options)
        expect("Found ZooKeeper: zookeeper-client-c::zookeeper-client-c " in output, f"another C client:\n{output}")
        unused = output.partition("not used by the project:")[2].split()
        unknown = [name for name in unused if name.startswith("ZKRECIPES_")]
        if unknown:
            sys.exit(f"the recipe sets options that the project does not know: {unknown}")

    def build(self):
        run("cmake", "--build", os.path.join(work, "build"), "--target",
            "CMakeFiles/zkrecipes.dir/connection/zookeeper_errors.cpp.o")

    def install(self):
        run("cmake", "--install", build, "--prefix", self.recipe.package_folder)


def check_min_cppstd(recipe, standard):
    recipe.cppstd = standard


def cmake_layout(recipe):
    recipe.laid_out = True


def load(recipe, path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def copy(recipe, pattern, src, dst):
    names = []
    for folder, folders, files in os.walk(src):
        folders[:] = [name for name in folders if name not in ("build", ".git")]
        names += [os.path.relpath(os.path.join(folder, name), src) for name in files]
    for name in fnmatch.filter(names, pattern):
        target = os.path.join(dst, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(os.path.join(src, name), target)


def rmdir(recipe, path):
    if not os.path.isdir(path):
        sys.exit(f"the recipe removes {path}, which is not there")
    shutil.rmtree(path)


def provide(name, **members):
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


def expect(condition, text):
    if not condition:
        sys.exit(text)


def main():
    provide("conan", ConanFile=ConanFile)
    provide("conan.errors", ConanInvalidConfiguration=ConanInvalidConfiguration)
    provide("conan.tools")
    provide("conan.tools.build", check_min_cppstd=check_min_cppstd)
    provide("conan.tools.cmake", CMake=CMake, CMakeDeps=CMakeDeps, CMakeToolchain=CMakeToolchain, cmake_layout=cmake_layout)
    provide("conan.tools.files", copy=copy, load=load, rmdir=rmdir)
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("recipe", os.path.join(ConanFile.recipe_folder, "conanfile.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    recipe = module.ZkrecipesConan()

    expect(recipe.name == "zkrecipes" and recipe.license == "Apache-2.0", "name or license")
    options, settings = recipe.declared
    expect(set(options) == {"shared", "fPIC", "tools"} and "build_type" in settings, f"{options}, {settings}")
    recipe.set_version()
    expect(recipe.version == version, f"the recipe says version {recipe.version}, the library is {version}")
    recipe.requirements()
    expect(recipe.required == ["boost", "glog", "zookeeper-client-c"], f"requires {recipe.required}")
    recipe.validate()
    expect(recipe.cppstd == 17, "the standard is not checked")
    recipe.settings.os = "Windows"
    try:
        recipe.validate()
        sys.exit("Windows is accepted")
    except ConanInvalidConfiguration:
        recipe.settings.os = "Linux"
    recipe.layout()
    expect(recipe.laid_out, "there is no layout")

    # Conan's package of the C client has the headers without their folder.
    shutil.copytree("/usr/include/zookeeper", os.path.join(work, "include"))
    with open(os.path.join(work, "zookeeper-client-c-config.cmake"), "w", encoding="utf-8") as file:
        file.write(f"""find_library(zookeeper_mt zookeeper_mt REQUIRED)
add_library(zookeeper-client-c::zookeeper-client-c UNKNOWN IMPORTED)
set_target_properties(zookeeper-client-c::zookeeper-client-c PROPERTIES
  IMPORTED_LOCATION "${{zookeeper_mt}}" INTERFACE_INCLUDE_DIRECTORIES "{work}/include")
set(zookeeper-client-c_INCLUDE_DIRS "{work}/include")
""")
    recipe.export_sources()
    recipe.generate()
    expect(CMakeToolchain.generated and CMakeDeps.generated, "the files for CMake are not generated")
    recipe.build()
    link = os.path.join(work, "build", "zookeeper_headers", "zookeeper")
    expect(os.path.realpath(link) == os.path.realpath(os.path.join(work, "include")), f"{link} is not used")
    recipe.package()
    recipe.package_info()
    folder = recipe.package_folder
    expect(os.path.isfile(os.path.join(folder, "licenses", "LICENSE")), "there is no license")
    expect(os.path.isfile(os.path.join(folder, "include", "zkrecipes", "zkrecipes.h")), "there are no headers")
    for library in recipe.cpp_info.libs:
        names = [name for name in os.listdir(os.path.join(folder, "lib")) if name.startswith(f"lib{library}.")]
        expect(names, f"there is no library {library}")
    expect(recipe.cpp_info.properties["cmake_target_name"] == "zkrecipes::zkrecipes", "another target")
    for name in recipe.cpp_info.requires:
        expect(name.split("::")[0] in recipe.required, f"{name} is not required")
    print("the recipe for Conan does what it says")


try:
    main()
finally:
    shutil.rmtree(work)
