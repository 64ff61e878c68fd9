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
from harness.workloads import OURS, PEERS, RELEASE_TO_GRANT, USUAL_PEERS, WORKLOADS, quick


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
    parser.add_argument("--ensemble", type=int, default=1, metavar="N",
                        help="a further mode: N servers that force writes to disk, below the folder for the results")
    parser.add_argument("--modes", nargs="+", metavar="M", choices=measure.MODES,
                        help="leave out the others of: " + ", ".join(measure.MODES))
    parser.add_argument("--delays", nargs="+", type=float, metavar="MS",
                        help="instead of all else: release to grant over these delays each way")
    parser.add_argument("--output", type=Path, default="build/bench", metavar="DIR",
                        help="for the results (%(default)s)")
    options = parser.parse_args()
    if options.ensemble < 2 and "ensemble" in (options.modes or []):
        parser.error("mode ensemble needs --ensemble N, with 2 or more")
    if options.delays and not set(options.peers).intersection(RELEASE_TO_GRANT.peers):
        parser.error("--delays needs one of the peers " + ", ".join(RELEASE_TO_GRANT.peers))
    options.modes = options.modes or list(measure.MODES)
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
    """What the report is made of."""
    load_before = os.getloadavg()[0]
    programs = Programs(options.build)
    with ExitStack() as stack:
        progress("starting ZooKeeper")
        server = stack.enter_context(Server(programs.server))
        measured = (run_delays if options.delays else run_modes)(options, server, programs, progress, stack)
    progress.end()
    return {
        "date": time.strftime("%Y-%m-%d %H:%M %Z"),
        "rounds": options.rounds,
        "quick": options.quick,
        "machine": machine(load_before),
        **measured,
    }


def run_modes(options, server, programs, progress, stack):
    results, micro = {}, {}
    for mode in measure.modes(server, programs, options, stack):
        results[mode.name] = {}
        for workload in WORKLOADS:
            if workload.name not in options.workload or mode.cycles(workload) == 0:
                continue
            chosen = quick(workload) if options.quick else workload
            if mode.peers(chosen, options.peers):
                results[mode.name][chosen.name] = measure.run_workload(
                    chosen, options.peers, options.rounds, mode, programs, progress)
    if OURS in options.peers and "reentry" in options.workload:
        micro = measure.run_micro(server, programs, progress)
    return {"delay_ms": options.delay_ms, "ensemble": options.ensemble, "results": results, "micro": micro}


def run_delays(options, server, programs, progress, _):
    workload = quick(RELEASE_TO_GRANT) if options.quick else RELEASE_TO_GRANT
    return {"delays": measure.run_delays(
        workload, options.peers, options.rounds, options.delays, server, programs, progress)}


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
    stem = options.output / ("handover_delay" if options.delays else "results")
    stem.parent.mkdir(parents=True, exist_ok=True)
    stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    texts = {stem.with_suffix(".md"): report.text(document)}
    if not options.delays:
        texts[options.output / "targets.md"] = report.targets_text(document)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
        print(text)
    paths = [*texts, stem.with_suffix(".json")] + chart.draw(document, options.output)
    print("written: " + ", ".join(str(path) for path in paths))


if __name__ == "__main__":
    main()
