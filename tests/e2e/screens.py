#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""screens.py NAME: the screen of `ptcap crash show` on terminals of 80 and 120 columns.

Each case is a program that dies. Its screen has at most 40 lines, and no line is wider than the
terminal. The answer names the function, the file and the source line. PTCAP_GOLDEN=1 also compares
the whole screens, PTCAP_UPDATE=1 writes these, tests/e2e/screens/NAME.COLUMNS.txt, anew. In these
texts a line "(dim)" stands for any lines about library code, and numbers are masked.
"""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios

import lib
import store
from compile import built
from lib import PTCAP, Run, check, prog

HERE = os.path.dirname(os.path.abspath(__file__))
SUPPORT = os.path.join(HERE, "..", "support")
WIDTHS = (80, 120)
LINES = 40
STYLE = re.compile(r"\x1b\[[0-9;]*m")
DIM = "\x1b[2m"

CASES = {}

# case: program, mode, file and function of the answer, a part of its source line
SCREENS = {
    "null": ("crash_static", "null", "prog_crash.c", "write_null", "nowhere[4] = 1;"),
    "smash": ("crash_static", "smash", "prog_crash.c", "smash", "} /* DIES: smash */"),
    "abort": ("crash_static", "abort", "prog_crash.c", "give_up", "abort();"),
    "recursion": ("crash_static", "recursion", "prog_crash.c", "recurse", "PAGE) = 1;"),
    "thread": ("crash_static", "thread", "prog_crash.c", "write_null", "nowhere[4] = 1;"),
    "assert": ("crash_cxx", "assert", "prog_crash_cxx.cpp", "must_be(int)", "assert(n == 4);"),
    "names": ("crash_names", "names", "prog_crash_names.cpp", "size_of", "reinterpret_cast<const volatile char *>(all)"),
    "library": ("crash_names", "library", "prog_crash_names.cpp", "length_of", "strlen(*name)"),
}


def case(f):
    CASES[f.__name__] = f
    return f


def terminal(argv, columns, lines=24, **variables):
    """Run it on a terminal of this size. Returns its output."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    env |= {"PAGER": "cat", "TERM": "xterm", "LC_ALL": "C.UTF-8", **variables}
    out = b""
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE, env=env) as p:
        os.close(theirs)
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # EIO: nobody has the other end
                break
            if not more:
                break
            out += more
        err = p.stderr.read().decode()
    os.close(ours)
    check(p.returncode == 0 and not err, f"{argv}: exit status {p.returncode}\n{err}")
    return out.decode().replace("\r\n", "\n")


def show(path, columns, *options, **variables):
    """Return the screen, whose lines all fit."""
    text = terminal([PTCAP, "crash", "show", "-i", path, *options], columns, **variables)
    plain = STYLE.sub("", text)
    check("\x1b" not in plain, f"other escape sequences: {plain!r}")
    wide = [line for line in plain.splitlines() if len(line) > columns]
    check(not wide, f"{columns} columns: too wide: {wide}")
    return text


def masked(text):
    """Mask the numbers of this run, and the code of this C library and compiler."""
    lines = []
    text = re.sub(r"(?ms)^  says .*?(?=^  at )", "  says MESSAGE\n", text)  # may have the folder of the sources
    for line in text.splitlines():
        line = "(dim)" if line.startswith(DIM) else STYLE.sub("", line)
        if re.match(r"  (jcc|async|start) ", line):  # their number depends on the compiler
            continue
        line = re.sub(r"0x[0-9a-f]+", "0xN", line)
        if "strlen" in text:  # depends on the processor
            line = re.sub(r"__strlen_\w+", "__strlen_X", line)
            line = re.sub(r"read \d+ bytes?|^  insn .*", "(masked)", line)
        line = re.sub(r"(thread|process) \d+", r"\1 N", line)
        line = re.sub(r"^  \d+ \(", "  N (", line)
        line = re.sub(r"\d+ (more|frames|times|branches)", r"N \1", line)
        line = re.sub(r" +", " ", line).rstrip()
        if line != "(dim)" or lines[-1:] != ["(dim)"]:
            lines.append(line)
    return "\n".join(lines) + "\n"


def golden(name, columns, text):
    if not os.environ.get("PTCAP_GOLDEN"):
        return
    path = os.path.join(HERE, "screens", f"{name}.{columns}.txt")
    text = masked(text)
    if os.environ.get("PTCAP_UPDATE"):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    with open(path, encoding="utf-8") as f:
        want = f.read()
    check(text == want, f"{name}: {lib.first_difference(text.splitlines(), want.splitlines(), 'got', 'golden')}")


