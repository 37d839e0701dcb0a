#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""damage.py KEEP COUNT SEED [WAYS]: record some programs, and give the recordings, and real traces
if available, to mutate. COUNT is the total of changes; each is decoded in WAYS ways, or in all.
A failed recording is kept in the folder KEEP."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from lib import PROGS, prog
from store import RECORDER, fetch

MUTATE = os.environ["MUTATE"]
TRACES = os.environ["PTCAP_TRACES"]
RAW = ("griffin-hello", "xdc-unzip", "dr-hello", "xdc-foo")
QUIPPER = "quipper-intel_pt-4.14/perf.data.intel_pt-4.14"
LIMIT = "16384"  # trace bytes of each queue


def record(folder):
    """Record threads, signals, a library that comes and goes, exceptions, the end of a run; small
    PSB periods."""
    todo = {
        "signal": ("step", [prog("signal")]),
        "recurse": ("step", [prog("recurse")]),
    }
    if shutil.which("qemu-x86_64"):
        lib = os.path.join(PROGS, "libprog_lib.so")
        todo |= {
            "threads": ("emu", [prog("tasks"), "locks"]),
            "cpus": ("emu", [prog("tasks"), "pool"], "--vcpus", "2"),
            "dlopen": ("emu", [prog("dlopen"), lib]),
            "snapshot": ("emu", [prog("except")], "--snapshot=16K"),
            "except": ("emu", [prog("except")]),
        }
    for name, (source, argv, *options) in todo.items():
        path = os.path.join(folder, name + ".data")
        fetch(path, argv, "--psb-period", "2K", *options, source=source)
        yield path
    path = os.path.join(folder, "crash.data")
    fetch(path, [prog("crash_static"), "null"], "-q", source="step", command="crash")
    yield path
    if shutil.which("qemu-x86_64"):
        yield without_code(folder)
        path = os.path.join(folder, "series.data")
        fetch(path, [prog("busy"), "3000"], "-q", "--count", "1", "--on-exit", "-m", "256K,16K", source="emu", command="snapshot")
        yield path
        path = os.path.join(folder, "snapshots.data")
        snapshots(path)
        yield path


def without_code(folder):
    """Record a program and delete it: one gap, with PSBs in it."""
    path, gone = os.path.join(folder, "nocode.data"), os.path.join(folder, "gone")
    shutil.copy(prog("chain_static"), gone)
    argv = [RECORDER, "record", "--psb-period", "2K", "--source", "emu", "-o", path, "--", gone]
    r = subprocess.run(argv, capture_output=True)
    os.unlink(gone)
    if not os.path.exists(path):
        sys.exit(f"FAILED: cannot record nocode: {r.stderr.decode()}")
    return path


def snapshots(path):
    """Record several snapshots of a program of two threads, waiting for each; the trace between
    them is not stored."""
    argv = [RECORDER, "record", "--psb-period", "2K", "--source", "emu", "--snapshot=4K", "-o", path, "--", prog("laps"), "2"]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1) as p:
        said = p.stdout.readline()
        for _ in range(3):
            p.stdin.write("l")
            p.stdin.flush()
            said = p.stdout.readline()
            p.send_signal(signal.SIGUSR2)
            while said and not said.startswith("ptcap: snapshot "):
                said = p.stderr.readline()
            if not said:
                break
        p.stdin.close()
        p.wait()
        if not said or p.returncode != 7:
            sys.exit(f"FAILED: no snapshots: {p.stderr.read()}")
        p.stderr.close()


def real():
    if not os.path.isdir(TRACES):
        return
    for name in RAW:
        for how in ("raw:", "packet:", "mtc:"):
            yield how + os.path.join(TRACES, name)
    yield os.path.join(TRACES, QUIPPER)


def main():
    keep, count, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    ways = ["-w", sys.argv[4]] if len(sys.argv) > 4 else []
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ptcap-damage-") as folder:
        bases = [*record(folder), *real()]
        for base in bases:
            each = str(-(-count // len(bases)))
            argv = [MUTATE, "-e", "-s", seed, "-n", each, "-l", LIMIT, *ways, base]
            if subprocess.run(argv).returncode:
                failed += 1
                if base.startswith(folder):
                    os.makedirs(keep, exist_ok=True)
                    print("  kept:", shutil.copy(base, keep), flush=True)
    if failed:
        sys.exit(f"FAILED: {failed} of {len(bases)} recordings")
    print(f"ok: {len(bases)} recordings")


main()
