# SPDX-License-Identifier: MIT
"""Cases of behave.py: a recorded program inherits the same as a plain one."""

import difflib
import fcntl
import os
import re
import resource
import signal
import subprocess
import termios

import lib
from behave_qemu import qemu_version
from cases import case
from lib import PTCAP, check, prog
from live import Live, proc_status


@case
def inherits(folder):
    """The command starts as without ptcap: the same signal masks, files, working directory."""

    def look(p, pid):
        s = proc_status(pid)
        fds = sorted(os.listdir(f"/proc/{pid}/fd"))
        seen = [s["SigBlk"], s["SigIgn"], s["SigCgt"], fds, os.readlink(f"/proc/{pid}/cwd")]
        p.stdin.close()
        p.wait()
        return seen

    plain = subprocess.Popen(
        [prog("wait")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    check(plain.stdout.readline() == b"ready\n", "the plain program says nothing")
    want = look(plain, plain.pid)
    live = Live(folder, [prog("wait")])
    live.says("ready")
    got = look(live.p, live.command())
    check(got == want, f"with ptcap {got}, without {want}")


def context_of(folder, name, argv, surroundings):
    """Return the output of prog_context when argv runs in @surroundings (called in the child)."""
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        r = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=f,
            stderr=subprocess.DEVNULL,
            preexec_fn=surroundings,
            close_fds=False,
            check=False,
        )
    check(r.returncode == 0, f"{argv}: exit status {r.returncode}")
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().replace(path, "OUT").splitlines()


def same_context(folder, surroundings, prefix=()):
    """Compare both outputs, and return them."""
    path, truth = os.path.join(folder, "f"), os.path.join(folder, "t")
    command = [prog("context_static"), "an argument", "", "-x"]
    ours = [PTCAP, "record", "-q", "--source", "step", "-o", path, "--truth", truth, "--"]
    want = context_of(folder, "plain", [*prefix, *command], surroundings)
    got = context_of(folder, "traced", [*prefix, *ours, *command], surroundings)
    check(want, "the plain program says nothing")
    changes = list(difflib.unified_diff(want, got, "plain", "recorded", lineterm="", n=0))
    check(not changes, "\n".join(changes))
    lib.equals_truth(path, truth)
    return want


@case
def context(folder):
    """A recorded program inherits the same as a plain one: environment, files, limits, signals,
    CPUs, ..."""

    def unusual():
        # 39: the step source uses this signal.
        for sig in (1, 2, 3, 10, 13, 15, 17, 39, 64):
            signal.signal(sig, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {2, 12, 17, 39, 40})
        os.umask(0o27)
        os.nice(5)
        os.chdir("/usr")
        os.environ.clear()
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, 300))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_STACK, (4 << 20, 8 << 20))
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        os.dup2(0, 77)

    seen = same_context(folder, unusual)
    check("terminal no" in seen or "terminal yes" in seen, f"seen {seen}")
    for line in ("umask 27", "cwd /usr", "signal 39 blocked ignored flags 0"):
        check(line in seen, f"no {line!r} in {seen}")
    check(any(line.startswith("descriptor 77 ") for line in seen), f"no descriptor 77 in {seen}")


@case
def context_terminal(folder):
    """The same in a session with a terminal: the command is in its foreground, as without ptcap."""
    master, slave = os.openpty()

    def session():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        os.dup2(slave, 0)

    os.set_inheritable(slave, True)
    # A shell leads the session in both cases: otherwise the plain program would lead it.
    seen = same_context(folder, session, ["/bin/sh", "-c", '"$@"; exit $?', "sh"])
    check("terminal yes" in seen and "foreground yes" in seen, f"seen {seen}")
    os.close(slave)
    os.close(master)


# The differences for an emulated program, except the flags of descriptors. QEMU sets no
# O_LARGEFILE, and knows neither PR_GET_CHILD_SUBREAPER nor PR_GET_SECCOMP and similar calls. The
# kernel shows QEMU's threads.
CHANGED = {"parent's death ": "<9", "prctl ": "", "status Threads:": ""}


@case
def context_of_qemu(folder):
    """An emulated program inherits the same as a plain one, its environment in the same order,
    except for CHANGED."""
    path, truth_path = os.path.join(folder, "f"), os.path.join(folder, "t")
    command = [prog("context"), "an argument", "", "-x"]
    ours = [*lib.RECORD, "-q", "-o", path, "--truth", truth_path, "--"]

    def seen(name, argv):
        lines = context_of(folder, name, argv, None)
        return [re.sub(r"^(descriptor .* [0-9a-f]+ )([0-9a-f]+)$", lambda m: f"{m[1]}{int(m[2], 16) & ~0x8000:x}", line)
                for line in lines]

    want, got = seen("plain", command), seen("emulated", [*ours, *command])
    check(len(want) == len(got), f"{len(got)} lines, plain {len(want)}")
    found = set()
    for a, b in zip(want, got):
        if a != b:
            found.add(next((c for c in CHANGED if a.startswith(c) and b.startswith(c)), f"{a} -> {b}"))
    changed = {c for c, since in CHANGED.items() if not since or qemu_version() < int(since[1:])}
    check(found <= changed, f"changed: {found - changed}")
    check(found == changed, f"not changed any more: {changed - found}")
    lib.equals_truth(path, truth_path)
