#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""crash_message.py NAME: the runtime's message in the output of `ptcap crash show`, compared with
the message that the program prints, and the place that called abort()."""

import json
import os
import re
import shutil
import signal
import sys

import lib
import store
from compile import built
from lib import PTCAP, Run, check

SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")
CXX = os.path.join(SUPPORT, "prog_message.cpp")
RUST = os.path.join(SUPPORT, "prog_panic.rs")
GO = os.path.join(SUPPORT, "prog_panic.go")
ASAN = os.path.join(SUPPORT, "prog_asan.c")
STATE = ["-e", "dummy:u"]  # no trace, only the state
STEP = ["--source", "step"]
EMULATED = ["--source", "emu"]
# The last lines of clang's functions, and of inlined functions, are not in the source.
COMPILERS = {
    "g++": ["g++", "-g", "-O1", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-fstack-protector-all"],
    "g++ -static-libstdc++": ["g++", "-g", "-O1", "-static-libstdc++", "-static-libgcc"],
    "g++ -static": ["g++", "-g", "-O1", "-static"],
    "clang++": ["clang++", "-g", "-O0", "-fstack-protector-all"],
}

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def need_events():
    if not lib.has_events():
        lib.skip("no events")


def programs(folder, source, *names):
    """Compile source with each of the compilers that exist: under a sanitizer with the first of them. Returns (name, path)."""
    ret = []
    for name in names or COMPILERS:
        if ret and store.READS:
            break
        path = built(folder, [*COMPILERS[name], source], name.replace(" ", ""))
        if path:
            ret.append((name, path))
    if not ret:
        lib.skip_without("compiler")
    return ret


def lines_of(source):
    """Return the line of each marker "DIES: mode"."""
    with open(source, encoding="utf-8") as f:
        return {m[1]: n for n, line in enumerate(f, 1) if (m := re.search(r"DIES: (\w+)", line))}


class Crash:
    """The report about a program, and what it printed."""

    def __init__(self, folder, argv, options=(), more=()):
        path = os.path.join(folder, "f")
        self.run = Run([PTCAP, "crash", "-q", *(options or STATE), *more, "-o", path, "--", *argv])
        self.run.expect(128 + signal.SIGABRT)
        self.path = path
        self.said = shown(path)
        stack = self.said["stack_traced"] or self.said["stack_unwound"]
        self.at = self.said.get("gave_up")
        check(not self.at or self.at["ip"] == stack[self.said["gave_up_at"]]["ip"], f"{argv}: {self.at}")

    def message(self, what):
        messages = self.said["messages"]
        check(len(messages) == 1, f"{what}: {messages} for {self.run.err!r}")
        return messages[0]


def shown(path, *options):
    return json.loads(Run([PTCAP, "crash", "show", "-i", path, "--format", "json", *options]).expect(0).out)


def is_at(what, place, function, line=None):
    check(place and re.match(function + r"\b", place["function"] or ""), f"{what}: {place} is not in {function}")
    check(line in (None, place["line"]), f"{what}: {place} is not in line {line}")


@case
def c_library(folder):
    """An assertion, malloc's check, a smashed stack, a buffer's check: the C library's message."""
    need_events()
    functions = {"assert": "fail_assert", "free": "free_invalid", "stack": "smash", "fortify": "fortify"}
    for name, path in programs(folder, CXX):
        for mode, function in functions.items():
            if mode == "fortify" and name != "g++" or mode == "stack" and "static" in name:
                continue
            what = f"{name} {mode}"
            c = Crash(folder, [path, mode])
            m = c.message(what)
            check(m["kind"] == "abort-message" and m["text"] == c.run.err.strip("\n"), f"{what}: {m} instead of {c.run.err!r}")
            is_at(what, c.at, function)
            check(function in c.said["text"], f"{what}: {c.said['text']}")
            text = Run([PTCAP, "crash", "show", "-i", c.path]).expect(0).out
            head = text.split("stack:")[0]
            check("\n  says    " in head and re.search(rf"\n  at +{function}\(", head), f"{what}: {head}")


def printed(err):
    """Return type and what() that the C++ library printed."""
    m = re.fullmatch(r"(?s)(?:caught\n)?terminate called after throwing an instance of '(.*?)'\n(?:  what\(\):  (.*)\n)?", err)
    check(m, f"the library printed {err!r}")
    return m[1], m[2]


