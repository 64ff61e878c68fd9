#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""zklock run: waiting, exit status, environment, descriptors, signals, times."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
import zklock_test as support  # noqa: E402
from zklock_test import TestCase, wait_for  # noqa: E402


class ExitStatus(TestCase):
    def test_the_commands_own_status_is_zklocks(self):
        self.expect_status(self.run_shell("exit 0"), 0)
        self.expect_status(self.run_shell("exit 42"), 42)

    def test_a_command_ended_by_a_signal_gives_128_plus_its_number(self):
        self.expect_status(self.run_shell("kill -KILL $$"), 128 + 9)
        self.expect_status(self.run_shell("kill -USR1 $$"), 128 + signal.SIGUSR1)

    def test_a_command_that_does_not_exist_is_known_before_the_lock_is_asked_for(self):
        self.hold_lock()
        for command in "no-such-command", "/no/such/command":
            process = self.zklock("run", self.path, "--", command)
            self.assertEqual(process.status, 127)
            self.assertIn("'%s' cannot be started: No such file or directory" % command, process.err)

    def test_a_file_that_is_no_program_gives_126(self):
        text = os.path.join(self.folder(), "text")
        with open(text, "w") as file:
            file.write("text")
        self.assertEqual(self.zklock("run", self.path, "--", text).status, 126)
        self.assertEqual(self.zklock("run", self.path, "--", "/tmp").status, 126)

    def test_a_script_whose_interpreter_does_not_exist_is_known_before_the_lock_is_asked_for(self):
        self.hold_lock()
        script = os.path.join(self.folder(), "script")
        for line, message in (("#!/bin/bash\r\n", r"'/bin/bash\x0d', does not exist; its lines end in CR LF"),
                              ("#! /no/such/interpreter -e\n", "'/no/such/interpreter', does not exist. ")):
            with open(script, "w", newline="") as file:
                file.write(line)
            os.chmod(script, 0o755)
            for command in script, "script":
                process = self.zklock("run", self.path, "--", command, environment={"PATH": os.path.dirname(script)})
                self.assertEqual(process.status, 126)
                self.assertIn(message, process.err)
                self.assertNotIn("is the name right", process.err)

    def test_a_script_without_its_interpreter_is_passed_over_for_one_later_in_the_path(self):
        folders = [self.folder(), self.folder()]
        for folder, interpreter in zip(folders, ("/no/such/interpreter", "/bin/sh")):
            script = os.path.join(folder, "script-of-this-test")
            with open(script, "w") as file:
                file.write("#!%s\nexit 7\n" % interpreter)
            os.chmod(script, 0o755)
        process = self.zklock("run", self.path, "--", "script-of-this-test", environment={"PATH": ":".join(folders)})
        self.assertEqual(process.status, 7, process.err)

    def test_a_command_is_looked_for_where_the_kernel_will_look(self):
        folder = self.folder()
        script = os.path.join(folder, "script-of-this-test")
        with open(script, "w") as file:
            file.write("#!/bin/sh\nexit 7\n")
        os.chmod(script, 0o755)
        # An empty field is the current folder.
        for path in "/bin:", ":/bin", "/bin::/usr/bin", "":
            process = self.zklock("run", self.path, "--", "script-of-this-test", environment={"PATH": path}, cwd=folder)
            self.assertEqual(process.status, 7, process.err)
        process = self.zklock("run", self.path, "--", "script-of-this-test", environment={"PATH": "/bin"}, cwd=folder)
        self.assertEqual(process.status, 127)

    def test_a_command_that_cannot_be_started_for_lack_of_something_is_not_said_to_be_no_program(self):
        def status_with(limit, value, *arguments):
            """Of a zklock whose guardian has less of something by the time the lock is free."""
            holder = self.hold_lock(timeout=20)
            waiter = self.start("run", self.path, "--", "/bin/true", *arguments)
            wait_for(lambda: support.server.count("ephemerals") == 2, "the waiter stands in line")
            resource.prlimit(support.guardian_of(waiter), limit, (value, value))
            holder.signal(signal.SIGTERM)
            holder.wait()
            waiter.wait()
            self.assertNotIn("is it a program", waiter.err)
            self.expect_free()
            return waiter.process.returncode, waiter.err

        status, message = status_with(resource.RLIMIT_NOFILE, 3)
        self.assertEqual(status, 125)
        self.assertIn("Too many open files", message)
        status, message = status_with(resource.RLIMIT_STACK, 256 * 1024, "x" * 100000, "x" * 100000)
        self.assertEqual(status, 126)
        self.assertIn("its arguments and the environment are too large together", message)

    def test_a_command_that_only_the_kernel_refuses_gives_126_and_leaves_no_lock(self):
        script = os.path.join(self.folder(), "script")
        with open(script, "w") as file:
            file.write("#!/etc/passwd\n")
        os.chmod(script, 0o755)
        process = self.zklock("run", self.path, "--", script)
        self.assertEqual(process.status, 126)
        self.assertIn("cannot be started", process.err)
        self.expect_free()


