#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfdump.py NAME [OPTION...]: `ptcap dump` and `perf report -D` of one file agree, record by record.

file=GLOB                       an existing recording
perf OPTION...                  a recording by perf, with these options of perf record
perf-pipe OPTION...             the same, written to a pipe
ptcap [OPTION... --] CMD...     a recording by ptcap
made                            a file built here, with records and fields that no available machine makes

Compared: each record's file, offset, type, size, time and CPU, and every field that perf prints. An unknown line
of perf's output is a failure. --verify must have no finding.
"""

import glob
import json
import os
import re
import subprocess
import sys

import lib
import store
from lib import Run, check
from rare_records import make

HERE = os.path.dirname(os.path.abspath(__file__))

# tools/lib/perf/include/perf/event.h; the kernel's record types come from the vendored header.
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
    """One record, from either tool. text: the lines that perf prints for it; json: our object."""

    def __init__(self, place, kind, size, text=(), obj=None):
        self.place, self.kind, self.size, self.text, self.json = place, kind, size, list(text), obj
        self.time = self.cpu = None

    def __repr__(self):
        return f"{self.kind} at {self.place}, {self.size} bytes, time {self.time}: {self.json or self.text}"[:700]


def is_pipe(path):
    if os.path.isdir(path):
        return False
    with open(path, "rb") as f:
        return f.read(16)[8:] == (16).to_bytes(8, "little")


def perf_records(path, folder):
    """Return the output of perf report -D, record by record: first the bytes of each, then its fields."""
    env = dict(os.environ, HOME=folder, DEBUGINFOD_URLS="", PERF_PAGER="cat", LC_ALL="C.UTF-8")
    argv = [lib.PERF, "report", "-D", "-i"]
    if is_pipe(path):  # perf fails if this is a file, and not a pipe
        with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
            r = subprocess.run([*argv, "-"], env=env, stdin=cat.stdout, capture_output=True, check=False)
    else:
        r = subprocess.run([*argv, path], env=env, capture_output=True, check=False)
    out = r.stdout.decode("utf-8", "surrogateescape")
    check(r.returncode == 0 and b"Error:" not in r.stderr, f"perf report -D: {r.stderr[-500:]!r}")
    names, ret = numbers(), []
    for line in out.split("\nAggregated stats:")[0].split("\n"):
        m = re.match(r"(?:0x)?([0-9a-f]+)@(.*) \[(0x[0-9a-f]+)\]: event: (\d+)$", line)
        if m:
            # Here perf counts offsets from behind the header.
            off = int(m[1], 16) + (16 if m[2] == "pipe" else 0)
            ret.append(Record((os.path.basename(m[2]), off), names.get(int(m[4]), m[4]), int(m[3], 16)))
            continue
        if not ret or not line:
            continue
        last = ret[-1]
        m = re.match(r"((?:-?\d+ )*)(?:0x)?([0-9a-f]+) \[(0x[0-9a-f]+)\]: PERF_RECORD_([A-Z0-9_]+)(.*)$", line)
        if m and not last.text:
            told = m[1].split()
            last.time = int(told[-1]) if told else None
            last.cpu = int(told[0]) if len(told) == 2 else None
            last.text = [m[5]]
        elif last.text and not re.match(r"\.( |$)|: unhandled!$| \.\.\. thread: | \.\.\.\.\.\. dso: |BPF: ", line):
            last.text.append(line)
    check(ret, "perf lists no record")
    return ret


def our_records(path):
    folder, ret = os.path.isdir(path), []
    for line in Run([lib.PTCAP, "dump", "--format", "json", "-i", path]).expect(0).out.splitlines():
        o = json.loads(line)
        if o["type"] != "record":
            continue
        check(not o["damaged"], f"damaged: {line[:300]}")
        name = o["file"] if folder else ""
        r = Record((name, int(o["offset"], 16)), o["name"] or str(o["record"]), o["size"], obj=o)
        told = o.get("sample_id", {})
        r.time, r.cpu = told.get("time_ns"), told.get("cpu")
        ret.append(r)
    return ret


# --- perf's output for a record, as our fields ------------------------------------------------

MARKS = {"HV": -32, "KERNEL": -128, "USER": -512, "USER_DEFERRED": -640, "GUEST": -2048, "GUEST_KERNEL": -2176, "GUEST_USER": -2560}
AUX_FLAGS = {1: "TRUNCATED", 2: "OVERWRITE", 4: "PARTIAL", 8: "COLLISION"}
TXN = ("ELISION", "TRANSACTION", "SYNC", "ASYNC", "RETRY", "CONFLICT", "CAPACITY_WRITE", "CAPACITY_READ")
ABI = {"none": "NONE", "32-bit": "32", "64-bit": "64"}
KSYMBOL = {0: "UNKNOWN", 1: "BPF", 2: "OOL"}
BPF = {0: "UNKNOWN", 1: "PROG_LOAD", 2: "PROG_UNLOAD"}
PT_INFO = {
    "PMU Type": "pmu_type", "Time Shift": "time_shift", "Time Muliplier": "time_mult", "Time Zero": "time_zero",
    "Cap Time Zero": "cap_user_time_zero", "TSC bit": "tsc_bit", "NoRETComp bit": "noretcomp_bit",
    "Have sched_switch": "have_sched_switch", "Snapshot mode": "snapshot_mode", "Per-cpu maps": "per_cpu_mmaps",
    "MTC bit": "mtc_bit", "MTC freq bits": "mtc_freq_bits", "TSC:CTC numerator": "tsc_ctc_n",
    "TSC:CTC denominator": "tsc_ctc_d", "CYC bit": "cyc_bit", "Max non-turbo ratio": "max_nonturbo_ratio",
}  # fmt: skip
CONV = {
    "Time Shift": "time_shift", "Time Muliplier": "time_mult", "Time Zero": "time_zero", "Time Cycles": "time_cycles",
    "Time Mask": "time_mask", "Cap Time Zero": "cap_user_time_zero", "Cap Time Short": "cap_user_time_short",
}  # fmt: skip


def number(v):
    """Parse ours: a number, a string with 0x, or a truth value; perf's: decimal, or with 0x."""
    return int(v, 0) if isinstance(v, str) else int(v)


