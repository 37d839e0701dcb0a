# SPDX-License-Identifier: MIT
"""Questions about printing: text, and text with two threads (a part of the question threads)."""
import statistics

from .context import Question
from .run import beside, run, sizes_of, turns
from .table import Row

# name, options of ptcap, options of perf script, what is wanted
ROWS = (
    ("`decode`", [], ["--itrace=b", "-F", "tid,time,flags,ip,sym,symoff,addr"], "20"),
    ("`decode --calls`", ["--calls"], ["--call-trace"], "10"),
    ("`decode -F from,to`", ["-F", "from,to"], ["--itrace=b", "-F", "ip,addr"], "12"),
    ("`decode --insn`", ["--insn"], None, ""),
    ("`decode -F insn-ip`", ["-F", "insn-ip"], ["--itrace=i0ns", "-F", "ip"], "25"),
)


def _lines(ours, theirs):
    if max(ours, theirs) < 100000:
        return f"{ours:,} lines" if ours == theirs else f"{ours:,} lines, {theirs:,} of perf"
    text = f"{ours / 1e6:.1f} million lines"
    return text if ours == theirs else f"{text}, {theirs / 1e6:.1f} of perf"


def alike(name, sizes):
    """Tells whether both print the same lines. perf prints only the begin of a call."""
    ours, theirs = (size.lines for size in sizes)
    return theirs * (3 if "--calls" in name else 1.001) >= ours and theirs <= ours * 1.001


def _row(ctx, job, clock):
    name, ours, theirs, wanted = job
    recording = ctx.recording(ctx.text_name())
    decode = [ctx.ptcap, "decode", "-i", recording.path, "-j", "1", *ours]
    commands = [decode] + ([[ctx.perf(), "script", "-i", recording.path, *theirs]] if theirs else [])
    sizes = sizes_of(commands, clock)
    remark = ""
    if theirs and not alike(name, sizes):
        remark = f"no ratio, because the work differs: lines of ptcap {sizes[0].lines:,}, of perf {sizes[1].lines:,}"
        commands, theirs = commands[:1], None
    results = turns(ctx.pairs, clock, *(lambda c=c: run(c, clock).cpu for c in commands))
    return Row(f"{name}, {_lines(sizes[0].lines, sizes[len(commands) - 1].lines)}", "s", [r[0] for r in results],
               [r[1] for r in results] if theirs else [], sizes[0].bytes / 1e6 / ctx.limits["copy"], wanted=wanted,
               remark=remark, note=f"{sizes[0].bytes} bytes of text")


def _jobs(ctx):
    return [(job[0], lambda clock, job=job: _row(ctx, job, clock)) for job in ROWS]


def threads_row(ctx, options, clock):
    """Returns the row of `decode -j 2`, beside -j 1. The limit is two processes with -j 1 at the same time."""
    recording = ctx.recording(ctx.text_name())
    decode = [ctx.ptcap, "decode", "-i", recording.path, *options, "-j"]
    one, two = [*decode, "1"], [*decode, "2"]
    results = turns(ctx.pairs, clock, lambda: run(two, clock).wall, lambda: run(one, clock).wall,
                    lambda: beside([one, one], clock) / 2)
    name = " ".join(["decode", *options])
    return Row(f"`{name}`, text of {recording.name}", "s", [r[0] for r in results], [r[1] for r in results],
               statistics.median(r[2] for r in results), wanted="1.8")


TEXT = Question("text", 420, (), (
    "CPU time of one thread, for the short recording of python3. Output goes to /dev/null. Peer: `perf script` with the same columns. "
    "perf prints no instruction as text. Limit: copying the bytes of the text once at the measured speed. "
    "Each byte must be stored, and write(2) to /dev/null reads no byte."), _jobs, decodes=("text",), limited=True)