class Waiting(TestCase):
    def test_without_an_option_it_waits_for_its_turn(self):
        holder = self.hold_lock()
        waiter = self.run_shell("echo turn=1")
        moment = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
        waiter.wait_for(r"waiting for %s: held by \S+ \(bash\), in the queue since %s, token \d+\n" % (self.path, moment), "err")
        self.assertEqual(waiter.out, "")
        holder.signal(signal.SIGTERM)
        self.expect_status(waiter, 0)
        self.assertEqual(waiter.out, "turn=1\n")
        self.expect_status(holder, 128 + signal.SIGTERM)
        self.expect_free()

    def test_a_simple_lock_has_no_queue_so_its_holder_has_held_it_since_its_node_was_made(self):
        self.hold_lock("--simple")
        waiter = self.run_shell("true", "--simple")
        waiter.wait_for(r"waiting for %s: held by \S+ \(bash\) since [-\d]+ [:\d]+, token \d+\n" % self.path, "err")

    def test_quiet_says_nothing_about_it(self):
        self.hold_lock()
        waiter = self.run_shell("true", "-q", "-w", "4")
        self.expect_status(waiter, 1)
        self.assertEqual(waiter.err, "")

    def test_nonblock_gives_up_at_once_with_the_conflict_code(self):
        self.hold_lock()
        for options, status in ([], 1), (["-E", "75"], 75), (["-E", "0"], 0):
            process = self.run_shell("echo ran", "-n", *options)
            self.expect_status(process, status)
            self.assertEqual(process.out, "")
            self.assertIn("%s is in use" % self.path, process.err)

    def test_wait_gives_up_when_the_time_is_over(self):
        self.hold_lock()
        began = time.monotonic()
        process = self.run_shell("echo ran", "-w", "0.5", "-E", "9")
        self.expect_status(process, 9)
        self.assertGreaterEqual(time.monotonic() - began, 0.5)
        self.assertIn("was not free within 500 ms", process.err)

    def test_a_free_lock_is_granted_to_nonblock_and_wait(self):
        self.expect_status(self.run_shell("exit 5", "-n"), 5)
        self.expect_status(self.run_shell("exit 6", "-w", "30"), 6)

    def test_a_signal_while_waiting_ends_it_without_the_command_and_without_a_node(self):
        holder = self.hold_lock()
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            waiter = self.run_shell("echo ran")
            wait_for(lambda: support.server.count("ephemerals") == 2, "the waiter stands in line")
            waiter.signal(number)
            # A shell shows both as 128 + number; by the death of SIGINT it knows that somebody has pressed Ctrl-C.
            self.expect_status(waiter, -number if number == signal.SIGINT else 128 + number)
            self.assertEqual(waiter.out, "")
            wait_for(lambda: support.server.count("ephemerals") == 1, "the waiter has left")
        holder.signal(signal.SIGTERM)
        holder.wait()


