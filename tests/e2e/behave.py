#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""behave.py NAME: how `ptcap record` behaves towards its command, its user and its disk.

Each function below is a case; its name and text state the behaviour. No case sleeps to be in
time: a case waits for the program's own output, or for a condition of /proc.
"""

import difflib
import fcntl
import json
import os
import pty
import random
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import termios
import time

import lib
import truth
from lib import PTCAP, Run, check, prog, until

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


# --- exit status --------------------------------------------------------------------------------


@case
def status(folder):
    """ptcap exits with the command's exit status, 128 + n for signal n; the file exists each time."""
    path = os.path.join(folder, "f")
    for args, want in (
        ([], 0),
        (["1"], 1),
        (["125"], 125),
        (["255"], 255),
        (["sig", "15"], 143),
        (["sig", "9"], 137),
        (["sig", "6"], 134),
    ):
        truth = os.path.join(folder, "t")
        lib.record(path, [prog("exit"), *args], "--truth", truth).expect(want)
        lib.equals_truth(path, truth)
        os.unlink(path)


@case
def not_found(folder):
    """A command that does not exist: 127, its name in the message, no file."""
    for name in ("ptcap-no-such-command", os.path.join(folder, "no", "such")):
        r = lib.record(os.path.join(folder, "f"), [name]).expect(127)
        check(name in r.err, f"the message does not name it: {r.err!r}")
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


@case
def not_executable(folder):
    """A command that is not executable: 126, no file."""
    plain = os.path.join(folder, "plain")
    with open(plain, "w", encoding="ascii") as f:
        f.write("no program\n")
    os.mkdir(os.path.join(folder, "out"))
    for name in (plain, folder):
        r = lib.record(os.path.join(folder, "out", "f"), [name]).expect(126)
        check(name in r.err, f"the message does not name it: {r.err!r}")
    check(os.listdir(os.path.join(folder, "out")) == [], "a file was left behind")


