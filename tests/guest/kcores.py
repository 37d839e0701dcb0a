#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kcores.py OURS PERFS: two copies (folders) of the kernel's code are equal, except pages of zeros,
which ours leaves out.

Behind the last function of the modules our copy may be longer, up to the function's end. The
modules' data between their code changes, so only their code must be equal; /sys/module has its
addresses.
"""

import os
import struct
import sys

PAGE = 4096


def pages(path):
    """Return {address: bytes} of each page of the PT_LOAD segments."""
    data = open(path, "rb").read()
    phoff, phnum = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    ret = {}
    for i in range(phnum):
        kind, _, off, addr, _, size = struct.unpack_from("<IIQQQQ", data, phoff + 56 * i)
        if kind == 1:
            for at in range(0, size - PAGE + 1, PAGE):
                ret[addr + at] = data[off + at : off + at + PAGE]
    return ret


def text(path):
    """Return the pages of the kernel's own text."""
    at = {}
    for line in open(path, encoding="ascii"):
        addr, _, name, *module = line.split()
        if name in ("_stext", "_etext") and not module:
            at[name] = int(addr, 16) & -PAGE
    return set(range(at["_stext"], at["_etext"], PAGE))


def module_text():
    """Return the pages of the modules' code: from its first section on, up to the next section
    without code."""
    ret = set()
    for module in os.listdir("/sys/module"):
        folder, at = f"/sys/module/{module}/sections", {}
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            with open(f"{folder}/{name}", encoding="ascii") as f:
                at[name] = int(f.read(), 16)
        # Init code is elsewhere, and freed.
        code = [a for name, a in at.items() if ".text" in name and not name.startswith(".init")]
        behind = [a for name, a in at.items() if ".text" not in name and code and a > max(code)]
        if code and behind:
            ret |= set(range(min(code) & -PAGE, min(behind), PAGE))
    return ret


ours, perfs = pages(sys.argv[1] + "/kcore"), pages(sys.argv[2] + "/kcore")
zero = bytes(PAGE)
missing = [a for a in perfs if a not in ours and perfs[a] != zero]
modules = module_text()
own = text(sys.argv[1] + "/kallsyms") | modules
differ = missing + [a for a in perfs if a in own and ours.get(a, zero) != perfs[a]]
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
there = [a for a in modules if a in ours and a in perfs]
if len(there) < 5:
    print(f"{len(there)} pages of the modules' code, of {len(modules)}")
    differ.append(0)
changed = [a for a in ours if a in perfs and a not in own and ours[a] != perfs[a]]
print(f"{len(ours)} pages, {len(there)} of modules' code; of their data {len(changed)} changed; {len(perfs) - len(set(perfs) & set(ours))} of perf's are zeros, {len(more)} are behind its last")
sys.exit(1 if differ else 0)
