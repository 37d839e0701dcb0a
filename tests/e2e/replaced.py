#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replaced.py NAME: files that are replaced, or deleted, during the recording of a program that has
them mapped.

Each function below is a case. In each, all branches are listed, and nothing else: the recording
has the code of the deleted file.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import lib
from lib import PTCAP, Run, check, prog
from snapshot import Live

CASES = {}
# perf keeps copies of files in ~/.debug, where decode would find the deleted file.
os.environ["PERF_BUILDID_DIR"] = "/nowhere"


def case(f):
    CASES[f.__name__] = f
    return f


def skip(why):
    """A skip is a failure if nothing may be skipped (scripts/test --all)."""
    check(os.environ.get("PTCAP_GUEST") != "required", why)
    lib.skip(why)


def put(folder, name, source):
    """Make a copy of one of the test programs."""
    path = os.path.join(folder, name)
    shutil.copy(os.path.join(lib.PROGS, source), path)
    return path


def is_whole(folder, path, truth, gone, out=None):
    """Everything is decoded, the files in `gone` are reported as gone, and `info` misses nothing."""
    r = Run([PTCAP, "decode", "-i", path, "-F", "tid,from,to,kind", "--strict"]).expect(0) if out is None else out
    with open(truth, encoding="ascii") as f:
        lib.same_transfers(lib.transfers(r.out), lib.transfers(f.read()), "decode", "truth")
    said = set(re.findall(r"'([^']*)' was gone or another file when the recording ended", r.err))
    check(said == set(gone), f"{said}, not {gone}: {r.err}")
    if out is not None:
        return
    info = Run([PTCAP, "info", "-i", path]).expect(0).out
    check(re.search(r"^decode +complete on this machine, with", info, re.M), info)
    verify = Run([PTCAP, "dump", "-i", path, "--verify"])
    check(verify.status == 0, verify.out + verify.err)
    rows = map(json.loads, Run([PTCAP, "dump", "-i", path, "--format", "json"]).expect(0).out.splitlines())
    code = {r["fields"]["filename"] for r in rows if r.get("fields", {}).get("name") == "ptcap code"}
    check(code == set(gone), f"{code}")
    if lib.have_perf():
        env = {**os.environ, "HOME": folder, "DEBUGINFOD_URLS": ""}
        perf = Run([lib.PERF, "script", "-i", path, "--itrace=b", "-F", "ip,addr"], env=env)
        check(perf.status == 0 and perf.out, perf.err)


def recorded(folder, argv, gone, **kw):
    path, truth = os.path.join(folder, "perf.data"), os.path.join(folder, "truth")
    lib.record(path, argv, "--truth", truth, "--no-retcomp", **kw).expect(0)
    is_whole(folder, path, truth, gone)


@case
def library(folder):
    """A library is upgraded during its use."""
    old, new = put(folder, "lib.so", "libprog_lib.so"), put(folder, "new.so", "libprog_lib_two.so")
    recorded(folder, [prog("upgrade"), "library", old, new], [old])


@case
def unlinked(folder):
    """A library is deleted during its use."""
    old = put(folder, "lib.so", "libprog_lib.so")
    recorded(folder, [prog("upgrade"), "unlinked", old], [old])


@case
def itself(folder):
    """A program replaces itself."""
    old, new = put(folder, "program", "prog_upgrade_static"), put(folder, "new", "prog_hello")
    recorded(folder, [old, "itself", new], [old])


@case
def forked(folder):
    """A program is upgraded between fork and exec: parent and child run two files of one name."""
    old, new = put(folder, "program", "prog_upgrade_static"), put(folder, "new", "prog_hello")
    recorded(folder, [old, "forked", new], [old])


@case
def bound(folder):
    """Another file is mounted over a library. Recorded and decoded within that mount."""
    if os.geteuid():
        skip("only root can mount")
    if Run(["unshare", "-m", "true"]).status:
        skip("no mount namespace can be made here")
    old, new = put(folder, "lib.so", "libprog_lib.so"), put(folder, "new.so", "libprog_lib_two.so")
    path, truth = os.path.join(folder, "perf.data"), os.path.join(folder, "truth")
    inside = " && ".join((
        '"$0" record -q --source "$1" -o "$2" --truth "$3" --no-retcomp -- "$4" bound "$5" "$6"',
        '"$0" decode -i "$2" -F tid,from,to,kind --strict',
    ))
    r = Run(["unshare", "-m", "sh", "-c", inside, PTCAP, lib.SOURCE, path, truth, prog("upgrade"), old, new]).expect(0)
    is_whole(folder, path, truth, [old], r)


