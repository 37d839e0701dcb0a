#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ptcap compare and convert --branch-stacks: what is made of a trace is as traced, and each way to spoil it is found.

usage: compare.py CASE
"""

import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import lib
from lib import PERF, PROGS, PTCAP, Run, check, have_perf, prog, record, skip

FILTERS = ("any_call,u", "any_ret,u", "ind_call,u", "ind_jmp,u", "cond,u")
RET, CALL = 6, 4  # PERF_BR_*
SAMPLE, AUXTRACE = 9, 71
HEAD = struct.Struct("<IHH")
DEPTH = 16
SMALL = [prog("libc_static")]  # and quickly recorded


def convert(path, out, *options):
    return Run([PTCAP, "convert", "-i", path, "-o", out, *options]).expect(0)


def compare(path, status, *options):
    r = Run([PTCAP, "compare", "-i", path, "--format", "json", *options]).expect(status)
    return json.loads(r.out)


def findings(report):
    """What is wrong, by verdict; without what is right or not judged."""
    rest = ("exact", "outside the trace", "untraced privilege", "ambiguous", "no place found")
    found = {k: n for k, n in report["verdicts"].items() if n and k not in rest}
    if report["missing"]:
        found["missing"] = report["missing"]
    return found


class Stacks:
    """The branch stacks of a file, to be changed in place. An entry is [from, to, flags], the newest first."""

    FIELDS = 5 * 8 + 8  # identifier, ip, pid and tid, time, cpu, period

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f:
            self.bytes = bytearray(f.read())
        self.places = [p for p in self.records() if p]

    def records(self):
        off, size = struct.unpack_from("<QQ", self.bytes, 40)
        end = off + size
        while off < end:
            kind, _, length = HEAD.unpack_from(self.bytes, off)
            yield off + HEAD.size + self.FIELDS if kind == SAMPLE else None
            off += length
            if kind == AUXTRACE:
                off += struct.unpack_from("<Q", self.bytes, off - length + HEAD.size)[0]

    def get(self, i):
        (n,) = struct.unpack_from("<Q", self.bytes, self.places[i])
        return [list(struct.unpack_from("<QQQ", self.bytes, self.places[i] + 8 + 24 * k)) for k in range(n)]

    def set(self, i, entries):
        """As many as there were, or fewer: what is left over follows the stack, as a newer kernel's field would."""
        struct.pack_into("<Q", self.bytes, self.places[i], len(entries))
        for k, e in enumerate(entries):
            struct.pack_into("<QQQ", self.bytes, self.places[i] + 8 + 24 * k, *e)

    def add_time(self, ns):
        for p in self.places:
            at = p - 3 * 8
            struct.pack_into("<Q", self.bytes, at, struct.unpack_from("<Q", self.bytes, at)[0] + ns)

    def save(self, path):
        with open(path, "wb") as f:
            f.write(self.bytes)


class Trace:
    """All that ran, to look for a stack that was spoilt: if it is there as it is, nobody can tell."""

    def __init__(self, path):
        out = Run([PTCAP, "decode", "-i", path, "-F", "from,to"]).expect(0).out
        pairs = [line.split() for line in out.splitlines()]
        self.text = " ".join(f"{a}/{b}" for a, b in pairs if a != "0" and b != "0") + " "

    def has(self, entries):
        return "".join(f"{a:x}/{b:x} " for a, b, *_ in reversed(entries)) in self.text


def distinct(e, i):
    """No two of the entries around @i are the same: what is done there can be seen."""
    near = [tuple(x[:2]) for x in e[max(0, i - 4) : i + 5]]
    return len(set(near)) == len(near)


def spoil_target(e, i):
    e[i][1] ^= 0x700000
    return {"wrong target": 1}


def spoil_source(e, i):
    e[i][0] ^= 0x700000
    return {"wrong source": 1}


def spoil_drop(e, i):
    del e[i]
    return {"missing": 1}


def spoil_top(e, _):
    e.insert(0, list(e[0]))
    e.pop()
    return {"duplicated": 1}


def spoil_swap(e, i):
    e[i], e[i + 1] = e[i + 1], e[i]
    return {"wrong order": 2}


def spoil_stale(e, _):
    for k in range(1, 4):
        e[-k] = [0x700000001000 * k, 0x700000002000 * k, 0]
    return {"not in the trace": 3}


def spoil_type(e, i):
    wrong = CALL if e[i][2] >> 20 & 15 == RET else RET
    e[i][2] = e[i][2] & ~(15 << 20) | wrong << 20
    return {"wrong type": 1}


SPOILERS = {
    "target": (spoil_target, None),
    "source": (spoil_source, None),
    "drop": (spoil_drop, None),
    "top": (spoil_top, "duplicated top entry"),
    "swap": (spoil_swap, None),
    "stale": (spoil_stale, "stale oldest entries"),
    "type": (spoil_type, None),
}


