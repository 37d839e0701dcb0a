# SPDX-License-Identifier: MIT
"""Questions about decoding: first pass, hot, counting, threads."""
import re
import statistics

from .context import Question
from .run import Late, Left, run, turns
from .table import Row
from .text import threads_row

COUNTS = ("edges", "calls", "blocks", "lines")
TRANSFERS = re.compile(r"(\d+) transfers")
PAIR = re.compile(r"pair \d+: cold ([\d.]+) s, hot ([\d.]+) s, libipt ([\d.]+) s")
SECONDS = re.compile(r"elapsed, s: ([\d.]+)-([\d.]+)-([\d.]+)")


def _fast(ctx, recording, options, pairs, clock):
    """Runs bench_fast. Returns the number of branches, and for each pair the seconds cold, hot, and of libipt.

    If the time ends, the pairs until then are enough."""
    try:
        text = run([ctx.tool("bench_fast"), *options, "-p", str(pairs), recording.path], clock).text
    except Late as e:
        text = e.args[1]
        if not PAIR.search(text):
            raise
    return int(TRANSFERS.search(text)[1]), [tuple(map(float, found)) for found in PAIR.findall(text)]


def _measured(ctx, recording, counts, clock):
    """Returns the results of bench_fast for a recording. The questions first-pass and hot share them."""
    key = recording.path, counts
    if key not in ctx.engine:
        try:
            ctx.engine[key] = _fast(ctx, recording, ["-c"] if counts else [], ctx.pairs, clock)
        except Left as e:
            ctx.engine[key] = str(e)
    if isinstance(ctx.engine[key], str):
        raise Left(ctx.engine[key])
    return ctx.engine[key]


def _pass_row(ctx, name, which, counts, wanted, clock):
    recording = ctx.recording(name)
    branches, pairs = _measured(ctx, recording, counts, clock)
    mb = recording.bytes / 1e6
    limit = ctx.limits["read"] if counts else ctx.limits["copy"] * recording.bytes / (16 * branches)
    return Row(f"{name}, counting" if counts else name, "MB/s", [mb / p[which] for p in pairs], [mb / p[2] for p in pairs], limit,
               wanted=wanted)


def _pass_jobs(which, wanted):
    def jobs(ctx):
        return [(name + (", counting" if counts else ""),
                 lambda clock, a=(name, which, counts, "" if counts else wanted.get(name, "")): _pass_row(ctx, *a, clock))
                for counts in (False, True) for name in ctx.names()]
    return jobs


def _count_row(ctx, name, options, counts, clock):
    recording = ctx.recording(name)

    def engine(more):
        return _fast(ctx, recording, ["-n", "1", *more], 1, clock)[1][0][0]

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
FIRST_PASS = Question("first-pass", 130, ("bench_fast",), f"The code is unknown. {PEER}",
                      _pass_jobs(0, {"python3": "15", "cc1": "15", "sqlite3": "20", "xz": "25"}), decodes=("programs",), limited=True)
HOT = Question("hot", 130, ("bench_fast",), f"The code is known. The questions first-pass and hot share their runs. {PEER}", _pass_jobs(1, dict.fromkeys(("python3", "cc1", "sqlite3", "xz"), "20")), decodes=("programs",), limited=True)
COUNTING = Question("counting", 90, ("bench_fast",), (
    "CPU time of `ptcap decode -j 1`, with start and end. Peer: the engine's first pass, which lists all branches "
    "(`bench_fast -n`), or counts them for `--stats` (`-c`). Limit: the engine counting, without a list."), _count_jobs, decodes=("programs",))
THREADS = Question("threads", 130, ("bench_jobs",), (
    "Elapsed time of two threads: the library (`bench_jobs`), and text to /dev/null. Peer: one thread alone. "
    "Limit: half of the time of two processes at the same time, which share nothing."), _threads_jobs, decodes=("programs", "text"))
