# SPDX-License-Identifier: Apache-2.0
"""The page lists each ErrorCode, and the lines of the log that it quotes are in the sources."""

import re


def literals(root):
    """The text of the sources as the program would print it: literals side by side are one."""
    text = ""
    for folder in ("connection", "recipes"):
        for file in sorted((root / folder).glob("*.cpp")) + sorted((root / folder).glob("*.h")):
            text += re.sub(r'"\s*\n\s*"', "", file.read_text(encoding="utf-8")) + "\n"
    return text


def is_in(part, sources):
    """As one literal, or as two that the program puts together at a space."""
    spaces = [i for i in range(12, len(part) - 12) if part[i] == " "]
    return part in sources or any(part[:i] in sources and part[i + 1:] in sources for i in spaces)


def run(blocks, root):
    page = "docs/troubleshooting.md"
    problems = []
    header = (root / "include/zkrecipes/error.h").read_text(encoding="utf-8")
    codes = re.findall(r"^  (\w+)(?: = 1)?,", header[header.index("enum class ErrorCode"):].split("};")[0], re.MULTILINE)
    assert "connection_closed" in codes, codes
    text = (root / page).read_text(encoding="utf-8")
    problems += [f"{page}: ErrorCode::{code} is missing" for code in codes if f"\n| `{code}` |" not in text]
    sources = literals(root)
    quoted = {}
    for block in (each for each in blocks if each.language == "text"):
        missing = [part for line in block.text.splitlines() for part in re.split(r"<[^>]*>", line)
                   if part.strip(" :") and not is_in(part.strip(" :"), sources)]
        problems += [f"{block}: no source says '{part}'" for part in missing]
        if not missing:
            quoted[block] = "lines of the log, found in the sources"
    return quoted, problems