@case
def plain_script(folder):
    """The shell runs a script that names no interpreter, as everywhere."""
    path, truth = os.path.join(folder, "f"), os.path.join(folder, "t")
    script = os.path.join(folder, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write('echo "$0" "$#" "$2"\nexit 4\n')
    os.chmod(script, 0o755)
    r = lib.record(path, [script, "", "a  b"], "--truth", truth).expect(4)
    check(r.out == f"{script} 2 a  b\n", r.out)
    lib.equals_truth(path, truth)


@case
def bad_options(folder):
    """Usage errors: exit 2, a message, no file, and the command does not run."""
    path = os.path.join(folder, "f")
    hello = prog("hello")
    for args in (
        [],
        ["--no-such-option", "--", hello],
        ["--source", "nonsense", "--", hello],
        ["-m", "nonsense", "--", hello],
        ["-m", "12K", "--", hello],
        ["-m", "4K,8K", "--", hello],
        ["-m", "64K,100", "--", hello],
        ["-m", "", "--", hello],
        ["-z0", "--", hello],
        ["-z23", "--", hello],
        ["--compression-level=fast", "--", hello],
    ):
        r = Run([PTCAP, "record", "-o", path, *args]).expect(2)
        check(r.err.startswith("ptcap"), f"{args}: message {r.err!r}")
        check(r.out == "", f"{args}: the command ran")
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


@case
def no_pt(folder):
    """Without Intel PT --source pt names what is missing, and runs nothing."""
    if os.path.exists("/sys/bus/event_source/devices/intel_pt"):
        lib.skip("this machine has Intel PT")
    path = os.path.join(folder, "f")
    r = Run([PTCAP, "record", "--source", "pt", "-o", path, "--", prog("hello")]).expect(125)
    check("intel_pt" in r.err or "Intel PT" in r.err, f"what is missing? {r.err!r}")
    check(r.out == "", "the command ran")
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


def chooses(folder, source, words, argv, *options, status=0, **env):
    """--source auto chooses this source, prints it with the reason in one line, and the recording
    is right."""
    path, truth = os.path.join(folder, "auto"), os.path.join(folder, "auto.truth")
    r = Run([PTCAP, "record", "--source", "auto", "-o", path, "--truth", truth, *options, "--", *argv],
            env=dict(os.environ, **env)).expect(status)
    line = r.err.splitlines()[0]
    check(line.startswith(f"ptcap: source: {source},"), f"expected {source}: {line!r}")
    for word in words:
        check(word in line, f"no {word!r} in {line!r}")
    lib.equals_truth(path, truth)


def no_pt_here():
    if os.path.exists("/sys/bus/event_source/devices/intel_pt"):
        lib.skip("this machine has Intel PT")


@case
def auto_emu(folder):
    """Without Intel PT, auto emulates if QEMU is installed; no --source gives the same."""
    no_pt_here()
    if not shutil.which("qemu-x86_64"):
        lib.skip("no qemu-x86_64 here (Debian: qemu-user)")
    chooses(folder, "emu", ["no Intel PT"], [prog("hello")])
    chooses(folder, "emu", ["no Intel PT"], [prog("exit"), "3"], status=3)
    script = os.path.join(folder, "script")
    for text in ("#!/bin/sh\nexit 4\n", "exit 4\n"):
        with open(script, "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(script, 0o755)
        chooses(folder, "emu", [], [script], status=4)
    r = Run([PTCAP, "record", "-o", os.path.join(folder, "f"), "--", prog("hello")]).expect(0)
    check("source: emu" in r.err, r.err)


@case
def auto_step(folder):
    """auto steps if QEMU is missing, does not fit, or lacks a requested feature; it prints which."""
    no_pt_here()
    hello = [prog("hello")]
    # Not the build of scripts/qemu, which takes precedence.
    path_only = {"PTCAP_QEMU": "qemu-x86_64"}
    chooses(folder, "step", ["no Intel PT", "cannot find qemu-x86_64 in", "scripts/qemu"], hello, PATH="/nowhere",
            **path_only)
    fake = os.path.join(folder, "qemu-x86_64")
    with open(fake, "w", encoding="ascii") as f:  # would print this if it got the command
        f.write("#!/bin/sh\necho unasked\nexit 1\n")
    os.chmod(fake, 0o755)
    chooses(folder, "step", [fake, "cannot load the plugin", "scripts/qemu"], hello, PATH=folder + ":/usr/bin:/bin", **path_only)
    chooses(folder, "step", [fake, "cannot load the plugin"], hello, PTCAP_QEMU=fake)
    if not shutil.which("qemu-x86_64"):
        lib.skip("no qemu-x86_64 here (Debian: qemu-user)")
    chooses(folder, "step", ["cannot load the plugin"], hello, PTCAP_EMU_PLUGIN="/dev/null")
    chooses(folder, "step", ["--max-steps"], hello, "--max-steps", "5")
    if lib.breakpoints_work(folder):
        chooses(folder, "step", ["--from"], [prog("busy"), "100"], "--from", "prog_main", status=7)
    chooses(folder, "step", ["--to"], [prog("busy"), "100"], "--to", "prog_main", status=7)


@case
def auto_fails(folder):
    """Commands that cannot run fail as before: 127, 126, and no file; neither source runs a 32-bit
    command."""
    no_pt_here()
    out = os.path.join(folder, "out")
    os.mkdir(out)
    path = os.path.join(out, "f")
    for argv, status, word in (
        ("ptcap-no-such-command", 127, "ptcap-no-such-command"),
        ("/etc/passwd", 126, "/etc/passwd"),
        (prog("32"), 126, "32-bit"),
    ):
        r = Run([PTCAP, "record", "-o", path, "--", argv]).expect(status)
        check(word in r.err and r.out == "", f"{r.err!r} {r.out!r}")
    r = Run([PTCAP, "record", "--lossy", "--max-steps", "5", "-o", path, "--", prog("hello")]).expect(2)
    check("--lossy" in r.err and r.out == "", f"{r.err!r} {r.out!r}")
    check(os.listdir(out) == [], "a file was left behind")


# --- files --------------------------------------------------------------------------------------


@case
def bad_folder(folder):
    """An output that cannot be made (125), or is no file (2: usage): the message names it, and the
    command does not run."""
    for path, want in ((os.path.join(folder, "no", "f"), 125), (folder, 2)):
        r = lib.record(path, [prog("hello")]).expect(want)
        check(path in r.err, f"the message does not name it: {r.err!r}")
        check(r.out == "", "the command ran")
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


@case
def keeps_old(folder):
    """perf.data is the default; an existing one is kept as perf.data.old, as perf does."""
    argv = [*lib.RECORD, "--"]
    Run([*argv, prog("hello")], cwd=folder).expect(0)
    with open(os.path.join(folder, "perf.data"), "rb") as f:
        first = f.read()
    Run([*argv, prog("exit"), "5"], cwd=folder).expect(5)
    check(sorted(os.listdir(folder)) == ["perf.data", "perf.data.old"], f"{os.listdir(folder)}")
    with open(os.path.join(folder, "perf.data.old"), "rb") as f:
        check(f.read() == first, "perf.data.old is not the first recording")
    Run([PTCAP, "decode", "--strict"], cwd=folder).expect(0)


def fails_to_write(r):
    """The required result if the output cannot be written."""
    check(r.status == 125, f"exit status {r.status}, expected 125\n{r.err}")
    check(r.out == "ready\ndone\n", f"the command did not run to its end: {r.out!r}")
    check("perf.data" in r.err, f"the message does not name the file: {r.err!r}")


@case
def full_disk(folder):
    """On a full disk: an error, no partial file, no temporary file, and the command runs to its end."""
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    mount = 'mount -t tmpfs -o size=1m ptcap-test "$1"'
    if Run([*unshare, "sh", "-c", mount, "sh", folder]).status:
        lib.skip("no tmpfs can be mounted here")
    # The mount lives as long as this shell, so the shell also lists the remaining files. 768 KiB
    # are used already.
    script = (
        f"{mount} && head -c 786432 /dev/zero >\"$1/filler\" || exit 99\n"
        'list=$2; cd "$1"; shift 2; "$@"; s=$?; ls -A . >"$list"; exit $s'
    )
    left = os.path.join(folder, "left")
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    argv = [*lib.RECORD, "-m", "64K,64K", "-o", "perf.data", "--"]
    r = Run([*unshare, "sh", "-c", script, "sh", disk, left, *argv, prog("busy"), "200000"])
    fails_to_write(r)
    check("No space left" in r.err, f"the message does not say why: {r.err!r}")
    with open(left, encoding="ascii") as f:
        check(f.read() == "filler\n", "something was left behind")


@case
def full_disk_later(folder):
    """A disk that fills up during the recording: the recording is complete up to then, and the rest
    is accounted for."""
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    mount = 'mount -t tmpfs -o size=4m ptcap-test "$1"'
    if Run([*unshare, "sh", "-c", mount, "sh", folder]).status:
        lib.skip("no tmpfs can be mounted here")
    script = f'{mount} || exit 99; kept=$2; cd "$1"; shift 2; "$@"; s=$?; cp perf.data "$kept"; ls -A .; exit $s'
    disk, kept = os.path.join(folder, "disk"), os.path.join(folder, "kept")
    os.mkdir(disk)
    # --no-retcomp: more trace than fits, in less time.
    argv = [*lib.RECORD, "--strict", "-v", "--no-retcomp", "-m", "64K,512K", "-o", "perf.data", "--"]
    argv += ["sh", "-c", '"$@"; exit 0', "sh"]  # an exit status that --strict may change
    r = Run([*unshare, "sh", "-c", script, "sh", disk, kept, *argv, prog("busy"), "3000000"]).expect(3)
    check(r.out == "ready\ndone\nperf.data\n", f"the command did not end, or files were left: {r.out!r}")
    check("LOST: the disk is full: 'perf.data' ends there" in r.err, r.err)
    Run([lib.PTCAP, "dump", "--verify", "-i", kept]).expect(0)
    info = json.loads(Run([lib.PTCAP, "info", "--format", "json", "-i", kept]).expect(0).out)
    for ring in info["ledger"]["rings"]:
        check(1 << 20 < ring["aux_stored"] < ring["aux_read"] == ring["aux_made"], ring)
    check(lib.decode(kept, "--stats").expect(0).out, "nothing is decoded")


@case
def file_limit(folder):
    """The same with RLIMIT_FSIZE, whose signal must not kill ptcap."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (32768, 32768))

    path = os.path.join(folder, "perf.data")
    argv = [prog("busy"), "200000"]
    r = lib.record(path, argv, "-m", "8K,8K", preexec_fn=limit)
    fails_to_write(r)
    check("too large" in r.err, f"the message does not say why: {r.err!r}")
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


# --- signals ------------------------------------------------------------------------------------


def proc_status(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


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


@case
def interrupt(folder):
    """Ctrl-C: the command also gets it and survives. ptcap waits for the command's end."""
    live = Live(folder, [prog("wait"), "catch"])
    live.says("ready")
    live.signal_all(signal.SIGINT)
    live.says("caught")
    live.no_more_input()
    live.says("done")
    live.ends(7)
    live.valid()


@case
def interrupt_default(folder):
    """Ctrl-C kills a command that does not catch it; the recording is whole."""
    live = Live(folder, [prog("wait")])
    live.says("ready")
    live.signal_all(signal.SIGINT)
    live.ends(130)
    live.valid()


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
    live = Live(folder, [prog("wait"), "catch"])
    live.says("ready")
    live.signal(signal.SIGTERM)
    live.says("caught")
    live.no_more_input()
    live.says("done")
    live.ends(7)
    live.valid()


@case
def terminate_default(folder):
    """SIGTERM ends a command that does not catch it."""
    live = Live(folder, [prog("wait")])
    live.says("ready")
    live.signal(signal.SIGTERM)
    live.ends(143)
    live.valid()


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
        check(self.p.stdout.readline() == b"done\n", "the server did not end by itself")
        check(self.p.wait() == 7, f"the server's status {self.p.returncode}")


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
        truth.compare_with_perf("attach", server.p.args[0], flow, truth.perf_transfers(path))
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


def state(pid):
    return proc_status(pid)["State"][0]


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


# --- sudden ends --------------------------------------------------------------------------------


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


# --- limits and progress ------------------------------------------------------------------------


@case
def max_steps(folder):
    """--max-steps: records exactly this number of instructions; then the command runs on as if alone."""
    path, truth = os.path.join(folder, "f"), os.path.join(folder, "t")
    for steps, text in ((1, "1"), (100, "100"), (5000, "5k")):
        r = lib.record(path, [prog("busy"), "200000"], "--truth", truth, "--max-steps", text)
        r.expect(7)
        check(r.out == "ready\ndone\n", f"the command said {r.out!r}")
        check("reached the limit; " in r.err, f"message {r.err!r}")
        lib.equals_truth(path, truth)
        got = lib.decode(path, "-F", "insn-ip").expect(0).out.split()
        check(len(got) == steps, f"{len(got)} instructions, asked for {steps}")
    r = lib.record(path, [prog("hello")], "--max-steps", "1M").expect(0)
    check("stopped" not in r.err, f"message {r.err!r}")
    for bad in ("0", "-1", "x", "1T", ""):
        lib.record(path, [prog("hello")], "--max-steps", bad).expect(2)


@case
def max_time(folder):
    """--max-time: a command that would not end by itself runs on untraced; ptcap leaves an attached
    one."""
    recorded = 0
    for ms in (100 << n for n in range(12)):  # until this time suffices to record something
        live = Live(folder, [prog("wait")], "--max-time", f"{ms}ms")
        live.says("ready")
        pid = live.command()
        until(lambda: proc_status(pid)["TracerPid"] == "0", "it is left")
        check(live.p.poll() is None, "ptcap does not wait for the command")
        live.no_more_input()
        live.says("done")
        live.ends(7)
        recorded = os.path.getsize(live.truth)
        if recorded:
            break
    live.valid()
    affinity = os.sched_getaffinity(0)
    server = Server()
    path = os.path.join(folder, "g")
    Run([PTCAP, "record", "--source", "step", "-o", path, "--max-time", "0.05", "-p", str(server.p.pid)]).expect(0)
    lib.decode(path, "--strict").expect(0)
    server.untouched(affinity)
    server.ends_well()
    for bad in ("0", "0.0", "-1", "x", "1 s", "1d", ""):
        lib.record(path, [prog("hello")], "--max-time", bad).expect(2)


@case
def snapshot_refused(folder):
    """Impossible snapshots: exit 2, and nothing runs."""
    path = os.path.join(folder, "f")
    for source, args, word in (
        ("emu", ["-S", "--lossy"], "--lossy"),
        ("emu", ["-S4095"], "4096"),
        ("emu", ["-S128K", "-m", "64K,64K"], "AUX ring"),
        ("emu", ["-S0"], "'0'"),
        ("emu", ["--snapshot=1T"], "'1T'"),
        ("emu", ["-S", "--max-steps", "10"], "--max-steps"),
    ):
        r = Run([PTCAP, "record", "--source", source, "-o", path, *args, "--", prog("hello")]).expect(2)
        check(word in r.err, f"{args}: {r.err!r} says nothing of {word}")
        check(r.out == "", f"{args}: the command ran")
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


def last_of(live):
    """The last part of the recording equals the end of the truth."""
    out = lib.decode(live.path, "-F", "tid,from,to,kind", "--strict").expect(0).out
    with open(live.truth, encoding="ascii") as f:
        check(f.read().endswith(re.split(r"(?m)^# .*\n", out)[-1]), "the last part is not the end of the truth")
    check(out.count("\n") > 100, f"hardly anything was kept: {out!r}")


def snapshot_taken(live, n):
    with open(os.path.join(os.path.dirname(live.path), "stderr"), encoding="ascii") as f:
        return f"ptcap: snapshot {n}: 65536 bytes" in f.read()


@case
def snapshot_left(folder):
    """ptcap leaves a command while it runs: the last snapshot is from that moment."""
    affinity = os.sched_getaffinity(0)
    live = Live(folder, [prog("busy"), lib.BUSY], "-S", "-m", "1M,64K")
    live.says("ready")
    pid = live.command()
    taken = 0
    while not snapshot_taken(live, taken):  # the first one may be shorter
        taken += 1
        live.signal(signal.SIGUSR2)
        live.taken(signal.SIGUSR2)
        until(lambda: f"snapshot {taken}:" in open(os.path.join(folder, "stderr"), encoding="ascii").read(), "one more")
    live.signal(signal.SIGINT)
    live.taken(signal.SIGINT)
    live.signal(signal.SIGINT)
    live.ends(130)
    lives_on(live, pid, affinity)
    with open(os.path.join(folder, "stderr"), encoding="ascii") as f:  # with the trace since the previous snapshot
        said = f.read()
    check(f"ptcap: snapshot {taken + 1}:" in said, f"there was none at the end: {said!r}")
    last_of(live)


@case
def snapshot_max_time(folder):
    """At --max-time the trace ends, and the recording is from that time; SIGUSR2 does no harm while
    CMD runs on."""
    live = Live(folder, [prog("wait")], "-S", "-m", "1M,64K", "--max-time", "50ms")
    live.says("ready")
    for _ in range(3):
        live.signal(signal.SIGUSR2)
        live.taken(signal.SIGUSR2)
    live.no_more_input()
    live.says("done")
    live.ends(7)
    lib.decode(live.path, "--strict").expect(0)


@case
def snapshot_file_limit(folder):
    """A snapshot that cannot be written: no file, and the command, which had to wait, runs to its end."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (32768, 32768))

    path = os.path.join(folder, "perf.data")
    argv = [*lib.RECORD, "-S", "-m", "64K,64K", "-o", path, "--", prog("busy"), lib.BUSY_A_WHILE]
    p = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limit)
    check(p.stdout.readline() == "ready\n", "the command is not ready")
    p.send_signal(signal.SIGUSR2)
    out, err = p.communicate()
    check(p.returncode == 125 and out == "done\n", f"{p.returncode}, {out!r}, {err!r}")
    check("too large" in err, f"the message does not say why: {err!r}")
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


@case
def zone_unreached(folder):
    """A place that is never reached: the program runs at full speed, the recording is empty, and
    ptcap says so."""
    path = os.path.join(folder, "f")
    r = lib.record(path, [prog("busy"), "100000"], "--from", "0x1000").expect(7)
    check(r.out == "ready\ndone\n" and "never reached" in r.err, f"{r.out!r} {r.err!r}")
    check(lib.decode(path, "--strict", "-F", "tid,from,to,kind").expect(0).out == "", "there is something")


@case
def zone_attached(folder):
    """--from for a running process: records from the first call on, and leaves the process unchanged."""
    if not lib.breakpoints_work(folder):
        lib.skip(lib.NO_BREAKPOINTS)
    affinity = os.sched_getaffinity(0)
    server = Server()
    path, truth = os.path.join(folder, "f"), os.path.join(folder, "t")
    for n in range(10):
        p = subprocess.Popen(
            [PTCAP, "record", "--source", "step", "-o", path, "--truth", truth, "--from", "answer",
             "--to", "answered", "-p", str(server.p.pid)],
            stderr=subprocess.PIPE,
        )
        for _ in range(2):
            p.stderr.readline()
        for _ in range(3):
            server.p.stdin.write(b"x")
            server.p.stdin.flush()
            check(server.p.stdout.readline() == b"forked\n", "the server does not answer")
        p.send_signal(signal.SIGINT)
        _, err = p.communicate()
        check(p.returncode == 0, f"round {n}: exit status {p.returncode}: {err!r}")
        check(server.p.pid in lib.equals_truth(path, truth), f"round {n}: the first thread is not there")
        server.untouched(affinity)
    server.ends_well()


@case
def zone_bad(folder):
    """Places that do not exist: an error that names them, and nothing runs."""
    path = os.path.join(folder, "f")
    hello = prog("hello")
    for option in ("--from", "--to"):
        for place, status in (
            ("no_such_symbol", 125),
            ("_start@/no/such/file", 125),
            ("_start@/etc/passwd", 125),
            ("0x1@" + hello, 125),
            ("_start+x", 2),
            ("_start@", 2),
            ("", 2),
            ("+1", 2),
        ):
            r = lib.record(path, [hello], option, place).expect(status)
            check(r.out == "" and r.err.startswith("ptcap"), f"{place}: {r.out!r} {r.err!r}")
            check(place.split("@")[-1] in r.err, f"{place} is not named: {r.err!r}")
    check(os.listdir(folder) == [], f"left behind {os.listdir(folder)}")


@case
def progress(folder):
    """Steps and bytes each second: a line that is overwritten on a terminal; elsewhere only on
    request."""
    path = os.path.join(folder, "f")
    pattern = r"ptcap: \d+ s, (\d+) instructions \((\d+)/s\), \d+\.\d MB of trace"

    def starts(command, *options, err):
        argv = [*lib.RECORD, *options, "-o", path, "--", *command]
        p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err)
        check(p.stdout.readline() == b"ready\n", "the command is not ready")
        return p

    def said(p, fd, end):
        """Return ptcap's output there. After two lines of progress the command may end."""
        text = ""
        try:
            while chunk := os.read(fd, 4096):
                text += chunk.decode()
                if len(re.findall(pattern, text)) >= 2:
                    p.stdin.close()
        except OSError:  # the end of a terminal
            pass
        check(p.wait() == 7, f"exit status {p.returncode}: {text!r}")
        got = re.findall(pattern + end, text)
        check(len(got) >= 2 and len(got) == len(re.findall(pattern, text)), f"lines of progress: {text!r}")
        check(int(got[0][0]) > 0 and int(got[-1][0]) >= int(got[0][0]), f"no progress: {got}")

    def is_quiet(*options, err):
        """Expect no line of progress in a time long enough for one, from a command that does little."""
        p = starts([prog("wait")], *options, err=err)
        time.sleep(1.5)
        p.stdin.close()
        check(p.wait() == 7, f"exit status {p.returncode}")

    p = starts([prog("busy"), lib.BUSY], "--progress", err=subprocess.PIPE)
    said(p, p.stderr.fileno(), r"\n")
    log = os.path.join(folder, "log")
    with open(log, "wb") as f:
        is_quiet(err=f)
    with open(log, encoding="ascii") as f:
        text = f.read()
        check(" instructions (" not in text and "wrote" in text, f"progress though nobody asked: {text!r}")
    master, slave = pty.openpty()
    p = starts([prog("busy"), lib.BUSY], err=slave)
    os.close(slave)
    said(p, master, "\r\033\\[K")
    os.close(master)
    master, slave = pty.openpty()
    is_quiet("-q", err=slave)
    check(not select.select([master], [], [], 0)[0], "-q: something is said on a terminal")
    os.close(slave)
    os.close(master)


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


# --- differences of QEMU ----------------------------------------------------------------------


def qemu_version():
    return int(re.search(r"version (\d+)", Run(["qemu-x86_64", "--version"]).out)[1])


def known():
    """Parse known.txt: {name: (argv, the first version of QEMU known to behave like the kernel; or
    None)}."""
    ret = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "known.txt"), encoding="ascii") as f:
        for line in f:
            line = line.split("#", 1)[0].strip()
            if line:
                name, words = line.split(":")
                name, _, fixed = name.partition(" <")
                argv = [os.path.join(lib.PROGS, w) if "prog_" in w else w for w in words.split()]
                ret[name] = argv, int(fixed) if fixed else None
    return ret


