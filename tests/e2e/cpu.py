#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""info and compare show the CPU's model and microcode, and name the software that made the trace.

usage: cpu.py CASE
"""

import json
import os
import re
import struct

import lib
from lib import PTCAP, SOURCE, Run, check, have_perf, prog
from store import fetch

SMALL = [prog("libc_static")]
LEDGER = b"ptcapLED"
NAME = 64  # bytes of the name in a record of the ledger
PROCESSORS = 5
HERE = os.path.dirname(os.path.abspath(__file__))
OLD = os.path.join(HERE, "..", "..", "traces", "lbr.data")  # from before the ledger had processors


def machine():
    """Return the model and the different microcodes in /proc/cpuinfo."""
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        text = f.read()
    codes = list(dict.fromkeys(re.findall(r"^microcode\s*: (0x[0-9a-f]+)$", text, re.M)))
    return re.search(r"^model name\s*: (.*)$", text, re.M)[1], codes


def info(path):
    return json.loads(Run([PTCAP, "info", "--format", "json", path]).expect(0).out)


def compare(path):
    return json.loads(Run([PTCAP, "compare", "--format", "json", path]).expect(0).out)


def recorded(work):
    path = os.path.join(work, "lbr")
    fetch(path, SMALL, "--lbr", "-c", "50")
    return path


def check_texts(path, model, microcode, software):
    """Both commands print the CPU in a line, and the source below."""
    for command in ("info", "compare"):
        out = Run([PTCAP, command, path]).expect(0).out
        line = re.search(r"^cpu  .*$", out, re.M)
        check(line and model in line[0] and f"microcode {microcode}" in line[0], f"{command}: {line and line[0]}")
        check(re.search(rf"^source +{software}: this software made .*, not the CPU$", out, re.M), f"{command}: {out}")


def case_recorded(work):
    """Model and microcode equal /proc/cpuinfo. perf reads the recording."""
    path, (model, codes) = recorded(work), machine()
    got, report = info(path), compare(path)
    check(got["host"]["microcode"] == report["cpu"]["microcode"] == codes, (got["host"], report["cpu"], codes))
    check(report["cpu"]["name"] == model and report["cpu"]["cpuid"] == got["host"]["cpuid"], report["cpu"])
    check(got["software_source"] == report["software_source"] == SOURCE, (got["software_source"], report["software_source"]))
    kinds = got["ledger"]["processors"]
    check(sum(k["cpus"] for k in kinds) == os.sysconf("SC_NPROCESSORS_ONLN"), kinds)
    check_texts(path, model, ", ".join(codes[:3]) or "unknown", SOURCE)
    check(not Run([PTCAP, "dump", "--verify", path]).expect(0).err, "dump --verify finds errors")
    if have_perf():
        r = Run([lib.PERF, "script", "-i", path, "--no-itrace", "-F", "ip"]).expect(0)
        check(r.out and not r.err, f"perf says {r.err!r}")


def case_old(_):
    """An older recording has no microcode, and both commands say so."""
    got, report = info(OLD), compare(OLD)
    check(got["host"]["microcode"] == report["cpu"]["microcode"] == [], (got["host"], report["cpu"]))
    check(got["ledger"]["processors"] == [] and report["cpu"]["name"] == "AMD EPYC", (got["ledger"], report["cpu"]))
    check_texts(OLD, "AMD EPYC", "unknown", "step")


def case_part(work):
    """A part of a recording, and a recording without its trace, keep the CPU."""
    path, out = recorded(work), os.path.join(work, "out")
    want = info(path)
    for options in (["--cpu", "0-4095"], ["--strip-aux"]):
        Run([PTCAP, "convert", path, "-o", out, *options]).expect(0)
        got = info(out)
        check(got["host"]["microcode"] == want["host"]["microcode"], f"{options}: {got['host']}")
        check(got["ledger"]["processors"] == want["ledger"]["processors"], f"{options}: {got['ledger']}")


def ledger_entries(data, kind):
    """Return the offset of the entries of the record of this kind, and their bytes."""
    at = data.find(LEDGER)
    while at >= 0:
        found, size, n = struct.unpack_from("<IIQ", data, at + 8 + NAME)
        if found == kind:
            return at + 8 + NAME + 16, size * n
        at = data.find(LEDGER, at + 8)
    raise lib.Failure(f"no record of kind {kind}")


def case_hostile(work):
    """Large numbers, many kinds and texts that control a terminal are printed in bounds."""
    path, bad = recorded(work), os.path.join(work, "bad")
    with open(path, "rb") as f:
        data = bytearray(f.read())
    at, size = ledger_entries(data, PROCESSORS)
    data[at : at + size] = b"\xff" * size
    struct.pack_into("<IIQ", data, at - 16, PROCESSORS, 8, size // 8)  # entries of one number
    model, _ = machine()
    text = model.encode()
    check(data.count(text) >= 1, "the model is not in the recording")
    evil = (b"\x1b]0;x\x07\xff" + b"A" * len(text))[: len(text)]
    data = data.replace(text, evil)
    with open(bad, "wb") as f:
        f.write(data)
    for command in ("info", "compare"):
        for form in ("text", "json"):
            out = Run([PTCAP, command, "--format", form, bad]).expect(0).out
            check(re.fullmatch(r"[ -~\n]*", out), f"{command}, {form}: not printable: {out!r}")
    check(info(bad)["host"]["microcode"] == [], info(bad)["host"])
    struct.pack_into("<IIQ", data, at - 16, PROCESSORS, size, 1)  # an entry of the largest numbers
    with open(bad, "wb") as f:
        f.write(data)
    check(info(bad)["host"]["microcode"] == ["0x" + 16 * "f"], info(bad)["host"])
    check("microcode 0x" + 16 * "f" in Run([PTCAP, "compare", bad]).expect(0).out, "compare has another number")
    struct.pack_into("<IIQ", data, at - 16, PROCESSORS, size, 2)  # more than the record has
    with open(bad, "wb") as f:
        f.write(data)
    for command in ("info", "compare"):
        r = Run([PTCAP, command, bad])
        check(r.status in (0, 1) and (r.status == 0 or "ledger" in r.err), f"{command}: {r.status}, {r.err!r}")


CASES = {name[5:]: f for name, f in list(globals().items()) if name.startswith("case_")}

if __name__ == "__main__":
    lib.main(CASES)
