# SPDX-License-Identifier: MIT
"""Each page of doc/man becomes a man page without leftovers of Markdown. groff reads each one without a warning.

usage: man.py SOURCE_DIR
"""
import os
import re
import shutil
import subprocess
import sys

from common import finish, prove

CONVERTER = os.path.join(os.path.abspath(sys.argv[1]), "cmake", "man.py")
LEFTOVER = re.compile(r"\*\*|\\\(ga|^(?:#|\||:  |<!--)")


def pages(root):
    folder = os.path.join(root, "doc", "man")
    return sorted(os.path.join("doc", "man", name) for name in os.listdir(folder)) if os.path.isdir(folder) else []


def check(root):
    out = []
    for path in pages(root):
        run = subprocess.run([sys.executable, "-B", CONVERTER, os.path.join(root, path), "1.0", "/dev/stdout"],
                             text=True, capture_output=True, check=False)
        if run.returncode:
            out.append(f"{path}: {run.stderr.splitlines()[-1]}")
            continue
        out += [f"{path}: left over: {line}" for line in run.stdout.splitlines() if LEFTOVER.search(line)]
        if shutil.which("groff"):
            read = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=run.stdout, text=True, capture_output=True, check=False)
            out += [f"{path}: {line}" for line in read.stderr.splitlines()]
    return out


GOOD = {"doc/man/x.1.md": "# x(1)\n\n## NAME\n\nx - do\n\n## OPTIONS\n\n### Group\n\n**-o**, **--output**=*FILE*\n:   Write `it`.\n\n"
        "    - **a** is one.\n\n    .dots\n\n## EXAMPLES\n\n<!-- none -->\n\n    $ x -o '.a'\n    .b \\n\n| a | b |\n|---|---|\n| c | d |\n"}
BAD = [("doc/man/y.1.md", "# y\n"), ("doc/man/z.1.md", "# z(1)\n\nbold **without end\n"), ("doc/man/a.1.md", "# a(1)\n\n```\ncode\n```\n")]
prove(check, GOOD, BAD)
finish(check(sys.argv[1]), not pages(sys.argv[1]))
