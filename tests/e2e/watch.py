#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""watch.py NAME [TIMES]: ptcap sees what kills a program with the kernel's events, without stepping
it.

The event is dummy:u, which needs no PT: there is a state, and no trace. With Intel PT:
tests/guest/crash.sh.
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import lib
from crash import FAULTS, JUMPS, STATIC, at
from lib import PTCAP, Run, check, prog, until

CASES = {}
CRASH = [PTCAP, "crash", "-e", "dummy:u"]


def case(f):
    def known(folder, *args):
        if not lib.has_events() or not lib.has_ptrace():
            lib.skip("no perf events here, or no ptrace of what is not a child")
        f(folder, *args)

    CASES[f.__name__] = known
    return known


def show(path, *options):
    return json.loads(Run([PTCAP, "crash", "show", "-i", path, "--format", "json", *options]).expect(0).out)


def tracer(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"TracerPid:\t(\d+)", f.read())[1])


def state(pid):
    """Return the state of a process; "S": it sleeps."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return f.read().rsplit(")", 1)[1].split()[0]


@case
def faults(folder):
    """Each process dies as without ptcap; the instruction, the line, the reason and the stack come
    from the state."""
    path = os.path.join(folder, "f")
    for mode, (signame, reason, function, insn, access, _) in FAULTS.items():
        bare = Run([STATIC, mode])
        r = Run([*CRASH, "-o", path, "--", STATIC, mode]).expect(bare.status)
        check(r.out == bare.out and "1 process was killed" in r.err, f"{mode}: {r.out!r} {r.err!r}")
        Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
        said = show(path)
        got = (said["signal"], said["reason"], said["fault"]["access"])
        check(got == (signame, reason, access), f"{mode}: {got}, {said['text']}")
        at(said["fault"], mode, function)
        check(said["fault"]["insn"].startswith(insn), f"{mode}: {said['fault']['insn']}")
        check(not said["branches"] and not said["trace_ends_there"], f"{mode}: there is no trace")
        if reason != "stack-overflow" and mode != "longjmp":
            check("main" in [f["function"] for f in said["stack_unwound"]] or mode == "thread", f"{mode}: {said['stack_unwound']}")
        if mode == "thread":
            check(len(said["threads"]) == 4 and all(t["function"] for t in said["threads"]), f"{said['threads']}")


@case
def cores(folder):
    """All processes leave the same core as alone; each thread in it is at its place in the state:
    none ran on."""
    os.sched_setaffinity(0, range(os.cpu_count()))  # otherwise none could run on
    path = os.path.join(folder, "f")
    library = os.path.join(os.path.dirname(prog("x")), "libprog_lib_store.so")
    died = [[STATIC, mode] for mode in (*FAULTS, *JUMPS, "jit", "abort", "doublefree")]
    died += [[prog("crash"), "library", library], *([prog("crash_cxx"), mode] for mode in ("vtable", "assert", "throw"))]
    for argv in died:
        alone = lib.core_of(folder, [*argv, "core"])
        check(os.path.getsize(alone) > 4096, f"{argv}: an empty core")
        bare = Run(argv)
        dump = lib.core_of(folder, [*CRASH, "-q", "-o", path, "--", *argv, "core"], bare.status)
        said = show(path, "--core", dump)
        check(said["core_agrees"] and not said["state_of_core"], f"{argv}: the core differs: {said['text']}, {said['threads']}")


@case
def children(folder):
    """A child's death ends the recording; its parent runs on, and ptcap exits with the parent's
    status."""
    path = os.path.join(folder, "f")
    r = Run([*CRASH, "-o", path, "--", "/bin/dash", "-c", f"{STATIC} handled; {STATIC} null; echo on; exit 5"]).expect(5)
    check(r.out == "on\n", f"{r.out!r}")
    at(show(path)["fault"], "null", "write_null")
    r = Run([*CRASH, "-o", path, "--", STATIC, "handled"])
    check("no signal killed a process" in r.err, r.err)
    Run([PTCAP, "crash", "show", "-i", path]).expect(4)


@case
def several(folder):
    """--count: each death has a file of its own, and the last file has the end. The sources agree."""
    path = os.path.join(folder, "f")
    workers = ["/bin/dash", "-c", f"{STATIC} null; {STATIC} division; {STATIC} null; exit 5"]
    signals = ["SIGSEGV", "SIGFPE", "SIGSEGV"]
    for source, count, argv, died in (
        (["-e", "dummy:u"], 2, workers, signals[:2]),
        (["-e", "dummy:u"], 9, workers, signals),
        (["--source", "step"], 2, [STATIC, "child"], signals[:1]),  # a stepped shell takes long
    ):
        r = Run([PTCAP, "crash", *source, "--count", str(count), "-o", path, "--", *argv]).expect(Run(argv).status)
        files = sorted(name for name in os.listdir(folder) if name.startswith("f."))
        check(len(files) == min(count, len(died) + 1) and files[0] == "f.000", f"{source}: {files}")
        check(f"{len(died)} process" in r.err and "killed by" in r.err and "f.000'` explains the first" in r.err, f"{source}: {r.err}")
        said = [show(os.path.join(folder, name)) for name in files[:len(died)]]
        check([s["signal"] for s in said] == died and len({s["pid"] for s in said}) == len(died), f"{source}: {[s['text'] for s in said]}")
        check(not any("others" in s for s in said), f"{source}: another death is in a file")
        for name in files[len(died):]:
            Run([PTCAP, "crash", "show", "-i", os.path.join(folder, name)]).expect(4)
        for name in files:
            os.unlink(os.path.join(folder, name))


class Attached:
    """A waiting program with an attached ptcap."""

    def __init__(self, folder, *mode, program="wait"):
        self.path = os.path.join(folder, "f")
        self.target = subprocess.Popen([prog(program), *mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        check(self.target.stdout.readline() == b"ready\n", "the target is not ready")
        self.us = subprocess.Popen([*CRASH, "-o", self.path, "-p", str(self.target.pid)], stderr=subprocess.PIPE, text=True)
        for line in self.us.stderr:
            if "attached" in line:
                return
        raise AssertionError("not attached")

    def ends(self):
        """Wait for ptcap's end. Returns its messages."""
        err = self.us.stderr.read()
        check(self.us.wait() == 0, f"{err}")
        return err

    def unharmed(self):
        until(lambda: tracer(self.target.pid) == 0, "left")
        out, _ = self.target.communicate(b"")
        check(out.endswith(b"done\n") and self.target.returncode == 7, f"{out!r}, {self.target.returncode}")


