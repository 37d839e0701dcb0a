# SPDX-License-Identifier: MIT
"""Questions about decoding: first pass, hot, counting, threads."""
import re
import statistics

from .context import Question
from .run import Left, run, turns
from .table import Row
from .text import threads_row

COUNTS = ("edges", "calls", "blocks", "lines")
SPEEDS = re.compile(r"cold\s+([\d.]+) MB/s\s+([\d.]+) M transfers/s, hot\s+([\d.]+|inf) MB/s\s+\S+ M transfers/s"
                    r"(?:; libipt\s+([\d.]+) MB/s)?")
SECONDS = re.compile(r"elapsed, s: ([\d.]+)-([\d.]+)-([\d.]+)")


def _fast(ctx, path, options, clock):
    """Runs bench_fast once. Returns MB/s cold, branches for a byte of trace, MB/s hot, MB/s of libipt."""
    text = run([ctx.tool("bench_fast"), *options, "-p", "1", path], clock).text
    found = SPEEDS.search(text)
    if not found:
        raise Left("bench_fast printed no speed")
    cold, transfers, hot, libipt = (float(v) if v else None for v in found.groups())
    return cold, transfers / cold, hot, libipt


def _measured(ctx, recording, counts, clock):
    """Returns the results of bench_fast for a recording. The questions first-pass and hot share them."""
    key = recording.path, counts
    if key not in ctx.engine:
        results = turns(ctx.pairs, clock, lambda: _fast(ctx, recording.path, ["-c"] if counts else [], clock))
        ctx.engine[key] = [r[0] for r in results]
    return ctx.engine[key]


def _pass_row(ctx, name, which, counts, wanted, clock):
    results = _measured(ctx, ctx.recording(name), counts, clock)
    dense = statistics.median(r[1] for r in results)
    limit = ctx.limits["read"] if counts else ctx.limits["copy"] / (16 * dense)
    return Row(f"{name}, counting" if counts else name, "MB/s", [r[which] for r in results], [r[3] for r in results], limit,
               wanted=wanted)


def _pass_jobs(which, wanted):
    def jobs(ctx):
        return [(name + (", counting" if counts else ""),
                 lambda clock, a=(name, which, counts, "" if counts else wanted.get(name, "")): _pass_row(ctx, *a, clock))
                for counts in (False, True) for name in ctx.names()]
    return jobs


def _count_row(ctx, name, options, counts, clock):
    recording = ctx.recording(name)
    mb = recording.bytes / 1e6

    def engine(more):
        return mb / _fast(ctx, recording.path, ["-n", *more], clock)[0]

    results = turns(ctx.pairs, clock, lambda: run([ctx.ptcap, "decode", "-i", recording.path, "-j", "1", *options], clock).cpu,
                    lambda: engine(["-c"] if counts else []), lambda: engine(["-c"]))
    return Row(f"{name}, `{' '.join(options)}`", "s", [r[0] for r in results], [r[1] for r in results],
               statistics.median(r[2] for r in results), more=False, wanted="at most 1.3")


def _count_jobs(ctx):
    kinds = [(["--stats"], True), (["--format=bin"], False)] + [([f"--counts={what}"], False) for what in COUNTS]
    return [(f"{name}, `{' '.join(options)}`", lambda clock, a=(name, options, counts): _count_row(ctx, *a, clock))
            for options, counts in kinds for name in ctx.names()]


def _jobs_once(ctx, path, clock):
    text = run([ctx.tool("bench_jobs"), "-p", "1", path], clock, keep=True).text
    found = SECONDS.search(text)
    if not found:
        raise Left("bench_jobs printed no seconds")
    return tuple(float(v) for v in found.groups())


def _threads_row(ctx, name, clock):
    recording = ctx.recording(name)
    results = [r[0] for r in turns(ctx.pairs, clock, lambda: _jobs_once(ctx, recording.path, clock))]
    return Row(f"{name}, library", "s", [r[0] for r in results], [r[2] for r in results],
               statistics.median(r[1] for r in results) / 2, wanted="1.8")


def _threads_jobs(ctx):
    return ([(f"{name}, library", lambda clock, name=name: _threads_row(ctx, name, clock)) for name in ctx.names()] +
            [(" ".join(["decode", *options]), lambda clock, options=options: threads_row(ctx, options, clock))
             for options in ([], ["--calls"], ["--insn"])])


PEER = ("CPU time of one thread (`bench_fast`). Peer: libipt's block decoder with a warm cache. "
        "Limit: copying 16 bytes for each branch. For counting: reading the trace.")
FIRST_PASS = Question("first-pass", 90, ("bench_fast",), f"The code is unknown. {PEER}",
                      _pass_jobs(0, {"python3": "12", "cc1": "6", "sqlite3": "15", "xz": "20"}), decodes=("programs",), limited=True)
HOT = Question("hot", 90, ("bench_fast",), f"The code is known. The questions first-pass and hot share their runs. {PEER}", _pass_jobs(2, {}), decodes=("programs",), limited=True)
COUNTING = Question("counting", 90, ("bench_fast",), (
    "CPU time of `ptcap decode -j 1`, with start and end. Peer: the engine's first pass, which lists all branches "
    "(`bench_fast -n`), or counts them for `--stats` (`-c`). Limit: the engine counting, without a list."), _count_jobs, decodes=("programs",))
THREADS = Question("threads", 130, ("bench_jobs",), (
    "Elapsed time of two threads: the library (`bench_jobs`), and text to /dev/null. Peer: one thread alone. "
    "Limit: half of the time of two processes at the same time, which share nothing."), _threads_jobs, decodes=("programs", "text"))
