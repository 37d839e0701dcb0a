#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""icount.py NAME: the instruction counts of branches, compared with the list of all instructions."""

import itertools
import json
import os
import re
import struct
import subprocess
from collections import Counter, defaultdict

import lib
from lib import PTCAP, Run, check, decode, prog
from parallel import RAW, raw_options
from store import fetch

PROGRAMS = {
    "recurse": [prog("recurse")],
    "indirect": [prog("indirect")],
    "jcc": [prog("jcc")],
    "string": [prog("string")],
    "signal": [prog("signal")],
    "fault": [prog("fault")],
    "busy": [prog("busy"), "100"],
    "jit": [prog("jit"), "rwx"],
    "locks": [prog("tasks_static"), "locks"],
    "spawn": [prog("tasks_static"), "exec"],
}
CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def recorded(folder, name):
    path = os.path.join(folder, name)
    fetch(path, PROGRAMS[name], "-q")
    return path


def instructions(path, *options):
    """Return {tid: addresses of its instructions}, by libipt alone."""
    found = defaultdict(list)
    for line in decode(path, "-F", "tid,insn-ip", "--engine=libipt", *options).out.splitlines():
        if not line.startswith("#"):
            tid, ip = line.split()
            found[tid].append(ip)
    return found


def branches(path, *options):
    """Return rows (tid, icount, from, to, kind)."""
    rows = (line.split() for line in decode(path, "-F", "tid,icount,from,to,kind", *options).out.splitlines())
    return [(r[0], int(r[1]), *r[2:]) for r in rows if r[0] != "#"]


@case
def programs(folder):
    """Each branch is the instruction with its number. The last one has the number of all instructions."""
    for name in PROGRAMS:
        path = recorded(folder, name)
        want, last = instructions(path), {}
        for tid, icount, ip, _, kind in branches(path):
            if kind not in ("start", "async"):
                check(want[tid][icount - 1] == ip, f"{name}: {kind} {ip} of {tid} has number {icount}: {want[tid][icount - 2 : icount + 1]}")
            check(icount >= last.get(tid, 0), f"{name}: {icount} after {last.get(tid)}")
            last[tid] = icount
        check({tid: len(ips) for tid, ips in want.items()} == last, f"{name}: {last}")


def binary_of(path, *options):
    """Return the output of --format bin."""
    argv = [PTCAP, "decode", "-i", path, "--format=bin", *options]
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def bin_branches(path):
    """Return rows (tid, icount, from, to) of --format bin --icount, read as doc/format.md says."""
    out = binary_of(path, "--icount")
    rows, units, sums, tid, at = [], [], Counter(), None, 64
    while at < len(out):
        word, value = struct.unpack_from("<qQ", out, at)
        at += 16
        if word & 0xFF:
            units.append((tid, (word >> 8) & (1 << 64) - 1, value))
            continue
        if word >> 8 == 6:
            for (who, ip, to), insns in zip(units, struct.unpack_from(f"<{4 * value}I", out, at)):
                sums[who] += insns
                rows.append((str(who), sums[who], f"{ip:x}", f"{to:x}"))
            units = []
        elif word >> 8 == 5:
            tid = struct.unpack_from("<i", out, at + 28)[0]
        else:
            check(not units, "a record in front of counts")
            sums[struct.unpack_from("<i", out, at + 28)[0]] += struct.unpack_from("<I", out, at + 60)[0]
        at += 16 * value
    check(not units, f"{len(units)} branches have no count")
    return rows


@case
def binary(folder):
    """--format bin --icount has the same counts as the field icount. Without the option it has none."""
    for name in ("recurse", "signal", "locks"):
        path = recorded(folder, name)
        want = [r[:4] for r in branches(path)]
        got = bin_branches(path)
        text = lib.first_difference(got, want, "--format bin", "-F icount")
        check(not text, f"{name}: {text}")
        check(len(binary_of(path)) <= len(binary_of(path, "--icount")) - 4 * len(want), f"{name}: counts without --icount")
    r = Run([PTCAP, "decode", "-i", path, "--icount"]).expect(2)
    check("--icount needs --format bin" in r.err, r.err)


