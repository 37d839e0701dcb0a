# SPDX-License-Identifier: MIT
"""Cases of behave.py: 32-bit programs, which cannot be stepped."""

import os

import lib
from cases import case
from lib import Run, check, prog


def runs_32bit():
    """Return the program, if the kernel can run it."""
    try:
        plain = Run([prog("32")])
    except OSError:
        lib.skip("no 32-bit programs here")
    if plain.status != 5 or plain.out != "32\n":
        lib.skip("no 32-bit programs here")
    return prog("32")


@case
def refuses_32bit(folder):
    """A 32-bit command (or x32, or a script for one): 126, the reason, nothing of it runs, no file."""
    out = os.path.join(folder, "out")
    os.mkdir(out)
    for name in ("32", "x32"):
        r = lib.record(os.path.join(out, "f"), [prog(name)]).expect(126)
        check(prog(name) in r.err and "32-bit" in r.err, f"message {r.err!r}")
        check(r.out == "", f"it ran: {r.out!r}")
    script = os.path.join(folder, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write(f"#!{runs_32bit()}\n")
    os.chmod(script, 0o755)
    r = lib.record(os.path.join(out, "f"), [script]).expect(126)
    check("32-bit" in r.err, f"message {r.err!r}")
    check(r.out == "", f"it ran: {r.out!r}")
    check(os.listdir(out) == [], "a file was left behind")


@case
def leaves_32bit(folder):
    """A 32-bit program that the command runs, or becomes, runs untraced; ptcap counts and reports it."""
    runs, becomes = [prog("chain_static"), "child:" + runs_32bit()], [prog("chain_static"), runs_32bit()]
    says = f"{becomes[0]} passes 2 on\n32\n"
    for n, (argv, want, status) in enumerate(((runs, says + "status 5\n", 0), (becomes, says, 5))):
        path, truth = os.path.join(folder, f"f{n}"), os.path.join(folder, f"t{n}")
        r = lib.record(path, argv, "--truth", truth).expect(status)
        check(r.out == want, f"output {r.out!r}")
        check("1 process switched" in r.err and "32-bit" in r.err, f"message {r.err!r}")
        lib.equals_truth(path, truth)
    lib.record(path, runs, "--strict").expect(3)


@case
def leaves_far_jump(folder):
    """32-bit code through a far jump: the process continues untraced, also threads in system calls."""
    path, truth = os.path.join(folder, "f"), os.path.join(folder, "t")
    plain = Run([prog("far32")])
    if plain.status != 6:
        lib.skip("no 32-bit code here")
    r = lib.record(path, [prog("far32")], "--truth", truth).expect(6)
    check(r.out == plain.out, f"output {r.out!r}")
    check("1 process switched" in r.err and "32-bit" in r.err, f"message {r.err!r}")
    flow = lib.equals_truth(path, truth)
    check(any(t[2] == "far" for f in flow.values() for t in f), "no far jump")
