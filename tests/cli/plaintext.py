#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording whose every string has terminal control characters: no command prints one raw, and
JSON stays JSON with the same values."""

import json
import os
import re
import subprocess
import sys
import tempfile

PTCAP = os.environ["PTCAP"]
MKREC = os.environ["MKREC"]
# Each one is put into strings in turn, if it fits.
EVIL = [b"\x9b", b"\xc2\x9b", b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\xe2\x80\x8f", b"\x1b[", b"\x7f", b"\xc2\x85", b"\xd8\x9c"]
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
HEADER = 104
ENOUGH = 40  # strings of the recordings
COMMANDS = [
    (["info"], False), (["info", "--format", "json"], True), (["dump", "--verify"], False),
    (["dump", "--verify", "--format", "json"], True), (["dump"], False), (["dump", "--format", "json"], True),
    (["decode"], False), (["decode", "--format", "json"], True), (["decode", "--stats"], False),
]


def poison(data):
    """Replace the middle of each string, a run of printable bytes before a NUL; the lengths stay."""
    count = 0

    def replace(m):
        nonlocal count
        text = m.group(1)
        if b"tracing" in text or text.startswith(b"header_"):  # part of a format, not a name
            return m.group(0)
        evil = EVIL[count % len(EVIL)]
        count += 1
        return text[:1] + evil[:len(text) - 1] + text[1 + len(evil):] + b"\0"

    body = re.sub(rb"([\w/.:, ()-]{4,})\0", replace, data[HEADER:])
    return data[:HEADER] + body, count


def look(args, is_json):
    r = subprocess.run([PTCAP, *args, "-i", "evil.data"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if r.returncode not in (0, 3):
        return f"exit status {r.returncode}: {r.stderr[-500:]!r}"
    for text in (r.stdout, r.stderr):
        m = ACTS.search(text.decode("utf-8", "surrogateescape"))
        if m or re.search("[\udc80-\udcff]", text.decode("utf-8", "surrogateescape")):
            return f"prints {m and m.group(0)!r} in {text[max(0, (m.start() if m else 0) - 40):][:200]!r}"
    if not is_json:
        return None
    lines = [r.stdout] if args[0] == "info" else r.stdout.splitlines()
    values = [json.dumps(json.loads(line), ensure_ascii=False) for line in lines]
    if args == ["dump", "--format", "json"] and not all(c in "".join(values) for c in "\x9b\u202e\u2066\x7f"):
        return "the values of its strings are others"
    return None


def main():
    failures, strings = [], 0
    with tempfile.TemporaryDirectory(prefix="ptcap-plaintext-") as folder:
        os.chdir(folder)
        for what in ([], ["all"]):
            subprocess.run([MKREC, "good.data", *what], check=True)
            with open("good.data", "rb") as f:
                data, count = poison(f.read())
            strings += count
            with open("evil.data", "wb") as f:
                f.write(data)
            complaints = [(args, look(args, is_json)) for args, is_json in COMMANDS]
            failures += [f"FAIL: {what} ptcap {' '.join(args)} {c}" for args, c in complaints if c]
    if strings < ENOUGH:
        sys.exit(f"only {strings} strings were found")
    print("\n".join(failures) or f"{strings} strings, {len(COMMANDS)} commands")
    sys.exit(bool(failures))


main()
