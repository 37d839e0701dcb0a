#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""snapshot.py NAME [TIMES]: `ptcap snapshot`: each request gives a file, complete by itself, with
the newest trace.

Each function below is a case; its name and text state the behaviour. No case sleeps to be in
time, except before ptcap is killed.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import lib
import store
from lib import PTCAP, Run, check, prog, until

CASES = {}
SNAPSHOT = [PTCAP, "snapshot", "--source", lib.SOURCE]
# The trace of a step has more time packets the longer the step took. So even with delayed steps
# there are 300 steps.
RINGS = ["-m", {"step": "256K,64K", "emu": "256K,8K"}[lib.SOURCE], "--"]
WHOLE = ["-m", "256K,1M", "--"]  # holds a whole small program, at any step duration
BUSY = lib.BUSY


def case(f):
    CASES[f.__name__] = f
    return f


def flow(path):
    """Return the branches of a recording, one line each: from its beginning, or from the ring's."""
    out = lib.decode(path, "-F", "from,to,kind", "--strict").expect(0).out.splitlines()
    gaps = [l for l in out if l.startswith("#")]
    check(not gaps or (gaps == out[:1] and "cause=snapshot" in gaps[0]), f"{path} has gaps: {gaps}")
    return out[len(gaps):]


def whole(path):
    """Check a file by itself: verified, decoded without a loss; by perf, too. Returns its branches."""
    Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
    ret = flow(path)
    if lib.have_perf():
        argv = [lib.PERF, "script", "-i", path, "--itrace=be", "-F", "ip,addr"]
        r = Run(argv, env={**os.environ, "PERF_BUILDID_DIR": os.path.dirname(path)}).expect(0)
        check(len(r.out.splitlines()) >= len(ret) // 4, f"perf sees {len(r.out.splitlines())} of {len(ret)} transfers")
        check("error" not in r.err, f"perf: {r.err}")
    return ret


def all_of(folder, argv, status):
    """Return all branches of the program, from its beginning to its end."""
    path = os.path.join(folder, "all")
    store.fetch(path, argv).expect(status)
    return lib.decode(path, "-F", "from,to,kind", "--strict").expect(0).out.splitlines()


class Live:
    """A running ptcap snapshot with a control FIFO."""

    def __init__(self, folder, *args, out=subprocess.PIPE):
        self.folder = folder
        self.path = os.path.join(folder, "f")
        ctl, ack = (os.path.join(folder, name) for name in ("ctl", "ack"))
        for name in (ctl, ack):
            if not os.path.exists(name):
                os.mkfifo(name)
        self.ack = os.fdopen(os.open(ack, os.O_RDWR), "rb", buffering=0)
        self.ctl = os.open(ctl, os.O_RDWR)
        self.errors = os.path.join(folder, "stderr")
        argv = [*SNAPSHOT, "-o", self.path, "--control", f"fifo:{ctl},{ack}", *args]
        self.p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=out, stderr=open(self.errors, "wb"), start_new_session=True)

    def close(self):
        self.ack.close()
        os.close(self.ctl)

    def command(self, text):
        """Send a command. Returns the answer: ack or error."""
        os.write(self.ctl, text.encode() + b"\n")
        ret = b""
        while not ret.endswith(b"\n"):
            ret += self.ack.read(1)
        return ret.decode().strip()

    def err(self):
        with open(self.errors, encoding="utf-8") as f:
            return f.read()

    def files(self):
        return sorted(f for f in os.listdir(self.folder) if re.fullmatch(r"f(\.\d+)?", f))

    def ends(self, want):
        status = self.p.wait()
        status = status if status >= 0 else 128 - status
        check(status == want, f"exit status {status}, expected {want}: {self.err()}")
        self.close()


def insns_of_last(path, n):
    """Return the instructions from the first to the last of the last n branches of a thread."""
    counts = [int(c) for c in lib.decode(path, "-F", "icount").out.split("\n") if c and c[0] != "#"]
    return counts[-1] - counts[-n]


