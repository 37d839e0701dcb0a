#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""crash_core.py NAME: the cores of `ptcap crash core`, compared with the kernel's cores of the same
crashes, and with `ptcap crash show`. gdb and eu-stack read both.
"""

import itertools
import json
import os
import re
import shutil
import signal
import sys

import lib
from crash import STATIC, holds, shown
from lib import PTCAP, Run, check, prog

CASES = {}
STEP, EVENTS = ["--source", "step"], ["-e", "dummy:u"]
MODES = ("thread", "null", "handler", "recursion", "abort")
SORT = prog("crash_sort")
ENV = {**os.environ, "DEBUGINFOD_URLS": "", "LC_ALL": "C"}


def case(f):
    CASES[f.__name__] = f
    return f


# --- what debuggers read ----------------------------------------------------------------------


def gdb(program, core, *commands):
    """Return what gdb prints for the commands."""
    options = [word for command in commands for word in ("-ex", command)]
    return Run(["gdb", "-nx", "-batch", program, core, *options], env=ENV).expect(0).out


def by_gdb(program, core):
    """Return {tid: frames} of a core, with arguments and source lines."""
    parts = re.split(r"\nThread \d+ \(.*?LWP (\d+)\)+:\n", gdb(program, core, "thread apply all bt"))
    check(len(parts) > 2, f"gdb finds no threads: {parts}")
    return {tid: re.findall(r"(?m)^#.*", text) for tid, text in zip(parts[1::2], parts[2::2])}


def by_eu_stack(program, core):
    """Return {tid: frames} of a core. A message about a missing frame is a frame that differs."""
    r = Run(["eu-stack", f"--core={core}", "-e", program], env=ENV)
    parts = re.split(r"(?m)^TID (\d+):\n", r.out)
    check(len(parts) > 2, f"eu-stack finds no threads: {r.err}")
    return {tid: text.splitlines() for tid, text in zip(parts[1::2], parts[2::2])}


READERS = {"gdb": by_gdb, "eu-stack": by_eu_stack}


def readers():
    found = {name: read for name, read in READERS.items() if shutil.which(name)}
    if not found:
        lib.skip("neither gdb nor eu-stack")
    return found


def sources():
    if lib.has_events() and lib.has_ptrace():
        return [(EVENTS, MODES), (STEP, ("null",))]
    return [(STEP, ("thread", "null"))]


def written(folder, recording, *options):
    """Return the core that ptcap writes."""
    path = os.path.join(folder, "written")
    Run([PTCAP, "crash", "core", "-i", recording, "-o", path, *options]).expect(0)
    return path


# --- cases ------------------------------------------------------------------------------------


@case
def kernels(folder):
    """Each reader shows the same frames of all threads, as on the kernel's core of this death."""
    tools = readers()
    recording = os.path.join(folder, "f")
    for source, modes in sources():
        for program, mode in [*itertools.product((prog("crash"), STATIC), modes), (SORT, "sort")]:
            real = lib.core_of(folder, [PTCAP, "crash", "-q", *source, "-o", recording, "--", program, mode, "core"])
            equal(folder, recording, real, program, f"{os.path.basename(program)} {mode} {source[-1]}", tools)


@case
def snapshots(folder):
    """The same, from the state in a snapshot of --on-crash."""
    tools = readers()
    if not lib.has_ptrace():
        lib.skip("no ptrace")
    options = ["-q", *STEP, "--on-crash", "-m", "256K,64K", "-o", os.path.join(folder, "f")]
    for program, mode in ((prog("crash"), "null"), (SORT, "sort")):  # stepped threads that run go on after the snapshot
        real = lib.core_of(folder, [PTCAP, "snapshot", *options, "--", program, mode, "core"])
        equal(folder, os.path.join(folder, "f.000"), real, program, f"snapshot, {mode}", tools)


def equal(folder, recording, real, program, what, tools):
    """The core of the recording equals the kernel's core @real for the tools and for ptcap."""
    ours = written(folder, recording)
    for name, read in tools.items():
        same(f"{what}: {name}", read(program, ours), read(program, real))
    check(shown_with(recording, ours)["core_agrees"], f"{what}: ptcap finds that its own core differs")
    check(os.path.getsize(ours) < 2 << 20, f"{what}: {os.path.getsize(ours)} bytes")


def shown_with(recording, core):
    return json.loads(Run([PTCAP, "crash", "show", "-i", recording, "--core", core, "--format", "json"]).expect(0).out)


def same(what, got, want):
    check(got.keys() == want.keys(), f"{what}: threads {list(got)} instead of {list(want)}")
    for tid, frames in want.items():
        text = lib.first_difference(got[tid], frames, "ptcap's core", "the kernel's core")
        check(not text, f"{what}: thread {tid}: {text}\n{got[tid]}\n{frames}")