class Surroundings(TestCase):
    def test_a_signal_that_is_ignored_does_not_end_a_wait(self):
        holder = self.hold_lock(timeout=20)
        waiter = self.run_shell("echo ran", timeout=20,
                                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))  # as nohup does
        wait_for(lambda: support.server.count("ephemerals") == 2, "the waiter stands in line")
        waiter.signal(signal.SIGHUP)
        holder.signal(signal.SIGTERM)
        self.expect_status(waiter, 0)
        self.assertEqual(waiter.out, "ran\n")

    def test_closed_standard_descriptors_are_not_taken_by_something_else(self):
        # Closed, they would be the next numbers for the socket to the server.
        with tempfile.NamedTemporaryFile("r") as file:
            process = self.run_shell("{ for each in 0 1 2; do readlink /proc/$PPID/fd/$each; done; } >%s; exit 7" % file.name,
                                     preexec_fn=lambda: os.closerange(0, 3))
            self.expect_status(process, 7)
            lines = file.read().split()
        self.assertEqual(lines[:3], ["/dev/null"] * 3)

    def test_a_proc_that_hides_processes_does_not_hold_the_lock_up(self):
        began = time.monotonic()
        process = self.start("run", self.path, "--", "true", before=[
            "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
            'mount -t proc -o hidepid=1,gid=65534 proc /proc || exit; sleep 1000 & setpriv --bounding-set=-sys_ptrace "$@"; exit $?',
            "sh"])
        self.expect_status(process, 0)
        self.assertLess(time.monotonic() - began, 8)

    def test_without_a_proc_of_its_own_it_refuses_to_run(self):
        process = subprocess.run(["unshare", "--pid", "--fork", "--kill-child", support.zklock, "run", self.path, "--",
                                  "echo", "ran"], env=dict(os.environ, ZK_SERVERS=support.server.address),
                                 capture_output=True, text=True, timeout=support.LIMIT)
        self.assertEqual((process.returncode, process.stdout), (125, ""), process.stderr)
        self.assertIn("/proc is the one of another PID namespace", process.stderr)


class StandardError(TestCase):
    def run_with(self, stream, script, *options):
        """zklock with this standard error."""
        environment = dict(os.environ, ZK_SERVERS=support.server.address)
        process = subprocess.Popen([support.zklock, "run", self.path, "--timeout", "4", *options, "--", "bash", "-c", script],
                                   stdin=subprocess.DEVNULL, stderr=stream, env=environment)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def test_that_nobody_reads_keeps_neither_the_limit_nor_a_signal_away(self):
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        for options, number, status in (["--limit", "1"], None, 124), ([], signal.SIGTERM, 128 + signal.SIGTERM):
            full = os.path.join(self.folder(), "full")
            # The command fills the pipe before it says so.
            process = self.run_with(writing, "head -c 200000 /dev/zero >&2 & sleep 0.5; touch %s; sleep 1000" % full, *options)
            wait_for(lambda: os.path.exists(full))
            if number:
                process.send_signal(number)
            self.assertEqual(process.wait(support.LIMIT), status)
        os.close(writing)

    def test_that_is_a_broken_pipe_does_not_end_it(self):
        reading, writing = os.pipe()
        os.close(reading)
        process = self.run_with(writing, "exit 5", "--hold-at-least", "3.5")
        os.close(writing)
        self.assertEqual(process.wait(support.LIMIT), 5)

    def test_that_is_a_file_is_written_to_at_its_end(self):
        name = os.path.join(self.folder(), "log")
        with open(name, "w") as log:
            process = self.run_with(log, "echo before >&2; sleep 1000", "--limit", "0.5")
            self.assertEqual(process.wait(support.LIMIT), 124)
            os.write(log.fileno(), b"after\n")
        with open(name) as log:
            self.assertRegex(log.read(), "^before\nzklock: the limit of .*\nafter\n$")

    def test_that_is_broken_means_the_same_to_the_command_as_without_zklock(self):
        process = self.run_shell("grep -E 'SigIgn|SigCgt' /proc/self/status")
        self.expect_status(process, 0)
        self.assertEqual(int(process.out.split()[1], 16) & (1 << signal.SIGPIPE - 1), 0)


