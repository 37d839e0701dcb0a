# SPDX-License-Identifier: MIT
"""Check `jit` of truth.py: code in no file, or changing code."""

import os
import re

import lib
from lib import Run, check
from recording import recorded, well_formed


def pokes(path):
    """Return the TEXT_POKE records of a recording outside the vdso: [(pid, address, bytes)]."""
    dump = Run([lib.PTCAP, "dump", "-i", path]).expect(0).out
    ret, vdso = [], {}
    for line in dump.splitlines():
        pid = re.search(r"\{pid=(\d+)", line)
        m = re.search(r" MMAP2 .* addr=(0x[0-9a-f]+) len=(0x[0-9a-f]+) .*\[vdso\]", line)
        if m:
            vdso[pid[1]] = range(int(m[1], 16), int(m[1], 16) + int(m[2], 16))
        m = re.search(r" TEXT_POKE .* misc=0x2 addr=(0x[0-9a-f]+) old_len=0 new_len=(\d+)", line)
        check(m or " TEXT_POKE " not in line, line)
        if m and int(m[1], 16) not in vdso.get(pid[1], ()):
            ret.append((int(pid[1]), int(m[1], 16), int(m[2])))
    return ret


def check_jit(folder, name, argv):
    for rings in ("256K,1M", "8K,8K"):
        path, truth = recorded(folder, argv, "-m", rings)
        for flow in lib.equals_truth(path, truth).values():
            well_formed(flow)
        saved = pokes(path)
        check(saved, "no code was saved")
        # At most a page at first, then only the changes: not the page again and again.
        most = 8 * 4096 + 64 * len(saved)
        check(sum(n for _, _, n in saved) < most, f"too much code was saved: {saved}")
    if not lib.have_perf():
        lib.skip("no perf here (Debian: linux-perf)")
    # perf has no bytes for this code, and says so; it must read the rest of the file.
    r = Run([lib.PERF, "script", "-i", path, "--itrace=be", "-F", "tid,flags,ip,addr"],
            env=dict(os.environ, HOME=folder, DEBUGINFOD_URLS="")).expect(0)
    check(len(r.out.splitlines()) > 1, "perf lists nothing")
    for line in r.err.splitlines() + r.out.splitlines():
        expected = line.startswith(" instruction trace error type 1 ") or line.endswith(" instruction trace errors")
        check(expected or "error" not in line.lower(), f"perf: {line}")
