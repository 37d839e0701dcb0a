#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Work grows linearly with a recording.

Each scenario makes recordings with n, 2n and 4n of one kind of data. A plugin of QEMU counts
the instructions of a command on each: no time is measured. The increase from 2n to 4n is compared
with that from n to 2n, so the cost of the start does not count. Linear work gives 2, quadratic
work 4. LIMIT is between the two, because sorting needs a little more than 2.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

PTCAP = os.environ["PTCAP"]
MKREC = os.environ["MKREC"]
SHELL = os.path.realpath("/bin/sh")  # a file with code
LIMIT = 2.6
PID, SIDE, TRACE = 4242, 200, 100
PSB, PSBEND, TSC = b"\x02\x82" * 8, b"\x02\x23", b"\x19\1\2\3\4\5\6\0"


def record(kind, misc, body, pid=PID, time=5000000000):
    """Make a record with the sample id of mkrec's events."""
    body += b"\0" * (-len(body) % 8) + struct.pack("<IIQIIQ", pid, pid, time, 0, 0, SIDE)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def mmap2(addr, size, name="//anon", pid=PID, build_id=None):
    head = struct.pack("<IIQQQ", pid, pid, addr, size, 0)
    head += struct.pack("<B3x20sII", 20, build_id, 5, 2) if build_id else struct.pack("<IIQQII", 0, 0, 0, 0, 5, 2)
    return record(10, 0x4002 if build_id else 2, head + name.encode() + b"\0", pid)


def poke(addr, pid=PID, code=b"\x90", time=5000000000):
    return record(20, 2, struct.pack("<QHH", addr, 0, len(code)) + code, pid, time)


def sample(ip):
    return struct.pack("<IHHQQIIQII", 9, 2, 48, SIDE, ip, PID, PID, 5000000000, 0, 0)


def mark():
    """Make a FINISHED_ROUND."""
    return struct.pack("<IHH", 68, 0, 8)


def comm(tid):
    return record(3, 0, struct.pack("<II", PID, tid) + b"x\0")


def switch(cpu, tid):
    """Make a SWITCH: thread @tid comes to @cpu."""
    body = struct.pack("<IIQIIQ", PID, tid, 5000000000, cpu, 0, SIDE)
    return struct.pack("<IHH", 14, 0, 8 + len(body)) + body


def lost(cpu):
    body = struct.pack("<QQ", SIDE, 1) + struct.pack("<IIQIIQ", PID, PID, 5000000000, cpu, 0, SIDE)
    return struct.pack("<IHH", 2, 0, 8 + len(body)) + body


def fork(pid, parent=PID):
    return record(7, 0, struct.pack("<IIIIQ", pid, parent, pid, parent, 5000000000), pid)


def leave(pid):
    return record(4, 0, struct.pack("<IIIIQ", pid, PID, pid, PID, 5000000000), pid)


def aux(offset, size):
    return record(11, 0, struct.pack("<QQQ", offset, size, 0))


def maps(n, name="//anon", step=1):
    return b"".join(mmap2(0x10000000000 + 0x2000 * i * step, 0x1000, name % i if "%" in name else name) for i in range(n))


def build_ids(n):
    """Make build-ids for the table of the header."""
    out = b""
    for i in range(n):
        name = b"/nowhere/of-old/%d\0" % i
        name += b"\0" * (-len(name) % 8)
        out += struct.pack("<IHHi20s4x", 0, 2, 36 + len(name), -1, struct.pack("<I", i)) + name
    return out


