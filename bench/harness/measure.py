# SPDX-License-Identifier: Apache-2.0
"""Interleaved rounds: within a round all peers run one after the other, so that what disturbs one disturbs all."""

import json
import subprocess
from contextlib import ExitStack

from harness.processes import Driver, Proxy, Server
from harness.workloads import OTHER_SERVICES

MODES = ("loopback", "delayed", "ensemble")


class Mode:
    """How the peers reach which server."""

    left_out = ()  # peers

    def __init__(self, name, server):
        self.name = name
        self.server = server
        self.address = server.address

    def cycles(self, workload):
        return workload.cycles

    def warmup(self, workload, peer):
        return workload.warmup_of(peer, self.cycles(workload))

    def peers(self, workload, wanted):
        return [peer for peer in workload.peers if peer in wanted and peer not in self.left_out]

    def bytes(self):
        return None

    def round_trip(self):
        """Seconds; None where it is not known."""
        return None


class SlowMode(Mode):
    """Where cycles take long, and what a compiler has yet to gain is little beside that."""

    left_out = OTHER_SERVICES

    def cycles(self, workload):
        return workload.delayed_cycles

    def warmup(self, workload, peer):
        return min(super().warmup(workload, peer), max(600, self.cycles(workload)))


class DelayedMode(SlowMode):
    """Through a proxy, which stands before ZooKeeper only."""

    def __init__(self, server, proxy, delay_ms):
        super().__init__("delayed", server)
        self.address = proxy.address
        self._proxy = proxy
        self._delay_ms = delay_ms

    def bytes(self):
        return self._proxy.bytes()

    def round_trip(self):
        return 2 * self._delay_ms / 1000


class EnsembleMode(SlowMode):
    """Several servers, which write to disk. Each connection chooses one of them."""

    left_out = OTHER_SERVICES + ("apache", "kazoo")


def delayed(server, programs, delay_ms, stack):
    """The proxy ends with the stack."""
    return DelayedMode(server, stack.enter_context(Proxy(programs.proxy, server, delay_ms)), delay_ms)


def modes(server, programs, options, stack):
    """The modes to run in; what they need ends with the stack."""
    if "loopback" in options.modes:
        yield Mode("loopback", server)
    if "delayed" in options.modes and options.delay_ms > 0:
        yield delayed(server, programs, options.delay_ms, stack)
    if "ensemble" in options.modes and options.ensemble > 1:
        disk = options.output / "ensemble"
        yield EnsembleMode("ensemble", stack.enter_context(Server(programs.server, options.ensemble, disk)))


def run_once(driver, workload, mode):
    """One measured run. Requests and bytes are what passed while it ran."""
    driver.prepare()
    requests, passed = mode.server.requests(), mode.bytes()
    result = driver.run()
    # A peer that does not use this server counts its requests itself.
    result.setdefault("requests", mode.server.requests() - requests)
    result.setdefault("bytes", None if passed is None else mode.bytes() - passed)
    if workload.round_trips and mode.round_trip():
        result["round_trips"] = result["seconds"] / mode.round_trip()
    return result


def run_workload(workload, peers, rounds, mode, programs, progress):
    """The results of each peer, one per round."""
    chosen = mode.peers(workload, peers)
    results = {peer: [] for peer in chosen}

    def start(peer):
        return Driver(programs.driver(peer), mode.address, workload.driver_name(), mode.cycles(workload),
                      mode.warmup(workload, peer), workload.contenders_of(peer))

    with ExitStack() as stack:
        drivers = {}
        if not workload.fresh_process:
            for peer in chosen:
                progress(f"{mode.name}: {workload.title}: warming up {peer}")
                drivers[peer] = stack.enter_context(start(peer))
                drivers[peer].prepare()
        for number in range(rounds):
            # Another peer is first in each round, so that a peer does not always disturb the same successor.
            turn = number % len(chosen)
            for peer in chosen[turn:] + chosen[:turn]:
                progress(f"{mode.name}: {workload.title}: round {number + 1} of {rounds}, {peer}")
                if workload.fresh_process:
                    with start(peer) as driver:
                        results[peer].append(run_once(driver, workload, mode))
                else:
                    results[peer].append(run_once(drivers[peer], workload, mode))
    return results


def run_delays(workload, peers, rounds, delays_ms, server, programs, progress):
    """The results of each peer by delay each way; without a proxy where that is 0."""
    results = {}
    for delay_ms in delays_ms:
        with ExitStack() as stack:
            mode = delayed(server, programs, delay_ms, stack) if delay_ms else Mode("loopback", server)
            results[delay_ms] = run_workload(
                workload, peers, rounds, mode, programs, lambda text, ms=delay_ms: progress(f"{ms:g} ms, {text}"))
    return results


def run_micro(server, programs, progress):
    """Nanoseconds per call of what asks no server, by name."""
    progress("nanoseconds: validity and token checks")
    done = subprocess.run(
        [programs.micro, "--benchmark_format=json", "--benchmark_repetitions=5", "--benchmark_min_time=0.1",
         "--benchmark_report_aggregates_only=true", server.address],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return {
        entry["run_name"]: entry["cpu_time"]
        for entry in json.loads(done.stdout)["benchmarks"]
        if entry["aggregate_name"] == "median"
    }
