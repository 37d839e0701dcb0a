#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`ptcap dump` of real recordings: the known number of records and features of each kind."""

import collections
import json
import os
import subprocess
import sys

PTCAP = os.environ["PTCAP"]
TRACES = os.environ["PTCAP_TRACES"]

# The counts of a type are complete; of types that are not listed nothing is known.
KNOWN = {
    "quipper-intel_pt-4.14/perf.data.intel_pt-4.14": {
        "whole": True,
        "records": {"MMAP": 56, "MMAP2": 10, "COMM": 3, "EXIT": 1, "SAMPLE": 15, "AUX": 10, "ITRACE_START": 2,
                    "SWITCH_CPU_WIDE": 152, "FINISHED_ROUND": 4, "AUXTRACE_INFO": 1, "TIME_CONV": 1, "AUXTRACE": 2},
        "features": 15,
        "auxtrace": [(0, 12240), (3, 137728)],
        "index": [(10688, 48), (30600, 48)],
    },
    "quipper-piped.intel_pt-4.14/perf.data.piped.intel_pt-4.14": {
        "whole": False,
        "records": {"HEADER_ATTR": 4, "HEADER_FEATURE": 12, "SWITCH_CPU_WIDE": 552, "AUX": 8, "SAMPLE": 11, "AUXTRACE": 2},
        "features": 12,
        "auxtrace": [(None, 76400), (None, 68192)],
        "index": None,
    },
}  # fmt: skip


def lines(path, *options):
    r = subprocess.run([PTCAP, "dump", "--format", "json", "-i", path, *options], capture_output=True, text=True, check=False)
    if r.returncode or r.stderr:
        sys.exit(f"ptcap dump {path}: exit code {r.returncode}, {r.stderr}")
    return [json.loads(line) for line in r.stdout.splitlines()]


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got}, not {want}")


def look(name, known):
    path = os.path.join(TRACES, name)
    found = lines(path)
    records = [o for o in found if o["type"] == "record"]
    counts = collections.Counter(o["name"] for o in records)
    same(f"{name}: records", {n: counts[n] for n in known["records"]}, known["records"])
    if known["whole"]:
        same(f"{name}: all records", len(records), sum(known["records"].values()))
    same(f"{name}: of unknown type", found[-1]["unknown"], 0)
    same(f"{name}: damaged", [o for o in records if o["damaged"]], [])
    features = {o["name"]: o["fields"] for o in found if o["type"] == "feature"}
    same(f"{name}: features", len(features), known["features"])
    pieces = [(o["fields"]["cpu"], int(o["fields"]["size"], 16)) for o in records if o["name"] == "AUXTRACE"]
    for (cpu, size), (want_cpu, want_size) in zip(pieces, known["auxtrace"]):
        same(f"{name}: bytes of trace", size, want_size)
        same(f"{name}: its cpu", cpu if want_cpu is not None else None, want_cpu)
    if known["index"]:
        listed = [(int(p["offset"], 16) if isinstance(p["offset"], str) else p["offset"], p["size"]) for p in features["AUXTRACE"]["pieces"]]
        same(f"{name}: index", listed, known["index"])
    same(f"{name}: --verify", lines(path, "--verify")[-1]["findings"], 0)


if not all(os.path.isfile(os.path.join(TRACES, name)) for name in KNOWN):
    print(f"skipped: no traces in {TRACES}")
    sys.exit(77)
for file, what in KNOWN.items():
    look(file, what)
