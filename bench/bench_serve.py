#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures `ptcap view --serve`: the time until it answers, its memory, and the times of 100 random windows at each of five widths.

usage: bench_serve.py PTCAP FILE [OPTION...]    options for `ptcap view`, for example --branches 0
"""
import http.client
import json
import random
import re
import statistics
import subprocess
import sys
import time
import urllib.parse
import zlib

WINDOWS, PIXELS = 100, 4200  # of a screen of 1400 pixels, with room at both sides
PARTS = (1, 1e-2, 1e-4, 1e-6, 1e-8)  # of the whole run


def ask(address, path):
    """Return the answer, and the seconds until it had arrived."""
    url = urllib.parse.urlsplit(address)
    begin = time.perf_counter()
    connection = http.client.HTTPConnection(url.netloc)
    connection.request("GET", url.path + path)
    answer = connection.getresponse()
    text = answer.read()
    seconds = time.perf_counter() - begin
    connection.close()
    assert answer.status == 200, (path, answer.status, text)
    return text, seconds


def meta_of(page):
    """Return the JSON object of a page (cli/view/README.md, "The data")."""
    digits = re.search(rb'class="meta">([^<]*)<', page)[1].replace(b"}", b"<")
    packed = bytearray()
    for i in range(0, len(digits), 5):
        group, v = digits[i:i + 5], 0
        for c in group.ljust(5, b"|"):
            v = v * 85 + c - 40
        packed += v.to_bytes(4, "big")[:len(group) - 1]
    return json.loads(zlib.decompress(packed))


def peak(pid):
    """Return the peak memory of a process in MiB: all of it, and without pages of files."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read())[1]) / 1024


def windows(address, axis, first, last, threads):
    """Print the times of windows of an axis."""
    for part in PARTS:
        seconds, sizes, length = [], [], max(int((last - first) * part), 1)
        for _ in range(WINDOWS):
            begin = random.randint(first, max(last - length, first))
            end = min(begin + length, last)
            text, took = ask(address, f"window?axis={axis}&from={begin}&to={end}&pixels={PIXELS}&first=0&last={threads - 1}&branches=1")
            seconds.append(took * 1000)
            sizes.append(len(text))
        print(f"  {'time' if axis else 'instructions'} {length:15,}: median {statistics.median(seconds):6.1f} ms, at most {max(seconds):6.1f} ms,"
              f" {statistics.median(sizes) / 1024:8.0f} KiB")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    random.seed(1)
    begin = time.perf_counter()
    with subprocess.Popen([sys.argv[1], "view", "--serve", "-i", sys.argv[2], *sys.argv[3:]], stdout=subprocess.PIPE, text=True) as server:
        address = server.stdout.readline().strip()
        print(f"ready     {time.perf_counter() - begin:12.2f} s, at most {peak(server.pid):.0f} MiB")
        page, seconds = ask(address, "")
        print(f"page      {len(page):12,} bytes in {seconds * 1000:.0f} ms")
        meta = meta_of(page)
        threads = meta["threads"]
        print(f"calls     {meta['calls']:12,}")
        print(f"branches  {sum(t['branches'] for t in threads):12,}")
        for axis in range(1 + meta["times"]):
            windows(address, axis, min(t["first"][axis] for t in threads), max(t["last"][axis] for t in threads), len(threads))
        print(f"memory    {peak(server.pid):12.0f} MiB at most")
        server.terminate()
        assert server.wait() == 0


main()
