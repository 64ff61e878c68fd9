# SPDX-License-Identifier: Apache-2.0
"""The costs in docs/choosing.md are those that tests/recipes/cost_test.cpp counts."""

import re

PAGE = "docs/choosing.md"
ROWS = {"FairMutex": "FairMutex", "SimpleLock": "SimpleLock", "ReadWriteLock": "ReadWriteLock, read or write",
        "Semaphore": "Semaphore, one permit"}


def run(_blocks, root):
    test = (root / "tests/recipes/cost_test.cpp").read_text(encoding="utf-8")
    body = test[test.index("Expected expected_cost()"):].split("\n}\n")[0]
    # The last one has no name in front: it is the semaphore's.
    counted = [re.findall(r"\{(\d+), (\d+)\}", line) for line in re.findall(r"return \{(.*)\};", body)]
    names = re.findall(r'name == "(\w+)"', body) + ["Semaphore"]
    assert len(names) == len(counted) == 4, (names, counted)
    text = (root / PAGE).read_text(encoding="utf-8")
    problems = []
    for name, (acquire, unlock, release, second, deeper) in zip(names, counted):
        row = next((line for line in text.splitlines() if line.startswith(f"| {ROWS[name]} |")), "")
        written = [" / ".join(each) for each in re.findall(r"(\d+) / (\d+)", row)]
        expected = [" / ".join(each) for each in (acquire, unlock, second, deeper)]
        if written != expected[:len(written)] or len(written) < 3 or release != ("1", "1"):
            problems.append(f"{PAGE}: the row of {name} says {written}, but cost_test.cpp counts {expected}")
    return {}, problems