def record(folder, program, mode):
    path = os.path.join(folder, mode)
    store.fetch(path, [program, mode], "-q", command="crash")
    return path


def answers(text, file, function, source):
    """The answer names the place, shows the source line, and comes first."""
    answer = STYLE.sub("", text).split("\n\n")[0]
    check(re.search(rf"(?m)^  (at|from) .*{re.escape(function)}.*  {re.escape(file)}:\d+$", answer), answer)
    check(re.search(rf"(?m)^ > +\d+ \| .*{re.escape(source)}", answer), answer)
    check(re.search(r"(?m)^  in +thread \d+ ", answer), answer)


def screens(folder, name):
    program, mode, file, function, source = SCREENS[name]
    path = record(folder, prog(program), mode)
    for columns in WIDTHS:
        text = show(path, columns)
        count = len(text.splitlines())
        check(count <= LINES, f"{columns} columns: {count} lines\n{text}")
        answers(text, file, function, source)
        branches = text.split("last branches")[1].split("\n\n")[0].splitlines()[1:]
        plain = [line for line in branches if not line.startswith(DIM)]
        if program == "crash_static":  # its libraries are in the same file
            check(all("crash.c:" in line or "0x4141" in line for line in plain), f"library code is not folded: {plain}")
        golden(name, columns, text)


for each in SCREENS:
    CASES[each] = lambda folder, name=each: screens(folder, name)


@case
def rust(folder):
    """A Rust program: no hashes, and frames of its library are dimmed."""
    if not shutil.which("rustc"):
        lib.skip("no rustc")
    source = os.path.join(SUPPORT, "prog_null.rs")
    program = built(folder, ["rustc", "-g", "-O", "-C", "target-feature=+crt-static", source], "null")
    if not program:
        lib.skip("rustc does not link")
    path = os.path.join(folder, "f")
    Run([PTCAP, "crash", "-q", "--source", "step", "-o", path, "--", program]).expect(139)
    for columns in WIDTHS:
        text = show(path, columns)
        check(len(text.splitlines()) <= LINES, text)
        answers(text, "prog_null.rs", "null::leaf", "*black_box(p)")
        check(not re.search(r"::h[0-9a-f]{16}", text), text)
        dim = [line for line in text.splitlines() if line.startswith(DIM)]
        check(any("lang_start" in line for line in dim), text)
        check(all("null::" not in line for line in dim if re.match(r"\x1b\[2m *\d", line) and "core::" not in line), text)


@case
def options(folder):
    """-v unfolds, -n takes any number, --threads has stacks, --full-names shortens nothing,
    NO_COLOR has no styles, a narrow terminal no wide line."""
    path = record(folder, prog("crash_names"), "names")
    text = show(path, 40)
    check(len(text.splitlines()) <= LINES, text)
    check("..." in text, text)
    for shortened in (show(path, 80), show(path, 80, "-v")):
        check("basic_string<" not in shortened, shortened)
    full = terminal([PTCAP, "crash", "show", "-i", path, "--full-names"], 80)
    check("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >" in full, full)
    bare = terminal([PTCAP, "crash", "show", "-i", path, "--no-demangle", "--full-names"], 80)
    check("_ZNK5store5index" in bare, bare)
    check("\x1b" not in show(path, 80, NO_COLOR="1"), "styles although NO_COLOR is set")
    piped = Run([PTCAP, "crash", "show", "-i", path], env={**os.environ, "COLUMNS": ""}).expect(0).out
    check("\x1b" not in piped and max(map(len, piped.splitlines())) <= 80, piped)
    piped = Run([PTCAP, "crash", "show", "-i", path], env={**os.environ, "COLUMNS": "150"}).expect(0).out
    check(80 < max(map(len, piped.splitlines())) <= 150, piped)
    folded, whole = show(path, 120), show(path, 120, "-v")
    check(re.search(r" -> \S.*\(\) \[\d+ branch", STYLE.sub("", folded)), folded)
    check("last calls" in whole and "last calls" not in folded and " branches]" not in whole, whole)
    check(len(show(path, 80, "-n", "60", "-v").split("last branches")[1].splitlines()) == 61, "not 60 branches")
    threads = record(folder, prog("crash_static"), "thread")
    text = STYLE.sub("", show(threads, 100, "--threads"))
    check(re.search(r"(?m)^  \d+ \(.*\n +0 .*\n(.*\n)* +\d+ waits", text), text)