@case
def known_of_qemu(folder):
    """A program's different behaviour under QEMU is the same without ptcap. The recording shows
    what QEMU ran."""
    problems = []
    version = qemu_version()
    for name, (argv, fixed) in known().items():
        path, truth = os.path.join(folder, name), os.path.join(folder, name + ".truth")
        plain, bare = Run(argv), Run(["qemu-x86_64", "-cpu", "max", *argv])
        same = (plain.status, plain.out) == (bare.status, bare.out)
        if name == "far32" and plain.status == 128 + signal.SIGSEGV:
            continue  # this kernel has no 32-bit code segment
        if same != (fixed is not None and version >= fixed):
            problems.append(f"{name}: QEMU {version} {'does as the kernel does' if same else 'still differs'}")
        r = lib.record(path, argv, "--truth", truth)
        if (r.status, r.out) != (bare.status, bare.out):
            problems.append(f"{name}: {r.status} {r.out!r}, QEMU alone {bare.status} {bare.out!r}")
        lacks = "seccomp" if name.startswith("seccomp") else "int 0x80" if name == "int80" else None
        said = re.search(r"QEMU does not support some system calls of the program \((.*?)\)", r.err)
        if (said[1] if said else None) != lacks:
            problems.append(f"{name}: {r.err!r}")
        try:
            lib.equals_truth(path, truth)
        except lib.Failure as e:
            problems.append(f"{name}: {e}")
    check(not problems, "\n".join(problems))


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


