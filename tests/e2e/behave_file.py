# SPDX-License-Identifier: MIT
"""Cases of behave.py: the output file and the disk."""

import json
import os
import resource

import lib
from cases import case
from lib import PTCAP, Run, check, prog


@case
def bad_folder(folder):
    """An output that cannot be made (125), or is no file (2: usage): the message names it, and the
    command does not run."""
    for path, want in ((os.path.join(folder, "no", "f"), 125), (folder, 2)):
        r = lib.record(path, [prog("hello")]).expect(want)
        check(path in r.err, f"the message does not name it: {r.err!r}")
        check(r.out == "", "the command ran")
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


@case
def keeps_old(folder):
    """perf.data is the default; an existing one is kept as perf.data.old, as perf does."""
    argv = [*lib.RECORD, "--"]
    Run([*argv, prog("hello")], cwd=folder).expect(0)
    with open(os.path.join(folder, "perf.data"), "rb") as f:
        first = f.read()
    Run([*argv, prog("exit"), "5"], cwd=folder).expect(5)
    check(sorted(os.listdir(folder)) == ["perf.data", "perf.data.old"], f"{os.listdir(folder)}")
    with open(os.path.join(folder, "perf.data.old"), "rb") as f:
        check(f.read() == first, "perf.data.old is not the first recording")
    Run([PTCAP, "decode", "--strict"], cwd=folder).expect(0)


def fails_to_write(r):
    """The required result if the output cannot be written."""
    check(r.status == 125, f"exit status {r.status}, expected 125\n{r.err}")
    check(r.out == "ready\ndone\n", f"the command did not run to its end: {r.out!r}")
    check("perf.data" in r.err, f"the message does not name the file: {r.err!r}")


@case
def full_disk(folder):
    """On a full disk: an error, no partial file, no temporary file, and the command runs to its end."""
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    mount = 'mount -t tmpfs -o size=1m ptcap-test "$1"'
    if Run([*unshare, "sh", "-c", mount, "sh", folder]).status:
        lib.skip("no tmpfs can be mounted here")
    # The mount lives as long as this shell, so the shell also lists the remaining files. 768 KiB
    # are used already.
    script = (
        f"{mount} && head -c 786432 /dev/zero >\"$1/filler\" || exit 99\n"
        'list=$2; cd "$1"; shift 2; "$@"; s=$?; ls -A . >"$list"; exit $s'
    )
    left = os.path.join(folder, "left")
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    argv = [*lib.RECORD, "-m", "64K,64K", "-o", "perf.data", "--"]
    r = Run([*unshare, "sh", "-c", script, "sh", disk, left, *argv, prog("busy"), "200000"])
    fails_to_write(r)
    check("No space left" in r.err, f"the message does not say why: {r.err!r}")
    with open(left, encoding="ascii") as f:
        check(f.read() == "filler\n", "something was left behind")


@case
def full_disk_later(folder):
    """A disk that fills up during the recording: the recording is complete up to then, and the rest
    is accounted for."""
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    mount = 'mount -t tmpfs -o size=4m ptcap-test "$1"'
    if Run([*unshare, "sh", "-c", mount, "sh", folder]).status:
        lib.skip("no tmpfs can be mounted here")
    script = f'{mount} || exit 99; kept=$2; cd "$1"; shift 2; "$@"; s=$?; cp perf.data "$kept"; ls -A .; exit $s'
    disk, kept = os.path.join(folder, "disk"), os.path.join(folder, "kept")
    os.mkdir(disk)
    # --no-retcomp: more trace than fits, in less time.
    argv = [*lib.RECORD, "--strict", "-v", "--no-retcomp", "-m", "64K,512K", "-o", "perf.data", "--"]
    argv += ["sh", "-c", '"$@"; exit 0', "sh"]  # an exit status that --strict may change
    r = Run([*unshare, "sh", "-c", script, "sh", disk, kept, *argv, prog("busy"), "3000000"]).expect(3)
    check(r.out == "ready\ndone\nperf.data\n", f"the command did not end, or files were left: {r.out!r}")
    check("LOST: the disk is full: 'perf.data' ends there" in r.err, r.err)
    Run([lib.PTCAP, "dump", "--verify", "-i", kept]).expect(0)
    info = json.loads(Run([lib.PTCAP, "info", "--format", "json", "-i", kept]).expect(0).out)
    for ring in info["ledger"]["rings"]:
        check(1 << 20 < ring["aux_stored"] < ring["aux_read"] == ring["aux_made"], ring)
    check(lib.decode(kept, "--stats").expect(0).out, "nothing is decoded")


@case
def file_limit(folder):
    """The same with RLIMIT_FSIZE, whose signal must not kill ptcap."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (32768, 32768))

    path = os.path.join(folder, "perf.data")
    argv = [prog("busy"), "200000"]
    r = lib.record(path, argv, "-m", "8K,8K", preexec_fn=limit)
    fails_to_write(r)
    check("too large" in r.err, f"the message does not say why: {r.err!r}")
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")
