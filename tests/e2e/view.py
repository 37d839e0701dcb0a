#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view.py NAME: the page of `ptcap view` in headless Chromium, compared with `ptcap decode`."""

import collections
import json
import os
import re
import shutil
import subprocess
import sys

import lib
import store
from browser import Browser
from call_lines import call_lines
from cases import CASES, case
from compile import built
from lib import PTCAP, Run, check

TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "traces")
SYMFS = ["--symfs", os.path.join(TRACES, "root")]
FIB = os.path.join(TRACES, "root", "opt", "demo", "fib")

# Each row of each lane: [name, begin, end, how it was entered, how it ended, index of its caller in the row above].
ROWS = """view.model.lanes.map((lane) => [lane.thread.tid, lane.rows.map((row) => Array.from({ length: row.end - row.begin }, (_, i) => {
    const m = view.model, call = row.begin + i, up = m.callerOf(call);
    return [m.name(m.fn[call]), m.axes[0].start[call], m.axes[0].end[call], m.how[call] & 15, m.how[call] >> 4,
        up < 0 ? -1 : up - lane.rows[row.depth - 1].begin];
}))])"""
HOW = ["call", "trace", "return", "tail", "signal", "unwinding", "inlined", "gap", "end"]


def page(folder, path, *options):
    """Write the page of a recording. Returns its path."""
    out = os.path.join(folder, "view.html")
    Run([PTCAP, "view", "-i", path, "-o", out, *options]).expect(0)
    return out


def called(path, *options):
    """Return {(tid, depth): [[name, begin, end or None, how, index of its caller]]} of `decode --calls`."""
    rows, stacks = collections.defaultdict(list), collections.defaultdict(list)
    for e in call_lines(path, *options):
        if e.get("type") not in ("enter", "leave"):
            continue
        stack = stacks[e["tid"]]
        del stack[e["depth"] + (e["type"] == "leave"):]
        if e["type"] == "leave":
            stack.pop()[2] = None if e["replaced"] else e["icount"]
            continue
        row = rows[e["tid"], e["depth"]]
        up = len(rows[e["tid"], e["depth"] - 1]) - 1 if e["depth"] else -1
        call = [e["name"], e["icount"], None, e["how"], up]
        row.append(call)
        stack.append(call)
    return rows


def shown(browser):
    """Return the same of a page. Calls that a gap or the end of the trace ended have no end."""
    rows = collections.defaultdict(list)
    for tid, lane in browser.value(ROWS):
        before = {depth: len(rows[tid, depth]) for depth in range(-1, len(lane))}  # of an earlier life of the thread
        for depth, row in enumerate(lane):
            rows[tid, depth] += [
                [name, begin, None if HOW[left] in ("gap", "end") else end, HOW[how], up if up < 0 else up + before[depth - 1]]
                for name, begin, end, how, left, up in row]
    return rows


def same_calls(browser, path, *options):
    """The page has exactly the calls of `decode --calls`. Returns their number."""
    want, got = called(path, *options), shown(browser)
    for row in want.values():
        for call in row:
            if call[3] in ("trace", "return"):  # it was entered in the middle
                call[0] = re.sub(r"(?<=.)\+0x[0-9a-f]+$", "", call[0])
    for row in got.values():
        for call in row:
            call[0] = re.sub(r"(?<=.)\+0x0$", "", call[0])  # a place without a symbol at the begin of its file
            if call[3] in ("trace", "return"):
                call[0] = re.sub(r"(?<=.)\+0x[0-9a-f]+$", "", call[0])
    got = {key: row for key, row in got.items() if row}
    check(got.keys() == want.keys(), f"{path}: rows {sorted(got)} instead of {sorted(want)}")
    for key, row in want.items():
        text = lib.first_difference(got[key], row, "page", "decode")
        check(not text, f"{path}: tid and depth {key}: {text}")
    return sum(map(len, want.values()))


