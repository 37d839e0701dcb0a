#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clock.py: times from MTC, TMA, CYC and CBR packets of real hardware, ours compared with perf's.
The trace of dr-hello becomes a perf.data in perf's form. Needs PTCAP, PERF, PTCAP_TRACES."""

import os
import re
import struct
import subprocess
import sys
import tempfile

PTCAP, PERF = os.environ["PTCAP"], os.environ["PERF"]
DIR = os.path.abspath(os.path.join(os.environ["PTCAP_TRACES"], "dr-hello"))
PMU, PID, CPU, ID = 8, 0x7FFFFFF0, 1, 7  # an impossible pid: otherwise perf would look into its namespaces
CYC, MTC, TSC, BRANCH = 1 << 1, 1 << 9, 1 << 10, 1 << 13
MTC_FREQ_SHIFT = 14
# From meta.json.
SHIFT, MULT, ZERO, FREQ, NOMINAL, CTC_N, CTC_D = 31, 581029125, 18444502336406842448, 3, 37, 308, 2
SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 16  # IP TID TIME CPU IDENTIFIER
USER = 2
SLACK_NS = 100  # perf estimates differently between two MTCs, which are 333 ns apart


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def side(kind, misc, body, time):
    return record(kind, misc, body + struct.pack("<IIQIIQ", PID, PID, time, CPU, 0, ID))


def name(path):
    path = path.encode() + b"\0"
    return path + bytes(-len(path) % 8)


def recording(folder):
    with open(os.path.join(DIR, "pt.bin"), "rb") as f:
        trace = f.read()
    program = os.path.join(DIR, "hello")
    config = 1 | CYC | MTC | TSC | BRANCH | FREQ << MTC_FREQ_SHIFT
    flags = 1 | 1 << 5 | 1 << 6 | 1 << 8 | 1 << 9 | 1 << 18 | 1 << 23 | 1 << 24
    attr = struct.pack("<IIQQQQQ", PMU, 112, config, 1, SAMPLE_TYPE, 4, flags).ljust(112, b"\0")
    info = [PMU, SHIFT, MULT, ZERO, 1, TSC, 1 << 11, 0, 0, 1, MTC, 0xF << MTC_FREQ_SHIFT, CTC_N, CTC_D, CYC, NOMINAL, 0]
    data = record(70, 0, struct.pack("<II17Q", 1, 0, *info))
    data += side(3, 0, struct.pack("<II", PID, PID) + b"hello\0\0\0", 0)
    where = struct.pack("<IIQQQIIQQII", PID, PID, 0x401000, 0x1000, 0x1000, 0, 0, 0, 0, 5, 2)
    data += side(10, USER, where + name(program), 0)
    data += side(12, 0, struct.pack("<II", PID, PID), 1)
    ids = 104
    attrs = ids + 8
    start = attrs + 128
    at = start + len(data)
    # The TSC at the copy: later than the whole trace.
    data += record(71, 0, struct.pack("<QQQIiiI", len(trace), 0, 0x2FA1088FAC05E2 + (1 << 40), CPU, -1, CPU, 0)) + trace
    index = struct.pack("<QQQ", 1, at, 48)
    head = b"PERFILE2" + struct.pack("<8Q", 104, 128, attrs, 128, start, len(data), 0, 0)
    head += struct.pack("<4Q", 1 << 18, 0, 0, 0)
    path = os.path.join(folder, "perf.data")
    with open(path, "wb") as f:
        f.write(head + struct.pack("<Q", ID) + attr + struct.pack("<QQ", ids, 8) + data)
        f.write(struct.pack("<QQ", start + len(data) + 16, len(index)) + index)
    return path


def run(*argv):
    r = subprocess.run(argv, capture_output=True, text=True, check=False, env=dict(os.environ, DEBUGINFOD_URLS=""))
    assert r.returncode == 0, (argv, r.returncode, r.stderr)
    return r.stdout


def main():
    if not os.path.isdir(DIR):
        print(f"skipped: no {DIR}")
        return 77
    if not os.access(PERF, os.X_OK):
        print("skipped: no perf here (Debian: linux-perf)")
        return 77
    with tempfile.TemporaryDirectory(prefix="ptcap-clock-") as folder:
        path = recording(folder)
        ours = run(PTCAP, "decode", "-i", path, "-F", "time,from,to", "--strict")
        theirs = run(PERF, "script", "-i", path, "--itrace=b", "--ns", "-F", "time,ip,addr")
    ours = [(int(t.replace(".", "")), int(a, 16), int(b, 16)) for t, a, b in map(str.split, ours.splitlines())]
    theirs = [
        (int(m[1] + m[2]), int(m[3], 16), int(m[4], 16))
        for m in re.finditer(r"^ *(\d+)\.(\d{9}): +([0-9a-f]+) => +([0-9a-f]+) *$", theirs, re.M)
    ]
    assert [t[1:] for t in ours] == [t[1:] for t in theirs] and ours, (ours, theirs)
    assert ours[-1][0] - ours[0][0] > 20 * SLACK_NS, "nothing that could be told apart"
    apart = [abs(a[0] - b[0]) for a, b in zip(ours, theirs)]
    print(f"{len(ours)} transfers; apart from perf, in ns: {apart}")
    assert max(apart) <= SLACK_NS, (ours, theirs)
    return 0


sys.exit(main())
