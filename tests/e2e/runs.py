#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare A B: the stacks of one run are judged by the trace of another run, by control flow alone.

usage: runs.py CASE
"""

import json
import os
import random
import shutil
import stat

import lib
from compare import Stacks
from lib import PTCAP, Run, check, prog, record
from spoilt import recorded
from store import fetch

SMALL = [prog("libc_static")]
DIRECT = ("jcc", "jmp", "call")
WRONG = ("wrong target", "no branch at the source", "wrong type", "not connected")
NOTE = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"  # in front of a build-id of 20 bytes


def judge(a, b, status, *options):
    """Return the objects of --list, and the report."""
    r = Run([PTCAP, "compare", "--format", "json", "--list", *options, a, b]).expect(status)
    *lines, report = map(json.loads, r.out.splitlines())
    check(report["schema"] == "ptcap-compare-runs", report)
    return lines, report


def two(work, argv, period=20, status=0):
    """Record two runs of the command: one with stacks, and one without."""
    a, b = os.path.join(work, "a"), os.path.join(work, "b")
    record(a, argv, "--lbr=any,u,save_type", "-c", str(period)).expect(status)
    record(b, argv).expect(status)
    return a, b


def check_agree(a, b, exact=0.5):
    lines, report = judge(a, b, 0)
    check(report["verdict"] == "POSSIBLE" and report["wrong"] == 0, report)
    check(not [o for o in lines if o["verdict"] in WRONG], lines[:3])
    check(report["judged"] >= 0.98 * report["entries"] > 100, report)
    check(report["stacks"]["exact"] >= exact * report["samples"], report["stacks"])
    return report


def case_same(work):
    """All stacks of a program that always does the same are found in the other run, and in the same."""
    a, b = two(work, SMALL)
    check(check_agree(a, b, 1)["stacks"]["possible"] == 0, "some stacks were not found")
    check_agree(a, a, 1)
    out = Run([PTCAP, "compare", a, b]).expect(0).out
    check(out.startswith("POSSIBLE: no entry of ") and "\ncpu      " in out, out)


def addresses(path):
    """Return the addresses of the files of a recording, by name."""
    out = Run([PTCAP, "dump", "--type", "mmap2", "--format", "json", path]).expect(0).out
    fields = [json.loads(line)["fields"] for line in out.splitlines() if '"MMAP2"' in line]
    return {f["filename"]: f["addr"] for f in fields if f["filename"].startswith("/")}


def case_libraries(work):
    """Shared libraries and a position-independent program have other addresses in each run."""
    a, b = two(work, ["/bin/true"])
    report = check_agree(a, b)
    here, there = addresses(a), addresses(b)
    moved = [f for f in here if here[f] != there.get(f)]
    check(lib.SOURCE == "emu" or len(moved) > 1, f"no file has moved: {here}")
    # strlen takes other branches for a string near the end of a page, and the place of the stack is random.
    edges, seen = report["trace"]["edges"], report["trace"]["edges_seen"]
    check(edges > 300 and edges - edges // 100 <= seen <= edges, report["trace"])


def case_threads(work):
    check_agree(*two(work, [prog("tasks"), "locks"]), exact=0)


def case_signals(work):
    """Handlers of signals interrupt code anywhere."""
    for name, status in (("handlers", 0), ("masks", 133)):  # masks ends by SIGTRAP
        check_agree(*two(work, [prog(name)], 1, status), exact=0)


def case_changes(work):
    """The code of the sample's time does not judge entries from before a change of the code."""
    a, b = two(work, [prog("map")], 1)
    lines, report = judge(a, b, 0, "--min-judged", "0")
    check(not [o for o in lines if o["verdict"] in WRONG], lines[:3])
    check(report["verdicts"]["unknown code"] > 0 and report["judged"] > 10, report["verdicts"])
    check_agree(*two(work, ["/bin/sh", "-c", "/bin/true; /bin/true"], 3), exact=0)


def kinds_of(path):
    """Return {source: kind} of all branches of a recording."""
    out = Run([PTCAP, "decode", "-F", "from,kind", path]).expect(0).out
    return dict(line.split() for line in out.splitlines())


def check_spoilt(work, mode, least):
    """Wrong verdicts are only in spoilt samples, beside a spoilt entry. Returns the spoilt entries
    and the wrong ones."""
    b = os.path.join(work, "b")
    a, truth = recorded(work, f"{mode}:10", SMALL, 5)
    fetch(b, SMALL)
    lines, report = judge(a, b, 3)
    wrong = {(o["tid"], o["time"], o["depth"]): o for o in lines if o["verdict"] in WRONG}
    spoilt = {(*at, depth) for at, notes in truth.items() for depth, _ in notes}
    near = {(t, n, d + k) for t, n, d in spoilt for k in (-1, 0, 1)}
    check(wrong and set(wrong) <= near, f"{mode}: {sorted(set(wrong) - near)[:3]}, which are not spoilt")
    check(len(wrong) == report["wrong"], f"{mode}: {len(wrong)} listed, {report['wrong']} counted")
    found = sum(bool({(t, n, d + k) for k in (-1, 0, 1)} & set(wrong)) for t, n, d in spoilt)
    check(found >= least * len(spoilt), f"{mode}: {found} of {len(spoilt)} found")
    return a, spoilt, wrong


