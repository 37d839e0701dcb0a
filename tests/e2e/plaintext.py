#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plaintext.py NAME: no name from outside controls a terminal: names of programs, functions, source
files.

Each function below is a case; its name and text state the behaviour.
"""

import json
import os
import re
import subprocess
import sys

import lib
from lib import PTCAP, check

CASES = {}
PLACE = b"AAAAAAAA"
# ESC, a C1 control as a byte and as UTF-8, a direction override, DEL. Then the printed form.
EVIL = b"\x1b\x9b\xc2\x9b\xe2\x80\xae\x7f"
PRINTED = rb"\x1b\x9b\xc2\x9b\xe2\x80\xae\x7f"
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
SOURCE = r"""
#include <stddef.h>
static volatile int none, seen, rounds = 60;
__attribute__((noinline)) int evAAAAAAAAil(int *p)
{
	return seen += *p;
}
__attribute__((noinline)) int more_AAAAAAAA(int i) /* no two rounds are alike to compare */
{
	int one = 1;

	return (unsigned int)i * 2654435761u >> 31 ? evAAAAAAAAil(&one) : i;
}
int main(int argc, char **argv)
{
	int i, sum = 0;

	(void)argv;
	for (i = 0; i < rounds; i++)
		sum += more_AAAAAAAA(i);
	return argc > 1 ? evAAAAAAAAil(NULL) : none;
}
"""


def case(f):
    CASES[f.__name__] = f
    return f


def evil(text):
    return text.replace(PLACE, EVIL)


def program(folder):
    """Make a program whose names of all kinds have control characters."""
    source = os.path.join(folder, "src_AAAAAAAA.c")
    built = os.path.join(folder, "program")
    with open(source, "w", encoding="ascii") as f:
        f.write(SOURCE)
    subprocess.run(["gcc", "-g", "-O1", "-fno-inline", "-static", source, "-o", built], check=True)
    with open(built, "rb") as f:
        data = f.read()
    check(data.count(PLACE) >= 4, "the names are not in the program")
    path = evil(os.fsencode(folder) + b"/PAAAAAAAA")
    with open(path, "wb") as f:
        f.write(evil(data))
    os.chmod(path, 0o755)
    return path


def look(argv, statuses, is_json=False):
    """Run it. Its output is UTF-8 without terminal control characters."""
    r = subprocess.run([PTCAP, *argv], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    what = f"{argv}: exit status {r.returncode}\n{r.stdout[-2000:]!r}\n{r.stderr[-2000:]!r}"
    check(r.returncode in statuses, what)
    for text in (r.stdout, r.stderr):
        try:
            acts = ACTS.search(text.decode())
        except UnicodeDecodeError as e:
            raise lib.Failure(f"{what}\nis no UTF-8: {e}") from e
        check(not acts, f"{what}\nprints {acts and acts.group(0)!r}")
    if is_json:
        try:
            json.loads(r.stdout)
        except json.JSONDecodeError:
            for line in r.stdout.splitlines():
                json.loads(line)
    return r.stdout + r.stderr


@case
def printed(folder):
    """Every command with recordings of a program whose names have control characters."""
    path = program(folder)
    data, crash, lbr = (os.path.join(folder, name) for name in ("data", "crash", "lbr"))
    look(["record", "--source", lib.SOURCE, "-o", data, "--", path], (0,))
    look(["crash", "--source", lib.SOURCE, "-o", crash, "--", path, "dies"], (139,))
    look(["record", "--source", lib.SOURCE, "--lbr=any,u", "-c", "3", "--lbr-spoil", "top", "--truth", lbr + ".truth",
          "-o", lbr, "--", path], (0,))
    for recording in (data, crash, lbr):
        look(["info", "-i", recording], (0,))
        look(["info", "-i", recording, "--format", "json"], (0,), True)
        check(PRINTED in look(["dump", "-i", recording], (0,)), "dump has no name")
        look(["dump", "-i", recording, "--format", "json"], (0,), True)
        for options in ((), ("-F", "from,sym,to,tosym,srcline"), ("--insn",), ("--calls",), ("--stats",)):
            look(["decode", "-i", recording, *options], (0, 2))
        for of in ("edges", "calls", "blocks", "lines", "coverage"):
            look(["decode", "-i", recording, f"--counts={of}"], (0, 2))
            look(["decode", "-i", recording, f"--counts={of}", "--format", "json"], (0, 2), True)
        look(["decode", "-i", recording, "--format", "json"], (0,), True)
        look(["convert", "-i", recording, "-o", recording + ".new"], (0,))
        look(["recover", "-i", recording, "-o", recording + ".new"], (0,))
    look(["crash", "show", "-i", crash], (0,))
    look(["crash", "show", "-v", "--threads", "-i", crash], (0,))
    out = look(["crash", "show", "--full-names", "-i", crash], (0,))
    check(b"ev" + PRINTED + b"il" in out and b"src_" + PRINTED + b".c" in out, out)
    look(["crash", "show", "-i", crash, "--format", "json"], (0,), True)
    check(PRINTED in look(["compare", "-i", lbr], (0, 3)), "compare has no name")
    look(["compare", "-i", lbr, "--list"], (0, 3))
    look(["compare", "-i", lbr, "--format", "json"], (0, 3), True)
    # Without the program: its name is in messages, hints and lists of missing files.
    os.rename(path, os.path.join(folder, "gone"))
    for recording in (data, crash):
        check(PRINTED in look(["decode", "-i", recording], (0,)), "decode does not say what is missing")
        check(PRINTED in look(["info", "-i", recording], (0,)), "info does not say what is missing")
        look(["decode", "-i", recording, "--format", "json"], (0,), True)
        look(["info", "-i", recording, "--format", "json"], (0,), True)
    look(["crash", "show", "-i", crash], (0, 4))


@case
def refused(folder):
    """Messages about names given by the user."""
    name = os.fsencode(folder) + b"/" + EVIL
    with open(name + b".data", "wb") as f:
        f.write(b"PERFILE2" + EVIL * 40)
    for path in (name, name + b".data", name + b"/a"):
        for command in (["info"], ["dump"], ["decode"], ["compare"], ["crash", "show"]):
            check(PRINTED in look([*command, "-i", path], (1,)), f"{command} does not name it")
        for command in ("convert", "recover"):
            check(PRINTED in look([command, "-i", path, "-o", folder + "/o"], (1, 4)), f"{command} does not name it")
    look([EVIL], (2,))
    for command in ("info", "dump", "decode", "compare", "convert", "recover", "record", "snapshot", "crash"):
        look([command, b"--" + EVIL], (2,))
    for command in ("info", "dump", "decode", "compare"):
        look([command, "--format", EVIL], (2,))
    look(["record", "--source", lib.SOURCE, "-o", name + b"/x/y", "--", "true"], (125,))
    look(["record", "--source", lib.SOURCE, "-o", folder + "/o", "--", name], (125, 127))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
