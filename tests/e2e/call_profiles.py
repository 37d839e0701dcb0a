#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""call_profiles.py NAME: profiles from calls (`ptcap decode --format=callgrind`, `folded`, `pprof`), read by other tools."""

import gzip
import json
import os
import re
import shutil
import sys
from collections import Counter

import lib
from compile import built
from lib import PTCAP, Run, check, prog
from store import fetch

SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")
SOURCE = os.path.join(SUPPORT, "prog_profile.c")
TAILS = """
int sink;
__attribute__((noinline)) int leaf(int n) { sink += n; return n * 3; }
__attribute__((noinline)) int tail(int n) { sink ^= n; return leaf(n + 1); }
__attribute__((noinline)) int even(int n);
__attribute__((noinline)) int odd(int n) { if (!n) return sink; return even(n - 1); }
__attribute__((noinline)) int even(int n) { if (!n) return 1; sink++; return odd(n - 1); }
int main(void)
{
	int i, sum = 0;
	for (i = 0; i < 10; i++)
		sum += tail(i);
	return (sum + even(41)) & 1;
}
"""
CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def compiled(folder, source, *options, compiler="gcc", name="program"):
    """Compile a source. Skips the case without a compiler."""
    program = built(folder, [compiler, *options, source], name)
    if not program:
        lib.skip_without(compiler)
    return program


def recorded(program, *argv, name="data"):
    path = f"{program}.{name}"
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", program, *argv]).expect(0)
    return path


def written(path, kind, *options):
    """Write a profile to a file. Returns its path."""
    out = f"{path}.{kind}"
    r = Run([PTCAP, "decode", "-i", path, f"--format={kind}", *options]).expect(0)
    with open(out, "w", encoding="utf-8") as f:
        f.write(r.out)
    return out


def icount(path):
    """Return the number of instructions of all threads."""
    last = {}
    for line in Run([PTCAP, "decode", "-i", path, "-F", "tid,icount"]).out.splitlines():
        if line[0] != "#":
            tid, n = line.split()
            last[tid] = int(n)
    return sum(last.values())


class Callgrind:
    """A file in callgrind's format: sums by function and line, and calls."""

    def __init__(self, path):
        self.own, self.calls, self.files = Counter(), {}, {}
        self.head, self.names, self.line = {}, {}, 0
        self.fn = self.fl = self.callee = self.count = None
        with open(path, encoding="utf-8") as f:
            for line in f.read().split("\n"):
                self.take(line)

    def name(self, kind, text):
        """Resolve name compression: '(1) name' defines, '(1)' refers."""
        m = re.fullmatch(r"\((\d+)\)(?: (.*))?", text, re.S)
        check(m, f"no compressed name: {text!r}")
        if m[2] is not None:
            check((kind, m[1]) not in self.names, f"{kind} {m[1]} is defined twice")
            self.names[kind, m[1]] = m[2]
        return self.names[kind, m[1]]

    def position(self, text):
        if text[0] in "+-":
            self.line += int(text)
        elif text != "*":
            self.line = int(text)
        return self.line

    def take(self, line):
        m = re.match(r"(ob|cob|fl|fi|fe|cfi|cfl|fn|cfn|calls)=(.*)", line, re.S)
        if m and m[1] == "fn":
            self.fn = self.name("fn", m[2])
            self.files[self.fn] = self.fl
        elif m and m[1] == "cfn":
            self.callee = self.name("fn", m[2])
        elif m and m[1] == "calls":
            self.count = int(m[2].split()[0])
        elif m:
            name = self.name("ob" if "ob" in m[1] else "file", m[2])
            self.fl = name if m[1] == "fl" else self.fl
        elif re.match(r"[0-9+*-]", line):
            place, *costs = line.split(" ")
            costs = [int(cost) for cost in costs if cost]
            at = self.position(place)
            if self.count is None:
                self.own[self.fn, at] += costs[0]
                return
            times, inclusive = self.calls.get((self.fn, at, self.callee), (0, 0))
            self.calls[self.fn, at, self.callee] = times + self.count, inclusive + costs[0]
            self.count = None
        elif ":" in line and not line.startswith("#"):
            key, value = line.split(":", 1)
            self.head.setdefault(key, value.strip())

    def of_source(self, name):
        """Return ({(function, line): instructions}, {(caller, line, callee): (times, inclusive)}) of the functions of a source."""
        mine = {fn for fn, file in self.files.items() if os.path.basename(file) == name}
        own = {at: n for at, n in self.own.items() if at[0] in mine and n}
        return own, {at: n for at, n in self.calls.items() if at[0] in mine and at[2] in mine}


