#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""truth.py NAME CHECK[,CHECK...] PROGRAM [ARGS...]: record a program, and compare the recording with the truth.

truth       the exit status and the output are those of a plain run; decode equals --truth, no gaps
both        the step source and the emulated one list the same branches
hash        each checkpoint of --truth-hash, thread by thread
json        decode --format json has the same branches
ref         the IP of each retired instruction equals that of refstep, which shares no code with ptcap
whole       truth and perf of one recording, tid by tid
tasks       the same for a program of several threads or processes: as many as in THREADS
onepsb      whole, with only one PSB: no other PSB empties the stack of return addresses
says=WORD   the program prints that line; whole
clean       perf report and perf script -D report no error
length      PROGRAM SCRIPT N: the memory for recording does not grow with the length; whole
perf        `perf script --itrace=b` gives the same branches, except those in exempt.txt
tools       info and dump accept the file
noretcomp   the same branches with return compression off, and perf agrees
smallrings  the same with the smallest rings: nothing is lost
calls       the tree of calls: each is left at the depth it was entered at, with the right number of calls
last        --last N and --time are the end and the middle of the whole, thread by thread
bin         --format bin and --stats have the same branches, --events adds to them
terminal    colours and a pager on a terminal, none elsewhere
insn        --insn: each instruction once, calls have the right targets, source lines of the program
vcpus       whole, on several virtual CPUs; busy threads move between these
vcpushash   hash, with several virtual CPUs
snapshots   SIGUSR2 while the program runs, rests and after the ring has wrapped: all kept trace is right; perf
lossy       trace that does not fit is lost and counted to the byte, the rest is right
compressed  truth and perf, with the sideband records compressed (-z), and both find the compression
zone        the same for the part that --from and --to select, and nothing else is recorded
jit         code in no file, or changing code: saved, and decoded as it was; perf reads the file
"""

import os
import sys

import lib
from recording import PREFIX
from truth_flow import (
    check_both, check_hash, check_json, check_onepsb, check_perf, check_ref, check_tasks,
    check_truth, check_vcpus, check_vcpushash, check_whole,
)
from truth_jit import check_jit
from truth_memory import check_length
from truth_option import check_compressed, check_lossy, check_noretcomp, check_smallrings, check_zone
from truth_output import check_bin, check_calls, check_clean, check_insn, check_last, check_terminal, check_tools
from truth_snapshot import check_snapshots

CHECKS = {
    "terminal": check_terminal,
    "bin": check_bin,
    "last": check_last,
    "truth": check_truth,
    "both": check_both,
    "hash": check_hash,
    "json": check_json,
    "ref": check_ref,
    "perf": check_perf,
    "whole": check_whole,
    "onepsb": check_onepsb,
    "tasks": check_tasks,
    "clean": check_clean,
    "length": check_length,
    "tools": check_tools,
    "compressed": check_compressed,
    "zone": check_zone,
    "noretcomp": check_noretcomp,
    "smallrings": check_smallrings,
    "calls": check_calls,
    "insn": check_insn,
    "vcpus": check_vcpus,
    "vcpushash": check_vcpushash,
    "lossy": check_lossy,
    "snapshots": check_snapshots,
    "jit": check_jit,
}


def case(folder, checks, *argv):
    name = sys.argv[1]
    skipped = []
    if name == "rounds" and not lib.breakpoints_work(folder):
        lib.skip(lib.NO_BREAKPOINTS + ": its string instructions would be stepped for minutes, round by round")
    if {"both", "ref"} & set(checks.split(",")):
        fixed = lib.fixed_addresses()
        if fixed is None:
            lib.skip("setarch -R is forbidden here: addresses would differ between two runs")
        PREFIX.extend(fixed)
    for word in checks.split(","):
        sub = os.path.join(folder, word)
        os.mkdir(sub)
        try:
            if word.startswith("says="):
                check_whole(sub, name, list(argv), says=word.removeprefix("says="))
            else:
                CHECKS[word](sub, name, list(argv))
        except lib.Failure as e:
            raise lib.Failure(f"{word}: {e}") from None
        except lib.Skip as e:  # the other checks still count, but the whole does not pass
            skipped.append(f"{word}: {e}")
            continue
        print(f"ok {name} {word}", flush=True)
    if skipped:
        lib.skip("; ".join(skipped))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    lib.main({sys.argv[1]: case})
