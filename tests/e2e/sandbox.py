#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sandbox.py NAME: the sandbox of commands that read a recording.

SANDBOXED tries system calls in the sandbox and says what each gave. The other cases run ptcap itself.
Each function below is a case; its name and text say what holds.
"""

import os
import re
import subprocess

import lib
import store
from lib import PTCAP, Run, check, prog
from odds import on_terminal

SANDBOXED = os.environ.get("SANDBOXED", "")
CASES = {}

# What each attempt gives in the sandbox of a command that reads, with Landlock.
READS = {
    "read_file": "ok", "list_folder": "ok", "resolve_name": "ok", "overwrite": "EPERM", "overwrite_resolved": "EACCES",
    "cut": "ENOSYS", "cut_read_only": "EPERM", "create": "EPERM", "remove_file": "EPERM", "move_out": "EPERM",
    "make_link": "stopped", "change_mode": "ENOSYS", "nameless": "ok", "nameless_elsewhere": "EACCES", "nowhere": "EPERM", "make_output": "EPERM",
    "memory_file": "ok", "map_code": "EACCES", "make_code": "EACCES", "thread": "ok", "thread_exec": "stopped",
    "signal_self": "ok", "type_for_user": "ENOTTY", "own_signals": "EPERM", "lower_parents_limit": "EPERM",
    "unknown_call": "ENOSYS", "x32_call": "stopped", "call_of_32_bit": "stopped", "internet": "stopped",
    "other_program": "stopped",
}
# What is different where there is an output.
WRITES = {"overwrite": "EACCES", "create": "EACCES", "remove_file": "EACCES", "nowhere": "ok", "make_output": "ok",
          "cut_read_only": "EACCES", "move_out": "EACCES"}
# And where files are fetched.
FETCHES = {"overwrite": "EACCES", "create": "EACCES", "remove_file": "EACCES", "move_out": "EACCES", "nowhere": "ok",
           "make_output": "EACCES", "cut_read_only": "EACCES", "map_code": "ok", "make_code": "ok", "internet": "ok",
           "other_program": "EAFNOSUPPORT"}
NETWORK = {"socket", "socketpair", "connect", "bind", "sendto", "sendmsg", "sendmmsg"}


def case(f):
    CASES[f.__name__] = f
    return f


def attempts(folder, mode, **env):
    """{attempt: result}, and the version of Landlock. OUTPUT and ELSEWHERE are not in the temporary folder."""
    out, elsewhere = os.path.join(folder, "out"), os.path.join(folder, "elsewhere")
    for path in (out, elsewhere):
        os.makedirs(path, exist_ok=True)
    with open(os.path.join(elsewhere, "file"), "w", encoding="ascii") as f:
        f.write("precious\n")
    env = {**{k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"}, "TMPDIR": os.path.join(folder, "tmp"), **env}
    os.makedirs(env["TMPDIR"], exist_ok=True)
    r = Run([SANDBOXED, mode, os.path.join(out, "output"), elsewhere], env=env).expect(0)
    have = dict(line.split(" ") for line in r.out.splitlines())
    check("status-" not in r.out, r.out)
    stopped = list(have.values()).count("stopped")
    check(r.err.count("the sandbox stopped system call ") == r.err.count("--no-sandbox allows") == stopped, r.err)
    for name in set(have) - set(READS) - {"version"}:
        check(f"({name}): an attack" in r.err or have[name] != "stopped", f"{name} is not named: {r.err}")
    return have, int(have.pop("version"))


def compare(have, want):
    for name, result in want.items():
        check(have[name] == result, f"{name}: {have[name]} instead of {result}")


def others(have, but=()):
    """Calls that nobody makes that reads a file."""
    names = set(have) - set(READS) - set(but)
    check(len(names) > 60 and {"execve", "ptrace", "mount", "perf_event_open", "process_vm_readv"} <= names, names)
    for name in names:
        check(have[name] == "stopped", f"{name}: {have[name]}")


def confined(version):
    if not version:
        lib.skip("this kernel has no Landlock, or a container forbids it")
    if version < 3:
        lib.skip(f"Landlock is version {version}: it does not know of cut files")


@case
def reading(folder):
    """A command that reads: no program, no process, no socket, no name is written to."""
    have, version = attempts(folder, "reads")
    confined(version)
    compare(have, READS)
    others(have)


@case
def writing(folder):
    """A command that writes: in the folder of its output, nowhere else."""
    have, version = attempts(folder, "writes")
    confined(version)
    compare(have, {**READS, **WRITES})
    others(have)


@case
def fetching(folder):
    """With DEBUGINFOD_URLS: the network, libraries, and the cache. Other programs' sockets are none of it."""
    cache = os.path.join(folder, "a", "cache")
    have, version = attempts(folder, "fetches", DEBUGINFOD_URLS="http://127.0.0.1:1", DEBUGINFOD_CACHE_PATH=cache)
    confined(version)
    check(os.path.isdir(cache), "the cache was not made")
    compare(have, {**READS, **FETCHES})
    others(have, NETWORK)
    have, _ = attempts(folder, "fetches", DEBUGINFOD_URLS=" ")
    check(have["internet"] == "stopped", "a socket, and no server is named")


