#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report_function.py NAME: ptcap report --function: callers, callees and slowest calls, compared with a model of the call tree
and with Valgrind's Callgrind."""

import json
import os
import re
import shutil
from collections import Counter, defaultdict

import lib
import store
from lib import PTCAP, Run, check, decode
from report import OWN, SOURCE, modelled, objects_of, program, recorded, report, table

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


@case
def callers(folder):
    """--function has the callers and callees of the model, with their sums, and the slowest calls."""
    for name in ("recurse", "signal", "longjmp", "locks"):
        path = recorded(folder, name)
        model = modelled(path)
        single = Counter(r["name"] for r in report(path)[1])  # not functions of two files
        functions = [f for f in model.sums if single[f] == 1]
        for function in functions[:: max(1, len(functions) // 6)]:
            got = objects_of(path, "--function", function, "--slowest=7")
            for kind, other, place in (("caller", "callee", 1), ("callee", "caller", 0)):
                want = {e: s for e, s in model.edges.items() if e[place] == function}
                rows = {(o["caller"], o["callee"]): o for o in got[kind]}
                if len(rows) != len(got[kind]):
                    continue  # by functions of two files
                check(rows.keys() == want.keys(), f"{name}: {kind}s of {function}: {rows.keys()}, not {want.keys()}")
                for e, s in want.items():
                    check((rows[e]["calls"], rows[e]["insns"]) == (s.calls, {"self": s.self, "total": s.total}),
                          f"{name}: {rows[e]}, not {vars(s)}")
                check(all(o[other] == function for o in got[kind]), f"{name}: {other}")
            check([o["name"] for o in got["function"]] == [function], got["function"])
            slow = [(o["insns"]["duration"], o["insns"]["begin"], o["tid"], o["name"], o["caller"]) for o in got["slowest"]]
            known = sorted((k for k in model.known if k[3] == function), key=lambda k: (-k[0], k[1], k[2]))
            check([s[:3] for s in slow] == [k[:3] for k in known[:7]] and set(slow) <= set(known), f"{name}: {slow}, not {known[:7]}")
    text = Run([PTCAP, "report", path, "--function", function, "--slowest"]).expect(0).out
    check(max(map(len, text.splitlines())) <= 80 and "slowest call by" in text, text)
    r = Run([PTCAP, "report", path, "--function", "nowhere"]).expect(4)
    check(not r.out and "a function 'nowhere'" in r.err, r.err)
    check("--slowest needs --function" in Run([PTCAP, "report", path, "--slowest"]).expect(2).err, "--slowest alone")


@case
def comma_calls(folder):
    """CSV of --function has the callers, callees and slowest calls of JSON."""
    for name, function, options in (("recurse", "down", []), ("locks", "main", ["--axis=time"]), ("signal", "_start", [])):
        path = recorded(folder, name)
        want = objects_of(path, "--function", function, "--slowest=4", *options)
        got = table(path, "--function", function, *options)
        check(len(got) == len(want["caller"]) + len(want["callee"]) > 0, got)
        for row, o in zip(got, want["caller"] + want["callee"]):
            texts = [row[k] for k in ("type", "caller", "caller_file", "callee", "callee_file", "calls", "self_insns", "total_insns", "self_ns")]
            values = [o["type"], o["caller"] or "", o["caller_file"] or "", o["callee"], o["callee_file"], o["calls"], *o["insns"].values(),
                      o["time"]["self"] if o["time"] else ""]
            check(texts == list(map(str, values)), f"{row}, not {o}")
        got = table(path, "--function", function, "--slowest=4", *options)
        check(len(got) == len(want["slowest"]), got)
        for row, o in zip(got, want["slowest"]):
            texts = [row[k] for k in ("tid", "function", "begin_insns", "duration_insns", "caller", "source", "line", "duration_ns")]
            values = [o["tid"], o["name"], *o["insns"].values(), o["caller"] or "", o["source"] or "", o["line"] or "",
                      o["time"]["duration"] if o["time"] else ""]
            check(texts == list(map(str, values)), f"{row}, not {o}")


@case
def places(folder):
    """A slow call is found again with decode --calls, and has the line of its call."""
    path = os.path.join(folder, "data")
    store.fetch(path, [program(folder)], "-q")
    lines = SOURCE.splitlines()
    for function, want in (("middle", "s += middle(i) + even(i);"), ("fib", None), ("leaf", None)):
        slow = objects_of(path, "--function", function, "--slowest=5")["slowest"]
        check(len(slow) == 5, slow)
        entries = {(o["tid"], o["icount"]) for o in map(json.loads, decode(path, "--calls", "--format=json", "--sym", function).out.splitlines())
                   if o.get("type") == "enter" and o["name"] == function}
        for o in slow:
            check((o["tid"], o["insns"]["begin"]) in entries, f"{o} is no entry")
            line = lines[o["line"] - 1]
            check(o["source"].endswith("calls.c") and function + "(" in line and (not want or want in line), f"{o}: {line}")


def callgrind(folder, path):
    """Return {function: own instructions} and {(caller, callee): [calls, instructions]} from Valgrind."""
    out = os.path.join(folder, "callgrind.out")
    Run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", path]).expect(0)
    names, own, calls, inside, called, skip = {}, Counter(), defaultdict(lambda: [0, 0]), None, None, False

    def name_of(text):
        number, _, name = text.partition(" ")
        names.setdefault(number, re.sub(r"'\d+$", "", name))
        return names[number]

    with open(out, encoding="utf-8") as f:
        for line in f:
            line = line.rstrip("\n")
            if line.startswith("fn="):
                inside = name_of(line[3:])
            elif line.startswith("cfn="):
                called = name_of(line[4:])
            elif line.startswith("calls="):
                calls[inside, called][0] += int(line[6:].split()[0])
                skip = True
            elif re.match(r"[-+*\d]\S* \d+$", line):
                if skip:
                    calls[inside, called][1] += int(line.split()[1])
                else:
                    own[inside] += int(line.split()[1])
                skip = False
    return own, calls


@case
def valgrind(folder):
    """Own instructions and calls of each function are those that Callgrind counts."""
    if not shutil.which("valgrind"):
        lib.skip_without("valgrind")
    path, data = program(folder), os.path.join(folder, "data")
    store.fetch(data, [path], "-q")
    own, calls = callgrind(folder, path)
    rows = {r["name"]: r for r in report(data)[1]}
    for name in OWN:
        check(rows[name]["insns"]["self"] == own[name], f"{name}: {rows[name]['insns']}, Callgrind has {own[name]}")
        want = sum(n for (_, callee), (n, _) in calls.items() if callee == name)
        check(rows[name]["calls"] == want, f"{name}: {rows[name]['calls']} calls, Callgrind has {want}")
        for o in objects_of(data, "--function", name)["caller"]:
            e = o["caller"], name
            check(name == "main" or o["calls"] == calls[e][0], f"{o}, Callgrind has {calls[e]}")
            if e in (("main", "middle"), ("middle", "leaf"), ("odd", "leaf"), ("even", "leaf"), ("main", "fib"), ("main", "even")):
                check(o["insns"]["total"] == calls[e][1], f"{o}, Callgrind has {calls[e]}")
    check(rows["fib"]["insns"]["total"] == rows["fib"]["insns"]["self"], f"recursion counts more than once: {rows['fib']}")
    main = rows["main"]["insns"]
    check(main["total"] == main["max"] == sum(rows[name]["insns"]["self"] for name in OWN), f"main: {main}")


if __name__ == "__main__":
    lib.main(CASES)
