#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the page of `ptcap view`: its size, the time to write it, and the time until headless Chromium has drawn it.

usage: bench_view.py PTCAP FILE [OPTION...]    options for `ptcap view`, for example --branches 0
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

for name in ("PTCAP", "REFSTEP", "PEAK", "PROGS"):  # tests/e2e/lib.py asks for them
    os.environ.setdefault(name, "unused")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "e2e"))

from browser import Browser  # noqa: E402

OPENINGS = 5
# Zooms from the whole run to a single call in 60 frames. Returns the median and the longest time of a frame.
ZOOM = """(async () => { const c = view.chart, times = [], end = c.axis.last * 0.37; let span = c.axis.last;
    for (let i = 0; i < 60; i++, span *= 0.78) { c.from = end - span / 2; c.to = end + span / 2; c.draw(); times.push(c.milliseconds); }
    times.sort((a, b) => a - b); return [times[30], times[59]]; })()"""


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = os.path.join(folder, "view.html")
        subprocess.run([sys.argv[1], "view", "-i", sys.argv[2], "-o", page, *sys.argv[3:]], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        size, opened = os.path.getsize(page), []
        with Browser(folder) as browser:
            for _ in range(OPENINGS):
                browser.open(page)
                opened.append(browser.value("view.milliseconds"))
            calls, branches = browser.value("[view.model.n, view.model.lanes.reduce((n, lane) => n + lane.branches.n, 0)]")
            median, longest = browser.value(ZOOM)
    print(f"calls     {calls:12,}")
    print(f"branches  {branches:12,}")
    print(f"page      {size:12,} bytes, {size / calls:.3f} for each call")
    print(f"written   {used.ru_utime + used.ru_stime:12.2f} s of CPU time, at most {used.ru_maxrss / 1024:.0f} MiB")
    print(f"opened    {statistics.median(opened):12.0f} ms, the fastest {min(opened):.0f} ms")
    print(f"a frame   {median:12.1f} ms, the longest {longest:.1f} ms")


main()
