# SPDX-License-Identifier: MIT
"""clang-tidy reports nothing about all compiled files. Slow: `ctest -C Tidy -L tidy` runs it.

A clean file is checked again only if it, one of its included headers, its command, the
configuration or clang-tidy changes. The user's cache keeps a digest of all of these, without the
path of the clone: all clones share it.

usage: tidy.py SOURCE_DIR BUILD_DIR [OTHER_BUILD]

clang-tidy also reports clang's warnings, so the build in BUILD_DIR need not compile the files.
For a file that BUILD_DIR did not compile, the headers are taken from OTHER_BUILD.
"""
import concurrent.futures
import contextlib
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from common import finish, prove

JOBS = 2


# In tests, which have long functions made by macros, the analyser does not follow calls.
SHALLOW = ["--extra-arg=-Xclang", "--extra-arg=-analyzer-config", "--extra-arg=-Xclang", "--extra-arg=mode=shallow"]
# The analyser skips unit tests: they run under ASan and UBSan, and it takes four times as long as
# all other checks.
NO_ANALYSER = ["--checks=-clang-analyzer-*"]


# In the product it explores at most 8,000 states of a function. Its default of 225,000 takes
# fifteen times as long.
BOUNDED = ["--extra-arg=-Xclang", "--extra-arg=-analyzer-config", "--extra-arg=-Xclang", "--extra-arg=max-nodes=8000"]


def depth(path, tests):
    if path.startswith(os.path.join(tests, "unit") + os.sep):
        return NO_ANALYSER
    return SHALLOW if path.startswith(tests) else BOUNDED


def tidy(path, args):
    run = subprocess.run(["clang-tidy", "--quiet", "--config-file=" + CONFIG, path] + args,
                         text=True, capture_output=True, check=False)
    return (run.stdout + run.stderr) if run.returncode or "error:" in run.stdout else ""


def planted(root):
    """For the self-test: checks the files of a tree without a compilation database."""
    out = []
    for name in sorted(os.listdir(os.path.join(root, "base"))):
        said = tidy(os.path.join(root, "base", name), ["--", "-std=c17"])
        if said:
            out.append(f"base/{name}: {said}")
    return out


def compiled(root, build):
    """Return the compile command of each file of ours: only that of the first target, which is the
    product's."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        entries = json.load(f)
    out = {}
    for e in entries:
        path = os.path.join(e["directory"], e["file"])
        # tests/support/prog_*: programs to be recorded, which fault and jump as no good program
        # does.
        if (path.startswith(root + os.sep) and not path.startswith(build + os.sep) and path.endswith(".c")
                and not os.path.basename(path).startswith("prog_")):
            out.setdefault(path, e)
    return out


def included(build):
    """Return {object: the files that its compilation read, also the system's}, from the build's
    dependency log."""
    run = subprocess.run(["ninja", "-C", build, "-t", "deps"], text=True, capture_output=True, check=False)
    found, files = {}, []
    for line in run.stdout.splitlines():
        if line.startswith(" "):
            files.append(os.path.join(build, line.strip()))
        elif ": #deps" in line:
            files = found.setdefault(line.split(":", 1)[0], [])
    return found


def object_of(entry):
    """Older CMake names the object only in the command."""
    words = shlex.split(entry["command"])
    return entry.get("output") or words[words.index("-o") + 1]


class Cache:
    """A file for each digest of a clean compilation. A file unused for a month is dropped."""

    MONTH = 30 * 86400

    def __init__(self, root, builds):
        self.root, self.known, self.included = root, {}, {}
        user = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        folder = self.folder = os.path.join(user, "ptcap", "tidy")
        for build in reversed(builds):
            self.included |= included(build)
        os.makedirs(folder, exist_ok=True)
        version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
        with open(CONFIG, "rb") as config, open(__file__, "rb") as this:
            self.common = hashlib.sha256(version + config.read() + this.read()).digest()
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with contextlib.suppress(FileNotFoundError):  # another run dropped it
                if time.time() - os.stat(path).st_mtime > self.MONTH:
                    os.unlink(path)

    def digest_of(self, path):
        if path not in self.known:
            with open(path, "rb") as f:
                self.known[path] = hashlib.sha256(f.read()).digest()
        return self.known[path]

    def path(self, entry, args):
        """Return the path of the note that this compilation is clean; None if its includes are
        unknown."""
        names = self.included.get(object_of(entry))
        if not names:
            return None
        what = json.dumps([entry, args], sort_keys=True).replace(self.root, ".")
        key = hashlib.sha256(self.common + what.encode())
        for name in sorted({os.path.normpath(name) for name in names}):
            key.update(os.path.relpath(name, self.root).encode() + b"\0" + self.digest_of(name))
        return os.path.join(self.folder, key.hexdigest())


def cached(cache, entry, path, args, database):
    note = cache.path(entry, args)
    with contextlib.suppress(FileNotFoundError, TypeError):  # TypeError: no note
        os.utime(note)
        return ""
    said = tidy(path, ["-p", database] + args)
    if note and not said:
        with open(note, "w", encoding="ascii"):
            pass
    return said


CONFIG = os.path.join(sys.argv[1], ".clang-tidy")
if not shutil.which("clang-tidy"):
    print("clang-tidy is not installed")
    sys.exit(77)
prove(planted, {"base/a.c": "int f(int a);\n\nint f(int a)\n{\n\treturn a + 1;\n}\n"},
      [("base/bad.c", "int f(int *p);\n\nint f(int *p)\n{\n\tif (p)\n\t\treturn 0;\n\treturn *p;\n}\n")])
root_dir, build_dir = (os.path.realpath(p) for p in sys.argv[1:3])
todo = compiled(root_dir, build_dir)
tests = os.path.join(root_dir, "tests") + os.sep
# A database with one command per file. With two, clang-tidy checks the file twice in one process.
# That takes twice the time, and the analyser of LLVM 14 then mishandles va_start (llvm-project,
# issue 40656).
with tempfile.TemporaryDirectory() as database, concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
    with open(os.path.join(database, "compile_commands.json"), "w", encoding="utf-8") as f:
        json.dump(list(todo.values()), f)
    known = Cache(root_dir, [build_dir] + sys.argv[3:])
    unknown = [p for p in todo if not known.path(todo[p], [])]
    if unknown:
        print(f"no build noted the headers of {len(unknown)} files, such as {unknown[0]}: each run looks at them")
    said_of = list(pool.map(lambda p: cached(known, todo[p], p, depth(p, tests), database), sorted(todo)))
faults = [s for s in said_of if s]
if todo and len(unknown) == len(todo):
    faults.append("no build noted the headers of any file, so no result was kept: build first, or mend object_of()")
finish(faults, not todo)