def annotated(path, *options):
    """Return {function: instructions} and the total of callgrind_annotate."""
    tool = shutil.which("callgrind_annotate")
    if not tool:
        lib.skip_without("callgrind_annotate")
    r = Run([tool, "--auto=no", "--threshold=100", "--show=Ir", *options, path]).expect(0)
    check(not r.err, r.err)
    rows = re.findall(r"(?m)^ *([\d,]+) \([^)]*%\)  (.*)$", r.out)
    total, *functions = [(int(n.replace(",", "")), what) for n, what in rows]
    check(total[1] == "PROGRAM TOTALS", r.out)
    return {re.sub(r" \[.*\]$", "", what).split(":", 1)[1]: n for n, what in functions}, total[0]


def valgrinds(folder, program):
    """Return Valgrind's own profile of a run."""
    tool = shutil.which("valgrind")
    if not tool:
        lib.skip_without("valgrind")
    out = os.path.join(folder, "valgrind.out")
    r = Run([tool, "--tool=callgrind", "--separate-recs=1", f"--callgrind-out-file={out}", program])
    check(os.path.exists(out), r.err)
    return Callgrind(out)


@case
def callgrind(folder):
    """Each line has Valgrind's instructions, and each call Valgrind's number and inclusive instructions, in static programs."""
    tails = os.path.join(folder, "tails.c")
    with open(tails, "w", encoding="ascii") as f:
        f.write(TAILS)
    for source, level in ((SOURCE, "-O1"), (SOURCE, "-O0"), (tails, "-O2")):
        what = f"{os.path.basename(source)} {level}"
        program = compiled(folder, source, level, "-g", "-static")
        path = recorded(program)
        out = written(path, "callgrind")
        ours, theirs = Callgrind(out), valgrinds(folder, program)
        own, calls = ours.of_source(os.path.basename(source))
        want_own, want_calls = theirs.of_source(os.path.basename(source))
        check(len(own) > 5 and len(calls) > 2, f"{what}: {own} {calls}")
        check(own == want_own, f"{what}: own {set(own.items()) ^ set(want_own.items())}")
        check(calls == want_calls, f"{what}: calls {set(calls.items()) ^ set(want_calls.items())}")
        functions, total = annotated(out)
        check(total == icount(path) == int(ours.head["summary"]), f"{what}: {total} instead of {icount(path)}")
        for name in {name for name, _ in own}:
            n = sum(n for at, n in own.items() if at[0] == name)
            check(functions[name] == n, f"{what}: callgrind_annotate has {functions[name]} for {name}, not {n}")
        functions, _ = annotated(out, "--inclusive=yes")
        check(functions["_start"] == total, f"{what}: {functions['_start']} in _start, {total} in all")


