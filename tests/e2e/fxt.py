# SPDX-License-Identifier: MIT
"""A strict reader of the FXT files that ptcap writes (doc/format.md, and the format's own specification)."""

import struct
from collections import Counter

from lib import check

MAGIC = 0x0016547846040010


def bits(word, first, last):
    return word >> first & (1 << (last - first + 1)) - 1


class Fxt:
    """The calls of a file.

    calls: {tid: Counter of functions that are shown}; merged: {tid: calls in them, and in no call}; hows: Counter.
    gaps: {tid: [cause]}. spans: {tid: [(name, begin, end, depth)]}. processes, threads: {number: name}. provider.
    """

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        check(len(self.data) % 8 == 0, len(self.data))
        self.words = [w for (w,) in struct.iter_unpack("<Q", self.data)]
        self.strings, self.table = {0: ""}, {}
        self.calls, self.merged, self.gaps, self.hows = {}, Counter(), {}, Counter()
        self.processes, self.threads, self.spans = {}, {}, {}
        self.stacks, self.last = {}, {}
        self.provider = self.section = self.ticks = None
        check(self.words[0] == MAGIC, hex(self.words[0]))
        self.at = 1
        while self.at < len(self.words):
            self.record()
        check(self.ticks == 10**9 and not any(self.stacks.values()), "functions without an end")

    def take(self):
        check(self.at < self.end, "the record is too short")
        self.at += 1
        return self.words[self.at - 1]

    def text(self, length):
        begin, n = self.at * 8, (length + 7) // 8
        check(self.at + n <= self.end, "a string behind the record")
        self.at += n
        check(not any(self.data[begin + length : self.at * 8]), "padding is not 0")
        text = self.data[begin : begin + length].decode()  # fails if it is no UTF-8
        check(not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in text), repr(text[:80]))
        return text

    def string(self, ref):
        if ref & 0x8000:
            return self.text(ref & 0x7FFF)
        check(ref in self.strings, f"string {ref} is not defined")
        return self.strings[ref]

    def args(self, n):
        found = {}
        for _ in range(n):
            begin, word = self.at, self.take()
            kind, size, name = bits(word, 0, 3), bits(word, 4, 15), self.string(bits(word, 16, 31))
            if kind == 2:
                value = bits(word, 32, 63)
            elif kind in (4, 8):
                check(not bits(word, 32, 63), hex(word))
                value = self.take()
            else:
                check(kind == 6 and not bits(word, 48, 63), hex(word))
                value = self.string(bits(word, 32, 47))
            check(self.at == begin + size and name not in found, f"argument {name}")
            found[name] = value
        return found

    def record(self):
        begin, word = self.at, self.words[self.at]
        size = bits(word, 4, 15)
        self.at, self.end = begin + 1, begin + size
        check(size and self.end <= len(self.words), f"a record of {size} words")
        kind = bits(word, 0, 3)
        check(kind in (0, 1, 2, 3, 4, 7), f"record type {kind}")
        check(kind == 0 or self.section, "no provider")
        {0: self.metadata, 1: self.initialization, 2: self.define, 3: self.thread, 4: self.event, 7: self.object}[kind](word)
        check(self.at == self.end, f"record type {kind}: {self.end - self.at} words too many")

    def metadata(self, word):
        kind, number = bits(word, 16, 19), bits(word, 20, 51)
        if kind == 1:
            check(self.provider is None and not bits(word, 60, 63), hex(word))
            self.provider = self.text(bits(word, 52, 59))
        else:
            check(kind == 2 and self.provider is not None and number == 1 and not bits(word, 52, 63), hex(word))
            self.section = number

    def initialization(self, word):
        check(not bits(word, 16, 63) and self.ticks is None, hex(word))
        self.ticks = self.take()

    def define(self, word):
        index = bits(word, 16, 30)
        check(index and index not in self.strings and not bits(word, 31, 31) and not bits(word, 47, 63), hex(word))
        self.strings[index] = self.text(bits(word, 32, 46))
        check(self.strings[index], "an empty string")

    def thread(self, word):
        index = bits(word, 16, 23)
        check(index and not bits(word, 24, 63), hex(word))
        self.table[index] = (self.take(), self.take())

    def object(self, word):
        kind, number = bits(word, 16, 23), self.take()
        name, args = self.string(bits(word, 24, 39)), self.args(bits(word, 40, 43))
        check(kind in (1, 2) and not bits(word, 44, 63) and 0 < number < 1 << 32, hex(word))
        check(set(args) == ({"process"} if kind == 2 else set()), args)
        (self.processes if kind == 1 else self.threads)[number] = name

    def event(self, word):
        kind, time = bits(word, 16, 19), self.take()
        pid, tid = self.table[bits(word, 24, 31)]
        check(tid in self.threads and pid in self.processes, f"thread {pid}/{tid} has no name")
        category, name, args = self.string(bits(word, 32, 47)), self.string(bits(word, 48, 63)), self.args(bits(word, 20, 23))
        stack = self.stacks.setdefault(tid, [])
        check(time >= self.last.get(tid, 0), f"{tid}: {time} < {self.last.get(tid)}")
        self.last[tid] = time
        self.merged[tid] += args.get("merged calls", 0)
        if kind == 2:
            check(category == "function" and name, name)
            stack.append((name, time))
            self.calls.setdefault(tid, Counter())[name] += 1
            self.hows[args.get("entered by", "call")] += 1
        elif kind == 3:
            check(category == "function" and stack and name in ("", stack[-1][0]) and not args, name)
            top, begin = stack.pop()
            self.spans.setdefault(tid, []).append((top, begin, time, len(stack)))
        elif name == "gap":
            check(kind == 0 and category == "gap" and not stack, name)
            self.gaps.setdefault(tid, []).extend([args["cause"]] * (1 + args.get("merged gaps", 0)))
        else:
            check(kind == 0 and name == "merged calls" and not stack and args["merged calls"], name)

    def shown(self):
        return sum(c.total() for c in self.calls.values())
