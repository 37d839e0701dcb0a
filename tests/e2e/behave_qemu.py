# SPDX-License-Identifier: MIT
"""Cases of behave.py: differences of QEMU, and limits of the emulated source."""

import os
import re
import signal

import lib
from cases import case
from lib import PTCAP, Run, check, prog, qemu_version
from perf_branches import perf_agrees
from recording import well_formed


def known():
    """Parse known.txt: {name: (argv, the first version of QEMU known to behave like the kernel; or
    None)}."""
    ret = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "known.txt"), encoding="ascii") as f:
        for line in f:
            line = line.split("#", 1)[0].strip()
            if line:
                name, words = line.split(":")
                name, _, fixed = name.partition(" <")
                argv = [os.path.join(lib.PROGS, w) if "prog_" in w else w for w in words.split()]
                ret[name] = argv, int(fixed) if fixed else None
    return ret


@case
def known_of_qemu(folder):
    """A program's different behaviour under QEMU is the same without ptcap. The recording shows
    what QEMU ran."""
    problems = []
    version = qemu_version()
    for name, (argv, fixed) in known().items():
        path, truth = os.path.join(folder, name), os.path.join(folder, name + ".truth")
        plain, bare = Run(argv), Run(["qemu-x86_64", "-cpu", "max", *argv])
        same = (plain.status, plain.out) == (bare.status, bare.out)
        if name == "far32" and plain.status == 128 + signal.SIGSEGV:
            continue  # this kernel has no 32-bit code segment
        if same != (fixed is not None and version >= fixed):
            problems.append(f"{name}: QEMU {version} {'does as the kernel does' if same else 'still differs'}")
        r = lib.record(path, argv, "--truth", truth)
        if (r.status, r.out) != (bare.status, bare.out):
            problems.append(f"{name}: {r.status} {r.out!r}, QEMU alone {bare.status} {bare.out!r}")
        lacks = "seccomp" if name.startswith("seccomp") else "int 0x80" if name == "int80" else None
        said = re.search(r"QEMU does not support some system calls of the program \((.*?)\)", r.err)
        if (said[1] if said else None) != lacks:
            problems.append(f"{name}: {r.err!r}")
        try:
            lib.equals_truth(path, truth)
        except lib.Failure as e:
            problems.append(f"{name}: {e}")
    check(not problems, "\n".join(problems))


@case
def code_once(folder):
    """Code that is translated again takes no memory: toggled 20000 times, or run by 40 processes.

    It decodes correctly in small work units, and with several threads.
    """
    forks = "i=0; while [ $i -lt 200 ]; do (j=$i); i=$((i+1)); done"
    script = "i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i+1)); done"
    # A quarter of the memory for all copies.
    runs = [("256K", [prog("crowd"), "flip", "20000"]), ("512K", ["/bin/sh", "-c", forks])]
    if qemu_version() < 8:  # later ones map libraries elsewhere in each process that executes a program
        runs.append(("512K", ["/bin/sh", "-c", script]))
    for n, (size, argv) in enumerate(runs):
        path, want = os.path.join(folder, f"f{n}"), os.path.join(folder, f"t{n}")
        r = lib.record(
            path, argv, "--code-size", size, "--psb-period", "2K", "--strict", "--truth", want
        ).expect(0)
        check("CUT SHORT" not in r.err, r.err)
        lib.equals_truth(path, want)
        one, two = (lib.decode(path, "-j", str(j)).expect(0).out for j in (1, 2))
        check(one == two, f"{path}: two threads list something else than one")


@case
def signals_moved(folder):
    """A signal reaches a thread that is sometimes moving to another CPU: the thread is there by then."""
    path = os.path.join(folder, "f")
    for _ in range(12):
        lib.record(path, [prog("tasks"), "alarm"], "-q", "--vcpus", "2").expect(0)
        lib.decode(path, "-F", "tid", "--strict").expect(0)


