#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --lbr: perf reads the branch stacks that the truth lists; the injected errors equal those
in the truth.

usage: lbr.py CASE
"""

import json
import os
import re

import lib
import store
from lib import PERF, PTCAP, Run, check, have_perf, prog, record, skip

SMALL = [prog("libc_static")]
KINDS = {  # words of the filter -> kinds of branches
    "any": None,
    "any_call": {"call", "icall"},
    "any_ret": {"ret"},
    "ind_call": {"icall"},
    "ind_jmp": {"ijmp"},
    "cond": {"jcc"},
    "call": {"call"},
}
TYPES = {"jcc": "COND", "jmp": "UNCOND", "ijmp": "IND", "call": "CALL", "icall": "IND_CALL", "ret": "RET"}


class Sample:
    """A sample in the truth: its true entries (from, to, kind), newest first, and notes of the
    injected errors."""

    def __init__(self, ip, entries):
        self.ip, self.entries, self.notes = ip, entries, []


def truth_of(path, word, size):
    """Return {(tid, time): Sample}. The truth gives the number of entries: a thread starts anew
    when it gets the CPU."""
    ret, flow, frames, last = {}, {}, {}, None
    with open(path, encoding="ascii") as f:
        for line in f:
            w = line.split()
            if w[:2] == ["#", "sample"]:
                tid, n = int(w[2]), int(w[5])
                past = frames.get(tid, []) if word == "stack" else flow.get(tid, [])
                entries = past[::-1][:n]
                check(len(entries) == n, f"{line}: there were {len(entries)} branches")
                check(word != "stack" or n == len(past), f"{line}: there are {len(past)} frames")
                last = ret[(tid, int(w[3]))] = Sample(int(w[4], 16), entries)
            elif w[:2] == ["#", "spoilt"]:
                last.notes.append((int(w[3]), w[4], int(w[5], 16), int(w[6], 16)))
            else:
                tid, e = int(w[0]), (int(w[1], 16), int(w[2], 16), w[3])
                if not e[0] or not e[1]:
                    continue
                if KINDS.get(word) is None or e[2] in KINDS[word]:
                    flow.setdefault(tid, []).append(e)
                stack = frames.setdefault(tid, [])
                if e[2] == "ret" and stack:
                    stack.pop()
                elif e[2] in ("call", "icall") and not (e[2] == "call" and e[1] - e[0] == 5):
                    stack.append(e)
                    del stack[:-size]
    check(ret, "no samples")
    return ret


def perf_samples(path, *options):
    """Return {(tid, time): (ip, [(from, to, type)])} as perf prints them."""
    if not have_perf():
        skip("no perf here (Debian: linux-perf)")
    r = Run([PERF, "script", "-i", path, "--no-itrace", "--ns", "-F", "tid,time,ip,brstack", *options]).expect(0)
    check(not r.err, f"perf says {r.err!r}")
    ret = {}
    for line in r.out.splitlines():
        m = re.match(r" *(\d+) +(\d+)\.(\d{9}): +([0-9a-f]+)", line)
        check(m, line)
        entries = re.findall(r"0x([0-9a-f]+)/0x([0-9a-f]+)/-/-/-/0/([^/\s]*)", line)
        ret[(int(m[1]), int(m[2] + m[3]))] = int(m[4], 16), [(int(a, 16), int(b, 16), t) for a, b, t in entries]
    return ret


def repaired(got, notes, want):
    """Undo all noted errors in the entries @got; the result must be the truth."""
    got = [e[:2] for e in got]
    modes = {mode for _, mode, _, _ in notes}
    check(len(modes) <= 1, f"several modes: {notes}")
    for i, mode, a, b in sorted(notes):
        if mode in ("drop", "shift"):
            got.insert(i, (a, b))
        elif mode == "top":
            check(i == 0 and got[:2] == [(a, b)] * 2, f"not there twice: {got[:2]}, {a:x} {b:x}")
            got = got[1:] + [want[-1]]
        elif mode in ("target", "source"):
            check((got[i][0] == a) == (mode == "target") and (got[i][1] == b) == (mode == "source"), f"{got[i]}: not the {mode}")
            got[i] = (a, b)
        elif mode in ("swap", "stale"):
            check(got[i] != (a, b), f"not spoilt: {got[i]}")
            got[i] = (a, b)
    return got


def compare(path, truth, word, size=32, types=False):
    """perf's stacks equal the truth's after the injected errors are undone. Returns the number of
    samples, and of changed ones."""
    want, got = truth_of(truth, word, size), perf_samples(path)
    check(want.keys() == got.keys(), f"{len(want)} samples, perf has {len(got)}")
    spoilt = 0
    for key, s in want.items():
        ip, entries = got[key]
        check(ip == s.ip, f"{key}: ip {ip:x}, not {s.ip:x}")
        true = [e[:2] for e in s.entries]
        fixed = repaired(entries, s.notes, true)
        check(fixed == true, f"{key}: {lib.first_difference(fixed, true, 'perf', 'truth')}; {s.notes}")
        spoilt += bool(s.notes)
        if types:
            wrong = [i for i, (e, t) in enumerate(zip(s.entries, entries)) if TYPES[e[2]] != t[2]]
            check(wrong == [n[0] for n in s.notes], f"{key}: other types at {wrong}; {s.notes}")
    return len(want), spoilt


def made(folder, argv, *options, name="perf.data"):
    path, truth = os.path.join(folder, name), os.path.join(folder, name + ".truth")
    store.fetch(path, argv, "--truth", truth, *options, anew=not store.READS).expect(0)
    Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
    return path, truth


def flow_is_whole(path, truth):
    """The trace is the same with and without samples."""
    d = lib.decode(path, "-F", "tid,from,to,kind", "--strict").expect(0)
    with open(truth, encoding="ascii") as f:
        flow = "".join(line for line in f if line[0] != "#")
    lib.same_transfers(lib.transfers(d.out), lib.transfers(flow), "decode", "truth")


def case_filters(folder):
    for word in KINDS:
        path, truth = made(folder, SMALL, f"--lbr={word},u,save_type", "-c", "20", "--lbr-size", "8")
        n, spoilt = compare(path, truth, word, types=True)
        check(n > 50 and not spoilt, f"{word}: {n} samples")
    flow_is_whole(path, truth)


def case_threads(folder):
    """Each thread's stack has only its own branches since it got the CPU, and ptcap finds all of
    them in the trace."""
    options = ["--vcpus", "2"] if lib.SOURCE == "emu" else []
    path, truth = made(folder, [prog("tasks"), "locks"], "--lbr=any,u", "-c", "100", *options)
    compare(path, truth, "any")
    flow_is_whole(path, truth)
    report = json.loads(Run([PTCAP, "compare", "-i", path, "--format", "json"]).expect(0).out)
    check(report["verdicts"]["exact"] == report["judged"] >= 0.99 * report["entries"] > 0, report["verdicts"])
    check(len({tid for tid, _ in truth_of(truth, "any", 32)}) > 1, "one thread only")


def case_calls(folder):
    """The call stack mode: the live calls."""
    for size in ("32", "4"):
        path, truth = made(folder, SMALL, "--lbr=stack,u", "-c", "20", "--lbr-size", size)
        n, _ = compare(path, truth, "stack", int(size))
        check(n > 50, f"{n} samples")
        deepest = max(len(s.entries) for s in truth_of(truth, "stack", int(size)).values())
        check(deepest == 4 if size == "4" else deepest > 4, f"at most {deepest} frames")


def case_event(folder):
    """Counts instructions instead, and checks the event in the file."""
    path, truth = made(folder, SMALL, "--lbr=any,u,hw_index,no_flags,no_cycles,priv", "-c", "500", "--lbr-event", "instructions")
    compare(path, truth, "any")
    dump = Run([PTCAP, "dump", "-i", path]).expect(0).out
    check(re.search(r"sample_period=500 .*BRANCH_STACK", dump), "dump does not show the event")
    n, _ = compare(path, truth, "any")
    insns = int(Run([PTCAP, "decode", "-i", path, "--stats", "--format", "json"]).expect(0).out and
                re.search(r'"instructions": *(\d+)', Run([PTCAP, "decode", "-i", path, "--stats", "--format", "json"]).out)[1])
    check(insns // 500 * 0.8 <= n <= insns // 500, f"{n} samples of {insns} instructions")


def case_onward(folder):
    """Taken jccs to the next instruction: not listed as branches, but a processor's stacks have
    them. Each is right."""
    path = os.path.join(folder, "perf.data")
    record(path, [prog("jcc")], "--lbr=any,u", "-c", "3").expect(0)
    onward = sum(b - a == 2 for _, entries in perf_samples(path).values() for a, b, _ in entries)
    check(onward > 100 or lib.SOURCE == "emu", f"{onward} entries to the next instruction")  # QEMU does not report them
    report = json.loads(Run([PTCAP, "compare", "-i", path, "--format", "json"]).expect(0).out)
    check(report["verdicts"]["exact"] == report["judged"] >= 0.99 * report["entries"] > 0, report["verdicts"])


def case_exec(folder):
    """A program that runs another one: the thread's samples are its own, before and after the exec."""
    for words in ("any,u", "stack,u"):
        path = os.path.join(folder, "perf.data")
        options = ["--vcpus", "2"] if lib.SOURCE == "emu" else []
        record(path, [prog("chain_static"), prog("chain_static"), "one"], f"--lbr={words}", "-c", "50", *options).expect(6)
        tids = {tid for tid, _ in perf_samples(path)}
        check(len(tids) == 1 and 0 not in tids, f"{words}: threads {tids}")
        report = json.loads(Run([PTCAP, "compare", "-i", path, "--format", "json"]).expect(0).out)
        check(report["verdicts"]["exact"] == report["judged"] >= 0.99 * report["entries"] > 0, f"{words}: {report['verdicts']}")


