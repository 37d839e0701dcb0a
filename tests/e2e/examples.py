#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples.py page FILE | examples.py NAME: the examples of a Markdown file run, and print what the file shows.

An example is an indented block with lines "$ command". A line that ends with a backslash, or that begins with "> ", continues
a command. All commands of a file run in order, in one shell, in a scratch folder, with ptcap in PATH. Lines below a command are its output: standard output and standard error. They are
compared with the real output, with numbers masked and blanks collapsed. A line "..." stands for any lines, and "..." in
a line for any text. Output of a background job is waited for. Without such lines the output is not compared. Each
command must exit with 0.

A comment before an example changes how it runs: <!-- example: WORD... -->
setup=NAME    first call the function NAME of SETUPS, which makes stand-ins: programs, recordings, shell functions
needs=NAME    skip the example on a machine without NAME (NEEDS); fail for a program that scripts/test --all installs
status=N      the commands of the example exit with N, or with 0

examples_all.py checks that each code block of the documents is such an example. The other cases prove that the comparison
can fail.
"""

import glob
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import lib
from example_text import examples
from lib import PTCAP, Failure, check, prog

CASES = {}
SOURCE_DIR = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
DOCUMENTS = ["README.md", "SECURITY.md", "CHANGELOG.md", "examples/README.md", "doc/format.md", "doc/man/*.md"]
PATIENCE = 120  # seconds for the output of background jobs
SIGPIPE = 128 + signal.SIGPIPE


def case(f):
    CASES[f.__name__] = f
    return f


# --- what is shown and what is printed -------------------------------------------------------------


def masked(line):
    """Numbers, also hexadecimal ones, are N; blanks are one blank."""
    line = re.sub(r"(?<=\d),(?=\d{3}\b)", "", line)  # 1,600 is a number like 992
    return " ".join(re.sub(r"\b(?:0x)?[0-9a-f]*[0-9][0-9a-f]*\b", "N", line).split())


def pattern_of(line):
    if line.strip() == "...":
        return r"(?:.*\n)*?"
    return r" ?.* ?".join(re.escape(masked(part)) for part in line.split("...")) + r"\n"


def agrees(shown, printed):
    """Whether the lines printed are those shown, where "..." stands for any lines, or for any text."""
    pattern = "".join(map(pattern_of, shown))
    lines = [masked(line) for line in printed]
    while lines and not lines[-1]:
        lines.pop()
    return bool(re.fullmatch(pattern, "".join(line + "\n" for line in lines)))


# --- the shell -------------------------------------------------------------------------------------

# Reads names of files, runs each file in this shell, and reports the statuses of its last pipeline and the running jobs.
LOOP = """
while IFS= read -r -u "$CONTROL" file; do
	. "$file" </dev/null
	echo "$SYNC"
	echo "${statuses[*]} jobs $(jobs -rp | wc -l)" >&"$REPORT"
