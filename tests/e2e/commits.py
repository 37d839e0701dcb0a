#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""commits.py NAME: SIGKILL at each system call of a commit that changes the output's folder.

Each function below is a case; its name and text state the behaviour. strace sends the signal and
skips the call. unit_auxtrace:commit does the same for every form of an output, also on file
systems without all features.
"""

import os
import re
import shutil
import sys

import lib
import store
from lib import PTCAP, Run, check, prog

CASES = {}
CALLS = "open,openat,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir"
OLD, OLDER = b"the recording before\n", b"the one before that\n"
KILLED = 128 + 9


def case(f):
    CASES[f.__name__] = f
    return f


def need_strace():
    if not shutil.which("strace") or Run(["strace", "-qq", "-o", "/dev/null", "true"]).status:
        lib.skip("strace does not work here")


def traced(argv, out, follow, *options):
    """Run argv under strace, restricted to calls that name the output or its .old."""
    asan = os.environ.get("ASAN_OPTIONS", "")  # LeakSanitizer does not work under strace
    env = {**os.environ, "ASAN_OPTIONS": f"{asan}:detect_leaks=0".lstrip(":")}
    return Run(["strace", *(["-f"] if follow else []), "-qq", "-P", out, "-P", out + ".old", "-e", f"trace={CALLS}", *options, *argv], env=env)


def content(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def put(path, data):
    if data is not None:
        with open(path, "wb") as f:
            f.write(data)


def check_left(text, where, r, was, older, is_new):
    """Check the files that a killed or a complete run left in the folder."""
    out, old = content(os.path.join(where, "out")), content(os.path.join(where, "out.old"))
    check(set(os.listdir(where)) <= {"out", "out.old"}, f"{text}: a temporary file is left")
    check(out == was or is_new(out), f"{text}: neither the old recording nor the new one")
    check(r.status == KILLED or is_new(out), f"{text}: there is no new recording")
    check(out == was or was is None or old == was, f"{text}: the old recording is gone")
    check(was is not None or old == older, f"{text}: .old changed, though nothing was replaced")
    return out


def each_kill(folder, name, argv_of, is_new, follow=False, olds=((OLD, OLDER),)):
    """Kill argv_of(OUTPUT) at each call of a complete run. The next run uses another command."""
    need_strace()
    recording = os.path.join(folder, "recording")
    store.fetch(recording, [prog("hello")]).expect(0)
    for was, older in olds:
        where = os.path.join(folder, name)
        out, log = os.path.join(where, "out"), os.path.join(folder, "log")
        kills = [None]
        for kill in kills:
            os.mkdir(where)
            put(out, was)
            put(out + ".old", older)
            inject = ["-e", f"inject={kill[0]}:signal=KILL:when={kill[1]}"] if kill else []
            r = traced(argv_of(out), out, follow, "-o", log, *inject).expect(KILLED if kill else 0)
            if not kill:  # the other kills are derived from this run
                with open(log, encoding="utf-8", errors="replace") as f:
                    calls = re.findall(r"^(?:\d+ +)?(\w+)\(", f.read(), re.M)
                kills += [(call, calls[:i].count(call) + 1) for i, call in enumerate(calls)]
                check("linkat" in calls and (not was or "renameat2" in calls), f"{name}: {calls}")
            text = f"{name}, killed at {kill}: {os.listdir(where)}"
            now = check_left(text, where, r, was, older, is_new)
            r = Run([PTCAP, "convert", "-i", recording, "-o", out]).expect(0)
            check_left(text + ", the next run", where, r, now, content(out + ".old"), is_recording)
            shutil.rmtree(where)


def is_recording(data):
    return data is not None and data.startswith(lib.MAGIC)


def is_truth(data):
    return data is not None and b" call\n" in data


@case
def copies(folder):
    """convert and recover: the old recording or the new one, both complete, and no hidden file."""
    copy = ["-i", os.path.join(folder, "recording"), "-o"]
    each_kill(folder, "convert", lambda out: [PTCAP, "convert", *copy, out], is_recording,
              olds=((OLD, OLDER), (OLD, None), (None, OLDER)))
    each_kill(folder, "recover", lambda out: [PTCAP, "recover", *copy, out], is_recording)


@case
def recordings(folder):
    """The same for record and --truth."""
    end = ["--", prog("hello")]
    record = [*lib.RECORD, "-q"]
    follow = lib.SOURCE != "step"  # a program has only one tracer
    each_kill(folder, "record", lambda out: [*record, "-o", out, *end], is_recording, follow)
    each_kill(folder, "truth", lambda out: [*record, "-o", os.path.join(folder, "other"), "--truth", out, *end], is_truth, follow)


@case
def snapshots(folder):
    """The same for a series of snapshots."""
    end = ["--", prog("hello")]
    each_kill(folder, "snapshot", lambda out: [PTCAP, "snapshot", "-q", "--source", lib.SOURCE, "--count", "1", "-o", out, *end],
              is_recording, lib.SOURCE != "step")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
