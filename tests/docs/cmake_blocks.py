# SPDX-License-Identifier: Apache-2.0
"""Configures a project that consists of a block of CMake, and builds it if it uses the installed library."""

import subprocess
import tempfile
from pathlib import Path

HEAD = "cmake_minimum_required(VERSION 3.25)\nproject(page LANGUAGES CXX)\nadd_executable(my_program main.cpp)\n"


def uses_installed(block):
    return "find_package(zkrecipes" in block.text


def problem(block, root, build):
    """What went wrong, or nothing."""
    with tempfile.TemporaryDirectory(prefix="zkrecipes_docs.") as folder:
        work = Path(folder)
        whole = "project(" in block.text
        (work / "CMakeLists.txt").write_text(("" if whole else HEAD) + block.text, encoding="utf-8")
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
