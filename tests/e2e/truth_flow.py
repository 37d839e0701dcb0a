# SPDX-License-Identifier: MIT
"""Checks of truth.py: the branches of a recording."""

import json
import os
import re
import subprocess

import lib
import store
from lib import Run, Transfer, check
from perf_branches import perf_agrees
from recording import PREFIX, recorded, shape, well_formed


def check_truth(folder, name, argv):
    path, truth = recorded(folder, argv)
    shape(lib.equals_truth(path, truth))


def check_json(folder, name, argv):
    path, truth = recorded(folder, argv)
    want = lib.equals_truth(path, truth)
    lines = lib.decode(path, "--format", "json").expect(0).out.splitlines()
    check(json.loads(lines[0]) == {"schema": "ptcap-decode", "version": 1}, lines[0])
    got = {}
    last = -1
    for line in lines[1:]:
        o = json.loads(line)
        check(set(o) == {"type", "tid", "cpu", "time", "icount", "from", "to", "kind"}, line)
        check(o["type"] == "branch", line)
        check(o["time"] is None or o["time"] >= last, f"time goes back: {line}")
        last = o["time"] if o["time"] is not None else last
        for key in ("from", "to"):
            check(re.fullmatch(r"0x(0|[1-9a-f][0-9a-f]*)", o[key]), line)
        t = Transfer((int(o["from"], 16), int(o["to"], 16), o["kind"]))
        got.setdefault(o["tid"], []).append(t)
    lib.same_transfers(got, want, "json", "truth")


def check_ref(folder, name, argv):
    path, truth = recorded(folder, argv)
    lib.equals_truth(path, truth)
    r = Run([*PREFIX, lib.REFSTEP, *argv])
    plain = Run([*PREFIX, *argv])
    check(r.status == plain.status, f"refstep exits {r.status}, the program {plain.status}")
    want = r.out.split()
    check(want, "refstep printed nothing")
    got = lib.decode(path, "-F", "insn-ip").expect(0).out.split()
    text = lib.first_difference(got, want, "decode", "refstep")
    check(not text, f"instructions: {text}")


def check_both(folder, name, argv):
    flows, plain = [], Run(argv)
    for source in ("step", "emu"):
        truth = os.path.join(folder, source)
        store.fetch(truth + ".data", argv, "--truth", truth, source=source, prefix=PREFIX).expect(plain.status)
        with open(truth, encoding="ascii") as f:
            flows.append(list(lib.transfers(f.read()).values()))
    check(len(flows[0]) == len(flows[1]) == 1, "not one thread")
    text = lib.first_difference(flows[0][0], flows[1][0], "step", "emu")
    check(not text, f"transfers: {text}")


def check_hash(folder, name, argv, *options):
    if not os.access(argv[0], os.X_OK):
        lib.skip(f"no {argv[0]} here")
    path, want = os.path.join(folder, "perf.data"), os.path.join(folder, "hash")
    with open(os.path.join(folder, "out"), "wb") as out:
        r = lib.record(path, argv, "--truth-hash", want, *options, stdout=out).expect(0)
    print(r.err, flush=True)
    got = os.path.join(folder, "got")
    with open(got, "wb") as f:
        decode = subprocess.Popen(
            [lib.PTCAP, "decode", "-i", path, "-F", "tid,from,to,kind", "--strict"], stdout=subprocess.PIPE
        )
        status = subprocess.run([lib.need("HASHFLOW")], stdin=decode.stdout, stdout=f, check=False).returncode
        decode.stdout.close()
        check(decode.wait() == 0 and status == 0, f"decode exits {decode.returncode}, hashflow {status}")
    lines = []
    for each in (want, got):
        with open(each, encoding="ascii") as f:
            lines.append(sorted(f.read().splitlines(), key=lambda line: [int(n, 16) for n in line.split()]))
    check(lines[0], "there is no checkpoint")
    text = lib.first_difference(*lines, "truth", "decode")
    check(not text, f"hashes: {text}")


def check_perf(folder, name, argv):
    path, truth = recorded(folder, argv)
    perf_agrees(name, path, argv, lib.equals_truth(path, truth))


def check_whole(folder, name, argv, *options, says=None):
    """Return the path and the branches."""
    path, truth = recorded(folder, argv, *options, says=says)
    want = lib.equals_truth(path, truth)
    for flow in want.values():
        well_formed(flow)
    perf_agrees(name, path, argv, want)
    return path, want


def check_onepsb(folder, name, argv):
    check_whole(folder, name, argv, "--psb-period", "64M")


# The number of tids in a case. An exec by a thread ends the others: then the first tid is the only
# one.
THREADS = {
    "tasks_locks": 5,
    "tasks_spin": 2,
    "tasks_pool": 201,
    "tasks_storm": 41,
    "tasks_spawn": 3,
    "tasks_exec": 2,
    "tasks_group": 4,
    "tasks_leader": 2,
    "tasks_alarm": 1,
    "pipeline": 5,
    "masks": 2,
    "masks_fatal": 2,
    "jobs": 3,
    "trapthreads": 4,
}


def check_tasks(folder, name, argv):
    _, want = check_whole(folder, name, argv)
    threads = THREADS[name.removeprefix("emu_")]
    check(len(want) == threads, f"{len(want)} threads, expected {threads}: {sorted(want)}")


def check_vcpus(folder, name, argv):
    path, want = check_whole(folder, name, argv, "--vcpus", "3")
    threads = THREADS[name.removeprefix("emu_vcpus_")]
    check(len(want) == threads, f"{len(want)} threads, expected {threads}: {sorted(want)}")
    cpus = {}
    for line in lib.decode(path, "-F", "tid,cpu").expect(0).out.splitlines():
        tid, cpu = line.split()
        cpus.setdefault(tid, set()).add(cpu)
    check(threads == 1 or len(set.union(*cpus.values())) > 1, f"threads and CPUs: {cpus}")
    if name.endswith(("alarm", "spin", "pool")):
        check(any(len(each) > 1 for each in cpus.values()), f"no thread was moved: {cpus}")


def check_vcpushash(folder, name, argv):
    check_hash(folder, name, argv, "--vcpus", "3")