BRANCHES = """view.model.lanes.map((lane) => [lane.thread.tid, Array.from(lane.branches.edge, (edge, i) => {
    const m = view.model, b = m.meta.branches, of = (site) => site && m.text(b.places.function[site - 1]) ? m.text(b.places.function[site - 1]) + "+0x" + b.places.off[site - 1].toString(16) : "";
    return [lane.branches.end[0][i], b.kinds[b.kind[edge]], of(b.from[edge]), of(b.to[edge])];
})])"""


def same_branches(browser, path, *options):
    """The page has exactly the branches of `decode`, with their places and functions. Returns their number."""
    want, got = collections.defaultdict(list), collections.defaultdict(list)
    for line in Run([PTCAP, "decode", "-i", path, "-F", "tid,icount,kind,sym,tosym", *options]).expect(0).out.splitlines():
        m = re.fullmatch(r"(\d+) (\d+) (\w+) (\S+) (\S+)", line)
        if m:
            want[int(m[1])].append([int(m[2]), m[3], *(re.sub(r"\+0x0$", "", "" if w == "-" else w) for w in m.group(4, 5))])
    for tid, lane in browser.value(BRANCHES):
        got[tid] += [[place, kind, re.sub(r"\+0x0$", "", a), re.sub(r"\+0x0$", "", b)] for place, kind, a, b in lane]
    check(got.keys() == want.keys(), f"{path}: threads {sorted(got)} instead of {sorted(want)}")
    for tid, branches in want.items():
        text = lib.first_difference(got[tid], branches, "page", "decode")
        check(not text, f"{path}: branches of {tid}: {text}")
    return sum(map(len, want.values()))


def by_calls(path, *options):
    """Return the calls of `decode --counts=calls`."""
    text = Run([PTCAP, "decode", "-i", path, "--counts=calls", "--format=json", *options]).expect(0).out
    counts = [json.loads(line) for line in text.splitlines()]
    return sum(c["times"] for c in counts if c.get("type") == "count" and c["kind"] in ("call", "icall"))


def clean(browser):
    """The page made no request but for itself, and no error."""
    check(not browser.complaints(), browser.complaints())
    asked = browser.requests()
    check(len(asked) == 1 and asked[0].startswith("file:"), asked)


@case
def complete(folder):
    """Each page has exactly the calls of `decode --calls`, and the entries by a call are those of --counts=calls."""
    with Browser(folder) as b:
        for name in ("calls", "calls-emu", "threads", "signals", "launch", "jit", "gap", "crash", "snapshot"):
            path = os.path.join(TRACES, name + ".data")
            out = page(folder, path, *SYMFS)
            b.open(out)
            n = same_calls(b, path, *SYMFS)
            check(b.value("view.model.n") == n == b.value("view.model.meta.calls"), f"{name}: {n} calls")
            entries = b.value("view.model.how.reduce((n, how) => n + ((how & 15) === 0), 0)")
            check(entries == by_calls(path, *SYMFS), f"{name}: {entries} entries by a call")
            gaps = Run([PTCAP, "decode", "-i", path, *SYMFS]).err
            lost = sum(int(n) for n in re.findall(r"ptcap: (\d+) (?:snapshot )?gaps?", gaps))
            check(b.value("view.model.meta.lost") == lost, f"{name}: {lost} gaps")
            if name != "gap":  # it has many
                check(same_branches(b, path, *SYMFS), f"{name}: no branches")
            clean(b)


