#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sandbox.py NAME: the sandbox of commands that read a recording, and the capabilities of commands
that record.

SANDBOXED tries system calls in the sandbox and prints the result of each. The other cases run
ptcap itself. Each function below is a case; its name and text state the behaviour.
"""

import os
import re
import shutil
import signal
import subprocess

import lib
import store
from lib import PTCAP, Run, check, prog
from odds import on_terminal

SANDBOXED = os.environ.get("SANDBOXED", "")
CASES = {}

# Result of each attempt in the sandbox of a reading command, with Landlock.
READS = {
    "read_file": "ok", "list_folder": "ok", "resolve_name": "ok", "overwrite": "EPERM", "overwrite_resolved": "EACCES",
    "cut": "ENOSYS", "cut_read_only": "EPERM", "create": "EPERM", "remove_file": "EPERM", "move_out": "EPERM",
    "make_link": "stopped", "change_mode": "ENOSYS", "nameless": "ok", "nameless_elsewhere": "EACCES", "nowhere": "EPERM", "make_output": "EPERM",
    "memory_file": "ok", "map_code": "EACCES", "make_code": "EACCES", "thread": "ok", "thread_exec": "stopped",
    "signal_self": "ok", "type_for_user": "ENOTTY", "own_signals": "EPERM", "lower_parents_limit": "EPERM",
    "unknown_call": "ENOSYS", "x32_call": "stopped", "call_of_32_bit": "stopped", "internet": "stopped",
    "other_program": "stopped", "set_time": "ok", "set_time_by_name": "EPERM", "set_time_of_round_name": "EPERM",
}
# Differences with an output.
WRITES = {"overwrite": "EACCES", "create": "EACCES", "remove_file": "EACCES", "nowhere": "ok", "make_output": "ok",
          "cut_read_only": "EACCES", "move_out": "EACCES"}
# Differences when files are fetched.
FETCHES = {"overwrite": "EACCES", "create": "EACCES", "remove_file": "EACCES", "move_out": "EACCES", "nowhere": "ok",
           "make_output": "EACCES", "cut_read_only": "EACCES", "map_code": "ok", "make_code": "ok", "internet": "ok",
           "other_program": "EAFNOSUPPORT"}
NETWORK = {"socket", "socketpair", "connect", "bind", "sendto", "sendmsg", "sendmmsg"}


def case(f):
    CASES[f.__name__] = f
    return f


def attempts(folder, mode, **env):
    """Return {attempt: result}, and the version of Landlock. OUTPUT and ELSEWHERE are not in the
    temporary folder."""
    out, elsewhere = os.path.join(folder, "out"), os.path.join(folder, "elsewhere")
    for path in (out, elsewhere):
        os.makedirs(path, exist_ok=True)
    with open(os.path.join(elsewhere, "file"), "w", encoding="ascii") as f:
        f.write("precious\n")
    env = {**{k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"}, "TMPDIR": os.path.join(folder, "tmp"), **env}
    os.makedirs(env["TMPDIR"], exist_ok=True)
    r = Run([SANDBOXED, mode, os.path.join(out, "output"), elsewhere], env=env).expect(0)
    have = dict(line.split(" ") for line in r.out.splitlines())
    if have["call_of_32_bit"] == f"status-{signal.SIGSEGV:#x}" and Run([lib.prog("int80")]).status == 128 + signal.SIGSEGV:
        del have["call_of_32_bit"]  # this kernel has no such calls: int 0x80 kills each program
    check(not [v for v in have.values() if v.startswith("status-")], r.out)
    stopped = list(have.values()).count("stopped")
    check(r.err.count("the sandbox stopped system call ") == r.err.count("--no-sandbox allows") == stopped, r.err)
    for name in set(have) - set(READS) - {"version"}:
        check(f"({name}): the recording or one of its files is hostile" in r.err or have[name] != "stopped", f"{name} is not named: {r.err}")
    return have, int(have.pop("version"))


def compare(have, want):
    for name, result in want.items():
        if name == "call_of_32_bit" and name not in have:
            continue
        check(have[name] == result, f"{name}: {have[name]} instead of {result}")


def others(have, but=()):
    """Calls that no reading command makes."""
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
    """A reading command: no program, no process, no socket, no writing."""
    have, version = attempts(folder, "reads")
    confined(version)
    compare(have, READS)
    others(have)


@case
def writing(folder):
    """A writing command: only in the folder of its output."""
    have, version = attempts(folder, "writes")
    confined(version)
    compare(have, {**READS, **WRITES})
    others(have)


@case
def fetching(folder):
    """With DEBUGINFOD_URLS: the network, libraries, and the cache, but no sockets of other programs."""
    cache = os.path.join(folder, "a", "cache")
    have, version = attempts(folder, "fetches", DEBUGINFOD_URLS="http://127.0.0.1:1", DEBUGINFOD_CACHE_PATH=cache)
    confined(version)
    check(os.path.isdir(cache), "the cache was not made")
    compare(have, {**READS, **FETCHES})
    others(have, NETWORK)
    have, _ = attempts(folder, "fetches", DEBUGINFOD_URLS=" ")
    check(have["internet"] == "stopped", "a socket, and no server is named")


@case
def serving(folder):
    """With a socket that listens already: one call more, which accepts connections, and still no other socket."""
    have, version = attempts(folder, "serves")
    confined(version)
    compare(have, READS)
    others(have, ["accept4"])
    check(have["accept4"] in ("EBADF", "ENOTSOCK"), f"accept4: {have['accept4']}")


@case
def without_landlock(folder):
    """A kernel without Landlock: a reading command then gets no openat2(2) either."""
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
    """--no-sandbox: everything is allowed."""
    have, _ = attempts(folder, "off")
    compare(have, {"overwrite": "ok", "create": "ok", "map_code": "ok", "internet": "ok", "make_output": "ok"})


# --- ptcap itself ---------------------------------------------------------------------------------


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def while_it_waits(argv, fifo, look):
    """Run `argv`, which opens the FIFO and waits for data: call look(pid), then close the FIFO."""
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as p:
        opened = []

        def is_open():
            check(p.poll() is None, f"{argv}: exit status {p.returncode}")
            try:
                opened.append(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:  # no reader yet
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
    """Each reading command is in the sandbox when it opens the recording, and works there as
    without it."""
    path, fifo = os.path.join(folder, "perf.data"), os.path.join(folder, "fifo")
    store.fetch(path, [prog("hello")]).expect(0)
    os.mkfifo(fifo)
    made = os.path.join(folder, "made")
    for argv in (["info"], ["dump"], ["dump", "--verify"], ["decode"], ["decode", "--stats", "-j", "2"], ["decode", "--insn"],
                 ["report"], ["compare"], ["crash", "show"], ["crash", "core", "-o", made + "3"],
                 ["convert", "-o", made], ["convert", "-o", "-"], ["recover", "-o", made]):
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


def check_refused(log, argv):
    """Check the log of strace: behind the filter no call but clone3 was refused."""
    with open(log, encoding="ascii", errors="replace") as f:
        calls = f.read().split(" seccomp(SECCOMP_SET_MODE_FILTER")
    check(len(calls) == 2, f"{argv}: {len(calls) - 1} filters")
    refused = [line for line in calls[1].splitlines() if re.search(r"= -1 (ENOSYS|EPERM|EACCES|EAFNOSUPPORT) |SIGSYS", line)]
    check(all(re.search(r" clone3( resumed|\()", line) for line in refused), f"{argv}: {refused}")


@case
def sums(folder):
    """`ptcap sum` is in the sandbox when it opens a file, and needs no call that the sandbox refuses."""
    fifo, log, out = (os.path.join(folder, name) for name in ("fifo", "log", "out"))
    os.mkfifo(fifo)
    for more, want in (([], "2"), (["--no-sandbox"], "0")):
        def look(pid, want=want):
            check(status_of(pid)["Seccomp"] == want, f"Seccomp: {status_of(pid)['Seccomp']}")

        while_it_waits([PTCAP, "sum", *more, fifo], fifo, look)
    names = [os.path.join(folder, name) for name in ("a", "b")]
    for name in names:
        with open(name, "w", encoding="ascii") as f:
            f.write("main;f 3\n")
    strace = ["strace", "-f", "-qq", "-o", log]
    if not shutil.which("strace") or Run([*strace, "true"]).status:
        lib.skip("no strace here, or it may not trace")
    for more in ([], ["-o", out]):
        Run([*strace, PTCAP, "sum", *more, *names]).expect(0)
        check_refused(log, more)


@case
def nothing_refused(folder):
    """The sandbox refuses no call that a command makes, except clone3: the C library then calls clone."""
    log, path, made = (os.path.join(folder, name) for name in ("log", "perf.data", "made"))
    strace = ["strace", "-f", "-qq", "-o", log]
    if not shutil.which("strace") or Run([*strace, "true"]).status:
        lib.skip("no strace here, or it may not trace")
    store.fetch(path, [prog("names")]).expect(0)
    for argv in (["convert", "--compress", "-o", made], ["info"], ["dump", "--verify"], ["decode", "--insn", "-j4"],
                 ["decode", "-F", "tosym,srcline"], ["decode", "--stats"], ["report"], ["compare"], ["crash", "show"],
                 ["convert", "--branch-stacks", "-o", made + "2"], ["recover", "-o", made + "2"]):
        r = Run([*strace, PTCAP, *argv, "-i", made if os.path.exists(made) else path])
        check(r.status in (0, 4), f"{argv}: exit status {r.status}: {r.err}")
        check_refused(log, argv)


@case
def pager(folder):
    """The pager is outside the sandbox."""
    path = os.path.join(folder, "perf.data")
    store.fetch(path, [prog("hello")]).expect(0)
    out, status = on_terminal([PTCAP, "decode", "-i", path], PAGER="grep -h -e ^Seccomp: -e ^NoNewPrivs: /proc/self/status; cat")
    check(status == 0 and re.match(rb"NoNewPrivs:\t0\r?\nSeccomp:\t0\r?\n.*_start", out, re.S), out)
    # Nothing to show: no pager, and its child ends.
    out, status = on_terminal([PTCAP, "decode", "-i", os.path.join(folder, "none")], PAGER="echo paged; cat")
    check(status == 1 and b"paged" not in out and b"cannot open" in out, out)


# --- capabilities of recording commands -------------------------------------------------------

DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, KILL, IPC_LOCK, SYS_CHROOT, SYS_PTRACE, SYS_ADMIN, SYS_NICE, PERFMON = (
    1 << bit for bit in (1, 2, 3, 5, 14, 18, 19, 21, 23, 38))
NOBODY = 65534
STEPS, EVENTS = ["--source", "step"], ["-e", "dummy:u"]


def needed(options):
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as f:
        perfmon = int(f.read()) >= 38
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        perfmon = perfmon and int(f.read()) <= 2
    more = SYS_NICE | KILL if options == STEPS else IPC_LOCK | (PERFMON if perfmon else SYS_ADMIN)
    return (SYS_PTRACE | DAC_READ_SEARCH | more) & own_rights()


def own_rights():
    have = int(status_of("self")["CapEff"], 16)
    if not have & SYS_CHROOT or not have & SYS_PTRACE or os.geteuid():
        lib.skip("not root, or without its capabilities")
    return have


def rights_case(f):
    def known(folder):
        own_rights()
        if not lib.has_events():
            lib.skip("no perf events here")
        f(folder)

    known.__name__ = f.__name__
    return case(known)


def threads_of(pid):
    """Return the statuses of the process's threads, and of its children's."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        pids = [pid, *map(int, f.read().split())]
    return [status_of(f"{p}/task/{tid}") for p in pids for tid in os.listdir(f"/proc/{p}/task")]


