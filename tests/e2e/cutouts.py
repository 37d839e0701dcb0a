#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cutouts.py NAME: recordings by `ptcap convert --shard`. `decode --shard I/N` prints of such a recording what it prints of the
whole one, byte for byte.

NAME is a recording of shards.PROGRAMS, or a case below.
"""

import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys

import lib
import shards
import store
from lib import PTCAP, Run, check, prog

NUMBERS = (1, 2, 3, 7, 16)
# Options of the whole. The first ones are compared with all NUMBERS.
FORMS = (
    ["-F", "pid,tid,cpu,time,from,to,kind"],
    ["--format=bin"],
    ["--format=json"],
    ["--insn", shards.AXIS],
    ["-F", "from,to,tosym", "--engine=libipt", "-j1"],
    ["--format=bin", "-j", "3:1"],
)
PROGRAMS = ("signal", "jit", "locks", "cpus", "dlopen", "lossy")
REFUSED = "ends before the shard does"


def cut(path, folder, n, *options):
    """Cut the recording into N files. Returns their names."""
    files = []
    for i in range(1, n + 1):
        files.append(os.path.join(folder, f"part{i}.{n}"))
        r = Run([PTCAP, "convert", "-i", path, f"--shard={i}/{n}", *options, "-o", files[-1]]).expect(0)
        check(f"has shard {i} of {n}," in r.err and f"--shard {i}/{n}" in r.err, r.err)
    return files


def verified(files):
    for file in files:
        r = Run([PTCAP, "dump", "--verify", "-i", file])
        check(r.status == 0, f"{file}: {r.out} {r.err}")


def decoded(files, form):
    """Return the output of all files in order."""
    options = [a for a in form if a != shards.AXIS]
    return b"".join(shards.decode(["-i", f, *options, f"--shard={i}/{len(files)}"]) for i, f in enumerate(files, 1))


def same(path, files, form):
    got, whole = decoded(files, form), shards.decode(["-i", path, *form])
    equal = shards.comparable(got) == shards.comparable(whole) if "--format=json" in form else got == whole
    check(equal, f"{path} {form}: {len(files)} files have {len(got)} bytes, the whole has {len(whole)}, or others")


def added(path, files):
    """The counts of the files, added, are those of the whole."""
    for of, options in ((shards.totals, ["--stats", "--format=json"]), (shards.counts, ["--counts=blocks", "--format=json"])):
        whole = of(shards.decode(["-i", path, *options]))
        got = sum((of(shards.decode(["-i", f, *options, f"--shard={i}/{len(files)}"])) for i, f in enumerate(files, 1)),
                  shards.collections.Counter())
        check(got == +whole, f"{path} {options}: {len(files)} files: {got - whole} {whole - got}")


def all_forms(path, folder, numbers=NUMBERS):
    # The recording must not be needed any more.
    for n in (2,) if store.READS else numbers:  # a sanitizer is slow
        files = cut(path, folder, n)
        verified(files)
        for form in FORMS if n in (2, 7) else FORMS[:2]:
            same(path, files, form)
        if n == 7:
            added(path, files)
        for f in files:
            os.unlink(f)


def program(name):
    def case(folder):
        all_forms(store.fetch_entry(folder, shards.PROGRAMS[name]), folder)

    return case


def recordings(folder):
    for name in ("launch", "threads", "gap", "calls"):
        all_forms(os.path.join(shards.KEPT, f"{name}.data"), folder, (3, 16))


def equal_or_refused(path, folder, numbers):
    """Each file has the output of its shard, or is refused. Returns the numbers of both."""
    found = [0, 0]
    for n in numbers:
        for i, file in enumerate(cut(path, folder, n), 1):
            options = [*FORMS[0], f"--shard={i}/{n}"]
            r = subprocess.run([PTCAP, "decode", "-i", file, *options], stdin=subprocess.DEVNULL, capture_output=True)
            refused = r.returncode == 1 and REFUSED.encode() in r.stderr
            check(refused or r.stdout == shards.decode(["-i", path, *options]), f"{file}: {r.returncode}, another output {r.stderr}")
            found[refused] += 1
    return found


def hardware(folder):
    """Traces of real hardware. The kernel's code is missing, so that gaps go on behind borders."""
    for path in shards.hardware_inputs():
        equal, no = equal_or_refused(path, folder, (2, 3, 16))
        check(equal > 3, f"{path}: {equal} are equal, {no} are refused")


def long_recording(folder, *options):
    if not shutil.which("qemu-x86_64"):
        lib.skip("no qemu-x86_64")
    path = os.path.join(folder, "perf.data")
    store.fetch(path, [prog("busy"), "30000"], "--psb-period", "2K", *options, source="emu")
    return path


def small(folder):
    """A cutout of a long trace has its part of the bytes, and little more. All forms of a file are possible."""
    path = long_recording(folder)
    whole = os.path.getsize(path)
    for n in (2, 7):
        sizes = [os.path.getsize(f) for f in cut(path, folder, n)]
        check(max(sizes) < whole / n * 1.1 + 80000, f"{n} files have {sizes} of {whole} bytes")
    for options in (["--pipe"], ["--compress"], ["--redact"]):
        files = cut(path, folder, 2, *options)
        verified(files)
        same(path, files, FORMS[0])


