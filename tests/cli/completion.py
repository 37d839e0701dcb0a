#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shell completion, driven in a terminal. completion.py SOURCE SHELL [installed]: bash, or zsh.

With "installed", the shell finds the completion that a package has installed, and not the one of the sources.

The test types a line and its keys. Then the test puts `echo` before the line, so that the shell prints the completed line.
"""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile

SOURCE, SHELL = sys.argv[1:3]
INSTALLED = sys.argv[3:] == ["installed"]
PTCAP = os.environ["PTCAP"]
SKIP = 77
DEADLINE = 600
BEGIN, END, EVERY = "\x01", "\x05", "\x1b*"  # Ctrl-A, Ctrl-E, M-*: all proposals
START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
SETUP = {
    "bash": "bind 'set enable-bracketed-paste off'; . "
    + ("/usr/share/bash-completion/bash_completion" if INSTALLED else "completion/ptcap.bash"),
    "zsh": "unsetopt zle_bracketed_paste prompt_cr prompt_sp; bindkey -e; "
    + ("" if INSTALLED else "fpath=($PWD/completion $fpath); ") + "autoload -Uz compinit; compinit -u -D",
}


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(self, folder):
        env = {"PATH": f"{os.path.dirname(PTCAP)}:{os.environ['PATH']}", "TERM": "dumb", "HOME": folder, "LC_ALL": "C.UTF-8"}
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(SOURCE)
            os.execvpe(START[SHELL][0], START[SHELL], env)
        self.type(f"stty -echo cols 1000; PS1=; PS2=; {SETUP[SHELL]}\n")
        self.line(f"cd {folder}")

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def read_until(self, mark):
        text = b""
        while mark not in text:
            ready, _, _ = select.select([self.fd], [], [], DEADLINE)
            assert ready, (SHELL, mark, text)
            text += os.read(self.fd, 65536)
        return text.decode(errors="replace")

    def line(self, command):
        """Run a command. The mark in the output is not the mark in the line."""
        self.type(f"{command}; echo 'DO'NE\n")
        self.read_until(b"DONE")

    def completed(self, keys):
        self.type(f"{keys}{BEGIN}echo 'GO'T {END} 'EN'D\n")
        return re.search(r"GOT (.*?) END", self.read_until(b" END"), re.S)[1]


def table():
    out = subprocess.run([PTCAP, "help", "--list-options"], capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in out.splitlines()]
    assert all(len(row) == 6 for row in rows), rows
    return rows


def options(rows, command):
    valued = {row[2]: row[3] for row in rows if row[0] == command and row[2]}
    return [name + ("=" if value and value[0] != "[" else "") for name, value in valued.items()]


def check_table(rows):
    """Each option of --help is listed, and each listed word is a valid value."""
    for command in sorted({row[0] for row in rows}):
        text = subprocess.run([PTCAP, *command.split(), "--help"], capture_output=True, text=True, check=True).stdout
        shown = set(re.findall(r"^  (?:-.,|   ) (--[a-z-]+)", text, re.M))
        assert shown == {row[2] for row in rows if row[0] == command and row[2]}, command
    words = [(row[0], row[2], word) for row in rows for word in row[4].split()]
    assert len(words) > 40, words
    for command, option, word in words:
        r = subprocess.run([PTCAP, *command.split(), f"{option}={word}", "--help"], capture_output=True, text=True, check=False)
        assert r.returncode == 0, (command, option, word, r.stderr)


def cases(rows):
    yield "ptcap dec\t", "ptcap decode"
    yield "ptcap crash sh\t", "ptcap crash show"
    yield "ptcap decode --form\t", "ptcap decode --format="
    yield "ptcap decode --format=js\t", "ptcap decode --format=json"
    yield "ptcap decode --engine veri\t", "ptcap decode --engine verify"
    yield "ptcap crash show --format=js\t", "ptcap crash show --format=json"
    yield "ptcap decode -F tid,ico\t", "ptcap decode -F tid,icount"
    yield "ptcap decode rec\t", "ptcap decode recording.data"
    yield "ptcap decode --symfs=fol\t", "ptcap decode --symfs=folder/"
    yield "ptcap record -o rec\t", "ptcap record -o recording.data"
    yield "ptcap record --source=st\t", "ptcap record --source=step"
    yield "ptcap record -q -- ./folder/pro\t", "ptcap record -q -- ./folder/program"
    yield "ptcap record --lbr -- /bin/true --form\t", "ptcap record --lbr -- /bin/true --form"
    yield "ptcap snapshot --max\t", "ptcap snapshot --max"
    yield "ptcap help stac\t", "ptcap help stacks"
    yield "ptcap nonsense --form\t", "ptcap nonsense --form"
    if SHELL == "bash":
        yield f"ptcap {EVERY}", "ptcap " + " ".join(
            sorted({row[0] for row in rows if " " not in row[0]} | {"help", "--help", "--version"})
        )
        for command in sorted({row[0] for row in rows}):
            yield f"ptcap {command} --{EVERY}", f"ptcap {command} " + " ".join(sorted(options(rows, command)))


def compare(terminal, rows):
    for keys, want in cases(rows):
        got = terminal.completed(keys)
        if EVERY in keys:  # the order depends on the locale
            got, want = sorted(got.split()), sorted(want.split())
        elif SHELL == "zsh":  # which removes a proposed = or / before the test's next key
            got, want = got.rstrip("=/ "), want.rstrip("=/ ")
        else:
            got = got.rstrip(" ")
        assert got == want, f"{SHELL}: {keys!r} became {got!r} instead of {want!r}"


if not shutil.which(SHELL):
    print(f"skipped: no {SHELL} here")
    sys.exit(1 if os.environ.get("PTCAP_GUEST") == "required" else SKIP)  # scripts/test --all installs it
with tempfile.TemporaryDirectory(prefix="ptcap-completion-") as main_folder:
    os.mkdir(os.path.join(main_folder, "folder"))
    for file in ("recording.data", "folder/program"):
        with open(os.path.join(main_folder, file), "w", encoding="utf-8") as f:
            f.write("#!/bin/true\n")
    os.chmod(os.path.join(main_folder, "folder/program"), 0o755)
    check_table(table())
    compare(Terminal(main_folder), table())
