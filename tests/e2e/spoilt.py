#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ptcap compare finds the errors that the software sources injected into their branch stacks, and
nothing else. The truth file lists the errors.

usage: spoilt.py CASE
"""

import json
import os

import lib
from compare import DEPTH, SMALL, UNJUDGED, Trace, findings
from compare import compare as report_of
from lib import PTCAP, Run, check, prog
from store import fetch

SPOILT = {
    "target": "wrong target",
    "source": "wrong source",
    "drop": "missing",
    "top": "duplicated",
    "swap": "wrong order",
    "stale": "not in the trace",
    "type": "wrong type",
    "flag": "lost flag",
}
SPOILT_PATTERNS = {"top": "duplicated top entry", "stale": "stale oldest entries"}


def recorded(work, spoil, argv, period):
    """Make a recording with injected errors. Returns its path, and the errors by thread and time."""
    path, truth, sample = os.path.join(work, "lbr"), {}, None
    options = ["--lbr=any,u,save_type", "--lbr-size", str(DEPTH), "-c", str(period), "--truth", path + ".truth"]
    fetch(path, argv, *options, *(["--lbr-spoil", spoil] if spoil else []))
    with open(path + ".truth", encoding="ascii") as f:
        for line in f:
            if not line.startswith("# s"):
                continue
            word, tid, *rest = line[2:].split()
            if word == "sample":
                sample = truth.setdefault((int(tid), int(rest[0])), [])
            elif word == "spoilt":
                sample.append((int(rest[0]), SPOILT.get(rest[1], rest[1])))
    return path, truth


def stacks_of(path):
    """Return by thread and time the entries of each sample as text, to look them up in the trace."""
    stacks = {}
    for o in map(json.loads, Run([PTCAP, "dump", "-i", path, "--format", "json"]).expect(0).out.splitlines()):
        if o.get("name") == "SAMPLE" and "branch_stack" in o["fields"]:
            key = o["sample_id"]["tid"], o["sample_id"]["time_ns"]
            stacks[key] = [(int(e["from"], 16), int(e["to"], 16)) for e in o["fields"]["branch_stack"]]
    return stacks


def score(path, truth):
    """Return the report, and the numbers of findings, of true ones, and of expected ones: those
    that are not ambiguous."""
    stacks, trace = stacks_of(path), Trace(path)
    lines = Run([PTCAP, "compare", "-i", path, "--format", "json", "--list"])
    check(lines.status in (0, 3), lines.err)
    *lines, report = map(json.loads, lines.out.splitlines())
    found, vague = set(), set()
    for o in lines:
        at, depth = (o["tid"], o["time"]), o["depth"]
        if o["verdict"] in UNJUDGED:
            vague |= {(at, depth), at}
        else:  # with several equal entries the missing one is unknown
            found.add((at, "missing") if o["verdict"] == "missing" else (at, depth, o["verdict"]))
    wanted, all_true = set(), set()
    for at, entries in truth.items():
        for depth, verdict in entries:
            f = (at, "missing") if verdict == "missing" else (at, depth, verdict)
            all_true.add(f)
            flags = verdict in ("wrong type", "lost flag")
            if flags or not ((at, depth) in vague or verdict == "missing" and at in vague or trace.has(stacks[at])):
                wanted.add(f)
    return report, found, found & all_true, wanted - found, wanted


def check_mode(work, mode, rate, argv, period):
    path, truth = recorded(work, f"{mode}:{rate}", argv, period)
    report, found, true, lost, wanted = score(path, truth)
    spoilt = sum(map(len, truth.values()))
    what = f"{mode}, 1/{rate}: {len(found)} found, {len(true)} of them true, {len(lost)} of {len(wanted)} lost, of {spoilt}"
    # How often a thread finds entries of another one depends on the schedule. A few may all be ambiguous.
    few = mode == "stale" and rate == 1000 and not wanted
    check(true or few, f"{what}: nothing")
    check(len(true) >= 0.999 * len(found), f"{what}: {sorted(found - true, key=str)[:3]}")
    check(len(lost) <= 0.001 * len(wanted), f"{what}: {sorted(lost, key=str)[:3]}")
    pattern = SPOILT_PATTERNS.get(mode)
    check(not pattern or few or pattern in [p["pattern"] for p in report["patterns"]], f"{what}: {report['patterns']}")


# Branches between two samples: the fewer errors, the more samples are needed.
PERIODS = {1: 13, 10: 5, 1000: 1}


def case_clean(work):
    path, truth = recorded(work, None, SMALL, 2)
    report = report_of(path, 0)
    check(report["samples"] == len(truth) > 1000 and report["judged"] >= 0.99 * report["entries"], report["verdicts"])
    check(not findings(report) and not report["patterns"], (findings(report), report["patterns"]))


def case_modes(work):
    for mode in SPOILT:
        for rate, period in PERIODS.items():
            if mode != "stale":
                check_mode(work, mode, rate, SMALL, period)


def case_stale(work, *rates):
    """Entries left over from a thread with the same code look like entries of this thread."""
    for rate in map(int, rates or PERIODS):
        check_mode(work, "stale", rate, [prog("tasks"), "locks"], PERIODS[rate])


def case_shift(work):
    """No entry is wrong. A shift of all samples is a finding; an ip may skid, so a few shifted
    samples are only named."""
    for rate, period in PERIODS.items():
        path, truth = recorded(work, f"shift=3:{rate}", [prog("names")], period)  # few loops
        report = report_of(path, 3 if rate == 1 else 0)
        check(not findings(report), f"1/{rate}: {findings(report)}")
        named = [p for p in report["patterns"] if p["pattern"] == ("constant shift" if rate == 1 else "some samples shifted")]
        spoilt = sum(map(bool, truth.values()))
        check(named and named[0]["transfers"] == 3, f"1/{rate}: {report['patterns']}, {spoilt} of {len(truth)} are")


def case_shift_by_any(work):
    """In loops a shifted stack also matches at the ip: the shift is still named."""
    for argv in (SMALL, ["/bin/true"]):
        for k in (1, 5, 8, DEPTH - 4):
            path, _ = recorded(work, f"shift={k}:1", argv, 13)
            report = report_of(path, 3)
            check([(p["pattern"], p["transfers"]) for p in report["patterns"]] == [("constant shift", k)],
                  f"{argv}, {k}: {report['patterns']}, {report['shifts']}")


CASES = {name[5:]: f for name, f in list(globals().items()) if name.startswith("case_")}

if __name__ == "__main__":
    lib.main(CASES)
