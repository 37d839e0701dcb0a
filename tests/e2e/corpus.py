#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""corpus.py LANGUAGE [-v]: programs that die, emulated. Their signal and their stacks, with inlined functions,
are those of gdb's backtrace of the kernel's core. The core is of a run without ptcap. -v prints
the time of each `ptcap crash`.
"""

import json
import os
import re
import shutil
import signal
import sys
import time

import lib
from compile import built
from inlined import BACKTRACE, SUPPORT, short
from lib import PTCAP, Run, check

CORPUS = os.path.join(SUPPORT, "corpus")
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("RUST_", "GO", "NODE_", "PYTHON"))}
FRAMES_MAX = 200  # of an endless recursion; ptcap shows 256

UNWINDING = "unwinding.cpp"
VERBOSE = "-v" in sys.argv
CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


# --- one death --------------------------------------------------------------------------------


def backtrace(folder, program, core, jit):
    """Return gdb's frames as function, file, line, whether inlined, down to the last one of the program and its
    own libraries. Frames of functions that ended with a jump are left out: the memory does not have them."""
    script = os.path.join(folder, "backtrace.py")
    with open(script, "w", encoding="ascii") as f:
        f.write(BACKTRACE.replace("while frame", f"while len(rows) < {FRAMES_MAX} and frame"))
    out = Run(["gdb", "-batch", "-nx", "-ex", "set debuginfod enabled off", "-x", script, program, core]).out
    found = re.search(r"(?m)^FRAMES (.*)$", out)
    if not found:
        lib.skip("this gdb has no Python")
    rows = json.loads(found[1])
    # gdb finds no caller of a JIT's code, and invents frames from there on.
    end = next((i for i, r in enumerate(rows) if jit and not r[1] and not r[5]), len(rows))
    own = [i for i, r in enumerate(rows[:end]) if r[2] and (not r[5] or r[5].startswith(folder))]
    return [frame_of(*r[1:5]) for r in rows[: own[-1] + 1 if own else end] if not r[6]]


def frame_of(function, file, line, inlined):
    file = os.path.basename(file) if file else "-"
    # rustc gives functions of its library other names in the symbol table than in DWARF.
    name = "-" if file.endswith(".rs") and not os.path.exists(os.path.join(CORPUS, file)) else short(function)
    return name, file, line if file != "-" else 0, inlined


def frames_of(stack):
    """Return the same of ptcap's places."""
    return [
        frame_of(f["function"], f["file"], f["line"], i + 1 < len(place["functions"]))
        for place in stack
        for i, f in enumerate(place["functions"])
    ]


def without_jumps(stack):
    """Leave out functions that ended with a jump: only the trace has them."""
    return [place for place in stack if place.get("how") != "jump"]


def died(folder, what, argv, died_of, env=None, jit=False):
    """The death of argv[0] by a signal is the same for ptcap and gdb."""
    env, path = env or ENV, os.path.join(folder, "f")
    crash, before = [PTCAP, "crash", "-q", "--source", lib.SOURCE, "-o", path, "--", *argv], os.times()
    status = 128 + died_of[0]
    # The stack of another environment overflows at another instruction, so the core is of the same run.
    same_run = died_of[1] == "stack-overflow"
    core = lib.core_of(folder, crash, status, env=env) if same_run else Run(crash, cwd=folder, env=env).expect(status) and None
    after = os.times()
    said = json.loads(Run([PTCAP, "crash", "show", "--full-names", "-i", path, "--format", "json"]).expect(0).out)
    want = backtrace(folder, argv[0], core or lib.core_of(folder, argv, status, env=env), jit)
    if VERBOSE:
        spent = sum(after[2:4]) - sum(before[2:4])
        print(f"{what}: {after[4] - before[4]:.2f} s, of these {spent:.2f} s on a CPU, {len(want)} frames", flush=True)
    found = said["signal"], said["reason"]
    check(found == (died_of[0].name, died_of[1]), f"{what}: {found}")
    for stack in ("stack_unwound", "stack_traced"):
        # A recursion without a conditional branch makes no PT packet, so the trace does not have its calls.
        if stack == "stack_traced" and same_run and "unshown_loop" in said:
            check(said["unshown_loop"]["calls"], f"{what}: {said['unshown_loop']}")
            continue
        # Frames of one recursive function have the same landing pads: the trace does not tell which one catches.
        if stack == "stack_traced" and what.endswith(UNWINDING):
            continue
        got = frames_of(without_jumps(said[stack]))
        kept = len(got) if same_run else len(want)  # the state has 256 KiB of a stack
        text = lib.first_difference(got[: len(want)], want[:kept], "ptcap", "gdb")
        check(not text and len(got) > 4, f"{what}: {stack}: {text}")
    check(said["branches"], f"{what}: no branches")


# --- the programs -----------------------------------------------------------------------------

