#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shards.py NAME: the outputs of all shards in order are the whole output, and sums of their counts are the whole's.

NAME is a recording of the tables below, `raw` or `hardware` (the real traces, if available), `balance` or `refused`.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys

import lib
import store
from lib import PTCAP, check, prog

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, "..", "..", "traces")
LIB = os.path.join(lib.PROGS, "libprog_lib.so")
# The source, the program, and options.
PROGRAMS = {
    "signal": ("step", [prog("signal")], []),
    "jit": ("step", [prog("jit")], []),
    "locks": ("emu", [prog("tasks"), "locks"], []),
    "cpus": ("emu", [prog("tasks"), "pool"], ["--vcpus", "2"]),
    "dlopen": ("emu", [prog("dlopen"), LIB], []),
    "snapshot": ("emu", [prog("except")], ["--snapshot=16K"]),
    "lossy": ("emu", [prog("busy"), "8000"], ["--lossy", "-m", "64K,16K"]),
}
# Recordings that come with the sources: fork and exec, threads, snapshots, losses.
RECORDINGS = ("launch", "threads", "snapshot", "gap")
RAW = ("griffin-hello", "griffin-uaf-01-poc", "xdc-unzip", "xdc-foo", "dr-hello")
HARDWARE = ("quipper-intel_pt-4.14/perf.data.intel_pt-4.14", "quipper-piped.intel_pt-4.14/perf.data.piped.intel_pt-4.14")
NUMBERS = (1, 2, 3, 7, 16, 64)
AXIS = "--axis=time"
# Options of the whole, which a shard has, too, except --axis. The first one is compared with all NUMBERS.
FORMS = (
    ["-F", "pid,tid,cpu,time,from,to,kind"],
    [AXIS],
    ["--format=bin"],
    ["--format=json"],
    ["--insn", AXIS],
    ["--format=bin", "--events"],
    ["-F", "insn-ip"],
    ["-F", "from,to,tosym", "--engine=libipt", "-j1"],
    ["--format=bin", "-j", "3:1"],
)


def decode(args):
    r = subprocess.run([PTCAP, "decode", *args], stdin=subprocess.DEVNULL, capture_output=True)
    check(r.returncode in (0, 4), f"{args}: exit status {r.returncode}\n{r.stderr.decode(errors='replace')}")
    return r.stdout


def shards(args, n):
    return [decode([*(a for a in args if a != AXIS), f"--shard={i}/{n}"]) for i in range(1, n + 1)]


def comparable(out):
    """Return json output without numbers of instructions, and with the sums of its last objects."""
    lines, missing = [], collections.Counter()
    for line in out.splitlines():
        if line.startswith(b'{"type":"missing"'):
            o = json.loads(line)
            missing[o["file"], "gaps"] += o["gaps"]
            missing[o["file"], "bytes"] += o["bytes"]
        else:
            lines.append(re.sub(rb'"icount":\d+,', b"", line))
    return lines, missing


def same(args, form, numbers):
    whole = decode([*args, *form])
    for n in numbers:
        got = b"".join(shards([*args, *form], n))
        equal = comparable(got) == comparable(whole) if "--format=json" in form else got == whole
        check(equal, f"{args} {form}: {n} shards have {len(got)} bytes, the whole has {len(whole)}, or others")
    return len(whole)


def totals(out):
    """Return the totals of --stats that can be added."""
    o = json.loads(out.splitlines()[0])
    sums = {k: o[k] for k in ("trace_bytes", "instructions", "transfers")} | o["kinds"]
    for cause, gap in o["gaps"].items():
        sums |= {f"{cause} {k}": v for k, v in gap.items()}
    return collections.Counter(sums)


def counts(out):
    """Return the counts of --counts. The address of a place in a file is that of its first execution."""
    sums = collections.Counter()
    for o in map(json.loads, out.splitlines()):
        if o.get("schema"):
            sums["gaps"] += o["gaps"]
        elif o["type"] == "count":
            key = {k: v for k, v in o.items() if k != "times" and f"{k}_file" not in o}
            sums[json.dumps(key, sort_keys=True)] += o["times"]
    return sums


def added(args, of, numbers):
    whole = of(decode(args))
    for n in numbers:
        got = sum(map(of, shards(args, n)), collections.Counter())
        check(got == +whole, f"{args}: the sums of {n} shards are not the whole's: {got - whole} {whole - got}")


def all_forms(args, numbers=NUMBERS, few=(2, 7), sums=(2, 7, 16)):
    if store.READS:  # a sanitizer is slow
        numbers = few = sums = (3,)
    check(same(args, FORMS[0], numbers) > 0, "nothing was decoded")
    for form in FORMS[1 :: 3 if store.READS else 1]:
        same(args, form, few)
    for jobs in ("1", "3:1")[: 1 if store.READS else 2]:
        added([*args, "--stats", "--format=json", "-j", jobs], totals, sums if jobs == "1" else few)
    for what in ("edges", "calls", "blocks", "lines"):
        added([*args, f"--counts={what}", "--format=json"], counts, few[-1:])


def program(name):
    def case(folder):
        all_forms(["-i", store.fetch_entry(folder, PROGRAMS[name])])

    return case