@case
def sums(folder):
    """A recording with several chunks of events: numbers, lengths and sums of functions are those of `decode --calls`."""
    path = os.path.join(folder, "f")
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", FIB, "24"]).expect(0)
    out = page(folder, path)
    with open(out, encoding="utf-8") as f:
        check(f.read().count('class="calls"') > 1, "there is only one chunk")
    counts, whole = collections.Counter(), collections.Counter()
    for (_, depth), row in called(path).items():
        for name, begin, end, _, _ in row:
            counts[name.partition("+0x")[0]] += 1
            if not depth and end is not None:
                whole[name.partition("+0x")[0]] += end - begin
    with Browser(folder) as b:
        b.open(out)
        f = b.value("({ ...view.model.meta.functions, name: view.functions.names })")
        got = {name.partition("+0x")[0]: n for name, n in zip(f["name"], f["calls"])}
        check(got == counts, f"{got} instead of {counts}")
        drawn = b.value("Array.from(view.model.fn).reduce((n, fn) => { n[fn] = (n[fn] || 0) + 1; return n }, [])")
        check(drawn == f["calls"], f"{drawn} instead of {f['calls']}")
        last = b.value("view.model.lanes.reduce((n, l) => n + l.thread.last[0] - l.thread.first[0], 0)")
        check(sum(f["self"]) == last, f"{sum(f['self'])} of {last} instructions")
        own = b.value("""view.model.n && Array.from({ length: view.model.n }, (_, i) => i).reduce((sums, i) => {
            const [begin, end] = view.model.calledBy(i), a = view.chart.axis, m = view.model;
            sums[m.fn[i]] = (sums[m.fn[i]] || 0) + a.end[i] - a.start[i] - (a.busy[end] - a.busy[begin]);
            return sums;
        }, [])""")
        check(own == f["self"], f"{own} instead of {f['self']}")
        at = f["name"].index("main")
        check(f["total"][at] == b.value(f"""(() => {{ const i = view.model.fn.indexOf({at}); return view.chart.axis.end[i] - view.chart.axis.start[i]; }})()"""),
              "the total of main is not its length")
        clean(b)


@case
def time(folder):
    """A recording with a clock has both axes. Times and their sums are those of `decode --calls`."""
    path = os.path.join(folder, "f")
    with open(os.path.join(TRACES, "threads.data"), "rb") as f:
        data = f.read()
    check(data.count(b"(step)") == 1, "the version of the recorder is not there once")
    with open(path, "wb") as f:
        f.write(data.replace(b"(step)", b"(real)"))  # no software source: its times count
    out = page(folder, path, *SYMFS)
    text = Run([PTCAP, "decode", "-i", path, "--calls", "--format=json", *SYMFS]).expect(0).out
    events = [json.loads(line) for line in text.splitlines() if '"enter"' in line]
    first = min(e["time"] for e in events)
    want = sorted((e["tid"], e["depth"], e["time"] - first) for e in events)
    with Browser(folder) as b:
        b.open(out)
        check(b.value("view.chart.axis.name") == "time", "the axis is not the time")
        got = sorted(map(tuple, b.value("""view.model.rows.flatMap((row) => Array.from({ length: row.end - row.begin },
            (_, i) => [row.lane.thread.tid, row.depth, view.model.axes[1].start[row.begin + i]]))""")))
        check(got == want, lib.first_difference(got, want, "page", "decode"))
        b.value("byId('axis').value = 'insns', byId('axis').onchange({ target: byId('axis') })")
        b.frame()
        check(b.value("view.chart.axis.name") == "insns", "the axis did not change")
        same_calls(b, path, *SYMFS)
        clean(b)


def number_of(text):
    return int(text.replace(",", ""))


@case
def search(folder):
    """Typing a name finds its calls. Next and previous go through them in their order."""
    path = os.path.join(TRACES, "snapshot.data")
    want = sorted((begin, depth) for (_, depth), row in called(path, *SYMFS).items() for name, begin, *_ in row if "vfprintf" in name)
    with Browser(folder) as b:
        b.open(page(folder, path, *SYMFS))
        b.key("/")
        b.type("VFPRINTF")
        check(number_of(b.value("byId('found').textContent")) == len(want), b.value("byId('found').textContent"))
        for i, place in enumerate(want):
            b.key("Enter")
            got = b.value("[view.chart.axis.start[view.chart.chosen], view.model.rowOf(view.chart.chosen).depth]")
            check(tuple(got) == place, f"call {i}: {got} instead of {place}")
            check(b.value("byId('found').textContent") == f"{i + 1} of {len(want)}", b.value("byId('found').textContent"))
            check(b.value("view.model.name(view.model.fn[view.chart.chosen])") == "vfprintf", "another function")
        b.key("Enter", 8)
        check(b.value("view.chart.axis.start[view.chart.chosen]") == want[-2][0], "the call before")
        b.key("Escape")
        check(b.value("byId('search').value") == "" and b.value("view.chart.found") is None, "the search did not end")
        b.key("/")
        b.type("no such function")
        check(b.value("byId('found').textContent") == "none", "found something")
        clean(b)