done
for job in $(jobs -rp); do kill "$job"; done
wait
"""
SYNC = "-- this command has ended --"


class Shell:
    """A shell in a folder. Its output, and that of its background jobs, is collected."""

    def __init__(self, folder, path):
        self.folder, self.count, self.lines, self.complete = folder, 0, [], threading.Event()
        control, self.control = os.pipe()
        self.report, report = os.pipe()
        output, self.out = os.pipe()
        env = {**os.environ, "PATH": path, "CONTROL": str(control), "REPORT": str(report), "SYNC": SYNC, "PAGER": "cat"}
        self.p = subprocess.Popen(["bash", "-c", LOOP], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=self.out,
                                  stderr=self.out, pass_fds=[control, report])
        for fd in (control, report, self.out):
            os.close(fd)
        threading.Thread(target=self.collect, args=[output], daemon=True).start()

    def collect(self, output):
        """Append to the lines. Set the event when the output of the command itself is complete."""
        with os.fdopen(output, encoding="utf-8", errors="replace") as f:
            for line in f:
                text, sync, _ = line.rstrip("\n").partition(SYNC)
                if text or not sync:
                    self.lines.append(text)
                if sync:
                    self.complete.set()

    def run(self, command, shown=()):
        """Run it until its output agrees. Returns (statuses, lines printed)."""
        self.count += 1
        name = os.path.join(self.folder, f".command-{self.count}")
        with open(name, "w", encoding="utf-8") as f:
            f.write(command + '\nstatuses=("${PIPESTATUS[@]}")\n')
        self.lines = lines = []
        self.complete.clear()
        os.write(self.control, (name + "\n").encode())
        check(select.select([self.report], [], [], lib.DEADLINE)[0], f"this command does not end: {command}\n" + "\n".join(lines))
        said = b""
        while not said.endswith(b"\n"):
            more = os.read(self.report, 4096)
            check(more, f"the shell has ended: {command}\n" + "\n".join(lines))
            said += more
        statuses, jobs = said.decode().split(" jobs ")
        check(self.complete.wait(lib.DEADLINE), f"the output of the shell has no end: {command}")
        end = time.monotonic() + (PATIENCE if int(jobs) else 0)
        while shown and not agrees(shown, list(lines)) and time.monotonic() < end:
            time.sleep(0.01)
        return [int(s) for s in statuses.split()], list(lines)

    def close(self):
        os.close(self.control)
        try:
            self.p.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.p.kill()
        for pid in lib.strays():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def run_text(folder, text):
    """Run the examples of a text. Returns how many commands ran."""
    found = examples(text)
    check(found, "no examples")
    for example in found:
        check(not example.unknown, f"line {example.line}: unknown words in the comment: {example.unknown}")
    path = os.pathsep.join([os.path.dirname(PTCAP), os.path.join(folder, "bin"), os.environ["PATH"]])
    os.makedirs(os.path.join(folder, "bin"), exist_ok=True)
    if lib.have_perf():
        os.symlink(lib.PERF, os.path.join(folder, "bin", "perf"))
    shell = Shell(folder, path)
    ran = 0
    try:
        for example in found:
            missing = [n for n in example.needs if not NEEDS[n]()]
            if missing:
                programs = [n for n in missing if n not in OF_MACHINE]
                check(not programs or os.environ.get("PTCAP_GUEST") != "required", f"line {example.line}: {programs} are missing")
                print(f"line {example.line}: skipped, because this machine has no {', '.join(missing)}", flush=True)
                continue
            shell.run("unset -f ptcap pidof gcore; true")
            for name in example.setups:
                statuses, lines = shell.run(SETUPS[name](folder) or ":")
                check(statuses == [0], f"line {example.line}: setup {name}: {statuses}\n" + "\n".join(lines))
            for line, command, shown in example.steps:
                command = "\n".join(command)
                statuses, printed = shell.run(command, shown)
                print(f"line {line}: {command}: {statuses}, {len(printed)} lines", flush=True)
                text_of = "\n".join("  | " + p for p in printed[-100:])
                wrong = [s for s in statuses[-1:] if s not in example.statuses]
                wrong += [s for s in statuses[:-1] if s not in example.statuses | {SIGPIPE}]
                check(not wrong, f"line {line}: {command}: exit status {statuses}, allowed {example.statuses}:\n{text_of}")
                check(not shown or agrees(shown, printed),
                      f"line {line}: {command}: the output is not that of the text, but\n{text_of}")
                ran += 1
    finally:
        shell.close()
    return ran


# --- what examples need ------------------------------------------------------------------------------


def has_core():
    """A core dump gets the name "core", in the current folder."""
    with open("/proc/sys/kernel/core_pattern", encoding="ascii") as f:
        pattern = f.read().strip()
    with open("/proc/sys/kernel/core_uses_pid", encoding="ascii") as f:
        return pattern == "core" and f.read().strip() == "0"


def has_breakpoints():
    with tempfile.TemporaryDirectory() as folder:
        return lib.breakpoints_work(folder)


NEEDS = {
    "perf": lib.have_perf, "events": lib.has_events, "ptrace": lib.has_ptrace, "core": has_core, "breakpoints": has_breakpoints,
    "qemu": lambda: shutil.which(os.environ.get("PTCAP_QEMU", "qemu-x86_64")),
    "cc": lambda: shutil.which("cc"), "pkg-config": lambda: shutil.which("pkg-config"), "jq": lambda: shutil.which("jq"), "gcore": lambda: shutil.which("gcore"),
    "uftrace": lambda: shutil.which("uftrace"), "zstd": lambda: shutil.which("zstd"),
    "perf2bolt": lambda: os.path.exists("/usr/lib/llvm-19/bin/perf2bolt"), "callgrind_annotate": lambda: shutil.which("callgrind_annotate"),
    "less": lambda: shutil.which("less"), "gdb": lambda: shutil.which("gdb"), "eu-stack": lambda: shutil.which("eu-stack"),
}
OF_MACHINE = {"events", "ptrace", "core", "breakpoints"}  # no package brings these: the other needs are programs
SETUPS = {}
LIBRARY = "volatile int reported;\nvoid report(int n)\n{\n\treported += n;\n}\n"
# A program that reads LINES lines and ends; 0: it does not end. With READY it says when the newest trace has this loop alone.
# With STUCK it then stays in parse_line() for ever.
SERVER = """#include <unistd.h>
void report(int n);
static int stuck;
static void parse_line(const char *line)
{
	for (; *line || stuck; line += *line != 0)
		if (*line == ' ')
			report(1);
}
int main(void)
{
	unsigned int i;

	for (i = 0; i < LINES || !LINES; i++) {
#ifdef READY
		if (i == 20000)
			(void)!write(1, "ready\\n", 6);
#endif
#ifdef STUCK
		stuck = i == 20000;
#endif
		parse_line("GET /index.html HTTP/1.1 from 10.0.0.7 port 4711");
	}
	return 0;
}
"""


def setup(f):
    SETUPS[f.__name__] = f
    return f


def compiled(folder, name, *options):
    """The server, with its source in a folder that ends with my/source, and its library beside it."""
    source = os.path.join(folder, "my", "source")
    os.makedirs(source, exist_ok=True)
    for file, text in (("report.c", LIBRARY), ("server.c", SERVER)):
        with open(os.path.join(source, file), "w", encoding="ascii") as f:
            f.write(text)
    library, new = os.path.join(folder, "libreport.so"), os.path.join(folder, name + ".new")
    lib.Run(["cc", "-g", "-O0", "-fPIC", "-shared", "-o", library, os.path.join(source, "report.c")]).expect(0)
    lib.Run(["cc", "-g", "-O0", "-o", new, *options, os.path.join(source, "server.c"), library, "-Wl,-rpath,$ORIGIN"]).expect(0)
    os.rename(new, os.path.join(folder, name))  # an older one may run


def recorded(folder, output, argv, *options, command="record", status=0):
    lib.Run([PTCAP, command, "-q", "-o", os.path.join(folder, output), *options, "--", *argv], cwd=folder).expect(status)


@setup
def server(folder):
    """./server, which ends soon."""
    compiled(folder, "server", "-DLINES=5")


@setup
def endless_server(folder):
    """./server, which runs until it is killed."""
    compiled(folder, "server", "-DLINES=0")


@setup
def service(folder):
    """./service, which says that it is ready, and runs until it is killed."""
    compiled(folder, "service", "-DLINES=0", "-DREADY")


@setup
def running_server(folder):
    """A server that runs, and that pidof finds. A recording of it ends soon, and without Intel PT it is stepped."""
    compiled(folder, "server", "-DLINES=0")
    has_pt = os.path.exists("/sys/bus/event_source/devices/intel_pt")
    drop, source = ("shift", "") if has_pt else ("shift 3", "--source step")  # record, or record -e EVENT
    return f"""./server & SERVER=$!
