# SPDX-License-Identifier: Apache-2.0
"""Compiles the Java of docs/from-curator.md against Curator."""

import subprocess
import tempfile
from pathlib import Path

JARS = [f"/usr/share/java/{name}.jar" for name in
        ("curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute")]
AROUND = """import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

class Page {{
  interface Store {{
    void write(String text);
  }}

{methods}}}
"""


def run(blocks, _root):
    java = [each for each in blocks if each.language == "java"]
    methods = "".join(f"  void block{each.number}(CuratorFramework client, Store store) throws Exception {{\n{each.text}  }}\n"
                      for each in java)
    with tempfile.TemporaryDirectory(prefix="zkrecipes_java.") as folder:
        source = Path(folder) / "Page.java"
        source.write_text(AROUND.format(methods=methods), encoding="utf-8")
        done = subprocess.run(["javac", "--release", "11", "-Xlint:all,-path", "-Werror", "-cp", ":".join(JARS), "-d", folder,
                               str(source)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {}, [f"docs/from-curator.md: {done.stdout}{done.stderr}"]
    return {each: "compiled against Curator" for each in java}, []
