# SPDX-License-Identifier: MIT
"""Common code of the end-to-end tests: finding the programs, running them, reading their output."""

import ctypes
import glob
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

SKIP = 77
MARK = "PTCAP_E2E"  # in the environment of all processes that a case starts
PR_SET_CHILD_SUBREAPER = 36


def need(name):
    path = os.environ.get(name)
    if not path:
        sys.exit(f"{name} is not set: these tests are run by ctest (tests/e2e.cmake)")
    return path


PTCAP = need("PTCAP")
REFSTEP = need("REFSTEP")
PEAK = need("PEAK")
PROGS = need("PROGS")
PERF = os.environ.get("PERF", "")
SOURCE = os.environ.get("PTCAP_SOURCE", "step")
RECORD = [PTCAP, "record", "--source", SOURCE]
# Verify each recording of a case with both engines, with enough PSBs for the second one to get
# segments.
VERIFY = bool(os.environ.get("PTCAP_E2E_VERIFY"))
if VERIFY:
    RECORD += ["--psb-period", "2K"]
# prog_busy until its input ends, at a time that the case decides; and a number of rounds that makes
# much trace.
BUSY = "input"
BUSY_A_WHILE = {"step": "3000", "emu": "250000"}[SOURCE]


# The cache of scripts/test is for the tests' own modules: a Python program of a case writes none.
os.environ.pop("PYTHONPYCACHEPREFIX", None)
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

# The C library looks at each variable when a program starts. With 37 of them, that was half of the steps of a static program under
# the step source. So programs get few of them, unless a case gives them others. os.environ has all of them for the tests themselves.
INHERITED = re.compile(r"PATH|HOME|LC_ALL|LANG|TERM|TMPDIR|USER|LOGNAME|PYTHONDONTWRITEBYTECODE|(A|UB|T|L)SAN_OPTIONS|(GO|CARGO|RUSTUP|PYENV).*")
for variable in os.environ:
    if not INHERITED.fullmatch(variable):
        os.unsetenv(variable)

# A shell starts its background jobs with SIGINT and SIGQUIT ignored, which every program of a case
# would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

# "id:N,slots:1" if CTest gives a test a CPU of its own.
given = re.fullmatch(r"id:(\d+),slots:1", os.environ.get("CTEST_RESOURCE_GROUP_0_CPUS", ""))
if given:
    os.sched_setaffinity(0, [int(given[1])])


sources = []  # how to repeat each stored recording that this case has read (store.py)


class Failure(Exception):
    pass


class Skip(Exception):
    pass


# Some virtual machines accept breakpoints that never fire. unit_capture compares what ptcap finds with the kernel's events.
NO_BREAKPOINTS = "hardware breakpoints do not work on this (virtual) machine"


def check(ok, message):
    if not ok and NO_BREAKPOINTS in str(message):
        raise Skip(NO_BREAKPOINTS)
    if not ok:
        raise Failure(message)


def skip(why):
    raise Skip(why)


def skip_without(what):
    """Skip the case, because the program is missing. Where scripts/test installs all programs, fail."""
    if os.environ.get("PTCAP_GUEST") == "required":
        raise Failure(f"{what} is missing")
    raise Skip(f"no {what}")


def prog(name):
    return os.path.join(PROGS, "prog_" + name)


def have_perf():
    return bool(PERF) and os.access(PERF, os.X_OK)


def fixed_addresses():
    """Return a command prefix that turns address randomisation off, or None if that is forbidden."""
    setarch = shutil.which("setarch")
    if setarch and subprocess.run([setarch, "-R", "true"], capture_output=True).returncode == 0:
        return [setarch, "-R"]
    return None


# --- abilities of the machine: asks the kernel, not ptcap, whose refusal is then a failure -----


def has_events():
    """Return true if a process may have an event of its own."""
    attr = struct.pack("<IIQQQQQ16x", 1, 64, 9, 0, 0, 0, 1 << 5 | 1 << 6)  # dummy:u, not of the hypervisor
    fd = ctypes.CDLL(None).syscall(298, attr, 0, -1, -1, 8)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def has_ptrace():
    """Return true if a child of ours may trace another one."""
    target = os.fork()
    if not target:
        signal.pause()
    tracer = os.fork()
    if not tracer:
        os._exit(ctypes.CDLL(None).ptrace(ctypes.c_long(0x4206), ctypes.c_long(target), None, None) != 0)  # SEIZE
    refused = os.waitpid(tracer, 0)[1]
    os.kill(target, signal.SIGKILL)
    os.waitpid(target, 0)
    return not refused


