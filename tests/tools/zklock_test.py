# SPDX-License-Identifier: Apache-2.0
"""What the tests of zklock have in common: a server of their own, a network that can be cut, processes to look at.

usage of a test: some_test.py ZKLOCK SERVER_LAUNCHER [unittest arguments]. LAUNCHER in the environment: what to put in
front of zklock.
"""

import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

LIMIT = 60  # seconds; for what must happen. Generous, since the machine may be busy
TIMEOUT = 2.0  # session timeout of most tests, in seconds

# For python3 -c: says when it is asked to end, each time, and does not end.
COUNTS_TERM = ("import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\nprint('ready=1', flush=True)\n"
               "while signal.sigwait([signal.SIGTERM]): print('asked', flush=True)")

# For python3 -c: its main thread ends, and another one goes on.
WITHOUT_MAIN_THREAD = ("import ctypes, os, threading, time\nprint('threads=%d' % os.getpid(), flush=True)\n"
                       "threading.Thread(target=time.sleep, args=[1000]).start()\nctypes.CDLL(None).pthread_exit(None)")

zklock = ""
server = None


def wait_for(condition, what="", limit=LIMIT):
    """Returns what the condition returns as soon as that is true. what: for the failure, a text or what returns it then."""
    end = time.monotonic() + limit
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError("not in time: %s" % (what() if callable(what) else what or condition))
        time.sleep(0.01)


def alive(process_id):
    """Whether there is such a process that has not ended."""
    try:
        with open("/proc/%d/stat" % process_id) as stat:
            fields = stat.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    # A process whose main thread has ended is shown as a zombie, too, while its other threads run.
    return fields[0] not in "ZX" or int(fields[17]) > 1


def state(process_id):
    """As ps shows it: T is stopped, Z has ended, or its main thread has."""
    with open("/proc/%d/stat" % process_id) as stat:
        return stat.read().rpartition(")")[2].split()[0]


def parent_of(process_id):
    with open("/proc/%d/stat" % process_id) as stat:
        return int(stat.read().rpartition(")")[2].split()[1])


def guardian_of(zklock):
    """The process between zklock and the command."""
    for line in subprocess.check_output(["ps", "-o", "pid=,comm=", "--ppid", str(zklock.pid)], text=True).splitlines():
        process, name = line.split()
        if name == "lock-guard":
            return int(process)
    raise AssertionError("no guardian")


class Server:
    """The launcher of third_party/curator_test_server, with one server."""

    def __init__(self, launcher, options="tick-time=200", environment=None):
        self.process = subprocess.Popen([launcher], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, **(environment or {})))
        self.id, self.address = self.ask("start " + options).split()[:2]

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if answer.split(" ")[0] != "ok":
            raise RuntimeError("%s: %s" % (command, answer))
        return answer[3:]

    def verb(self, name, arguments=""):
        return self.ask("%s %s %s" % (name, self.id, arguments))

    def count(self, what):
        return int(re.search(r"\b%s=(\d+)" % what, self.verb("info")).group(1))

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(LIMIT)


