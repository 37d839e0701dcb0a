#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""crash_core.py NAME: the cores of `ptcap crash core`, compared with the kernel's cores of the same
crashes, with gcore's cores of the same live processes, and with `ptcap crash show`. gdb and eu-stack
read all of them.
"""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys

import lib
from crash import STATIC, holds, shown
from lib import PTCAP, Run, check, prog
from stacks import Program

ADDR_NO_RANDOMIZE = 0x0040000  # of personality(2); scripts/test sets it for sanitizers
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
    return threads_of_eu_stack(f"--core={core}", "-e", program)


def threads_of_eu_stack(*options):
    r = Run(["eu-stack", *options], env=ENV)
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
    """Return (options, program, modes). Dynamic programs take seconds to step: the case snapshots has one."""
    if lib.has_events() and lib.has_ptrace():
        return [(EVENTS, prog("crash"), MODES), (STEP, STATIC, ("null",))]
    return [(STEP, prog("crash"), ("thread", "null"))]


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
    for source, usual, modes in sources():
        for program, mode in [*((usual, m) for m in modes), (SORT, "sort")]:
            real = lib.core_of(folder, [PTCAP, "crash", "-q", *source, "-o", recording, "--", program, mode, "core"])
            equal(folder, recording, real, program, f"{os.path.basename(program)} {mode} {source[-1]}", tools)


@case
def snapshots(folder):
    """The same, from the state in a snapshot of --on-crash."""
    tools = readers()
    if not lib.has_ptrace():
        lib.skip("no ptrace")
    options = ["-q", *STEP, "--on-crash", "-m", "256K,64K", "-o", os.path.join(folder, "f")]
    for program, mode in ((STATIC, "thread"), (SORT, "sort")):
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


def same(what, got, want, reference="the kernel's core"):
    check(got.keys() == want.keys(), f"{what}: threads {list(got)} instead of {list(want)}")
    for tid, frames in want.items():
        text = lib.first_difference(got[tid], frames, "ptcap's core", reference)
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
        for _ in range(20):  # until main() has left clone3(), of which the frames cannot be unwound
            Run([PTCAP, "crash", "-q", *sources()[0][0], "-o", recording, "--", program, mode]).expect(128 + signal.SIGSEGV)
            if not any("clone" in (t["function"] or "") for t in shown(recording)["threads"]):
                break
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
        (4, "no state of process 1, but of process ", "null", "-p", "1", "-o", "new"),
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


# --- cores that belong to another crash -------------------------------------------------------

PRSTATUS, PRPSINFO, PID_OF_THREAD, PID_OF_PROCESS, RIP = 1, 3, 32, 24, 112 + 16 * 8


def notes(core):
    """Yield (type, offset of the type, offset of the contents) of the notes of a core."""
    at, size = struct.unpack_from("<Q16xQ", core, 64 + 8)  # the first program header
    end = at + size
    while at < end:
        name, length, kind = struct.unpack_from("<III", core, at)
        yield kind, at + 8, at + 12 + (name + 3 & ~3)
        at += 12 + (name + 3 & ~3) + (length + 3 & ~3)


def edited(path, *changes):
    """Return a copy of a core in which @changes (note type, offset, old number or None, number) are made."""
    with open(path, "rb") as f:
        core = bytearray(f.read())
    for kind, off, old, new in changes:
        at = [c for k, _, c in notes(core) if k == kind]
        fits = [c for c in at if old in (None, struct.unpack_from("<I", core, c + off)[0])]
        check(fits, f"no note {kind} with {old}")
        struct.pack_into("<I", core, fits[0] + off, new)
    return save(path + ".edited", core)


def save(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


def refused(recording, core, *words):
    """`crash show` exits with 1, prints no report, and names the core and the difference."""
    r = Run([PTCAP, "crash", "show", "-i", recording, "--core", core]).expect(1)
    check(not r.out and f"'{core}'" in r.err, f"{r.out} {r.err}")
    for word in words:
        check(word in r.err, f"'{word}' is not in: {r.err}")


def died(folder, name, program, mode, *command):
    """Return a recording of this death, its core, and the report."""
    path = os.path.join(folder, name)
    Run([PTCAP, *(command or ["crash"]), "-q", *sources()[0][0], "-o", path, "--", program, mode]).expect(128 + signal.SIGSEGV)
    if command:
        return path
    os.rename(written(folder, path), path + ".core")
    return path, path + ".core", shown(path)


@case
def others(folder):
    """The core of another process is refused: by pid, threads, addresses and build-ids."""
    first, core, said = died(folder, "first", prog("crash"), "thread")
    second, other, _ = died(folder, "second", prog("crash"), "thread")
    check(shown_with(first, core)["core_agrees"], "the right core differs")
    pid, pid_of_other = said["pid"], shown(second)["pid"]
    refused(first, other, f"pid {pid_of_other} in the core", f"pid {pid} in the recording", "omit --core")
    tid = next(t["tid"] for t in said["threads"] if t["tid"] not in (pid, said["tid"]))
    refused(first, edited(core, (PRSTATUS, PID_OF_THREAD, tid, 1)), "the core has thread 1,", "omit --core")
    less = edited(core, (PRSTATUS, PID_OF_THREAD, tid, pid))
    refused(first, less, f"the recording has thread {tid},", "omit --core")
    with open(core, "rb") as f:
        data = f.read()
    at = data.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16  # the program's build-id
    refused(first, save(core + ".id", data[:at] + bytes(20) + data[at + 20 :]), "build-id of 'prog_crash'", data[at : at + 20].hex())
    check(os.path.getsize(core) == len(data), "the core was changed")
    alone(folder, core, pid)
    one_of_two(folder)


def alone(folder, core, pid):
    """A recording without a state knows its processes."""
    refused(died(folder, "record", prog("crash"), "thread", "record"), core, f"process {pid}", "no such process", "omit --core")


def one_of_two(folder):
    """If the recording has the crash of the core, the message names the option that shows it."""
    path = os.path.join(folder, "two")
    argv = [prog("run"), "5", STATIC, "null", ";", STATIC, "null"]
    Run([PTCAP, "crash", "-q", *STEP, "-o", path, "--", *argv]).expect(5)
    last = shown(path)["pid"]
    pids = re.findall(r"crash: signal\" pid=(\d+)", Run([PTCAP, "dump", "-i", path]).expect(0).out)
    check(len(pids) == 2 and pids[1] == str(last), f"processes {pids}, the last one is {last}")
    first = int(pids[0])
    check(shown(path)["others"] == [{"pid": first, "signal": "SIGSEGV"}], f"{shown(path)['others']}")
    r = Run([PTCAP, "crash", "show", "-i", path]).expect(0)
    check(f"\n  others  process {first} (SIGSEGV); --pid chooses one\n" in r.out, r.out)
    core = written(folder, path, "-p", str(first))
    refused(path, core, f"pid {first} in the core", f"pid {last} in the report", f"--pid {first}")
    Run([PTCAP, "crash", "show", "-i", path, "-p", str(first), "--core", core]).expect(0)


@case
def reused(folder):
    """The core of a later process with the same pid and threads is refused by its addresses."""
    with open("/proc/sys/kernel/randomize_va_space", encoding="ascii") as f, open("/proc/self/personality", encoding="ascii") as own:
        if f.read().strip() == "0" or int(own.read(), 16) & ADDR_NO_RANDOMIZE:
            lib.skip("no random addresses")
    first, _, said = died(folder, "first", prog("crash"), "null")
    _, core, other = died(folder, "second", prog("crash"), "null")
    pid, was = said["pid"], other["pid"]
    core = edited(core, (PRPSINFO, PID_OF_PROCESS, was, pid), (PRSTATUS, PID_OF_THREAD, was, pid))
    refused(first, core, f"another process with pid {pid}", " is at 0x", "omit --core")


@case
def similar(folder):
    """A core without a pid is accepted, and a core of another moment of the same threads differs."""
    recording, core, said = died(folder, "f", prog("crash"), "thread")
    with open(core, "rb") as f:
        data = bytearray(f.read())
    for kind, at, _ in notes(data):
        if kind == PRPSINFO:
            struct.pack_into("<I", data, at, 0x7FFF)
    check(shown_with(recording, save(core + ".nopid", data))["core_agrees"], "without a pid")
    moved = shown_with(recording, edited(core, (PRSTATUS, RIP, None, 0x1000)))
    check(moved["core_agrees"] is False and not moved["state_of_core"], "at another place")
    check(moved["text"] == said["text"], f"{moved['text']} instead of {said['text']}")


@case
def emulated(folder):
    """QEMU's core of an emulated program is accepted, and that of another run is refused."""
    if not shutil.which(os.environ.get("PTCAP_QEMU", "qemu-x86_64")):
        lib.skip("no QEMU")
    argv = [PTCAP, "record", "-q", "--source", "emu", "-o", "f", "--", STATIC, "null", "core"]
    cores = []
    for n in range(2):
        cores.append(os.path.join(folder, f"of_run_{n}"))
        os.rename(lib.core_of(folder, argv, 128 + signal.SIGSEGV), cores[n])
    said = shown_with(os.path.join(folder, "f"), cores[1])
    check(said["state_of_core"] and said["fault"]["function"] == "write_null", said["text"])
    refused(os.path.join(folder, "f"), cores[0], "no such process", "omit --core")


