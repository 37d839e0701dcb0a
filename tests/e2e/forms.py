#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every form of a recording: as perf writes it, with software events, and ptcap's recordings
converted to it.

usage: forms.py CASE
"""

import os
import re
import struct
import subprocess
import sys
from collections import Counter

import lib
from lib import PERF, PTCAP, Run, check, decode, have_perf, prog, record, skip
from store import fetch

EVENT = ["-e", "cpu-clock:u", "-c", "100000"]
WORK = ["sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done"]
# The parent of a command of perf is perf. The command kills perf when some samples are in the file.
KILLER = """
size() { du -sb "$1" | cut -f1; }
was=$(size "$1")
while [ "$(size "$1")" -lt $((was + $2)) ]; do
	i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done
done
kill -9 $PPID
"""
FORMS = {
    "file": [],
    "z": ["-z"],
    "pipe": ["-o", "-"],
    "pipe_z": ["-o", "-", "-z"],
    "threads": ["--threads"],
    "threads_z": ["--threads", "-z"],
    "events": ["-e", "task-clock:u", "-g", "--switch-events"],
}
PERF_NAMES = {"ATTR": "HEADER_ATTR", "FEATURE": "HEADER_FEATURE", "TRACING_DATA": "HEADER_TRACING_DATA",
              "BUILD_ID": "HEADER_BUILD_ID"}


def perf_record(path, options, work):
    """Run perf record into path, or through a pipe into it. Returns its exit status."""
    if not have_perf():
        skip("no perf (Debian: linux-perf)")
    argv = [PERF, "record", "-q", *EVENT, *options]
    if "-o" in options:
        with open(path, "wb") as out:
            r = subprocess.run([*argv, "--", *work], stdout=out, stderr=subprocess.PIPE, check=False)
    else:
        r = subprocess.run([*argv, "-o", path, "--", *work], capture_output=True, check=False)
    if r.returncode not in (0, -9) or not os.path.exists(path):
        skip(f"perf cannot record so here: {r.stderr[:200]!r}")
    return r.returncode


def perf_killed(path, options):
    """Run perf record into path, and kill it when the file has some samples."""
    enough = "3072" if "-z" in options else "8192"  # more than the data before the samples
    if perf_record(path, ["-m", "4", *options], ["sh", "-c", KILLER, "killer", path, enough]) == 0:
        check(False, f"{path}: perf was not killed")


def dump(path, status=0, options=(), **kw):
    """Return (type, size) of each record, in order; and the messages."""
    d = Run([PTCAP, "dump", "-i", path, *options], **kw).expect(status)
    found = re.findall(r"^(?:[\w.]+:)?0x[0-9a-f]+(?:\+0x[0-9a-f]+)? +(\S+) +(\d+) misc=", d.out, re.M)
    m = re.search(r"^# (\d+) records, 0 of unknown type$", d.out, re.M)
    check(m and int(m[1]) == len(found), f"{len(found)} lines of records: {d.out[-200:]}")
    return [(name, int(size)) for name, size in found], d.err


def perf_dump(path, through_pipe):
    """The same from perf, in the order in which perf processes the records."""
    with open(path if through_pipe else os.devnull, "rb") as f:
        d = Run([PERF, "report", "-D", "-i", "-" if through_pipe else path], stdin=f)
    found = re.findall(r" \[0x([0-9a-f]+)\]: PERF_RECORD_([A-Z0-9_]+)", d.out)
    check(found, f"perf report -D says nothing: {d.err}")
    return [(PERF_NAMES.get(name, name), int(size, 16)) for size, name in found]


def same_counts(ours, theirs):
    a, b = Counter(ours), Counter(theirs)
    check(a == b, f"only ptcap: {a - b}; only perf: {b - a}")
    check(sum(n for (name, _), n in a.items() if name == "SAMPLE") > 20, f"hardly a sample: {a}")


def perf_form(folder, form):
    """Each record is the same as in perf report -D, by type and size; also from standard input."""
    path = os.path.join(folder, "x")
    perf_record(path, FORMS[form], WORK)
    ours, err = dump(path)
    check(not err, err)
    same_counts(ours, perf_dump(path, "-o" in FORMS[form]))
    stored = Counter(name for name, _ in dump(path, options=["--stored"])[0])
    check(("COMPRESSED" in stored) == ("-z" in FORMS[form]), f"--stored: {stored}")
    check(("SAMPLE" in stored) != ("-z" in FORMS[form]), f"--stored: {stored}")
    if os.path.isdir(path):
        return
    with open(path, "rb") as f:
        check(dump("-", stdin=f)[0] == ours, "as standard input it is another")
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        check(dump("-", stdin=cat.stdout)[0] == ours, "through a pipe it is another")


def killed(folder):
    """The file of a killed perf is shown as far as it is complete, with one line that says so."""
    for form, options in FORMS.items():
        path = os.path.join(folder, form)
        perf_killed(path, options)
        if "-o" in options:
            continue  # the file does not show it
        records, err = dump(path, 1)
        check("the file was not finished (data size 0)" in err and err.count("\n") == 1, err)
        names = Counter(name for name, _ in records)
        check(names["COMM"] >= 1 and names["SAMPLE"] > 20, f"{form}: {names}")
        Run([PTCAP, "info", "-i", path]).expect(1)


# --- ptcap's recordings, converted to the other forms -----------------------------------------


class Parts:
    """A file's attrs with their ids, features, records."""

    def __init__(self, path):
        with open(path, "rb") as f:
            d = f.read()
        self.whole = d
        entry, attrs, size, self.data_off, data_size = struct.unpack_from("<5Q", d, 16)
        self.data = d[self.data_off : self.data_off + data_size]
        self.attrs = []
        for off in range(attrs, attrs + size, entry):
            ids, n = struct.unpack_from("<QQ", d, off + entry - 16)
            self.attrs.append(d[off : off + entry - 16] + d[ids : ids + n])
        self.features = {}
        table = self.data_off + data_size
        for bit in range(256):
            if d[72 + bit // 8] >> bit % 8 & 1:
                off, n = struct.unpack_from("<QQ", d, table)
                self.features[bit] = d[off : off + n]
                table += 16


def as_pipe(parts):
    out = [b"PERFILE2", struct.pack("<Q", 16)]
    for attr in parts.attrs:
        out += [struct.pack("<IHH", 64, 0, 8 + len(attr)), attr]
    for bit, body in parts.features.items():
        if bit == 2:  # build-ids are records already
            out.append(body)
        elif bit != 18:  # the index has file offsets
            out += [struct.pack("<IHHQ", 80, 0, 16 + len(body), bit), body]
    out += [struct.pack("<IHHQ", 80, 0, 16, 33), parts.data]
    return b"".join(out)


def as_folder(parts, path):
    """Write the header and the records up to AUXTRACE_INFO into data, and distribute the rest."""
    d = bytearray(parts.whole)
    off, cuts = 0, []
    while off < len(parts.data):
        kind, _, size = struct.unpack_from("<IHH", parts.data, off)
        start = off
        off += size
        if kind == 71:
            off += struct.unpack_from("<Q", parts.data, start + 8)[0]
        cuts.append((kind, start, off))
    first = next(end for kind, _, end in cuts if kind == 70)
    tail = [bytearray(), bytearray(), bytearray()]
    for kind, start, end in cuts:
        if start >= first:
            tail[2 if kind == 71 else 0] += parts.data[start:end]
    bits = [b for b in parts.features if b != 18] + [24]
    struct.pack_into("<Q", d, 48, first)
    d[72:104] = bytes(32)
    for bit in bits:
        d[72 + bit // 8] |= 1 << bit % 8
    d = d[: parts.data_off + first]
    at = len(d) + 16 * len(bits)
    bodies = b""
    for bit in sorted(bits):
        body = parts.features.get(bit, struct.pack("<Q", 1))
        d += struct.pack("<QQ", at + len(bodies), len(body))
        bodies += body
    os.mkdir(path)
    for name, body in [("data", d + bodies)] + [(f"data.{i}", t) for i, t in enumerate(tail)]:
        with open(os.path.join(path, name), "wb") as f:
            f.write(body)


def ours(folder):
    """A recording decodes to the same branches in each form."""
    path = os.path.join(folder, "file")
    fetch(path, [prog("recurse")]).expect(0)
    fields = ("-F", "tid,time,from,to,kind", "--strict")
    want = decode(path, *fields).expect(0).out
    check(want.count("\n") > 100, "hardly a transfer")
    parts = Parts(path)
    pipe = os.path.join(folder, "pipe")
    with open(pipe, "wb") as f:
        f.write(as_pipe(parts))
    as_folder(parts, os.path.join(folder, "folder"))
    for form in ("pipe", "folder"):
        got = decode(os.path.join(folder, form), *fields).expect(0).out
        check(got == want, f"decoded otherwise as a {form}")
    for form in ("pipe", "file"):
        with subprocess.Popen(["cat", os.path.join(folder, form)], stdout=subprocess.PIPE) as cat:
            got = Run([PTCAP, "decode", "-i", "-", *fields], stdin=cat.stdout).expect(0).out
        check(got == want, f"decoded otherwise through a pipe, as a {form}")
    if have_perf():
        # In pipe mode times are unreliable, says perf; so are they for a file as standard input.
        script = [PERF, "script", "--itrace=b", "-F", "tid,ip,addr", "-i"]
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as cat:
            got = Run([*script, "-"], stdin=cat.stdout).out
        check(got == Run([*script, path]).out, "perf differs")


def bad_places(folder):
    """Damage in a file of a folder, and in compressed records, is reported with its place."""
    path = os.path.join(folder, "d")
    perf_record(path, ["--threads"], WORK)
    part = next(os.path.join(path, p) for p in sorted(os.listdir(path)) if p.startswith("data.") and
                os.path.getsize(os.path.join(path, p)))
    with open(part, "r+b") as f:
        f.truncate(os.path.getsize(part) - 3)
    _, err = dump(path, 1)
    check(f"cannot read '{part}': a record of type" in err, err)
    os.rename(part, part + "x")
    os.symlink(part + "x", part)
    err = Run([PTCAP, "dump", "-i", path]).expect(1).err
    check(f"'{part}': it is a symbolic link" in err, err)


def places(folder):
    """Which files may be read: of any owner, through links, and without waiting."""
    path, link, loop = (os.path.join(folder, name) for name in ("file", "link", "loop"))
    fetch(path, [prog("hello")]).expect(0)
    want = dump(path)
    os.symlink(path, link)
    check(dump(link) == want, "read through a link it is another")
    os.symlink(loop, loop)
    check("symbolic links" in Run([PTCAP, "dump", "-i", loop]).expect(1).err, "a link to itself")
    check("is a folder" in Run([PTCAP, "dump", "-i", folder]).expect(1).err, "a folder")
    check("not a regular file" in Run([PTCAP, "dump", "-i", "/dev/zero"]).expect(1).err, "a device")
    fifo = os.path.join(folder, "fifo")
    os.mkfifo(fifo)
    with subprocess.Popen(["cp", path, fifo]) as cp:
        check(dump(fifo) == want, "read from a FIFO it is another")
        cp.wait()
    if os.geteuid() == 0:  # otherwise no file has another owner
        os.chown(path, 65534, 65534)
        check(dump(path) == want, "of another owner it is another")
    for name in (fifo, folder, "/dev/null"):
        err = Run([PTCAP, "convert", "-i", path, "-o", name]).expect(2).err
        what = "is a folder without a recording" if name == folder else "exists and is not a regular file"
        check(f"cannot write '{name}': '{name}' {what}" in err, err)


def fifos(folder):
    """Commands that read a recording twice read a FIFO and standard input as they read a file."""
    traces = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "traces")
    fifo, new = os.path.join(folder, "fifo"), os.path.join(folder, "new")
    os.mkfifo(fifo)
    for name, args in (("calls.data", ["info"]), ("lbr.data", ["compare", "--list"]), ("lbr-wrong.data", ["compare"]),
                       ("crash.data", ["crash", "show"]), ("calls.data", ["convert", "--branch-stacks", "-o", new])):
        path = os.path.join(traces, name)
        with open(path, "rb") as f:
            want = Run([PTCAP, *args, "-i", "-"], stdin=f)
        for source in (fifo, "-"):
            with subprocess.Popen(["sh", "-c", 'cat "$0" >"$1"', path, fifo]) as cat:
                with open(fifo if source == "-" else os.devnull, "rb") as f:
                    got = Run([PTCAP, *args, "-i", source], stdin=f)
                cat.wait()
            check((got.status, got.out) == (want.status, want.out), f"{args} of {source}: {got.status}\n{got.out}{got.err}")


def features(folder):
    """ptcap's header describes this machine as perf's does."""
    ours, theirs = os.path.join(folder, "ours"), os.path.join(folder, "theirs")
    perf_record(theirs, [], ["true"])
    record(ours, [prog("hello")]).expect(0)

    def header(path):
        """Return the lines about the machine, except values that change all the time."""
        text = Run([PERF, "report", "--header-only", "-I", "-i", path]).expect(0).out
        text = re.sub(r", free = \d+ kB", "", text)
        # perf 6.12 prints "cpu" on machines without it, and sorts the names differently.
        text = re.sub(r"(?m)^# pmu mappings: (.*)$", lambda m: "# " + ", ".join(sorted(
            p for p in m[1].split(", ") if not re.match(r"(intel_pt|cpu) =", p))), text)
        text = re.sub(r"(?m)^# CPU cache info:\n(?!#  L)", "", text)  # this machine tells of none
        skip_line = r"# (captured on|data |feat |perf version|cmdline|event|time of|sample duration|contains|missing| CPU_PMU|cpu pmu cap|clockid|reference time|=|$)"
        return [line for line in text.splitlines() if not re.match(skip_line, line)]

    text = lib.first_difference(header(theirs), header(ours), "perf's", "ours")
    check(not text, text)
    missing = re.search(r"# missing features: (.*)", Run([PERF, "report", "--header-only", "-I", "-i", ours]).out)
    never = {"TRACING_DATA", "BRANCH_STACK", "GROUP_DESC", "STAT", "CLOCKID", "DIR_FORMAT", "BPF_PROG_INFO", "BPF_BTF",
             "COMPRESSED", "CPU_PMU_CAPS", "CLOCK_DATA", "HYBRID_TOPOLOGY", "PMU_CAPS"}
    if not os.path.exists("/sys/devices/system/cpu/cpu0/cache"):
        never.add("CACHE")
    there = re.search(r"# missing features: (.*)", Run([PERF, "report", "--header-only", "-I", "-i", theirs]).out)
    more = set(missing[1].split()) - never - set(there[1].split())
    check(not more, f"perf has {more}")


CASES = {f"perf_{form}": (lambda folder, form=form: perf_form(folder, form)) for form in FORMS}
CASES.update(killed=killed, ours=ours, bad_places=bad_places, places=places, fifos=fifos, features=features)

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
