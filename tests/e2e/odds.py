#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""odds.py NAME: unusual conditions at start and for files: closed descriptors, limits, pagers, cut
files.

Each function below is a case; its name and text state the behaviour.
"""

import filecmp
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys

import lib
import store
from lib import PTCAP, Run, check, prog

CASES = {}
PIPE = 1 << 20  # larger than a pipe plus a buffer of ptcap


def case(f):
    CASES[f.__name__] = f
    return f


def made(folder, name="recording"):
    path = os.path.join(folder, name)
    store.fetch(path, [prog("signal")]).expect(0)
    return path


def reading(path):
    """Yield commands that print the content of @path."""
    for words in ("info", "info --format json", "dump", "decode", "decode -F from,to", "decode --insn", "decode --stats",
                  "decode --counts=edges", "decode --format json", "decode --format bin", "decode --calls"):
        yield [PTCAP, *words.split(), "-i", path]


# --- descriptors ----------------------------------------------------------------------------------


def without(fds, argv, **kw):
    return Run(["sh", "-c", 'exec "$@" ' + " ".join(f"{fd}>&-" for fd in fds), "sh", *argv], stdin=None, **kw)


@case
def closed(folder):
    """No file gets the number of standard output. A report that cannot be written is an error, as
    in cat."""
    path = made(folder)
    shutil.copy(path, path + ".kept")
    for argv in reading(path):
        for fds in ((1,), (0, 1), (0, 1, 2)):
            r = without(fds, argv)
            check(r.status == 1, f"{argv} without {fds}: exit status {r.status}\n{r.err}")
            said = re.findall("cannot write '?standard output'?: Bad file descriptor\n", r.err)
            check(2 in fds or len(said) == 1, f"{argv}: {r.err}")
            check(filecmp.cmp(path, path + ".kept", False), f"{argv} without {fds} wrote to its recording")
        check(without((0, 2), argv).status == 0, f"{argv}: needs what it does not use")
    r = without((0,), [PTCAP, "info", "-i", "-"])
    check(r.status == 1 and "Bad file descriptor" in r.err, f"a closed standard input: {r.status} {r.err}")
    without((0, 1, 2), [PTCAP, "convert", "-i", path, "-o", path + ".new"]).expect(0)
    Run([PTCAP, "decode", "-i", path + ".new"]).expect(0)


ASK = """
static long call(long n, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;

	__asm__ volatile("syscall" : "+a"(n) : "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return n;
}
__attribute__((force_align_arg_pointer)) void _start(void)
{
	long action[4] = { 0 }, said = 0, fd;

	for (fd = 0; fd < 3; fd++)
		said |= (call(72, fd, 1, 0, 0) >= 0) << fd; /* fcntl(F_GETFD) */
	call(13, 25, 0, (long)action, 8); /* rt_sigaction(SIGXFSZ) */
	call(231, said | (action[0] != 0) << 3, 0, 0, 0);
}
"""


def ask(folder):
    """Make a program whose exit status tells which of 0, 1 and 2 are open (1, 2, 4), and whether
    SIGXFSZ is ignored (8)."""
    source, program = os.path.join(folder, "ask.c"), os.path.join(folder, "ask")
    with open(source, "w", encoding="ascii") as f:
        f.write(ASK)
    subprocess.run(["gcc", "-O1", "-static", "-nostdlib", "-fno-stack-protector", source, "-o", program], check=True)
    return program


@case
def for_command(folder):
    """A recorded command has the same descriptors closed, and its own SIGXFSZ."""
    program = ask(folder)
    for fds, open_ones in (((), 7), ((0, 1), 4), ((0,), 6), ((0, 1, 2), 0)):
        without(fds, [*lib.RECORD, "-q", "-o", os.path.join(folder, "o"), "--", program]).expect(open_ones)


# --- signals --------------------------------------------------------------------------------------


@case
def limited(folder):
    """RLIMIT_FSIZE: a message, not a signal."""
    path = made(folder)
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))}
    for argv in reading(path):
        with open(os.path.join(folder, "out"), "wb") as f:
            r = Run(argv, stdout=f, **limit)
            size = f.seek(0, os.SEEK_END)
        if size == 512:
            check(r.status == 1 and "File too large" in r.err, f"{argv}: {r.status} {r.err}")
        else:
            check(r.status == 0, f"{argv}: {r.status} {r.err}")
    for command in ("convert", "recover"):
        r = Run([PTCAP, command, "-i", path, "-o", path + ".new"], **limit)
        check(r.status == 1 and "File too large" in r.err, f"{command}: {r.status} {r.err}")
        check(not os.path.exists(path + ".new"), f"{command} left a part")


@case
def nobody_reads(folder):
    """If the reader is gone, ptcap ends like other programs: by SIGPIPE, without a message."""
    path = made(folder)
    for argv in reading(path):
        read, write = os.pipe()
        os.close(read)
        r = Run(argv, stdout=write, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
        check(r.status == 128 + signal.SIGPIPE, f"{argv}: {r.status} {r.err}")
        r = Run(argv, stdout=write, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
        check(r.status == 1 and "Broken pipe" in r.err, f"{argv}, SIGPIPE ignored: {r.status} {r.err}")
        os.close(write)


def cut(argv, path):
    """Truncate @path when @argv, whose reader waits, has begun to print."""
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as p:
        check(p.stdout.read(1), "it prints nothing")
        os.truncate(path, 0)
        got = 1 + len(b"".join(iter(lambda: p.stdout.read(1 << 16), b"")))
        err = p.stderr.read().decode()
        status = p.wait()
    check(status == 1, f"{argv}: exit status {status}, {got} bytes, {err!r}")
    check(f"'{path}'" in err and "the file was truncated" in err, f"it does not say what happened: {err!r}")


@case
def cut_recording(folder):
    """A recording that is truncated during reading. Threads that print names would have read all of it: each has 16,384 branches."""
    path = os.path.join(folder, "recording")
    lib.record(path, [prog("busy"), lib.BUSY_A_WHILE], "-m", "8K,8K").expect(7)
    for argv in ([PTCAP, "decode", "-j1"], [PTCAP, "decode", "-j2", "-F", "tid,cpu,time,from,to,kind"], [PTCAP, "decode", "-j1", "--engine", "libipt"]):
        shutil.copy(path, path + ".cut")
        whole = len(Run([*argv, "-i", path]).out)
        check(whole > PIPE, f"only {whole} bytes of {argv}")
        cut([*argv, "-i", path + ".cut"], path + ".cut")


FIRST = """
void second(int);
int main(void)
{
	volatile int i;

	for (i = 0; i < 12000; i++)
		;
	second(i);
	return 0;
}
"""
SECOND = """
void second(int n)
{
	while (n-- > 11990)
		__asm__ volatile("");
}
"""


@case
def cut_program(folder):
    """The same for a program whose debug information is being read."""
    program, path = os.path.join(folder, "program"), os.path.join(folder, "recording")
    for name, text in (("first.c", FIRST), ("second.c", SECOND)):
        with open(os.path.join(folder, name), "w", encoding="ascii") as f:
            f.write(text)
    subprocess.run(["gcc", "-g", "-O1", "-static", "first.c", "second.c", "-o", program], check=True, cwd=folder)
    lib.record(path, [program]).expect(0)
    cut([PTCAP, "decode", "-j1", "-i", path, "-F", "from,sym,srcline"], program)


# --- pagers ---------------------------------------------------------------------------------------


def on_terminal(argv, presses=b"", ready=b"", **env):
    """Return the output of @argv on a terminal, and its status. The user presses the keys @presses
    once @ready is printed."""
    out = b""
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(TERM="dumb", **env)
        os.execv(argv[0], argv)
    while True:
        try:
            got = os.read(fd, 65536)
        except OSError:  # the end of a terminal
            break
        if not got:
            break
        out += got
        if presses and ready in out:
            os.write(fd, presses)
            presses = b""
    os.close(fd)
    return out.replace(b"\r\n", b"\n"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@case
def no_pager(folder):
    """A missing pager loses nothing, and is reported if the user named it. An existing pager is used."""
    path = made(folder)
    want = Run([PTCAP, "decode", "-i", path]).out.encode()
    for pager in ("no-such-pager", "no-such-pager -R", "/nowhere/pager", "A=1 B=2 no-such-pager", folder):
        out, status = on_terminal([PTCAP, "decode", "--full-names", "-i", path], PAGER=pager)
        check(want in out and status == 0, f"{pager}: status {status}, {len(out)} of {len(want)} bytes")
        check(f"cannot find the pager '{pager}'".encode() in out, f"{pager} is not named")
    out, status = on_terminal([PTCAP, "decode", "--full-names", "-i", path], PAGER="", PATH=folder)
    check(want == out and status == 0, "without a pager")
    kept = {name: os.environ.pop(name) for name in ("PAGER",) if name in os.environ}
    out, status = on_terminal([PTCAP, "decode", "--full-names", "-i", path], PATH=folder)
    check(want == out and status == 0, f"no less: {status} {out[-300:]}")
    os.environ.update(kept)
    for pager in ("sed s/^/./", "A=1 sed s/^/./", "/bin/sed s/^/./", "(sed s/^/./)", "S=1; sed s/^/./", "$SED s/^/./"):
        out, status = on_terminal([PTCAP, "decode", "--full-names", "-i", path], PAGER=pager, SED="sed")
        check(out.startswith(b".") and out.count(b"\n") >= want.count(b"\n") and status == 0, f"{pager}: {out[:100]}")


def long(folder):
    """Return a command that prints more than a pipe holds."""
    path = os.path.join(folder, "recording")
    store.fetch(path, [prog("busy"), lib.BUSY_A_WHILE]).expect(7)
    argv = [PTCAP, "decode", "-i", path]
    check(len(Run(argv).out) > PIPE, "it prints too little")
    return argv


@case
def pager_leaves(folder):
    """If the user quits the pager, ptcap ends without a message; a failed pager is reported."""
    argv = long(folder)
    for jobs in ("-j1", "-j2"):
        for pager, lines in (("head -n 3", 3), ("true", 0), ("head -n 3; exit 5", 3)):
            out, status = on_terminal([*argv, jobs], PAGER=pager)
            check(status == 0 and out.count(b"\n") == lines and b"ptcap:" not in out, f"{pager}: {status} {out[-300:]}")
        for pager, words in (("head -n 3; kill -9 $$", b"a signal killed the pager"), ("(no-such-pager)", b"cannot run the pager")):
            out, status = on_terminal([*argv, jobs], PAGER=pager)
            check(status == 1 and words in out.splitlines()[-1], f"{pager}: {status} {out[-300:]}")


PAGER = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
sys.stdin.readline()
print("WAITS", flush=True)
signal.sigwait([signal.SIGINT])
print("INTERRUPTED", flush=True)
sys.stdin.read()
print("QUIT", flush=True)
"""


@case
def pager_interrupted(folder):
    """At ^C the pager keeps the terminal until the user quits it, and sees the end of its input.
    Then ptcap dies from the ^C."""
    argv = long(folder)
    program = os.path.join(folder, "pager.py")
    with open(program, "w", encoding="ascii") as f:
        f.write(PAGER)
    for jobs in ("-j1", "-j2"):
        out, status = on_terminal([*argv, jobs], b"\x03", b"WAITS", PAGER=f"{sys.executable} {program}")
        check(status == -signal.SIGINT, f"status {status}: {out[-300:]}")
        check(out.count(b"INTERRUPTED\n") == 1 and out.endswith(b"QUIT\n"), f"{out[-300:]}")


@case
def terminal_without_utf_8(folder):
    """Such a terminal gets all non-ASCII characters escaped; a UTF-8 terminal and a file get them
    unchanged."""
    path = os.path.join(folder, "h\u00e9")
    for lang, want in (("C", b"h\\xc3\\xa9"), ("", b"h\\xc3\\xa9"), ("C.UTF-8", "h\u00e9".encode()), ("xx_XX.utf8", "h\u00e9".encode())):
        out, status = on_terminal([PTCAP, "info", "-i", path], LC_ALL=lang, LC_CTYPE="", LANG="")
        check(status == 1 and want in out, f"{lang}: {status} {out}")
    shutil.copy(made(folder), path)
    for argv in ([PTCAP, "info", "-i", path], [PTCAP, "dump", "-i", path, "--format", "json"]):
        out, status = on_terminal(argv, LC_ALL="C")
        check(status == 0 and out.isascii(), f"{argv}: {status}")
        out, status = on_terminal(argv, LC_ALL="C.UTF-8")
        check(status == 0 and "h\u00e9".encode() in out, f"{argv}: {status}")
    r = subprocess.run([PTCAP, "info", "-i", path], stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"}, check=True)
    check("h\u00e9".encode() in r.stdout, "a pipe gets escapes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
