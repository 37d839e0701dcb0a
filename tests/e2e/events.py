#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""events.py NAME: the kernel's events without AUX, compared with perf record of the same run.

perf and ptcap record the same program at the same time. Each of its threads must have the same
sideband records in both files, one by one. So the recorded threads, inheritance, attaching and
synthesised records are compared with perf on this kernel, on any machine. No case sleeps to be
in time.
"""

import json
import os
import re
import resource
import shutil
import signal
import subprocess

import lib
from lib import PERF, PTCAP, Run, check, first_difference, prog, skip, until

CASES = {}
NOBODY = 65534
EVENT = ["record", "-e", os.environ.get("PTCAP_EVENT", "dummy:u")]
LIKE_PERF = ["--switch-events", "--buildid-mmap", "--namespaces"]


def case(f):
    CASES[f.__name__] = f
    return f


def need_events(folder):
    """Skip unless the kernel gives us events, and perf is there to compare with."""
    r = Run([PTCAP, *EVENT, "-o", os.path.join(folder, "probe"), "--", "true"])
    if "cannot open 'dummy:u'" in r.err:
        skip(r.err)
    r.expect(0)
    if not lib.have_perf():
        skip("no perf here")


class Record:
    def __init__(self, r):
        self.name, self.fields, sample = r["name"], dict(r["fields"]), r.get("sample_id", {})
        self.flags = r["flags"]
        self.tid, self.time = sample.get("tid"), sample.get("time_ns", 0)
        self.fields.pop("time_ns", None)

    def __str__(self):
        return f"{self.name} {self.flags} {self.fields}"

    def __eq__(self, other):
        return str(self) == str(other)


def records(path):
    """Return the kernel's records of a file, by time. A file with losses cannot be compared."""
    out = Run([PTCAP, "dump", "-i", path, "--format", "json"]).expect(0).out
    found = [r for r in map(json.loads, out.splitlines()) if r["type"] == "record" and r["record"] < 64]
    check(not [r for r in found if r["name"] in ("LOST", "LOST_SAMPLES")], f"{path} has losses")
    return sorted(map(Record, found), key=lambda r: r.time)


def live(path):
    """Return {tid: its records}, without synthesised records, and without those that only perf has."""
    ret = {}
    for r in records(path):
        if r.time and r.name not in ("KSYMBOL", "BPF_EVENT", "CGROUP"):
            ret.setdefault(r.tid, []).append(r)
    return ret


def executed(threads, comm):
    """Return the thread that became COMM."""
    found = [t for t, l in threads.items() for r in l if r.name == "COMM" and r.fields["comm"] == comm]
    check(len(found) == 1, f"{len(found)} threads exec'ed {comm!r}")
    return found[0]


def offspring(threads, tid):
    """Return TID and all its descendants."""
    ret, more = set(), {tid}
    while more:
        ret |= more
        more = {r.fields["tid"] for t in more for r in threads.get(t, []) if r.name == "FORK"} - ret
    return ret


def from_exec(threads, tid):
    """Keep the records of TID from its exec on: ptcap attaches only then."""
    at = [i for i, r in enumerate(threads[tid]) if r.name == "COMM" and "COMM_EXEC" in r.flags]
    check(at, f"thread {tid} has no exec")
    threads[tid] = threads[tid][at[0] :]


def without_doubled(found):
    """Leave out each context switch that follows its equal: perf's file had such a pair once, on a busy machine."""
    return [r for i, r in enumerate(found) if i == 0 or r.name != "SWITCH" or str(r) != str(found[i - 1])]


def same(ours, theirs, tids):
    for tid in tids:
        check(tid in theirs, f"perf has nothing of thread {tid}")
        check(tid in ours, f"nothing of thread {tid}: perf has {[str(r) for r in theirs[tid]]}")
        parted = first_difference(ours[tid], without_doubled(theirs[tid]), "ptcap", "perf")
        check(parted is None, f"thread {tid}: {parted}")


