# SPDX-License-Identifier: MIT
"""Questions about recording: the emulated source, draining a ring, and snapshots."""
import os
import re
import statistics
import tempfile

from . import recordings
from .context import Question, filesystem
from .run import Left, run, turns
from .table import Row

DRAIN_MB, DRAIN_TURNS = 256, 3  # turns of one process, because the first one waits for memory of the host
DRAIN = re.compile(r"^drain\t(\d+) MB/s, write\(2\) (\d+) MB/s", re.M)
SAMPLE = re.compile(r"^\t(ptcap|perf|perf -B) [\d.]+ ms of CPU for \d+ samples, ([\d.]+) ns each; start and end (\d+) ms", re.M)


def _emulated_row(ctx, name, clock):
    command = recordings.command_of(name, ctx.folder)
    output = os.path.join(ctx.folder, "recording.data")
    line, env = recordings.emulated(ctx.ptcap, command, output)
    bare = [recordings.qemu(), "-cpu", "max", *command]

    def ours():
        try:
            return run(line, clock, env).wall
        finally:
            if os.path.exists(output):
                os.unlink(output)

    results = turns(ctx.pairs, clock, ours, lambda: run(bare, clock).wall)
    theirs = [r[1] for r in results]
    version = recordings.qemu_version()
    return Row(f"{name}, QEMU {version}", "s", [r[0] for r in results], theirs, statistics.median(theirs), more=False,
               wanted="at most 2.5" if int(version.split(".")[0]) >= 10 else "at most 3.5")


def _emulated_jobs(ctx):
    return [(name, lambda clock, name=name: _emulated_row(ctx, name, clock)) for name in recordings.PROGRAMS]


def _drain_row(ctx, folder, clock):
    def once():
        with tempfile.TemporaryDirectory(prefix="ptcap-bench-", dir=folder) as inside:
            text = run([ctx.tool("bench_drain"), ctx.ptcap, "", inside, str(DRAIN_MB), str(DRAIN_TURNS)], clock, keep=True).text
        found = DRAIN.search(text)
        if not found:
            raise Left("bench_drain printed no speed")
        return float(found[1]), float(found[2])

    results = [r[0] for r in turns(ctx.pairs, clock, once)]
    theirs = [r[1] for r in results]
    return Row(f"draining a full ring, {filesystem(folder)}", "MB/s", [r[0] for r in results], theirs, statistics.median(theirs),
               wanted="0.8")


def _sample_rows(ctx, which, clock):
    """Returns a row of the samples. bench_drain measures ptcap and both ways of perf in one run."""
    if "samples" not in ctx.engine:
        command = [ctx.tool("bench_drain"), ctx.ptcap, ctx.perf(), ctx.folder, "1", "1"]
        results = [dict((a, (float(b), float(c))) for a, b, c in SAMPLE.findall(r[0]))
                   for r in turns(ctx.pairs, clock, lambda: run(command, clock, keep=True).text)]
        if not all(len(r) == 3 for r in results):
            raise Left("bench_drain printed no samples")
        ctx.engine["samples"] = results
    results = ctx.engine["samples"]
    if which == "start":
        return Row("start and end of a recording, beside `perf record`", "ms", [r["ptcap"][1] for r in results],
                   [r["perf"][1] for r in results], more=False)
    limit = 48 / ctx.limits["write"] * 1e3
    return Row(f"CPU time of a sample of 48 bytes, beside `{which.replace('perf', 'perf record')}`", "ns",
               [r["ptcap"][0] for r in results], [r[which][0] for r in results], limit, more=False,
               wanted="at most 1" if which == "perf" else "")


def _capture_jobs(ctx):
    folders = {filesystem(f): f for f in (ctx.build, ctx.folder)}
    return ([(f"draining, {kind}", lambda clock, f=f: _drain_row(ctx, f, clock)) for kind, f in reversed(list(folders.items()))] +
            [(f"samples, {which}", lambda clock, which=which: _sample_rows(ctx, which, clock))
             for which in ("perf", "perf -B", "start")])


RECORDING = Question("recording", 80, (), (
    "Elapsed time of `ptcap record --source emu`. Peer and limit: the same program in the same QEMU without a plugin."),
    _emulated_jobs)
CAPTURE = Question("capture", 60, ("bench_drain",), (
    "`bench_drain`: a ring that is always full, and samples of page faults. Peer: write(2) of the same bytes, and "
    "`perf record`. Limit: write(2), for a sample at the speed above."), _capture_jobs, limited=True)
SNAPSHOT = Question("snapshot", 0, (), (
    "The test guest has the kernel's rings, so it measures snapshots and the cost of a byte of trace. Not measured here:\n\n"
    "    COUNTED=1 tests/guest/full build/dev snapshot_cost.sh\n    COUNTED=1 tests/guest/full build/dev cost.sh"))
