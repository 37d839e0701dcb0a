#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shard_calls.py NAME: `ptcap sum` of the shards' calls is what decode and report write of the whole.

NAME is a recording of the tables below, `recordings`, `raw` or `hardware` (the real traces, if available), `damaged`, `order`,
`faults`, `broken_costs` or `refused`.
"""

import collections
import gzip
import json
import os
import re
import shutil
import sys

import lib
import store
from lib import PTCAP, check, prog
from shards import hardware_inputs, raw_inputs

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, "..", "..", "traces")
LIB = os.path.join(lib.PROGS, "libprog_lib.so")
OFTEN = ["--psb-period", "2K"]
# The source, the program, and options.
PROGRAMS = {
    "recurse": ("step", [prog("recurse")], OFTEN),
    "except": ("emu", [prog("except")], OFTEN),
    "longjmp": ("emu", [prog("longjmp")], OFTEN),
    "signal": ("step", [prog("signal")], OFTEN),
    "handlers": ("emu", [prog("handlers")], OFTEN),
    "jit": ("step", [prog("jit")], OFTEN),
    "threads": ("emu", [prog("tasks"), "locks"], []),
    "cpus": ("emu", [prog("tasks"), "pool"], ["--vcpus", "2"]),
    "dlopen": ("emu", [prog("dlopen"), LIB], []),
    "shell": ("emu", ["sh", "-c", "ls >/dev/null; echo x | cat >/dev/null"], OFTEN),
    "snapshot": ("emu", [prog("except")], ["--snapshot=16K"]),
    "lossy": ("emu", [prog("busy"), "8000"], ["--lossy", "-m", "64K,16K"]),
}
RECORDINGS = ("calls", "launch", "threads", "signals", "snapshot", "gap", "jit")
NUMBERS = (1, 2, 3, 7, 16, 64)
FEW = (3, 16)  # of recordings that take longer
SHORT = ("signal", "threads", "recurse")
FOLDED = ["decode", "--format=folded"]
DAMAGED = sys.argv[1:] == ["damaged"]
CALLGRIND = ["decode", "--format=callgrind"]
# The first of them is compared with all NUMBERS.
FORMS = (FOLDED, CALLGRIND, ["report", "--format=json", "--axis=time"], ["decode", "--format=folded", "--axis=time", "--depth=3"],
         ["report", "--full-names"], ["report", "--format=csv", "--sort=total", "--top=7"])


def write(folder, name, args):
    """Write the output of ptcap to a file. Return its path."""
    path = os.path.join(folder, name)
    r = lib.Run([PTCAP, *args])
    check(r.status in (0, 4), f"{args}: exit status {r.status}\n{r.err}")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(r.out)
    return path


def shards(folder, args, n):
    return [write(folder, f"part{i}", [*args, f"--shard={i}/{n}"]) for i in range(1, n + 1)]


def added(files):
    return lib.Run([PTCAP, "sum", *files]).expect(0).out


def whole_of(folder, args):
    path = write(folder, "whole", args)
    if args[0] == "decode" and CALLGRIND[1] not in args:
        return added([path]) if os.path.getsize(path) else ""
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        return f.read()


def is_unclear(run):
    """Did wrong jumps of a damaged trace lead into a function that was open at a border?"""
    return DAMAGED and "may differ from those without --shard" in run.err


def same(folder, args, numbers):
    whole = whole_of(folder, args)
    options = ["--full-names"] if "--full-names" in args else []
    for n in numbers:
        r = lib.Run([PTCAP, "sum", *options, *shards(folder, args, n)]).expect(0)
        check(r.out == whole or is_unclear(r), f"{args}: {n} shards have {len(r.out)} bytes, the whole has {len(whole)}, or others")
    return len(whole)


def varint(data, i):
    value = shift = 0
    while True:
        value |= (data[i] & 127) << shift
        shift, i = shift + 7, i + 1
        if data[i - 1] < 128:
            return value, i


def fields(data):
    """Return (number, value) of a message of protobuf."""
    i, ret = 0, []
    while i < len(data):
        key, i = varint(data, i)
        value, i = varint(data, i)
        if key & 7 == 2:
            value, i = data[i : i + value], i + value
        ret.append((key >> 3, value))
    return ret


def numbers(data):
    i, ret = 0, []
    while i < len(data):
        value, i = varint(data, i)
        ret.append(value)
    return ret


def samples(path):
    """Return the samples of a profile with names in place of numbers: the order of numbers has no meaning."""
    with gzip.open(path) as f:
        whole = fields(f.read())
    text = [v for k, v in whole if k == 6]
    function, location = {}, {}
    for _, v in (x for x in whole if x[0] == 5):
        o = dict(fields(v))
        function[o[1]] = text[o[2]], text[o.get(4, 0)], o.get(5, 0)
    mapping = {o[1]: text[o.get(5, 0)] for o in (dict(fields(v)) for k, v in whole if k == 3)}
    for _, v in (x for x in whole if x[0] == 4):
        o = dict(fields(v))
        location[o[1]] = mapping[o[2]], o.get(3, 0), function[dict(fields(o[4]))[1]]
    ret = collections.Counter()
    for _, v in (x for x in whole if x[0] == 2):
        one = fields(v)
        stack = tuple(location[n] for k, x in one if k == 1 for n in numbers(x))
        labels = tuple(sorted((text[o[1]], text[o[2]] if 2 in o else o.get(3)) for o in (dict(fields(x)) for k, x in one if k == 3)))
        values = tuple(n for k, x in one if k == 2 for n in numbers(x))
        ret[stack, labels, values] += 1
    return ret


def same_pprof(folder, args, numbers_of_shards):
    def read(name, words):
        path = os.path.join(folder, name)
        with open(path, "wb") as f:
            r = lib.Run([PTCAP, *words], stdout=f).expect(0)
        return samples(path), is_unclear(r)

    whole, _ = read("whole", ["decode", "--format=pprof", *args])
    check(whole, f"{args}: no samples")
    for n in numbers_of_shards:
        got, unclear = read("sum", ["sum", *shards(folder, ["decode", "--format=pprof", *args], n)])
        check(got == whole or unclear, f"{args}: {n} shards have {got - whole}, the whole has {whole - got}")


def all_forms(folder, args, numbers=NUMBERS, few=(7,)):
    if store.READS:  # a sanitizer is slow
        numbers = few = (3,)
    check(same(folder, [*FOLDED, *args], numbers) > 0, "no function was called")
    for form in FORMS[1 : 3 if store.READS else None]:
        same(folder, [*form, *args], few)
    same_pprof(folder, args, few)


def program(name):
    def case(folder):
        args = ["-i", store.fetch_entry(folder, PROGRAMS[name])]
        all_forms(folder, args, NUMBERS if name in SHORT else FEW)
        if name in SHORT and not store.READS:
            same(folder, [*CALLGRIND, *args], NUMBERS)

    return case


def recordings(folder):
    for name in RECORDINGS:
        all_forms(folder, ["-i", os.path.join(KEPT, f"{name}.data")], (3, 64))


def raw(folder):
    for args in raw_inputs():
        same(folder, ["report", "--format=json", *args], (2, 3, 16))


def hardware(folder):
    for path in hardware_inputs():
        for form in FORMS:
            same(folder, [*form, "-i", path], (3, 16))


def damaged(folder):
    """Change bytes of the trace, so that gaps are at borders, too."""
    if not shutil.which("qemu-x86_64"):
        lib.skip("no qemu-x86_64")
    path, bad = os.path.join(folder, "perf.data"), os.path.join(folder, "bad.data")
    store.fetch(path, [prog("tasks"), "locks"], *OFTEN, source="emu")
    with open(path, "rb") as f:
        data = bytearray(f.read())
    for i, psb in enumerate([m.start() for m in re.finditer(rb"(?:\x02\x82){8}", bytes(data))][2::3]):
        # Packets in front of a PSB, behind it, and the PSB itself.
        at = psb + (-9, 60, 4)[i % 3]
        data[at : at + 3] = b"\xff\x5a\xff"
    with open(bad, "wb") as f:
        f.write(data)
    all_forms(folder, ["-i", bad])


def order(folder):
    """The order of the files has no effect. ptcap sum reads standard input, too."""
    args = ["report", "--format=json", "-i", store.fetch_entry(folder, PROGRAMS["signal"])]
    whole = whole_of(folder, args)
    files = shards(folder, args, 7)
    for files in (files[::-1], files[3:] + files[:3]):
        check(added(files) == whole, f"{files}: another sum")
    with open(files[0], encoding="utf-8") as f:
        check(lib.Run([PTCAP, "sum", "-", *files[1:]], stdin=f).expect(0).out == whole, "standard input: another sum")


def refuses(files, why):
    r = lib.Run([PTCAP, "sum", *files])
    check(r.status == 1 and why in r.err and not r.out, f"{files}: exit status {r.status}, not '{why}'\n{r.err}")


def faults(folder):
    """Missing, repeated, cut and foreign shards are refused."""
    args = ["decode", "--format=folded", "-i", os.path.join(KEPT, "signals.data")]
    files = shards(folder, args, 3)
    other = write(folder, "other", ["decode", "--format=folded", "-i", os.path.join(KEPT, "threads.data"), "--shard=3/3"])
    deeper = write(folder, "deeper", [*args, "--shard=3/3", "--depth=2"])
    report = write(folder, "report", ["report", "-i", os.path.join(KEPT, "signals.data"), "--shard=3/3"])
    refuses(files[:2], "shard 3 of 3 is missing")
    refuses(files[1:], "shard 1 of 3 is missing;")
    refuses(files[:1], "shard 2 of 3 is missing, and 1 other;")
    refuses([files[0], *files], "shard 1 is there twice")
    refuses([*files, files[2]], "shard 3 is there twice")
    for bad in (other, deeper, report):
        refuses([*files[:2], bad], "of another recording, or with other options")
    with open(files[1], encoding="utf-8") as f:
        lines = f.readlines()
    cut = os.path.join(folder, "cut")
    step = next(i for i, line in enumerate(lines) if json.loads(line).get("type") == "step")
    for text, why in (("".join(lines[:-1]), "has no end"), ("".join(lines[:step] + lines[step + 1 :]), "lines are missing"),
                      ("".join(lines)[:-9], "ends inside the line"), ("".join(lines + lines[-1:]), "behind the end")):
        with open(cut, "w", encoding="utf-8") as f:
            f.write(text)
        refuses([files[0], cut, files[2]], why)
        refuses([cut, files[0], files[2]], why)


def broken_costs(folder):
    """Rows of costs with unknown functions, source files and too few numbers are refused."""
    args = [*CALLGRIND, "-i", os.path.join(KEPT, "signals.data")]
    files = shards(folder, args, 2)
    cut = os.path.join(folder, "cut")
    with open(files[0], encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    for type_, member, row, why in (("calls", "rows", [9999, 0, 0, 0, 1, 1, 0], "an unknown function"), ("own", "rows", [9999, 1], "an unknown function"),
                                    ("lines", "rows", [0, 9999, 1, 1], "an unknown source line"), ("lines", "rows", [0, 0, 1], "not a row of 4 numbers"),
                                    ("step", "frames", [0, 0, 0, 9999, 1, 0, 0, 0], "an unknown function"), ("step", "times", [1], "not a row of 3 numbers"),
                                    ("step", "frames", [-1, 0, 0, 0, 0, 0, 0, 0], "an unknown function")):
        i = next(i for i, line in enumerate(lines) if line.get("type") == type_ and member in line)
        bad = {**lines[i], member: row if member == "times" else [row]}
        with open(cut, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(line) + "\n" for line in [*lines[:i], bad, *lines[i + 1 :]])
        refuses([cut, files[1]], why)


def usage_error(args, why):
    r = lib.Run([PTCAP, *args])
    check(r.status == 2 and why in r.err, f"{args}: exit status {r.status}\n{r.err}")


def refused(_):
    path = os.path.join(KEPT, "calls.data")
    for args, why in ((["report", "--time=1%-2%"], "--shard cannot be combined with --time"), (["report", "--by=thread"], "--by"),
                      (["report", "--function=main"], "--function"), (["report", "--inline"], "--inline"),
                      (["decode", "--calls"], "--format callgrind, folded or pprof"), (["decode", "--format=uftrace", "-o", "x"], "use --time")):
        usage_error([*args, "-i", path, "--shard=1/2"], why)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main({"recordings": recordings, "raw": raw, "hardware": hardware, "damaged": damaged, "order": order, "faults": faults, "broken_costs": broken_costs, "refused": refused,
              **{name: program(name) for name in PROGRAMS}})