ABORT, SEGV, FPE, BUS = signal.SIGABRT, signal.SIGSEGV, signal.SIGFPE, signal.SIGBUS
C = {
    "c12_lld.c": (SEGV, "null-page"),
    "c6_so.c": (SEGV, "stack-overflow"),
    "c7_heap.c": (ABORT, "abort"),
    "c8_assert.c": (ABORT, "abort"),
    "call16.c": (SEGV, "bad-jump"),
    "nullcall.c": (SEGV, "bad-jump"),
    "recursion.c": (SEGV, "stack-overflow"),
    "deep_thread.c": (SEGV, "stack-overflow"),
    "truncated.c": (BUS, "beyond-file"),
    "divided.c": (FPE, "division-by-zero"),
}
CXX = {
    "c2_exc.cpp": (ABORT, "abort"),
    "vector_at.cpp": (ABORT, "abort"),
    "noexcept.cpp": (ABORT, "abort"),
    "freed_virtual.cpp": (SEGV, "non-canonical"),
    "unwinding.cpp": (ABORT, "abort"),
}


def compiled(folder, compilers, table):
    ran = 0
    for compiler in compilers:
        for name, died_of in table.items():
            program = built(folder, [*compiler.split(), os.path.join(CORPUS, name)])
            if program:
                died(folder, f"{compiler} {name}", [program], died_of)
                ran += 1
    if not ran:
        lib.skip("no compiler")


@case
def c(folder):
    compiled(folder, ["gcc -fno-builtin -g -O0", "gcc -fno-builtin -g -O2", "clang -fno-builtin -g -O2"], C)


@case
def alarm(folder):
    """SIGALRM leaves no core: the place is main. A handled SIGALRM is no death."""
    for name, status in (("spin.c", 0), ("spin2.c", 128 + signal.SIGALRM)):
        program, path = built(folder, ["gcc", "-g", os.path.join(CORPUS, name)]), os.path.join(folder, "f")
        if not program:
            lib.skip("no compiler")
        Run([PTCAP, "crash", "-q", "--source", lib.SOURCE, "-o", path, "--", program]).expect(status)
        show = Run([PTCAP, "crash", "show", "-i", path, "--format", "json"]).expect(0 if status else 4)
        if status:
            said = json.loads(show.out)
            check((said["signal"], said["reason"]) == ("SIGALRM", "other"), f"{said['signal']}, {said['reason']}")
            check(frames_of(said["stack_unwound"])[0][:2] == ("main", name), f"{said['stack_unwound']}")


@case
def cxx(folder):
    compiled(folder, ["g++ -g -O0", "g++ -g -O2", "clang++ -g -O2"], CXX)


@case
def rust(folder):
    table = {"c3_rust.rs": (ABORT, "abort"), "index.rs": (ABORT, "abort"), "double_panic.rs": (ABORT, "abort")}
    compiled(folder, ["rustc -g -C panic=abort", "rustc -g -O -C panic=abort"], table)


@case
def go(folder):
    if not shutil.which("go"):
        lib.skip("no go")
    env = {**os.environ, "GOCACHE": os.path.join(folder, "cache"), "HOME": folder, "CGO_ENABLED": "0", "GO111MODULE": "off"}
    for name in ("c4_go", "nil_map"):
        program = os.path.join(folder, name)
        Run(["go", "build", "-o", program, os.path.join(CORPUS, name + ".go")], env=env).expect(0)
        died(folder, name, [program], (ABORT, "abort"), {**ENV, "GOTRACEBACK": "crash"})


PYTHON = """
import writes_null
def inner():
    writes_null.breaks(1)
def outer():
    inner()
writes_null.calls(outer)
"""


@case
def python(folder):
    python3 = "/usr/bin/python3"
    include = Run([python3, "-c", "import sysconfig; print(sysconfig.get_path('include'))"]).out.strip()
    for options in (["-O0"], ["-O2"]):
        source = os.path.join(CORPUS, "writes_null.c")
        if not built(folder, ["gcc", "-g", *options, "-shared", "-fPIC", "-I", include, source], "writes_null.so"):
            lib.skip("no compiler, or no Python.h")
        argv = [python3, "-S", "-c", "import sys; sys.path.insert(0, '.')\n" + PYTHON]
        died(folder, f"writes_null {options}", argv, (SEGV, "null-page"))


@case
def node(folder):
    program = shutil.which("node")
    if not program:
        lib.skip("no node")
    died(folder, "process.abort", [program, "-e", "process.abort()"], (ABORT, "abort"), jit=True)
    if built(folder, ["gcc", "-g", "-O2", "-shared", "-fPIC", "-I", "/usr/include/node", os.path.join(CORPUS, "addon.c")], "addon.node"):
        # node's handler of SIGSEGV sends the signal again.
        died(folder, "addon", [program, "-e", "function f() { require('./addon.node').reads() }; f()"], (SEGV, "sent"), jit=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    del sys.argv[2:]
    lib.main(CASES)
