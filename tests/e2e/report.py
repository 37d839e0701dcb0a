#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report.py NAME: the sums of ptcap report, compared with the list of all calls (decode --calls), with counts of branches,
and with Valgrind's Callgrind."""

import csv
import io
import json
import os
import re
from collections import Counter, defaultdict

import lib
from call_lines import call_lines
import store
from compile import built
from lib import PTCAP, Run, check, decode, prog
from parallel import RAW, raw_options

PROGRAMS = {
    "recurse": [prog("recurse")],
    "indirect": [prog("indirect")],
    "signal": [prog("signal")],
    "longjmp": [prog("longjmp")],
    "jit": [prog("jit"), "rwx"],
    "locks": [prog("tasks_static"), "locks"],
    "spawn": [prog("tasks_static"), "exec"],
}
# Calls of each kind, with numbers that are easy to see. Returns instead of exit handlers: all functions end.
SOURCE = r"""
static volatile int sink;
__attribute__((noinline)) static int leaf(int x)
{
	int i, s = 0;

	for (i = 0; i < x; i++)
		s += sink;
	return s;
}
__attribute__((noinline)) static int middle(int x)
{
	return leaf(x) + leaf(2 * x) + 1;
}
__attribute__((noinline)) static int fib(int n)
{
	return n < 2 ? n + sink : fib(n - 1) + fib(n - 2);
}
__attribute__((noinline)) static int odd(int n);
__attribute__((noinline)) static int even(int n)
{
	return n ? odd(n - 1) + sink : leaf(1);
}
__attribute__((noinline)) static int odd(int n)
{
	return n ? even(n - 1) + sink : leaf(3);
}
int main(void)
{
	int i, s = 0;

	for (i = 0; i < 40; i++)
		s += middle(i) + even(i);
	sink = s + fib(9);
	return 0;
}
"""
OWN = ("leaf", "middle", "fib", "even", "odd", "main")
CASES = {}
SOURCE_DIR = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
SUPPORT = os.path.join(SOURCE_DIR, "tests", "support")


def case(f):
    CASES[f.__name__] = f
    return f


def report(path, *options):
    """Return the head and the functions of the report of a recording."""
    return report_of(["-i", path, *options])


def report_of(options):
    """Return the head and the functions of a report."""
    r = Run([PTCAP, "report", "--format=json", *options])
    check(r.status == 0, f"{r.status}: {r.err}")
    head, *rows = map(json.loads, r.out.splitlines())
    check(head["schema"] == "ptcap-report" and head["version"] == 1, head)
    return head, [row for row in rows if row["type"] == "function"]


def program(folder):
    """Compile SOURCE: small, static, at fixed addresses."""
    source = os.path.join(folder, "calls.c")
    with open(source, "w", encoding="ascii") as f:
        f.write(SOURCE)
    path = built(folder, ["gcc", "-O1", "-g", "-static", "-no-pie", "-fno-pie", "-fno-optimize-sibling-calls", source])
    check(path, "gcc fails")
    return path


def recorded(folder, name):
    path = os.path.join(folder, name)
    store.fetch(path, PROGRAMS[name], "-q")
    return path


