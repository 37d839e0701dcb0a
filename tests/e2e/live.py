# SPDX-License-Identifier: MIT
"""Running recordings and recorded programs, and their state in /proc."""

import os
import subprocess

import lib
from lib import check, prog, until


def proc_status(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def stands_still(pid):
    """Return a condition: `pid` is stopped, and has not run for 100 looks. Between two steps a stepped
    process is stopped, too."""
    last, looks = None, 0

    def look():
        nonlocal last, looks
        s = proc_status(pid)
        now = (s["State"][0], s["voluntary_ctxt_switches"], s["nonvoluntary_ctxt_switches"])
        looks = looks + 1 if now == last and now[0] in "Tt" else 0
        last = now
        return looks == 100

    return look


def only_child(pid):
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                ppid = f.read().rsplit(")", 1)[1].split()[1]
        except OSError:
            continue
        if int(ppid) == pid:
            found.append(int(name))
    check(len(found) == 1, f"children of {pid}: {found}")
    return found[0]


class Live:
    """A running recording, in its own process group; its command's input is a pipe."""

    GRACE = ("--grace", "1h")  # the command ends by itself, even on a busy machine

    def __init__(self, folder, argv, *options):
        self.path = os.path.join(folder, "perf.data")
        self.truth = os.path.join(folder, "truth")
        head = [*lib.RECORD, "-o", self.path, "--truth", self.truth]
        self.p = subprocess.Popen(
            [*head, *self.GRACE, *options, "--", *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(os.path.join(folder, "stderr"), "wb"),
            start_new_session=True,
        )

    def says(self, word):
        line = self.p.stdout.readline().decode()
        check(line == word + "\n", f"the command says {line!r}, expected {word!r}")

    def command(self):
        """Return the pid of the command: its parent is the tracer's process, if there is one."""
        return only_child(self.p.pid if lib.SOURCE == "emu" else only_child(self.p.pid))

    def signal(self, sig):
        os.kill(self.p.pid, sig)

    def signal_all(self, sig):
        """Send a signal to the whole group, like a terminal."""
        os.killpg(self.p.pid, sig)

    def taken(self, sig):
        """Wait until ptcap has taken the signal, so that the next signal of this kind counts as a
        second one."""

        def none_pending():
            s = proc_status(self.p.pid)
            return not (int(s["ShdPnd"], 16) | int(s["SigPnd"], 16)) >> (sig - 1) & 1

        until(none_pending, f"signal {sig} taken")

    def ends(self, want):
        status = self.p.wait()
        status = status if status >= 0 else 128 - status
        check(status == want, f"exit status {status}, expected {want}")

    def valid(self):
        check(os.listdir(os.path.dirname(self.path)).count("perf.data") == 1, "no file")
        return lib.equals_truth(self.path, self.truth)

    def no_more_input(self):
        self.p.stdin.close()


def lives_on(live, pid, affinity):
    """The command continues, untraced and unpinned, and ends normally."""
    s = proc_status(pid)
    check(s["TracerPid"] == "0", f"still traced by {s['TracerPid']}")
    check(s["State"][0] not in "TtZX", f"state {s['State']}")
    check(os.sched_getaffinity(pid) == affinity, f"pinned to {os.sched_getaffinity(pid)}")
    live.no_more_input()
    live.says("done")
    _, status = os.waitpid(pid, 0)
    check(os.WIFEXITED(status) and os.WEXITSTATUS(status) == 7, f"the command's status {status:#x}")


class Server:
    """A running program with nine threads."""

    def __init__(self):
        self.p = subprocess.Popen([prog("tasks"), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        check(self.p.stdout.readline() == b"ready\n", "the server is not ready")

    def threads(self):
        return [int(tid) for tid in os.listdir(f"/proc/{self.p.pid}/task")]

    def untouched(self, affinity):
        for tid in self.threads():
            s = proc_status(tid)
            check(s["TracerPid"] == "0", f"thread {tid} is still traced")
            check(s["State"][0] not in "tTZX", f"thread {tid}: {s['State']}")
            check(os.sched_getaffinity(tid) == affinity, f"thread {tid} is still pinned")

    def works_on(self):
        """One thread makes a thousand system calls, the others a thousand rounds; none has TF."""
        self.p.stdin.write(b"w")
        self.p.stdin.flush()
        check(self.p.stdout.readline() == b"worked\n", "the server does not work any more")

    def ends_well(self):
        self.p.stdin.close()
        line = self.p.stdout.readline()
        status = self.p.wait()
        check(line == b"done\n" and status == 7, f"the server says {line!r}, and ends with status {status}")


def state(pid):
    return proc_status(pid)["State"][0]
