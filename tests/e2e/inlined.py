#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inlined.py NAME: inlined functions in stacks, compared with gdb's backtrace of the core of the same
moment, and in decoded branches, compared with addr2line."""

import json
import os
import re
import shutil
import sys

import lib
import lines
import store
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
# gdb's frames of the thread that died: program counter, function, file, line, whether inlined, library, whether gdb found the
# frame only in call sites: the function has ended with a jump.
BACKTRACE = """
import gdb, json
frame, rows = gdb.newest_frame(), []
while frame is not None and frame.is_valid():
    at = frame.find_sal()
    if frame.type() != gdb.SIGTRAMP_FRAME: # "<signal handler called>"
        rows.append([frame.pc(), frame.name(), at.symtab and at.symtab.filename, at.line, frame.type() == gdb.INLINE_FRAME,
                     gdb.solib_name(frame.pc()), frame.type() == gdb.TAILCALL_FRAME])
    frame = frame.older()
print("FRAMES " + json.dumps(rows))
"""

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def programs(folder, *names):
    """Yield each compiler's name and program: under a sanitizer only the first one."""
    done = 0
    for name in names or COMPILERS:
        if done and store.READS:
            break
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
    stack = re.split(r"(?m)^stack: .*(?:the memory agree|from memory)\n", text)[1].split("\n\n")[0]
    rows = re.findall(r"(?m)^[ >] *(\d+) (.*)$", stack)
    return [(int(n), short(re.sub(r"(\+0x\w+| \(inlined\))?(  .*)?$", "", line)), "(inlined)" in line) for n, line in rows]


def died(folder, program, mode, source):
    path = os.path.join(folder, "f")
    core = lib.core_of(folder, [PTCAP, "crash", "-q", *source, "-o", path, "--", program, mode])
    show = [PTCAP, "crash", "show", "-v", "--full-names", "-i", path]
    return json.loads(Run([*show, "--format", "json"]).expect(0).out), Run(show).expect(0).out, core


def same_as_gdb(folder, what, program, mode):
    """Both stacks are compared for the compiler's usual options, and for each compiler in one mode. Stepping takes long."""
    traced = mode == "null" or what.startswith("g++ -O2") or not lib.has_events()
    said, text, core = died(folder, program, mode, ["--source", "step"] if traced else ["-e", "dummy:u"])
    want = backtrace(folder, program, core)
    check(sum(f[4] for f in want) > 1, f"{what}: gdb has no inlined functions: {want}")
    for stack in ("stack_unwound", "stack_traced") if traced else ("stack_unwound",):
        got = functions_of(said[stack], program)[: len(want)]  # gdb ends at main
        check(got == want, f"{what}: {stack}: {lib.first_difference(got, want, 'ptcap', 'gdb')}")
    shown = {n: (name, inlined) for n, name, inlined in in_text(text)}
    for n, name, file, line, inlined in want:
        check(shown.get(n) == (name, inlined), f"{what}: #{n} {name}: {shown.get(n)} in\n{text}")
    check("differ_at" not in said, f"{what}: the stacks differ at {said.get('differ_at')}")
    return said


def stack_of(said):
    return said["stack_traced"] or said["stack_unwound"]


@case
def crash(folder):
    """Each function of the stacks, real or inlined, is a frame of gdb."""
    if not shutil.which("gdb"):
        lib.skip("no gdb")
    for what, program in programs(folder):
        for mode in ("null",) if what.startswith("rustc") else ("null", "handler"):
            said = same_as_gdb(folder, f"{what} {mode}", program, mode)
            check(len(said["fault"]["functions"]) > 1, f"{what}: {said['fault']}")
            named = stack_of(said)[0]["functions"]
            check(said["fault"]["functions"] == named, f"{what}: {said['fault']} instead of {named}")
        if not what.startswith("rustc"):
            said = same_as_gdb(folder, f"{what} abort", program, "abort")
            frame = stack_of(said)[said["gave_up_at"]]
            check(short(frame["function"]) == "main", f"{what}: {frame} gave up")


def chains(argv, addrs):
    """Ask a tool for the places at the addresses, the innermost first, as "FILE:LINE" or "-"."""
    rows, found = lines.asked(argv, addrs).splitlines(), {}
    for text in rows:
        if re.fullmatch(r"0x[0-9a-f]+", text):
            last = found.setdefault(int(text, 16), [])
        elif text.strip():
            last.append(lines.plain(re.sub(r"(:\d+):\d+$", r"\1", text.strip())))
    return found


def plain_chain(text):
    return [lines.plain(place) for place in text.split(",")]


def same_as_addr2line(what, program, got):
    """Compare the places of all addresses. A second tool decides where addr2line differs."""
    want = chains(["addr2line", "-a", "-i", "-e", program], got)
    bad = [a for a in got if got[a] != want[a]]
    if bad and shutil.which("llvm-symbolizer"):
        other = chains(["llvm-symbolizer", "-a", "-i", "--functions=none", "-e", program], bad)
        bad = [a for a in bad if got[a] != other[a]]
    check(not bad, f"{what}: {len(bad)} of {len(got)}: {[(hex(a), got[a], want[a]) for a in bad[:5]]}")
    inlined = sum(len(places) > 1 for places in got.values())
    check(inlined > 20, f"{what}: {inlined} of {len(got)} addresses are inlined")