pidof() {{ echo "$SERVER"; }}
ptcap() {{ {drop}; command ptcap record {source} --max-time 200ms "$@"; }}
"""


@setup
def live_server(folder):
    """A server that runs, and that pidof finds. It is no job of the shell, which would report its death."""
    compiled(folder, "server", "-DLINES=0")
    return """(./server & echo $! >server.pid)
pidof() { cat server.pid; }
"""


@setup
def stuck_server(folder):
    """A server that never leaves parse_line(), and that pidof finds. It is no job of the shell."""
    compiled(folder, "server", "-DLINES=0", "-DREADY", "-DSTUCK")
    return """(./server >ready & echo $! >server.pid)
until [ -s ready ]; do sleep 0.01; done
pidof() { cat server.pid; }
"""


@setup
def recording(folder):
    """perf.data of a program with debug information."""
    compiled(folder, "server", "-DLINES=5")
    recorded(folder, "perf.data", ["./server"])


@setup
def optimizable(folder):
    """perf.data of ./server, which is linked for BOLT."""
    compiled(folder, "server", "-DLINES=5", "-Wl,--emit-relocs")
    recorded(folder, "perf.data", ["./server"])


@setup
def traces(folder):
    """The recordings that come with the sources."""
    link(folder, "traces", os.path.join(SOURCE_DIR, "traces"))


def link(folder, name, target):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.lexists(path):
        os.symlink(target, path)


@setup
def release(folder):
    """The headers of the sources, and this build as build/release."""
    link(folder, "include", os.path.join(SOURCE_DIR, "include"))
    link(folder, "build/release", os.path.dirname(os.path.dirname(PTCAP)))


@setup
def installed(folder):
    """An installed library, with the variables for a prefix of its own."""
    prefix = os.path.join(folder, "installed")
    lib.Run(["cmake", "--install", os.path.dirname(os.path.dirname(PTCAP)), "--prefix", prefix]).expect(0)
    (found,) = glob.glob(os.path.join(prefix, "**", "ptcap.pc"), recursive=True)
    where = os.path.dirname(found)
    return f"export PKG_CONFIG_PATH={where} LD_LIBRARY_PATH={os.path.dirname(where)}"


@setup
def true_data(folder):
    """true.data."""
    recorded(folder, "true.data", ["/bin/true"])


@setup
def prog_crash(folder):
    """./prog_crash, which dies in many ways."""
    shutil.copy(prog("crash_static"), os.path.join(folder, "prog_crash"))


@setup
def crash(folder):
    """perf.data of a program that died."""
    prog_crash(folder)
    recorded(folder, "perf.data", ["./prog_crash", "smash"], command="crash", status=139)


@setup
def crash_data(folder):
    """crash.data, as above."""
    prog_crash(folder)
    recorded(folder, "crash.data", ["./prog_crash", "smash"], command="crash", status=139)


@setup
def theirs(folder):
    """theirs.data, of a program that is now below ./their-root only."""
    there = os.path.join(folder, "there")
    os.makedirs(there)
    shutil.copy(prog("hello"), there)
    recorded(folder, "theirs.data", [os.path.join(there, "prog_hello")])
    root = os.path.join(folder, "their-root")
    os.makedirs(root + folder)
    os.rename(there, root + there)


@setup
def attached(folder):
    """perf.data of a process that still runs: $PID."""
    compiled(folder, "service", "-DLINES=0")
    return "./service & PID=$!; ptcap record -q --source step --max-steps 2000 -p $PID"


@setup
def raw(folder):
    """pt.bin: PSB, MODE.Exec, PSBEND, TIP.PGE 401000, TNT T, TIP 40100b, TIP.PGD. image.dump has the code at 400000."""
    trace = b"\x02\x82" * 8 + b"\x99\x01\x02\x23\x71\x00\x10\x40\x00\x00\x00\x06\x6d\x05\x10\x40\x00\x00\x00\x01"
    code = b"\x74\x01\x90\xff\xe0\x0f\x05"  # 401000: je 401003; nop; 401003: jmp *%rax; 401005: syscall
    with open(os.path.join(folder, "pt.bin"), "wb") as f:
        f.write(trace)
    with open(os.path.join(folder, "image.dump"), "wb") as f:
        f.write(bytes(0x1000) + code + bytes(0x2000 - len(code)))


@setup
def wrong_stacks(folder):
    """perf.data with branch stacks, some of which lack a branch."""
    options = ["--lbr", "--count", "50", "--lbr-spoil", "drop:2:1", "--truth", os.path.join(folder, "truth")]
    recorded(folder, "perf.data", [prog("busy"), "2000"], *options, status=7)


@setup
def cut(folder):
    """perf.data, of which the end is missing."""
    recording(folder)
    path = os.path.join(folder, "perf.data")
    os.truncate(path, os.path.getsize(path) * 2 // 3)


# --- the cases -------------------------------------------------------------------------------------------


def documents():
    """(path, text) of each document with examples."""
    for pattern in DOCUMENTS:
        for path in sorted(glob.glob(os.path.join(SOURCE_DIR, pattern))):
            with open(path, encoding="utf-8") as f:
                yield os.path.relpath(path, SOURCE_DIR), f.read()


@case
def page(folder, path, *_):
    """The examples of a file of the sources."""
    if not lib.has_ptrace() and not NEEDS["qemu"]():
        lib.skip("no source records here")
    link(folder, "examples", os.path.join(SOURCE_DIR, "examples"))
    ran = run_text(folder, dict(documents())[path])
    if not ran:
        lib.skip("all examples need what this machine does not have")
    print(f"{ran} commands")


@case
def a_missing_program_fails(folder):
    """Where scripts/test --all has installed all programs, a missing one is a failure; a missing right never is one."""
    text = "<!-- example: needs={} -->\n\n    $ false\n"
    for name in ("jq", "events"):
        needed, NEEDS[name] = NEEDS[name], lambda: False
        for required in ("", "required"):
            os.environ["PTCAP_GUEST"] = required
            if name == "jq" and required:
                fails(folder, "required", text.format(name), "line 3: ['jq'] are missing")
            else:
                where = os.path.join(folder, f"{name}{required}")
                os.mkdir(where)
                check(run_text(where, text.format(name)) == 0, "the command ran")
        NEEDS[name] = needed


def fails(folder, name, text, what):
    where = os.path.join(folder, name)
    os.mkdir(where)
    try:
        run_text(where, text)
    except Failure as e:
        check(what in str(e), f"{name}: {e}")
        return
    raise Failure(f"{name} did not fail")


@case
def comparison_can_fail(folder):
    """Good examples run; each bad one is found."""
    good = """# Title

    not an example