MODES = {"target": 1, "source": 1, "drop": 0.9, "top": 0.8, "swap": 0.3, "shift=3": 0.9, "type": 1, "flag": 1}


def case_spoilt(folder):
    for mode, least in MODES.items():
        for rate in (1, 10):
            path, truth = made(folder, SMALL, "--lbr=any,u,save_type", "-c", "20", "--lbr-spoil", f"{mode}:{rate}:3")
            n, spoilt = compare(path, truth, "any", types=mode in ("type", "flag"))
            share = spoilt * rate / n
            check(least * (0.5 if rate > 1 else 1) <= share <= (1.6 if rate > 1 else 1), f"{mode}: {spoilt} of {n} at 1/{rate}")
    path, truth = made(folder, [prog("tasks"), "locks"], "--lbr=any,u", "-c", "100", "--lbr-spoil", "stale")
    n, spoilt = compare(path, truth, "any")
    check(spoilt >= 5, f"stale: {spoilt} of {n}")  # the number varies: an entry is stale if another thread ran meanwhile


def case_snapshot(folder):
    """Samples are sideband records: they are kept for any kept part of the trace."""
    path, truth = made(folder, SMALL, "--lbr=any,u", "-c", "50", "-S8K", "-z")
    n, _ = compare(path, truth, "any")
    check(n > 20, f"{n} samples")