class Network:
    """A relay in front of a server. freeze(): connections stay and nothing passes. cut(): they break, and new ones do.
    freeze_at: freezes when a client sends these bytes. delay: seconds for which requests are on their way."""

    def __init__(self, address, delay=0.0):
        self.delay = delay
        self.freeze_at = None
        host, port = address.split(",")[0].split(":")
        self.target = (host, int(port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.frozen = threading.Event()
        self.refusing = threading.Event()
        self.over = threading.Event()
        self.links = []
        self.mutex = threading.Lock()
        self.thread = threading.Thread(target=self.relay, daemon=True)
        self.thread.start()

    def relay(self):
        while not self.over.is_set():
            with self.mutex:
                peers = {a: b for pair in self.links for a, b in (pair, pair[::-1])}
            if self.frozen.is_set():
                time.sleep(0.005)
                continue
            readable, _, _ = select.select([self.listener] + list(peers), [], [], 0.01)
            if self.frozen.is_set():
                continue
            for each in readable:
                if each is self.listener:
                    self.accept()
                else:
                    self.pump(each, peers[each])

    def accept(self):
        client = self.listener.accept()[0]
        if self.refusing.is_set():
            return client.close()
        try:
            upstream = socket.create_connection(self.target, timeout=5)
        except OSError:
            return client.close()
        with self.mutex:
            self.links.append((client, upstream))

    def pump(self, source, target):
        try:
            data = source.recv(65536)
            if self.freeze_at and self.freeze_at in data:
                return self.freeze()
            if self.delay and any(source is client for client, _ in self.links):
                time.sleep(self.delay)
            if data:
                return target.sendall(data)
        except OSError:
            pass
        self.drop(source)

    def drop(self, one):
        with self.mutex:
            for pair in [each for each in self.links if one is None or one in each]:
                self.links.remove(pair)
                for end in pair:
                    end.close()

    def freeze(self):
        self.frozen.set()

    def cut(self):
        self.refusing.set()
        self.drop(None)

    def close(self):
        self.over.set()
        self.thread.join()
        self.drop(None)
        self.listener.close()


class Zklock:
    """A zklock that runs. Standard output and error are read in the background. before: words in front of it all."""

    def __init__(self, *arguments, servers=None, environment=None, launcher=True, before=(), **popen):
        env = {name: value for name, value in os.environ.items() if not name.startswith("ZK_")}
        env["ZK_SERVERS"] = servers or server.address
        env.update(environment or {})
        command = os.environ.get("LAUNCHER", "").split() if launcher else []
        self.process = subprocess.Popen([*before, *command, zklock, *arguments], stdin=popen.pop("stdin", subprocess.DEVNULL),
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, **popen)
        self.pid = self.process.pid
        self.texts = {}
        self.readers = [threading.Thread(target=self.read, args=(name, stream), daemon=True)
                        for name, stream in (("out", self.process.stdout), ("err", self.process.stderr))]
        for each in self.readers:
            each.start()

    def read(self, name, stream):
        for chunk in iter(lambda: os.read(stream.fileno(), 65536), b""):
            self.texts[name] = self.texts.get(name, b"") + chunk

    @property
    def out(self):
        return self.texts.get("out", b"").decode()

    @property
    def err(self):
        return self.texts.get("err", b"").decode()

    def wait(self, limit=LIMIT):
        """Its exit status; afterwards all that it has written is known."""
        status = self.process.wait(limit)
        for each in self.readers:
            each.join(LIMIT)
        self.process.stdout.close()
        self.process.stderr.close()
        return status

    def wait_for(self, pattern, where="out"):
        return wait_for(lambda: re.search(pattern, getattr(self, where)),
                        lambda: "%s of zklock with %s, but: %r %r" % (where, pattern, self.out, self.err))

    def number(self, name):
        """A number that the command has printed as "name=123"."""
        return int(self.wait_for(r"\b%s=(\d+)\n" % name).group(1))

    def signal(self, number):
        os.kill(self.pid, number)

    def end(self):
        """In order if it can: a session that ends later takes a node away while another test counts nodes."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.wait()


class TestCase(unittest.TestCase):
    counter = 0

    def setUp(self):
        TestCase.counter += 1
        self.path = "/locks/%s-%d" % (self._testMethodName, TestCase.counter)

    def start(self, *arguments, **settings):
        """Ended at the end of the test, if it has not by then."""
        process = Zklock(*arguments, **settings)
        self.addCleanup(process.end)
        return process

    def zklock(self, *arguments, **settings):
        process = self.start(*arguments, **settings)
        process.status = process.wait()
        return process

    def run_shell(self, script, *options, arguments=(), timeout=TIMEOUT, **settings):
        """Starts "zklock run" with a script for bash, which has these arguments as $1 and so on."""
        return self.start("run", self.path, "--timeout", str(timeout), *options, "--", "bash", "-c", script, "bash",
                          *arguments, **settings)

    def hold_lock(self, *options, **settings):
        """A zklock that has the lock until the end of the test."""
        holder = self.run_shell("echo has=1; exec sleep 1000", *options, **settings)
        holder.number("has")
        return holder

    def network(self, address=None, **settings):
        network = Network(address or server.address, **settings)
        self.addCleanup(network.close)
        return network

    def expect_status(self, process, status):
        self.assertEqual(process.wait(), status, "out: %s\nerr: %s" % (process.out, process.err))

    def expect_free(self):
        """Nobody holds the lock of this test, nor waits for it."""
        wait_for(lambda: "free" in self.zklock("ls", self.path).out, "the lock is free")

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name


class Result(unittest.TextTestResult):
    """Prints each test with the time that it took."""

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.write(" %.1f s %s\n" % (time.monotonic() - self.began, test._testMethodName))


class Runner(unittest.TextTestRunner):
    resultclass = Result


def main():
    global zklock, server
    zklock, launcher = sys.argv[1:3]
    server = Server(launcher)
    try:
        program = unittest.main(module="__main__", argv=sys.argv[:1] + sys.argv[3:], exit=False, testRunner=Runner)
    finally:
        server.close()
    sys.exit(not program.result.wasSuccessful())
