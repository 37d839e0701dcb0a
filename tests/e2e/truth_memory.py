# SPDX-License-Identifier: MIT
"""Check `length` of truth.py: the peak of memory does not grow with the length of a recording."""

import os
import re

import lib
from lib import Run, check
from perf_branches import perf_agrees
from recording import shape

MEMORY_MAX = 64 << 10  # KiB, ptcap record or decode
MEMORY_GROWTH = {"record": 1 << 10, "decode": 2 << 10}  # KiB; decode also maps the file, and joins parts of the trace


def peak(folder, argv, **kw):
    """Run argv. Returns (its Run, its peak of resident memory in KiB)."""
    path = os.path.join(folder, "peak")
    r = Run([lib.PEAK, path, *argv], **kw)
    with open(path, encoding="ascii") as f:
        return r, int(f.read())


def measured(folder, argv):
    """Record argv and decode it. Returns (path, steps, {command: KiB})."""
    plain = Run(argv)
    path = os.path.join(folder, f"{argv[-1]}.data")
    command = [lib.PTCAP, "record", "--source", "step", "-o", path, "--truth", path + ".truth", "--", *argv]
    r, recording = peak(folder, command)
    r.expect(plain.status)
    check(r.out == plain.out, f"output changed: {r.out!r}, plain {plain.out!r}")
    with open(os.path.join(folder, "decoded"), "w", encoding="ascii") as f:
        d, decoding = peak(folder, [lib.PTCAP, "decode", "-i", path, "--strict"], stdout=f)
    d.expect(0)
    steps = int(re.search(r"(\d+) instructions", r.err)[1])
    return path, steps, {"record": recording, "decode": decoding}


def check_length(folder, name, argv):
    path, steps, memory = measured(folder, argv)
    short, short_steps, short_memory = measured(folder, [*argv[:-1], "0"])
    print(f"{steps} steps {memory} KiB, {short_steps} steps {short_memory} KiB", flush=True)
    check(steps >= 600000, f"only {steps} steps")
    check(short_steps * 2 <= steps, f"{short_steps} steps are no half of {steps}")
    longer = (os.path.getsize(path) - os.path.getsize(short)) >> 10
    for command, held in (("record", 0), ("decode", 2 * longer)):
        check(memory[command] <= MEMORY_MAX, f"{command} took {memory[command]} KiB")
        growth = memory[command] - short_memory[command]
        check(growth <= held + MEMORY_GROWTH[command], f"{command} took {growth} KiB more than for a half")
    want = lib.equals_truth(path, path + ".truth")
    shape(want)
    perf_agrees(name, path, argv, want)
