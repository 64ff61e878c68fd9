#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input: a message that says what to do, an exit status of its own, and nothing changed. And secrets stay secret."""

import json
import os
import resource
import signal
import sys

sys.dont_write_bytecode = True
from kazoo.client import KazooClient  # noqa: E402
from kazoo.security import make_digest_acl  # noqa: E402
import zklock_test as support  # noqa: E402
from zklock_test import TestCase, wait_for  # noqa: E402

SECRET = "Gruyere-4711"


class BadInputTest(TestCase):
    def refused(self, status, message, *words, **settings):
        nodes = support.server.count("nodes")
        process = self.zklock(*words, **settings)
        self.assertEqual(process.status, status, process.out + process.err)
        self.assertIn(message, process.err)
        self.assertEqual(len(process.err.splitlines()), 1, process.err)
        self.assertEqual(process.out, "")
        self.assertEqual(support.server.count("nodes"), nodes)
        return process


class CommandLine(BadInputTest):
    def test_words_that_are_not_understood(self):
        for message, words in (
                ("which command?", []),
                ("there is no command 'frob'", ["frob"]),
                ("unrecognised option '--frob'", ["run", "/a", "--frob", "--", "true"]),
                ("unrecognised option '-l'; the command is written behind two dashes: zklock run PATH [options] -- COMMAND",
                 ["run", "/a", "ls", "-l"]),
                ("--wait must be a time", ["run", "/a", "--wait=", "--", "true"]),
                ("no PATH is given", ["run", "--", "true"]),
                ("no PATH is given", ["ls"]),
                ("too many arguments", ["ls", "/a", "/b"]),
                ("no command is given: write it behind two dashes", ["run", "/a"]),
                ("no command is given", ["run", "/a", "--"]),
                ("too many arguments", ["run", "/a", "true"]),
                ("-n does not wait and -w does", ["run", "/a", "-n", "-w", "1", "--", "true"]),
                ("-s, -N and --simple are different locks", ["run", "/a", "-s", "-N", "2", "--", "true"]),
                ("--wait must be a time", ["run", "/a", "-w", "soon", "--", "true"]),
                ("--limit must be a time", ["run", "/a", "--limit", "-1", "--", "true"]),
                ("--limit 0 would end the command at once", ["run", "/a", "--limit", "0", "--", "true"]),
                ("--limit must be a time", ["run", "/a", "--limit", "1.2.3", "--", "true"]),
                ("--permits must be a number from 1", ["run", "/a", "-N", "0", "--", "true"]),
                ("--conflict-exit-code must be a number from 0 to 255", ["run", "/a", "-E", "256", "--", "true"]),
                ("--permits must be a number from 1", ["run", "/a", "-N", "99999999999999999999", "--", "true"]),
                ("--note has 70000 bytes", ["run", "/a", "--note", "n" * 70000, "--", "true"]),
                ("--identity has 70000 bytes", ["run", "/a", "--identity", "i" * 70000, "--", "true"]),
                ("--identity must be one line", ["run", "/a", "--identity", "a\nb", "--", "true"]),
                ("--on-lost must be term, kill or ignore", ["run", "/a", "--on-lost=panic", "--", "true"])):
            with self.subTest(words=words):
                self.refused(64, message, *words)

    def test_an_option_with_an_empty_value_is_one_word_or_two(self):
        for words in ["--note=", "--identity="], ["--note", "", "--identity", ""]:
            self.expect_status(self.start("run", "/locks/empty", *words, "--", "true"), 0)
        self.refused(64, "--quiet", "run", "/a", "--quiet=", "--", "true")

    def test_servers_that_are_none(self):
        self.refused(64, "which servers? Use --servers", "ls", "/a", environment={"ZK_SERVERS": ""})
        self.refused(64, "server list", "ls", "/a", "--servers", "host:port")
        # ZK_SERVERS is set, and may name others than those that were meant.
        for words in ["--servers="], ["--servers", ""]:
            self.refused(64, "--servers is empty", "ls", "/a", *words)

    def test_help_and_version(self):
        for words in ["--help"], *([name, "--help"] for name in
                                   ("run", "ls", "tree", "revoke", "break", "check", "doctor")):
            process = self.zklock(*words, environment={"ZK_SERVERS": ""})
            self.assertEqual((process.status, process.err), (0, ""))
            self.assertIn("Examples:\n  zklock ", process.out)
        self.assertRegex(self.zklock("--version").out, r"^zklock \d+\.\d+\.\d+\n$")


