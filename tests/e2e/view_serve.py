#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_serve.py NAME: the page of `ptcap view --serve` in headless Chromium, compared with the page of `ptcap view`."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.parse

import lib
import view
from browser import Browser
from cases import CASES, case
from lib import PTCAP, Run, check
from view import FIB, SYMFS, TRACES

# Each row of each lane: [name, begin, end, how it was entered and how it ended], as view.ROWS.
STATIC = """view.model.lanes.map((lane) => lane.rows.map((row) => Array.from({ length: row.end - row.begin }, (_, i) => {
    const m = view.model, call = row.begin + i, axis = view.chart.axis;
    return [m.name(m.fn[call]), axis.start[call], axis.end[call], m.how[call]];
})))"""
# The same of a window, and how many calls a cell has, the sum of their lengths, and the number of the longest one.
SERVED = """(async () => {
    const m = view.model, axis = view.chart.axis, pixels = %d;
    const w = await m.windows.get({ axis: axis.number, from: axis.first, to: axis.last, pixels, first: 0, last: m.lanes.length - 1 });
    return m.lanes.map((lane) => lane.rows.map((_, depth) => {
        const row = w.lanes.get(lane.number).rows.get(depth);
        return row ? Array.from({ length: row.n }, (_, i) => [m.name(row.fn[i]), row.start[i], row.end[i], row.how[i], row.count[i], row.busy[i], row.number[i]]) : [];
    }));
})()"""
# The rows of windows that are divided until each call is single, and their branches as BRANCHES_STATIC. A call of several windows is one.
SINGLE = """(async () => {
    const m = view.model, axis = view.chart.axis, rows = m.lanes.map((lane) => lane.rows.map(() => new Map()));
    const branches = m.lanes.map(() => [[], []]);
    const take = async (from, to) => {
        const w = await m.windows.get({ axis: axis.number, from, to, pixels: 1400, first: 0, last: m.lanes.length - 1 });
        if (to > from + 1 && (!w.isExact || [...w.lanes.values()].some((part) => part.branches.isMany))) {
            const mid = Math.floor((from + to) / 2);
            await take(from, mid);
            return take(mid, to);
        }
        for (const [lane, part] of w.lanes) {
            for (let i = 0; i < part.branches.n; i++) {
                branches[lane][0][part.branches.first + i] = part.branches.edge[i];
                branches[lane][1][part.branches.first + i] = part.branches.end[0][i];
            }
            for (const [depth, row] of part.rows)
                for (let i = 0; i < row.n; i++)
                    rows[lane][depth].set(row.number[i], [m.name(row.fn[i]), row.start[i], row.end[i], row.how[i], row.count[i], row.busy[i], row.number[i]]);
        }
    };
    await take(axis.first, axis.last);
    return [rows.map((lane) => lane.map((row) => [...row.values()])), branches];
})()"""
BRANCHES_STATIC = "view.model.lanes.map((lane) => [Array.from(lane.branches.edge), Array.from(lane.branches.end[0])])"
DETAILS = "document.getElementById('details').innerText"
SETTLED = "!view.waiting && !view.chart.waiting && view.model.isSettled && !view.model.windows.asking"


