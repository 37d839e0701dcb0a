# SPDX-License-Identifier: MIT
"""Cases of behave.py: limits of steps, time and place, and the line of progress."""

import os
import pty
import re
import select
import signal
import subprocess
import time

import lib
from cases import case
from lib import PTCAP, Run, check, prog, until
from live import Live, Server, proc_status


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
