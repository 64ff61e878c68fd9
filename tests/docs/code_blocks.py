# SPDX-License-Identifier: Apache-2.0
"""The blocks of code in the Markdown pages of the project."""

import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^( *)(```+|~~~+) *(\S*) *$")
LIST_ITEM = re.compile(r"^( *(?:[-*+]|\d+[.)]) +)\S")
MAIN = re.compile(r"\bint main\(")


@dataclass(frozen=True)
class Block:
    page: str  # relative to the root of the project: "docs/fencing.md"
    number: int  # among the blocks of its language in that page, from 1 on
    line: int  # of its first line
    language: str
    text: str

    @property
    def name(self):
        """Of the file that it is written to, without its ending: "docs/fencing_1"."""
        return f"{self.page.removesuffix('.md')}_{self.number}"

    @property
    def is_program(self):
        return self.language == "cpp" and MAIN.search(self.text) is not None

    def __str__(self):
        return f"{self.page}:{self.line} ({self.language} block {self.number})"


def pages(root):
    """The pages for users and contributors, relative to the root."""
    root = Path(root)
    return sorted(str(p.relative_to(root)) for p in [*root.glob("*.md"), *root.glob("docs/**/*.md")])


def read(root, page):
    """The blocks of a page, and what is wrong with their form."""
    return parse(page, (Path(root) / page).read_text(encoding="utf-8"))


def parse(page, text):
    blocks, problems, counts = [], [], {}
    fence, begin, body = None, 0, []
    after_blank, list_column = True, 0
    for number, line in enumerate(text.split("\n"), start=1):
        match = FENCE.match(line)
        if fence:
            indent, mark, language = fence
            if match and match[2].startswith(mark) and not match[3]:
                if language:
                    counts[language] = counts.get(language, 0) + 1
                    blocks.append(Block(page, counts[language], begin + 1, language,
                                        "\n".join(each.removeprefix(indent) for each in body) + "\n"))
                fence, after_blank = None, False
            else:
                body.append(line)
            continue
        if match:
            fence, begin, body = match.groups(), number, []
            if not match[3]:
                problems.append(f"{page}:{number}: a block of code without a language; write it behind the fence "
                                "(```sh, ```cpp; ```text for what is no code)")
            continue
        if not line.strip():
            after_blank = True
            continue
        indent = len(line) - len(line.lstrip(" "))
        item = LIST_ITEM.match(line)
        if after_blank and indent >= list_column + 4:
            problems.append(f"{page}:{number}: an indented block of code, which no test sees; put it between fences "
                            "with a language (```sh)")
        elif item:
            list_column = len(item[1])
        elif after_blank and indent < list_column:
            list_column = 0
        after_blank = False
    if fence:
        problems.append(f"{page}:{begin}: this fence is never closed")
    return blocks, problems
