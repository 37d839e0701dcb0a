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
import struct
import sys

import lib
from compile import built
from inlined import BACKTRACE, SUPPORT, chains, short
from lib import PTCAP, Run, check

CORPUS = os.path.join(SUPPORT, "corpus")
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("RUST_", "GO", "NODE_", "PYTHON"))}
FRAMES_MAX = 200  # of an endless recursion; ptcap shows 256

VERBOSE = "-v" in sys.argv
CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


# --- one death --------------------------------------------------------------------------------


def backtrace(folder, program, core, jit):
    """Return gdb's frames as function, file, line, whether inlined, down to the last one of the program and its
    own libraries; and the address of each frame in the program's file, or None. Frames of functions that ended with
    a jump are left out: the memory does not have them."""
    if not shutil.which("gdb"):
        lib.skip_without("gdb")
    script = os.path.join(folder, "backtrace.py")
    with open(script, "w", encoding="ascii") as f:
        f.write(BACKTRACE.replace("while frame", f"while len(rows) < {FRAMES_MAX} and frame"))
        f.write('print(gdb.execute("info files", to_string=True))')
    out = Run(["gdb", "-batch", "-nx", "-ex", "set debuginfod enabled off", "-x", script, program, core]).out
    found = re.search(r"(?m)^FRAMES (.*)$", out)
    if not found:
        lib.skip("this gdb has no Python")
    rows = json.loads(found[1])
    # gdb finds no caller of a JIT's code, and invents frames from there on.
    end = next((i for i, r in enumerate(rows) if jit and not r[1] and not r[5]), len(rows))
    own = [i for i, r in enumerate(rows[:end]) if r[2] and (not r[5] or r[5].startswith(folder))]
    rows = [r for r in rows[: own[-1] + 1 if own else end] if not r[6]]
    with open(program, "rb") as f:
        bias = int(re.search(r"Entry point: 0x(\w+)", out)[1], 16) - struct.unpack_from("<Q", f.read(32), 24)[0]
    # The call is in front of a return address.
    return [frame_of(*r[1:5]) for r in rows], [None if r[5] else r[0] - bias - (r[0] != rows[0][0]) for r in rows]


def settled(program, got, want, addrs):
    """Return want. gdb skips lines of 0 and lines that are no beginning of a statement. There addr2line decides."""
    ret = list(want)
    for i, (g, w, a) in enumerate(zip(got, want, addrs)):
        if g != w and w[0] in (g[0], "-") and w[3] == g[3] and a is not None:
            places = chains(["addr2line", "-a", "-i", "-e", program], [a])[a]
            ret[i] = g if (f"{g[1]}:{g[2]}" if g[2] else "-") in places else w
    return ret


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
    want, addrs = backtrace(folder, argv[0], core or lib.core_of(folder, argv, status, env=env), jit)
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
        got = frames_of(without_jumps(said[stack]))
        kept = len(got) if same_run else len(want)  # the state has 256 KiB of a stack
        text = lib.first_difference(got[: len(want)], settled(argv[0], got, want, addrs)[:kept], "ptcap", "gdb")
        check(not text and len(got) > 4, f"{what}: {stack}: {text}")
    check(said["branches"], f"{what}: no branches")
    return said


def agreed(folder, what, *args, runs=1):
    """The same, and the trace and the memory have the same stack, in one of @runs runs. The others are printed."""
    for left in range(runs - 1, -1, -1):
        said = died(folder, what, *args)
        if "differ_at" not in said:
            return said
        traced, unwound = ([(f["ip"], f["function"]) for f in said[k]] for k in ("stack_traced", "stack_unwound"))
        text = f"{what}: the stacks differ at {said['differ_at']}: {traced}, in memory {unwound}"
        print(text, flush=True)
        check(left, text)


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
    """Of three compilers, each program is built by two."""
    ran = 0
    for i, (name, died_of) in enumerate(table.items()):
        for n, compiler in enumerate(compilers):
            if len(compilers) == 3 and (i + n) % 3 == 1:
                continue
            program = built(folder, [*compiler.split(), os.path.join(CORPUS, name)])
            if program:
                agreed(folder, f"{compiler} {name}", [program], died_of)
                ran += 1
    if not ran:
        lib.skip_without("compiler")


@case
def c(folder):
    compiled(folder, ["gcc -fno-builtin -g -O0", "gcc -fno-builtin -g -O2", "clang -fno-builtin -g -O2"], C)


@case
def alarm(folder):
    """SIGALRM leaves no core: the place is main. A handled SIGALRM is no death."""
    for name, status in (("spin.c", 0), ("spin2.c", 128 + signal.SIGALRM)):
        program, path = built(folder, ["gcc", "-g", os.path.join(CORPUS, name)]), os.path.join(folder, "f")
        if not program:
            lib.skip_without("compiler")
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
def unwinding(folder):
    """The call that throws has no landing pad with -O1. Its caller has the same function."""
    compiled(folder, ["g++ -g -O1"], {"unwinding.cpp": (ABORT, "abort")})


@case
def rust(folder):
    table = {"c3_rust.rs": (ABORT, "abort"), "index.rs": (ABORT, "abort")}
    compiled(folder, ["rustc -g -C panic=abort", "rustc -g -O -C panic=abort"], table)
    compiled(folder, ["rustc -g -O"], {"double_panic.rs": (ABORT, "abort")})


def frames_of_go(text):
    """Return the frames of the program in Go's own backtrace. gdb ends at the handler of the signal."""
    rows = re.findall(r"(?m)^(main\..*)\((.*)\)\n\t.*/(.*?):(\d+)", text.split("\n\n")[1])
    return [(function, file, int(line), args == "...") for function, args, file, line in rows]


@case
def go(folder):
    if not shutil.which("go"):
        lib.skip_without("go")
    env = {**os.environ, "GOCACHE": os.path.join(folder, "cache"), "HOME": folder, "CGO_ENABLED": "0", "GO111MODULE": "off"}
    traceback = {**ENV, "GOTRACEBACK": "crash"}
    for name in ("c4_go", "nil_map"):
        program = os.path.join(folder, name)
        Run(["go", "build", "-o", program, os.path.join(CORPUS, name + ".go")], env=env).expect(0)
        # In one of 400 runs the outermost frames of both stacks differ. The cause is not known yet.
        said = agreed(folder, name, [program], (ABORT, "abort"), traceback, runs=3)
        want = frames_of_go(Run([program], cwd=folder, env=traceback).err)
        for stack in ("stack_unwound", "stack_traced"):
            got = [
                (f["function"], os.path.basename(f["file"]), f["line"], i + 1 < len(place["functions"]))
                for place in said[stack]
                for i, f in enumerate(place["functions"])
                if f["function"].startswith("main.")
            ]
            check(got == want and sum(f[3] for f in want), f"{name}: {stack}: {got} instead of {want}")


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
        agreed(folder, f"writes_null {options}", argv, (SEGV, "null-page"))


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
