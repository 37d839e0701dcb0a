#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""names.py NAME: functions and source lines get readable names.

Each function below is a case; its name and text state the behaviour.
"""

import http.server
import os
import re
import shutil
import threading

import lib
from lib import PTCAP, Run, check, prog
from missing import build_id

CASES = {}
CPP = ["names::shape::area(int) const", "names::shape::operator()(char const*)", " names::sum<int, 3u>(int const (&) ["]


def case(f):
    CASES[f.__name__] = f
    return f


def tool(*argv):
    if not shutil.which(argv[0]):
        lib.skip(f"no {argv[0]} here")
    return Run(list(argv)).expect(0).out


def recorded(folder, *how, by=prog("names")):
    """Record the program, changed by `how` (objcopy's options). Returns (recording, program)."""
    program, path = os.path.join(folder, "names"), os.path.join(folder, "perf.data")
    tool("objcopy", *how, by, program)
    lib.record(path, [program]).expect(0)
    return path, program


def decode(path, *options, **env):
    env = {**{k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"}, "PERF_BUILDID_DIR": "/nowhere", **env}
    return Run([PTCAP, "decode", "-i", path, "--no-pager", *options], env=env).expect(0)


def functions(path, *options, **env):
    """Return the functions at both ends of all branches, without offsets."""
    out = decode(path, "-F", "sym,tosym", *options, **env).out
    return {re.sub(r"\+0x[0-9a-f]+$", "", s) for line in out.splitlines() for s in line.split(" ")}


@case
def demangled(folder):
    """C++ names as in the source; with --no-demangle the linker's names; --sym accepts both."""
    path, program = recorded(folder)
    text = decode(path).out
    for name in CPP:
        check(name in text, f"{name}: {text}")
    check(not re.search(r"\b_Z", text), text)
    have = functions(path)
    check("names::shape::area(int)_const" in have, have)  # fields in a line have no blanks
    raw = functions(path, "--no-demangle")
    known = {line.split()[-1] for line in tool("nm", program).splitlines()}
    check({n for n in raw if n.startswith("_ZN5names")} <= known, raw)
    check("_ZNK5names5shape4areaEi" in raw, raw)
    want = decode(path, "-F", "from,to", "--sym", "names::shape::area(int) const").out
    check(len(want.splitlines()) == 2, want)
    for other in ("names::shape::area", "_ZNK5names5shape4areaEi"):
        check(decode(path, "-F", "from,to", "--sym", other).out == want, other)
    check(decode(path, "-F", "from,to", "--no-demangle", "--sym", "_ZNK5names5shape4areaEi").out == want, want)
    calls = decode(path, "--calls").out
    check("| " in calls and "names::shape::area(int) const;" in calls and "twice();" in calls, calls)
    out = decode(path, "--calls", "--format", "json").out
    check('"name":"names::shape::area(int) const"' in out, out)


@case
def aliases(folder):
    """Of several names for a place global goes before weak, and fewer underscores before more. A
    label inside a function does not hide it, and a label outside is a name."""
    path, _ = recorded(folder)
    have = functions(path)
    check("twice" in have and not have & {"__twice", "weak_twice", "inner_label"}, have)
    check({"by_hand", "nobodys"} <= have, have)


@case
def plt(folder):
    """A PLT stub is named after its target, for all linker options, also its part for the first
    call only."""
    for name in ("names", "names_ibt"):
        sub = os.path.join(folder, name)
        os.mkdir(sub)
        path, _ = recorded(sub, "--strip-all", by=prog(name))
        out = decode(path, "-F", "sym,tosym").out
        check(re.search(r"^\S+ puts@plt\+0x0\nputs@plt\S* puts@plt", out, re.M), f"{name}: {out}")


@case
def like_perf(folder):
    """perf gives the same names to the program's own code, without parameters. perf is wrong in the
    other cases: a label inside a function hides the function, and perf extends _init, which has
    no size, over the stubs."""
    if not lib.have_perf():
        lib.skip("no perf here")
    path, program = recorded(folder)
    env = {**os.environ, "HOME": folder, "DEBUGINFOD_URLS": ""}
    r = Run([lib.PERF, "script", "-i", path, "--itrace=b", "-F", "ip,sym,symoff,dso"], env=env).expect(0)
    theirs = {}
    for line in r.out.splitlines():
        m = re.match(r"\s*([0-9a-f]+) (.+)\+0x([0-9a-f]+) \((.*)\)", line)
        if m and m[4] == program and m[2] not in ("inner_label", "_init", ".plt"):  # .plt: 6.12
            theirs[int(m[1], 16)] = (m[2].replace(" ", "_"), m[3])
    ours = dict(line.split() for line in decode(path, "-F", "from,sym").out.splitlines())
    check(len(theirs) > 8, r.out)
    for ip, (name, off) in theirs.items():
        have = ours[f"{ip:x}"]
        theirs_short, short = name.split("(")[0], re.split(r"[(+]", have)[0]
        # perf 6.12 puts the return type before the name of a template instance.
        check(have.endswith("+0x" + off) and theirs_short in (short, "int_" + short), (ip, name, off, have))


def separated(folder, *how):
    """Return the program without its symbols, and a debug file that has them. The link's CRC is right."""
    debug = os.path.join(folder, "names.debug")
    tool("objcopy", "--only-keep-debug", *how, prog("names"), debug)
    return debug, ("--strip-all", *how, f"--add-gnu-debuglink={debug}")


@case
def debug_by_link(folder):
    """.gnu_debuglink leads to the symbols and the lines, checked by the CRC if there is no build-id."""
    for how in ((), ("--remove-section=.note.gnu.build-id",)):
        debug, strip = separated(folder, *how)
        path, _ = recorded(folder, *strip)
        check("names::shape::area(int)_const" in functions(path), how)
        lines = decode(path, "-F", "srcline").out
        check(re.search(r"prog_names\.cpp:\d+", lines), lines)
        os.mkdir(os.path.join(folder, ".debug"))
        os.rename(debug, os.path.join(folder, ".debug", "names.debug"))
        check("twice" in functions(path), how)
        with open(os.path.join(folder, ".debug", "names.debug"), "ab") as f:
            f.write(b"more")
        # Another file of that name: the CRC reveals it, unless the build-id matches.
        check(("twice" in functions(path)) == (how == ()), how)
        shutil.rmtree(os.path.join(folder, ".debug"))
        check("twice" not in functions(path), how)


@case
def debug_by_id(folder):
    """/usr/lib/debug/.build-id, within --symfs."""
    debug, strip = separated(folder)
    path, program = recorded(folder, *strip)
    root, bid = os.path.join(folder, "root"), build_id(program)
    where = os.path.join(root, "usr/lib/debug/.build-id", bid[:2])
    os.makedirs(where)
    os.makedirs(root + folder)
    shutil.copy(program, root + program)
    os.rename(debug, os.path.join(where, bid[2:] + ".debug"))
    check("twice" not in functions(path), "the symbols are not away")
    check("twice" in functions(path, "--symfs", root), "not found")
    check("prog_names.cpp:" in decode(path, "-F", "srcline", "--symfs", root).out, "no lines")


@case
def packed(folder):
    """Symbols packed into .gnu_debugdata, as some distributions ship them."""
    mini = os.path.join(folder, "mini")
    tool("objcopy", "--only-keep-debug", "--strip-debug", prog("names"), mini)
    tool("xz", mini)
    path, _ = recorded(folder, "--strip-all", f"--add-section=.gnu_debugdata={mini}.xz")
    check({"names::shape::area(int)_const", "puts@plt"} <= functions(path), functions(path))


@case
def static(folder):
    """A static program: its symbols, and the stubs of functions with several implementations."""
    path = os.path.join(folder, "perf.data")
    lib.record(path, [prog("libc_static")]).expect(0)
    have = functions(path)
    check("main" in have and any(n.endswith("@plt") for n in have), have)


class Server(http.server.SimpleHTTPRequestHandler):
    root, asked = None, []

    def translate_path(self, path):
        Server.asked.append(path)
        return Server.root + path

    def log_message(self, *_):
        pass


@case
def debuginfod(folder):
    """A debuginfod server gives missing files, if the user names one, and is not asked otherwise."""
    try:
        lib.ctypes.CDLL("libdebuginfod.so.1")
    except OSError:
        lib.skip("no libdebuginfod.so.1 here")
    debug, strip = separated(folder)
    path, program = recorded(folder, *strip)
    Server.root, bid = os.path.join(folder, "www"), build_id(program)
    os.makedirs(os.path.join(Server.root, "buildid", bid))
    os.rename(debug, os.path.join(Server.root, "buildid", bid, "debuginfo"))
    before = decode(path, "-F", "from,to").out
    os.rename(program, os.path.join(Server.root, "buildid", bid, "executable"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        r = decode(path)
        check("no code for" in r.err and not Server.asked, f"{Server.asked}: {r.err}")
        env = {"HOME": folder, "DEBUGINFOD_CACHE_PATH": os.path.join(folder, "cache")}
        r = decode(path, "-F", "from,to", DEBUGINFOD_URLS=url, **env)
        check(r.out == before and "no code for" not in r.err, r.err)
        check(f"/buildid/{bid}/executable" in Server.asked, Server.asked)
        check("debuginfod: 1 file taken from there" in r.err, r.err)
        r = decode(path, "-F", "tosym,srcline", "--debuginfod", url, **env)
        check("names::shape::area" in r.out and "prog_names.cpp:" in r.out, r.out)
        Server.asked.clear()
        info = Run([PTCAP, "info", "-i", path], env={**os.environ, **env, "DEBUGINFOD_URLS": url}).expect(0).out
        check("files missing" in info and not Server.asked, info)
    finally:
        server.shutdown()


if __name__ == "__main__":
    lib.main(CASES)