class Kinds(TestCase):
    def test_shared_locks_are_held_together_and_exclude_exclusive_ones(self):
        self.hold_lock("-s")
        self.expect_status(self.run_shell("exit 7", "-n", "-s"), 7)
        self.expect_status(self.run_shell("exit 7", "-n"), 1)

    def test_an_exclusive_lock_excludes_shared_ones(self):
        self.hold_lock()
        self.expect_status(self.run_shell("exit 7", "-n", "-s"), 1)

    def test_a_semaphore_has_as_many_holders_as_it_says(self):
        self.hold_lock("-N", "2")
        second = self.hold_lock("-N", "2")
        self.expect_status(self.run_shell("exit 7", "-n", "-N", "2"), 1)
        second.signal(signal.SIGTERM)
        second.wait()
        self.expect_status(self.run_shell("exit 7", "-n", "-N", "2"), 7)

    def test_a_semaphore_may_have_very_many_holders(self):
        self.expect_status(self.run_shell("exit 7", "-N", "1000000000"), 7)

    def test_a_simple_lock_is_the_node_itself(self):
        holder = self.hold_lock("--simple")
        self.expect_status(self.run_shell("exit 7", "-n", "--simple"), 1)
        self.assertIn(holder.err, "")
        self.assertRegex(self.zklock("ls", self.path).out, "holds  exclusive .*%s\n" % self.path)


class Command(TestCase):
    def test_it_knows_path_node_token_and_session(self):
        process = self.run_shell("env | grep ^ZKLOCK_ | sort; %s ls $ZKLOCK_PATH --json" % support.zklock)
        self.expect_status(process, 0)
        values = dict(line.split("=", 1) for line in process.out.splitlines()[:4])
        shown = __import__("json").loads(process.out.splitlines()[4])["contenders"][0]
        self.assertEqual(values, {"ZKLOCK_PATH": self.path, "ZKLOCK_NODE": shown["node"],
                                  "ZKLOCK_TOKEN": shown["token"], "ZKLOCK_SESSION": shown["session"]})
        self.assertTrue(shown["holds"])
        self.assertEqual(shown["note"], "bash")

    def test_no_descriptor_of_zklocks_is_open_in_it(self):
        process = self.run_shell("ls /proc/self/fd")
        self.expect_status(process, 0)
        # 3 is the folder that ls itself reads.
        self.assertEqual(process.out.split(), ["0", "1", "2", "3"])

    def test_a_descriptor_that_zklock_was_given_is_passed_on(self):
        reading, writing = os.pipe()
        process = self.run_shell("echo passed >&%d" % writing, pass_fds=[writing])
        os.close(writing)
        self.expect_status(process, 0)
        self.assertEqual(os.read(reading, 100), b"passed\n")
        os.close(reading)

    def test_it_has_a_process_group_of_its_own_and_no_blocked_signals(self):
        process = self.run_shell("ps -o pid=,pgid= -p $$; grep SigBlk /proc/self/status; grep SigIgn /proc/self/status")
        self.expect_status(process, 0)
        words = process.out.split()
        self.assertEqual(words[0], words[1])
        self.assertEqual(int(words[3], 16), 0)
        self.assertEqual(int(words[5], 16) & (1 << signal.SIGTERM - 1), 0)

    def test_standard_input_is_the_commands(self):
        reading, writing = os.pipe()
        os.write(writing, b"hello\n")
        os.close(writing)
        process = self.run_shell("cat", stdin=reading)
        os.close(reading)
        self.expect_status(process, 0)
        self.assertEqual(process.out, "hello\n")

    def test_signals_are_passed_on(self):
        script = "".join("trap 'echo got-%s' %s; " % (name, name) for name in ("INT", "HUP", "QUIT", "USR1", "USR2"))
        process = self.run_shell(script + "trap 'exit 3' TERM; echo ready=1; while :; do sleep 0.02; done")
        process.number("ready")
        for name in "INT", "HUP", "QUIT", "USR1", "USR2":
            process.signal(getattr(signal, "SIG" + name))
            process.wait_for("got-" + name)
        process.signal(signal.SIGTERM)
        self.expect_status(process, 3)


