#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same_output.py [-j LIST] [-d COUNT] [-s SEED] OLD NEW PLACE...: two builds of ptcap give the same output.

OLD and NEW are the two programs. PLACE is a recording, or a folder whose recordings are all read.
Every output form of NEW, with each number of threads in LIST (default: 1,2:1,4), is compared with
OLD and one thread: exit status, output and messages. -d: also COUNT damaged copies of the
recordings that are smaller than 1 MiB, as JSON. Differences are printed; status 1 if there is any.
For a change that must not change the output: OLD is a build of the commit before it."""

import argparse
import hashlib
import os
import random
import subprocess
import sys
import tempfile

DECODE = (
    [],
    ["--format=json"],
    ["--format=bin", "--events"],
    ["--format=bin", "--icount"],
    ["-F", "pid,tid,cpu,time,from,to,kind,sym,tosym,srcline"],
    ["--calls"],
    ["--calls", "--inline"],
    ["--calls", "--fold"],
    ["--insn"],
    ["--counts=edges", "--format=json"],
    ["--counts=blocks"],
    ["--counts=calls"],
    ["--format=bin", "--last=100"],
    ["--format=json", "--time=20%-60%"],
    ["--engine=libipt", "--format=json"],
    ["--engine=verify", "--format=bin"],
)
OTHERS = (
    ["info", "--format=json"],
    ["info"],
    ["dump", "--format=json"],
    ["dump", "--verify", "--format=json"],
    ["report", "--format=json"],
    ["compare", "--format=json"],
    ["crash", "show", "--format=json"],
    ["crash", "show"],
)
DAMAGED = (["--format=json"], ["--engine=libipt", "--format=json"])
SMALL = 1 << 20


def is_recording(path):
    with open(path, "rb") as f:
        return f.read(8) == b"PERFILE2"


def recordings(places):
    for place in places:
        if os.path.isfile(place):
            yield place
        for folder, _, names in sorted(os.walk(place)):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if os.path.isfile(path) and is_recording(path):
                    yield path


def run(ptcap, argv):
    """Return the status, the messages, and the hash and size of the output."""
    with subprocess.Popen([ptcap, *argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        hashed, size = hashlib.md5(), 0
        with tempfile.TemporaryFile() as messages:
            while block := p.stdout.read(1 << 20):
                hashed.update(block)
                size += len(block)
            messages.write(p.stderr.read())
            messages.seek(0)
            # How much the second engine decodes is not part of the output.
            lines = [line for line in messages.read().splitlines() if b"the engines agree" not in line]
            return (p.wait(), hashed.hexdigest(), lines), size


class Comparison:
    def __init__(self, args):
        self.args = args
        self.jobs = args.jobs.split(",")
        self.outputs = self.bytes = self.different = 0

    def compare(self, path, form, jobs=None):
        """Compare one form. `jobs`: of NEW; None: the command has no threads."""
        at = ["-i", path]
        want, size = run(self.args.old, [*form, *at, *(["-j", "1"] if jobs else [])])
        for n in jobs or [None]:
            got, _ = run(self.args.new, [*form, *at, *(["-j", n] if n else [])])
            self.outputs += 1
            self.bytes += size
            if got != want:
                self.different += 1
                print(f"different: {' '.join([*form, *at])}{' -j ' + n if n else ''}: {want[0]} {got[0]} {got[2][:3]!r}", flush=True)

    def compare_damaged(self, paths):
        paths = [path for path in paths if os.path.getsize(path) < SMALL]
        chance = random.Random(self.args.seed)
        with tempfile.TemporaryDirectory(prefix="ptcap-same-") as folder:
            copy = os.path.join(folder, "perf.data")
            for _ in range(self.args.damaged if paths else 0):
                with open(chance.choice(paths), "rb") as f:
                    data = bytearray(f.read())
                for _ in range(chance.choice((1, 1, 4))):
                    at = chance.randrange(len(data))
                    data[at] ^= 1 << chance.randrange(8)
                with open(copy, "wb") as f:
                    f.write(data)
                for form in DAMAGED:
                    self.compare(copy, ["decode", *form], self.jobs)


def main():
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("-j", dest="jobs", default="1,2:1,4")
    ap.add_argument("-d", dest="damaged", type=int, default=0)
    ap.add_argument("-s", dest="seed", type=int, default=1)
    ap.add_argument("old")
    ap.add_argument("new")
    ap.add_argument("places", nargs="+")
    c = Comparison(ap.parse_args())
    paths = list(recordings(c.args.places))
    for path in paths:
        for form in DECODE:
            c.compare(path, ["decode", *form], c.jobs)
        for form in OTHERS:
            c.compare(path, form)
    c.compare_damaged(paths)
    print(f"{len(paths)} recordings, {c.args.damaged} damaged: {c.outputs} outputs, {c.bytes} bytes, {c.different} different")
    sys.exit(c.different > 0)


main()
