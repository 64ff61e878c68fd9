# SPDX-License-Identifier: Apache-2.0
"""Configures a project that consists of a block of CMake, and builds it if it uses the installed library."""

import re
import subprocess
import tempfile
from pathlib import Path

HEAD = "cmake_minimum_required(VERSION 3.25)\nproject(page LANGUAGES CXX)\n"
TARGET = re.compile(r"\btarget_\w+\((\w+)")


def project(block):
    """The block as a CMakeLists.txt. The targets that it uses without making them are programs."""
    if "project(" in block.text:
        return block.text
    targets = [each for each in dict.fromkeys(TARGET.findall(block.text)) if f"add_executable({each}" not in block.text]
    return HEAD + "".join(f"add_executable({each} main.cpp)\n" for each in targets) + block.text


def uses_installed(block):
    return "find_package(zkrecipes" in block.text


def problem(block, root, build):
    """What went wrong, or nothing."""
    with tempfile.TemporaryDirectory(prefix="zkrecipes_docs.") as folder:
        work = Path(folder)
        (work / "CMakeLists.txt").write_text(project(block), encoding="utf-8")
        (work / "main.cpp").write_bytes((root / "tests/package/consumer/main.cpp").read_bytes())
        (work / "zkrecipes").symlink_to(root)
        steps = [["cmake", "-S", folder, "-B", f"{folder}/build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={folder}/prefix",
                  f"-DFETCHCONTENT_SOURCE_DIR_ZKRECIPES={root}"]]
        if uses_installed(block):
            steps.insert(0, ["cmake", "--install", str(build), "--prefix", f"{folder}/prefix"])
            steps.append(["cmake", "--build", f"{folder}/build"])
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return f"{block}: {' '.join(step[:2])} failed:\n{done.stdout[-1500:]}{done.stderr[-1500:]}"
    return None