def damaged(folder):
    """Beside damage a cutout has the same output, or decoding it is refused. It is never another output."""
    path, bad = long_recording(folder), os.path.join(folder, "bad.data")
    with open(path, "rb") as f:
        data = bytearray(f.read())
    psbs = [m.start() for m in re.finditer(rb"(?:\x02\x82){8}", bytes(data))]
    done = refused = 0
    for every in (3,) if store.READS else (2, 3, 5):
        worse = bytearray(data)
        for k, psb in enumerate(psbs[2::every]):
            # In front of a PSB may be the header of an AUXTRACE record (type 71), which is no trace.
            at = psb + (60 if data[psb - 48] == 71 else (-9, 60, 4)[k % 3])
            worse[at : at + 3] = b"\xff\x5a\xff"
        with open(bad, "wb") as f:
            f.write(worse)
        equal, no = equal_or_refused(bad, folder, (2, 7, 16))
        done, refused = done + equal, refused + no
    check(done > (15 if store.READS else 60) and refused < done / 4, f"{done} are equal, {refused} are refused")


def end(folder):
    """A cutout that has less trace than it names is refused."""
    path = long_recording(folder)
    file, cut_off = cut(path, folder, 3)[1], os.path.join(folder, "off")
    with open(file, "rb") as f:
        data = bytearray(f.read())
    at = data.index(b"ptcapCUT") - 8
    head = at + 8 + 8 + 64  # behind the record's header, the event_id and the name
    keep_to = head + 40 + 6 * 8
    (to_at,) = struct.unpack_from("<Q", data, keep_to - 16)
    # An end that is stored in front of the true one is no harm. An end behind the last byte is noticed.
    for off, why in ((to_at + 1, None), (2**60, "is missing")):
        worse = bytearray(data)
        struct.pack_into("<Q", worse, keep_to, off)
        with open(cut_off, "wb") as f:
            f.write(worse)
        r = Run([PTCAP, "decode", "-i", cut_off, *FORMS[0], "--shard=2/3"])
        check((r.status == 1 and why in r.err) if why else r.status == 0, f"{off:#x}: {r.status} {r.err}")

    # Any other border is refused, or has an output. It crashes nothing.
    rng, statuses = random.Random(5), set()
    for _ in range(80):
        worse = bytearray(data)
        at = head + rng.randrange(0, 40 + 7 * 8)
        value = rng.choice((0, 0xff, rng.randrange(256)))
        for k in range(at, at + rng.randrange(1, 9)):
            worse[k] = value
        with open(cut_off, "wb") as f:
            f.write(worse)
        r = Run([PTCAP, "decode", "-i", cut_off, *FORMS[0], "--shard=2/3"])
        check(r.status in (0, 1, 2, 3, 4), f"{at}: {r.status} {r.err}")
        statuses.add(r.status)
    check({0, 1} <= statuses, statuses)


def with_perf(folder):
    """perf reads each cutout, and finds the branches of the shard."""
    if not lib.have_perf():
        lib.skip_without("perf")
    path = long_recording(folder)
    for file in cut(path, folder, 3):
        r = Run([lib.PERF, "script", "-i", file, "--itrace=b", "-F", "ip,addr"])
        check(r.status == 0 and len(r.out.splitlines()) > 10000, f"{file}: {r.status} {len(r.out.splitlines())} {r.err[-300:]}")
        check("instruction trace error" not in r.out, f"{file}: {r.out[:300]}")


def refused(folder):
    """Other shards, another cut, snapshots, and other parts of the recording are refused with the reason."""
    path = long_recording(folder)
    file, out = cut(path, folder, 3)[1], os.path.join(folder, "out")
    for args, status, why in (
        (["decode", "-i", file, "--shard=1/3"], 2, "use --shard 2/3"),
        (["decode", "-i", file, "--shard=2/4"], 2, "use --shard 2/3"),
        (["convert", "-i", file, "--shard=1/2", "-o", out], 1, "shard 2 of 3 already"),
        (["convert", "-i", os.path.join(shards.KEPT, "snapshot.data"), "--shard=1/2", "-o", out], 1, "snapshots"),
        *((["convert", "-i", path, "--shard=1/2", more, "-o", out], 2, "--shard cannot be combined")
          for more in ("--tid=1", "--cpu=0", "--time=0,1", "--strip-aux", "--branch-stacks", "--callchains")),
        *((["convert", "-i", path, f"--shard={bad}", "-o", out], 2, "for example 1/8") for bad in ("0/2", "3/2", "1", "a/b")),
    ):
        r = Run([PTCAP, *args])
        check(r.status == status and why in r.err, f"{args}: {r.status} {r.err}")
        check(not os.path.exists(out), f"{args}: it wrote {out}")
    r = Run([PTCAP, "decode", "-i", file, "--stats"]).expect(0)
    check("has shard 2 of 3, and some trace around the shard; --shard 2/3 prints the shard alone" in r.err, r.err)
    lines = Run([PTCAP, "dump", "-i", file, "--format=json", "--type=header_event_type"]).out.splitlines()
    (o,) = [o["fields"] for o in map(json.loads, lines) if "shard" in o.get("fields", {})]
    check((o["shard"], o["shards"], len(o["queues"])) == (2, 3, 1), o)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main({"recordings": recordings, "hardware": hardware, "small": small, "damaged": damaged, "end": end, "perf": with_perf, "refused": refused,
              **{name: program(name) for name in PROGRAMS}})
