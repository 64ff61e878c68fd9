# SPDX-License-Identifier: Apache-2.0
"""The tables, in Markdown that also reads well in a terminal."""

from harness.statistics import per_cycle, ratio
from harness.targets import MEASURED, TARGETS
from harness.workloads import LOOK_AHEAD, OBSERVED, OURS, PEERS, RETAINED, SIMPLE, WORKLOADS

SCALE = {"us": 1e6, "ns": 1e9}
# Where our locks are compared with each other.
LOCKS = {SIMPLE: "simple lock", OURS: "fair mutex", LOOK_AHEAD: "fair mutex, look-ahead", "curator": "Curator"}
# What users do: a title, a workload, and which of our locks does it.
GLANCE = [
    ("lock and unlock, free", "lock", OURS),
    ("the same, retained", "lock", RETAINED),
    ("acquire and confirmed release, free", "confirmed", OURS),
    ("read lock and unlock, free", "read", OURS),
    ("permit of a semaphore, free", "semaphore", OURS),
    ("from holder to holder, 8 contenders", "handover8", OURS),
    ("the same, look-ahead", "handover8", LOOK_AHEAD),
    ("from holder to holder, 64 contenders", "handover64", OURS),
    ("the same, look-ahead", "handover64", LOOK_AHEAD),
]
RATIOS = {OURS: "ours / theirs", LOOK_AHEAD: "look-ahead / theirs", RETAINED: "retained / theirs",
          OBSERVED: "with metrics / theirs"}


def table(header, rows):
    """Columns aligned; all but the first to the right."""
    widths = [max(len(str(row[i])) for row in [header] + rows) for i in range(len(header))]

    def line(cells):
        first, *others = (str(cell) for cell in cells)
        padded = [first.ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(others, widths[1:])]
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return "\n".join([line(header), rule] + [line(row) for row in rows])


def number(value):
    if value is None:
        return "-"
    if 0 < value < 0.1:
        return f"{value:.4f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(runs, figure, scale=1.0):
    found = per_cycle(runs, figure)
    if found is None:
        return "-"
    return f"{number(found.median * scale)} ({number(found.low * scale)}..{number(found.high * scale)})"


def median(runs, figure, scale=1.0):
    found = per_cycle(runs, figure)
    return number(found.median * scale) if found else "-"


def mode_title(mode, document):
    return {"loopback": "Loopback", "delayed": f"Behind a proxy that adds {document['delay_ms']:g} ms each way",
            "ensemble": f"Ensemble of {document['ensemble']}, writes forced to disk"}[mode]


def workload_table(workload, measured):
    unit, scale = workload.unit, SCALE[workload.unit]
    rows = {peer: [PEERS[peer], spread(runs, "seconds", scale)] for peer, runs in measured.items()}
    header = [workload.title, f"{unit} per cycle"]

    def column(title, cell):
        header.append(title)
        for peer, runs in measured.items():
            rows[peer].append(cell(peer, runs))

    for ours, title in RATIOS.items():
        if ours in measured and len(measured) > 1:
            column(title, lambda peer, runs, ours=ours:
                   "1" if peer == ours else number(ratio(measured[ours], runs, "seconds")))
    # Columns that most workloads have not.
    for figure, title in (("round_trips", "round trips"), ("wakeups", "wake-ups")):
        if any(per_cycle(runs, figure) for runs in measured.values()):
            column(title, lambda _, runs, figure=figure: median(runs, figure))
    column(f"CPU {unit}", lambda _, runs: median(runs, "cpu_seconds", scale))
    column("requests", lambda _, runs: median(runs, "requests"))
    column("bytes", lambda _, runs: median(runs, "bytes"))
    column("peak MiB", lambda _, runs: median(runs, "peak_rss_kb", 1 / 1024))
    return table(header, list(rows.values()))


