#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""timelines.py NAME: all calls of a recording as files of other tools (`ptcap decode --format=uftrace` and `fxt`)."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter

import lib
from compile import built
from fxt import Fxt
from lib import PTCAP, Run, check, prog
from store import fetch
from uftrace_folder import Folder

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "prog_profile.c")
CASES = {}
# Names of functions, and of the program's file. No NUL, and no slash in the latter.
HOSTILE = [b'new\nline T x', b'quote"\'\\', b"\x1b[31mred\x1b]0;title\x07", b"\xff\xfe\xc3(", b"tab\tbed", b"$(touch pwned)",
           b"../../../etc/x", b"%s%n", b"__sym_end", "caf\u00e9\u202egpj".encode(), b" blank ", b"L" * 65536]


def case(f):
    CASES[f.__name__] = f
    return f


def tool(name):
    path = shutil.which(name)
    if not path:
        lib.skip_without(name)
    return path


def calls(path, *options):
    """Return {tid: Counter of functions that were entered}, as the JSON of --calls has them."""
    found = {}
    r = Run([PTCAP, "decode", "-i", path, "--calls", "--format=json", *options])
    check(r.status in (0, 3), r.err)
    for line in r.out.splitlines():
        o = json.loads(line)
        if o.get("type") == "enter":
            found.setdefault(o["tid"], Counter())[o["name"]] += 1
    return found


def counted(path, program):
    """Return {function of the program: times} of --counts=calls."""
    found = Counter()
    for line in Run([PTCAP, "decode", "-i", path, "--counts=calls", "--format=json"]).expect(0).out.splitlines():
        e = json.loads(line)
        if e.get("type") == "count" and e.get("to_file") == program and "to_function" in e:
            found[e["to_function"]] += e["times"]
    return found


def without_offsets(counts):
    """Names of functions without the place where they were entered."""
    found = Counter()
    for name, times in counts.items():
        found[re.sub(r"\+0x[0-9a-f]+$", "", name)] += times
    return found


def fxt(path, out, *options):
    """Write the file and read it. Returns it, and the messages."""
    r = Run([PTCAP, "decode", "-i", path, "--format=fxt", "-o", out, *options])
    check(r.status in (0, 3) and not r.out, f"{r.status} {r.err}")
    return Fxt(out), r.err


def uftrace(path, out, *options):
    """Write the folder and read it."""
    r = Run([PTCAP, "decode", "-i", path, "--format=uftrace", "-o", out, *options])
    check(r.status in (0, 3) and not r.out, f"{r.status} {r.err}")
    return Folder(out), r.err


def report(folder):
    """Return {function: times} of `uftrace report`."""
    r = Run([tool("uftrace"), "report", "--no-pager", "-d", folder]).expect(0)
    rows = re.findall(r"(?m)^ *[\d.]+ \w+ +[\d.]+ \w+ +(\d+)  (.+)$", r.out)
    check(rows, r.out)
    return Counter({name: int(times) for times, name in rows})


@case
def uftrace_record(folder):
    """uftrace counts the same calls of each function in ptcap's folder and in its own, as --counts=calls does."""
    tool("uftrace")
    for options in (["-O1"], ["-O2", "-no-pie"]):
        program = built(folder, ["gcc", "-pg", "-fno-inline", *options, SOURCE], "program")
        if not program:
            lib.skip_without("gcc")
        path, own, out = program + ".data", program + ".uftrace", program + ".folder"
        Run([tool("uftrace"), "record", "--no-pager", "-d", own, program]).expect(0)
        Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", program]).expect(0)
        uftrace(path, out)
        ours, theirs, want = report(out), report(own), counted(path, program)
        for name in ("main", "fibonacci", "choose", "compare"):
            check(0 < ours[name] == theirs[name] == want[name], f"{name}: {ours[name]}, {theirs[name]}, {want[name]}")


