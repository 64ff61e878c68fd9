#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""zklock ls, tree, revoke, break, check and doctor."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unicodedata

sys.dont_write_bytecode = True
from kazoo.client import KazooClient  # noqa: E402
import zklock_test as support  # noqa: E402
from zklock_test import TestCase, wait_for  # noqa: E402


class ShowTest(TestCase):
    def contenders(self, path=None):
        return json.loads(self.zklock("ls", path or self.path, "--json").out)["contenders"]

    def client(self):
        """Another program."""
        client = KazooClient(hosts=support.server.address)
        client.start()
        self.addCleanup(client.close)
        self.addCleanup(client.stop)
        return client

    def queue(self, count):
        """A holder and waiters, named first, second and so on."""
        processes = []
        for number, name in enumerate(("first", "second", "third")[:count]):
            processes.append(self.run_shell("echo has=1; exec sleep 1000", "--identity", name, "--note", name + "'s note"))
            wait_for(lambda: len(self.contenders()) == number + 1, "%s stands in line" % name)
        return processes


class Ls(ShowTest):
    def test_a_free_lock(self):
        process = self.zklock("ls", self.path)
        self.assertEqual((process.status, process.out),
                         (0, "%s: there is no such node: free, or the path or chroot is wrong\n" % self.path))
        self.assertFalse(json.loads(self.zklock("ls", self.path, "--json").out)["exists"])
        self.expect_status(self.run_shell("true"), 0)
        process = self.zklock("ls", self.path)
        self.assertEqual((process.status, process.out), (0, "%s: free, nobody waits\n" % self.path))
        self.assertEqual(self.contenders(), [])

    def test_nodes_that_are_not_understood_are_counted(self):
        client = self.client()
        client.create(self.path + "/0f8fad5bd9cb469fa16570867728950e__rlock__0000000000", makepath=True)
        client.create(self.path + "/below")
        process = self.zklock("ls", self.path)
        self.assertEqual((process.status, process.out), (0, "%s: free, 2 nodes below are not understood\n" % self.path))
        self.assertEqual(json.loads(self.zklock("ls", self.path, "--json").out)["not_understood"], 2)
        self.hold_lock()
        process = self.zklock("ls", self.path)
        self.assertIn("holds  exclusive", process.out)
        self.assertIn("2 nodes below are not understood", process.err)

    def test_a_lock_node_that_no_session_owns_is_named(self):
        node = self.path + "/_c_0f8fad5b-d9cb-469f-a165-70867728950e-lock-0000000000"
        client = self.client()
        client.create(node, b"imported", makepath=True)
        process = self.zklock("ls", self.path)
        self.assertRegex(process.out, r"\bnone +imported\b")
        self.assertIn(node + " is owned by no session", process.err)
        process = self.zklock("break", node, "--if-token", str(client.exists(node).czxid))
        self.assertEqual(process.status, 65)
        self.assertIn("has to be deleted by hand", process.err)

    def test_long_identities_and_notes_are_shortened_in_the_table_only(self):
        self.hold_lock("--identity", "i" * 100, "--note", "n" * 100)
        out = self.zklock("ls", self.path).out
        for letter in "in":
            self.assertIn(" " + letter * 37 + "...  ", out)
        self.assertEqual(self.contenders()[0]["note"], "n" * 100)

    def test_columns_stay_aligned_behind_wide_characters(self):
        self.hold_lock("--identity", "\u5e93\u5b58", "--note", "e\u0301")
        heading, line = self.zklock("ls", self.path).out.splitlines()
        columns = sum(0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
                      for each in line[:line.index("_c_")])
        self.assertEqual(columns, heading.index("NODE"))

    def test_a_long_queue_over_a_slow_network(self):
        client = self.client()
        client.ensure_path(self.path)
        nodes = ["%s/_c_%08d-0000-4000-8000-000000000000-lock-%010d" % (self.path, n, n) for n in range(1500)]
        for each in [client.create_async(node, b"crowd", ephemeral=True) for node in nodes]:
            each.get(support.LIMIT)
        network = self.network(delay=0.02)
        process = self.zklock("ls", self.path, "--json", "--timeout", "8", servers=network.address)
        self.assertEqual(process.status, 0, process.err)
        self.assertEqual([each["node"] for each in json.loads(process.out)["contenders"]], nodes)
        token = json.loads(process.out)["contenders"][0]["token"]
        self.assertEqual(self.zklock("check", self.path, "--token", token, "--timeout", "8",
                                     servers=network.address).status, 0)

    def test_who_waits_for_a_permit_does_not_hold_one(self):
        self.hold_lock("-N", "1", "--identity", "holder")
        self.run_shell("true", "-N", "1", "--identity", "waiter")
        leases = self.client().get_children
        wait_for(lambda: len(leases(self.path + "/leases")) == 2, "the waiter is at the head of the line")
        shown = self.contenders()
        self.assertEqual([(each["identity"], each["holds"]) for each in shown], [("holder", True), ("waiter", False)])
        self.assertEqual(self.zklock("check", self.path, "--token", shown[0]["token"]).status, 0)
        client = self.client()
        for each in leases(self.path + "/leases"):
            token = str(client.exists("%s/leases/%s" % (self.path, each)).czxid)
            self.assertEqual(self.zklock("check", self.path, "--token", token).status, 0 if token == shown[0]["token"] else 76)
        tree = self.zklock("tree", self.path).out
        self.assertRegex(tree, r"semaphore +1 +1 ")

    def test_who_has_just_been_granted_a_permit_passes_the_check(self):
        for _ in range(5):
            self.expect_status(self.run_shell('%s check "$ZKLOCK_PATH" --token "$ZKLOCK_TOKEN"' % support.zklock, "-N", "1"), 0)

    def test_a_queue_is_shown_in_order(self):
        self.queue(3)
        lines = self.zklock("ls", self.path).out.splitlines()
        self.assertEqual(lines[0].split(), "STATE MODE SINCE FOR TOKEN SESSION IDENTITY NOTE NODE".split())
        pattern = (r"%s  exclusive  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  \d+ s +(\d+) +0x[0-9a-f]+  %s +%s's note +"
                   r"_c_[-0-9a-f]{36}-lock-\d{10}")
        tokens = []
        for line, state, name in zip(lines[1:], ("holds", "waits", "waits"), ("first", "second", "third")):
            self.assertRegex(line, pattern % (state, name, name))
            tokens.append(int(re.match(pattern % (state, name, name), line).group(1)))
        self.assertEqual(tokens, sorted(tokens))

    def test_json_has_everything(self):
        self.queue(2)
        first, second = self.contenders()
        self.assertEqual([first["holds"], second["holds"]], [True, False])
        self.assertEqual(first["note"], "first's note")
        self.assertRegex(first["since"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(set(first), {"holds", "mode", "since", "token", "session", "identity", "note", "node",
                                      "asked_to_release"})

    def test_notes_cannot_write_to_the_terminal(self):
        self.hold_lock("--note", "a\x1b[2Jb\nc\"d")
        self.assertIn(r'a\x1b[2Jb\x0ac"d', self.zklock("ls", self.path).out)
        self.assertEqual(self.contenders()[0]["note"], "a\x1b[2Jb\nc\"d")

    def test_what_is_not_utf8_or_a_terminal_obeys_is_escaped(self):
        # Half of a pair of UTF-16, CSI in three bytes, beyond the last character; then CSI of C1, and right to left.
        self.hold_lock("--note", b"\xed\xa0\x80|\xe0\x82\x9b|\xf4\x90\x80\x80|\xc2\x9b|\xe2\x80\xae|\xe2\x82\xac")
        self.assertIn("???|???|????|\\x9b|\\u202e|\u20ac", self.zklock("ls", self.path).out)
        out = self.zklock("ls", self.path, "--json").out
        self.assertIn("\\u009b|\\u202e|\u20ac", out)
        self.assertEqual(json.loads(out)["contenders"][0]["note"],
                         "\ufffd" * 3 + "|" + "\ufffd" * 3 + "|" + "\ufffd" * 4 + "|\x9b|\u202e|\u20ac")

    def test_output_that_cannot_be_written_is_a_failure(self):
        for words in ["ls", self.path], ["tree", self.path], ["doctor", "--timeout", "4s"], ["--help"]:
            with open("/dev/full", "w") as full:
                process = subprocess.run([support.zklock, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                         env=dict(os.environ, ZK_SERVERS=support.server.address), timeout=support.LIMIT)
            self.assertEqual(process.returncode, 125, words)
            self.assertIn("standard output cannot be written to", process.stderr)

    def test_watch_prints_changes_until_it_is_interrupted(self):
        watch = self.start("ls", self.path, "--watch", "--interval", "0.1")
        watch.wait_for(r"Z  %s  free, or a wrong path or chroot: there is no such node\n" % self.path)
        first, second = self.queue(2)
        watch.wait_for(r"Z  holds    exclusive  token \d+  first \(first's note\)  %s/_c_" % self.path)
        watch.wait_for(r"Z  waits    exclusive  token \d+  second ")
        first.signal(signal.SIGTERM)
        watch.wait_for(r"Z  left     exclusive  token \d+  first ")
        watch.wait_for(r"Z  holds    exclusive  token \d+  second ")
        watch.signal(signal.SIGINT)
        self.expect_status(watch, 0)

    def test_watch_survives_an_outage(self):
        network = self.network()
        watch = self.start("ls", self.path, "--watch", "--interval", "0.1", servers=network.address)
        watch.wait_for("free")
        network.freeze()
        watch.wait_for("no answer from the servers", "err")
        network.frozen.clear()
        self.hold_lock("--identity", "later")
        watch.wait_for("holds .* later")
        watch.signal(signal.SIGTERM)
        self.expect_status(watch, 128 + signal.SIGTERM)

    def test_watch_ends_at_once_during_an_outage(self):
        for number in signal.SIGINT, signal.SIGTERM:
            network = self.network()
            watch = self.start("ls", self.path, "--watch", "--interval", "0.1", "--timeout", "25", servers=network.address)
            watch.wait_for("free")
            network.freeze()
            watch.wait_for("no answer from the servers since", "err")
            began = time.monotonic()
            watch.signal(number)
            self.expect_status(watch, 0 if number == signal.SIGINT else 128 + number)
            self.assertLess(time.monotonic() - began, 5, "much less than the time for which it would wait for an answer")

    def test_watch_with_a_long_interval_ends_at_once_while_it_waits_for_an_answer(self):
        network = self.network()
        network.freeze_at = self.path.encode()
        watch = self.start("ls", self.path, "--watch", "--interval", "25", servers=network.address)
        wait_for(network.frozen.is_set, "it looks, and nobody answers")
        began = time.monotonic()
        watch.signal(signal.SIGTERM)
        self.expect_status(watch, 128 + signal.SIGTERM)
        self.assertLess(time.monotonic() - began, 5)

    def test_watch_with_json_prints_an_object_per_change(self):
        watch = self.start("ls", self.path, "--watch", "--json", "--interval", "0.1")
        watch.wait_for(r"\n")
        self.hold_lock()
        wait_for(lambda: watch.out.count("\n") == 2)
        self.assertEqual([len(json.loads(line)["contenders"]) for line in watch.out.splitlines()], [0, 1])


    def test_the_node_of_a_waiter_is_not_taken_for_a_lock(self):
        self.queue(2)
        waiter = self.contenders()[1]
        for words in ["ls", waiter["node"]], ["check", waiter["node"], "--token", waiter["token"]]:
            process = self.zklock(*words)
            self.assertEqual(process.status, 65, process.out + process.err)
            self.assertIn("the path of the lock is %s:" % self.path, process.err)

    def test_the_folders_of_a_semaphore_are_not_taken_for_locks(self):
        for _ in range(2):
            self.hold_lock("-N", "2")
        for folder in "leases", "locks":
            process = self.zklock("ls", self.path + "/" + folder)
            self.assertEqual(process.status, 65, process.out + process.err)
            self.assertIn("/%s is a folder of a semaphore; the path of the lock is %s:" % (folder, self.path), process.err)


class Tree(ShowTest):
    def test_locks_below_a_path(self):
        base = self.path
        for self.path, options in ((base + "/mutex", []), (base + "/deep/shared", ["-s"]), (base + "/permits", ["-N", "2"]),
                                   (base + "/simple", ["--simple"])):
            self.hold_lock(*options)
        self.path = base + "/mutex"
        self.run_shell("true", "--identity", "second")
        wait_for(lambda: len(self.contenders()) == 2)
        process = self.zklock("tree", base)
        self.assertEqual(process.status, 0)
        self.assertEqual([line.split() for line in process.out.splitlines()], [
            ["KIND", "HOLDERS", "WAITERS", "PATH"],
            ["read-write", "1", "0", base + "/deep/shared"],
            ["mutex", "1", "1", base + "/mutex"],
            ["semaphore", "1", "0", base + "/permits"],
            ["simple", "1", "0", base + "/simple"]])
        found = json.loads(self.zklock("tree", base, "--json").out)
        self.assertEqual([lock["kind"] for lock in found["locks"]], ["read-write", "mutex", "semaphore", "simple"])
        self.assertTrue(found["complete"])
        limited = self.zklock("tree", base, "--json", "--max-nodes", "2")
        self.assertFalse(json.loads(limited.out)["complete"])
        self.assertIn("--max-nodes", limited.err)

    def test_nothing_below_a_path(self):
        self.client().create(self.path, makepath=True)
        process = self.zklock("tree", self.path)
        self.assertEqual((process.status, process.out), (0, "%s: no lock is in use\n" % self.path))

    def test_a_node_that_is_no_path_of_a_lock(self):
        self.client().create(self.path, b"host:9092", ephemeral=True, makepath=True)
        process = self.zklock("tree", self.path)
        self.assertEqual((process.status, process.out), (0, "%s: no lock is in use\n" % self.path), process.err)

    def test_a_path_or_a_chroot_that_does_not_exist(self):
        text = "%s: no lock is in use, or a wrong path or chroot: there is no such node\n"
        process = self.zklock("tree", self.path)
        self.assertEqual((process.status, process.out), (0, text % self.path))
        process = self.zklock("tree", "/", servers=support.server.address + self.path)
        self.assertEqual((process.status, process.out), (0, text % "/"))

    def test_a_server_that_stops_answering_ends_it(self):
        network = self.network()
        network.freeze_at = self.path.encode()
        process = self.zklock("tree", self.path, "--timeout", "2", servers=network.address)
        self.assertEqual(process.status, 69, process.err)

    def test_a_search_that_was_not_complete_does_not_say_that_no_lock_is_in_use(self):
        client = self.client()
        client.create(self.path + "/a/b", makepath=True)
        process = self.zklock("tree", self.path, "--max-nodes", "1")
        self.assertEqual(process.status, 0)
        self.assertNotIn("no lock is in use", process.out)


class Intervene(ShowTest):
    def test_break_ends_the_command_and_lets_the_next_one_in(self):
        first, second = self.queue(2)
        holder = self.contenders()[0]
        process = self.zklock("break", holder["node"], "--if-token", holder["token"])
        self.assertEqual(process.status, 0, process.err)
        second.number("has")
        self.expect_status(first, 123)

    def test_break_with_another_token_changes_nothing(self):
        self.queue(1)
        before = self.contenders()
        process = self.zklock("break", before[0]["node"], "--if-token", str(int(before[0]["token"]) + 1))
        self.assertEqual(process.status, 76)
        self.assertIn("has the token %s, not" % before[0]["token"], process.err)
        self.assertEqual(self.contenders(), before)

    def test_break_and_revoke_of_a_node_that_is_not_there(self):
        for words in ["break", "/no/such/node", "--if-token", "1"], ["revoke", "/no/such/node"]:
            process = self.zklock(*words)
            self.assertEqual(process.status, 66, process.err)
            self.assertIn("/no/such/node", process.err)

    def test_break_without_a_token_is_refused(self):
        for words, message in ([], "no --if-token is given"), (["--if-token", "x"], "must be a number"):
            process = self.zklock("break", "/a/b", *words)
            self.assertEqual(process.status, 64)
            self.assertIn(message, process.err)

    def test_revoke_asks_and_does_not_force(self):
        holder = self.queue(1)[0]
        process = self.zklock("revoke", self.contenders()[0]["node"])
        self.assertEqual(process.status, 0, process.err)
        shown = self.contenders()
        self.assertEqual((len(shown), shown[0]["identity"]), (1, ""))
        self.assertIsNone(holder.process.poll())
        self.assertIn("first (first's note), session %s was asked" % shown[0]["session"], process.err)
        self.assertTrue(shown[0]["asked_to_release"])
        self.assertIn("(asked to give it up)", self.zklock("ls", self.path).out)
        self.assertIn("session " + shown[0]["session"], self.zklock("revoke", shown[0]["node"]).err)

    def test_revoke_of_a_node_that_is_no_lock_node_does_not_touch_its_data(self):
        client = self.client()
        client.create(self.path, b"settings of a program", makepath=True)
        process = self.zklock("revoke", self.path)
        self.assertEqual(process.status, 65, process.err)
        self.assertIn("is no lock node: it is not ephemeral", process.err)
        self.assertEqual(client.get(self.path)[0], b"settings of a program")

    def test_a_node_that_another_program_registers_itself_with_is_left_alone(self):
        client = self.client()
        client.create(self.path, b"host:9092", ephemeral=True, makepath=True)
        token = str(client.exists(self.path).czxid)
        for words in ["revoke"], ["break", "--if-token", token], ["ls"], ["check", "--token", token]:
            process = self.zklock(words[0], self.path, *words[1:])
            self.assertEqual(process.status, 65, process.out + process.err)
            self.assertIn("another program has made it", process.err)
        self.assertEqual(client.get(self.path)[0], b"host:9092")

    def test_run_says_that_it_waits_for_a_node_of_another_program(self):
        self.client().create(self.path, b"host:9092", ephemeral=True, makepath=True)
        process = self.run_shell("true", "--simple", "-w", "5")
        process.wait_for("waiting for .*another program has made it", "err")

    def test_check_of_one_reader_among_several(self):
        for _ in range(2):
            self.hold_lock("-s")
        tokens = [each["token"] for each in self.contenders()]
        for each in tokens:
            self.assertEqual(self.zklock("check", self.path, "--token", each).status, 0)
        process = self.zklock("check", self.path, "--token", "1")
        self.assertEqual(process.status, 76)
        self.assertIn("its holders have %s, %s\n" % tuple(tokens), process.err)

    def test_check_tells_whether_a_token_holds(self):
        self.queue(2)
        first, second = self.contenders()
        self.assertEqual(self.zklock("check", self.path, "--token", first["token"]).status, 0)
        for token in second["token"], "1":
            process = self.zklock("check", self.path, "--token", token)
            self.assertEqual(process.status, 76)
            self.assertIn("its holder has %s" % first["token"], process.err)
        self.assertEqual(self.zklock("check", "/no/such/lock", "--token", "1").status, 76)


class Doctor(ShowTest):
    def test_a_server_that_is_well(self):
        nodes, sessions = support.server.count("nodes"), support.server.count("sessions")
        process = self.zklock("doctor", "--timeout", "4s")
        self.assertEqual(process.status, 0, process.out + process.err)
        for pattern in (r"%s +yes +standalone +3\." % support.server.address, r"session timeout +4 s \(asked for 4 s\)",
                        r"the servers permit 400 ms to 60 s", r"read +[\d.]+ ms / [\d.]+ ms / [\d.]+ ms",
                        r"lock and unlock +[\d.]+ ms", r"clock +servers (ahead|behind) by \d+ ms \(\+- \d+ ms\)",
                        r"containers +yes", "warning  only one server is listed"):
            self.assertRegex(process.out, pattern)
        self.assertEqual(support.server.count("nodes"), nodes)
        wait_for(lambda: support.server.count("sessions") == sessions, "no session is left behind")

    def test_json(self):
        found = json.loads(self.zklock("doctor", "--json", "--timeout", "4s").out)
        self.assertEqual(found["servers"][0]["mode"], "standalone")
        self.assertEqual((found["timeout_ms"], found["smallest_timeout_ms"], found["largest_timeout_ms"]), (4000, 400, 60000))
        self.assertLessEqual(found["read_ms"]["min"], found["read_ms"]["median"])
        self.assertLess(abs(found["clock_ahead_ms"]), 2000)
        self.assertTrue(found["containers"])
        self.assertEqual(found["problems"], [])

    def test_a_timeout_below_three_ticks_is_warned_of(self):
        process = self.zklock("doctor", "--timeout", "500ms")
        self.assertIn("less than three ticks", process.out)

    def test_servers_that_do_not_answer_are_named(self):
        process = self.zklock("doctor", "--timeout", "4s", servers=support.server.address + ",127.0.0.1:1")
        self.assertEqual(process.status, 0)
        self.assertRegex(process.out, r"127.0.0.1:1 +no")
        self.assertIn("warning  server 127.0.0.1:1: Connection refused", process.out)

    def test_a_chroot_that_does_not_exist_is_a_problem_and_is_not_made(self):
        nodes = support.server.count("nodes")
        process = self.zklock("doctor", "--timeout", "4s", servers=support.server.address + "/no-such-chroot")
        self.assertEqual(process.status, 65, process.out)
        self.assertEqual(process.out.count("PROBLEM"), 1, process.out)
        self.assertIn("PROBLEM  the chroot /no-such-chroot does not exist", process.out)
        self.assertNotIn("ConnectionOptions", process.out)
        self.assertEqual(support.server.count("nodes"), nodes)

    def test_a_path_that_does_not_exist_is_a_problem_and_is_not_made(self):
        nodes = support.server.count("nodes")
        process = self.zklock("doctor", "--timeout", "4s", "--at", "/no/such/path")
        self.assertEqual(process.status, 65, process.out)
        self.assertIn("PROBLEM  there is no node /no/such/path", process.out)
        self.assertEqual(support.server.count("nodes"), nodes)

    def test_refused_credentials_have_the_status_that_other_commands_end_with(self):
        process = self.zklock("doctor", "--timeout", "4s", environment={"ZK_AUTH": "nosuchscheme:x"})
        self.assertEqual(process.status, 77, process.out)
        self.assertEqual(process.out.count("PROBLEM"), 1, process.out)

    def test_blanks_in_the_list_of_servers(self):
        process = self.zklock("doctor", "--timeout", "4s", servers=" %s , 127.0.0.1:1 " % support.server.address)
        self.assertEqual(process.status, 0, process.out)
        self.assertRegex(process.out, r"(?m)^%s +yes " % support.server.address)

    def server_that_says(self, answer):
        """The address of something that answers so to everything and closes the connection."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        self.addCleanup(listener.shutdown, socket.SHUT_RDWR)

        def serve():
            try:
                while True:
                    with listener.accept()[0] as connection:
                        if connection.recv(4096) == b"srvr":
                            connection.sendall(answer)
            except OSError:
                pass

        threading.Thread(target=serve, daemon=True).start()
        return "127.0.0.1:%d" % listener.getsockname()[1]

    def test_an_ensemble_without_a_quorum(self):
        alone = self.server_that_says(b"This ZooKeeper instance is not currently serving requests\n")
        process = self.zklock("doctor", "--timeout", "1", servers=alone + ",127.0.0.1:1,127.0.0.1:2")
        self.assertEqual(process.status, 69)
        self.assertIn("PROBLEM  no quorum: 1 of 3 servers answer", process.out)
        self.assertNotIn("zklock doctor", process.out)

    def test_servers_that_do_not_say_what_they_are_get_no_warning_about_leaders(self):
        servers = [self.server_that_says(b"srvr is not executed because it is not in the whitelist.\n") for _ in range(3)]
        process = self.zklock("doctor", "--timeout", "1", servers=",".join(servers))
        self.assertEqual(process.out.count("does not permit srvr"), 3)
        self.assertNotIn("leaders", process.out)

    def test_no_server_at_all(self):
        process = self.zklock("doctor", "--timeout", "1", servers="127.0.0.1:1")
        self.assertEqual(process.status, 69)
        self.assertIn("PROBLEM", process.out)
        found = json.loads(self.zklock("doctor", "--json", "--timeout", "1", servers="127.0.0.1:1").out)
        self.assertFalse(found["connected"])


if __name__ == "__main__":
    support.main()