@case
def code_full(folder):
    """Without memory for more code the recording ends: complete up to then, reported, and the
    command runs on."""
    path, want = os.path.join(folder, "f"), os.path.join(folder, "t")
    argv = [prog("crowd"), "grow", "4000"]
    last = 0
    for size in ("64K", "112K", "144K", "176K"):
        r = lib.record(path, argv, "-q", "--code-size", size, "--truth", want).expect(0)
        check(r.out == "4000 grown, 0 bad\n", f"output {r.out!r}")
        check("CUT SHORT" in r.err and "--code-size" in r.err, f"it is not told: {r.err!r}")
        flow = lib.equals_truth(path, want)
        for each in flow.values():
            well_formed(each)
        last = max(last, len(flow))
    check(last == 6, f"{last} threads: it was always cut before they ran")
    lib.record(path, argv, "--code-size", "64K", "--strict").expect(3)
    argv = [prog("tasks"), "pool"]
    flow = {}
    for size in range(64, 1024, 4):  # the first size with several threads
        r = lib.record(path, argv, "--code-size", f"{size}K", "--truth", want).expect(0)
        check("CUT SHORT" in r.err, f"whole with {size}K, and never cut among its threads")
        flow = lib.equals_truth(path, want)
        if len(flow) > 1:
            break
    if lib.have_perf():
        perf_agrees("code_full", path, argv, flow)
    argv = [prog("crowd"), "grow", "4000"]
    r = lib.record(path, argv, "--code-size", "1M", "--strict").expect(0)
    check("CUT SHORT" not in r.err, r.err)
    for bad in ("0", "", "x", "60K", "100000", "17G"):
        r = lib.record(path, [prog("hello")], "--code-size", bad).expect(2)
        check(r.out == "", "the command ran")
    Run([PTCAP, "record", "--source", "step", "--code-size", "1M", "--", prog("hello")], cwd=folder).expect(2)


@case
def crowd(folder):
    """1024 threads at a time are recorded. Others run untraced, are counted, and their mappings are
    recorded."""
    path, want = os.path.join(folder, "f"), os.path.join(folder, "t")
    r = lib.record(path, [prog("crowd"), "crowd", "1100"], "--truth", want).expect(0)
    check(r.out == "1100 threads, code 42\n", f"output {r.out!r}")
    check("threads or processes of the command that were not recorded: 78\n" in r.err, f"message {r.err!r}")  # 1102 in all
    flow = lib.equals_truth(path, want)
    check(len(flow) == 1024, f"{len(flow)} threads")
    dump = Run([PTCAP, "dump", "-i", path]).expect(0).out
    check(re.search(r"MMAP2 .*//anon", dump), "the mapping of a thread that is not recorded is missing")
    lib.record(path, [prog("crowd"), "crowd", "1100"], "--strict").expect(3)


@case
def churn(folder):
    """Ended threads make space for others, even if other threads never rest."""
    path = os.path.join(folder, "f")
    r = lib.record(path, [prog("crowd"), "churn", "1200"], "--strict", "--truth-hash", path + ".h").expect(0)
    check(r.out == "1200 came\n", f"output {r.out!r}")


@case
def forks(folder):
    """The same for processes that end before ptcap has read their begin."""
    path, want = os.path.join(folder, "f"), os.path.join(folder, "t")
    r = lib.record(path, [prog("crowd"), "forks", "1200"], "--strict", "--truth", want).expect(0)
    check(r.out == "1200 forked\n", f"output {r.out!r}")
    check("keep running after the command" not in r.err, f"message {r.err!r}")
    flow = lib.equals_truth(path, want)
    check(len(flow) == 1201, f"{len(flow)} processes")


@case
def busy_daemon(folder):
    """A child that outlives the command and never rests does not delay the end of the recording."""
    path, want, begun = (os.path.join(folder, name) for name in ("f", "t", "begun"))
    os.mkfifo(begun)  # a child that never ran does not count as left behind
    script = '{ echo >"$1"; while :; do :; done; } >/dev/null 2>&1 & read -r line <"$1"; echo $!; exit 4'
    r = lib.record(path, ["/bin/sh", "-c", script, "sh", begun], "--truth", want).expect(4)
    os.kill(int(r.out), signal.SIGKILL)
    check("processes or threads that keep running after the command, untraced: 1\n" in r.err, f"message {r.err!r}")
    lib.equals_truth(path, want)
