#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""last.py NAME: the last branches of a crash on real hardware match the instructions in
expected.ckpt.

Needs PTCAP, PTCAP_TRACES.
"""

import os
import subprocess
import sys

LAST = 100
# The last branches: to a target that was never executed, because the jump crashed; or in a system
# call.
ENDS = {"griffin-ovf-01-poc": ["icall", "async"], "griffin-uaf-01-poc": ["syscall"]}


def fnv_at(ips, counts):
    """Return the FNV-1a hash over the first addresses, as 8 bytes each, at each of these counts."""
    ret, hash_ = [], 0xCBF29CE484222325
    for n, ip in enumerate(ips, 1):
        for byte in ip.to_bytes(8, "little"):
            hash_ = (hash_ ^ byte) * 0x100000001B3 % (1 << 64)
        if n in counts:
            ret.append((n, ip, hash_))
    return ret


def main(name):
    folder = os.path.join(os.environ["PTCAP_TRACES"], name)
    if not os.path.isdir(folder):
        print(f"skipped: there is no {folder}")
        return 77
    raw = ["--pt", os.path.join(folder, "pt.bin")]
    with open(os.path.join(folder, "image.map"), encoding="ascii") as f:
        for line in f:
            addr, size, off = line.split()
            raw += ["--raw", f"{folder}/image.dump@0x{addr}:0x{off}:0x{size}"]

    def decode(*options):
        argv = [os.environ["PTCAP"], "decode", *raw, "--strict", *options]
        out = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
        return [line.split() for line in out.splitlines()]

    ips = [int(line[0], 16) for line in decode("-F", "insn-ip")]
    with open(os.path.join(folder, "expected.ckpt"), encoding="ascii") as f:
        want = [(int(n), int(ip, 16), int(fnv, 16)) for n, ip, fnv in map(str.split, f)]
    if len(ips) != want[-1][0] or fnv_at(ips, {n for n, _, _ in want}) != want:
        return f"{len(ips)} instructions that are not those of expected.ckpt"
    last = [(int(f, 16), int(t, 16), kind) for f, t, kind in decode("-F", "from,to,kind", "--last", str(LAST))]
    ends = ENDS[name]
    if len(last) != LAST or [kind for _, _, kind in last[-len(ends) :]] != ends or last[-len(ends)][0] != ips[-1]:
        return f"{len(last)} branches, which end with {last[-2:]}, the instructions with {ips[-1]:x}"
    # Backwards from there, each branch is two instructions that were executed one after the other.
    at = len(ips) - 1
    for source, target, kind in reversed(last[: -len(ends)]):
        if not source or not target:  # tracing went off and on here
            continue
        while at and (ips[at - 1], ips[at]) != (source, target):
            at -= 1
        if not at:
            return f"{kind} {source:x} -> {target:x} was not executed there"
        at -= 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
