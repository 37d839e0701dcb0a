#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""profiles.py NAME: profiles for other tools (`ptcap decode --format=bolt` ...), read by these tools."""

import glob
import json
import os
import re
import shutil
import sys
from collections import Counter

import lib
from compile import built, linkers
from lib import PTCAP, Run, check

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "prog_profile.c")
CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def tool(name):
    """Return the path of a tool of LLVM's newest version, or of PATH. Skips the case without it."""
    there = glob.glob(f"/usr/lib/llvm-*/bin/{name}")
    newest = max(there, key=lambda path: int(re.search(r"llvm-(\d+)", path)[1]), default=shutil.which(name))
    if not newest:
        lib.skip_without(name)
    return newest


def recorded(folder, argv, name):
    """Compile the program, and record a run. Returns the program, the recording and the output."""
    program = built(folder, [*argv, SOURCE], name)
    if not program:
        return None
    path = program + ".data"
    r = Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", program]).expect(0)
    return program, path, r.out


def profile(path, kind, program, name="profile"):
    """Write the profile of the program to a file, and return its path."""
    out = f"{path}.{name}"
    text = Run([PTCAP, "decode", "-i", path, f"--format={kind}", "--object", program]).expect(0)
    check(not text.err, text.err)
    with open(out, "w", encoding="ascii") as f:
        f.write(text.out)
    return out


def edges(path, program):
    """Return {(offset or None, offset or None): times} of the branches from or to the program's file."""
    found = Counter()
    for line in Run([PTCAP, "decode", "-i", path, "--counts=edges", "--format=json"]).expect(0).out.splitlines():
        e = json.loads(line)
        if e.get("type") != "count" or e["kind"] in ("start", "async"):
            continue
        ends = [int(e[k + "_file_offset"], 16) if e.get(k + "_file") == program else None for k in ("from", "to")]
        if ends != [None, None]:
            found[tuple(ends)] += e["times"]
    return found


def bias(program):
    """Return address - offset of the code of an ELF file."""
    for line in Run(["readelf", "-lW", program]).expect(0).out.splitlines():
        m = re.match(r"\s+LOAD\s+(0x\w+) (0x\w+) .* R E ", line)
        if m:
            return int(m[2], 16) - int(m[1], 16)
    raise lib.Failure(f"{program} has no code")


@case
def bolt(folder):
    """perf2bolt finds no mismatch, llvm-bolt's program prints the same, and the counts are those of --counts."""
    perf2bolt, llvm_bolt = tool("perf2bolt"), tool("llvm-bolt")
    done = 0
    for compiler, options in (("gcc", []), ("gcc", ["-no-pie"]), ("clang", []), *(("gcc", [f"-fuse-ld={l}"]) for l in linkers())):
        what = f"{compiler} {options}"
        found = recorded(folder, [compiler, "-O2", "-g", "-Wl,--emit-relocs", *options], f"program{done}")
        if not found:
            continue
        program, path, printed = found
        text = profile(path, "bolt", program)
        b = bias(program)
        with open(text, encoding="ascii") as f:
            rows = [line.split() for line in f if line.startswith("B ")]
        got = Counter({tuple(None if a == "X:0" else int(a, 16) - b for a in row[1:3]): int(row[3]) for row in rows})
        want = edges(path, program)
        check(got == want, f"{what}: {(got - want) + (want - got)}")
        fdata, better = program + ".fdata", program + ".bolt"
        r = Run([perf2bolt, "-pa", "-p", text, "-o", fdata, program]).expect(0)
        said = r.out + r.err
        check(re.search(r"mismatching disassembled function contents: 0 \(", said), f"{what}: {said}")
        check(re.search(r"unknown regions: 0 \(", said), f"{what}: {said}")
        r = Run([llvm_bolt, program, "-data", fdata, "-o", better, "-reorder-blocks=ext-tsp"]).expect(0)
        check("have non-empty execution profile" in r.out + r.err, f"{what}: {r.out}{r.err}")
        check(Run([better]).expect(0).out == printed, f"{what}: the new program prints something else")
        done += 1
    if not done:
        lib.skip_without("compiler")


def by_line(text):
    """Return {function: {line in it: times}} of a text profile of LLVM."""
    found, function = {}, None
    for line in text.splitlines():
        m = re.match(r"(\w+):\d+:\d+$", line)
        if m:
            function = found.setdefault(m[1], {})
        m = re.match(r" (\d+)(?:\.\d+)?: (\d+)", line)
        if m:
            function[int(m[1])] = max(int(m[2]), function.get(int(m[1]), 0))
    return found


def gcov(folder):
    """Return {line: times} of gcov for the source at -O0."""
    program = built(folder, ["gcc", "-O0", "--coverage", SOURCE], "covered")
    if not program or not shutil.which("gcov"):
        lib.skip_without("gcov")
    Run([program], cwd=folder).expect(0)
    r = Run(["gcov", "--stdout", *glob.glob(os.path.join(folder, "*.gcda"))], cwd=folder).expect(0)
    rows = re.findall(r"(?m)^ *(\d+|#####)\*?: *(\d+):(.*)$", r.out)
    return {int(n): 0 if times == "#####" else int(times) for times, n, _ in rows}


def first_lines():
    """Return {function: line of its name}."""
    with open(SOURCE, encoding="ascii") as f:
        return {m[1]: n for n, line in enumerate(f, 1) if (m := re.match(r"\w.* (\w+)\([^;()]*\)$", line))}


