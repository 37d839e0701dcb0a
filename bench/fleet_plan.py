#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Simulates a day of a fleet that sends crashes and snapshots to one central decoder. Prints the tables of doc/fleet.md.

usage: fleet_plan.py [OPTION...]    each assumption is an option: --help lists them

An event is a crash or a snapshot on one machine. A policy decides which recordings the machine sends. Each recording
becomes a decode job at the end of its upload. The jobs wait in one FIFO for W cores. The same seed prints the same bytes.
The tables before Assumptions have figures of ptcap on one machine. Assumptions has guesses: replace them with your numbers.
"""
import argparse
import heapq
import math
import random
from collections import Counter, namedtuple
from dataclasses import dataclass, field, fields
from itertools import accumulate

KIB, MIB, MB, GB = 1024, 1 << 20, 1e6, 1e9
HOUR, DAY = 3600, 86400

# All figures are of November 2026, a release build, and an Intel Xeon at 2.80 GHz (6/106/6). CPU time is user and system time.
# `/usr/bin/time -v ptcap COMMAND FILE`, where FILE is a recording that `bench/all --keep` made. Output goes to a file. Each pair
# is the CPU time in seconds and the peak memory in MiB.
Cost = namedtuple("Cost", "trace branches stats bin report")  # decode --stats -j1, decode --format bin -j1, report -j1
COSTS = {
    "cc1": Cost(35_083_736, 63_825_817, (1.21, 127.3), (1.85, 134.7), (10.15, 158.8)),
    "python3": Cost(37_697_000, 21_516_259, (0.24, 61.1), (0.48, 62.3), (2.71, 70.8)),
    "sqlite3": Cost(30_808_400, 19_016_846, (0.13, 41.0), (0.31, 41.9), (3.00, 48.1)),
    "xz": Cost(34_037_016, 38_374_152, (0.21, 41.4), (0.43, 41.6), (2.57, 45.7)),
}
# `ptcap crash --source emu -m 1M,RING -- PROGRAM`: bytes of the file, after `zstd -3`, `archive --reached` and `archive`. Then CPU
# time and peak memory of `ptcap crash show --format json`. work is a C program that sorts strings before it dies.
CRASHES = {
    ("python3", 64 * KIB): (143_396, 37_919, 2_479_800, 9_756_791, 0.09, 35.0),
    ("python3", MIB): (1_114_636, 114_326, 2_806_393, 9_830_287, 0.17, 37.8),
    ("python3", 4 * MIB): (4_263_092, 143_636, 2_837_426, 9_857_222, 0.36, 40.7),
    ("python3", 16 * MIB): (16_856_236, 504_599, 3_305_803, 10_227_017, 1.17, 56.0),
    ("work", 64 * KIB): (102_304, 7_144, 376_987, 5_436_105, 0.07, 25.4),
    ("work", MIB): (1_084_640, 57_075, 428_902, 5_484_802, 0.16, 26.4),
    ("work", 4 * MIB): (4_232_560, 335_103, 707_145, 5_764_183, 0.36, 29.3),
    ("work", 16 * MIB): (16_817_616, 1_130_914, 1_537_514, 6_560_812, 1.12, 41.5),
}
# Bytes of a file of `ptcap snapshot --source emu -m 1M,RING -- PROGRAM`, then after `zstd -3`, `ptcap archive --reached` and
# `ptcap archive`. The programs are those of bench/suite/recordings.py, with larger inputs. Emulated trace has no time packets.
SNAPSHOTS = {
    64 * KIB: {
        "python3": (73_828, 10_213, 473_491, 9_653_212),
        "xz": (71_940, 12_899, 325_242, 5_580_641),
        "sqlite3": (73_688, 6_030, 611_568, 7_877_738),
        "cc1": (73_940, 6_928, 1_655_952, 21_121_444),
    },
    MIB: {
        "python3": (1_056_308, 123_258, 803_370, 9_766_973),
        "xz": (1_055_316, 156_137, 467_242, 5_723_202),
        "sqlite3": (1_056_520, 32_791, 639_008, 7_910_320),
        "cc1": (1_056_940, 251_157, 4_717_290, 21_371_707),
    },
    4 * MIB: {
        "python3": (4_201_308, 188_093, 964_267, 9_834_598),
        "xz": (4_201_924, 608_518, 920_137, 6_172_948),
        "sqlite3": (4_202_728, 100_175, 707_144, 7_978_999),
        "cc1": (4_201_484, 770_749, 5_934_855, 21_893_167),
    },
    16 * MIB: {
        "python3": (16_784_132, 666_918, 1_662_577, 10_316_699),
        "xz": (16_784_700, 2_411_351, 2_727_132, 7_980_003),
        "sqlite3": (16_785_392, 366_764, 975_711, 8_247_040),
        "cc1": (16_784_588, 2_828_094, 7_934_792, 23_870_273),
    },
    64 * MIB: {
        "python3": (67_116_588, 3_182_633, 4_486_431, 12_840_756),
        "xz": (67_114_812, 9_528_541, 9_852_180, 15_104_435),
        "sqlite3": (67_116_112, 1_534_343, 2_152_922, 9_424_250),
        "cc1": (67_116_308, 11_067_719, 15_782_742, 31_699_552),
    },
}

def mean(values):
    values = list(values)
    return sum(values) / len(values)


def rate(command):
    """Returns the mean CPU time of the four programs in seconds for 1 GB of trace."""
    return mean(getattr(c, command)[0] / c.trace * GB for c in COSTS.values())


def show_rate():
    """Returns how much more CPU time `crash show` needs for 1 GB more trace, as a mean of the two programs."""
    steps = [(CRASHES[p, 16 * MIB][i] - CRASHES[p, 64 * KIB][i] for i in (4, 0)) for p in ("python3", "work")]
    return mean(cpu / size * GB for cpu, size in steps)


Input = namedtuple("Input", "value unit text command")
MEASURED = {
    "zstd": Input(0.284, "", "size of a hardware trace with time packets after zstd. Smaller ones: 0.13 to 0.49",
                  "zstd -3 -c perf.data | wc -c"),
    "snapshot_state": Input(8500, "B", "a snapshot without its trace, one thread", "ls -l; ptcap info"),
    "crash_state": Input(27700, "B", "the state of a crash after zstd, python3", "zstd -3: crash of 64 KiB - snapshot of 64 KiB"),
    "report_bytes": Input(2543, "B", "an explained crash of python3 after zstd. Before: 32,137", "ptcap crash show --format json | zstd -3 -c | wc -c"),
    "profile_bytes": Input(9606, "B", "a report after zstd, ring buffer of 1 MiB. Before: 70,597",
                           "ptcap report --format json | zstd -3 -c | wc -c"),
    "bin": Input(rate("bin"), "s/GB", "write all branches: mean of COSTS", "ptcap decode --format bin -j1"),
    "bin_fixed": Input(0.01, "s", "the same for hardware traces of 2 to 29 KB: 0.003 to 0.014",
                       "ptcap decode --format bin -j1 --pt=pt.bin --raw=image.dump@..."),
    "report": Input(rate("report"), "s/GB", "calls by function: mean of COSTS", "ptcap report -j1"),
    "report_fixed": Input(0.02, "s", "the same for hardware traces of 2 to 29 KB: 0.004 to 0.027",
                          "ptcap report -j1 --pt=pt.bin --raw=image.dump@..."),
    "show": Input(show_rate(), "s/GB", "explain a crash: slope of CRASHES", "ptcap crash show --format json"),
    "show_fixed": Input(0.09, "s", "the same, ring buffer of 64 KiB", "ptcap crash show --format json"),
    "memory": Input(125, "MB", "peak of a report of cc1, without the mapped recording", "ptcap report -j1"),
    "branches": Input(mean(c.branches / c.trace for c in COSTS.values()), "", "branches for a byte of trace: mean of COSTS",
                      "ptcap decode --stats"),
}


def assume(value, text):
    return field(default=value, metadata={"help": text})


@dataclass
class Assumptions:
    """Guesses about a fleet. None of them was measured."""
    machines: int = assume(10000, "machines")
    crashes: float = assume(0.3, "crashes of a machine in a day")
    snapshots: float = assume(1.0, "triggered snapshots of a machine in a day")
    ring: int = assume(4096, "KiB of a ring buffer; the default of a recording by root")
    rings: int = assume(8, "full ring buffers in a recording: the busy CPUs of a machine")
    bugs: int = assume(2000, "bugs that crash the fleet")
    skew: float = assume(1.0, "exponent of Zipf's law for crashes by bug")
    new_bugs: int = assume(100, "bugs that first occur on this day")
    splits: int = assume(2, "signatures of a bug: other callers or other builds of a function give another one")
    builds: int = assume(3, "builds in use; each has a tenth of the machines of the one before")
    functions: int = assume(4, "functions of interest, with equal numbers of snapshots")
    peak: float = assume(1.5, "busiest moment of the day, divided by the mean")
    uplink: float = assume(10.0, "Mbit/s of a machine for uploads")
    lost: float = assume(0.02, "share of recordings that never arrive whole")
    first: int = assume(3, "recordings of a signature, build and day for the policies 'first'")
    keep: int = assume(5, "snapshots of a build, function and hour for the policies 'sample'")
    share: float = assume(0.1, "share of recordings for the policy 'one in ten'")
    newest: int = assume(64, "KiB of each ring buffer for the policy 'newest'")
    rollout: float = assume(0.1, "share of machines that a bad rollout crashes")
    minutes: float = assume(10.0, "minutes in which they crash")
    start: float = assume(14.0, "hour of the rollout")
    bundle: float = assume(0.0, "MB of program files in an upload: `archive --reached` adds 0.3 to 5.2, `archive` 5.4 to 21")
    parquet: float = assume(1.0, "bytes of a branch in Parquet: 14.1 million branches were 14.2 MB")
    size: float = assume(1.0, "factor for the measured size after zstd")
    cost: float = assume(1.0, "factor for the measured CPU times; cc1 takes 2.2 times the mean")
    days: int = assume(30, "days that the disk keeps recordings")
    seed: int = assume(1, "seed of the random numbers")


# reports: the machine explains each crash itself, and sends the report first. first: 0 is no limit.
# strata: sample snapshots by build, function and hour. newest: send only the newest part of each ring buffer.
Policy = namedtuple("Policy", "name reports first share strata newest")


def policies(a):
    return (Policy("everything", False, 0, 1.0, False, False),
            Policy("one in ten", False, 0, a.share, False, False),
            Policy("first", True, a.first, 1.0, False, False),
            Policy("first, sample", True, a.first, 1.0, True, False),
            Policy("first, sample, newest", True, a.first, 1.0, True, True))


# --- a day -------------------------------------------------------------------------------------

# draw and luck are random numbers from 0 to 1: for sampling, and for a loss on the way. Each policy sees the same ones.
Event = namedtuple("Event", "time machine crash bug build function draw luck")
BAD = -1  # the bug of the rollout


def load(a, time):
    """Returns the rate of events at this second of the day, divided by the mean. The maximum is at 14:00."""
    return 1 + (a.peak - 1) * math.sin(2 * math.pi * (time / HOUR - 8) / 24)


def random_time(a, rng):
    while True:
        time = rng.random() * DAY
        if rng.random() * a.peak <= load(a, time):
            return time


def build_shares(a):
    parts = [10.0 ** -i for i in range(a.builds)]
    return [p / sum(parts) for p in parts]


def birth_times(a, rng):
    """Returns the second of the day when each new bug appears."""
    return {bug: rng.random() * DAY / 2 for bug in rng.sample(range(a.bugs), min(a.new_bugs, a.bugs))}


def make_day(a, rollout=False):
    """Returns the events of a day in the order of time. Their numbers are exact, their times and kinds are random."""
    rng = random.Random(a.seed)
    births = birth_times(a, rng)
    weights = list(accumulate((rank + 1) ** -a.skew for rank in range(a.bugs)))
    edges = list(accumulate(build_shares(a)))
    build_of = [sum((m + 0.5) / a.machines > e for e in edges[:-1]) for m in range(a.machines)]
    events = []
    for i in range(round(a.machines * a.crashes) + round(a.machines * a.snapshots)):
        time, machine, crash, bug = random_time(a, rng), rng.randrange(a.machines), i < round(a.machines * a.crashes), None
        while crash and (bug is None or births.get(bug, 0) > time):
            bug = rng.choices(range(a.bugs), cum_weights=weights)[0]
        events.append(Event(time, machine, crash, bug, build_of[machine], rng.randrange(a.functions), rng.random(), rng.random()))
    hit = rng.sample(range(a.machines), round(a.machines * a.rollout)) if rollout else []
    for machine in hit:
        time = a.start * HOUR + rng.random() * a.minutes * 60
        events.append(Event(time, machine, True, BAD, a.builds, 0, rng.random(), rng.random()))
    return sorted(events), births


# --- sizes and costs ---------------------------------------------------------------------------


def measured(name):
    return MEASURED[name].value


def trace_bytes(a, policy):
    """Returns the bytes of trace in a recording that the machine sends."""
    ring = a.newest if policy.newest else a.ring
    return min(ring, a.ring) * KIB * a.rings


def upload_bytes(a, policy, crash):
    """Returns the bytes of a compressed recording. A crash adds the state of its process."""
    state = measured("crash_state" if crash else "snapshot_state")
    return trace_bytes(a, policy) * measured("zstd") * a.size + state + a.bundle * MB


def seconds(a, command, size):
    """Returns the CPU time of a command for so many bytes of trace."""
    return a.cost * (measured(command + "_fixed") + measured(command) * size / GB)


def job_seconds(a, policy, crash):
    """Returns the CPU time of a decode job: all branches for Parquet, and the report that the machine did not make."""
    size = trace_bytes(a, policy)
    if not crash:
        return seconds(a, "bin", size) + seconds(a, "report", size)
    return seconds(a, "bin", size) + (0 if policy.reports else seconds(a, "show", size))


def poisson_tail(mean, count):
    """Returns the probability that a Poisson number with this mean is below @count."""
    term = total = math.exp(-mean)
    for i in range(1, count):
        term *= mean / i
        total += term
    return total if count else 0.0


def wanted_mean(keep):
    """Returns the smallest mean of which 99 % of Poisson numbers reach @keep."""
    low, high = 0.0, 10.0 * keep + 20
    for _ in range(60):
        mid = (low + high) / 2
        low, high = (mid, high) if poisson_tail(mid, keep) > 0.01 else (low, mid)
    return high


def sampling_table(a):
    """Returns the probability of a snapshot by build and hour. It needs only the usual rate, so a machine can know it."""
    wanted, table = wanted_mean(a.keep), {}
    for build, part in enumerate(build_shares(a)):
        for hour in range(24):
            usual = a.machines * a.snapshots / 24 * load(a, (hour + 0.5) * HOUR) * part / a.functions
            table[build, hour] = min(1.0, wanted / usual) if usual else 1.0
    return table


# --- simulation --------------------------------------------------------------------------------

Job = namedtuple("Job", "arrival seconds bug")


class Fleet:
    """One day under one policy. Central decides about a recording when the report of its crash arrives."""

    def __init__(self, a, policy, events):
        self.a, self.policy, self.events = a, policy, events
        self.table = sampling_table(a) if policy.strata else {}
        self.free = [0.0] * a.machines  # when the uplink of a machine has sent all that waits
        self.sent = [0.0] * a.machines  # bytes
        self.hours = Counter()  # bytes by hour
        self.granted, self.seen, self.strata, self.kept = Counter(), {}, Counter(), Counter()
        self.first = {}  # time of the first recording of a bug at central
        self.jobs, self.recordings, self.recording_bytes, self.reports, self.machine_seconds = [], 0, 0, 0, 0.0
        self.pending, self.order = [], 0

    def later(self, time, action, event):
        self.order += 1
        heapq.heappush(self.pending, (time, self.order, action, event))

    def send(self, time, event, size, action):
        """Queues bytes at the uplink of a machine, and calls @action when central has them."""
        end = max(time, self.free[event.machine]) + size * 8 / (self.a.uplink * 1e6)
        self.free[event.machine] = end
        self.sent[event.machine] += size
        self.hours[int(end // HOUR)] += size
        self.later(end, action, event)

    def send_recording(self, time, event):
        size = upload_bytes(self.a, self.policy, event.crash)
        self.recordings += 1
        self.recording_bytes += size
        self.send(time, event, size, self.recording_arrives)

    def happens(self, event):
        policy, size = self.policy, trace_bytes(self.a, self.policy)
        if event.crash:
            self.seen.setdefault(event.bug, event.time)
            if policy.reports:
                self.machine_seconds += seconds(self.a, "show", size)
                self.reports += 1
                self.send(event.time + seconds(self.a, "show", size), event, measured("report_bytes"), self.report_arrives)
            elif event.draw < policy.share:
                self.send_recording(event.time, event)
            return
        key = event.build, event.function, int(event.time // HOUR)
        self.strata[key] += 1
        if event.draw < (self.table[key[0], key[2]] if policy.strata else policy.share):
            self.kept[key] += 1
            self.send_recording(event.time, event)
        elif policy.newest:  # the machine makes the report of a snapshot that it does not send
            self.machine_seconds += seconds(self.a, "report", size)
            self.reports += 1
            self.send(event.time + seconds(self.a, "report", size), event, measured("profile_bytes"), lambda *_: None)

    def report_arrives(self, time, event):
        key = event.bug, int(event.draw * self.a.splits), event.build
        if not self.policy.first or self.granted[key] < self.policy.first:
            self.granted[key] += 1
            self.send_recording(time, event)

    def recording_arrives(self, time, event):
        if event.luck < self.a.lost:
            return
        self.jobs.append(Job(time, job_seconds(self.a, self.policy, event.crash), event.bug))
        if event.crash:
            self.first.setdefault(event.bug, time)

    def run(self):
        at = 0
        while at < len(self.events) or self.pending:
            if self.pending and (at == len(self.events) or self.pending[0][0] <= self.events[at].time):
                time, _, action, event = heapq.heappop(self.pending)
                action(time, event)
            else:
                self.happens(self.events[at])
                at += 1
        return self

    def bytes(self):
        return sum(self.sent)

    def without_recording(self):
        return [bug for bug in self.seen if bug not in self.first]

    def thin_strata(self):
        """Returns how many strata had enough snapshots, but kept too few of them."""
        return sum(n >= self.a.keep > self.kept[key] for key, n in self.strata.items())


def fifo(jobs, workers):
    """Returns the wait of each job in seconds. @jobs are in the order of arrival."""
    free, waits = [0.0] * workers, []
    for job in jobs:
        begin = max(job.arrival, free[0])
        heapq.heapreplace(free, begin + job.seconds)
        waits.append(begin - job.arrival)
    return waits


def percentile(values, part):
    """Returns the nearest-rank percentile, 0 for no values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)] if ordered else 0.0


