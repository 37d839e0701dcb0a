# SPDX-License-Identifier: MIT
"""Lists what `scripts/test NAME...` needs: pick.py BUILD NAME...

NAME is a test's name, a shell pattern of names, or PROGRAM:SUITE for a suite of a unit test
program. Prints lines: `target T` for each build target that the tests need, `tests REGEX` for
ctest, `suite PROGRAM SUITE` for suites.
"""
import fnmatch
import json
import os
import re
import subprocess
import sys


def known_tests(build):
    out = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], text=True, capture_output=True, check=True)
    return {t["name"]: t for t in json.loads(out.stdout)["tests"]}


def outputs(build):
    """Return every file that the build makes."""
    out = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], text=True, capture_output=True, check=True)
    return {line.rsplit(":", 1)[0] for line in out.stdout.splitlines()}


def words_of(test):
    """Yield the words of a test's command and of its environment."""
    yield from test.get("command", [])
    for p in test["properties"]:
        if p["name"] == "ENVIRONMENT":
            for setting in p["value"]:
                yield setting.split("=", 1)[-1]


def needed(test, build, made):
    """Return the build targets of the files that a test names; `all` for a test that names the
    build folder itself."""
    ret = set()
    for word in words_of(test):
        if word == build:
            return {"all"}
        if not word.startswith(build + os.sep):  # "clean" is a test case, and also a target of ninja
            continue
        path = os.path.relpath(word, build)
        if path in made:
            ret.add(path)
        else:
            ret |= {name for name in made if name.startswith(path + os.sep)}
            if path == "store":
                ret.add("recorder_id")
    return ret


def program_of(name, test, build):
    """Return the file of the unit test program that the test runs. Its options come behind it."""
    words = test.get("command", [])
    return next((w for w in reversed(words) if os.path.basename(w) == name), os.path.join(build, "tests", name))


def main():
    build, names = os.path.realpath(sys.argv[1]), sys.argv[2:]
    tests, made = known_tests(build), outputs(build)
    targets, chosen, suites = set(), [], []
    for name in names:
        program, _, suite = name.partition(":")
        found = fnmatch.filter(tests, program)
        if not found:
            near = [t for t in tests if program.strip("*") in t]
            sys.exit(f"no test is called '{name}'" + (f"; did you mean {', '.join(near[:5])}?" if near else "; ctest -N lists them"))
        for each in found:
            targets |= needed(tests[each], build, made)
            if suite:
                suites.append((program_of(each, tests[each], build), suite))
            else:
                chosen.append(each)
    for t in sorted(targets):
        print("target", t)
    if chosen:
        print("tests", "^(" + "|".join(map(re.escape, chosen)) + ")$")
    for program, suite in suites:
        print("suite", program, suite)


main()
