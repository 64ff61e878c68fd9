# SPDX-License-Identifier: Apache-2.0
"""One picture: how much longer the peers take than we do."""

import subprocess
import textwrap

from harness.report import mode_title
from harness.statistics import ratio
from harness.workloads import OURS, PEERS, WORKLOADS

TERMINALS = {
    "svg": "svg size {width},{height} font 'sans,13' background '#ffffff'",
    "png": "pngcairo size {width},{height} font 'sans,11' background '#ffffff'",
}
COLOURS = {"zkrecipes": "#1b7837", "raw_c": "#999999", "curator": "#4575b4", "apache": "#d98b2b", "kazoo": "#8c6bb1",
           "redis-px": "#d73027", "redlock": "#a50026", "etcd": "#35978f", "pg-row": "#74add1", "pg-insert": "#abd9e9"}


def data_block(name, by_workload, peers):
    lines = [f"${name} << EOD"]
    for workload in WORKLOADS:
        measured = by_workload.get(workload.name, {})
        if OURS not in measured or len(measured) < 2:
            continue
        title = "\\n".join(textwrap.wrap(workload.title, 15))
        cells = [f"{1 / ratio(measured[OURS], measured[peer], 'seconds'):.3f}" if peer in measured else "?"
                 for peer in peers]
        lines.append(" ".join([f'"{title}"'] + cells))
    return "\n".join(lines + ["EOD"])


def drawable(document):
    """The modes in which anybody was measured beside us."""
    return {mode: found for mode, found in document["results"].items()
            if any(OURS in measured and len(measured) > 1 for measured in found.values())}


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
    note = ", busy machine" if document["machine"]["busy"] else ""
    for mode in results:
        parts.append(f"set title '{mode_title(mode, document['delay_ms'])} (lower is better{note})'")
        plots = [f"${mode} using {column}:xtic(1) title \"{PEERS[peer]}\" lc rgb '{COLOURS[peer]}'"
                 for column, peer in enumerate(peers, start=2)]
        parts.append("plot " + ", ".join(plots))
    parts.append("unset multiplot")
    return "\n".join(parts) + "\n"


def draw(document, directory):
    """bench.svg and bench.png; the paths. None if there is nobody to compare with."""
    paths = []
    if not drawable(document):
        return paths
    for kind in TERMINALS:
        path = directory / f"bench.{kind}"
        subprocess.run(["gnuplot"], input=script(document, kind, path), text=True, check=True)
        paths.append(path)
    return paths