def core_of(folder, argv, status=None, prepare=lambda: None, env=None):
    """Run argv in the folder. Returns its core; skips if the machine puts cores elsewhere."""
    with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as f:
        pattern = f.read().strip()
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if "/" in pattern or pattern.startswith("|") or hard == 0:
        skip(f"cores go to '{pattern}', or nowhere")
    begins = os.path.join(folder, pattern.split("%")[0] + "*")
    for name in glob.glob(begins):
        os.remove(name)

    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        prepare()

    asan = os.environ.get("ASAN_OPTIONS", "")  # it sets a core limit of 0, which children inherit
    env = {**(env or os.environ), "ASAN_OPTIONS": f"{asan}:disable_coredump=0".lstrip(":")}
    run = Run(argv, cwd=folder, env=env, preexec_fn=limits)
    if status is not None:
        run.expect(status)
    cores = glob.glob(begins)
    check(len(cores) == 1, f"{argv}: exit status {run.status}, cores {cores}\n{run.err}")
    return cores[0]


DEADLINE = 600  # seconds for a condition: a longer wait is a hang. ctest's own limit is higher (tests/CMakeLists.txt)


def qemu_version():
    return int(re.search(r"version (\d+)", Run(["qemu-x86_64", "--version"]).out)[1])


def until(condition, what):
    end = time.monotonic() + DEADLINE
    while not condition():
        check(time.monotonic() < end, f"in {DEADLINE} s not: {what}")
        time.sleep(0.001)