@case
def container(folder):
    """A program in a mount namespace of its own, where its name refers to another file than here."""
    if os.geteuid():
        skip("only root can make a mount namespace")
    name, new = put(folder, "program", "prog_indirect"), put(folder, "new", "prog_hello")
    argv = [prog("upgrade_static"), "contained", name, new]
    if Run(argv).status == 77:
        skip("no mount namespace can be made here")
    recorded(folder, argv, [name])


def without_id(folder, name, source):
    """The same copy without a build-id."""
    if not shutil.which("objcopy"):
        skip("no objcopy here (Debian: binutils)")
    path = put(folder, name, source)
    Run(["objcopy", "--remove-section", ".note.gnu.build-id", path]).expect(0)
    return path


@case
def nameless(folder):
    """Files without a build-id are distinguished by their inodes."""
    old, new = without_id(folder, "lib.so", "libprog_lib.so"), without_id(folder, "new.so", "libprog_lib_two.so")
    recorded(folder, [prog("upgrade"), "library", old, new], [old])


@case
def rebuilt(folder):
    """Such a file that is replaced after the recording is not used; --symfs still uses it."""
    library = without_id(folder, "lib.so", "libprog_lib.so")
    new = without_id(folder, "new.so", "libprog_lib_two.so")
    path, truth = os.path.join(folder, "perf.data"), os.path.join(folder, "truth")
    lib.record(path, [prog("dlopen"), library], "--truth", truth, "--no-retcomp").expect(0)
    with open(truth, encoding="ascii") as f:
        want = lib.transfers(f.read())
    command = [PTCAP, "decode", "-i", path, "-F", "tid,from,to,kind"]
    lib.same_transfers(lib.transfers(Run([*command, "--strict"]).expect(0).out), want, "decode", "truth")
    os.rename(library, library + ".old")
    os.rename(new, library)
    r = Run([*command, "--strict"]).expect(3)
    got = lib.transfers("".join(s for s in r.out.splitlines(True) if not s.startswith("#")))
    for tid, flow in got.items():
        rest = iter(want[tid])
        check(all(t in rest for t in flow), "branches are listed that did not happen")
    check(f"'{library}' (no build-id; its inode is another one now)" in r.err, r.err)
    Run([*command, "--symfs", "/"])  # with any result
    os.rename(library + ".old", library)
    lib.same_transfers(lib.transfers(Run([*command, "--strict"]).expect(0).out), want, "decode", "truth")


# --- snapshots and crashes: each file has the code that it needs ----------------------------------

WHOLE = ["-m", "256K,4M"]  # all of the program
SMALL = ["-m", "256K,8K"]
ROUNDS = {"step": "3000", "emu": "100000"}[lib.SOURCE]  # more than a small ring holds


def code_in(path):
    """Return the files whose code is in a recording."""
    rows = map(json.loads, Run([PTCAP, "dump", "-i", path, "--format", "json"]).expect(0).out.splitlines())
    return {r["fields"]["filename"] for r in rows if r.get("fields", {}).get("name") == "ptcap code"}


def part(path, gone):
    """Check a file by itself: verified, and decoded without a loss; it has the code of the files in
    `gone`, and of no others. Returns the listed lines.
    """
    Run([PTCAP, "dump", "-i", path, "--verify"]).expect(0)
    check(code_in(path) == set(gone), f"{path}: code of {code_in(path)}, not of {gone}")
    flow = Run([PTCAP, "decode", "-i", path, "-F", "from,to,kind", "--strict"]).expect(0).out.splitlines()
    gaps = [s for s in flow if s.startswith("#")]
    check(not gaps or (gaps == flow[:1] and "cause=snapshot" in gaps[0]), f"{path} has gaps: {gaps}")
    newest = json.loads(Run([PTCAP, "info", "-i", path, "--format", "json"]).expect(0).out)["newest"]
    # On a busy machine steps are slow, and a small ring buffer has more time packets than branches.
    check(newest["complete"] and len(flow) > len(gaps), f"{len(flow)}: {newest}")
    return flow[len(gaps) :]


def take(live):
    check(live.command("snapshot") == "ack", f"no snapshot: {live.err()}")
    return os.path.join(live.folder, live.files()[-1])


