#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""parallel.py NAME: with any number of threads, and the second engine, the output equals that of
one thread with libipt, to the byte.

NAME is a program of the tables below, which is recorded, or `traces`: the real traces, if
available.
"""

import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys

import lib
import store
from lib import PTCAP, check, prog

LIB = os.path.join(lib.PROGS, "libprog_lib.so")
# The source, the program, and options. PSBs are close together: with BYTES 1 each makes a work unit
# of its own.
PROGRAMS = {
    "signal": ("step", [prog("signal")], []),
    "jit": ("step", [prog("jit")], []),
    "recurse": ("step", [prog("recurse")], []),
    "storm": ("emu", [prog("tasks"), "storm"], []),
    "cpus": ("emu", [prog("tasks"), "pool"], ["--vcpus", "2"]),
    "dlopen": ("emu", [prog("dlopen"), LIB], []),
    "except": ("emu", [prog("except")], []),
    "shell": ("emu", ["/bin/sh", "-c", "ls -l / | wc -l"], []),
}
# The second engine must decode at least this many segments.
PIECES = {"except": 4, "shell": 20}
AUXTRACE = 71  # record type
FORMS = (
    ["--format=bin", "--events"],
    ["-F", "pid,tid,cpu,time,from,to,kind,sym,tosym"],
    ["--format=json"],
    [],
    ["-F", "pid,icount,insn-ip,disasm"],
    ["--calls"],
    ["--insn"],
    ["--stats"],
    ["--counts=blocks"],
    ["--counts=edges", "--format=json"],
    ["--format=bin", "--last=100"],
    ["--stats", "--time=20%-60%"],
    ["--format=bin", "--sym=main"],
)
RAW = ("griffin-hello", "xdc-unzip", "xdc-foo")
THREADS = ("2", "2:1", "3:4096")
# Decoded in work units of the default size: the program, the number of CPUs (each has a queue), the
# limits of a queue's bytes, and forms.
DEFAULTS = {
    # Each queue is one work unit, smaller than the default.
    "many_queues": ([prog("crowd"), "crowd", "300"], 64, (1 << 10, 16 << 10), (FORMS[0], FORMS[1], FORMS[3])),
    # Several work units, even of libipt's size, 256 KiB.
    "many_slices": ([prog("busy"), "30000"], 1, (1 << 20, 2 << 20), FORMS[:1]),
}


def anywhere():
    """Use all CPUs: threads pinned to one CPU each never sleep at the same time."""
    os.sched_setaffinity(0, range(os.cpu_count()))


def output(args):
    """Return the output of a decode as a hash, because it may be long. It may be empty: exit status 4."""
    r = subprocess.run([PTCAP, "decode", *args], stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=anywhere)
    check(r.returncode in (0, 3, 4), f"{args}: exit status {r.returncode}\n{r.stderr.decode(errors='replace')}")
    out = re.split(rb"^engines ", r.stdout, flags=re.M)[0] if "--stats" in args else r.stdout
    return len(out), r.returncode, hashlib.sha256(out + b"\0" + r.stderr).hexdigest()


def same(args, threads=THREADS):
    """Check that all ways to decode print the same. Under a sanitizer, which is slow, fewer ways: the gcc build compares all."""
    threads = threads[-2:] if store.READS else threads
    want = output([*args, "-j1"])
    ways = [["--engine=libipt", "-j", n] for n in (*threads, *([] if store.READS else ["1"]))] + [["-j", n] for n in threads]
    for way in ways:
        got = output([*args, *way])
        check(got == want, f"{' '.join(args)}: {got[0]} bytes with {' '.join(way)}, {want[0]} with -j1, or others")
    return want[0]


def same_text(args):
    """As same, of text that threads print, with the default engine. Returns its length."""
    want = output([*args, "-j1"])
    for n in ("8",) if store.READS else ("2", "8"):
        check(output([*args, "-j", n]) == want, f"{' '.join(args)} -j {n}: not the same as with -j1")
    return want[0]


def verify(args):
    """The engines agree, and in at least one segment; also for segments decoded in advance by
    threads. Returns the number of segments with one thread."""
    args, pieces = list(args), []
    for jobs in ("1", "2:1"):
        r = subprocess.run([PTCAP, "decode", *args, "--engine=verify", "-j", jobs, "--stats"], capture_output=True, text=True)
        found = re.search(r"the engines agree in (\d+) segments? ", r.stderr)
        check(r.returncode == 0 and found, f"{args} -j {jobs}: exit status {r.returncode}\n{r.stderr}")
        pieces.append(int(found.group(1)))
    check(pieces[1] * 2 + 1 >= pieces[0], f"{args}: pieces with one thread and with two: {pieces}")
    return pieces[0]


def program(name):
    def case(folder):
        path = store.fetch_entry(folder, PROGRAMS[name])
        check(same(["-i", path, "--format=bin"]) > 0, "nothing was decoded")
        for form in FORMS[:: 3 if store.READS else 1]:  # under a sanitizer one form of each formatter is enough
            same(["-i", path, *form], ["2:1"])
        pieces = verify(["-i", path])
        check(pieces >= PIECES.get(name, 0), f"{pieces} pieces for the second engine")

    return case


def renamed(folder):
    """A program that executes another: the same addresses have other names, in the middle of what one thread prints."""
    path = os.path.join(folder, "perf.data")
    store.fetch(path, ["/usr/bin/env", prog("hello")], source="emu")
    for form in ([], ["-F", "from,to,sym,tosym"], ["--insn"])[:: 2 if store.READS else 1]:
        same_text(["-i", path, *form])
    said = subprocess.run([PTCAP, "decode", "-i", path, "--counts=calls", "-j1"], capture_output=True, text=True).stdout
    check("main" in said and "__libc_start_main" in said, said)


def long_names(folder):
    """Names of 9,000 characters: a thread has more text than it keeps, and waits until earlier text is written."""
    source, program_file, path = (os.path.join(folder, name) for name in ("long.c", "long", "perf.data"))
    name = "f" * 9000
    with open(source, "w", encoding="ascii") as f:
        f.write("__attribute__((noinline)) int " + name + "(int n) { __asm__ volatile(\"\"); return n; }\n"
                "int main(void) { int s = 0; for (int i = 0; i < 900; i++) s += " + name + "(i); return s & 1; }\n")
    lib.Run(["gcc", "-O1", "-static", "-o", program_file, source]).expect(0)
    lib.Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", program_file])
    for form in ([], ["--insn"]):
        check(same_text(["-i", path, *form]) > 10 << 20, "the output is too short")


def queues(path):
    """Return the number of queues, and the sizes of the first ones, sorted."""
    said = subprocess.run([PTCAP, "info", "-i", path], capture_output=True, text=True).stdout
    count = re.search(r"bytes in (\d+) queue", said)
    return int(count.group(1)) if count else 0, sorted(int(n) for n in re.findall(r"queue \d+: .* (\d+) bytes", said))


def defaults(name):
    def case(folder):
        argv, cpus, (least, most), forms = DEFAULTS[name]
        if not shutil.which("qemu-x86_64"):
            lib.skip("no qemu-x86_64")
        path = os.path.join(folder, "perf.data")
        store.fetch(path, argv, "--vcpus", str(cpus), "--psb-period", "2K", source="emu")
        count, sizes = queues(path)
        check(count == cpus and least <= sizes[len(sizes) // 2] <= most, f"{count} queues, of {sizes} bytes")
        for form in forms[:: 2 if store.READS else 1]:
            check(same(["-i", path, *form], ["3"]) > 0, "nothing was decoded")

    return case


def raw_options(folder):
    """Yield the options as in tests/traces/raw.sh."""
    yield "--pt=" + os.path.join(folder, "pt.bin")
    with open(os.path.join(folder, "image.map"), encoding="ascii") as f:
        for line in f:
            addr, size, off = line.split()
            yield f"--raw={folder}/image.dump@0x{addr}:0x{off}:0x{size}"


def traces(_):
    where = os.environ.get("PTCAP_TRACES", "")
    if not os.path.isdir(os.path.join(where, RAW[0])):
        lib.skip("no real traces are here")
    for name in RAW:
        for resync in ("psb", "packet"):
            same([*raw_options(os.path.join(where, name)), "--format=bin", "--resync", resync])
        verify(raw_options(os.path.join(where, name)))
    for form in FORMS[:3]:
        same(["-i", os.path.join(where, "quipper-intel_pt-4.14", "perf.data.intel_pt-4.14"), *form])


def twins(folder):
    """Two queues of one CPU, and two of one thread: a switch changes what both run."""
    if not shutil.which("qemu-x86_64"):
        lib.skip("no qemu-x86_64")
    path, twin = os.path.join(folder, "perf.data"), os.path.join(folder, "twin")
    for options in (["--vcpus", "1"], []):
        store.fetch(path, [prog("tasks"), "storm"], "--psb-period", "2K", *options, source="emu")
        with open(path, "rb") as f:
            data = f.read()
        at, size = struct.unpack_from("<QQ", data, 40)
        records, end = [], at + size
        while at < end:
            kind, _, length = struct.unpack_from("<IHH", data, at)
            length += struct.unpack_from("<Q", data, at + 8)[0] if kind == AUXTRACE else 0
            records.append((kind, bytearray(data[at : at + length])))
            at += length
        traces = [record for kind, record in records if kind == AUXTRACE]
        for record in traces:
            again = bytearray(record)
            index = struct.unpack_from("<I", again, 32)[0]
            struct.pack_into("<I", again, 32, index + 1000)
            records.insert(len(records) - 1, (AUXTRACE, again))
        body = b"".join(record for _, record in records)
        header = bytearray(data[: struct.unpack_from("<Q", data, 40)[0]])
        struct.pack_into("<Q", header, 48, len(body))
        header[72:104] = bytes(32)  # no features: their offsets have changed
        with open(twin, "wb") as f:
            f.write(header + body)
        for form in FORMS[: 1 if store.READS else 4]:
            check(same(["-i", twin, *form], ["2:1"]) > 0, "nothing was decoded")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main({"renamed": renamed, "long_names": long_names, "traces": traces, "twins": twins, **{name: program(name) for name in PROGRAMS}, **{name: defaults(name) for name in DEFAULTS}})
