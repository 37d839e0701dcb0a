# SPDX-License-Identifier: MIT
"""A strict reader of the folders of uftrace that ptcap writes (doc/format.md)."""

import os
import re
import struct
from collections import Counter

from lib import check

ENTRY, EXIT, _, EVENT = range(4)
GAP = 1000000


def lines(folder, name):
    """Return the lines of a text file: printable, and without control characters."""
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as f:
        text = f.read()
    check(not text or text.endswith("\n"), f"{name}: {text[-40:]!r}")
    check(not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text), f"{name} has control characters")
    return text.split("\n")[:-1]


def read_info(folder):
    """Return {key: value} of the text behind the header, and the greatest depth."""
    with open(os.path.join(folder, "info"), "rb") as f:
        data = f.read()
    magic, version, size, endian, bits, features, info, stack = struct.unpack("<8sIHBBQQH", data[:34])
    check((magic, version, size, endian, bits) == (b"Ftrace!\0", 4, 40, 1, 2), data[:40])
    check((features, info) == (0xE2, 0x2089) and data[34:40] == bytes(6), f"{features:x} {info:x}")
    text = data[40:].decode()
    check(text.endswith("\n") and max(map(len, text.split("\n"))) < 4096 or text.count("tids="), text)
    keys = {}
    for line in text.split("\n")[:-1]:
        key, value = re.fullmatch(r"(\w+:?(?:lines|nr_tid|tids)?)[:=](.*)", line).groups()
        keys[key] = value
    return keys, stack


def read_symbols(folder):
    """Return {address: name} of the map and its files of symbols."""
    (name,) = (n for n in os.listdir(folder) if re.fullmatch(r"sid-[0-9a-f]{16}\.map", n))
    *maps, stack = lines(folder, name)
    check(stack.endswith(" [stack]"), stack)
    found, ends, files = {}, 0, set()
    for line in maps:
        m = re.fullmatch(r"([0-9a-f]{12})-([0-9a-f]{12}) r-xp 00000000 00:00 0 +([^ \[][^ ]*)", line)
        check(m and len(line) < 4000, line)
        begin, end = int(m[1], 16), int(m[2], 16)
        check(ends <= begin < end < 1 << 47, line)
        ends = end
        symbols = os.path.basename(m[3]) + ".sym"
        check(symbols not in files, symbols)
        files.add(symbols)
        count, path, *rest = lines(folder, symbols)
        check(path == "# path name: " + m[3] and count == f"# symbols: {len(rest)}", f"{count} {path}")
        before = -1
        for text in rest:
            s = re.fullmatch(r"([0-9a-f]{16}) ([T?]) (.+)", text)
            check(s and before < int(s[1], 16) < end - begin, text[:200])
            before = int(s[1], 16)
            if s[2] == "T":
                found[begin + before] = s[3]
        check(rest[-1].endswith(" ? __sym_end"), rest[-1])
    check({n for n in os.listdir(folder) if n.endswith(".sym")} == files, files)
    return found


def read_tasks(folder):
    """Return [(type, time, pid, tid or name)] of task.txt."""
    found = []
    for line in lines(folder, "task.txt"):
        t = re.fullmatch(r"TASK timestamp=(\d+)\.(\d{9}) tid=(\d+) pid=(\d+)", line)
        s = re.fullmatch(r'SESS timestamp=(\d+)\.(\d{9}) pid=(\d+) sid=[0-9a-f]{16} exename="(.*)"', line)
        check(t or s, line)
        m = t or s
        time = int(m[1]) * 10**9 + int(m[2])
        found.append(("TASK", time, int(m[4]), int(m[3])) if t else ("SESS", time, int(m[3]), m[4]))
    check(found and found[0][0] == "SESS" and found == sorted(found, key=lambda x: x[1]), found[:3])
    return found


class Folder:
    """tids: {tid: Counter of functions}. gaps: {tid: number}. symbols, tasks, info."""

    def __init__(self, folder):
        self.info, stack = read_info(folder)
        self.symbols = read_symbols(folder)
        self.tasks = read_tasks(folder)
        self.tids, self.gaps, self.deepest = {}, Counter(), 0
        check(lines(folder, "events.txt") == [f"EVENT: {GAP} ptcap:gap"], "events.txt")
        begins = {}
        for task in self.tasks:
            if task[0] == "TASK":
                begins.setdefault(task[3], task[1])
        for name in sorted(os.listdir(folder)):
            if name.endswith(".dat"):
                self.tids[int(name[:-4])] = self.read(os.path.join(folder, name), begins[int(name[:-4])])
        check(set(map(int, self.info["taskinfo:tids"].split(","))) == set(self.tids), self.info)
        check(int(self.info["taskinfo:nr_tid"]) == len(self.tids) and stack >= min(self.deepest + 1, 65535), self.info)

    def read(self, path, begin):
        """Return the Counter of functions of a thread. Each entry has its end, and no time goes back."""
        tid = int(os.path.basename(path)[:-4])
        functions, stack, last = Counter(), [], begin
        with open(path, "rb") as f:
            data = f.read()
        check(data and len(data) % 16 == 0, path)
        for time, word in struct.iter_unpack("<QQ", data):
            kind, more, magic, depth, address = word & 3, word >> 2 & 1, word >> 3 & 7, word >> 6 & 1023, word >> 16
            check(not more and magic == 5 and time >= last, f"{path}: {time} {word:x}")
            last = time
            if kind == ENTRY:
                check(depth == min(len(stack), 1023), f"{path}: depth {depth} of {len(stack)}")
                stack.append(address)
                self.deepest = max(self.deepest, len(stack))
                functions[self.symbols[address]] += 1
            elif kind == EXIT:
                check(stack and stack.pop() == address and depth == min(len(stack), 1023), f"{path}: {address:x} at {depth}")
            else:
                check(kind == EVENT and address == GAP, f"{path}: {word:x}")
                self.gaps[tid] += 1
        check(not stack, f"{path}: {len(stack)} functions have no end")
        return functions

    def functions(self):
        return sum(self.tids.values(), Counter())
