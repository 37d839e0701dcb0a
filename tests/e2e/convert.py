#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ptcap convert and recover: what is written again is the same, for us and for perf.

usage: convert.py CASE
"""

import json
import os
import re
import subprocess
import sys

import lib
from lib import PERF, PTCAP, Run, check, decode, have_perf, prog, record, skip

WORK = ["sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done"]
KILLER = ["sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; kill -9 $PPID"]
EVENT = ["-e", "cpu-clock:u", "-c", "100000"]
# Records that are of one form only, or tell where something is.
FRONT = {"HEADER_ATTR", "HEADER_FEATURE", "HEADER_BUILD_ID", "HEADER_TRACING_DATA"}
FORMS = {
    "same": [],
    "pipe": ["--pipe"],
    "z": ["--compress=3"],
    "plain": ["--decompress"],
    "pipe_z": ["--pipe", "--compress"],
}


def convert(path, out, *options, status=0):
    return Run([PTCAP, "convert", "-i", path, "-o", out, *options]).expect(status)


def dump(path):
    """The records, each without its offset; the events; the features by their bits."""
    d = Run([PTCAP, "dump", "-i", path, "--format", "json"]).expect(0)
    records, attrs, features = [], [], {}
    for line in d.out.splitlines():
        o = json.loads(line)
        kind = o.get("type")
        for key in ("offset", "inner", "file"):
            o.pop(key, None)
        if kind == "event":
            o.pop("name", None)
            attrs.append(o)
        elif kind == "feature":
            features[o["bit"]] = o
        elif kind not in ("file", "end"):
            records.append(o)
    return records, attrs, features


def body(records, drop=()):
    """Without those that tell an event's name, which come with pipe mode."""
    return [r for r in records if r["name"] not in FRONT and r["name"] not in drop
            and not (r["name"] == "EVENT_UPDATE" and "name" in r["fields"])]


def script(path, pipe, *options):
    """What perf script prints. Through a pipe, if it is pipe mode."""
    argv = [PERF, "script", *options, "-i"]
    if not pipe:
        return Run([*argv, path]).out
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        return Run([*argv, "-"], stdin=cat.stdout).out


def same_records(a, b, what, drop=()):
    text = lib.first_difference(body(a, drop), body(b, drop), "before", "after", json.dumps)
    check(not text, f"{what}: {text}")


def perf_record(path, options, work):
    if not have_perf():
        skip("no perf (Debian: linux-perf)")
    argv = [PERF, "record", "-q", *EVENT, *options]
    if "-o" in options:
        with open(path, "wb") as out:
            r = subprocess.run([*argv, "--", *work], stdout=out, stderr=subprocess.PIPE, check=False)
    else:
        r = subprocess.run([*argv, "-o", path, "--", *work], capture_output=True, check=False)
    if r.returncode not in (0, -9) or not os.path.exists(path):
        skip(f"perf cannot record so here: {r.stderr[:200]!r}")
    return r.returncode


def is_pipe(path):
    if os.path.isdir(path):
        return False
    with open(path, "rb") as f:
        return f.read(9)[8:] == b"\x10"


def round_trip(path, folder, perf_says=True):
    """In each form the same records; and what perf says. Back again, the same bytes."""
    records, attrs, features = dump(path)
    drop = {"FINISHED_ROUND"} if os.path.isdir(path) else set()
    want = script(path, is_pipe(path)) if perf_says else None
    out = os.path.join(folder, "out")
    for form, options in FORMS.items():
        to_pipe = "--pipe" in options
        convert(path, out, *options)
        r, a, feats = dump(out)
        same_records(records, r, form, drop)
        check(a == attrs, f"{form}: other events: {a} instead of {attrs}")
        made = {18, 24, 27} | ({15} if to_pipe else set())
        for bit in set(features) | set(feats):
            check(bit in made or feats.get(bit) == features.get(bit),
                  f"{form}: feature {bit}: {features.get(bit)}, then {feats.get(bit)}")
        check(os.path.isdir(path) or form != "same" or (18 in feats) == (18 in features or has_trace(records)),
              "AUXTRACE feature")
        if perf_says:
            got = script(out, to_pipe)
            text = lib.first_difference(want.splitlines(), got.splitlines(), "before", "after")
            check(not text, f"{form}: perf script: {text}")
        again = os.path.join(folder, "again")
        convert(out, again, *options)
        with open(out, "rb") as x, open(again, "rb") as y:
            check(x.read() == y.read(), f"{form}: written once more it is another file")
    with open(out, "rb") as f:
        piped = subprocess.run([PTCAP, "convert", "-i", "-", "-o", "-", "--decompress"], stdin=f,
                               stdout=subprocess.PIPE, check=True)
    convert(out, again, "--pipe", "--decompress")
    with open(again, "rb") as f:
        check(piped.stdout == f.read(), "standard output has another file")


def has_trace(records):
    return any(r["name"] == "AUXTRACE" for r in records)


def perf_form(options):
    def case(folder):
        path = os.path.join(folder, "x")
        perf_record(path, options, WORK)
        round_trip(path, folder)
    return case


def quipper(name):
    def case(folder):
        path = os.path.join(os.environ["PTCAP_TRACES"], "quipper-" + name)
        if not os.path.exists(path):
            skip("no traces")
        round_trip(path, folder, False)
    return case


def ours(*options, program=None):
    def case(folder):
        path = os.path.join(folder, "x")
        record(path, program or [prog("recurse")], *options).expect(0)
        round_trip(path, folder, False)
        fields = ("-F", "tid,time,from,to,kind")
        want = decode(path, *fields).expect(0).out
        check(want.count("\n") > 20, "hardly a transfer")
        out = os.path.join(folder, "out")
        for form, opts in FORMS.items():
            convert(path, out, *opts)
            check(decode(out, *fields).expect(0).out == want, f"{form}: decoded otherwise")
            if have_perf():
                check_perf(path, out, "pipe" in form, form)
    return case


def check_perf(path, out, pipe, form):
    # In pipe mode times are not to be relied on, perf says.
    options = ["--itrace=b", "-F", "tid,ip,addr"]
    check(script(out, pipe, *options) == script(path, False, *options), f"{form}: perf decodes otherwise")
    if not pipe:
        check(script(out, False, "--itrace=b", "--ns") == script(path, False, "--itrace=b", "--ns"), f"{form}: perf differs")


CASES = {
    "perf_file": perf_form([]),
    "perf_calls": perf_form(["-g", "--switch-events"]),
    "perf_two": perf_form(["-e", "task-clock:u", "-d"]),
    "perf_z": perf_form(["-z"]),
    "perf_pipe": perf_form(["-o", "-"]),
    "perf_pipe_z": perf_form(["-o", "-", "-z"]),
    "perf_threads": perf_form(["--threads"]),
    "perf_threads_z": perf_form(["--threads", "-z"]),
    "quipper_pt": quipper("intel_pt-4.14/perf.data.intel_pt-4.14"),
    "quipper_pipe": quipper("piped.intel_pt-4.14/perf.data.piped.intel_pt-4.14"),
    "quipper_branch": quipper("branch-stack/perf.data.branch-4.14"),
    "quipper_hw_index": quipper("branch-stack/perf.data.branch_stack_hw_index"),
    "ours": ours(),
    "ours_z": ours("-z"),
}

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