@case
def callgrind_calls(folder):
    """The numbers of calls are those of --counts=calls, and tail calls are jumps to the begin of another function. Threads change no byte."""
    for name, argv in {"recurse": [prog("recurse")], "indirect": [prog("indirect")], "busy": [prog("busy"), "100"], "hello": [prog("hello")],
                       "profile": None}.items():
        if argv:
            path = os.path.join(folder, name)
            fetch(path, argv)
        else:
            path = recorded(compiled(folder, SOURCE, "-O1", "-g", "-static"))
        want = Counter()
        for line in Run([PTCAP, "decode", "-i", path, "--counts=calls", "--format=json"]).expect(0).out.splitlines():
            e = json.loads(line)
            if e.get("type") == "count" and e.get("from_function") and e.get("to_function") and not e["to_function_offset"]:
                want[e["from_function"], e["to_function"]] += e["times"]
        for line in Run([PTCAP, "decode", "-i", path, "-F", "kind,sym,tosym"]).expect(0).out.splitlines():
            kind, start, to = line.split(" ")
            start, (to, off) = start.split("+0x")[0], (to.split("+0x") + [""])[:2]
            if kind in ("jmp", "ijmp", "jcc") and off == "0" and start != to:
                want[start, to] += 1
        got = Counter()
        for (caller, _, callee), (times, _) in Callgrind(written(path, "callgrind")).calls.items():
            got[caller, callee] += times
        check(want, name)
        texts = [Run([PTCAP, "decode", "-i", path, "--format=callgrind", "-j", jobs]).expect(0).out for jobs in ("1", "3:1")]
        check(texts[0] == texts[1], f"{name}: another profile with threads")
        different = {k: (got[k], n) for k, n in want.items() if got[k] != n}
        check(not different, f"{name}: {different}")


def with_clock(path):
    """Copy a recording, as if a processor had made it: then its times are a measure."""
    with open(path, "rb") as f:
        data = f.read()
    check(data.count(b" (emu)\0") == 1, "the recorder's version is not there once")
    with open(path + ".clock", "wb") as f:
        f.write(data.replace(b" (emu)\0", b" (cpu)\0"))
    return path + ".clock"


@case
def callgrind_time(folder):
    """With a real clock there is a time, whose sum is the time of the thread. The recordings of software have none."""
    path = recorded(compiled(folder, SOURCE, "-O1", "-g", "-static"))
    check(Callgrind(written(path, "callgrind")).head["events"] == "Ir", "a time")
    profile = Callgrind(written(with_clock(path), "callgrind"))
    check(profile.head["events"] == "Ir ns", profile.head)
    times = [float(line) for line in Run([PTCAP, "decode", "-i", path, "-F", "time"]).expect(0).out.splitlines()]
    got, want = int(profile.head["summary"].split()[1]), round((times[-1] - times[0]) * 1e9)
    check(abs(got - want) < 1000 and got > 0, f"{got} ns instead of {want}")  # floats have no ns of such times
    check(annotated(path + ".clock.callgrind")[1] == icount(path), "callgrind_annotate has another sum")


# --- folded stacks -----------------------------------------------------------------------------


def folded(text):
    """Return {(thread, function, ...): number}. Functions of two files may have one name, for example _start."""
    found = Counter()
    for line in text.splitlines():
        stack, n = line.rsplit(" ", 1)
        stack = tuple(stack.split(";"))
        check(int(n) > 0, f"{stack} {n}")
        found[stack] += int(n)
    return found


def stacks_of_calls(path, depth=1000):
    """Return the same, from the lines of --calls: instructions and ns of each stack."""
    open_frames, last, insns, ns = {}, {}, Counter(), Counter()
    for line in Run([PTCAP, "decode", "-i", path, "--calls", "--format=json"]).expect(0).out.splitlines():
        e = json.loads(line)
        if e.get("type") not in ("enter", "leave"):
            continue
        tid, frames = e["tid"], open_frames.setdefault(e["tid"], [])
        before = last.get(tid, (0, e["time"]))
        insns[(tid, *frames[:depth])] += e["icount"] - before[0]
        ns[(tid, *frames[:depth])] += e["time"] - before[1] if frames else 0
        last[tid] = e["icount"], e["time"]
        if e["type"] == "enter":
            frames.append(re.sub(r"\+0x[0-9a-f]+$", "", e["name"]))
        else:
            frames.pop()
    return [{k: n for k, n in c.items() if n} for c in (insns, ns)]