class Paths(BadInputTest):
    def test_no_node_path(self):
        for path in "locks/a", "/locks/", "/a//b", "/a/../b":
            with self.subTest(path=path):
                self.refused(65, path, "run", path, "--", "true")
                self.refused(65, path, "ls", path)
                self.refused(65, path, "tree", path)

    def test_a_node_that_cannot_be_a_lock(self):
        self.path += "-a"
        self.hold_lock("--simple")
        self.refused(65, "ephemeral", "run", self.path + "/below", "-q", "--", "true")


class Permission(BadInputTest):
    def setUp(self):
        super().setUp()
        client = KazooClient(hosts=support.server.address, auth_data=[("digest", "owner:" + SECRET)])
        client.start()
        self.addCleanup(client.close)
        self.addCleanup(client.stop)
        client.ensure_path("/locks")
        client.create(self.path, acl=[make_digest_acl("owner", SECRET, all=True)])
        self.file = os.path.join(self.folder(), "credentials")
        with open(self.file, "w") as file:
            file.write("# of the owner\ndigest:owner:%s\n" % SECRET)
        os.chmod(self.file, 0o600)

    def test_without_credentials_it_is_refused(self):
        message = "does not permit it; check the connection's credentials"
        self.refused(77, message, "run", self.path, "--", "true")
        self.refused(77, message, "ls", self.path)
        self.assertEqual(self.zklock("tree", self.path).status, 77)

    def test_with_credentials_from_a_file_or_the_environment_it_works(self):
        self.expect_status(self.run_shell("exit 7", "--auth-file", self.file), 7)
        process = self.run_shell("env", environment={"ZK_AUTH": "digest:owner:" + SECRET})
        self.expect_status(process, 0)
        self.assertNotIn(SECRET, process.out)
        self.assertNotIn("ZK_AUTH", process.out)

    def test_the_help_of_check_says_where_a_command_has_credentials_from(self):
        script = '%s check "$ZKLOCK_PATH" --token "$ZKLOCK_TOKEN"' % support.zklock
        self.assertIn("--auth-file", self.zklock("check", "--help").out.split("Options")[0])
        auth = {"ZK_AUTH": "digest:owner:" + SECRET}
        self.expect_status(self.run_shell(script, environment=auth), 77)
        self.expect_status(self.run_shell("%s --auth-file %s" % (script, self.file), environment=auth), 0)

    def test_secrets_are_neither_in_ps_nor_in_the_output(self):
        process = self.run_shell("echo has=1; exec sleep 1000", "-v", "--auth-file", self.file)
        process.number("has")
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % entry, "rb") as file:
                    self.assertNotIn(SECRET.encode(), file.read())
            except (FileNotFoundError, ProcessLookupError):
                pass
        process.signal(signal.SIGTERM)
        process.wait()
        self.assertNotIn(SECRET, process.out + process.err)

    def test_secrets_are_in_no_core_file(self):
        def limit_of(process_id):
            return resource.prlimit(process_id, resource.RLIMIT_CORE)[0]

        process = self.run_shell("echo command=$$; exec sleep 1000", "--auth-file", self.file, preexec_fn=lambda:
                                 resource.setrlimit(resource.RLIMIT_CORE, (4096, 8192)))
        command = process.number("command")
        self.assertEqual([limit_of(each) for each in (process.pid, support.guardian_of(process), command)], [1, 1, 4096])

    def test_secrets_on_the_command_line_are_refused_and_not_repeated(self):
        for words in (["--auth", "owner:" + SECRET], ["--auth=digest:owner:" + SECRET], ["--password", SECRET],
                      ["--auth-file", "digest:owner:" + SECRET], ["--auth-file=digest:owner:" + SECRET],
                      ["--auth-file", "owner:" + SECRET], ["--auth-file=owner:" + SECRET]):
            process = self.refused(78, "use --auth-file FILE, or into the environment variable ZK_AUTH", "run", self.path,
                                   *words, "--", "true")
            self.assertNotIn(SECRET, process.err)
        process = self.refused(78, "use --auth-file", "ls", self.path, "--servers",
                               "owner:%s@%s" % (SECRET, support.server.address))
        self.assertNotIn(SECRET, process.err)

    def test_secrets_before_the_command_are_not_repeated_either(self):
        for words in (["--auth=digest:owner:" + SECRET, "ls", self.path], ["digest:owner:" + SECRET],
                      ["--password", SECRET, "ls", self.path], ["--frob=digest:owner:" + SECRET]):
            process = self.refused(78, "use --auth-file FILE, or into the environment variable ZK_AUTH", *words)
            self.assertNotIn(SECRET, process.err)
        for words in ["--pass=" + SECRET, "ls"], ["-p" + SECRET, "ls"]:
            process = self.refused(64, "there is no command '-", *words)
            self.assertNotIn(SECRET, process.err)

    def test_the_value_of_an_option_that_does_not_exist_is_not_repeated(self):
        process = self.refused(64, "unrecognised option '--pass';", "ls", self.path, "--pass=" + SECRET)
        self.assertNotIn(SECRET, process.err)
        process = self.refused(64, "unrecognised option '-p';", "ls", self.path, "-p" + SECRET)
        self.assertNotIn(SECRET, process.err)

    def test_arguments_of_the_command_are_its_own_business(self):
        self.expect_status(self.start("run", "/locks/free", "--", "test", "--auth", "=", "--auth"), 0)

    def test_files_that_cannot_be_used(self):
        self.refused(78, "No such file", "ls", self.path, "--auth-file", self.file + "-")
        os.chmod(self.file, 0o644)
        self.refused(78, "run: chmod 600 " + self.file, "ls", self.path, "--auth-file", self.file)
        os.chmod(self.file, 0o640)
        process = self.zklock("ls", self.path, "--auth-file", self.file)
        self.assertEqual(process.status, 0)
        self.assertIn("open to its group", process.err)
        os.chmod(self.file, 0o600)
        self.refused(78, "--auth-file is empty", "ls", self.path, "--auth-file", "")
        for content, message in (("digest", "line 1 of"), ("# empty\n", "has no credentials"),
                                 ("#\n  digest:owner:" + SECRET, "line 2 of"), ("// a:note\n", "line 1 of"),
                                 ("#\ndigest:" + SECRET, "line 2 of %s has no password" % self.file)):
            with open(self.file, "w") as file:
                file.write(content)
            self.refused(78, message, "ls", self.path, "--auth-file", self.file)

    def test_a_file_may_have_indented_comments_and_begin_with_a_byte_order_mark(self):
        with open(self.file, "w", encoding="utf-8-sig", newline="") as file:
            file.write("digest:owner:%s\r\n  # of the owner: not a credential\r\n \t\r\n" % SECRET)
        process = self.zklock("ls", self.path, "--auth-file", self.file)
        self.assertEqual((process.status, process.err), (0, ""))

    def test_a_wrong_password_is_no_permission(self):
        self.refused(77, "does not permit", "ls", self.path, environment={"ZK_AUTH": "digest:owner:wrong"})

    def strangers_at_a_lock(self, *options):
        """What becomes of others without credentials: the statuses of ls, run and break."""
        self.path += "/lock" + "".join(options)
        holder = self.hold_lock("--auth-file", self.file, *options)
        shown = json.loads(self.zklock("ls", self.path, "--json", "--auth-file", self.file).out)["contenders"]
        self.assertEqual(len(shown), 1)
        take = ["break", shown[0]["node"], "--if-token", shown[0]["token"]]
        statuses = [self.zklock("ls", self.path).status,
                    self.zklock("run", self.path, *options[1:], "-n", "--", "true").status, self.zklock(*take).status]
        if 77 in statuses:
            self.assertEqual(self.zklock(*take, "--auth-file", self.file).status, 0)
        self.expect_status(holder, 123)
        return statuses

    def test_a_private_lock_is_for_clients_with_its_credentials_only(self):
        for options in [], ["-s"], ["-N", "1"]:
            self.path = "/private"
            self.assertEqual(self.strangers_at_a_lock("--private", *options), [77, 77, 77])
        # A SimpleLock's node has no folder of its own, so everybody sees that it is there, but not whose it is.
        self.path = "/private"
        self.assertEqual(self.strangers_at_a_lock("--private", "--simple"), [0, 1, 77])

    def test_credentials_alone_close_nothing(self):
        self.path = "/open"
        self.assertEqual(self.strangers_at_a_lock(), [0, 1, 0])

    def test_private_without_credentials_is_refused(self):
        self.refused(64, "--private needs credentials: --auth-file FILE or ZK_AUTH", "run", "/private-%d" % self.counter,
                     "--private", "--", "true")


if __name__ == "__main__":
    support.main()
