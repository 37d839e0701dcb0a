# SPDX-License-Identifier: MIT
"""A source package contains no programs, except those that debian/source/lintian-overrides names with their reason. lintian
reports an error for the others.

usage: programs.py SOURCE_DIR
"""
import fnmatch
import os
import re
import sys

from common import finish, prove

OVERRIDES = "debian/source/lintian-overrides"


def files(root):
    for where, dirs, names in os.walk(root):
        dirs[:] = [d for d in dirs if d not in (".git", "build", "__pycache__")]
        yield from (os.path.relpath(os.path.join(where, name), root) for name in names)


def check(root):
    with open(os.path.join(root, OVERRIDES), encoding="utf-8") as f:
        allowed = re.findall(r"source-is-missing \[(.*)\]", f.read())
    complaints = []
    for path in files(root):
        with open(os.path.join(root, path), "rb") as f:
            if f.read(4) == b"\x7fELF" and not any(fnmatch.fnmatch(path, a) for a in allowed):
                complaints.append(f"{path}: a program; the build can make it, or {OVERRIDES} names it")
    return complaints


prove(check, {OVERRIDES: "x source: source-is-missing [data/*]\n", "data/a": "\x7fELF", "a": "\x7fEL"}, [("b", "\x7fELF")])
finish(check(sys.argv[1]))
