#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""budget.py NAME: files claim how much memory they need. Data above --max-memory is left out, and a
message says so.

Each function below is a case; its name and text state the behaviour.
"""

import gzip
import lzma
import os
import struct
import zlib

import lib
import store
from lib import PTCAP, Run, check, prog
from names import functions, tool

CASES = {}
LARGE = 96 << 20  # bytes that a few bytes expand to
BUDGET = "24M"
MEMORY_MAX = 48 << 10  # KiB of resident memory with that budget: ptcap, its libraries, and the budget


def case(f):
    CASES[f.__name__] = f
    return f


def peak(folder, argv, **kw):
    """Run argv, which ends by itself. Returns its Run. Checks its memory, but not under a sanitizer."""
    path = os.path.join(folder, "peak")
    r = Run([lib.PEAK, path, *argv], **kw)
    with open(path, encoding="ascii") as f:
        memory = int(f.read())
    check(r.status < 128, f"{argv}: {r.status}\n{r.err}")
    check(store.READS or memory < MEMORY_MAX, f"{argv}: {memory} KiB")
    return r


def decode(folder, *options, budget=BUDGET):
    path = os.path.join(folder, "perf.data")
    env = {**{k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"}, "PERF_BUILDID_DIR": "/nowhere"}
    argv = [PTCAP, "decode", "-i", path, "--no-pager", "--max-memory", budget, *options]
    return (peak(folder, argv, env=env) if budget == BUDGET else Run(argv, env=env)).expect(0)


def swollen(folder, *how):
    """Make a recording, and a folder for --symfs with its program, changed by objcopy's options.
    Same build-id."""
    path, program, root = os.path.join(folder, "perf.data"), prog("names"), os.path.join(folder, "root")
    store.fetch(path, [program]).expect(0)
    copy = root + os.path.realpath(program)
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    tool("objcopy", *how, program, copy)
    return root


def zeros(folder, form):
    path = os.path.join(folder, "zeros")
    with open(path, "wb") as f:
        f.write({"xz": lambda b: lzma.compress(b, preset=0), "gz": lambda b: gzip.compress(b, 1), "": bytes}[form](bytes(LARGE)))
    return path


class Section:
    """The header of a section of a 64-bit ELF file, to be changed."""

    def __init__(self, path, wanted):
        self.path = path
        with open(path, "rb") as f:
            data = f.read()
        (at,), (n, names) = struct.unpack_from("<Q", data, 0x28), struct.unpack_from("<HH", data, 0x3C)
        strings = struct.unpack_from("<Q", data, at + 64 * names + 24)[0]
        for self.at in range(at, at + 64 * n, 64):
            self.words = list(struct.unpack_from("<IIQQQQIIQQ", data, self.at))
            name = strings + self.words[0]
            if data[name : data.index(b"\0", name)] == wanted:
                return
        raise lib.Failure(f"{path} has no {wanted}")

    def move(self, flags, size):
        """Move the section to the current end of the file, with @size bytes."""
        self.words[2] |= flags
        self.words[4:6] = [os.path.getsize(self.path), size]
        with open(self.path, "r+b") as f:
            f.seek(self.at)
            f.write(struct.pack("<IIQQQQIIQQ", *self.words))


def compress_section(path, name, size):
    """Replace the section by compressed zeros."""
    packed = struct.pack("<IIQQ", 1, 0, size, 1) + zlib.compress(bytes(size), 1)
    Section(path, name).move(0x800, len(packed))
    with open(path, "ab") as f:
        f.write(packed)


def grow_section(path, name, size):
    """Replace the section by a hole."""
    Section(path, name).move(0, size)
    os.truncate(path, os.path.getsize(path) + size)


def left_out(r, what, file):
    lines = [line for line in r.err.splitlines() if "left out" in line]
    check(len(lines) == 1 and f"the {what} of '{file}'" in lines[0] and "--max-memory" in lines[0], r.err)


@case
def debugdata(folder):
    """.gnu_debugdata is decompressed within the budget. The other names stay."""
    for form in "xz", "gz":
        root = swollen(folder, "--strip-all", f"--add-section=.gnu_debugdata={zeros(folder, form)}")
        r = decode(folder, "--symfs", root, "-F", "sym,tosym")
        left_out(r, "packed names (.gnu_debugdata)", prog("names"))
        check("puts@plt" in r.out, r.out)


@case
def sections(folder):
    """Compressed debug sections: their headers have their sizes."""
    for form in "zlib", "zlib-gnu":
        root = swollen(folder, f"--add-section=.debug_large={zeros(folder, '')}", f"--compress-debug-sections={form}")
        r = decode(folder, "--symfs", root, "-F", "sym,srcline")
        left_out(r, "debug information", prog("names"))
        check("twice" in r.out and "prog_names.cpp:" not in r.out, r.out)


@case
def names_compressed(folder):
    """A compressed string table: libelf decompresses it by itself."""
    root = swollen(folder, f"--add-section=.large={zeros(folder, '')}")
    copy = root + os.path.realpath(prog("names"))
    compress_section(copy, b".strtab", LARGE)
    r = decode(folder, "--symfs", root, "-F", "sym")
    left_out(r, "table of names", prog("names"))


@case
def sparse(folder):
    """A sparse file can have sections of any size."""
    root = swollen(folder)
    copy = root + os.path.realpath(prog("names"))
    grow_section(copy, b".strtab", 20 << 30)
    r = decode(folder, "--symfs", root, "-F", "sym")
    left_out(r, "table of names", prog("names"))


@case
def instructions(folder):
    """--insn lists a block of millions of instructions in parts."""
    nops, at = 1 << 20, 0x400000
    code, trace = os.path.join(folder, "code"), os.path.join(folder, "trace")
    with open(code, "wb") as f:
        f.write(b"\x90" * nops + b"\xc3")
    ip = struct.pack("<Q", at)[:6]
    with open(trace, "wb") as f:  # PSB, MODE.Exec, PSBEND, TIP.PGE, TIP, TIP.PGD
        f.write(b"\x02\x82" * 8 + b"\x99\x01" + b"\x02\x23" + b"\x71" + ip + b"\x6d" + ip + b"\x01")
    argv = [PTCAP, "decode", "--pt", trace, "--raw", f"{code}@{at:#x}", "-F", "insn-ip", "--max-memory", BUDGET]
    out = os.path.join(folder, "out")
    with open(out, "wb") as f:
        peak(folder, argv, stdout=f).expect(0)
    with open(out, "rb") as f:
        lines = f.read().split()
    want = [f"{at + i:x}".encode() for i in range(nops + 1)]
    check(lines[: nops + 1] == want and lines[nops + 1 : nops + 2] == want[:1], f"{len(lines)}: {lines[:3]}, {lines[nops:][:3]}")


@case
def lines(folder):
    """Each byte of a line table becomes a row in libdw. The names stay."""
    root = swollen(folder)
    copy = root + os.path.realpath(prog("names"))
    rows = 1 << 20
    table = struct.pack("<HIBBBBBB", 4, 0, 1, 1, 1, 1, 1, 1) + b"\0\0" + b"\1" * rows + b"\0\1\1"
    with open(copy, "rb") as f:
        f.seek(0, os.SEEK_END)
        size = f.tell()
    Section(copy, b".debug_line").move(0, 4 + len(table))
    with open(copy, "ab") as f:
        check(f.tell() == size, "somebody wrote to the file")
        f.write(struct.pack("<I", len(table)) + table)
    r = decode(folder, "--symfs", root, "-F", "sym,srcline")
    left_out(r, "rest of the source lines", prog("names"))
    check("twice" in r.out and "prog_names.cpp:" not in r.out, r.out)


@case
def starved(folder):
    """With any limit of addresses (ulimit -v), a command ends with its complete output, or with a
    message."""
    if store.READS:
        lib.skip("a sanitizer needs more addresses")
    path, out = os.path.join(folder, "perf.data"), os.path.join(folder, "out")
    store.fetch(path, [prog("names")]).expect(0)
    for command in (["decode", "-F", "sym,srcline"], ["decode", "--counts", "coverage"], ["info"], ["convert", "-o", out]):
        argv = [PTCAP, *command, "-i", path]
        good = Run(argv).expect(0)
        for mib in range(12, 60, 8):
            r = Run(["prlimit", f"--as={mib << 20}", *argv])
            check(r.status in (0, 1), f"{command} with {mib} MiB: {r.status}\n{r.err}")
            check(r.status == 0 or r.err.startswith("ptcap: ") or "error while loading" in r.err, f"{command}, {mib} MiB: {r.err}")
            said = r.err != good.err or "out of memory" in r.out  # info prints what decoding would lack
            check(r.out == good.out or said or r.status, f"{command} with {mib} MiB lacks output, and does not say so")


@case
def options(folder):
    """--max-memory for all commands that read a recording, and its invalid values."""
    path = os.path.join(folder, "perf.data")
    store.fetch(path, [prog("names")]).expect(0)
    for command in (["decode"], ["info"], ["dump"], ["compare"], ["crash", "show"], ["crash", "core"]):
        Run([PTCAP, *command, "-i", path, "--max-memory", "1G"])
        for bad in ("0", "x", "1Q", "-1", "99999999999G", ""):
            r = Run([PTCAP, *command, "-i", path, "--max-memory", bad]).expect(2)
            check("for --max-memory: expected a size" in r.err, r.err)
    for command in "convert", "recover":
        out = os.path.join(folder, command)
        Run([PTCAP, command, "-i", path, "-o", out, "--max-memory", "1G"]).expect(0)
        check("for --max-memory: expected a size" in Run([PTCAP, command, "-i", path, "-o", out, "--max-memory", "x"]).expect(2).err, command)
    check("twice" in functions(path, "--max-memory", "1G"), "names are missing")


if __name__ == "__main__":
    lib.main(CASES)
