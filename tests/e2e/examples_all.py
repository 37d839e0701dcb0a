#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples_all.py NAME: all examples of the documents run, or have a reason why they do not.

every_block FILE...  each code block of the documents runs in a test of the FILEs (examples.py), or is in not_run.txt
every_span           each command in the text between has a command and options that exist
json_samples         the objects in doc/json.md have members that ptcap prints, with values of the same type
format_program       the Python program of doc/format.md reads --format bin: its branches are those that decode prints
"""

import collections
import json
import os
import re
import sys

import lib
from example_text import MARK, code_blocks, examples, spans
from examples import NEEDS, SETUPS, SOURCE_DIR, documents, theirs, traces
from lib import PTCAP, check

CASES = {}
NOT_RUN = os.path.join(os.path.dirname(__file__), "not_run.txt")


def case(f):
    CASES[f.__name__] = f
    return f


def unaccounted(texts, listed, tested):
    """Yield what is wrong with (path, text) pairs: blocks that neither run nor are listed, and wrong lists."""
    for path, text in texts:
        running = {e.line for e in examples(text)} if path in tested else set()
        for line, first in code_blocks(text):
            reason = listed.pop((path, first), None)
            if line in running and reason:
                yield f"{path}:{line}: this block runs, but is in not_run.txt"
            if line not in running and not reason:
                yield f"{path}:{line}: no test runs this block, and not_run.txt does not have it: {first}"
    for path, first in listed:
        yield f"not_run.txt: {path} has no such block: {first}"


def not_run(text):
    """{(path, first line): reason} of not_run.txt."""
    rows = [line.split(" | ") for line in text.splitlines() if line and not line.startswith("#")]
    check(all(len(row) == 3 and row[2].strip() for row in rows), f"not_run.txt: a line without a reason: {rows}")
    return {(path, first): reason for path, first, reason in rows}


@case
def every_block(_, *tested):
    """Each code block of the documents runs in a test of the files @tested, or is listed with a reason."""
    with open(NOT_RUN, encoding="utf-8") as f:
        listed = not_run(f.read())
    faults = list(unaccounted(documents(), listed, tested))
    check(not faults, "\n".join(faults))
    for path, text in documents():
        check(not path.endswith(".1.md") or examples(text), f"{path}: no examples")
        words = [w for e in re.findall(MARK.pattern, text, re.M) for w in e.split()]
        unknown = [w for w in words if w.startswith("setup=") and w[6:] not in SETUPS or w.startswith("needs=") and w[6:] not in NEEDS]
        check(not unknown, f"{path}: unknown: {unknown}")


@case
def every_block_can_fail(_):
    """Each kind of fault is found."""
    run, other, c = "text\n\n    $ true\n", "text\n\n    ptcap decode\n\n    more\n", "- item\n\n      part\n\n:   item\n\n    part\n\ntext\n\n    int main;\n"
    for text, listed, tested, want in [
        (run, {}, ["a"], []),
        (run, {}, [], ["a:3: no test runs"]),
        (run, {("a", "$ true"): "why"}, ["a"], ["a:3: this block runs"]),
        (other, {}, ["a"], ["a:3: no test runs"]),
        (other, {("a", "ptcap decode"): "why"}, ["a"], []),
        (c, {}, ["a"], ["a:11: no test runs"]),
        ("```\nls\n```\n\n1. one\n\n        code\n", {}, ["a"], ["a:1: no test runs", "a:7: no test runs"]),
        ("text\n", {("a", "gone"): "why"}, ["a"], ["not_run.txt: a has no such block"]),
    ]:
        got = list(unaccounted([("a", text)], dict(listed), tested))
        check(len(got) == len(want) and all(g.startswith(w) for g, w in zip(got, want)), f"{text!r}: {got}, expected {want}")


def options_of(words, table):
    """(command, its unknown options) of the words of a command line; the command is None if there is none of that name."""
    command = next((c for c in (" ".join(words[1:3]), " ".join(words[1:2])) if c in table), None)
    given = words[:words.index("--")] if "--" in words else words
    return command, [w for w in given if w.startswith("-") and w != "-" and w.partition("=")[0] not in table.get(command, ())]


@case
def every_span(folder):
    """Each command in the text of the documents has a command and options that exist. It runs if it names a trace."""
    table = {"help": set(), "--version": {"--version"}}
    for line in lib.Run([PTCAP, "help", "--list-options"]).expect(0).out.splitlines():
        row = line.split("\t")
        table.setdefault(row[0], {"--help", "-h"}).update(row[1:3])
    check(options_of(["ptcap", "crash", "show", "--lbr", "--", "-x"], table) == ("crash show", ["--lbr"]), "the options are not checked")
    traces(folder)
    count = ran = 0
    for path, text in documents():
        if path in ("CHANGELOG.md", "doc/format.md"):  # former commands, and names of records
            continue
        for line, words in spans(text):
            command, unknown = options_of(words, table)
            check(command, f"{path}:{line}: no such command: {words}")
            check(not unknown, f"{path}:{line}: unknown options {unknown}: {words}")
            count += 1
            if any(w.startswith("traces/") for w in words[2:]):
                lib.Run([PTCAP, *words[1:]], cwd=folder).expect(0)
                ran += 1
    check(count > 150 and ran > 1, f"{count} commands were found, and {ran} ran")


@case
def format_program(folder):
    """Recordings of one and of several threads, with and without gaps."""
    with open(os.path.join(SOURCE_DIR, "doc", "format.md"), encoding="utf-8") as f:
        program = re.search(r"^    import struct.*?(?=^\S)", f.read(), re.M | re.S)[0]
    read, binary = os.path.join(folder, "read.py"), os.path.join(folder, "binary")
    with open(read, "w", encoding="utf-8") as f:
        f.write(re.sub("(?m)^    ", "", program))
    traces(folder)
    gaps = 0
    for name in ("threads", "signals", "gap", "jit"):
        argv = [PTCAP, "decode", f"traces/{name}.data", "--symfs", "traces/root"]
        lines = lib.Run([*argv, "-F", "tid,from,to"], cwd=folder).expect(0).out.splitlines()
        want = [line.replace("0x", "").split() for line in lines if not line.startswith("#")]
        gaps += len(lines) - len(want)
        for more in ([], ["--icount"])[: 1 if name == "gap" else 2]:  # it has many branches
            lib.Run(["sh", "-c", '"$@" >binary', "-", *argv, "--format", "bin", *more], cwd=folder).expect(0)
            with open(binary, "rb") as f:
                lines = lib.Run([sys.executable, read], stdin=f).expect(0).out.splitlines()
            rows = [line.split() for line in lines]
            got = [[row[6], row[0], row[1]] for row in rows]
            check(got == want and len(want) > 100, f"{name} {more}: {len(got)} branches, expected {len(want)}")
    check(gaps, "no recording has a gap")


SYMFS = ["--symfs", "traces/root"]
JSON_COMMANDS = [
    *(["decode", "traces/calls.data", *SYMFS, *more] for more in ([], ["--calls"], ["--counts=edges"], ["--counts=coverage"])),
    ["decode", "traces/gap.data"], ["decode", "traces/gap.data", "--stats"], ["decode", "traces/calls-emu.data", "--events"],
    ["decode", "theirs.data"], ["report", "traces/calls.data", *SYMFS],
    ["report", "traces/calls.data", *SYMFS, "--shard=1/8"],
]


def name_of(item):
    return item.get("type") or item["schema"]


def samples(text):
    """The objects in the indented blocks of a text. A sample may end with ",...}"."""
    for block in re.findall(r"(?:^    .*\n)+", text, re.M):
        for part in re.split(r"^(?=\{)", re.sub("(?m)^    ", "", block), flags=re.M):
            if part.strip():
                yield json.loads(part.replace(",...}", "}"))


def wrong_members(sample, printed):
    """The members of a sample that no printed object {name: [object]} of the same name has, or only with a value of another type."""
    same = printed.get(name_of(sample), [])
    return [k for k, v in sample.items() if not any(k in o and type(o[k]) is type(v) for o in same)]


def summed_crashes(folder):
    """Return the objects of the sum of a crash."""
    path = os.path.join(folder, "crash.json")
    crash = json.loads(lib.Run([PTCAP, "crash", "show", "traces/crash.data", *SYMFS, "--format", "json"], cwd=folder).expect(0).out)
    with open(path, "w", encoding="ascii") as f:
        f.write(json.dumps({"signature": "5d1b", "signature_frames": ["parse_header"], **crash}) + "\n")
    return list(map(json.loads, lib.Run([PTCAP, "sum", path]).expect(0).out.splitlines()))


@case
def json_samples(folder):
    """Recordings of each kind of object: with gaps, events, and a file without code."""
    if not lib.has_ptrace() and not NEEDS["qemu"]():
        lib.skip("no source records here")
    traces(folder)
    theirs(folder)
    printed = collections.defaultdict(list)
    objects = summed_crashes(folder)
    for argv in JSON_COMMANDS:
        out = lib.Run([PTCAP, *argv, "--format", "json"], cwd=folder).expect(0).out
        objects += [json.loads(line) for line in out.splitlines()]
    for o in objects:
        printed[name_of(o)].append(o)
    with open(os.path.join(SOURCE_DIR, "doc", "json.md"), encoding="utf-8") as f:
        found = list(samples(f.read()))
    check(len(found) > 10, f"only {len(found)} samples were found")
    faults = [f"{name_of(s)}: {k}" for s in found for k in wrong_members(s, printed)]
    check(not faults, f"doc/json.md has members that ptcap does not print: {faults}")
    check(wrong_members({"type": "gap", "queue": "0", "mode": 1}, printed) == ["queue", "mode"], "a wrong member is not found")


if __name__ == "__main__":
    lib.main(CASES)