@case
def uftrace_tools(folder):
    """Each command of uftrace reads the folder, and knows the name of each function."""
    path, out = os.path.join(folder, "f"), os.path.join(folder, "out")
    fetch(path, [prog("tasks"), "pool"])
    there, said = uftrace(path, out)
    check("1 ns is 1 instruction" in said, said)
    have = report(out)
    check(have == there.functions(), f"{have - there.functions()} {there.functions() - have}")
    program = tool("uftrace")
    text = Run([program, "replay", "--no-pager", "-d", out]).expect(0).out
    check(len(re.findall(r"\(\)(?: \{|;)", text)) == have.total() and not re.search(r"<[0-9a-f]+>", text), text[:400])
    text = Run([program, "graph", "--no-pager", "-d", out]).expect(0).out
    check("_start" in text, text[:400])
    trace = json.loads(Run([program, "dump", "--chrome", "-d", out]).expect(0).out)["traceEvents"]
    check(Counter(e["name"] for e in trace if e["ph"] == "B") == have, len(trace))
    text = Run([program, "info", "--no-pager", "-d", out]).expect(0).out
    check("1 ns = 1 instruction" in text and "(prog_tasks)" in text, text)
    text = Run([program, "report", "--no-pager", "--task", "-d", out]).expect(0).out
    check(text.count("prog_tasks") == len(there.tids), text)


@case
def uftrace_tasks(folder):
    """Each thread has its calls. A thread of a new program has this program's name."""
    for name in ("pool", "spawn", "exec", "storm", "leader"):
        path = os.path.join(folder, name)
        fetch(path, [prog("tasks"), name])
        there, _ = uftrace(path, path + ".out")
        want = calls(path)
        check({tid: c.total() for tid, c in there.tids.items()} == {tid: c.total() for tid, c in want.items()}, name)
        sessions = {(t[2], os.path.basename(t[3])) for t in there.tasks if t[0] == "SESS"}
        check({pid for pid, _ in sessions} == {t[2] for t in there.tasks}, sessions)
        if name in ("spawn", "exec"):
            check({"prog_tasks"} < {program for _, program in sessions}, sessions)


@case
def uftrace_selected(folder):
    """--tid, --time and --inline choose calls as for --calls. --axis=time has the recorder's times."""
    path, out = os.path.join(folder, "f"), os.path.join(folder, "out")
    fetch(path, [prog("tasks"), "pool"])
    tids = sorted(calls(path))
    for options in ([f"--tid={tids[0]},{tids[-1]}"], ["--time=20%-60%"], ["--inline"], ["--last=100"], ["-j1"]):
        there, _ = uftrace(path, out, *options)
        want = calls(path, *options)
        check({tid: c.total() for tid, c in there.tids.items()} == {tid: c.total() for tid, c in want.items()}, options)
    _, said = uftrace(path, out, "--axis=time")
    check("instruction" not in said, said)


@case
def uftrace_gaps(folder):
    """Functions end at a gap, and the gap has a mark in them. uftrace shows each mark."""
    path, out = os.path.join(folder, "lossy"), os.path.join(folder, "out")
    fetch(path, [prog("busy"), "20000"], "--lossy", "-m", "16K,16K")
    gaps = sum(line.startswith("# gap") for line in lib.decode(path, "-F", "tid").out.splitlines())
    there, said = uftrace(path, out)
    check(there.gaps.total() == gaps > 1 and f"{gaps} gaps" in said, f"{there.gaps} {gaps}")
    want = without_offsets(sum(calls(path).values(), Counter()))
    check(there.functions() == want, f"{there.functions()} {want}")
    if shutil.which("uftrace"):
        text = Run(["uftrace", "replay", "--no-pager", "-d", out]).expect(0).out
        check(text.count("/* ptcap:gap */") == gaps, text[:400])


def damaged(folder, kind, read):
    """Write damaged recordings as @kind. Each output is complete, or refused, and then nothing is left."""
    path, bad, out = os.path.join(folder, "f"), os.path.join(folder, "bad"), os.path.join(folder, "out")
    fetch(path, [prog("signal")])
    with open(path, "rb") as f:
        whole = f.read()
    rng = random.Random(3)
    done = 0
    for n in range(40):
        data = bytearray(whole)
        for _ in range(1 << n % 8):
            data[rng.randrange(104, len(data))] = rng.randrange(256)
        with open(bad, "wb") as f:
            f.write(data if n % 5 else data[: rng.randrange(len(data))])
        r = Run([PTCAP, "decode", "-i", bad, f"--format={kind}", "-o", out])
        check(r.status in (0, 1, 3, 4), f"{n}: {r.status} {r.err}")
        check(os.path.exists(out) == (r.status in (0, 3)), f"{n}: {r.status} {r.err}")
        check(set(os.listdir(folder)) <= {"f", "bad", "out"}, os.listdir(folder))
        if os.path.exists(out):
            read(out)
            shutil.rmtree(out) if os.path.isdir(out) else os.unlink(out)
            done += 1
    check(done > 10, done)