def ints(*names):
    """Make a parser whose match groups are these fields; name:16 is hex without 0x. '=': text
    unchanged."""

    def make(m):
        ret = {}
        for name, text in zip(names, m.groups()):
            if name.startswith("="):
                ret[name[1:]] = text
            elif name.endswith(":16"):
                ret[name[:-3]] = int(text, 16)
            else:
                ret[name] = int(text, 0)
        return ret

    return make


def mmap2(m):
    ret = ints("pid", "tid", "addr:16", "len:16", "pgoff:16")(m)
    if m[10]:
        ret["build_id"] = m[10]
    else:
        ret.update(dev=f"{int(m[6], 16)}:{int(m[7], 16)}", ino=int(m[8]), ino_generation=int(m[9]))
    ret.update(prot=m[11][:3].replace("p", "-"), shared=m[11][3] == "s", filename=m[12])
    return ret


def bits(v, names):
    words = [names[1 << b] for b in range(64) if v >> b & 1 and 1 << b in names]
    return "|".join(words) or "0"


def aux(m):
    return {"offset": int(m[1], 0), "size": int(m[2], 0), "flags": bits(int(m[3], 0), AUX_FLAGS)}


def switch(m):
    ret = {"way": m[1].lower(), "preempt": bool(m[2])}
    if m[4]:
        ret.update(next_prev_pid=int(m[4]), next_prev_tid=int(m[5]))
    return ret