class Server:
    """`ptcap view --serve` of a recording. Use it in a with statement."""

    def __init__(self, path, *options):
        self.process = subprocess.Popen([PTCAP, "view", "--serve", "-i", path, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        if not re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", self.address):
            raise lib.Failure(f"{self.address!r} is no address: {self.process.communicate()[1]}")
        self.host = urllib.parse.urlsplit(self.address).netloc
        self.path = urllib.parse.urlsplit(self.address).path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def stop(self, number):
        """Send a signal. Returns the exit status and the messages."""
        self.process.send_signal(number)
        err = self.process.communicate()[1]
        return self.process.returncode, err

    def raw(self, data, cut=None):
        """Send bytes, and return all that is answered. @cut: send them in two parts."""
        with socket.create_connection(self.host.split(":")) as s:
            for part in (data[:cut], data[cut:]) if cut else (data,):
                s.sendall(part)
            answer = b""
            while not whole(answer):
                more = s.recv(1 << 16)
                if not more:
                    break
                answer += more
        return answer

    def get(self, path, method="GET", host=None, **headers):
        """Return the status, the headers and the body of an answer."""
        connection = http.client.HTTPConnection(self.host)
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": self.host if host is None else host, **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        r = connection.getresponse()
        body = r.read()
        connection.close()
        return r.status, dict(r.getheaders()), body


def whole(answer):
    """Return whether an answer of HTTP is complete."""
    head, separator, body = answer.partition(b"\r\n\r\n")
    size = re.search(rb"Content-Length: (\d+)", head)
    return bool(separator and size and len(body) >= int(size[1]))


def settle(browser):
    """Wait until the page has all that it asked for, and has drawn it."""
    browser.frame()
    browser.until(SETTLED)
    browser.frame()


def opened(browser, server):
    browser.open(server.address)
    settle(browser)
    check(browser.value("byId('banner').hidden") or browser.value("view && view.model.meta.crash"), browser.value("byId('banner').textContent"))


def clean(browser, server):
    """The page asked only its server, and made no error."""
    check(not browser.complaints(), browser.complaints())
    strangers = [url for url in browser.requests() if not url.startswith(server.address)]
    check(not strangers, strangers)


def same_calls(browser, path, folder, *options):
    """At full zoom, the served page has the calls and branches of the page of `ptcap view`. Returns their number."""
    browser.open(view.page(folder, path, *options))
    want, branches = browser.value(STATIC), browser.value(BRANCHES_STATIC)
    with Server(path, *options) as server:
        opened(browser, server)
        got, singles = browser.value(SINGLE)
        for lane, (a, b) in enumerate(zip(got, want, strict=True)):
            for depth, (row, wanted) in enumerate(zip(a, b, strict=True)):
                check(all(count == 1 and busy == end - begin for _, begin, end, _, count, busy, _ in row), f"{path}: lane {lane}, depth {depth}: merged")
                text = lib.first_difference([call[:4] for call in row], wanted, "served", "page")
                check(not text, f"{path}: lane {lane}, depth {depth}: {text}")
            order = sorted(((begin, depth, i) for depth, row in enumerate(a) for i, (_, begin, *_) in enumerate(row)))
            numbers = [a[depth][i][6] for _, depth, i in order]
            if browser.value("view.chart.axis.name") == "insns" and all(call[1] < call[2] for row in a for call in row):
                check(numbers == list(range(len(numbers))), f"{path}: numbers {numbers[:20]}")
        check(singles == branches, f"{path}: other branches")
        clean(browser, server)
    return sum(len(row) for lane in want for row in lane)


@case
def served(folder):
    """Recordings of traces/: the calls of the page at full zoom, on both axes, are those of the page without a server."""
    with Browser(folder) as b:
        for name in ("threads", "crash"):
            check(same_calls(b, os.path.join(TRACES, name + ".data"), folder, *SYMFS), f"{name}: no calls")
        path = os.path.join(folder, "f")
        with open(os.path.join(TRACES, "threads.data"), "rb") as f:
            data = f.read()
        with open(path, "wb") as f:
            f.write(data.replace(b"(step)", b"(real)"))  # no software source: its times count
        same_calls(b, path, folder, *SYMFS)
        check(b.value("view.chart.axis.name") == "time", "the axis is not the time")
        options = ["--tid", str(b.value("view.model.lanes[1].thread.tid")), "--time", "0%-50%", "--inline"]
        check(same_calls(b, path, folder, *SYMFS, *options), "no calls of a thread")


def fib(folder, n):
    path = os.path.join(folder, "fib")
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", FIB, str(n)]).expect(0)
    return path


@case
def levels(folder):
    """A recording with many chunks: the cells of each window have all calls, and the sum of their lengths is that of the calls."""
    path = fib(folder, 24)
    with Browser(folder) as b:
        b.open(view.page(folder, path))
        want = b.value(STATIC)[0]
        with Server(path) as server:
            opened(b, server)
            for pixels in (1, 10, 100, 1400, 10000):
                for depth, (cells, calls) in enumerate(zip(b.value(SERVED % pixels)[0], want, strict=True)):
                    check(sum(c[4] for c in cells) == len(calls), f"{pixels} pixels, depth {depth}: {sum(c[4] for c in cells)} of {len(calls)} calls")
                    check(sum(c[5] for c in cells) == sum(c[2] - c[1] for c in calls), f"{pixels} pixels, depth {depth}: other lengths")
                    check(all(x[2] <= y[1] for x, y in zip(cells, cells[1:])), f"{pixels} pixels, depth {depth}: cells are not in order")
                    check(len(cells) <= 4 * pixels + 4, f"{pixels} pixels, depth {depth}: {len(cells)} cells")
                    for name, begin, end, how, count, busy, _ in cells:
                        check(count == 1 or busy <= end - begin, f"a cell at {begin}")
                        check(count > 1 or [name, begin, end, how] in calls[:50] or len(calls) > 50, f"{name} at {begin} is no call")
            # Windows in the middle, down to single calls: what the screen shows is what the page without a server shows.
            last = b.value("view.chart.axis.last")
            for part in (0.3, 0.01, 0.0003, 0.00002):
                begin, end = int(last * 0.41), int(last * (0.41 + part))
                b.value(f"view.chart.show({begin}, {end})")
                settle(b)
                got = b.value("view.model.lanes[0].rows.map((row) => Array.from({ length: row.end - row.begin }, (_, i) => { const m = view.model, c = row.begin + i, a = view.chart.axis; "
                              "return [m.name(m.fn[c]), a.start[c], a.end[c], m.how[c], m.count[c]]; }))")
                pixel = (end - begin) / b.value("view.chart.width")
                for depth, calls in enumerate(want):
                    long = [c for c in calls if c[2] - c[1] >= 2 * pixel and c[2] > begin and c[1] < end]
                    single = [c[:4] for c in got[depth] if c[4] == 1 and c[2] - c[1] >= 2 * pixel and c[2] > begin and c[1] < end]
                    text = lib.first_difference(single, long, "served", "page")
                    check(not text, f"{part} of the run, depth {depth}: {text}")
            check(b.value("view.model.shown.isExact"), "the last window has no single calls")
            clean(b, server)


@case
def found(folder):
    """Search goes through all calls of a name in their order, in both directions, as in the page without a server."""
    path = os.path.join(TRACES, "snapshot.data")
    want = sorted((begin, depth) for (_, depth), row in view.called(path, *SYMFS).items() for name, begin, *_ in row if "vfprintf" in name)
    chosen = "(() => { const m = view.model; return [view.chart.axis.start[view.chart.chosen], m.rowOf(view.chart.chosen).depth]; })()"
    with Browser(folder) as b, Server(path, *SYMFS) as server:
        opened(b, server)
        b.key("/")
        b.type("VFPRINTF")
        check(view.number_of(b.value("byId('found').textContent")) == len(want), b.value("byId('found').textContent"))
        for key, modifiers, order in (("Enter", 0, want), ("Enter", 8, want[-2::-1])):
            for i, place in enumerate(order):
                b.key(key, modifiers)
                settle(b)
                check(tuple(b.value(chosen)) == place, f"call {i}: {b.value(chosen)} instead of {place}")
        b.key("Escape")
        settle(b)
        check(b.value("view.model.stack.length") == 0 and b.value("view.chart.found") is None, "the search did not end")
        clean(b, server)
    path = fib(folder, 20)
    with Browser(folder) as b:
        b.open(view.page(folder, path))
        calls = [c for row in b.value(STATIC)[0] for c in row]
        names = b.value("view.functions.names")
        rare = [name for name in names if 1 < sum(c[0] == name for c in calls) < 9]
        with Server(path) as server:
            opened(b, server)
            for name in rare:  # from chunk to chunk
                b.value(f"view.only({names.index(name)}, true)")
                for begin in sorted(c[1] for c in calls if c[0] == name):
                    settle(b)
                    check(b.value("view.chart.axis.start[view.chart.chosen]") == begin, f"{name} at {begin}")
                    b.value("view.step(1)")
            check(rare, names)


@case
def selected(folder):
    """Details, callers and relatives of a call, and the keys, are those of the page without a server."""
    path = fib(folder, 22)
    steps = [f"view.chart.show({at}, {at + 400})" for at in (100000, 300003)]
    with Browser(folder) as b:
        b.open(view.page(folder, path))
        last = b.value("view.chart.axis.last")
        # A call in the middle of the run, and what the arrows reach from there.
        pick = "view.chart.callAt(view.chart.width / 2, view.chart.topOf(view.model.lanes[0].rows[12]) - view.chart.elements.scroll.scrollTop + 4)"
        keys = ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowUp", "ArrowUp", "ArrowRight", "ArrowUp", "ArrowUp"]
        texts = []
        for address in (None, "server"):
            with Server(path) as server:
                if address:
                    opened(b, server)
                seen = []
                for step in steps:
                    b.value(step)
                    settle(b) if address else b.frame()
                    b.value(f"view.select({pick}, true)")
                    for key in ["", *keys]:
                        if key:
                            b.key(key)
                        if address:
                            settle(b)
                        seen.append(b.value(DETAILS))
                texts.append(seen)
                if address:
                    clean(b, server)
        check(last > 300003 and "fib" in texts[0][0], texts[0][0])
        text = lib.first_difference(texts[1], texts[0], "served", "page")
        check(not text, text)


@case
def zoomed(folder):
    """Keys zoom from the whole run to a single call and a single branch, and the theme changes."""
    path = fib(folder, 22)
    with Browser(folder) as b, Server(path) as server:
        opened(b, server)
        whole_run = view.edges(b)
        for _ in range(60):
            b.key("w")
        settle(b)
        near = view.edges(b)
        check(whole_run[0] < near[0] < near[1] < whole_run[1] and near[1] - near[0] < 100, f"{whole_run}: {near}")
        check(b.value("view.model.shown.isExact && view.model.lanes[0].branches.n > 0 && !view.model.lanes[0].branches.isMany"), "no single calls and branches")
        x, y = b.value("[view.chart.width / 2, view.model.lanes[0].top + 30 + byId('lanes').getBoundingClientRect().top]")
        b.click(x, y)
        first = b.value("view.chart.branch.index")
        for step in (1, 2, 3):
            b.key("ArrowRight")
            settle(b)
            check(b.value("view.chart.branch.index") == first + step, f"{step} to the right")
        check(b.value("document.querySelector('#details h2').textContent").startswith("branch: "), "the details")
        b.key("0")
        settle(b)
        check(view.edges(b) == whole_run and b.value("view.model.lanes[0].branches.isMany"), "the whole run has single branches")
        light = b.value("Array.from(view.chart.context.getImageData(700, 700, 1, 1).data)")
        b.key("t")
        settle(b)
        dark = b.value("Array.from(view.chart.context.getImageData(700, 700, 1, 1).data)")
        check(sum(light[:3]) != sum(dark[:3]), f"{light} {dark}")
        clean(b, server)


@case
def ends(folder):
    """Gaps, the ends of a snapshot, and the answer of a crash are there. A click on the answer goes to the innermost call."""
    with Browser(folder) as b:
        for name in ("gap", "snapshot", "crash"):
            with Server(os.path.join(TRACES, name + ".data"), *SYMFS) as server:
                opened(b, server)
                check(len(b.value("view.model.meta.gaps")) == (name != "crash"), f"{name}: gaps")
                if name == "crash":
                    b.click(300, 60)
                    settle(b)
                    check(b.value("view.model.name(view.model.fn[view.chart.chosen])") == "parse_header", "the innermost open call is not selected")
                clean(b, server)


@case
def axes(folder):
    """With a clock, the axis changes. The selection stays."""
    path = os.path.join(folder, "f")
    with open(os.path.join(TRACES, "threads.data"), "rb") as f:
        data = f.read()
    with open(path, "wb") as f:
        f.write(data.replace(b"(step)", b"(real)"))
    with Browser(folder) as b, Server(path, *SYMFS) as server:
        opened(b, server)
        b.value("view.only(view.functions.names.indexOf('play'), true)")
        settle(b)
        b.value("byId('axis').value = 'insns', byId('axis').onchange({ target: byId('axis') })")
        b.until("view.chart.axis.name === 'insns'")
        settle(b)
        check(b.value("view.model.name(view.model.fn[view.chart.chosen])") == "play", "the selection is another one")
        want = [[name, begin, end] for (_, _), row in sorted(view.called(path, *SYMFS).items()) for name, begin, end, *_ in row if name == "play"]
        got = b.value("[view.model.name(view.model.fn[view.chart.chosen]), view.chart.axis.start[view.chart.chosen], view.chart.axis.end[view.chart.chosen]]")
        check(got in want, f"{got}, not one of {want}")
        clean(b, server)


@case
def refused(folder):
    """Requests without the token, from other sites, with other methods, or too long are refused. The right one is answered in parts, too."""
    secret = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"}
    with Server(os.path.join(TRACES, "calls.data"), *SYMFS) as s:
        status, headers, body = s.get(s.path)
        check(status == 200 and b"<title>ptcap view" in body, status)
        check(all(headers[name] == value for name, value in secret.items()) and "Access-Control-Allow-Origin" not in headers, headers)
        check("default-src 'none'" in headers["Content-Security-Policy"] and "frame-ancestors 'none'" in headers["Content-Security-Policy"], headers)
        port = s.host.split(":")[1]
        other = s.path[:-2] + ("0" if s.path[-2] != "0" else "1") + "/"
        for path, options, want in (
            (s.path, {"host": "localhost:" + port}, 200),
            ("/", {}, 403), ("/favicon.ico", {}, 403), (other, {}, 403), (s.path[:-1], {}, 403), (s.path.upper(), {}, 403 if s.path != s.path.upper() else 200),
            (s.path, {"host": "evil.example:" + port}, 403), (s.path, {"host": "127.0.0.1"}, 403), (s.path, {"host": ""}, 403),
            (s.path, {"method": "POST"}, 405), (s.path, {"method": "HEAD"}, 405), (s.path, {"method": "OPTIONS"}, 405),
            (s.path + "none", {}, 404), (s.path + "../etc/passwd", {}, 404), (s.path + "window", {}, 400),
            (s.path + "window?axis=0&from=9&to=1&pixels=1&first=0&last=0&branches=0", {}, 400),
            (s.path + "window?axis=9&from=0&to=1&pixels=1&first=0&last=0&branches=0", {}, 400),
            (s.path + "window?axis=0&from=0&to=1&pixels=0&first=0&last=0&branches=0", {}, 400),
            (s.path + "window?axis=0&from=0&to=99999999999999999999&pixels=1&first=0&last=0&branches=0", {}, 400),
            (s.path + "call?thread=0&number=9999", {}, 400), (s.path + "call?thread=9&number=0", {}, 400),
            (s.path + "search?axis=0&back=0&functions=99999", {}, 400), (s.path + "search?axis=0&back=0&functions=2-1", {}, 400),
            (s.path + "beside?thread=0&number=0&depth=99&back=0", {}, 200),
        ):
            status, headers, _ = s.get(path, **options)
            check(status == want, f"{path} {options}: {status} instead of {want}")
            check(all(headers[name] == value for name, value in secret.items()), headers)
        good = f"GET {s.path} HTTP/1.1\r\nHost: {s.host}\r\n\r\n".encode()
        for raw, want in ((b"x" * 9000, 431), (good[:-2] + b"X: " + b"y" * 9000 + b"\r\n\r\n", 431), (good.replace(b"HTTP/1.1", b"HTTP/9.9"), 400),
                          (good[:-2] + f"Host: {s.host}\r\n\r\n".encode(), 400), (b"\r\n\r\n", 400), (f"GET {s.path} HTTP/1.1\r\n\r\n".encode(), 400),
                          (good[:-2] + b"Content-Length: 5\r\n\r\n", 400), (good.replace(b"GET ", b"GET  "), 400), (good.replace(s.path.encode(), s.path.encode() + b"\x01"), 400)):
            answer = s.raw(raw)
            check(answer.startswith(b"HTTP/1.1 %d " % want), f"{raw[:80]}: {answer[:80]}")
        for cut in range(1, len(good), 7):
            check(s.raw(good, cut).startswith(b"HTTP/1.1 200 "), f"cut at {cut}")
        # Many connections that say nothing do not stop others.
        silent = [socket.create_connection(s.host.split(":")) for _ in range(100)]
        check(s.get(s.path)[0] == 200, "silent connections block the server")
        for each in silent:
            each.close()
        with open(f"/proc/{s.process.pid}/net/tcp", encoding="ascii") as f:
            mine = [line for line in f if line.split()[3] == "0A" and int(line.split()[1].split(":")[1], 16) == int(port)]
        check([line.split()[1].split(":")[0] for line in mine] == ["0100007F"], f"it listens at {mine}")


@case
def inert(folder):
    """Hostile names of functions and files are inert texts in the served page, and no script but the page's own one runs."""
    program, names = view.hostile_program(folder)
    path = os.path.join(folder, "'\"><script>alert(1)<")
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", program]).expect(0)
    with Browser(folder) as b, Server(path) as server:
        _, _, body = server.get(server.path)
        check(body.count(b"</script>") == body.count(b"<script") and b"onerror" not in body and b"window.bad" not in body, "a name is in the page")
        opened(b, server)
        shown = b.value("view.functions.names")
        for raw in names:
            want = raw.decode() if b"\xff" not in raw else "bad ?? utf"
            check(want in shown, f"{want[:60]!r} is not in the page")
        for raw in names:
            want = raw.decode() if b"\xff" not in raw else "bad ?? utf"
            b.value(f"view.only({shown.index(want)}, true)")
            settle(b)
        for x in range(0, 900, 90):
            b.mouse("mouseMoved", x, 200)
        b.frame()
        check(b.value("window.bad") is None, "a script ran")
        check(b.value("document.querySelectorAll('img, script:not([type])').length") == 1, "a name became an element")
        clean(b, server)
        b.value("document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.bad = 4' }))")
        check(b.value("window.bad") is None, "the policy allows other scripts")
        check(b.value("fetch('http://127.0.0.1:1/').then(() => 'done', () => 'refused')") == "refused", "the policy allows other servers")


@case
def stopped(folder):
    """^C and SIGTERM end the server with status 0, and leave no file. The page then says that its server does not answer."""
    env_folder = os.path.join(folder, "tmp")
    os.mkdir(env_folder)
    os.environ["TMPDIR"] = env_folder
    path = os.path.join(TRACES, "calls.data")
    for number in (signal.SIGINT, signal.SIGTERM):
        with Server(path, *SYMFS) as s:
            with open(f"/proc/{s.process.pid}/status", encoding="ascii") as f:
                print(re.search(r"^Seccomp:.*$", f.read(), re.M)[0])
            check(s.get(s.path)[0] == 200, "no page")
            status, err = s.stop(number)
            check(status == 0, f"{number}: {status} {err}")
            check(not os.listdir(env_folder), os.listdir(env_folder))
    with Browser(folder) as b, Server(path, *SYMFS) as s:
        opened(b, s)
        s.stop(signal.SIGTERM)
        b.value("view.only(0, true)")
        b.until("!byId('banner').hidden")
        check("Has ptcap ended" in b.value("byId('banner').textContent"), b.value("byId('banner').textContent"))
    big = Run([PTCAP, "view", "-i", path, *SYMFS, "-o", os.path.join(folder, "x"), "--max-calls", "10"]).expect(1)
    check("--serve" in big.err, big.err)
    many = Run([PTCAP, "view", "--serve", "-i", path, *SYMFS, "--max-calls", "10"]).expect(1)
    check("more than 10 calls and gaps" in many.err and not many.out, many.err)
    for status, words, *options in ((2, "--port needs --serve", "--port", "1234"), (2, "cannot have -o", "--serve", "-o", "x"), (2, "1 to 65535", "--serve", "--port", "0"),
                                    (1, "No such file", "--serve", "-i", os.path.join(folder, "none")), (4, "matches --tid", "--serve", "-i", path, "--tid", "1")):
        r = Run([PTCAP, "view", *options])
        check(r.status == status and words in r.err and not r.out, f"{options}: {r.status} {r.err}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
