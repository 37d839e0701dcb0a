#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the text of `ptcap decode` with the text of `perf script`: CPU time for the same branches, calls and instructions.

usage: bench_text.py PTCAP FILE [PAIRS]    PAIRS: runs of both, one after the other (default 5)

Each row has the median CPU time of ptcap, of perf, the median of their ratios, and the same for ptcap with two threads: the
elapsed time with one thread beside the elapsed time with two. Output goes to /dev/null. The lines of both are counted once.
"""
import os
import re
import statistics
import subprocess
import sys
import time

ROWS = (
    ("default view", [], ["--itrace=b", "-F", "tid,time,flags,ip,sym,symoff,addr"]),
    ("--calls", ["--calls"], ["--call-trace"]),
    ("-F insn-ip", ["-F", "insn-ip"], ["--itrace=i0ns", "-F", "ip"]),
    ("--insn", ["--insn"], None),
)


def run(command):
    """Return the CPU time and the elapsed time in seconds."""
    with open(os.devnull, "wb") as null:
        begin = time.perf_counter()
        p = subprocess.Popen(command, stdout=null, stderr=null)
        _, status, usage = os.wait4(p.pid, 0)
    assert status == 0, (command, status)
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begin


def lines(command):
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
        return sum(block.count(b"\n") for block in iter(lambda: p.stdout.read(1 << 20), b""))


def main():
    ptcap, path = sys.argv[1:3]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    print("| text | lines | ptcap | perf | ratio | two threads |\n|---|---|---|---|---|---|")
    for name, ours, theirs in ROWS:
        decode = [ptcap, "decode", "-i", path, *ours, "-j"]
        perf = theirs and ["perf", "script", "-i", path, *theirs]
        one, two, peer = [], [], []
        for _ in range(pairs):
            one.append(run([*decode, "1"]))
            two.append(run([*decode, "2"]))
            if perf:
                peer.append(run(perf))
        n = lines([*decode, "1"])
        beside = lines(perf) if perf else n
        count = f"{n:,}" if n == beside else f"{n:,} ({beside:,} of perf)"
        ratio = f"{statistics.median(b[0] / a[0] for a, b in zip(one, peer)):.1f}" if perf else ""
        peers = f"{statistics.median(b[0] for b in peer):.2f} s" if perf else ""
        faster = statistics.median(a[1] / b[1] for a, b in zip(one, two))
        print(f"| `{re.sub(r'^$', 'decode', name)}` | {count} | {statistics.median(a[0] for a in one):.2f} s | {peers} | {ratio} | {faster:.2f} |", flush=True)


main()
