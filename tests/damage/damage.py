#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""damage.py KEEP COUNT SEED ALLOWED: record some programs, and give the recordings, and real traces if they are
there, to mutate, for COUNT changes in all. So many in all may fail as its option -a says. A recording that fails is
kept in the folder KEEP."""

import os
import shutil
import subprocess
import sys
import tempfile

PTCAP = os.environ["PTCAP"]
MUTATE = os.environ["MUTATE"]
PROGS = os.environ["PROGS"]
TRACES = os.environ["PTCAP_TRACES"]
RAW = ("griffin-hello", "xdc-unzip", "dr-hello", "xdc-foo")
QUIPPER = "quipper-intel_pt-4.14/perf.data.intel_pt-4.14"
LIMIT = "16384"  # bytes of trace of each queue


def prog(name):
    return os.path.join(PROGS, "prog_" + name)


def record(folder):
    """Threads, signals, a library that comes and goes, exceptions; small PSB periods."""
    todo = {
        "signal": ["--source", "step", "--", prog("signal")],
        "recurse": ["--source", "step", "--", prog("recurse")],
    }
    if shutil.which("qemu-x86_64"):
        lib = os.path.join(PROGS, "libprog_lib.so")
        todo |= {
            "threads": ["--source", "emu", "--", prog("tasks"), "locks"],
            "cpus": ["--source", "emu", "--vcpus", "2", "--", prog("tasks"), "pool"],
            "dlopen": ["--source", "emu", "--", prog("dlopen"), lib],
            "except": ["--source", "emu", "--", prog("except")],
        }
    for name, args in todo.items():
        path = os.path.join(folder, name + ".data")
        r = subprocess.run([PTCAP, "record", "--psb-period", "2K", "-o", path, *args], capture_output=True)
        if not os.path.exists(path):  # the status is the program's
            sys.exit(f"FAILED: cannot record {name}: {r.stderr.decode()}")
        yield path


def real():
    if not os.path.isdir(TRACES):
        return
    for name in RAW:
        for how in ("raw:", "packet:"):
            yield how + os.path.join(TRACES, name)
    yield os.path.join(TRACES, QUIPPER)


def main():
    keep, count, seed, allowed = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    failed = behind = 0
    with tempfile.TemporaryDirectory(prefix="ptcap-damage-") as folder:
        bases = [*record(folder), *real()]
        for base in bases:
            each = str(-(-count // len(bases)))
            argv = [MUTATE, "-s", seed, "-n", each, "-l", LIMIT, "-a", str(allowed), base]
            r = subprocess.run(argv, stdout=subprocess.PIPE, text=True)
            print(r.stdout, end="")
            wrong = sum(line.startswith("FAILED") for line in r.stdout.splitlines())
            behind += wrong
            if wrong or r.returncode:
                failed += r.returncode != 0
                if base.startswith(folder):
                    os.makedirs(keep, exist_ok=True)
                    print("  kept:", shutil.copy(base, keep))
    if failed or behind > allowed:
        sys.exit(f"FAILED: {failed} of {len(bases)} recordings, {behind} changes")
    print(f"ok: {len(bases)} recordings")


main()