@case
def decode(folder):
    """On a terminal `decode` shortens names, so that no line wraps. Pipes and --full-names have whole
    names."""
    path = record(folder, prog("crash_names"), "names")
    long = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
    for options in ([], ["--calls"], ["--counts=calls"], ["--counts=edges:200"]):
        argv = [PTCAP, "decode", "-i", path, "--last=3000", *options]
        piped = Run(argv).expect(0).out
        check(long in piped, f"{options}: no long name")
        for columns in WIDTHS:
            text = STYLE.sub("", terminal(argv, columns))
            check(long not in text and "..." in text, f"{options}: no short name")
            wide = [line for line in text.splitlines() if len(line) > columns]
            check(not wide, f"{options}, {columns} columns: {wide[:3]}")
            full = STYLE.sub("", terminal([*argv, "--full-names"], columns))
            check(full == piped, f"{options}: {lib.first_difference(full.splitlines(), piped.splitlines(), 'terminal', 'pipe')}")
    fields = [PTCAP, "decode", "-i", path, "-F", "from,sym,tosym"]
    check(terminal(fields, 80) == Run(fields).expect(0).out, "-F differs on a terminal")
    insns = STYLE.sub("", terminal([PTCAP, "decode", "-i", path, "--last=300", "--insn"], 80))
    check("store::sum_of<...>" in insns and long not in insns, insns[-2000:])


@case
def sources(folder):
    """The source line comes only from a regular file that has a suffix of a language, below
    --symfs. Its control characters are escaped. A newer file has a note."""
    text = "int main(void)\n{\n\tvolatile int *volatile p = 0;\n\n\t*p = 1;\n\treturn 0;\n}\n"
    source, hidden = os.path.join(folder, "die.c"), os.path.join(folder, "root")
    with open(source, "w", encoding="ascii") as f:
        f.write(text)
    program = built(folder, ["gcc", "-g", "-O1", "-static", source], "die")
    os.utime(source, (1, 1))
    path = os.path.join(folder, "f")
    Run([PTCAP, "crash", "-q", "--source", "step", "-o", path, "--", program]).expect(139)

    def out(*more):
        return Run([PTCAP, "crash", "show", "-i", path, *more]).expect(0).out

    check("\n         4 | \n >       5 | *p = 1;\n         6 | return 0;\n" in out(), out())
    check("newer" not in out(), out())
    built_at = os.stat(program).st_mtime_ns
    for later, wanted in ((0, False), (1, True), (999_999_999, True), (-1, False)):
        os.utime(source, ns=(built_at + later, built_at + later))
        note = "the source is newer than the program" in out()
        check(note == wanted, f"{later} ns: {out()}")
    with open(source, "w", encoding="utf-8") as f:
        f.write("\n\n\n\n\x1b[2J\u202e*p\r\n")
    check(r" >       5 | \x1b[2J\xe2\x80\xae*p" in out(), out())
    for content in (b"a\nb\n", b"", b"\n" * 3 + b"x"):
        with open(source, "wb") as f:
            f.write(content)
        check(" | " not in out(), out())
    with open(source, "wb") as f:
        f.truncate(1 << 40)
    check(" | " not in out(), out())
    for make in (os.mkfifo, lambda name: os.symlink("/dev/zero", name), os.mkdir):
        os.path.isdir(source) or os.remove(source)
        make(source)
        check(" | " not in out(), out())
    os.rmdir(source)
    # Below --symfs, from which no link leads out.
    there = os.path.join(hidden, source.lstrip("/"))
    os.makedirs(os.path.dirname(there))
    shutil.copy(program, os.path.join(hidden, program.lstrip("/")))
    with open(there, "w", encoding="ascii") as f:
        f.write(text)
    check("5 | *p = 1;" in out("--symfs", hidden) and " | " not in out(), out("--symfs", hidden))
    secret = os.path.join(folder, "secret.c")
    os.rename(there, secret)
    os.symlink(secret, there)
    check(" | " not in out("--symfs", hidden), out("--symfs", hidden))


@case
def suffix(folder):
    """Debug information that names a file of another kind does not print that file."""
    secret = os.path.join(folder, "secret")
    with open(secret, "w", encoding="ascii") as f:
        f.write("first\nsecond\nthird\n")
    source = os.path.join(folder, "die.c")
    with open(source, "w", encoding="ascii") as f:
        f.write(f'#line 1 "{secret}"\nint main(void) {{\n*(volatile int *volatile)0 = 1;\n}}\n')
    program = built(folder, ["gcc", "-g", "-O1", "-static", source], "die")
    path = os.path.join(folder, "f")
    Run([PTCAP, "crash", "-q", "--source", "step", "-o", path, "--", program]).expect(139)
    out = Run([PTCAP, "crash", "show", "-i", path]).expect(0).out
    check("secret:2" in out and "second" not in out, out)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