def edges(browser):
    return browser.value("[view.chart.from, view.chart.to]")


@case
def keys(folder):
    """Keys and mouse zoom from the whole run to a single call, move, select, and change the colors."""
    with Browser(folder) as b:
        b.open(page(folder, os.path.join(TRACES, "calls.data"), *SYMFS))
        whole = edges(b)
        b.key("w")
        near = edges(b)
        check(whole[0] < near[0] < near[1] < whole[1], f"w: {whole} {near}")
        b.key("d")
        right = edges(b)
        check(right[0] > near[0] and abs((right[1] - right[0]) - (near[1] - near[0])) < 1e-6, f"d: {near} {right}")
        b.key("a")
        b.key("s")
        check(edges(b)[1] - edges(b)[0] > near[1] - near[0], "s")
        b.key("0")
        check(edges(b) == whole, f"0: {edges(b)}")
        # A click selects the call under the mouse, and F zooms to it.
        x, y = b.value("""(() => { const m = view.model, fn = view.functions.names.indexOf("main"), call = m.fn.indexOf(fn), box = byId("lanes").getBoundingClientRect();
            return [view.chart.xOf((view.chart.axis.start[call] + view.chart.axis.end[call]) / 2) + box.left, view.chart.topOf(m.rowOf(call)) + 8 + box.top]; })()""")
        b.click(x, y)
        check(b.value("document.querySelector('#details h2').textContent") == "main", "the click did not select main")
        stack = b.value("Array.from(document.querySelectorAll('#details li'), (li) => li.firstChild.textContent)")
        check(stack[0] == "main" and stack[-1].startswith("_start"), stack)
        b.key("f")
        begin, end = edges(b)
        start, stop = b.value("[view.chart.axis.start[view.chart.chosen], view.chart.axis.end[view.chart.chosen]]")
        check(begin <= start and stop <= end and end - begin < 1.5 * (stop - start), f"f: {begin} {end}, the call {start} {stop}")
        b.key("ArrowDown")
        check(b.value("view.model.name(view.model.fn[view.model.callerOf(view.chart.chosen)])") == "main", "down")
        b.key("ArrowUp")
        check(b.value("view.model.name(view.model.fn[view.chart.chosen])") == "main", "up")
        # Keys alone show a single call: the innermost one, over the whole width.
        for _ in range(30):
            b.key("ArrowDown")
        b.key("f")
        check(b.value("(view.chart.axis.end[view.chart.chosen] - view.chart.axis.start[view.chart.chosen]) / (view.chart.to - view.chart.from)") > 0.5, "the call is small")
        light = b.value("Array.from(view.chart.context.getImageData(700, 700, 1, 1).data)")
        b.key("t")
        dark = b.value("Array.from(view.chart.context.getImageData(700, 700, 1, 1).data)")
        check(sum(light[:3]) > 700 and sum(dark[:3]) < 150, f"t: {light} {dark}")
        # The divider, the overview and a drag.
        b.key("0")
        b.mouse("mousePressed", 300, 300, button="left", clickCount=1)
        b.mouse("mouseMoved", 200, 300, button="left")
        b.mouse("mouseReleased", 200, 300, button="left", clickCount=1)
        b.frame()
        check(edges(b)[0] > whole[0], "the drag did not move")
        b.mouse("mousePressed", 100, 60, button="left", clickCount=1)
        b.mouse("mouseMoved", 200, 60, button="left")
        b.mouse("mouseReleased", 200, 60, button="left", clickCount=1)
        b.frame()
        check(edges(b)[1] - edges(b)[0] < (whole[1] - whole[0]) / 3, f"the overview did not zoom: {edges(b)}, {whole}")
        clean(b)


@case
def system_theme(folder):
    """The page begins with the colors that the system prefers."""
    out = page(folder, os.path.join(TRACES, "calls.data"), *SYMFS)
    with Browser(folder) as b:
        for theme in ("light", "dark"):
            b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
            b.open(out)
            check(b.value("document.documentElement.dataset.theme") == theme, theme)


