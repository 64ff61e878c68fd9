#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""kazoo in the queue; what it understands is in README.md."""

import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "python"))
sys.dont_write_bytecode = True

from kazoo.client import KazooClient  # noqa: E402
from kazoo.protocol.states import KazooState  # noqa: E402
from kazoo.retry import KazooRetry  # noqa: E402
from zkrecipes_kazoo import FairMutex  # noqa: E402

_saying = threading.Lock()


def say(line):
    with _saying:
        print(line, flush=True)


class Worker:
    def __init__(self, servers, history, name, timeout_ms):
        self.name = name
        self.history = os.open(history, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.lost_at = 0
        self.operations = 0
        self.looping = False
        self.looper = None
        self.locks = {}
        forever = KazooRetry(max_tries=-1, max_delay=1)
        self.client = KazooClient(hosts=servers, timeout=timeout_ms / 1000, connection_retry=forever,
                                  command_retry=KazooRetry(max_tries=-1, max_delay=1))
        self.client.add_listener(self.on_state)
        self.client.start(timeout=30)

    def on_state(self, state):
        if state == KazooState.LOST:
            self.lost_at = time.monotonic_ns()

    def carry_out(self, line):
        words = line.split()
        if words[0] == "acquire" and words[1] == "exclusive":
            threading.Thread(target=self.acquire, args=(words[2], words[3]), daemon=True).start()
        elif words[0] == "release":
            self.locks.pop(words[1]).release()
            say("released " + words[1])
        elif words[0] == "loop" and words[1] == "exclusive":
            self.looping = True
            self.looper = threading.Thread(target=self.loop, args=(words[2],), daemon=True)
            self.looper.start()
        elif words[0] == "stop":
            self.looping = False
            if self.looper:
                self.looper.join()
            say("stopped %d" % self.operations)
        else:
            raise ValueError("unknown command: " + line)

    def acquire(self, path, name):
        lock = FairMutex(self.client, path, self.name)
        self.locks[name] = lock
        try:
            lock.acquire()
            say("granted %s %d %s/%s" % (name, lock.fencing_token(), path, lock.node))
        except Exception as error:
            say("error %r" % error)

    def write(self, event, when, token=None):
        line = "%s %d %s exclusive %d %s\n" % (self.name, self.operations, event, when, "-" if token is None else token)
        os.write(self.history, line.encode("ascii"))

    def loop(self, path):
        while self.looping:
            self.operations += 1
            lock = FairMutex(self.client, path, self.name)
            self.write("invoke", time.monotonic_ns())
            try:
                lock.acquire()
                granted = time.monotonic_ns()
                token = lock.client.retry(lock.fencing_token)
                if token is None:
                    self.write("unknown", granted)
                else:
                    self.write("ok", granted, token)
                    time.sleep(random.random() / 250)
                    now = time.monotonic_ns()
                    if self.lost_at > granted:
                        self.write("lost", self.lost_at, token)
                    else:
                        self.write("release", now, token)
                lock.client.retry(lock.release)
            except Exception as error:
                say("error %r" % error)
                return


def main():
    if len(sys.argv) != 5:
        sys.exit("usage: kazoo_worker.py SERVERS HISTORY NAME SESSION_TIMEOUT_MS")
    try:
        worker = Worker(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
        say("ready")
        for line in sys.stdin:
            worker.carry_out(line)
        worker.client.stop()
    except Exception as error:
        say("error %r" % error)
        sys.exit(1)


main()