def cores_for(jobs, limit, since=0.0, until=math.inf):
    """Returns the smallest number of cores with a p99 wait below @limit for the jobs that arrive in this time."""
    def waits(workers):
        return percentile([w for j, w in zip(jobs, fifo(jobs, workers)) if since <= j.arrival < until], 0.99)
    high = 1
    while waits(high) >= limit:
        high *= 2
    low = high // 2
    while low + 1 < high:
        mid = (low + high) // 2
        low, high = (low, mid) if waits(mid) < limit else (mid, high)
    return high


def longest_queue(jobs, waits):
    """Returns the largest number of jobs that wait at the same time."""
    late = [(job.arrival, wait) for job, wait in zip(jobs, waits) if wait > 0]
    steps = sorted([(arrival, 1) for arrival, _ in late] + [(arrival + wait, -1) for arrival, wait in late])
    return max(accumulate(step for _, step in steps), default=0)


# --- tables ------------------------------------------------------------------------------------


def table(title, head, rows):
    lines = [f"### {title}", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def number(value):
    """Returns three significant digits."""
    if not value:
        return "0"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def duration(time):
    return f"{number(time)} s" if time < 120 else f"{number(time / 60)} min" if time < 2 * HOUR else f"{number(time / HOUR)} h"


def memory(a, policy, cores):
    """Returns the bytes that so many decode jobs use. A job also maps its recording."""
    return cores * (measured("memory") * MB + trace_bytes(a, policy))


def disk(a, fleet):
    """Returns the bytes of recordings and of Parquet files that the disk keeps."""
    branches = len(fleet.jobs) * trace_bytes(a, fleet.policy) * measured("branches")
    return fleet.recording_bytes * a.days, branches * a.parquet * a.days


def inputs_table():
    rows = [(i.text, f"{number(i.value)} {i.unit}".strip(), "`" + i.command.replace("|", "\\|") + "`") for i in MEASURED.values()]
    return table("Measured inputs", ("input", "value", "command"), rows)


def costs_table():
    """Returns what decoding costs, by program."""
    rows = []
    for name, c in COSTS.items():
        rows.append((name, number(c.trace / MB), number(c.branches / c.trace),
                     *(f"{number(cpu / c.trace * GB)} s/GB, {memory:.0f} MiB" for cpu, memory in (c.stats, c.bin, c.report))))
    return table("Measured cost of decoding", ("program", "MB of trace", "branches for a byte", "`decode --stats`",
                                               "`decode --format bin`", "`report`"), rows)


def crashes_table():
    rows = [(name, f"{ring // KIB:,} KiB", *(f"{size:,}" for size in sizes), f"{cpu} s, {peak:.0f} MiB")
            for (name, ring), (*sizes, cpu, peak) in CRASHES.items()]
    return table("Measured crashes, in bytes", ("program", "ring buffer", "file", "`zstd -3`", "`archive --reached`", "`archive`",
                                                "`crash show --format json`"), rows)


def snapshots_table():
    """Returns the share of a snapshot that is left after zstd, and the size of the program files in its bundle."""
    rows = []
    for ring, programs in SNAPSHOTS.items():
        whole, packed, reached, full = zip(*programs.values())
        more = [[b - p for b, p in zip(bundles, packed)] for bundles in (reached, full)]
        rows.append((f"{ring // KIB:,} KiB", number(mean(whole) / MB), *(f"{p / w * 100:.1f} %" for p, w in zip(packed, whole)),
                     *(f"{number(min(m) / MB)} to {number(max(m) / MB)}" for m in more)))
    return table("Measured snapshots of one ring buffer", ("ring buffer", "MB", *(f"`zstd -3`, {name}" for name in SNAPSHOTS[MIB]),
                                                           "`archive --reached` adds MB", "`archive` adds MB"), rows)


def assumptions_table(a):
    return table("Assumed", ("option", "value", "meaning"),
                 [(f"`--{f.name.replace('_', '-')}`", getattr(a, f.name), f.metadata["help"]) for f in fields(a)])


def upload_table(a, fleets):
    rows = []
    for f in fleets:
        hours = [f.hours[h] for h in range(24)]
        rows.append((f.policy.name, f.recordings, f.reports, number(f.bytes() / GB), number(f.bytes() / 24 / GB),
                     number(percentile(hours, 0.99) / GB), number(f.bytes() / a.machines / MB), number(percentile(f.sent, 0.99) / MB)))
    return table("Uploads of a normal day", ("policy", "recordings", "reports", "GB", "GB an hour, mean", "GB an hour, p99",
                                             "MB a machine, mean", "MB a machine, p99"), rows)


def loss_table(fleets, births):
    """Returns what a policy loses. The time of a new bug is from its first crash to its first recording at central."""
    rows = []
    for f in fleets:
        new = [f.first[bug] - f.seen[bug] for bug in births if bug in f.first]
        met = sum(bug in f.seen for bug in births)
        rows.append((f.policy.name, len(f.seen), len(f.without_recording()), f"{len(new)} of {met}", duration(percentile(new, 0.5)),
                     duration(max(new, default=0)), sum(n >= f.a.keep for n in f.strata.values()), f.thin_strata()))
    return table("Losses of a normal day", ("policy", "bugs seen", "bugs without a recording", "new bugs with one", "time to it, median",
                                            "time to it, longest", "groups of enough snapshots", "groups that kept too few"), rows)


def decoder_table(a, fleets):
    rows = []
    for f in fleets:
        cores = [cores_for(f.jobs, limit) for limit in (60, 600)]
        raw, parquet = disk(a, f)
        rows.append((f.policy.name, len(f.jobs), number(sum(j.seconds for j in f.jobs) / HOUR), *cores,
                     number(memory(a, f.policy, cores[0]) / GB), number(raw / GB), number(parquet / GB), number(f.machine_seconds / a.machines)))
    return table(f"Central decoder of a normal day, disk of {a.days} days",
                 ("policy", "jobs", "CPU hours", "cores, p99 wait < 1 min", "cores, p99 wait < 10 min", "GB of memory for 1 min",
                  "GB of recordings", "GB of Parquet", "CPU s a machine"), rows)


def burst_table(a, fleets, bursts):
    """Returns the day of a bad rollout: its p99 is of the jobs that arrive in the hour after the rollout."""
    begin, rows = a.start * HOUR, []
    for f, burst in zip(fleets, bursts):
        usual = cores_for(f.jobs, 60)
        waits = fifo(burst.jobs, usual)
        last = max((j.arrival + w for j, w in zip(burst.jobs, waits) if j.bug == BAD), default=begin)
        cores = [cores_for(burst.jobs, limit, begin, begin + HOUR) for limit in (60, 600)]
        seen = burst.seen.get(BAD)
        first = duration(burst.first[BAD] - seen) if BAD in burst.first else "none"
        rows.append((f.policy.name, burst.recordings - f.recordings, number((burst.bytes() - f.bytes()) / GB), usual, longest_queue(burst.jobs, waits),
                     duration(last - begin), *cores, first))
    return table(f"A bad rollout: one bug crashes {a.rollout * 100:g} % of the machines in {a.minutes:g} minutes",
                 ("policy", "more recordings", "more GB", "cores of a normal day", "longest queue with them", "last recording begins after",
                  "cores, p99 wait < 1 min", "cores, p99 wait < 10 min", "time to the first recording"), rows)


def first_table(a, events, bursts):
    """Returns how the limit of recordings for a signature, build and day changes a normal day and a rollout."""
    rows = []
    for first in (1, 2, 3, 5, 10):
        policy = Policy(f"first {first}", True, first, 1.0, True, False)
        f, b = Fleet(a, policy, events).run(), Fleet(a, policy, bursts).run()
        crashes = f.recordings - sum(f.kept.values())
        rows.append((first, number(crashes), number(f.recording_bytes * crashes / f.recordings / GB), len(f.without_recording()),
                     sum(e.crash for e in bursts) - sum(e.crash for e in events), b.recordings - f.recordings))
    return table("Recordings of a signature, build and day", ("limit", "recordings of crashes", "GB of them", "bugs without a recording",
                                                              "crashes of the rollout", "recordings of the rollout"), rows)


def ring_table(a, policy, events, bursts):
    """Returns the sizing table: one policy with several sizes of ring buffers."""
    rows = []
    for ring in SNAPSHOTS:
        sized = argparse.Namespace(**{**vars(a), "ring": ring // KIB})
        f, b = Fleet(sized, policy, events).run(), Fleet(sized, policy, bursts).run()
        begin, cores = a.start * HOUR, cores_for(f.jobs, 60)
        raw, parquet = disk(sized, f)
        rows.append((f"{ring // KIB:,} KiB", number(trace_bytes(sized, policy) / MB), number(upload_bytes(sized, policy, True) / MB),
                     number(f.bytes() / GB), number(sum(j.seconds for j in f.jobs) / HOUR), cores, cores_for(b.jobs, 60, begin, begin + HOUR),
                     number(memory(sized, policy, cores) / GB), number(raw / GB), number(parquet / GB)))
    return table(f"Sizes for ring buffers, policy '{policy.name}'",
                 ("ring buffer", "MB of trace in a recording", "MB to send", "GB a day", "CPU hours a day", "cores, p99 wait < 1 min",
                  "cores in a burst", "GB of memory", f"GB of recordings, {a.days} days", "GB of Parquet"), rows)


def plan(a):
    """Returns all tables as one text."""
    events, births = make_day(a)
    rollout, _ = make_day(a, rollout=True)
    fleets = [Fleet(a, p, events).run() for p in policies(a)]
    bursts = [Fleet(a, p, rollout).run() for p in policies(a)]
    measures = (inputs_table(), costs_table(), snapshots_table(), crashes_table())
    return "\n".join((*measures, assumptions_table(a), upload_table(a, fleets), loss_table(fleets, births), decoder_table(a, fleets),
                      burst_table(a, fleets, bursts), first_table(a, events, rollout), ring_table(a, policies(a)[3], events, rollout)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for f in fields(Assumptions):
        parser.add_argument("--" + f.name.replace("_", "-"), type=f.type, default=f.default, help=f"{f.metadata['help']} (default: {f.default})")
    print(plan(Assumptions(**vars(parser.parse_args()))), end="")


if __name__ == "__main__":
    main()
