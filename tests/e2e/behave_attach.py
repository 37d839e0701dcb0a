# SPDX-License-Identifier: MIT
"""Cases of behave.py: recordings of running processes."""

import os
import random
import signal
import subprocess
import time

import lib
from behave_32bit import runs_32bit
from cases import case
from lib import PTCAP, Run, check, prog, until
from live import Server, only_child, proc_status, state
from perf_branches import compare_with_perf, perf_transfers


def attach(folder, server, *target):
    """Attach, see the server make some children, leave. Returns the branches."""
    path, truth_path = os.path.join(folder, "perf.data"), os.path.join(folder, "truth")
    p = subprocess.Popen(
        [PTCAP, "record", "--source", "step", "-o", path, "--truth", truth_path, *target],
        stderr=subprocess.PIPE,
    )
    said = [p.stderr.readline(), p.stderr.readline()]
    check(b"attached" in said[1], f"ptcap says {said}")
    for _ in range(5):  # while the first thread waits for its turn, the others run
        server.p.stdin.write(b"x")
        server.p.stdin.flush()
        check(server.p.stdout.readline() == b"forked\n", "the server does not answer")
    p.send_signal(signal.SIGINT)
    _, err = p.communicate()
    check(p.returncode == 0, f"exit status {p.returncode}: {err!r}")
    flow = lib.equals_truth(path, truth_path)
    if lib.have_perf():
        compare_with_perf("attach", server.p.args[0], flow, perf_transfers(path))
    return flow


@case
def attach_process(folder):
    """-p: all threads of a busy process, ten times in a row; each time the process is left unchanged."""
    affinity = os.sched_getaffinity(0)
    server = Server()
    for _ in range(10):
        flow = attach(folder, server, "-p", str(server.p.pid))
        check(len(flow) > 2, f"threads {list(flow)}")
        server.untouched(affinity)
        server.works_on()
    server.ends_well()


@case
def attach_asleep(folder):
    """Threads that sleep in a system call, which is restarted on attach, let others use the CPU."""
    server = Server()
    path, truth = os.path.join(folder, "f"), os.path.join(folder, "t")
    for n in range(10):
        argv = [PTCAP, "record", "-q", "--source", "step", "-o", path, "--truth", truth]
        # The server gets no input: its first thread sleeps all the time.
        Run([*argv, "--max-steps", "5000", "-p", str(server.p.pid)]).expect(0)
        lib.equals_truth(path, truth)
    server.ends_well()


@case
def attach_thread(folder):
    """-t: this thread and its children, and no other threads."""
    affinity = os.sched_getaffinity(0)
    server = Server()
    tid = server.p.pid
    others = set(server.threads()) - {tid}
    flow = attach(folder, server, "-t", str(tid))
    check(tid in flow and not others & set(flow), f"threads {list(flow)}, asked for {tid}")
    server.untouched(affinity)
    server.works_on()
    server.ends_well()


@case
def attach_refused(folder):
    """A process that cannot be attached to: exit 1, the reason, no file. ptcap never steps without
    a request."""
    path = os.path.join(folder, "f")
    server = Server()
    pid = str(server.p.pid)
    if not os.path.exists("/sys/bus/event_source/devices/intel_pt"):
        r = Run([PTCAP, "record", "-o", path, "-p", pid]).expect(1)
        check("--source step" in r.err, f"message {r.err!r}")
    r = Run([PTCAP, "record", "--source", "step", "-o", path, "-p", "4194304"]).expect(1)
    check("4194304" in r.err, f"message {r.err!r}")
    first = subprocess.Popen(
        [PTCAP, "record", "-q", "--source", "step", "-o", os.path.join(folder, "g"), "-p", pid]
    )
    until(lambda: proc_status(int(pid))["TracerPid"] != "0", "the server is traced")
    r = Run([PTCAP, "record", "--source", "step", "-o", path, "-p", pid]).expect(1)
    check(str(only_child(first.pid)) in r.err, f"message {r.err!r}")
    first.send_signal(signal.SIGINT)
    check(first.wait() == 0, f"exit status {first.returncode}")
    os.unlink(os.path.join(folder, "g"))
    for args in (["-p", "x"], ["-p", "1,"], ["-p", pid, "--", "/bin/true"], ["-p"]):
        Run([PTCAP, "record", "-o", path, *args]).expect(2)
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")
    server.ends_well()


def attached(folder, pid):
    """ptcap, attached to a process. Ends at SIGINT."""
    path, truth = os.path.join(folder, "perf.data"), os.path.join(folder, "truth")
    p = subprocess.Popen(
        [PTCAP, "record", "--source", "step", "-o", path, "--truth", truth, "-p", str(pid)],
        stderr=subprocess.PIPE,
    )
    said = [p.stderr.readline(), p.stderr.readline()]
    check(b"attached" in said[1], f"ptcap says {said}")
    return p


def leave(p):
    p.send_signal(signal.SIGINT)
    _, err = p.communicate()
    check(p.returncode == 0, f"exit status {p.returncode}: {err!r}")


@case
def attach_stopped(folder):
    """A stopped process stays stopped. It can be continued and stopped during the recording, and is
    left unchanged."""
    affinity = os.sched_getaffinity(0)
    server = Server()
    pid = server.p.pid
    os.kill(pid, signal.SIGSTOP)
    until(lambda: all(state(tid) == "T" for tid in server.threads()), "the server is stopped")
    p = attached(folder, pid)
    leave(p)
    until(lambda: all(state(tid) == "T" for tid in server.threads()), "the server is left stopped")
    p = attached(folder, pid)
    os.kill(pid, signal.SIGCONT)
    for _ in range(3):
        server.p.stdin.write(b"x")
        server.p.stdin.flush()
        check(server.p.stdout.readline() == b"forked\n", "the server does not answer")
    leave(p)
    lib.equals_truth(os.path.join(folder, "perf.data"), os.path.join(folder, "truth"))
    server.untouched(affinity)
    p = attached(folder, pid)
    os.kill(pid, signal.SIGSTOP)
    # Our child's stop is reported to us as without a tracer.
    _, status = os.waitpid(pid, os.WUNTRACED)
    check(os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGSTOP, f"status {status:#x}")
    leave(p)
    until(lambda: all(state(tid) == "T" for tid in server.threads()), "the server stays stopped")
    os.kill(pid, signal.SIGCONT)
    server.ends_well()