@case
def without_landlock(folder):
    """A kernel without Landlock: openat2(2) is not there either for a command that reads."""
    have, _ = attempts(folder, "reads,landlock")
    compare(have, {**READS, "resolve_name": "ENOSYS", "overwrite_resolved": "ENOSYS", "nameless_elsewhere": "ok"})
    others(have)


@case
def without_seccomp(folder):
    """A kernel without seccomp: Landlock alone."""
    have, version = attempts(folder, "reads,seccomp")
    confined(version)
    compare(have, {"overwrite": "EACCES", "create": "EACCES", "remove_file": "EACCES", "read_file": "ok", "thread": "ok"})


@case
def off(folder):
    """--no-sandbox: everything."""
    have, _ = attempts(folder, "off")
    compare(have, {"overwrite": "ok", "create": "ok", "map_code": "ok", "internet": "ok", "make_output": "ok"})


# --- ptcap itself ---------------------------------------------------------------------------------


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def while_it_waits(argv, fifo, look):
    """Runs `argv`, which opens the FIFO and waits for what is in it: look(pid), and the end of it."""
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as p:
        opened = []

        def is_open():
            check(p.poll() is None, f"{argv}: exit status {p.returncode}")
            try:
                opened.append(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:  # nobody reads it yet
                return False
            return True

        try:
            lib.until(is_open, f"{argv} opens the FIFO")
            look(p.pid)
        finally:
            p.kill()
            for fd in opened:
                os.close(fd)


@case
def commands(folder):
    """Each command that reads is in the sandbox when it opens the recording, and does there what it does without."""
    path, fifo = os.path.join(folder, "perf.data"), os.path.join(folder, "fifo")
    store.fetch(path, [prog("hello")]).expect(0)
    os.mkfifo(fifo)
    made = os.path.join(folder, "made")
    for argv in (["info"], ["dump"], ["dump", "--verify"], ["decode"], ["decode", "--stats", "-j", "2"], ["decode", "--insn"],
                 ["compare"], ["crash", "show"], ["convert", "-o", made], ["convert", "-o", "-"], ["recover", "-o", made]):
        ended = []
        for more, want in (([], "2"), (["--no-sandbox"], "0")):
            def look(pid, want=want, argv=argv):
                have = status_of(pid)
                check(have["Seccomp"] == want, f"{argv}: Seccomp: {have['Seccomp']}")
                check(have["NoNewPrivs"] == str(int(want == "2")), f"{argv}: NoNewPrivs: {have['NoNewPrivs']}")

            while_it_waits([PTCAP, *argv, *more, "-i", fifo], fifo, look)
            r = Run([PTCAP, *argv, *more, "-i", path])
            if made in argv:
                with open(made, "rb") as f:
                    r.out = f.read()
            ended.append((r.status, r.out, r.err))
        check(ended[0] == ended[1] and ended[0][0] in (0, 4), f"{argv}: {ended}")


@case
def pager(folder):
    """The pager is not in it."""
    path = os.path.join(folder, "perf.data")
    store.fetch(path, [prog("hello")]).expect(0)
    out, status = on_terminal([PTCAP, "decode", "-i", path], PAGER="grep -h -e ^Seccomp: -e ^NoNewPrivs: /proc/self/status; cat")
    check(status == 0 and re.match(rb"NoNewPrivs:\t0\r?\nSeccomp:\t0\r?\n.*_start", out, re.S), out)
    # Nothing to show: no pager, and its child ends.
    out, status = on_terminal([PTCAP, "decode", "-i", os.path.join(folder, "none")], PAGER="echo paged; cat")
    check(status == 1 and b"paged" not in out and b"cannot open" in out, out)


if __name__ == "__main__":
    lib.main(CASES)