@case
def exceptions(folder):
    """Type and what() of an exception that nobody catches, and the place that threw it."""
    need_events()
    line = lines_of(CXX)
    modes = ("runtime", "derived", "second", "own", "plain", "system", "long", "range", "kept", "noexcept", "rethrown", "thread")
    for name, path in programs(folder, CXX):
        for mode in modes if "static" not in name else ("second", "rethrown", "thread"):
            what = f"{name} {mode}"
            c = Crash(folder, [path, mode])
            m = c.message(what)
            want, text = printed(c.run.err)
            check((m["kind"], m["type"]) == ("exception", want), f"{what}: {m} instead of {want}")
            if mode == "own":
                check(m["text"] is None and text == "of its own", f"{what}: {m} instead of {text}")
            elif mode == "long":
                check(m["cut"] and len(m["text"]) > 1000 and text.startswith(m["text"]), f"{what}: {m}")
            else:
                check(m["text"] == text and "cut" not in m, f"{what}: {m} instead of {text!r}")
            functions = {"range": "of_range", "kept": "throws_kept", "rethrown": "rethrows"}
            if mode == "noexcept" and name == "clang++":
                functions[mode] = "never_throws"
            lines = {"noexcept": line["runtime"], "thread": line["runtime"]}
            expect = None if name == "clang++" else lines.get(mode, line.get(mode))
            is_at(what, c.at, functions.get(mode, "throw_one"), expect)
            if mode not in ("rethrown", "noexcept"):
                check(c.said["thrown"] == c.at, f"{what}: thrown at {c.said.get('thrown')}")


@case
def text_thrown(folder):
    """A thrown string is the message, although the library does not print it."""
    need_events()
    for name, path in programs(folder, CXX):
        m = Crash(folder, [path, "string"]).message(name)
        check((m["type"], m["text"]) == ("char const*", "a string"), f"{name}: {m}")


@case
def none(folder):
    """An exception that is being handled, or that was handled, is not the reason of an abort()."""
    need_events()
    for name, path in programs(folder, CXX):
        for mode, function in (("handler", "aborts_in_handler"), ("abort", "only_abort"), ("terminate", "terminates")):
            c = Crash(folder, [path, mode])
            check(not c.said["messages"] and "thrown" not in c.said, f"{name} {mode}: {c.said['messages']}")
            is_at(f"{name} {mode}", c.at, function)


@case
def traced_throw(folder):
    """If the stack has lost the function that threw, the trace has it."""
    line = lines_of(CXX)
    # A program of -static sorts all its frame descriptions at the first throw: millions of steps.
    argv = ["clang++", "-g", "-O0", "-fPIE", "-static-pie", CXX]
    path = built(folder, argv, "clang")
    mode, function = ("noexcept", "never_throws") if path else ("rethrown", "rethrows")
    path = path or built(folder, ["g++", *argv[1:]], "gcc")
    if not path:
        lib.skip_without("compiler")
    c = Crash(folder, [path, mode], STEP)
    is_at(mode, c.at, function)
    is_at(mode, c.said["thrown"], "throw_one", line["runtime"])
    text = Run([PTCAP, "crash", "show", "-i", c.path]).expect(0).out
    check(re.search(r"\n  thrown  throw_one\(", text), text[:1000])


@case
def kept(folder):
    """--no-memory keeps no message; --redact keeps it; a core has the C library's, too. A core lacks
    the constants of the program, so the types of exceptions."""
    need_events()
    (_, path), *_ = programs(folder, CXX, "g++", "clang++")
    c = Crash(folder, [path, "runtime"])
    check(c.message("runtime")["text"], "no text")
    redacted = os.path.join(folder, "redacted")
    Run([PTCAP, "convert", "-i", c.path, "-o", redacted, "--redact"]).expect(0)
    check(shown(redacted)["messages"] == c.said["messages"], "redacted, the message is another one")
    bare = Crash(folder, [path, "runtime"], more=["--no-memory"])
    check(not bare.said["messages"], f"{bare.said['messages']}")
    want = Crash(folder, [path, "assert"]).said["messages"]
    recording = os.path.join(folder, "recording")
    core = lib.core_of(folder, [PTCAP, "record", "-q", *STATE, "-o", recording, "--", path, "assert", "core"])
    got = shown(recording, "--core", core)
    check(got["state_of_core"] and got["messages"] == want, f"{got['messages']} instead of {want}")