@case
def attach_blocked_trap(folder):
    """SIGTRAP stays blocked in a process before, during and after the recording. A SIGTRAP sent
    meanwhile arrives when it is unblocked."""
    bit = 1 << (signal.SIGTRAP - 1)
    p = subprocess.Popen([prog("wait"), "trap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def says(*words):
        for word in words:
            line = p.stdout.readline().decode()
            check(line == word + "\n", f"it says {line!r}, expected {word!r}")

    def unblock():
        p.stdin.write(b"u")
        p.stdin.flush()

    says("ready")
    tracer = attached(folder, p.pid)
    unblock()
    says("unblocked")
    os.kill(p.pid, signal.SIGTRAP)
    unblock()
    says("trapped", "unblocked")
    os.kill(p.pid, signal.SIGTRAP)
    leave(tracer)
    lib.equals_truth(os.path.join(folder, "perf.data"), os.path.join(folder, "truth"))
    s = proc_status(p.pid)
    check(int(s["SigBlk"], 16) == bit, f"left with {s['SigBlk']} blocked")
    check(int(s["SigCgt"], 16) == bit, f"left with {s['SigCgt']} caught")
    unblock()
    says("trapped", "unblocked")
    p.stdin.close()
    says("done")
    check(p.wait() == 7, f"status {p.returncode}")


@case
def attach_32bit(folder):
    """A process that runs 32-bit code: refused, and not touched."""
    p = subprocess.Popen([runs_32bit(), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check(p.stdout.readline() == b"32\n", "it says nothing")
    path = os.path.join(folder, "f")
    r = Run([PTCAP, "record", "--source", "step", "-o", path, "-p", str(p.pid)]).expect(1)
    check("32-bit" in r.err and str(p.pid) in r.err, f"message {r.err!r}")
    check(proc_status(p.pid)["TracerPid"] == "0", "still traced")
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")
    p.stdin.close()
    check(p.wait() == 5, f"status {p.returncode}")


@case
def no_ptrace(folder):
    """A seccomp filter forbids ptrace, or kills for it: the command does not run, no file."""
    path = os.path.join(folder, "f")
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")  # LeakSanitizer needs ptrace
    argv = [PTCAP, "record", "--source", "step", "-o", path, "--", prog("hello")]
    r = Run([prog("seccomp"), "noptrace", *argv], env=env).expect(125)
    check("ptrace" in r.err and "seccomp" in r.err, f"message {r.err!r}")
    check(r.out == "", f"the command ran: {r.out!r}")
    r = Run([prog("seccomp"), "deadly", *argv], env=env).expect(125)
    check("seccomp" in r.err, f"message {r.err!r}")
    check(r.out == "", f"the command ran: {r.out!r}")
    server = Server()
    r = Run([prog("seccomp"), "noptrace", PTCAP, "record", "--source", "step", "-o", path,
             "-p", str(server.p.pid)], env=env).expect(1)
    check("ptrace" in r.err, f"message {r.err!r}")
    check(not os.path.exists(path), "a file was left behind")
    server.ends_well()


@case
def attach_to_the_end(folder):
    """The recording of a process ends with the process."""
    server = Server()
    path, truth = os.path.join(folder, "perf.data"), os.path.join(folder, "truth")
    p = subprocess.Popen(
        [PTCAP, "record", "--source", "step", "-o", path, "--truth", truth, "-p", str(server.p.pid)],
        stderr=subprocess.PIPE,
    )
    said = [p.stderr.readline(), p.stderr.readline()]  # now all threads are attached, not only the first
    check(b"attached" in said[1], f"ptcap says {said}")
    server.ends_well()
    _, err = p.communicate()
    check(p.returncode == 0, f"exit status {p.returncode}: {err!r}")
    check(len(lib.equals_truth(path, truth)) == 9, "not all nine threads")


@case
def killed_attached(folder):
    """The same for an attached process, fifty times in a row."""
    affinity = os.sched_getaffinity(0)
    rng = random.Random(20261122)
    server = Server()
    for n in range(50):
        p = subprocess.Popen(
            [PTCAP, "record", "--source", "step", "-o", os.path.join(folder, "f"), "-p", str(server.p.pid)],
            stderr=subprocess.PIPE,
        )
        if n % 5:  # otherwise perhaps during the attach
            for _ in range(2):
                p.stderr.readline()
        time.sleep(rng.random() * 0.03)  # any moment is right
        tracer = only_child(p.pid) if n % 5 else None
        p.kill()
        p.wait()
        p.stderr.close()
        while tracer:
            pid, status = os.waitpid(-1, 0)  # the tracer's process ends by itself
            check(status == 0, f"round {n}: the tracer ended with {status:#x}")
            if pid == tracer:
                break
        until(lambda: all(proc_status(t)["TracerPid"] == "0" for t in server.threads()), "nobody traces it")
        server.untouched(affinity)
        server.p.stdin.write(b"x")
        server.p.stdin.flush()
        check(server.p.stdout.readline() == b"forked\n", "the server does not answer")
    check(os.listdir(folder) == [], f"left behind {os.listdir(folder)}")
    server.ends_well()
