#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sum.py NAME: `ptcap sum` of outputs of several recordings, compared with sums in Python and by other tools."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter

import lib
import profiles
import store
from call_profiles import Callgrind
from compile import built
from lib import PTCAP, Run, check, prog

COUNTS = [f"--counts={what}" for what in ("edges", "calls", "blocks", "lines", "coverage")]
JSON = [["decode", form, "--format=json"] for form in [*COUNTS, "--stats"]] + [["report", "--format=json"]]
TEXT = [["decode", f"--format={form}"] for form in ("lcov", "callgrind", "folded")]
MORE = ("self", "total", "calls", "mean", "max", "name")  # orders of reports
CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def written(path, command, name):
    """Write the output of a command for a recording to a file. Returns its name."""
    out = f"{path}.{name}"
    r = Run([PTCAP, command[0], "-i", path, *command[1:]]).expect(0)
    with open(out, "w", encoding="utf-8") as f:
        f.write(r.out)
    return out


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def added(*files, options=()):
    """Return the output of `ptcap sum`, which is the same for another order of the files."""
    r = Run([PTCAP, "sum", *options, *files]).expect(0)
    check(not r.err, r.err)
    other = Run([PTCAP, "sum", *options, *reversed(files)]).expect(0)
    check(r.out == other.out, f"{files}: another order gives another sum")
    return r.out


def recordings(folder):
    """Record two runs of a program with other arguments. Returns the recordings."""
    paths = []
    for n in ("20", "35"):
        paths.append(os.path.join(folder, f"busy{n}"))
        store.fetch(paths[-1], [prog("busy"), n])
    return paths


def rows_of(text, kind="count"):
    return [o for o in map(json.loads, text.splitlines()) if o.get("type") == kind]


def place(o, key):
    """Return the identity of a place."""
    if f"{key}_build_id" in o:
        return o[f"{key}_build_id"], o[f"{key}_file_offset"]
    if f"{key}_file" in o:
        return o[f"{key}_file"], o[f"{key}_file_offset"]
    if f"{key}_function" in o:
        return o[f"{key}_function"], o[f"{key}_function_offset"]
    return "", o[key]


def edges(text):
    """Return {(from, to, kind): times}."""
    found = Counter()
    for o in rows_of(text):
        found[place(o, "from"), place(o, "to"), o["kind"]] += o["times"]
    return found


@case
def one(folder):
    """The sum of one file is this file. Only callgrind and folded stacks may come in another order."""
    for path in recordings(folder):
        for n, command in enumerate([*JSON, *TEXT, *(["report", "--format=json", f"--sort={key}"] for key in MORE)]):
            whole = written(path, command, str(n))
            text, got = text_of(whole), added(whole)
            check(text, command)
            if command[1] == "--format=callgrind":
                again = os.path.join(folder, "again")
                with open(again, "w", encoding="utf-8") as f:
                    f.write(got)
                a, b = Callgrind(whole), Callgrind(again)
                check(a.own == b.own and a.calls == b.calls and a.head == b.head, "callgrind's costs differ")
                check(added(again) == got, "the sum of the sum differs")
            elif command[1] == "--format=folded":
                check(sorted(text.splitlines()) == got.splitlines(), "the stacks differ")
            else:
                check(got == text, f"{command}: the sum of one file is another file")


