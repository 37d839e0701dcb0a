# SPDX-License-Identifier: MIT
"""clang-format changes nothing. A file that was clean is checked again only if its text, the style or
this script changes.

usage: format.py SOURCE_DIR
"""
import hashlib
import os
import shutil
import subprocess
import sys

from common import Notes, finish, prove, sources


def digest_of(root, path):
    with open(os.path.join(root, path), "rb") as f:
        return hashlib.sha256(COMMON + os.fsencode(path) + b"\0" + f.read()).hexdigest()


def check(root):
    """Check the files that have no note, in one process."""
    digests = {path: digest_of(root, path) for path in sources(root)}
    paths = [path for path, digest in digests.items() if not NOTES.has(digest)]
    bad = complain(root, paths) if paths else []
    if not bad:
        for path in paths:
            NOTES.add(digests[path])
    return bad


def complain(root, paths):
    run = subprocess.run(["clang-format", "--dry-run", "-Werror", "--style=file:" + STYLE] + paths,
                         cwd=root, text=True, capture_output=True, check=False)
    if not run.returncode:
        return []
    bad = sorted({line.split(":")[0] for line in run.stderr.splitlines() if " error: " in line})
    return [f"{path}: clang-format -i would change it" for path in bad] or [run.stderr]


STYLE = os.path.abspath(os.path.join(sys.argv[1], ".clang-format"))
VERSION = "14"  # other versions format differently
if not shutil.which("clang-format"):
    print("clang-format is not installed")
    sys.exit(77)
said = subprocess.run(["clang-format", "--version"], text=True, capture_output=True, check=False).stdout
if f" version {VERSION}." not in said:
    print(f"skipped: the sources are formatted by clang-format {VERSION}, not {said.strip()}")
    sys.exit(77)
with open(STYLE, "rb") as style, open(__file__, "rb") as this:
    COMMON = hashlib.sha256(said.encode() + style.read() + this.read()).digest()
NOTES = Notes("format")
prove(check, {"base/a.c": "int f(int a)\n{\n\treturn a;\n}\n"},
      [("base/bad.c", "int f(int a)\n{\n    return a;\n}\n"), ("tests/bad.h", "int  f(int a);\n")])
finish(check(sys.argv[1]), not sources(sys.argv[1]))
