# SPDX-License-Identifier: MIT
"""The examples in Markdown texts: examples.py runs them, and checks that no other code block exists.

An example is an indented block with lines "$ command" (see examples.py). Every other indented or fenced block must be in
tests/e2e/not_run.txt. The text of a list or of a definition is indented, too, and is no block.
"""

import re

MARK = re.compile(r"<!-- example: (.*?) -->$")
ITEM = re.compile(r":   |(?:-|\d+\.) +")
SPAN = re.compile(r"`([^`]+)`|\*\*((?:\\.|[^*\\]|\*(?!\*))+)\*\*")


class Example:
    """Commands, each with the lines of its output, and the words of the comment before them."""

    def __init__(self, line, words):
        self.line = line
        self.setups = [w[6:] for w in words if w.startswith("setup=")]
        self.needs = [w[6:] for w in words if w.startswith("needs=")]
        self.statuses = {0, *(int(w[7:]) for w in words if w.startswith("status="))}
        self.unknown = [w for w in words if not re.match("(setup|needs|status)=", w)]
        self.steps = []  # (line, command, expected lines)


def found_blocks(text):
    """(line, words of the comment, [(line, text)]) of each block of commands."""
    found, words, block, blank = [], [], None, True
    for number, line in enumerate(text.split("\n"), 1):
        mark = MARK.match(line)
        if mark:
            words = mark[1].split()
        if line.strip() and not line.startswith("    "):
            block = None
        elif block and (not line.strip() or line.startswith("    ")):
            block.append((number, line[4:]))
        elif blank and line.startswith("    $ "):
            block = [(number, line[4:])]
            found.append((number, words, block))
            words = []
        blank = not line.strip()
    return found


def examples(text):
    """The Examples of a Markdown text."""
    ret = []
    for number, words, block in found_blocks(text):
        ret.append(Example(number, words))
        steps = ret[-1].steps
        for n, line in block:
            if line.startswith("$ "):
                steps.append((n, [line[2:]], []))
            elif not steps[-1][2] and (steps[-1][1][-1].endswith("\\") or line.startswith("> ")):
                steps[-1][1].append(line.removeprefix("> "))
            else:
                steps[-1][2].append(line)
        for _, _, lines in steps:
            while lines and not lines[-1].strip():
                lines.pop()
    return ret


def code_blocks(text):
    """(line, first line of the block) of each indented or fenced block, also of those that are no Example."""
    found, blank, depth, inside, fenced = [], True, 0, False, False
    for number, line in enumerate(text.split("\n"), 1):
        indent = len(line) - len(line.lstrip())
        if re.match(r" *```", line):
            if not fenced:
                found.append((number, line.strip()))
            fenced = not fenced
        elif fenced or not line.strip():
            blank = blank or not fenced
            continue
        elif indent < 4:
            item = ITEM.match(line.lstrip())
            depth = 4 if item else depth if indent and depth else 0
            inside = False
        elif blank and not inside and indent >= depth + 4:
            found.append((number, line.strip()))
            inside = True
        blank = False
    return found


def spans(text):
    """(line, words) of each command `ptcap ...` in code or bold letters, outside of indented blocks."""
    at = 0
    for part in re.split(r"(\n\s*\n)", text):
        for m in SPAN.finditer(part) if not part.startswith("    $ ") else ():
            words = (m[1] or m[2].replace("\\", "")).split()
            if words and words[0] == "ptcap" and re.fullmatch("[a-z]+|--?[a-z].*", "".join(words[1:2])):
                yield text.count("\n", 0, at + m.start()) + 1, words
        at += len(part)