@case
def windows(folder):
    """The counts of windows of time add up to the counts of the whole recording."""
    path = recordings(folder)[1]
    head = json.loads(text_of(written(path, ["decode", "--stats", "--format=json"], "stats")))
    first, last = head["first_ns"], head["last_ns"]
    cuts = [f"{ns // 10**9}.{ns % 10**9:09}" for ns in (0, first + (last - first) // 3, first + (last - first) // 2, last + 1)]
    for form in ("--counts=edges", "--counts=calls"):
        command = ["decode", form, "--format=json"]
        parts = [written(path, [*command, f"--time={a},{b}"], f"part{n}") for n, (a, b) in enumerate(zip(cuts, cuts[1:]))]
        check(form != "--counts=edges" or all(rows_of(text_of(part)) for part in parts), "a window is empty")
        check(added(*parts) == text_of(written(path, command, "whole")), f"{form}: the windows are not the whole")


REPLACES = """
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int n, char **v)
{
	if (n == 3 && !fork())
		execl(v[1], v[1], (char *)0);
	wait(0);
	rename(v[2], v[1]);
	return execl(v[1], v[1], (char *)0);
}
"""
LOOP = """
volatile int sink;
__attribute__((noinline)) static void work(void) { for (int i = 0; i < 50; i++) sink += i & 3; }
void _start(void) { work(); __asm__ volatile("syscall" : : "a"(60), "D"(0)); }
"""


def compiled(folder, text, name, *options):
    """Compile a small program for the single-stepper. Skips the case without gcc."""
    source = os.path.join(folder, name + ".c")
    with open(source, "w", encoding="ascii") as f:
        f.write(text)
    return built(folder, ["gcc", *options, source], name) or lib.skip_without("gcc")


@case
def elsewhere(folder):
    """A program at other addresses and with another path has the same places. Another build has not."""
    program = compiled(folder, LOOP, "program", "-O0", "-static-pie", "-fPIE", "-nostdlib", "-Wl,--build-id")
    os.mkdir(os.path.join(folder, "other"))
    moved = shutil.copy(program, os.path.join(folder, "other", "moved"))
    files, addresses = [], set()
    for n, path in enumerate((program, moved, program)):
        data = os.path.join(folder, f"data{n}")
        Run([PTCAP, "record", "-q", "--source", "step", "-o", data, "--", path]).expect(0)
        files.append(written(data, ["decode", "--counts=edges", "--format=json"], "edges"))
        loop = [o for o in rows_of(text_of(files[-1])) if o.get("from_function") == "work" and o["times"] == 50]
        check(len(loop) == 1, loop)
        addresses.add(loop[0]["from"])
    if len(addresses) == 1:
        lib.skip("the addresses of processes are not random here")
    got = added(*files)
    want = sum((edges(text_of(name)) for name in files), Counter())
    check(edges(got) == want and len(rows_of(got)) == len(want), "the sum is not that of the places")
    loop = [o for o in rows_of(got) if o.get("from_function") == "work" and o["times"] == 150]
    check(len(loop) == 1, loop)
    check(loop[0]["from"] == min(addresses, key=lambda a: int(a, 16)), f"{loop[0]} {addresses}")


@case
def rebuilt(folder):
    """Two builds of a program with one name stay apart: in a recording, and in the sum of recordings."""
    program, other = (compiled(folder, LOOP, name, level, "-static", "-nostdlib", "-Wl,--build-id")
                      for name, level in (("program", "-O0"), ("other", "-O1")))
    replaces = compiled(folder, REPLACES, "replaces", "-O1", "-static")
    data = os.path.join(folder, "data")
    Run([PTCAP, "record", "-q", "--source", "step", "-o", data, "--", replaces, program, other]).expect(0)
    one_of = written(data, ["decode", "--counts=edges", "--format=json"], "edges")

    def counted_by_build(text):
        found = Counter()
        for o in rows_of(text):
            if o.get("from_file") == program:
                found[o["from_build_id"]] += o["times"]
        return found

    found = counted_by_build(text_of(one_of))
    check(len(found) == 2, f"two builds are {found}")
    check(added(one_of) == text_of(one_of), "the sum of one file")
    check(counted_by_build(added(one_of, one_of)) == found + found, "the sum of two files")


@case
def counted(folder):
    """Sums of two recordings are those of a model: counts, lines, coverage, statistics."""
    pairs = {}
    for command in JSON[:-1]:
        files = [written(path, command, command[1]) for path in recordings(folder)]
        pairs[command[1]] = [text_of(name) for name in files], added(*files)
    texts, got = pairs["--counts=edges"]
    check(edges(got) == sum(map(edges, texts), Counter()), "edges")
    head, heads = json.loads(got.split("\n", 1)[0]), [json.loads(text.split("\n", 1)[0]) for text in texts]
    check(head["times"] == sum(h["times"] for h in heads) and head["different"] == len(rows_of(got)), head)

    def lines(text):
        return Counter({(o["file"], o["line"]): o["times"] for o in rows_of(text)})

    texts, got = pairs["--counts=lines"]
    check(lines(got) == sum(map(lines, texts), Counter()), "lines")

    def sources(text):
        """Return {file: (lines with code, lines that did not run)}."""
        found = {}
        for o in rows_of(text, "file"):
            code, idle = ({n for a, b in o[key] for n in range(a, b + 1)} for key in ("code", "not_run"))
            found[o["file"]] = code, idle & code
            check((o["lines"], o["ran"]) == (len(code), len(code - idle)), o)
        return found

    texts, got = pairs["--counts=coverage"]
    one_of, other, both = *map(sources, texts), sources(got)
    check(one_of.keys() | other.keys() == both.keys(), both.keys())
    for name, (code, idle) in both.items():
        ran = set().union(*(found[name][0] - found[name][1] for found in (one_of, other) if name in found))
        check(code - idle == ran, f"{name}: {code - idle} instead of {ran}")
    texts, got = pairs["--stats"]
    a, b, got = *map(json.loads, texts), json.loads(got)
    check(all(got[key] == a[key] + b[key] for key in ("trace_bytes", "instructions", "transfers")), got)
    check(all(got["kinds"][k] == a["kinds"][k] + b["kinds"][k] for k in a["kinds"]), got)
    check((got["first_ns"], got["last_ns"]) == (min(a["first_ns"], b["first_ns"]), max(a["last_ns"], b["last_ns"])), got)


@case
def reports(folder):
    """A report of two recordings has the sums of their functions."""
    files = [written(path, ["report", "--format=json"], "report") for path in recordings(folder)]

    def functions(text):
        return {(o.get("build_id") or o["file"], o["offset"], o["name"]): o for o in rows_of(text, "function")}

    one_of, other, both = map(functions, (*map(text_of, files), added(*files)))
    check(one_of.keys() | other.keys() == both.keys(), "other functions")
    shared = 0
    for key, o in both.items():
        parts = [found[key] for found in (one_of, other) if key in found]
        check((o["calls"], o["open"]) == tuple(sum(p[k] for p in parts) for k in ("calls", "open")), o)
        axes = [p["insns"] for p in parts]
        for k in ("self", "total", "known", "durations"):
            check(o["insns"][k] == sum(x[k] for x in axes), f"{k} of {o}")
        known = [x for x in axes if x["known"]]
        check(o["insns"]["max"] == max((x["max"] for x in known), default=None), o)
        check(o["insns"]["p99"] == (known[0]["p99"] if len(known) == 1 else None), o)
        if known:
            check(o["insns"]["mean"] == o["insns"]["durations"] // o["insns"]["known"], o)
        shared += len(known) == 2
    check(shared, "no function is in both recordings")


@case
def stacks(folder):
    """Folded stacks and callgrind's costs are those of both files, and callgrind_annotate reads the sum."""
    paths = recordings(folder)
    files = [written(path, ["decode", "--format=folded"], "folded") for path in paths]
    want = Counter()
    for line in "".join(map(text_of, files)).splitlines():
        stack, n = line.rsplit(" ", 1)
        want[stack] += int(n)
    check(added(*files) == "".join(f"{stack} {n}\n" for stack, n in sorted(want.items(), key=lambda x: x[0].encode())), "folded")
    files = [written(path, ["decode", "--format=callgrind"], "callgrind") for path in paths]
    both = os.path.join(folder, "both")
    with open(both, "w", encoding="utf-8") as f:
        f.write(added(*files))
    a, b, got = map(Callgrind, (*files, both))
    check(got.own == a.own + b.own, "the costs of lines")
    calls = {at: tuple(map(sum, zip(a.calls.get(at, (0, 0)), b.calls.get(at, (0, 0))))) for at in a.calls.keys() | b.calls.keys()}
    check(got.calls == calls, "the costs of calls")
    total = sum(int(x.head["totals"]) for x in (a, b))
    check(got.head["totals"] == got.head["summary"] == str(total), got.head)
    tool = shutil.which("callgrind_annotate")
    if not tool:
        lib.skip_without("callgrind_annotate")
    r = Run([tool, both]).expect(0)
    check(re.search(rf"{total:,} .*PROGRAM TOTALS", r.out), r.out)


@case
def lcov(folder):
    """lcov -a makes the same sum of source lines, and genhtml reads it."""
    files = [written(path, ["decode", "--format=lcov"], "info") for path in recordings(folder)]
    both = os.path.join(folder, "both.info")
    Run([PTCAP, "sum", *files, "-o", both]).expect(0)
    check(text_of(both) == added(*files), "another output with -o")

    def lines(text):
        found, source = {}, None
        for line in text.splitlines():
            if line.startswith("SF:"):
                source = os.path.basename(line)
            elif line.startswith("DA:"):
                n, times = line[3:].split(",")[:2]
                found[source, int(n)] = int(times)
        return found

    want = Counter()
    for name in files:
        for at, times in lines(text_of(name)).items():
            want[at] += times
    check(lines(text_of(both)) == dict(want), "the counts differ")
    tools = [shutil.which(name) for name in ("lcov", "genhtml")]
    if not all(tools):
        lib.skip_without("lcov")
    # Only the source that is here: lcov and genhtml look at it.
    mine = [re.search(r"TN:\nSF:.*prog_busy\.c\n(?:.*\n)*?end_of_record\n", text_of(name))[0] for name in (*files, both)]
    mine = [re.sub("SF:.*", "SF:" + os.path.join(profiles.os.path.dirname(profiles.SOURCE), "prog_busy.c"), text) for text in mine]
    names = [os.path.join(folder, f"mine{n}.info") for n in range(3)]
    for name, text in zip(names, mine):
        with open(name, "w", encoding="ascii") as f:
            f.write(text)
    theirs = os.path.join(folder, "theirs.info")
    Run([tools[0], "-a", names[0], "-a", names[1], "-o", theirs]).expect(0)
    check(lines(text_of(theirs)) == lines(mine[2]), "lcov -a adds to something else")
    r = Run([tools[1], "-o", os.path.join(folder, "html"), names[2]]).expect(0)
    check(re.search(r"lines\.*: .*\(\d+ of \d+ lines\)", r.out), r.out)


def doubled(folder, argv, kind):
    """Record a program twice. Returns the program, and the name of the sum of both profiles."""
    program, path, _ = profiles.recorded(folder, argv, "program") or lib.skip_without(argv[0])
    one_of = profiles.profile(path, kind, program)
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", program]).expect(0)
    both = os.path.join(folder, "both")
    Run([PTCAP, "sum", one_of, profiles.profile(path, kind, program, "again"), "-o", both]).expect(0)
    return program, both


@case
def bolt(folder):
    """perf2bolt finds no mismatch in the sum of two profiles."""
    perf2bolt = profiles.tool("perf2bolt")
    program, both = doubled(folder, ["gcc", "-O2", "-g", "-Wl,--emit-relocs"], "bolt")
    r = Run([perf2bolt, "-pa", "-p", both, "-o", program + ".fdata", program]).expect(0)
    check(re.search(r"mismatching disassembled function contents: 0 \(", r.out + r.err), r.out + r.err)


def twice_gcov(folder):
    return {n: 2 * times for n, times in profiles.gcov(folder).items()}


@case
def profgen(folder):
    """llvm-profgen reads the sum of two profiles: twice the counts of gcov."""
    llvm_profgen = profiles.tool("llvm-profgen")
    program, both = doubled(folder, ["clang", "-O0", "-g", "-fdebug-info-for-profiling"], "profgen")
    out = program + ".prof"
    Run([llvm_profgen, f"--unsymbolized-profile={both}", f"--binary={program}", f"--output={out}", "--format=text"]).expect(0)
    profiles.same_as_gcov("the sum", text_of(out), twice_gcov(folder))


@case
def afdo(folder):
    """create_llvm_prof reads the sum of two profiles: twice the counts of gcov."""
    create = shutil.which("create_llvm_prof")
    if not create:
        lib.skip_without("create_llvm_prof")
    program, both = doubled(folder, ["clang", "-O0", "-gdwarf-4", "-fdebug-info-for-profiling"], "afdo")
    out = program + ".prof"
    Run([create, f"--binary={program}", "--profiler=text", f"--profile={both}", f"--out={out}", "--format=text"]).expect(0)
    profiles.same_as_gcov("the sum", text_of(out), twice_gcov(folder))


@case
def crashes(folder):
    """Crashes with the same signature are counted."""
    names = []
    for n, (signature, reason) in enumerate((("aa", "abort"), ("bb", "null-page"), ("bb", "null-page"))):
        names.append(os.path.join(folder, str(n)))
        with open(names[-1], "w", encoding="ascii") as f:
            json.dump({"schema": "ptcap-crash", "version": 1, "signal": "SIGSEGV", "reason": reason, "signature": signature,
                       "signature_frames": ["inner", "main"], "branches": []}, f)
            f.write("\n")
    head, *buckets = map(json.loads, added(*names).splitlines())
    check((head["schema"], head["crashes"], head["signatures"]) == ("ptcap-sum-crashes", 3, 2), head)
    check([(b["signature"], b["count"], b["reason"]) for b in buckets] == [("bb", 2, "null-page"), ("aa", 1, "abort")], buckets)
    text = added(*names, options=["--format=text", "-n", "1"]).splitlines()
    check(text[0] == "# 3 crashes, 2 signatures" and text[2].split() == ["2", "bb", "null-page", "inner", "<", "main"], text)


@case
def refused(folder):
    """Files that cannot be added, and bad options, are errors with the file, the line and a remedy. No output is written."""
    path = recordings(folder)[0]
    stats = written(path, ["decode", "--stats", "--format=json"], "stats")
    some = written(path, ["decode", "--counts=edges:3", "--format=json"], "some")
    whole = written(path, ["decode", "--counts=edges", "--format=json"], "whole")
    top = written(path, ["report", "--top=1", "--format=json"], "top")
    empty = os.path.join(folder, "empty")
    with open(empty, "w", encoding="ascii"):
        pass
    out = os.path.join(folder, "out")
    with open(out, "w", encoding="ascii") as f:
        f.write("before")
    for status, words, *options in (
        (2, "no file to add"),
        (1, "cannot open 'nothing': No such file", "nothing"),
        (1, f"'{whole}' line 1: counts (decode --counts), but '{stats}' is statistics", stats, whole),
        (1, f"'{some}' line 4: only 3 of ", whole, some),
        (1, "write all functions (report without --top)", top),
        (1, f"'{path}' line 1: a recording; add what `ptcap decode` prints", path),
        (1, f"'{empty}' is empty, but", empty, stats),
        (4, "all files are empty", empty, empty),
        (2, "is the input itself", whole, "-o", whole),
        (2, "can be read only once", "-", "-"),
        (2, "--top needs counts or crashes", stats, "-n", "1"),
        (2, "--format=text needs counts or crashes", stats, "--format=text"),
        (2, "expected text or json", stats, "--format=csv"),
        (1, "--max-memory", whole, "--max-memory=1K"),
    ):
        r = Run([PTCAP, "sum", *options, *(() if "-o" in options else ("-o", out))]).expect(status)
        check(words in r.err and not r.out, f"{options}: {r.err}")
        check(text_of(out) == "before", f"{options}: the output was written")
    Run([PTCAP, "sum", whole, "-o", out]).expect(0)
    check(text_of(out) == text_of(whole) and text_of(out + ".old") == "before", "-o")
    with open(whole, encoding="utf-8") as f:
        r = subprocess.run([PTCAP, "sum", "-"], stdin=f, capture_output=True, text=True, check=True)
    check(r.stdout == text_of(whole), "standard input")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
