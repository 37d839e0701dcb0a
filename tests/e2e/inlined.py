#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inlined.py NAME: inlined functions in stacks, compared with gdb's backtrace of the core of the
same moment."""

import json
import os
import re
import shutil
import sys

import lib
from compile import built
from lib import PTCAP, Run, check

SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")
# Static programs start with few instructions, so stepping is fast.
COMPILERS = {
    "g++ -O2": ["g++", "-static", "-g", "-O2"],
    "g++ -O3 in DWARF 4": ["g++", "-static", "-g", "-O3", "-gdwarf-4"],
    "clang++ -O2": ["clang++", "-static", "-g", "-O2"],
    "rustc -O": ["rustc", "-C", "target-feature=+crt-static", "-g", "-O"],
}
# gdb's frames of the thread that died: program counter, function, file, line, whether inlined.
BACKTRACE = """
import gdb, json
frame, rows = gdb.newest_frame(), []
while frame is not None and frame.is_valid():
    at = frame.find_sal()
    if frame.type() != gdb.SIGTRAMP_FRAME: # "<signal handler called>"
        rows.append([frame.pc(), frame.name(), at.symtab and at.symtab.filename, at.line, frame.type() == gdb.INLINE_FRAME,
                     gdb.solib_name(frame.pc())])
    frame = frame.older()
print("FRAMES " + json.dumps(rows))
"""

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def programs(folder, *names):
    """Yield each compiler's name and program."""
    done = 0
    for name in names or COMPILERS:
        suffix = "rs" if name.startswith("rustc") else "cpp"
        path = built(folder, [*COMPILERS[name], os.path.join(SUPPORT, "prog_inlined." + suffix)])
        if path:
            yield name, path
            done += 1
    if not done:
        lib.skip("no compiler")


def short(name):
    """Return a function's name without namespaces, parameters and types: gdb prints these in its own
    way."""
    depth, text = 0, ""
    for c in (name or "?").replace("operator()", "lambda").replace("->", ""):
        depth += c == "<"
        text += c if not depth else ""
        depth -= c == ">"
    if re.search(r"\{closure[^}]*\}+$", text):
        return "closure"
    return re.sub(r"\(.*|\.cold$", "", text).rpartition("::")[2].rpartition(" ")[2]


def row(function, file, line, inlined):
    return short(function), os.path.basename(file or "?"), line if file else 0, inlined


def backtrace(folder, program, core):
    """Return gdb's frames in the program."""
    script = os.path.join(folder, "backtrace.py")
    with open(script, "w", encoding="ascii") as f:
        f.write(BACKTRACE)
    out = Run(["gdb", "-batch", "-nx", "-ex", "set debuginfod enabled off", "-x", script, program, core]).out
    found = re.search(r"(?m)^FRAMES (.*)$", out)
    if not found:
        lib.skip("this gdb has no Python")
    return [(n, *row(*frame[1:5])) for n, frame in enumerate(json.loads(found[1])) if not frame[5] and frame[2]]


def functions_of(stack, program):
    """Return all functions of the frames in the program, numbered as gdb numbers frames."""
    rows, n = [], 0
    for frame in stack:
        for i, f in enumerate(frame["functions"]):
            if frame["module"] == program and f["file"]:
                rows.append((n, *row(f["function"], f["file"], f["line"], i + 1 < len(frame["functions"]))))
            n += 1
    return rows


def in_text(text):
    """Return number, function and whether it is inlined, of all lines with a stack."""
    stack = text.split("from memory\n")[1].split("\n\n")[0]
    rows = re.findall(r"(?m)^[ >] *(\d+) (.*?) +=$", stack)
    return [(int(n), short(re.sub(r"(\+0x\w+)?  .*", "", line)), line.endswith("(inlined)")) for n, line in rows]


def died(folder, program, mode):
    path = os.path.join(folder, "f")
    core = lib.core_of(folder, [PTCAP, "crash", "-q", "--source", "step", "-o", path, "--", program, mode])
    show = [PTCAP, "crash", "show", "-i", path]
    return json.loads(Run([*show, "--format", "json"]).expect(0).out), Run(show).expect(0).out, core


def same_as_gdb(folder, what, program, mode):
    said, text, core = died(folder, program, mode)
    want = backtrace(folder, program, core)
    check(sum(f[4] for f in want) > 1, f"{what}: gdb has no inlined functions: {want}")
    for stack in ("stack_unwound", "stack_traced"):
        got = functions_of(said[stack], program)[: len(want)]  # gdb ends at main
        check(got == want, f"{what}: {stack}: {lib.first_difference(got, want, 'ptcap', 'gdb')}")
    shown = {n: (name, inlined) for n, name, inlined in in_text(text)}
    for n, name, file, line, inlined in want:
        check(shown.get(n) == (name, inlined), f"{what}: #{n} {name}: {shown.get(n)} in\n{text}")
    check("differ_at" not in said, f"{what}: the stacks differ at {said.get('differ_at')}")
    return said


@case
def crash(folder):
    """Each function of the stacks, real or inlined, is a frame of gdb."""
    if not shutil.which("gdb"):
        lib.skip("no gdb")
    for what, program in programs(folder):
        for mode in ("null",) if what.startswith("rustc") else ("null", "handler"):
            said = same_as_gdb(folder, f"{what} {mode}", program, mode)
            check(len(said["fault"]["functions"]) > 1, f"{what}: {said['fault']}")
            named = said["stack_traced"][0]["functions"]
            check(said["fault"]["functions"] == named, f"{what}: {said['fault']} instead of {named}")
        if not what.startswith("rustc"):
            said = same_as_gdb(folder, f"{what} abort", program, "abort")
            frame = said["stack_traced"][said["gave_up_at"]]
            check(short(frame["function"]) == "main", f"{what}: {frame} gave up")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
