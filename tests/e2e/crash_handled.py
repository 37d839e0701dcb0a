#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""crash_handled.py NAME: the state at a fault that an emulated program handles. If the machine has
events, it is compared with the state that the same program has on the processor."""

import json
import os
import re
import sys

import lib
from lib import PTCAP, Run, check, prog

PROGRAM = prog("handled")
NATIVE = ["-e", "dummy:u"]
EMULATED = ["--source", "emu"]
LIMIT = 64  # faults; a process that handles more is left out

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def record(folder, source, mode, status, *args, ends=None):
    """Run the program in ptcap crash. Returns the path of the recording, and the summary."""
    path = os.path.join(folder, "f")
    argv = [PTCAP, "crash", *source, "-o", path, "--", PROGRAM, mode, str(status), *map(str, args)]
    return path, Run(argv).expect(status if ends is None else ends).err


def crash(folder, source, mode, status, *args):
    """Run the program in ptcap crash. Returns the summary and, if there is a state, its report."""
    path, err = record(folder, source, mode, status, *args)
    show = Run([PTCAP, "crash", "show", "-i", path, "--format", "json"])
    return err, None if show.status == 4 else json.loads(show.expect(0).out)


def facts(said):
    """The parts of a report that are equal in each run."""
    fault = {k: said["fault"][k] for k in ("function", "line", "insn", "access")}
    names = [f["function"] for f in said["stack_unwound"]]
    return [said["signal"], said["reason"], said.get("exit_status"), fault, names[:4]]


@case
def reported(folder):
    """Each kind of fault: signal, reason, instruction, registers and stack, also if the stack was overwritten since."""
    for mode, (signame, reason, function) in {
        "segv": ("SIGSEGV", "null-page", "write_null"),
        "division": ("SIGFPE", "division-by-zero", "divide"),
        "ud2": ("SIGILL", "undefined-instruction", "undefined"),
        "bus": ("SIGBUS", "beyond-file", "read_bus"),
        "jump": ("SIGSEGV", "null-page", "write_null"),
        "overflow": ("SIGSEGV", "stack-overflow", "recurse"),
        "ended": ("SIGSEGV", "null-page", "write_null"),
    }.items():
        err, said = crash(folder, EMULATED, mode, 3)
        check(said and said["trace_ends_there"], f"{mode}: {err}")
        check("1 process handled a fault and exited with a failure" in err and "killed" not in err, err)
        got = (said["signal"], said["reason"], said["fault"]["function"], said["exit_status"])
        check(got == (signame, reason, function, 3), f"{mode}: {got}, {said['text']}")
        callers = [f["function"] for f in said["stack_unwound"]]
        check("main" in callers or mode in ("overflow", "ended"), f"{mode}: {callers}")
        check("differ_at" not in said, f"{mode}: differ at {said.get('differ_at')}")
        if lib.has_events() and mode != "ended":  # the watcher looks at the exit of a thread with a fault only
            want = facts(crash(folder, NATIVE, mode, 3)[1])
            check(facts(said) == want, f"{mode}: {facts(said)} instead of {want}")
    Run([PTCAP, "dump", "--verify", "-i", os.path.join(folder, "f")]).expect(0)


@case
def bounded(folder):
    """The last fault counts, up to a limit of faults. No failure, no fault, a child or a new program without
    a fault: no state."""
    err, said = crash(folder, EMULATED, "many", 3, LIMIT)
    check(said["exit_status"] == 3 and said["fault"]["function"] == "write_null", said["text"])
    for mode, status, *args in (("many", 3, LIMIT + 1), ("many", 0, LIMIT), ("many", 0, 10000), ("sent", 3), ("forked", 0)):
        err, said = crash(folder, EMULATED, mode, status, *args)
        check(not said and "no signal killed a process" in err, f"{mode} {args}: {err}")
    for source in [EMULATED, ["--source", "step"], *[NATIVE] * lib.has_events()]:
        err, said = crash(folder, source, "executed", 3, prog("exit"))
        check(not said and "no signal killed a process" in err, f"executed, {source}: {err}")
    for status, summary in ((0x107, "1 process handled a fault"), (0x100, "no signal killed a process")):
        err = record(folder, EMULATED, "many", status, 1, ends=status & 0xFF)[1]
        check(summary in err, f"{status}: {err}")


def saved_registers(folder, source, *args, ends):
    """Return the registers in the recording's only state."""
    path, _ = record(folder, source, "flags", 3, *args, ends=ends)
    (thread,) = re.findall(r"crash: thread\" .*", Run([PTCAP, "dump", "-i", path]).expect(0).out)
    return {name: value for name, value in re.findall(r"(\w+)=(\S+)", thread) if name in ("eflags", "rax", "rbx", "rdx")}


@case
def flags(folder):
    """The arithmetic flags at a fault, handled or fatal, are those of the processor."""
    if not lib.has_events():
        lib.skip("no events")
    seen = set()
    for n in (0, 1, 2, 3, 4, 5, 6, 11, 13):
        ends = 3 if n < 10 else 139
        got, want = (saved_registers(folder, s, n, ends=ends) for s in (EMULATED, NATIVE))
        check(got == want, f"{n}: {got} instead of {want}")
        seen.add(got["eflags"])
    check(len(seen) == 7, f"{seen}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
