#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""crash.py NAME: the output of `ptcap crash show` for programs that die, compared with their
sources.

PTCAP_GOLDEN=1 also compares the texts, PTCAP_UPDATE=1 writes these, tests/e2e/crash/*.txt, anew.
"""

import json
import os
import re
import signal
import struct
import subprocess
import sys

import lib
import store
from compile import built
from lib import PTCAP, Run, check, prog, qemu_version

HERE = os.path.dirname(os.path.abspath(__file__))
SUPPORT = os.path.join(HERE, "..", "support")
CRASH = [PTCAP, "crash", "--source", lib.SOURCE]
BRANCHES = 100
AUXTRACE = 71
PATTERN = "/proc/sys/kernel/core_pattern"
KEYS = {"signal", "reason", "fault", "branches", "stack_traced", "stack_unwound", "threads"}
FAULT_KEYS = {"ip", "function", "file", "line", "insn", "address"}

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


# --- expected output --------------------------------------------------------------------------


def line_of(mode):
    """Return (file, line) of the line that ends with "DIES: mode"."""
    for name in ("prog_crash.c", "prog_lib_store.c", "prog_crash_cxx.cpp"):
        with open(os.path.join(SUPPORT, name), encoding="ascii") as f:
            for n, text in enumerate(f, 1):
                m = re.search(r"DIES: ([a-z0-9, ]+)", text)
                if m and mode in m[1].strip().split(", "):
                    return name, n
    raise AssertionError(mode)


class Crash:
    """A program that was recorded until it died, and the report about it."""

    def __init__(self, folder, program, mode, *args):
        self.path = os.path.join(folder, mode)
        self.truth = os.path.join(folder, mode + ".truth")
        bare = Run([program, mode, *args])
        self.run = store.fetch(
            self.path, [program, mode, *args], "-q", "--truth", self.truth, command="crash", anew=not store.READS
        ).expect(bare.status)
        check(self.run.out == bare.out, f"{mode}: it prints something else: {self.run.out!r}")

    def explain(self):
        r = Run([PTCAP, "crash", "show", "-i", self.path, "--format", "json"]).expect(0)
        self.said = json.loads(r.out)
        check(not r.err, f"{self.path}: {r.err}")
        return self.said

    def last_branches(self):
        """The branches of the thread that died equal the stepper's."""
        tid = str(self.said["tid"])
        with open(self.truth, encoding="ascii") as f:
            lines = [line.split() for line in f]
        want = [(int(l[1], 16), int(l[2], 16), l[3]) for l in lines if l[0] == tid][-BRANCHES:]
        got = [(int(b["from"], 16), int(b["to"], 16), b["kind"]) for b in self.said["branches"]]
        text = lib.first_difference(got, want, "show", "truth")
        check(not text, f"{self.path}: {text}")


def functions(stack):
    return [f["function"] for f in stack]


def at(place, mode, name):
    """The place is the line where mode dies according to the source, in that function."""
    file, line = line_of(mode)
    got = (place["function"], os.path.basename(place.get("file") or ""), place.get("line"))
    check(got == (name, file, line), f"{mode}: {got} instead of {(name, file, line)}")


def look(folder, program, mode, signame, reason, *args):
    c = Crash(folder, program, mode, *args)
    said = c.explain()
    got = (said["signal"], said["reason"])
    check(got == (signame, reason), f"{mode}: {got}, {said['text']}")
    check(said["trace_ends_there"], f"{mode}: the trace ends elsewhere")
    check(KEYS <= said.keys() and FAULT_KEYS <= said["fault"].keys(), f"{mode}: members {list(said)}, {list(said['fault'])}")
    c.last_branches()
    page(c, mode)
    return c


STATIC = prog("crash_static")

# mode: signal, reason, function, instruction, access, whether the unwound stack is the same
FAULTS = {
    "null": ("SIGSEGV", "null-page", "write_null", "mov dword ptr", "write", True),
    "readonly": ("SIGSEGV", "read-only", "write_constant", "mov ", "write", True),
    "wild": ("SIGSEGV", "non-canonical", "non_canonical", "mov ", "read", True),
    "recursion": ("SIGSEGV", "stack-overflow", "recurse", "mov ", "write", True),
    "division": ("SIGFPE", "division-by-zero", "divide", "idiv ", None, True),
    "bus": ("SIGBUS", "beyond-file", "read_truncated", "mov", "read", True),
    "ud2": ("SIGILL", "undefined-instruction", "unreachable", "ud2", None, True),
    "int3": ("SIGTRAP", "breakpoint", "breakpoint", "int3", None, True),
    "thread": ("SIGSEGV", "null-page", "write_null", "mov dword ptr", "write", True),
    "guard": ("SIGSEGV", "stack-overflow", "recurse", "mov ", "write", True),
    "handler": ("SIGSEGV", "null-page", "write_null", "mov dword ptr", "write", True),
    "longjmp": ("SIGSEGV", "null-page", "write_null", "mov dword ptr", "write", True),
}


@case
def faults(folder):
    """The instruction that faulted, its function and line, the reason, the address; both stacks."""
    all_said = {}
    for mode, (signame, reason, function, insn, access, same) in FAULTS.items():
        said = all_said[mode] = look(folder, STATIC, mode, signame, reason).said
        fault = said["fault"]
        at(fault, mode, function)
        check(fault["insn"].startswith(insn), f"{mode}: {fault['insn']}")
        check(fault["access"] == access, f"{mode}: access {fault['access']}")
        if mode != "recursion" or lib.SOURCE == "step":  # QEMU does not obey the limit of the stack: it is too large
            check(("differ_at" not in said) == same, f"{mode}: differ at {said.get('differ_at')}")
            check(said["traced_depth"] == said["unwound_depth"], f"{mode}: depths of {said['text']}")
        check("culprit" not in said, f"{mode}: culprit {said.get('culprit')}")
    null_pointer(all_said["null"])
    others(all_said["thread"])
    in_handler(all_said["handler"])


def null_pointer(said):
    check(said["fault"]["address"] == "0x10" and said["fault"]["size"] == 4, said["text"])
    check(said["fault"]["registers"]["rax"] == "0x0", "rax is no null pointer")
    check(functions(said["stack_traced"])[:2] == ["write_null", "main"], said["stack_traced"])


def others(said):
    """Which thread died, and that other threads existed."""
    check(len(said["threads"]) == 4, f"{len(said['threads'])} threads")
    check("spins" in functions(said["threads"]), "nobody else runs")
    killed = [t for t in said["threads"] if t["killed"]]
    check([t["name"] for t in killed] == ["worker"], f"killed: {killed}")
    check(killed[0]["tid"] == said["tid"] != said["pid"], "the wrong one was killed")
    check(all(t["function"] for t in said["threads"]), said["threads"])


def in_handler(said):
    """Below a signal handler's frame is the interrupted function, in both stacks."""
    for stack in ("stack_traced", "stack_unwound"):
        names = functions(said[stack])
        check(names[:2] == ["write_null", "on_usr1"], f"{stack}: {names}")
        check("in_handler" in names and "main" in names, f"{stack}: {names}")


# mode: reason, function, instruction, the kind of the branch at fault
JUMPS = {
    "smash": ("bad-jump", "smash", "ret", "ret"),
    "badjump": ("bad-jump", "jump_to", "call ", "icall"),
    "noexec": ("not-executable", "jump_to", "call ", "icall"),
}


@case
def jumps(folder):
    """After a jump to an invalid address: the branch that did it, although the unwound stack has no
    trace of it."""
    for mode, (reason, function, insn, kind) in JUMPS.items():
        said = look(folder, STATIC, mode, "SIGSEGV", reason).said
        by = said["culprit"]
        at(by, mode, function)
        check(by["insn"].startswith(insn) and by["kind"] == kind, f"{mode}: {by}")
        check(by["to"] == said["fault"]["ip"] == said["fault"]["address"], f"{mode}: {by}")
        check(said["fault"]["insn"] is None, f"{mode}: {said['fault']['insn']}")
        called = kind == "icall"  # the return address still exists
        check(said.get("differ_at") == (None if called else 1), f"{mode}: they differ at {said.get('differ_at')}")
        check(function in functions(said["stack_traced"]), f"{mode}: {said['stack_traced']}")
        check("main" in functions(said["stack_traced"]), f"{mode}: {said['stack_traced']}")
        check((function in functions(said["stack_unwound"])) == called, f"{mode}: {said['stack_unwound']}")


@case
def interrupted(folder):
    """Interrupts at the jump target before the fault, over and over: these are not counted as
    another way to reach it."""
    c = Crash(folder, STATIC, "smash")
    want = c.explain()
    ip = int(want["fault"]["ip"], 16).to_bytes(6, "little")
    pge, fup, pgd = b"\x71" + ip, b"\x7d" + ip, b"\x01"
    for times in (1, 2, 200):  # also more often than the number of kept branches
        append(c.path, (pge + fup + pgd) * times)
        r = Run([PTCAP, "crash", "show", "-i", c.path, "--format", "json"]).expect(0)
        said = json.loads(r.out)
        check(said["branches"] != want["branches"], "they are not there")
        for key in ("text", "culprit", "fault", "stack_traced", "differ_at", "trace_ends_there"):
            check(said.get(key) == want[key], f"{times}: {key} {said.get(key)} instead of {want[key]}")
    overflow = b"\x02\xf3"
    for more in (overflow, pge + fup + pgd):  # behind a loss it is unknown
        append(c.path, more)
        said = json.loads(Run([PTCAP, "crash", "show", "-i", c.path, "--format", "json"]).expect(0).out)
        check("culprit" not in said, f"behind a loss: {said.get('culprit')}")
    check(len(said["stack_traced"]) == 1, f"behind a loss: {said['stack_traced']}")


def append(path, packets, kept=1):
    """Append bytes behind the last trace of a file, in pipe form, which has no offsets. Of this trace a part is kept."""
    with open(path + ".pipe", "wb") as f:
        Run([PTCAP, "convert", "-i", path, "-o", "-"], stdout=f).expect(0)
    with open(path + ".pipe", "rb") as f:
        data = bytearray(f.read())
    at, last = 16, None
    while at < len(data):
        kind, _, length = struct.unpack_from("<IHH", data, at)
        at += length
        if kind == AUXTRACE:
            last = at - length + 8
            at += struct.unpack_from("<Q", data, last)[0]
    (size,) = struct.unpack_from("<Q", data, last)
    keep = int(size * kept)
    struct.pack_into("<Q", data, last, keep + len(packets))
    start = last + 40
    with open(path, "wb") as f:
        f.write(data[: start + keep] + packets + data[start + size :])


@case
def jit(folder):
    """Code in no file: its instruction, and its caller."""
    said = look(folder, STATIC, "jit", "SIGSEGV", "null-page").said
    check(said["fault"]["insn"] == "mov [rax], eax", said["fault"]["insn"])
    check(said["fault"]["function"] is None and said["fault"]["address"] == "0x0", said["fault"])
    check(functions(said["stack_traced"])[:2] == [None, "in_jit"], said["stack_traced"])


# mode: program, function that gave up, a part of the sentence
ABORTS = {
    "abort": ("crash_static", "give_up", "abort()"),
    "doublefree": ("crash_static", "free_twice", "heap"),
    "assert": ("crash_cxx", "must_be(int)", "assertion"),
    "throw": ("crash_cxx", "throws()", "exception"),
}


@case
def aborts(folder):
    """The function that gave up: not the C library, which only does what it was called for."""
    for mode, (program, function, words) in ABORTS.items():
        said = look(folder, prog(program), mode, "SIGABRT", "abort").said
        check(words in said["text"] and function.split("(")[0] in said["text"], said["text"])
        frame = said["stack_traced"][said["gave_up_at"]]
        at(frame, mode, function)


@case
def libraries(folder):
    """In a library that was loaded at run time; through a function table that is gone."""
    library = os.path.join(os.path.dirname(prog("x")), "libprog_lib_store.so")
    said = look(folder, prog("crash"), "library", "SIGSEGV", "null-page", library).said
    at(said["fault"], "library", "lib_store")
    check(functions(said["stack_traced"])[1] == "in_library", said["stack_traced"])
    said = look(folder, prog("crash_cxx"), "vtable", "SIGSEGV", "non-canonical").said
    at(said["fault"], "vtable", "use(shape const*)")
    check(said["fault"]["insn"].startswith("call "), said["fault"]["insn"])


@case
def nobody(folder):
    """A handled signal kills no process; a sent signal has a sender; a child's death is reported
    for the child."""
    c = Crash(folder, STATIC, "handled")
    r = Run([PTCAP, "crash", "show", "-i", c.path]).expect(4)
    check("ptcap crash" in r.err and not r.out, r.err)
    said = look(folder, STATIC, "sent", "SIGTERM", "sent").said
    check("itself" in said["text"], said["text"])
    said = look(folder, STATIC, "child", "SIGSEGV", "null-page").said
    at(said["fault"], "child", "write_null")
    r = Run([PTCAP, "crash", "show", "-i", os.path.join(folder, "child"), "-p", "1"]).expect(4)
    check("no crash of process 1;" in r.err, r.err)


@case
def bounded(folder):
    """-m keeps the newest part of the trace: the same end in a smaller file, also without a death."""
    c = Crash(folder, STATIC, "null")
    want = c.explain()
    path = os.path.join(folder, "small")
    die = [*CRASH, "-o", path, "-m", "256K,64K", "--"]  # 20 branches, at any speed of stepping
    r = Run([*die, STATIC, "null"]).expect(128 + signal.SIGSEGV)
    check("1 process was killed" in r.err, r.err)
    check(os.listdir(folder).count("small") == 1 and not os.path.exists(path + ".000"), f"{os.listdir(folder)}")
    said = json.loads(Run([PTCAP, "crash", "show", "-i", path, "--format", "json"]).expect(0).out)
    check(said["trace_ends_there"] and said["fault"]["ip"] == want["fault"]["ip"], said["text"])
    ends = [[(b["from"], b["to"], b["kind"]) for b in s["branches"] if "from" in b][-20:] for s in (said, want)]
    check(ends[0] == ends[1], f"another end: {ends}")
    Run([*die, STATIC, "handled"])
    Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
    Run([PTCAP, "crash", "show", "-i", path]).expect(4)


@case
def refused(folder):
    """Sources that cannot see a crash, and invalid requests, are refused before anything runs."""
    path = os.path.join(folder, "f")
    mark = os.path.join(folder, "mark")
    for options in (["--source", "emu", "-p", "1"], ["--source", "pt"], ["--source", "what"], ["-p", "1"], ["-p", "x"]):
        r = Run([PTCAP, "crash", "-o", path, *options, "--", "touch", mark])
        check(r.status in (2, 125) and r.err, f"{options}: {r.status}")
        check(not os.path.exists(mark) and not os.path.exists(path), f"{options}: it ran")
    Run([PTCAP, "crash"]).expect(2)
    for options in (["-n", "0"], ["-p", "0"], ["--format", "xml"], ["more", "less"]):
        Run([PTCAP, "crash", "show", *options]).expect(2)


@case
def attached(folder):
    """A process that already ran is stepped, dies, and is explained."""
    path = os.path.join(folder, "f")
    with subprocess.Popen([prog("wait")], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as target:
        check(target.stdout.readline() == b"ready\n", "the target is not ready")
        with subprocess.Popen(
            [PTCAP, "crash", "--source", "step", "-o", path, "-p", str(target.pid)],
            stderr=subprocess.PIPE, text=True,
        ) as us:
            for line in us.stderr:
                if "attached" in line:
                    os.kill(target.pid, signal.SIGTERM)
                    break
            us.stderr.read()
        check(us.returncode == 0, f"exit status {us.returncode}")
        check(target.wait() == -signal.SIGTERM, "it did not die of SIGTERM")
    r = Run([PTCAP, "crash", "show", "-i", path, "--format", "json"]).expect(0)
    said = json.loads(r.out)
    check((said["signal"], said["reason"]) == ("SIGTERM", "sent"), said["text"])


@case
def others_read_it(folder):
    """perf skips the state; info and dump show it; verify finds no fault; a copy keeps it."""
    c = Crash(folder, STATIC, "null")
    want = c.explain()
    r = Run([PTCAP, "info", "-i", c.path]).expect(0)
    check(re.search(r"crash +process \d+ was killed by SIGSEGV", r.out), r.out)
    r = Run([PTCAP, "dump", "-i", c.path]).expect(0)
    check('name="ptcap crash: memory"' in r.out and "addr=0x10" in r.out, "dump says nothing")
    Run([PTCAP, "dump", "--verify", "-i", c.path]).expect(0)
    copy = os.path.join(folder, "copy")
    Run([PTCAP, "convert", "-i", c.path, "-o", copy]).expect(0)
    r = Run([PTCAP, "crash", "show", "-i", copy, "--format", "json"]).expect(0)
    check(json.loads(r.out) == want, "the copy says something else")
    if lib.have_perf():
        r = Run([lib.PERF, "script", "-i", c.path, "--itrace=b", "-F", "ip,addr"]).expect(0)
        check(want["fault"]["ip"][2:] in r.out.split()[-3:], r.out[-200:])


def holds(path, word):
    """Return how often a file contains a word."""
    with open(path, "rb") as f:
        return f.read().count(word.encode())


@case
def secrets(folder):
    """A recording contains environment and arguments; --redact zeroes them, --no-memory stores
    none; the stack is the same."""
    path, redacted, bare = (os.path.join(folder, name) for name in ("f", "redacted", "bare"))
    env = {**os.environ, "SECRET": "of-the-environment"}
    for out, options in ((path, []), (bare, ["--no-memory"])):
        r = Run([*CRASH, "-q", "-o", out, *options, "--", STATIC, "null", "of-the-arguments"], env=env)
        r.expect(128 + signal.SIGSEGV)
    check(holds(path, "of-the-environment") and holds(path, "of-the-arguments") > 1, "no secret is there to redact")
    r = Run([PTCAP, "convert", "-i", path, "-o", redacted, "--redact"]).expect(0)
    check(re.fullmatch(r"ptcap: redacted \d+ bytes of arguments and environments\n", r.err), r.err)
    check(not holds(redacted, "of-the-"), "a secret is left")
    want, said, without = (shown(p) for p in (path, redacted, bare))
    check(said == want, f"redacted, it says something else: {said}")
    # The header has the command line, as perf's has.
    check(not holds(bare, "of-the-environment") and holds(bare, "of-the-arguments") == 1, "memory was kept")
    check(without["no_memory"] and "differ_at" not in without and "no_memory" not in want, without["text"])
    check(functions(without["stack_traced"]) == functions(want["stack_traced"]), without["stack_traced"])
    check(functions(without["stack_unwound"]) == functions(want["stack_unwound"])[:1], without["stack_unwound"])
    check(without["text"] == want["text"], without["text"])
    r = Run([PTCAP, "crash", "show", "-i", bare]).expect(0)
    check("recorded without memory" in r.out and "<- differ" not in r.out, r.out)
    Run([PTCAP, "dump", "--verify", "-i", redacted]).expect(0)
    r = Run([PTCAP, "convert", "-i", redacted, "-o", bare, "--redact"]).expect(0)
    check("no arguments and no environments" in r.err, r.err)
    watched(folder, env)


def watched(folder, env):
    """The watcher stores none, either."""
    path = os.path.join(folder, "watched")
    for options, there in (([], True), (["--no-memory"], False)):
        r = Run([PTCAP, "crash", "-q", "-e", "dummy:u", "-o", path, *options, "--", STATIC, "null"], env=env)
        if r.status == 125:
            return  # no events are available here
        check(bool(holds(path, "of-the-environment")) == there, f"{options}: the environment is there: {not there}")


@case
def emulated(folder):
    """auto emulates; QEMU prints nothing and leaves no file; other threads have stopped; programs that are
    executed, and children, are followed."""
    os.chdir(folder)
    r = Run([PTCAP, "crash", "-o", "f", "--", STATIC, "null"]).expect(128 + signal.SIGSEGV)
    check("source: emu" in r.err or "source: intel_pt" in r.err, r.err)
    for signame in ("TERM", "QUIT"):
        sig = getattr(signal, "SIG" + signame)
        r = Run([*CRASH, "-o", "f", "--", prog("killed"), str(int(sig))]).expect(128 + sig)
        check("qemu:" not in r.err and sorted(os.listdir(".")) == ["f", "f.old"], f"{os.listdir('.')}: {r.err}")
        said = shown("f")
        check((said["signal"], said["reason"]) == ("SIG" + signame, "sent") and "itself" in said["text"], said["text"])
        others = {t["function"]: t for t in said["threads"] if not t["killed"]}
        check("counts" in others and not others["counts"]["in_call"], f"{said['threads']}")
        check(sum(t["in_call"] for t in said["threads"]) >= 2, f"{said['threads']}")
        counted = re.search(rf"thread\" pid=\d+ tid={others['counts']['tid']} .* rbx=(0x\w+)", Run([PTCAP, "dump", "-i", "f"]).out)[1]
        with open("f", "rb") as f:
            found = f.read().count(struct.pack("<Q", int(counted, 16)))
        if sig == signal.SIGTERM and qemu_version() >= 9:
            continue  # the other threads run on while the state is saved: ADR 28
        check(found >= 2, f"rbx is {counted}, and not so on the stack: the thread was not between two blocks")
    for script in (f"exec {STATIC} null", f"{STATIC} null | cat; exit 139", f"({STATIC} null); exit 139"):
        Run([*CRASH, "-q", "-o", "f", "--", "/bin/sh", "-c", script]).expect(139)
        said = shown("f")
        check(said["trace_ends_there"] and said["reason"] == "null-page", f"{script}: {said['text']}")
        at(said["fault"], "null", "write_null")


@case
def bad_branch(folder):
    """A return to an address that is not canonical faults at the return, as on a processor."""
    source = os.path.join(HERE, "..", "..", "examples", "programs", "smash.c")
    program = built(folder, ["cc", "-g", "-O0", "-fno-stack-protector", source], "smash")
    path = os.path.join(folder, "f")
    Run([*CRASH, "-q", "-o", path, "--", program]).expect(128 + signal.SIGSEGV)
    said = shown(path)
    got = (said["reason"], said["fault"]["function"], said["fault"]["insn"], said["trace_ends_there"])
    check(got == ("bad-jump", "parse_header", "ret", True), f"{got}: {said['text']}")
    check(functions(said["stack_traced"])[:3] == ["parse_header", "handle_request", "main"], said["stack_traced"])


def shown(path):
    return json.loads(Run([PTCAP, "crash", "show", "-i", path, "--format", "json"]).expect(0).out)


@case
def core(folder):
    """The core dump is the same as without ptcap and agrees; it is used if nothing was saved."""
    path = os.path.join(folder, "f")
    for mode in ("recursion", "smash", "thread"):
        end = ["-q", "-o", path, "--source", lib.SOURCE, "--", STATIC, mode, "core"]
        dump = lib.core_of(folder, [PTCAP, "crash", *end])
        show = [PTCAP, "crash", "show", "-i", path, "--format", "json"]
        want = json.loads(Run(show).expect(0).out)
        said = json.loads(Run([*show, "--core", dump]).expect(0).out)
        check(said["core_agrees"] and not said["state_of_core"], f"{mode}: the core differs")
        dump = lib.core_of(folder, [PTCAP, "record", *end])
        Run(show).expect(4)
        said = json.loads(Run([*show, "--core", dump]).expect(0).out)
        check(said["state_of_core"], f"{mode}: there is a state")
        if lib.SOURCE == "emu":  # QEMU's core has no siginfo, and its first thread may be another one
            check(mode == "thread" or said["signal"] == want["signal"], f"{mode}: {said['text']}")
            check(want["fault"]["ip"] in [t["ip"] for t in said["threads"]], f"{mode}: {said['threads']}")
            continue
        for key in ("signal", "reason"):
            check(said[key] == want[key], f"{mode}: {key} {said[key]} instead of {want[key]}")
        for place in ("fault", "culprit"):
            check(
                said.get(place, {}).get("insn") == want.get(place, {}).get("insn"),
                f"{mode}: {place} {said.get(place)} instead of {want.get(place)}",
            )
        for stack in ("stack_traced", "stack_unwound"):  # the depth of a stack differs between runs
            check(
                functions(said[stack])[:4] == functions(want[stack])[:4], f"{mode}: {said[stack]}"
            )
        check(said.get("differ_at") == want.get("differ_at"), f"{mode}: {said.get('differ_at')}")


@case
def piped(folder):
    """If kernel.core_pattern names a program, there is no core, and ptcap says so."""
    pattern = os.path.join(folder, "pattern")
    with open(pattern, "w", encoding="ascii") as f:
        f.write("|/bin/false %p\n")
    mount = ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", f"mount --bind {pattern} {PATTERN} || exit 99; exec \"$@\"", "sh"]
    if Run([*mount, "true"]).status:
        lib.skip("no mount over " + PATTERN)
    os.chdir(folder)
    for options, status, said in ((["null", "core"], 139, True), (["null"], 139, True), (["sent", "core"], 143, False), (["handled"], 0, False)):
        r = Run([*mount, *CRASH, "-o", "f", "--", STATIC, *options]).expect(status)
        check(("1 emulated process died without a core dump" in r.err) == said, f"{options}: {r.err}")
        check(set(os.listdir(".")) <= {"f", "f.old", "pattern"}, f"{options}: {os.listdir('.')}")
    r = Run([*CRASH, "-o", "f", "--", STATIC, "null"]).expect(139)
    check("core" not in r.err, f"a pattern for a file: {r.err}")


def page(c, mode):
    """Compare the text output, without the parts that differ between runs."""
    if not os.environ.get("PTCAP_GOLDEN") or mode == "throw":
        return  # other registers or frames with another compiler or C++ library
    if mode == "recursion" and lib.SOURCE == "emu":
        return  # QEMU does not obey the limit of the stack, so the state has only a part of it
    env = {**os.environ, "COLUMNS": "100"}
    screen, whole = (Run([PTCAP, "crash", "show", "-i", c.path, *v], env=env).expect(0).out for v in ([], ["-v"]))
    check(len(screen.splitlines()) <= 40, f"{mode}: {len(screen.splitlines())} lines\n{screen}")
    text = normalised(screen, whole)
    name = os.path.join(HERE, "crash", mode + ".txt")
    if os.environ.get("PTCAP_UPDATE"):
        with open(name, "w", encoding="ascii") as f:
            f.write(text)
    with open(name, encoding="ascii") as f:
        want = f.read()
    check(text == want, f"{mode}: {lib.first_difference(text.splitlines(), want.splitlines(), 'got', 'golden')}")


def functions_of_ours():
    ret = set()
    for name in ("prog_crash.c", "prog_lib_store.c", "prog_crash_cxx.cpp"):
        with open(os.path.join(SUPPORT, name), encoding="ascii") as f:
            ret |= set(re.findall(r"^\S.*?\b(\w+)\([^()]*\)$", f.read(), re.M))
    return ret


def without_inlined(text):
    """Remove inlined functions: they depend on the debug information of the C library. Number the
    rest anew."""
    lines, inlined = [], 0
    for line in text.splitlines():
        number = re.match(r"[> ] *(\d+) (?!\|)", line)
        if number and "(inlined)" in line:
            inlined += 1
        elif number:
            lines.append(f"{line[0]}{int(number[1]) - inlined:3} {line[number.end():]}")
        else:
            lines.append(line)
    return "\n".join(lines)


def normalised(screen, whole):
    """Remove the branches, and the numbers and names of this run or of this C library. The calls
    are those of the whole report."""
    ours = functions_of_ours()
    head, stacks = masked(screen).split("last branches")[0].split("\n\n", 1)
    calls = masked(whole).split("last calls\n")[1].split("last branches")[0]
    main = re.search(r"(?m)^ *main\(\) \{", calls)
    rest = stacks + "last calls\n" + calls[main.start() if main else 0 :]
    lines = [
        re.sub(r" +", " ", line).rstrip()
        for line in rest.splitlines()
        if line.strip() != "}"
        and all(w in ours for w in re.findall(r"([A-Za-z_][\w.]+)(?:\([^()]*\))?(?:\+OFFSET|\(\))", line))
    ]
    head = re.sub(r"(?m)^(  \S+) +", r"\1 ", head)
    return (head + "\n\n" + "\n".join(lines)).strip() + "\n"


def masked(text):
    text = re.sub(r"\A(.*)\n {10}(\S)", r"\1 \2", text)  # the length of a path decides where the sentence breaks
    text = re.sub(r"(?ms)^  says .*?(?=^  at )", "  says MESSAGE\n", without_inlined(text))
    text = re.sub(r"(\w|\))\+0x[0-9a-f]+(?!\S)", r"\1+OFFSET", text)
    text = text.replace("__assert_fail_base.cold()", "__assert_fail()")  # glibc 2.41
    text = re.sub(r"0x[0-9a-f]{3,}", "ADDRESS", text)
    text = re.sub(r"(thread|process) \d+", r"\1 ID", text)
    text = re.sub(r"\.\.\. \d+ more", "... MANY more", text)
    text = re.sub(r"\[\d+ frames\]", "[MANY frames]", text)
    text = re.sub(r"(?m)^(>?) *\d{2,} (?!\|)", r"\1 N ", text)
    return re.sub(r"/\S+/", "", text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