@case
def uftrace_damaged(folder):
    """Folders of damaged recordings are complete, or they are refused. Nothing is left of the latter."""
    damaged(folder, "uftrace", Folder)


@case
def fxt_damaged(folder):
    """The same for files in FXT."""
    damaged(folder, "fxt", Fxt)


def hostile_program(folder):
    """Compile a program with a function for each hostile name. The program's file has such a name, too."""
    marks = [b"mk%02d" % i + b"_" * (len(name) - 4) for i, name in enumerate(HOSTILE)]
    source = os.path.join(folder, "hostile.c")
    with open(source, "wb") as f:
        f.write(b"int n;\n")
        for mark in marks:
            f.write(b"__attribute__((noinline)) void %s(void) { n++; }\n" % mark)
        f.write(b"int main(void) {\n%s\nreturn 0; }\n" % b"".join(mark + b"();\n" for mark in marks))
    program = built(folder, ["gcc", "-O1", source], "plain")
    if not program:
        lib.skip_without("gcc")
    with open(program, "rb") as f:
        data = f.read()
    for mark, name in zip(marks, HOSTILE):
        check(data.count(mark) == 1, mark[:10])
        data = data.replace(mark, name)
    hostile = os.path.join(os.fsencode(folder), b'h" [x]\x1b[31m\xff')
    with open(hostile, "wb") as f:
        f.write(data)
    os.chmod(hostile, 0o755)
    return os.fsdecode(hostile)


@case
def uftrace_hostile(folder):
    """Hostile names of functions and files are text without effect, for uftrace and the terminal."""
    program, path, out = hostile_program(folder), os.path.join(folder, "f"), os.path.join(folder, "out")
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", program]).expect(0)
    there, _ = uftrace(path, out)
    names = there.functions()
    for name in (r"new\x0aline T x", 'quote"\'\\', r"\x1b[31mred\x1b]0;title\x07", r"\xff\xfe\xc3(", r"tab\x09bed",
                 "$(touch pwned)", "../../../etc/x", "%s%n", "__sym_end", " blank "):
        check(names[name] == 1, f"{name[:80]!r}: {[n[:40] for n in names if n[0] == name[0]]}")
    check([n[:1000] for n in names if n[0] == "L"] == ["L" * 999 + "."], [n[:2000] for n in names if n[0] == "L"])
    if shutil.which("uftrace"):
        json.loads(Run(["uftrace", "dump", "--chrome", "-d", out]).expect(0).out)
        for command in (["report"], ["replay"], ["graph"], ["dump", "--flame-graph"], ["info"], ["report", "--task"]):
            r = subprocess.run(["uftrace", *command, "--no-pager", "-d", out], cwd=folder, capture_output=True, check=False,
                               stdin=subprocess.DEVNULL)
            check(r.returncode == 0 and b"\x1b[31m" not in r.stdout, f"{command}: {r.returncode} {r.stderr[:400]!r}")
        have = report(out)
        check(have["$(touch pwned)"] == 1 and have[r"tab\x09bed"] == 1, [n[:40] for n in have])
    check(not os.path.exists(os.path.join(folder, "pwned")), "a name was run")


@case
def uftrace_replaced(folder):
    """A folder of ptcap becomes NAME.old, an empty folder is filled, and any other folder stays."""
    path, out = os.path.join(folder, "f"), os.path.join(folder, "out")
    fetch(path, [prog("signal")])
    os.mkdir(out)
    for n in range(3):
        Folder(out) if n else None
        uftrace(path, out)
        check(sorted(os.listdir(folder)) == ["f", "out"] + ["out.old"] * (n > 0), os.listdir(folder))
    Folder(out + ".old")
    for name in ("mine", "info", "a.sym"):
        other = os.path.join(folder, name + ".d")
        os.mkdir(other)
        with open(os.path.join(other, name), "wb") as f:
            f.write(b"mine")
        r = Run([PTCAP, "decode", "-i", path, "--format=uftrace", "-o", other]).expect(2)
        check("folder without a recording" in r.err and os.listdir(other) == [name], r.err)
    shutil.rmtree(out)
    shutil.copytree(out + ".old", out)
    with open(os.path.join(out, "notes"), "wb") as f:
        f.write(b"mine")
    Run([PTCAP, "decode", "-i", path, "--format=uftrace", "-o", out]).expect(2)
    check(os.path.exists(os.path.join(out, "notes")), "a file of the user is gone")
    check(not [n for n in os.listdir(folder) if n.startswith(".ptcap")], os.listdir(folder))