@case
def selected(folder):
    """Options that leave branches out do not change the counts of the remaining ones."""
    path = recorded(folder, "locks")
    rows = branches(path)
    tids = Counter(r[0] for r in rows)
    for engine in ("fast", "libipt"):
        for jobs in ("1", "3"):
            check(branches(path, "--engine", engine, "-j", jobs) == rows, f"{engine}, {jobs} threads: another list")
    tid = tids.most_common()[-1][0]
    check(branches(path, "--tid", tid) == [r for r in rows if r[0] == tid], f"--tid {tid}")
    some = branches(path, "--sym", "main")
    check(some and set(some) <= set(rows), "--sym")
    last = branches(path, "--last", "50")
    ends = {r[0]: r[1] for r in rows}
    check(last and all(ends[t] >= n for t, n, *_ in last), "--last counts more instructions than there are")


@case
def json_too(folder):
    """JSON has the same counts. Other forms do not need them."""
    path = recorded(folder, "busy")
    objects = map(json.loads, decode(path, "--format=json").out.splitlines())
    got = [(str(o["tid"]), o["icount"], o["from"], o["to"], o["kind"]) for o in objects if o.get("type") == "branch"]
    want = [(t, n, "0x" + a, "0x" + b, k) for t, n, a, b, k in branches(path)]
    check(got == want, lib.first_difference(got, want, "JSON", "-F"))


@case
def calls(folder):
    """Functions begin and end at the numbers of their branches. Text has the same durations as JSON."""
    path = recorded(folder, "locks")
    at = {(t, n, "0x" + b) for t, n, _, b, _ in branches(path)}
    places = {(t, n) for t, n, _ in at}
    objects = [json.loads(line) for line in decode(path, "--calls", "--format=json").out.splitlines()]
    spans = []
    for o in objects:
        if o.get("type") == "enter":
            check((str(o["tid"]), o["icount"], o["ip"]) in at, f"no branch enters {o}")
        elif o.get("type") == "leave":
            check((str(o["tid"]), o["icount"]) in places and o["since_icount"] <= o["icount"], f"no branch leaves {o}")
            spans.append(o["icount"] - o["since_icount"])
    text = decode(path, "--calls").out
    check(sorted(map(int, re.findall(r"(\d+) insn ", text))) == sorted(spans) and spans, "other durations")
    check(" us " in decode(path, "--calls", "--axis=time").out and " us " not in text, "--axis=time")
    for options, words in ((["--axis=miles"], "time or insns"), (["--axis=time", "-F", "from"], "cannot be combined")):
        check(words in Run([PTCAP, "decode", "-i", path, *options]).expect(2).err, f"{options}: no error")


@case
def real(_):
    """In traces of real hardware each branch is the instruction with its number, up to the first gap."""
    where, compared = os.environ.get("PTCAP_TRACES", ""), 0
    for name in RAW:
        if not os.path.isdir(os.path.join(where, name)):
            continue
        options = list(raw_options(os.path.join(where, name)))
        insns, rows = upto_gap([*options, "-F", "insn-ip", "--engine=libipt"]), upto_gap([*options, "-F", "icount,from,kind"])
        for icount, ip, kind in (row.split() for row in rows):
            if kind not in ("start", "async"):
                check(insns[int(icount) - 1] == ip, f"{name}: {kind} {ip} has number {icount}")
                compared += 1
    if not compared:
        lib.skip("no real traces are here")


def upto_gap(options):
    """Return the lines in front of the first gap."""
    lines = Run([PTCAP, "decode", *options]).out.splitlines()
    return list(itertools.takewhile(lambda line: not line.startswith("#"), lines))


if __name__ == "__main__":
    lib.main(CASES)
