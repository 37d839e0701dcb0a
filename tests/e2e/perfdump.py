#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfdump.py NAME [OPTION...]: `ptcap dump` and `perf report -D` of one file agree, record by record.

file=GLOB       a recording that is there already
perf OPTION...  one that perf makes, with these options of perf record
ptcap OPTION... one of ours

What is compared: each record's offset, type, size and time, and the fields that perf prints.
"""

import glob
import os
import re
import subprocess
import sys

import lib
from lib import Run, check

HERE = os.path.dirname(os.path.abspath(__file__))

# tools/lib/perf/include/perf/event.h; the kernel's own come from the vendored header.
USER = {
    64: "HEADER_ATTR", 65: "HEADER_EVENT_TYPE", 66: "HEADER_TRACING_DATA", 67: "HEADER_BUILD_ID", 68: "FINISHED_ROUND",
    69: "ID_INDEX", 70: "AUXTRACE_INFO", 71: "AUXTRACE", 72: "AUXTRACE_ERROR", 73: "THREAD_MAP", 74: "CPU_MAP",
    75: "STAT_CONFIG", 76: "STAT", 77: "STAT_ROUND", 78: "EVENT_UPDATE", 79: "TIME_CONV", 80: "HEADER_FEATURE",
    81: "COMPRESSED", 82: "FINISHED_INIT",
}  # fmt: skip


def numbers():
    path = os.path.join(HERE, "..", "..", "third_party", "uapi", "linux", "perf_event.h")
    with open(path, encoding="ascii") as f:
        found = re.findall(r"^\tPERF_RECORD_(?!KSYMBOL_TYPE)(\w+)\s*= (\d+),", f.read(), re.M)
    check(len(found) > 20, "no records in the vendored header")
    return {**{int(n): name for name, n in found}, **USER}


class Record:
    """One record, by either tool: type, size, time in ns (None: not told), text of its fields."""

    def __init__(self, kind, size, time=None, text=""):
        self.kind, self.size, self.time, self.text = kind, size, time, text

    def __repr__(self):
        return f"{self.kind} {self.size} bytes, time {self.time}: {self.text[:300]}"


def perf_records(path, folder):
    """{offset: Record} of perf report -D, and what it says of records in the order of their time."""
    env = dict(os.environ, HOME=folder, DEBUGINFOD_URLS="", PERF_PAGER="cat")
    r = subprocess.run([lib.PERF, "report", "-D", "-i", path], env=env, capture_output=True, check=False)
    out = r.stdout.decode("utf-8", "replace")
    check(r.returncode == 0, f"perf report -D: {r.stderr[:500]!r}")
    names, ret, last = numbers(), {}, None
    for line in out.splitlines():
        m = re.match(r"(0x[0-9a-f]+)@.* \[(0x[0-9a-f]+)\]: event: (\d+)$", line)
        if m:
            off, size = int(m[1], 16), int(m[2], 16)
            # HEADER_ATTR and its like come twice in a pipe
            ret.setdefault(off, Record(names.get(int(m[3]), m[3]), size))
            last = None
            continue
        m = re.match(r"(?:-?\d+ )?(?:(\d+) )?(0x[0-9a-f]+) \[(0x[0-9a-f]+)\]: PERF_RECORD_(\w+?)(?:\b)(.*)$", line)
        if m and int(m[2], 16) in ret:
            last = ret[int(m[2], 16)]
            if not last.text:
                last.time, last.text = (int(m[1]) if m[1] else None), m[5]
            continue
        if last and line and not line.startswith("."):
            last.text += "\n" + line
        elif last and line.startswith("..."):
            last.text += "\n" + line
    check(ret, "perf lists no record")
    return ret


def our_records(path):
    ret = {}
    for line in lib.Run([lib.PTCAP, "dump", "-i", path]).expect(0).out.splitlines():
        m = re.match(r"(0x[0-9a-f]+) (\S+)\s+(\d+) (.*)$", line)
        if not m:
            check(line.startswith("#"), f"our line {line!r}")
            continue
        t = re.search(r"\{.*\btime=(\d+)\.(\d{9})", m[4])
        ret[int(m[1], 16)] = Record(m[2], int(m[3]), int(t[1]) * 10**9 + int(t[2]) if t else None, m[4])
    return ret


# --- what perf prints of a record, and how we do -------------------------------------------------


def h(text):
    return f"{int(text, 16):#x}"


def prot(text):
    return f"prot={text[:3]}"


AUX_FLAGS = {"T": "TRUNCATED", "O": "OVERWRITE", "P": "PARTIAL"}

# type: (perf's text, what ours has, given the match)
FIELDS = {
    "MMAP": (
        r" (-?\d+)/(-?\d+): \[(\w+)\((\w+)\) @ (\w+)\]: (.) (.*)",
        lambda m: [f"pid={m[1]}", f"tid={m[2]}", f"addr={h(m[3])}", f"len={h(m[4])}", f"pgoff={h(m[5])}", f'"{m[7]}"'],
    ),
    "MMAP2": (
        r" (-?\d+)/(-?\d+): \[(\w+)\((\w+)\) @ (\w+) (?:(\w+):(\w+) (\d+) (\d+)|<(\w+)>)\]: (\S+) (.*)",
        lambda m: [f"pid={m[1]}", f"tid={m[2]}", f"addr={h(m[3])}", f"len={h(m[4])}", f"pgoff={h(m[5])}", prot(m[11]), f'"{m[12]}"']
        + ([f"build_id={m[10]}"] if m[10] else [f"dev={int(m[6], 16)}:{int(m[7], 16)}", f"ino={m[8]}"]),
    ),
    "COMM": (
        r"( exec)?: (.*):(-?\d+)/(-?\d+)",
        lambda m: [f"pid={m[3]}", f"tid={m[4]}", f'comm="{m[2]}"'] + (["exec"] if m[1] else []),
    ),
    "EXIT": (
        r"\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)",
        lambda m: [f"pid={m[1]}", f"tid={m[2]}", f"ppid={m[3]}", f"ptid={m[4]}"],
    ),
    "SAMPLE": (
        r"\(IP, 0x(\w+)\): (-?\d+)/(-?\d+): (0x\w+) period: (\d+) addr: (\w+)",
        lambda m: [f"misc=0x{m[1]}", f"pid={m[2]}", f"tid={m[3]}", f"ip={m[4]}"],
    ),
    "AUX": (
        r" offset: (\w+) size: (\w+) flags: \w+ \[(.*)\]",
        lambda m: [f"offset={h(m[1])}", f"size={h(m[2])}"] + [AUX_FLAGS[c] for c in m[3]],
    ),
    "ITRACE_START": (r" pid: (\d+) tid: (\d+)", lambda m: [f"pid={m[1]}", f"tid={m[2]}"]),
    "SWITCH": (r" (IN|OUT)", lambda m: [m[1].lower()]),
    "SWITCH_CPU_WIDE": (
        r" (IN|OUT)(?: preempt)?\s+(next|prev) pid/tid:\s+(\d+)/(\d+)",
        lambda m: [m[1].lower(), f"next_prev_pid={m[3]}", f"next_prev_tid={m[4]}"],
    ),
    "AUXTRACE": (
        r" size: (\w+)  offset: (\w+)  ref: (\w+)  idx: (\d+)  tid: (-?\d+)  cpu: (-?\d+)",
        lambda m: [f"size={h(m[1])}", f"offset={h(m[2])}", f"reference={h(m[3])}", f"idx={m[4]}", f"tid={m[5]}", f"cpu={m[6]}"],
    ),
}
FIELDS["FORK"] = FIELDS["EXIT"]


def same_fields(perf, ours):
    """What perf prints of a record and we do not: a list of words."""
    if perf.kind not in FIELDS or not perf.text:
        return []
    pattern, wanted = FIELDS[perf.kind]
    m = re.match(pattern, perf.text)
    if not m:
        return [f"perf's text {perf.text[:200]!r}"]
    return [w for w in wanted(m) if not re.search(rf"(?<![\w]){re.escape(w)}(?![\w])", ours.text)]


def compare(path, folder):
    theirs, ours = perf_records(path, folder), our_records(path)
    problems = []
    for off in sorted(theirs.keys() | ours.keys()):
        a, b = theirs.get(off), ours.get(off)
        if not a or not b:
            problems.append(f"{off:#x}: perf {a}, ptcap {b}")
        elif (a.kind, a.size) != (b.kind, b.size) or (a.time and b.time is not None and a.time != b.time):
            problems.append(f"{off:#x}: perf {a}\n    ptcap {b}")
        else:
            problems += [f"{off:#x}: {w} is not in {b}" for w in same_fields(a, b)]
    check(not problems, f"{len(problems)} differences in {len(theirs)} records:\n" + "\n".join(problems[:12]))
    print(f"ok {os.path.basename(path)}: {len(ours)} records", flush=True)


def made_by_perf(folder, options):
    path = os.path.join(folder, "perf.data")
    r = Run([lib.PERF, "record", "-q", *options, "-o", path, "--", "/usr/bin/find", "/usr/share", "-name", "a*"], stdout=subprocess.DEVNULL)
    if r.status:
        lib.skip(f"perf record {' '.join(options)} does not work here: {r.err.strip().splitlines()[:1]}")
    return path


def case(folder, *argv):
    if not lib.have_perf():
        lib.skip("no perf here (Debian: linux-perf)")
    word, *options = argv
    if word.startswith("file="):
        paths = glob.glob(word.removeprefix("file="))
        if not paths:
            lib.skip("it is not here")
        for path in sorted(paths):
            compare(path, folder)
    elif word == "perf":
        compare(made_by_perf(folder, options), folder)
    else:
        path = os.path.join(folder, "perf.data")
        lib.record(path, options).expect(0)
        compare(path, folder)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    lib.main({sys.argv[1]: case})