# type: (perf's first line, a function from the match to our fields)
FIELDS = {
    "MMAP": (r" (-?\d+)/(-?\d+): \[(\w+)\((\w+)\) @ (\w+)\]: . (.*)$", ints("pid", "tid", "addr:16", "len:16", "pgoff:16", "=filename")),
    "MMAP2": (
        r" (-?\d+)/(-?\d+): \[(\w+)\((\w+)\) @ (\w+) (?:(\w+):(\w+) (\d+) (\d+)|<(\w+)>)\]: (\S{4}) (.*)$",
        mmap2,
    ),
    "COMM": (r"( exec)?: (.*):(-?\d+)/(-?\d+)$", lambda m: {"exec": bool(m[1]), "comm": m[2], "pid": int(m[3]), "tid": int(m[4])}),
    "EXIT": (r"\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)$", ints("pid", "tid", "ppid", "ptid")),
    "LOST": (r": id:(\d+): lost:(\d+)$", ints("id", "lost")),
    "LOST_SAMPLES": (r": id:(\d+): lost samples :(\d+)$", ints("id", "lost")),
    "AUX": (r" offset: (\w+) size: (\w+) flags: (\w+) \[.*\]$", aux),
    "ITRACE_START": (r" pid: (\d+) tid: (\d+)$", ints("pid", "tid")),
    "SWITCH": (r" (IN|OUT)( preempt)?()() *()$", switch),
    "SWITCH_CPU_WIDE": (r" (IN|OUT)( preempt)?\s+(next|prev) pid/tid:\s+(-?\d+)/(-?\d+)\s*$", switch),
    "CGROUP": (r" cgroup: (\d+) (.*)$", ints("id", "=path")),
    "KSYMBOL": (
        r" addr (\w+) len (\d+) type (\d+) flags 0x(\w+) name (.*)$",
        lambda m: {"addr": int(m[1], 16), "len": int(m[2]), "ksym_type": KSYMBOL[int(m[3])],
                   "flags": bits(int(m[4], 16), {1: "UNREGISTER"}), "name": m[5]},
    ),
    "BPF_EVENT": (r" type (\d+), flags (\d+), id (\d+)$", lambda m: {"event": BPF[int(m[1])], "flags": int(m[2]), "id": int(m[3])}),
    "AUX_OUTPUT_HW_ID": (r" hw_id: (\w+)$", ints("hw_id")),
    "AUXTRACE": (
        r" size: (\w+)  offset: (\w+)  ref: (\w+)  idx: (\d+)  tid: (-?\d+)  cpu: (-?\d+)$",
        ints("size:16", "offset:16", "reference:16", "idx", "tid", "cpu"),
    ),
    "AUXTRACE_ERROR": (
        r" instruction trace error type (\d+) time (\d+)\.(\d{9}) cpu (-?\d+) pid (-?\d+) tid (-?\d+) ip (\w+) code (\d+): (.*)$",
        lambda m: {"type": int(m[1]), "time_ns": int(m[2] + m[3]), "cpu": int(m[4]), "pid": int(m[5]), "tid": int(m[6]),
                   "ip": int(m[7], 0), "code": int(m[8]), "msg": m[9]},
    ),
    "CPU_MAP": (r": (.*)$", lambda m: {"cpus": cpus(m[1])}),
}
FIELDS["FORK"] = FIELDS["EXIT"]
NOTHING = ("THROTTLE", "UNTHROTTLE", "FINISHED_ROUND", "FINISHED_INIT", "HEADER_ATTR", "HEADER_FEATURE",
           "HEADER_BUILD_ID", "HEADER_TRACING_DATA", "HEADER_EVENT_TYPE")  # fmt: skip


def cpus(text):
    ret = []
    for word in text.strip().split(","):
        first, _, last = word.partition("-")
        ret += range(int(first), int(last or first) + 1)
    return ret


def page_size(text):
    return 0 if text == "N/A" else int(text[:-1]) << {"B": 0, "K": 10, "M": 20, "G": 30}[text[-1]]


class Lines:
    """perf's lines for one record, taken one after the other."""

    def __init__(self, lines):
        self.lines, self.at = lines, 0

    def take(self, pattern):
        m = re.match(pattern + "$", self.lines[self.at]) if self.at < len(self.lines) else None
        self.at += m is not None
        return m

    def all(self, pattern):
        ret = []
        while m := self.take(pattern):
            ret.append(m)
        return ret


def registers(t, name, ret):
    if m := t.take(rf"\.\.\. {name} regs: mask 0x\w+ ABI (.*)"):
        ret[f"regs_{name}_abi"] = ABI[m[1]]
        values = t.all(r"\.\.\.\. (\w+) +0x(\w+)")
        if m[1] != "none":
            ret[f"regs_{name}"] = [{m[1].upper(): int(m[2], 16) for m in values}]