@case
def gaps(folder):
    """A gap is drawn where it is: a column of its color from the head of the lane to its last row."""
    with Browser(folder) as b:
        b.open(page(folder, os.path.join(TRACES, "gap.data"), *SYMFS))
        gap, = b.value("view.model.meta.gaps")
        check(gap["cause"] == "truncated" and gap["bytes"] == 9, gap)
        begin = b.value("view.model.axes[0].start[view.model.fn.findIndex((_, i) => (view.model.how[i] & 15) === 1 && i > view.model.lanes[0].rows[0].begin)]")
        check(gap["at"][0] <= begin, f"{gap} is behind its next call at {begin}")
        red = b.value("""(() => { const x = Math.round(view.chart.xOf(view.model.meta.gaps[0].at[0])), lane = view.model.lanes[0];
            const pixels = view.chart.context.getImageData(x, lane.top, 3, lane.rows.length * 17).data; let n = 0;
            for (let i = 0; i < pixels.length; i += 4) n += pixels[i] > 170 && pixels[i + 1] < 110; return n / (pixels.length / 12); })()""")
        check(red > 0.3, f"{red} red pixels in each line")
        check("1 gap" in b.value("byId('facts').textContent"), "the head does not say it")


@case
def many(folder):
    """A page may have very many threads, and many gaps in one of them. The tip finds the gap that a search of each one finds."""
    with Browser(folder) as b:
        b.open(page(folder, os.path.join(TRACES, "gap.data"), *SYMFS))
        first = b.value("""(() => { const { meta } = view.model, thread = { ...meta.threads[0], rows: [], branches: 0 };
            const model = new Model({ ...meta, threads: Array.from({ length: 200000 }, (_, i) => ({ ...thread, first: thread.first.map((at) => at + i % 7 + 1) })) });
            model.axes.forEach((axis) => model.prepare(axis));
            return [model.axes[0].first, thread.first[0], model.rows.length]; })()""")
        check(first == [first[1] + 1, first[1], 0], first)
        check(b.value("view.model.rows.every((row, i) => row.number === i)"), "a row has another number")
        tips = b.value("""(() => { const { model, chart } = view, lane = model.lanes[0], tips = [];
            const n = 3000;
            lane.gaps = Array.from({ length: n }, (_, i) => ({ ...lane.gaps[0], bytes: i + 1,
                at: model.axes.map((axis) => axis.first + Math.floor(((i * 7919) % n) * (axis.last - axis.first) / n)) }));
            for (const axis of model.axes) {
                axis.gaps[0] = model.gapsOf(axis, lane);
                chart.axis = axis;
                for (const [from, to] of [[0, 1], [0.4, 0.401], [0.99, 1.2], [-0.5, 0.1]]) {
                    [chart.from, chart.to] = [from, to].map((part) => axis.first + part * (axis.last - axis.first));
                    chart.draw();
                    for (let x = 0; x < chart.width; x += 31) {
                        const sorted = lane.gaps.slice().sort((p, q) => p.at[axis.number] - q.at[axis.number]);
                        const end = (at) => { const row = lane.rows[0];
                            for (let call = row.begin; axis.name === "time" && call < row.end; call++)
                                if (axis.start[call] >= at) return axis.start[call];
                            return axis.name === "time" ? axis.last : at; };
                        const want = sorted.find((g) => chart.xOf(g.at[axis.number]) + 6 >= x || chart.xOf(end(g.at[axis.number])) >= x);
                        const is = want && chart.xOf(want.at[axis.number]) - 4 <= x ? want : undefined, got = gapAt(chart, lane, x);
                        if (got !== is) tips.push([axis.name, from, x, got && got.bytes, is && is.bytes]);
                    }
                }
            }
            return tips.slice(0, 5); })()""")
        check(tips == [], tips)
        drawn = b.value("""(() => { const { chart } = view, c = chart.context; let n = 0;
            [chart.from, chart.to] = [chart.axis.first, chart.axis.last];
            const proxy = new Proxy(c, { get: (_, key) => (key === "clip" ? n++ : 0, typeof c[key] === "function" ? c[key].bind(c) : c[key]),
                set: (_, key, to) => (c[key] = to, true) });
            chart.context = proxy;
            drawGaps(chart, view.model.lanes[0], 0, 60);
            return [n, chart.width]; })()""")
        check(1 < drawn[0] <= drawn[1] + 10, f"{drawn[0]} gaps are drawn in {drawn[1]} columns")