SCENARIOS = {
    "psbs": ("decode", 60, lambda n: {"trace": (PSB + PSBEND) * n}),
    "psbs with a TSC": ("decode", 60, lambda n: {"trace": (PSB + TSC + PSBEND) * n}),
    "psbs with padding": ("decode", 60, lambda n: {"trace": (PSB + PSBEND + bytes(8)) * n}),
    "psbends": ("decode", 1000, lambda n: {"trace": PSB + PSBEND * n}),
    "names": ("info", 400, lambda n: {"side": maps(n, "/nowhere/%d")}),
    "build-ids": ("info", 300, lambda n: {"side": maps(n, "/nowhere/%d"), "ids": build_ids(n)}),
    "mappings down": ("info", 2000, lambda n: {"side": maps(n, step=-1)}),
    "pages under mappings": (
        "info",
        500,
        lambda n: {"side": b"".join(poke(0x20000000 + 0x1000 * i) for i in range(n)) + mmap2(1 << 44, 1 << 46) * n},
    ),
    "forks times mappings": (
        "info",
        300,
        lambda n: {"side": maps(n) + b"".join(fork(100000 + i) for i in range(n))},
    ),
    "forks times patches": (
        "info",
        200,
        lambda n: {
            "side": b"".join(poke(0x20000000 + 2 * i) for i in range(n))
            + b"".join(fork(100000 + i) + poke(0x20000000, 100000 + i) for i in range(n))
        },
    ),
    "threads down": ("info", 2000, lambda n: {"side": b"".join(comm(1000000 - i) for i in range(n))}),
    "queues": ("decode", 300, lambda n: {"queues": n}),
    "queues down": ("info", 1500, lambda n: {"queues": n, "down": True}),
    "queues times switches": (
        "decode",
        200,
        lambda n: {"queues": n, "side": b"".join(switch(i % n, PID + i) for i in range(4 * n))},
    ),
    "queues times switches by threads": (  # from 256 KB on the trace suffices for threads
        "decode -j2",
        350,
        lambda n: {
            "queues": n,
            "side": b"".join(switch(i % n, PID + i) for i in range(20 * n)),
            "trace": (PSB + TSC + PSBEND) * 30,
        },
    ),
    "queues times lost records": (
        "decode",
        200,
        lambda n: {"queues": n, "side": b"".join(lost(i % n) for i in range(4 * n))},
    ),
    "queues times patches": (
        "decode",
        200,
        lambda n: {
            "queues": n,
            "side": b"".join(poke(0x1000, PID + i % n, time=5000000000 + i) for i in range(4 * n)),
            "trace": runs(0x1000) * 3,
        },
    ),
    "mappings of files": (  # in a process that runs code
        "decode",
        1000,
        lambda n: {
            "queues": 2,
            "side": b"".join(mmap2(0x10000000 + 0x200000 * i, 0x100000, SHELL) for i in range(n)) + switch(1, PID),
            "trace": runs(0x10020000),
        },
    ),
    # From here on: several kinds of data at once, n times each.
    "threads and processes": (
        "decode",
        500,
        lambda n: {
            "side": b"".join(
                comm(5000 + i) + fork(500000 - i) + leave(500000 - i) + record(16, 0, struct.pack("<IIQ", PID, 5000 + i, 0))
                for i in range(n)
            )
        },
    ),
    "switches back in time": (
        "decode",
        1000,
        lambda n: {"side": b"".join(record(14, i % 2 << 13, b"", time=5000000000 + n - i) for i in range(n))},
    ),
    "samples and rounds": ("decode", 800, lambda n: {"side": b"".join(sample(0x401000 + i) + mark() for i in range(n))}),
    "kernel symbols": (
        "decode",
        500,
        lambda n: {
            "side": b"".join(
                record(17, 0, struct.pack("<QIHH", 0xFFFFFFFFC0000000 + i * 64, 64, 1, 0) + b"bpf_prog_%d\0" % i) for i in range(n)
            )
        },
    ),
    "patches of one page": (
        "decode",
        300,
        lambda n: {
            "side": b"".join(poke(0x401000 + i % 4000, code=b"\x90" * (1 + i % 3000), time=5000000000 + i) for i in range(n))
        },
    ),
    "patches of many pages": (
        "decode",
        500,
        lambda n: {"side": b"".join(poke(0x20000000 + 0x1000 * i, time=5000000000 + i) for i in range(n))},
    ),
    "mappings with build-ids": (
        "decode",
        200,
        lambda n: {
            "side": maps(n)
            + b"".join(mmap2(0x40000000 + 0x2000 * i, 0x1000, f"/nowhere/{i}", build_id=b"%020d" % i) for i in range(n))
        },
    ),
    "pieces": ("decode", 500, lambda n: {"pieces": [(24 * i, PSB + PSBEND + bytes(6)) for i in range(n)]}),
    "pieces that overlap": ("decode", 400, lambda n: {"pieces": [(i * 7919 % 1000 * 8, PSB + PSBEND + bytes(6)) for i in range(n)]}),
    "empty pieces and AUX records": (
        "decode",
        800,
        lambda n: {"pieces": [(0, PSB + PSBEND + bytes(6))] + [(24, b"")] * n, "side": b"".join(aux(i, 1) for i in range(n))},
    ),
    "queues of threads": ("decode", 300, lambda n: {"queues": n, "threads": True, "side": b"".join(comm(i) for i in range(n))}),
    "damage": ("decode", 100, lambda n: {"trace": bytes(16 * n) + (b"\x02\xff" + PSB + PSBEND + bytes(4)) * n}),
    "processes with code down": ("info", 1000, lambda n: {"side": b"".join(poke(0x1000, 1000000 - i) for i in range(n))}),
}


