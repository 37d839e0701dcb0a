#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ptcap decode --counts: the counts equal the listed branches.

usage: counts.py CASE [ARGUMENT...]
"""

import bisect
import json
import os
import re
import shutil
from collections import Counter

import lib
from lib import PTCAP, Run, check, decode, prog
from store import fetch

PROGRAMS = {
    "recurse": [prog("recurse")],
    "indirect": [prog("indirect")],
    "jcc": [prog("jcc")],
    "signal": [prog("signal")],
    "fault": [prog("fault")],
    "busy": [prog("busy"), "100"],
    "jit": [prog("jit"), "rwx"],
}
ASYNC = "async"


def counts(path, what, *options):
    """Return the head, and the entries as objects."""
    r = Run([PTCAP, "decode", "-i", path, f"--counts={what}", "--format=json", *options])
    check(r.status in (0, 3), r.err)
    head, *entries = map(json.loads, r.out.splitlines())
    check(head["schema"] == "ptcap-decode-counts" and head["of"] == what.split(":")[0], head)
    entries = [e for e in entries if e["type"] == "count"]
    times = [e["times"] for e in entries]
    check(times == sorted(times, reverse=True) and all(times), "they are not sorted")
    if ":" not in what:
        check(sum(times) == head["times"] and len(times) == head["different"], f"{head}, {sum(times)} in {len(times)}")
    return head, entries


def listed(path, *fields):
    """Return lines of these fields, in order; gaps unchanged."""
    return [line.split(" ") for line in decode(path, "-F", ",".join(fields)).out.splitlines()]


def by_address(entries, a="from", b="to"):
    found = Counter()
    for e in entries:
        found[int(e[a], 16), int(e[b], 16), e["kind"]] += e["times"]
    return found


def symbol(e, key):
    """Format a symbol as -F sym prints it."""
    name = e.get(key + "_function")
    return f"{name}+0x{e[key + '_function_offset']:x}" if name else "-"


def same(got, want, what):
    check(got == want, f"{what}: {list((got - want).items())[:3]} too often, {list((want - got).items())[:3]} too seldom")


def blocks(lines):
    """Count the blocks of lines with tid, from, to, kind."""
    at, found = {}, Counter()
    for line in lines:
        if line[0] == "#":
            m = re.search(r"tid=(-?\d+) .*cause=(\w+)", " ".join(line))
            if m[2] in ("nocode", "badpacket", "desync") and int(m[1]) >= 0:
                at.pop(m[1], None)
            else:
                at = {}
            continue
        tid, start, to = line[0], int(line[1], 16), int(line[2], 16)
        begin = at.get(tid)
        if begin and begin <= start and not (line[3] == ASYNC and begin == start):
            found[begin, start, line[3]] += 1
        at[tid] = to
    return found


def check_edges(path, what):
    lines = listed(path, "from", "to", "kind")
    want = Counter((int(a, 16), int(b, 16), kind) for a, b, kind in (line for line in lines if line[0] != "#"))
    same(by_address(counts(path, "edges")[1]), want, what)
    return want


def case_edges(folder):
    """For programs whose code does not move: the same addresses with the same counts."""
    for name, argv in PROGRAMS.items():
        path = os.path.join(folder, name)
        fetch(path, argv)
        check(check_edges(path, name), name)


def case_blocks(folder):
    """A block goes from the target of a branch to the next branch."""
    for name, argv in PROGRAMS.items():
        path = os.path.join(folder, name)
        fetch(path, argv)
        want = blocks(listed(path, "tid", "from", "to", "kind"))
        check(want, name)
        same(by_address(counts(path, "blocks")[1], "first", "last"), want, name)


def case_gaps(folder):
    """No block crosses a gap."""
    path = os.path.join(folder, "lossy")
    fetch(path, [prog("busy"), "20000"], "--lossy", "-m", "16K,16K")
    lines = listed(path, "tid", "from", "to", "kind")
    check(any(line[0] == "#" for line in lines), "nothing was lost")
    head, entries = counts(path, "blocks")
    same(by_address(entries, "first", "last"), blocks(lines), "blocks")
    check(head["gaps"] == sum(line[0] == "#" for line in lines), head)
    check_edges(path, "edges")


def case_calls(folder):
    """Counts from function to function: the calls among the edges, without the place in the caller."""
    path = os.path.join(folder, "perf.data")
    fetch(path, [prog("virtual")])
    want = Counter()
    for e in counts(path, "edges")[1]:
        if e["kind"] in ("call", "icall"):
            want[e.get("from_function", e["from"]), symbol(e, "to"), e["kind"]] += e["times"]
    found = Counter()
    for e in counts(path, "calls")[1]:
        check(e.get("from_function_offset", 0) == 0, e)
        found[e.get("from_function", e["from"]), symbol(e, "to"), e["kind"]] += e["times"]
    check(len(want) > 20, want)
    same(found, want, "calls")


def case_swap(folder, mode, *libs):
    """Two libraries at one address: each has its own counts, even if their code is the same."""
    path, copy = os.path.join(folder, "perf.data"), os.path.join(folder, "copy.so")
    shutil.copy(libs[0], copy)
    for other in (libs[1], copy):
        fetch(path, [prog("swap"), mode, libs[0], other])
        entries = counts(path, "edges")[1]
        found, called, addresses = Counter(), Counter(), {}
        for e in entries:
            found[e["kind"], symbol(e, "from"), symbol(e, "to")] += e["times"]
            if "to_file" in e:
                addresses.setdefault(e["to"], set()).add(os.path.realpath(e["to_file"]))
            if e["kind"] == "icall" and e.get("to_function") == "lib_answer":
                called[os.path.realpath(e["to_file"])] += e["times"]
        same(found, Counter(tuple(line) for line in listed(path, "kind", "sym", "tosym")), "symbols")
        both = {os.path.realpath(name) for name in (libs[0], other)}
        check(any(both <= files for files in addresses.values()), "no address was of both")
        check(called == {name: 3 for name in both}, called)


def case_places(folder):
    """A place in a file is one, wherever it is mapped: two runs of a program in one recording."""
    path = os.path.join(folder, "perf.data")
    fetch(path, ["/bin/sh", "-c", "/bin/true; /bin/true"])
    entries = counts(path, "edges")[1]
    places = Counter((e["kind"], e.get("from_file"), e.get("from_file_offset"), e.get("to_file"), e.get("to_file_offset"))
                     for e in entries if "from_file" in e and "to_file" in e)
    check(max(places.values()) == 1, places.most_common(2))
    found = Counter()
    for e in entries:
        found[e["kind"], symbol(e, "from"), symbol(e, "to")] += e["times"]
    same(found, Counter(tuple(line) for line in listed(path, "kind", "sym", "tosym")), "symbols")


def case_lines(folder):
    """For each block all lines with an instruction in it, once."""
    for name in ("segv", "handlers", "names", "tasks"):
        path = os.path.join(folder, name)
        fetch(path, [prog(name), *(["locks"] if name == "tasks" else [])])
        where = {}
        for ip, line in listed(path, "insn-ip", "srcline"):
            where.setdefault(int(ip, 16), set()).add(line)
        ips = sorted(where)
        check(all(len(lines) == 1 for lines in where.values()), name)
        want, blocks, lineless = Counter(), 0, 0
        for e in counts(path, "blocks")[1]:
            first, last = int(e["first"], 16), int(e["last"], 16)
            inside = ips[bisect.bisect_left(ips, first) : bisect.bisect_right(ips, last)]
            lines = {line for ip in inside if ip != last or e["kind"] != ASYNC for line in where[ip]} - {"-"}
            for line in lines:
                want[line] += e["times"]
            blocks += e["times"]
            lineless += 0 if lines else e["times"]
        head, entries = counts(path, "lines")
        same(Counter({f"{e['file']}:{e['line']}": e["times"] for e in entries}), want, name)
        check((head["blocks"], head["lineless"]) == (blocks, lineless) and lineless < blocks, f"{head}, {blocks}, {lineless}")
        check(any(f"/prog_{name}." in e["file"] for e in entries), name)
    text = decode(path, "--counts=lines:2").expect(0).out.splitlines()
    check(len(text) == 4 and text[0].endswith(f"{head['lineless']} of them without a known line"), text)
    check(text[2].split()[2] == f"{entries[0]['file']}:{entries[0]['line']}", text)


def lines_of(path):
    """Return, by file name, the lines with code, from binutils' reading of the line table."""
    text = Run(["objdump", "--dwarf=decodedline", path]).expect(0).out
    rows = [line.split() for line in text.splitlines()]
    rows = [r for r in rows if len(r) >= 3 and r[2].startswith("0x") or len(r) == 3 and r[1] == "-"]
    found = {}
    for row, after in zip(rows, rows[1:]):
        # Code that the linker left out is at address 0.
        if row[1] not in ("-", "0") and row[2] != after[2] and int(row[2], 16) >= 0x1000:
            found.setdefault(row[0], set()).add(int(row[1]))
    return found


