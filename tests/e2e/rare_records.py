# SPDX-License-Identifier: MIT
"""A recording with all rare records and fields, for perfdump.py."""

import struct

IDENTIFIER, TIME, TID, CPU = 1 << 16, 1 << 2, 1 << 1, 1 << 7

# IP TID TIME ADDR CPU PERIOD BRANCH_STACK REGS_USER DATA_SRC IDENTIFIER TRANSACTION PHYS_ADDR and
# DATA_ and CODE_PAGE_SIZE, WEIGHT_STRUCT; READ and CALLCHAIN
SAMPLE_TYPE = 0x1 | TID | TIME | 0x8 | 0x10 | 0x20 | CPU | 0x100 | 0x800 | 0x1000 | 0x8000 | IDENTIFIER | 0x20000 | 0x80000 | 0xC00000 | 0x1000000

READ_FORMAT = 0x1 | 0x2 | 0x4 | 0x10  # both times, ID, LOST
REGS = 0x1FF | 0xFF0000
NOW = 5000000000


def attr():
    a = bytearray(128)
    struct.pack_into("<IIQQQQ", a, 0, 1, 128, 0, 1000, SAMPLE_TYPE, READ_FORMAT)
    # disabled, mmap, comm, task, sample_id_all, mmap2, ksymbol, bpf_event, cgroup, text_poke
    struct.pack_into("<Q", a, 40, sum(1 << b for b in (0, 8, 9, 13, 18, 23, 29, 30, 32, 33)))
    struct.pack_into("<Q", a, 72, 0x8)  # branches: any
    struct.pack_into("<Q", a, 80, REGS)
    return bytes(a)


def kernel(kind, misc, body, n):
    """Make a kernel record with its trailer."""
    body += bytes(-len(body) % 8) + struct.pack("<IIQIIQ", 7, 8, NOW + n, n % 4, 0, 77)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def user(kind, body):
    return struct.pack("<IHH", kind, 0, 8 + len(body)) + body


def made_sample(n):
    branches = [
        (0x1000 + n, 0x2000, 1 << 0 | 9 << 4 | 1 << 20),  # mispredicted, 9 cycles, COND
        (0x3000, 0x4000, 1 << 1 | 1 << 2 | 65535 << 4 | 5 << 20),  # predicted, in a transaction, IND_CALL
        (0xFFFFFFFF81000000, 0x5000, 1 << 3 | 12 << 20),  # aborted, IRQ
    ]
    chain = [0xFFFFFFFFFFFFFF80, 0xFFFFFFFF81000010, 0xFFFFFFFFFFFFFE00, 0x401000 + n, 0x402000]
    body = struct.pack("<QQIIQQIIQ", 77, 0x401000 + n, 7, 8, NOW + n, 0x12345678 + n, n % 4, 0, 3 + n)
    body += struct.pack("<4Q", 100 + n, 200, 150, 77) + struct.pack("<Q", 2)
    body += struct.pack("<Q", len(chain)) + struct.pack(f"<{len(chain)}Q", *chain)
    body += struct.pack("<Q", len(branches)) + b"".join(struct.pack("<3Q", *b) for b in branches)
    regs = [0xDEAD0000 + i for i in range(bin(REGS).count("1"))]
    body += struct.pack("<Q", 2) + struct.pack(f"<{len(regs)}Q", *regs)
    body += struct.pack("<IHH", 1000 + n, 22, 33)  # weights
    body += struct.pack("<Q", 0x1E05080021 + (n << 5))
    body += struct.pack("<Q", (0x5A << 32) | 0x2D) + struct.pack("<Q", 0xABC000 + n)
    body += struct.pack("<QQ", 4096 << 9, 4096)
    return struct.pack("<IHH", 9, 2, 8 + len(body)) + body


