#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""failing.py NAME [TIMES]: the kernel refuses a call, or a process dies at any moment. The recorded
program never notices.

The moments are random, and the same in each run. The cases assume nothing about the progress at
these moments.
"""

import errno
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import lib
from events import EVENT, attached, need_events
from lib import PTCAP, Run, check, prog, until

CASES = {}
REFUSE = os.path.join(os.path.dirname(lib.PROGS), "refuse")
TIMES = int(sys.argv.pop(2)) if len(sys.argv) > 2 else 20
MOMENT = float(os.environ.get("PTCAP_MOMENT", "0.03"))  # several times the duration of an attach


def case(f):
    CASES[f.__name__] = f
    return f


@case
def refused(folder):
    """Each errno of perf_event_open, from containers, kernels without it, and busy machines: the
    message has the remedy."""
    need_events(folder)
    path, done = (os.path.join(folder, n) for n in ("f", "done"))
    for sys_, words in (
        (errno.EPERM, "seccomp"),
        (errno.EACCES, "perf_event_paranoid is"),
        (errno.ENOSYS, "the kernel has no perf events, or a seccomp filter hides them"),
        (errno.EBUSY, "another ptcap, perf, a KVM guest"),
        (errno.EINVAL, "not supported by the kernel or the CPU"),
        (errno.ENODEV, "offline"),
        (errno.ENOENT, "the PMU does not exist any more"),
        (errno.EOPNOTSUPP, "virtual machine"),
        (errno.E2BIG, "too many events"),
        (errno.ENOSPC, "no free counter"),
        (errno.ENOMEM, "no memory"),
        (errno.ENFILE, "fs.file-max"),
        (errno.EMFILE, r"\d+ more file descriptors are needed"),
    ):
        for event in ("dummy:u", "page-faults:u"):
            r = Run([REFUSE, str(sys_), PTCAP, "record", "-e", event, "-o", path, "--", "touch", done]).expect(125)
            check(re.search(words, r.err), f"{errno.errorcode[sys_]}: {words!r} is not in {r.err!r}")
            check(r.err.endswith("; see `ptcap doctor`\n"), r.err)
            check(r.err.count("\n") == 1, f"more than one line: {r.err!r}")
            check(not os.path.exists(done), f"{errno.errorcode[sys_]}: the command ran")
            check(not os.path.exists(path), f"{errno.errorcode[sys_]}: a file is left")


@case
def software(folder):
    """If the kernel gives no events, as in most containers, the software sources still record."""
    path = os.path.join(folder, "f")
    for sys_ in (errno.EPERM, errno.ENOSYS):
        Run([REFUSE, str(sys_), PTCAP, "record", "-q", "--source", "step", "-o", path, "--", prog("hello")]).expect(0)
        check(Run([PTCAP, "decode", "-i", path]).expect(0).out, "nothing was decoded")


@case
def descriptors(folder):
    """A recorded command has the same descriptors as alone: none of an event, none of ptcap."""
    need_events(folder)
    path = os.path.join(folder, "f")
    names = ["/bin/sh", "-c", "for f in /proc/self/fd/*; do readlink $f; done; true"]
    alone = Run(names).expect(0).out
    seen = Run([PTCAP, *EVENT, "-q", "-o", path, "--", *names]).expect(0).out
    anonymous = [l for l in seen.splitlines() if "anon_inode" in l]
    check(not anonymous, f"the command has {anonymous}")
    check(len(seen.splitlines()) == len(alone.splitlines()), f"alone {alone!r}, recorded {seen!r}")


def events_in(pid):
    """Return the event descriptors of a process."""
    ret = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            ret += [os.readlink(f"/proc/{pid}/fd/{fd}")]
        except FileNotFoundError:
            pass
    return [l for l in ret if "perf_event" in l]


@case
def target(folder):
    """An attached process ends, execs or is killed at random moments: a complete file, or a message
    and no file. The process ends normally."""
    need_events(folder)
    dice = random.Random(7)
    path = os.path.join(folder, "f")
    told = 0
    for n in range(TIMES):
        what = ("end", "exec", "kill")[n % 3]
        argv = {"end": [prog("tasks"), "pool"], "exec": ["/bin/sh", "-c", "exec /bin/sh -c 'exec sleep 0.02'"],
                "kill": [prog("tasks"), "serve"]}[what]  # fmt: skip
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as t:
            with subprocess.Popen([PTCAP, *EVENT, "-o", path, "-p", str(t.pid)], stderr=subprocess.PIPE, text=True) as p:
                time.sleep(dice.random() * MOMENT)
                if what == "kill":
                    t.kill()
                status = t.wait()
                err = p.communicate()[1]
        check(status == {"end": 0, "exec": 0, "kill": -signal.SIGKILL}[what], f"{what}: its exit status is {status}")
        check(p.returncode in (0, 1), f"{what}: exit status {p.returncode}: {err}")
        check(os.path.exists(path) == (p.returncode == 0), f"{what}: exit status {p.returncode}, and the file")
        if p.returncode:
            check(re.search(r"has ended|no process|No such process", err), f"{what}: {err}")
            told += 1
        else:
            Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
            os.unlink(path)
    print(f"{TIMES} targets, {told} of them gone before they were recorded")


@case
def killed(folder):
    """ptcap is killed at random moments: the command and attached processes end normally, with no
    file or a complete one."""
    need_events(folder)
    os.unlink(os.path.join(folder, "probe"))
    dice = random.Random(11)
    path = os.path.join(folder, "f")
    for n in range(TIMES):
        # Its own result: it writes this once, when it is done.
        argv = ["/bin/sh", "-c", f"cd {folder}; echo >ran{n}; {prog('tasks')} pool && echo good >>out{n}"]
        if n % 2:
            t = subprocess.Popen(argv)
            p = subprocess.Popen([PTCAP, *EVENT, "-q", "-o", path, "-p", str(t.pid)], stderr=subprocess.DEVNULL)
        else:
            t = None
            p = subprocess.Popen([PTCAP, *EVENT, "-q", "-o", path, "--", *argv], stderr=subprocess.DEVNULL)
        time.sleep(dice.random() * MOMENT)
        p.kill()
        p.wait()
        if t:
            check(t.wait() == 0, f"its exit status is {t.returncode}")
        if os.path.exists(path):  # ptcap was done, and perhaps about to exit
            Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
            os.unlink(path)
    until(lambda: not lib.strays(), "the end of all that was recorded")
    ran = [f[3:] for f in os.listdir(folder) if f.startswith("ran")]  # the others were killed before they were released
    good = [n for n in ran if open(os.path.join(folder, f"out{n}"), encoding="ascii").read() == "good\n"]
    check(good == ran and len(ran) >= TIMES // 2, f"of {TIMES} {len(ran)} ran, and {len(good)} to their end")
    left = [f for f in os.listdir(folder) if not re.match(r"(out|ran)\d", f)]
    check(not left, f"left in the folder: {left}")
    print(f"{TIMES} recordings, {TIMES - len(ran)} killed before they began")


@case
def stray(folder):
    """A process that ptcap attached to and left has no event of ptcap, and can be attached to again."""
    need_events(folder)
    path = os.path.join(folder, "f")
    with subprocess.Popen([prog("tasks"), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as t:
        check(t.stdout.readline() == b"ready\n", "the program does not start")
        for sig in (signal.SIGINT, signal.SIGKILL, signal.SIGTERM):
            p = attached(folder, path, "-p", str(t.pid))
            check(events_in(p.pid), "ptcap has no events")
            check(not events_in(t.pid), f"it has {events_in(t.pid)}")
            p.send_signal(sig)
            p.wait()
            check(not events_in(t.pid), f"it has {events_in(t.pid)}")
        out = Run([PTCAP, "dump", "-i", path, "--format", "json"]).expect(0).out
        check(any(json.loads(l).get("name") == "MMAP2" for l in out.splitlines()), "the last recording is empty")
        t.stdin.close()
        check(t.wait() == 7, f"its exit status is {t.returncode}")


@case
def cpus(folder):
    """A CPU goes offline and online, according to uevents: ptcap reports it, and records the CPU
    again."""
    need_events(folder)
    last = max(os.sched_getaffinity(0))
    uevent = f"/sys/devices/system/cpu/cpu{last}/uevent"
    path = os.path.join(folder, "f")
    if not os.access(uevent, os.W_OK):
        lib.skip(f"{uevent} cannot be written")
    went, was = f"CPU {last} went offline at ", f"CPU {last} was offline from "
    lost = "LOST: the first moment after a CPU came online, "
    events = "ls -l /proc/$PPID/fd | grep -c perf_event"
    go, come = f"echo offline >{uevent}; ", f"echo online >{uevent}; "
    come_back = f"n=$({events}); {go}{come} until [ $({events}) -gt $n ]; do :; done; "
    for options, actions, status, words in (
        (["-a"], come, 0, []),  # it was never offline
        (["-a"], go, 0, [went]),
        (["-a"], come_back, 3, [was, "its first moment is not recorded", lost + "1 time;"]),
        (["-a"], come_back + come_back, 3, [was, lost + "2 times;"]),
        (["-C", str(last)], come_back, 3, [was, lost + "1 time;"]),
        (["-C", "0"], go + come, 3 if last == 0 else 0, []),
        ([], come, 0, []),
        ([], go + come, 0, [was]),  # its events on this CPU still exist
    ):
        command = f"{actions} exec taskset -c {last} printf ''"
        # All other activity of the machine is recorded as well. If that was too much for the rings,
        # try again.
        for _ in range(20):
            r = Run([PTCAP, *EVENT, "-v", "--strict", "-m", "16M", *options, "-o", path, "--", "/bin/sh", "-c", command])
            if not re.search(r"LOST: [1-9]\d* sideband records?", r.err):
                break
        r.expect(status)
        for word in words:
            check(word in r.err, f"{options} {actions}: {word!r} is not in {r.err!r}")
        check(words or "offline" not in r.err and "online" not in r.err, f"{options} {actions}: {r.err}")
        Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
        execs = Run([PTCAP, "dump", "-i", path, "--type", "COMM"]).expect(0).out
        n = len(re.findall(rf'exec comm="printf".* cpu={last} ', execs))
        check(n == (options != ["-C", "0"] or last == 0), f"{options} {actions}: {n} times there is what ran in the end")
        if words[1:]:
            out = Run(["perf", "script", "-i", path, "--show-task-events"]).expect(0).out
            check(re.search(r"COMM exec: printf", out), f"perf does not know it: {out[-300:]}")


if __name__ == "__main__":
    lib.main(CASES)