@case
def attached(folder):
    """A running process dies from its signal, and not from signals that it handles."""
    a = Attached(folder, "catch")
    a.target.send_signal(signal.SIGTERM)
    check(a.target.stdout.readline() == b"caught\n", "the handler did not run")
    until(lambda: state(a.target.pid) == "S", "reading on")
    a.target.send_signal(signal.SIGABRT)
    check("1 process was killed" in a.ends(), "nobody died")
    check(a.target.wait() == -signal.SIGABRT, "it did not die of SIGABRT")
    a.target.stdin.close()
    a.target.stdout.close()
    said = show(a.path)
    check((said["signal"], said["reason"]) == ("SIGABRT", "sent"), said["text"])
    check(said["threads"][0]["in_call"], "it slept in a system call")


@case
def stopped(folder):
    """Job control works: the process stops, and continues on request."""
    a = Attached(folder)
    a.target.send_signal(signal.SIGSTOP)
    until(lambda: state(a.target.pid) in "tT", "stopped")
    a.target.send_signal(signal.SIGCONT)
    until(lambda: state(a.target.pid) == "S", "going on")
    a.us.send_signal(signal.SIGINT)
    a.ends()
    a.unharmed()


@case
def left(folder):
    """^C leaves the process unchanged; so does killing ptcap, or its watcher."""
    a = Attached(folder)
    busy = Run([*CRASH, "-o", a.path + "2", "-p", str(a.target.pid)]).expect(1)
    check(f"process {tracer(a.target.pid)} already traces it" in busy.err, busy.err)
    check(not os.path.exists(a.path + "2"), "a file of nothing")
    a.us.send_signal(signal.SIGINT)
    check("no signal killed a process" in a.ends(), "somebody died")
    a.unharmed()
    a = Attached(folder)
    a.us.kill()
    a.us.wait()
    a.us.stderr.close()
    a.unharmed()
    a = Attached(folder)
    os.kill(tracer(a.target.pid), signal.SIGKILL)
    until(lambda: tracer(a.target.pid) == 0, "alone")
    a.us.send_signal(signal.SIGINT)
    check("LOST: pt-watcher" in a.ends(), "nobody says that signals were not seen")
    a.unharmed()


