#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names from a jitdump, whose times are from CLOCK_MONOTONIC: listed and counted branches have the
same names.

usage: jitdump.py CASE
"""

import json
import os
import re
import struct
import subprocess
from collections import Counter

import lib
from lib import PTCAP, Run, check, decode, prog, record

FUNCTIONS, CALLS, TURNS = 10, 5, 3  # as in prog_jitdump: it calls each function CALLS times before the name and CALLS times after
MMAP2, TEXT_POKE, AUXTRACE = 10, 20, 71


def anonymous(data):
    """Return [(start, end)] of code memory without a file, from the MMAP2 records of a pipe."""
    ret, at = [], 16
    while at < len(data):
        what, _, size = struct.unpack_from("<IHH", data, at)
        if what == MMAP2 and data[at + 72 : at + size].startswith(b"//anon\0"):
            start, length = struct.unpack_from("<QQ", data, at + 16)
            ret.append((start, start + length))
        at += size + (struct.unpack_from("<Q", data, at + 8)[0] if what == AUXTRACE else 0)
    return ret


def drop_made(path, out):
    """Remove the generated code from the recording at @path. Newer QEMUs have code of their own, a
    vdso, which stays."""
    data = subprocess.run([PTCAP, "convert", "-i", path, "-o", "-"], stdout=subprocess.PIPE, check=True).stdout
    made_at = anonymous(data)
    kept, at = bytearray(data[:16]), 16
    while at < len(data):
        what, _, size = struct.unpack_from("<IHH", data, at)
        end = at + size + (struct.unpack_from("<Q", data, at + 8)[0] if what == AUXTRACE else 0)
        poke = struct.unpack_from("<Q", data, at + 8)[0] if what == TEXT_POKE else 0
        if not any(a <= poke < b for a, b in made_at):
            kept += data[at:end]
        at = end
    with open(out + ".pipe", "wb") as f:
        f.write(kept)
    Run([PTCAP, "convert", "-i", out + ".pipe", "-o", out]).expect(0)


def made(folder, *mode):
    path = os.path.join(folder, "perf.data")
    record(path, [prog("jitdump"), str(FUNCTIONS), *mode], cwd=folder).expect(0)
    return path


def jit_names(path):
    """Count the backward branches in generated code, by function."""
    found = Counter()
    for line in decode(path, "-F", "sym,tosym,kind").out.splitlines():
        m = re.match(r"(made\d+)\+0x2 \1\+0x0 jcc$", line)
        if m:
            found[m[1]] += 1
    return found


def check_names(path, times=2):
    """The first calls of each function are under the previous function's name; a child calls the
    last function. So each function is called @times times CALLS times.
    """
    names = jit_names(path)
    want = Counter({f"made{i}": times * CALLS * (TURNS - 1) for i in range(FUNCTIONS)})
    check(names == want, f"{names}, not {want}")
    counted = Counter()
    for line in Run([PTCAP, "decode", "-i", path, "--counts=edges"]).out.splitlines():
        m = re.match(r" *(\d+) +[\d.]+ +jcc +(made\d+)\+0x2 \S* *-> \2\b", line)
        if m:
            counted[m[2]] += int(m[1])
    check(counted == names, f"counted {counted}, listed {names}")


def case_names(folder):
    """With the code in the recording, and without it."""
    path = made(folder)
    check_names(path)
    check("assumed" not in decode(path, "--stats").err, "the clock is known")
    drop_made(path, path + ".bare")
    r = decode(path + ".bare", "--stats")
    check(not re.search(r"nocode +[1-9]", r.out + r.err), r.out + r.err)
    check_names(path + ".bare")


def case_like_node(folder):
    """Debug and unwinding information, code that moves, and an end within a record, which ptcap
    reports."""
    path = made(folder, "node")
    check_names(path, 3)
    drop_made(path, path + ".bare")
    r = decode(path + ".bare", "--stats")
    check(not re.search(r"nocode +[1-9]", r.out + r.err), r.out + r.err)
    check(re.search(r"jitdump '.*': it ends within a record, as one that is being written does", r.err), r.err)
    check_names(path + ".bare", 3)


def case_parts(folder):
    """A part of a recording keeps the known clocks."""
    path = made(folder)
    part = os.path.join(folder, "part")
    Run([PTCAP, "convert", "-i", path, "-o", part, "--cpu=0-255"]).expect(0)
    check_names(part)
    clocks = json.loads(Run([PTCAP, "info", "-i", part, "--format=json"]).expect(0).out)["ledger"]["clocks"]
    check(len(clocks) == 2 and clocks[0]["time_ns"] < clocks[1]["time_ns"], clocks)


CASES = {name[5:]: f for name, f in list(globals().items()) if name.startswith("case_")}

if __name__ == "__main__":
    lib.main(CASES)
