# SPDX-License-Identifier: Apache-2.0
"""Interleaved rounds: within a round all peers run one after the other, so that what disturbs one disturbs all."""

import json
import subprocess
from contextlib import ExitStack

from harness.processes import Driver, Proxy
from harness.workloads import OTHER_SERVICES


class Mode:
    """How the peers reach the server."""

    def __init__(self, name, address, proxy=None):
        self.name = name
        self.address = address
        self._proxy = proxy

    def cycles(self, workload):
        return workload.delayed_cycles if self._proxy else workload.cycles

    def warmup(self, workload, peer):
        """Behind the proxy cycles take long, and what a compiler has yet to gain is little beside the delay."""
        enough = max(600, workload.delayed_cycles) if self._proxy else workload.warmup
        return min(workload.warmup_of(peer), enough)

    def peers(self, workload, wanted):
        """The proxy stands before ZooKeeper only."""
        return [peer for peer in workload.peers
                if peer in wanted and not (self._proxy and peer in OTHER_SERVICES)]

    def bytes(self):
        return self._proxy.bytes() if self._proxy else None


def modes(server, programs, delay_ms, stack):
    """The modes to run in; a proxy ends with the stack."""
    yield Mode("loopback", server.address)
    if delay_ms > 0:
        proxy = stack.enter_context(Proxy(programs.proxy, server, delay_ms))
        yield Mode("delayed", proxy.address, proxy)


def run_once(driver, server, mode):
    """One measured run. Requests and bytes are what passed while it ran."""
    driver.prepare()
    requests, passed = server.requests(), mode.bytes()
    result = driver.run()
    # A peer that does not use this server counts its requests itself.
    result.setdefault("requests", server.requests() - requests)
    result["bytes"] = None if passed is None else mode.bytes() - passed
    return result


def run_workload(workload, peers, rounds, server, mode, programs, progress):
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
                        results[peer].append(run_once(driver, server, mode))
                else:
                    results[peer].append(run_once(drivers[peer], server, mode))
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
