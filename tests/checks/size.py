# SPDX-License-Identifier: MIT
"""Size: a file of C, Python, shell or CMake has at most 600 lines. A function of cli/ has at most 80 lines.

usage: size.py SOURCE_DIR

A function's body is counted from the `{` to the `}` in column 0, as clang-format writes them.
"""
import os
import re
import sys

from common import finish, prove, sources

FILE_MAX = 600
FUNCTION_MAX = 80
ENDS = (".c", ".h", ".py", ".sh", ".cmake", "CMakeLists.txt")
SCRIPT = re.compile(r"#!.*\b(python3?|(ba|da)?sh)\b")


def lines_of(root, path):
    """Return the lines of a text file; none if it is not text."""
    try:
        with open(os.path.join(root, path), encoding="utf-8") as f:
            return f.read().splitlines()
    except UnicodeDecodeError:
        return []


def is_source(root, path):
    if path.endswith(ENDS):
        return True
    with open(os.path.join(root, path), "rb") as f:
        return SCRIPT.match(f.readline(100).decode("latin-1")) is not None


def files(root):
    """Yield the paths of our sources, relative to @root: not of third_party and not of builds."""
    for where, dirs, names in os.walk(root):
        dirs[:] = sorted(d for d in dirs if d not in (".git", "build", "third_party")
                         and not os.path.exists(os.path.join(where, d, "CMakeCache.txt")))
        for name in sorted(names):
            path = os.path.relpath(os.path.join(where, name), root)
            if os.path.isfile(os.path.join(root, path)) and is_source(root, path):
                yield path


def long_functions(lines):
    """Yield (line number of the `{`, length of the body) for each function that is too long."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start:
            if number - start + 1 > FUNCTION_MAX:
                yield start, number - start + 1
            start = None


def check(root):
    complaints = []
    for path in files(root):
        count = len(lines_of(root, path))
        if count > FILE_MAX:
            complaints.append(f"{path}: {count} lines, more than {FILE_MAX}; split it by concept")
    for path in sources(root, ["cli"]):
        for number, length in long_functions(lines_of(root, path)):
            complaints.append(f"{path}:{number}: a function of {length} lines, more than {FUNCTION_MAX}")
    return complaints


def function(length, name="f"):
    return f"int {name}(void)\n{{\n" + "\tg();\n" * (length - 2) + "}\n"


GOOD = {
    "base/a.c": "\n" * 600,
    "capture/a.c": function(500),
    "cli/a.c": "static const int a[] = {\n" + "\t1,\n" * 100 + "};\n\n" + function(80) + "\n" + function(80, "h"),
    "doc/long.md": "\n" * 1000,
    "third_party/a.h": "\n" * 1000,
    "build/dev/a.c": "\n" * 1000,
    "other/CMakeCache.txt": "",
    "other/a.cmake": "\n" * 1000,
    "tests/e2e/words.txt": "\n" * 1000,
}
BAD = [
    ("base/bad.c", "\n" * 601),
    ("include/ptcap/bad.h", "\n" * 601),
    ("tests/e2e/bad.py", "\n" * 601),
    ("tests/guest/bad.sh", "\n" * 601),
    ("tests/bad.cmake", "\n" * 601),
    ("bench/CMakeLists.txt", "\n" * 601),
    ("scripts/bad", "#!/usr/bin/env python3\n" + "\n" * 600),
    ("scripts/bad", "#!/bin/sh -e\n" + "\n" * 600),
    ("cli/bad.c", function(81)),
    ("cli/bad.c", function(10) + "\n" + function(200)),
    ("cli/bad.h", "static inline " + function(81)),
]

prove(check, GOOD, BAD)
finish(check(sys.argv[1]), not sources(sys.argv[1], ["cli"]))
