#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""snapshot_stacks.py NAME: each snapshot keeps what each thread does and waits for, for `ptcap stacks`.

The programs know what their threads wait for: the name of each thread says it. The reference for
stacks of a running process is eu-stack.
"""

import os
import re
import signal
import sys

import lib
import stacks
from lib import PTCAP, Run, check, prog, until
from snapshot import Live, SNAPSHOT

CASES = {}
RINGS = ["-m", "256K,64K", "--"]
PROGRAM = prog("stacks_static")  # without the steps of a dynamic linker
DEADLOCKS = 2  # of prog_stacks deadlock


def case(f):
    CASES[f.__name__] = f
    return f


class Started(Live):
    """A snapshot of a command. Its output begins with so many lines "ready"."""

    def __init__(self, folder, *args, ready=1):
        super().__init__(folder, *args)
        self.n = 0
        for _ in range(ready):
            check(self.p.stdout.readline() == b"ready\n", "the program is not ready")

    def take(self):
        """Take a snapshot. Returns its processes, as `ptcap stacks` shows them."""
        check(self.command("snapshot") == "ack", "no snapshot")
        path = f"{self.path}.{self.n:03}"
        self.n += 1
        Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
        return stacks.shown(path)

    def settled(self, pid, running=0):
        """Wait until all threads of a process sleep, except so many. Returns the process."""
        process = stacks.Program.__new__(stacks.Program)
        process.pid = pid
        return process.settle(running)

    def over(self, status=0):
        """End the program by itself: nothing harmed it."""
        self.p.stdin.close()
        self.ends(status)


@case
def command(folder):
    """Each snapshot has each thread of a command, and what it waits for."""
    live = Started(folder, *RINGS, PROGRAM, "waits")
    [process] = live.take()
    p = live.settled(process["pid"], running=1)
    for _ in range(2):
        [process] = live.take()
        by = stacks.waits_of(p, process)
        check(len(process["threads"]) == len(stacks.WAITS) + 1, f"{[t['name'] for t in process['threads']]}")
        check(by["read"][0]["depth"] > 2 and by["spin"][0]["depth"] > 2, f"{by['read']} {by['spin']}")
    [main] = [t for t in process["threads"] if t["tid"] == p.pid]
    check(main["wait"].get("call") == "read" and "wait_for_end" in [f["function"] for f in main["frames"]], f"{main}")
    live.over()


@case
def left(folder):
    """The last snapshot of a command that runs on has each thread, too."""
    live = Started(folder, *RINGS, PROGRAM, "waits")
    [process] = live.take()
    p = live.settled(process["pid"], running=1)
    check(live.command("stop") == "ack", "it does not stop")
    live.over()
    [process] = stacks.shown(f"{live.path}.001")
    stacks.waits_of(p, process)


@case
def turns(folder):
    """Threads that never rest: each snapshot has all of them, and each stack begins in its function."""
    live = Started(folder, *RINGS, PROGRAM, "rounds")
    for _ in range(20):
        live.p.stdin.write(b"go\n")
        live.p.stdin.flush()
        check(live.p.stdout.readline() == b"round\n", "no answer")
        by = stacks.threads(live.take()[0])
        check(sorted(len(by[name]) for name in by) == [1, 1, 2], f"{by}")
        for name, function in (("turns", "take_turns"), ("echo", "echo")):
            for t in by[name]:
                check(function in [f["function"] for f in t["frames"]], f"{name}: {t}")
    live.over()


@case
def place(folder):
    """--at: a thread that reaches the place is there, before its first instruction."""
    live = Started(folder, "--at", "take_turns", "--count", "1", *RINGS, PROGRAM, "rounds")
    until(live.files, "a snapshot")
    live.over()
    [process] = stacks.shown(live.path)
    first = [t["frames"][0] for t in process["threads"] if t["frames"][0]["function"] == "take_turns"]
    check("0x0" in [f["offset"] for f in first], f"{first}")  # QEMU's second thread may be there, too


@case
def without(folder):
    """--no-stacks: no state is in a snapshot."""
    live = Live(folder, "--no-stacks", *RINGS, PROGRAM, "deadlock")
    check(live.p.stdout.readline() == b"ready\n" and live.command("snapshot") == "ack", "no snapshot")
    Run([PTCAP, "stacks", f"{live.path}.000"]).expect(4)
    check("crash: " not in Run([PTCAP, "dump", "-i", f"{live.path}.000"]).expect(0).out, "there is a state")
    live.p.stdin.close()
    live.ends(0)


@case
def children(folder):
    """All processes of a command are in a snapshot, with their threads and deadlocks."""
    live = Started(folder, *RINGS, prog("run"), "3", PROGRAM, "deadlock", "&", PROGRAM, "deadlock", ready=2)

    def pids():
        return {process["pid"]: len(process["deadlocks"]) for process in live.take()}

    for pid in pids():
        live.settled(pid)
    got = pids()
    check(sorted(got.values()) == [0, DEADLOCKS, DEADLOCKS], f"{got}")
    live.over(3)


@case
def absent(folder):
    """Pages that only the program itself can supply: they are left out. The program works on."""
    live = Started(folder, *RINGS, stacks.absent_program())
    [process] = live.take()
    live.settled(process["pid"])
    [process] = live.take()
    stacks.absent_rest(process)
    live.over()


@case
def attached(folder):
    """A running process: the stacks are those that eu-stack sees, at each snapshot and at the end."""
    p = stacks.Program("waits").settle(running=1)
    theirs = stacks.eu_stack(p.pid)
    p.settle(running=1)
    live = Live(folder, "-m", "256K,64K", "-p", str(p.pid))
    check(live.command("snapshot") == "ack", "no snapshot")  # the calls are interrupted, and not yet repeated
    p.settle(running=1)
    check(live.command("snapshot") == "ack" and live.command("stop") == "ack", "no snapshot")
    live.ends(0)
    for name in live.files():
        [process] = stacks.shown(f"{folder}/{name}")
        stacks.waits_of(p, process)
        check(len(process["threads"]) == len(theirs), f"{len(process['threads'])} threads, eu-stack has {len(theirs)}")
        for t in process["threads"]:
            ours = [int(f["ip"], 16) for f in t["frames"]]
            check(ours[1:] == theirs[t["tid"]][1:] and len(ours) > 1, f"{name}: {t}, not {[hex(a) for a in theirs[t['tid']]]}")
    check(len(live.files()) == 3, f"{live.files()}")
    p.ends()


@case
def stopped(folder):
    """A process that job control has stopped: each thread has the signal, and its stack."""
    p = stacks.Program("waits").settle(running=1)
    live = Started(folder, "-m", "256K,64K", "-p", str(p.pid), ready=0)
    live.take()
    p.settle(running=1)
    os.kill(p.pid, signal.SIGSTOP)
    seen = []

    def all_stopped():
        [process] = live.take()
        seen[:] = process["threads"]
        return all(t.get("stop_signal") == signal.SIGSTOP for t in seen)

    until(all_stopped, "all threads stopped")
    check(len(seen) == len(stacks.WAITS) + 1 and all(t["depth"] > 1 for t in seen), f"{seen}")
    by = {t["name"]: t["text"] for t in seen}
    check(re.match("stopped by SIGSTOP, waits for mutex", by["mutex"]) and by["spin"] == "stopped by SIGSTOP", f"{by}")
    os.kill(p.pid, signal.SIGCONT)
    p.settle(running=1)
    check(live.command("stop") == "ack", "it does not stop")
    live.ends(0)
    p.ends()


@case
def halted(folder):
    """An emulated process that job control has stopped: each thread has the signal, and its stack in a call."""
    live = Started(folder, *RINGS, prog("stacks"), "waits")
    [process] = live.take()
    p = live.settled(process["pid"], running=1)
    os.kill(p.pid, signal.SIGSTOP)
    until(lambda: all(stacks.stat(p.pid, tid) == "T" for tid in p.tids()), "all threads stopped")
    [process] = live.take()
    by = {t["name"]: t for t in process["threads"]}
    check(len(process["threads"]) == len(stacks.WAITS) + 1 and all(t.get("stop_signal") == signal.SIGSTOP for t in process["threads"]), f"{[t['text'] for t in process['threads']]}")
    check(by["mutex"]["depth"] > 2 and re.match("stopped by SIGSTOP, waits for mutex", by["mutex"]["text"]), f"{by['mutex']}")
    check(by["spin"]["text"] == "stopped by SIGSTOP", f"{by['spin']}")
    os.kill(p.pid, signal.SIGCONT)
    p.settle(running=1)
    live.over()


@case
def alone(folder):
    """An emulated process without system calls that job control has stopped is in the snapshot, too."""
    live = Started(folder, *RINGS, "/bin/dash", "-c", "echo ready; while :; do :; done")
    [process] = live.take()
    os.kill(process["pid"], signal.SIGSTOP)
    until(lambda: stacks.stat(process["pid"], process["pid"]) == "T", "stopped")
    [t] = live.take()[0]["threads"]
    check(t["stop_signal"] == signal.SIGSTOP, f"{t}")
    os.kill(process["pid"], signal.SIGCONT)
    os.kill(process["pid"], signal.SIGTERM)
    live.over(128 + signal.SIGTERM)


@case
def signalled(folder):
    """--on-signal: each thread is in the snapshot, before one of them gets the signal."""
    p = stacks.Program("deadlock").settle()
    live = Live(folder, "--on-signal", "CHLD", "-m", "256K,64K", "-p", str(p.pid))
    until(lambda: "waiting; " in live.err(), "attached")
    os.kill(p.pid, signal.SIGCHLD)
    until(lambda: "snapshot 1:" in live.err(), "a snapshot")
    [process] = stacks.shown(f"{live.path}.000")
    check(len(process["threads"]) == 4 and len(process["deadlocks"]) == DEADLOCKS, f"{process}")
    check(live.command("stop") == "ack", "it does not stop")
    live.ends(0)
    p.settle().ends()


@case
def crashes(folder):
    """--on-crash: the dying process is in the snapshot once, and its parent lives."""
    path = os.path.join(folder, "f")
    Run([*SNAPSHOT, "-q", "-o", path, "--on-crash", *RINGS, prog("run"), "5", prog("crash_static"), "null"]).expect(5)
    got = stacks.shown(path + ".000")
    check(sorted(p.get("signal", 0) for p in got) == [0, signal.SIGSEGV], f"{got}")
    [parent] = [p for p in got if "signal" not in p]
    check([t["wait"].get("call") for t in parent["threads"]] == ["wait4"], f"{parent}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lib.main(CASES)
