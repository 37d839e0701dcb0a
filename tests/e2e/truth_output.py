# SPDX-License-Identifier: MIT
"""Checks of truth.py: other outputs of ptcap and perf have the same branches."""

import json
import os
import pty
import random
import re
import subprocess
import tempfile

import lib
from lib import Run, Transfer, check
from recording import recorded


def check_clean(folder, name, argv):
    if not lib.have_perf():
        lib.skip("no perf here (Debian: linux-perf)")
    path, _ = recorded(folder, argv)
    env = dict(os.environ, HOME=folder, DEBUGINFOD_URLS="", PERF_PAGER="cat")
    report = Run([lib.PERF, "report", "--stdio", "-i", path], env=env).expect(0)
    dump = Run([lib.PERF, "script", "-D", "-i", path], env=env).expect(0)
    check(not report.err and not dump.err, f"perf says {report.err or dump.err!r}")
    program = re.escape(os.path.basename(argv[0]))
    # The kernel cuts names to 15 characters.
    check(re.search(rf"\d%.* {program[:15]} ", report.out), f"no share of {program} in {report.out!r}")
    for line in report.out.splitlines():
        if line.startswith("# Total Lost Samples"):
            check(line.endswith(": 0"), line)
    for word in ("Bad packet", "Unknown", "UNKNOWN", "PERF_RECORD_LOST", "PERF_RECORD_AUXTRACE_ERROR"):
        found = [line for line in dump.out.splitlines() if word in line]
        check(not found, f"perf script -D: {found[:3]}")
    for word in ("AUXTRACE_INFO", "AUXTRACE size", "ITRACE_START", "SWITCH", "FORK", "EXIT", "PSBEND"):
        check(word in dump.out, f"perf script -D shows no {word}")


def check_calls(folder, name, argv):
    path, truth = recorded(folder, argv)
    want = lib.equals_truth(path, truth)
    stacks, calls, outermost = {}, 0, []
    for line in lib.decode(path, "--calls", "--format", "json").expect(0).out.splitlines()[1:]:
        o = json.loads(line)
        stack = stacks.setdefault(o["tid"], [])
        if o["type"] == "enter":
            check(o["depth"] == len(stack), f"depth {len(stack)}: {line}")
            outermost += [(o["how"], o["name"])] if not stack else []
            stack.append(o["ip"])
            calls += o["how"] == "call"
        else:
            check(o["type"] == "leave" and o["depth"] == len(stack) - 1, f"depth {len(stack)}: {line}")
            check(stack.pop() == o["ip"], f"another function: {line}")
    listed = sum(t[2] in ("call", "icall") for flow in want.values() for t in flow)
    check(calls == listed, f"{calls} functions were called, {listed} calls are listed")
    text = lib.decode(path, "--calls").expect(0).out
    opened, closed = len(re.findall(r" \{(?: /\* [a-z ]+ \*/)?$", text, re.M)), len(re.findall(r"\| *\}", text))
    left_open = sum(len(stack) for stack in stacks.values())
    check(opened - closed in (left_open, left_open - 1), f"{opened} {{, {closed} }}, {left_open} not left")
    # prog_except, prog_longjmp: the functions that a throw or a longjmp skips.
    if os.path.basename(argv[0]) in ("prog_except", "prog_longjmp"):
        check(len(re.findall(r"\} /\* unwound \*/", text)) >= 4, "nothing was unwound")
        check(max(len(stack) for stack in stacks.values()) < 20, f"it ends at depth {stacks}")
    # It executes itself: the code after an exec is not a signal handler, although the same code is
    # at the same place.
    if os.path.basename(argv[0]) == "prog_chain_static":
        check(outermost == [("trace", "_start")] * len(argv), f"outermost functions: {outermost}")


