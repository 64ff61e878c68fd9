#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""zklock run and zklock ls --watch at a terminal, with an interactive shell around them."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

sys.dont_write_bytecode = True
import zklock_test as support  # noqa: E402
from zklock_test import TestCase, alive, state, wait_for  # noqa: E402


class Terminal:
    """An interactive bash at a terminal of its own."""

    def __init__(self, columns=200, lines=30):
        self.main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        environment = dict(os.environ, ZK_SERVERS=support.server.address, PS1="ready> ", TERM="xterm")

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.shell = subprocess.Popen(["bash", "--norc", "--noprofile", "-i"], stdin=other, stdout=other, stderr=other,
                                      env=environment, preexec_fn=take_terminal, close_fds=True)
        os.close(other)
        self.text = ""
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.wait_for("ready> ")

    def read(self):
        try:
            while True:
                data = os.read(self.main, 65536)
                if not data:
                    return
                self.text += data.decode(errors="replace")
        except OSError:
            pass

    def type(self, text):
        """Forgets what was shown before."""
        self.text = ""
        os.write(self.main, text.encode())

    def wait_for(self, pattern):
        return wait_for(lambda: re.search(pattern, self.text), lambda: "%s, but: %r" % (pattern, self.text))

    def close(self):
        # With the scripts and jobs that a test which has failed leaves there.
        subprocess.run(["pkill", "-KILL", "--session", str(self.shell.pid)], check=False)
        self.shell.wait()
        os.close(self.main)