def both(folder, argv, options=(), wide=False, switch=True):
    """Run perf around ptcap around the program. Returns the records of both, by thread."""
    theirs, ours = (os.path.join(folder, n) for n in ("perf", "ptcap"))
    like = [o for o in LIKE_PERF if switch or o != "--switch-events"]
    Run([PERF, "record", "-q", "-m", "4M", "-e", "dummy:u", *like, *(["-a"] if wide else []), "-o", theirs, "--",
         PTCAP, *EVENT, "-q", "-m", "4M", *options, "-o", ours, "--", *argv]).expect(0)  # fmt: skip
    return live(ours), live(theirs)


def command(folder, argv, threads, options=(), wide=False):
    need_events(folder)
    ours, theirs = both(folder, argv, options, wide)
    tid = executed(ours, os.path.basename(argv[0])[:15])
    from_exec(theirs, tid)
    from_exec(ours, tid)
    tids = offspring(theirs, tid)
    check(len(tids) == threads, f"{len(tids)} threads and processes, expected {threads}")
    same(ours, theirs, tids)
    return ours, tids


@case
def threads(folder):
    """A command with threads: each thread, on any CPU."""
    command(folder, [prog("tasks"), "locks"], 5)


@case
def pool(folder):
    """Two hundred short threads, five at a time."""
    command(folder, [prog("tasks"), "pool"], 201)


@case
def processes(folder):
    """Forks, vforks and execs."""
    command(folder, ["/bin/sh", "-c", "echo a | tr a b | cat >/dev/null; (true); /bin/true"], 6)


@case
def wide(folder):
    """-a: whole CPUs, with the previous and the next thread at each switch."""
    # Other tests may run prog_tasks at the same time. This name is only used here.
    program = shutil.copy(prog("tasks"), os.path.join(folder, "wide_tasks"))
    ours, tids = command(folder, [program, "locks"], 5, ["-a"], wide=True)
    names = {r.name for t in tids for r in ours[t]}
    check("SWITCH_CPU_WIDE" in names and "SWITCH" not in names, f"there are {names}")


@case
def some_cpus(folder):
    """-C: everything on that CPU, and nothing of other CPUs."""
    need_events(folder)
    online = sorted(os.sched_getaffinity(0))
    path = os.path.join(folder, "f")
    Run([PTCAP, *EVENT, "-q", "-m", "16M", "-C", str(online[-1]), "-o", path, "--", "taskset", "-c", str(online[-1]), "true"]).expect(0)
    out = Run([PTCAP, "dump", "-i", path, "--format", "json"]).expect(0).out
    seen = {r["sample_id"]["cpu"] for r in map(json.loads, out.splitlines())
            if r.get("record", 64) < 64 and r["sample_id"]["time_ns"]}  # fmt: skip
    check(seen == {online[-1]}, f"CPUs {seen}, asked for {online[-1]}")
    check(any(r.fields.get("comm") == "true" for r in records(path)), "the command is not there")


@case
def per_thread(folder):
    """--per-thread: the thread, and none of its children; these are counted and reported."""
    need_events(folder)
    path = os.path.join(folder, "f")
    r = Run([PTCAP, *EVENT, "--per-thread", "-o", path, "--", prog("tasks"), "locks"]).expect(0)
    check(re.search(r"threads or processes of the command that were not recorded: 4\n", r.err), r.err)
    there = live(path)
    tid = executed(there, "prog_tasks")
    check(set(there) == {tid}, f"threads {set(there)}, the first is {tid}")
    check([x.name for x in there[tid]].count("EXIT") == 1, "it did not end there")


