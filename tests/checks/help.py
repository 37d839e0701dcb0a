# SPDX-License-Identifier: MIT
"""`ptcap CMD --help` and doc/man/ptcap-CMD.1.md have the same options, and every command has a page. Help texts have lines
of at most 80 columns. One table of options drives the parsing and --help (cli/common/option_table.h).

usage: help.py SOURCE_DIR PTCAP
"""
import os
import re
import subprocess
import sys

from common import finish, plant

WIDTH = 80
OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)")


def help_of(args):
    run = subprocess.run([PTCAP] + args + ["--help"], text=True, capture_output=True, check=False)
    if run.returncode or run.stderr:
        sys.exit(f"ptcap {' '.join(args)} --help: exit code {run.returncode}, {run.stderr!r}")
    return run.stdout


def too_wide(command, text):
    return [f"`ptcap {command} --help`: more than {WIDTH} columns: {line}" for line in text.splitlines() if len(line) > WIDTH]


def in_help(text):
    """Return the options in help lines such as "  -o, --output=FILE   Write to FILE."."""
    found = set()
    for line in text.splitlines():
        if re.match(r"(?: {2}| {6})-", line):
            found.update(OPTION.findall(re.split(r"\s{2,}", line.strip())[0]))
    return found


def in_page(text):
    """Return the options in page lines such as "**-o**, **--output**=*FILE*"."""
    found = set()
    for line in text.splitlines():
        if line.startswith("**-"):
            found.update(m for b in re.findall(r"\*\*(.+?)\*\*", line) for m in OPTION.findall(b))
    return found


def doubled(command, text):
    """Complain about options that have two entries: the second one has no effect. An entry with another value is another form."""
    names = re.findall(r"(?m)^ {2,6}(?:-\w, )?(--\S+)", text)
    return [f"{command}: {n} has two entries in --help" for n in sorted(set(names)) if names.count(n) > 1]


def compare(root, page, text):
    path = os.path.join("doc/man", page)
    try:
        with open(os.path.join(root, path), encoding="utf-8") as f:
            theirs = in_page(f.read())
    except FileNotFoundError:
        return [f"{path}: missing"]
    ours = in_help(text)
    return ([f"{path}: {o} is in --help but not here" for o in sorted(ours - theirs)]
            + [f"{path}: {o} is not in --help" for o in sorted(theirs - ours)]
            + ([] if ours else [f"{path}: --help names no option"]))


def prove():
    text = "usage: ptcap x [-o FILE]\n  -o, --output=FILE  like perf's --foo\n      --raw=X  or -z\n"
    page = "**ptcap x** [**--foo**]\n\n**-o**, **--output**=*FILE*\n:   Not **-q**.\n\n**--raw**=*X*\n"
    cases = [  # help, page, expected complaints
        (text, page, []),
        (text + "  -n  new\n", page, ["-n"]),
        (text, page + "**--old**\n:   Gone.\n", ["--old"]),
        (text.replace("--output", "--out"), page, ["--out", "--output"]),
    ]
    for help_text, page_text, want in cases:
        with plant({"doc/man/x.md": page_text}) as tree:
            got = [c.split()[1] for c in compare(tree, "x.md", help_text)]
            if got != want:
                sys.exit(f"self-test: {got} instead of {want}")
    if too_wide("x", "a" * WIDTH) or not too_wide("x", "a" * (WIDTH + 1)):
        sys.exit("self-test: a line of the wrong width")
    if doubled("x", text) or not doubled("x", text + "      --raw=X  again\n"):
        sys.exit("self-test: did not find an option with two entries")
    with plant({"doc/man/other.md": page}) as tree:
        if not compare(tree, "x.md", text):
            sys.exit("self-test: did not miss a page")


PTCAP = sys.argv[2]
prove()
top = help_of([])
commands = re.findall(r"^  ([a-z]+) {2,}", top, re.M)
complaints = too_wide("", top) + compare(sys.argv[1], "ptcap.1.md", top)
for command in commands:
    text = help_of([command])
    complaints += too_wide(command, text) + doubled(command, text)
    complaints += compare(sys.argv[1], f"ptcap-{command}.1.md", text)
    for word in sorted(set(re.findall(rf"ptcap {command} ([a-z]+) \[", text))):  # a command with its own help
        more = help_of([command, word])
        complaints += too_wide(f"{command} {word}", more) + doubled(f"{command} {word}", more)
        complaints += compare(sys.argv[1], f"ptcap-{command}-{word}.1.md", more)
finish(complaints, not commands)
