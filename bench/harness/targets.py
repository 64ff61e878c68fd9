# SPDX-License-Identifier: Apache-2.0
"""What must be reached, and whether it was."""

import math
from dataclasses import dataclass

from harness.statistics import per_cycle, ratio
from harness.workloads import LOOK_AHEAD, OBSERVED, OURS, RETAINED

MEASURED = math.inf  # reported beside what must be reached, and not judged


@dataclass(frozen=True)
class Target:
    title: str
    workload: str
    against: str  # "": the figure itself counts, not a ratio
    loopback: float = None  # a limit for each mode; None: says nothing there
    delayed: float = None
    ensemble: float = None
    figure: str = "seconds"
    ours: str = OURS  # the peer that must reach it

    def limit(self, mode):
        return getattr(self, mode)

    def reached(self, results, mode):
        """The figure and whether it is good enough; None where it was not measured."""
        measured = results.get(mode, {}).get(self.workload, {})
        ours = measured.get(self.ours)
        if not ours or self.limit(mode) is None:
            return None
        if not self.against:
            found = per_cycle(ours, self.figure)
            value = found.median if found else None
        elif self.against in measured:
            value = ratio(ours, measured[self.against], self.figure)
        else:
            value = None
        return None if value is None else (value, value <= self.limit(mode))


def without_and_with_look_ahead(title, workload, without, look_ahead):
    return [Target(f"{title}, look-ahead", workload, "curator", *look_ahead, ours=LOOK_AHEAD),
            Target(title, workload, "curator", *without)]


def wakeups(contenders, delayed=None):
    workload = f"handover{contenders}"
    return [Target(f"wake-ups per release, {contenders} contenders", workload, "", 1, delayed and 1, figure="wakeups"),
            Target(f"wake-ups per release, {contenders} contenders, look-ahead", workload, "", 2, delayed and 2,
                   figure="wakeups", ours=LOOK_AHEAD)]


TARGETS = [
    Target("lock + unlock, uncontended", "lock", "curator", 0.60, 0.40, 0.75),
    Target("acquire + confirmed release", "confirmed", "curator", 0.85, 0.70, 0.75),
    Target("lock + unlock, uncontended", "lock", "raw_c", 1.15, 1.05, MEASURED),
    Target("read lock", "read", "curator", 0.60, 0.40, 0.75),
    Target("semaphore permit, free", "semaphore", "curator", 0.50, 0.45, 0.75),
    *without_and_with_look_ahead("hand-over, 8 contenders", "handover8", (0.80, 0.95, MEASURED), (0.70, 0.55, 0.75)),
    *without_and_with_look_ahead("hand-over, 64 contenders", "handover64", (0.80, 0.95, MEASURED), (0.70, 0.55, 0.75)),
    *without_and_with_look_ahead("1,000 waiters draining", "drain", (0.60, 0.95, MEASURED), (0.50, 0.50, MEASURED)),
    Target("retained lock + unlock", "lock", "curator", 0.01, 0.002, 0.01, ours=RETAINED),
    # None per cycle. Heartbeats are counted, too.
    Target("retained lock + unlock, requests", "lock", "", 0.01, 0.01, 0.01, figure="requests", ours=RETAINED),
    Target("newcomer against a retained lock, round trips", "newcomer", "", delayed=3, figure="round_trips",
           ours=RETAINED),
    Target("lock + unlock, with Prometheus metrics", "lock", OURS, 1.02, 1.02, 1.02, ours=OBSERVED),
    Target("CPU time, with Prometheus metrics", "lock", OURS, MEASURED, MEASURED, MEASURED, figure="cpu_seconds",
           ours=OBSERVED),
    Target("10,000 locks", "many", "raw_c", 1.10, 1.10, MEASURED),
    Target("CPU time, lock + unlock", "lock", "curator", 0.50, figure="cpu_seconds"),
    *wakeups(2),
    *wakeups(8, delayed=True),
    *wakeups(64, delayed=True),
    *wakeups(256),
    Target("bytes per waiting acquire_async", "waiting", "", 4096, figure="bytes_per_wait"),
]