def by_tid(stacks):
    """Replace the names of threads, 'program-12', by their tids."""
    return {(int(k[0].rsplit("-", 1)[1]), *k[1:]): n for k, n in stacks.items()}


def fold(path, *options, status=0):
    return Run([PTCAP, "decode", "-i", path, "--format=folded", *options]).expect(status)


@case
def folded_stacks(folder):
    """The stacks, their instructions and their times are those of --calls, and the sum is the number of instructions."""
    path = recorded(compiled(folder, SOURCE, "-O1", "-g", "-static"))
    stacks = folded(fold(path).out)
    check(sum(stacks.values()) == icount(path), sum(stacks.values()))
    check({k[0].rsplit("-", 1)[0] for k in stacks} == {"program"}, list(stacks)[:3])
    insns, ns = stacks_of_calls(path)
    # The frames that are open at the end of the trace have no line "leave" in --calls.
    different = {k for k in insns.keys() | by_tid(stacks).keys() if insns.get(k, 0) != by_tid(stacks).get(k, 0)}
    check(len(stacks) > 50 and len(different) <= 1, different)
    times = by_tid(folded(fold(path, "--axis=time").out))
    check(times and len({k for k in ns.keys() | times.keys() if ns.get(k, 0) != times.get(k, 0)}) <= 1, "times")
    own = Callgrind(written(path, "callgrind")).of_source("prog_profile.c")[0]
    for function in ("main", "compare", "choose", "fibonacci"):
        n = sum(n for at, n in own.items() if at[0] == function)
        check(sum(n for k, n in stacks.items() if k[-1] == function) == n, function)


@case
def folded_threads(folder):
    """Each thread has its stacks, also after exec, fork and gaps."""
    exec_itself = ["/bin/sh", "-c", "echo; exec /bin/sh -c 'exec /bin/true'"]
    for name, argv in {"laps": [prog("laps")], "vforked": [prog("vforked")], "signal": [prog("signal")], "exec": exec_itself}.items():
        path = os.path.join(folder, name)
        fetch(path, argv)
        r = Run([PTCAP, "decode", "-i", path, "--format=folded"])
        stacks = folded(r.out)
        check(sum(stacks.values()) == icount(path), f"{name}: {sum(stacks.values())} instead of {icount(path)}")
        part = "--time=30%-70%"  # what ran before a part does not count
        total = json.loads(Run([PTCAP, "report", path, part, "--format=json"]).out.splitlines()[0])["instructions"]
        got = folded(Run([PTCAP, "decode", path, "--format=folded", part]).out)
        check(sum(got.values()) == total, f"{name}: not {total} in {part}")
        tids = set(Run([PTCAP, "decode", "-i", path, "-F", "tid"]).out.splitlines())
        check({k[0].rsplit("-", 1)[1] for k in stacks} == {tid for tid in tids if tid[0] != "#"}, f"{name}: {tids}")
        check(not any(k[0].startswith("?") for k in stacks), f"{name}: a thread without a name")


@case
def folded_depth(folder):
    """--depth cuts stacks; the instructions of deeper functions count for the last one, and ptcap says so."""
    path = recorded(compiled(folder, SOURCE, "-O1", "-g", "-static"))
    all_stacks, r = folded(fold(path).out), fold(path, "--depth=4")
    stacks = folded(r.out)
    want = Counter()
    for k, n in all_stacks.items():
        want[k[:5]] += n
    check(stacks == want and max(map(len, stacks)) == 5, set(stacks.items()) ^ set(want.items()))
    check("stacks have at most 4 functions" in r.err, r.err)
    for options in (["--depth=0"], ["--depth=65537"], ["--depth=x"]):
        fold(path, *options, status=2)
    check("--depth needs" in Run([PTCAP, "decode", "-i", path, "--depth=3"]).expect(2).err, "--depth alone")