def glance_table(document):
    """One line for each thing that users do, in milliseconds, and how it compares with Curator."""
    results = document["results"]
    modes = {"loopback": "loopback", "delayed": f"{document['delay_ms']:g} ms each way", "ensemble": "ensemble, on disk"}
    modes = {mode: title for mode, title in modes.items() if mode in results}
    rows = []
    for title, workload, ours in GLANCE:
        measured = [results[mode].get(workload, {}) for mode in modes]
        if not any(ours in each for each in measured):
            continue
        rows.append([title])
        for each in measured:
            rows[-1].append(median(each[ours], "seconds", 1e3) if ours in each else "-")
            rows[-1].append(number(ratio(each[ours], each["curator"], "seconds")) if {ours, "curator"} <= set(each) else "-")
    return table(["ms"] + [cell for title in modes.values() for cell in (title, "of Curator's")], rows)


def targets_table(document):
    results = document["results"]
    titles = {"loopback": "loopback", "delayed": f"+{document['delay_ms']:g} ms each way", "ensemble": "ensemble"}
    modes = [mode for mode in titles if mode in results]

    def cell(target, mode):
        limit = target.limit(mode)
        if limit is None:
            return ""
        reached = target.reached(results, mode)
        value = number(reached[0]) if reached else "not measured"
        if limit == MEASURED:
            return value
        return f"<= {limit:g}: {value}" + (f" {'pass' if reached[1] else 'FAIL'}" if reached else "")

    rows = [[t.title, PEERS.get(t.against, "-")] + [cell(t, mode) for mode in modes] for t in TARGETS]
    return table(["must reach", "against"] + [titles[mode] for mode in modes], rows)


def delays_table(document):
    by_delay = document["delays"]
    peers = list(next(iter(by_delay.values())))
    ratios = [peer for peer in peers if peer != "curator" and "curator" in peers]
    header = ["each way"] + [LOCKS[peer] for peer in peers] + [f"{LOCKS[peer]} / Curator" for peer in ratios]
    rows = [[f"{delay:g} ms"] + [spread(measured[peer], "seconds", 1e3) for peer in peers] +
            [number(ratio(measured[peer], measured["curator"], "seconds")) for peer in ratios]
            for delay, measured in by_delay.items()]
    return table(header, rows)


def memory_line(results):
    runs = results.get("loopback", {}).get("waiting", {}).get(OURS)
    if not runs:
        return []
    return ["Bytes of memory per waiting acquire_async: " + spread(runs, "bytes_per_wait") + ", at the peak " +
            spread(runs, "peak_bytes_per_wait") + "\n"]


def head(document):
    machine = document["machine"]
    return [
        f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, {document['date']}; "
        f"{document['rounds']} rounds; load before {machine['load_before']:.1f}, after {machine['load_after']:.1f}"
        + (" (BUSY: load above a quarter of the cores, absolute times mean little)" if machine["busy"] else "") + "\n",
        "Medians over the rounds, (lowest..highest). Ratios are medians of the rounds' ratios.\n",
    ]


def text(document):
    """What was measured, from what goes into the JSON file: for docs/performance.md."""
    parts = head(document)
    if "delays" in document:
        parts.append("## From a release to the next grant, by the delay of the network, in ms\n")
        return "\n".join(parts + [delays_table(document) + "\n"])
    parts += ["## At a glance\n", glance_table(document) + "\n"]
    for mode, by_workload in document["results"].items():
        parts.append(f"## {mode_title(mode, document)}\n")
        for workload in WORKLOADS:
            if workload.name in by_workload:
                parts.append(workload_table(workload, by_workload[workload.name]) + "\n")
    parts += memory_line(document["results"])
    if document["micro"]:
        rows = [[name.replace("_", " "), number(value)] for name, value in document["micro"].items()]
        parts.append("## Without a server\n")
        parts.append(table(["call", "CPU ns"], rows) + "\n")
    return "\n".join(parts)


def targets_text(document):
    """What the project has set itself, and whether it was reached: for docs/performance-targets.md."""
    return "\n".join(head(document) + [targets_table(document) + "\n"])
