#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile.py NAME: programs that work against their recorder (../support/prog_hostile.c). SIGTERM
and SIGINT end ptcap.

Each function below is a case; its name and text state the behaviour. No case measures time: a
case that waits for ever fails.
"""

import os
import shutil
import signal
import subprocess
import sys

import lib
from lib import PTCAP, Run, check, prog, until
from live import Live, lives_on, proc_status, stands_still

CASES = {}
LONG = 60


def case(f):
    CASES[f.__name__] = f
    return f


class Left(Live):
    """A recording with the default: its command has a second to end."""

    GRACE = ()


def live(folder, mode, *options):
    ret = Left(folder, [prog("hostile"), mode], *options)
    ret.says("ready")
    return ret


def ended(p, *want):
    """ptcap ends by itself, for any state of the recorded processes."""
    try:
        status = p.wait(LONG)
    except subprocess.TimeoutExpired:
        check(False, f"ptcap does not end: {proc_status(p.pid)['State']}")
    status = status if status >= 0 else 128 - status
    check(status in want, f"exit status {status}, expected {want}")


@case
def deaf(folder):
    """ptcap leaves a command that ignores all signals after a second. The command continues
    undisturbed."""
    affinity = os.sched_getaffinity(0)
    r = live(folder, "deaf")
    pid = r.command()
    r.signal(signal.SIGTERM)
    ended(r.p, 143)
    r.valid()
    lives_on(r, pid, affinity)


@case
def grace(folder):
    """--grace: the time to wait for a command; a second signal ends the wait at once."""
    r = live(folder, "deaf", "--grace", "1h")
    r.signal(signal.SIGTERM)
    r.taken(signal.SIGTERM)
    r.signal(signal.SIGINT)
    ended(r.p, 130)
    r.no_more_input()


@case
def itself(folder):
    """A command that has stopped itself does not take SIGTERM: ptcap leaves it stopped."""
    r = live(folder, "itself")
    pid = r.command()
    until(stands_still(pid), "it has stopped")
    r.signal(signal.SIGTERM)
    ended(r.p, 143)
    check(proc_status(pid)["State"][0] == "T" and proc_status(pid)["TracerPid"] == "0", f"{proc_status(pid)}")
    os.kill(pid, signal.SIGKILL)
    r.valid()


@case
def storm(folder):
    """ptcap leaves processes that fork without end."""
    r = live(folder, "storm")
    r.signal(signal.SIGTERM)
    ended(r.p, 143)
    r.no_more_input()


@case
def waits_in_vfork(folder):
    """A command in vfork(2) cannot stop: ptcap leaves it when that is possible, long after ptcap's
    end."""
    r = live(folder, "vfork")
    parent = r.command()
    until(lambda: proc_status(parent)["State"][0] == "D", "it waits for its child")
    r.signal(signal.SIGINT)  # the command also gets SIGTERM, after its vfork
    ended(r.p, 130)
    r.valid()
    r.no_more_input()
    r.says("done")
    until(lambda: int(proc_status(parent)["PPid"]) == os.getpid(), "the tracer has ended, too")
    _, status = os.waitpid(parent, 0)
    check(os.WIFEXITED(status) and os.WEXITSTATUS(status) == 7, f"the command's status {status:#x}")


@case
def attached_in_vfork(folder):
    """The same for a process to attach to: ptcap names the thread, and does not touch it."""
    for command in (["record", "--source", "step"], ["snapshot", "--source", "step"], ["crash", "--source", "step"]):
        target = subprocess.Popen([prog("hostile"), "vfork"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        check(target.stdout.readline() == b"ready\n", "it is not ready")
        until(lambda: proc_status(target.pid)["State"][0] == "D", "it waits for its child")
        p = subprocess.Popen([PTCAP, *command, "-o", os.path.join(folder, "f"), "-p", str(target.pid)], stderr=subprocess.PIPE)
        until(lambda: proc_status(target.pid)["TracerPid"] != "0", "it is attached to")
        p.send_signal(signal.SIGINT)
        ended(p, 1)
        check(str(target.pid) in p.stderr.read().decode(), "the thread is not named")
        target.stdin.close()
        check(target.stdout.readline() == b"done\n" and target.wait() == 7, f"its status is {target.returncode}")
        check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


@case
def traces_back(folder):
    """A stepped process cannot trace its tracer, nor ptcap: EPERM, and all continue."""
    for mode in ("back", "parent"):
        r = Live(folder, [prog("hostile"), mode])
        r.says("refused")
        r.no_more_input()
        r.says("done")
        ended(r.p, 7)
        r.valid()


@case
def watched_traces_back(folder):
    """A watched process runs freely and, as root, can trace pt-watcher and ptcap: signals still end
    ptcap."""
    for mode, sig in (("back", signal.SIGINT), ("back", signal.SIGTERM), ("parent", signal.SIGTERM)):
        p = subprocess.Popen([PTCAP, "crash", "-q", "-e", "dummy:u", "-o", os.path.join(folder, "f"), "--", prog("hostile"), mode],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        check(p.stdout.readline() in (b"ready\n", b"refused\n"), "it is not ready")
        p.send_signal(sig)
        ended(p, 128 + sig, 137)
        p.stdin.close()


def as_nobody():
    """Return a command prefix: another user, who can run ptcap here."""
    argv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if os.geteuid() or not shutil.which("setpriv") or Run([*argv, PTCAP, "--version"]).status:
        lib.skip("it takes root to become somebody else, who can run ptcap")
    return argv


@case
def nobody_traces_back(folder):
    """Without root a process cannot trace pt-watcher: the kernel refuses it, because the watcher is
    not dumpable."""
    prefix = as_nobody()
    os.chmod(folder, 0o777)
    p = subprocess.Popen([*prefix, PTCAP, "crash", "-q", "-e", "dummy:u", "-o", os.path.join(folder, "f"), "--", prog("hostile"), "back"],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check(p.stdout.readline() == b"refused\n", "it traces pt-watcher")
    p.stdin.close()
    check(p.stdout.readline() == b"done\n", "it did not end by itself")
    ended(p, 7)


@case
def stops_tracer(folder):
    """SIGSTOP to the tracer is undone at once: the recording and the command are complete."""
    r = live(folder, "stop")
    r.no_more_input()
    r.says("done")
    ended(r.p, 7)
    r.valid()


@case
def stops_ptcap(folder):
    """ptcap, stopped by SIGSTOP, takes SIGTERM."""
    r = live(folder, "halt")
    until(lambda: proc_status(r.p.pid)["State"][0] == "T", "ptcap is stopped")
    r.signal(signal.SIGTERM)
    ended(r.p, 143)
    r.valid()


@case
def rights(folder):
    """A set-user-ID program that an unprivileged ptcap steps lacks its rights, and is reported. As
    root it has them."""
    program, out = os.path.join(folder, "set_id"), os.path.join(folder, "out")
    nobody = as_nobody()
    shutil.copy(prog("exit"), program)
    os.chmod(program, 0o4755)
    os.chmod(folder, 0o711)
    os.mkdir(out)
    os.chown(out, 65534, 65534)
    if os.statvfs(folder).f_flag & os.ST_NOSUID:
        lib.skip("such programs have no rights in this folder")
    tail = ["-o", os.path.join(out, "f"), "--strict", "--"]
    r = Run([*nobody, *lib.RECORD, *tail, program, "0"]).expect(3)
    check(f"1 set-ID program ran without the rights of its file (first: '{program}')" in r.err, r.err)
    for argv in ([*nobody, "--no-new-privs", *lib.RECORD, *tail, program, "0"], [*lib.RECORD, *tail, program, "0"]):
        r = Run(argv).expect(0)
        check("set-ID program" not in r.err, r.err)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