def check_insn(folder, name, argv):
    path, truth = recorded(folder, argv)
    want = lib.equals_truth(path, truth)
    ips = lib.decode(path, "-F", "insn-ip").expect(0).out.split()
    lines = lib.decode(path, "--insn").expect(0).out.splitlines()
    check([line.split()[2] for line in lines] == ips, "not the instructions of -F insn-ip")
    text = dict(line.split(" ", 1) for line in lib.decode(path, "-F", "insn-ip,disasm").expect(0).out.splitlines())
    calls = [t for flow in want.values() for t in flow if t[2] == "call"]
    check(calls, "nothing is called")
    for start, to, _ in calls:
        got = text[f"{start:x}"]
        check(got == f"call {to:#x}", f"{got!r} at {start:x} called {to:x}")
    source = os.path.basename(argv[0]) + ".c:"
    check(any(f"# {source}" in line for line in lines), f"no line of {source}")
    got = lib.decode(path, "-F", "srcline").expect(0).out
    check(f"/{source}" in got, f"no field with {source}")


def check_tools(folder, name, argv):
    path, _ = recorded(folder, argv)
    info = Run([lib.PTCAP, "info", "-i", path]).expect(0)
    check(os.path.basename(argv[0]) in info.out, "info does not name the command")
    json.loads(Run([lib.PTCAP, "info", "-i", path, "--format", "json"]).expect(0).out)
    dump = Run([lib.PTCAP, "dump", "-i", path]).expect(0)
    words = ["AUXTRACE_INFO", "AUXTRACE", "MMAP2", "COMM", "ITRACE_START", "EXIT", "AUX"]
    if lib.SOURCE == "step":  # for the vdso, which an emulated program lacks
        words.append("TEXT_POKE")
    for word in words:
        check(re.search(rf"\b{word}\b", dump.out), f"dump shows no {word}")
    check(", 0 of unknown type" in dump.out, "dump does not know a record we write")


def numbers(path, *options):
    """Return the counts of --stats, by name."""
    ret = {}
    for line in lib.decode(path, "--stats", *options).expect(0).out.splitlines():
        f = line.split()
        if f and f[-1].isdigit() and f[0] in ("instructions", "branches", "jcc", "jmp", "ijmp", "call", "icall", "ret", "start"):
            ret[f[0]] = int(f[-1])
    return ret


def counted(path, *options):
    ret = {}
    for line in lib.decode(path, "--counts=edges", *options).expect(0).out.splitlines():
        f = line.split()
        if f and f[0].isdigit():
            edge = " ".join(f[2:])  # behind the percentage
            ret[edge] = ret.get(edge, 0) + int(f[0])
    return ret


def added(a, b):
    return {k: a.get(k, 0) + b.get(k, 0) for k in a.keys() | b.keys()}


def halves(path, threads, whole, times):
    """Each time is in exactly one of two adjacent parts: 20 cuts, at times that an item has."""
    dice = random.Random(33)
    stats, counts = numbers(path), counted(path)
    check(stats.get("branches", 0) and counts, f"nothing is counted: {stats}")
    for _ in range(20):
        cut = dice.choice(times)
        parts = f",{cut}", f"{cut},"
        front, back = (threads("--time", part) for part in parts)
        joined = {tid: front.get(tid, []) + back.get(tid, []) for tid in front.keys() | back.keys()}
        check(joined == whole, f"cut at {cut}: the parts are not the whole")
        check(added(*(numbers(path, "--time", part) for part in parts)) == stats, f"cut at {cut}: other numbers")
        check(added(*(counted(path, "--time", part) for part in parts)) == counts, f"cut at {cut}: other counts")
        with tempfile.TemporaryDirectory(prefix="ptcap-halves-") as folder:
            kept = os.path.join(folder, "part")
            for part, want in zip(parts, (front, back)):
                Run([lib.PTCAP, "convert", "-i", path, "-o", kept, "--time", part]).expect(0)
                got = {}
                for line in lib.decode(kept, "-F", "tid,from,to,kind,time", "--time", part).out.splitlines():
                    if not line.startswith("#"):
                        got.setdefault(int(line.split()[0]), []).append(line)
                check(got == want, f"cut at {cut}: {part} converted is not that part")
                os.unlink(kept)