def profiles(folder):
    """Profiles of shards, added by ptcap sum, are that of the whole. (sum.py compares ptcap sum with models.)"""
    path = store.fetch_entry(folder, PROGRAMS["locks"])

    def summed(shards, form):
        files = []
        for i, shard in enumerate(shards):
            files.append(os.path.join(folder, f"part{i}"))
            with open(files[-1], "wb") as f:
                f.write(decode(["-i", path, *form, *shard]))
        return lib.Run([PTCAP, "sum", *files]).expect(0).out

    for form in (["--format=lcov"], ["--counts=coverage", "--format=json"], *([f"--format={name}", "--object", PROGRAMS["locks"][1][0]] for name in ("bolt", "profgen", "afdo"))):
        whole = summed([[]], form)
        check(len(whole.splitlines()) > 5, f"{form}: {whole}")
        for n in (2,) if store.READS else (2, 7):
            check(summed([[f"--shard={i}/{n}"] for i in range(1, n + 1)], form) == whole, f"{form}: {n} shards")


def recordings(_):
    for name in RECORDINGS:
        all_forms(["-i", os.path.join(KEPT, f"{name}.data")], (3, 64), (7,), (3, 64))


def where():
    folder = os.environ.get("PTCAP_TRACES", "")
    if not os.path.isdir(folder):
        lib.skip(f"no traces in '{folder}'")
    return folder


def raw_inputs():
    """Yield the options that name each raw trace and its code: under a sanitizer only two."""
    for name in RAW[: 2 if store.READS else None]:
        folder = os.path.join(where(), name)
        args = ["--pt", os.path.join(folder, "pt.bin")]
        with open(os.path.join(folder, "image.map"), encoding="ascii") as f:
            for addr, size, off in map(str.split, f):
                args += ["--raw", f"{folder}/image.dump@0x{addr}:0x{off}:0x{size}"]
        yield args


def hardware_inputs():
    """Yield the file of each hardware trace."""
    for name in HARDWARE:
        yield os.path.join(where(), name)


def raw(_):
    for args in raw_inputs():
        all_forms(args, (2, 3, 16), (7,))
        same([*args, "--resync=packet"], FORMS[0], (2, 7))


def hardware(_):
    for path in hardware_inputs():
        all_forms(["-i", path], (3, 64), (7,), (3, 64))


def damaged(folder):
    """Change bytes of the trace, so that gaps are at borders, too."""
    if not shutil.which("qemu-x86_64"):
        lib.skip("no qemu-x86_64")
    path, bad = os.path.join(folder, "perf.data"), os.path.join(folder, "bad.data")
    store.fetch(path, [prog("tasks"), "locks"], "--psb-period", "2K", source="emu")
    with open(path, "rb") as f:
        data = bytearray(f.read())
    psbs = [m.start() for m in re.finditer(rb"(?:\x02\x82){8}", bytes(data))]
    for i, psb in enumerate(psbs[2::3]):
        # Packets in front of a PSB, behind it, and the PSB itself.
        at = psb + (-9, 60, 4)[i % 3]
        data[at : at + 3] = b"\xff\x5a\xff"
    with open(bad, "wb") as f:
        f.write(data)
    check(b"# gap" in decode(["-i", bad]), "the damage made no gap")
    all_forms(["-i", bad])


def balance(folder):
    """Shards of a long trace have about equally many bytes, and little is decoded twice."""
    if not shutil.which("qemu-x86_64"):
        lib.skip("no qemu-x86_64")
    path = os.path.join(folder, "perf.data")
    store.fetch(path, [prog("busy"), "30000"], "--psb-period", "2K", source="emu")
    for n in (2, 7, 16):
        sizes = [totals(out)["trace_bytes"] for out in shards(["-i", path, "--stats", "--format=json"], n)]
        mean = sum(sizes) / n
        check(max(abs(s - mean) for s in sizes) < mean / 10, f"{n} shards have {sizes} bytes")


def usage_error(args, why):
    r = lib.Run([PTCAP, "decode", *args])
    check(r.status == 2 and why in r.err, f"{args}: exit status {r.status}\n{r.err}")


def refused(_):
    """Outputs that cannot be added are refused, with the reason."""
    path = os.path.join(KEPT, "calls.data")
    for options, why in ((["--calls"], "calls continue"),
                         (["--format=fxt"], "calls continue"), (["--time=1%-2%"], "--time or --last"),
                         (["--last=3"], "--time or --last"), (["-F", "icount"], "how many instructions"),
                         (["--axis=insns"], "how many instructions"), (["--format=bin", "--icount"], "how many instructions"),
                         (["--counts=edges:3"], "does not know the sums"), (["--counts=coverage"], "--format=json")):
        usage_error(["-i", path, "--shard=1/2", *options], why)
    for bad in ("0/2", "3/2", "1", "1/", "/2", "a/b", "1/2/3", "-1/2"):
        usage_error(["-i", path, f"--shard={bad}"], "for example 1/8")
    check(b"icount" not in decode(["-i", path, "--format=json", "--shard=1/2"]), "json has numbers of instructions")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main({"recordings": recordings, "raw": raw, "hardware": hardware, "damaged": damaged, "balance": balance, "profiles": profiles, "refused": refused,
              **{name: program(name) for name in PROGRAMS}})