def runs(ip):
    """Make the trace of a thread at @ip that does not take 20 branches."""
    trace = PSB + TSC + b"\x99\1" + b"\x7d" + struct.pack("<Q", ip)[:6] + PSBEND + b"\6" * 20
    return trace + bytes(-len(trace) % 8)


def build(base, side=b"", trace=None, ids=b"", queues=0, down=False, threads=False, pieces=()):
    """Build a file from @base, a file of mkrec, with @side behind its first mapping, @trace as its
    trace, and @ids in its table.

    @queues: the trace is repeated for this number of CPUs, with queues in ascending order, or
    with @down descending; with @threads for this number of threads. @pieces: the trace is cut
    into these parts, each with an offset and bytes.
    """
    data_at, data_len = struct.unpack_from("<QQ", base, 40)
    at, end, data = data_at, data_at + data_len, b""
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", base, at)
        body, at = base[at : at + size], at + size
        if kind == 70 and queues and not threads:  # a CPU's thread comes from its SWITCH records
            body = body[:72] + struct.pack("<Q", 2) + body[80:]
        if kind == 71:
            old = struct.unpack_from("<Q", body, 8)[0]
            new = base[at : at + old] if trace is None else trace
            body, at = body[:8] + struct.pack("<Q", len(new)) + body[16:] + new, at + old
            if queues:
                numbers = range(queues)[:: -1 if down else 1]
                places = [(i, i, 0xFFFFFFFF) if threads else (i, 0xFFFFFFFF, i) for i in numbers]
                body = b"".join(body[:32] + struct.pack("<III", *place) + body[44:] for place in places)
            if pieces:
                body = b"".join(body[:8] + struct.pack("<QQ", len(p), off) + body[24:48] + p for off, p in pieces)
        elif trace is not None and kind == 11:
            body = body[:16] + struct.pack("<Q", len(trace)) + body[24:]
        data += body + (side if kind == 10 else b"")
    bitmap = int.from_bytes(base[72:104], "little")
    features = [bit for bit in range(256) if bitmap >> bit & 1 and bit != 18]  # without the index of the trace
    table, blobs = b"", b""
    where = data_at + len(data) + 16 * len(features)
    for i, bit in enumerate(b for b in range(256) if bitmap >> b & 1):
        off, size = struct.unpack_from("<QQ", base, end + 16 * i)
        if bit == 18:
            continue
        blob = base[off : off + size] + (ids if bit == 2 else b"")
        table += struct.pack("<QQ", where + len(blobs), len(blob))
        blobs += blob
    head = bytearray(base[:data_at])
    struct.pack_into("<QQ", head, 40, data_at, len(data))
    head[72:104] = (bitmap & ~(1 << 18)).to_bytes(32, "little")
    return bytes(head) + data + table + blobs


def work(command, path):
    words = "decode -j1" if command == "decode" else command
    argv = ["qemu-x86_64", "-plugin", os.environ["COUNT_INSNS"], PTCAP, *words.split(), "-i", path]
    run = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    count = re.search(r"^instructions: (\d+)$", run.stderr, re.M)
    if run.returncode not in (0, 3, 4) or not count:
        sys.exit(f"{' '.join(argv)}: {run.returncode}\n{run.stderr}")
    return int(count[1])


def look(base, name):
    command, n, make = SCENARIOS[name]
    counts = []
    for k in (n, 2 * n, 4 * n):
        path = f"{name.replace(' ', '_')}.{k}"
        with open(path, "wb") as f:
            f.write(build(base, **make(k)))
        counts.append(work(command, path))
        os.unlink(path)
    growth = (counts[2] - counts[1]) / max(counts[1] - counts[0], 1)
    return name, command, n, counts, growth


def main():
    if not shutil.which("qemu-x86_64"):
        print("no qemu-x86_64")
        sys.exit(os.environ.get("PTCAP_GUEST") == "required" or 77)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([MKREC, "base"], check=True)
        with open("base", "rb") as f:
            base = f.read()
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda name: look(base, name), SCENARIOS))
        os.chdir("/")
    bad = False
    for name, command, n, counts, growth in results:
        verdict = "FAIL: " if growth > LIMIT else ""
        bad |= growth > LIMIT
        print(f"{verdict}{name}: {command}, {n} and twice, four times as many: {counts} instructions, {growth:.2f}")
    sys.exit(bad)


if __name__ == "__main__":
    main()
