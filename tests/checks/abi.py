# SPDX-License-Identifier: MIT
"""scripts/abi finds no change of the library that breaks programs of the last release.

usage: abi.py SOURCE_DIR BUILD_DIR

A small library in a small clone first proves that the script finds such changes, and allows the others.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from common import finish

SOURCE, BUILD = sys.argv[1:3]
SKIP = 77
HEADER = """\
#include <stddef.h>
struct ptc_opts {
	size_t size;%s
	int first;%s
};
struct ptc_item {
	int a;
	%s b;
};
int ptc_one(const struct ptc_opts *opts);
int ptc_two(const struct ptc_item *item);
%s
"""
CODE = """\
#include "ptcap/small.h"
int ptc_one(const struct ptc_opts *opts) { return opts->first; }
#ifndef WITHOUT_TWO
int ptc_two(const struct ptc_item *item) { return (int)item->b; }
#endif
int ptc_three(void) { return 3; }
"""
LISTS = """\
cmake_minimum_required(VERSION 3.25)
project(small C)
add_library(ptcap_shared SHARED small.c)
target_include_directories(ptcap_shared PRIVATE include)
target_compile_options(ptcap_shared PRIVATE -g -fvisibility=default %s)
set_target_properties(ptcap_shared PROPERTIES OUTPUT_NAME ptcap SOVERSION %d)
"""


def write(folder, begin="", more="", kind="int", added="", flags="", so=0):
    for path, text in (("include/ptcap/small.h", HEADER % (begin, more, kind, added)), ("small.c", CODE), ("CMakeLists.txt", LISTS % (flags, so))):
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as f:
            f.write(text)


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=more.pop("check", True), **more)


def git(clone, *words):
    run("git", "-C", clone, "-c", "user.name=x", "-c", "user.email=x@example.org", *words)


def compare(clone, env):
    build = os.path.join(clone, "build")
    run("cmake", "-S", clone, "-B", build, "-G", "Ninja")
    run("cmake", "--build", build)
    return run(os.path.join(SOURCE, "scripts", "abi"), clone, build, check=False, env=env)


def look(folder):
    """Yield what scripts/abi does wrong with the small library."""
    clone, env = os.path.join(folder, "clone"), {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache")}
    write(clone, flags="-DWITHOUT_THREE")
    os.makedirs(os.path.join(clone, "cmake"))
    shutil.copy(os.path.join(SOURCE, "cmake", "libptcap.abignore"), os.path.join(clone, "cmake"))
    git(clone, "init", "-q")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "first")
    got = compare(clone, env)
    if got.returncode != SKIP or "no tag" not in got.stdout:
        yield f"without a tag: {got}"
    git(clone, "tag", "v1.2.3")
    git(clone, "tag", "nightly")
    for what, change, status, text in [
        ("no change", {}, 0, "still work"),
        ("an added function", {"added": "int ptc_three(void);"}, 0, "still work"),
        ("a member at the end of options", {"more": "\n\tint second;"}, 0, "still work"),
        ("a removed function", {"flags": "-DWITHOUT_TWO"}, 1, "ptc_two"),
        ("a changed structure", {"kind": "long long"}, 1, "ptc_item"),
        ("a member in the middle of options", {"begin": "\n\tlong second;"}, 1, "ptc_opts"),
        ("another SONAME", {"kind": "long long", "so": 1}, SKIP, "SONAME"),
    ]:
        write(clone, **change)
        got = compare(clone, env)
        if got.returncode != status or text not in got.stdout:
            yield f"{what}: expected status {status} and '{text}': {got}"


def without_size():
    """Yield each structure that cmake/libptcap.abignore lets grow, but that does not begin with its size."""
    with open(os.path.join(SOURCE, "cmake", "libptcap.abignore"), encoding="utf-8") as f:
        text = f.read()
    wanted = re.search(r"^  name_regexp = (.*)$", text, re.M)[1]
    for path in glob.glob(os.path.join(SOURCE, "include", "ptcap", "*.h")):
        with open(path, encoding="utf-8") as f:
            for name, member in re.findall(r"^struct (\w+) \{\n\s*(.*)$", f.read(), re.M):
                if re.search(wanted, name) and not member.startswith("size_t size;"):
                    yield f"{path}: struct {name} does not begin with its size, as cmake/libptcap.abignore expects"


if not shutil.which("abidiff"):
    print("skipped: no abidiff here (Debian: abigail-tools)")
    sys.exit(1 if os.environ.get("PTCAP_GUEST") == "required" else SKIP)  # scripts/test --all installs it
if shutil.which("git"):
    with tempfile.TemporaryDirectory(prefix="ptcap-abi-") as main_folder:
        faults = [*look(main_folder), *without_size()]
    if faults:
        finish(faults)
sys.exit(subprocess.run([os.path.join(SOURCE, "scripts", "abi"), SOURCE, BUILD], check=False).returncode)
