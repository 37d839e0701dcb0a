# SPDX-License-Identifier: MIT
"""The recordings of bench/all, made with the emulated source: four programs, with some 20 to 40 MB of trace each.

The first pass over a short recording mostly learns the code, so the four are long. perf takes a minute to print all
instructions of half of such a recording, so text has a shorter one of python3."""
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
from collections import namedtuple

from .run import Left, run

Recording = namedtuple("Recording", "name path bytes")  # bytes: of trace

PYTHON = """\
import json, re, sys
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
rows = [{"id": i, "name": "item %d" % i, "parts": list(range(i % 7))} for i in range(560)]
for _ in range(int(sys.argv[1])):
    rows = json.loads(json.dumps(rows))
words = re.findall(r"[a-z]+ (\\d+)", json.dumps(rows))
print(len(words), fib(19), sum(i * i for i in range(60000)))
"""
SQL = ("with recursive n(i) as (select 1 union all select i + 1 from n where i < 26000) "
       "select count(*), sum(length(hex(i * 7919))) from n;")
FUNCTIONS = 18  # of the C file
FUNCTION = """\
int g{i};
int f{i}(int a, int b)
{{
    int i, s = 0;
    for (i = 0; i < a; i++) {{
        if (i % {modulus} == b)
            s += i * g{i};
        else switch (i & 7) {{
        case 0: s ^= b; break;
        case 1: s -= a; break;
        case 3: s *= 7; break;
        default: s += f{callee}(i, b);
        }}
    }}
    g{i} = s;
    return s;
}}
"""


def _texts():
    """Returns the input files of the programs: the same ones in each run."""
    words = random.Random(1)
    return {
        "work.py": PYTHON,
        "source.c": "".join(FUNCTION.format(i=i, modulus=i + 2, callee=max(i - 1, 0)) for i in range(FUNCTIONS)),
        "words.txt": "".join("word%d%s" % (words.randrange(3000), " \n"[words.randrange(9) == 0]) for _ in range(170000)),
    }


def _python(folder, rounds):
    # /usr/bin/python3 is a program. The python3 of a version manager is often a script.
    program = shutil.which("python3", path="/usr/bin") or shutil.which("python3")
    return program and [program, "-S", "-E", os.path.join(folder, "work.py"), str(rounds)]


def _xz(folder):
    return shutil.which("xz") and [shutil.which("xz"), "-k", "-c", "-1", "-T1", os.path.join(folder, "words.txt")]


def _sqlite3(_):
    return shutil.which("sqlite3") and [shutil.which("sqlite3"), ":memory:", SQL]


def _cc1(folder):
    if not shutil.which("gcc"):
        return None
    path = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, timeout=20, check=False).stdout.strip()
    return os.path.isabs(path) and [path, "-quiet", "-O2", os.path.join(folder, "source.c"), "-o", "/dev/null"]


PROGRAMS = {"python3": lambda folder: _python(folder, 20), "xz": _xz, "sqlite3": _sqlite3, "cc1": _cc1}
SHORT = {"python3 (short)": lambda folder: _python(folder, 4)}


def write_inputs(folder):
    for name, text in _texts().items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as f:
            f.write(text)


def command_of(name, folder):
    """Returns the command line of a program. Raises Left if the program is not installed."""
    command = {**PROGRAMS, **SHORT}[name](folder)
    if not command:
        raise Left(f"{name} is not installed")
    return command


def qemu():
    """Returns the path of the QEMU that records and that runs alone. Raises Left if there is none."""
    path = os.environ.get("PTCAP_QEMU") or shutil.which("qemu-x86_64")
    if not path:
        raise Left("qemu-x86_64 is not installed, or set PTCAP_QEMU")
    return path


def qemu_version():
    """Returns the version of qemu(), for example "7.2"."""
    text = subprocess.run([qemu(), "--version"], capture_output=True, text=True, timeout=20, check=False).stdout
    found = re.search(r"version (\d+\.\d+)", text)
    if not found:
        raise Left(f"{qemu()} prints no version")
    return found[1]


def emulated(ptcap, command, output):
    """Returns the command line and the environment to record with the emulated source."""
    return [ptcap, "record", "--source", "emu", "-o", output, "--", *command], {**os.environ, "PTCAP_QEMU": qemu()}


def _key(command, folder):
    """Returns a name for this command line and the inputs of all programs."""
    words = [w.replace(folder, "") for w in command]
    return hashlib.sha256(json.dumps([words, _texts()]).encode()).hexdigest()[:8]


def describe(ptcap, name, path, clock):
    """Returns the Recording of a file."""
    text = run([ptcap, "info", "-i", path], clock, keep=True).text
    size = re.search(r"^trace\s+(\d+) bytes", text, re.M)
    if not size:
        raise Left(f"'{path}' has no trace")
    return Recording(name, path, int(size[1]))


def make(ptcap, name, folder, kept, clock):
    """Records a program, or finds its recording in the folder @kept. Returns the Recording and whether it is new."""
    command = command_of(name, folder)
    path = os.path.join(kept or folder, f"{name.split()[0]}-{_key(command, folder)}.data")
    new = not os.path.exists(path)
    if new:
        made = os.path.join(folder, "new.data")
        line, env = emulated(ptcap, command, made)
        run(line, clock, env)
        shutil.move(made, path)
    return describe(ptcap, name, path, clock), new
