# SPDX-License-Identifier: MIT
"""`ptcap CMD --help` and doc/man/ptcap-CMD.1.md name the same options, and every command has a page.

usage: help.py SOURCE_DIR PTCAP
"""
import os
import re
import subprocess
import sys

from common import finish, plant

OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)")


def help_of(args):
    run = subprocess.run([PTCAP] + args + ["--help"], text=True, capture_output=True, check=False)
    if run.returncode or run.stderr:
        sys.exit(f"ptcap {' '.join(args)} --help: exit code {run.returncode}, {run.stderr!r}")
    return run.stdout


def in_help(text):
    """Options of the lines that explain one: "  -o, --output=FILE   where it goes"."""
    found = set()
    for line in text.splitlines():
        if re.match(r"\s+-", line):
            found.update(OPTION.findall(re.split(r"\s{2,}", line.strip())[0]))
    return found


def in_page(text):
    """Options of the lines "**-o**, **--output**=*FILE*"."""
    found = set()
    for line in text.splitlines():
        if line.startswith("**-"):
            found.update(m for b in re.findall(r"\*\*(.+?)\*\*", line) for m in OPTION.findall(b))
    return found


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
    cases = [  # help, page, what must be complained of
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
    with plant({"doc/man/other.md": page}) as tree:
        if not compare(tree, "x.md", text):
            sys.exit("self-test: did not miss a page")


PTCAP = sys.argv[2]
prove()
top = help_of([])
commands = re.findall(r"^  ([a-z]+) ", top.split("commands:")[1].split("\n\n")[0], re.M)
complaints = compare(sys.argv[1], "ptcap.1.md", top)
for command in commands:
    text = help_of([command])
    complaints += compare(sys.argv[1], f"ptcap-{command}.1.md", text)
    for word in sorted(set(re.findall(rf"ptcap {command} ([a-z]+) \[", text))):  # a command of its own
        complaints += compare(
            sys.argv[1], f"ptcap-{command}-{word}.1.md", help_of([command, word])
        )
finish(complaints, not commands)
