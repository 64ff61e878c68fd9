# SPDX-License-Identifier: Apache-2.0
"""Pictures: how much longer the peers take than we do, and release to grant over the delay of the network."""

import subprocess
import textwrap

from harness.report import LOCKS, mode_title
from harness.statistics import per_cycle, ratio
from harness.workloads import OUR_LOCKS, OURS, PEERS, WORKLOADS

TERMINALS = {
    "svg": "svg size {width},{height} font 'sans,13' background '#ffffff'",
    "png": "pngcairo size {width},{height} font 'sans,11' background '#ffffff'",
}
COLOURS = {"zkrecipes": "#1b7837", "look_ahead": "#7fbf7b", "retained": "#00441b", "simple": "#d55e00",
           "observed": "#a6dba0",
           "raw_c": "#999999", "curator": "#4575b4", "apache": "#d98b2b", "kazoo": "#8c6bb1",
           "redis-px": "#d73027", "redlock": "#a50026", "etcd": "#35978f", "pg-row": "#74add1", "pg-insert": "#abd9e9"}


def is_comparison(measured):
    return OURS in measured and any(peer not in OUR_LOCKS for peer in measured)


def data_block(name, by_workload, peers):
    lines = [f"${name} << EOD"]
    for workload in WORKLOADS:
        measured = by_workload.get(workload.name, {})
        if not is_comparison(measured):
            continue
        title = "\\n".join(textwrap.wrap(workload.title, 15))
        cells = [f"{1 / ratio(measured[OURS], measured[peer], 'seconds'):.3f}" if peer in measured else "?"
                 for peer in peers]
        lines.append(" ".join([f'"{title}"'] + cells))
    return "\n".join(lines + ["EOD"])


def drawable(document):
    """The modes in which anybody was measured beside us."""
    return {mode: found for mode, found in document["results"].items()
            if any(is_comparison(measured) for measured in found.values())}


def script(document, kind, path):
    results = drawable(document)
    peers = [peer for peer in PEERS if any(peer in m for found in results.values() for m in found.values())]
    parts = [data_block(mode, found, peers) for mode, found in results.items()]
    parts += [
        "set terminal " + TERMINALS[kind].format(width=1200, height=440 * len(results)),
        f"set output '{path}'",
        "set datafile missing '?'",
        f"set multiplot layout {len(results)},1",
        "set style data histograms",
        "set style histogram clustered gap 1",
        "set style fill solid 1 border rgb '#ffffff'",
        "set yrange [0:*]",
        "set grid ytics back lc rgb '#dddddd'",
        "set border 3 lc rgb '#555555'",
        "set tics nomirror",
        "set xtics font ',8'",
        "set key outside top center horizontal",
        "set bmargin 6",
        "set ylabel 'time, zkrecipes = 1'",
    ]
    for mode in results:
        parts.append(f"set title '{mode_title(mode, document)} {note(document)}'")
        plots = [f"${mode} using {column}:xtic(1) title \"{PEERS[peer]}\" lc rgb '{COLOURS[peer]}'"
                 for column, peer in enumerate(peers, start=2)]
        parts.append("plot " + ", ".join(plots))
    parts.append("unset multiplot")
    return "\n".join(parts) + "\n"


def delays_script(document, kind, path):
    by_delay = document["delays"]
    peers = list(next(iter(by_delay.values())))
    parts = ["$times << EOD"]
    for delay, measured in by_delay.items():
        parts.append(" ".join([f"{delay:g}"] + [f"{per_cycle(measured[peer], 'seconds').median * 1e3:.4f}"
                                                for peer in peers]))
    parts += [
        "EOD",
        "set terminal " + TERMINALS[kind].format(width=760, height=480),
        f"set output '{path}'",
        f"set title 'From a release to the next grant, 8 contenders {note(document)}'",
        "set xlabel 'delay of the network each way, ms'",
        "set ylabel 'ms'",
        "set yrange [0:*]",
        f"set xrange [0:{1.04 * max(by_delay) or 1}]",
        "set grid ytics back lc rgb '#dddddd'",
        "set border 3 lc rgb '#555555'",
        "set tics nomirror",
        "set key top left Left reverse samplen 2 spacing 1.2",
        "plot " + ", ".join(
            f"$times using 1:{column} with linespoints pointtype 7 pointsize 0.8 linewidth 2.5 "
            f"lc rgb '{COLOURS[peer]}' title \"{LOCKS[peer]}\"" for column, peer in enumerate(peers, start=2)),
    ]
    return "\n".join(parts) + "\n"


def note(document):
    return f"(lower is better{', busy machine' if document['machine']['busy'] else ''})"


def plot(make_script, document, directory, stem):
    """stem.svg and stem.png; the paths."""
    paths = []
    for kind in TERMINALS:
        path = directory / f"{stem}.{kind}"
        subprocess.run(["gnuplot"], input=make_script(document, kind, path), text=True, check=True)
        paths.append(path)
    return paths


def draw(document, directory):
    """The paths. None if there is nobody to compare with."""
    if "delays" in document:
        return plot(delays_script, document, directory, "handover_delay")
    return plot(script, document, directory, "bench") if drawable(document) else []