def says(stdout, text):
    line = stdout.readline()
    check(line == text + b"\n", f"{line} instead of {text}")


def goes_on(stdin):
    stdin.write(b"\n")
    stdin.flush()


@case
def snapshots(folder):
    """A program is upgraded between snapshots: each later snapshot has the program's old code."""
    for n, rings in enumerate((WHOLE, SMALL)):
        inner = os.path.join(folder, str(n))
        os.mkdir(inner)
        old, new = put(inner, "program", "prog_upgrade_static"), put(inner, "new", "prog_hello")
        live = Live(inner, "--on-exit", *rings, "--", old, "awaited", new, ROUNDS)
        flows = []
        for text, gone in ((b"looped", []), (b"replaced", [old]), (b"looped long", [old])):
            says(live.p.stdout, text)
            flows.append(part(take(live), gone))
            goes_on(live.p.stdin)
        live.ends(0)
        check(len(live.files()) == 4, f"{live.files()}")
        flows.append(part(os.path.join(inner, live.files()[-1]), [old]))
        for one, more in zip(flows, flows[1:] if rings == WHOLE else []):
            text = lib.first_difference(one[:-1], more[: len(one) - 1], "one", "the next")
            check(len(one) < len(more) and not text, f"not the same program, further on: {text}")


@case
def forgotten(folder):
    """The code of a file is in the snapshots as long as their records name that file."""
    copy = put(folder, "copy", "prog_busy")
    script = f"{copy} 9; rm {copy}; echo gone; read x; {prog('busy')} {lib.BUSY}; exit 0"
    live = Live(folder, "-m", "256K,64K", "--", "/bin/dash", "-c", script)
    for text in (b"ready", b"done", b"gone"):
        says(live.p.stdout, text)
    part(take(live), [copy])
    goes_on(live.p.stdin)
    says(live.p.stdout, b"ready")
    for _ in range(10000):
        path = take(live)
        named = re.search(f'MMAP2 .*filename="{copy}"', Run([PTCAP, "dump", "-i", path]).expect(0).out)
        part(path, [copy] if named else [])
        if not named:
            break
    check(not named, "it is never forgotten")
    live.p.stdin.close()
    live.ends(0)


@case
def attached(folder):
    """The same for a program that already runs, and for one that was replaced before."""
    for late in (False, True):
        inner = os.path.join(folder, str(late))
        os.mkdir(inner)
        old, new = put(inner, "program", "prog_upgrade_static"), put(inner, "new", "prog_hello")
        with subprocess.Popen([old, "awaited", new, ROUNDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as t:
            says(t.stdout, b"looped")
            if late:
                goes_on(t.stdin)
                says(t.stdout, b"replaced")
            live = Live(inner, "--on-exit", *WHOLE, "-p", str(t.pid))
            lib.until(lambda: "waiting; " in live.err(), "attached")
            goes_on(t.stdin)
            if not late:
                says(t.stdout, b"replaced")
                goes_on(t.stdin)
            says(t.stdout, b"looped long")
            # A file deleted before cannot be opened: its code is copied from memory as it runs.
            gone = [] if late else [old]
            part(take(live), gone)
            goes_on(t.stdin)
            live.ends(0)
            check(t.wait() == 0, f"exit status {t.returncode}")
            part(os.path.join(inner, live.files()[-1]), gone)


@case
def crashing(folder):
    """A program dies after its upgrade: its recording has the code, with the whole trace or only
    its end."""
    for n, rings in enumerate(([], WHOLE, SMALL)):
        inner = os.path.join(folder, str(n))
        os.mkdir(inner)
        old, new = put(inner, "program", "prog_upgrade_static"), put(inner, "new", "prog_hello")
        path, truth = os.path.join(inner, "perf.data"), os.path.join(inner, "truth")
        options = rings or ["--truth", truth]
        Run([PTCAP, "crash", "--source", "step", "-o", path, *options, "--", old, "crashing", new]).expect(128 + signal.SIGSEGV)
        if rings:
            part(path, [old])
        else:
            is_whole(inner, path, truth, [old])
        shown = json.loads(Run([PTCAP, "crash", "show", "-i", path, "--format", "json"]).expect(0).out)
        check(shown["signal"] == "SIGSEGV" and shown["trace_ends_there"], shown["text"])
        check(len(shown["branches"]) > 20 and "differ_at" not in shown, shown["text"])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