@case
def branches(folder):
    """Keys show single branches. More than --branches are left out, and everything else stays."""
    path = os.path.join(TRACES, "calls.data")
    with Browser(folder) as b:
        b.open(page(folder, path, *SYMFS))
        n = b.value("view.model.lanes[0].branches.n")
        x, y = b.value("[view.chart.xOf(view.model.lanes[0].branches.end[0][7]) - 1, view.model.lanes[0].top + 30 + byId('lanes').getBoundingClientRect().top]")
        b.click(x, y)
        i = b.value("view.chart.branch.i")
        b.key("f")
        start, end = b.value(f"[view.chart.xOf(view.model.lanes[0].branches.end[0][{i} - 1]), view.chart.xOf(view.model.lanes[0].branches.end[0][{i}])]")
        width = b.value("view.chart.width")
        check(0 <= start < end <= width and end - start > width / 5, f"branch {i} is at {start} to {end}")
        for step in (1, 2, 3):
            b.key("ArrowRight")
            check(b.value("view.chart.branch.i") == i + step, f"{step} to the right")
            want = b.value(f"view.model.meta.branches.kinds[view.model.meta.branches.kind[view.model.lanes[0].branches.edge[{i + step}]]]")
            check(b.value("document.querySelector('#details h2').textContent") == "branch: " + want, "the details")
        check(b.value("view.chart.branchAt(view.model.lanes[0], view.chart.width / 2)") in range(i, i + 6), "the view did not follow")
        for limit, there in ((n - 1, 0), (0, 0), (n, n)):
            b.open(page(folder, path, *SYMFS, "--branches", str(limit)))
            check(b.value("view.model.lanes[0].branches.n") == there, f"--branches {limit}: {there}")
            same_calls(b, path, *SYMFS)
            clean(b)


@case
def crash(folder):
    """The page has the answer of `crash show`, and marks the end of the thread. A click goes there."""
    path = os.path.join(TRACES, "crash.data")
    answer = Run([PTCAP, "crash", "show", path, *SYMFS], env={**os.environ, "COLUMNS": "110"}).expect(0).out.split("\n\n")[0].splitlines()
    with Browser(folder) as b:
        b.open(page(folder, path, *SYMFS))
        check(b.value("view.model.meta.crash.lines") == answer, f"{b.value('view.model.meta.crash.lines')} instead of {answer}")
        check(b.value("byId('banner').textContent").startswith(answer[0]) and not b.value("byId('banner').hidden"), "the banner")
        b.click(300, 60)
        check(b.value("view.model.name(view.model.fn[view.chart.chosen])") == "parse_header", "the innermost open call is not selected")
        facts = b.value("byId('details').textContent")
        check("it ran when the thread, its program or the trace ended" in facts, f"no words for an open end: {facts}")
        at = b.value("view.chart.xOf(view.model.lanes[0].thread.last[0])")
        check(0 < at < b.value("view.chart.width"), f"the end is at {at}")
        red = b.value("""(() => { const lane = view.model.lanes[0], x = Math.round(view.chart.xOf(lane.thread.last[0])), h = lane.rows.length * 17, p = view.chart.context.getImageData(x, lane.top + 22, 3, h).data;
            let n = 0; for (let i = 0; i < p.length; i += 4) n += p[i] > 150 && p[i + 1] < 100; return n / h; })()""")
        check(red > 0.9, f"{red} red pixels in each line")
        clean(b)
        b.open(page(folder, os.path.join(TRACES, "calls.data"), *SYMFS))
        check(b.value("byId('banner').hidden"), "a banner without a crash")


