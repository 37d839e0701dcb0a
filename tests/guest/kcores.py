#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kcores.py OURS PERFS: two copies (folders) of the kernel's code hold the same, but for pages of zeros, which ours has not.

Behind the last function of the modules ours may go on, where the function does. Between the modules' code is their data,
which changes.
"""

import struct
import sys

PAGE = 4096


def pages(path):
    """address -> bytes of each page of the PT_LOAD segments."""
    data = open(path, "rb").read()
    phoff, phnum = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    ret = {}
    for i in range(phnum):
        kind, _, off, addr, _, size = struct.unpack_from("<IIQQQQ", data, phoff + 56 * i)
        if kind == 1:
            for at in range(0, size - PAGE + 1, PAGE):
                ret[addr + at] = data[off + at : off + at + PAGE]
    return ret


def code(path):
    """The pages with functions and without data, as far as they have names; all of the kernel's own text."""
    functions, data, text = set(), set(), {}
    for line in open(path, encoding="ascii"):
        addr, kind, name, *module = line.split()
        page = int(addr, 16) & -PAGE
        (functions if kind in "tTwW" else data).add(page)
        if name in ("_stext", "_etext") and not module:
            text[name] = page
    return functions - data | set(range(text["_stext"], text["_etext"], PAGE))


ours, perfs = pages(sys.argv[1] + "/kcore"), pages(sys.argv[2] + "/kcore")
zero = bytes(PAGE)
missing = [a for a in perfs if a not in ours and perfs[a] != zero]
functions = code(sys.argv[1] + "/kallsyms")
differ = missing + [a for a in perfs if a in functions and ours.get(a, zero) != perfs[a]]
more = [a for a in ours if a not in perfs]
for a in differ[:5]:
    mine = ours.get(a, zero)
    at = [i for i in range(PAGE) if mine[i] != perfs[a][i]]
    print(f"{a:x}: {len(at)} bytes, the first at {a + at[0]:x}")
if more and min(more) <= max(perfs):
    print(f"only ours has {min(more):x}")
    differ.append(more)
if len(ours) < 1000 or any(p == zero for p in ours.values()):
    print(f"ours has {len(ours)} pages, and some that it should not have")
    differ.append(0)
print(f"{len(ours)} pages, {len(perfs) - len(set(perfs) & set(ours))} of perf's are zeros, {len(more)} are behind its last")
sys.exit(1 if differ else 0)