class TerminalTest(TestCase):
    def setUp(self):
        super().setUp()
        self.terminal = Terminal()
        self.addCleanup(self.terminal.close)

    def run_line(self, script, options="--timeout 10"):
        launcher = os.environ.get("LAUNCHER", "")
        return "%s %s run %s %s -- bash -c '%s'; echo status=$?\n" % (launcher, support.zklock, self.path, options, script)

    def test_an_interactive_command_reads_from_the_terminal(self):
        self.terminal.type(self.run_line("echo x-begin; read -r line; echo got:$line"))
        self.terminal.wait_for("x-begin\r\n")
        self.terminal.type("hello\r")
        self.terminal.wait_for("got:hello")
        self.terminal.wait_for("status=0\r\n")
        self.terminal.type("echo shell-$((1+1))\r")
        self.terminal.wait_for("shell-2\r\n")

    def test_ctrl_c_ends_the_command(self):
        self.terminal.type(self.run_line("echo command=$$; exec sleep 1000"))
        command = int(self.terminal.wait_for(r"command=(\d+)\r\n").group(1))
        self.terminal.type("\x03")
        self.terminal.wait_for("ready> ")
        self.assertFalse(alive(command))
        self.terminal.type("echo status=$?\r")
        self.terminal.wait_for("status=130\r\n")

    def test_ctrl_c_ends_the_script_around_it_too(self):
        script = os.path.join(self.folder(), "script")
        with open(script, "w") as file:
            file.write(self.run_line("echo command=$$; exec sleep 1000") + "echo next-$((1+1))\n")
        self.terminal.type("bash %s\n" % script)
        self.terminal.wait_for(r"command=(\d+)\r\n")
        self.terminal.type("\x03")
        self.terminal.wait_for("ready> ")
        self.assertNotIn("next-2", self.terminal.text)
        self.expect_free()

    def interrupt_script(self, lines, begun):
        """Ctrl-C in a script with these lines, when it has shown what `begun` says."""
        script = os.path.join(self.folder(), "script")
        with open(script, "w") as file:
            file.write(lines)
        self.terminal.type("bash %s\n" % script)
        self.terminal.wait_for(begun)
        self.terminal.type("\x03")
        self.terminal.wait_for("ready> ")
        self.assertNotIn("next-2", self.terminal.text)
        self.terminal.type("echo status=$?\r")
        self.terminal.wait_for("status=130\r\n")

    def test_ctrl_c_ends_the_loop_around_it_while_zklock_waits(self):
        self.hold_lock(timeout=20)
        self.interrupt_script("while :; do %s echo next-$((1+1)); done\n" %
                              self.run_line("echo ran").replace("echo status=$?\n", ""), "waiting for " + self.path)

    def test_ctrl_c_ends_the_loop_around_it_where_the_command_has_no_terminal(self):
        for redirection in ">/dev/null", "| cat", "</dev/null":
            with self.subTest(redirection=redirection):
                line = self.run_line("echo command=$$ >&2; exec sleep 1000")
                self.interrupt_script("while :; do %s; echo next-$((1+1)); done\n" %
                                      line.replace("; echo status=$?\n", " " + redirection), r"command=\d+\r\n")
                self.expect_free()

    def test_ctrl_c_ends_the_holding_on_too(self):
        self.terminal.type(self.run_line("echo command=$$; exec sleep 1000", "--hold-at-least 1000"))
        self.terminal.wait_for(r"command=(\d+)\r\n")
        self.terminal.type("\x03")
        self.terminal.wait_for("giving up the lock before --hold-at-least is over")
        self.terminal.wait_for("ready> ")
        self.expect_free()

    def test_ctrl_z_stops_a_command_without_the_terminal_too(self):
        for redirection in ">/dev/null", "</dev/null", "| cat":
            with self.subTest(redirection=redirection):
                go = os.path.join(self.folder(), "go")
                line = self.run_line("echo command=$$ >&2; while [[ ! -e %s ]]; do read -t 0.02 <> <(:); done; echo over >&2" % go,
                                     "--timeout 60")
                self.terminal.type(line.replace("; echo status=$?", " " + redirection))
                command = int(self.terminal.wait_for(r"command=(\d+)\r\n").group(1))
                self.terminal.type("\x1a")
                self.terminal.wait_for("Stopped")
                self.terminal.wait_for("ready> ")
                wait_for(lambda: state(command) == "T", "the command is stopped")
                self.terminal.type("fg\r")
                wait_for(lambda: state(command) != "T", "the command goes on")
                open(go, "w").close()
                self.terminal.wait_for("over\r\n")
                self.terminal.wait_for("ready> ")

    def test_ctrl_z_while_waiting_stops_zklock(self):
        holder = self.hold_lock(timeout=20)
        self.terminal.type(self.run_line("echo ran-$((1+1))", "--timeout 60"))
        self.terminal.wait_for("waiting for " + self.path)
        self.terminal.type("\x1a")
        self.terminal.wait_for("Stopped")
        self.terminal.wait_for("ready> ")
        holder.signal(signal.SIGTERM)
        holder.wait()
        self.terminal.type("fg\r")
        self.terminal.wait_for("ran-2\r\n")
        self.terminal.wait_for("ready> ")

    def test_a_command_with_redirected_output_can_still_ask_at_the_terminal(self):
        line = self.run_line("echo x >&2; read -r line; echo got:$line >&2")
        self.terminal.type(line.replace("; echo status", " >/dev/null; echo status"))
        self.terminal.wait_for("x\r\n")
        self.terminal.type("hello\r")
        self.terminal.wait_for("got:hello")
        self.terminal.wait_for("status=0\r\n")
        self.terminal.type("echo shell-$((1+1))\r")
        self.terminal.wait_for("shell-2\r\n")

    def expect_cooked_terminal(self):
        # An interactive bash sets modes of its own while it reads a line, so ask for those that a command sees.
        self.terminal.type("stty -a | grep -o -E -e '-?echo ' -e '-?icanon '; echo modes-$((1+1))\r")
        self.terminal.wait_for("modes-2\r\n")
        shown = self.terminal.text.split("modes-$", 1)[1].split()
        self.assertEqual([each for each in shown if each in ("echo", "-echo", "icanon", "-icanon")], ["icanon", "echo"])

    def test_a_command_that_was_killed_leaves_the_terminal_as_it_was(self):
        self.terminal.type(self.run_line("stty -echo -icanon; kill -KILL $$"))
        self.terminal.wait_for("status=137\r\n")
        self.expect_cooked_terminal()

    def test_a_guardian_that_was_killed_leaves_the_terminal_as_it_was(self):
        self.terminal.type(self.run_line("stty -echo -icanon; echo guardian=$PPID; exec sleep 1000"))
        os.kill(int(self.terminal.wait_for(r"guardian=(\d+)\r?\n").group(1)), signal.SIGKILL)
        self.terminal.wait_for("status=125\r?\n")
        self.expect_cooked_terminal()

    def run_script(self, command, *options):
        """A script that runs the command with zklock, and reads a line when it has the terminal again."""
        script = os.path.join(self.folder(), "script")
        with open(script, "w") as file:
            file.write("%s run %s --timeout 10 %s -- %s\n" % (support.zklock, self.path, " ".join(options), command) +
                       "until [[ $(ps -o tpgid= -p $$) -eq $(ps -o pgid= -p $$) ]]; do :; done\n"
                       "echo reads-$((1+1)); read -r line; echo got:$line\n")
        self.terminal.type("bash %s; echo status=$?\n" % script)

    def expect_that_the_script_reads(self):
        self.terminal.wait_for("reads-2\r\n")
        self.terminal.type("hello\r")
        self.terminal.wait_for("got:hello")
        self.terminal.wait_for("status=0\r\n")

    def test_zklock_killed_leaves_the_terminal_to_the_script_around_it(self):
        self.run_script("bash -c 'echo guardian=$PPID; exec sleep 1000'")
        guardian = int(self.terminal.wait_for(r"guardian=(\d+)\r\n").group(1))
        os.kill(support.parent_of(guardian), signal.SIGKILL)
        self.expect_that_the_script_reads()

    def test_a_shell_that_was_killed_with_its_job_leaves_the_terminal_to_the_script_around_it(self):
        self.run_script("env 'PS1=inside> ' bash --norc -i", "--on-lost=kill")
        self.terminal.wait_for("inside> ")
        self.terminal.type("echo session=$((ZKLOCK_SESSION))\r")
        session = self.terminal.wait_for(r"session=(-?\d+)\r\n").group(1)
        self.terminal.type("bash -c 'echo job=$$; exec sleep 1000'\r")
        self.terminal.wait_for(r"job=\d+\r\n")
        support.server.verb("expire", session)
        self.expect_that_the_script_reads()

    def test_ctrl_c_while_waiting_leaves_the_queue(self):
        self.hold_lock(timeout=20)
        self.terminal.type(self.run_line("echo ran"))
        self.terminal.wait_for("waiting for " + self.path)
        self.terminal.type("\x03")
        self.terminal.wait_for("ready> ")
        self.assertNotIn("ran", self.terminal.text)
        self.terminal.type("echo status=$?\r")
        self.terminal.wait_for("status=130\r\n")

    def test_ctrl_z_stops_and_fg_goes_on(self):
        # Long enough that the lock survives the stop.
        self.terminal.type(self.run_line("echo command=$$; read -r line; echo got:$line", "--timeout 60"))
        command = int(self.terminal.wait_for(r"command=(\d+)\r\n").group(1))
        self.terminal.type("\x1a")
        self.terminal.wait_for(r"Stopped")
        self.terminal.wait_for("ready> ")
        self.assertTrue(alive(command))
        self.terminal.type("fg\r")
        self.terminal.wait_for("zklock run")
        self.terminal.type("again\r")
        self.terminal.wait_for("got:again")

    def test_ctrl_z_for_longer_than_the_lease_ends_the_command(self):
        self.terminal.type(self.run_line("echo command=$$; exec sleep 1000", "--timeout 2"))
        command = int(self.terminal.wait_for(r"command=(\d+)\r\n").group(1))
        self.terminal.type("\x1a")
        self.terminal.wait_for(r"Stopped")
        wait_for(lambda: not alive(command), "the guardian ends the command")
        self.terminal.type("fg; echo status=$?\r")
        self.terminal.wait_for("status=123\r\n")

    def test_ctrl_z_without_a_shell_that_could_continue_it_changes_nothing(self):
        # As with "ssh -t host zklock run ...": nobody is there to see the stop.
        self.terminal.type("exec " + self.run_line("echo x-begin; read -r line; echo got:$line", "--timeout 60"))
        self.terminal.wait_for("x-begin\r\n")
        self.terminal.type("\x1a")
        self.terminal.wait_for(r"\^Z")
        self.terminal.type("still-there\r")
        self.terminal.wait_for("got:still-there")

    def test_in_a_pipeline_the_other_command_keeps_the_terminal(self):
        self.terminal.type("%s run %s -- echo piped | (cat; read -r line </dev/tty; echo got:$line)\n" %
                           (support.zklock, self.path))
        self.terminal.wait_for("piped\r\n")
        self.terminal.type("typed\r")
        self.terminal.wait_for("got:typed")

    def test_watch_redraws_the_screen_and_cuts_long_lines(self):
        self.terminal = Terminal(columns=60)
        self.addCleanup(self.terminal.close)
        self.hold_lock("--identity", "a-holder", timeout=20)
        self.terminal.type("%s ls %s --watch --interval 0.1\n" % (support.zklock, self.path))
        self.terminal.wait_for(r"\x1b\[H")
        line = self.terminal.wait_for(r"holds  exclusive [^\x1b\r\n]*").group(0)
        self.assertEqual(len(line), 60)
        self.assertTrue(line.endswith("..."))
        self.terminal.type("\x03")
        self.terminal.wait_for("ready> ")


    def test_watch_keeps_what_matters_on_80_columns(self):
        self.terminal = Terminal(columns=80)
        self.addCleanup(self.terminal.close)
        self.hold_lock("--identity", "db1:4711", "--note", "backup", timeout=20)
        self.terminal.type("%s ls %s --watch --interval 0.1\n" % (support.zklock, self.path))
        self.terminal.wait_for(r"STATE  MODE       FOR +IDENTITY  NOTE    TOKEN +NODE")
        self.terminal.wait_for(r"holds  exclusive  \d+ s +db1:4711  backup  \d+ +_c_")
        self.terminal.type("\x03")
        self.terminal.wait_for("ready> ")

    def test_watch_shows_an_outage_on_a_line_of_its_own_and_ends_at_once(self):
        self.path += "-" + "long" * 20
        self.terminal = Terminal(columns=80)
        self.addCleanup(self.terminal.close)
        network = self.network()
        self.hold_lock("--identity", "a-holder", timeout=20)
        self.terminal.type("%s ls %s --watch --interval 0.1 --timeout 25 --servers %s\n" %
                           (support.zklock, self.path, network.address))
        self.terminal.wait_for("holds  exclusive")
        network.freeze()
        self.terminal.wait_for(r"\n\s*no answer from the servers since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d; this is what was known")
        began = time.monotonic()
        self.terminal.type("\x03")
        self.terminal.wait_for("ready> ")
        self.assertLess(time.monotonic() - began, 5)

    def test_watch_does_not_call_a_lock_free_before_there_is_an_answer(self):
        network = self.network()
        network.freeze_at = self.path.encode()
        self.terminal.type("%s ls %s --watch --interval 0.1 --timeout 2 --servers %s\n" %
                           (support.zklock, self.path, network.address))
        self.terminal.wait_for("%s  not known yet" % self.path)
        self.terminal.wait_for("no answer from the servers")
        self.assertNotIn("  free", self.terminal.text)
        self.terminal.type("\x03")
        self.terminal.wait_for("ready> ")


if __name__ == "__main__":
    support.main()
