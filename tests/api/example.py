#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The installed headers and library. example.py SOURCE BUILD CC NAME:

count     the library has each function of the headers, and nothing else; its SONAME and symbol versions; the example, as C and as C++, prints the same
          about a recording as a few lines of Python that read the file
branches  the example, as C and as C++, prints the same as `ptcap decode`: of all, of a part of the time, of a thread
doctor    the example prints the checks of `ptcap doctor`, and the files that a process maps
bundle    the example writes the same bundle as `ptcap archive`, and lists its files with their sizes
compare   the example, as C and as C++, prints the same entries and sums as `ptcap compare`
crash     the example, as C and as C++, prints the same as `ptcap crash show`, and writes the core of `ptcap crash core`
stacks    the example, as C and as C++, prints the same as `ptcap stacks`: of a deadlock
"""

import collections
import contextlib
import ctypes
import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

SOURCE = sys.argv[1]
BUILD = sys.argv[2]
CC = sys.argv[3]
NAME = sys.argv[4]
AUXTRACE, TRACING_DATA = 71, 66
WRONG = (
    "wrong target", "wrong source", "wrong order", "duplicated", "filtered class", "wrong type", "lost flag",
    "not in the trace", "missing",
)
PR_SET_PTRACER = 0x59616D61
SCOPE = "/proc/sys/kernel/yama/ptrace_scope"
LANGUAGES = {"c": ["-std=c17", "-x", "c"], "c++": ["-std=c++17", "-x", "c++"]}


def read(path):
    """Return counts by type, and the queues as the example prints them, of a file without compression."""
    with open(path, "rb") as f:
        data = f.read()
    pos, size = struct.unpack_from("<QQ", data, 40)
    end = pos + size
    counts = collections.Counter()
    queues = {}
    while pos < end:
        kind, _, size = struct.unpack_from("<IHH", data, pos)
        counts[kind] += 1
        if kind == AUXTRACE:
            more, _, _, idx, tid, cpu = struct.unpack_from("<QQQIii", data, pos + 8)
            queue = queues.setdefault(idx, [cpu, tid, 0, 0, data[pos + size : pos + size + min(more, 16)]])
            queue[2] += 1
            queue[3] += more
            size += more
        elif kind == TRACING_DATA:
            size += struct.unpack_from("<I", data, pos + 8)[0]
        pos += size
    return counts, [
        f"queue {idx}: cpu {cpu}, tid {tid}, {n} chunks, {total} bytes: {first.hex(' ')}".strip()
        for idx, (cpu, tid, n, total, first) in sorted(queues.items())
    ]


def install(folder):
    """Install. Returns the folders of the headers and of the library."""
    subprocess.run(["cmake", "--install", BUILD, "--prefix", folder], check=True, stdout=subprocess.DEVNULL)
    libs = glob.glob(os.path.join(folder, "**", "libptcap.so"), recursive=True)
    assert len(libs) == 1, libs
    return os.path.join(folder, "include"), os.path.dirname(libs[0])


def build(include, lib, language, out):
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(
        [CC, *LANGUAGES[language], *warnings, "-I", include, os.path.join(SOURCE, f"examples/{NAME}.c"), "-x", "none"]
        + ["-L", lib, "-Wl,-rpath," + lib, "-lptcap", "-o", out],
        check=True,
    )


def compare_names(include, lib):
    declared = set()
    for path in glob.glob(os.path.join(include, "ptcap", "*.h")):
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        declared |= set(re.findall(r"^PTC_API [^;(]*?(\w+)\(", text, re.M))
    nm = subprocess.run(
        ["nm", "-D", "--defined-only", os.path.join(lib, "libptcap.so")], capture_output=True, text=True, check=True
    )
    exported = {l.split()[2] for l in nm.stdout.splitlines() if l.split()[1] in "TDRB"}
    assert all(name.endswith("@@PTCAP_0.2") for name in exported), exported
    exported = {name.split("@")[0] for name in exported}
    dynamic = subprocess.run(
        ["readelf", "-dW", os.path.join(lib, "libptcap.so")], capture_output=True, text=True, check=True
    )
    assert "soname: [libptcap.so.0]" in dynamic.stdout, dynamic.stdout
    assert len(declared) > 100
    assert declared == exported, (declared - exported, exported - declared)


def compare(program, path):
    counts, queues = read(path)
    r = subprocess.run([program, path], capture_output=True, text=True, check=True)
    lines = r.stdout.splitlines()
    said = {int(l.split()[0]): int(l.split()[-1]) for l in lines if not l.startswith("queue")}
    assert said == dict(counts), (path, said, counts)
    assert [l for l in lines if l.startswith("queue")] == queues, (path, lines, queues)
    assert queues, path


def programs(folder):
    """Install, and build the example in each language. Yields the program, the headers and the
    library."""
    include, lib = install(os.path.join(folder, "usr"))
    for language in LANGUAGES:
        program = os.path.join(folder, NAME + "-" + language)
        build(include, lib, language, program)
        yield program, include, lib


def check_count(folder):
    made = os.path.join(folder, "perf.data")
    subprocess.run([os.environ["MKREC"], made], check=True)
    traces = os.environ["PTCAP_TRACES"]
    paths = [made] + glob.glob(os.path.join(traces, "quipper-intel_pt-*", "perf.data.intel_pt-*[0-9]"))
    for program, include, lib in programs(folder):
        compare_names(include, lib)
        for path in paths:
            compare(program, path)
        r = subprocess.run([program, program], capture_output=True, text=True, check=False)
        assert r.returncode == 1 and r.stderr.count(program) == 1, r.stderr


def listed(path, *options):
    """Return the expected output from ptcap decode: branches, calls, calls by address with the
    symbol, and gaps."""
    command = [os.environ["PTCAP"], "decode", "-i", path, "-F", "kind,to,tosym", *options]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    gaps = collections.Counter(line.split("cause=")[1] for line in lines if line.startswith("# gap"))
    flow = [line.split(" ", 2) for line in lines if not line.startswith("#")]
    calls = collections.Counter((to, sym) for kind, to, sym in flow if kind in ("call", "icall") and to != "0")
    return len(flow), sum(calls.values()), calls, gaps


def compare_calls(program, path, args, want, most=7):
    out = subprocess.run([program, path, str(most), *args], capture_output=True, text=True, check=True).stdout
    lines = out.splitlines()
    branches, calls, functions, gaps = want
    assert lines[:2] == [f"branches: {branches}", f"calls: {calls}"], (lines, want)
    said = [line.split(" ", 2) for line in lines[2:] if not line.startswith("gap")]
    ordered = sorted(functions.items(), key=lambda f: (-f[1], int(f[0][0], 16)))[:most]
    assert [(int(n), to) for n, to, _ in said] == [(n, to) for (to, _), n in ordered], (said, ordered)
    for (_, _, name), ((_, sym), _) in zip(said, ordered):
        assert sym == "-" or name == sym.replace("\\x20", " ")[: len(name)], (name, sym)
    assert {l.split()[1].rstrip(":"): int(l.split()[2].rstrip(",")) for l in lines if l.startswith("gap")} == gaps


def check_branches(folder):
    path = os.path.join(folder, "perf.data")
    prog = os.path.join(os.environ["PROGS"], "prog_tasks")
    subprocess.run(
        [os.environ["PTCAP"], "record", "--source", "step", "-q", "-o", path, "--", prog, "locks"],
        check=True, stdout=subprocess.DEVNULL,
    )
    whole = listed(path)
    assert whole[1] > 100 and not whole[3], whole
    times = subprocess.run(
        [os.environ["PTCAP"], "decode", "-i", path, "-F", "tid"], capture_output=True, text=True, check=True
    ).stdout.split()
    tid = collections.Counter(times).most_common()[-1][0]
    bare = os.path.join(folder, "bare.data")  # the same without the program's code
    hidden = os.path.join(folder, "prog")
    shutil.copy(prog, hidden)
    subprocess.run(
        [os.environ["PTCAP"], "record", "--source", "step", "-q", "-o", bare, "--", hidden, "locks"],
        check=True, stdout=subprocess.DEVNULL,
    )
    os.unlink(hidden)
    os.environ["HOME"] = folder  # perf's build-id cache may have the program
    missing = listed(bare)
    assert missing[3]["nocode"], missing[3]
    for program, _, _ in programs(folder):
        compare_calls(program, path, [], whole)
        part = listed(path, "--time", "20%-60%")
        assert 0 < part[0] < whole[0]
        compare_calls(program, path, ["20-60"], part)
        compare_calls(program, path, ["all", tid], listed(path, "--tid", tid))
        compare_calls(program, bare, [], missing)
        r = subprocess.run([program, path, "1", "60-20"], capture_output=True, text=True, check=False)
        assert r.returncode == 2, r
        r = subprocess.run([program, program], capture_output=True, text=True, check=False)
        assert r.returncode == 1 and r.stderr.count(program) == 1, r.stderr


def check_doctor(folder):
    target = subprocess.Popen(["sleep", "1000"])
    try:
        command = [os.environ["PTCAP"], "doctor", "--quick", "--format", "json", "-p", str(target.pid)]
        said = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
        want = [f"check {c['name']}: {c['state']}" for c in said["checks"]]
        want += [f"command {c['command']}: {c['state']}" for c in said["commands"]]
        with open(f"/proc/{target.pid}/maps", encoding="utf-8") as f:
            mapped = {line.split(maxsplit=5)[5].strip() for line in f if "x" in line.split()[1] and "/" in line}
        for program, _, _ in programs(folder):
            r = subprocess.run([program, str(target.pid)], capture_output=True, text=True, check=False)
            assert r.returncode == (said["verdict"] == "nothing"), r
            lines = [line for line in r.stdout.splitlines() if not line.startswith(" ")]
            assert [": ".join(line.split(": ")[:2]) for line in lines if not line.startswith("file ")] == want, (lines, want)
            files = dict(line[5:].rsplit(": ", 1) for line in lines if line.startswith("file "))
            assert set(files) == mapped, (files, mapped)
            for f in said["process"]["files"]:
                words = {"exported names": "only exported", "names": "of functions, no", "names and lines": "and source lines"}
                assert words[files[f["file"]]] in f["value"], (files, f)
            r = subprocess.run([program, "999999999"], capture_output=True, text=True, check=False)
            assert r.returncode == 1 and "999999999" in r.stderr, r
    finally:
        target.kill()
        target.wait()


def check_bundle(folder):
    path = os.path.join(folder, "perf.data")
    prog = os.path.join(os.environ["PROGS"], "prog_hello")
    ptcap = os.environ["PTCAP"]
    subprocess.run([ptcap, "record", "--source", "step", "-q", "-o", path, "--", prog], check=True, stdout=subprocess.DEVNULL)
    bundle = os.path.join(folder, "by_ptcap")
    subprocess.run([ptcap, "archive", "-o", bundle, path], check=True, capture_output=True)
    with open(bundle, "rb") as f:
        want = f.read()
    for program, _, _ in programs(folder):
        new = os.path.join(folder, "new")
        out = subprocess.run([program, path, new], capture_output=True, text=True, check=True).stdout.split()
        with open(new, "rb") as f:
            assert f.read() == want, "the bundles differ"
        lines = subprocess.run([program, new], capture_output=True, text=True, check=True).stdout.splitlines()
        members = [line.split(" ", 2) for line in lines]
        assert out == ["files:", str(len(members) - 1), "bytes:", str(len(want))], (out, members)
        assert members[0] == [str(os.path.getsize(path)), "perf.data", "-"], members
        assert prog in [recorded for _, _, recorded in members], members
        for size, name, recorded in members[1:]:
            assert not os.path.exists(recorded) or int(size) == os.path.getsize(recorded), (size, name, recorded)
        r = subprocess.run([program, path], capture_output=True, text=True, check=True)
        assert "is no bundle" in r.stdout, r
        r = subprocess.run([program, program], capture_output=True, text=True, check=False)
        assert r.returncode == 1 and r.stderr.count(program) == 1, r

def compared(path):
    """Return the lines about wrong entries, and the sums, that the example should print about
    @path, according to ptcap compare."""
    command = [os.environ["PTCAP"], "compare", "--format", "json", "--list", "-i", path]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    objects = [json.loads(line) for line in said]
    rows = [o for o in objects if o["schema"] == "ptcap-compare-entry"]
    total = next(o for o in objects if o["schema"] == "ptcap-compare")
    sums = {f"entries {name}": n for name, n in total["verdicts"].items() if n}
    sums |= {"samples": total["samples"], "skipped": 0, "branches missing": total["missing"]}
    return [row for row in rows if row["verdict"] in WRONG], sums


def wrong_line(row):
    """Return the line of the example about a row of compare --list."""

    def branch(side):
        ends = [(side[end][2:], side[end + "_function"]) for end in ("from", "to")]
        return " -> ".join(" ".join(part for part in end if part) for end in ends)

    if row["verdict"] == "missing":
        return f"missing: {branch(row['trace'])}"
    trace = f", trace: {branch(row['trace'])}" if row["trace"] else ""
    return f"{row['verdict']}: {branch(row['entry'])}{trace}"


def check_compare(folder):
    wrong = os.path.join(SOURCE, "traces", "lbr-wrong.data")
    right = os.path.join(SOURCE, "traces", "lbr.data")
    for program, _, _ in programs(folder):
        for path in wrong, right:
            rows, sums = compared(path)
            lines = subprocess.run([program, path], capture_output=True, text=True, check=True).stdout.splitlines()
            print(len(rows), sums)
            assert lines[: len(rows)] == [wrong_line(row) for row in rows], (lines, rows)
            assert {l.split(": ")[0]: int(l.split(": ")[1]) for l in lines[len(rows) :]} == sums, (lines, sums)
            assert bool(rows) == (path == wrong), rows
        r = subprocess.run([program, program], capture_output=True, text=True, check=False)
        assert r.returncode == 1 and r.stderr.count(program) == 1, r.stderr


def explained(*command):
    """Return the JSON of a command of ptcap."""
    r = subprocess.run([os.environ["PTCAP"], *command], capture_output=True, text=True, check=True)
    return json.loads(r.stdout)


def named(place):
    """Return the function and the offset of a place, or its address."""
    return f"{place['function']}+{place['offset']}" if place["function"] else place["ip"]


def placed(place):
    """Return a place of `ptcap crash show` as the example prints it."""
    return named(place) + (f" {place['file']}:{place['line']}" if place["file"] else "")


def lines_of_crash(path):
    """Return the expected lines of examples/crash.c, and the beginnings of the lines about branches."""
    crash = explained("crash", "show", "--format", "json", "-n", "8", "-i", path)
    signo = signal.Signals[crash["signal"]].value
    before = [f"signal {signo}: {crash['reason']}", f"address {crash['fault']['address']}"]
    before += [f"signature {crash['signature']}"]
    before += [f"frame {i}: {placed(f)}" for i, f in enumerate(crash["stack_traced"])]
    branches = [f"{b['kind']} to {b['to_function']}+" for b in crash["branches"] if b["to_function"]]
    threads = crash["threads"]
    return before, branches, [
        f"thread {t['tid']} ({t['name']})" + (", killed" if t["killed"] else "") for t in threads
    ]


def check_crash(folder):
    path = os.path.join(folder, "perf.data")
    prog = os.path.join(os.environ["PROGS"], "prog_crash")
    core, wanted = os.path.join(folder, "core"), os.path.join(folder, "wanted")
    subprocess.run(
        [os.environ["PTCAP"], "crash", "--source", "step", "-q", "-o", path, "--", prog, "thread"],
        check=False, stdout=subprocess.DEVNULL,
    )
    subprocess.run([os.environ["PTCAP"], "crash", "core", "-o", wanted, path], check=True, capture_output=True)
    before, branches, threads = lines_of_crash(path)
    assert "write_null" in before[3] and len(branches) > 3 and len(threads) > 1, (before, branches, threads)
    for program, _, _ in programs(folder):
        lines = subprocess.run([program, path, core], capture_output=True, text=True, check=True).stdout.splitlines()
        shown = lines[len(before) : len(lines) - len(threads)]
        assert lines[: len(before)] == before, (lines, before)
        assert lines[len(lines) - len(threads) :] == threads, (lines, threads)
        assert [line[: len(b)] for line, b in zip(shown, branches)] == branches, (shown, branches)
        assert len(shown) == len(branches), (shown, branches)
        with open(core, "rb") as a, open(wanted, "rb") as b:
            assert a.read() == b.read()
        r = subprocess.run([program, program], capture_output=True, text=True, check=False)
        assert r.returncode == 1 and r.stderr.count(program) == 1, r.stderr


def lines_of_process(process):
    """Return the expected lines of examples/stacks.c about a process."""
    lines = [f"process {process['pid']}"]
    lines += ["deadlock: " + " ".join(str(tid) for tid in d["tids"]) for d in process["deadlocks"]]
    stacks = set()
    for t in process["threads"]:
        wait, stack = t["wait"], json.dumps((t["wait"], t["frames"]))
        line = f"thread {t['tid']} ({t['name']}): {wait['kind']}"
        line += f" {wait['object']}" if "object" in wait else ""
        lines.append(line + (f", thread {wait['owner']}" if "owner" in wait else ""))
        if stack not in stacks:
            lines += [f"frame {i}: {named(f)}" for i, f in enumerate(t["frames"])]
        stacks.add(stack)
    return lines


def allow_ptrace():
    """Let any process of this user trace this one, also after exec (Yama, scope 1)."""
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(-1))


def record_deadlock(path):
    """Record the threads of a deadlocked program. Returns what `ptcap stacks` says about it."""
    with subprocess.Popen(
        [os.path.join(os.environ["PROGS"], "prog_stacks"), "deadlock"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=allow_ptrace,
    ) as p:
        assert p.stdout.readline() == b"ready\n"
        process = {"deadlocks": []}
        while len(process["deadlocks"]) < 2:  # the threads need a moment to come there
            subprocess.run(
                [os.environ["PTCAP"], "stacks", "-p", str(p.pid), "-o", path], check=True, stdout=subprocess.DEVNULL
            )
            (process,) = explained("stacks", "--format", "json", path)["processes"]
        p.communicate(b"")
    return process


def check_stacks(folder):
    path = os.path.join(folder, "perf.data")
    with contextlib.suppress(FileNotFoundError), open(SCOPE, encoding="ascii") as f:
        if int(f.read()) > 1 and os.geteuid():
            sys.exit(1 if os.environ.get("PTCAP_GUEST") == "required" else 77)  # scripts/test --all is root
    want = lines_of_process(record_deadlock(path))
    for program, _, _ in programs(folder):
        r = subprocess.run([program, path], capture_output=True, text=True, check=True)
        assert r.stdout.splitlines() == want, (r.stdout, want)
        r = subprocess.run([program, program], capture_output=True, text=True, check=False)
        assert r.returncode == 1 and r.stderr.count(program) == 1, r.stderr


with tempfile.TemporaryDirectory(prefix="ptcap-example-") as main_folder:
    globals()["check_" + NAME](main_folder)