class Run:
    """A finished command: status (128 + n for signal n, like a shell), out, err."""

    def __init__(self, argv, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        kw.setdefault("stdout", subprocess.PIPE)
        r = subprocess.run(argv, stderr=subprocess.PIPE, text=True, errors="replace", **kw)
        self.argv = argv
        self.status = r.returncode if r.returncode >= 0 else 128 - r.returncode
        self.out, self.err = r.stdout, r.stderr

    def expect(self, status):
        check(
            self.status == status,
            f"{' '.join(self.argv)}: exit status {self.status}, expected {status}\n{self.err}",
        )
        return self


def record(output, argv, *options, prefix=(), **kw):
    return Run(
        [*prefix, *RECORD, "-o", output, *options, "--", *argv], **kw
    )


def breakpoints_work(folder):
    """Whether the step source runs to an address at full speed here."""
    r = Run([PTCAP, "record", "--source", "step", "--from", "0x1000", "-o", os.path.join(folder, "never"), "--", "/bin/true"])
    return NO_BREAKPOINTS not in r.err


class Transfer(tuple):
    """(from, to, kind), addresses as integers."""

    def __str__(self):
        return f"{self[0]:x} {self[1]:x} {self[2]}"


known = {}  # line -> (tid, Transfer): a program repeats its branches many times


def transfers(text):
    """Parse lines `tid from to kind` -> {tid: [Transfer]}. Any other line is a failure: a gap, a
    message."""
    ret = {}
    for n, line in enumerate(text.splitlines(), 1):
        if line not in known:
            m = re.fullmatch(r"(-?\d+) ([0-9a-f]+) ([0-9a-f]+) ([a-z]+)", line)
            check(m, f"line {n} is no transfer: {line!r}")
            known[line] = int(m[1]), Transfer((int(m[2], 16), int(m[3], 16), m[4]))
        tid, t = known[line]
        if tid not in ret:
            ret[tid] = []
        ret[tid].append(t)
    return ret


def first_difference(a, b, name_a, name_b, show=str):
    """Return a text about the first difference of two lists, or None."""
    if a == b:
        return None
    n = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    lines = [f"{name_a} has {len(a)}, {name_b} has {len(b)}; they part at {n}:"]
    for i in range(max(0, n - 4), n):
        lines.append(f"        {show(a[i])}")
    for name, x in ((name_a, a), (name_b, b)):
        for i in range(n, min(n + 4, len(x))):
            lines.append(f"    {name:>6}: {show(x[i])}")
    return "\n".join(lines)


def same_transfers(a, b, name_a, name_b):
    check(a.keys() == b.keys(), f"threads: {name_a} {sorted(a)}, {name_b} {sorted(b)}")
    for tid in a:
        text = first_difference(a[tid], b[tid], name_a, name_b)
        check(not text, f"tid {tid}: {text}")


def decode(path, *options):
    return Run([PTCAP, "decode", "-i", path, *options])


BRANCH, RUN = 1, 5


def bin_items(out):
    """Parse the output of --format bin: (from or offset, to or length, time, pid, tid, cpu, queue,
    type, kind)."""
    check(out[:64] == b"PTCAPDEC 2 16".ljust(63) + b"\n", f"head {out[:64]}")
    context, at = None, 64
    while at < len(out):
        word, value = struct.unpack_from("<qQ", out, at)
        at += 16
        if word & 0xFF:
            yield ((word >> 8) & NO_TIME, value, *context, BRANCH, word & 0xFF)
            continue
        item = struct.unpack_from("<QQQiiiIBB", out, at)
        check(word >> 8 == item[7] and value == 4, f"record at {at - 16}: type {word >> 8}, {value} units")
        at += 16 * value
        if item[7] == RUN:
            context = item[2:7]
        else:
            yield item
    check(at == len(out), f"{len(out)} bytes")


NO_TIME = (1 << 64) - 1
ORDERED_MAX = 200000  # branches; more of them take too long to check one by one


def in_order(path, *options):
    """Branches, gaps and events come in time order. Returns how many have a time."""
    items = subprocess.run(
        [PTCAP, "decode", "-i", path, "--format", "bin", "--events", *options],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
    ).stdout
    items = [item for item in bin_items(items) if item[2] != NO_TIME]
    back = next(((a, b) for a, b in zip(items, items[1:]) if a[2] > b[2]), None)
    check(not back, f"time goes back: {back}")
    return len(items)


def equals_truth(path, truth):
    """Decode a recording and compare it with the stepper's truth. Returns the branches."""
    d = decode(path, "-F", "tid,from,to,kind", "--strict").expect(0)
    with open(truth, encoding="ascii") as f:
        want = transfers(f.read())
    check(want, "the truth is empty")
    same_transfers(transfers(d.out), want, "decode", "truth")
    if sum(map(len, want.values())) < ORDERED_MAX:
        check(in_order(path), "nothing has a time")
    return want


# --- files and processes left by a case -------------------------------------------------------

MAGIC = b"PERFILE2"


def recordings(folder):
    for where, _, names in os.walk(folder):
        for path in (os.path.join(where, name) for name in names):
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as f:
                    if f.read(len(MAGIC)) == MAGIC:
                        yield path


def engines_agree(folder):
    """Compare the engines for each recording left. The case itself judges whether it can be decoded."""
    for path in recordings(folder):
        r = Run([PTCAP, "decode", "-i", path, "--engine=verify", "--stats"], stdout=subprocess.DEVNULL)
        said = r.err.splitlines()[-1:]
        print(f"{os.path.basename(path)}: {said}", flush=True)
        check("engines differ" not in r.err and r.status in (0, 1, 4), f"{path}: exit status {r.status}\n{r.err}")


def guard():
    """From now on, orphans of our processes become our children, and all carry a mark."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.environ[MARK] = f"{os.getpid()}.{time.monotonic_ns()}"


def strays():
    """Return {pid: its command line} of running processes with our mark, or that are our children.
    Reaps ended ones."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    mark = f"{MARK}={os.environ[MARK]}".encode()
    ret = {}
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            with open(f"/proc/{pid}/stat", "rb") as f:
                state, ppid = f.read().rsplit(b")", 1)[1].split()[:2]
            with open(f"/proc/{pid}/environ", "rb") as f:
                marked = mark in f.read().split(b"\0")
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it is gone, or not ours
            continue
        if pid != os.getpid() and state != b"Z" and (marked or int(ppid) == os.getpid()):
            ret[pid] = line
    return ret


def nothing_left(seconds=DEADLINE):
    """Processes may end within this time; those that still run then are killed, and are a failure."""
    end = time.monotonic() + seconds
    left = strays()
    while left and time.monotonic() < end:
        time.sleep(0.001)
        left = strays()
    for pid in left:
        os.kill(pid, 9)
    check(not left, f"left running: {left}")


def main(table):
    """Run table[argv[1]](folder, ...) in a new folder; print the failure, once."""
    name, rest = sys.argv[1], sys.argv[2:]
    guard()
    if SOURCE == "emu" and not shutil.which("qemu-x86_64"):
        print("skipped: no qemu-x86_64 here (Debian: qemu-user)")
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory(prefix="ptcap-e2e-") as folder:
        try:
            try:
                table[name](folder, *rest)
                if VERIFY:
                    engines_agree(folder)
            except BaseException as e:
                try:
                    nothing_left(0)
                except Failure as more:
                    e.args = (f"{e}; {more}",)
                raise
            nothing_left()
        except Failure as e:
            print(f"FAILED {name}: {e}")
            print(*sources, sep="\n")
            sys.exit(1)
        except Skip as e:
            print(f"skipped {name}: {e}")
            sys.exit(SKIP)
    print(f"ok {name}")
