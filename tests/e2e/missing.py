#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""missing.py NAME: decoding when the code is missing or replaced.

Each function below is a case; its name and text state the behaviour.
"""

import glob
import json
import os
import re
import resource
import shutil
import sys

import lib
from lib import PTCAP, Run, check, prog

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def recorded(folder):
    """Record a program that calls into a library of its own. Returns (recording, truth, library)."""
    library = os.path.join(folder, "there", "lib.so")
    os.mkdir(os.path.dirname(library))
    shutil.copy(os.path.join(lib.PROGS, "libprog_lib.so"), library)
    path, truth = os.path.join(folder, "perf.data"), os.path.join(folder, "truth")
    lib.record(path, [prog("dlopen"), library], "--truth", truth, "--no-retcomp").expect(0)
    with open(truth, encoding="ascii") as f:
        return path, lib.transfers(f.read()), library


def build_id(path):
    """Return the build-id as `readelf -n` prints it; found here by the note's header."""
    with open(path, "rb") as f:
        data = f.read()
    at = data.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
    return data[at : at + 20].hex()


def ranges(path, name):
    """Return the address ranges of the executable mappings of a file."""
    out = Run([PTCAP, "dump", "-i", path]).expect(0).out
    ret = set()
    for m in re.finditer(r" MMAP2 .* addr=0x([0-9a-f]+) len=0x([0-9a-f]+) .*prot=..x.*filename=\"([^\"]*)\"", out):
        if m[3] == name:
            ret.add((int(m[1], 16), int(m[1], 16) + int(m[2], 16)))
    check(ret, f"{name} is not mapped in {path}")
    return ret


def decode(path, *options, **kw):
    env = dict(os.environ, PERF_BUILDID_DIR="/nowhere")
    env.update(kw)
    return Run([PTCAP, "decode", "-i", path, "-F", "tid,from,to,kind", *options], env=env)


def without_gaps(run):
    return lib.transfers("".join(s for s in run.out.splitlines(True) if not s.startswith("# gap ")))


def costs_only(path, run, want, name):
    """Exactly the branches in that file are missing, no more and no fewer."""
    inside = ranges(path, name)

    def elsewhere(flow):
        return [t for t in flow if not any(a <= t[0] < b for a, b in inside)]

    kept = {tid: elsewhere(flow) for tid, flow in want.items()}
    check(kept != want, f"nothing happened in {name}")
    lib.same_transfers(without_gaps(run), kept, "decode", "truth but for the file")
    return sum(len(flow) for flow in want.values()) - sum(len(flow) for flow in kept.values())


@case
def removed(folder):
    """A deleted library costs its own branches; it is reported once, with its build-id."""
    path, want, library = recorded(folder)
    bid = build_id(library)
    os.rename(library, library + ".away")
    r = decode(path).expect(0)
    lost = costs_only(path, r, want, library)
    line = [s for s in r.err.splitlines() if library in s]
    check(len(line) == 1 and bid in line[0], r.err)
    m = re.search(r": \d+ gaps, at least (\d+) branches; --symfs", line[0])
    check(m and lost / 2 <= int(m[1]) <= 2 * lost, f"{lost} transfers are missing: {line[0]}")
    decode(path, "--strict").expect(3)


@case
def in_json(folder):
    """The same as data: file, build-id, gaps, branches, and the remedy."""
    path, want, library = recorded(folder)
    bid = build_id(library)
    os.unlink(library)
    out = Run([PTCAP, "decode", "-i", path, "--format", "json"]).expect(0).out
    missing = [o for o in map(json.loads, out.splitlines()) if o.get("type") == "missing"]
    check(len(missing) == 1, missing)
    check(missing[0]["file"] == library and missing[0]["build_id"] == bid, missing)
    gaps = [o for o in map(json.loads, out.splitlines()) if o.get("type") == "gap"]
    check(missing[0]["gaps"] == len(gaps) and missing[0]["bytes"], missing)
    check(missing[0]["branches"] > len(gaps) and missing[0]["hint"], missing)
    info = Run([PTCAP, "info", "-i", path]).expect(0).out
    check(re.search(r"^decode +can be decoded here: no: 1 of \d+ files missing$", info, re.M), info)
    check(f"{library} build-id {bid}" in info, info)
    o = json.loads(Run([PTCAP, "info", "-i", path, "--format", "json"]).expect(0).out)
    check([m["file"] for m in o["decode"]["missing"]] == [library], o["decode"])


