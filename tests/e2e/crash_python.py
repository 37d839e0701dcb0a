#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""crash_python.py NAME: the Python frames in the output of `ptcap crash show` and `ptcap stacks`, compared with the frames
that Python's faulthandler prints when the same program crashes."""

import json
import os
import re
import shutil
import signal
import sys
import sysconfig

import lib
import stacks
from compile import built
from lib import PTCAP, Run, check

STATE = ["-e", "dummy:u"]  # no trace, only the state
EMU = ["--source", "emu"]
KNOWN = ("3.11", "3.12", "3.13")

SCRIPT = """import os
import sys


def die():
    if sys.argv[1] == "abort":
        os.abort()
    if sys.argv[1] == "extension":
        import crashing

        crashing.call(lambda: sorted([1, 2], key=lambda _: crashing.die()))
    import ctypes

    return ctypes.string_at(0)


class Shop:
    def open(self, n):
        # Lines without code
        if n:
            return self.open(n - 1)
        return [
            (lambda: die())()
            for _ in (1, 2)
        ]


def numbers():
    yield 1
    yield Shop().open(int(sys.argv[2]))


def main():
    total = 0
    for n in numbers():
        total += n
    return total


if __name__ == "__main__":
    main()
"""

EXTENSION = """#include <Python.h>
static PyObject *call(PyObject *self, PyObject *function)
{
	return self ? PyObject_CallNoArgs(function) : NULL;
}
static PyObject *die(PyObject *self, PyObject *args)
{
	*(volatile int *)8 = 1;
	return self == args ? self : args;
}
static PyMethodDef methods[] = { { "die", die, METH_NOARGS, "" }, { "call", call, METH_O, "" }, { 0, 0, 0, 0 } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "crashing", "", -1, methods, 0, 0, 0, 0 };
PyMODINIT_FUNC PyInit_crashing(void);
PyMODINIT_FUNC PyInit_crashing(void)
{
	return PyModule_Create(&def);
}
"""

UNICODE = """import ctypes


def grüße():
    ctypes.string_at(0)


def 価格():
    grüße()


価格()
"""

# Changes the link to the caller's frame, and dies.
DAMAGED = """import ctypes
import sys


def word(addr):
    return ctypes.c_uint64.from_address(addr)


def damage(where):
    frame = word(id(sys._getframe()) + 24).value
    previous = 48 if sys.version_info < (3, 12) else 8
    word(frame + previous).value = frame if where == "self" else int(where, 0)
    ctypes.string_at(0)


damage(sys.argv[1])
"""

