# SPDX-License-Identifier: MIT
"""Each page of doc/man becomes a man page without leftovers of Markdown. groff reads each one without a warning.

usage: man.py SOURCE_DIR
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys

from common import finish, prove

SPEC = importlib.util.spec_from_file_location("converter", os.path.join(sys.argv[1], "cmake", "man.py"))
CONVERTER = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(CONVERTER)
LEFTOVER = re.compile(r"\*\*|\\\(ga|^(?:#|\||:  |<!--)")
NAME = re.compile(r"\b[A-Z]+(?:_[A-Z]+)+\b")  # CAP_SYS_PTRACE is not CAP*SYS*PTRACE
EXAMPLE = re.compile(r"^\.nf$.*?^\.fi$", re.M | re.S)


def pages(root):
    folder = os.path.join(root, "doc", "man")
    return sorted(os.path.join("doc", "man", name) for name in os.listdir(folder)) if os.path.isdir(folder) else []


def check(root):
    out = []
    for path in pages(root):
        try:
            text = CONVERTER.read(os.path.join(root, path))
            page = CONVERTER.convert(text, "1.0")
        except (AttributeError, ValueError) as e:
            out.append(f"{path}: {e}")
            continue
        out += [f"{path}: lost underscores: {name}" for name in sorted(set(NAME.findall(text))) if name not in page]
        out += [f"{path}: left over: {line}" for line in EXAMPLE.sub("", page).splitlines() if LEFTOVER.search(line)]
        if shutil.which("groff"):
            run = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, text=True, capture_output=True, check=False)
            out += [f"{path}: {line}" for line in run.stderr.splitlines()]
    return out


GOOD = {"doc/man/x.1.md": "# x(1)\n\n## NAME\n\nx - do\n\n## OPTIONS\n\n### Group\n\n**-o**, **--output**=*FILE*\n:   Write `it` with CAP_SYS_X to **fd:**_CTL_.\n\n"
        "    - **a** is one.\n\n    .dots\n\n## EXAMPLES\n\n<!-- none -->\n\n    $ x -o '.a'\n    # b `\\n\n| a | b |\n|---|---|\n| c | d |\n\n| a | b | c |\n|---|---|---|\n| 0 | 8 | .x |\n"}
BAD = [("doc/man/y.1.md", "# y\n"), ("doc/man/z.1.md", "# z(1)\n\nbold **without end\n"), ("doc/man/a.1.md", "# a(1)\n\n```\ncode\n```\n"),
       ("doc/man/b.1.md", "# b(1)\n\n<!-- include x.1.md 7 -->\n")]
prove(check, GOOD, BAD)
finish(check(sys.argv[1]), not pages(sys.argv[1]))