@case
def on_exit(folder):
    """A snapshot at the program's end has all branches up to the end: one file, numbered, or
    unnumbered if only one is to come."""
    argv = [prog("busy"), "1500"]
    want = all_of(folder, argv, 7)
    path = os.path.join(folder, "f")
    for options, name in (([], "f.000"), (["--count", "1"], "f"), (["--every", "1h", "--on-exit"], "f.000")):
        r = Run([*SNAPSHOT, "-o", path, *options, *RINGS, *argv]).expect(7)
        check(r.out == "ready\ndone\n", f"the program said {r.out!r}")
        part = whole(os.path.join(folder, name))
        insns = insns_of_last(os.path.join(folder, name), len(part))
        said = f"the last {insns} instructions, {len(part)} branches without a gap up to"
        check(re.search(said, r.err), f"{r.err!r} does not say {said!r}")
        newest = json.loads(Run([PTCAP, "info", "-i", os.path.join(folder, name), "--format", "json"]).expect(0).out)["newest"]
        check(newest["complete"] and [(t["branches"], t["instructions"]) for t in newest["threads"]] == [(len(part), insns)], f"{newest}")
        check(want[-len(part):] == part, f"{options}: {len(part)} transfers, not the end of what it did:\n" + "\n".join(part[-5:]))
        check(len(part) > 30, f"{options}: only {len(part)} transfers")
        check(sorted(os.listdir(folder)) == ["all", name], f"{os.listdir(folder)}")
        os.unlink(os.path.join(folder, name))
    Run([*SNAPSHOT, "-o", path, "--every", "1h", *RINGS, *argv]).expect(7)
    check(os.listdir(folder) == ["all"], "without --on-exit there is one")


@case
def verdict(folder):
    """Overwritten code of a file makes a hole in the trace: ptcap reports it for the thread, and
    --strict exits with 3."""
    copy = os.path.join(folder, "copy")
    os.environ["PERF_BUILDID_DIR"] = "/nowhere"  # perf of another test may have put this program into the user's cache
    for options, status in (([], 0), (["--strict"], 3), (["--strict", "-q"], 3)):
        shutil.copy(prog("busy"), copy)
        live = Live(folder, *options, "--on-exit", "-m", "1M,4M", "--", "/bin/dash", "-c", f"{copy} 300; echo over; read x; exit 0")
        for text in (b"ready\n", b"done\n", b"over\n"):
            check(live.p.stdout.readline() == text, "the program does not go on")
        n = 0
        while True:  # until ptcap has read the program's exit, and so has compared all its code with the file
            check(live.command("snapshot") == "ack", "no snapshot")
            dump = Run([PTCAP, "dump", "-i", f"{live.path}.{n:03}", "--format", "json"]).expect(0).out
            n += 1
            if any(r.get("name") == "EXIT" for r in map(json.loads, dump.splitlines())):
                break
        with open(copy, "r+b") as f, open(prog("hello"), "rb") as other:
            f.write(other.read())
            f.truncate()
        live.p.stdin.close()
        live.ends(status)
        check(options[-1:] == ["-q"] or re.search("NOT complete: .*: nocode; ", live.err()), f"nobody says so: {live.err()!r}")
        newest = json.loads(Run([PTCAP, "info", "-i", f"{live.path}.{n:03}", "--format", "json"]).expect(0).out)["newest"]
        check(not newest["complete"], f"{newest}")
        check(any(t["complete"] for t in newest["threads"]), "no thread is complete")


def newest_of(path):
    """Return the output of `info` about the newest trace, as text and as JSON."""
    text = Run([PTCAP, "info", "-i", path]).expect(0).out
    return text, json.loads(Run([PTCAP, "info", "-i", path, "--format", "json"]).expect(0).out)["newest"]


@case
def silent(folder):
    """A thread that always waits has no branch in the trace: it is counted, and is no loss."""
    live = Live(folder, *RINGS, "/bin/dash", "-c", f"{prog('busy')} {BUSY}; exit 0")
    check(live.p.stdout.readline() == b"ready\n", "the program is not ready")
    n, newest = 0, {"silent_threads": 0}
    while newest["silent_threads"] != 1:  # until the shell's trace is overwritten
        check(n < 10000, f"the shell is never silent: {newest}")
        check(live.command("snapshot") == "ack", "no snapshot")
        text, newest = newest_of(f"{live.path}.{n:03}")
        n += 1
    check(newest["complete"] and len(newest["threads"]) == 1, f"{newest}")
    check(newest["threads"][0]["moved_cpu"] is None, f"it never moved: {newest}")
    check(" 1 more thread without a branch: not running, or the trace was overwritten\n" in text, text)
    check(live.command("stop") == "ack", "it does not stop")
    live.ends(0)
    check("1 more thread without a branch" in live.err(), live.err())
    end_of_program(live)


