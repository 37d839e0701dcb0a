# SPDX-License-Identifier: MIT
"""clang-format changes nothing.

usage: format.py SOURCE_DIR
"""
import os
import shutil
import subprocess
import sys

from common import finish, prove, sources


def check(root):
    paths = sources(root)
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
prove(check, {"base/a.c": "int f(int a)\n{\n\treturn a;\n}\n"},
      [("base/bad.c", "int f(int a)\n{\n    return a;\n}\n"), ("tests/bad.h", "int  f(int a);\n")])
finish(check(sys.argv[1]), not sources(sys.argv[1]))
