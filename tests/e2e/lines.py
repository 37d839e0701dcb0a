#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lines.py NAME: source lines of all addresses that ran, against addr2line, and lines that ran, against gcov."""

import json
import os
import re
import shutil
import subprocess
import sys

import lib
from compile import built, linkers
from lib import PTCAP, Run, check

C = """\
static volatile int sink;
static inline int add(int a, int b) {
	return a + b * sink;
}
__attribute__((noinline)) int leaf(int x) {
	if (x > 3)
		sink = add(x, 2);
	if (x > 100)
		sink = 4;
	return x * 3 + 1;
}
int main(int c, char **v) {
	int s = 0;
	for (int i = 0; i < 9; i++)
		s += leaf(c + i);
	(void)v;
	return s & 1;
}
"""
CXX = """\
#include <vector>
static volatile int sink;
template <class T> __attribute__((noinline)) T leaf(T x) {
	if (x > 3)
		sink = x;
	return x * 3 + 1;
}
int main(int c, char **) {
	std::vector<int> v;
	for (int i = 0; i < 9; i++)
		v.push_back(leaf<int>(c + i));
	return v[2] & 1;
}
"""
RUST = """\
#[inline(never)]
fn leaf(x: i32) -> i32 {
    if x > 3 {
        return x;
    }
    x * 3 + 1
}
fn main() {
    let n = std::env::args().count() as i32;
    let s: i32 = (0..9).map(|i| leaf(i + n)).sum();
    std::process::exit(s & 1);
}
"""
GO = """\
package main

import "os"

//go:noinline
func leaf(x int) int {
	if x > 3 {
		x++
	}
	return x*3 + 1
}

func main() {
	s := 0
	for i := 0; i < 9; i++ {
		s += leaf(i)
	}
	os.Exit(s & 1)
}
"""

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def source(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


def need(*tools):
    for tool in ("addr2line", "readelf", "qemu-x86_64", *tools):
        if not shutil.which(tool):
            lib.skip(f"no {tool}")


def record(folder, path):
    """Its executed addresses, as the file has them, with our line of each."""
    data = os.path.join(folder, "perf.data")
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", data, "--", path])
    maps = [
        [int(n, 16) for n in m]
        for m in re.findall(rf'addr=0x(\w+) len=0x(\w+) pgoff=0x(\w+).*filename="{re.escape(path)}"', Run([PTCAP, "dump", "-i", data]).expect(0).out)
    ]
    loads = re.findall(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) .*E", Run(["readelf", "-lW", path]).expect(0).out)
    loads = [[int(n, 16) for n in m] for m in loads]
    found = {}
    for row in Run([PTCAP, "decode", "-i", data, "-F", "insn-ip,srcline"]).out.splitlines():
        ip, _, line = row.partition(" ")
        if row.startswith("#"):
            continue
        for start, length, off in maps:
            at = int(ip, 16) - start
            for offset, addr, size in loads:
                if 0 <= at < length and 0 <= at + off - offset < size:
                    found[at + off - offset + addr] = plain(line)
    return found


def plain(line):
    """"file:line", or "-": line 0 is none."""
    name, _, nr = re.sub(r" \(discriminator.*", "", line.strip()).rpartition(":")
    return f"{os.path.basename(name)}:{nr}" if nr.isdigit() and nr != "0" else "-"


def asked(argv, addrs):
    r = subprocess.run(argv, input="".join(f"{a:#x}\n" for a in addrs), capture_output=True, text=True, check=True)
    return r.stdout


def agree(what, path, got):
    addrs = sorted(got)
    want = dict(zip(addrs, map(plain, asked(["addr2line", "-e", path], addrs).splitlines())))
    bad = [a for a in addrs if got[a] != want[a]]
    if bad and shutil.which("llvm-symbolizer"):
        text = asked(["llvm-symbolizer", "-e", path, "--no-inlines", "--functions=none"], bad)
        other = [plain(b.strip().rpartition(":")[0]) for b in text.split("\n\n")]
        bad = [a for a, line in zip(bad, other) if got[a] != line]
    check(len(got) > 20, f"{what}: {len(got)} addresses")
    check(not bad, f"{what}: {len(bad)} of {len(addrs)}: {[(hex(a), got[a], want[a]) for a in bad[:5]]}")
    check(sum(line != "-" for line in got.values()) >= 8, f"{what}: no lines")


def compared(folder, what, argv):
    path = built(folder, argv)
    if path:
        agree(what, path, record(folder, path))
    return bool(path)


@case
def compilers(folder):
    """C and C++ by gcc and clang."""
    need()
    done = 0
    for compiler, name, text in (("gcc", "l.c", C), ("clang", "l.c", C), ("g++", "l.cpp", CXX), ("clang++", "l.cpp", CXX)):
        path = source(folder, name, text)
        for level in ("-O0", "-O2"):
            for dwarf in ("4", "5"):
                done += compared(folder, f"{compiler} {level} DWARF {dwarf}", [compiler, "-g", level, "-gdwarf-" + dwarf, path])
    check(done, "no compiler")


@case
def linked(folder):
    """By each linker, and without .debug_aranges."""
    need()
    path = source(folder, "l.c", C)
    for compiler in ("gcc", "clang"):
        for linker in linkers():
            for dwarf in ("4", "5"):
                argv = [compiler, "-g", "-O1", "-gdwarf-" + dwarf, "-fuse-ld=" + linker, path]
                compared(folder, f"{compiler} {linker} DWARF {dwarf}", argv)


@case
def rust(folder):
    need("rustc")
    path = source(folder, "l.rs", RUST)
    for level in ("0", "2"):
        compared(folder, f"rustc {level}", ["rustc", "-g", "-C", "opt-level=" + level, path])


@case
def go(folder):
    need("go")
    os.environ.update(GOCACHE=os.path.join(folder, "cache"), GOPATH=folder, GO111MODULE="off", CGO_ENABLED="0")
    path, program = source(folder, "l.go", GO), os.path.join(folder, "program")
    for flags in ([], ["-gcflags=-N -l"]):
        Run(["go", "build", *flags, "-o", program, path]).expect(0)
        agree(f"go {flags}", program, record(folder, program))


@case
def sections(folder):
    """Forms of debug information: compressed, split, with indexes, packed by dwz, without a part of the sections."""
    need("objcopy")
    path = source(folder, "l.c", C)
    ways = {
        "zstd": ["-Wl,--compress-debug-sections=zstd"],
        "zlib": ["-Wl,--compress-debug-sections=zlib"],
        "split 4": ["-gsplit-dwarf", "-gdwarf-4"],
        "split 5": ["-gsplit-dwarf", "-gdwarf-5"],
        "names": ["-gpubnames"],
        "types": ["-fdebug-types-section"],
        "sysv hash": ["-Wl,--hash-style=sysv"],
        "gnu hash": ["-Wl,--hash-style=gnu"],
        "no eh_frame_hdr": ["-Wl,--no-eh-frame-hdr"],
        "no names": ["-s"],
    }
    os.chdir(folder)  # where the split parts go
    for compiler in ("gcc", "clang"):
        plainly = None
        for what, options in ways.items():
            program = built(folder, [compiler, "-g", "-O1", *options, path])
            if not program:
                continue
            got = record(folder, program)
            if what == "no names":
                check(set(got.values()) == {"-"}, f"{compiler}: lines of what has none")
                continue
            plainly = plainly or built(folder, [compiler, "-g", "-O1", path])
            lines = {line for line in got.values() if line != "-"}
            check({f"l.c:{n}" for n in (6, 7, 10, 14, 15, 17)} <= lines, f"{compiler} {what}: {sorted(lines)}")
    if not shutil.which("dwz"):
        return
    program = built(folder, ["gcc", "-g", "-O1", path])
    if program and Run(["dwz", program]).status == 0:
        agree("dwz", program, record(folder, program))


@case
def coverage(folder):
    """Lines that ran at -O0 are gcov's."""
    need("gcc", "gcov")
    path = source(folder, "l.c", C)
    os.chdir(folder)
    Run(["gcc", "-O0", "--coverage", path, "-o", "counted"]).expect(0)
    Run([os.path.join(folder, "counted")])
    Run(["gcov", *[f for f in os.listdir(folder) if f.endswith(".gcda")]]).expect(0)
    with open("l.c.gcov", encoding="ascii") as f:
        rows = [r.split(":", 2) for r in f]
    ran = {int(n) for count, n, _ in rows if count.strip().strip("*").isdigit()}
    missed = {int(n) for count, n, _ in rows if count.strip() == "#####"}
    check(missed == {9} and len(ran) > 8, f"gcov: {ran} {missed}")
    braces = {n for n, text in enumerate(C.splitlines(), 1) if text.strip() == "}"}  # gcov has none of these
    for compiler in ("gcc", "clang"):
        program = built(folder, [compiler, "-g", "-O0", path])
        if not program:
            continue
        record(folder, program)
        text = Run([PTCAP, "decode", "-i", "perf.data", "--counts=lines", "--format=json"]).expect(0).out
        rows = [json.loads(r) for r in text.splitlines()]
        got = {r["line"] for r in rows if r.get("file", "").endswith("/l.c")} - braces
        check(got == ran, f"{compiler}: {sorted(got)} ran instead of {sorted(ran)}")
        text = Run([PTCAP, "decode", "-i", "perf.data", "--counts=coverage", "--format=json"]).expect(0).out
        (file,) = [r for r in map(json.loads, text.splitlines()) if r.get("file", "").endswith("/l.c")]
        check(file["not_run"] == [[9, 9]], f"{compiler}: {file}")


@case
def stripped(folder):
    """A file without debug information is named when lines are asked for, and only then."""
    need("gcc")
    path = source(folder, "l.c", C)
    for option in ("-g", "-s"):
        program = built(folder, ["gcc", option, "-O1", "-static", path])
        record(folder, program)
        said = f"no source lines of '{program}'"
        data = os.path.join(folder, "perf.data")
        for asking in (["-F", "from,srcline"], ["--counts=lines"], ["--counts=coverage"], []):
            r = Run([PTCAP, "decode", "-i", data, *asking]).expect(0)
            check((said in r.err) == (option == "-s" and bool(asking)), f"{option} {asking}: {r.err}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
