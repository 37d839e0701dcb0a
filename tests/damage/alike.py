#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""alike.py KEEP COUNT SEED [RECORDING...]: both engines, with one, two and four threads, give the
same output for a damaged recording. COUNT changes are divided equally among the recordings:
eleven of different kinds, and each RECORDING, in mutate's notation. A failed one is kept in the
folder KEEP. PTCAP_DAMAGE_CHANGES and PTCAP_DAMAGE_SEED override COUNT and SEED."""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from lib import prog
from store import fetch

MUTATE = os.environ["MUTATE"]
TRACES = os.environ["PTCAP_TRACES"]
LIMIT = "8192"  # trace bytes of each queue: four PSBs
REAL = (
    "raw:dr-hello",
    "packet:xdc-unzip",
    "mtc:dr-hello",
    "cyc:xdc-unzip",
    "rare:xdc-unzip",
)


def record(folder):
    """Record kinds that no recording of real hardware has: threads, snapshots, branch stacks, no
    MTC, no return compression."""
    todo = {
        "handlers": ("step", [prog("handlers")]),
        "noretcomp": ("step", [prog("recurse")], "--no-retcomp"),
        "threads": ("step", [prog("tasks_static"), "locks"]),
        "stacks": ("step", [prog("masks")], "--snapshot=8K", "--lbr", "-c", "1000"),
        "loops": ("step", [prog("loops")]),
    }
    if shutil.which("qemu-x86_64"):
        todo["cpus"] = ("emu", [prog("tasks_static"), "storm"], "--vcpus", "2")
    for name, (source, argv, *options) in todo.items():
        path = os.path.join(folder, name + ".data")
        fetch(path, argv, "--psb-period", "2K", *options, source=source)
        yield "nomtc:" + path if name == "loops" else path


def main():
    keep, count, seed, *more = sys.argv[1:]
    count, seed = int(os.environ.get("PTCAP_DAMAGE_CHANGES", count)), os.environ.get("PTCAP_DAMAGE_SEED", seed)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ptcap-alike-") as folder:
        bases = [*record(folder), *more]
        for name in REAL:
            how, where = name.split(":")
            if os.path.isdir(os.path.join(TRACES, where)):
                bases.append(how + ":" + os.path.join(TRACES, where))
        for base in bases:
            each = str(-(-count // len(bases)))
            if subprocess.run([MUTATE, "-a", "-k", "-s", seed, "-n", each, "-l", LIMIT, base]).returncode:
                failed += 1
                path = base.split(":")[-1]
                if path.startswith(folder):
                    os.makedirs(keep, exist_ok=True)
                    print("  kept:", shutil.copy(path, keep), flush=True)
    if failed:
        sys.exit(f"FAILED: {failed} of {len(bases)} recordings")
    print(f"ok: {len(bases)} recordings")


main()