LIVE = """import faulthandler
import json
import os
import signal
import sys
import threading

sys.setrecursionlimit(6000)
lock = threading.Lock()
lock.acquire()


def left():
    with lock:
        pass


def right():
    with lock:
        pass


class Wörter:
    def 待つ(self):
        with lock:
            pass


def waits():
    yield 1
    with lock:
        yield 2


def generator():
    for _ in waits():
        pass


def sort():
    sorted([1, 2], key=lambda _: left() or 0)


def deep(n=5000):
    if n:
        return deep(n - 1)
    with lock:
        pass


threads = [threading.Thread(target=f) for f in (left, left, right, Wörter().待つ, generator, sort, deep)]
for t in threads:
    t.start()
faulthandler.register(signal.SIGUSR1, file=sys.stdout, all_threads=True)
print("ready", flush=True)
print(json.dumps([[t.native_id, t.ident] for t in threads]), flush=True)
os.read(0, 1)
lock.release()
for t in threads:
    t.join()
"""

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def pythons():
    """Return one interpreter of this machine for each version whose frames are known."""
    ret = {}
    for name in ("/usr/bin/python3", sys.executable, *("python" + v for v in KNOWN)):
        path = shutil.which(name)
        if not path:
            continue
        r = Run([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"])
        version, _, executable = r.out.strip().partition(" ")
        if r.status == 0 and version in KNOWN:
            ret.setdefault(version, executable)
    if not ret:
        lib.skip("no Python with known frames")
    return list(ret.values())


def need_events():
    if not lib.has_events():
        lib.skip("no events")


def written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def printed(argv):
    """Return (file, line, function) of each frame that faulthandler prints."""
    err = Run([argv[0], "-X", "faulthandler", *argv[1:]]).err
    ret = re.findall(r'^  File "(.*)", line (\d+) in (.*)$', err.split("Extension modules:")[0], re.M)
    check(ret, f"faulthandler printed {err!r}")
    return [(file, int(line), function) for file, line, function in ret]


def recorded(folder, argv, options, more=()):
    path = os.path.join(folder, "f")
    r = Run([PTCAP, "crash", "-q", *options, *more, "-o", path, "--", *argv])
    check(r.status > 128, f"{argv}: exit status {r.status}, {r.err}")
    return path


def shown(path, *options):
    return json.loads(Run([PTCAP, "crash", "show", "-i", path, "--format", "json", *options]).expect(0).out)


def frames_of(said):
    """Return the frames as faulthandler names them: functions without classes."""
    return [(f["file"], f["line"], f["function"].split(".")[-1]) for f in said["python_frames"]]


def compare(folder, argv, options=None):
    want = printed(argv)
    path = recorded(folder, argv, options or STATE)
    said = shown(path)
    got = frames_of(said)
    check(got == want and "python_cut" not in said, f"{argv} {options}:\n{got}\ninstead of\n{want}")
    return path, said


@case
def frames(folder):
    """A fault in a library, and abort(): frames of methods, lambdas, generators and recursions."""
    need_events()
    script = written(folder, "shop.py", SCRIPT)
    for python in pythons():
        for mode in ("fault", "abort"):
            path, said = compare(folder, [python, script, mode, "2"])
            names = [f["function"] for f in said["python_frames"]]
            check("Shop.open" in names and names[-2:] == ["main", "<module>"], f"{python}: {names}")
            text = Run([PTCAP, "crash", "show", "-v", "--full-names", "-i", path]).expect(0).out
            section = text.split("\npython: from memory\n")[1].split("\n\n")[0].splitlines()
            check(len(section) == len(names), f"{section}")
            for n, (line, f) in enumerate(zip(section, said["python_frames"])):
                check(line == f" {n:3} {f['function']} at {f['file']}:{f['line']}", f"{line!r} instead of {f}")
        # The first line of the screen is the same, and the last lines tell of more.
        text = Run([PTCAP, "crash", "show", "-i", path]).expect(0).out
        check(f" {0:3} die at shop.py:" in text and re.search(r"\.\.\. \d+ more \.\.\.", text), text)


@case
def emulated(folder):
    """Frames of an emulated program: its memory is in the process of QEMU."""
    script = written(folder, "shop.py", SCRIPT)
    compare(folder, ["/usr/bin/python3", "-I", "-S", script, "abort", "1"], EMU)


@case
def extension(folder):
    """A fault in a C extension of the interpreter, with other C functions between Python's functions."""
    need_events()
    python = sys.executable
    include = sysconfig.get_paths()["include"]
    if "%d.%d" % sys.version_info[:2] not in KNOWN or not os.path.exists(os.path.join(include, "Python.h")):
        lib.skip("no headers of Python")
    source = written(folder, "crashing.c", EXTENSION)
    library = built(folder, ["gcc", "-g", "-O1", "-fPIC", "-shared", "-I" + include, source], "crashing.so")
    check(library, "the extension cannot be compiled")
    shutil.move(library, os.path.join(folder, "crashing.so"))
    script = written(folder, "shop.py", SCRIPT)
    _, said = compare(folder, [python, script, "extension", "0"])
    check(said["fault"]["function"] == "die", f"{said['fault']}")
    names = [f["function"] for f in said["python_frames"]][:3]
    check(names == ["die.<locals>.<lambda>.<locals>.<lambda>", "die.<locals>.<lambda>", "die"], f"{names}")


@case
def names(folder):
    """Names that are not ASCII."""
    need_events()
    script = written(folder, "names.py", UNICODE)
    for python in pythons():
        said = shown(recorded(folder, [python, script], STATE))
        got = [f["function"] for f in said["python_frames"]]
        check(got == ["string_at", "grüße", "価格", "<module>"], f"{python}: {got}")


@case
def limits(folder):
    """A deep recursion is cut; a thread is shown, not its process; other programs have no frames."""
    need_events()
    deep = written(folder, "deep.py", SCRIPT)
    thread = written(folder, "thread.py", "import ctypes, threading\ndef run():\n    ctypes.string_at(0)\nt = threading.Thread(target=run)\nt.start()\nt.join()\n")
    for python in pythons():
        said = shown(recorded(folder, [python, deep, "fault", "900"], STATE))
        check(len(said["python_frames"]) == 256 and said["python_cut"], f"{python}: {len(said['python_frames'])}")
        check("... at least 248 more ..." in Run([PTCAP, "crash", "show", "-i", os.path.join(folder, "f")]).expect(0).out, "more frames")
        said = shown(recorded(folder, [python, thread], STATE))
        names_of_thread = [f["function"] for f in said["python_frames"]]
        check(names_of_thread[:2] == ["string_at", "run"] and "<module>" not in names_of_thread, f"{python}: {names_of_thread}")
    said = shown(recorded(folder, [lib.prog("crash_static"), "null"], STATE))
    check(said["python_frames"] == [], f"{said['python_frames']}")


@case
def damaged(folder):
    """A chain of frames that is a circle, or that leads to nowhere, is cut."""
    need_events()
    script = written(folder, "damaged.py", DAMAGED)
    for python in pythons():
        for where in ("self", "0xdead0000", "0x1122334455667788", "3"):
            said = shown(recorded(folder, [python, script, where], STATE))
            got = [f["function"] for f in said["python_frames"]]
            check(got[:2] == ["string_at", "damage"] and set(got[2:]) <= {"damage"} and len(got) < 8, f"{python} {where}: {got}")
            check(said["python_cut"], f"{python} {where}: {got}")


def threads_of(lines):
    """Return {pthread_self(): frames} that faulthandler printed, and the number of the main thread."""
    ret, main = {}, None
    for line in lines:
        if m := re.match(r"(?:Current thread|Thread) (0x[0-9a-f]+)", line):
            main = int(m[1], 16)
            frames_of_one = ret[main] = []
        elif m := re.match(r'  File "(.*)", line (\d+) in (.*)$', line):
            frames_of_one.append((m[1], int(m[2]), m[3]))
    return ret, main


def look_at_threads(p, python):
    """Compare the threads that `ptcap stacks` shows with those that faulthandler prints."""
    idents = {int(tid): int(ident) for tid, ident in json.loads(p.p.stdout.readline())}
    p.settle()
    os.kill(p.pid, signal.SIGUSR1)
    lines = []
    while not lines or not lines[-1].endswith(" in <module>"):  # the main thread is the last one
        lines.append(p.p.stdout.readline().decode().rstrip("\n"))
    want, main = threads_of(lines)
    p.settle()
    [process] = json.loads(Run([PTCAP, "stacks", "--format", "json", "-n", "4096", "-p", str(p.pid)]).expect(0).out)["processes"]
    check({t["tid"] for t in process["threads"]} == {p.pid, *idents}, f"{python}: {idents}")
    for t in process["threads"]:
        got = [(file, line, name.encode("ascii", "backslashreplace").decode()) for file, line, name in frames_of(t)]
        theirs = want[idents.get(t["tid"], main)]
        if theirs[0][2] == "deep":  # faulthandler prints 100 frames
            check(t["python_cut"] and len(got) == 256 and got[:100] == theirs, f"{python}: {got[:3]} instead of {theirs[:3]}")
        else:
            check(got == theirs and "python_cut" not in t, f"{python}: {got} instead of {theirs}")
    text = Run([PTCAP, "stacks", "-n", "2", "-p", str(p.pid)]).expect(0).out
    # The twins are shown once, if the C library lets both wait for one object; sort calls left, too.
    twins = [t["wait"]["address"] for t in process["threads"] if [f["function"] for f in t["python_frames"]][:2] == ["left", "Thread.run"]]
    check(len(twins) == 2 and text.count("python:\n   0 left  live.py:") == len(set(twins)) + 1, text)
    check(text.count("python:\n   0 right  live.py:") == 1 and text.count("... at least 254 more ...") == 1, text)


@case
def live(folder):
    """The threads of a running process, as faulthandler prints them."""
    if not lib.has_ptrace():
        lib.skip("no ptrace of what is not a child")
    script = written(folder, "live.py", LIVE)
    for python in pythons():
        p = stacks.Program(argv=[python, script])
        look_at_threads(p, python)
        p.ends()


@case
def memory(folder):
    """--no-memory keeps no frames, --redact keeps them, and a core has them."""
    need_events()
    script = written(folder, "shop.py", SCRIPT)
    argv = [pythons()[0], script, "fault", "1"]
    path, said = compare(folder, argv)
    redacted = os.path.join(folder, "redacted")
    Run([PTCAP, "convert", "-i", path, "-o", redacted, "--redact"]).expect(0)
    check(shown(redacted)["python_frames"] == said["python_frames"], "redacted, the frames are others")
    bare = shown(recorded(folder, argv, STATE, ["--no-memory"]))
    check(bare["python_frames"] == [], f"{bare['python_frames']}")
    recording = os.path.join(folder, "recording")
    core = lib.core_of(folder, [PTCAP, "record", "-q", *STATE, "-o", recording, "--", *argv])
    got = shown(recording, "--core", core)
    check(got["state_of_core"] and frames_of(got) == frames_of(said), f"{got['python_frames']}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
