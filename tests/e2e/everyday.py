#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""everyday.py short|long: the command lines of everyday.txt behave the same in the emulated source,
or ptcap reports why not."""

import os
import re
import resource
import shlex
import shutil
import subprocess
import sys

import lib
from lib import Run, check

CASES = {}
SHELL = re.compile(r"[|&;<>$`*?=\\{}]|^ulimit|^umask|^\./")
FILES = {
    "words": "one\ntwo\nthree words here\nfour\tfive\none\n\nthe end\n",
    "numbers": "3\n1\n20\n100\n7\n8\n9\n5\n2\n4\n",
    "table": "a:z:1\nb:y:2\nc:x:3\n",
    "sorted": "a\nb\nword\n",
    "j.json": '[{"a":1,"b":[1,2]},{"a":2,"b":[]}]',
    "script.py": "import sys\nprint(sys.argv[1:])\n",
    "script.sh": "#!/bin/sh\necho script $0 $1\nexit 4\n",
    "Makefile": "all: a b\na b:\n\t@echo made $@\n",
    "hello.c": '#include <stdio.h>\nint main(void)\n{\n\tputs("hello");\n\treturn 3;\n}\n',
}


def lines():
    """Yield (mark, words, line) of each line of everyday.txt; the mark is one of ">?~", or "" ."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "everyday.txt"), encoding="ascii") as f:
        for line in f.read().splitlines():
            m = re.fullmatch(r"(?:([>~]) |(\?) (.*?): )?([^#].*)", line)
            if m:
                yield m[1] or m[2] or "", m[3], m[4]


def fresh(path):
    """Make a folder of that name with the same files."""
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    for name, text in FILES.items():
        with open(os.path.join(path, name), "w", encoding="ascii") as f:
            f.write(text)
    os.chmod(os.path.join(path, "script.sh"), 0o755)
    os.symlink("words", os.path.join(path, "link"))
    with open(os.path.join(path, "sums"), "wb") as f:
        f.write(subprocess.check_output(["sha256sum", "words", "numbers"], cwd=path))


def plain(text):
    """Remove addresses, and the vdso, which QEMU before 8.2 does not have."""
    text = re.sub(r"\tlinux-vdso.so.1 .*\n", "", text)
    return re.sub(r"0x[0-9a-f]{8,}", "ADDRESS", text)


def no_core():
    """The shell prints whether a core was dumped, which QEMU hides from it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def difference(folder, mark, words, line):
    """Run the line alone and recorded. Returns the differences, or None."""
    argv = ["/bin/sh", "-c", line] if SHELL.search(re.sub("'[^']*'", "", line)) else shlex.split(line)
    where = os.path.join(folder, "cwd")
    env = {**os.environ, "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": where}
    kw = {"cwd": where, "env": env, "preexec_fn": no_core}
    first = line.split()[0] if mark == "?" else argv[0]
    if not shutil.which(first, path=env["PATH"]) and not first.startswith("."):
        print(f"not here: {line}")
        return None
    fresh(where)
    alone = Run(argv, **kw)
    fresh(where)
    r = lib.record(os.path.join(folder, "r"), argv, "--strict", "-q", **kw)
    said = "".join(re.findall(r"^ptcap: .*\n", r.err, re.M))
    err = re.sub(r"^ptcap: .*\n", "", r.err, flags=re.M)
    if mark == "?" or (mark == "~" and said):
        return None if said and (words or "") in said and r.status else f"status {r.status}, nothing of '{words}': {said}"
    if said:
        return said
    for what, got, want in ("status", r.status, alone.status), ("output", r.out, alone.out), ("errors", err, alone.err):
        text = lib.first_difference(plain(str(got)).split("\n"), plain(str(want)).split("\n"), "emulated", "alone")
        if text:
            return f"{what}: {text}"
    return None


def run(folder, chosen, least):
    wrong, n = [], 0
    for mark, words, line in chosen:
        why = difference(folder, mark, words, line)
        n += 1
        print(f"{'DIFFERS' if why else 'as alone'}: {line}", flush=True)
        if why:
            wrong.append(f"{line}\n    {why}")
    check(n >= least, f"{n} lines")
    check(not wrong, "\n".join(["", *wrong]))


def short(folder):
    run(folder, [x for x in lines() if x[0] == ">"], 15)


def long(folder):
    run(folder, [x for x in lines() if x[0] != ">"], 100)


CASES["short"] = short
CASES["long"] = long

if __name__ == "__main__":
    lib.main(CASES)
