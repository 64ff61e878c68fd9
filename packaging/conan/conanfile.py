# SPDX-License-Identifier: Apache-2.0
"""Recipe for Conan 2, used from a clone: conan create packaging/conan --build=missing

tests/package runs its methods with a stand-in for Conan. It has not been run by Conan itself.
"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class ZkrecipesConan(ConanFile):
    name = "zkrecipes"
    description = "Locks between machines on ZooKeeper for C++17, in the spirit of Apache Curator"
    license = "Apache-2.0"
    topics = ("zookeeper", "distributed-lock", "curator")
    settings = "os", "arch", "compiler", "build_type"
    package_type = "library"
    options = {"shared": [True, False], "fPIC": [True, False], "tools": [True, False]}
    default_options = {"shared": False, "fPIC": True, "tools": False}
    implements = ["auto_shared_fpic"]

    def _clone(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._clone(), "include", "zkrecipes", "version.h"))
        parts = (re.search(rf"ZKRECIPES_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
        self.version = ".".join(parts)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "connection/*", "include/*", "recipes/*", "tools/*"):
            copy(self, pattern, src=self._clone(), dst=self.export_sources_folder)

    def requirements(self):
        # Programs include Boost through zkrecipes/asio.h, and link Boost.Thread, whose interruption ends waits.
        self.requires("boost/[>=1.74 <2]", transitive_headers=True, transitive_libs=True)
        self.requires("glog/[>=0.6 <0.7]")
        self.requires("zookeeper-client-c/[>=3.8 <4]")

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("zkrecipes is for Linux")
        check_min_cppstd(self, 17)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in ("BUILD_TESTS", "BUILD_EXAMPLES", "PRECOMPILE_HEADERS", "WARNINGS_AS_ERRORS"):
            toolchain.cache_variables[f"ZKRECIPES_{name}"] = False
        toolchain.cache_variables["ZKRECIPES_BUILD_TOOLS"] = bool(self.options.tools)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan writes these for each user of the package.
        for folder in ("cmake", "pkgconfig"):
            rmdir(self, os.path.join(self.package_folder, "lib", folder))

    def package_info(self):
        self.cpp_info.libs = ["zkrecipes"]
        self.cpp_info.system_libs = ["pthread"]
        self.cpp_info.requires = [
            "boost::headers",
            "boost::chrono",
            "boost::thread",
            "glog::glog",
            "zookeeper-client-c::zookeeper-client-c",
        ]
        self.cpp_info.set_property("cmake_file_name", "zkrecipes")
        self.cpp_info.set_property("cmake_target_name", "zkrecipes::zkrecipes")
        self.cpp_info.set_property("pkg_config_name", "zkrecipes")