@case
def gcore(folder):
    """The core of gcore, made while the process waits, is accepted."""
    if not shutil.which("gcore") or not lib.has_ptrace():
        lib.skip("no gcore, or no ptrace")
    path = os.path.join(folder, "f")
    with subprocess.Popen([prog("wait")], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as target:
        check(target.stdout.readline() == b"ready\n", "the target is not ready")
        Run(["gcore", "-o", path, str(target.pid)], env=ENV).expect(0)
        with subprocess.Popen([PTCAP, "crash", "--source", "step", "-o", path, "-p", str(target.pid)], stderr=subprocess.PIPE, text=True) as us:
            for line in us.stderr:
                if "attached" in line:
                    os.kill(target.pid, signal.SIGTERM)
                    break
            us.stderr.read()
        target.wait()
    check(shown_with(path, f"{path}.{target.pid}")["core_agrees"], "gcore's core differs")
    r = Run([PTCAP, "crash", "show", "-i", path, "--core", f"{path}.{target.pid}"]).expect(0)
    check(re.search(r"(?m)^  core    agrees$", r.out), r.out)


# --- processes that live on -------------------------------------------------------------------


@case
def live(folder):
    """The readers show the frames of gcore's core of the process, and of eu-stack on the process."""
    tools = readers()
    if not lib.has_ptrace() or ("gdb" in tools and not shutil.which("gcore")):
        lib.skip("no ptrace of what is not a child, or no gcore")
    path, program = os.path.join(folder, "f"), prog("stacks")
    p, q = Program("waits").settle(running=1), Program("deadlock").settle()
    said = Run([PTCAP, "stacks", "-p", f"{p.pid},{q.pid}", "-o", path, "--format", "json"]).expect(0).out
    [spins] = [str(t["tid"]) for t in json.loads(said)["processes"][0]["threads"] if t["name"] == "spin"]
    ours = written(folder, path, "-p", str(p.pid))
    theirs = {}
    if "eu-stack" in tools:
        theirs["eu-stack"] = threads_of_eu_stack("-p", str(p.pid))
    if "gdb" in tools:
        Run(["gcore", "-o", path, str(p.settle(running=1).pid)], env=ENV).expect(0)
        theirs["gdb"] = by_gdb(program, f"{path}.{p.pid}")
        text = gdb(program, ours, "info threads")
        check("Program terminated" not in text and f"* 1    LWP {p.pid} " in text, f"a signal, or another first thread: {text}")
    for name, want in theirs.items():
        got = tools[name](program, ours)
        del got[spins][0], want[spins][0]  # it runs
        check(len(want) == 16 and want[spins], f"{name}: {want}")
        same(f"live: {name}", got, want, f"{name} on the process")
    several(folder, path, p.pid, q.pid)
    at_the_end(folder, q)
    p.ends()
    q.ends()


def several(folder, path, *pids):
    """Without a death, ptcap chooses no process of several by itself."""
    new = os.path.join(folder, "new")
    for status, words, *options in (
        (2, f"states of several processes: {pids[0]}, {pids[1]}; choose one with --pid"),
        (4, f"no state of process 1, but of process {pids[0]}, {pids[1]}", "-p", "1"),
    ):
        r = Run([PTCAP, "crash", "core", "-i", path, "-o", new, *options]).expect(status)
        check(words in r.err and not os.path.exists(new), r.err)


def at_the_end(folder, p):
    """The same of `crash -p`, which ^C has ended. The only process needs no --pid."""
    path = os.path.join(folder, "ended")
    if not lib.has_events():
        return
    with subprocess.Popen([PTCAP, "crash", *EVENTS, "-o", path, "-p", str(p.pid)], stderr=subprocess.PIPE, text=True) as us:
        check(any("attached" in line for line in us.stderr), "not attached")
        us.send_signal(signal.SIGINT)
        us.stderr.read()
    ours = written(folder, path)
    for name, read in readers().items():
        text = "\n".join(frame for frames in read(prog("stacks"), ours).values() for frame in frames)
        check("go_left" in text and "go_right" in text, f"{name}: {text}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