@case
def uftrace_refused(folder):
    """Bad options are errors with a reason. So is a full disk, and a trace without calls. Nothing is left."""
    path, out = os.path.join(folder, "f"), os.path.join(folder, "out")
    fetch(path, [prog("signal")])
    for words, *options in (
        ("add -o DIR",),
        ("add -o DIR", "-o", "-"),
        ("cannot be combined", "-o", out, "--stats"),
        ("cannot be combined", "-o", out, "--counts=calls"),
        ("cannot be combined", "-o", out, "-F", "tid"),
        ("cannot be combined", "-o", out, "--insn"),
        ("cannot be combined", "-o", out, "--sym=main"),
        ("the input itself", "-o", path),
        ("needs --format uftrace, fxt or arrow", "-o", out, "--format=json"),
        ("is empty", "-o", ""),
    ):
        r = Run([PTCAP, "decode", "-i", path, "--format=uftrace", *options]).expect(2)
        check(words in r.err and not r.out, f"{options}: {r.err}")
    none = [PTCAP, "decode", "-i", path, "--format=uftrace", "-o", out, "--tid=1"]
    check(Run(none).status == 4, "no such thread")
    r = Run([PTCAP, "decode", "-i", path, "--format=uftrace", "-o", os.path.join(folder, "no", "out")]).expect(1)
    check("No such file" in r.err, r.err)

    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        lib.resource.setrlimit(lib.resource.RLIMIT_FSIZE, (100, 100))

    r = Run([PTCAP, "decode", "-i", path, "--format=uftrace", "-o", out], preexec_fn=small_files).expect(1)
    check("File too large" in r.err, r.err)
    check(os.listdir(folder) == ["f"], os.listdir(folder))


@case
def fxt_calls(folder):
    """Each thread has the calls of --calls, and the calls by a call are those of --counts=calls."""
    for name, *argv in (("tasks", "pool"), ("tasks", "spawn"), ("tasks", "exec"), ("signal",), ("longjmp",), ("except",)):
        path = os.path.join(folder, "-".join([name, *argv]))
        fetch(path, [prog(name), *argv])
        there, said = fxt(path, path + ".fxt")
        want = {tid: without_offsets(c) for tid, c in calls(path).items()}
        check({tid: without_offsets(c) for tid, c in there.calls.items()} == want, path)
        head = json.loads(Run([PTCAP, "decode", "-i", path, "--counts=calls", "--format=json"]).expect(0).out.splitlines()[0])
        check(there.hows["call"] + there.hows["signal"] >= head["times"] >= there.hows["call"] and not there.merged.total(),
              f"{path}: {there.hows} {head}")
        check(set(there.threads) == set(there.calls) and "1 ns is 1 instruction" in said, f"{there.threads} {said}")
        check(all(n.endswith(" (1 ns = 1 instruction)") for n in there.processes.values()), there.processes)
        if argv in (["spawn"], ["exec"]):
            check("prog_tasks" in there.threads.values() and len(set(there.threads.values())) > 1, there.threads)