# --- programs that cannot be stepped ----------------------------------------------------------


def runs_32bit():
    """Return the program, if the kernel can run it."""
    try:
        plain = Run([prog("32")])
    except OSError:
        lib.skip("no 32-bit programs here")
    if plain.status != 5 or plain.out != "32\n":
        lib.skip("no 32-bit programs here")
    return prog("32")


@case
def refuses_32bit(folder):
    """A 32-bit command (or x32, or a script for one): 126, the reason, nothing of it runs, no file."""
    out = os.path.join(folder, "out")
    os.mkdir(out)
    for name in ("32", "x32"):
        r = lib.record(os.path.join(out, "f"), [prog(name)]).expect(126)
        check(prog(name) in r.err and "32-bit" in r.err, f"message {r.err!r}")
        check(r.out == "", f"it ran: {r.out!r}")
    script = os.path.join(folder, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write(f"#!{runs_32bit()}\n")
    os.chmod(script, 0o755)
    r = lib.record(os.path.join(out, "f"), [script]).expect(126)
    check("32-bit" in r.err, f"message {r.err!r}")
    check(r.out == "", f"it ran: {r.out!r}")
    check(os.listdir(out) == [], "a file was left behind")


@case
def leaves_32bit(folder):
    """A 32-bit program that the command runs, or becomes, runs untraced; ptcap counts and reports it."""
    becomes = [prog("chain_static"), runs_32bit()]
    for n, (argv, want, status) in enumerate(
        ((["/bin/sh", "-c", f"{runs_32bit()}; echo $?; exit 4"], "32\n5\n", 4), (becomes, f"{becomes[0]} passes 2 on\n32\n", 5))
    ):
        path, truth = os.path.join(folder, f"f{n}"), os.path.join(folder, f"t{n}")
        r = lib.record(path, argv, "--truth", truth).expect(status)
        check(r.out == want, f"output {r.out!r}")
        check("1 processes" in r.err and "32-bit" in r.err, f"message {r.err!r}")
        lib.equals_truth(path, truth)
    argv = ["/bin/sh", "-c", f"{runs_32bit()}; exit 0"]
    lib.record(path, argv, "--strict").expect(3)


@case
def leaves_far_jump(folder):
    """32-bit code through a far jump: the process continues untraced, also threads in system calls."""
    path, truth = os.path.join(folder, "f"), os.path.join(folder, "t")
    plain = Run([prog("far32")])
    if plain.status != 6:
        lib.skip("no 32-bit code here")
    r = lib.record(path, [prog("far32")], "--truth", truth).expect(6)
    check(r.out == plain.out, f"output {r.out!r}")
    check("1 processes" in r.err and "32-bit" in r.err, f"message {r.err!r}")
    flow = lib.equals_truth(path, truth)
    check(any(t[2] == "far" for f in flow.values() for t in f), "no far jump")


# --- the emulated source's limits ---------------------------------------------------------------


@case
def code_once(folder):
    """Code that is translated again takes no memory: toggled 20000 times, or run by 40 processes.

    It decodes correctly in small work units, and with several threads.
    """
    forks = "i=0; while [ $i -lt 200 ]; do (j=$i); i=$((i+1)); done"
    script = "i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i+1)); done"
    # A quarter of the memory for all copies.
    runs = [("256K", [prog("crowd"), "flip", "20000"]), ("512K", ["/bin/sh", "-c", forks])]
    if qemu_version() < 8:  # later ones map libraries elsewhere in each process that executes a program
        runs.append(("512K", ["/bin/sh", "-c", script]))
    for n, (size, argv) in enumerate(runs):
        path, want = os.path.join(folder, f"f{n}"), os.path.join(folder, f"t{n}")
        r = lib.record(
            path, argv, "--code-size", size, "--psb-period", "2K", "--strict", "--truth", want
        ).expect(0)
        check("CUT SHORT" not in r.err, r.err)
        lib.equals_truth(path, want)
        one, two = (lib.decode(path, "-j", str(j)).expect(0).out for j in (1, 2))
        check(one == two, f"{path}: two threads list something else than one")


@case
def signals_moved(folder):
    """A signal reaches a thread that is sometimes moving to another CPU: the thread is there by then."""
    path = os.path.join(folder, "f")
    for _ in range(12):
        lib.record(path, [prog("tasks"), "alarm"], "-q", "--vcpus", "2").expect(0)
        lib.decode(path, "-F", "tid", "--strict").expect(0)


@case
def code_full(folder):
    """Without memory for more code the recording ends: complete up to then, reported, and the
    command runs on."""
    path, want = os.path.join(folder, "f"), os.path.join(folder, "t")
    argv = [prog("crowd"), "grow", "4000"]
    last = 0
    for size in ("64K", "112K", "144K", "176K"):
        r = lib.record(path, argv, "-q", "--code-size", size, "--truth", want).expect(0)
        check(r.out == "4000 grown, 0 bad\n", f"output {r.out!r}")
        check("CUT SHORT" in r.err and "--code-size" in r.err, f"it is not told: {r.err!r}")
        flow = lib.equals_truth(path, want)
        for each in flow.values():
            truth.well_formed(each)
        last = max(last, len(flow))
    check(last == 6, f"{last} threads: it was always cut before they ran")
    lib.record(path, argv, "--code-size", "64K", "--strict").expect(3)
    argv = [prog("tasks"), "pool"]
    flow = {}
    for size in range(64, 1024, 4):  # the first size with several threads
        r = lib.record(path, argv, "--code-size", f"{size}K", "--truth", want).expect(0)
        check("CUT SHORT" in r.err, f"whole with {size}K, and never cut among its threads")
        flow = lib.equals_truth(path, want)
        if len(flow) > 1:
            break
    if lib.have_perf():
        truth.perf_agrees("code_full", path, argv, flow)
    argv = [prog("crowd"), "grow", "4000"]
    r = lib.record(path, argv, "--code-size", "1M", "--strict").expect(0)
    check("CUT SHORT" not in r.err, r.err)
    for bad in ("0", "", "x", "60K", "100000", "17G"):
        r = lib.record(path, [prog("hello")], "--code-size", bad).expect(2)
        check(r.out == "", "the command ran")
    Run([PTCAP, "record", "--source", "step", "--code-size", "1M", "--", prog("hello")], cwd=folder).expect(2)


@case
def crowd(folder):
    """1024 threads at a time are recorded. Others run untraced, are counted, and their mappings are
    recorded."""
    path, want = os.path.join(folder, "f"), os.path.join(folder, "t")
    r = lib.record(path, [prog("crowd"), "crowd", "1100"], "--truth", want).expect(0)
    check(r.out == "1100 threads, code 42\n", f"output {r.out!r}")
    check("threads or processes of the command that were not recorded: 78\n" in r.err, f"message {r.err!r}")  # 1102 in all
    flow = lib.equals_truth(path, want)
    check(len(flow) == 1024, f"{len(flow)} threads")
    dump = Run([PTCAP, "dump", "-i", path]).expect(0).out
    check(re.search(r"MMAP2 .*//anon", dump), "the mapping of a thread that is not recorded is missing")
    lib.record(path, [prog("crowd"), "crowd", "1100"], "--strict").expect(3)


@case
def churn(folder):
    """Ended threads make space for others, even if other threads never rest."""
    path = os.path.join(folder, "f")
    r = lib.record(path, [prog("crowd"), "churn", "1200"], "--strict", "--truth-hash", path + ".h").expect(0)
    check(r.out == "1200 came\n", f"output {r.out!r}")


@case
def forks(folder):
    """The same for processes that end before ptcap has read their begin."""
    path, want = os.path.join(folder, "f"), os.path.join(folder, "t")
    r = lib.record(path, [prog("crowd"), "forks", "1200"], "--strict", "--truth", want).expect(0)
    check(r.out == "1200 forked\n", f"output {r.out!r}")
    check("keep running after the command" not in r.err, f"message {r.err!r}")
    flow = lib.equals_truth(path, want)
    check(len(flow) == 1201, f"{len(flow)} processes")


@case
def busy_daemon(folder):
    """A child that outlives the command and never rests does not delay the end of the recording."""
    path, want, begun = (os.path.join(folder, name) for name in ("f", "t", "begun"))
    os.mkfifo(begun)  # a child that never ran does not count as left behind
    script = '{ echo >"$1"; while :; do :; done; } >/dev/null 2>&1 & read -r line <"$1"; echo $!; exit 4'
    r = lib.record(path, ["/bin/sh", "-c", script, "sh", begun], "--truth", want).expect(4)
    os.kill(int(r.out), signal.SIGKILL)
    check("processes or threads that keep running after the command, untraced: 1\n" in r.err, f"message {r.err!r}")
    lib.equals_truth(path, want)


# --- the tests themselves -----------------------------------------------------------------------


@case
def comparison_can_fail(folder):
    """A truth with one line changed, missing or added is detected."""
    path, truth = os.path.join(folder, "f"), os.path.join(folder, "t")
    lib.record(path, [prog("recurse")], "--truth", truth).expect(0)
    lib.equals_truth(path, truth)
    with open(truth, encoding="ascii") as f:
        lines = f.read().splitlines(keepends=True)
    middle = len(lines) // 2
    tid, start, end, kind = lines[middle].split()
    for n, changed in enumerate(
        (
            lines[:middle] + lines[middle + 1 :],
            lines[:middle] + [lines[middle]] + lines[middle:],
            lines[:-1],
            lines[:middle] + [f"{tid} {start} {end} far\n"] + lines[middle + 1 :],
            lines[:middle] + [f"{tid} {start} 7 {kind}\n"] + lines[middle + 1 :],
            lines[:middle] + [f"1 {start} {end} {kind}\n"] + lines[middle + 1 :],
        )
    ):
        with open(truth, "w", encoding="ascii") as f:
            f.writelines(changed)
        try:
            lib.equals_truth(path, truth)
        except lib.Failure:
            continue
        check(False, f"change {n} was not noticed")


@case
def guard_can_fail(folder):
    """Processes that a case leaves running are detected: its child, and one that has left its
    session and its parent."""

    def noticed(words):
        try:
            lib.nothing_left(0)
        except lib.Failure as e:
            check(all(word in str(e) for word in words), str(e))
            until(lambda: not lib.strays(), "the strays are gone")
            return True
        return False

    quiet = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    check(not noticed([]), "something is left before anything ran")
    with subprocess.Popen([prog("wait")], env={}, **quiet) as child:  # without the mark
        check(child.stdout.readline() == b"ready\n", "the child is not ready")
        check(noticed(["prog_wait"]), "a child that runs is not noticed")
    with subprocess.Popen([prog("tasks"), "daemon"], **quiet) as daemon_parent:
        check(daemon_parent.stdout.readline() == b"left\n", "there is no daemon")
        check(noticed(["daemon"]), "a daemon that runs is not noticed")
    check(not noticed([]), "something is left after all is gone")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
