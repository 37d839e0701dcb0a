# SPDX-License-Identifier: MIT
"""Cases of behave.py: the comparisons of the tests can fail."""

import os
import subprocess

import lib
from cases import case
from lib import check, prog, until


@case
def comparison_can_fail(folder):
    """A truth with one line changed, missing or added is detected."""
    path, truth = os.path.join(folder, "f"), os.path.join(folder, "t")
    lib.record(path, [prog("recurse")], "--truth", truth).expect(0)
    lib.equals_truth(path, truth)
    with open(truth, encoding="ascii") as f:
        lines = f.read().splitlines(keepends=True)
    middle = len(lines) // 2
    tid, start, end, kind = lines[middle].split()
    for n, changed in enumerate(
        (
            lines[:middle] + lines[middle + 1 :],
            lines[:middle] + [lines[middle]] + lines[middle:],
            lines[:-1],
            lines[:middle] + [f"{tid} {start} {end} far\n"] + lines[middle + 1 :],
            lines[:middle] + [f"{tid} {start} 7 {kind}\n"] + lines[middle + 1 :],
            lines[:middle] + [f"1 {start} {end} {kind}\n"] + lines[middle + 1 :],
        )
    ):
        with open(truth, "w", encoding="ascii") as f:
            f.writelines(changed)
        try:
            lib.equals_truth(path, truth)
        except lib.Failure:
            continue
        check(False, f"change {n} was not noticed")


@case
def guard_can_fail(folder):
    """Processes that a case leaves running are detected: its child, and one that has left its
    session and its parent."""

    def noticed(words):
        try:
            lib.nothing_left(0)
        except lib.Failure as e:
            check(all(word in str(e) for word in words), str(e))
            until(lambda: not lib.strays(), "the strays are gone")
            return True
        return False

    quiet = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    check(not noticed([]), "something is left before anything ran")
    with subprocess.Popen([prog("wait")], env={}, **quiet) as child:  # without the mark
        check(child.stdout.readline() == b"ready\n", "the child is not ready")
        check(noticed(["prog_wait"]), "a child that runs is not noticed")
    with subprocess.Popen([prog("tasks"), "daemon"], **quiet) as daemon_parent:
        check(daemon_parent.stdout.readline() == b"left\n", "there is no daemon")
        check(noticed(["daemon"]), "a daemon that runs is not noticed")
    check(not noticed([]), "something is left after all is gone")
