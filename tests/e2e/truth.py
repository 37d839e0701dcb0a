#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""truth.py NAME CHECK[,CHECK...] PROGRAM [ARGS...]: record a program, and compare the recording with the truth.

truth       the exit status and the output are those of a plain run; decode equals --truth, no gaps
both        the step source and the emulated one list the same branches
hash        each checkpoint of --truth-hash, thread by thread
json        decode --format json has the same branches
ref         the IP of each retired instruction equals that of refstep, which shares no code with ptcap
whole       truth and perf of one recording, tid by tid
tasks       the same for a program of several threads or processes: as many as in THREADS
onepsb      whole, with only one PSB: no other PSB empties the stack of return addresses
says=WORD   the program prints that line; whole
clean       perf report and perf script -D report no error
length      PROGRAM SCRIPT N: the memory for recording does not grow with the length; whole
perf        `perf script --itrace=b` gives the same branches, except those in exempt.txt
tools       info and dump accept the file
noretcomp   the same branches with return compression off, and perf agrees
smallrings  the same with the smallest rings: nothing is lost
calls       the tree of calls: each is left at the depth it was entered at, with the right number of calls
last        --last N and --time are the end and the middle of the whole, thread by thread
bin         --format bin and --stats have the same branches, --events adds to them
terminal    colours and a pager on a terminal, none elsewhere
insn        --insn: each instruction once, calls have the right targets, source lines of the program
vcpus       whole, on several virtual CPUs; busy threads move between these
vcpushash   hash, with several virtual CPUs
snapshots   SIGUSR2 while the program runs, rests and after the ring has wrapped: all kept trace is right; perf
lossy       trace that does not fit is lost and counted to the byte, the rest is right
compressed  truth and perf, with the sideband records compressed (-z), and both find the compression
zone        the same for the part that --from and --to select, and nothing else is recorded
jit         code in no file, or changing code: saved, and decoded as it was; perf reads the file
"""

import ctypes.util
import difflib
import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import tempfile

import lib
import store
from lib import Run, Transfer, check

HERE = os.path.dirname(os.path.abspath(__file__))


PREFIX = []  # for the commands of this case: `setarch -R`, if a check must see the same addresses in two runs
taken = {}  # this case's recordings: checks share those recorded in the same way


def recorded(folder, argv, *options, name="perf.data", says=None):
    """Record; the program must not notice. Returns (path, path of the truth); the caller must not
    change either file."""
    key = (*argv, None, *options)
    if key not in taken:
        path = os.path.join(folder, name)
        r = store.fetch(path, argv, "--truth", path + ".truth", *options, prefix=PREFIX, anew=not store.READS)
        if not store.READS:
            plain = Run([*PREFIX, *argv])
            r.expect(plain.status)
            check(r.out == plain.out, f"output changed: {r.out!r}, plain {plain.out!r}")
        taken[key] = path, r.out
    path, out = taken[key]
    check(says is None or says in out.splitlines(), f"{says!r} is not in {out!r}")
    return path, path + ".truth"


def shape(want):
    """Check the form of a truth for a launched program with one thread."""
    check(len(want) == 1, f"threads {sorted(want)}, expected one")
    well_formed(next(iter(want.values())))


def well_formed(flow):
    """Entries and exits alternate, and all else is between an entry and an exit."""
    check(flow[0][0] == 0 and flow[0][2] == "start", f"begins with {flow[0]}")
    check(flow[-1][1] == 0, f"ends with {flow[-1]}")
    inside = False
    for t in flow:
        if t[0] == 0:
            wrong, inside = t[2] != "start" or inside, True
        else:
            wrong, inside = t[2] == "start" or not inside, t[1] != 0
        if wrong:
            check(False, f"an entry within, or a transfer outside: {t}")


def check_truth(folder, name, argv):
    path, truth = recorded(folder, argv)
    shape(lib.equals_truth(path, truth))


def check_json(folder, name, argv):
    path, truth = recorded(folder, argv)
    want = lib.equals_truth(path, truth)
    lines = lib.decode(path, "--format", "json").expect(0).out.splitlines()
    check(json.loads(lines[0]) == {"schema": "ptcap-decode", "version": 1}, lines[0])
    got = {}
    last = -1
    for line in lines[1:]:
        o = json.loads(line)
        check(set(o) == {"type", "tid", "cpu", "time", "from", "to", "kind"}, line)
        check(o["type"] == "branch", line)
        check(o["time"] is None or o["time"] >= last, f"time goes back: {line}")
        last = o["time"] if o["time"] is not None else last
        for key in ("from", "to"):
            check(re.fullmatch(r"0x(0|[1-9a-f][0-9a-f]*)", o[key]), line)
        t = Transfer((int(o["from"], 16), int(o["to"], 16), o["kind"]))
        got.setdefault(o["tid"], []).append(t)
    lib.same_transfers(got, want, "json", "truth")


def check_ref(folder, name, argv):
    path, truth = recorded(folder, argv)
    lib.equals_truth(path, truth)
    r = Run([*PREFIX, lib.REFSTEP, *argv])
    plain = Run([*PREFIX, *argv])
    check(r.status == plain.status, f"refstep exits {r.status}, the program {plain.status}")
    want = r.out.split()
    check(want, "refstep printed nothing")
    got = lib.decode(path, "-F", "insn-ip").expect(0).out.split()
    text = lib.first_difference(got, want, "decode", "refstep")
    check(not text, f"instructions: {text}")


def check_both(folder, name, argv):
    flows, plain = [], Run(argv)
    for source in ("step", "emu"):
        truth = os.path.join(folder, source)
        store.fetch(truth + ".data", argv, "--truth", truth, source=source, prefix=PREFIX).expect(plain.status)
        with open(truth, encoding="ascii") as f:
            flows.append(list(lib.transfers(f.read()).values()))
    check(len(flows[0]) == len(flows[1]) == 1, "not one thread")
    text = lib.first_difference(flows[0][0], flows[1][0], "step", "emu")
    check(not text, f"transfers: {text}")


def check_hash(folder, name, argv, *options):
    if not os.access(argv[0], os.X_OK):
        lib.skip(f"no {argv[0]} here")
    path, want = os.path.join(folder, "perf.data"), os.path.join(folder, "hash")
    with open(os.path.join(folder, "out"), "wb") as out:
        r = lib.record(path, argv, "--truth-hash", want, *options, stdout=out).expect(0)
    print(r.err, flush=True)
    got = os.path.join(folder, "got")
    with open(got, "wb") as f:
        decode = subprocess.Popen(
            [lib.PTCAP, "decode", "-i", path, "-F", "tid,from,to,kind", "--strict"], stdout=subprocess.PIPE
        )
        status = subprocess.run([lib.need("HASHFLOW")], stdin=decode.stdout, stdout=f, check=False).returncode
        decode.stdout.close()
        check(decode.wait() == 0 and status == 0, f"decode exits {decode.returncode}, hashflow {status}")
    lines = []
    for each in (want, got):
        with open(each, encoding="ascii") as f:
            lines.append(sorted(f.read().splitlines(), key=lambda line: [int(n, 16) for n in line.split()]))
    check(lines[0], "there is no checkpoint")
    text = lib.first_difference(*lines, "truth", "decode")
    check(not text, f"hashes: {text}")


# --- perf ---------------------------------------------------------------------------------------

# perf's flags for the class of an instruction; they do not distinguish direct from indirect ones.
CLASSES = {
    "jcc": "jcc",
    "jmp": "jmp",
    "ijmp": "jmp",
    "call": "call",
    "icall": "call",
    "ret": "return",
    "syscall": "syscall",
    "sysret": "sysret",
    "int": "int",
    "iret": "iret",
    "far": "far",
    "async": "async",
    "start": "start",
}


def perf_class(flags):
    """`tr end  syscall` -> syscall, `hw int` -> async, `tr strt` -> start, ..."""
    flags = " ".join(flags.split())
    for word in ("tr strt", "tr start"):
        if flags.startswith(word):
            return "start"
    for word in ("tr end",):
        if flags.startswith(word):
            flags = flags[len(word) :].strip()
    return "async" if flags in ("hw int", "async", "") else flags


def calls_vdso_of_qemu(path, out):
    """Return true if the first code that perf lacks is in no file.

    QEMU 8.2 and later map a vdso of their own. The recording has its code as TEXT_POKEs, which
    perf uses only for the kernel.
    """
    m = re.search(r"instruction trace error .* ip (?:0x)?([0-9a-f]+) code 5: Failed to get instruction", out)
    if lib.SOURCE != "emu" or not m:
        return False
    ip, dump = int(m[1], 16), Run([lib.PTCAP, "dump", "-i", path]).expect(0).out
    maps = re.findall(r" MMAP2 .* addr=0x([0-9a-f]+) len=0x([0-9a-f]+) ", dump)
    pokes = re.findall(r" TEXT_POKE .* addr=0x([0-9a-f]+) ", dump)
    return not any(int(a, 16) <= ip < int(a, 16) + int(n, 16) for a, n in maps) and any(
        0 <= ip - int(a, 16) < 8192 for a in pokes
    )


def perf_transfers(path):
    """Return {tid: [Transfer]}; None where perf cannot decode: the program calls QEMU's vdso."""
    # --ns and no filter: perf joins nothing and drops nothing. No ~/.debug, no debuginfod.
    env = dict(os.environ, HOME=os.path.dirname(path), DEBUGINFOD_URLS="")
    r = Run(
        [lib.PERF, "script", "-i", path, "--itrace=be", "--ns", "-F", "tid,flags,ip,addr"], env=env
    ).expect(0)
    if calls_vdso_of_qemu(path, r.out):
        print("not compared with perf, which has no code of QEMU's vdso")
        return None
    check("error" not in r.out + r.err, f"perf reports an error:\n{r.err[:2000]}")
    ret, known = {}, {}
    for line in r.out.splitlines():
        if line not in known:
            m = re.fullmatch(r"\s*(-?\d+)\s+(.*?)\s*\b([0-9a-f]+) =>\s+([0-9a-f]+)\s*", line)
            check(m, f"perf's line {line!r}")
            known[line] = int(m[1]), Transfer((int(m[3], 16), int(m[4], 16), perf_class(m[2])))
        tid, t = known[line]
        ret.setdefault(tid, []).append(t)
    return ret


