#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lines.py NAME: source lines of all executed addresses, compared with addr2line, and executed
lines, compared with gcov."""

import bisect
import json
import os
import re
import shutil
import struct
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


GO_NAMES = """\
package main

import (
	"os"
	"sort"
)

type pair struct{ a, b int }

//go:noinline
func leaf(x int) int {
	if x > 3 {
		x++
	}
	return x*3 + 1
}

func inlined(x int) int {
	return x ^ 5
}

func (p pair) Get(x int) int { return p.a + inlined(x) }

func twice[K int | string](x K) K {
	f := func() K { return x + x }
	return f()
}

type getter interface{ Get(x int) int }

//go:noinline
func through(g getter) int { return g.Get(3) }

func main() {
	s := 0
	v := []int{3, 1, 2}
	for i := 0; i < 9; i++ {
		s += leaf(i) + inlined(i)
	}
	sort.Slice(v, func(i, j int) bool { return v[i] < v[j] })
	defer func() {
		recover()
		os.Exit((s + len(twice("x")) + twice(v[0])) & 1)
	}()
	s += through(&pair{1, 2})
	s /= len(os.Args) - len(os.Args)
}
"""
CGO = """\
package main

/*
__attribute__((noinline)) static int twice(int x) { return x * 2; }
*/
import "C"

import "os"

//go:noinline
func leaf(x int) int {
	return x*3 + int(C.twice(21))
}

func main() {
	os.Exit(leaf(1) & 1)
}
"""


def record(folder, path):
    """Return the executed addresses, as in the file, with our line of each."""
    return {a: plain(text) for a, text in executed(folder, path, "insn-ip,srcline").items()}


def executed(folder, path, fields, *options):
    """Return the executed addresses, as in the file, with the other fields. With options: from the
    last recording."""
    data = os.path.join(folder, "perf.data")
    if not options:
        Run([PTCAP, "record", "-q", "--source", "emu", "-o", data, "--", path])
    maps = [
        [int(n, 16) for n in m]
        for m in re.findall(rf'addr=0x(\w+) len=0x(\w+) pgoff=0x(\w+).*filename="{re.escape(path)}"', Run([PTCAP, "dump", "-i", data]).expect(0).out)
    ]
    loads = re.findall(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) .*E", Run(["readelf", "-lW", path]).expect(0).out)
    loads = [[int(n, 16) for n in m] for m in loads]
    found = {}
    for row in dict.fromkeys(Run([PTCAP, "decode", "-i", data, "-F", fields, *options]).out.splitlines()):  # loops repeat rows
        ip, _, line = row.partition(" ")
        if row.startswith("#"):
            continue
        for start, length, off in maps:
            at = int(ip, 16) - start
            for offset, addr, size in loads:
                if 0 <= at < length and 0 <= at + off - offset < size:
                    found[at + off - offset + addr] = line
    return found


def plain(line):
    """Return "file:line", or "-": line 0 means no line."""
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


COMPILERS = (("gcc", "l.c", C), ("clang", "l.c", C), ("g++", "l.cpp", CXX), ("clang++", "l.cpp", CXX))


def by_compilers(folder, ways):
    """C and C++ with gcc and clang; @ways: for each optimisation level the DWARF versions, for gcc
    and for clang."""
    need()
    done = 0
    for compiler, name, text in COMPILERS:
        path = source(folder, name, text)
        for level, versions in ways.items():
            for dwarf in versions[compiler.startswith("clang")]:
                done += compared(folder, f"{compiler} {level} DWARF {dwarf}", [compiler, "-g", level, "-gdwarf-" + dwarf, path])
    check(done, "no compiler")


@case
def compilers(folder):
    """Each compiler with both levels and both versions."""
    by_compilers(folder, {"-O0": "45", "-O2": "54"})


@case
def compilers_all(folder):
    """Each level with each version."""
    by_compilers(folder, {"-O0": ("45", "45"), "-O2": ("45", "45")})


@case
def linked(folder):
    """With each linker, and without .debug_aranges."""
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
    os.environ.update(GOPATH=folder, GO111MODULE="off", CGO_ENABLED="0")
    path, program = source(folder, "l.go", GO), os.path.join(folder, "program")
    for flags in ([], ["-gcflags=-N -l"]):
        Run(["go", "build", *flags, "-o", program, path]).expect(0)
        agree(f"go {flags}", program, record(folder, program))


def symbols(twin):
    """Return the functions of the program before it was stripped: start, end and names, from `go
    tool nm`."""
    found = {}
    for row in Run(["go", "tool", "nm", "-size", "-sort", "address", twin]).expect(0).out.splitlines():
        m = re.fullmatch(r" *([0-9a-f]+) +(\d+) ([tT]) (\S.*)", row)
        if m:
            found.setdefault(int(m[1], 16), []).append((int(m[2]), m[4].removesuffix(".abi0").replace(" ", "_")))
    return sorted((a, a + max(size for size, _ in names), spelt({n for size, n in names if size})) for a, names in found.items())


def spelt(names):
    """Return also the names in Go's own table: `[...]` for the types of an instance of a generic
    function (1.18 and 1.19)."""
    short = set()
    for name in names:
        text, depth = "", 0
        for c in name:
            depth -= c == "]"
            text += c if not depth else ""
            depth += c == "["
        short.add(text.replace("[]", "[...]"))
    return names | short


def same_names(what, got, twin):
    """The names of the executed functions, and the distance from their start."""
    table = symbols(twin)
    starts = [start for start, _, _ in table]
    bad, known = [], set()
    for addr, text in got.items():
        name, _, off = text.rpartition("+0x")
        start, end, names = table[bisect.bisect_right(starts, addr) - 1]
        if not start <= addr < end:
            start, names = addr, {""}
        known |= names
        if name not in names or int(off or "0", 16) != addr - start:
            bad.append((hex(addr), text, names))
    check(not bad, f"{what}: names of {len(bad)} of {len(got)}: {bad[:5]}")
    return known


def go_lines(what, got, twin, nops, by_go):
    """The lines of executed code, compared with the DWARF of the program with symbols, and with
    Go's own reader."""
    # DWARF has no row for a nop that the assembler put in front of a jump, nor, in Go 1.24, for
    # code made by the compiler.
    agree(what, twin, {a: line for a, line in got.items() if a not in nops and line != "<autogenerated>:1"})
    if by_go:
        want = dict(zip(got, map(plain, asked(["go", "tool", "addr2line", twin], got).splitlines()[1::2])))
        bad = [(hex(a), line, want[a]) for a, line in got.items() if line != want[a]]
        check(not bad, f"{what}: go tool addr2line differs for {len(bad)} of {len(got)}: {bad[:5]}")


