#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""signatures.py NAME: the signature in the output of `ptcap crash show`. Crashes of one kind have one signature: with other
inputs, addresses, threads and depths, and in a program with the same functions at other places. Crashes of two kinds have
two."""

import hashlib
import json
import os
import re
import shutil
import sys
import zlib

import crash_python
import lib
from compile import built
from crash import append
from lib import PTCAP, Run, check

SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")
C = os.path.join(SUPPORT, "prog_signature.c")
CXX = os.path.join(SUPPORT, "prog_signature.cpp")
LIBRARY = os.path.join(SUPPORT, "prog_lib_store.c")
CHECKED = ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-fstack-protector-strong", "-pthread"]
# Builds of the same functions, each with its inputs. The last one has no debug information.
BUILDS = {"plain": ["-g"], "padded": ["-g", "-DPADDING"], "bare": ["-DPADDING"]}
SEEDS = {"plain": 0, "padded": 1, "bare": 6}
STATE = ["-e", "dummy:u"]  # no trace, only the state

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def modes(source):
    """Return the modes of a program: its ways to die."""
    with open(source, encoding="ascii") as f:
        return re.findall(r'^\t\{ "(\w+)", \w+ \},$|mode == "(\w+)"', f.read(), re.M)


def compiled(folder, compiler, source, name, options):
    """Return the path of the program, whose name is the same in each build."""
    os.makedirs(folder, exist_ok=True)
    path = built(folder, [compiler, "-O2", *CHECKED, *options, source], name)
    if not path:
        lib.skip_without(compiler)
    return path


def shown(path, *options):
    return json.loads(Run([PTCAP, "crash", "show", "-i", path, "--format", "json", *options]).expect(0).out)


def recorded(path, argv, options=None, env=None):
    """Record a program that dies, with another environment for each argv, which moves the stack."""
    env = {**os.environ, **(env or {}), "MORE": "x" * (zlib.crc32(str(argv).encode()) % 4000)}
    r = Run([PTCAP, "crash", "-q", *(options or ["--source", lib.SOURCE]), "-o", path, "--", *argv], env=env)
    check(r.status > 0, f"{argv}: it did not die: {r.err}")
    return shown(path)


def signature(said):
    """Return the parts of the signature, after a comparison with the rule of doc/json.md."""
    reason, frames = said["signature_reason"], said["signature_frames"]
    text = "".join(line + "\n" for line in ("ptcap-signature 1", reason, *frames))
    want = hashlib.sha256(text.encode()).hexdigest()[:16]
    check((said["signature"], said["signature_version"]) == (want, 1), f"{said['signature']} instead of {want}: {text}")
    return reason, *frames


def no_merges(buckets):
    """Each kind has a signature that no other kind has."""
    kinds = {}
    for kind, found in buckets.items():
        check(found not in kinds, f"{kind} has the signature of {kinds.get(found)}: {found}")
        kinds[found] = kind


def one_bucket(kind, said, found):
    """All crashes of one kind have the same signature."""
    got = signature(said)
    check(found is None or got == found, f"{kind}: {got} instead of {found}")
    return got


# mode: a part of the reason, and the function where the program died
C_KINDS = {
    "read": ("SIGSEGV read", "reads_null"),
    "write": ("SIGSEGV write", "writes_null"),
    "wild": ("SIGSEGV read", "reads_garbage"),
    "constant": ("SIGSEGV write", "writes_constant"),
    "badcall": ("SIGSEGV jump", "calls_garbage"),
    "callnull": ("SIGSEGV jump", "calls_null"),
    "overflow": ("SIGSEGV stack-overflow", "recurses"),
    "mutual": ("SIGSEGV stack-overflow", "first"),
    "parse": ("SIGSEGV read", "takes_number"),
    "abort": ("SIGABRT", "gives_up"),
    "assert": ("SIGABRT assertion", "asserts"),
    "doublefree": ("SIGABRT heap", "frees_twice"),
    "heap": ("SIGABRT heap", "corrupts_heap"),
    "smash": ("SIGABRT buffer", "smashes"),
    "fortify": ("SIGABRT buffer", "overruns"),
    "divide": ("SIGFPE division-by-zero", "divides"),
    "illegal": ("SIGILL undefined-instruction", "runs_nonsense"),
    "bus": ("SIGBUS read", "reads_truncated"),
    "thread": ("SIGSEGV write", "works"),
    "sort": ("SIGSEGV read", "compares"),
    "handler": ("SIGSEGV write", "on_usr1"),
    "strlen": ("SIGSEGV read", "in_libc"),
    "library": ("SIGSEGV write", "lib_store"),
}

CXX_KINDS = {
    "throw": ("SIGABRT exception std::runtime_error", "(anonymous namespace)::throws"),
    "other": ("SIGABRT exception (anonymous namespace)::other", "(anonymous namespace)::throws_other"),
    "at": ("SIGABRT exception std::out_of_range", "(anonymous namespace)::get"),
    "lambda": ("SIGSEGV write", "in_lambda::{lambda}::operator()"),
    "virtual": ("SIGSEGV read", "square::area"),
    "length": ("SIGABRT exception std::bad_alloc", "grows"),
    "map": ("SIGABRT exception std::out_of_range", "finds"),
}


def check_kinds(folder, kinds, compiler, source, more=()):
    """Record each kind in each build, and compare."""
    check({a or b for a, b in modes(source)} == set(kinds), f"{source} has other modes")
    programs = {}
    for name, options in BUILDS.items():
        programs[name] = compiled(os.path.join(folder, name), compiler, source, "program-1." + str(len(programs)), options)
    buckets = {}
    for kind, (reason, function) in kinds.items():
        found = None
        for name, path in programs.items():
            said = recorded(os.path.join(folder, "f"), [path, kind, str(SEEDS[name]), *more])
            found = one_bucket(f"{kind} of {name}", said, found)
        module = "libstore.so" if kind == "library" else "program"
        check(found[:2] == (reason, f"{module}!{function}"), f"{kind}: {found}")
        buckets[kind] = found
    no_merges(buckets)


@case
def c(folder):
    """Faults, jumps, recursions, aborts, a thread, a callback, a library."""
    library = compiled(folder, "gcc", LIBRARY, "libstore.so.1.2", ["-fPIC", "-shared"])
    check_kinds(folder, C_KINDS, "gcc", C, [library])


@case
def cxx(folder):
    """Exceptions, templates, lambdas, virtual functions."""
    check_kinds(folder, CXX_KINDS, "g++", CXX)


@case
def rust(folder):
    """Panics of a Rust program, with and without optimization and debug information."""
    if not shutil.which("rustc"):
        lib.skip_without("rustc")
    source = os.path.join(SUPPORT, "prog_panic.rs")
    programs = []
    for n, options in enumerate((["-g"], ["-g", "-O"], ["-O"])):
        os.mkdir(os.path.join(folder, str(n)))
        programs.append(built(os.path.join(folder, str(n)), ["rustc", *options, "-C", "panic=abort", source], "program"))
        check(programs[-1], "rustc failed")
    buckets = {}
    for kind in ("unwrap", "index", "format", "literal"):
        for path in programs:
            said = recorded(os.path.join(folder, "f"), [path, kind], env={"RUST_BACKTRACE": "0"})
            buckets[kind] = one_bucket(kind, said, buckets.get(kind))
    no_merges(buckets)
    check(buckets["unwrap"][:2] == ("SIGABRT panic", "program!prog_panic::get"), f"{buckets['unwrap']}")


@case
def go(folder):
    """Panics of a Go program, also of a stripped one, which has no message."""
    if not shutil.which("go"):
        lib.skip_without("go")
    programs = []
    for n, options in enumerate(([], ["-ldflags=-s"])):
        programs.append(os.path.join(folder, str(n), "program"))
        env = {**os.environ, "GOCACHE": os.path.join(folder, "cache"), "HOME": folder}
        Run(["go", "build", *options, "-o", programs[-1], os.path.join(SUPPORT, "prog_panic.go")], env=env).expect(0)
    buckets = {}
    for kind in ("nil", "index", "nested"):
        for path in programs:
            said = recorded(os.path.join(folder, "f"), [path, kind], env={"GOTRACEBACK": "crash"})
            buckets[kind] = one_bucket(kind, said, buckets.get(kind))
    no_merges(buckets)
    check(buckets["nested"] == ("SIGABRT go-panic", "program!main.nested.func", "program!main.nested", "program!main.main"), f"{buckets}")


SHOP = """import os, sys