class Server:
    """prog_tasks serve: eight threads, and a child for each byte of its input."""

    def __init__(self):
        self.p = subprocess.Popen([prog("tasks"), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        check(self.p.stdout.readline() == b"ready\n", "the program does not start")

    def fork(self):
        self.p.stdin.write(b"f")
        self.p.stdin.flush()
        check(self.p.stdout.readline() == b"forked\n", "no child")

    def end(self):
        self.p.stdin.close()
        check(self.p.wait() == 7, f"the program's exit status is {self.p.returncode}")


def attached(folder, path, *argv):
    """Return ptcap, once it is attached."""
    log = os.path.join(folder, "log")
    with open(log, "w", encoding="utf-8") as f:
        p = subprocess.Popen([PTCAP, *EVENT, "-m", "4M", "-o", path, *argv], stderr=f)

    def ready():
        check(p.poll() is None, f"it ended: {open(log, encoding='utf-8').read()}")
        return "attached" in open(log, encoding="utf-8").read()

    until(ready, "attached")
    return p


def perf_attached(folder, path, pid):
    """Return perf, once it records: it answers a ping."""
    ctl, ack = (os.path.join(folder, n) for n in ("ctl", "ack"))
    os.mkfifo(ctl)
    os.mkfifo(ack)
    p = subprocess.Popen([PERF, "record", "-q", "-m", "4M", "-e", "dummy:u", *LIKE_PERF, f"--control=fifo:{ctl},{ack}",
                          "-o", path, "-p", str(pid)])  # fmt: skip
    with open(ctl, "w", encoding="ascii") as c, open(ack, encoding="ascii") as a:
        c.write("ping\n")
        c.flush()
        check(a.read(3) == "ack", "perf does not answer")
    return p


def in_front(path, pid):
    """Return the synthesised records of a running process: names and mappings."""
    front = [r for r in records(path) if not r.time]
    comms = {(r.fields["tid"], r.fields["comm"]) for r in front if r.name == "COMM" and r.fields["pid"] == pid}
    maps = {tuple(r.fields[k] for k in ("addr", "len", "pgoff", "prot", "filename"))
            for r in front if r.name == "MMAP2" and r.fields["pid"] == pid}  # fmt: skip
    return comms, {m for m in maps if m[-1] != "[vsyscall]"}  # the kernel never reports this one


@case
def attach(folder):
    """-p: synthesised records for a running process, then its threads and children; the recording
    ends with its target."""
    need_events(folder)
    server = Server()
    theirs, ours = (os.path.join(folder, n) for n in ("perf", "ptcap"))
    perf = perf_attached(folder, theirs, server.p.pid)
    ptcap = attached(folder, ours, "-p", str(server.p.pid))
    server.fork()
    server.fork()
    server.end()
    check(ptcap.wait() == 0 and perf.wait() == 0, "exit status")
    for got, want in zip(in_front(ours, server.p.pid), in_front(theirs, server.p.pid)):
        check(got == want, f"in front: {got}, perf {want}")
    check(len(in_front(ours, server.p.pid)[0]) == 9, "nine threads")
    a, b = live(ours), live(theirs)
    main = server.p.pid
    for there in (a, b):  # both have records from the first child on
        first = next(i for i, r in enumerate(there[main]) if r.name == "FORK")
        there[main] = there[main][first:]
    same(a, b, offspring(b, main))
    for tid, _ in in_front(ours, server.p.pid)[0]:
        check(str(a[tid][-1]) == str(b[tid][-1]) and a[tid][-1].name == "EXIT", f"thread {tid} does not end")


@case
def churn(folder):
    """Threads are created all the time during the attach: each thread created afterwards has its
    own records."""
    need_events(folder)
    path = os.path.join(folder, "f")
    target = subprocess.Popen([prog("crowd"), "on", "100"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    ptcap = attached(folder, path, "-p", str(target.pid))
    target.stdin.close()
    check(target.wait() == 0 and ptcap.wait() == 0, "exit status")
    there = live(path)
    forks = sorted((r for l in there.values() for r in l if r.name == "FORK"), key=lambda r: r.time)
    born = {r.fields["tid"] for r in forks}
    # A thread that is attached in the middle of a clone(2): its new thread is reported, but got its
    # events before they existed. It is the thread's first child. It is found in /proc, if it lives
    # long enough.
    first = {}
    for r in forks:
        first.setdefault(r.fields["ptid"], r.fields["tid"])
    between = {tid for by, tid in first.items() if by not in born}
    check(len(born) >= 100, f"only {len(born)} threads were born")
    silent = [t for t in born - between if not any(r.name == "EXIT" for r in there.get(t, []))]
    check(not silent, f"{len(silent)} of {len(born)} threads are missing: {silent[:5]}")
    first = in_front(path, target.pid)[0]
    silent = [t for t, _ in first if not any(r.name == "EXIT" for r in there.get(t, []))]
    check(len(silent) <= 1, f"of {len(first)} threads that ran already {silent} are missing")


@case
def one_thread(folder):
    """-t: only that thread and its children; ptcap leaves it unchanged."""
    need_events(folder)
    server = Server()
    tid = max(int(t) for t in os.listdir(f"/proc/{server.p.pid}/task"))
    path = os.path.join(folder, "f")
    ptcap = attached(folder, path, "-t", str(tid))
    server.fork()
    ptcap.send_signal(signal.SIGINT)
    check(ptcap.wait() == 0, "exit status")
    server.fork()
    server.end()
    check(set(live(path)) <= {tid}, f"there are {set(live(path))}")


@case
def killed(folder):
    """ptcap is killed: the recorded process continues undisturbed."""
    need_events(folder)
    server = Server()
    path = os.path.join(folder, "f")
    ptcap = attached(folder, path, "-p", str(server.p.pid))
    server.fork()
    ptcap.kill()
    ptcap.wait()
    server.fork()
    server.end()
    check(not os.path.exists(path), "a file is left")


@case
def vanishing(folder):
    """The attached process ends at any moment: a complete file, or a message about that and no file."""
    need_events(folder)
    path = os.path.join(folder, "f")
    for n in range(60):
        with subprocess.Popen([prog("tasks"), "pool"], stdout=subprocess.DEVNULL) as target:
            if n % 3 == 0:  # a zombie
                os.waitid(os.P_PID, target.pid, os.WEXITED | os.WNOWAIT)
            r = Run([PTCAP, *EVENT, "-o", path, "-p", str(target.pid)])
            check(target.wait() == 0, f"the program's exit status is {target.returncode}")
        check(r.status in ((1,) if n % 3 == 0 else (0, 1)), f"exit status {r.status}: {r.err}")
        if r.status:
            check(re.fullmatch(r"(ptcap: .*\n)*ptcap: .*(has ended|no process|No such process).*\n", r.err), r.err)
        check(os.path.exists(path) == (r.status == 0), f"exit status {r.status}, and the file: {os.path.exists(path)}")
        if not r.status:
            Run([PTCAP, "dump", "--verify", "-i", path]).expect(0)
            os.unlink(path)


@case
def samples(folder):
    """A software event that counts: one sample for each count of perf stat in the same run."""
    need_events(folder)
    ours, count = (os.path.join(folder, n) for n in ("ptcap", "count"))
    Run([PTCAP, "record", "-q", "-m", "4M", "-e", "minor-faults:u", "-o", ours, "--",
         PERF, "stat", "-x,", "-e", "minor-faults:u", "-o", count, prog("tasks"), "locks"]).expect(0)  # fmt: skip
    there = live(ours)
    first = executed(there, "prog_tasks")
    tids = offspring(there, first)
    begin = next(r.time for r in there[first] if r.name == "COMM" and r.fields["comm"] == "prog_tasks")
    got = [r for t in tids for r in there[t] if r.name == "SAMPLE" and r.time > begin]
    with open(count, encoding="ascii") as f:
        want = int(re.search(r"^(\d+),,minor-faults:u", f.read(), re.M)[1])
    check(len(tids) == 5, f"{len(tids)} threads")
    check(len(got) == want, f"{len(got)} samples, perf counts {want}")


def as_nobody(argv, **kw):
    setpriv = shutil.which("setpriv")
    if os.geteuid() or not setpriv:
        skip("not root, or no setpriv")
    return Run([setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *argv], **kw)


def paranoid():
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        return int(f.read())


def nobodys_ptcap(folder):
    os.chmod(folder, 0o777)
    if as_nobody([PTCAP, "--version"]).status:
        skip("nobody cannot run ptcap here")


@case
def refusals(folder):
    """A refusal by the kernel is reported with the remedy; the command does not run, and no file
    remains."""
    need_events(folder)
    path = os.path.join(folder, "f")
    done = os.path.join(folder, "done")
    tail = ["-o", path, "--", "touch", done]

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (7, 7))

    nobody = paranoid() == 2
    for argv, run, status, words in (
        (["-e", "dummy:u", *tail], lambda a: Run(a, preexec_fn=limit), 125, r"\d+ more file descriptors are needed, but the limit is 7"),
        (["-e", "dummy:u", "-p", "4194305", "-o", path], Run, 1, "no process 4194305"),
        (["-e", "dummy:u", "-C", "4095", *tail], Run, 125, "CPU 4095 is not online"),
        (["-e", "dummy:u", "-G", "no/such", *tail], Run, 125, "cgroup"),
        (["-e", "nix/a/", *tail], Run, 125, "no PMU 'nix'"),
        (["-e", "software/a/u", *tail], Run, 2, "has no 'a', and no other term"),
        (["-e", "dummy:x", *tail], Run, 2, "modifier 'x'"),
        (["-e", "dummy", "-S", *tail], Run, 2, "snapshots need a trace, but 'dummy' has none"),
        (["-e", "dummy:u", "--source", "step", *tail], Run, 2, "the step and emu sources do not support events"),
        (["-e", "dummy:u", "--filter", "filter 0x1000/0x10@/bin/true", *tail], Run, 125, "'dummy:u' does not support address filters"),
        (["-e", "dummy:u", "--filter", "filter 0x1000@/bin/true", *tail], Run, 2, "the size is not known; add / SIZE"),
        (["-e", "dummy:u", "--filter", "filter no_such @ /bin/true", *tail], Run, 125, "no function 'no_such' in '/usr/bin/true'"),
        (["--source", "step", "--filter", "filter 0x1000/0x10@/bin/true", *tail], Run, 2, "the step and emu sources do not support address filters"),
        (["--source", "step", "--kcore", *tail], Run, 2, "the step and emu sources do not support --kcore"),
        (["-e", "dummy:u", "--kcore", *tail], Run, 2, "'dummy:u' excludes the kernel"),
        (["-e", "dummy", "--kcore", "-o", "/", "--", "touch", done], Run, 2, "'/' is a folder without a recording"),
        (["-a", "--per-thread", "-e", "dummy:u", *tail], Run, 2, "--per-thread cannot be combined with CPUs"),
        (["-e", "dummy:u", "-a", *tail], as_nobody if nobody else None, 125, "perf_event_paranoid is 2"),
        (["-e", "dummy:u", "-p", "1", "-o", path], as_nobody if nobody else None, 1, "CAP_SYS_PTRACE"),
        (["-e", "dummy:u", "-m", "64M", *tail], as_nobody if nobody else None, 125, r"perf_event_mlock_kb allows \d+ KiB .* at most \d+K"),
    ):  # fmt: skip
        if run is as_nobody:
            nobodys_ptcap(folder)
        if not run:
            continue
        r = run([PTCAP, "record", *argv]).expect(status)
        check(re.search(words, r.err), f"{argv}: {words!r} is not in {r.err!r}")
        check(not os.path.exists(done), f"{argv}: the command ran")
        check(not os.path.exists(path), f"{argv}: a file is left")


@case
def unprivileged(folder):
    """Features that a user may not have are left out, and -v reports them; the rest is recorded."""
    need_events(folder)
    nobodys_ptcap(folder)
    if paranoid() != 2:
        skip("kernel.perf_event_paranoid is not 2")
    path = os.path.join(folder, "f")
    r = as_nobody([PTCAP, "record", "-v", "-e", "page-faults", "-o", path, "--", "true"]).expect(0)
    check("not recorded: the kernel" in r.err, r.err)
    check("not recorded: namespaces" in r.err, r.err)
    check(executed(live(path), "true"), "the command is not there")


if __name__ == "__main__":
    lib.main(CASES)