@case
def nothing(folder):
    """A ring without a sync point: it cannot be decoded, so it is not complete."""
    path = os.path.join(folder, "f")
    lib.record(path, [prog("busy"), "1500"], "-S", "-m", "256K,8K", "--psb-period", "64M").expect(7)
    text, newest = newest_of(path)
    check(not newest["complete"] and newest["threads"] == [], f"{newest}")
    check(re.search(r"newest +NOT complete\n +no branch of any thread\n", text), text)


@case
def lost(folder):
    """The ledger has the sideband records lost so far: then nothing is complete, for any trace. The
    software sources wait for space and lose none, so the test adds a loss (doc/format.md), like
    from a kernel's ring.
    """
    path = os.path.join(folder, "f")
    Run([*SNAPSHOT, "-o", path, "--count", "1", *RINGS, prog("busy"), "1500"]).expect(7)
    check(newest_of(path)[1]["complete"], "it was not complete before")
    with open(path, "r+b") as f:
        entry = f.read().index(b"ptcapLED") + 88
        f.seek(entry + 6 * 8)
        f.write((3).to_bytes(8, "little"))
    text, newest = newest_of(path)
    check(newest["lost_records"] == 3 and not newest["complete"], f"{newest}")
    check(all(t["complete"] for t in newest["threads"]), f"{newest}")
    check(re.search(r"newest +NOT complete\n", text) and "NOT complete: 3 sideband records were lost since the recording began" in text, text)


