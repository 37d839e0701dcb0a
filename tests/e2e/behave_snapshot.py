# SPDX-License-Identifier: MIT
"""Cases of behave.py: `ptcap record -S`."""

import os
import re
import resource
import signal
import subprocess

import lib
from cases import case
from lib import PTCAP, Run, check, prog, until
from live import Live, lives_on


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
