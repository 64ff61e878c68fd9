#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""zklock in one queue with Curator and kazoo: what ls shows, and whose turn it is."""

import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import zklock_test as support  # noqa: E402
from zklock_test import TestCase, wait_for  # noqa: E402

KAZOO_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop", "kazoo_worker.py")


class Worker:
    """A worker of tests/interop, whose README.md says what it understands."""

    def __init__(self, command, name, folder):
        self.process = subprocess.Popen(command + [support.server.address, os.path.join(folder, name), name, "20000"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def expect(self, beginning):
        line = self.process.stdout.readline()
        assert line.startswith(beginning), line

    def close(self):
        self.process.stdin.close()
        self.process.wait(support.LIMIT)
        self.process.stdout.close()


class Interop(TestCase):
    def worker(self, command, name):
        worker = Worker(command, name, self.folder())
        self.addCleanup(worker.close)
        return worker

    def contenders(self):
        return json.loads(self.zklock("ls", self.path, "--json").out)["contenders"]

    def test_a_queue_of_three_languages_is_listed_and_served_in_order(self):
        curator = self.worker([os.environ["CURATOR_WORKER"]], "curator")
        kazoo = self.worker([sys.executable, "-B", KAZOO_WORKER], "kazoo")
        curator.expect("ready")
        kazoo.expect("ready")
        go = os.path.join(self.folder(), "go")
        first = self.run_shell("echo has=1; while [[ ! -e %s ]]; do sleep 0.02; done" % go, "--identity", "first",
                               timeout=20)
        first.number("has")
        watch = self.start("ls", self.path, "--watch", "--interval", "0.1")
        watch.wait_for("holds .* first ")
        curator.ask("acquire exclusive %s c" % self.path)
        wait_for(lambda: len(self.contenders()) == 2, "Curator stands in line")
        kazoo.ask("acquire exclusive %s k" % self.path)
        wait_for(lambda: len(self.contenders()) == 3, "kazoo stands in line")
        last = self.run_shell("echo has=1", "--identity", "last", timeout=20)
        wait_for(lambda: len(self.contenders()) == 4, "the last one stands in line")
        shown = self.contenders()
        self.assertEqual([each["holds"] for each in shown], [True, False, False, False])
        self.assertEqual((shown[0]["identity"], shown[2]["identity"], shown[3]["identity"]), ("first", "kazoo", "last"))

        open(go, "w").close()
        self.expect_status(first, 0)
        curator.expect("granted c %s " % shown[1]["token"])
        watch.wait_for("holds    exclusive  token %s " % shown[1]["token"])
        curator.ask("release c")
        curator.expect("released")
        kazoo.expect("granted k %s " % shown[2]["token"])
        self.assertEqual(self.zklock("check", self.path, "--token", shown[2]["token"]).status, 0)
        self.assertEqual(last.out, "")
        watch.wait_for("holds    exclusive  token %s  kazoo " % shown[2]["token"])
        kazoo.ask("release k")
        kazoo.expect("released")
        self.expect_status(last, 0)
        watch.wait_for("left .* last ")

    def test_permits_of_curators_clients_are_held_or_waited_for(self):
        curator = self.worker([os.environ["CURATOR_WORKER"]], "curator")
        curator.expect("ready")
        go = os.path.join(self.folder(), "go")
        first = self.run_shell("echo has=1; while [[ ! -e %s ]]; do sleep 0.02; done" % go, "-N", "1", timeout=20)
        first.number("has")
        states = lambda: [each["holds"] for each in self.contenders()]  # noqa: E731
        for count, name in enumerate(("a", "b")):
            curator.ask("acquire permit %s %s 1" % (self.path, name))
            wait_for(lambda: states() == [True] + [False] * (count + 1), "%s waits" % name)
        open(go, "w").close()
        self.expect_status(first, 0)
        line = curator.process.stdout.readline()
        self.assertRegex(line, "^granted a ")
        token = line.split()[2]
        # Both are of one session. The one that waits has a lease, too.
        wait_for(lambda: [(each["holds"], each["token"] == token) for each in self.contenders()] ==
                 [(True, True), (False, False)], "a holds, and b waits")
        self.assertEqual(self.zklock("check", self.path, "--token", token).status, 0)
        self.assertRegex(self.zklock("tree", self.path).out, r"semaphore +1 +1 ")
        curator.ask("release a")
        curator.expect("released a")
        curator.expect("granted b ")
        wait_for(lambda: states() == [True], "b holds")
        curator.ask("release b")
        curator.expect("released b")


if __name__ == "__main__":
    support.main()
