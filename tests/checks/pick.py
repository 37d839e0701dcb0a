# SPDX-License-Identifier: MIT
"""scripts/pick.py names an existing program for each unit test program: `scripts/test unit_base:SUITE` starts it.

usage: pick.py SOURCE_DIR BUILD_DIR
"""
import os
import subprocess
import sys

from common import finish

PROGRAMS = ("arch", "auxtrace", "base", "capture", "cli", "decode")


def look(source, build):
    """Yield the faults, one line each."""
    pick = [sys.executable, "-B", os.path.join(source, "scripts", "pick.py"), build]
    for program in (f"unit_{name}" for name in PROGRAMS):
        got = subprocess.run([*pick, f"{program}:a_suite"], capture_output=True, text=True, check=False)
        want = f"suite {os.path.join(os.path.realpath(build), 'tests', program)} a_suite"
        if want not in got.stdout.splitlines():
            yield f"{program}:a_suite: no line '{want}' in {got.stdout!r} {got.stderr!r}"


finish(list(look(sys.argv[1], sys.argv[2])))
