#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ptcap convert and recover: a rewritten recording stays the same, for ptcap and for perf.

usage: convert.py CASE
"""

import json
import os
import re
import struct
import subprocess
import sys

import forms
import lib
import store
from forms import WORK, perf_killed, perf_record
from lib import PERF, PTCAP, Run, check, decode, have_perf, prog, skip
from store import fetch

# Records that exist in only one form, or hold offsets.
FRONT = {"HEADER_ATTR", "HEADER_FEATURE", "HEADER_BUILD_ID", "HEADER_TRACING_DATA"}
NO_TRACE = ["--no-itrace", "--show-mmap-events", "--show-task-events", "--show-lost-events"]
TRACEPOINTS = ["-e", "sched:sched_stat_runtime,raw_syscalls:sys_enter"]  # the first counts ns, so it occurs at this period
TRACING_DATA = 1
AUXTRACE = 71
FORMS = {
    "same": [],
    "pipe": ["--pipe"],
    "z": ["--compress=3"],
    "plain": ["--decompress"],
    "pipe_z": ["--pipe", "--compress"],
}


def convert(path, out, *options, status=0):
    return Run([PTCAP, "convert", "-i", path, "-o", out, *options]).expect(status)


def dump(path):
    """Return the records, each without its offset; the events; the features by their bits."""
    d = Run([PTCAP, "dump", "-i", path, "--format", "json"]).expect(0)
    records, attrs, features = [], [], {}
    for line in d.out.splitlines():
        o = json.loads(line)
        kind = o.get("type")
        for key in ("offset", "inner", "file"):
            o.pop(key, None)
        if kind == "event":  # only pipe mode has these in event records
            for key in ("name", "unit", "scale"):
                o.pop(key, None)
            attrs.append(o)
        elif kind == "feature":
            features[o["bit"]] = o
        elif kind not in ("file", "end"):
            records.append(o)
    return records, attrs, features


def body(records, drop=()):
    """Return the records without event names, which only pipe mode has."""
    return [r for r in records if r["name"] not in FRONT and r["name"] not in drop
            and not (r["name"] == "EVENT_UPDATE" and "name" in r["fields"])]


def script(path, pipe, *options):
    """Return the output of perf script, through a pipe for pipe mode."""
    argv = [PERF, "script", *options, "-i"]
    if not pipe:
        return Run([*argv, path]).out
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        return Run([*argv, "-"], stdin=cat.stdout).out


def same_records(a, b, what, drop=()):
    text = lib.first_difference(body(a, drop), body(b, drop), "before", "after", json.dumps)
    check(not text, f"{what}: {text}")


def is_pipe(path):
    if os.path.isdir(path):
        return False
    with open(path, "rb") as f:
        return f.read(9)[8:] == b"\x10"


def unpad(feature, want):
    """In pipe mode this feature is padded to a multiple of 8 bytes."""
    pad = -want["size"] % 8
    check(feature["size"] == want["size"] + pad, f"{feature['size']} bytes instead of {want['size']} and {pad}")
    feature["size"] -= pad
    if pad:
        check(feature["fields"].pop("rest") == pad and feature["fields"].pop("rest_bytes") == "00" * pad, f"{feature}")


def round_trip(path, folder, perf_says=True, no_pipe=False):
    """Each form has the same records and the same perf output (not for pipes if no_pipe). Converted
    back, it has the same bytes."""
    records, attrs, features = dump(path)
    drop = {"FINISHED_ROUND"} if os.path.isdir(path) else set()
    want = script(path, is_pipe(path), *NO_TRACE) if perf_says else None
    out = os.path.join(folder, "out")
    for form, options in FORMS.items():
        to_pipe = "--pipe" in options
        convert(path, out, *options)
        r, a, feats = dump(out)
        same_records(records, r, form, drop)
        check(a == attrs, f"{form}: other events: {a} instead of {attrs}")
        made = {18, 24, 27} | ({15} if to_pipe else set())
        for bit in set(features) | set(feats):
            if bit == TRACING_DATA and bit in feats and to_pipe:
                unpad(feats[bit], features[bit])
            check(bit in made or feats.get(bit) == features.get(bit),
                  f"{form}: feature {bit}: {features.get(bit)}, then {feats.get(bit)}")
        check(to_pipe or (18 in feats) == (18 in features or bool(only(records, "AUXTRACE"))),
              f"{form}: an index of trace")
        if perf_says and not (no_pipe and to_pipe):
            got = script(out, to_pipe, *NO_TRACE)
            text = lib.first_difference(want.splitlines(), got.splitlines(), "before", "after")
            check(not text, f"{form}: perf script: {text}")
        again = os.path.join(folder, "again")
        convert(out, again, *options)
        with open(out, "rb") as x, open(again, "rb") as y:
            check(x.read() == y.read(), f"{form}: written once more it is another file")
    with open(out, "rb") as f:
        piped = subprocess.run([PTCAP, "convert", "-i", "-", "-o", "-", "--decompress"], stdin=f,
                               stdout=subprocess.PIPE, check=True)
    convert(out, again, "--pipe", "--decompress")
    with open(again, "rb") as f:
        check(piped.stdout == f.read(), "standard output has another file")


def only(records, name):
    return [r for r in records if r["name"] == name]


def perf_form(options):
    def case(folder):
        path = os.path.join(folder, "x")
        perf_record(path, options, WORK)
        round_trip(path, folder)
    return case


def quipper(name):
    def case(folder):
        path = os.path.join(os.environ["PTCAP_TRACES"], "quipper-" + name)
        if not os.path.exists(path):
            skip("no traces")
        # perf fails on a pipe with trace that it shall not decode, and names events without an id
        # arbitrarily.
        round_trip(path, folder, have_perf() and not is_pipe(path), True)
    return case


def ours(*options, program=None, status=0):
    def case(folder):
        path = os.path.join(folder, "x")
        fetch(path, program or [prog("recurse")], *options).expect(status)
        round_trip(path, folder, False)
        fields = ("-F", "tid,time,from,to,kind")
        want = decode(path, *fields).expect(0).out
        check(want.count("\n") > 20, "hardly a transfer")
        out = os.path.join(folder, "out")
        for form, opts in FORMS.items():
            convert(path, out, *opts)
            check(decode(out, *fields).expect(0).out == want, f"{form}: decoded otherwise")
            if have_perf():
                check_perf(path, out, "--pipe" in opts, form)
    return case


def check_perf(path, out, pipe, form):
    # In pipe mode times are unreliable, says perf.
    options = ["--itrace=b", "-F", "tid,ip,addr"]
    check(script(out, pipe, *options) == script(path, False, *options), f"{form}: perf decodes otherwise")
    if not pipe:
        options = ["--itrace=b", "--ns"]
        check(script(out, False, *options) == script(path, False, *options), f"{form}: perf's times differ")


def ours_folder(folder):
    """A folder becomes a file that decodes like the folder, for perf too, although the folder's
    files are not in time order."""
    path, out = os.path.join(folder, "x"), os.path.join(folder, "out")
    fetch(path, [prog("recurse")]).expect(0)
    forms.as_folder(forms.Parts(path), os.path.join(folder, "d"))
    fields = ("-F", "tid,time,from,to,kind")
    want = decode(path, *fields).expect(0).out
    for form, options in FORMS.items():
        convert(os.path.join(folder, "d"), out, *options)
        check(decode(out, *fields).expect(0).out == want, f"{form}: decoded otherwise")
        if have_perf():
            check_perf(path, out, "--pipe" in options, form)
        check("FINISHED_ROUND" not in {r["name"] for r in dump(out)[0]}, "a round of one of several files")
        check(24 not in dump(out)[2], "DIR_FORMAT")


def seconds(ns):
    return f"{ns // 10**9}.{ns % 10**9:09d}"


def part(folder):
    """Samples of one thread, of one time span, of one CPU: exactly the requested ones."""
    path, out = os.path.join(folder, "x"), os.path.join(folder, "out")
    two = f"({WORK[2]}) & {WORK[2]}; wait"
    perf_record(path, ["--sample-cpu", "-a"] if os.geteuid() == 0 else ["--sample-cpu"], ["sh", "-c", two])
    records = dump(path)[0]
    samples = [r["sample_id"] for r in records if r["name"] == "SAMPLE"]
    check(len(samples) > 40, f"{len(samples)} samples")
    tid = samples[0]["tid"]
    cpu = samples[0]["cpu"]
    times = sorted(x["time_ns"] for x in samples)
    a, b = times[len(times) // 3], times[len(times) // 2]
    wants = {
        f"--tid={tid}": lambda x: x["tid"] == tid,
        f"--cpu={cpu}": lambda x: x["cpu"] == cpu,
        f"--time={seconds(a)},{seconds(b)}": lambda x: a <= x["time_ns"] < b,
        f"--time={seconds(a)},": lambda x: a <= x["time_ns"],
        f"--time=,{seconds(b)}": lambda x: x["time_ns"] < b,
    }
    for options, wanted in wants.items():
        convert(path, out, options)
        r, _, features = dump(out)
        got = [x["sample_id"] for x in r if x["name"] == "SAMPLE"]
        want = [x for x in samples if wanted(x)]
        check(got == want, f"{options}: {len(got)} of {len(want)} samples")
        for name in ("MMAP2", "COMM", "FORK", "ID_INDEX"):
            check(only(r, name) == only(records, name), f"{options}: {name}")
        span = features[21]["fields"]
        inside = sorted(x["time_ns"] for x in want)
        check([span["first_ns"], span["last_ns"]] == [inside[0], inside[-1]], f"{options}: SAMPLE_TIME {span}")
        convert(path, out, "--pipe", options)
        check(21 not in dump(out)[2], "SAMPLE_TIME in pipe mode, where it cannot be known")


def lines_in(text, a, b):
    """Return the lines `tid time ...` with a time in [a, b), by thread, because threads are merged
    differently in a part."""
    ret = {}
    for line in text.splitlines():
        f = line.split()
        if not line.startswith("#") and f[1] != "-" and a <= float(f[1]) < b:
            ret.setdefault(f[0], []).append(line)
    return ret


def queues(folder):
    """From a recording of two CPUs: one CPU, and a time span in the middle. Both decode as in the
    whole recording."""
    path, out = os.path.join(folder, "x"), os.path.join(folder, "out")
    fetch(path, [prog("tasks"), "pool"], "--vcpus", "2", "-m", "64K,64K").expect(0)
    fields = ("-F", "tid,time,from,to,kind")
    whole = decode(path, *fields).expect(0).out
    records = dump(path)[0]
    pieces = [r["fields"] for r in only(records, "AUXTRACE")]
    check(len({p["cpu"] for p in pieces}) == 2, f"cpus: {pieces[:9]}")
    for cpu in (0, 1):
        convert(path, out, f"--cpu={cpu}")
        check(decode(out, *fields).expect(0).out == decode(path, *fields, "--cpu", str(cpu)).expect(0).out,
              f"cpu {cpu} decodes otherwise")
        left = [r["fields"] for r in only(dump(out)[0], "AUXTRACE")]
        check(left == [p for p in pieces if p["cpu"] == cpu], f"pieces of cpu {cpu}")
    times = sorted(float(line.split()[1]) for line in whole.splitlines() if line[0] != "#")
    a, b = times[len(times) // 2], times[len(times) * 5 // 8]
    convert(path, out, f"--time={a:.9f},{b:.9f}")
    got = decode(out, *fields).expect(0).out
    left = len(only(dump(out)[0], "AUXTRACE"))
    check(left < len(pieces), f"all {left} pieces are still there")
    want, have = lines_in(whole, a, b), lines_in(got, a, b)
    for tid in want:
        text = lib.first_difference(want[tid], have.get(tid, []), "whole", "part")
        check(not text, f"tid {tid}: {text}")


def strip(folder):
    """Without the trace and its ledger, all other data is unchanged; perf and ptcap read it."""
    path, out = os.path.join(folder, "x"), os.path.join(folder, "out")
    fetch(path, [prog("recurse")]).expect(0)
    convert(path, out, "--strip-aux")
    records, _, features = dump(path)
    left, _, feats = dump(out)
    gone = {"AUXTRACE", "AUXTRACE_INFO", "AUX", "ITRACE_START", "HEADER_EVENT_TYPE"}
    check(body(left, {"HEADER_EVENT_TYPE"}) == body(records, gone), "other records")
    # The clocks and processors belong to the samples, too; the rest of the ledger describes the trace.
    kept = [r["fields"]["name"] for r in only(left, "HEADER_EVENT_TYPE")]
    check(kept == ["ptcap ledger: clocks", "ptcap ledger: processors"], f"another ledger: {kept}")
    check(set(features) - set(feats) == {18}, f"features {set(features) ^ set(feats)}")
    Run([PTCAP, "info", "-i", out]).expect(0)
    if have_perf():
        Run([PERF, "script", "-i", out, "--show-mmap-events"]).expect(0)


def clash(folder):
    """The recording itself is never overwritten, nor lost as FILE.old."""
    path = os.path.join(folder, "x")
    fetch(path, [prog("recurse")]).expect(0)
    with open(path, "rb") as f:
        before = f.read()
    os.symlink(path, os.path.join(folder, "link"))
    os.link(path, os.path.join(folder, "out.old"))
    with open(os.path.join(folder, "out"), "wb") as f:
        f.write(b"older")
    for command in ("convert", "recover"):
        for name in ("x", "link", "out"):
            r = Run([PTCAP, command, "-i", path, "-o", os.path.join(folder, name)]).expect(2)
            check(("the input itself" in r.err or "would replace the input" in r.err), r.err)
        with open(path, "rb") as f:
            r = Run([PTCAP, command, "-i", "-", "-o", path], stdin=f).expect(2)
    with open(path, "rb") as f:
        check(f.read() == before, "it is another")
    os.unlink(os.path.join(folder, "out.old"))
    convert(path, os.path.join(folder, "out"))
    with open(os.path.join(folder, "out.old"), "rb") as f:
        check(f.read() == b"older", "an older file is not kept")
    with open(path, "r+b") as f:
        f.truncate(len(before) - 200)
    r = Run([PTCAP, "convert", "-i", path, "-o", os.path.join(folder, "new")]).expect(1)
    check(not os.path.exists(os.path.join(folder, "new")), "half a file")


def recovered(path, out):
    """Recover. Returns the record names, perf's output, and the messages."""
    r = Run([PTCAP, "recover", "-i", path, "-o", out]).expect(0)
    names = [x["name"] for x in dump(out)[0]]
    check(f"wrote '{out}': {len(names)} record{'s' * (len(names) != 1)}; " in r.err, r.err)
    Run([PTCAP, "info", "-i", out]).expect(0)
    text = ""
    if have_perf():
        text = Run([PERF, "script", "-i", out]).expect(0).out
    return names, text, r.err


