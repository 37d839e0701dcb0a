# SPDX-License-Identifier: MIT
"""Common code for the checks of our own sources.

A check is a function from a source tree to a list of complaints. It first proves, on a tree with
planted faults, that it can fail. Only then its silence about the real tree means something.
"""
import contextlib
import functools
import os
import re
import sys
import tempfile
import time

LAYERS = {  # each layer, with the layers it may include
    "base": [],
    "arch": ["base"],
    "auxtrace": ["base", "arch"],
    "capture": ["base", "arch", "auxtrace"],
    "decode": ["base", "arch", "auxtrace"],
    "cli": ["base", "arch"],
}
FOLDERS = list(LAYERS) + ["include", "tests", "bench", "examples"]


def sources(root, folders=FOLDERS, ends=(".c", ".h")):
    """Return the paths of our C files, relative to @root."""
    found = []
    for folder in folders:
        for where, dirs, names in os.walk(os.path.join(root, folder)):
            if "guest" in dirs:  # kernel modules, in the kernel's own style
                dirs.remove("guest")
            found += [os.path.relpath(os.path.join(where, n), root)
                      for n in names if n.endswith(ends)]
    return sorted(found)


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code(path, strings=False):
    """Return the text of a C file without comments, and without the contents of strings unless
    @strings."""
    with open(path, encoding="utf-8") as f:
        return code_of(f.read(), strings)


@functools.lru_cache(maxsize=None)  # a check looks for many patterns in each file
def code_of(text, strings):
    def blank(m):
        t = m.group(0)
        if t[0] == "/":
            return re.sub(r"[^\n]", " ", t)  # keeps the line numbers
        if strings or is_include(m):
            return t
        return t[0] + t[-1]

    def is_include(m):
        line = text[text.rfind("\n", 0, m.start()) + 1:m.start()]
        return re.match(r"\s*#\s*include\s*$", line)

    return TOKEN.sub(blank, text)


def grep(root, paths, pattern, strings=False):
    """Yield (path, line number, match) for each place where @pattern occurs in code."""
    for path in paths:
        text = code(os.path.join(root, path), strings)
        for m in re.finditer(pattern, text, re.M):
            yield path, text.count("\n", 0, m.start()) + 1, m


class Notes:
    """The user's cache: an empty file for each digest of something clean. A file unused for a month
    is dropped. All clones share the cache, so a digest has no path of a clone."""

    MONTH = 30 * 86400

    def __init__(self, name):
        user = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        self.folder = os.path.join(user, "ptcap", name)
        os.makedirs(self.folder, exist_ok=True)
        for old in os.listdir(self.folder):
            path = os.path.join(self.folder, old)
            with contextlib.suppress(FileNotFoundError):  # another run dropped it
                if time.time() - os.stat(path).st_mtime > self.MONTH:
                    os.unlink(path)

    def has(self, digest):
        with contextlib.suppress(FileNotFoundError):
            os.utime(os.path.join(self.folder, digest))
            return True
        return False

    def add(self, digest):
        with open(os.path.join(self.folder, digest), "w", encoding="ascii"):
            pass


def plant(files):
    """Return a temporary tree of {path: text}."""
    tree = tempfile.TemporaryDirectory(prefix="ptcap-check-")
    for path, text in files.items():
        full = os.path.join(tree.name, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as f:
            f.write(text)
    return tree


def prove(check, good, bad):
    """@good files must pass @check alone; each of @bad, added to @good, must fail."""
    with plant(good) as root:
        complaints = check(root)
        if complaints:
            sys.exit("self-test: complains of what is right: " + "; ".join(complaints))
    for path, text in bad:
        with plant({**good, path: text}) as root:
            if not any(c.startswith(path) for c in check(root)):
                sys.exit(f"self-test: did not find what is wrong in {path}: {text!r}")


def finish(complaints, nothing_seen=False):
    for c in complaints:
        print(c)
    if nothing_seen:
        sys.exit("nothing was checked")
    sys.exit(1 if complaints else 0)