def die():
    if sys.argv[1] == "abort":
        os.abort()
    import ctypes
    return ctypes.string_at(int(sys.argv[2]))

def other():
    import ctypes
    return ctypes.string_at(int(sys.argv[2]))

class Shop:
    def open(self, n):
        if n:
            return self.open(n - 1)
        return [(lambda: other() if sys.argv[1] == "other" else die())() for _ in (1, 2)]

Shop().open(int(sys.argv[2]))
"""


@case
def python(folder):
    """Python's functions count in place of the interpreter's, in each version of Python."""
    if not lib.has_events():
        lib.skip("no events")
    script = crash_python.written(folder, "shop.py", SHOP)
    buckets = {}
    for interpreter in crash_python.pythons():
        for kind in ("fault", "abort", "other"):
            for depth in ("0", "3", "900"):
                said = recorded(os.path.join(folder, "f"), [interpreter, script, kind, depth], STATE)
                buckets[kind] = one_bucket(f"{kind} of {interpreter}", said, buckets.get(kind))
    no_merges(buckets)
    check(buckets["abort"] == ("SIGABRT", "shop.py!die", "shop.py!Shop.open.<lambda>", "shop.py!Shop.open"), f"{buckets}")


@case
def recordings(folder):
    """Other sources and options give the same signature: without a trace, without memory, with a small buffer, in a copy; with
    linker names; and with a trace that lacks its end."""
    path = compiled(folder, "gcc", C, "program", ["-g"])
    f, copy = os.path.join(folder, "f"), os.path.join(folder, "copy")
    elsewhere = False  # a trace ended in other functions than the program
    for kind in ("read", "parse", "mutual", "heap", "smash", "callnull"):
        found = one_bucket(kind, recorded(f, [path, kind, "2"]), None)
        Run([PTCAP, "convert", "-i", f, "-o", copy]).expect(0)
        one_bucket(f"a copy of {kind}", shown(copy), found)
        for kept in (1, 0.9, 0.8, 0.7, 0.6):
            Run([PTCAP, "convert", "-i", f, "-o", copy]).expect(0)
            append(copy, b"\x02\xf3", kept)  # an overflow: the trace does not reach the end
            said = shown(copy)
            check(not said["trace_ends_there"], f"{kind}: the trace is whole")
            elsewhere |= "differ_at" in said
            one_bucket(f"{kind} with {kept} of the trace", said, found)
        emulated = ["--source", lib.SOURCE]
        for options in ([*emulated, "--no-memory"], [*emulated, "-m", "256K,64K"], *([STATE] if lib.has_events() else [])):
            one_bucket(f"{kind} with {options}", recorded(f, [path, kind, "3"], options), found)
    check(elsewhere, "each trace ends in the functions in which the program died")
    path = compiled(folder, "g++", CXX, "program", ["-g"])
    said = recorded(f, [path, "lambda", "0"])
    one_bucket("linker names", shown(f, "--no-demangle"), signature(said))


@case
def late(folder):
    """A trace that begins in the function in which the program dies: memory has the callers."""
    path = compiled(folder, "gcc", C, "program", ["-g", "-DPADDING"])
    f = os.path.join(folder, "f")
    small = ["--source", lib.SOURCE, "-m", "256K,64K"]
    found = signature(recorded(f, [path, "divide", "1"]))
    check(found[1:] == ("program!divides", "program!by_zero"), f"{found}")
    said = recorded(f, [path, "divide", "3000000"], small)
    check(said["traced_depth"] == 1 < said["unwound_depth"] and said["trace_ends_there"], f"the trace is not late: {said['stack_traced']}")
    one_bucket("a late trace", said, found)


@case
def lineless(folder):
    """clang's check of the stack has no source line. It is in a function of the program."""
    path = compiled(folder, "clang", C, "program", ["-g"])
    found = signature(recorded(os.path.join(folder, "f"), [path, "smash", "1"]))
    check(found == ("SIGABRT buffer", "program!smashes"), f"{found}")