class Times(TestCase):
    def test_the_limit_ends_the_command_with_124(self):
        process = self.run_shell("sleep 1000 & echo left=$!; wait", "--limit", "0.3")
        left = process.number("left")
        self.expect_status(process, 124)
        self.assertFalse(support.alive(left))
        self.expect_free()

    def test_a_command_that_ignores_term_is_killed_later(self):
        process = self.run_shell("trap '' TERM; echo ready=1; while :; do sleep 0.1; done", "--limit", "0.5",
                                 "--kill-after", "0.3")
        process.number("ready")
        self.expect_status(process, 124)

    def test_the_limit_asks_the_command_once(self):
        process = self.start("run", self.path, "--limit", "2", "--kill-after", "0.5", "--", sys.executable, "-c",
                             support.COUNTS_TERM)
        self.expect_status(process, 124)
        self.assertEqual(process.out, "ready=1\nasked\n")

    def test_hold_at_least_keeps_the_lock_after_the_command(self):
        first = self.run_shell("echo done=1", "--hold-at-least", "3")
        first.number("done")
        self.expect_status(self.run_shell("echo twice", "-n"), 1)
        self.expect_status(first, 0)
        self.expect_status(self.run_shell("exit 7", "-n"), 7)

    def test_two_hosts_with_cron_run_the_job_once(self):
        job = os.path.join(self.folder(), "ran")
        # The second clock is late by half a second; the job itself takes a moment only.
        options = ["-q", "-n", "-E", "0", "--hold-at-least", "4"]
        first = self.run_shell("echo ran >>%s" % job, *options)
        wait_for(lambda: os.path.exists(job) and os.path.getsize(job) > 0)
        time.sleep(0.5)
        second = self.run_shell("echo ran >>%s" % job, *options)
        self.expect_status(second, 0)
        self.expect_status(first, 0)
        self.assertEqual(first.out + first.err + second.out + second.err, "", "cron sends it in a mail")
        with open(job) as file:
            self.assertEqual(file.read(), "ran\n")

    def test_a_signal_ends_the_holding_on(self):
        process = self.run_shell("echo done=1", "--hold-at-least", "1000")
        process.wait_for("holding the lock for another", "err")
        process.signal(signal.SIGTERM)
        self.expect_status(process, 0)
        self.expect_free()

    def test_a_signal_for_the_command_ends_the_holding_on_too(self):
        process = self.run_shell("echo ready=1; exec sleep 1000", "--hold-at-least", "1000")
        process.number("ready")
        process.signal(signal.SIGTERM)
        self.expect_status(process, 128 + signal.SIGTERM)

    def test_a_signal_that_the_command_has_survived_does_not_end_the_holding_on(self):
        for number in signal.SIGHUP, signal.SIGQUIT:
            process = self.run_shell("trap 'echo again=1; exit 5' %d; echo ready=1; while :; do sleep 0.02; done" % number,
                                     "--hold-at-least", "1000")
            process.number("ready")
            process.signal(number)
            process.number("again")
            process.wait_for("holding the lock for another", "err")
            process.signal(signal.SIGTERM)
            self.expect_status(process, 5)

    def test_a_signal_that_has_ended_the_command_ends_the_holding_on(self):
        for number, trap, status in ((signal.SIGHUP, "", 128 + signal.SIGHUP),
                                     (signal.SIGHUP, "trap 'exit 129' HUP; ", 129),
                                     (signal.SIGINT, "trap 'exit 3' INT; ", 3),
                                     (signal.SIGINT, "", -signal.SIGINT)):
            process = self.run_shell(trap + "echo ready=1; while :; do sleep 0.02; done", "--hold-at-least", "1000")
            process.number("ready")
            process.signal(number)
            self.expect_status(process, status)
            self.assertIn("giving up the lock before --hold-at-least is over", process.err)

    def test_what_the_command_leaves_behind_is_ended_before_the_lock_is_free(self):
        process = self.run_shell("sleep 1000 & echo left=$!")
        left = process.number("left")
        self.expect_status(process, 0)
        self.assertFalse(support.alive(left))
        self.assertIn("left a process behind", process.err)

    def test_a_process_whose_main_thread_has_ended_is_not_left_behind(self):
        go = os.path.join(self.folder(), "go")
        process = self.run_shell('%s -c "$1" & while [[ ! -e %s ]]; do sleep 0.02; done' % (sys.executable, go),
                                 arguments=[support.WITHOUT_MAIN_THREAD])
        threads = process.number("threads")
        self.addCleanup(lambda: support.alive(threads) and os.kill(threads, signal.SIGKILL))
        wait_for(lambda: support.state(threads) == "Z", "its main thread has ended")
        open(go, "w").close()
        self.expect_status(process, 0)
        self.assertFalse(support.alive(threads))
        self.assertIn("left a process behind", process.err)

    def test_a_process_that_goes_on_in_children_of_its_own_is_ended_too(self):
        # Each lives for a moment only, so that a list of processes is out of date when it is complete.
        marker = "hops-of-%d" % os.getpid()
        hops = ("import os, signal, time\nos.closerange(0, 3)\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                "for _ in range(2000):\n  if os.fork(): os._exit(0)\ntime.sleep(1000)")
        process = self.start("run", self.path, "--kill-after", "0.2", "--", sys.executable, "-c", hops, marker)
        self.expect_status(process, 0)
        left = subprocess.run(["pgrep", "-f", "--", marker], stdout=subprocess.PIPE, text=True).stdout.split()
        for each in left:
            os.kill(int(each), signal.SIGKILL)
        self.assertEqual(left, [])

    def test_what_has_left_the_session_on_purpose_stays(self):
        process = self.run_shell("setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo left=$!")
        left = process.number("left")
        self.addCleanup(os.kill, left, signal.SIGKILL)
        self.expect_status(process, 0)
        self.assertTrue(support.alive(left))

    def test_a_daemon_whose_parent_exits_before_it_has_left_the_session_stays(self):
        # As daemon(3) does it, on a machine where the child has its turn a little later.
        daemon = ("import os, time\npid = os.fork()\nif pid: print('left=%d' % pid, flush=True); os._exit(0)\n"
                  "end = time.monotonic() + 0.01\nwhile time.monotonic() < end: pass\n"
                  "os.setsid(); os.closerange(0, 3); time.sleep(1000)")
        for _ in range(10):
            process = self.start("run", self.path, "--", sys.executable, "-c", daemon)
            left = process.number("left")
            self.addCleanup(os.kill, left, signal.SIGKILL)
            self.expect_status(process, 0)
            self.assertEqual(process.err, "")
            self.assertTrue(support.alive(left))

    def test_a_daemon_that_may_stay_does_so_when_zklock_is_killed_later(self):
        process = self.run_shell("setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo left=$!", "--hold-at-least", "1000")
        left = process.number("left")
        self.addCleanup(os.kill, left, signal.SIGKILL)
        process.wait_for("holding the lock for another", "err")
        guardian = support.guardian_of(process)
        process.signal(signal.SIGKILL)
        wait_for(lambda: not support.alive(guardian), "the guardian has ended")
        self.assertTrue(support.alive(left))


if __name__ == "__main__":
    support.main()
