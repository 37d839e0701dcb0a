# SPDX-License-Identifier: MIT
"""Cases of behave.py: exit statuses, and the choice of a source."""

import os
import shutil

import lib
from cases import case
from lib import PTCAP, Run, check, prog


@case
def status(folder):
    """ptcap exits with the command's exit status, 128 + n for signal n; the file exists each time."""
    path = os.path.join(folder, "f")
    for args, want in (
        ([], 0),
        (["1"], 1),
        (["125"], 125),
        (["255"], 255),
        (["sig", "15"], 143),
        (["sig", "9"], 137),
        (["sig", "6"], 134),
    ):
        truth = os.path.join(folder, "t")
        lib.record(path, [prog("exit"), *args], "--truth", truth).expect(want)
        lib.equals_truth(path, truth)
        os.unlink(path)


@case
def not_found(folder):
    """A command that does not exist: 127, its name in the message, no file."""
    for name in ("ptcap-no-such-command", os.path.join(folder, "no", "such")):
        r = lib.record(os.path.join(folder, "f"), [name]).expect(127)
        check(name in r.err, f"the message does not name it: {r.err!r}")
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


@case
def not_executable(folder):
    """A command that is not executable: 126, no file."""
    plain = os.path.join(folder, "plain")
    with open(plain, "w", encoding="ascii") as f:
        f.write("no program\n")
    os.mkdir(os.path.join(folder, "out"))
    for name in (plain, folder):
        r = lib.record(os.path.join(folder, "out", "f"), [name]).expect(126)
        check(name in r.err, f"the message does not name it: {r.err!r}")
    check(os.listdir(os.path.join(folder, "out")) == [], "a file was left behind")