def percentile(values):
    """Return the 99th percentile of sorted values, by nearest rank."""
    return values[-(-99 * len(values) // 100) - 1]


def last_counts(path):
    """Return {tid: number of its instructions}."""
    ends = Counter()
    for line in decode(path, "-F", "tid,icount").out.splitlines():
        if not line.startswith("#"):
            tid, n = map(int, line.split())
            ends[tid] = n
    return ends


class Sums:
    """The sums of one function."""

    def __init__(self):
        self.calls = self.open = self.self = self.total = 0
        self.durations = []


class Model:
    """Sums of the events of decode --calls by the names of functions."""

    def __init__(self):
        self.sums = defaultdict(Sums)  # by function
        self.edges = defaultdict(Sums)  # by caller, or None, and callee
        self.known = []  # whole calls: duration, begin, tid, name, caller


def last_times(path):
    """Return {tid: time of its last branch}, in ns."""
    return {o["tid"]: o["time"] for o in map(json.loads, decode(path, "--format=json").out.splitlines()) if o.get("type") == "branch"}


def modelled(path, axis="icount"):
    """Return the Model of a recording, in instructions or (axis "time") in ns."""
    model, stacks, last = Model(), defaultdict(list), Counter()
    sums, edges = model.sums, model.edges

    def end(tid, at, known):
        name, since, late = stacks[tid].pop()
        f, caller = sums[name], stacks[tid][-1][0] if stacks[tid] else None
        if name not in (x[0] for x in stacks[tid]):
            f.total += at - since
            edges[caller, name].total += at - since
        if late or not known:
            f.open += 1
        else:
            f.durations.append(at - since)
            model.known.append((at - since, since, tid, name, caller))

    def run(name, caller, n):
        sums[name].self += n
        edges[caller, name].self += n

    for o in call_lines(path):
        check(o.get("type") != "gap", "the recording has gaps")
        if o.get("type") not in ("enter", "leave"):
            continue
        tid, at = o["tid"], o[axis]
        stack = stacks[tid]
        if not stack and axis == "time":  # the time before the first call of a thread is not known
            last[tid] = at
        if stack:
            run(stack[-1][0], stack[-2][0] if len(stack) > 1 else None, at - last[tid])
        if o["type"] == "enter":
            name, _, off = o["name"].partition("+0x")
            late = o["how"] == "return" or (o["how"] == "trace" and bool(off))
            if not stack:
                run(name, None, at - last[tid])
            sums[name].calls += not late
            edges[stack[-1][0] if stack else None, name].calls += not late
            stack.append((name, at if stack else last[tid], late))
        else:
            end(tid, at, not o["replaced"])
        last[tid] = at
    ends = last_counts(path) if axis == "icount" else last_times(path)
    for tid, stack in stacks.items():
        run(stack[-1][0], stack[-2][0] if len(stack) > 1 else None, ends[tid] - last[tid])
        while stack:
            end(tid, ends[tid], False)
    return model


def by_name(rows):
    """Return {name: rows}. Code without symbols has the name of its file."""
    found = {}
    for row in rows:
        found.setdefault(row["name"].partition("+0x")[0], []).append(row)
    return found


def instructions(path):
    return int(re.search(r"^instructions +(\d+)", decode(path, "--stats").out, re.M)[1])


@case
def sums(folder):
    """Each number of each function is that of a model of the call tree. Nothing is lost."""
    for name in PROGRAMS:
        path = recorded(folder, name)
        head, rows = report(path)
        total = instructions(path)
        check(head["instructions"] == head["in_functions"] == total, f"{name}: {head}, {total} instructions")
        check(sum(r["insns"]["self"] for r in rows) == total, f"{name}: the parts are not all")
        check(head["gaps"] == 0 and head["time"] is None, head)
        want, found = modelled(path).sums, by_name(rows)
        check(set(found) == set(want), f"{name}: {set(found) ^ set(want)}")
        for function, w in want.items():
            got = found[function]
            for key, value in (("calls", w.calls), ("open", w.open)):
                check(sum(r[key] for r in got) == value, f"{name}: {function}: {key} of {got}, not {value}")
            check(sum(r["insns"]["self"] for r in got) == w.self, f"{name}: {function}: self of {got}, not {w.self}")
            if len(got) == 1:
                same_durations(f"{name}: {function}", got[0], w)
        check([r["insns"]["self"] for r in rows] == sorted((r["insns"]["self"] for r in rows), reverse=True), "not sorted")


@case
def timed(folder):
    """The same in time. A software source has times, too, although they are no measure of the program."""
    for name in ("recurse", "signal", "locks"):
        path = recorded(folder, name)
        head, rows = report(path, "--axis=time")
        want, found = modelled(path, "time").sums, by_name(rows)
        check(head["axis"] == "time" and head["time"] == sum(w.self for w in want.values()) > 0, f"{name}: {head}")
        for function, w in want.items():
            got = found[function]
            check(sum(r["time"]["self"] for r in got) == w.self, f"{name}: {function}: self of {got}, not {w.self}")
            if len(got) == 1:
                same_durations(f"{name}: {function}", got[0], w, "time")


def same_durations(what, row, want, axis="insns"):
    got, values = row[axis], sorted(want.durations)
    check(got["total"] == want.total, f"{what}: total {got['total']}, not {want.total}")
    check(got["known"] == len(values), f"{what}: {got['known']} durations, not {len(values)}")
    if not values:
        check(got["mean"] is got["p99"] is got["max"] is None, f"{what}: {got}")
        return
    check((got["mean"], got["max"]) == (sum(values) // len(values), values[-1]), f"{what}: {got}, not {values[-3:]}")
    exact = percentile(values)
    check(exact <= got["p99"] <= exact + exact // 64, f"{what}: p99 {got['p99']}, not {exact}")


@case
def counted(folder):
    """Calls of a function by call instructions are the counts of decode --counts=calls."""
    for name in ("indirect", "recurse", "locks"):
        path = recorded(folder, name)
        counts, others = Counter(), Counter()
        for o in map(json.loads, decode(path, "--counts=calls", "--format=json").out.splitlines()[1:]):
            if "to_function" in o:
                counts[o["to_function"]] += o["times"]
        for o in map(json.loads, decode(path, "--calls", "--format=json").out.splitlines()):
            if o.get("type") == "enter" and o["how"] in ("tail", "signal", "trace"):
                if o["how"] == "trace" and "+0x" in o["name"]:
                    continue
                others[o["name"].partition("+0x")[0]] += 1
        for function, rows in by_name(report(path)[1]).items():
            got = sum(r["calls"] for r in rows)
            check(got == counts[function] + others[function],
                  f"{name}: {got} calls of {function}, not {counts[function]} + {others[function]}")
        check(counts, f"{name}: no counts")


@case
def grouped(folder):
    """--by thread, process and file: the functions of each group add up to it, and the groups to the whole."""
    for name in ("locks", "spawn", "signal"):
        path = recorded(folder, name)
        head, whole = report(path)
        for by in ("thread", "process", "file"):
            got = objects_of(path, "--by", by)
            check([g["group"] for g in got[by]] == list(range(len(got[by]))) and got[by], got[by])
            for g in got[by]:
                rows = [r for r in got["function"] if r["group"] == g["group"]]
                check(len(rows) == g["functions"], f"{name}: {len(rows)} functions in {g}")
                for key in ("calls", "open"):
                    check(sum(r[key] for r in rows) == g[key], f"{name}: {key} of {g}")
                check(sum(r["insns"]["self"] for r in rows) == g["insns"]["self"], f"{name}: self of {g}")
                check(by != "file" or {r["file"] for r in rows} == {g["file"]}, g)
            check(sum(g["insns"]["self"] for g in got[by]) == head["instructions"], f"{name}: the groups are not all")
            check(sum(r["insns"]["total"] for r in got["function"]) == sum(r["insns"]["total"] for r in whole), f"{name}: totals")
        threads = Counter()
        for g in objects_of(path, "--by", "thread")["thread"]:
            threads[g["tid"]] += g["insns"]["self"]
        check(threads == last_counts(path), f"{name}: {threads}")
        lines = decode(path, "-F", "pid,tid,icount").out.splitlines()
        owner = {int(tid): int(pid) for pid, tid, _ in map(str.split, lines)}
        processes = Counter()
        for tid, n in threads.items():
            processes[owner[tid]] += n
        got = {g["pid"]: g["insns"]["self"] for g in objects_of(path, "--by", "process")["process"]}
        check(got == processes, f"{name}: {got}, not {processes}")
    for by in ("thread", "process", "file"):
        text = Run([PTCAP, "report", path, "--by", by, "--top", "2"]).expect(0).out
        check(max(map(len, text.splitlines())) <= 80 and (by == "file" or by + " " in text.splitlines()[2]), text)
    check(" of process " in Run([PTCAP, "report", path, "--by=thread", "--full-names"]).expect(0).out, "no process")
    for bad in (["--by=cpu"], ["--function=main", "--by=file"]):
        Run([PTCAP, "report", path, *bad]).expect(2)


def table(path, *options):
    """Return the rows of --format csv."""
    return list(csv.DictReader(io.StringIO(Run([PTCAP, "report", path, "--format=csv", *options]).expect(0).out)))


@case
def comma(folder):
    """CSV has the numbers of JSON."""
    for name, options in (("recurse", []), ("locks", ["--by=thread"]), ("spawn", ["--by=process", "--axis=time"]), ("signal", ["--by=file", "--top=3"])):
        path = recorded(folder, name)
        got, want = table(path, *options), objects_of(path, *options)
        check(len(got) == len(want["function"]) > 2, got)
        for row, o in zip(got, want["function"]):
            check((row["function"], row["file"], row["offset"]) == (o["name"], o["file"], o["offset"]), f"{row}, not {o}")
            check([int(row[k]) for k in ("calls", "open", "inlined")] == [o["calls"], o["open"], o["inlined"]], f"{row}, not {o}")
            for axis, unit in (("insns", "insns"), ("time", "ns")):
                for key in ("self", "total", "known", "mean", "p99", "max"):
                    value = o[axis] and o[axis][key]
                    check(row[f"{key}_{unit}"] == ("" if value is None else str(value)), f"{key}_{unit} of {row}, not {o}")
            for kind in ("thread", "process"):
                if want[kind]:  # the group of the row
                    g = want[kind][o["group"]]
                    check(int(row["pid"]) == g["pid"] and ("tid" not in row or (int(row["tid"]), row["thread"]) == (g["tid"], g["name"])), row)


def objects_of(path, *options):
    """Return the objects of a report by type."""
    found = defaultdict(list)
    for o in map(json.loads, Run([PTCAP, "report", "-i", path, "--format=json", *options]).expect(0).out.splitlines()[1:]):
        found[o["type"]].append(o)
    return found


@case
def gaps(folder):
    """Calls that a gap cuts off are open, and all instructions that items have are summed."""
    path = os.path.join(folder, "lossy")
    store.fetch(path, [prog("busy"), "20000"], "--lossy", "-m", "16K,16K")
    head, rows = report(path)
    items = last_counts(path)
    check(head["gaps"] and head["open"], head)
    check(head["instructions"] == head["in_functions"] == sum(items.values()), f"{head}, {items}")
    check(sum(r["insns"]["self"] for r in rows) == head["instructions"], "the parts are not all")
    check(sum(r["open"] for r in rows) == head["open"], "open")
    check(Run([PTCAP, "report", "--strict", path]).status == 3, "--strict")
    check("gap" in Run([PTCAP, "report", path]).expect(0).err, "no word about gaps")


@case
def selected(folder):
    """--tid and --time: the parts add up to the whole, and a part without branches is an error."""
    path = recorded(folder, "locks")
    head, _ = report(path)
    tids = sorted({json.loads(line)["tid"] for line in decode(path, "--format=json").out.splitlines() if '"branch"' in line})
    parts = [report(path, "--tid", str(tid))[0] for tid in tids]
    check(len(tids) > 1 and sum(p["instructions"] for p in parts) == head["instructions"], f"{tids}: {parts}")
    check(all(p["threads"] == 1 for p in parts) and head["threads"] == len(tids), parts)
    check(Run([PTCAP, "report", path, "--tid", "1"]).expect(4).out.count("\n") == 2, "rows without branches")
    times = sorted((t for t in decode(path, "-F", "time").out.split() if t != "-"), key=float)
    middle = next((t for t in times[len(times) // 2 :] if t != times[0]), None)
    if not middle:
        lib.skip("all branches have one time")
    halves = []
    for part in ("," + middle, middle + ","):
        first, last = {}, {}
        for line in decode(path, "--time", part, "-F", "tid,icount").out.splitlines():
            if line[0] != "#":
                tid, icount = line.split()
                first.setdefault(tid, int(icount))
                last[tid] = int(icount)
        halves.append(report(path, "--time", part)[0])
        want = sum(last[tid] - first[tid] for tid in first)
        check(halves[-1]["instructions"] == want, f"{part}: {halves[-1]['instructions']} instead of {want}")
    check(all(p["in_functions"] == p["instructions"] for p in halves), halves)


@case
def forms(folder):
    """Orders, --top, the width of text, and wrong options."""
    path = os.path.join(folder, "data")
    store.fetch(path, [program(folder)], "-q")
    _, rows = report(path)
    keys = {"self": lambda r: -r["insns"]["self"], "total": lambda r: -r["insns"]["total"], "calls": lambda r: -r["calls"],
            "mean": lambda r: -(r["insns"]["mean"] or 0), "max": lambda r: -(r["insns"]["max"] or 0), "name": lambda r: r["name"]}
    for key, of in keys.items():
        _, got = report(path, "--sort", key)
        check([of(r) for r in got] == sorted(map(of, rows)), f"--sort {key}")
        check(report(path, "--sort", key, "--top", "3")[1] == got[:3], f"--top of {key}")
    text = Run([PTCAP, "report", path, "--top", "6"]).expect(0).out.splitlines()
    check(max(map(len, text)) <= 80 and len(text) == 9, text)
    check([line.split()[0] for line in text[2:4]] == [str(r["insns"]["self"]) for r in rows[:2]], text)
    check(text[-1] == f"# and {len(rows) - 6} more functions", text[-1])
    check(report(path, "--top", "all")[1] == rows, "--top all")
    for bad in (["--sort=size"], ["--top=0"], ["--axis=miles"], ["--time=x"], ["--tid=x"], ["--format=xml"], ["--jobs=0"]):
        check("invalid value" in Run([PTCAP, "report", path, *bad]).expect(2).err, bad)
    timed = report(path, "--axis", "time")[0]
    check(timed["axis"] == "time" and timed["time"] > 0, timed)


GOLDEN = """\
# 1913 instructions, 63 calls, 39 functions, 1 thread
#  self      %   total   calls open    mean     p99     max  function
     214  11.2     214      15    0      45     214     214  fib (fib)
      50   2.6      50       5    0      10      12      12  memcpy (fib)
     154   8.1     276       4    0      69     138     138  __fwritex (fib)
      22   1.2      22       3    0       7      16      16  close_file (fib)
     446  23.3     740       2    0     370     617     617  printf_core (fib)
# and 34 more functions
"""


@case
def golden(_):
    """The whole text for a recording that comes with the sources, in 80 columns and with whole names. Names keep 16 columns."""
    run = [PTCAP, "report", os.path.join(SOURCE_DIR, "traces", "calls.data"), "--symfs", os.path.join(SOURCE_DIR, "traces", "root")]
    for options in ([], ["--full-names"]):
        got = Run([*run, "--sort=calls", "--top=5", *options]).expect(0).out
        check(got == GOLDEN, got)
    got = Run([*run, "--sort=name"], env={**os.environ, "COLUMNS": "72"}).expect(0).out.splitlines()
    check(max(map(len, got)) == 77 and any(line.endswith("close_file (fib)") for line in got), got)


@case
def inlined(folder):
    """--inline adds inlined functions. All instructions and all calls of real functions remain."""
    path, data = built(folder, ["g++", "-static", "-g", "-O2", os.path.join(SUPPORT, "prog_inlined.cpp")]), os.path.join(folder, "data")
    check(path, "g++ fails")
    store.fetch(data, [path], "-q")
    (plain, real), (head, rows) = report(data), report(data, "--inline")
    check(head["instructions"] == plain["instructions"] == sum(r["insns"]["self"] for r in rows), f"{plain}, {head}")
    only = [r for r in rows if r["inlined"]]
    check(only and all(r["insns"]["known"] == 0 and r["open"] == r["calls"] for r in only), only[:3])
    calls = {(r["name"], r["file"], r["offset"]): r["calls"] for r in rows if not r["inlined"]}
    check(calls == {(r["name"], r["file"], r["offset"]): r["calls"] for r in real}, "other real functions")


@case
def bounded(folder):
    """Many functions need more memory than --max-memory: the report fails, and says so."""
    source = os.path.join(folder, "many.s")
    with open(source, "w", encoding="ascii") as f:
        f.write(".globl _start\n_start: mov $50000,%ecx\nlea table(%rip),%rbx\n1: call *%rbx\nadd $16,%rbx\ndec %ecx\njnz 1b\n"
                "mov $60,%eax\nxor %edi,%edi\nsyscall\n.balign 16\ntable:\n.rept 50000\nret\n.balign 16\n.endr\n")
    path, data = built(folder, ["gcc", "-nostdlib", "-static", "-no-pie", "-s", source]), os.path.join(folder, "data")
    check(path, "gcc fails")
    store.fetch(data, [path], "-q")
    head, rows = report(data)
    check(head["functions"] == len(rows) == 50001 and head["calls"] == 50000, head)
    r = Run([PTCAP, "report", data, "--max-memory=4M"]).expect(1)
    check(not r.out and "out of memory" in r.err, r.err)


@case
def names(folder):
    """Any bytes in names give valid JSON, and no control characters in text."""
    source, evil = os.path.join(folder, "evil.c"), ("</script>", "=HYPERLINK(1)", '"\\,', "\x1b[2J", "\udcff\udcfe", "\r\n\t", "q" * 65536)
    places = [f"AAAA{i}" + "A" * (len(name) if len(name) > 60 else 12) for i, name in enumerate(evil)]
    with open(source, "w", encoding="ascii") as f:
        f.write("static volatile int sink;\n")
        for place in places:
            f.write(f"__attribute__((noinline)) int {place}(int i) {{ return i + sink; }}\n")
        f.write("int main(void)\n{\n" + "".join(f"\tsink = {place}(1);\n" for place in places) + "\treturn 0;\n}\n")
    path = built(folder, ["gcc", "-O1", "-static", "-no-pie", source])
    with open(path, "rb") as f:
        data = f.read()
    for place, name in zip(places, evil):
        data = data.replace(place.encode(), name.encode("utf-8", "surrogateescape").ljust(len(place), b"A"))
    with open(path, "wb") as f:
        f.write(data)
    data = os.path.join(folder, "data")
    store.fetch(data, [path], "-q")
    _, rows = report(data, "--no-demangle")
    got = [r["name"] for r in rows]
    for name in evil:
        want = re.sub("[\udc80-\udcff]", "?", name)
        check(any(g.startswith(want) for g in got), f"{name[:20]!r} is not in {[g[:20] for g in got]}")
    csv.field_size_limit(1 << 20)
    rows = table(data, "--no-demangle")
    for name in evil:
        want = re.sub("[\x00-\x1f\udc80-\udcff]", lambda m: f"\\x{ord(m[0]) & 0xff:02x}", name)
        want = re.sub("^[=+@-]", lambda m: f"\\x{ord(m[0]):02x}", want)
        check(any(r["function"].startswith(want) for r in rows), f"{want[:20]!r} is not in {[r['function'][:20] for r in rows]}")
    for options in ([], ["--full-names"], ["--format=json"], ["--format=csv"], ["--by=thread"]):
        out = Run([PTCAP, "report", data, *options]).expect(0).out
        check(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", out), f"{options}: control characters")


@case
def real(_):
    """Traces of real hardware: all instructions and calls are there. Without code there are gaps and no failure."""
    where, seen = os.environ.get("PTCAP_TRACES", ""), 0
    for name in RAW:
        if not os.path.isdir(os.path.join(where, name)):
            continue
        options = list(raw_options(os.path.join(where, name)))
        stats = Run([PTCAP, "decode", "--stats", "--format=json", *options]).out
        stats = json.loads(stats.splitlines()[0])
        head, rows = report_of(options)
        lost = stats["instructions"] - head["instructions"]
        check(head["in_functions"] == head["instructions"] and (not lost if not head["gaps"] else 0 <= lost < 5000), f"{head}, {stats}")
        listed = Counter()
        for o in map(json.loads, Run([PTCAP, "decode", "--calls", "--format=json", *options]).out.splitlines()):
            if o.get("type") == "enter" and o["how"] == "call":
                listed[o["name"]] += 1
        check(sum(listed.values()) > 100, f"{name}: {len(listed)} called functions")
        check({r["name"]: r["calls"] for r in rows if r["calls"]}.items() >= listed.items(), f"{name}: other calls")
        seen += 1
    for name in ("quipper-intel_pt-4.14/perf.data.intel_pt-4.14",
                 "quipper-piped.intel_pt-4.14/perf.data.piped.intel_pt-4.14"):
        path = os.path.join(where, name)
        if os.path.isfile(path):
            head, rows = report(path)
            check(head["gaps"] and head["open"] and rows, head)
            seen += 1
    if not seen:
        lib.skip("no real traces are here")


if __name__ == "__main__":
    lib.main(CASES)