@case
def nameless(folder):
    """Places without names: the same build has the same signature, and another build has another one. Without build-ids only
    the file counts. Another file has another signature."""
    f = os.path.join(folder, "f")

    def of(name, *options, mode="read"):
        path = compiled(os.path.join(folder, name + str(len(options))), "gcc", C, name, ["-s", *options])
        return signature(recorded(f, [path, mode, "1"]))

    plain = of("program")
    check(re.fullmatch(r"program\[[0-9a-f]{40}\]\+0x[0-9a-f]+", plain[1]), f"{plain}")
    check(of("program") == plain != of("program", "-DPADDING"), "the build-id does not count")
    check(of("program", mode="write") != plain != of("other"), "the reason or the file does not count")
    bare = of("program", "-DPADDING", "-Wl,--build-id=none")
    check(bare == ("SIGSEGV read", "program"), f"{bare}")


@case
def text(folder):
    """The line with the signature; with -v its parts; and a stack without functions of the program."""
    path = compiled(folder, "gcc", C, "program", ["-g"])
    f = os.path.join(folder, "f")
    said = recorded(f, [path, "sort", "1"])
    for options, more in (([], []), (["-v"], [said["signature_reason"], *said["signature_frames"]])):
        out = Run([PTCAP, "crash", "show", "-i", f, *options]).expect(0).out.split("\n\n")[0]
        want = "\n          ".join([f"  sig     {said['signature']}", *more])
        check(out.endswith(want), f"{out} does not end with {want}")
    r = Run([PTCAP, "crash", "-q", "--source", lib.SOURCE, "-o", f, "--", "/bin/sh", "-c", "kill -TERM $$"])
    check(signature(shown(f))[0] == "SIGTERM sent", f"{r.err}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