def case_target(work):
    """Each direct branch with another target is found."""
    a, spoilt, wrong = check_spoilt(work, "target", 0.5)
    kinds = kinds_of(a)
    sources = {}
    stacks = Run([PTCAP, "dump", "-i", a, "--format", "json"]).expect(0).out
    for o in map(json.loads, stacks.splitlines()):
        if o.get("name") == "SAMPLE":
            for depth, e in enumerate(o["fields"]["branch_stack"]):
                sources[o["sample_id"]["tid"], o["sample_id"]["time_ns"], depth] = e["from"][2:]
    direct = {s for s in spoilt if kinds.get(sources[s]) in DIRECT}
    check(direct, "no direct branch was spoilt")
    lost = [s for s in direct if s not in wrong or wrong[s]["verdict"] != "wrong target"]
    check(not lost, f"{len(lost)} of {len(direct)} not found: {lost[:3]}")


def case_source(work):
    _, _, wrong = check_spoilt(work, "source", 0.5)
    check("no branch at the source" in {o["verdict"] for o in wrong.values()}, "no wrong source was named")


def case_type(work):
    """Each wrong type is found, whatever the other run did."""
    _, spoilt, wrong = check_spoilt(work, "type", 1)
    check({k for k, o in wrong.items() if o["verdict"] == "wrong type"} == spoilt, "other entries than the spoilt ones")


def case_order(work):
    """Lost, swapped and repeated entries are found where no code connects their neighbours."""
    for mode, least in (("drop", 0.15), ("swap", 0.25), ("top", 0.15)):
        _, _, wrong = check_spoilt(work, mode, least)
        check({o["verdict"] for o in wrong.values()} == {"not connected"}, f"{mode}: other verdicts")


def case_shift(work):
    """Stacks that end in front of the ip of their sample are shifted."""
    b = os.path.join(work, "b")
    a, _ = recorded(work, "shift=3:1", [prog("names")], 13)
    fetch(b, [prog("names")])
    _, report = judge(a, b, 3)
    check(report["wrong"] == 0 and report["ips_missed"] >= 0.4 * report["ips"] > 0, report)


def case_refused(work):
    """Another program and another build are refused. So are recordings without stacks or trace."""
    a, b = two(work, SMALL)
    other, old, new = (os.path.join(work, n) for n in ("other", "old", "new"))
    program = os.path.join(work, "program")
    record(other, [prog("hello_pie")]).expect(0)
    shutil.copyfile(SMALL[0], program)
    os.chmod(program, stat.S_IRWXU)
    record(old, [program], "--lbr", "-c", "20").expect(0)
    with open(program, "rb") as f:
        data = bytearray(f.read())
    at = data.index(NOTE) + len(NOTE)
    data[at] ^= 0xff
    os.remove(program)
    with open(program, "wb") as f:
        f.write(data)
    os.chmod(program, stat.S_IRWXU)
    record(new, [program]).expect(0)
    for first, second, words in (
        (a, other, "different programs: 'prog_libc_static' and 'prog_hello_pie'"),
        (old, new, f"'program' is another build in the second recording: build-id {data[at:at + 8].hex()}"),
        (b, b, "has no samples with branch stacks"),
    ):
        r = Run([PTCAP, "compare", first, second]).expect(4)
        check(words in r.err and not r.out, f"{words}: {r.err}")
    bare = os.path.join(work, "bare")
    Run([PTCAP, "convert", a, "-o", bare, "--strip-aux"]).expect(0)
    check("has no Intel PT trace" in Run([PTCAP, "compare", a, bare]).expect(4).err, "a recording without trace")
    check_agree(bare, b, 1)  # the first recording needs no trace
    for words in (["--slack", "1us", a, b], ["-", "-"], ["-i", a, a, b], [a, b, b]):
        Run([PTCAP, "compare", *words]).expect(2)


def case_options(work):
    """--samples and the limits of the exit status."""
    b = os.path.join(work, "b")
    a, _ = recorded(work, "type:10", SMALL, 5)
    fetch(b, SMALL)
    _, report = judge(a, b, 0, "--max-wrong", "50")
    check(report["verdict"] == "POSSIBLE" and report["wrong"], report)
    _, part = judge(a, b, 0, "--samples", "3,12", "--max-wrong", "100")
    check(part["samples"] == 10, part)
    out = Run([PTCAP, "compare", "--list", a, b]).expect(3).out
    check(out.count(": wrong type\n") == report["wrong"], "text and JSON list other entries")


def case_hostile(work):
    """Stacks of any addresses, and damaged recordings, are judged or refused."""
    a, b = two(work, SMALL)
    bad, rng = os.path.join(work, "bad"), random.Random(5)
    stacks = Stacks(a)
    true = [e[:2] for i in range(len(stacks.places)) for e in stacks.get(i)]
    for i in range(len(stacks.places)):
        entries = stacks.get(i)
        for e in entries:
            for k in range(2):
                e[k] = rng.choice((0, 1, 2**64 - 1, 2**63, rng.getrandbits(64), rng.choice(true)[0] + rng.randrange(16)))
        stacks.set(i, entries)
    stacks.save(bad)
    r = Run([PTCAP, "compare", "--list", bad, b])
    check(r.status in (3, 4), f"{r.status}: {r.err}")
    for path in (a, b):
        with open(path, "rb") as f:
            data = f.read()
        for _ in range(40):
            cut = bytearray(data[: rng.randrange(len(data))] if rng.random() < 0.3 else data)
            for _ in range(rng.randrange(1, 8)):
                cut[rng.randrange(len(cut))] = rng.getrandbits(8)
            with open(bad, "wb") as f:
                f.write(cut)
            pair = (bad, b) if path == a else (a, bad)
            r = Run([PTCAP, "compare", *pair])
            check(r.status in (0, 1, 3, 4) and (r.out or r.err), f"{pair}: {r.status}: {r.err}")


CASES = {name[5:]: f for name, f in list(globals().items()) if name.startswith("case_")}

if __name__ == "__main__":
    lib.main(CASES)