def exemptions(name):
    """Return {(address, reason): count} of this program from exempt.txt."""
    ret = {}
    with open(os.path.join(HERE, "exempt.txt"), encoding="ascii") as f:
        for line in f:
            line = line.split("#", 1)[0].strip()
            if not line:
                continue
            program, address, reason, count = line.split()
            if program == name:
                ret[(address, reason)] = int(count)
    return ret


def symbols(program):
    """Return the functions and labels of a test program without position independence, for exempt.txt."""
    r = Run(["nm", "-n", program])
    ret = []
    for line in r.out.splitlines():
        parts = line.split()
        if len(parts) == 3 and parts[1] in "tT":
            ret.append((int(parts[0], 16), parts[2]))
    return ret


def place(address, table):
    """Return symbol+0xoff, or the address if there is no symbol."""
    best = None
    for value, name in table:
        if value <= address < value + 0x1000:
            best = (value, name)
    return f"{best[1]}+{address - best[0]:#x}" if best else f"{address:#x}"


def reason_of(want, got):
    """Return a word for one stretch in which perf (got) differs from the truth (want)."""
    if len(want) == len(got) and all(w[:2] == g[:2] for w, g in zip(want, got)):
        return "class-" + "-".join(f"{w[2]}-as-{g[2].replace(' ', '_') or 'none'}" for w, g in zip(want, got))
    if not want:
        return "extra-" + "-".join(g[2].replace(" ", "_") for g in got)
    if not got:
        return "missing-" + "-".join(w[2] for w in want)
    return "other"


