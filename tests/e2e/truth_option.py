# SPDX-License-Identifier: MIT
"""Checks of truth.py: recordings with an option of `ptcap record`."""

import ctypes.util
import os
import re

import lib
from lib import Run, check
from perf_branches import perf_agrees
from recording import recorded, shape, well_formed


def relative(want):
    """Return only the kinds: two runs with other load addresses are comparable by them."""
    return [t[2] for flow in want.values() for t in flow]


def tips(path):
    """Return the number of TIP packets in a recording, from perf's dump."""
    r = Run([lib.PERF, "script", "-D", "-i", path])
    return len(re.findall(r"\bTIP 0x", r.out))


def check_noretcomp(folder, name, argv):
    # A PSB clears the return addresses, and the number of PSBs depends on time. So use only one.
    path, truth = recorded(folder, argv, "--psb-period", "64M")
    with_compression = lib.equals_truth(path, truth)
    plain, truth = recorded(folder, argv, "--no-retcomp", name="plain.data")
    want = lib.equals_truth(plain, truth)
    check(relative(want) == relative(with_compression), "another flow without return compression")
    perf_agrees(name.replace("_noretcomp", ""), plain, argv, want)
    # Each branch whose target is not in the code has a packet now, returns too.
    flow = relative(want)
    expected = sum(flow.count(kind) for kind in ("ret", "ijmp", "icall", "iret", "far"))
    check(tips(plain) == expected, f"{tips(plain)} TIP packets, expected {expected}")
    if name.removeprefix("emu_").startswith(("recurse", "string")):  # programs whose returns match their calls
        check(tips(path) < expected // 2, "returns are not compressed with compression on")


def check_smallrings(folder, name, argv):
    for rings in ("8K,8K", "8K,64K", "64K,8K"):
        path, truth = recorded(folder, argv, "--lossy", "--lossless", "-m", rings)
        shape(lib.equals_truth(path, truth))
        os.unlink(path)


def account(err):
    """Check trace bytes in the file, lost, and made, from record's summary; they must add up.
    Returns the lost bytes."""
    number = [re.search(p, err) for p in (r"(\d+) of them trace", r"(\d+) bytes of trace; ", r"generated trace: (\d+) bytes")]
    check(all(number), f"no account of the loss: {err!r}")
    stored, lost, made = (int(n[1]) for n in number)
    check(lost and stored + lost == made, f"{stored} stored, {lost} lost, {made} made")
    return made


def check_lossy(folder, name, argv):
    """With rings far too small, and no waiting: stored and lost add up to made, and the rest is right."""
    path, truth = os.path.join(folder, "perf.data"), os.path.join(folder, "truth")
    # At full speed, tens of megabytes: checks only the account.
    r = lib.record(path, [argv[0], "1000000"], "--lossy", "-m", "256K,64K", "--no-retcomp").expect(Run(argv).status)
    check(account(r.err) > 20 << 20, f"too little to count: {r.err}")
    runs = []
    for _ in range(50):  # until ptcap got its turn before the program's end
        r = lib.record(path, argv, "--lossy", "-m", "256K,8K", "--truth", truth).expect(Run(argv).status)
        account(r.err)
        d = lib.decode(path, "-F", "tid,from,to,kind", "--strict").expect(3)
        runs = [run.splitlines() for run in re.sub(r"(?m)^#.*\n", "\0", d.out).split("\0") if run]
        if len(runs) > 1:
            break
    check(len(runs) > 1, "there is nothing behind a gap")
    with open(truth, encoding="ascii") as f:
        want = f.read().splitlines()
    lib.in_order(path)
    at = 0
    for run in runs:
        while want[at : at + len(run)] != run:
            check(at < len(want), f"not in the truth, or not in order: {run[:3]} ... {run[-3:]}")
            at += 1
        at += len(run)


# name of a case: options, and the number of instructions in the zone (None: any)
ZONES = {
    "zone_calls": (["--from", "hop", "--to", "hop+9"], 600),  # lea, push, ret of 200 calls
    "zone_once": (["--to", "prog_main"], None),
    "zone_from": (["--from", "prog_main"], None),
    "zone_limit": (["--from", "hop", "--to", "hop+9", "--max-steps", "100"], 100),
    "zone_threads": (["--from", "add_locked", "--to", "count"], None),
    "zone_storm": (["--from", "malloc@LIBC", "--to", "free@LIBC"], None),
    "zone_forked": (["--from", "getpid@LIBC"], None),
    "zone_main": (["--from", "main"], None),
}


def check_compressed(folder, name, argv):
    if not lib.have_perf():
        lib.skip("no perf here (Debian: linux-perf)")
    path, truth = recorded(folder, argv, "-z3")
    want = lib.equals_truth(path, truth)
    perf_agrees(name, path, argv, want)
    env = dict(os.environ, HOME=folder, DEBUGINFOD_URLS="", PERF_PAGER="cat")
    header = Run([lib.PERF, "report", "--header-only", "-i", path], env=env).expect(0).out
    check(re.search(r"# compressed : Zstd, level = 3, ratio = [1-9]", header), header)
    dump = Run([lib.PERF, "report", "-D", "-i", path], env=env).expect(0)
    check(not dump.err, f"perf says {dump.err!r}")
    for word in ("PERF_RECORD_MMAP2", "PERF_RECORD_COMM exec", " COMPRESSED events: "):
        check(word in dump.out, f"perf report -D shows no {word}")
    for word in ("PERF_RECORD_LOST", "UNKNOWN"):
        check(word not in dump.out, f"perf report -D shows {word}")


def check_zone(folder, name, argv):
    options, count = ZONES[name]
    libc = ctypes.util.find_library("c")
    found = [p for p in ("/lib/x86_64-linux-gnu", "/lib64", "/usr/lib") if os.path.exists(os.path.join(p, libc))]
    check(found, "no libc")
    options = [o.replace("LIBC", os.path.join(found[0], libc)) for o in options]
    path, truth = recorded(folder, argv, *options)
    want = lib.equals_truth(path, truth)
    for flow in want.values():
        well_formed(flow)
    perf_agrees(name, path, argv, want)
    if count is not None:
        got = lib.decode(path, "-F", "insn-ip").expect(0).out.split()
        check(len(got) == count, f"{len(got)} instructions, expected {count}")
    if os.path.basename(argv[0]) == "prog_busy":  # less than the whole
        plain, truth = recorded(folder, argv, name="whole.data")
        whole = sum(len(flow) for flow in lib.equals_truth(plain, truth).values())
        size = sum(len(flow) for flow in want.values())
        check(0 < size < whole, f"{size} transfers in the zone, {whole} in all")