@case
def snapshot(folder):
    """Begin and end of a snapshot are marked."""
    with Browser(folder) as b:
        b.open(page(folder, os.path.join(TRACES, "snapshot.data"), *SYMFS))
        check([g["cause"] for g in b.value("view.model.lanes[0].gaps")] == ["snapshot"], "no gap at the begin of the thread")
        for place in ("first", "last"):
            blue = b.value(f"""(() => {{ const lane = view.model.lanes[0], x = Math.round(view.chart.xOf(lane.thread.{place}[0])), p = view.chart.context.getImageData(x, lane.top + 22, 3, 100).data;
                let n = 0; for (let i = 0; i < p.length; i += 4) n += p[i] < 60 && p[i + 2] > 180; return n / 100; }})()""")
            check(blue > 0.3, f"{place}: {blue} blue pixels in each line")
        clean(b)


NAMES = ["</script><script>window.bad = 1</script>", "<img src=x onerror='window.bad = 2'>", "\x1b]0;bad\x07", '"; window.bad = 3; "', "a" * 65536,
         "\\u003cscript>", "<!--", "]]>", "-->", "&lt;b&gt;", "\u202egnp.exe", "@DATA@", "__proto__", "constructor"]


def hostile_program(folder):
    """Return a program whose functions have hostile names, or None."""
    source = os.path.join(folder, "program.c")
    with open(source, "w", encoding="ascii") as f:
        for i in range(len(NAMES) + 1):
            f.write(f'int marker{i:04d}_(int x);\n')
        for i in range(len(NAMES) + 1):
            more = f"marker{i + 1:04d}_(x)" if i < len(NAMES) else "x"
            f.write(f'__attribute__((noinline, noipa)) int marker{i:04d}_(int x)\n{{\n\treturn {more} + {i};\n}}\n')
        f.write("int main(void)\n{\n\treturn marker0000_(0) < 0;\n}\n")
    program = built(folder, ["gcc", "-O1", "-fno-optimize-sibling-calls", source])
    if not program or not shutil.which("objcopy"):
        lib.skip_without("gcc and objcopy")
    names = [name.encode() for name in NAMES] + [b"bad \xff\xfe utf"]
    for i, name in enumerate(names):
        subprocess.run([b"objcopy", b"--redefine-sym", b"marker%04d_=" % i + name, program], check=True)
    return program, names


@case
def hostile(folder):
    """Hostile names of functions, threads and files are inert texts, and no script but the page's own one runs."""
    program, names = hostile_program(folder)
    name = os.path.join(folder, "<img src=x onerror=alert(1)>")
    os.rename(program, name)
    path = os.path.join(folder, "'\"><script>alert(1)<")
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", name]).expect(0)
    out = page(folder, path)
    with open(out, "rb") as f:
        text = f.read()
    text.decode("ascii")
    check(text.count(b"</script>") == text.count(b"<script"), "the elements of scripts are not balanced")
    check(b"onerror" not in text and b"window.bad" not in text, "a name is in the page")
    if store.READS:  # a sanitizer of ptcap sees no browser
        return
    with Browser(folder) as b:
        b.open(out)
        shown_names = b.value("view.functions.names")
        for raw in names:
            want = raw.decode() if b"\xff" not in raw else "bad ?? utf"
            check(want in shown_names, f"{want[:60]!r} is not in the page")
        for fn in range(len(shown_names)):
            b.value(f"view.only({fn}, true)")
        b.frame()
        for x in range(0, 900, 90):
            b.mouse("mouseMoved", x, 200)
        check(b.value("window.bad") is None, "a script ran")
        check(b.value("document.querySelectorAll('img, script:not([type])').length") == 1, "a name became an element")
        check(b.value("byId('recording').textContent") == path, "the name of the recording")
        clean(b)
        # The policy forbids every other script, and all requests.
        b.value("document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.bad = 4' }))")
        check(b.value("window.bad") is None, "the policy allows other scripts")
        check(b.value("fetch('http://127.0.0.1:1/').then(() => 'done', () => 'refused')") == "refused", "the policy allows requests")