@case
def asleep(folder):
    """A thread that nothing wakes, because it waits in vfork, delays the end only briefly: the
    state is saved without it."""
    path = os.path.join(folder, "f")
    with subprocess.Popen([*CRASH, "-o", path, "--", prog("vforked")], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        check(p.wait() == 128 + signal.SIGSEGV, f"exit status {p.returncode}")
        p.stdin.close()
        err = p.stderr.read()
    check("1 process was killed" in err, err)
    Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
    said = show(path)
    check((said["signal"], said["reason"], said["fault"]["function"]) == ("SIGSEGV", "null-page", "main"), f"{said['text']}")
    check([t["tid"] for t in said["threads"]] == [said["tid"]], f"{said['threads']}")


@case
def killed(folder, times=10):
    """ptcap, or its watcher, is killed at random moments: the target runs on, and no file or
    process remains."""
    path, dice, there = os.path.join(folder, "f"), random.Random(23), 0
    begin = time.monotonic()
    alone = Attached(folder, "100", program="pairs")
    attaching = time.monotonic() - begin
    alone.us.send_signal(signal.SIGINT)
    alone.ends()
    alone.unharmed()
    os.unlink(alone.path)
    for n in range(int(times)):
        target = subprocess.Popen([prog("pairs"), "100"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        check(target.stdout.readline() == b"ready\n", "the target is not ready")
        with subprocess.Popen([*CRASH, "-q", "-o", path, "-p", str(target.pid)], stderr=subprocess.DEVNULL) as us:
            end = time.monotonic() + dice.random() * 2 * attaching
            while time.monotonic() < end:  # it is awake all the time
                target.stdin.write(b"x")
                target.stdin.flush()
                check(target.stdout.readline() == b"mapped\n", "the target does not run")
            there += tracer(target.pid) != 0
            us.kill()
        until(lambda: tracer(target.pid) == 0, "left")
        out, _ = target.communicate(b"x")
        check(out == b"mapped\ndone\n" and target.returncode == 7, f"{n}: {out!r}, {target.returncode}")
        check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")
    check(there, "it was never attached")
    print(f"{times} times killed, {there} of them attached")


def resident(pid):
    """Return the resident memory in KiB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmRSS:\s+(\d+) kB", f.read())[1])


PAIRS, ROUNDS = 20000, 8  # pairs of mapping and unmapping code


@case
def flat(folder, rounds=ROUNDS):
    """A target maps code at ever new addresses, and unmaps it: ptcap's memory does not grow."""
    a = Attached(folder, str(PAIRS), program="pairs")
    took = []
    for _ in range(int(rounds)):
        a.target.stdin.write(b"x")
        a.target.stdin.flush()
        check(a.target.stdout.readline() == b"mapped\n", "the target does not map")
        took.append(resident(a.us.pid))
    # Buffers reach their size in the first rounds; then nothing grows.
    half = len(took) // 2
    check(max(took[half:]) - max(took[:half]) < 4 << 10, f"KiB after each {PAIRS} pairs: {took}")
    a.us.send_signal(signal.SIGINT)
    a.ends()
    a.unharmed()
    print(f"{len(took) * PAIRS} pairs, {took[0]} KiB after the first {PAIRS}, {took[-1]} KiB in the end")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lib.main(CASES)
