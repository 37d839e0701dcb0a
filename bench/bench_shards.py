#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_shards.py PTCAP RECORDING [N [OPTION...]]: the CPU time of N shards (default: 16) over that of the whole.

Peer: the same decode without --shard. Prints the seconds of both (user and system), their ratio, the largest shard over the mean,
and the bytes of trace of the largest shard over the mean. Each is measured three times in turns; the least counts. OPTIONs go to
`ptcap decode`, or with `report` in front to `ptcap report`. Default: -j1. With calls (report, and --format=callgrind,
folded or pprof) also prints the seconds of `ptcap sum`, and the bytes that it reads.
"""

import json
import os
import subprocess
import sys
import tempfile

ROUNDS = 3


def seconds(argv):
    """Return the CPU time of a program, whose output is dropped."""
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = status
    if status:
        sys.exit(f"{' '.join(argv)} failed")
    return usage.ru_utime + usage.ru_stime


def size(argv):
    out = subprocess.run([*argv, "--stats", "--format=json"], capture_output=True, check=True).stdout
    return json.loads(out.splitlines()[0])["trace_bytes"]


def joined(ptcap, argv, parts):
    """Return the CPU time of `ptcap sum`, and the bytes of all parts."""
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, str(i)) for i in range(len(parts))]
        for name, part in zip(names, parts):
            with open(name, "wb") as f:
                subprocess.run([*argv, part], stdout=f, stderr=subprocess.DEVNULL, check=True)
        return min(seconds([ptcap, "sum", *names]) for _ in range(ROUNDS)), sum(map(os.path.getsize, names))


def main(ptcap, path, n=16, *options):
    n = int(n)
    base = [ptcap, "decode", "-i", path]
    argv = [*base, *(options or ("-j1",))]
    if options[:1] == ("report",):
        argv = [ptcap, "report", "-i", path, *options[1:]]
    parts = [f"--shard={i}/{n}" for i in range(1, n + 1)]
    whole, each = None, [None] * n
    for _ in range(ROUNDS):
        s = seconds(argv)
        whole = s if whole is None else min(whole, s)
        for i, part in enumerate(parts):
            s = seconds([*argv, part])
            each[i] = s if each[i] is None else min(each[i], s)
    sizes = [size([*base, part]) for part in parts]
    print(f"whole {whole:.2f} s, {n} shards {sum(each):.2f} s, ratio {sum(each) / whole:.3f}")
    if argv[1] == "report" or {"--format=callgrind", "--format=folded", "--format=pprof"} & set(options):
        print("ptcap sum %.2f s, reads %d bytes" % joined(ptcap, argv, parts))
    print(f"largest shard over the mean: {max(each) * n / sum(each):.3f} of the time, {max(sizes) * n / sum(sizes):.3f} of the bytes")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