@case
def go_stripped(folder):
    """Names and lines of stripped Go programs, from Go's own table, equal those of the same program
    with symbols."""
    go_ways(folder, source(folder, "names.go", GO_NAMES), False, ("exe", "-s -w"), ("pie", "strip"))


@case
def go_stripped_other(folder):
    """The other two ways."""
    go_ways(folder, source(folder, "names.go", GO_NAMES), False, ("exe", "strip"), ("pie", "-s -w"))


@case
def go_stripped_cgo(folder):
    """The same for programs linked by the system's linker. In a position-independent program it
    leaves no section of that name."""
    need("gcc")
    path = source(folder, "cgo.go", CGO)
    go_ways(folder, path, True, *((mode, way) for mode in ("exe", "pie") for way in ("-s -w", "strip")))


def go_ways(folder, path, cgo, *ways):
    need("go", "strip")
    os.environ.update(GOPATH=folder, GO111MODULE="off", CGO_ENABLED=str(int(cgo)))
    for mode, way in ways:
        build = ["go", "build", "-buildmode=" + mode]
        twin, program = os.path.join(folder, "twin"), os.path.join(folder, "program")
        Run([*build, "-o", twin, path]).expect(0)
        what = f"{os.path.basename(path)} {mode} {way}"
        Run([*build, "-ldflags=" + way, "-o", program, path] if way != "strip" else ["strip", "-o", program, twin]).expect(0)
        check(" .symtab" not in Run(["readelf", "-SW", program]).expect(0).out, f"{what}: not stripped")
        whole = executed(folder, program, "insn-ip,sym,srcline,disasm")
        rows = {a: row.split(" ", 2) for a, row in whole.items()}
        check(len(rows) > 1000, f"{what}: {len(rows)} addresses")
        if cgo:  # C code is not in the table
            inside = go_range(twin)
            rows = {a: row for a, row in rows.items() if a in inside}
        known = same_names(what, {a: name for a, (name, _, _) in rows.items()}, twin)
        check({"main.main", "main.leaf"} <= known, f"{what}: {sorted(known)[:9]}")
        nops = {a for a, (_, _, insn) in rows.items() if insn.startswith("nop")}
        # Go 1.19's addr2line needs a table of that name, for code that begins at .text.
        go_lines(what, {a: plain(line) for a, (_, line, _) in rows.items()}, twin, nops, mode == "exe" and not cgo)
        print(f"{what}: {len(rows)} addresses, {len(nops)} of these are nops")
        if way == "strip" and not cgo:
            go_forms(folder, what, program, whole)