def case_coverage(folder):
    """For each source file of a program all lines with code: those with and without an execution."""
    for name in ("segv", "handlers", "jcc", "tasks", "unused"):
        path = os.path.join(folder, name)
        fetch(path, [prog(name), *(["locks"] if name == "tasks" else [])])
        ran = {}
        for e in counts(path, "lines")[1]:
            ran.setdefault(e["file"], set()).add(e["line"])
        r = decode(path, "--counts=coverage", "--format=json")
        head, *files = map(json.loads, r.out.splitlines())
        files = [f for f in files if f["type"] == "file"]
        check(head["of"] == "coverage" and head["files"] == len(files), head)
        check((head["lines"], head["ran"]) == tuple(sum(f[k] for f in files) for k in ("lines", "ran")), head)
        check({f["file"] for f in files if f["ran"]} == set(ran), name)
        check([f["ran"] for f in files] == sorted((f["ran"] for f in files), reverse=True), name)
        want = lines_of(prog(name))
        seen = 0
        for f in files:
            base = os.path.basename(f["file"])
            check(f["ran"] == len(ran.get(f["file"], ())), f)
            if not base.startswith("prog_"):
                continue
            left = want[base] - ran[f["file"]]
            check(f["lines"] == len(want[base]), f"{f}, {sorted(want[base])}")
            check(left == {n for a, b in f["not_run"] for n in range(a, b + 1)} & want[base], f"{f}, {sorted(left)}")
            check(all(b in want[base] and a in want[base] for a, b in f["not_run"]), f)
            seen += 1
        check(seen, f"{name}: {files[:3]}")
    text = decode(path, "--counts=coverage:1").expect(0).out.splitlines()
    check(len(text) == 3 and text[0].startswith(f"# {head['ran']} of {head['lines']} lines ran"), text)
    f = files[0]
    stretches = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in f["not_run"])
    check(text[2].split() == [str(f["lines"]), str(f["ran"]), f"{100 * f['ran'] / f['lines']:.1f}",
                              f["file"] + (":" if stretches else ""), *([stretches] if stretches else [])], text[2])


