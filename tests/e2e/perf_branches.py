# SPDX-License-Identifier: MIT
"""Branches as `perf script` lists them, compared with the truth and with exempt.txt."""

import difflib
import os
import re

import lib
import store
from lib import Run, Transfer, check

HERE = os.path.dirname(os.path.abspath(__file__))

# perf's flags for the class of an instruction; they do not distinguish direct from indirect ones.
CLASSES = {
    "jcc": "jcc",
    "jmp": "jmp",
    "ijmp": "jmp",
    "call": "call",
    "icall": "call",
    "ret": "return",
    "syscall": "syscall",
    "sysret": "sysret",
    "int": "int",
    "iret": "iret",
    "far": "far",
    "async": "async",
    "start": "start",
}


def perf_class(flags):
    """`tr end  syscall` -> syscall, `hw int` -> async, `tr strt` -> start, ..."""
    flags = " ".join(flags.split())
    for word in ("tr strt", "tr start"):
        if flags.startswith(word):
            return "start"
    for word in ("tr end",):
        if flags.startswith(word):
            flags = flags[len(word) :].strip()
    return "async" if flags in ("hw int", "async", "") else flags


def calls_vdso_of_qemu(path, out):
    """Return true if the first code that perf lacks is in no file.

    QEMU 8.2 and later map a vdso of their own. The recording has its code as TEXT_POKEs, which
    perf uses only for the kernel.
    """
    m = re.search(r"instruction trace error .* ip (?:0x)?([0-9a-f]+) code 5: Failed to get instruction", out)
    if lib.SOURCE != "emu" or not m:
        return False
    ip, dump = int(m[1], 16), Run([lib.PTCAP, "dump", "-i", path]).expect(0).out
    maps = re.findall(r" MMAP2 .* addr=0x([0-9a-f]+) len=0x([0-9a-f]+) ", dump)
    pokes = re.findall(r" TEXT_POKE .* addr=0x([0-9a-f]+) ", dump)
    return not any(int(a, 16) <= ip < int(a, 16) + int(n, 16) for a, n in maps) and any(
        0 <= ip - int(a, 16) < 8192 for a in pokes
    )


def perf_transfers(path):
    """Return {tid: [Transfer]}; None where perf cannot decode: the program calls QEMU's vdso."""
    # --ns and no filter: perf joins nothing and drops nothing. No ~/.debug, no debuginfod.
    env = dict(os.environ, HOME=os.path.dirname(path), DEBUGINFOD_URLS="")
    r = Run(
        [lib.PERF, "script", "-i", path, "--itrace=be", "--ns", "-F", "tid,flags,ip,addr"], env=env
    ).expect(0)
    if calls_vdso_of_qemu(path, r.out):
        print("not compared with perf, which has no code of QEMU's vdso")
        return None
    check("error" not in r.out + r.err, f"perf reports an error:\n{r.err[:2000]}")
    ret, known = {}, {}
    for line in r.out.splitlines():
        if line not in known:
            m = re.fullmatch(r"\s*(-?\d+)\s+(.*?)\s*\b([0-9a-f]+) =>\s+([0-9a-f]+)\s*", line)
            check(m, f"perf's line {line!r}")
            known[line] = int(m[1]), Transfer((int(m[3], 16), int(m[4], 16), perf_class(m[2])))
        tid, t = known[line]
        ret.setdefault(tid, []).append(t)
    return ret


def exemptions(name):
    """Return {(address, reason): count} of this program from exempt.txt."""
    ret = {}
    with open(os.path.join(HERE, "exempt.txt"), encoding="ascii") as f:
        for line in f:
            line = line.split("#", 1)[0].strip()
            if not line:
                continue
            program, address, reason, count = line.split()
            if program == name:
                ret[(address, reason)] = int(count)
    return ret


def symbols(program):
    """Return the functions and labels of a test program without position independence, for exempt.txt."""
    r = Run(["nm", "-n", program])
    ret = []
    for line in r.out.splitlines():
        parts = line.split()
        if len(parts) == 3 and parts[1] in "tT":
            ret.append((int(parts[0], 16), parts[2]))
    return ret


def place(address, table):
    """Return symbol+0xoff, or the address if there is no symbol."""
    best = None
    for value, name in table:
        if value <= address < value + 0x1000:
            best = (value, name)
    return f"{best[1]}+{address - best[0]:#x}" if best else f"{address:#x}"


def reason_of(want, got):
    """Return a word for one stretch in which perf (got) differs from the truth (want)."""
    if len(want) == len(got) and all(w[:2] == g[:2] for w, g in zip(want, got)):
        return "class-" + "-".join(f"{w[2]}-as-{g[2].replace(' ', '_') or 'none'}" for w, g in zip(want, got))
    if not want:
        return "extra-" + "-".join(g[2].replace(" ", "_") for g in got)
    if not got:
        return "missing-" + "-".join(w[2] for w in want)
    return "other"


def compare_with_perf(name, program, want, got):
    """The differences must be those of exempt.txt, with the same counts."""
    check(want.keys() == got.keys(), f"threads: truth {sorted(want)}, perf {sorted(got)}")
    table = symbols(program)
    found = {}
    for tid in want:
        # First the classes must agree, then compare the rest.
        w = [Transfer((f, t, CLASSES[k])) for f, t, k in want[tid]]
        g = got[tid]
        if w == g:
            continue
        matcher = difflib.SequenceMatcher(None, w, g, autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag == "equal":
                continue
            # One entry per branch where both have the same number, else one for the stretch.
            if i2 - i1 == j2 - j1:
                pairs = [(w[i1 + n : i1 + n + 1], g[j1 + n : j1 + n + 1]) for n in range(i2 - i1)]
            elif tag == "replace":
                pairs = [(w[i1:i2], g[j1:j2])]
            else:
                pairs = [(w[n : n + 1], []) for n in range(i1, i2)]
                pairs += [([], g[n : n + 1]) for n in range(j1, j2)]
            for a, b in pairs:
                first = (a or b)[0]
                key = (place(first[0] or first[1], table), reason_of(a, b))
                entry = found.setdefault(key, [0, (a, b)])
                entry[0] += 1
    allowed = exemptions(name)
    problems = []
    for key, (count, (a, b)) in found.items():
        if allowed.pop(key, None) != count:
            problems.append(
                f"    {name} {key[0]} {key[1]} {count}"
                f"    # truth {[str(t) for t in a]}, perf {[str(t) for t in b]}"
            )
    for key, count in allowed.items():
        problems.append(f"    {name} {key[0]} {key[1]} {count}    # listed, but it did not happen")
    check(not problems, "perf differs from exempt.txt:\n" + "\n".join(problems))


def perf_agrees(name, path, argv, want):
    if store.READS:  # the recording build has compared it already
        return
    if not lib.have_perf():
        lib.skip("no perf here (Debian: linux-perf)")
    got = perf_transfers(path)
    if got is not None:
        compare_with_perf(name, argv[0], want, got)
