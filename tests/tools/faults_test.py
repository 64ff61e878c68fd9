#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""zklock run when something dies: no command outlives its lock, unless it was told to."""

import os
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
import zklock_test as support  # noqa: E402
from zklock_test import TestCase, alive, guardian_of, state, wait_for  # noqa: E402

# A command with a child, a child of that child which has left the group and the session, and none of them ends by TERM
# before it has taken its time.
FAMILY = ("bash -c 'echo child=$$; setsid bash -c \"echo grandchild=\\$\\$; exec sleep 1000\"; :' & "
          "echo command=$$; wait; wait")
SESSION = "echo session=$((ZKLOCK_SESSION)); "
STUBBORN = "trap '' TERM; echo command=$$; while :; do sleep 0.05; done"


def found_by_name(zklock, *options):
    """Of zklock and its children, those that pgrep, and so pkill, finds by the name zklock."""
    found = subprocess.run(["pgrep", *options, "zklock"], stdout=subprocess.PIPE, text=True).stdout.split()
    children = subprocess.check_output(["ps", "-o", "pid=", "--ppid", str(zklock.pid)], text=True).split()
    return [int(each) for each in found if each in [str(zklock.pid)] + children]


def seconds_of_ended_children():
    """Of the processor, that is."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class FaultTest(TestCase):
    def session_of(self, process):
        return process.wait_for(r"session=(-?\d+)\n").group(1)

    def start_family(self, *options, **settings):
        process = self.run_shell(SESSION + FAMILY, *options, **settings)
        process.session = self.session_of(process)
        family = [process.number(name) for name in ("command", "child", "grandchild")]
        for each in family:
            self.addCleanup(lambda pid=each: alive(pid) and os.kill(pid, signal.SIGKILL))
        return process, family

    def expect_ended(self, family, limit=10):
        wait_for(lambda: not any(map(alive, family)), "the command and its children have ended", limit)

    def own_server(self, *options):
        server = support.Server(sys.argv[2], *options)
        self.addCleanup(server.close)
        return server


class Killed(FaultTest):
    def test_zklock_killed_ends_the_command_and_all_its_descendants(self):
        process, family = self.start_family()
        guardian = guardian_of(process)
        process.signal(signal.SIGKILL)
        self.expect_status(process, -signal.SIGKILL)
        self.expect_ended(family + [guardian])
        self.expect_free()

    def test_all_that_have_the_name_zklock_killed_ends_the_command_and_all_its_descendants(self):
        for options in [], ["-f"]:
            process, family = self.start_family()
            for each in found_by_name(process, *options):
                os.kill(each, signal.SIGKILL)
            self.expect_status(process, -signal.SIGKILL)
            self.expect_ended(family)

    def test_zklock_killed_ends_the_command_also_with_ignore(self):
        process, family = self.start_family("--on-lost=ignore")
        process.signal(signal.SIGKILL)
        self.expect_ended(family)

    def test_zklock_killed_ends_a_process_whose_main_thread_has_ended(self):
        process = self.run_shell('%s -c "$1" & wait' % sys.executable, arguments=[support.WITHOUT_MAIN_THREAD])
        threads = process.number("threads")
        self.addCleanup(lambda: alive(threads) and os.kill(threads, signal.SIGKILL))
        wait_for(lambda: state(threads) == "Z", "its main thread has ended")
        process.signal(signal.SIGKILL)
        self.expect_ended([threads])

    def test_the_guardian_killed_ends_the_command_and_frees_the_lock(self):
        process, family = self.start_family()
        os.kill(guardian_of(process), signal.SIGKILL)
        self.expect_status(process, 125)
        self.assertIn("the guardian process was killed", process.err)
        self.expect_ended(family)
        self.expect_free()

    def test_the_guardian_killed_while_zklock_waits_ends_the_wait(self):
        self.hold_lock()
        waiter = self.run_shell("echo ran")
        wait_for(lambda: support.server.count("ephemerals") == 2, "the waiter stands in line")
        os.kill(guardian_of(waiter), signal.SIGKILL)
        self.expect_status(waiter, 125)
        self.assertIn("the guardian process was killed; the command was not started", waiter.err)

    def test_a_guardian_that_hangs_does_not_keep_a_command_whose_lock_is_lost(self):
        process, family = self.start_family()
        os.kill(guardian_of(process), signal.SIGSTOP)
        support.server.verb("expire", process.session)
        process.wait_for("the lock is lost", "err")
        began = time.monotonic()
        self.expect_status(process, 123)
        self.assertLess(time.monotonic() - began, 1, "much less than a guardian has that works")
        self.assertFalse(any(map(alive, family)))

    def stop_guardian_of(self, process):
        guardian = guardian_of(process)
        os.kill(guardian, signal.SIGSTOP)
        self.addCleanup(lambda: alive(guardian) and os.kill(guardian, signal.SIGKILL))

    def test_a_guardian_that_hangs_keeps_neither_the_limit_nor_the_end_away(self):
        process, family = self.start_family("--limit", "2", "--kill-after", "0.5")
        self.stop_guardian_of(process)
        self.expect_status(process, 124)
        self.assertFalse(any(map(alive, family)))
        self.expect_free()

    def test_a_guardian_that_hangs_does_not_keep_a_wait_from_being_interrupted(self):
        self.hold_lock()
        waiter = self.run_shell("echo ran")
        wait_for(lambda: support.server.count("ephemerals") == 2, "the waiter stands in line")
        self.stop_guardian_of(waiter)
        waiter.signal(signal.SIGTERM)
        self.expect_status(waiter, 128 + signal.SIGTERM)

    def test_a_guardian_that_hangs_does_not_end_a_daemon_that_may_stay(self):
        process = self.run_shell("setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo left=$!; exit 4",
                                 "--hold-at-least", "4")
        left = process.number("left")
        self.addCleanup(os.kill, left, signal.SIGKILL)
        process.wait_for("holding the lock", "err")
        self.stop_guardian_of(process)
        self.expect_status(process, 4)
        self.assertTrue(alive(left))

    def test_signals_that_a_hanging_guardian_does_not_read_do_not_hold_zklock_up(self):
        process, family = self.start_family(timeout=20)
        self.stop_guardian_of(process)

        def has_read_it():
            with open("/proc/%d/status" % process.pid) as status:
                pending = re.search(r"ShdPnd:\s*(\w+)", status.read()).group(1)
            return int(pending, 16) & (1 << signal.SIGUSR1 - 1) == 0

        for _ in range(400):  # more than the socket takes
            process.signal(signal.SIGUSR1)
            wait_for(has_read_it, "zklock reads its signals", 10)
        support.server.verb("expire", process.session)
        self.expect_status(process, 123)
        self.assertFalse(any(map(alive, family)))

    def test_the_guardian_killed_spares_what_zklock_has_inherited(self):
        folder = self.folder()
        # A child, and a grandchild whose parent ends while the lock is held.
        process = self.run_shell("echo command=$$; exec sleep 1000", before=["bash", "-c", """
            cd %s
            sleep 1000 >/dev/null 2>&1 & echo inherited=$!
            bash -c 'sleep 1000 >/dev/null 2>&1 & echo grandchild=$! | tee begun; until [[ -e go ]]; do sleep 0.02; done' &
            echo child=$!
            until [[ -s begun ]]; do sleep 0.02; done
            exec "$@" """ % folder, "bash"])
        inherited = [process.number(name) for name in ("inherited", "grandchild")]
        for each in inherited:
            self.addCleanup(os.kill, each, signal.SIGKILL)
        command = process.number("command")
        open(os.path.join(folder, "go"), "w").close()
        child = process.number("child")
        wait_for(lambda: not alive(child))
        os.kill(guardian_of(process), signal.SIGKILL)
        self.expect_status(process, 125)
        self.assertFalse(alive(command))
        self.assertTrue(all(map(alive, inherited)))

    def test_a_guardian_that_cannot_see_processes_ends_the_command_all_the_same(self):
        process = self.run_shell(SESSION + "echo command=$$; exec sleep 1000")
        command = process.number("command")
        resource.prlimit(guardian_of(process), resource.RLIMIT_NOFILE, (3, 3))
        support.server.verb("expire", self.session_of(process))
        self.expect_status(process, 123)
        self.assertFalse(alive(command))

    def test_the_guardian_killed_while_the_lock_is_held_on_to_changes_nothing(self):
        before = seconds_of_ended_children()
        process = self.run_shell("exit 4", "--hold-at-least", "3.5")
        process.wait_for("holding the lock", "err")
        os.kill(guardian_of(process), signal.SIGKILL)
        self.expect_status(process, 4)
        # It waits, and does not look again and again.
        self.assertLess(seconds_of_ended_children() - before, 0.5)

    def test_the_guardian_and_zklock_killed_at_once_end_the_command_itself(self):
        process, family = self.start_family()
        os.kill(process.pid, signal.SIGSTOP)
        os.kill(guardian_of(process), signal.SIGKILL)
        process.signal(signal.SIGKILL)
        self.expect_ended(family[:1])

    def test_the_command_killed_frees_the_lock(self):
        process, family = self.start_family()
        os.kill(family[0], signal.SIGKILL)
        self.expect_status(process, 128 + 9)
        self.assertFalse(any(map(alive, family)))
        self.expect_free()

    def test_zklock_stopped_for_longer_than_its_lease_does_not_keep_the_command(self):
        process, family = self.start_family()
        began = time.monotonic()
        process.signal(signal.SIGSTOP)
        self.expect_ended(family)
        self.assertLess(time.monotonic() - began, support.TIMEOUT)
        process.signal(signal.SIGCONT)
        self.expect_status(process, 123)

    @unittest.skipUnless(os.environ.get("SUSPENDED_CLOCK"), "a build with sanitizers has no clock of its own")
    def test_a_lease_that_ran_out_while_the_machine_was_suspended_is_over_for_the_guardian_too(self):
        suspended = os.path.join(self.folder(), "suspended")
        process = self.run_shell("echo command=$$; exec sleep 1000", timeout=100, environment={
            "LD_PRELOAD": os.environ["SUSPENDED_CLOCK"], "SUSPENDED_FILE": suspended})
        command = process.number("command")
        process.signal(signal.SIGSTOP)
        open(suspended, "w").close()
        # The alarm of a real suspension cannot be had here, so something else must wake the guardian.
        os.kill(command, signal.SIGSTOP)
        self.expect_ended([command])
        process.signal(signal.SIGCONT)
        self.expect_status(process, 123)


class Unreachable(FaultTest):
    def expect_lost(self, process, family, began):
        """Ended before the servers may give the lock to another, and with the exit status for that."""
        self.expect_ended(family)
        self.assertLess(time.monotonic() - began, support.TIMEOUT)
        self.expect_status(process, 123)
        self.assertRegex(process.err, "%s: the lock is lost; ending the command" % self.path)

    def test_the_server_killed_ends_the_command_before_the_session_can_be_over(self):
        server = self.own_server()
        process, family = self.start_family(servers=server.address)
        began = time.monotonic()
        server.verb("kill")
        self.expect_lost(process, family, began)

    def test_a_network_that_is_cut_ends_the_command(self):
        network = self.network()
        process, family = self.start_family(servers=network.address)
        began = time.monotonic()
        network.cut()
        self.expect_lost(process, family, began)
        self.expect_free()

    def test_a_network_that_swallows_everything_ends_the_command(self):
        network = self.network()
        process, family = self.start_family(servers=network.address)
        began = time.monotonic()
        network.freeze()
        self.expect_lost(process, family, began)

    def test_a_command_that_ignores_term_is_killed_in_time_too(self):
        network = self.network()
        process = self.run_shell(STUBBORN, servers=network.address)
        command = process.number("command")
        began = time.monotonic()
        network.cut()
        self.expect_lost(process, [command], began)

    def test_a_command_that_ignores_term_is_killed_in_time_also_with_a_timeout_that_the_server_has_cut(self):
        server = self.own_server("tick-time=200 max-session-timeout=%d" % (support.TIMEOUT * 1000))
        process = self.run_shell(STUBBORN, timeout=10 * support.TIMEOUT, servers=server.address)
        command = process.number("command")
        began = time.monotonic()
        server.verb("kill")
        self.expect_lost(process, [command], began)

    def test_a_command_whose_lock_was_lost_before_it_was_started_is_not_started(self):
        network = self.network()
        holder = self.hold_lock()
        # The command would ignore TERM, too.
        waiter = self.run_shell("echo ran", "-v", "--kill-after", "5", servers=network.address,
                                preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
        wait_for(lambda: support.server.count("ephemerals") == 2, "the waiter stands in line")
        guardian = guardian_of(waiter)
        os.kill(guardian, signal.SIGSTOP)
        self.addCleanup(lambda: alive(guardian) and os.kill(guardian, signal.SIGCONT))
        holder.signal(signal.SIGTERM)
        self.expect_status(holder, 128 + signal.SIGTERM)
        waiter.wait_for("starting the command", "err")
        network.cut()
        waiter.wait_for("the lock is lost", "err")
        os.kill(guardian, signal.SIGCONT)
        self.expect_status(waiter, 123)
        self.assertEqual(waiter.out, "")

    def test_a_command_whose_lock_is_lost_is_asked_to_end_once(self):
        network = self.network()
        process = self.start("run", self.path, "--timeout", str(support.TIMEOUT), "--kill-after", "1", "--",
                             sys.executable, "-c", support.COUNTS_TERM, servers=network.address)
        process.number("ready")
        network.cut()
        self.expect_status(process, 123)
        self.assertEqual(process.out, "ready=1\nasked\n")

    def test_on_lost_kill_does_not_ask_first(self):
        network = self.network()
        process = self.run_shell("trap 'echo asked' TERM; echo command=$$; while :; do sleep 0.02; done",
                                 "--on-lost=kill", servers=network.address)
        command = process.number("command")
        began = time.monotonic()
        network.cut()
        self.expect_lost(process, [command], began)
        self.assertNotIn("asked", process.out)

    def test_on_lost_ignore_lets_the_command_finish(self):
        network = self.network()
        process = self.run_shell("echo command=$$; while [[ ! -e %s/go ]]; do sleep 0.02; done; exit 6" %
                                 self.folder_for_go(), "--on-lost=ignore", servers=network.address)
        process.number("command")
        network.cut()
        process.wait_for("the lock is lost; the command goes on without it", "err")
        open(self.go, "w").close()
        self.expect_status(process, 6)

    def folder_for_go(self):
        folder = self.folder()
        self.go = os.path.join(folder, "go")
        return folder

    def test_an_outage_that_is_shorter_than_the_lease_changes_nothing(self):
        server = self.own_server()
        process = self.run_shell("echo command=$$; while [[ ! -e %s/go ]]; do sleep 0.02; done; exit 6" %
                                 self.folder_for_go(), timeout=20, servers=server.address)
        process.number("command")
        server.verb("kill")
        server.verb("restart")
        open(self.go, "w").close()
        self.expect_status(process, 6)

    def test_an_expired_session_ends_the_command(self):
        process = self.run_shell(SESSION + "echo command=$$; exec sleep 1000", timeout=20)
        command = process.number("command")
        support.server.verb("expire", self.session_of(process))
        self.expect_status(process, 123)
        self.assertFalse(alive(command))

    def test_a_lock_that_is_lost_while_it_is_held_on_to_keeps_the_status_of_the_command(self):
        process = self.run_shell(SESSION + "exit 4", "--hold-at-least", "1000")
        session = self.session_of(process)
        process.wait_for("holding the lock", "err")
        support.server.verb("expire", session)
        self.expect_status(process, 4)
        self.assertIn("lost before --hold-at-least was over", process.err)

    def test_a_signal_while_the_release_is_not_answered_does_not_change_the_status(self):
        network = self.network()
        process = self.run_shell("echo command=$$; while [[ ! -e %s/go ]]; do sleep 0.02; done; exit 6" %
                                 self.folder_for_go(), timeout=4, servers=network.address)
        command = process.number("command")
        network.freeze()
        open(self.go, "w").close()
        wait_for(lambda: not alive(command))
        process.signal(signal.SIGUSR1)
        self.expect_status(process, 6)

    def test_servers_that_never_answer_give_69(self):
        network = self.network()
        network.freeze()
        for address in network.address, "127.0.0.1:1":
            for options in [], ["-n"], ["-w", "0.5"]:
                process = self.run_shell("echo ran", *options, timeout=1, servers=address)
                self.expect_status(process, 69)
                self.assertEqual(process.out, "")
                self.assertIn("no ZooKeeper server answered at %s within" % address, process.err)


if __name__ == "__main__":
    support.main()
