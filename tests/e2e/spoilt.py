#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ptcap compare finds what the software sources spoilt of their branch stacks, and nothing else: the truth file says what.

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
    """A recording whose source spoils its stacks, and its truth: by thread and time what is spoilt."""
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
    """By thread and time: the entries of each sample, and all transfers, as text to look for them."""
    stacks = {}
    for o in map(json.loads, Run([PTCAP, "dump", "-i", path, "--format", "json"]).expect(0).out.splitlines()):
        if o.get("name") == "SAMPLE" and "branch_stack" in o["fields"]:
            key = o["sample_id"]["tid"], o["sample_id"]["time_ns"]
            stacks[key] = [(int(e["from"], 16), int(e["to"], 16)) for e in o["fields"]["branch_stack"]]
    return stacks


def score(path, truth):
    """Report, and how many findings there are, are true, and should be: those that are not ambiguous."""
    stacks, trace = stacks_of(path), Trace(path)
    lines = Run([PTCAP, "compare", "-i", path, "--format", "json", "--list"])
    check(lines.status in (0, 3), lines.err)
    *lines, report = map(json.loads, lines.out.splitlines())
    found, vague = set(), set()
    for o in lines:
        at, depth = (o["tid"], o["time"]), o["depth"]
        if o["verdict"] in UNJUDGED:
            vague |= {(at, depth), at}
        else:  # which one of several that are the same is missing nobody can tell
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
    check(true, f"{what}: nothing")
    check(len(true) >= 0.999 * len(found), f"{what}: {sorted(found - true, key=str)[:3]}")
    check(len(lost) <= 0.001 * len(wanted), f"{what}: {sorted(lost, key=str)[:3]}")
    pattern = SPOILT_PATTERNS.get(mode)
    check(not pattern or pattern in [p["pattern"] for p in report["patterns"]], f"{what}: {report['patterns']}")


# So many transfers between two samples: the fewer are spoilt, the more it takes.
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
    """What is left of a thread that runs the same code looks like a piece of this one's."""
    for rate in map(int, rates or PERIODS):
        check_mode(work, "stale", rate, [prog("tasks"), "locks"], PERIODS[rate])


def case_shift(work):
    """No entry is wrong. That all samples are shifted is a finding; an ip may skid, so that a few are named only."""
    for rate, period in PERIODS.items():
        path, truth = recorded(work, f"shift=3:{rate}", [prog("names")], period)  # few loops
        report = report_of(path, 3 if rate == 1 else 0)
        check(not findings(report), f"1/{rate}: {findings(report)}")
        named = [p for p in report["patterns"] if p["pattern"] == ("constant shift" if rate == 1 else "some samples shifted")]
        spoilt = sum(map(bool, truth.values()))
        check(named and named[0]["transfers"] == 3, f"1/{rate}: {report['patterns']}, {spoilt} of {len(truth)} are")


def case_shift_by_any(work):
    """In loops a shifted stack is found at the ip, too: the shift is named all the same."""
    for argv in (SMALL, ["/bin/true"]):
        for k in (1, 5, 8, DEPTH - 4):
            path, _ = recorded(work, f"shift={k}:1", argv, 13)
            report = report_of(path, 3)
            check([(p["pattern"], p["transfers"]) for p in report["patterns"]] == [("constant shift", k)],
                  f"{argv}, {k}: {report['patterns']}, {report['shifts']}")


CASES = {name[5:]: f for name, f in list(globals().items()) if name.startswith("case_")}

if __name__ == "__main__":
    lib.main(CASES)
