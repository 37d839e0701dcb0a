# SPDX-License-Identifier: MIT
"""clang-tidy is silent about everything that is compiled. Slow: `ctest -C Tidy -L tidy` runs it.

usage: tidy.py SOURCE_DIR BUILD_DIR
"""
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

from common import finish, prove

JOBS = 2


# In tests, long functions that macros made, the analyser does not follow calls.
SHALLOW = ["--extra-arg=-Xclang", "--extra-arg=-analyzer-config", "--extra-arg=-Xclang", "--extra-arg=mode=shallow"]
# Nor does it look at unit tests: they run under ASan and UBSan, and it takes four times as long as all other checks.
NO_ANALYSER = ["--checks=-clang-analyzer-*"]


def depth(path, tests):
    if path.startswith(os.path.join(tests, "unit") + os.sep):
        return NO_ANALYSER
    return SHALLOW if path.startswith(tests) else []


def tidy(path, args):
    run = subprocess.run(["clang-tidy", "--quiet", "--config-file=" + CONFIG, path] + args,
                         text=True, capture_output=True, check=False)
    return (run.stdout + run.stderr) if run.returncode or "error:" in run.stdout else ""


def planted(root):
    """For the self-test: the files of a tree, without a compilation database."""
    out = []
    for name in sorted(os.listdir(os.path.join(root, "base"))):
        said = tidy(os.path.join(root, "base", name), ["--", "-std=c17"])
        if said:
            out.append(f"base/{name}: {said}")
    return out


def compiled(root, build):
    """How each file of ours is compiled: once, by the first target that does, which is the product's."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        entries = json.load(f)
    out = {}
    for e in entries:
        path = os.path.join(e["directory"], e["file"])
        # tests/support/prog_*: programs to be recorded, which fault and jump as no good program does.
        if (path.startswith(root + os.sep) and not path.startswith(build + os.sep) and path.endswith(".c")
                and not os.path.basename(path).startswith("prog_")):
            out.setdefault(path, e)
    return out


CONFIG = os.path.join(sys.argv[1], ".clang-tidy")
if not shutil.which("clang-tidy"):
    print("clang-tidy is not installed")
    sys.exit(77)
prove(planted, {"base/a.c": "int f(int a);\n\nint f(int a)\n{\n\treturn a + 1;\n}\n"},
      [("base/bad.c", "int f(int *p);\n\nint f(int *p)\n{\n\tif (p)\n\t\treturn 0;\n\treturn *p;\n}\n")])
root_dir, build_dir = (os.path.realpath(p) for p in sys.argv[1:3])
todo = compiled(root_dir, build_dir)
tests = os.path.join(root_dir, "tests") + os.sep
# A database of one command for each file. With two, clang-tidy looks at the file twice in one process: twice the time, and
# the analyser of LLVM 14 forgets what va_start is (llvm-project, issue 40656).
with tempfile.TemporaryDirectory() as database, concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
    with open(os.path.join(database, "compile_commands.json"), "w", encoding="utf-8") as f:
        json.dump(list(todo.values()), f)
    said_of = list(pool.map(lambda p: tidy(p, ["-p", database] + depth(p, tests)), sorted(todo)))
finish([s for s in said_of if s], not todo)