def same_as_gcov(what, text, want):
    """The counts of lines with a return statement are gcov's: these have one block each."""
    first = first_lines()
    with open(SOURCE, encoding="ascii") as f:
        returns = {n for n, line in enumerate(f, 1) if "return" in line and "fibonacci" not in line}
    compared = 0
    for function, counts in by_line(text).items():
        for n, times in counts.items():
            line = first.get(function, -1000) + n
            if line in returns:
                check(times == want[line], f"{what}: {function} line {line}: {times} instead of {want[line]}")
                compared += 1
    check(compared >= 9, f"{what}: {compared} lines in\n{text}")


@case
def profgen(folder):
    """llvm-profgen makes a profile whose counts are gcov's, and clang takes it."""
    llvm_profgen = tool("llvm-profgen")
    want = gcov(folder)
    for n, options in enumerate(([], ["-no-pie"], ["-fuse-ld=lld"])):
        found = recorded(folder, ["clang", "-O0", "-g", "-fdebug-info-for-profiling", *options], f"program{n}")
        if not found:
            continue
        program, path, printed = found
        out = program + ".prof"
        Run([llvm_profgen, f"--unsymbolized-profile={profile(path, 'profgen', program)}", f"--binary={program}", f"--output={out}",
             "--format=text"]).expect(0)
        with open(out, encoding="ascii") as f:
            same_as_gcov(f"profgen {options}", f.read(), want)
        better = built(folder, ["clang", "-O2", f"-fprofile-sample-use={out}", "-g", SOURCE], "better")
        check(Run([better]).expect(0).out == printed, "the new program prints something else")


@case
def afdo(folder):
    """create_llvm_prof makes a profile whose counts are gcov's."""
    create = shutil.which("create_llvm_prof")
    if not create:
        lib.skip_without("create_llvm_prof")
    want = gcov(folder)
    for n, options in enumerate(([], ["-no-pie"], ["-fuse-ld=lld"])):
        # autofdo 0.19 reads no DWARF 5.
        found = recorded(folder, ["clang", "-O0", "-gdwarf-4", "-fdebug-info-for-profiling", *options], f"program{n}")
        if not found:
            continue
        program, path, _ = found
        out = program + ".prof"
        Run([create, f"--binary={program}", "--profiler=text", f"--profile={profile(path, 'afdo', program)}", f"--out={out}",
             "--format=text"]).expect(0)
        with open(out, encoding="ascii") as f:
            same_as_gcov(f"afdo {options}", f.read(), want)


@case
def lcov(folder):
    """genhtml takes the file, and the lines that ran at -O0 are gcov's."""
    found = recorded(folder, ["gcc", "-O0", "-g"], "program")
    if not found:
        lib.skip_without("gcc")
    program, path, _ = found
    text = Run([PTCAP, "decode", "-i", path, "--format=lcov"]).expect(0).out
    files = {m[1]: m[2] for m in re.finditer(r"TN:\nSF:(.*)\n((?:.*\n)*?)end_of_record\n", text)}
    mine = [body for name, body in files.items() if name.endswith("prog_profile.c")]
    check(len(mine) == 1, list(files))
    counts = {int(n): int(times) for n, times in re.findall(r"DA:(\d+),(\d+)", mine[0])}
    hit = {n for n, times in counts.items() if times}
    check(f"LF:{len(counts)}\nLH:{len(hit)}\n" in mine[0], mine[0])
    want = gcov(folder)
    common = counts.keys() & want.keys()
    check(len(common) > 20 and {n for n in common if want[n]} == hit & common, f"{hit} instead of {want}")
    genhtml = shutil.which("genhtml")
    if not genhtml:
        lib.skip_without("genhtml")
    name = os.path.join(folder, "one.info")
    with open(name, "w", encoding="ascii") as f:
        f.write(f"TN:\nSF:{SOURCE}\n{mine[0]}end_of_record\n")
    r = Run([genhtml, "-o", os.path.join(folder, "html"), name]).expect(0)
    check(f"({len(hit)} of {len(counts)} lines)" in r.out, r.out)


@case
def refused(folder):
    """Bad options, and objects that are not there, are errors with a reason. Nothing is printed."""
    path = os.path.join(folder, "f")
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", lib.prog("hello")]).expect(0)
    for status, words, *options in (
        (2, "--object", "--format=bolt"),
        (2, "--object needs", "--object=x"),
        (2, "cannot be combined", "--format=bolt", "--object=x", "--calls"),
        (2, "cannot be combined", "--format=lcov", "--counts=lines"),
        (2, "cannot be combined", "--format=afdo", "--object=x", "--cpu=0"),
        (2, "bolt, profgen, afdo, uftrace or fxt", "--format=gprof"),
        (1, "no branches in 'nothing'", "--format=bolt", "--object=nothing"),
        (1, "no branches in '/bin/true'", "--format=profgen", "--object=/bin/true"),
        (1, "no branches in ''", "--format=profgen", "--object="),
    ):
        r = Run([PTCAP, "decode", "-i", path, *options]).expect(status)
        check(words in r.err and not r.out, f"{options}: {r.err}")
    other = os.path.join(folder, "other")
    shutil.copy(lib.prog("hello"), other)
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", other]).expect(0)
    with open(other, "wb") as f:
        f.write(b"no ELF file")
    r = Run([PTCAP, "decode", "-i", path, "--format=bolt", "--object=other"])
    check(r.status in (1, 3) and not r.out and "other" in r.err, f"{r.status} {r.err}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
