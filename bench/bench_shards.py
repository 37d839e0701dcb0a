#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_shards.py PTCAP RECORDING [N [OPTION...]]: the CPU time of N shards (default: 16) over that of the whole.

Peer: the same decode without --shard. Prints the seconds of both (user and system), their ratio, the largest shard over the mean,
and the bytes of trace of the largest shard over the mean. Each is measured three times in turns; the least counts. OPTIONs go to
`ptcap decode`. Default: -j1.
"""

import json
import os
import subprocess
import sys

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


def main(ptcap, path, n=16, *options):
    n = int(n)
    base = [ptcap, "decode", "-i", path]
    argv = [*base, *(options or ("-j1",))]
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
    print(f"largest shard over the mean: {max(each) * n / sum(each):.3f} of the time, {max(sizes) * n / sum(sizes):.3f} of the bytes")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