@case
def sources(folder):
    """With --sources the page shows the lines of the selected call, as texts. Without the option it has none."""
    source = os.path.join(folder, "shop.c")
    lines = ["/* </script><script>window.bad = 1</script> */", "__attribute__((noinline)) int price(int n)", "{", "\treturn n * 3;", "}", "",
             "int main(int argc, char **argv)", "{", "\t(void)argv;", "\treturn price(argc) != 3;", "}"]
    with open(source, "w", encoding="ascii") as f:
        f.write("\n".join(lines) + "\n")
    program = built(folder, ["gcc", "-g", "-O1", source])
    if not program:
        lib.skip_without("gcc")
    path = os.path.join(folder, "f")
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", program]).expect(0)
    with Browser(folder) as b:
        for options, there in ((["--sources"], True), ([], False)):
            b.open(page(folder, path, *options))
            b.value("view.only(view.functions.names.indexOf('price'), true)")
            shown_lines = b.value("Array.from(document.querySelectorAll('#details pre b'), (b) => b.textContent)")
            numbers = [int(line.split()[0]) for line in shown_lines]
            check([line.lstrip(" ") for line in shown_lines] == [f"{n} {lines[n - 1]}\n" for n in numbers], f"{options}: {shown_lines}")
            # The line of the call, and the one that the compiler gives the begin of the function.
            check(numbers[:1] == [10] and numbers[1] in (2, 3, 4) if there else not numbers, f"{options}: {shown_lines}")
            whole = b.value("Object.values(view.model.meta.sources)")
            check(("\n".join(lines) + "\n" in whole) == there, f"{options}: {whole}")
            check(b.value("window.bad") is None, "a script ran")
            clean(b)


@case
def output(folder):
    """The page appears only when it is complete, an old one is kept, and -o - writes the same bytes."""
    path, out = os.path.join(TRACES, "calls.data"), os.path.join(folder, "out.html")
    Run([PTCAP, "view", "-i", path, *SYMFS, "-o", out]).expect(0)
    with open(out, "rb") as f:
        first = f.read()
    with open(path, "rb") as f:
        piped = subprocess.run([PTCAP, "view", "-i", path, *SYMFS, "-o", "-"], capture_output=True, check=True)
        check(piped.stdout == first, "-o - wrote something else")
    r = Run([PTCAP, "view", "-i", path, *SYMFS, "-o", out, "--max-calls", "10"]).expect(1)
    check("has more than 10 calls and gaps," in r.err and "--time" in r.err, r.err)
    r = Run([PTCAP, "view", "-i", path, *SYMFS, "-o", out, "--max-calls", "63"]).expect(0)
    with open(out + ".old", "rb") as f:
        check(f.read() == first, "the old page was not kept")
    check(sorted(os.listdir(folder)) == ["out.html", "out.html.old"], os.listdir(folder))
    with open(path, "rb") as f:
        Run([PTCAP, "view", "-i", "-", *SYMFS, "-o", out], stdin=f).expect(0)
    for status, words, *options in (
        (1, "No such file", "-i", os.path.join(folder, "none")),
        (4, "no trace", "-i", path, "--tid", "1"),
        (4, "no trace", "-i", path, "--time", "0,1"),
        (2, "thread IDs", "-i", path, "--tid", "x"),
        (2, "FROM,TO", "-i", path, "--time", "x"),
        (1, "not a", "-i", __file__),
        (1, "cannot", "-i", path, "-o", os.path.join(folder, "no", "folder")),
    ):
        r = Run([PTCAP, "view", "-o", os.path.join(folder, "never"), *options, *SYMFS])
        check(r.status == status, f"{options}: {r.status} {r.err}")
        print(options, r.err)
        check(not os.path.exists(os.path.join(folder, "never")), f"{options}: there is a page")


@case
def selected(folder):
    """--tid, --time and --inline show the same calls as `decode --calls` with these options."""
    path = os.path.join(TRACES, "threads.data")
    tids = sorted({tid for tid, _ in called(path, *SYMFS)})
    with Browser(folder) as b:
        for options in (["--tid", str(tids[1])], ["--time", "0%-50%"], ["--inline"]):
            b.open(page(folder, path, *SYMFS, *options))
            check(same_calls(b, path, *SYMFS, *options), f"{options}: no calls")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