@case
def replaced(folder):
    """Another file at its path is not used: the message has both build-ids."""
    path, want, library = recorded(folder)
    other = os.path.join(lib.PROGS, "libprog_lib_two.so")
    bids = build_id(library), build_id(other)
    check(bids[0] != bids[1], "the two libraries are one")
    shutil.copy(other, library)
    r = decode(path).expect(0)
    costs_only(path, r, want, library)
    check(all(bid in r.err for bid in bids), r.err)


@case
def in_place(folder):
    """With all files unchanged there is no message."""
    path, want, library = recorded(folder)
    r = decode(path, "--strict").expect(0)
    lib.same_transfers(without_gaps(r), want, "decode", "truth")
    check(r.err == "", r.err)
    info = Run([PTCAP, "info", "-i", path]).expect(0).out
    check(re.search(r"^decode +can be decoded here: yes, with \d+ files$", info, re.M), info)


@case
def cached(folder):
    """perf's build-id cache has the library."""
    if not lib.have_perf():
        lib.skip("no perf here")
    path, want, library = recorded(folder)
    cache = os.path.join(folder, "cache")
    Run([lib.PERF, "--buildid-dir", cache, "buildid-cache", "-a", library]).expect(0)
    os.unlink(library)  # the cache may have a link to it, which must not be overwritten
    shutil.copy(os.path.join(lib.PROGS, "libprog_lib_two.so"), library)
    r = decode(path, "--strict", PERF_BUILDID_DIR=cache).expect(0)
    lib.same_transfers(without_gaps(r), want, "decode", "truth")
    check(f"'{library}' has build-id" in r.err and "is used" in r.err, r.err)
    with open(os.path.join(folder, ".perfconfig"), "w", encoding="ascii") as f:
        f.write(f"[core]\n\tx = 1\n[buildid]\n\tdir = {cache}\n")
    r = decode(path, "--strict", PERF_BUILDID_DIR="", HOME=folder).expect(0)
    lib.same_transfers(without_gaps(r), want, "decode", "truth")


@case
def symfs(folder):
    """--symfs DIR: a copy of the files of another machine, under their paths."""
    path, want, library = recorded(folder)
    root = os.path.join(folder, "root")
    os.makedirs(root + os.path.dirname(library))
    os.rename(library, root + library)
    r = decode(path, "--strict", "--symfs", root).expect(0)
    lib.same_transfers(without_gaps(r), want, "decode", "truth")
    shutil.copy(os.path.join(lib.PROGS, "libprog_lib_two.so"), root + library)
    r = decode(path, "--symfs", root).expect(0)
    costs_only(path, r, want, library)


@case
def core(folder):
    """--core: the code of a program that died and was deleted."""
    def all_of_it():
        with open("/proc/self/coredump_filter", "w", encoding="ascii") as f:
            f.write("0x37")  # also mapped files

    program = os.path.join(folder, "shell")
    shutil.copy("/bin/sh", program)
    path, truth = os.path.join(folder, "perf.data"), os.path.join(folder, "truth")
    argv = [*lib.RECORD, "-o", path, "--truth", truth, "--", program, "-c", "kill -SEGV $$"]
    dump = lib.core_of(folder, argv, 139, all_of_it)
    with open(truth, encoding="ascii") as f:
        want = lib.transfers(f.read())
    os.unlink(program)
    r = decode(path).expect(0)
    check(without_gaps(r) != want and program in r.err, r.err)
    r = decode(path, "--strict", "--core", dump).expect(0)
    lib.same_transfers(without_gaps(r), want, "decode", "truth")
    check("assumed: what was taken from" in r.err, r.err)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
