# SPDX-License-Identifier: Apache-2.0
"""Expressions of docs/metrics.md, in blocks and in the table of alerts, name metrics that exist."""

import re

PAGE = "docs/metrics.md"
PARTS_OF_HISTOGRAMS = re.compile(r"_(?:bucket|sum|count)$")


def run(blocks, root):
    sources = "".join(each.read_text(encoding="utf-8") for each in sorted((root / "prometheus").glob("*.cpp")))
    metrics = set(re.findall(r'"(zkrecipes_\w+)"', sources))
    assert "zkrecipes_waiters" in metrics, metrics
    page = (root / PAGE).read_text(encoding="utf-8")
    named = set(re.findall(r"\bzkrecipes_\w+", page))
    problems = [f"{PAGE}: there is no metric {each}" for each in sorted(named)
                if each not in metrics and PARTS_OF_HISTOGRAMS.sub("", each) not in metrics]
    expressions = [each for each in blocks if each.language == "promql"]
    problems += [f"{each}: brackets do not match" for each in expressions
                 if any(each.text.count(a) != each.text.count(b) for a, b in ("()", "[]", "{}"))]
    # A series begins with its first event, so the samples of ten minutes can be those of two scrapes.
    for where, text in [(str(each), each.text) for each in expressions] + [(PAGE, each) for each in re.findall(r"`([^`\n]+)`", page)]:
        problems += [f"{where}: min_over_time() takes the samples that exist, however young they are; "
                     f"ask for '{metric} offset {span}' as well"
                     for metric, span in re.findall(r"min_over_time\((\w+)\[(\w+)\]\)", text) if f"{metric} offset {span}" not in text]
    return {each: "names of metrics looked up" for each in expressions}, problems
