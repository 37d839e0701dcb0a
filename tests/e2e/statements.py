#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""statements.py NAME: ptcap's statements about a recording are true."""

import os
import re
import time

import lib
from forms import WORK, perf_record
from lib import PERF, PTCAP, Run, check, have_perf, prog, skip

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def perfs(folder):
    """Yield recordings by perf: a file, and its output to a pipe; no instruction trace is needed."""
    if not have_perf() or not lib.has_events():
        skip("no perf, or no perf events here")
    for name, options in (("file", []), ("pipe", ["-o", "-"]), ("pipe_z", ["-o", "-", "-z"])):
        path = os.path.join(folder, name)
        perf_record(path, options, WORK)
        yield name, path


@case
def of_perf(folder):
    """`dump --verify` finds nothing in perf's files, `recover` loses nothing of them, and a pipe of
    them is not empty."""
    for name, path in perfs(folder):
        Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
        out = os.path.join(folder, "out")
        r = Run([PTCAP, "recover", "-i", path, "-o", out]).expect(0)
        check("lost" not in r.err, f"{name}: {r.err}")
        with open(path, "rb") as f:
            whole = f.read()
        if name == "file":  # perf inject leaves bytes behind the last section
            with open(path, "ab") as f:
                f.write(bytes(8))
            Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
            continue
        with open(path, "rb") as f:
            r = Run([PTCAP, "info", "-i", "-"], stdin=f).expect(0)
        check(f"{len(whole)} bytes" in r.out, f"{name}: {r.out[:200]!r}")
        converted = os.path.join(folder, "converted")
        Run([PTCAP, "convert", "-i", path, "-o", converted, "--pipe"]).expect(0)
        Run([PTCAP, "dump", "--verify", "-i", converted]).expect(0)


@case
def inputs(folder):
    """An empty pipe is called empty; no trace is status 4; a place in a library needs the library's
    path."""
    with open(os.devnull, "rb") as f:
        r = Run([PTCAP, "info", "-i", "-"], stdin=f).expect(1)
    check("the file is empty" in r.err, r.err)
    path = os.path.join(folder, "f")
    if lib.has_events():
        Run([PTCAP, "record", "-q", "-e", "dummy:u", "-o", path, "--", "/bin/true"]).expect(0)
        check("holds no AUX trace" in Run([PTCAP, "decode", "-i", path]).expect(4).err, "which is not said")
    r = Run([PTCAP, "record", "--source", "step", "-o", path, "--to", "exit@libc.so.6", "--", "/bin/true"]).expect(125)
    check("write the whole path after @" in r.err, r.err)


@case
def similar(folder):
    """A mistyped name of a function, a place or a filter: the names that are similar are proposed."""
    path, none = os.path.join(folder, "f"), os.path.join(folder, "none")
    Run([PTCAP, "record", "-q", "--source", "step", "-o", path, "--", prog("busy"), "3"]).expect(7)
    r = Run([PTCAP, "decode", "-i", path, "--sym", "prog_mian"]).expect(4)
    check(r.err.endswith(f"ptcap: no branch from or to a function 'prog_mian' in '{path}' (did you mean 'prog_main'?)\n"), r.err)
    r = Run([PTCAP, "decode", "-i", path, "--sym", "nothing_like_it"]).expect(4)
    check(r.err.endswith(f"ptcap: no branch from or to a function 'nothing_like_it' in '{path}'\n"), r.err)
    for options in (["--from", "prog_mian"], ["--to", "prog_mian+4"], ["--to", f"prog_mian@{prog('busy')}"]):
        r = Run([PTCAP, "record", "--source", "step", "-o", none, *options, "--", prog("busy"), "3"]).expect(125)
        check(f"no function 'prog_mian' in '{prog('busy')}' (did you mean 'prog_main'?)" in r.err, r.err)
    r = Run([PTCAP, "snapshot", "--source", "step", "-o", none, "--at", "prog_mian:2", "--", prog("busy"), "3"]).expect(125)
    check("(did you mean 'prog_main'?)" in r.err, r.err)
    filter_ = f"filter prog_mian @ {prog('busy')}"
    r = Run([PTCAP, "record", "-e", "dummy:u", "-o", none, "--filter", filter_, "--", prog("busy"), "3"]).expect(125)
    check("(did you mean 'prog_main'?)" in r.err, r.err)
    check(os.listdir(folder) == ["f"], f"{os.listdir(folder)}")


@case
def of_series(folder):
    """The duration of `crash -m`, although its records are in separate files."""
    path, begun = os.path.join(folder, "f"), time.monotonic()
    r = Run([PTCAP, "crash", "-m", "64,64K", "--source", "step", "-o", path, "--", prog("crash_static"), "null"])
    most = time.monotonic() - begun
    said = re.search(r"instructions, \d+ branches in (\d+\.\d+) s", r.err)
    check(said and 0 < float(said[1]) <= most, f"it took at most {most:.3f} s: {r.err}")


@case
def of_senders(folder):
    """The sender of the signal that killed a thread; a runtime that handles its signal and exits
    was not killed."""
    path = os.path.join(folder, "f")
    Run([PTCAP, "crash", "--source", "step", "-o", path, "--", "/bin/dash", "-c", "kill -SEGV $$"])
    text = Run([PTCAP, "crash", "show", "-i", path]).expect(0).out
    check(re.search(r"sent by process \d+, itself", text), text[:300])
    for env, text in (({}, "no signal killed a process"), ({"FAILS": "1"}, "handled a fault and exited with a failure")):
        argv = [PTCAP, "crash", "--source", "step", "-o", path, "--", prog("crash_static"), "handled"]
        check(text in Run(argv, env={**os.environ, **env}).err, f"not said: {text}")


if __name__ == "__main__":
    lib.main(CASES)