@case
def fxt_budget(folder):
    """The file is not larger than the budget. It shows all calls that are not shorter than the threshold, and counts others."""
    path, out = os.path.join(folder, "f"), os.path.join(folder, "out")
    for argv in ([prog("tasks"), "pool"], [prog("signal")], [prog("names")]):
        fetch(path, argv)
        full, said = fxt(path, out)
        check("merged" not in said, said)
        sizes = {len(full.data)}
        for share in (90, 70, 40, 15):
            # Fixed parts of the file, and all names of threads, are estimated: they count more than they are.
            budget = len(full.data) * share // 100 + 2048 + 320 * len(full.threads)
            part, said = fxt(path, out, f"--budget={budget}")
            check(len(part.data) <= budget, f"{len(part.data)} of {budget}")
            check(part.shown() + part.merged.total() == full.shown(), f"{part.shown()} + {part.merged.total()}, not {full.shown()}")
            threshold = re.search(r"calls shorter than (\d+) instructions are merged", said)
            least = int(threshold[1]) if threshold else 0
            for tid, spans in full.spans.items():
                want = [s for s in spans if s[2] - s[1] >= least]
                check(want == part.spans.get(tid, []), f"{tid}: {len(want)} calls of {least}, not {len(part.spans.get(tid, []))}")
            if threshold:
                check(f"{part.merged.total()} of {full.shown()} calls are merged" in said, said)
            sizes.add(len(part.data))
        check(len(sizes) > 1, sizes)


@case
def fxt_gaps(folder):
    """Each gap is an instant event with its cause. Those that are close together are one, with a small budget."""
    path, out = os.path.join(folder, "lossy"), os.path.join(folder, "out")
    fetch(path, [prog("busy"), "20000"], "--lossy", "-m", "16K,16K")
    gaps = re.findall(r"(?m)^# gap .*cause=(\w+)", lib.decode(path, "-F", "tid").out)
    there, said = fxt(path, out)
    check(sum(there.gaps.values(), []) == gaps and len(gaps) > 1 and f"{len(gaps)} gaps" in said, f"{there.gaps} {gaps}")
    check(there.shown() == sum(c.total() for c in calls(path).values()), there.shown())
    part, _ = fxt(path, out, "--budget=8K")
    check(len(part.data) <= 8192 and sum(map(len, part.gaps.values())) == len(gaps), part.gaps)
    check(part.shown() + part.merged.total() == there.shown(), part.shown())


@case
def fxt_hostile(folder):
    """Hostile names of functions and files are valid UTF-8 without control characters."""
    program, path, out = hostile_program(folder), os.path.join(folder, "f"), os.path.join(folder, "out")
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", program]).expect(0)
    there, _ = fxt(path, out)
    names = sum(there.calls.values(), Counter())
    for name in (r"new\x0aline T x", 'quote"\'\\', r"\x1b[31mred\x1b]0;title\x07", r"\xff\xfe\xc3(", r"tab\x09bed"):
        check(names[name] == 1, name)
    check(max(map(len, names)) < 1024, "a long name")
    check(list(there.threads.values()) == [r'h" [x]\x1b[31m\xff'], there.threads)


@case
def fxt_output(folder):
    """FILE appears when it is complete, and an existing FILE becomes FILE.old. Standard output is not a terminal."""
    path, out = os.path.join(folder, "f"), os.path.join(folder, "out")
    fetch(path, [prog("signal")])
    decode = [PTCAP, "decode", "-i", path, "--format=fxt"]
    fxt(path, out)
    with open(out, "rb") as f:
        first = f.read()
    fxt(path, out)
    check(sorted(os.listdir(folder)) == ["f", "out", "out.old"], os.listdir(folder))
    for options in ([], ["-o", "-"], ["-j1"]):
        r = subprocess.run([*decode, *options], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        check(r.returncode == 0 and r.stdout == first, f"{options}: {r.stderr!r}")
    master, slave = os.openpty()
    r = Run(decode, stdout=slave).expect(2)
    check("standard output is a terminal" in r.err, r.err)
    os.close(master), os.close(slave)
    for status, words, *options in (
        (1, "more than --budget", "--budget=1K"),
        (2, "expected a size", "--budget=0"),
        (2, "expected a size", "--budget=much"),
        (2, "--budget needs", "--format=json", "--budget=1M"),
        (2, "cannot be combined", "--stats"),
        (4, "", "--tid=1"),
    ):
        r = Run([*decode, "-o", out + ".new", *options]).expect(status)
        check(words in r.err, r.err)
    with open("/dev/full", "w", encoding="ascii") as full:
        r = Run(decode, stdout=full).expect(1)
    check("No space left" in r.err, r.err)
    check(sorted(os.listdir(folder)) == ["f", "out", "out.old"], os.listdir(folder))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