def branch(m):
    flags = m[4]
    return {"from": int(m[2], 16), "to": int(m[3], 16), "cycles": int(m[5]),
            "mispred": flags[0] == "M", "predicted": flags[1] == "P", "abort": flags[2] == "A", "in_tx": flags[3] == "T",
            "reserved": int(m[6], 16), "type": m[7] or "UNKNOWN"}  # fmt: skip


def sample_read(t, ret):
    if not t.take(r"\.\.\. sample_read:"):
        return
    for name in ("enabled", "running"):
        if m := t.take(rf"\.\.\.\.\.\. time {name} (\w+)"):
            ret[f"time_{name}_ns"] = int(m[1], 16)
    t.take(r"\.\.\.\. group nr \d+")
    ret["values"] = [
        {"id": int(m[1], 16), "value": int(m[2], 16), **({"lost": int(m[3])} if m[3] else {})}
        for m in t.all(r"\.\.\.\.\. id (\w+), value (\w+)(?:, lost (\d+))?")
    ]


def sample(t, ret):
    m = t.take(r"\(IP, 0x(\w+)\): (-?\d+)/(-?\d+): (0x\w+|0) period: (\d+) addr: (\w+)")
    check(m, f"perf's sample {t.lines[0]!r}")
    ret.update(misc=int(m[1], 16), pid=int(m[2]), tid=int(m[3]), ip=int(m[4], 16), addr=int(m[6], 16))
    ret["period?"] = int(m[5])  # if the sample has none, the event's
    if t.take(r"\.\.\. FP chain: nr:\d+"):
        ret["callchain"] = [int(m[1], 16) for m in t.all(r"\.\.\.\.\. +\d+: (\w+)")]
    if m := t.take(r"\.\.\. branch stack: nr:(\d+)"):
        ret["branches"] = int(m[1])
        pattern = r"\.\.\.\.\. +\d+: ()(\w+) -> (\w+) (?=\d+ cycles ([M ][P ][A ][T ]))(\d+) cycles .{4} (\w+) (\w*?) ?(?:(?:NON_)?SPEC_\w+)?"  # perf 6.12 adds the last word
        ret["branch_stack"] = [branch(m) for m in t.all(pattern)]
    registers(t, "user", ret)
    registers(t, "intr", ret)
    if m := t.take(r"\.\.\. ustack: size (\d+), offset 0x\w+"):
        ret["stack_user_dyn"] = int(m[1])
    if m := t.take(r"\.\.\. weight: (\d+)(?:,0x(\w+),0x\w+)?"):
        ret["weight"] = int(m[1])
        if m[2]:
            ret["weight2"] = int(m[2], 16)
    for name, field in (("data_src", "data_src"), ("phys_addr", "phys_addr")):
        if m := t.take(rf" \.+ {name}: (0x\w+)"):
            ret[field] = int(m[1], 16)
    for name in ("data", "code"):
        if m := t.take(rf" \.\. {name} page size: (.*)"):
            ret[f"{name}_page_size"] = page_size(m[1])
    if m := t.take(r"\.\.\. transaction: (\w+)"):
        ret["transaction"] = bits(int(m[1], 16) & 0xFFFFFFFF, {1 << i: n for i, n in enumerate(TXN)})
        if int(m[1], 16) >> 32:
            ret["abort_code"] = int(m[1], 16) >> 32
    sample_read(t, ret)


def read(t, ret):
    m = t.take(r": (-?\d+) (-?\d+) .* (\d+)")
    check(m, f"perf's READ {t.lines[0]!r}")
    ret.update(pid=int(m[1]), tid=int(m[2]), values=[{"value": int(m[3])}])
    for name in ("enabled", "running"):
        if m := t.take(rf"\.\.\. time {name} : (\d+)"):
            ret[f"time_{name}_ns"] = int(m[1])
    for name in ("id", "lost"):
        if m := t.take(rf"\.\.\. {name} +: (\d+)"):
            ret["values"][0][name] = int(m[1])


def namespaces(t, ret):
    m = t.take(r" (-?\d+)/(-?\d+) - nr_namespaces: (\d+)")
    ret.update(pid=int(m[1]), tid=int(m[2]))
    found = re.findall(r"(\d+)/(\w+): (\d+)/(\w+)", " ".join(m[0] for m in t.all(r"\t\t.*")))
    check(len(found) == int(m[3]), f"perf's NAMESPACES {t.lines}")
    ret["links"] = [{"ns": name.upper(), "dev": int(dev), "ino": int(ino, 0)} for _, name, dev, ino in found]