def panics(err):
    """Return (file, line, column, text) of each panic that Rust printed."""
    ret = re.findall(r"thread '\S+' .*?panicked at (.*?):(\d+):(\d+):\n(.*)\n", err)
    check(ret, f"it printed {err!r}")
    return ret


@case
def rust(folder):
    """The panic of a Rust program that aborts: message, place, and the function that panicked."""
    need_events()
    if not shutil.which("rustc"):
        lib.skip_without("rustc")
    forms = {"-O": ["-O", "-C", "panic=abort"], "debug": ["-C", "panic=abort"], "unwinding": ["-O"], "stripped": ["-O", "-C", "panic=abort", "-C", "strip=symbols"]}
    modes = {"unwrap": "get", "format": "format", "literal": "literal", "expect": "expect", "index": "index", "thread": "format"}
    for name, options in forms.items():
        path = built(folder, ["rustc", "-g", *options, RUST], "panic" + name)
        check(path, f"{name}: rustc failed")
        for mode, function in modes.items() if name != "unwinding" else (("nounwind", "nounwind"),):
            what = f"{name} {mode}"
            c = Crash(folder, [path, mode])
            m = c.message(what)
            # Two panics, if one leaves a function that cannot unwind.
            want = panics(c.run.err)
            got = (m["file"], str(m["line"]), str(m["column"]), m["text"])
            check(m["kind"] == "panic" and got == want[-1], f"{what}: {m} instead of {want[-1]}")
            if name != "stripped":
                is_at(what, c.at, rf"prog_panic::{function}")
                if name != "unwinding":
                    check(c.at["line"] == m["line"], f"{what}: {c.at}, but {m}")
                check("a panic" in c.said["text"], f"{what}: {c.said['text']}")
        if name != "unwinding":
            c = Crash(folder, [path, "abort"])
            check(not c.said["messages"], f"{name}: {c.said['messages']}")


@case
def emulated(folder):
    """The messages of an emulated program: its memory is in the process of QEMU."""
    (_, path), *_ = programs(folder, CXX, "g++", "clang++")
    c = Crash(folder, [path, "assert"], EMULATED)
    m = c.message("assert")
    check((m["kind"], m["text"]) == ("abort-message", c.run.err.strip("\n")), f"{m} instead of {c.run.err!r}")
    c = Crash(folder, [path, "runtime"], EMULATED)
    m = c.message("runtime")
    check((m["kind"], m["type"], m["text"]) == ("exception", *printed(c.run.err)), f"{m} instead of {c.run.err!r}")
    if shutil.which("rustc"):
        os.environ["RUST_BACKTRACE"] = "0"  # its code takes seconds
        c = Crash(folder, [built(folder, ["rustc", "-g", "-C", "panic=abort", RUST], "panic"), "unwrap"], EMULATED)
        m = c.message("panic")
        check(m["kind"] == "panic" and panics(c.run.err)[-1] == (m["file"], str(m["line"]), str(m["column"]), m["text"]), f"{m} instead of {c.run.err!r}")


@case
def handled(folder):
    """A process that handles a fault and exits with a failure: the signal as it was delivered. If the
    process goes on, there is no state."""
    path = os.path.join(folder, "f")
    program = lib.prog("crash_static")
    for options in [STEP] + [STATE] * lib.has_events():
        argv = [PTCAP, "crash", *options, "-o", path, "--", program, "handled"]
        r = Run(argv, env={**os.environ, "FAILS": "1"}).expect(7)
        check("1 process handled a fault and exited with a failure" in r.err and "killed" not in r.err, f"{options}: {r.err}")
        said = shown(path)
        got = (said["signal"], said["reason"], said["exit_status"], said["fault"]["function"], said["fault"]["address"])
        check(got == ("SIGSEGV", "null-page", 7, "write_null", "0x10"), f"{options}: {said['text']}")
        names = [f["function"] for f in said["stack_unwound"]]
        check(names[:2] == ["write_null", "handled"] and "main" in names, f"{options}: {names}")
        if options == STEP:
            check("differ_at" not in said and said["trace_ends_there"], f"{said['stack_traced']}")
        info = Run([PTCAP, "info", "-i", path]).expect(0).out
        check(re.search(r"crash +process \d+ handled SIGSEGV in thread \d+, and exited with status 7", info), info)
        Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
        r = Run(argv).expect(0)
        check("no signal killed a process" in r.err, f"{options}: {r.err}")
        Run([PTCAP, "crash", "show", "-i", path]).expect(4)