def make(work, argv, *options):
    """A recording of @argv, with branch stacks."""
    raw, path = os.path.join(work, "raw"), os.path.join(work, "stacks")
    r = record(raw, argv)
    check(os.path.exists(raw), r.err)
    convert(raw, path, *options)
    return path


def spoil(path, out, how, rate):
    """Spoil one of @rate samples where it can be seen. Returns what has to be found."""
    trace, stacks, truth, rng = Trace(path), Stacks(path), {}, random.Random(7)
    touched = 0
    for n in range(len(stacks.places)):
        e = stacks.get(n)
        if n % rate or len(e) < DEPTH:
            continue
        i = rng.randrange(1, DEPTH - 4)
        if not distinct(e, 0 if how is spoil_top else i) or not distinct(e, i + 1):
            continue
        found = how(e, i)
        if how is not spoil_type and trace.has(e):
            continue
        for verdict, k in found.items():
            truth[verdict] = truth.get(verdict, 0) + k
        stacks.set(n, e)
        touched += 1
    check(touched, f"no sample of {len(stacks.places)} could be spoilt")
    stacks.save(out)
    return truth


PROGRAMS = {
    "recurse": [prog("recurse")],
    "indirect": [prog("indirect")],
    "jcc": [prog("jcc")],
    "string": [prog("string")],
    "signal": [prog("signal")],
    "fault": [prog("fault")],
    "map": [prog("map")],
    "jit": [prog("jit"), "rwx"],
    "names": [prog("names")],
    "busy": [prog("busy"), "100"],
    "threads": [prog("tasks"), "locks"],
    "jobs": [prog("jobs")],
}


FORKING = {"fork": ["/bin/sh", "-c", "/bin/true & /bin/echo a | cat; wait"]}


def case_clean(work, programs=None):
    """All is exact, whatever the filter."""
    judged = 0
    for n, (name, argv) in enumerate((programs or PROGRAMS).items()):
        raw = os.path.join(work, name)
        record(raw, argv)
        for words in ("any,u,save_type", FILTERS[n % len(FILTERS)]):
            out = os.path.join(work, "out")
            convert(raw, out, f"--branch-stacks={DEPTH},7", f"--branch-filter={words}")
            if not Stacks(out).places:
                continue
            report = compare(out, 0)
            check(report["judged"] == report["entries"],
                  f"{name}, {words}: {report['judged']} of {report['entries']} judged: {report['verdicts']}")
            check(not findings(report), f"{name}, {words}: {findings(report)}")
            check(not report["patterns"], f"{name}, {words}: {report['patterns']}")
            judged += report["judged"]
    check(judged > 10000, f"only {judged} entries in all")


def case_forks(work):
    """The same of processes."""
    case_clean(work, FORKING)


def case_spoilt(work):
    """Each way to spoil stacks, and how often, is found as what it is, and nothing else."""
    path = make(work, SMALL, f"--branch-stacks={DEPTH},7", "--branch-filter=any,u,save_type")
    out = os.path.join(work, "spoilt")
    for mode, (how, pattern) in SPOILERS.items():
        for rate in (1, 10):
            truth = spoil(path, out, how, rate)
            report = compare(out, 3)
            found, vague = findings(report), report["verdicts"]["ambiguous"]
            for verdict in truth.keys() | found.keys():
                have, want = found.get(verdict, 0), truth.get(verdict, 0)
                check(want - vague <= have <= want,
                      f"{mode}, 1/{rate}: {verdict}: found {have} of {want}, {vague} ambiguous; all: {found}")
            check(vague * 20 <= sum(truth.values()), f"{mode}, 1/{rate}: {vague} ambiguous of {truth}")
            names = [p["pattern"] for p in report["patterns"]]
            check(not pattern or pattern in names, f"{mode}, 1/{rate}: {names}")


def case_shift(work):
    """Stacks that end in front of the ip: no entry is wrong, all of them are."""
    path = make(work, SMALL, f"--branch-stacks={DEPTH},7")
    for k in (1, 3):
        stacks = Stacks(path)
        for n in range(len(stacks.places)):
            stacks.set(n, stacks.get(n)[k:])
        stacks.save(path + ".shifted")
        report = compare(path + ".shifted", 3)
        shift = [p for p in report["patterns"] if p["pattern"] == "constant shift"]
        check(shift and shift[0]["transfers"] == k, f"{k}: {report['patterns']}")


