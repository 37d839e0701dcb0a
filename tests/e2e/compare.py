#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ptcap compare and convert --branch-stacks: stacks made from a trace match it, and each kind of
injected error is found.

usage: compare.py CASE
"""

import glob
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import lib
from lib import PERF, PROGS, PTCAP, Run, check, have_perf, prog, skip
from store import fetch

FILTERS = ("any", "any_call,u", "any_ret,u", "ind_call,u", "ind_jmp,u", "cond,u", "call", "call_stack,u,save_type")
UNJUDGED = ("before the trace", "in a gap", "untraced privilege", "ambiguous", "no place found")
RET, CALL = 6, 4  # PERF_BR_*
SAMPLE, AUXTRACE = 9, 71
HEAD = struct.Struct("<IHH")
DEPTH = 16
SMALL = [prog("libc_static")]  # and quick to record


def convert(path, out, *options):
    return Run([PTCAP, "convert", "-i", path, "-o", out, *options]).expect(0)


def compare(path, status, *options):
    return json.loads(Run([PTCAP, "compare", "-i", path, "--format", "json", *options]).expect(status).out)


def compare_list(path, status, *options):
    """Return the report, the findings - (offset of the sample, depth, verdict) - and the entries
    not judged: (offset, depth)."""
    r = Run([PTCAP, "compare", "-i", path, "--format", "json", "--list", *options]).expect(status)
    *lines, report = map(json.loads, r.out.splitlines())
    found = [(int(o["offset"], 16), o["depth"], o["verdict"]) for o in lines]
    vague = {f[:2] for f in found if f[2] in UNJUDGED}
    return report, [f for f in found if f[2] not in UNJUDGED], vague


def findings(report):
    """Return the number of errors by verdict, without exact and unjudged entries."""
    found = {k: n for k, n in report["verdicts"].items() if n and k not in ("exact", *UNJUDGED)}
    if report["missing"]:
        found["missing"] = report["missing"]
    return found


class Stacks:
    """The branch stacks of a file, to be changed in place. An entry is [from, to, flags], the
    newest first."""

    FIELDS = 5 * 8 + 8  # identifier, ip, pid and tid, time, cpu, period

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f:
            self.bytes = bytearray(f.read())
        self.places = [p for p in self.records() if p]
        self.offsets = [p - HEAD.size - self.FIELDS for p in self.places]  # offsets of the records

    def records(self):
        off, size = struct.unpack_from("<QQ", self.bytes, 40)
        end = off + size
        while off < end:
            kind, _, length = HEAD.unpack_from(self.bytes, off)
            yield off + HEAD.size + self.FIELDS if kind == SAMPLE else None
            off += length
            if kind == AUXTRACE:
                off += struct.unpack_from("<Q", self.bytes, off - length + HEAD.size)[0]

    def ends(self):
        """Yield the ends of all records, with the trace bytes behind them."""
        off, size = struct.unpack_from("<QQ", self.bytes, 40)
        end = off + size
        while off < end:
            kind, _, length = HEAD.unpack_from(self.bytes, off)
            if kind == AUXTRACE:
                off += struct.unpack_from("<Q", self.bytes, off + HEAD.size)[0]
            off += length
            yield off

    def get(self, i):
        (n,) = struct.unpack_from("<Q", self.bytes, self.places[i])
        return [list(struct.unpack_from("<QQQ", self.bytes, self.places[i] + 8 + 24 * k)) for k in range(n)]

    def set(self, i, entries):
        """Set as many entries as before, or fewer: the leftover bytes follow the stack, like a
        field of a newer kernel."""
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
    """All branches of a run, to look up a changed stack: if it occurs unchanged, the error cannot
    be detected."""

    def __init__(self, path):
        out = Run([PTCAP, "decode", "-i", path, "-F", "from,to"]).expect(0).out
        pairs = [line.split() for line in out.splitlines()]
        self.text = " ".join(f"{a}/{b}" for a, b in pairs if a != "0" and b != "0") + " "

    def has(self, entries):
        return "".join(f"{a:x}/{b:x} " for a, b, *_ in reversed(entries)) in self.text


def distinct(e, i):
    """All entries around @i differ, so a change there can be detected."""
    near = [tuple(x[:2]) for x in e[max(0, i - 4) : i + 5]]
    return len(set(near)) == len(near)


def spoil_target(e, i):
    e[i][1] ^= 0x700000
    return [(i, "wrong target")]


def spoil_source(e, i):
    e[i][0] ^= 0x700000
    return [(i, "wrong source")]


def spoil_drop(e, i):
    del e[i]
    return [(i - 1, "missing")]


def spoil_top(e, _):
    e.insert(0, list(e[0]))
    e.pop()
    return [(0, "duplicated")]


def spoil_swap(e, i):
    e[i], e[i + 1] = e[i + 1], e[i]
    return [(i, "wrong order"), (i + 1, "wrong order")]


def spoil_stale(e, _):
    for k in range(1, 4):
        e[-k] = [0x700000001000 * k, 0x700000002000 * k, e[-k][2]]
    return [(len(e) - k, "not in the trace") for k in range(1, 4)]


def spoil_type(e, i):
    wrong = CALL if e[i][2] >> 20 & 15 == RET else RET
    e[i][2] = e[i][2] & ~(15 << 20) | wrong << 20
    return [(i, "wrong type")]


def spoil_flag(e, i):
    known = e[i][2] >> 20 & 15
    e[i][2] &= ~(15 << 20)
    return [(i, "lost flag")] if known else []


SPOILERS = {
    "target": (spoil_target, None),
    "source": (spoil_source, None),
    "drop": (spoil_drop, None),
    "top": (spoil_top, "duplicated top entry"),
    "swap": (spoil_swap, None),
    "stale": (spoil_stale, "stale oldest entries"),
    "type": (spoil_type, None),
    "flag": (spoil_flag, None),
}
BY_FLAGS = (spoil_type, spoil_flag)  # these leave the ends of all entries unchanged


def make(work, argv, *options):
    """Make a recording of @argv, with branch stacks."""
    raw, path = os.path.join(work, "raw"), os.path.join(work, "stacks")
    fetch(raw, argv)
    convert(raw, path, *options)
    return path


def spoil(path, out, how, rate):
    """Inject an error into one of @rate samples where it can be detected. Returns the expected
    findings: (offset, depth, verdict)."""
    trace, stacks, truth, rng = Trace(path), Stacks(path), [], random.Random(7)
    due = 0
    for n in range(len(stacks.places)):
        e = stacks.get(n)
        if n < due or len(e) < DEPTH:
            continue
        i = rng.randrange(1, DEPTH - 4)
        if not distinct(e, 0 if how is spoil_top else i) or not distinct(e, i + 1):
            continue
        found = how(e, i)
        if not found or how not in BY_FLAGS and trace.has(e):
            continue
        truth += [(stacks.offsets[n], *f) for f in found]
        stacks.set(n, e)
        due = (n // rate + 1) * rate
    check(truth, f"no sample of {len(stacks.places)} could be spoilt")
    stacks.save(out)
    return truth


def tally(found):
    sums = {}
    for _, _, verdict in found:
        sums[verdict] = sums.get(verdict, 0) + 1
    return sums


def check_found(what, path, truth, most_vague=0.05):
    """All unambiguous errors are found with their kind, and nothing else; the report has the same
    counts."""
    report, found, vague = compare_list(path, 3)
    samples = {v[0] for v in vague}  # a missing entry of such a sample is unknown, too
    clear = {t for t in truth if t[:2] not in vague and not (t[2] == "missing" and t[0] in samples)}
    hits = clear & set(found)
    check(len(hits) >= 0.999 * len(clear), f"{what}: {len(hits)} of {len(clear)}, not {sorted(clear - hits)[:3]}")
    false = set(found) - set(truth)
    check(len(false) <= 0.001 * len(found), f"{what}: {len(false)} of {len(found)} false: {sorted(false)[:3]}")
    unclear = len(truth) - len(clear)  # at 1/1000 there are few errors: one may be unclear
    check(clear and unclear <= max(1, most_vague * len(truth)), f"{what}: {len(clear)} of {len(truth)} are clear")
    check(findings(report) == tally(found), f"{what}: {findings(report)}, not {tally(found)}")
    return report


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
    "virtual": [prog("virtual")],
    "busy": [prog("busy"), "100"],
    "threads": [prog("tasks"), "locks"],
    "jobs": [prog("jobs")],
}


FORKING = {"fork": ["/bin/sh", "-c", "/bin/true & /bin/echo a; wait"]}


def check_clean(name, raw, out, words):
    """Return how many entries were judged."""
    convert(raw, out, f"--branch-stacks={DEPTH},7", f"--branch-filter={words}")
    stacks = Stacks(out)
    if not any(stacks.get(n) for n in range(len(stacks.places))):
        return 0
    report = compare(out, 0)
    what = f"{name}, {words}"
    check(not findings(report), f"{what}: {findings(report)}")
    check(not report["patterns"], f"{what}: {report['patterns']}")
    check(report["judged"] >= 0.99 * report["entries"],
          f"{what}: {report['judged']} of {report['entries']} judged: {report['verdicts']}")
    return report["judged"]


def case_clean(work, programs=None):
    """All entries are exact, for each filter."""
    judged = dict.fromkeys(("any,u,save_type", *FILTERS), 0)
    for name, argv in (programs or {**PROGRAMS, "loops": [prog("loops")]}).items():
        raw = os.path.join(work, name)
        fetch(raw, argv)
        for words in judged:
            judged[words] += check_clean(name, raw, os.path.join(work, "out"), words)
    check(min(judged.values()) > 50 and sum(judged.values()) > 10000, judged)


def case_forks(work):
    """The same for processes."""
    case_clean(work, FORKING)


def case_programs(work):
    """If a thread executes other programs, no stack has branches of two of them."""
    raw, out = os.path.join(work, "raw"), os.path.join(work, "out")
    fetch(raw, [prog("chain_static"), prog("hello_pie")])
    programs, last = [set()], 0  # the branches of each program
    for line in Run([PTCAP, "decode", "-i", raw, "-F", "from,to,kind"]).expect(0).out.splitlines():
        start, to, kind = line.split()
        if kind == "start" and last and int(to, 16) - last not in range(16):  # not behind a system call
            programs.append(set())
        programs[-1].add((int(start, 16), int(to, 16)))
        last = int(start, 16)
    check(len(programs) == 2, f"{len(programs)} programs")
    convert(raw, out, "--branch-stacks=64,7")
    stacks = Stacks(out)
    mixed = 0
    for i in range(len(stacks.places)):
        entries = {tuple(e[:2]) for e in stacks.get(i)}
        mixed += not any(entries <= p for p in programs)
    check(len(stacks.places) > 100 and not mixed, f"{mixed} of {len(stacks.places)} stacks are of no single program")


def case_spoilt(work, words="any,u,save_type", modes=SPOILERS):
    """Each kind of injected error, at each rate, is found with its kind, and nothing else is reported."""
    path = make(work, SMALL, f"--branch-stacks={DEPTH},1", f"--branch-filter={words}")
    out = os.path.join(work, "spoilt")
    for mode, (how, pattern) in modes.items():
        for rate in (1, 10, 1000):
            report = check_found(f"{mode}, 1/{rate}", out, spoil(path, out, how, rate))
            names = [p["pattern"] for p in report["patterns"]]
            check(not pattern or pattern in names, f"{mode}, 1/{rate}: {names}")


def case_calls(work):
    """Call-stack mode: the same for calls that have not returned."""
    path = os.path.join(work, "stacks")
    fetch(os.path.join(work, "raw"), [prog("recurse")])
    convert(os.path.join(work, "raw"), path, "--branch-stacks=512,1", "--branch-filter=call_stack")
    depths = [len(Stacks(path).get(n)) for n in range(len(Stacks(path).places))]
    check(depths[:101] == [*range(1, 101), 99], depths[:101])
    stacks = Stacks(path)
    for n, depth in enumerate(depths):
        if depth > 10 and n % 4 == 0:
            e = stacks.get(n)
            e[5][1] ^= 0x700000
            stacks.set(n, e)
    stacks.save(path + ".bad")
    truth = [(stacks.offsets[n], 5, "wrong target") for n, d in enumerate(depths) if d > 10 and n % 4 == 0]
    check_found("recursion", path + ".bad", truth)
    calls = {k: SPOILERS[k] for k in ("target", "source", "drop", "type", "flag")}
    case_spoilt(work, "call_stack,u,save_type", calls)


def case_shift(work):
    """Stacks that end before the ip: no single entry is wrong, but the stack is shifted."""
    path = make(work, SMALL, f"--branch-stacks={DEPTH},7")
    for k in (1, 3):
        stacks = Stacks(path)
        for n in range(len(stacks.places)):
            stacks.set(n, stacks.get(n)[k:])
        stacks.save(path + ".shifted")
        report = compare(path + ".shifted", 3)
        shift = [p for p in report["patterns"] if p["pattern"] == "constant shift"]
        check(shift and shift[0]["transfers"] == k, f"{k}: {report['patterns']}")
    for rate in (10, 200):  # an ip may skid: not an error, but reported
        stacks = Stacks(path)
        chosen = [n for n in range(len(stacks.places)) if distinct(stacks.get(n), 0)][::rate]
        for n in chosen:
            stacks.set(n, stacks.get(n)[2:])
        stacks.save(path + ".shifted")
        report = compare(path + ".shifted", 0)
        shift = [p for p in report["patterns"] if p["pattern"] == "some samples shifted"]
        check(shift and shift[0]["transfers"] == 2 and len(chosen) * 0.8 <= shift[0]["samples"] <= len(chosen),
              f"1/{rate}: {report['patterns']}, {len(chosen)} are")


def case_far(work):
    """Calls so rare that a stack of them reaches back beyond the kept history: not judged, and not
    wrong."""
    path = make(work, [prog("rare"), "20000"], f"--branch-stacks={DEPTH},1", "--branch-filter=any_call,u")
    report, found, vague = compare_list(path, 0, "--min-judged", "1")
    check(not found, found[:3])
    check(report["verdicts"]["before the trace"] == len(vague) > 100, report["verdicts"])
    depths = {d for _, d in vague}
    check(min(depths) == 2 and max(depths) == DEPTH - 1, depths)
    check(report["verdicts"]["exact"] == report["entries"] - len(vague), report["verdicts"])


def case_leak(work):
    """A filter that lets everything through: the event claims to have only returns."""
    path = make(work, SMALL, f"--branch-stacks={DEPTH},71", "--branch-filter=any,u,save_type")
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
    """Wrong times: still exact, or reported as not placed; no entry is called wrong."""
    path = make(work, SMALL, f"--branch-stacks={DEPTH},7")
    for ns in (-100000, -1000, 1000, 100000):
        stacks = Stacks(path)
        stacks.add_time(ns)
        stacks.save(path + ".late")
        report = compare(path + ".late", 0, "--slack", "100us", "--min-judged", "1")
        check(not findings(report), f"{ns} ns: {findings(report)}")
    for ns in (-100000, -1000, 100000):  # found and reported without an option
        stacks = Stacks(path)
        stacks.add_time(ns)
        stacks.save(path + ".late")
        report, found, _ = compare_list(path + ".late", 0)
        check(not found and not findings(report) and report["judged"] >= 0.99 * report["entries"], f"{ns} ns: {report['verdicts']}")
        if abs(ns) > 2000:
            err = Run([PTCAP, "compare", "-i", path + ".late"]).expect(0).err
            check(report["slack"] == 200000 and "sample times are off by more than 2us" in err, f"{ns} ns: {report['slack']}, {err}")

    stacks = Stacks(path)  # no time: another field of the same size instead
    fields = 1 << 16 | 1 << 0 | 1 << 1 | 1 << 7 | 1 << 8 | 1 << 11  # identifier, ip, tid, cpu, period, stack
    (attrs, size) = struct.unpack_from("<QQ", stacks.bytes, 24)
    old, new = (struct.pack("<Q", fields | 1 << field) for field in (2, 3))  # time, addr
    check(stacks.bytes.count(old, attrs, attrs + size) == 1, "which attr?")
    stacks.bytes[attrs : attrs + size] = stacks.bytes[attrs : attrs + size].replace(old, new)
    stacks.save(path + ".timeless")
    report = compare(path + ".timeless", 4)
    check(report["not_judged"]["no time, or no thread"] == report["entries"] > 0, report["not_judged"])


def case_report(work):
    """Source places, dropped branches, and the same report from a pipe."""
    path = make(work, [prog("virtual")], f"--branch-stacks={DEPTH},7", "--branch-filter=any_call")
    stacks = Stacks(path)
    rows = map(str.split, Run([PTCAP, "decode", "-i", path, "-F", "from,srcline"]).expect(0).out.splitlines())
    ours = {int(row[0], 16) for row in rows if "prog_virtual.cpp:" in row[-1]}
    n = next(n for n in range(len(stacks.places) // 2, len(stacks.places))
             if distinct(stacks.get(n), 3) and stacks.get(n)[3][0] in ours)
    e = stacks.get(n)
    stacks.set(n, e[:3] + e[4:])
    stacks.save(path + ".bad")
    report = compare(path + ".bad", 3)
    check(len(report["worst"]) == 1 and report["worst"][0]["places"] == 1, report["worst"])
    rows = report["worst"][0]["rows"]
    lost = [(i, r) for i, r in enumerate(rows) if r["verdict"] == "missing"]
    check(len(lost) == 1 and lost[0][0] == 3 and lost[0][1]["entry"] is None, rows)
    trace = lost[0][1]["trace"]
    check([int(trace[end]["ip"], 16) for end in ("from", "to")] == e[3][:2], trace)
    check(trace["from"]["file"].endswith("prog_virtual.cpp") and trace["from"]["line"] > 0, trace)
    check(rows[0]["entry"]["to"]["function"], rows[0])
    place, function = report["places"][0], report["functions"][0]
    check(place["from"] == trace["from"]["ip"] and place["missing"] == 1, place)
    check(place["function"] == function["function"] and function["missing"] == 1, function)
    text = Run([PTCAP, "compare", "-i", path + ".bad"]).expect(3).out
    check(re.search(r"\| [0-9a-f]+ .* prog_virtual\.cpp:\d+ -> .*  missing\n", text), text)
    with open(path + ".bad", "rb") as f:
        piped = subprocess.run(["sh", "-c", 'cat | "$0" compare -i -', PTCAP], stdin=f, capture_output=True, text=True, check=False)
    check(piped.returncode == 3 and piped.stdout == text, piped.stderr)
    line = Run([PTCAP, "compare", "-i", path + ".bad", "--list"]).expect(3).out.splitlines()[0]
    name = f"{place['function'].replace(' ', '_')}+0x{place['function_offset']:x}"
    check(line.endswith(": missing") and f" 2 - - - - | {trace['from']['ip'][2:]} {name} " in line, line)
    check(text.startswith(f"WRONG: 0 of {report['judged']:,} entries and 1 missing branch in 1 of {report['samples']} samples\n"), text)
    check(re.search(r"\n      \.\.\. \d+ equal rows?\n", text), text)


def case_real(_):
    """Recordings of real processors without a trace: read to their last entry, as perf reads them."""
    paths = glob.glob(os.path.join(os.environ.get("PTCAP_TRACES", ""), "quipper-branch-stack", "perf.data.*"))
    if not paths:
        skip("no such recordings here")
    for path in paths:
        entries = []
        for o in map(json.loads, Run([PTCAP, "dump", "-i", path, "--format", "json"]).expect(0).out.splitlines()):
            stack = o.get("fields", {}).get("branch_stack") if o.get("name") == "SAMPLE" else None
            if stack is not None:
                entries.append([brstack(e) for e in stack])
        err = Run([PTCAP, "compare", "-i", path]).expect(4).err
        check(f"nothing to compare with: '{path}' has no Intel PT trace, only {len(entries)} samples with branch "
              f"stacks ({sum(map(len, entries))} entries)" in err, err)
        if not have_perf():
            continue
        theirs = subprocess.run([PERF, "script", "-i", path, "-F", "brstack"], capture_output=True, text=True, check=True).stdout
        theirs = [["/".join(e.split("/")[:6]) + "/" for e in line.split()] for line in theirs.splitlines()]  # 6.12: more fields
        check(theirs == entries, f"{path}: perf has other entries")


def brstack(e):
    """Format an entry as perf script 6.1 does."""
    known = "M" if e["mispred"] else "P" if e["predicted"] else "-"
    return f"{e['from']}/{e['to']}/{known}/{'X' if e['in_tx'] else '-'}/{'A' if e['abort'] else '-'}/{e['cycles']}/"


def case_perf(work):
    """perf reads converted files without a message, and sees the same branches."""
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


def check_damaged(what, data, path):
    """Expect a report, or an error that names file and place; never a crash. Returns the report, or
    None."""
    with open(path, "wb") as f:
        f.write(data)
    r = Run([PTCAP, "compare", "-i", path, "--format", "json"])
    check(r.status in (0, 1, 3, 4), f"{what}: exit status {r.status}: {r.err}")
    report = json.loads(r.out) if r.out else None
    says = f"'{path}'" in r.err and "(offset 0x" in r.err
    check(says and not report if r.status == 1 else report, f"{what}: exit status {r.status}: {r.err!r}")
    return report


def case_damaged(work):
    """Files cut at each record and within it, and stacks of damaged bytes."""
    path = make(work, SMALL, f"--branch-stacks={DEPTH},300")
    stacks, out, rng = Stacks(path), os.path.join(work, "bad"), random.Random(5)
    whole, samples = bytes(stacks.bytes), len(stacks.places)
    ends = list(stacks.ends())
    for end in ends:
        for cut in (end, end - rng.randrange(1, 8)):
            check(check_damaged(f"cut at {cut}", whole[:cut], out) is None or cut == ends[-1], f"cut at {cut}: a report")
    for end in ends[len(ends) // 2 :: 5]:  # the remedy in the message
        check_damaged(f"cut at {end}", whole[:end], out)
        if os.path.exists(out + ".new"):
            os.unlink(out + ".new")
        Run([PTCAP, "recover", "-i", out, "-o", out + ".new"])
        check(os.path.exists(out + ".new"), f"cut at {end}: nothing is recovered")
        r = Run([PTCAP, "compare", "-i", out + ".new", "--format", "json"])
        check(r.status in (0, 4) and (not r.out or not findings(json.loads(r.out))), f"cut at {end}, recovered: {r.status}, {r.err}")
    for n, p in enumerate(stacks.places):
        (count,) = struct.unpack_from("<Q", whole, p)
        for claim in (0, count - 1, count + 1, 1 << 32, (1 << 64) - 1):
            bad = bytearray(whole)
            struct.pack_into("<Q", bad, p, claim)
            report = check_damaged(f"sample {n} claims {claim}", bytes(bad), out)
            check(claim <= count or report is None, f"sample {n} claims {claim}: {report}")
        bad = bytearray(whole)
        for _ in range(8):
            bad[p + 8 + rng.randrange(24 * count)] ^= 1 << rng.randrange(8)
        report = check_damaged(f"sample {n}, damaged", bytes(bad), out)
        check(report["samples"] == samples and report["exact_samples"] >= samples - 1, f"sample {n}: {report['verdicts']}")


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
    check(re.search(rf"wrong target +{len(truth)} ", r.out), r.out)
    r = Run([PTCAP, "compare", "-i", os.path.join(work, "raw")]).expect(4)
    check("no samples" in r.err, r.err)
    convert(path, path + ".none", "--strip-aux")
    r = Run([PTCAP, "compare", "-i", path + ".none"]).expect(4)
    check("nothing to compare with" in r.err, r.err)
    stacks = Stacks(path)  # branches of no known code
    for i in range(n):
        stacks.set(i, [[0x700000001000, 0x700000002000, 0]] * len(stacks.get(i)))
    stacks.save(path + ".stale")
    report = compare(path + ".stale", 4)
    check(report["verdicts"]["no place found"] + report["verdicts"]["before the trace"] == report["entries"], report["verdicts"])
    for bad in (["--samples", "3,2"], ["--samples", ","], ["--max-wrong", "101"], ["--slack", "x"], ["--format", "bin"],
                ["x", "y", "z"]):
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


if __name__ == "__main__":
    main()
