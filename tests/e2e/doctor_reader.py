#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doctor_reader.py: reads this machine and user independently of ptcap, for doctor.py, and prints one JSON object.

Events are opened, rings mapped and a child traced with bare system calls, so the kernel's answers are those that ptcap must
report.
"""

import ctypes
import errno
import json
import mmap
import os
import resource
import signal
import struct

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
PERF_EVENT_OPEN, CAPGET = 298, 125
EXCLUDE_KERNEL, EXCLUDE_HV, DISABLED = 1 << 5, 1 << 6, 1
PAGE = mmap.PAGESIZE
MOST = 64 << 20  # bytes of rings; a user who may have more is taken as unlimited


def opened(pid=0, cpu=-1, user=True, kind=1, config=9):
    """Return a descriptor of an event (default: dummy), or minus errno."""
    bits = DISABLED | ((EXCLUDE_KERNEL | EXCLUDE_HV) if user else 0)
    attr = struct.pack("<IIQQQQQ16x", kind, 64, config, 0, 0, 0, bits)
    fd = LIBC.syscall(PERF_EVENT_OPEN, attr, pid, cpu, -1, 8)
    return fd if fd >= 0 else -ctypes.get_errno()


def refused(**how):
    fd = opened(**how)
    if fd < 0:
        return errno.errorcode[-fd]
    os.close(fd)
    return ""


def attr_size():
    """The kernel answers E2BIG to an attr that is larger than its own, and writes the size that it knows."""
    attr = ctypes.create_string_buffer(struct.pack("<II", 1, 2048) + b"\0" * 2039 + b"\1", 2048)
    if LIBC.syscall(PERF_EVENT_OPEN, attr, 0, -1, -1, 8) >= 0 or ctypes.get_errno() != errno.E2BIG:
        return 0
    return struct.unpack_from("<I", attr, 4)[0]


def ptrace_refused():
    child = os.fork()
    if not child:
        signal.pause()
    ret = LIBC.ptrace(ctypes.c_long(0x4206), ctypes.c_long(child), None, None)  # PTRACE_SEIZE
    why = errno.errorcode[ctypes.get_errno()] if ret else ""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return why


def ring_bytes():
    """Map rings, the largest first, until the kernel refuses even a control page. Returns their bytes; -1: no limit."""
    total, pages = 0, 4096
    while True:
        fd = opened(cpu=0)
        size = (pages + 1) * PAGE
        got = LIBC.mmap(None, ctypes.c_size_t(size), 3, 1, fd, ctypes.c_long(0)) if fd >= 0 else 2**64 - 1
        if got == 2**64 - 1:
            if pages == 0:
                return total
            pages //= 2
        else:
            total += size
        if total > MOST:
            return -1


def caps():
    head, data = struct.pack("<Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
    if LIBC.syscall(CAPGET, head, data):
        return 0
    words = struct.unpack("<6I", data.raw)
    return words[0] | words[3] << 32


def number(path):
    try:
        with open(path, encoding="ascii") as f:
            return int(f.read())
    except OSError:
        return None


def main():
    memlock = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    print(json.dumps({
        "uid": os.geteuid(), "caps": caps(), "userns": os.readlink("/proc/self/ns/user") != "user:[4026531837]",
        "paranoid": number("/proc/sys/kernel/perf_event_paranoid"), "yama": number("/proc/sys/kernel/yama/ptrace_scope"),
        "seccomp": LIBC.prctl(21, 0, 0, 0, 0), "event": refused(), "kernel_part": refused(user=False),
        "cpu": refused(pid=-1, cpu=0), "cycles": refused(kind=0, config=0), "attr_size": attr_size(),
        "ptrace": ptrace_refused(), "memlock": memlock,
        "files": resource.getrlimit(resource.RLIMIT_NOFILE)[1], "ring_bytes": ring_bytes(),
        "cpus": os.sysconf("SC_NPROCESSORS_ONLN"), "kcore": os.access("/proc/kcore", os.F_OK),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