def id_index(t, ret):
    ret["n"] = int(t.take(r" nr: (\d+)")[1])
    entries = t.all(r" \.\.\. id: (\d+)  idx: (\d+)  cpu: (-?\d+)  tid: (-?\d+)(?:  machine_pid: (-?\d+)  vcpu: (-?\d+))?")
    names = ("id", "idx", "cpu", "tid", "machine_pid", "vcpu")
    ret["entries"] = [{n: int(v) for n, v in zip(names, m.groups()) if v is not None} for m in entries]


def event_update(t, ret):
    t.take(r"")
    ret["id"] = int(t.take(r"\.\.\. id: +(\d+)")[1])
    if m := t.take(r"\.\.\. (unit|name): +(.*)"):
        ret[m[1]] = m[2]
    elif m := t.take(r"\.\.\. scale: (.*)"):
        ret["scale~"] = float(m[1])
    elif m := t.take(r"\.\.\. ([-\d,]+)"):
        ret["cpus"] = cpus(m[1])


def thread_map(t, ret):
    m = t.take(r" nr: (\d+) threads?: (.*)")
    ret["n"], ret["entries"] = int(m[1]), [{"tid": int(x)} for x in m[2].split(", ")]


def words(table, lead):
    def make(t, ret):
        if m := t.take(r"(?: type: (\d+))?"):
            ret.update({"type": int(m[1])} if m[1] else {})
        # Event trace is perf's own field, not one of those that we read for Intel PT.
        names = [*table, "Filter string len.", "Filter string", "Cap Event Trace"]
        for m in t.all(lead + "(" + "|".join(map(re.escape, names)) + r") *(.*?) *"):
            if m[1] in table:
                ret[table[m[1]]] = int(m[2], 0)
            elif m[1] == "Filter string":
                ret["filter"] = m[2]

    return make


def text_poke(t, ret):
    m = t.take(r" (\w+) .*old len (\d+) new len (\d+)")
    ret.update(addr=int(m[1], 16), old_len=int(m[2]), new_len=int(m[3]))
    t.all(r" +Old bytes:.*")
    ret["bytes^"] = "".join("".join(m[1].split()) for m in t.all(r" +New bytes:((?: \w\w)*) *"))


PARSERS = {
    "SAMPLE": sample, "READ": read, "NAMESPACES": namespaces, "ID_INDEX": id_index, "EVENT_UPDATE": event_update,
    "THREAD_MAP": thread_map, "TIME_CONV": words(CONV, r"\.\.\. "), "AUXTRACE_INFO": words(PT_INFO, "  "), "TEXT_POKE": text_poke,
}  # fmt: skip


def expected(r):
    """Return perf's record as a dict of our fields."""
    if r.kind in NOTHING or r.text == [": unhandled!"]:
        return {}
    if r.kind in FIELDS:
        pattern, make = FIELDS[r.kind]
        m = re.match(pattern, r.text[0]) if r.text else None
        check(m, f"perf's {r.kind} {r.text}")
        return make(m)
    check(r.kind in PARSERS, f"what does perf print here? {r}")
    t, ret = Lines(r.text), {}
    PARSERS[r.kind](t, ret)
    check(t.at == len(t.lines), f"perf prints more of {r.kind}: {t.lines[t.at:]}")
    return ret


def same(want, have):
    """Compare values in any number format; of an object only the wanted fields."""
    if isinstance(want, dict):
        return isinstance(have, dict) and all(same(v, have.get(k, 0 if k == "reserved" else None)) for k, v in want.items())
    if isinstance(want, list):
        return isinstance(have, list) and len(want) == len(have) and all(map(same, want, have))
    if isinstance(want, str):
        return want == have
    if isinstance(have, str) and have in MARKS:
        return want == MARKS[have] & (1 << 64) - 1
    try:
        return have is not None and int(want) == number(have)
    except ValueError:
        return False