def case_forms(folder):
    """Text and JSON, the first few, parts of a recording, and invalid combinations."""
    path = os.path.join(folder, "perf.data")
    fetch(path, [prog("indirect")])
    head, entries = counts(path, "edges")
    check(counts(path, "edges:3")[1] == entries[:3], "not the first three")
    lines = decode(path, "--counts=edges").expect(0).out.splitlines()
    check(lines[0] == f"# {head['times']} branches, {head['different']} different", lines[0])
    check([int(line.split()[0]) for line in lines[2:]] == [e["times"] for e in entries], lines[2:5])
    check(sum(float(line.split()[1]) for line in lines[2:]) > 99, "the parts are not all")
    check(len(decode(path, "--counts=blocks:5").expect(0).out.splitlines()) == 7, "not five")
    some = counts(path, "edges", "--last=10")[0]
    check(some["times"] == 10, some)
    for bad in ("", "edge", "edges:", "edges:0", "edges:x", ":3", "edges:3:4"):
        r = decode(path, f"--counts={bad}").expect(2)
        check(f"'{bad}'" in r.err and "edges, calls, blocks, lines or coverage" in r.err, r.err)
    for bad in (["--stats"], ["--calls"], ["--insn"], ["--events"], ["--format=bin"], ["-F", "from"]):
        check("--counts cannot be combined with" in decode(path, "--counts=calls", *bad).expect(2).err, bad)
    for what in ("blocks", "lines"):
        for bad in ("--sym=main", "--cpu=0"):
            check("it needs all branches of a thread" in decode(path, f"--counts={what}", bad).expect(2).err, bad)
    decode(path, "--counts=edges", "--cpu=0").expect(0)
    r = decode(path, "--counts=edges", "--tid=1").expect(4)
    check(not r.out.count("->"), r.out)


lib.main({name[5:]: case for name, case in list(globals().items()) if name.startswith("case_")})
