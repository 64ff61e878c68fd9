#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures kazoo's recipes: answers each command on standard input with one line, as the C++ drivers do."""

import argparse
import itertools
import json
import resource
import sys
import threading
import time

from kazoo.client import KazooClient

PERMITS = 3


def connect(options):
    client = KazooClient(hosts=options.server, timeout=30)
    client.start(timeout=30)
    return client


def repeated(lock):
    def run(cycles):
        for _ in range(cycles):
            lock.acquire()
            lock.release()

    return run


def hand_over(options):
    """Threads, each with its own connection, take one lock in turn. A cycle is one hand-over."""
    locks = [connect(options).Lock(options.path) for _ in range(options.contenders)]

    def run(cycles):
        numbers = itertools.count()

        def contend(lock):
            while next(numbers) < cycles:
                lock.acquire()
                lock.release()

        threads = [threading.Thread(target=contend, args=(lock,)) for lock in locks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return run


WORKLOADS = {
    "lock": lambda options: repeated(connect(options).Lock(options.path)),
    "confirmed": lambda options: repeated(connect(options).Lock(options.path)),
    "read": lambda options: repeated(connect(options).ReadLock(options.path)),
    "semaphore": lambda options: repeated(connect(options).Semaphore(options.path, max_leases=PERMITS)),
    "handover": hand_over,
}


def cpu_seconds():
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def peak_rss_kb():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def measure(run, options):
    cpu_before = cpu_seconds()
    started = time.perf_counter()
    run(options.cycles)
    seconds = time.perf_counter() - started
    cpu = cpu_seconds() - cpu_before
    return {
        "peer": "kazoo",
        "workload": options.workload,
        "cycles": options.cycles,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "peak_rss_kb": peak_rss_kb(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, metavar="HOST:PORT")
    parser.add_argument("--workload", required=True, choices=WORKLOADS)
    parser.add_argument("--root", default="/bench/kazoo", help="below it are the lock paths (%(default)s)")
    parser.add_argument("--cycles", type=int, default=1000, help="per run (%(default)s)")
    parser.add_argument("--warmup", type=int, default=0, help="cycles before the first run (%(default)s)")
    parser.add_argument("--contenders", type=int, default=8, help="threads, where there are several (%(default)s)")
    options = parser.parse_args()
    options.path = f"{options.root}/{options.workload}"

    run = WORKLOADS[options.workload](options)
    run(options.warmup)
    for command in sys.stdin:
        print("ready" if command.strip() == "prepare" else json.dumps(measure(run, options)), flush=True)


if __name__ == "__main__":
    main()