def case_refused(folder):
    out = os.path.join(folder, "none")
    for options, word in (
        (["--lbr=any,x"], "no branch filter"),
        (["--lbr=any,stack"], "no branch filter"),
        (["--lbr=any,k"], "kernel"),
        (["--lbr=in_tx,u"], "transactions"),
        (["--lbr-size", "8"], "--lbr"),
        (["--lbr", "--lbr-size", "513"], "1 to 512"),
        (["--lbr", "--lbr-size", "512", "-m", "16K"], "-m"),
        (["--lbr", "-F", "99"], "-c"),
        (["--lbr", "-F", "99", "-c", "9"], "exclude"),
        (["-c", "9"], "--lbr"),
        (["--lbr", "--lbr-event", "cycles"], "branches or instructions"),
        (["--lbr", "--lbr-spoil", "top"], "--truth"),
        (["--lbr", "--lbr-spoil", "shift=17"], "no way to spoil"),
        (["--lbr", "--lbr-spoil", "top:0"], "no way to spoil"),
        (["--lbr", "--lbr-spoil", "top=2"], "no way to spoil"),
        (["--lbr", "--lbr-spoil", "flag", "--truth", out + ".t"], "save_type"),
    ):
        r = record(out, SMALL, *options)
        check(r.status in (2, 125) and word in r.err, f"{options}: {r.status}, {r.err}")
        check(not os.listdir(folder), f"{options} left {os.listdir(folder)}")


CASES = {name[5:]: f for name, f in list(globals().items()) if name.startswith("case_")}

if __name__ == "__main__":
    lib.main(CASES)