MANY = """
volatile int sink;
__attribute__((noinline)) void a(int n);
__attribute__((noinline)) void b(int n) { if (n) { a(n - 1); b(n - 1); } sink++; }
__attribute__((noinline)) void a(int n) { if (n) { a(n - 1); b(n - 1); } sink--; }
int main(void) { a(21); return 0; }
"""


@case
def folded_many(folder):
    """More stacks than the limit are an error that names the limit and the ways out."""
    source = os.path.join(folder, "many.c")
    with open(source, "w", encoding="ascii") as f:
        f.write(MANY)
    path = recorded(compiled(folder, source, "-O1", "-static", "-fno-optimize-sibling-calls"))
    r = fold(path, status=1)
    check(not r.out and "more than 4194304 different stacks" in r.err and all(o in r.err for o in ("--tid", "--time", "--depth")), r.err)


# --- pprof --------------------------------------------------------------------------------------


def fields(data):
    """Yield (number, value) of a message of Protocol Buffers; a value is a number or bytes."""
    at = 0

    def varint():
        nonlocal at
        shift = value = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    while at < len(data):
        key = varint()
        check(key & 7 in (0, 2), f"wire type {key & 7}")
        value = varint()
        if key & 7 == 2:
            check(at + value <= len(data), "a field ends behind its message")
            value, at = data[at : at + value], at + value
        yield key >> 3, value


def pprof(path, *options):
    """Write the profile. Returns the name of the file, and its fields."""
    out = path + ".pb.gz"
    with open(out, "wb") as f:
        r = Run([PTCAP, "decode", "-i", path, "--format=pprof", *options], stdout=f).expect(0)
    check("Traceback" not in r.err, r.err)
    with gzip.open(out) as f:
        return out, list(fields(f.read()))


def go_tool(out, *options):
    """Return what `go tool pprof` prints."""
    if not shutil.which("go"):
        lib.skip_without("go")
    env = {**os.environ, "HOME": os.path.dirname(out), "PPROF_TMPDIR": os.path.dirname(out), "GOCACHE": os.path.dirname(out) + "/cache"}
    return Run(["go", "tool", "pprof", "-symbolize=none", *options, out], env=env).expect(0).out


