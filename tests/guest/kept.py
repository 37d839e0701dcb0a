#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kept.py KEPT ASKED SIZE FILE...: checks that each snapshot equals the content of the rings of
SIZE bytes, and has all threads.

KEPT is the folder with all bytes that softpt wrote (softpt_kept.c). ASKED has a line for each
FILE: the counts of both CPUs at the request, and when the file was there. FILE.tids has the
threads that ptcap sees in it. Each window ends where the trace was stopped in between, has the
newest bytes, and begins at the first PSB in the ring. Each thread that the module saw traced
within the windows is there, and no other threads except those that were already being traced.
"""

import bisect
import os
import re
import struct
import subprocess
import sys

PSB = bytes.fromhex("0282") * 8
CPUS = 2
UNIT = 8  # a trace in a file is padded with zeros to this


class Cpu:
    """The bytes written on one CPU."""

    def __init__(self, folder, cpu):
        def blob(name):
            with open(f"{folder}/{cpu}.{name}", "rb") as f:
                return f.read()

        self.bytes = blob("bytes")
        self.turns = list(struct.iter_unpack("<QQ", blob("turns")))
        self.starts = [at for at, _ in self.turns]
        self.stops = [at for at, tid in self.turns if not tid]
        with open(f"{folder}/{cpu}.count", encoding="ascii") as f:
            if int(f.read()) != len(self.bytes):
                sys.exit(f"CPU {cpu}: more was written than is kept")

    def traced(self, begin, end):
        """Return the threads whose trace began within this part, and those traced at its begin."""
        first, behind = (bisect.bisect_left(self.starts, at) for at in (begin, end))
        return {tid for _, tid in self.turns[first:behind] if tid}, {tid for _, tid in self.turns[max(first - 1, 0) : first]}

    def window(self, trace, size, asked, there):
        """Return the place in the stream of a snapshot that was requested and done by these counts;
        or the fault."""
        ends = self.stops[bisect.bisect_left(self.stops, asked) : bisect.bisect_right(self.stops, there)]
        sizes = [len(trace) - n for n in range(UNIT) if not any(trace[len(trace) - n :])]
        found = ((e - n, e) for e in ends for n in sizes if n <= e and self.bytes[e - n : e] == trace[:n])
        begin, end = next(found, (None, None))
        if end is None:
            sys.exit(f"{len(trace)} bytes that were not written last, between {asked} and {there}")
        first = self.bytes.find(PSB, max(end - size, 0))
        if begin != first:
            sys.exit(f"{begin} to {end}, the first PSB that the ring had is at {first}")
        return begin, end


def traces(path):
    """Return {cpu: bytes}."""
    ret = {}
    out = subprocess.run([os.environ["PTCAP"], "dump", "-i", path, "--type", "AUXTRACE"], check=True, capture_output=True, text=True)
    with open(path, "rb") as f:
        for at, size, cpu in re.findall(r"^(0x\w+) AUXTRACE .* size=(0x\w+) .* cpu=(\d+)", out.stdout, re.M):
            f.seek(int(at, 16) + 48)
            if int(cpu) in ret:
                sys.exit(f"two pieces of CPU {cpu}")
            ret[int(cpu)] = f.read(int(size, 16))
    return ret


def main(folder, asked, size, *files):
    cpus = [Cpu(folder, n) for n in range(CPUS)]
    size = int(size)
    with open(asked, encoding="ascii") as f:
        counts = [[int(n) for n in line.split()] for line in f]
    stored = wrapped = windows = seen = 0
    for path, count in zip(files, counts, strict=True):
        who, between, found = set(), {0}, traces(path)
        for n, cpu in enumerate(cpus):
            if n not in found:
                if PSB in cpu.bytes[max(count[CPUS + n] - size, 0) : count[n]]:
                    sys.exit(f"{path}: there is nothing of CPU {n}")
                continue
            try:
                begin, end = cpu.window(found[n], size, count[n], count[CPUS + n])
            except SystemExit as e:
                sys.exit(f"{path}, CPU {n}: {e}")
            began, was = cpu.traced(begin, end)
            who |= began
            between |= was
            windows += 1
            wrapped += end > size
            stored += len(found[n])
        with open(path + ".tids", encoding="ascii") as f:
            there = {int(line) for line in f}
        if who - there or there - who - between:
            sys.exit(f"{path}: missing {sorted(who - there)}, too many {sorted(there - who - between)}, in all {len(there)}")
        seen += len(who)
    print(f"{windows} windows of {len(files)} snapshots, {wrapped} of rings that had gone round: {stored} bytes, as written; "
          f"{seen} threads in them, all there")  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
