#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf_cache.py NAME: `ptcap record --buildid-cache` fills perf's cache of files by build-id.

Each function below is a case. perf itself is the reference.
"""

import os
import shutil
import sys
import tarfile

import lib
from archive import compiled, give_way
from lib import Run, check, prog

CASES = {}
SCRIPT = ["script", "--itrace=b", "-F", "ip,sym,symoff,addr"]


def case(f):
    CASES[f.__name__] = f
    return f


def in_home(folder, name):
    """Return an environment with an empty home folder."""
    home = os.path.join(folder, name)
    os.mkdir(home)
    env = {k: v for k, v in os.environ.items() if k != "PERF_BUILDID_DIR"}
    return {**env, "HOME": home, "DEBUGINFOD_URLS": ""}


def contents(env):
    """Return {name: bytes or target of a link} of the cache below the home folder."""
    top, ret = os.path.join(env["HOME"], ".debug"), {}
    for where, folders, files in os.walk(top):
        for name in folders + files:
            path = os.path.join(where, name)
            if os.path.islink(path):
                ret[os.path.relpath(path, top)] = os.readlink(path)
            elif name in files and name != "probes":  # perf's list of probes, which perf makes again
                with open(path, "rb") as f:
                    ret[os.path.relpath(path, top)] = f.read()
    return ret


def filling(out, argv, env, status=0):
    return lib.record(out, argv, "--buildid-cache", env=env).expect(status)


@case
def filled(folder):
    """The cache is as perf makes it. perf lists, uses and archives the files."""
    if not lib.have_perf():
        lib.skip_without("perf")
    path, out = compiled(folder, "small")
    env, theirs = in_home(folder, "home"), in_home(folder, "theirs")
    r = filling(out, [path], env)
    check(f"'{env['HOME']}/.debug' has 1 file of the recording" in r.err and "lacks" not in r.err, r.err)
    Run([lib.PERF, "buildid-cache", "-a", path], env=theirs).expect(0)
    got, want = contents(env), contents(theirs)
    check(len(got) == 2 and got == want, f"{got.keys()}\nnot\n{want.keys()}")
    before = Run([lib.PERF, *SCRIPT, "-i", out], env=env).expect(0)
    check("triple" in before.out, before.err)
    filling(out, [path], env)
    check(contents(env) == want, "the second recording changed the cache")
    listed = Run([lib.PERF, "buildid-cache", "-l"], env=env).expect(0)
    check(path in listed.out, listed.out)
    want = Run([lib.PERF, *SCRIPT, "-i", out], env=env).expect(0).out
    give_way(path)
    after = Run([lib.PERF, *SCRIPT, "-i", out], env=env)
    check(after.out == want, "perf does not use the cache")
    r = Run([lib.PERF, "archive", out], env=env, cwd=folder)
    if r.status == 0 and os.path.exists(out + ".tar.bz2"):
        with tarfile.open(out + ".tar.bz2") as t:
            check({n for n in t.getnames() if n in got} == set(got), t.getnames())


@case
def lacking(folder):
    """Code that no file has is named. A file that is gone is counted."""
    env, out = in_home(folder, "home"), os.path.join(folder, "perf.data")
    r = lib.record(out, [prog("jitdump"), "10"], "--buildid-cache", cwd=folder, env=env).expect(0)
    line = next(n for n in r.err.splitlines() if "perf archive lacks: " in n)
    check("jitted code" in line, line)
    path, out = compiled(folder, "small")
    r = filling(out, ["/bin/sh", "-c", f"{path}; rm {path}"], env)
    check("1 changed or missing file" in r.err, r.err)
    r = lib.record(out, ["/bin/true"], env=env).expect(0)
    check("perf archive" not in r.err, r.err)


@case
def refused(folder):
    """A link in the cache leads nowhere else. The recording is complete."""
    env, out = in_home(folder, "home"), os.path.join(folder, "perf.data")
    path, _ = compiled(folder, "small")
    first, away = path.split("/")[1], os.path.join(folder, "away")
    os.mkdir(away)
    os.mkdir(os.path.join(env["HOME"], ".debug"))
    os.symlink(away, os.path.join(env["HOME"], ".debug", first))
    r = filling(out, [path], env, 125)
    check("cannot copy" in r.err and not os.listdir(away), r.err)
    check(os.path.getsize(out), "no recording")
    Run([lib.PTCAP, "record", "--buildid-cache", "--snapshot", "--", "true"]).expect(2)
    shutil.rmtree(env["HOME"])
    r = filling(out, [path], {**env, "PERF_BUILDID_DIR": os.path.join(folder, "other")})
    check(os.path.isdir(os.path.join(folder, "other", ".build-id")), r.err)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
