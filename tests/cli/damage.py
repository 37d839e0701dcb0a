#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A good recording, damaged at random places: every command ends with one of its own exit codes,
and an error names the file once. The places are the same in each run."""

import os
import random
import subprocess
import sys
import tempfile

PTCAP = os.environ["PTCAP"]
MKREC = os.environ["MKREC"]
COMMANDS = (
    ["info"],
    ["info", "--format", "json"],
    ["dump"],
    ["decode"],
    ["decode", "-F", "insn-ip"],
    ["decode", "--format", "json"],
)
ROUNDS = 30
HEADER = 700  # more depends on these bytes than on others


def damaged(good, rng):
    """Return the file cut somewhere, or with some bytes changed, anywhere or in the header."""
    how = rng.randrange(3)
    if how == 0:
        return good[: rng.randrange(len(good))]
    bytes_ = bytearray(good)
    end = len(bytes_) if how == 1 else min(HEADER, len(bytes_))
    for _ in range(rng.choice((1, 2, 8, 64))):
        bytes_[rng.randrange(end)] = rng.randrange(256)
    return bytes(bytes_)


def recovered():
    return subprocess.run([PTCAP, "recover", "-i", "bad.data", "-o", "new.data"], capture_output=True).returncode


def complaint(args, r):
    """Return the fault in the command's reaction, or None."""
    if r.returncode not in (0, 1, 3, 4):
        return f"exit status {r.returncode}"
    error, _, hint = r.stderr.partition(b"ptcap: `")
    if r.returncode == 1 and error.count(b"bad.data") != 1:
        return "the message does not name the file once"
    if hint and recovered() not in (0, 3):
        return "it cannot be recovered"
    if args[-1] != "json" or r.returncode != 1:
        return None
    return "output before an error" if args[0] == "info" and r.stdout else None


def main():
    rng = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="ptcap-damage-") as folder:
        os.chdir(folder)
        subprocess.run([MKREC, "good.data"], check=True)
        with open("good.data", "rb") as f:
            good = f.read()
        for n in range(ROUNDS):
            with open("bad.data", "wb") as f:
                f.write(damaged(good, rng))
            for args in COMMANDS:
                r = subprocess.run([PTCAP, args[0], "-i", "bad.data", *args[1:]], capture_output=True, timeout=600)
                wrong = complaint(args, r)
                if wrong:
                    sys.exit(f"FAILED: round {n}, {args}: {wrong}: {r.stderr[:600]!r}")
    print(f"ok: {ROUNDS} damaged files, {len(COMMANDS)} commands each")


main()
