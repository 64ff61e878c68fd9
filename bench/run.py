#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures zkrecipes beside its peers. Usually started by scripts/bench, which builds first."""

import argparse
import json
import os
import platform
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from harness import chart, measure, report
from harness.processes import Programs, Server
from harness.workloads import OURS, PEERS, USUAL_PEERS, WORKLOADS, quick


class Progress:
    """One line that says what is being done; a line each where the output is no terminal."""

    def __init__(self):
        self._started = time.monotonic()
        self._terminal = sys.stderr.isatty()

    def __call__(self, text):
        line = f"[{time.monotonic() - self._started:5.0f} s] {text}"
        print(f"\r\033[K{line[:119]}" if self._terminal else line, end="" if self._terminal else "\n", file=sys.stderr,
              flush=True)

    def end(self):
        if self._terminal:
            print("\r\033[K", end="", file=sys.stderr)


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--build", type=Path, default="build/release", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, 2 rounds: to see that it runs")
    parser.add_argument("--rounds", type=int, help="how often each peer runs each workload (5)")
    parser.add_argument("--workload", nargs="+", metavar="W", default=[w.name for w in WORKLOADS],
                        choices=[w.name for w in WORKLOADS], help="of: " + ", ".join(w.name for w in WORKLOADS))
    parser.add_argument("--peers", nargs="+", metavar="P", default=list(USUAL_PEERS), choices=list(PEERS),
                        help="of: " + ", ".join(PEERS))
    parser.add_argument("--delay-ms", type=float, default=1, metavar="MS",
                        help="delay each way of the second mode (1); 0 leaves that mode out")
    parser.add_argument("--output", type=Path, default="build/bench", metavar="DIR",
                        help="for the results (%(default)s)")
    options = parser.parse_args()
    options.rounds = options.rounds or (2 if options.quick else 5)
    return options


def machine(load_before):
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        cpu = next((line.split(":")[1].strip() for line in cpuinfo if line.startswith("model name")), "unknown CPU")
    cores = len(os.sched_getaffinity(0))
    return {
        "cpu": cpu,
        "cores": cores,
        "kernel": platform.release(),
        "load_before": load_before,
        "load_after": os.getloadavg()[0],
        "busy": load_before > cores / 4,
    }


def run(options, progress):
    load_before = os.getloadavg()[0]
    programs = Programs(options.build)
    results, micro = {}, {}
    with ExitStack() as stack:
        progress("starting ZooKeeper")
        server = stack.enter_context(Server(programs.server))
        for mode in measure.modes(server, programs, options.delay_ms, stack):
            results[mode.name] = {}
            for workload in WORKLOADS:
                if workload.name not in options.workload or mode.cycles(workload) == 0:
                    continue
                chosen = quick(workload) if options.quick else workload
                if mode.peers(chosen, options.peers):
                    results[mode.name][chosen.name] = measure.run_workload(
                        chosen, options.peers, options.rounds, server, mode, programs, progress)
        if OURS in options.peers and "reentry" in options.workload:
            micro = measure.run_micro(server, programs, progress)
    progress.end()
    return {
        "date": time.strftime("%Y-%m-%d %H:%M %Z"),
        "rounds": options.rounds,
        "quick": options.quick,
        "delay_ms": options.delay_ms,
        "machine": machine(load_before),
        "results": results,
        "micro": micro,
    }


def main():
    options = arguments()
    # Each takes the children along. Ctrl-C is named, too, because a shell's background jobs inherit it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    progress = Progress()
    try:
        document = run(options, progress)
    except KeyboardInterrupt:
        progress.end()
        sys.exit("scripts/bench: interrupted")
    except RuntimeError as error:
        progress.end()
        sys.exit(f"scripts/bench: {error}")
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "results.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    text = report.text(document)
    (options.output / "results.md").write_text(text, encoding="utf-8")
    print(text)
    paths = [options.output / "results.md", options.output / "results.json"] + chart.draw(document, options.output)
    print("written: " + ", ".join(str(path) for path in paths))


if __name__ == "__main__":
    main()
