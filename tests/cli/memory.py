#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings, and jitdumps that they name, claim how much memory they need. --max-memory is the
limit.

Each scenario has a budget, and an expected line of standard error. Peak memory is measured, but
not under a sanitizer.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

from growth import MKREC, PID, PTCAP, build, fork, mmap2, poke, switch

PEAK = os.environ["PEAK"]
SANITIZED = os.environ["PTCAP_SANITIZE"]
OWN = 12 << 10  # KiB: ptcap itself, its libraries, a thread's stack, memory kept by malloc
MIB = 1 << 20


def dump(pid=1):
    return struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, pid, 0, 0)


def load(addr, name, code, index=1):
    body = struct.pack("<IIQQQQ", 1, 1, addr, addr, len(code), index) + name + b"\0" + code
    return struct.pack("<IIQ", 0, 16 + len(body), 0) + body


def move(addr, size, index=1):
    body = struct.pack("<IIQQQQQ", 1, 1, addr, addr, addr, size, index)
    return struct.pack("<IIQ", 1, 16 + len(body), 0) + body


def jitdump(data, pids=1, size=0):
    """Make a dump that @pids processes map, with a hole up to @size."""
    path = os.path.abspath("jit-1.dump")
    with open(path, "wb") as f:
        f.write(dump() + data)
    os.truncate(path, max(size, os.path.getsize(path)))
    return {"side": b"".join(mmap2(0x30000000, 0x1000, path, PID + i) for i in range(pids))}


def moves(n):
    return b"".join(move(0x20000010 + 16 * i, 16) for i in range(n))


NOTHING, ENDS = None, r"out of memory: the budget is \d+ MiB \(--max-memory\)"
SCENARIOS = {
    "a long name of code that moves": (
        "decode", 16, NOTHING, lambda: jitdump(load(0x20000000, b"N" * MIB, b"\x90" * 16) + moves(400))),
    "a hole that many processes map": ("decode", 48, r"jitdump '.*/jit-1.dump': .*damaged", lambda: jitdump(b"", 200, 16 * MIB)),
    "a dump that is too large": ("decode", 16, r"left out: the code of '.*/jit-1.dump': it needs 20[01] MiB.*--max-memory", lambda: jitdump(b"", 1, 200 * MIB)),
    "code that moves too often": (
        "decode", 16, r"left out: the rest of the code of '.*/jit-1.dump'", lambda: jitdump(load(0x20000000, b"N", b"\x90" * 16) + moves(100000))),
    "mappings": ("info", 8, ENDS, lambda: {"side": b"".join(mmap2(0x2000 * i + 0x10000000, 0x1000) for i in range(120000))}),
    "patches": ("decode", 8, ENDS, lambda: {"side": b"".join(poke(0x2000 * i + 0x10000000) for i in range(120000))}),
    "processes": ("decode", 8, ENDS, lambda: {"side": b"".join(fork(10000 + i) for i in range(60000))}),
    "queues": ("decode", 8, ENDS, lambda: {"queues": 20000}),
    "switches": ("decode", 16, NOTHING, lambda: {"side": b"".join(switch(i % 2, PID) for i in range(200000))}),
}


def look(base, name):
    command, budget, want, make = SCENARIOS[name]
    with open("recording", "wb") as f:
        f.write(build(base, **make()))
    argv = [PEAK, "peak", PTCAP, command, "-i", "recording", "--max-memory", f"{budget}M"]
    run = subprocess.run(argv, capture_output=True, text=True)
    told = run.stdout + run.stderr if command == "info" else run.stderr
    with open("peak", encoding="ascii") as f:
        peak = int(f.read())
    limit = OWN + budget * 1024 + 2 * os.path.getsize("recording") // 1024  # the file is mapped; by info twice
    said = re.search(want, told, re.M) if want else not re.search("left out|memory", told)
    good = said and run.returncode == (1 if want == ENDS and command != "info" else 0) and (SANITIZED or peak < limit)
    print(f"{'' if good else 'FAIL: '}{name}: {command} with {budget} MiB: status {run.returncode}, {peak} KiB of {limit}")
    if not good:
        print(told)
    return good


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([MKREC, "base"], check=True)
        with open("base", "rb") as f:
            base = f.read()
        good = [look(base, name) for name in sys.argv[1:] or SCENARIOS]
        os.chdir("/")
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