def compare_with_perf(name, program, want, got):
    """The differences must be those of exempt.txt, with the same counts."""
    check(want.keys() == got.keys(), f"threads: truth {sorted(want)}, perf {sorted(got)}")
    table = symbols(program)
    found = {}
    for tid in want:
        # First the classes must agree, then compare the rest.
        w = [Transfer((f, t, CLASSES[k])) for f, t, k in want[tid]]
        g = got[tid]
        if w == g:
            continue
        matcher = difflib.SequenceMatcher(None, w, g, autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag == "equal":
                continue
            # One entry per branch where both have the same number, else one for the stretch.
            if i2 - i1 == j2 - j1:
                pairs = [(w[i1 + n : i1 + n + 1], g[j1 + n : j1 + n + 1]) for n in range(i2 - i1)]
            elif tag == "replace":
                pairs = [(w[i1:i2], g[j1:j2])]
            else:
                pairs = [(w[n : n + 1], []) for n in range(i1, i2)]
                pairs += [([], g[n : n + 1]) for n in range(j1, j2)]
            for a, b in pairs:
                first = (a or b)[0]
                key = (place(first[0] or first[1], table), reason_of(a, b))
                entry = found.setdefault(key, [0, (a, b)])
                entry[0] += 1
    allowed = exemptions(name)
    problems = []
    for key, (count, (a, b)) in found.items():
        if allowed.pop(key, None) != count:
            problems.append(
                f"    {name} {key[0]} {key[1]} {count}"
                f"    # truth {[str(t) for t in a]}, perf {[str(t) for t in b]}"
            )
    for key, count in allowed.items():
        problems.append(f"    {name} {key[0]} {key[1]} {count}    # listed, but it did not happen")
    check(not problems, "perf differs from exempt.txt:\n" + "\n".join(problems))


def perf_agrees(name, path, argv, want):
    if store.READS:  # the recording build has compared it already
        return
    if not lib.have_perf():
        lib.skip("no perf here (Debian: linux-perf)")
    got = perf_transfers(path)
    if got is not None:
        compare_with_perf(name, argv[0], want, got)


def check_perf(folder, name, argv):
    path, truth = recorded(folder, argv)
    perf_agrees(name, path, argv, lib.equals_truth(path, truth))


def check_whole(folder, name, argv, *options, says=None):
    """Return the path and the branches."""
    path, truth = recorded(folder, argv, *options, says=says)
    want = lib.equals_truth(path, truth)
    for flow in want.values():
        well_formed(flow)
    perf_agrees(name, path, argv, want)
    return path, want


def check_onepsb(folder, name, argv):
    check_whole(folder, name, argv, "--psb-period", "64M")


# The number of tids in a case. An exec by a thread ends the others: then the first tid is the only
# one.
THREADS = {
    "tasks_locks": 5,
    "tasks_spin": 2,
    "tasks_pool": 201,
    "tasks_storm": 41,
    "tasks_spawn": 5,
    "tasks_exec": 2,
    "tasks_group": 4,
    "tasks_leader": 2,
    "tasks_alarm": 1,
    "pipeline": 5,
    "masks": 2,
    "masks_fatal": 2,
    "jobs": 3,
    "trapthreads": 4,
}


def check_tasks(folder, name, argv):
    _, want = check_whole(folder, name, argv)
    threads = THREADS[name.removeprefix("emu_")]
    check(len(want) == threads, f"{len(want)} threads, expected {threads}: {sorted(want)}")


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


def check_vcpus(folder, name, argv):
    path, want = check_whole(folder, name, argv, "--vcpus", "3")
    threads = THREADS[name.removeprefix("emu_vcpus_")]
    check(len(want) == threads, f"{len(want)} threads, expected {threads}: {sorted(want)}")
    cpus = {}
    for line in lib.decode(path, "-F", "tid,cpu").expect(0).out.splitlines():
        tid, cpu = line.split()
        cpus.setdefault(tid, set()).add(cpu)
    check(threads == 1 or len(set.union(*cpus.values())) > 1, f"threads and CPUs: {cpus}")
    if name.endswith(("alarm", "spin", "pool")):
        check(any(len(each) > 1 for each in cpus.values()), f"no thread was moved: {cpus}")


def check_vcpushash(folder, name, argv):
    check_hash(folder, name, argv, "--vcpus", "3")


# --- length -------------------------------------------------------------------------------------


MEMORY_MAX = 64 << 10  # KiB, ptcap record or decode
MEMORY_GROWTH = {"record": 1 << 10, "decode": 2 << 10}  # KiB; decode also maps the file, and joins parts of the trace


def peak(folder, argv, **kw):
    """Run argv. Returns (its Run, its peak of resident memory in KiB)."""
    path = os.path.join(folder, "peak")
    r = Run([lib.PEAK, path, *argv], **kw)
    with open(path, encoding="ascii") as f:
        return r, int(f.read())


def measured(folder, argv):
    """Record argv and decode it. Returns (path, steps, {command: KiB})."""
    plain = Run(argv)
    path = os.path.join(folder, f"{argv[-1]}.data")
    command = [lib.PTCAP, "record", "--source", "step", "-o", path, "--truth", path + ".truth", "--", *argv]
    r, recording = peak(folder, command)
    r.expect(plain.status)
    check(r.out == plain.out, f"output changed: {r.out!r}, plain {plain.out!r}")
    with open(os.path.join(folder, "decoded"), "w", encoding="ascii") as f:
        d, decoding = peak(folder, [lib.PTCAP, "decode", "-i", path, "--strict"], stdout=f)
    d.expect(0)
    steps = int(re.search(r"(\d+) instructions", r.err)[1])
    return path, steps, {"record": recording, "decode": decoding}


def check_length(folder, name, argv):
    path, steps, memory = measured(folder, argv)
    short, short_steps, short_memory = measured(folder, [*argv[:-1], "0"])
    print(f"{steps} steps {memory} KiB, {short_steps} steps {short_memory} KiB", flush=True)
    check(steps >= 600000, f"only {steps} steps")
    check(short_steps * 2 <= steps, f"{short_steps} steps are no half of {steps}")
    longer = (os.path.getsize(path) - os.path.getsize(short)) >> 10
    for command, held in (("record", 0), ("decode", 2 * longer)):
        check(memory[command] <= MEMORY_MAX, f"{command} took {memory[command]} KiB")
        growth = memory[command] - short_memory[command]
        check(growth <= held + MEMORY_GROWTH[command], f"{command} took {growth} KiB more than for a half")
    want = lib.equals_truth(path, path + ".truth")
    shape(want)
    perf_agrees(name, path, argv, want)


# --- variants -----------------------------------------------------------------------------------


def relative(want):
    """Return only the kinds: two runs with other load addresses are comparable by them."""
    return [t[2] for flow in want.values() for t in flow]


def tips(path):
    """Return the number of TIP packets in a recording, from perf's dump."""
    r = Run([lib.PERF, "script", "-D", "-i", path])
    return len(re.findall(r"\bTIP 0x", r.out))


def check_noretcomp(folder, name, argv):
    # A PSB clears the return addresses, and the number of PSBs depends on time. So use only one.
    path, truth = recorded(folder, argv, "--psb-period", "64M")
    with_compression = lib.equals_truth(path, truth)
    plain, truth = recorded(folder, argv, "--no-retcomp", name="plain.data")
    want = lib.equals_truth(plain, truth)
    check(relative(want) == relative(with_compression), "another flow without return compression")
    perf_agrees(name.replace("_noretcomp", ""), plain, argv, want)
    # Each branch whose target is not in the code has a packet now, returns too.
    flow = relative(want)
    expected = sum(flow.count(kind) for kind in ("ret", "ijmp", "icall", "iret", "far"))
    check(tips(plain) == expected, f"{tips(plain)} TIP packets, expected {expected}")
    if name.removeprefix("emu_").startswith(("recurse", "string")):  # programs whose returns match their calls
        check(tips(path) < expected // 2, "returns are not compressed with compression on")


def check_smallrings(folder, name, argv):
    for rings in ("8K,8K", "8K,64K", "64K,8K"):
        path, truth = recorded(folder, argv, "--lossy", "--lossless", "-m", rings)
        shape(lib.equals_truth(path, truth))
        os.unlink(path)


def account(err):
    """Check trace bytes in the file, lost, and made, from record's summary; they must add up.
    Returns the lost bytes."""
    number = [re.search(p, err) for p in (r"(\d+) of them trace", r"(\d+) trace bytes;", r"of (\d+) trace bytes that")]
    check(all(number), f"no account of the loss: {err!r}")
    stored, lost, made = (int(n[1]) for n in number)
    check(lost and stored + lost == made, f"{stored} stored, {lost} lost, {made} made")
    return made


def check_lossy(folder, name, argv):
    """With rings far too small, and no waiting: stored and lost add up to made, and the rest is right."""
    path, truth = os.path.join(folder, "perf.data"), os.path.join(folder, "truth")
    # At full speed, tens of megabytes: checks only the account.
    r = lib.record(path, [argv[0], "1000000"], "--lossy", "-m", "256K,64K", "--no-retcomp").expect(Run(argv).status)
    check(account(r.err) > 20 << 20, f"too little to count: {r.err}")
    runs = []
    for _ in range(50):  # until ptcap got its turn before the program's end
        r = lib.record(path, argv, "--lossy", "-m", "256K,8K", "--truth", truth).expect(Run(argv).status)
        account(r.err)
        d = lib.decode(path, "-F", "tid,from,to,kind", "--strict").expect(3)
        runs = [run.splitlines() for run in re.sub(r"(?m)^#.*\n", "\0", d.out).split("\0") if run]
        if len(runs) > 1:
            break
    check(len(runs) > 1, "there is nothing behind a gap")
    with open(truth, encoding="ascii") as f:
        want = f.read().splitlines()
    lib.in_order(path)
    at = 0
    for run in runs:
        while want[at : at + len(run)] != run:
            check(at < len(want), f"not in the truth, or not in order: {run[:3]} ... {run[-3:]}")
            at += 1
        at += len(run)


class Snapshots:
    """A prog_laps under `record -S`, step by step: each step waits for its effect."""

    def __init__(self, folder, argv, *options):
        self.path, self.truth = os.path.join(folder, "perf.data"), os.path.join(folder, "truth")
        pipe = subprocess.PIPE
        self.sizes = []
        self.ptcap = subprocess.Popen(
            [*lib.RECORD, "-o", self.path, "--truth", self.truth, *options, "--", *argv],
            stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1,
        )
        self.pid = self.until(r"ready (\d+)")[1]

    def until(self, said):
        line = self.ptcap.stdout.readline()
        m = re.fullmatch(said, line.rstrip())
        check(m, f"the program says {line!r}, not {said!r}")
        return m

    def rest(self):
        """Wait until its main thread is in read(2)."""
        call = ""
        while not call.startswith("0 "):
            check(self.ptcap.poll() is None, "ptcap has ended")
            with open(f"/proc/{self.pid}/syscall", encoding="ascii") as f:
                call = f.read()

    def heard(self):
        """Wait until the next snapshot is in the file."""
        while True:
            line = self.ptcap.stderr.readline()
            check(line, "no snapshot was taken")
            m = re.fullmatch(r"ptcap: snapshot (\d+): (\d+) bytes of trace\n", line)
            if m:
                self.sizes.append(int(m[2]))
                check(int(m[1]) == len(self.sizes), line)
                return

    def do(self, steps):
        """s, l: do that much work. g: begin. d: wait until it is done. .: wait until it rests. !: a
        snapshot."""
        for step in steps:
            if step in "slg":
                self.ptcap.stdin.write(step)
                self.ptcap.stdin.flush()
            if step in "sld":
                self.until("done")
            elif step == "g":
                self.until("go")
            elif step == ".":
                self.rest()
            elif step == "!":
                self.ptcap.send_signal(signal.SIGUSR2)
                self.heard()

    def end(self):
        """End it. Returns (the truth: {tid: text}, decoded: text)."""
        self.ptcap.stdin.close()
        self.heard()
        err = self.ptcap.stderr.read()
        check(self.ptcap.stdout.read() == "" and self.ptcap.wait() == 7, f"the end: {err}")
        m = re.search(r"(\d+) snapshots?: (\d+) of the (\d+) trace bytes that were made", err)
        check(m and int(m[1]) == len(self.sizes) and int(m[2]) == sum(self.sizes) <= int(m[3]), err)
        check("LOST" not in err, err)
        with open(self.truth, encoding="ascii") as f:
            want = by_tid(f.read())
        verified = Run([lib.PTCAP, "dump", "--verify", "-i", self.path]).expect(0).out
        check(verified.startswith("verified: "), verified)
        return want, lib.decode(self.path, "-F", "tid,from,to,kind", "--strict").expect(0).out


def by_tid(text):
    """Parse lines `tid ...` -> {tid: its lines}."""
    ret = {}
    for line in text.splitlines(keepends=True):
        ret.setdefault(line.split(" ", 1)[0], []).append(line)
    return {tid: "".join(lines) for tid, lines in ret.items()}


UNKEPT = re.compile(r"# gap queue=(\d+) tid=(-1|\d+) offset=\S+ length=\S+ cause=snapshot")


def joined(decoded):
    """Split lines `tid cpu from to kind` of several CPUs at gaps.

    Returns [{tid: lines}]: each thread's branches from one of its gaps to the next. A gap
    belongs to the thread, or to the queue it was in. The last entry has the branches that go on
    to the end.
    """
    open_, done, where = {}, [], {}

    def ends(tid):
        if open_.get(tid):
            done.append({tid: "".join(open_.pop(tid))})

    for line in decoded.splitlines(keepends=True):
        gap = UNKEPT.match(line)
        if gap:
            for tid in [t for t in open_ if gap[2] == t or (gap[2] == "-1" and where[t] == gap[1])]:
                ends(tid)
            continue
        tid, where_now, rest = line.split(" ", 2)
        where[tid] = where_now
        open_.setdefault(tid, []).append(f"{tid} {rest}")
    return [*done, {tid: "".join(lines) for tid, lines in open_.items()}]


def parts_of(decoded):
    """Split the text at the places where the trace was not kept."""
    for line in re.findall(r"(?m)^#.*", decoded):
        check(UNKEPT.fullmatch(line), line)
    return [by_tid(part) for part in re.split(r"(?m)^#.*\n", decoded)]


def perf_reads(path, decoded):
    if not lib.have_perf():
        lib.skip("no perf here (Debian: linux-perf)")
    flow = lib.transfers(re.sub(r"(?m)^#.*\n", "", decoded))
    want = {tid: [Transfer((f, t, CLASSES[k])) for f, t, k in ts] for tid, ts in flow.items()}
    got = perf_transfers(path)
    if got is not None:
        lib.same_transfers(got, want, "perf", "decode")


def check_snapshots(folder, name, argv):
    options = ["--vcpus", "2"] if name.endswith("vcpus") else []
    for n, (data, ring, size, steps) in enumerate((
        ("1M", "64K", "", "l!s!l.!!g!!!dl!"),  # often wrapped, not wrapped, nothing new, while running
        # The source waits for space in the data ring when it must pause.
        ("8K", "64K", "8K", "l!g!!dl!s!"),
        ("8K", "8K", "", "l!g!!dl!ss!"),
        ("1M", "1M", "", "!s.!!s"),
    )):
        sub = os.path.join(folder, str(n))
        os.mkdir(sub)
        # PSBs close together: the smallest chunk has one, too.
        run = Snapshots(sub, argv, "-S" + size, "-m", f"{data},{ring}", "--psb-period", "2K", *options)
        run.do(steps)
        want, decoded = run.end()
        most = {"64K": 65536, "8K": 8192, "1M": 1 << 20}[size or ring] * (2 if options else 1)
        check(max(run.sizes) <= most, f"too large: {run.sizes}")
        parts = parts_of(decoded)
        if ring == "1M":
            check(len(parts) == 1, "something was not kept")
            lib.same_transfers(lib.transfers(decoded), lib.transfers("".join(want.values())), "decode", "truth")
        else:
            # l always wraps the ring; work in progress wraps it only on a quick machine.
            check(len(parts) > steps.count("l") and (parts[0] == {} or options), f"{len(parts)} parts, first {parts[0]}"[:300])
        if ".!!" in steps and argv[1] == "1":  # the other threads may not rest yet
            nth = steps[: steps.index(".!!") + 3].count("!") - 1
            check(run.sizes[nth] == 0, f"something new while nothing ran: {run.sizes}")
        if options:
            parts = joined(lib.decode(run.path, "-F", "tid,cpu,from,to,kind").expect(0).out)
        at = dict.fromkeys(want, 0)
        for part in parts:
            for tid, flow in part.items():
                found = want[tid].find(flow, at[tid])
                check(found >= 0 and not (found and want[tid][found - 1] != "\n"),
                      f"steps {steps}: not one part of the truth, or not in order: {flow[:300]} ... {flow[-300:]}")
                at[tid] = found + len(flow)
        check(parts[-1], "nothing of the end")
        for tid, flow in parts[-1].items():
            check(want[tid].endswith(flow), f"tid {tid} does not end with the truth")
        perf_reads(run.path, decoded)
        check(lib.in_order(run.path), "nothing has a time")
        os.unlink(run.truth)


# name of a case: options, and the number of instructions in the zone (None: any)
ZONES = {
    "zone_calls": (["--from", "hop", "--to", "hop+9"], 600),  # lea, push, ret of 200 calls
    "zone_once": (["--to", "prog_main"], None),
    "zone_from": (["--from", "prog_main"], None),
    "zone_limit": (["--from", "hop", "--to", "hop+9", "--max-steps", "100"], 100),
    "zone_threads": (["--from", "add_locked", "--to", "count"], None),
    "zone_storm": (["--from", "malloc@LIBC", "--to", "free@LIBC"], None),
    "zone_forked": (["--from", "getpid@LIBC"], None),
    "zone_main": (["--from", "main"], None),
}


def check_compressed(folder, name, argv):
    if not lib.have_perf():
        lib.skip("no perf here (Debian: linux-perf)")
    path, truth = recorded(folder, argv, "-z3")
    want = lib.equals_truth(path, truth)
    perf_agrees(name, path, argv, want)
    env = dict(os.environ, HOME=folder, DEBUGINFOD_URLS="", PERF_PAGER="cat")
    header = Run([lib.PERF, "report", "--header-only", "-i", path], env=env).expect(0).out
    check(re.search(r"# compressed : Zstd, level = 3, ratio = [1-9]", header), header)
    dump = Run([lib.PERF, "report", "-D", "-i", path], env=env).expect(0)
    check(not dump.err, f"perf says {dump.err!r}")
    for word in ("PERF_RECORD_MMAP2", "PERF_RECORD_COMM exec", " COMPRESSED events: "):
        check(word in dump.out, f"perf report -D shows no {word}")
    for word in ("PERF_RECORD_LOST", "UNKNOWN"):
        check(word not in dump.out, f"perf report -D shows {word}")


def check_zone(folder, name, argv):
    options, count = ZONES[name]
    libc = ctypes.util.find_library("c")
    found = [p for p in ("/lib/x86_64-linux-gnu", "/lib64", "/usr/lib") if os.path.exists(os.path.join(p, libc))]
    check(found, "no libc")
    options = [o.replace("LIBC", os.path.join(found[0], libc)) for o in options]
    path, truth = recorded(folder, argv, *options)
    want = lib.equals_truth(path, truth)
    for flow in want.values():
        well_formed(flow)
    perf_agrees(name, path, argv, want)
    if count is not None:
        got = lib.decode(path, "-F", "insn-ip").expect(0).out.split()
        check(len(got) == count, f"{len(got)} instructions, expected {count}")
    if os.path.basename(argv[0]) == "prog_busy":  # less than the whole
        plain, truth = recorded(folder, argv, name="whole.data")
        whole = sum(len(flow) for flow in lib.equals_truth(plain, truth).values())
        size = sum(len(flow) for flow in want.values())
        check(0 < size < whole, f"{size} transfers in the zone, {whole} in all")


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


def pokes(path):
    """Return the TEXT_POKE records of a recording outside the vdso: [(pid, address, bytes)]."""
    dump = Run([lib.PTCAP, "dump", "-i", path]).expect(0).out
    ret, vdso = [], {}
    for line in dump.splitlines():
        pid = re.search(r"\{pid=(\d+)", line)
        m = re.search(r" MMAP2 .* addr=(0x[0-9a-f]+) len=(0x[0-9a-f]+) .*\[vdso\]", line)
        if m:
            vdso[pid[1]] = range(int(m[1], 16), int(m[1], 16) + int(m[2], 16))
        m = re.search(r" TEXT_POKE .* misc=0x2 addr=(0x[0-9a-f]+) old_len=0 new_len=(\d+)", line)
        check(m or " TEXT_POKE " not in line, line)
        if m and int(m[1], 16) not in vdso.get(pid[1], ()):
            ret.append((int(pid[1]), int(m[1], 16), int(m[2])))
    return ret


def check_jit(folder, name, argv):
    for rings in ("256K,1M", "8K,8K"):
        path, truth = recorded(folder, argv, "-m", rings)
        for flow in lib.equals_truth(path, truth).values():
            well_formed(flow)
        saved = pokes(path)
        check(saved, "no code was saved")
        # At most a page at first, then only the changes: not the page again and again.
        most = 8 * 4096 + 64 * len(saved)
        check(sum(n for _, _, n in saved) < most, f"too much code was saved: {saved}")
    if not lib.have_perf():
        lib.skip("no perf here (Debian: linux-perf)")
    # perf has no bytes for this code, and says so; it must read the rest of the file.
    r = Run([lib.PERF, "script", "-i", path, "--itrace=be", "-F", "tid,flags,ip,addr"],
            env=dict(os.environ, HOME=folder, DEBUGINFOD_URLS="")).expect(0)
    check(len(r.out.splitlines()) > 1, "perf lists nothing")
    for line in r.err.splitlines() + r.out.splitlines():
        expected = line.startswith(" instruction trace error type 1 ") or line.endswith(" instruction trace errors")
        check(expected or "error" not in line.lower(), f"perf: {line}")


def numbers(path, *options):
    """Return the counts of --stats, by name."""
    ret = {}
    for line in lib.decode(path, "--stats", *options).expect(0).out.splitlines():
        f = line.split()
        if f and f[-1].isdigit() and f[0] in ("instructions", "transfers", "jcc", "jmp", "ijmp", "call", "icall", "ret", "start"):
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
    check(stats.get("transfers", 0) and counts, f"nothing is counted: {stats}")
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
    check(re.search(rf"^transfers +{o['transfers']}$", text, re.M), text)
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
    for options, want in (((), colored), (("--color", "never"), plain.out)):
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


CHECKS = {
    "terminal": check_terminal,
    "bin": check_bin,
    "last": check_last,
    "truth": check_truth,
    "both": check_both,
    "hash": check_hash,
    "json": check_json,
    "ref": check_ref,
    "perf": check_perf,
    "whole": check_whole,
    "onepsb": check_onepsb,
    "tasks": check_tasks,
    "clean": check_clean,
    "length": check_length,
    "tools": check_tools,
    "compressed": check_compressed,
    "zone": check_zone,
    "noretcomp": check_noretcomp,
    "smallrings": check_smallrings,
    "calls": check_calls,
    "insn": check_insn,
    "vcpus": check_vcpus,
    "vcpushash": check_vcpushash,
    "lossy": check_lossy,
    "snapshots": check_snapshots,
    "jit": check_jit,
}


def case(folder, checks, *argv):
    name = sys.argv[1]
    skipped = []
    if name == "rounds" and not lib.breakpoints_work(folder):
        lib.skip(lib.NO_BREAKPOINTS + ": its string instructions would be stepped for minutes, round by round")
    if {"both", "ref"} & set(checks.split(",")):
        fixed = lib.fixed_addresses()
        if fixed is None:
            lib.skip("setarch -R is forbidden here: addresses would differ between two runs")
        PREFIX.extend(fixed)
    for word in checks.split(","):
        sub = os.path.join(folder, word)
        os.mkdir(sub)
        try:
            if word.startswith("says="):
                check_whole(sub, name, list(argv), says=word.removeprefix("says="))
            else:
                CHECKS[word](sub, name, list(argv))
        except lib.Failure as e:
            raise lib.Failure(f"{word}: {e}") from None
        except lib.Skip as e:  # the other checks still count, but the whole does not pass
            skipped.append(f"{word}: {e}")
            continue
        print(f"ok {name} {word}", flush=True)
    if skipped:
        lib.skip("; ".join(skipped))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    lib.main({sys.argv[1]: case})