@case
def plain_script(folder):
    """The shell runs a script that names no interpreter, as everywhere."""
    path, truth = os.path.join(folder, "f"), os.path.join(folder, "t")
    script = os.path.join(folder, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write('echo "$0" "$#" "$2"\nexit 4\n')
    os.chmod(script, 0o755)
    r = lib.record(path, [script, "", "a  b"], "--truth", truth).expect(4)
    check(r.out == f"{script} 2 a  b\n", r.out)
    lib.equals_truth(path, truth)


@case
def bad_options(folder):
    """Usage errors: exit 2, a message, no file, and the command does not run."""
    path = os.path.join(folder, "f")
    hello = prog("hello")
    for args in (
        [],
        ["--no-such-option", "--", hello],
        ["--source", "nonsense", "--", hello],
        ["-m", "nonsense", "--", hello],
        ["-m", "12K", "--", hello],
        ["-m", "4K,8K", "--", hello],
        ["-m", "64K,100", "--", hello],
        ["-m", "", "--", hello],
        ["-z0", "--", hello],
        ["-z23", "--", hello],
        ["--compression-level=fast", "--", hello],
    ):
        r = Run([PTCAP, "record", "-o", path, *args]).expect(2)
        check(r.err.startswith("ptcap"), f"{args}: message {r.err!r}")
        check(r.out == "", f"{args}: the command ran")
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


@case
def no_pt(folder):
    """Without Intel PT --source pt names what is missing, and runs nothing."""
    if os.path.exists("/sys/bus/event_source/devices/intel_pt"):
        lib.skip("this machine has Intel PT")
    path = os.path.join(folder, "f")
    r = Run([PTCAP, "record", "--source", "pt", "-o", path, "--", prog("hello")]).expect(125)
    check("intel_pt" in r.err or "Intel PT" in r.err, f"what is missing? {r.err!r}")
    check(r.out == "", "the command ran")
    check(os.listdir(folder) == [], f"left behind: {os.listdir(folder)}")


def chooses(folder, source, words, argv, *options, status=0, **env):
    """--source auto chooses this source, prints it with the reason in one line, and the recording
    is right."""
    path, truth = os.path.join(folder, "auto"), os.path.join(folder, "auto.truth")
    r = Run([PTCAP, "record", "--source", "auto", "-o", path, "--truth", truth, *options, "--", *argv],
            env=dict(os.environ, **env)).expect(status)
    line = r.err.splitlines()[0]
    check(line.startswith(f"ptcap: source: {source},"), f"expected {source}: {line!r}")
    for word in words:
        check(word in line, f"no {word!r} in {line!r}")
    lib.equals_truth(path, truth)


def no_pt_here():
    if os.path.exists("/sys/bus/event_source/devices/intel_pt"):
        lib.skip("this machine has Intel PT")


@case
def auto_emu(folder):
    """Without Intel PT, auto emulates if QEMU is installed; no --source gives the same."""
    no_pt_here()
    if not shutil.which("qemu-x86_64"):
        lib.skip("no qemu-x86_64 here (Debian: qemu-user)")
    chooses(folder, "emu", ["no Intel PT"], [prog("hello")])
    chooses(folder, "emu", ["no Intel PT"], [prog("exit"), "3"], status=3)
    script = os.path.join(folder, "script")
    for text in ("#!/bin/sh\nexit 4\n", "exit 4\n"):
        with open(script, "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(script, 0o755)
        chooses(folder, "emu", [], [script], status=4)
    r = Run([PTCAP, "record", "-o", os.path.join(folder, "f"), "--", prog("hello")]).expect(0)
    check("source: emu" in r.err, r.err)


@case
def auto_step(folder):
    """auto steps if QEMU is missing, does not fit, or lacks a requested feature; it prints which."""
    no_pt_here()
    hello = [prog("hello")]
    # Not the build of scripts/qemu, which takes precedence.
    path_only = {"PTCAP_QEMU": "qemu-x86_64"}
    chooses(folder, "step", ["no Intel PT", "cannot find the program 'qemu-x86_64' (PTCAP_QEMU)"], hello, PATH="/nowhere",
            **path_only)
    fake = os.path.join(folder, "qemu-x86_64")
    with open(fake, "w", encoding="ascii") as f:  # would print this if it got the command
        f.write("#!/bin/sh\necho unasked\nexit 1\n")
    os.chmod(fake, 0o755)
    chooses(folder, "step", [fake, "cannot load the plugin", "scripts/qemu"], hello, PATH=folder + ":/usr/bin:/bin", **path_only)
    chooses(folder, "step", [fake, "cannot load the plugin"], hello, PTCAP_QEMU=fake)
    if not shutil.which("qemu-x86_64"):
        lib.skip("no qemu-x86_64 here (Debian: qemu-user)")
    chooses(folder, "step", ["cannot load the plugin"], hello, PTCAP_EMU_PLUGIN=fake)
    chooses(folder, "step", ["--max-steps"], hello, "--max-steps", "5")
    if lib.breakpoints_work(folder):
        chooses(folder, "step", ["--from"], [prog("busy"), "100"], "--from", "prog_main", status=7)
    chooses(folder, "step", ["--to"], [prog("busy"), "100"], "--to", "prog_main", status=7)


@case
def auto_fails(folder):
    """Commands that cannot run fail as before: 127, 126, and no file; neither source runs a 32-bit
    command."""
    no_pt_here()
    out = os.path.join(folder, "out")
    os.mkdir(out)
    path = os.path.join(out, "f")
    for argv, status, word in (
        ("ptcap-no-such-command", 127, "ptcap-no-such-command"),
        ("/etc/passwd", 126, "/etc/passwd"),
        (prog("32"), 126, "32-bit"),
    ):
        r = Run([PTCAP, "record", "-o", path, "--", argv]).expect(status)
        check(word in r.err and r.out == "", f"{r.err!r} {r.out!r}")
    r = Run([PTCAP, "record", "--lossy", "--max-steps", "5", "-o", path, "--", prog("hello")]).expect(2)
    check("--lossy" in r.err and r.out == "", f"{r.err!r} {r.out!r}")
    check(os.listdir(out) == [], "a file was left behind")
