# SPDX-License-Identifier: Apache-2.0
"""The table of docs/logging.md has each line that the library logs, and no other."""

import re

import troubleshooting_blocks

PAGE = "docs/logging.md"
CALL = re.compile(r"\blog\(LogSeverity::\w+, *|(?:log|log_|log\(\))(?:->|\.)(?:info|warning|error)\(")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
ENOUGH = 14  # characters of a literal that tell one line from another
# Calls whose text is made elsewhere, and how the page writes that text.
ELSEWHERE = {
    "CClientLog::kSays": "the ZooKeeper C client says:",
    "describe_too_large(": "times in a row while a request of",
    "error.what()": "could not make a handle for",
    "error->what()": " threw: ",
    "lost_line()": "a new one is being made",
}


def calls(root):
    """Each call that logs, from its first argument to the end of the statement, with its place."""
    for folder in ("connection", "recipes"):
        for file in sorted([*(root / folder).glob("*.cpp"), *(root / folder).glob("*.h")]):
            text = file.read_text(encoding="utf-8")
            for match in CALL.finditer(text):
                yield f"{folder}/{file.name}:{text.count(chr(10), 0, match.start()) + 1}", text[match.end():].split(";\n")[0]


def is_listed(statement, page):
    texts = LITERAL.findall(re.sub(r'"\s*\n\s*"', "", statement))
    written = [each for key, each in ELSEWHERE.items() if key in statement]
    return any(len(each.strip()) >= ENOUGH and each.strip()[:ENOUGH] in page for each in texts) or \
        any(each in page for each in written)


def run(_blocks, root):
    page = (root / PAGE).read_text(encoding="utf-8")
    found = list(calls(root))
    assert len(found) > 15, f"only {len(found)} calls that log were found; has their form changed?"
    problems = [f"{PAGE} does not list what {place} logs" for place, statement in found if not is_listed(statement, page)]
    sources = troubleshooting_blocks.literals(root)
    for line in re.findall(r"^\| (?:info|warning|error) \| (.*) \| .* \|$", page, re.MULTILINE):
        for code in re.findall(r"`([^`]+)`", line):
            parts = [each.strip(" :,;()") for each in re.split(r"<[^>]*>|\.\.\.| of \d+$|, with | at (?=<)| threw", code)]
            problems += [f"{PAGE}: no source says '{part}'" for part in parts
                         if len(part) >= 8 and not troubleshooting_blocks.is_in(part, sources)]
    return {}, problems