@case
def shows(folder):
    """Also without a kernel's core: the readers agree with the report about the recording."""
    tools = readers()
    recording = os.path.join(folder, "f")
    for program, mode, died, others in (
        (prog("crash"), "thread", "write_null in_thread", ["waits", "spins", "main"]),
        (prog("crash"), "null", "write_null main", []),
        (SORT, "sort", "compares qsort sorts", ["waits", "main"]),
    ):
        Run([PTCAP, "crash", "-q", *sources()[0][0], "-o", recording, "--", program, mode]).expect(128 + signal.SIGSEGV)
        said = shown(recording)
        ours = written(folder, recording)
        for name, read in tools.items():
            frames = {tid: "\n".join(text) for tid, text in read(program, ours).items()}
            check(set(frames) == {str(t["tid"]) for t in said["threads"]}, f"{name}: threads {list(frames)}")
            for tid, text in frames.items():
                names = r"(?s)\b" + r"\b.*\b".join(died.replace("qsort", r"\w*qsort\w*").split())
                check(re.search(names, text) or tid != str(said["tid"]), f"{name}: {died} are not in {text}")
            for function in others:
                check(sum(bool(re.search(rf"\b{function}\b(?!/)", text)) for text in frames.values()) == 1, f"{name}: {function}: {frames}")


@case
def absent(folder):
    """Memory that was not kept is absent in the core: a debugger prints no zeros for it."""
    if not shutil.which("gdb"):
        lib.skip("no gdb")
    recording = os.path.join(folder, "f")
    Run([PTCAP, "crash", "-q", *sources()[0][0], "-o", recording, "--", STATIC, "null"]).expect(128 + signal.SIGSEGV)
    core = written(folder, recording)
    text = gdb(STATIC, core, "x/2xg $sp")
    check(re.search(r"0x\w+:\t0x\w+", text), f"the stack is missing: {text}")
    r = Run(["gdb", "-nx", "-batch", STATIC, core, "-ex", "x/2xg &environ"], env=ENV)
    check("Cannot access memory" in r.err and not re.search(r"environ>:\t\s*0x", r.out), f"{r.out} {r.err}")


@case
def files(folder):
    """The file is complete or does not exist. An existing file is kept as FILE.old."""
    os.chdir(folder)
    for mode, more in (("null", []), ("null", ["--no-memory"]), ("handled", [])):
        path = mode + ("bare" if more else "")
        Run([PTCAP, "crash", "-q", *sources()[0][0], "-o", path, *more, "--", STATIC, mode])
    with open("core", "w", encoding="ascii") as f:
        f.write("mine")
    r = Run([PTCAP, "crash", "core", "null"]).expect(0)
    check(re.fullmatch(r"ptcap: wrote 'core': process \d+, 1 thread, \d+ bytes of memory\n", r.err) and not r.out, r.err)
    with open("core.old", encoding="ascii") as f:
        check(f.read() == "mine", "the old file is lost")
    check(os.stat("core").st_mode & 0o077 == 0, "others can read the memory")
    with open("core", "rb") as f:
        want = f.read()
    with open("piped", "wb") as out, open("null", "rb") as f:
        Run([PTCAP, "crash", "core", "-i", "-", "-o", "-"], stdin=f, stdout=out).expect(0)
    with open("piped", "rb") as f:
        check(f.read() == want, "standard output has another core")
    r = Run([PTCAP, "crash", "core", "nullbare", "-o", "bare"]).expect(0)
    check("0 bytes of memory" in r.err and "--no-memory" in r.err and os.path.getsize("bare") < len(want), r.err)
    fails()


@case
def redacted(folder):
    """The core of a redacted recording has no arguments and no environment. The frames are the same."""
    tools = readers()
    # Longer than a vector register: the loader saves these below the stack pointer.
    in_environment, in_arguments = "of-the-environment" * 8, "of-the-arguments" * 8
    recording, clean = os.path.join(folder, "f"), os.path.join(folder, "clean")
    program, env = prog("crash"), {**os.environ, "SECRET": in_environment}
    r = Run([PTCAP, "crash", "-q", *sources()[0][0], "-o", recording, "--", program, "null", in_arguments], env=env)
    r.expect(128 + signal.SIGSEGV)
    Run([PTCAP, "convert", "-i", recording, "-o", clean, "--redact"]).expect(0)
    ours = written(folder, recording)
    check(holds(ours, in_environment) and holds(ours, in_arguments), "no secret is there to redact")
    want = {name: read(program, ours) for name, read in tools.items()}
    ours = written(folder, clean)
    check(not holds(ours, in_environment) and not holds(ours, in_arguments), "a secret is in the core")
    for name, read in tools.items():
        same(f"redacted: {name}", read(program, ours), want[name])


def fails():
    before = sorted(os.listdir("."))
    for status, words, *args in (
        (4, "no crash of process 1;", "null", "-p", "1", "-o", "new"),
        (4, "ptcap crash", "handled", "-o", "new"),
        (1, "No such file", "null", "-o", "missing/new"),
        (1, "No such file", "missing", "-o", "new"),
        (2, "", "null", "-o", "null"),
    ):
        r = Run([PTCAP, "crash", "core", *args]).expect(status)
        check(words in r.err and r.err and not r.out, f"{args}: {r.err}")
        check(sorted(os.listdir(".")) == before, f"{args}: {os.listdir('.')}")
    with open("/dev/full", "wb") as full:
        r = Run([PTCAP, "crash", "core", "null", "-o", "-"], stdout=full).expect(1)
    check("cannot write" in r.err, r.err)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
