#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is installed, headers and library: the library has each function of the headers, and nothing else. The example,
as C and as C++, says of a recording what a few lines of Python read there."""

import collections
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

SOURCE = sys.argv[1]
BUILD = sys.argv[2]
CC = sys.argv[3]
MKREC = os.environ["MKREC"]
TRACES = os.environ["PTCAP_TRACES"]
AUXTRACE, TRACING_DATA = 71, 66
LANGUAGES = {"c": ["-std=c17", "-x", "c"], "c++": ["-std=c++17", "-x", "c++"]}


def read(path):
    """Counts by type, and the queues as the example prints them: of a file without compression."""
    with open(path, "rb") as f:
        data = f.read()
    pos, size = struct.unpack_from("<QQ", data, 40)
    end = pos + size
    counts = collections.Counter()
    queues = {}
    while pos < end:
        kind, _, size = struct.unpack_from("<IHH", data, pos)
        counts[kind] += 1
        if kind == AUXTRACE:
            more, _, _, idx, tid, cpu = struct.unpack_from("<QQQIii", data, pos + 8)
            queue = queues.setdefault(idx, [cpu, tid, 0, 0, data[pos + size : pos + size + min(more, 16)]])
            queue[2] += 1
            queue[3] += more
            size += more
        elif kind == TRACING_DATA:
            size += struct.unpack_from("<I", data, pos + 8)[0]
        pos += size
    return counts, [
        f"queue {idx}: cpu {cpu}, tid {tid}, {n} pieces, {total} bytes: {first.hex(' ')}".strip()
        for idx, (cpu, tid, n, total, first) in sorted(queues.items())
    ]


def install(folder):
    """Where the headers and the library are."""
    subprocess.run(["cmake", "--install", BUILD, "--prefix", folder], check=True, stdout=subprocess.DEVNULL)
    libs = glob.glob(os.path.join(folder, "**", "libptcap.so"), recursive=True)
    assert len(libs) == 1, libs
    return os.path.join(folder, "include"), os.path.dirname(libs[0])


def build(include, lib, language, out):
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(
        [CC, *LANGUAGES[language], *warnings, "-I", include, os.path.join(SOURCE, "examples/count.c"), "-x", "none"]
        + ["-L", lib, "-Wl,-rpath," + lib, "-lptcap", "-o", out],
        check=True,
    )


def compare_names(include, lib):
    declared = set()
    for path in glob.glob(os.path.join(include, "ptcap", "*.h")):
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        declared |= set(re.findall(r"^PTC_API [^;(]*?(\w+)\(", text, re.M))
    nm = subprocess.run(
        ["nm", "-D", "--defined-only", os.path.join(lib, "libptcap.so")], capture_output=True, text=True, check=True
    )
    exported = {l.split()[2] for l in nm.stdout.splitlines() if l.split()[1] in "TDRB"}
    assert len(declared) > 100
    assert declared == exported, (declared - exported, exported - declared)


def compare(program, path):
    counts, queues = read(path)
    r = subprocess.run([program, path], capture_output=True, text=True, check=True)
    lines = r.stdout.splitlines()
    said = {int(l.split()[0]): int(l.split()[-1]) for l in lines if not l.startswith("queue")}
    assert said == dict(counts), (path, said, counts)
    assert [l for l in lines if l.startswith("queue")] == queues, (path, lines, queues)
    assert queues, path


def main():
    with tempfile.TemporaryDirectory(prefix="ptcap-example-") as folder:
        made = os.path.join(folder, "perf.data")
        subprocess.run([MKREC, made], check=True)
        paths = [made] + glob.glob(os.path.join(TRACES, "quipper-intel_pt-*", "perf.data.intel_pt-*[0-9]"))
        include, lib = install(os.path.join(folder, "usr"))
        compare_names(include, lib)
        for language in LANGUAGES:
            program = os.path.join(folder, "count-" + language)
            build(include, lib, language, program)
            for path in paths:
                compare(program, path)
            r = subprocess.run([program, program], capture_output=True, text=True, check=False)
            assert r.returncode == 1 and r.stderr.count(program) == 1, r.stderr


main()
