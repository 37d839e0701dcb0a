#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""numbers.py NAME: numbers of a recording at their extremes. A sanitizer build finds wrong uses of
them.

Each function below is a case; its name and text state the behaviour.
"""

import os
import re
import struct
import sys

import lib
import store
from lib import PTCAP, Run, check, prog

CASES = {}
AUXTRACE_INFO, TIME_CONV = 70, 79
WORDS = 17
EXTREMES = (0, 1, 64, 0x3C000, 0xFF00, (1 << 32) - 1, 1 << 32, 1 << 63, (1 << 64) - 1)
EXTREMES_SANITIZED = (1, 0x3C000, (1 << 32) - 1, (1 << 64) - 1)
COMMANDS = ("decode --engine fast", "decode --engine libipt --events --resync packet", "dump --verify")
ENDS = (0, 1, 3, 4)


def case(f):
    CASES[f.__name__] = f
    return f


def records(data):
    """Yield (type, offset, size) of each record of the data section, up to the first trace."""
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        yield kind, at, size
        if kind == 71:  # AUXTRACE
            return
        at += size


@case
def auxtrace_info(folder):
    """Each number of AUXTRACE_INFO and of TIME_CONV: every command ends with one of its own exit
    statuses."""
    path, bad = os.path.join(folder, "recording"), os.path.join(folder, "bad")
    store.fetch(path, [prog("signal")]).expect(0)
    with open(path, "rb") as f:
        good = f.read()
    places = [at + 16 + 8 * n for kind, at, _ in records(good) if kind == AUXTRACE_INFO for n in range(WORDS)]
    places += [at + 8 + 8 * n for kind, at, size in records(good) if kind == TIME_CONV for n in range((size - 8) // 8)]
    check(len(places) > WORDS, f"only {len(places)} numbers were found")
    refused, whats = 0, set()
    extremes = EXTREMES_SANITIZED if store.READS else EXTREMES
    for place in places:
        for value in extremes:
            with open(bad, "wb") as f:
                f.write(good[:place] + struct.pack("<Q", value) + good[place + 8:])
            for command in COMMANDS:
                r = Run([PTCAP, *command.split(), "-i", bad])
                check(r.status in ENDS and "runtime error" not in r.err, f"{place} {value:#x} {command}: {r.status}\n{r.err}")
                said = re.findall(r"impossible ([\w' ]+)", r.err + r.out)
                refused += bool(said)
                whats.update(said)
    check(len(whats) >= 10, f"refused: {whats}")
    print(f"{len(places)} numbers, {refused} of {len(places) * len(extremes) * len(COMMANDS)} refused")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
