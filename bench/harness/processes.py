# SPDX-License-Identifier: Apache-2.0
"""The processes of a benchmark. All are controlled through their standard input and end with it."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from harness.workloads import OUR_LOCKS


class Child:
    """A process that answers each line of input with one line of output."""

    def __init__(self, command, environment=None):
        self.name = Path(command[0]).name
        self._errors = tempfile.TemporaryFile(mode="w+")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            env={**os.environ, **(environment or {})})

    def __enter__(self):
        return self

    def __exit__(self, failure, *_):
        self._end(patience=10 if failure is None else 0)

    def read_line(self):
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise RuntimeError(f"{self.name} ended: {self._errors.read().strip() or 'no message'}")
        return line.strip()

    def ask(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self.read_line()

    def _end(self, patience):
        """By the end of its input; by force if that does not do within `patience` seconds."""
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        for stop, seconds in ((lambda: None, patience), (self._process.terminate, 5), (self._process.kill, None)):
            stop()
            try:
                self._process.wait(timeout=seconds)
                break
            except subprocess.TimeoutExpired:
                continue
        self._process.stdout.close()
        self._errors.close()


class Server(Child):
    """One ZooKeeper server with its data in memory, or several with theirs on disk and every write forced."""

    # The launcher asks for a quick start; here the server is to run as fast as it would in production. Empty containers
    # stay for a day, because removing and creating them again would disturb the peer that is measured at that moment.
    OPTIONS = "-XX:TieredStopAtLevel=4 -Dznode.container.checkIntervalMs=86400000"

    def __init__(self, launcher, members=1, disk=None):
        super().__init__([launcher] + (["--on-disk", str(disk)] if disk else []), {"_JAVA_OPTIONS": self.OPTIONS})
        self._id, self.address = self._command(f"start servers={members} tick-time=2000").split()

    def _command(self, command):
        status, _, result = self.ask(command).partition(" ")
        if status != "ok":
            raise RuntimeError(f"the server answers '{command}' with: {result}")
        return result

    def _packets(self):
        info = dict(item.split("=") for item in self._command(f"info {self._id}").split())
        return int(info["packets-received"])

    def requests(self):
        """Received so far, by all members together, once nothing has come for a while."""
        before = self._packets()
        while True:
            time.sleep(0.05)
            now = self._packets()
            if now == before:
                return now
            before = now


class Proxy(Child):
    """Delays what passes between the drivers and the server, and counts it."""

    def __init__(self, program, server, delay_ms):
        super().__init__([program, "--server", server.address, "--delay-ms", str(delay_ms)])
        self.address = self.read_line()

    def bytes(self):
        return sum(int(count) for count in self.ask("count").split())


class Driver(Child):
    """One peer, doing one workload."""

    def __init__(self, command, address, workload, cycles, warmup, contenders):
        super().__init__(command + [
            "--server", address, "--workload", workload, "--cycles", str(cycles), "--warmup", str(warmup),
            "--contenders", str(contenders)])

    def prepare(self):
        self.ask("prepare")

    def run(self):
        return json.loads(self.ask("run"))


class Programs:
    """Where the build has put what is needed."""

    def __init__(self, build):
        self._bench = Path(build) / "bench"
        self.server = str(Path(build) / "third_party/curator_test_server/curator_test_server")
        self.proxy = str(self._bench / "delay_proxy")
        self.micro = str(self._bench / "micro")

    def driver(self, peer):
        java = str(self._bench / "peers/java/java_driver")
        if peer in OUR_LOCKS:
            # Not below one root: a lock that is retained would be in the way of the others.
            return [str(self._bench / "zkrecipes_driver"), "--lock", OUR_LOCKS[peer], "--root", f"/bench/{peer}"]
        return {
            "raw_c": [str(self._bench / "peers/raw_c_driver")],
            "curator": [java, "--peer", "curator"],
            "apache": [java, "--peer", "apache"],
            "kazoo": ["/usr/bin/python3", str(Path(__file__).parent.parent / "peers/kazoo_driver.py")],
        }.get(peer, [str(self._bench / "peers/other_services_driver"), "--peer", peer])
