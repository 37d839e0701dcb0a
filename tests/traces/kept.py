#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kept.py NAME | folder | neutral | comparison_can_fail | update: the recordings in traces/.

A NAME is that of a recording. The command that traces/README.md shows for it prints the text in
traces/expected/, and exits with the status there. Both engines agree. The recording decodes without
the programs to the same branches. `update` writes traces/expected/.

Needs PTCAP.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

PTCAP = os.path.realpath(os.environ["PTCAP"])
TRACES = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", "traces"))
MOST_BYTES = 2 << 20
CUT = "damaged"  # only ptcap recover reads it
# Places of a machine, and variables of an environment.
PRIVATE = [b"/tmp/", b"/home/", b"/root/", b"/usr/", b"/etc/", b"PATH=", b"HOME=", b"USER=", b"PWD="]


class Failure(Exception):
    pass


def check(ok, message):
    if not ok:
        raise Failure(message)


def rows(traces):
    """The recordings in the table of README.md, with their commands."""
    with open(os.path.join(traces, "README.md"), encoding="utf-8") as f:
        found = re.findall(r"^\| `([^`]+)\.data` \|.*\| `([^`|]+)` \|$", f.read(), re.M)
    check(len(found) == len(dict(found)), "README.md has two rows for a recording")
    return dict(found)


def run(folder, command):
    """Run the command in a folder that has the recordings as traces. Returns the text to compare."""
    env = {k: v for k, v in os.environ.items() if k not in ("DEBUGINFOD_URLS", "PTCAP_SOURCE")}
    env |= {"PATH": os.path.dirname(PTCAP) + os.pathsep + os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"}
    p = subprocess.run(["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    out, err = (b.decode("utf-8", "replace") for b in (p.stdout, p.stderr))
    return f"$ {command}\n{out}--- messages ---\n{err}--- exit status {p.returncode} ---\n"


def expected(traces, name):
    return os.path.join(traces, "expected", name + ".txt")


def compare(folder, name):
    """Compare what the command prints with what was kept."""
    traces = os.path.join(folder, "traces")
    command = rows(traces).get(name)
    check(command, f"README.md has no row for {name}.data")
    with open(expected(traces, name), encoding="utf-8") as f:
        want = f.read().splitlines()
    got = run(folder, command).splitlines()
    for n, (g, w) in enumerate(zip(got + [None] * len(want), want + [None] * len(got)), 1):
        check(g == w, f"traces/expected/{name}.txt:{n}: expected\n  {w}\nbut the command prints\n  {g}")


def decodes(folder, name):
    """Compare the engines, and the branches with and without the programs."""
    decode = f"ptcap decode traces/{name}.data -F tid,time,from,to,kind"
    text = run(folder, f"ptcap decode traces/{name}.data --engine=verify >/dev/null")
    check("exit status 0" in text, text)
    alone, named = (run(folder, decode + o).split("\n--- messages")[0].splitlines()[1:] for o in ("", " --symfs traces/root"))
    check(alone and alone == named, f"{name}.data has other branches without its programs: {len(alone)}, {len(named)}")


def recording(folder, name):
    compare(folder, name)
    if name != CUT:
        decodes(folder, name)


def check_folder(traces):
    """Check that each recording has a row and an expected text, and that all files are small."""
    names = {n[:-5] for n in os.listdir(traces) if n.endswith(".data")}
    texts = {n[:-4] for n in os.listdir(os.path.join(traces, "expected"))}
    check(names == set(rows(traces)), f"recordings without a row, or rows without a recording: {names ^ set(rows(traces))}")
    check(names == texts, f"recordings without an expected text, or texts without a recording: {names ^ texts}")
    sizes = [os.path.getsize(os.path.join(where, n)) for where, _, files in os.walk(traces) for n in files]
    check(sum(sizes) <= MOST_BYTES, f"traces/ has {sum(sizes)} bytes, more than {MOST_BYTES}")
    print(f"{len(names)} recordings, {sum(sizes)} bytes in all files")


def has_nothing_private(path, private):
    with open(path, "rb") as f:
        data = f.read()
    found = [p for p in private if p in data]
    check(not found, f"{path} has {found}")


def neutral(folder):
    """No recording or program names a host, a user, a place of a machine, or a variable of an environment."""
    for name in rows(os.path.join(folder, "traces")):
        path = os.path.join(folder, "traces", name + ".data")
        if name != CUT:
            plain = os.path.join(folder, "plain.data")
            subprocess.run([PTCAP, "convert", "--decompress", path, "-o", plain], check=True)
            hosts = run(folder, f"ptcap info traces/{name}.data")
            check(re.search(r"^host +demo, [0-9.]+, x86_64$", hosts, re.M), f"{name}.data: {hosts}")
            files = re.findall(r'filename="([^"]*)"', run(folder, f"ptcap dump --type mmap2 traces/{name}.data"))
            other = [f for f in files if not re.match(r"/opt/demo/[a-z]+$|\[vdso\]$|//anon$", f)]
            check(files and not other, f"{name}.data: {other}")
            path = plain
        has_nothing_private(path, PRIVATE)
    for where, _, files in os.walk(os.path.join(TRACES, "root")):
        for name in files:
            has_nothing_private(os.path.join(where, name), set(PRIVATE) - {b"/usr/"})  # headers of the compiler


def fails(what, f, *args):
    try:
        f(*args)
    except Failure as e:
        print(f"{what}: {str(e).splitlines()[0]}")
        return
    raise Failure(f"{what}: not found")


def comparison_can_fail(folder):
    """A changed recording, a changed expectation and a recording without a row are found."""
    traces = os.path.join(folder, "traces")
    os.remove(traces)
    shutil.copytree(TRACES, traces)
    recording(folder, "calls")
    path, text = os.path.join(traces, "calls.data"), expected(traces, "calls")
    with open(path, "rb") as f:
        data = f.read()
    at = data.index(b"\x02\x82" * 8)  # the first PSB
    with open(path, "wb") as f:
        f.write(data[: at + 0x200] + bytes([0x55] * 32) + data[at + 0x220 :])
    fails("a changed trace", recording, folder, "calls")
    with open(path, "wb") as f:
        f.write(data)
    with open(text, "a", encoding="utf-8") as f:
        f.write("more\n")
    fails("a longer expectation", compare, folder, "calls")
    shutil.copy(path, os.path.join(traces, "new.data"))
    fails("a recording without a row", check_folder, traces)
    os.remove(os.path.join(traces, "new.data"))
    os.remove(text)
    fails("a recording without an expectation", check_folder, traces)
    with open(os.path.join(traces, "expected", "calls.txt"), "wb") as f:
        f.truncate(MOST_BYTES)
    fails("too many bytes", check_folder, traces)


def update(folder):
    os.makedirs(os.path.join(TRACES, "expected"), exist_ok=True)
    for name, command in rows(TRACES).items():
        with open(expected(TRACES, name), "w", encoding="utf-8") as f:
            f.write(run(folder, command))


def main(name):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(TRACES, os.path.join(folder, "traces"))
        try:
            if name == "folder":
                check_folder(TRACES)
            elif name in ("neutral", "comparison_can_fail", "update"):
                globals()[name](folder)
            else:
                recording(folder, name)
        except Failure as e:
            return str(e)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
