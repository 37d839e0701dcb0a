# SPDX-License-Identifier: MIT
"""tests/unchanged.py runs a test again if an input changed, or if the test did not pass.

usage: unchanged.py SOURCE_DIR
"""
import os
import subprocess
import sys
import tempfile

from common import finish

PROGRAM = os.path.join(sys.argv[1], "tests", "unchanged.py")
LEAK = "echo 'ERROR: LeakSanitizer: detected memory leaks'"


def look(folder):
    """Yield the faults, one line each."""
    note, log, given = (os.path.join(folder, name) for name in ("note", "log", "input"))

    def write(text):
        with open(given, "w", encoding="ascii") as f:
            f.write(text)

    def runs(what, ran, status, command="true", **more):
        with open(log, "w", encoding="ascii"):
            pass
        env = {k: v for k, v in os.environ.items() if k != "PTCAP_AGAIN"} | more
        shell = ["sh", "-c", f"echo ran >{log}; {command}"]
        got = subprocess.run([sys.executable, "-B", PROGRAM, note, given, "--", *shell], env=env,
                             capture_output=True, check=False).returncode
        if (os.path.getsize(log) != 0, got) != (ran, status):
            yield f"{what}: ran is {os.path.getsize(log) != 0}, status {got}; expected {ran}, {status}"

    write("one")
    yield from runs("the first time", True, 0)
    if os.path.exists("/var/lib/dpkg/status"):  # without it no library change is detected, and all tests run
        yield from runs("nothing changed", False, 0)
    yield from runs("it is asked for", True, 0, PTCAP_AGAIN="1")
    if os.path.exists("/var/lib/dpkg/status"):
        yield from runs("a variable changed that tests do not read", False, 0, PTCAP_DEBIAN13="x", PTCAP_JOBS="9")
    yield from runs("the environment changed", True, 0, PTCAP_GOLDEN="x")
    write("two")
    yield from runs("an input changed", True, 0, PTCAP_GOLDEN="x")
    yield from runs("the command changed, and fails", True, 3, command="exit 3")
    yield from runs("it failed before", True, 3, command="exit 3")
    yield from runs("it is killed", True, 1, command="kill -9 $$")
    yield from runs("it skips", True, 77, command="exit 77")
    yield from runs("it skipped before", True, 77, command="exit 77")
    yield from runs("it leaks", True, 1, command=LEAK)
    yield from runs("it leaked before", True, 1, command=LEAK)


with tempfile.TemporaryDirectory() as root:
    finish(list(look(root)), False)
