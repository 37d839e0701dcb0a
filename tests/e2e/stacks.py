#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stacks.py NAME [TIMES]: `ptcap stacks -p` shows what each thread of a live process waits for, and
leaves the process as it was.

The reference for stacks is eu-stack. The programs know what their threads wait for: the name of each
thread says it.
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
from lib import PTCAP, Run, check, prog, until

CASES = {}
POOL = 200


def case(f):
    def known(folder, *args):
        if not lib.has_ptrace():
            lib.skip("no ptrace of what is not a child")
        f(folder, *args)

    CASES[f.__name__] = known
    return known


def stat(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8") as f:
        return f.read().rsplit(")", 1)[1].split()[0]


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
            return f.read().strip()
    except FileNotFoundError:
        return None


def tracer_of(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8") as f:
        return int(re.search(r"TracerPid:\t(\d+)", f.read())[1])


def switches(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8") as f:
        return re.findall(r"ctxt_switches:\t(\d+)", f.read())


class Program:
    """prog_stacks MODE, or another program, which is ready."""

    def __init__(self, *mode, argv=(), **env):
        self.p = subprocess.Popen([*(argv or [prog("stacks")]), *mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **env})
        check(self.p.stdout.readline() == b"ready\n", f"{mode}: not ready")
        self.pid = self.p.pid

    def tids(self):
        return [int(tid) for tid in os.listdir(f"/proc/{self.pid}/task")]

    def settle(self, running=0):
        """Wait until all threads sleep, except so many: none of them has run between two looks."""

        def look():
            return {tid: (stat(self.pid, tid), switches(self.pid, tid)) for tid in self.tids()}

        def asleep():
            a, b = look(), look()
            return a.keys() == b.keys() and sum(a[t][0] != "S" or a[t] != b[t] for t in a) <= running

        until(asleep, "all threads asleep")
        return self

    def ends(self, status=0):
        """End the program by itself: nothing harmed it."""
        check(not any(tracer_of(self.pid, tid) for tid in self.tids()), "still traced")
        self.p.communicate(b"")
        check(self.p.returncode == status, f"exit status {self.p.returncode}")


def shown(*args, status=0):
    return json.loads(Run([PTCAP, "stacks", "--format", "json", *args]).expect(status).out)["processes"]


def threads(process):
    ret = {}
    for t in process["threads"]:
        ret.setdefault(t["name"], []).append(t)
    return ret


def text(*args):
    return Run([PTCAP, "stacks", *args]).expect(0).out


def eu_stack(pid):
    """Return {tid: addresses} as eu-stack sees the process."""
    if not shutil.which("eu-stack"):
        lib.skip_without("eu-stack")
    ret = {}
    for line in subprocess.run(["eu-stack", "-p", str(pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False).stdout.splitlines():
        if line.startswith("TID "):
            frames = ret[int(line[4:].rstrip(":"))] = []
        elif line.startswith("#"):
            frames.append(int(line.split()[1], 16))
    return ret


@case
def deadlock(_):
    """The circle comes first: two threads that wait for each other, and one for itself."""
    p = Program("deadlock").settle()
    said = text("-p", str(p.pid)).splitlines()
    both = re.compile(
        r'DEADLOCK: thread (\d+) \(left\) waits for mutex 0x[0-9a-f]+ \(right_lock\), owned by thread (\d+) \(right\); '
        r'thread (\d+) \(right\) waits for mutex 0x[0-9a-f]+ \(left_lock\), owned by thread (\d+) \(left\)'
    )
    m = both.fullmatch(said[0])
    check(m and m[1] == m[4] and m[2] == m[3], f"{said[:3]}")
    alone = r'DEADLOCK: thread \d+ \(alone\) waits for mutex 0x[0-9a-f]+ \(own_lock\), owned by this thread itself'
    check(re.fullmatch(alone, said[1]), f"{said[:3]}")
    [process] = shown("-p", str(p.pid))
    by = threads(process)
    tids = {name: by[name][0]["tid"] for name in ("left", "right", "alone")}
    check([c["tids"] for c in process["deadlocks"]] == [[tids["left"], tids["right"]], [tids["alone"]]], f"{process['deadlocks']}")
    check(by["left"][0]["wait"]["owner"] == tids["right"], f"{by['left']}")
    check("go_left" in [f["function"] for f in by["left"][0]["frames"]], f"{by['left']}")
    p.ends()


# name of a thread: kind, name of the object, who holds it, name of a frame
WAITS = {
    "sleep": ("call", None, None, "sleep_long"),
    "read": ("call", None, None, "read_quiet"),
    "poll": ("call", None, None, "poll_quiet"),
    "spin": ("none", None, None, "spin"),
    "mutex": ("mutex", "main_lock", "main", "lock_main"),
    "timed": ("mutex", "main_lock", "main", "lock_until"),
    "pi": ("mutex", "pi_lock", "main", "lock_pi"),
    "orphan": ("mutex", "gone_lock", "gone", "lock_gone"),
    "rdlock": ("rwlock", "main_rwlock", "main", "read_lock"),
    "wrlock": ("rwlock", "main_rwlock", "main", "write_lock"),
    "cond": ("cond", "never", None, "wait_cond"),
    "sem": ("semaphore", "never_posted", None, "wait_sem"),
    "barrier": ("barrier", None, None, "wait_barrier"),
    "join": ("join", None, "sleep", "join_sleeper"),
    "stream": ("stream", None, "main", "print_line"),
}


def waits_of(p, process):
    """Check all threads. Without a name of the C library a semaphore is a futex."""
    by = threads(process)
    tid = {"main": p.pid, "sleep": by["sleep"][0]["tid"]}
    check(not process["deadlocks"], f"{process['deadlocks']}")
    for name, (kind, thing, owner, function) in WAITS.items():
        [t] = by[name]
        if kind == "semaphore" and not any("sem_wait" in (f["function"] or "") for f in t["frames"]):
            kind = "futex"
        wait = t["wait"]
        check(wait["kind"] == kind and wait.get("object") in (thing, wait.get("object") if not thing else thing), f"{name}: {wait}")
        check(function in [f["function"] for f in t["frames"]], f"{name}: {t['frames']}")
        if owner == "gone":
            check(not wait["owner_in_process"] and wait["owner"] not in tid.values(), f"{name}: {wait}")
        else:
            check(wait.get("owner") == tid.get(owner), f"{name}: owned by {wait.get('owner')}, not by {owner}")
    check(by["read"][0]["wait"]["call"] == "read" and by["read"][0]["wait"]["fd_file"].startswith("pipe:["), f"{by['read']}")
    check(by["sleep"][0]["wait"]["call"] in ("clock_nanosleep", "nanosleep"), f"{by['sleep']}")
    check(by["poll"][0]["wait"]["call"] == "poll", f"{by['poll']}")
    return by


@case
def waits(_):
    """Each kind of waiting, who owns the lock, and the name of a variable."""
    p = Program("waits").settle(running=1)
    for _ in range(3):  # a stop restarts the calls, so they have another number the next time
        [process] = shown("-p", str(p.pid))
        waits_of(p, process)
    said = text("-p", str(p.pid))
    for line in (r'\(read\): in read\(\d+, 0x[0-9a-f]+, 1\), fd \d+ -> pipe:\[\d+\]', r'\(spin\): running',
                 rf'\(mutex\): waits for mutex 0x[0-9a-f]+ \(main_lock\), owned by thread {p.pid} \(prog_stacks\)',
                 r'\(orphan\): waits for mutex 0x[0-9a-f]+ \(gone_lock\), owned by thread \d+, which is not in this process'):
        check(re.search(line, said), f"no line {line} in\n{said}")
    p.ends()


def without_debug_file(path, copy):
    """Copy a library with another build-id, so that no debug file belongs to it."""
    with open(path, "rb") as f:
        code = f.read()
    at = code.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")  # a note of 20 bytes, type 3
    if at < 0:
        lib.skip(f"{path} has no build-id")
    at += 16
    with open(copy, "wb") as f:
        f.write(code[:at] + bytes(reversed(code[at:at + 20])) + code[at + 20:])


@case
def nameless(folder):
    """A C library with only its exported names: the memory tells the rest."""
    with open("/proc/self/maps", encoding="utf-8") as f:
        paths = {line.split()[-1] for line in f if line.rstrip().endswith("/libc.so.6")}
    check(len(paths) == 1, f"{paths}")
    without_debug_file(paths.pop(), os.path.join(folder, "libc.so.6"))
    p = Program("waits", LD_LIBRARY_PATH=folder).settle(running=1)
    [process] = shown("-p", str(p.pid))
    waits_of(p, process)
    frames = [f for t in process["threads"] for f in t["frames"] if f["module"] == os.path.join(folder, "libc.so.6")]
    check(frames and not any(f["file"] for f in frames), "the library has lines")
    p.ends()


@case
def unwound(_):
    """The stacks are those that eu-stack sees."""
    p = Program("waits").settle(running=1)
    theirs = eu_stack(p.pid)
    p.settle(running=1)
    [process] = shown("-p", str(p.pid))
    check(len(theirs) == len(WAITS) + 1, f"eu-stack sees {len(theirs)} threads")
    for t in process["threads"]:
        ours = [int(f["ip"], 16) for f in t["frames"]]
        # The innermost frame: before or behind a system call, or anywhere in a loop.
        check(ours[1:] == theirs[t["tid"]][1:] and len(ours) > 1, f"{t['name']}: {t['frames']}, not {[hex(a) for a in theirs[t['tid']]]}")
    p.ends()


@case
def stopped(_):
    """A process that job control has stopped is read, and stays stopped."""
    p = Program("waits").settle(running=1)
    os.kill(p.pid, signal.SIGSTOP)
    until(lambda: all(stat(p.pid, tid) == "T" for tid in p.tids()), "stopped")
    [process] = shown("-p", str(p.pid))
    until(lambda: all(stat(p.pid, tid) == "T" for tid in p.tids()), "stopped again")
    by = waits_of(p, process)
    check(all(t["stop_signal"] == signal.SIGSTOP for t in process["threads"]), f"{process}")
    check(by["spin"][0]["text"] == "stopped by SIGSTOP", f"{by['spin']}")
    check(by["mutex"][0]["text"].startswith("stopped by SIGSTOP, waits for mutex"), f"{by['mutex']}")
    os.kill(p.pid, signal.SIGCONT)
    p.settle(running=1)
    p.ends()


@case
def pool(_):
    """Threads with one stack are shown once."""
    p = Program("pool", str(POOL)).settle()
    said = text("-p", str(p.pid))
    check(f"{POOL} threads: waits for a condition variable" in said and said.count("wait_cond") == 1, said)
    line = re.search(r'\n    ( \d+[^\n]*\(worker\))\n', said)
    ids = [r.split("-") for r in line[1].split("(")[0].strip().split(",")]
    listed = [tid for r in ids for tid in range(int(r[0]), int(r[-1]) + 1)]
    check(sorted([*listed, p.pid]) == sorted(p.tids()), f"{line[1]}")
    [process] = shown("-p", str(p.pid))
    check(sorted(t["tid"] for t in process["threads"]) == sorted(p.tids()), "threads")
    check(all(t["frames"] for t in process["threads"]), "a thread without frames")
    print(f"{POOL} threads stood still for {process['stopped_ns'] / 1e6} ms")
    p.ends()


@case
def calls(_):
    """No system call returns because of the stop."""
    p = Program("calls").settle()
    restarted = sum(shown("-p", str(p.settle().pid))[0]["restarted_calls"] for _ in range(10))
    check(restarted > 0, "no call needed a restart: the case proves nothing")
    p.settle().ends()


@case
def kept(folder):
    """A recording shows the same threads again."""
    path = os.path.join(folder, "f")
    p, q = Program("deadlock").settle(), Program("waits").settle(running=1)
    both = shown("-p", f"{p.pid},{q.pid}", "-o", path)
    check([s["pid"] for s in both] == [p.pid, q.pid], f"{[s['pid'] for s in both]}")
    p.ends()
    q.ends()
    Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
    check(shown(path) == both, "the recording shows other threads")
    check(shown("-p", str(q.pid), path) == both[1:], "-p selects")
    Run([PTCAP, "stacks", "-p", "1", path]).expect(4)
    check("`ptcap crash core` writes a core" in Run([PTCAP, "crash", "show", path]).expect(4).err, "no way to go on")
    with open(path, "rb") as f:
        piped = Run([PTCAP, "stacks", "-i", "-", "--format", "json"], stdin=f).expect(0).out
    check(json.loads(piped)["processes"] == both, "from a pipe")
    info = Run([PTCAP, "info", path]).expect(0)
    check("ptcap stacks" in info.out and "crash show" not in info.out, info.out)


@case
def memoryless(folder):
    """--no-memory: no bytes of a stack are in the recording."""
    path = os.path.join(folder, "f")
    p = Program("deadlock").settle()
    [process] = shown("-p", str(p.pid), "-o", path, "--no-memory")
    check(process["no_memory"] and all(t["depth"] <= 1 for t in process["threads"]), f"{process}")
    check("crash: memory" not in Run([PTCAP, "dump", "-i", path]).expect(0).out, "there is memory")
    p.ends()


@case
def of_crashes(folder):
    """The state of a killed process has stacks, too."""
    path = os.path.join(folder, "f")
    if not lib.has_events():
        lib.skip("no perf events here")
    Run([PTCAP, "crash", "-e", "dummy:u", "-o", path, "--", prog("crash"), "thread"]).expect(128 + signal.SIGSEGV)
    [process] = shown(path)
    check(process["signal"] == signal.SIGSEGV and len(process["threads"]) == 4, f"{process}")
    check(all(t["frames"] for t in process["threads"]), f"{process}")
    check(sum(t["text"].startswith("killed by SIGSEGV") for t in process["threads"]) == 1, f"{process}")


@case
def ended(folder):
    """`crash -p` ended by ^C has the state of the process, which lives on; with and without a trace."""
    for name, options in (("f", ["-e", "dummy:u"]), ("g", ["--source", "step"])):
        if name == "f" and not lib.has_events():
            continue
        path = os.path.join(folder, name)
        p = Program("deadlock").settle()
        us = subprocess.Popen([PTCAP, "crash", *options, "-o", path, "-p", str(p.pid)], stderr=subprocess.PIPE, text=True)
        check(any("attached" in line for line in us.stderr), "not attached")
        us.send_signal(signal.SIGINT)
        said = us.stderr.read()
        check(us.wait() == 0 and "ptcap stacks" in said, f"exit status {us.returncode}: {said}")
        [process] = shown(path)
        check(process["pid"] == p.pid and len(process["deadlocks"]) == 2, f"{process}")
        Run([PTCAP, "crash", "show", path]).expect(4)
        Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
        p.settle().ends()


@case
def hung(folder):
    """A watchdog aborts a process that hangs: the state has the owner of each lock, and each file."""
    sources = [["--source", "step"]]
    sources += [["-e", "dummy:u"]] if lib.has_events() else []
    sources += [["--source", "emu"]] if shutil.which("qemu-x86_64") else []
    for options in sources:
        path = os.path.join(folder, options[-1])
        us = subprocess.Popen([PTCAP, "crash", *options, "-o", path, "--", prog("stacks"), "deadlock"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(us.stdout.readline() == b"ready\n", f"{options}: not ready")
        p = Program.__new__(Program)
        [p.pid] = [pid for pid, line in lib.strays().items() if line.split()[0] == prog("stacks")]
        p.settle()
        os.kill(p.pid, signal.SIGABRT)
        us.wait()  # the end of its input would end read(), too
        said = us.communicate()[1]
        check(us.returncode == 128 + signal.SIGABRT, f"{options}: exit status {us.returncode}: {said}")
        [process] = shown(path)
        check(process["signal"] == signal.SIGABRT and len(process["deadlocks"]) == 2, f"{options}: {process}")
        [main] = [t for t in process["threads"] if t["tid"] == p.pid]
        check(main["wait"]["call"] == "read" and main["wait"]["fd_file"].startswith("pipe:["), f"{options}: {main}")


@case
def choices(_):
    """Without Intel PT the refusal names all choices."""
    if os.path.exists("/sys/bus/event_source/devices/intel_pt"):
        lib.skip("this machine has Intel PT")
    p = Program("deadlock")
    for command in ("record", "snapshot", "crash"):
        said = Run([PTCAP, command, "-p", str(p.pid)]).expect(1).err
        for part in (f"`ptcap stacks -p {p.pid}`", f"`ptcap crash -e dummy:u -p {p.pid}`", "--source step"):
            check(part in said, f"{command}: no {part} in {said}")
    p.ends()


def absent_program():
    """Return prog_absent, or skip where the kernel refuses it userfaultfd."""
    if subprocess.run([prog("absent")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout != b"ready\n":
        lib.skip("no userfaultfd here (needs root, or sysctl vm.unprivileged_userfaultfd=1)")
    return prog("absent")


def absent_rest(process):
    """Check that the thread whose memory is partly absent has its stack."""
    [t] = threads(process)["rest"]
    check("rest" in [f["function"] for f in t["frames"]] and t["wait"]["call"] == "pause", f"{t}")


@case
def absent(_):
    """Pages that only the program itself can supply: they are left out. The program works on."""
    p = Program(argv=[absent_program()]).settle()
    [process] = shown("-p", str(p.pid))
    absent_rest(process)
    p.settle().ends()


def with_waiting_reads(*command):
    """Return a command that may trace, but may not open /proc/PID/mem: its reads of absent memory wait."""
    if os.getuid() or not shutil.which("setpriv"):
        lib.skip("needs root, and setpriv (Debian: util-linux)")
    return ["setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all,+sys_ptrace", "--ambient-caps=-all,+sys_ptrace",
            "--bounding-set=-all,+sys_ptrace", *command]


@case
def late(_):
    """A copy that never ends: pt-stacks is killed, and the program works on."""
    p = Program(argv=[absent_program()]).settle()
    r = Run(with_waiting_reads(PTCAP, "stacks", "-p", str(p.pid))).expect(1)
    check(f"process {p.pid} took too long" in r.err, r.err)
    p.settle().ends()


@case
def missing(folder):
    """A recording tells which state it lacks. It has the other states."""
    p = [Program("deadlock").settle(), Program(argv=[absent_program()]).settle()]
    os.chmod(folder, 0o777)
    path = os.path.join(folder, "f")
    us = subprocess.Popen(with_waiting_reads(PTCAP, "crash", "--source", "step", "-o", path, "-p", f"{p[0].pid},{p[1].pid}"), stderr=subprocess.PIPE, text=True)
    check(any("attached" in line for line in us.stderr), "not attached")
    us.send_signal(signal.SIGINT)
    said = us.stderr.read()
    check(us.wait() == 0 and f"not saved: 1 state of running processes; the first: the copy of process {p[1].pid}" in said, f"{us.returncode}: {said}")
    Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
    [process] = shown(path)
    check(process["pid"] == p[0].pid and len(process["deadlocks"]) == 2, f"{process}")
    for k in p:
        k.settle().ends()


@case
def impatient(folder):
    """A second ^C ends the wait for a copy that never ends. The recording is complete."""
    os.chmod(folder, 0o777)
    for command, suffix in (("crash", ""), ("snapshot", ".000")):
        p = Program(argv=[absent_program()]).settle()
        path = os.path.join(folder, command)
        us = subprocess.Popen(with_waiting_reads(PTCAP, command, "--source", "step", "-o", path, "-p", str(p.pid)), stderr=subprocess.PIPE, text=True)
        check(any("^C ends" in line for line in us.stderr), "not attached")
        us.send_signal(signal.SIGINT)

        def copied():
            tracer = tracer_of(p.pid, p.pid)
            return us.poll() is not None or (tracer and name_of(tracer) == "pt-stacks")

        until(copied, "pt-stacks")
        us.send_signal(signal.SIGINT)
        said = us.stderr.read()
        check(us.wait() == 0 and f"a request to end came before the copy of process {p.pid}" in said, f"{us.returncode}: {said}")
        Run([PTCAP, "dump", "--verify", "-i", path + suffix]).expect(0)
        p.settle().ends()


@case
def refused(folder):
    """Mistakes are named, and leave no file."""
    path = os.path.join(folder, "f")
    p = Program("deadlock").settle()
    gone = subprocess.Popen(["true"])
    gone.wait()
    r = Run([PTCAP, "stacks", "-p", str(gone.pid), "-o", path]).expect(1)
    check(f"process {gone.pid}" in r.err, r.err)
    traced = subprocess.Popen([PTCAP, "record", "--source", "step", "-o", os.path.join(folder, "g"), "-p", str(p.pid)], stderr=subprocess.PIPE, text=True)
    check(any("attached" in line for line in traced.stderr), "not attached")
    r = Run([PTCAP, "stacks", "-p", str(p.pid), "-o", path]).expect(1)
    check("already traces it" in r.err, r.err)
    traced.send_signal(signal.SIGINT)
    traced.communicate()
    check(not os.path.exists(path), "a file of nothing")
    for args in (["-o", path, "x"], ["--no-memory", "x"], ["-n", "0", "-p", "1"], ["-p", "x"]):
        Run([PTCAP, "stacks", *args]).expect(2)
    p.ends()


@case
def killed(folder, times=5):
    """ptcap may die at any moment: the process works on, and ends by itself."""
    p, waiting = Program("rounds"), Program("pool", str(POOL)).settle()
    path = os.path.join(folder, "f")

    def answers():
        p.p.stdin.write(b"go\n")
        p.p.stdin.flush()
        check(p.p.stdout.readline() == b"round\n", "no answer")

    def traced(q):
        return any(tracer_of(q.pid, tid) for tid in q.tids())

    dice, held = random.Random(31), 0
    begin = time.monotonic()
    shown("-p", f"{p.pid},{waiting.pid}")
    whole = time.monotonic() - begin
    for i in range(int(times)):  # one kill at any moment, the next one while a thread is held
        us = subprocess.Popen([PTCAP, "stacks", "-p", f"{p.pid},{waiting.pid}", "-o", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + dice.random() * whole
        while us.poll() is None and (i % 2 or time.monotonic() < end):  # it works all the time
            answers()
            if tracer_of(waiting.pid, waiting.pid):
                held += 1
                break
        helpers = [pid for pid, line in lib.strays().items() if pid != us.pid and "stacks -p" in line]
        for pid in [*helpers, us.pid] if i % 4 == 3 else [us.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        us.wait()
        answers()
        until(lambda: not traced(p) and not traced(waiting), "left alone")
    check(sorted(os.listdir(folder)) in ([], ["f"], ["f", "f.old"]), f"left: {os.listdir(folder)}")
    waiting.settle()
    [process] = shown("-p", str(waiting.pid))
    check(len(process["threads"]) == POOL + 1, f"{len(process['threads'])} threads")
    waiting.ends()
    p.ends()
    print(f"{times} times killed, {held} of them while it held a thread")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lib.main(CASES)
