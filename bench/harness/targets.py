# SPDX-License-Identifier: Apache-2.0
"""What must be reached, and whether it was."""

from dataclasses import dataclass

from harness.statistics import per_cycle, ratio


@dataclass(frozen=True)
class Target:
    title: str
    workload: str
    against: str
    loopback: float
    delayed: float = None
    figure: str = "seconds"
    at_least: bool = False  # throughput: the peer's time over ours

    def limit(self, mode):
        return self.loopback if mode == "loopback" else self.delayed

    def reached(self, results, mode):
        """The figure and whether it is good enough; None where it was not measured."""
        measured = results.get(mode, {}).get(self.workload, {})
        ours = measured.get("zkrecipes")
        if not ours or self.limit(mode) is None:
            return None
        if not self.against:
            value = per_cycle(ours, self.figure).median
        elif self.against in measured:
            value = ratio(ours, measured[self.against], self.figure)
        else:
            return None
        if self.at_least:
            value = 1 / value
        return value, value >= self.limit(mode) if self.at_least else value <= self.limit(mode)


TARGETS = [
    Target("lock + unlock, uncontended", "lock", "curator", 0.60, 0.40),
    Target("acquire + confirmed release", "confirmed", "curator", 0.85, 0.70),
    Target("lock + unlock, uncontended", "lock", "raw_c", 1.15, 1.05),
    Target("read lock", "read", "curator", 0.60, 0.40),
    Target("semaphore permit, free", "semaphore", "curator", 0.50, 0.45),
    Target("hand-over, 8 contenders", "handover8", "curator", 0.80, 0.85),
    Target("1,000 waiters draining", "drain", "curator", 0.55, 0.85),
    Target("10,000 locks, throughput", "many", "curator", 3, 3, at_least=True),
    Target("CPU time, lock + unlock", "lock", "curator", 0.50, figure="cpu_seconds"),
    Target("bytes per waiting acquire_async", "waiting", "", 4096, figure="bytes_per_wait"),
]