def go_program(folder, *options):
    """Build prog_panic.go."""
    if not shutil.which("go"):
        lib.skip_without("go")
    path = os.path.join(folder, "go_panic" + "".join(options))
    env = {**os.environ, "GOCACHE": os.path.join(folder, "cache"), "HOME": folder}
    Run(["go", "build", *options, "-o", path, GO], env=env).expect(0)
    return path


@case
def go(folder):
    """A nil pointer in Go: the runtime handles SIGSEGV, prints a panic, and exits with status 2.
    Other panics end in SIGABRT, if the user wants a core: their text and the goroutine."""
    program = go_program(folder)
    line = lines_of(GO)
    path = os.path.join(folder, "f")
    sources = [STATE] * lib.has_events() + [EMULATED] * bool(shutil.which("qemu-x86_64"))
    if not sources:
        lib.skip("no events, and no qemu-x86_64")
    for options in sources:
        r = Run([PTCAP, "crash", "-q", *options, "-o", path, "--", program, "nil"]).expect(2)
        check("nil pointer" in r.err, r.err)
        said = shown(path)
        check((said["signal"], said["reason"], said["exit_status"]) == ("SIGSEGV", "null-page", 2), said["text"])
        is_at("go", said["fault"], r"main\.use", line["nil"])
        names = [f["function"] for f in said["stack_unwound"]]
        check(names[:3] == ["main.use", "main.main", "runtime.main"], f"{options}: {names}")
    check(options == STATE or said["trace_ends_there"], "the trace ends elsewhere")
    need_events()

    functions = {"nil": "use", "index": "index", "map": "assign", "nested": r"nested\.func1"}
    os.environ["GOTRACEBACK"] = "crash"
    for mode in sorted({*line, "goroutine"}):
        c = Crash(folder, [program, mode])
        m = c.message(mode)
        want = re.findall(r"panic: (.*?)(?: \[recovered\])?\n", c.run.err)[-1]
        number = re.search(r"^goroutine (\d+) (?:gp=.*)?\[running\]", c.run.err, re.M)[1]
        check((m["kind"], m["text"], m["goroutine"]) == ("go-panic", want, int(number)), f"{mode}: {m} instead of {want!r} {number}")
        is_at(mode, c.at, "main." + functions.get(mode, "fail"), line.get(mode, line["string"]))
        check("a panic" in c.said["text"], f"{mode}: {c.said['text']}")
    text = Run([PTCAP, "crash", "show", "-i", c.path]).expect(0).out
    check(f"\n  says    {want} (goroutine {number})\n" in text, text)
    bare = os.path.join(folder, "bare")
    Run(["strip", "-o", bare, program]).expect(0)
    check(not Crash(folder, [bare, "string"]).said["messages"], "a message without debug information")


@case
def asan(folder):
    """An error that AddressSanitizer finds: its kind, the access, and the user's line."""
    need_events()
    line = lines_of(ASAN)
    # The sanitizers of gcc 12 and clang 14 fail if the kernel randomises more address bits than they know.
    run = ["setarch", "-R", "env", "ASAN_OPTIONS=abort_on_error=1"]
    ran = 0
    for compiler in ("gcc", "clang"):
        argv = [compiler, "-g", "-O1", "-fsanitize=address", ASAN]
        path = built(folder, argv, "asan_" + compiler)
        for mode in (*sorted(line), "deep") if path else ():
            what, ran = f"{compiler} {mode}", ran + 1
            c = Crash(folder, [*run, path, mode])
            if mode == "aborts":
                check(not c.said["messages"], f"{what}: {c.said['messages']}")
                is_at(what, c.at, "aborts", line[mode])
                continue
            m = c.message(what)
            kind = re.search(r"SUMMARY: AddressSanitizer: (\S+)", c.run.err)[1]
            check((m["kind"], m["type"]) == ("asan-report", kind), f"{what}: {m} instead of {kind}")
            parts = m["text"].split("; ")
            check(all(part in c.run.err for part in parts), f"{what}: {m} instead of {c.run.err}")
            check(m["text"].startswith("READ of size 4 ") or mode not in ("heap", "stack"), f"{what}: {parts}")
            is_at(what, c.at, mode, line.get(mode))
            check("AddressSanitizer found" in c.said["text"], f"{what}: {c.said['text']}")
    if not ran:
        lib.skip_without("compiler with AddressSanitizer")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