def killed(folder):
    """The file of a killed perf becomes a file that perf reads, with every sample in it."""
    for form, options in (("file", []), ("z", ["-z"]), ("threads", ["--threads"])):
        path, out = os.path.join(folder, form), os.path.join(folder, "out")
        perf_killed(path, options)
        names, text, err = recovered(path, out)
        check("data size 0" in err, err)
        if os.path.isdir(path):
            r = Run([PTCAP, "recover", "-i", path, "-o", os.path.join(path, "data.7")]).expect(2)
            check("is inside the input" in r.err, r.err)
        n = names.count("SAMPLE")
        check(n > 20 and text.count("\n") == n, f"{form}: {n} samples, perf prints {text.count(chr(10))} lines")


def cut(folder):
    """A recording cut anywhere: all complete records, in a file that perf reads; or a clear refusal."""
    path, out = os.path.join(folder, "x"), os.path.join(folder, "out")
    short = os.path.join(folder, "short")
    fetch(path, [prog("recurse")]).expect(0)
    with open(path, "rb") as f:
        whole = f.read()
    names = [x["name"] for x in dump(path)[0]]
    data = int(re.search(r"data at (0x[0-9a-f]+)", Run([PTCAP, "dump", "-i", path]).out)[1], 16)
    # With the feature table and the first feature, all data is complete.
    end = data + struct.unpack_from("<Q", whole, 48)[0]
    table = struct.unpack_from("<Q", whole, end)[0] + struct.unpack_from("<Q", whole, end + 8)[0]
    most = 0
    step = 1999 if store.READS else 211  # under a sanitizer, which is slow, fewer cuts
    cuts = {*range(0, data, 97), data, data + 1, data + 8, *range(data + 48, len(whole), step), len(whole) - 1}
    for n in sorted(cuts):
        with open(short, "wb") as f:
            f.write(whole[:n])
        if n < data + 48:  # the first record
            r = Run([PTCAP, "recover", "-i", short, "-o", os.path.join(folder, "none")]).expect(1)
            check(r.err and not os.path.exists(os.path.join(folder, "none")), f"{n} bytes: {r.err}")
            continue
        got, _, err = recovered(short, out)
        check(got == names[: len(got)] and len(got) >= most, f"{n} bytes: {got}")
        told = re.search("lost [0-9]+ bytes? of|bytes of data are there|of a truncated chunk of trace", err)
        check(got == names or told, f"{n} bytes: {err}")
        check(n < table or "ptcap: lost " not in err, f"{n} bytes, all of the data: {err}")
        most = len(got)
    check(most == len(names), f"only {most} of {len(names)} records")
    # Damage inside: the features are still there.
    where = re.findall(r"^(0x[0-9a-f]+) ", Run([PTCAP, "dump", "-i", path]).out, re.M)
    at = int(where[len(where) // 2], 16)
    with open(short, "wb") as f:
        f.write(whole[: at + 6] + b"\0\0" + whole[at + 8 :])
    got, _, err = recovered(short, out)
    check(got == names[: len(where) // 2], f"damage at {at:#x}: {got}")
    check(f"lost {end - at} bytes of '{short}' (offset {at:#x})" in err, err)
    check(set(dump(out)[2]) == set(dump(path)[2]), "features are gone")


def pieces(path):
    """Yield the offset and the size of the trace bytes of each AUXTRACE record."""
    with open(path, "rb") as f:
        data = f.read()
    if struct.unpack_from("<Q", data, 8)[0] == 16:  # pipe mode
        off, end = 16, len(data)
    else:
        off, size = struct.unpack_from("<QQ", data, 40)
        end = off + size
    found = []
    while off < end:
        kind, _, length = struct.unpack_from("<IHH", data, off)
        off += length
        if kind == AUXTRACE:
            found.append((off, struct.unpack_from("<Q", data, off - length + 8)[0]))
            off += found[-1][1]
    return data, found


def flow(path):
    return [line for line in decode(path, "-F", "from,to").out.splitlines() if line[0] != "#"]


def cut_trace(folder):
    """All stored bytes of a cut AUXTRACE record are kept, and the recording continues behind them."""
    path, pipe = os.path.join(folder, "x"), os.path.join(folder, "pipe")
    short, out = os.path.join(folder, "short"), os.path.join(folder, "out")
    fetch(path, [prog("busy"), "1000"], "--psb-period", "2K").expect(7)
    convert(path, pipe, "--pipe")
    want = flow(path)
    for source in (path, pipe):
        data, found = pieces(source)
        at, size = max(found, key=lambda p: p[1])
        check(size > 16384, f"{size} bytes")  # with PSBs between its quarters
        lengths = []
        for n in (0, 1, 7, 8, 9, size // 4, size // 2, size - 8, size - 1):
            with open(short, "wb") as f:
                f.write(data[: at + n])
            _, _, err = recovered(short, out)
            kept = sum(s for a, s in found if a < at) + n // 8 * 8
            check(sum(s for _, s in pieces(out)[1]) == kept, f"cut at {n}: {pieces(out)[1]}, {found}")
            check(("of a truncated chunk of trace" in err) == (n >= 8), err)
            check(f"recovered {n // 8 * 8} bytes of a truncated chunk" in err or n < 8, err)
            check(f"lost {n % 8} byte{'s' * (n % 8 != 1)} of '{short}'" in err if n > 8 and n % 8 else n < 8 or "ptcap: lost " not in err, err)
            got = flow(out)
            check(got == want[: len(got)], f"cut at {n}: not what there was")
            lengths.append(len(got))
        check(lengths == sorted(lengths) and lengths[-1] > 0.99 * lengths[-2] and lengths[-2] > lengths[-3] > lengths[-4], lengths)
        # With a wrong size the extent of the trace is unknown.
        bad = bytearray(data)
        struct.pack_into("<Q", bad, at - 40, len(data))
        with open(short, "wb") as f:
            f.write(bad)
        _, _, err = recovered(short, out)
        check("of a truncated chunk of trace" not in err or source == pipe, err)


CASES = {
    "perf_file": perf_form([]),
    "perf_calls": perf_form(["-g", "--switch-events"]),
    "perf_two": perf_form(["-e", "task-clock:u", "-d"]),
    "perf_z": perf_form(["-z"]),
    "perf_pipe": perf_form(["-o", "-"]),
    "perf_pipe_z": perf_form(["-o", "-", "-z"]),
    "perf_threads": perf_form(["--threads"]),
    "perf_threads_z": perf_form(["--threads", "-z"]),
    "perf_tracepoints": perf_form(TRACEPOINTS),
    "perf_tracepoints_pipe": perf_form([*TRACEPOINTS, "-o", "-"]),
    "quipper_pt": quipper("intel_pt-4.14/perf.data.intel_pt-4.14"),
    "quipper_pipe": quipper("piped.intel_pt-4.14/perf.data.piped.intel_pt-4.14"),
    "quipper_branch": quipper("branch-stack/perf.data.branch-4.14"),
    "quipper_hw_index": quipper("branch-stack/perf.data.branch_stack_hw_index"),
    "ours": ours(),
    "ours_z": ours("-z"),
    "ours_folder": ours_folder,
    "ours_vcpus": ours("--vcpus", "2", program=[prog("tasks"), "locks"]),
    "ours_snapshot": ours("-S", "-m", "1M,64K", program=[prog("busy"), "30000"], status=7),
    "part": part,
    "queues": queues,
    "strip": strip,
    "clash": clash,
    "killed": killed,
    "cut": cut,
    "cut_trace": cut_trace,
}

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