def records():
    n = iter(range(1, 100))
    ns = b"".join(struct.pack("<QQ", 4, 0xF0000000 + i) for i in range(7))
    yield kernel(1, 2, struct.pack("<IIQQQ", 7, 8, 0x400000, 0x1000, 0x2000) + b"/an/mmap\0", next(n))
    yield kernel(1, 2 | 1 << 13, struct.pack("<IIQQQ", 7, 8, 0x500000, 0x1000, 0) + b"/data\0", next(n))
    yield kernel(10, 2, struct.pack("<IIQQQIIQQII", 7, 8, 0x600000, 0x3000, 0x1000, 8, 17, 4711, 3, 5, 1) + b"/shared x\0", next(n))
    bid = struct.pack("<BBH20s", 20, 0, 0, bytes(range(1, 21)))
    yield kernel(10, 2 | 1 << 14, struct.pack("<IIQQQ", 7, 8, 0x700000, 0x3000, 0) + bid + struct.pack("<II", 5, 2) + b"/id\0", next(n))
    yield kernel(3, 1 << 13, struct.pack("<II", 7, 8) + b"a comm\0", next(n))
    yield kernel(7, 0, struct.pack("<IIIIQ", 9, 7, 9, 8, NOW), next(n))
    yield kernel(4, 0, struct.pack("<IIIIQ", 9, 7, 9, 8, NOW), next(n))
    yield kernel(2, 0, struct.pack("<QQ", 77, 123456789), next(n))
    yield kernel(13, 0, struct.pack("<Q", 987), next(n))
    yield kernel(5, 0, struct.pack("<QQQ", NOW, 77, 78), next(n))
    yield kernel(6, 0, struct.pack("<QQQ", NOW, 77, 78), next(n))
    yield kernel(8, 0, struct.pack("<II5Q", 7, 8, 31337, 400, 300, 77, 5)[:48], next(n))
    for flags in (0, 1, 2, 4, 15):
        yield kernel(11, 0, struct.pack("<QQQ", 0x1000 * flags, 0x100, flags), next(n))
    yield kernel(12, 0, struct.pack("<II", 7, 8), next(n))
    yield kernel(14, 0, b"", next(n))
    yield kernel(14, 1 << 13 | 1 << 14, b"", next(n))
    yield kernel(15, 0, struct.pack("<II", 70, 71), next(n))
    yield kernel(15, 1 << 13 | 1 << 14, struct.pack("<II", 72, 73), next(n))
    yield kernel(16, 0, struct.pack("<IIQ", 7, 8, 7) + ns, next(n))
    yield kernel(17, 0, struct.pack("<QIHH", 0xFFFFFFFFC0000000, 64, 1, 0) + b"bpf_prog_x\0", next(n))
    yield kernel(17, 0, struct.pack("<QIHH", 0xFFFFFFFFC0000000, 64, 2, 1) + b"ool\0", next(n))
    yield kernel(18, 0, struct.pack("<HHI", 1, 0, 42) + bytes(range(8)), next(n))
    yield kernel(19, 0, struct.pack("<Q", 33) + b"/a/group\0", next(n))
    yield kernel(20, 1, struct.pack("<QHH", 0xFFFFFFFF81000000, 5, 5) + b"\x0f\x1f\x44\0\0\xe9\1\2\3\4", next(n))
    yield kernel(21, 0, struct.pack("<Q", 0x1234), next(n))
    for i in range(3):
        yield made_sample(60 + i)
    yield user(73, struct.pack("<QQ16sQ16s", 2, 7, b"one", 8, b"two"))
    yield user(74, struct.pack("<HH4H4x", 0, 4, 0, 1, 2, 5))
    yield user(74, struct.pack("<HHHI6x", 1, 1, 4, 0x2F))
    yield user(78, struct.pack("<QQ", 0, 77) + b"a unit\0\0")
    yield user(78, struct.pack("<QQd", 1, 77, 0.25))
    yield user(78, struct.pack("<QQ", 2, 77) + b"a name\0\0")
    yield user(79, struct.pack("<QQQ", 31, 12345, 2**64 - 5))
    yield user(79, struct.pack("<QQQQQBB6x", 31, 12345, 99, 7, 2**56 - 1, 1, 1))
    yield user(69, struct.pack("<QQQQQ", 1, 77, 3, 2**64 - 1, 8))
    yield user(72, struct.pack("<IIIIIIQQ", 1, 5, 3, 7, 8, 1, 0x401000, NOW + 5) + b"an error".ljust(64, b"\0"))
    yield user(68, b"")


def make(path):
    ids, data = struct.pack("<Q", 77), b"".join(records())
    attrs = 104 + len(ids)
    start = attrs + 128 + 16
    head = struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, 144, attrs, 144, start, len(data), 0, 0) + bytes(32)
    with open(path, "wb") as f:
        f.write(head + ids + attr() + struct.pack("<QQ", 104, len(ids)) + data)
