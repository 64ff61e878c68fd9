# SPDX-License-Identifier: Apache-2.0
"""Medians and spreads of what the rounds gave."""

import statistics
from dataclasses import dataclass

TOTALS = {"peak_rss_kb", "bytes_per_wait", "peak_bytes_per_wait"}  # not per cycle


@dataclass(frozen=True)
class Spread:
    median: float
    low: float
    high: float


def per_cycle(runs, figure):
    """Of one peer; None where it was not measured."""
    values = [run[figure] / (1 if figure in TOTALS else run["cycles"]) for run in runs if run.get(figure) is not None]
    return Spread(statistics.median(values), min(values), max(values)) if values else None


def ratio(ours, theirs, figure):
    """The median of the rounds' ratios: what slowed down a whole round does not show in it."""
    pairs = [(a[figure] / a["cycles"], b[figure] / b["cycles"]) for a, b in zip(ours, theirs)]
    return statistics.median(a / b if b else float("inf") for a, b in pairs)
