#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""unchanged.py NOTE INPUT... -- COMMAND...: run COMMAND, unless it passed before with the same inputs.

The file NOTE holds a digest of the inputs of the last run, if that run passed: the contents of each INPUT (a file, or a
folder with all its files), COMMAND, the environment's variables for tests, the kernel, and the distribution's packages.
Use this for tests that take long and depend on nothing else. A test may also depend on timing, like the guest. Its
pass is kept all the same. Each clean clone runs all of these tests.

PTCAP_AGAIN     if this is set, COMMAND runs in any case
"""

import hashlib
import os
import subprocess
import sys

VARIABLES = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "FULL", "MUTATE", "TMPDIR")
# Variables of scripts/test that change no result: PTCAP_GUEST=required only turns a skipped test into a failed one.
IGNORED = ("PTCAP_AGAIN", "PTCAP_DEBIAN13", "PTCAP_FUZZ_SECONDS", "PTCAP_GUEST", "PTCAP_JOBS")
PACKAGES = "/var/lib/dpkg/status"


def files_below(path):
    if not os.path.isdir(path):
        return [path]
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names
                  if not name.endswith(".pyc"))


def digest_of(inputs, command):
    """None if an input cannot be read: then a change could not be detected."""
    key = hashlib.sha256(repr((command, os.uname().release, os.uname().machine)).encode())
    for name in sorted(os.environ):
        if name in VARIABLES or (name.startswith("PTCAP_") and name not in IGNORED):
            key.update(f"{name}={os.environ[name]}\0".encode())
    try:
        for path in [__file__, PACKAGES, *inputs]:
            for each in files_below(path):
                with open(each, "rb") as f:
                    key.update(each.encode() + b"\0" + hashlib.sha256(f.read()).digest())
    except OSError:
        return None
    return key.hexdigest()


def noted(note):
    try:
        with open(note, encoding="ascii") as f:
            return f.read()
    except OSError:
        return None


def run(command):
    """Return the exit status. Criterion passes a test whose process leaks, so LeakSanitizer's
    report also counts as a failure."""
    leaks = False
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as p:
        for line in p.stdout:
            leaks = leaks or b"ERROR: LeakSanitizer" in line
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
    if p.returncode < 0:
        print(f"killed by signal {-p.returncode}")
        return 1
    return p.returncode or int(leaks)


def main():
    end = sys.argv.index("--")
    note, inputs, command = sys.argv[1], sys.argv[2:end], sys.argv[end + 1:]
    digest = digest_of(inputs, command)
    if digest and noted(note) == digest and "PTCAP_AGAIN" not in os.environ:
        print("It passed before with the same inputs. PTCAP_AGAIN=1 runs it again.")
        return 0
    if os.path.exists(note):
        os.unlink(note)
    status = run(command)
    if status == 0 and digest:
        os.makedirs(os.path.dirname(note), exist_ok=True)
        with open(note, "w", encoding="ascii") as f:
            f.write(digest)
    return status


sys.exit(main())