def check_last(folder, name, argv):
    path, _ = recorded(folder, argv)
    fields = ("-F", "tid,from,to,kind,time")

    def threads(*options):
        ret = {}
        for line in lib.decode(path, *fields, *options).expect(0).out.splitlines():
            ret.setdefault(int(line.split()[0]), []).append(line)
        return ret

    whole = threads()
    for n in (1, 7, 300, 5000):
        want = {tid: lines[-n:] for tid, lines in whole.items()}
        got = threads("--last", str(n))
        check(got == want, f"--last {n}: not the end of the whole")
    times = sorted(line.split()[-1] for lines in whole.values() for line in lines)
    for a, b in ((0.4, 0.6), (0, 0.1), (0.95, 1)):
        first, last = (times[int(x * (len(times) - 1))] for x in (a, b))
        want = {
            tid: [line for line in lines if float(first) <= float(line.split()[-1]) < float(last)]
            for tid, lines in whole.items()
        }
        want = {tid: lines for tid, lines in want.items() if lines}
        got = threads("--time", f"{first},{last}")
        check(got == want, f"--time {first},{last}: not that part of the whole")
    halves(path, threads, whole, times)
    check(threads("--time", "0%-100%") == whole, "--time 0%-100% is not the whole")
    check(threads("--time", f"{times[0]},") == whole, "--time FIRST, is not the whole")
    tid = max(whole, key=lambda t: len(whole[t]))
    check(threads("--tid", f"{tid},1-2") == {tid: whole[tid]}, "--tid: not that thread")
    syms = lib.decode(path, "-F", "sym,tosym,tid,from,to,kind,time").expect(0).out.splitlines()
    sym = next(x.split("+")[0] for line in syms for x in line.split()[:2] if "+" in x)
    want = [s.split(" ", 2)[2] for s in syms if any(x.split("+")[0] == sym for x in s.split()[:2])]
    got = lib.decode(path, *fields, "--sym", sym).expect(0).out.splitlines()
    check(got == want, f"--sym {sym}: {len(got)} transfers, expected {len(want)}")


def check_bin(folder, name, argv):
    path, truth = recorded(folder, argv)
    want = lib.equals_truth(path, truth)
    r = subprocess.run(
        [lib.PTCAP, "decode", "-i", path, "--format", "bin"], capture_output=True, check=True
    ).stdout
    kinds = "none start async jcc jmp ijmp call icall ret syscall sysret int iret far".split()
    got, count = {}, {}
    for f, t, _, _, tid, _, _, kind, k in lib.bin_items(r):
        check(kind == lib.BRANCH, f"an item of type {kind}")
        got.setdefault(tid, []).append(Transfer((f, t, kinds[k])))
        count[kinds[k]] = count.get(kinds[k], 0) + 1
    lib.same_transfers(got, want, "bin", "truth")
    o = json.loads(lib.decode(path, "--stats", "--format", "json").expect(0).out)
    check({k: v for k, v in o["kinds"].items() if v} == count, f"kinds {o['kinds']}, want {count}")
    check(o["transfers"] == sum(count.values()), f"transfers {o['transfers']}")
    text = lib.decode(path, "--stats").expect(0).out
    check(re.search(rf"^branches +{o['transfers']}$", text, re.M), text)
    lines = lib.decode(path, "-F", "tid,from,to,kind", "--events").expect(0).out.splitlines()
    flow = "\n".join(line for line in lines if not line.startswith("# event"))
    lib.same_transfers(lib.transfers(flow), want, "--events", "truth")
    on = [line for line in lines if line.endswith(" event=enabled")]
    check(len(on) == count["start"], f"{len(on)} times enabled, {count['start']} starts")


def check_terminal(folder, name, argv):
    path, _ = recorded(folder, argv)
    plain = lib.decode(path).expect(0)
    check("\033" not in plain.out, "colours in a pipe")
    colored = lib.decode(path, "--color", "always").expect(0).out
    check(re.sub(r"\033\[\d*m", "", colored) == plain.out, "colours change the text")
    shown = os.path.join(folder, "shown")
    for options, want in ((("--full-names",), colored), (("--full-names", "--color", "never"), plain.out)):
        ours, theirs = pty.openpty()
        env = {**os.environ, "PAGER": f"cat >{shown}", "TERM": "xterm"}
        env.pop("NO_COLOR", None)
        r = Run([lib.PTCAP, "decode", "-i", path, *options], stdout=theirs, env=env).expect(0)
        os.close(theirs)
        os.close(ours)
        with open(shown, encoding="utf-8") as f:
            check(f.read() == want, f"the pager was shown something else {options} {r.err}")
        os.unlink(shown)
    check(Run([lib.PTCAP, "decode", "--color", "red"]).status == 2, "--color red")
