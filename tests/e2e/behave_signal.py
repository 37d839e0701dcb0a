# SPDX-License-Identifier: MIT
"""Cases of behave.py: signals to ptcap and to its command."""

import os
import random
import signal
import subprocess
import sys
import time

import lib
from cases import case
from lib import Run, check, prog, until
from live import Live, lives_on, only_child, state


def caught(folder, send, sig):
    """A command that catches the signal ends by itself, and ptcap waits for that."""
    live = Live(folder, [prog("wait"), "catch"])
    live.says("ready")
    send(live, sig)
    live.says("caught")
    live.no_more_input()
    live.says("done")
    live.ends(7)
    live.valid()


def not_caught(folder, send, sig):
    """The signal ends a command that does not catch it; the recording is whole."""
    live = Live(folder, [prog("wait")])
    live.says("ready")
    send(live, sig)
    live.ends(128 + sig)
    live.valid()


@case
def interrupt(folder):
    """Ctrl-C: the command also gets it and survives. ptcap waits for the command's end."""
    caught(folder, Live.signal_all, signal.SIGINT)


@case
def interrupt_default(folder):
    """Ctrl-C kills a command that does not catch it; the recording is whole."""
    not_caught(folder, Live.signal_all, signal.SIGINT)


def left_after(folder, send_first, first):
    """A signal that the command catches, then SIGINT to ptcap: that ends the recording; the command
    continues untraced."""
    affinity = os.sched_getaffinity(0)
    live = Live(folder, [prog("wait"), "catch"])
    live.says("ready")
    pid = live.command()
    send_first(live, first)
    live.says("caught")
    live.taken(first)
    live.signal(signal.SIGINT)
    live.ends(130)
    lives_on(live, pid, affinity)
    live.valid()


@case
def interrupt_twice(folder):
    """A second SIGINT ends the recording; the command continues untraced."""
    left_after(folder, Live.signal_all, signal.SIGINT)


def left_busy(folder, first, second, want):
    """Two signals to ptcap end the recording. The command, which is never in a system call for
    long, continues."""
    affinity = os.sched_getaffinity(0)
    live = Live(folder, [prog("busy"), lib.BUSY])
    live.says("ready")
    pid = live.command()
    live.signal(first)
    live.taken(first)
    live.signal(second)
    live.ends(want)
    lives_on(live, pid, affinity)
    live.valid()


@case
def interrupt_twice_busy(folder):
    """The same for a command that is never in a system call for long."""
    left_busy(folder, signal.SIGINT, signal.SIGINT, 130)


@case
def hang_up(folder):
    """SIGHUP and SIGQUIT would kill ptcap, and then also the stepped command: ptcap handles them
    like SIGINT."""
    left_busy(folder, signal.SIGQUIT, signal.SIGHUP, 129)


@case
def terminate(folder):
    """ptcap passes SIGTERM on to the command, and waits for its end."""
    caught(folder, Live.signal, signal.SIGTERM)


@case
def terminate_default(folder):
    """SIGTERM ends a command that does not catch it."""
    not_caught(folder, Live.signal, signal.SIGTERM)


@case
def terminate_then_interrupt(folder):
    """After one signal, a second one of the other kind ends the recording, too."""
    left_after(folder, Live.signal, signal.SIGTERM)


@case
def daemon(folder):
    """A child that outlives the command runs on after the command's end."""
    live = Live(folder, [prog("tasks"), "daemon"])
    live.says("left")
    live.ends(0)
    live.valid()
    live.no_more_input()
    live.says("daemon ends")


@case
def killed_command(folder):
    """SIGKILL to the command: ptcap exits with its status, and the recording is whole."""
    for argv in ([prog("wait")], [prog("busy"), lib.BUSY]):
        live = Live(folder, argv)
        live.says("ready")
        os.kill(live.command(), signal.SIGKILL)
        live.ends(137)
        live.valid()


@case
def stopped_command(folder):
    """A command that is stopped and continued, asleep and busy: the same end, a right recording."""
    for argv in ([prog("wait")], [prog("busy"), lib.BUSY]):
        live = Live(folder, argv)
        live.says("ready")
        pid = live.command()
        for sig in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGSTOP):
            os.kill(pid, sig)
            if sig == signal.SIGSTOP:  # the group is orphaned: SIGTSTP may have no effect
                until(lambda: state(pid) in "tT", "the command is stopped")
            os.kill(pid, signal.SIGCONT)
        live.no_more_input()
        live.says("done")
        live.ends(7)
        live.valid()


@case
def killed(folder):
    """SIGKILL to ptcap at fifty random moments: the command runs to its end, and no file remains."""
    rng = random.Random(20261121)
    ran = 0
    for n in range(50):
        argv = [*lib.RECORD, "-q", "-o", os.path.join(folder, "f")]
        argv += ["--truth", os.path.join(folder, "t"), "--", prog("busy"), lib.BUSY]
        p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if n % 2:  # after the command has started
            line = p.stdout.readline()
            check(line == b"ready\n", f"the command says {line!r}")
        time.sleep(rng.random() * (0.2 if n % 2 else 0.06))  # any moment is right
        p.kill()
        check(p.wait() == -signal.SIGKILL, f"ptcap was gone already: {p.returncode}")
        statuses = []

        def reap():
            try:
                statuses.append(os.waitpid(-1, 0)[1])
            except ChildProcessError:
                return False
            return True

        if lib.SOURCE == "step":  # the tracer's process leaves the command first, which runs until its input ends
            reap()
        p.stdin.close()
        out = (b"ready\n" if n % 2 else b"") + p.stdout.read()  # up to the end, also the command's
        while reap():  # the command
            pass
        if out:  # otherwise it never started
            check(out == b"ready\ndone\n", f"round {n}: the command said {out!r}")
            check(sorted(statuses) == ([7 << 8] if lib.SOURCE == "emu" else [0, 7 << 8]), f"round {n}: statuses {statuses}")
            ran += 1
        check(os.listdir(folder) == [], f"round {n}: left behind {os.listdir(folder)}")
    check(ran >= 25, f"only {ran} times the command had been started")


@case
def tracer_killed(folder):
    """If the tracer's process itself is killed, ptcap reports it, and writes no file."""
    live = Live(folder, [prog("wait")])
    live.says("ready")
    os.kill(only_child(live.p.pid), signal.SIGKILL)
    live.no_more_input()  # ptcap waits for the stepped command in any case
    live.ends(125)
    with open(os.path.join(folder, "stderr"), encoding="ascii") as f:
        err = f.read()
    check("signal 9 (Killed) killed the tracer" in err, f"message {err!r}")
    check(os.listdir(folder) == ["stderr"], f"left behind {os.listdir(folder)}")


STOPPED_BESIDE = """
import os, signal, subprocess, sys
signal.signal(signal.SIGHUP, lambda *args: os.write(1, b"hung up\\n"))
beside = subprocess.Popen(["/bin/sleep", "1000"])
beside.send_signal(signal.SIGSTOP)
os.waitid(os.P_PID, beside.pid, os.WSTOPPED)
status = subprocess.run(sys.argv[1:]).returncode
beside.kill()
sys.exit(status)
"""


@case
def group_beside(folder):
    """In a group without a parent shell and with a stopped member, the command's end has no effect
    on the others."""
    path = os.path.join(folder, "f")
    r = Run([sys.executable, "-c", STOPPED_BESIDE, *lib.RECORD, "-o", path, "--", prog("recurse")], start_new_session=True)
    check((r.status, r.out) == (Run([prog("recurse")]).status, ""), f"{r.status}: {r.out!r} {r.err!r}")
