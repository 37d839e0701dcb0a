#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""untrusted.py NAME: names that others chose: links where the output goes.

Each function below is a case; its name and text say what holds.
"""

import os
import sys

import lib
import store
from lib import PTCAP, Run, check, prog

CASES = {}
PRECIOUS = b"the only copy\n"


def case(f):
    CASES[f.__name__] = f
    return f


# --- output through a symbolic link ---------------------------------------------------------------


def link_is_replaced(folder, name, make, is_ours):
    """make(OUTPUT) writes through a link twice. The link becomes OUTPUT.old, the file behind it stays."""
    precious, out = os.path.join(folder, name + ".precious"), os.path.join(folder, name)
    with open(precious, "wb") as f:
        f.write(PRECIOUS)
    os.symlink(precious, out)
    for n in (1, 2):
        make(out)
        with open(precious, "rb") as f:
            check(f.read() == PRECIOUS, f"{name}: the file behind the link was written to")
        check(sorted(p for p in os.listdir(folder) if p.startswith(name + ".precious")) == [name + ".precious"],
              f"{name}: {os.listdir(folder)}")
        check(not os.path.islink(out), f"{name}: the output is still a link")
        with open(out, "rb") as f:
            check(is_ours(f.read()), f"{name}: the output is not what was asked for")
        check(os.path.islink(out + ".old") == (n == 1), f"{name}: not renamed to .old")


def is_recording(data):
    return data.startswith(lib.MAGIC)


@case
def output_link(folder):
    """Each command that writes a file renames the link, as perf does."""
    recording = os.path.join(folder, "recording")
    store.fetch(recording, [prog("hello")]).expect(0)
    truth = os.path.join(folder, "t")
    commands = {
        "record": lambda out: lib.record(out, [prog("hello")]).expect(0),
        "truth": lambda out: lib.record(truth, [prog("hello")], "--truth", out).expect(0),
        "convert": lambda out: Run([PTCAP, "convert", "-i", recording, "-o", out]).expect(0),
        "recover": lambda out: Run([PTCAP, "recover", "-i", recording, "-o", out]).expect(0),
        "snapshot": lambda out: Run([PTCAP, "snapshot", "--source", lib.SOURCE, "--count", "1", "-o", out, "--", prog("hello")]).expect(0),
        "crash": lambda out: Run([PTCAP, "crash", "-q", "--source", lib.SOURCE, "-o", out, "--", prog("crash_static"), "null"]).expect(139),
    }
    for name, make in commands.items():
        link_is_replaced(folder, name, make, (lambda data: data and not is_recording(data)) if name == "truth" else is_recording)


@case
def output_special(folder):
    """A link to a FIFO or a device is not moved away: refused before the command runs."""
    fifo, recording = os.path.join(folder, "fifo"), os.path.join(folder, "recording")
    store.fetch(recording, [prog("hello")]).expect(0)
    os.mkfifo(fifo)
    for target in (fifo, "/dev/null"):
        link = os.path.join(folder, "link")
        os.symlink(target, link)
        r = lib.record(link, [prog("hello")]).expect(2)
        check(r.out == "" and "not a regular file" in r.err, r.err)
        Run([PTCAP, "convert", "-i", recording, "-o", link]).expect(2)
        Run([PTCAP, "recover", "-i", recording, "-o", link]).expect(2)
        check(os.readlink(link) == target and not os.path.lexists(link + ".old"), "the link was moved")
        os.unlink(link)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
