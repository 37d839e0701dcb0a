# SPDX-License-Identifier: MIT
"""Check `snapshots` of truth.py: `record -S` and SIGUSR2."""

import collections
import os
import re
import signal
import subprocess

import lib
from lib import Run, Transfer, check
from perf_branches import CLASSES, perf_transfers


class Snapshots:
    """A prog_laps under `record -S`, step by step: each step waits for its effect."""

    def __init__(self, folder, argv, *options):
        self.path, self.truth = os.path.join(folder, "perf.data"), os.path.join(folder, "truth")
        pipe = subprocess.PIPE
        self.sizes = []
        self.ptcap = subprocess.Popen(
            [*lib.RECORD, "-o", self.path, "--truth", self.truth, *options, "--", *argv],
            stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1,
        )
        self.pid = self.until(r"ready (\d+)")[1]

    def until(self, said):
        line = self.ptcap.stdout.readline()
        m = re.fullmatch(said, line.rstrip())
        check(m, f"the program says {line!r}, not {said!r}")
        return m

    def rest(self):
        """Wait until its main thread is in read(2)."""
        call = ""
        while not call.startswith("0 "):
            check(self.ptcap.poll() is None, "ptcap has ended")
            with open(f"/proc/{self.pid}/syscall", encoding="ascii") as f:
                call = f.read()

    def heard(self):
        """Wait until the next snapshot is in the file."""
        while True:
            line = self.ptcap.stderr.readline()
            check(line, "no snapshot was taken")
            m = re.fullmatch(r"ptcap: snapshot (\d+): (\d+) bytes of trace\n", line)
            if m:
                self.sizes.append(int(m[2]))
                check(int(m[1]) == len(self.sizes), line)
                return

    def do(self, steps):
        """s, l: do that much work. g: begin. d: wait until it is done. .: wait until it rests. !: a
        snapshot."""
        for step in steps:
            if step in "slg":
                self.ptcap.stdin.write(step)
                self.ptcap.stdin.flush()
            if step in "sld":
                self.until("done")
            elif step == "g":
                self.until("go")
            elif step == ".":
                self.rest()
            elif step == "!":
                self.ptcap.send_signal(signal.SIGUSR2)
                self.heard()

    def end(self):
        """End it. Returns (the truth: {tid: text}, decoded: text)."""
        self.ptcap.stdin.close()
        self.heard()
        err = self.ptcap.stderr.read()
        check(self.ptcap.stdout.read() == "" and self.ptcap.wait() == 7, f"the end: {err}")
        m = re.search(r"(\d+) snapshots?: (\d+) of (\d+) bytes of generated trace", err)
        check(m and int(m[1]) == len(self.sizes) and int(m[2]) == sum(self.sizes) <= int(m[3]), err)
        check("LOST" not in err, err)
        with open(self.truth, encoding="ascii") as f:
            want = by_tid(f.read())
        verified = Run([lib.PTCAP, "dump", "--verify", "-i", self.path]).expect(0).out
        check(verified.startswith("verified: "), verified)
        return want, lib.decode(self.path, "-F", "tid,from,to,kind", "--strict").expect(0).out


def by_tid(text):
    """Parse lines `tid ...` -> {tid: its lines}."""
    ret, head = collections.defaultdict(list), None
    for line in text.splitlines(keepends=True):
        if not head or not line.startswith(head):  # a thread has many lines in a row
            head = line.split(" ", 1)[0] + " "
            add = ret[head].append
        add(line)
    return {head[:-1]: "".join(lines) for head, lines in ret.items()}


UNKEPT = re.compile(r"# gap queue=(\d+) tid=(-1|\d+) offset=\S+ length=\S+ cause=snapshot")


