#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""calls.py NAME: options of decode --calls that select and fold calls, compared with the list of all calls."""

import json
import os
import re
from collections import defaultdict

import lib
import store
from lib import PTCAP, Run, check, decode, prog

PROGRAMS = {
    "recurse": [prog("recurse")],
    "indirect": [prog("indirect")],
    "signal": [prog("signal")],
    "longjmp": [prog("longjmp")],
    "locks": [prog("tasks_static"), "locks"],
    "exec": [prog("chain_static"), prog("chain_static")],
}
KEPT = 1024  # calls that --fold keeps of a thread
CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def recorded(folder, name):
    path = os.path.join(folder, name)
    store.fetch(path, PROGRAMS[name], "-q")
    return path


def listed(path, *options):
    """Return the objects of decode --calls by thread."""
    found = defaultdict(list)
    r = decode(path, "--calls", "--format=json", *options)
    check(r.status in (0, 4), r.err)
    for o in map(json.loads, r.out.splitlines()):
        if o.get("type") in ("enter", "leave"):
            found[o["tid"]].append(o)
    return found


def plain(name):
    return name.partition("+0x")[0]


@case
def sym(folder):
    """--sym prints each call of the function with all calls inside, and nothing else."""
    for name in PROGRAMS:
        path = recorded(folder, name)
        everything = listed(path)
        functions = sorted({plain(o["name"]) for rows in everything.values() for o in rows if o["type"] == "enter"})
        for function in functions[:: max(1, len(functions) // 4)]:
            want = defaultdict(list)
            for tid, rows in everything.items():
                root = None
                for o in rows:
                    if root is not None and o["depth"] <= root and o["type"] == "enter":
                        root = None
                    if root is None and o["type"] == "enter" and plain(o["name"]) == function:
                        root = o["depth"]
                    if root is not None:
                        want[tid].append(o)
                        if o["type"] == "leave" and o["depth"] == root:
                            root = None
            check(listed(path, "--sym", function) == want and want, f"{name}: --sym {function}")
    text = decode(path, "--calls", "--sym", function).expect(0).out.splitlines()
    check(plain(text[0].split("| ")[1]).startswith(function), f"the first line is indented: {text[0]}")
    check("no branch from or to a function 'nowhere'" in decode(path, "--calls", "--sym", "nowhere").expect(4).err, "not missed")


@case
def depth(folder):
    """--depth prints the outer calls. With --sym it counts from the function."""
    for name in PROGRAMS:
        path = recorded(folder, name)
        everything = listed(path)
        for n in (1, 2, 5):
            want = {tid: [o for o in rows if o["depth"] < n] for tid, rows in everything.items()}
            check(listed(path, "--depth", str(n)) == {tid: rows for tid, rows in want.items() if rows}, f"{name}: --depth {n}")
    path = recorded(folder, "recurse")
    for o in sum(listed(path, "--sym=down", "--depth=1").values(), []):
        check(o["type"] == "leave" or o["name"] == "down", o)


def calls_of(rows):
    """Return the tree of one thread: nested [enter, leave or None, children]."""
    stack, top = [], []
    for o in rows:
        if o["type"] == "leave":
            check(stack, f"{o} ends nothing")
            stack.pop()[1] = o
            continue
        node = [o, None, []]
        (stack[-1][2] if stack else top).append(node)
        stack.append(node)
    return top


def flat(nodes):
    """Return the objects of a tree in their order."""
    out = []
    for enter, leave, children in nodes:
        out += [enter, *flat(children)] + ([leave] if leave else [])
    return out


@case
def least(folder):
    """--min prints the calls that last so long, and the calls without an end."""
    for name in PROGRAMS:
        path = recorded(folder, name)
        everything = listed(path)
        for n in (1, 50, 1000):
            def shown(nodes):
                kept = [x for x in nodes if not x[1] or x[1]["icount"] - x[1]["since_icount"] >= n]
                return [[enter, leave, shown(children)] for enter, leave, children in kept]

            want = {tid: flat(shown(calls_of(rows))) for tid, rows in everything.items()}
            check(listed(path, "--min", str(n)) == {tid: rows for tid, rows in want.items() if rows}, f"{name}: --min {n}")
    timed = sum(map(len, listed(path, "--min=1h").values()))
    check(timed < sum(map(len, everything.values())), "--min=1h")
    check(listed(path, "--min=1k", "--depth=3") == {
        tid: rows for tid, rows in ((tid, [o for o in rows if o["depth"] < 3]) for tid, rows in listed(path, "--min=1000").items()) if rows
    }, "--min with --depth")


def shape(node):
    """Return what makes calls equal."""
    enter, leave, children = node
    return (enter["name"], enter["how"], leave and leave["how"], enter.get("times", 1), tuple(map(shape, children)))


def add(leave, more):
    for key, since, until in (("total", "since", "time"), ("total_icount", "since_icount", "icount")):
        took = None if leave[since] is None else leave.get(key, leave[until] - leave[since])
        leave[key] = None if took is None or more[since] is None else took + more[until] - more[since]


def folded(nodes):
    """Fold a tree."""
    out = []
    for enter, leave, children in nodes:
        node = [dict(enter), leave and dict(leave), folded(children)]
        if out and leave and out[-1][1] and shape([{**out[-1][0], "times": 1}, *out[-1][1:]]) == shape(node):
            kept = out[-1]
            add(kept[1], leave)
            for o in kept[:2]:
                o["times"] = o.get("times", 1) + 1
        else:
            out.append(node)
    return out


def unfolded(nodes):
    """Return (name, how, depth) of each call that a folded tree stands for."""
    out = []
    for enter, leave, children in nodes:
        one = [(enter["name"], enter["how"], leave and leave["how"], enter["depth"]), *unfolded(children)]
        out += one * enter.get("times", 1)
    return out


@case
def fold(folder):
    """--fold prints equal calls in a row once, with their number and total."""
    most = 0
    for name in PROGRAMS:
        path = recorded(folder, name)
        got, want = listed(path, "--fold"), listed(path)
        check(got.keys() == want.keys(), f"{name}: threads")
        for tid, rows in want.items():
            check(unfolded(calls_of(got[tid])) == unfolded(calls_of(rows)), f"{name}: thread {tid}: other calls")
            if len(rows) < KEPT:
                check(got[tid] == flat(folded(calls_of(rows))), f"{name}: thread {tid}: {got[tid]}, {flat(folded(calls_of(rows)))}")
            most = max(most, *(o.get("times", 1) for o in got[tid]))
        text = decode(path, "--calls", "--fold").expect(0).out
        check(text.count(" times */") == sum(o["type"] == "enter" and "times" in o for rows in got.values() for o in rows), name)
    check(most > 1, "nothing was folded")


@case
def folds_much(folder):
    """A fold needs no more than its limit of calls, and loses none."""
    path = os.path.join(folder, "busy")
    store.fetch(path, [prog("busy"), "300"], "-q")
    for options in (["--depth=9"], ["--min=20"], []):
        got, want = listed(path, "--fold", *options), listed(path, *options)
        for tid, rows in want.items():
            check(unfolded(calls_of(got[tid])) == unfolded(calls_of(rows)), f"{options}: other calls")
    check(max(map(len, want.values())) > KEPT, "a small program")


@case
def gaps(folder):
    """A gap ends what is kept: no call is lost or moved to the other side of the gap."""
    path = os.path.join(folder, "lossy")
    store.fetch(path, [prog("busy"), "8000"], "--lossy", "-m", "16K,16K")

    def parts(*options):
        rows = [json.loads(line) for line in decode(path, "--calls", "--format=json", *options).out.splitlines()]
        out = [[]]
        for o in rows:
            if o.get("type") == "gap":
                out.append([])
            elif o.get("type") in ("enter", "leave"):
                out[-1].append(o)
        return out

    want = parts()
    check(len(want) > 1, "nothing was lost")
    folds, longs = parts("--fold"), parts("--min=1")
    for got, part in zip(folds, want):
        check(unfolded(calls_of(got)) == unfolded(calls_of(part)), "--fold")
    for got, part in zip(longs, want):
        check([o for o in got if o["type"] == "leave"] == [o for o in part if o["type"] == "leave" and o["icount"] > o["since_icount"]], "--min")
    check(len(folds) == len(longs) == len(want), "gaps")


@case
def refused(folder):
    """Options without --calls, and wrong values."""
    path = recorded(folder, "indirect")
    for option in ("--depth=1", "--min=1", "--fold"):
        check(re.search("needs? --calls", decode(path, option).expect(2).err), option)
    for option in ("--depth=0", "--min=0", "--min=x", "--min=10parsecs"):
        check("invalid value" in Run([PTCAP, "decode", path, "--calls", option]).expect(2).err, option)


if __name__ == "__main__":
    lib.main(CASES)