def top(out, index):
    """Return ({function: own}, the total) of all functions."""
    text = go_tool(out, "-top", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0", "-unit=ns", f"-sample_index={index}")
    rows = re.findall(r"(?m)^ *(\d+)(?:ns)? +[\d.e-]+% +[\d.e-]+% +\d+(?:ns)? +[\d.e-]+%  (.*)$", text)
    total = re.search(r"of (\d+)(?:ns)? total", text)
    check(total and rows, text)
    found = Counter()
    for n, name in rows:
        found[name] += int(n)
    return found, int(total[1])


@case
def pprof_top(folder):
    """`go tool pprof` prints our own instructions of each function, and the time if it is a measure."""
    path = recorded(compiled(folder, SOURCE, "-O1", "-g", "-static"))
    for name, other in (("instructions", []), ("time", ["--axis=time"])):
        data = with_clock(path)
        own, total = top(pprof(data)[0], name)
        want = Counter()
        for stack, n in folded(fold(data, *other).out).items():
            want[stack[-1]] += n
        got = {k: n for k, n in own.items() if n}
        check(got == want, f"{name}: {set(got.items()) ^ set(want.items())}")
        check(total == sum(want.values()), f"{name}: {total}")
    check(sum(1 for number, _ in pprof(path)[1] if number == 1) == 1, "a recording of software has a time")
    raw = go_tool(pprof(path)[0], "-raw")
    check(re.search(r"fibonacci \S*prog_profile.c:\d+", raw), raw[-3000:])


HOSTILE = [b"</script>", b'quo"te', b"esc\033[31m", b"byte\xff", b"line\nfn=(1) forged\n0 999999", b"semi;colon", b"%s%n", b"(7) seven",
           b"x" * 65536]
HOSTILE_FILE = b"fl=(1) evil\n0 77777\xff.c"


def hostile_program(folder):
    """Return a recording of a program whose functions and source file have hostile names."""
    # The assembler gets other names of the same length.
    names = [f"h{n}_".ljust(len(name), "z") for n, name in enumerate(HOSTILE)]
    source_name = "f_".ljust(len(HOSTILE_FILE), "z")
    lines = [".globl _start", ".text", f'.file 1 "{source_name}"', "_start:", ".loc 1 7", *(f"call {name}" for name in names)]
    lines += ["mov $60, %eax", "xor %edi, %edi", "syscall", ".type _start, @function", ".size _start, . - _start"]
    for n, name in enumerate(names):
        lines += [f".type {name}, @function", f"{name}:", f".loc 1 {10 + n}", "nop", "ret", f".size {name}, . - {name}"]
    source = os.path.join(folder, "hostile.s")
    with open(source, "w", encoding="ascii") as f:
        f.write("\n".join(lines) + "\n")
    program = compiled(folder, source, "-nostdlib", "-static")
    with open(program, "rb") as f:
        code = f.read()
    for name, hostile in zip([*names, source_name], [*HOSTILE, HOSTILE_FILE]):
        check(code.count(name.encode() + b"\0"), f"'{name}' is not in the program")
        code = code.replace(name.encode() + b"\0", hostile + b"\0")
    with open(program, "wb") as f:
        f.write(code)
    return recorded(program)


def inert(path):
    """Check that a text has no control characters, and is UTF-8. Returns the text."""
    with open(path, "rb") as f:
        data = f.read()
    text = data.decode("utf-8")
    check(not re.search(r"[\0-\x09\x0b-\x1f\x7f]", text), "control characters")
    return text


@case
def callgrind_hostile(folder):
    """Hostile names of functions and files are escaped: the file stays valid, and nothing is added."""
    path = hostile_program(folder)
    out = written(path, "callgrind")
    text = inert(out)
    ours = Callgrind(out)
    check(sum(ours.own.values()) == int(ours.head["summary"]) == icount(path) == len(HOSTILE) * 3 + 3, ours.own)
    check(all(file.endswith("fl=(1) evil\\x0a0 77777\\xff.c") for file in ours.files.values()), set(ours.files.values()))
    names = {callee for _, _, callee in ours.calls}
    check(len(names) == len(HOSTILE) and "x" * 65536 in names, len(names))
    check({"(7) seven", "line\\x0afn=(1) forged\\x0a0 999999"} <= names, [name[:80] for name in names])
    check("\n0 77777" not in text and "\n0 999999" not in text, text[:2000])
    check(annotated(out)[1] == icount(path), "callgrind_annotate has another sum")


@case
def folded_hostile(folder):
    """A name with ';' or a line feed stays one name."""
    path = hostile_program(folder)
    out = written(path, "folded")
    stacks = folded(inert(out))
    check(sum(stacks.values()) == icount(path) and len(stacks) == len(HOSTILE) + 1, list(stacks)[:3])
    check(all(len(k) == 2 + (k[-1] != "_start") for k in stacks), "a name was split")
    check({"semi\\x3bcolon", "line\\x0afn=(1) forged\\x0a0 999999", "x" * 65536, "</script>"} <= {k[-1] for k in stacks}, "names")


@case
def pprof_hostile(folder):
    """Hostile names are strings without control characters, and pprof reads the profile."""
    path = hostile_program(folder)
    out, parts = pprof(path)
    strings = [value.decode("utf-8") for number, value in parts if number == 6]
    check(strings[0] == "" and {"</script>", "esc\\x1b[31m", "byte\\xff", "x" * 65536} <= set(strings), [s[:80] for s in strings])
    check(not any(re.search(r"[\0-\x1f\x7f]", s) for s in strings), "control characters")
    check(top(out, "instructions")[1] == icount(path), "pprof has another sum")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