@case
def damaged(folder):
    """Bytes that are no trace: a gap of the thread, with their number; the trace behind it is
    complete."""
    path = os.path.join(folder, "f")
    Run([*SNAPSHOT, "-o", path, "--count", "1", *RINGS, prog("busy"), "1500"]).expect(7)
    flow_ = whole(path)
    side = Run([PTCAP, "dump", "-i", path]).expect(0).out
    at, size = re.search(r"(?m)^(0x[0-9a-f]+) AUXTRACE +48 .* size=(0x[0-9a-f]+)", side).groups()
    with open(path, "r+b") as f:
        f.seek(int(at, 16) + 48 + int(size, 16) // 2)
        f.write(b"\xff" * 32)
    text, newest = newest_of(path)
    t = newest["threads"][0]
    check(not newest["complete"] and not t["complete"] and t["gaps"] >= 1, f"{newest}")
    check(t["cause"] in ("badpacket", "desync") and t["gap_bytes"] > 0, f"{t}")
    insns = insns_of_last(path, t["branches"])
    said = f"NOT complete: {t['gaps']} gaps?, {t['gap_bytes']} bytes, last cause: {t['cause']}; the last {insns} instructions, {t['branches']} branches without a gap up to"
    check(re.search(said, text), f"{text!r} does not say {said!r}")
    got = lib.decode(path, "-F", "from,to,kind").expect(0).out.splitlines()[-t["branches"] :]
    check(0 < t["branches"] < len(flow_) and got == flow_[-t["branches"] :], f"not the last {t['branches']}")


def by_thread(text):
    ret = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            tid, rest = line.split(" ", 1)
            ret.setdefault(int(tid), []).append(rest)
    return ret


@case
def moved(folder):
    """Threads move between rings that begin at different times: the part reported as complete is
    the end of their branches."""
    path, truth = os.path.join(folder, "f"), os.path.join(folder, "truth")
    parted = told = 0
    for mode in ("locks", *["pool"] * 20):
        lib.record(path, [prog("tasks"), mode], "--vcpus", "3", "-S", "-m", "256K,8K", "--truth", truth).expect(0)
        text, newest = newest_of(path)
        got = by_thread(lib.decode(path, "-F", "tid,from,to,kind").expect(0).out)
        with open(truth, encoding="ascii") as f:
            want = by_thread(f.read())
        for t in newest["threads"]:
            tid, n = t["tid"], t["branches"]
            check(n == 0 or got[tid][-n:] == want[tid][-n:], f"{mode}: not the last {n} of thread {tid}: {t}")
            check(t["complete"] == (n > 0), f"{t}")
            check(n or t["moved_cpu"] is not None, f"nobody says why there is nothing: {t}")
            parted += n < len(got.get(tid, []))
            if t["moved_cpu"] is not None and f"tid {tid}:" in text:  # not all of many are listed
                check(re.search(rf"tid {tid}: .*; its trace on CPU {t['moved_cpu']} up to [0-9.]+ was overwritten", text), f"{t}: {text}")
                told += 1
        check(newest["complete"] == (newest["threads"] != [] and all(t["complete"] for t in newest["threads"])), f"{newest}")
        if mode == "pool" and told:
            break
    check(told, "no thread was on a CPU whose ring had come round")
    print(f"{parted} threads were parted")


@case
def control(folder):
    """A command line gets an answer when it is done. Each file has a part of the program's
    branches, and earlier files stay."""
    live = Live(folder, *RINGS, prog("busy"), BUSY)
    check(live.p.stdout.readline() == b"ready\n", "the program is not ready")
    for word, answer in (("ping", "ack"), ("snap", "error"), ("", "error"), ("x" * 1000, "error")):
        check(live.command(word) == answer, f"{word!r} is not answered by {answer!r}")
    check(not live.files(), "there are files already")
    n, full, loop = 0, 0, []
    while full < 3:  # the first snapshot has little
        check(live.command("snapshot") == "ack", "no snapshot")
        check(live.files() == [f"f.{i:03}" for i in range(n + 1)], f"{live.files()}")
        part = whole(f"{live.path}.{n:03}")
        n += 1
        if len(part) > 300:
            full += 1
            loop = loop or part[-100:-40]  # the middle part repeats all the time
            check("\n".join(loop) in "\n".join(part), "another loop")
    check(live.command("stop") == "ack", "it does not stop")
    live.ends(0)
    check(len(live.files()) == n + 1, f"the last one is missing: {live.files()}")
    check(whole(f"{live.path}.{n:03}"), "the last one is empty")
    for name in live.files():
        whole(os.path.join(folder, name))
    end_of_program(live)


@case
def paused(folder):
    """With -v each snapshot of a running program tells how long the trace was off, and when it
    stopped. The snapshot after a stop needs no pause."""
    for options in (["-v"], []):
        live = Live(folder, *options, *RINGS, prog("busy"), BUSY)
        check(live.p.stdout.readline() == b"ready\n", "the program is not ready")
        asked = time.monotonic()
        check(live.command("snapshot") == "ack" and live.command("snapshot") == "ack", "no snapshot")
        most = (time.monotonic() - asked) * 1e3
        check(live.command("stop") == "ack", "it does not stop")
        live.ends(0)
        check(len(live.files()) == 3, f"{live.files()}")
        said = re.findall(r"ptcap: the trace was off for (\d+\.\d+) ms; it stopped (\d+\.\d+) ms after the request\n", live.err())
        check(len(said) == (2 if options else 0), live.err())
        check(all(0 < float(ms) for line in said for ms in line), f"{said}")
        check(sum(float(ms) for line in said for ms in line) <= most, f"{said}, but all took {most} ms")
        end_of_program(live)


def end_of_program(live):
    """The program was left unchanged, and ends with its input."""
    live.p.stdin.close()
    check(live.p.stdout.read() == b"done\n", "the program is not done")


@case
def pipelined(folder):
    """Commands that arrive together are all answered, in order; a command that comes too late is an
    error."""
    live = Live(folder, *RINGS, prog("busy"), BUSY)
    check(live.p.stdout.readline() == b"ready\n", "the program is not ready")
    os.write(live.ctl, b"snapshot\n" * 10 + b"ping\n")
    answers = b""
    while answers.count(b"\n") < 11:
        answers += live.ack.read(64)
    check(answers == b"ack\n" * 11, f"{answers!r}")
    check(1 <= len(live.files()) <= 10, f"{live.files()}")
    os.write(live.ctl, b"stop\n")
    live.p.wait()
    check(live.ack.read(4) == b"ack\n", "the end is not answered")
    live.ends(0)
    end_of_program(live)


@case
def clock(folder):
    """--every and --after, until --count: the number of files, and the program's own end."""
    for options, n in ((["--every", "5ms", "--count", "4"], 4), (["--after", "5ms", "--count", "1"], 1),
                       (["--after", "1ms", "--no-final", "--every", "1h"], 1)):  # fmt: skip
        live = Live(folder, *options, *RINGS, prog("busy"), BUSY)
        check(live.p.stdout.readline() == b"ready\n", "the program is not ready")
        until(lambda: f"snapshot {n}:" in live.err(), f"snapshot {n}")
        end_of_program(live)
        live.ends(7)
        names = live.files()
        check(names == (["f"] if options[-2:] == ["--count", "1"] else [f"f.{i:03}" for i in range(n)]), f"{names}")
        for name in names:
            whole(os.path.join(folder, name))
            os.unlink(os.path.join(folder, name))


@case
def interrupt(folder):
    """^C takes a last snapshot, except with --no-final; the program gets it, too."""
    for options, n in (([], 1), (["--no-final"], 0)):
        live = Live(folder, *options, *RINGS, prog("busy"), BUSY)
        check(live.p.stdout.readline() == b"ready\n", "the program is not ready")
        os.killpg(live.p.pid, signal.SIGINT)
        live.ends(130)
        check(len(live.files()) == n, f"{options}: {live.files()}")
        for name in live.files():
            whole(os.path.join(folder, name))
            os.unlink(os.path.join(folder, name))


@case
def signals(folder):
    """--on-signal: one snapshot before the delivery of each signal; the program gets it, and ends
    as alone."""
    path = os.path.join(folder, "f")
    r = Run([*SNAPSHOT, "-o", path, "--on-signal", "USR1,SIGHUP", *WHOLE, prog("signal")]).expect(0)
    names = sorted(os.listdir(folder))
    times = {"step": 4, "emu": 3}[lib.SOURCE]  # QEMU does not see the ignored SIGHUP
    check(names == [f"f.{i:03}" for i in range(times)], f"{names}: {r.err}")
    flows = [whole(os.path.join(folder, name)) for name in names]
    for one, more in zip(flows, flows[1:]):
        check(len(one) < len(more) and more[: len(one) - 1] == one[:-1], "not the same program, further on")
    for flow_ in flows:  # the kill(2) that sent it has returned, and nothing ran since
        check(flow_[-1].endswith(" async") or flow_[-1].endswith(" syscall"), f"it ends with {flow_[-1]}")
    os.unlink(path + ".000")
    Run([*SNAPSHOT, "-o", path, "--on-signal", "12", "--count", "1", *WHOLE, prog("signal")]).expect(0)
    check("f" in os.listdir(folder) and whole(path), "--count 1 is none")


@case
def places(folder):
    """--at: one snapshot for every so many visits of the place, taken before it; in a library, too."""
    path = os.path.join(folder, "f")
    out = Run(["nm", prog("busy")]).expect(0).out
    hop = int(next(l for l in out.splitlines() if l.endswith(" hop")).split()[0], 16)
    Run([*SNAPSHOT, "-o", path, "--at", "hop:20", "--count", "3", *WHOLE, prog("busy"), "200"]).expect(7)
    flows = [whole(f"{path}.{n:03}") for n in range(3)]
    for n, flow_ in enumerate(flows):
        came = [int(l.split()[1], 16) == hop and not l.endswith(" start") for l in flow_]
        check(came[-2] and flow_[-1].endswith(" async"), f"{n}: it ends with {flow_[-3:]}")
        check(sum(came) == 20 * (n + 1), f"{n}: it came there {sum(came)} times")
        os.unlink(f"{path}.{n:03}")
    Run([*SNAPSHOT, "-o", path, "--at", "hop", "--at", hex(hop), "-m", "256K,64K", "--no-final", "--count", "2", "--", prog("busy"), "9"]).expect(7)
    check(sorted(os.listdir(folder)) == ["f.000", "f.001"], "not one for each time")
    for at, met in (("hop:18", True), ("hop:19", False), ("0x1000", False)):
        err = Run([*SNAPSHOT, "-o", path, "--at", at, "--no-final", *WHOLE, prog("busy"), "9"]).expect(7).err
        check(("no snapshot for a place (--at): " in err) != met, f"{at}: {err}")


@case
def crashes(folder):
    """--on-crash: one for each process that dies from a signal, with its state; the processes die
    as without ptcap."""
    path, die = os.path.join(folder, "f"), prog("crash_static")
    r = Run([*SNAPSHOT, "-o", path, "--on-crash", *RINGS, die, "null"]).expect(128 + signal.SIGSEGV)
    check(os.listdir(folder) == ["f.000"], f"{os.listdir(folder)}: {r.err}")
    check("1 process was killed by a signal" in r.err, r.err)
    both = [prog("run"), "5", die, "division", ";", die, "null"]
    Run([*SNAPSHOT, "-q", "-o", path, "--on-crash", "-m", "256K,64K", "--", *both]).expect(5)
    check(sorted(os.listdir(folder)) == ["f.000", "f.000.old", "f.001"], f"{os.listdir(folder)}")
    for name, signame, function in (("f.000.old", "SIGSEGV", "write_null"), ("f.000", "SIGFPE", "divide"), ("f.001", "SIGSEGV", "write_null")):
        Run([PTCAP, "dump", "--verify", "-i", os.path.join(folder, name)]).expect(0)
        said = json.loads(Run([PTCAP, "crash", "show", "-i", os.path.join(folder, name), "--format", "json"]).expect(0).out)
        got = (said["signal"], said["fault"]["function"], said["trace_ends_there"], len(said["branches"]) > 20)
        check(got == (signame, function, True, True), f"{name}: {got}")


@case
def attached(folder):
    """A running process, stepped: snapshots by signal and at ^C; the process then continues unchanged."""
    with subprocess.Popen([prog("busy"), BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as t:
        check(t.stdout.readline() == b"ready\n", "the program is not ready")
        live = Live(folder, "-m", "256K,8K", "-p", str(t.pid))
        until(lambda: "waiting; " in live.err(), "attached")
        n, seen = 0, []
        while not seen:  # at first no step may be done yet
            live.p.send_signal(signal.SIGUSR2)
            n += 1
            until(lambda: f"snapshot {n}:" in live.err(), f"snapshot {n}")
            seen = whole(f"{live.path}.{n - 1:03}")
        live.p.send_signal(signal.SIGINT)
        live.ends(0)
        check(live.files() == [f"f.{i:03}" for i in range(n + 1)], f"{live.files()}")
        check(whole(f"{live.path}.{n:03}"), "the last one is empty")
        with open(f"/proc/{t.pid}/status", encoding="ascii") as f:
            status = f.read()
        check("TracerPid:\t0\n" in status and re.search(r"State:\s[RS]", status), f"it does not run on: {status}")
        t.kill()


@case
def asleep(folder):
    """A snapshot is taken while all threads sleep: nothing wakes them until the test ends."""
    for n, argv in enumerate(([prog("wait"), "catch"], ["/bin/sh", "-c", f"{prog('wait')} catch | cat"])):
        inner = os.path.join(folder, str(n))
        os.mkdir(inner)
        live = Live(inner, "--every", "1s", *WHOLE, *argv)
        check(live.p.stdout.readline().startswith(b"ready"), "the program is not ready")
        flows = []
        while len(flows) < 2 or flows[-1] != flows[-2]:  # then no thread ran in between
            check(live.command("snapshot") == "ack", "no snapshot")
            flows.append(flow(os.path.join(inner, live.files()[-1])))
        check(flows[-1], "the trace is empty")
        n = len(live.files())
        live.p.send_signal(signal.SIGUSR2)
        until(lambda: len(live.files()) >= n + 2, "those of the signal and the clock")
        check(live.command("stop") == "ack", "it does not stop")
        live.ends(0)
        live.p.stdin.close()
        whole(os.path.join(inner, live.files()[-1]))


@case
def killed(folder, times=12):
    """ptcap is killed at random moments: no partial file with a name, no other files, the program
    runs on."""
    dice = random.Random(17)
    there = 0
    for n in range(int(times)):
        live = Live(folder, "--every", "1ms", *RINGS, prog("busy"), BUSY)
        check(live.p.stdout.readline() == b"ready\n", "the program is not ready")
        if n % 2:  # some are killed when a file exists
            until(lambda: "snapshot 1:" in live.err(), "the first")
        time.sleep(dice.random() * 0.1)
        live.p.kill()
        live.p.wait()
        live.close()
        end_of_program(live)
        for name in live.files():
            Run([PTCAP, "dump", "--verify", "-i", os.path.join(folder, name)]).expect(0)
            os.unlink(os.path.join(folder, name))
            there += 1
        left = set(os.listdir(folder)) - {"ctl", "ack", "stderr"}
        check(not left, f"left behind: {left}")
    check(there > 3, f"hardly any file: {there}")


@case
def threads(folder):
    """Threads come and go all the time: each file has the threads of its trace, with their code."""
    path = os.path.join(folder, "f")
    Run([*SNAPSHOT, "-o", path, "--every", {"step": "100ms", "emu": "3ms"}[lib.SOURCE], "--on-exit", "-m", "64K,16K", "--", prog("tasks"), "storm"]).expect(0)
    names = sorted(os.listdir(folder))
    check(names, "there are no snapshots")
    for name in names[::-max(1, len(names) // 10)]:
        name = os.path.join(folder, name)
        Run([PTCAP, "dump", "--verify", "-i", name]).expect(0)
        r = lib.decode(name, "-F", "tid,from,to,kind", "--strict").expect(0)
        check(not re.search(r"cause=(?!snapshot)", r.out), f"{name} has gaps: {r.out[:1000]}")
        side = Run([PTCAP, "dump", "-i", name, "--format", "json"]).expect(0).out
        told = {json.loads(l)["fields"]["tid"] for l in side.splitlines() if '"COMM"' in l or '"FORK"' in l}
        mine = {int(l.split()[0]) for l in r.out.splitlines() if not l.startswith("#")}
        check(mine <= told | {-1}, f"{name}: nobody tells of {mine - told}")


@case
def refused(folder):
    """Impossible requests are reported with the remedy; nothing runs and there is no file."""
    path = os.path.join(folder, "f")
    here = os.path.join(folder, "plain")
    with open(here, "w", encoding="ascii"):
        pass
    hello = ["--", prog("hello")]
    for args, status, words in (
        (["--source", "pt", *hello], 125, "Intel PT"),
        ([*hello], 125, "--source emu"),
        (["-p", str(os.getpid())], 1, "--source step"),
        ([], 2, "-p PID"),
        (["-p", "1", *hello], 2, "a command cannot be combined with -p or -t"),
        (["--every", "0", *hello], 2, "'0'"),
        (["--count", "0", *hello], 2, "'0'"),
        (["--size", "0", *hello], 2, "'0'"),
        (["--source", "emu", "--size", "1M", "-m", "64K,64K", *hello], 2, "AUX ring"),
        (["--source", "emu", "--control", here, *hello], 2, "not a FIFO"),
        (["--source", "emu", "--control", here + "/x", *hello], 2, "--control"),
        (["--source", "emu", "--control", "fd:999", *hello], 2, "999"),
        (["--source", "emu", "-o", "/nowhere/f", *hello], 125, "/nowhere/f"),
        (["--on-signal", "SEGV,KILL", *hello], 2, "'SEGV,KILL'"),
        (["--on-signal", "", *hello], 2, "''"),
        (["--on-signal", "65", *hello], 2, "'65'"),
        (["--source", "step", "--at", "nowhere_to_be_found", *hello], 125, "nowhere_to_be_found"),
        (["--source", "step", "--at", "0x401000:0", *hello], 2, "'0x401000:0'"),
        (["--source", "step", *["--at", "0x401000"] * 5, *hello], 2, "4 places"),
        (["--source", "emu", "--", here + "/x"], 127, "x"),
    ):
        if os.path.exists("/sys/bus/event_source/devices/intel_pt") and status in (1, 125) and "/nowhere/f" not in args:
            continue
        r = Run([PTCAP, "snapshot", "-o", path, *args] if "-o" not in args else [PTCAP, "snapshot", *args]).expect(status)
        check(words in r.err, f"{args}: {r.err!r} says nothing of {words}")
        check(r.out == "", f"{args}: the command ran")
        check(os.listdir(folder) == ["plain"], f"{args}: left behind: {os.listdir(folder)}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lib.main(CASES)