<!-- example: status=3 -->

    $ false_is() { return 3; }; echo 'at 0x1f,    12 bytes'; false_is
    at 0x2ab, 7 bytes

## EXAMPLES

    $ printf 'a\\n\\nb\\nc\\n'; echo d >&2
    a

    ...
    d
    $ yes | head -n 1; n=1
    $ echo "$n" \\
        two three
    5 ... three
    $ { sleep 0.1; echo later; } & true
    later
"""
    os.mkdir(os.path.join(folder, "good"))
    check(run_text(os.path.join(folder, "good"), good) == 5, "not all commands ran")
    for name, text, what in [
        ("status", "    $ (exit 4)\n", "exit status [4]"),
        ("other_status", "<!-- example: status=3 -->\n\n    $ (exit 4)\n", "exit status [4]"),
        ("pipeline", "    $ (exit 4) | cat\n", "exit status [4, 0]"),
        ("output", "    $ echo a\n    b\n", "not that of the text"),
        ("too_much", "    $ echo a; echo b\n    a\n", "not that of the text"),
        ("too_little", "    $ echo a\n    a\n    b\n", "not that of the text"),
        ("no_line", "    $ echo a\n    ...\n    b\n", "not that of the text"),
        ("stderr", "    $ echo a; echo b >&2\n    a\n", "not that of the text"),
        ("word", "<!-- example: stauts=3 -->\n\n    $ true\n", "unknown words"),
        ("none", "# Title\n\n    no example\n", "no examples"),
    ]:
        fails(folder, name, text, what)


if __name__ == "__main__":
    lib.main(CASES)
