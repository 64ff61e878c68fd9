# SPDX-License-Identifier: Apache-2.0
"""The tables, in Markdown that also reads well in a terminal."""

from harness.statistics import per_cycle, ratio
from harness.targets import TARGETS
from harness.workloads import OURS, PEERS, WORKLOADS

SCALE = {"us": 1e6, "ns": 1e9}


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
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(runs, figure, scale=1.0):
    found = per_cycle(runs, figure)
    if found is None:
        return "-"
    return f"{number(found.median * scale)} ({number(found.low * scale)}..{number(found.high * scale)})"


def median(runs, figure, scale=1.0):
    found = per_cycle(runs, figure)
    return number(found.median * scale) if found else "-"


def mode_title(mode, delay_ms):
    return "Loopback" if mode == "loopback" else f"Behind a proxy that adds {delay_ms:g} ms each way"


def workload_table(workload, measured):
    rows = []
    for peer, runs in measured.items():
        scale = SCALE[workload.unit]
        times = "1" if peer == OURS else number(ratio(measured[OURS], runs, "seconds")) if OURS in measured else "-"
        rows.append([PEERS[peer], spread(runs, "seconds", scale), times, median(runs, "cpu_seconds", scale),
                     median(runs, "requests"), median(runs, "bytes"), median(runs, "peak_rss_kb", 1 / 1024)])
    unit = workload.unit
    header = [workload.title, f"{unit} per cycle", "ours / theirs", f"CPU {unit}", "requests", "bytes", "peak MiB"]
    return table(header, rows)


def targets_table(results, delay_ms):
    def cell(target, mode):
        limit = target.limit(mode)
        if limit is None:
            return ""
        wanted = f"{'>=' if target.at_least else '<='} {limit:g}"
        reached = target.reached(results, mode)
        if reached is None:
            return f"{wanted}: not measured"
        value, good = reached
        return f"{wanted}: {number(value)} {'pass' if good else 'FAIL'}"

    rows = [[t.title, PEERS.get(t.against, "-"), cell(t, "loopback"), cell(t, "delayed")] for t in TARGETS]
    return table(["must reach", "against", "loopback", f"+{delay_ms:g} ms each way"], rows)


def memory_line(results):
    runs = results.get("loopback", {}).get("waiting", {}).get(OURS)
    if not runs:
        return []
    return ["Bytes of memory per waiting acquire_async: " + spread(runs, "bytes_per_wait") + ", at the peak " +
            spread(runs, "peak_bytes_per_wait") + "\n"]


def text(document):
    """Everything, from what goes into the JSON file."""
    machine = document["machine"]
    parts = [
        f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, {document['date']}; "
        f"{document['rounds']} rounds; load before {machine['load_before']:.1f}, after {machine['load_after']:.1f}"
        + (" (BUSY: load above a quarter of the cores, absolute times mean little)" if machine["busy"] else "") + "\n",
        "Medians over the rounds, (lowest..highest). Ratios are medians of the rounds' ratios.\n",
    ]
    for mode, by_workload in document["results"].items():
        parts.append(f"## {mode_title(mode, document['delay_ms'])}\n")
        for workload in WORKLOADS:
            if workload.name in by_workload:
                parts.append(workload_table(workload, by_workload[workload.name]) + "\n")
    parts += memory_line(document["results"])
    if document["micro"]:
        rows = [[name.replace("_", " "), number(value)] for name, value in document["micro"].items()]
        parts.append("## Without a server\n")
        parts.append(table(["call", "CPU ns"], rows) + "\n")
    parts.append("## Must reach\n")
    parts.append(targets_table(document["results"], document["delay_ms"]) + "\n")
    return "\n".join(parts)