def has(status, rights, dropped):
    return {int(status[s], 16) for s in ("CapEff", "CapPrm", "CapBnd")} == {rights} and status["NoNewPrivs"] == str(int(dropped))


def keeps(pid, rights, dropped=True):
    """ptcap has these rights when it prints that it has begun. Its other threads drop theirs before
    they do anything."""
    main = status_of(pid)
    check(has(main, rights, dropped), f"CapEff {main['CapEff']}, CapBnd {main['CapBnd']}, wanted {rights:x}")
    lib.until(lambda: all(has(s, rights, dropped) for s in threads_of(pid)), f"rights {rights:x}, of {threads_of(pid)}")


class Stranger:
    """prog_busy of user nobody, in a root of its own, from a folder that only nobody may enter."""

    def __init__(self, folder):
        os.chmod(folder, 0o755)
        root = os.path.join(folder, "root")
        os.makedirs(os.path.join(root, "hidden"))
        shutil.copy(prog("busy"), os.path.join(root, "hidden", "busy"))
        os.chown(os.path.join(root, "hidden"), NOBODY, NOBODY)
        os.chmod(os.path.join(root, "hidden"), 0o700)

        def become():
            os.chroot(root)
            os.chdir("/")
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

        self.p = subprocess.Popen(["/hidden/busy", "input"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=become)
        check(self.p.stdout.readline() == b"ready\n", "the program is not ready")

    def ends(self, status):
        self.p.stdin.close()
        check(self.p.wait() == status, f"the program's status {self.p.returncode}")


class Recording:
    def __init__(self, *argv):
        self.p = subprocess.Popen([PTCAP, *argv], stderr=subprocess.PIPE, text=True)
        self.said = ""
        while not re.search("attached;|recording;|waiting;", self.said):
            line = self.p.stderr.readline()
            check(line, f"{argv}: {self.said}")
            self.said += line

    def ends(self, sig=signal.SIGINT):
        if sig:
            self.p.send_signal(sig)
        self.said += self.p.communicate()[1]
        check(self.p.returncode == 0, f"exit status {self.p.returncode}: {self.said}")


def record_stranger(folder, argv, options, more=(), end=signal.SIGINT):
    """end: the signal that ends ptcap (SIGINT) or the program; 0: the program ends by itself."""
    path, stranger = os.path.join(folder, "perf.data"), Stranger(folder)
    r = Recording(*argv, *options, *more, "-o", path, "-p", str(stranger.p.pid))
    dropped = "--no-sandbox" not in more
    keeps(r.p.pid, needed(options) if dropped else own_rights(), dropped)
    if "snapshot" in argv:
        r.p.send_signal(signal.SIGUSR2)
        check("snapshot 1" in r.p.stderr.readline(), "there is no snapshot")
    if end == signal.SIGSEGV:
        stranger.p.send_signal(end)
    if end == 0:
        stranger.ends(7)
        r.ends(None)
    else:
        r.ends(end if end == signal.SIGINT else None)
        stranger.ends(7 if end == signal.SIGINT else -end)
    path = path if os.path.exists(path) else next(os.path.join(folder, n) for n in sorted(os.listdir(folder)) if n.startswith("perf.data"))
    features = Run([PTCAP, "dump", "--type", "feature", "-i", path]).expect(0).out
    check("/hidden/busy" in features, features)  # the build-id, which is read at the end
    return path


@rights_case
def rights_of_record(folder):
    """record -p of another user's process with unreadable files keeps exactly the rights for that."""
    record_stranger(folder, ["record"], EVENTS)


@rights_case
def rights_of_step(folder):
    """The same with the step source and its tracer. The program's end is recorded even if the
    tracer is slow."""
    path = record_stranger(folder, ["record"], STEPS, end=0)
    check("prog_main" in Run([PTCAP, "decode", "-i", path, "--strict"]).expect(0).out, "no branches of the program")


@rights_case
def rights_of_crash(folder):
    """crash -p, and the watcher of signals."""
    path = record_stranger(folder, ["crash"], EVENTS, end=signal.SIGSEGV)
    check("SIGSEGV" in Run([PTCAP, "crash", "show", "-i", path]).expect(0).out, "the state was not kept")


@rights_case
def rights_of_snapshot(folder):
    """snapshot -p writes snapshots on request."""
    record_stranger(folder, ["snapshot"], STEPS)


@rights_case
def rights_of_all(folder):
    """record -a, and record -p with --no-sandbox, which keeps all rights."""
    path = os.path.join(folder, "all")
    r = Recording("record", "-a", *EVENTS, "-o", path)
    keeps(r.p.pid, needed(EVENTS))
    r.ends()
    check("MMAP2" in Run([PTCAP, "dump", "-i", path]).expect(0).out, "nothing was recorded")
    record_stranger(folder, ["record"], EVENTS, ["--no-sandbox"])


@rights_case
def rights_of_output(folder):
    """In another user's sticky folder the recording replaces that user's file."""
    os.chmod(folder, 0o755)
    theirs = os.path.join(folder, "theirs")
    os.mkdir(theirs)
    path = os.path.join(theirs, "perf.data")
    with open(path, "w", encoding="ascii") as f:
        f.write("older\n")
    for name in (path, theirs):
        os.chown(name, NOBODY, NOBODY)
    os.chmod(theirs, 0o1755)
    r = Recording("record", "-a", *EVENTS, "-o", path)
    keeps(r.p.pid, needed(EVENTS) | DAC_OVERRIDE | FOWNER)
    r.ends()
    check(sorted(os.listdir(theirs)) == ["perf.data", "perf.data.old"], os.listdir(theirs))


@rights_case
def rights_of_command(folder):
    """A command has the same rights as without ptcap."""
    command = [prog("chain_static"), "show:/proc/self/status"]

    def rights(argv):
        return re.findall("^(?:Cap.*|NoNewPrivs|Seccomp):.*$", Run(argv).expect(0).out, re.MULTILINE)

    alone = rights(command)
    check(len(alone) == 7, f"no rights: {alone}")
    for argv in (["record", *EVENTS], ["record", "-a", *EVENTS], ["record", *STEPS], ["crash", *EVENTS]):
        got = rights([PTCAP, *argv, "-o", os.path.join(folder, "perf.data"), "--", *command])
        check(got == alone, f"{argv}: {got} instead of {alone}")


if __name__ == "__main__":
    lib.main(CASES)