class Patched:
    """A stripped Go program, to be changed: the decode uses this file, not the one that ran."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.bytes = bytearray(f.read())
        rows = Run(["readelf", "-SW", path]).expect(0).out
        self.table, self.off = (int(n, 16) for n in re.search(r"gopclntab +PROGBITS +(\w+) (\w+)", rows).groups())
        self.rela = [int(n, 16) for n in re.findall(r"(?m) \.rela +RELA +\w+ (\w+) (\w+)", rows)[0]] if " .rela " in rows else [0, 0]

    def magic(self, byte):
        self.bytes[self.off] = byte

    def no_text(self):
        """As in Go 1.26: the table does not have the begin of the code."""
        self.bytes[self.off + 24 : self.off + 32] = bytes(8)
        for at in range(self.rela[0], sum(self.rela), 24):
            if struct.unpack_from("<Q", self.bytes, at)[0] == self.table + 24:
                struct.pack_into("<Q", self.bytes, at + 8, 0)

    def no_sections(self):
        struct.pack_into("<Q", self.bytes, 40, 0)
        struct.pack_into("<HH", self.bytes, 60, 0, 0)


# Magic number bytes of Go 1.20, and an invalid one.
GO_FORMS = {
    "1.20": lambda p: p.magic(0xF1),
    "1.26": lambda p: (p.magic(0xF1), p.no_text()),
    "no section headers": lambda p: p.no_sections(),
    "1.26, no section headers": lambda p: (p.magic(0xF1), p.no_text(), p.no_sections()),
    "unknown": lambda p: p.magic(0xF2),
}


def go_forms(folder, what, program, rows):
    """The same names and lines from other forms of the table; a message if it is unreadable."""
    root = os.path.join(folder, "root")
    path = root + os.path.realpath(program)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    for name, change in GO_FORMS.items():
        patched = Patched(program)
        if name != "unknown" and patched.bytes[patched.off] not in (0xF0, 0xF1):
            continue  # addresses of 8 bytes
        change(patched)
        with open(path, "wb") as f:
            f.write(patched.bytes)
        got = executed(folder, program, "insn-ip,sym,srcline,disasm", "--symfs", root)
        r = Run([PTCAP, "decode", "-i", os.path.join(folder, "perf.data"), "--symfs", root, "-F", "sym,srcline"]).expect(0)
        said = f"no names and source lines of '{program}'" in r.err
        check(said == (name == "unknown"), f"{what} {name}: {r.err}")
        if said:
            check(not any("main." in row for row in got.values()), f"{what} {name}: names")
        else:
            bad = [(hex(a), row, got.get(a)) for a, row in rows.items() if got.get(a) != row]
            check(not bad, f"{what} {name}: {len(bad)} of {len(rows)} differ: {bad[:5]}")


def go_range(twin):
    text = Run(["nm", twin]).expect(0).out
    start, end = (int(re.search(rf"(?m)^(\w+) . runtime\.{s}$", text)[1], 16) for s in ("text", "etext"))
    return range(start, end)


@case
def sections(folder):
    """Forms of debug information: compressed, split, with indexes, packed by dwz, without some
    sections."""
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
    os.chdir(folder)  # the split parts go here
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
    """Executed lines at -O0 equal gcov's."""
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
    braces = {n for n, text in enumerate(C.splitlines(), 1) if text.strip() == "}"}  # gcov counts none of these
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
    """A file without debug information is reported if lines are requested, and only then."""
    need("gcc")
    path = source(folder, "l.c", C)
    for option in ("-g", "-s"):
        program = built(folder, ["gcc", option, "-O1", "-static", path])
        record(folder, program)
        said = f"no source lines for '{program}'"
        data = os.path.join(folder, "perf.data")
        for asking in (["-F", "from,srcline"], ["--counts=lines"], ["--counts=coverage"], []):
            r = Run([PTCAP, "decode", "-i", data, *asking]).expect(0)
            check((said in r.err) == (option == "-s" and bool(asking)), f"{option} {asking}: {r.err}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