@case
def srcline(folder):
    """The lines of inlined calls at each executed address equal addr2line's."""
    lines.need()
    for what, program in programs(folder):
        lines.record(folder, program)
        rows = lines.executed(folder, program, "insn-ip,srcline", "--inline")
        same_as_addr2line(what, program, {a: plain_chain(text) for a, text in rows.items()})
        path = os.path.join(folder, "perf.data")
        for options in (["-F", "from,srcline"], ["--insn"]):
            with_it = Run([PTCAP, "decode", "-i", path, *options, "--inline"]).expect(0).out
            without = Run([PTCAP, "decode", "-i", path, *options]).expect(0).out
            check(with_it != without, f"{what}: {options} is the same with --inline")
            if options[0] == "-F":
                check(re.sub(r"(?m),\S*$", "", with_it) == without, f"{what}: {options}: other lines with --inline")


def calls(path):
    """Return the addresses and the targets of all calls, in order."""
    text = Run([PTCAP, "decode", "-i", path, "-F", "from,to,kind,insn"]).expect(0).out
    rows = (r.split() for r in text.splitlines())
    found = [(int(r[0], 16), int(r[1], 16), len(r[3]) // 2) for r in rows if r[2] in ("call", "icall")]
    return [(a, to) for a, to, size in found if to and to != a + size]


def events(path, *options):
    rows = map(json.loads, Run([PTCAP, "decode", "-i", path, "--calls", "--no-demangle", "--format=json", *options]).expect(0).out.splitlines())
    return [r for r in rows if r.get("type") in ("enter", "leave")]


def check_calls(what, path, program):
    """The inlined functions around each call equal those of its address; the rest is as without
    --inline."""
    stack, around = [], []
    for e in events(path, "--inline"):
        if e["type"] == "enter":
            if e["how"] == "call":
                last = max((i for i, s in enumerate(stack) if s["how"] != "inlined"), default=-1)
                around.append((int(e["ip"], 16), [s["name"] for s in stack[: last : -1]]))
            check(e["depth"] == len(stack), f"{what}: {e} in {stack}")
            stack.append(e)
        else:
            top = stack.pop()
            check(e["depth"] == len(stack) and e["ip"] == top["ip"], f"{what}: {e} ends {top}")
    check([to for _, to in calls(path)] == [to for to, _ in around], f"{what}: other calls")
    frames = named_frames(path, program, {a for a, _ in calls(path)})
    bad = [(hex(a), got, frames[a]) for (a, _), (_, got) in zip(calls(path), around) if a in frames and got != frames[a]]
    check(not bad, f"{what}: {len(bad)} of {len(around)} calls: {bad[:3]}")
    check(sum(len(names) > 1 for _, names in around) > 2, f"{what}: no nested inlined functions")
    real = [{k: v for k, v in e.items() if k != "depth"} for e in events(path, "--inline") if e["how"] != "inlined"]
    check(real == [{k: v for k, v in e.items() if k != "depth"} for e in events(path)], f"{what}: other functions with --inline")


def named_frames(path, program, addrs):
    """Return llvm-symbolizer's inlined functions at the run-time addresses in the program."""
    text = Run([PTCAP, "dump", "-i", path]).expect(0).out
    maps = re.findall(rf'addr=0x(\w+) len=0x(\w+) pgoff=0x(\w+).*filename="{re.escape(program)}"', text)
    loads = re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) .*E", Run(["readelf", "-lW", program]).expect(0).out)
    there = {}
    for start, length, off in ([int(n, 16) for n in m] for m in maps):
        for offset, addr, size in ([int(n, 16) for n in m] for m in loads):
            for a in addrs:
                if start <= a < start + length and 0 <= a - start + off - offset < size:
                    there[a - start + off - offset + addr] = a
    found, at = {}, None
    for text in lines.asked(["llvm-symbolizer", "-a", "-i", "--no-demangle", "-e", program], there).splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", text):
            at = found.setdefault(there[int(text, 16)], [])
        elif text:
            at.append(text)
    return {a: texts[:-2:2] for a, texts in found.items()}


@case
def decode_calls(folder):
    """Inlined functions that make calls are functions in --calls, at the place that addr2line has."""
    lines.need("llvm-symbolizer")
    for what, program in programs(folder):
        path = os.path.join(folder, "perf.data")
        for mode in ("null",) if what.startswith("rustc") else ("null", "handler"):
            Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", program, mode])
            check_calls(f"{what} {mode}", path, program)
        text = Run([PTCAP, "decode", "-i", path, "--calls", "--inline"]).expect(0).out
        check("{ /* inlined */" in text and text.count(" {") >= text.count(" }"), f"{what}: {text[-500:]}")
        check("/* inlined" not in Run([PTCAP, "decode", "-i", path, "--calls"]).expect(0).out, f"{what}: without --inline")


@case
def refused(folder):
    """--inline alone would change nothing."""
    for options in ([], ["--stats"], ["--counts=lines"], ["-F", "from,sym"], ["--format=json"]):
        r = Run([PTCAP, "decode", "-i", os.path.join(folder, "none"), "--inline", *options]).expect(2)
        check("--inline needs" in r.err, r.err)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