def member(o, name):
    """Return our object's value for a field of perf's."""
    fields, told = o["fields"], o.get("sample_id", {})
    if name == "misc":
        return o["misc"]
    if name == "preempt":
        return "SWITCH_OUT_PREEMPT" in o["flags"]
    if name == "shared":
        return number(fields["flags"]) & 1
    if name in ("pid", "tid", "id") and name not in fields:
        return told.get(name, -1)
    if name in ("addr", "ip"):
        return fields.get(name, 0)
    return fields.get(name)


def differences(theirs, ours):
    """Return the fields that perf prints and that differ from ours."""
    ret = []
    if theirs.time is not None and ours.time is not None and theirs.time != ours.time:
        ret.append(f"time {theirs.time} and {ours.time}")
    if theirs.cpu is not None and ours.cpu is not None and theirs.cpu != ours.cpu & 0xFFFFFFFF and theirs.cpu != ours.cpu:
        ret.append(f"cpu {theirs.cpu} and {ours.cpu}")
    for name, want in expected(theirs).items():
        have = member(ours.json, name.rstrip("?~^"))
        if name.endswith("?"):
            ok = have is None or want == have
        elif name.endswith("~"):
            ok = abs(want - float(have)) < 1e-6
        elif name.endswith("^"):
            ok = have == want if len(want) <= 128 else have == want[:128] + "..."
        else:
            ok = same(want, have)
        if not ok:
            ret.append(f"{name} {want!r} and {have!r}")
    return ret


def compare(path, folder):
    """Records at one place (inside one compressed record) are matched by their contents."""
    theirs, ours, problems, compared = perf_records(path, folder), our_records(path), [], 0
    places = {}
    for r in ours:
        places.setdefault(r.place, []).append(r)
    for a in theirs:
        name = a.place[0] if os.path.isdir(path) else ""
        here = [b for b in places.get((name, a.place[1]), []) if (b.kind, b.size) == (a.kind, a.size)]
        found = [(differences(a, b), b) for b in here]
        hit = next((b for d, b in found if not d), None)
        if hit:
            places[hit.place].remove(hit)
            compared += bool(expected(a))
        else:
            problems.append(f"{a}\n    " + "\n    ".join(f"{d} in {b}" for d, b in found[:2]))
    problems += [f"perf has not: {r}" for rs in places.values() for r in rs]
    check(not problems, f"{len(problems)} differences in {len(theirs)} records:\n" + "\n".join(problems[:8]))
    check(compared, "no record with fields")
    r = Run([lib.PTCAP, "dump", "--verify", "-i", path])
    check(r.status == 0 and r.out.startswith("verified: "), f"--verify: {r.status}: {r.out[:500]}{r.err[:300]}")
    kinds = sorted({r.kind for r in ours})
    print(f"ok {os.path.basename(path)}: {len(ours)} records, {compared} with fields: {' '.join(kinds)}", flush=True)


def made_by_perf(folder, options, pipe):
    path = os.path.join(folder, "perf.data")
    work = ["--", "/usr/bin/find", "/usr/include", "-name", "a*"]
    if pipe:
        # perf's pipe is its standard output, which find must not share.
        work = ["--", "sh", "-c", '"$@" >/dev/null', "sh", *work[1:]]
        with open(path, "wb") as out:
            r = subprocess.run([lib.PERF, "record", "-q", *options, "-o", "-", *work], stdout=out, stderr=subprocess.PIPE, check=False)
        status, err = r.returncode, r.stderr.decode()
    else:
        r = Run([lib.PERF, "record", "-q", *options, "-o", path, *work], stdout=subprocess.DEVNULL)
        status, err = r.status, r.err
    if status:
        lib.skip(f"perf record {' '.join(options)} does not work here: {err.strip().splitlines()[:1]}")
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
    elif word == "made":
        path = os.path.join(folder, "made.data")
        make(path)
        compare(path, folder)
    elif word in ("perf", "perf-pipe"):
        compare(made_by_perf(folder, options, word == "perf-pipe"), folder)
    else:
        path = os.path.join(folder, "perf.data")
        cut = options.index("--") if "--" in options else -1
        store.fetch(path, options[cut + 1 :], *options[: max(cut, 0)]).expect(0)
        compare(path, folder)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    lib.main({sys.argv[1]: case})