def joined(decoded):
    """Split lines `tid cpu from to kind` of several CPUs at gaps.

    Returns [{tid: lines}]: each thread's branches from one of its gaps to the next. A gap
    belongs to the thread, or to the queue it was in. The last entry has the branches that go on
    to the end.
    """
    open_, done, where = {}, [], {}

    def ends(tid):
        if open_.get(tid):
            done.append({tid: "".join(open_.pop(tid))})

    for line in decoded.splitlines(keepends=True):
        gap = UNKEPT.match(line)
        if gap:
            for tid in [t for t in open_ if gap[2] == t or (gap[2] == "-1" and where[t] == gap[1])]:
                ends(tid)
            continue
        tid, where_now, rest = line.split(" ", 2)
        where[tid] = where_now
        open_.setdefault(tid, []).append(f"{tid} {rest}")
    return [*done, {tid: "".join(lines) for tid, lines in open_.items()}]


def parts_of(decoded):
    """Split the text at the places where the trace was not kept."""
    for line in re.findall(r"(?m)^#.*", decoded):
        check(UNKEPT.fullmatch(line), line)
    return [by_tid(part) for part in re.split(r"(?m)^#.*\n", decoded)]


def perf_reads(path, decoded):
    if not lib.have_perf():
        lib.skip("no perf here (Debian: linux-perf)")
    flow = lib.transfers(re.sub(r"(?m)^#.*\n", "", decoded))
    want = {tid: [Transfer((f, t, CLASSES[k])) for f, t, k in ts] for tid, ts in flow.items()}
    got = perf_transfers(path)
    if got is not None:
        lib.same_transfers(got, want, "perf", "decode")


def check_snapshots(folder, name, argv):
    options = ["--vcpus", "2"] if name.endswith("vcpus") else []
    for n, (data, ring, size, steps) in enumerate((
        ("1M", "64K", "", "l!s!l.!!g!!!dl!"),  # often wrapped, not wrapped, nothing new, while running
        # The source waits for space in the data ring when it must pause.
        ("8K", "64K", "8K", "l!g!!dl!s!"),
        ("8K", "8K", "", "l!g!!dl!ss!"),
        ("1M", "1M", "", "!s.!!s"),
    )):
        sub = os.path.join(folder, str(n))
        os.mkdir(sub)
        # PSBs close together: the smallest chunk has one, too.
        run = Snapshots(sub, argv, "-S" + size, "-m", f"{data},{ring}", "--psb-period", "2K", *options)
        run.do(steps)
        want, decoded = run.end()
        most = {"64K": 65536, "8K": 8192, "1M": 1 << 20}[size or ring] * (2 if options else 1)
        check(max(run.sizes) <= most, f"too large: {run.sizes}")
        parts = parts_of(decoded)
        if ring == "1M":
            check(len(parts) == 1, "something was not kept")
            lib.same_transfers(lib.transfers(decoded), lib.transfers("".join(want.values())), "decode", "truth")
        else:
            # l always wraps the ring; work in progress wraps it only on a quick machine.
            check(len(parts) > steps.count("l") and (parts[0] == {} or options), f"{len(parts)} parts, first {parts[0]}"[:300])
        if ".!!" in steps and argv[1] == "1":  # the other threads may not rest yet
            nth = steps[: steps.index(".!!") + 3].count("!") - 1
            check(run.sizes[nth] == 0, f"something new while nothing ran: {run.sizes}")
        if options:
            parts = joined(lib.decode(run.path, "-F", "tid,cpu,from,to,kind").expect(0).out)
        at = dict.fromkeys(want, 0)
        for part in parts:
            for tid, flow in part.items():
                found = want[tid].find(flow, at[tid])
                check(found >= 0 and not (found and want[tid][found - 1] != "\n"),
                      f"steps {steps}: not one part of the truth, or not in order: {flow[:300]} ... {flow[-300:]}")
                at[tid] = found + len(flow)
        check(parts[-1], "nothing of the end")
        for tid, flow in parts[-1].items():
            check(want[tid].endswith(flow), f"tid {tid} does not end with the truth")
        perf_reads(run.path, decoded)
        check(lib.in_order(run.path), "nothing has a time")
        os.unlink(run.truth)
