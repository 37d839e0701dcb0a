#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile_table.py BUILD PTCAP [PTCAP...]: time and memory of each scenario of cli/growth.py, for each ptcap.

Each scenario has n, 2n and 4n of one kind of data, FACTOR times as many as in cli/growth.py. A row of the table is a
scenario: the size of its files, then for each ptcap the CPU time in seconds and the peak of memory in MiB at n, 2n and 4n.
A run ends after SECONDS (HOSTILE_SECONDS in the environment), and at BYTES of address space. Then the larger files of that
scenario are left out. BUILD: a folder with the tests' programs. No test runs this.
"""
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("PTCAP", "")
os.environ.setdefault("MKREC", "")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "cli"))
import growth  # pylint: disable=wrong-import-position

FACTOR, SECONDS, BYTES = 10, int(os.environ.get("HOSTILE_SECONDS", 20)), 4 << 30


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


def run(measure, ptcap, command, path):
    """Return (the time to print, the memory to print, whether larger files may be tried)."""
    words = "decode -j1" if command == "decode" else command
    with subprocess.Popen(
        [measure, path + ".peak", ptcap, *words.split(), "-i", path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, preexec_fn=limit,
    ) as p:
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    with open(path + ".peak", encoding="ascii") as f:
        peak = f"{int(f.read()) / 1024:.0f}"
    took = usage.ru_utime + usage.ru_stime
    if p.returncode in (128 + signal.SIGXCPU, 128 + signal.SIGKILL):
        return f"> {SECONDS}", peak, False
    if p.returncode not in (0, 3, 4):
        return f"{took:.2f} (status {p.returncode})", peak, True
    return f"{took:.2f}", peak, True


def look(measure, ptcap, command, paths):
    times, peaks, more = [], [], True
    for path in paths:
        took, peak, more = run(measure, ptcap, command, path) if more else ("-", "-", False)
        times.append(took)
        peaks.append(peak)
    return f"{' / '.join(times)} | {' / '.join(peaks)}"


def main():
    build, *ptcaps = (os.path.abspath(path) for path in sys.argv[1:])
    measure = os.path.join(build, "tests", "peak")
    began = time.monotonic()
    print("| scenario | command | n | KiB |" + " s | MiB |" * len(ptcaps))
    print("|---|---|---|---|" + "---|---|" * len(ptcaps))
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(folder, "base")
        subprocess.run([os.path.join(build, "tests", "mkrec"), base], check=True)
        with open(base, "rb") as f:
            base = f.read()
        for name, (command, n, make) in growth.SCENARIOS.items():
            paths = []
            for k in (1, 2, 4):
                paths.append(os.path.join(folder, str(k)))
                with open(paths[-1], "wb") as f:
                    f.write(growth.build(base, **make(k * n * FACTOR)))
            sizes = " / ".join(str(os.path.getsize(path) >> 10) for path in paths)
            cells = " | ".join(look(measure, ptcap, command, paths) for ptcap in ptcaps)
            print(f"| {name} | {command} | {n * FACTOR} | {sizes} | {cells} |", flush=True)
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main()