def case_leak(work):
    """A filter that lets everything through: the event says that it has returns only."""
    path = make(work, SMALL, f"--branch-stacks={DEPTH},7", "--branch-filter=any,u,save_type")
    stacks = Stacks(path)
    entries = [e for n in range(len(stacks.places)) for e in stacks.get(n)]
    returns = sum(e[2] >> 20 & 15 == RET for e in entries)
    old = struct.pack("<Q", 1 << 0 | 1 << 3 | 1 << 16)  # u, any, save_type
    new = struct.pack("<Q", 1 << 0 | 1 << 5 | 1 << 16)  # u, any_ret, save_type
    (attrs, size) = struct.unpack_from("<QQ", stacks.bytes, 24)
    check(stacks.bytes.count(old, attrs, attrs + size) == 1, "which attr?")
    stacks.bytes[attrs : attrs + size] = stacks.bytes[attrs : attrs + size].replace(old, new)
    stacks.save(path)
    report = compare(path, 3)
    found = findings(report)
    check(found.get("filtered class", 0) + report["verdicts"]["ambiguous"] + report["verdicts"]["no place found"]
          >= (len(entries) - returns) * 0.9, f"{found} of {len(entries)}, {returns} returns")
    check("filter leak" in [p["pattern"] for p in report["patterns"]], report["patterns"])


def case_time(work):
    """Times that are wrong: still exact, or said not to be placed; nothing is called wrong."""
    path = make(work, SMALL, f"--branch-stacks={DEPTH},7")
    for ns in (-100000, -1000, 1000, 100000):
        stacks = Stacks(path)
        stacks.add_time(ns)
        stacks.save(path + ".late")
        report = compare(path + ".late", 0, "--slack", "100us", "--min-judged", "1")
        check(not findings(report), f"{ns} ns: {findings(report)}")


def case_perf(work):
    """perf reads what is made, without a word, and sees the same branches."""
    if not have_perf():
        skip("no perf")
    path = make(work, SMALL, f"--branch-stacks={DEPTH},50", "--strip-aux")
    r = subprocess.run([PERF, "script", "-i", path, "-F", "ip,brstack"], capture_output=True, text=True, check=False)
    check(not r.returncode and not r.stderr, r.stderr)
    stacks = Stacks(path)
    lines = r.stdout.splitlines()
    check(len(lines) == len(stacks.places), f"perf has {len(lines)} samples of {len(stacks.places)}")
    for n, line in enumerate(lines):
        theirs = [[int(a, 16), int(b, 16)] for a, b in re.findall(r"(0x[0-9a-f]+)/(0x[0-9a-f]+)/", line)]
        ours = [e[:2] for e in stacks.get(n)]
        check(theirs == ours, f"sample {n}: perf has {theirs}, not {ours}")
    verify = Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
    check("verified" in verify.out, verify.out)


def case_exits(work):
    """Exit codes, thresholds, the samples' numbers, and both forms of the report."""
    path = make(work, SMALL, f"--branch-stacks={DEPTH},7")
    truth = spoil(path, path + ".bad", spoil_target, 10)
    n = len(Stacks(path).places)
    compare(path + ".bad", 0, "--max-wrong", "5")
    compare(path + ".bad", 3, "--max-wrong", "0.01")
    report = compare(path + ".bad", 0, "--max-wrong", "100", "--samples", ",1")
    check(report["samples"] == 1, report["samples"])
    report = compare(path + ".bad", 3, "--samples", "2,")
    check(report["samples"] == n - 1, report["samples"])
    r = Run([PTCAP, "compare", "-i", path + ".bad"]).expect(3)
    check("wrong target" in r.out and "| trace" in r.out, r.out)
    check(re.search(rf"wrong target +{truth['wrong target']} ", r.out), r.out)
    r = Run([PTCAP, "compare", "-i", os.path.join(work, "raw")]).expect(4)
    check("no samples" in r.err, r.err)
    convert(path, path + ".none", "--strip-aux")
    r = Run([PTCAP, "compare", "-i", path + ".none"]).expect(4)
    check("nothing to compare with" in r.err, r.err)
    stacks = Stacks(path)  # of nobody
    for i in range(n):
        stacks.set(i, [[0x700000001000, 0x700000002000, 0]] * len(stacks.get(i)))
    stacks.save(path + ".stale")
    report = compare(path + ".stale", 4)
    check(report["verdicts"]["no place found"] + report["verdicts"]["outside the trace"] == report["entries"], report["verdicts"])
    for bad in (["--samples", "3,2"], ["--samples", ","], ["--max-wrong", "101"], ["--slack", "x"], ["--format", "bin"],
                ["-i", "-"], ["x"]):
        Run([PTCAP, "compare", *bad]).expect(2)
    for bad in (["--branch-stacks=0"], ["--branch-stacks=1,0"], ["--branch-stacks=513"], ["--branch-stacks=x"],
                ["--branch-filter=any"], ["--branch-stacks", "--branch-filter=some"], ["--branch-stacks", "--tid=1"]):
        Run([PTCAP, "convert", "-i", path, "-o", path + ".no", *bad]).expect(2)


def main():
    case = globals()["case_" + sys.argv[1]]
    with tempfile.TemporaryDirectory(prefix="ptcap-compare-") as work:
        try:
            case(work)
        except lib.Skip as e:
            print(e)
            sys.exit(lib.SKIP)
        except lib.Failure as e:
            sys.exit(f"{sys.argv[1]}: {e}")


main()
