#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""callchains.py NAME: samples with call chains (`ptcap convert --callchains`), compared with those of perf inject."""

import glob
import os
import re
import resource
import signal
import sys
from collections import Counter

import lib
from compile import built
from lib import PERF, PTCAP, Run, check, have_perf, prog
from store import fetch

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "prog_profile.c")
CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def chained(path, period, *options):
    """Convert with call chains. Returns the new file."""
    out = path + ".chains"
    r = Run([PTCAP, "convert", "-i", path, "-o", out, f"--callchains={period}", *options]).expect(0)
    check(re.search(r"\d+ samples? with a call chain made from the trace", r.err), r.err)
    return out


def injected(path, period):
    """Return a file with perf's own samples of the trace."""
    if not have_perf():
        lib.skip_without("perf")
    out = path + ".inject"
    Run([PERF, "inject", f"--itrace=i{period}ig127e", "-i", path, "-o", out]).expect(0)
    return out


def samples(path):
    """Return [(tid, ip, chain)] of the samples with a call chain. A chain has numbers and the names of its markers."""
    found = []
    for line in Run([PTCAP, "dump", "-i", path, "--type", "SAMPLE"]).expect(0).out.splitlines():
        m = re.search(r" ip=(0x\w+) period=\d+ callchain=\[([^]]*)\].* tid=(\d+) ", line)
        if m:
            found.append((int(m[3]), m[1], m[2].split()))
    return found


def icounts(path):
    """Return {tid: number of instructions}."""
    last = {}
    for line in Run([PTCAP, "decode", "-i", path, "-F", "tid,icount"]).out.splitlines():
        if line[0] != "#":
            tid, n = map(int, line.split())
            last[tid] = n
    return last


def static_program(folder):
    program = built(folder, ["gcc", "-O1", "-g", "-static", SOURCE])
    if not program:
        lib.skip_without("gcc")
    path = program + ".data"
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", program]).expect(0)
    return path


@case
def like_perf(folder):
    """All samples are those of perf inject: instruction and chain. Programs with and without libraries, recursion, tail calls."""
    paths = {"profile": static_program(folder), "libraries": os.path.join(folder, "libraries"), "jcc": os.path.join(folder, "jcc")}
    fetch(paths["libraries"], ["/bin/ls", "/"])
    fetch(paths["jcc"], [prog("jcc")])
    for name, path in paths.items():
        for period in (97, 1000):
            ours, theirs = samples(chained(path, period)), samples(injected(path, period))
            check(ours == theirs, f"{name}: {len(ours)} and {len(theirs)} samples; {[p for p in zip(ours, theirs) if p[0] != p[1]][:2]}")
            check(len(ours) == sum(n // period for n in icounts(path).values()), f"{name}: {len(ours)} samples")
    check(len(samples(chained(paths["profile"], 97))) > 500, "few samples")


@case
def left_frames(folder):
    """Where an exception leaves functions, perf keeps their frames. Such a chain has all our addresses, and others."""
    path = os.path.join(folder, "except")
    fetch(path, [prog("except")])
    ours, theirs = samples(chained(path, 100)), samples(injected(path, 100))
    check([s[:2] for s in ours] == [s[:2] for s in theirs], "other instructions")
    longer = 0
    for (_, ip, a), (_, _, b) in zip(ours, theirs):
        rest = iter(b)
        check(all(address in rest for address in a), f"{ip}: {a} is not in {b}")
        longer += len(b) > len(a)
    check(0 < longer < len(ours), f"{longer} of {len(ours)} chains")


@case
def threads(folder):
    """Each thread has a sample for each PERIOD of its own instructions."""
    for name in ("laps", "vforked", "signal"):
        path = os.path.join(folder, name)
        fetch(path, [prog(name)])
        got = Counter(tid for tid, _, _ in samples(chained(path, 50)))
        want = {tid: n // 50 for tid, n in icounts(path).items() if n >= 50}
        check(want and got == want, f"{name}: {got} instead of {want}")


@case
def readers(folder):
    """perf report, perf script and hotspot's parser read the samples, with names."""
    out = chained(static_program(folder), 100, "--strip-aux")
    if have_perf():
        report = Run([PERF, "report", "-g", "--stdio", "--no-children", "-i", out]).expect(0)
        check("fibonacci" in report.out and "__libc_start_call_main" in report.out, report.out[:2000])
        blocks = [block.split("\n") for block in Run([PERF, "script", "-F", "event,ip,sym", "-i", out]).expect(0).out.split("\n\n") if block.strip()]
        check(len(blocks) == len(samples(out)), f"{len(blocks)} samples in perf script")
        stacks = Counter(tuple(line.split()[1] for line in block[1:]) for block in blocks)
        check(any(stack[-2:] == ("__libc_start_main_impl", "_start") and "main" in stack for stack in stacks), list(stacks)[:3])
    parser = glob.glob("/usr/lib/*/libexec/hotspot-perfparser")
    if not parser:
        lib.skip_without("hotspot-perfparser")
    made = out + ".hotspot"
    r = Run([parser[0], "--input", out, "--output", made]).expect(0)
    with open(made, "rb") as f:
        data = f.read()
    check(data.startswith(b"QPERFSTREAM\0") and all(name in data for name in (b"fibonacci", b"choose", b"instructions:u")), r.err)


def small_files():
    """Let each write beyond 4 KiB of a file fail."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


@case
def messages(folder):
    """Gaps are reported. A copy that fails reports no number of samples, and leaves no file."""
    gap, new = os.path.join(os.path.dirname(__file__), "../../traces/gap.data"), os.path.join(folder, "new")
    for option in ("--callchains=1000", "--branch-stacks"):
        r = Run([PTCAP, "convert", "-i", gap, "-o", new, option]).expect(0)
        check("1 gap in the trace" in r.err and re.search(r"\d+ (samples|branch stacks) .*made from the trace", r.err), r.err)
        os.unlink(new)
        r = Run([PTCAP, "convert", "-i", gap, "-o", new, option], preexec_fn=small_files)
        check(r.status == 1 and "made from the trace" not in r.err and os.listdir(folder) == [], f"{r.status} {r.err}")


@case
def forms(folder):
    """Pipe mode and compression keep the samples. Bad options are errors, and write nothing."""
    path = os.path.join(folder, "recurse")
    fetch(path, [prog("recurse")])
    want = samples(chained(path, 100))
    check(want, "no samples")
    for options in (["--pipe"], ["--compress"]):
        check(samples(chained(path, 100, *options)) == want, options)
    new = os.path.join(folder, "new")
    for words, *options in (
        ("--callchains", "--callchains=0"),
        ("--callchains", "--callchains=x"),
        ("cannot be combined", "--callchains", "--branch-stacks"),
        ("cannot be combined", "--callchains", "--tid=1"),
    ):
        r = Run([PTCAP, "convert", "-i", path, "-o", new, *options]).expect(2)
        check(words in r.err and not os.path.exists(new), f"{options}: {r.err}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
