#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""unwound.py NAME: stacks of dead processes, compared with those that eu-stack reads from the core
of the same moment."""

import json
import os
import re
import shutil
import sys

import lib
from compile import built, linkers
from lib import PTCAP, Run, check, prog

SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")
FORMS = {
    "pie": ["-pie", "-fPIE"],
    "fixed": ["-no-pie"],
    "static": ["-static"],
    "static-pie": ["-static-pie", "-fPIE"],
    "pages": ["-pie", "-fPIE", "-Wl,-z,max-page-size=2097152"],
}
STATE = ["-q", "-e", "dummy:u"]  # no trace, only the state
TRACE = ["-q", "--source", "step"]

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def eu_stack(core):
    """Return the frame addresses of the thread that died."""
    text = Run(["eu-stack", "--core", core]).out.split("\nTID ")[1]
    frames = re.findall(r"(?m)^#\d+ +0x([0-9a-f]+)(?: - 1)?(?: (.*))?$", text)
    # The kernel's return address from a handler is not a called function.
    return [int(ip, 16) for ip, name in frames if name != "__restore_rt"]


def died(folder, argv, options):
    """Return the report about the death, and the core."""
    path = os.path.join(folder, "f")
    core = lib.core_of(folder, [PTCAP, "crash", *options, "-o", path, "--", *argv])
    run = Run([PTCAP, "crash", "show", "-i", path, "--format", "json"]).expect(0)
    return json.loads(run.out), core


def same_as_eu_stack(what, said, core):
    got = [int(f["ip"], 16) for f in said["stack_unwound"]]
    want = eu_stack(core)
    names = [f["function"] for f in said["stack_unwound"]]
    if len(want) == 1 and "mold static-pie" in what:  # elfutils 0.192 with mold 2.37: no comparison possible
        print(f"{what}: eu-stack finds no way out of the first frame; we find {names}")
        return
    check(len(want) > 2, f"{what}: eu-stack has {len(want)} frames")
    check(got == want, f"{what}: {[hex(a) for a in got]} {names} instead of {[hex(a) for a in want]}")
    check("differ_at" not in said, f"{what}: they differ at {said.get('differ_at')}")


def need_eu_stack():
    if not shutil.which("eu-stack"):
        lib.skip("no eu-stack (elfutils)")
    if not lib.has_events():
        lib.skip("no events")


@case
def linked(folder):
    """For each linker's layout of segments: frames of the program and of its libraries."""
    need_eu_stack()
    done = 0
    for compiler in ("gcc", "clang"):
        for linker in linkers():
            for form, options in FORMS.items():
                argv = [compiler, "-g", "-O2", "-fomit-frame-pointer", "-fuse-ld=" + linker, *options]
                path = built(folder, [*argv, os.path.join(SUPPORT, "prog_deep.c")], "deep")
                if path:
                    same_as_eu_stack(f"{compiler} {linker} {form}", *died(folder, [path], STATE))
                    done += 1
    if not done:
        lib.skip("no compiler")


@case
def uncaught(folder):
    """A C++ exception that is not caught."""
    need_eu_stack()
    for compiler in ("g++", "clang++"):
        for linker in linkers():
            argv = [compiler, "-g", "-O2", "-fomit-frame-pointer", "-fuse-ld=" + linker, os.path.join(SUPPORT, "prog_uncaught.cpp")]
            path = built(folder, argv, "uncaught")
            if path:
                same_as_eu_stack(f"{compiler} {linker}", *died(folder, [path], STATE))


@case
def rust(folder):
    """A Rust program, linked by its own linker and by lld."""
    need_eu_stack()
    if not shutil.which("rustc"):
        lib.skip("no rustc")
    for options in ([], ["-C", "link-arg=-fuse-ld=lld"]):
        path = built(folder, ["rustc", "-g", "-O", *options, os.path.join(SUPPORT, "prog_null.rs")], "null")
        if path:
            same_as_eu_stack(f"rustc {options}", *died(folder, [path], STATE))


@case
def go_stripped(folder):
    """Frames of a stripped Go program have the names and lines of Go's own table."""
    need_eu_stack()
    if not shutil.which("go"):
        lib.skip("no go")
    os.environ.update(GOPATH=folder, GO111MODULE="off", CGO_ENABLED="0", GOTRACEBACK="crash")
    source, path = os.path.join(SUPPORT, "prog_null.go"), os.path.join(folder, "null")
    for mode in ("exe", "pie"):
        Run(["go", "build", "-buildmode=" + mode, "-ldflags=-s -w", "-o", path, source]).expect(0)
        said, core = died(folder, [path], STATE)
        same_as_eu_stack(f"go {mode}", said, core)
        got = [(f["function"], os.path.basename(f["file"] or ""), f["line"]) for f in said["stack_unwound"]]
        want = [("main.deep", "prog_null.go", n) for n in (14, 16, 16, 16)]
        want += [("main.work", "prog_null.go", 21), ("main.main", "prog_null.go", 25), ("runtime.main", "proc.go", None)]
        got = [(name, file, line if file != "proc.go" else None) for name, file, line in got]
        check(want == got[-1 - len(want) : -1], f"go {mode}: {got}")


# mode: the functions of both stacks, innermost first; None: an address without code
STRAY = {
    "null": [None, "fire", "handle", "main"],
    "sixteen": [None, "fire", "handle", "main"],
    "handled": ["abort", "on_signal", None, "fire", "handle", "main"],
    "alternate": ["store", "on_signal", "raise", "main"],
}


@case
def stray(folder):
    """A call to an address without code has a caller. A handler on another stack has interrupted a
    function."""
    for mode, want in STRAY.items():
        path = os.path.join(folder, mode)
        Run([PTCAP, "crash", *TRACE, "-o", path, "--", prog("stray"), mode])
        said = json.loads(Run([PTCAP, "crash", "show", "-i", path, "--format", "json"]).expect(0).out)
        for stack in ("stack_traced", "stack_unwound"):
            got = [f["function"] for f in said[stack]]
            rest = iter(got)
            check(all(name in rest for name in want), f"{mode}: {stack} is {got}")
        check("differ_at" not in said, f"{mode}: they differ at {said.get('differ_at')}: {said['stack_traced']}, {said['stack_unwound']}")
        check(said["trace_ends_there"], f"{mode}: the trace ends elsewhere")
    text = Run([PTCAP, "decode", "-i", os.path.join(folder, "null")]).expect(0).out.splitlines()
    check(re.search(r"icall .*-> 0x0$|icall .*-> 0$", text[-2].rstrip()), f"no call to 0: {text[-2:]}")
    check("from" in said["branches"][-1], said["branches"][-1])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
