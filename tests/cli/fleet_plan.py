# SPDX-License-Identifier: MIT
"""bench/fleet_plan.py agrees with closed forms, with itself, and with doc/fleet.md.

usage: fleet_plan.py SOURCE_DIR PTCAP
"""
import importlib.util
import os
import random
import re
import shutil
import subprocess
import sys
import types

SOURCE, PTCAP = sys.argv[1:3]
PLAN = os.path.join(SOURCE, "bench", "fleet_plan.py")


def load():
    spec = importlib.util.spec_from_file_location("fleet_plan", PLAN)
    plan = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plan)
    return plan


plan = load()


def check(good, what):
    if not good:
        sys.exit(f"FAILED: {what}")


def close(a, b, part=1e-9):
    return abs(a - b) <= part * abs(b)


def small(**more):
    return plan.Assumptions(**{"machines": 500, "crashes": 0.4, "snapshots": 2.0, "lost": 0.0, **more})


def policy(a, name):
    return next(p for p in plan.policies(a) if p.name == name)


def day(a, name, rollout=False):
    return plan.Fleet(a, policy(a, name), plan.make_day(a, rollout)[0]).run()


def products():
    """The policy 'everything' sends each recording once, so its totals are products of the inputs."""
    a = small()
    f = day(a, "everything")
    trace = a.ring * 1024 * a.rings
    snapshots, crashes = 1000, 200
    sizes = [trace * plan.MEASURED["zstd"].value + plan.MEASURED[state].value for state in ("snapshot_state", "crash_state")]
    check((f.recordings, len(f.jobs), f.reports) == (1200, 1200, 0), "the number of recordings is not a product")
    check(close(f.bytes(), snapshots * sizes[0] + crashes * sizes[1]), "the bytes are not a product")
    check(close(sum(f.hours.values()), f.bytes()), "the bytes of the hours are not those of the machines")
    work = [plan.MEASURED[c + "_fixed"].value + plan.MEASURED[c].value * trace / 1e9 for c in ("bin", "report", "show")]
    check(close(sum(j.seconds for j in f.jobs), snapshots * (work[0] + work[1]) + crashes * (work[0] + work[2])), "the CPU time is not a product")
    raw, parquet = plan.disk(a, f)
    check(close(raw, 30 * f.bytes()) and close(parquet, 30 * 1200 * trace * plan.MEASURED["branches"].value), "the disk is not a product")
    check(not f.without_recording(), "a bug lost its recording without a loss")
    twice = day(small(machines=1000), "everything")
    check(close(twice.bytes(), 2 * f.bytes()), "twice the machines do not send twice the bytes")


def uploads():
    """A machine with one recording needs the time of its bytes. One with two sends the second after the first."""
    a = small(machines=1, snapshots=0.0, crashes=1.0, uplink=8.0)
    first, second = (plan.Event(t, 0, True, 0, 0, 0, 0.5, 0.5) for t in (100.0, 100.5))
    f = plan.Fleet(a, policy(a, "everything"), [first, second]).run()
    one = plan.upload_bytes(a, policy(a, "everything"), True) / 1e6
    check(close(f.jobs[0].arrival, 100 + one) and close(f.jobs[1].arrival, 100 + 2 * one), "an upload has another duration")


def queue():
    """Mean waits of M/D/1 are rho * s / (2 * (1 - rho)). No job waits if each has a core, and more cores never wait longer."""
    rng, time, jobs = random.Random(7), 0.0, []
    for _ in range(200000):
        time += rng.expovariate(0.6)
        jobs.append(plan.Job(time, 1.0, None))
    waits = plan.fifo(jobs, 1)
    check(close(sum(waits) / len(waits), 0.6 / (2 * 0.4), 0.03), "the mean wait is not that of M/D/1")
    same = [plan.Job(0.0, 2.0, None)] * 10
    check(plan.fifo(same, 4) == [0, 0, 0, 0, 2, 2, 2, 2, 4, 4], "jobs of one moment do not run in rounds")
    check([plan.longest_queue(same, plan.fifo(same, n)) for n in (4, 9, 10)] == [6, 1, 0], "the longest queue")
    check(plan.cores_for(same, 4) == 5 and plan.cores_for(same, 4.1) == 4 and plan.cores_for(same, 1) == 10, "the smallest number of cores")
    a = small()
    jobs = day(a, "everything", rollout=True).jobs
    before = plan.fifo(jobs, 1)
    for cores in (2, 3, 5, 9, len(jobs)):
        waits = plan.fifo(jobs, cores)
        check(all(w <= b + 1e-9 for w, b in zip(waits, before)), f"{cores} cores wait longer than fewer")
        before = waits
    check(not any(before), "a job waits for a core of its own")


def sampling():
    """The probability keeps enough of each group, and all of a small one."""
    check(close(plan.wanted_mean(1), 4.60517, 1e-5), "the mean for one snapshot is not ln 100")
    a = plan.Assumptions(machines=20000, snapshots=4.0, lost=0.0)
    f = day(a, "first, sample")
    full = sum(n >= a.keep for n in f.strata.values())
    check(0 < f.thin_strata() + 1 <= 0.03 * full, f"{f.thin_strata()} of {full} groups are too small")
    check(sum(f.kept.values()) < 0.1 * sum(f.strata.values()), "sampling sends too much")
    check(all(f.kept[key] == n for key, n in f.strata.items() if key[0] == 2 and f.table[2, key[2]] == 1), "a small group is sampled")


def first_recordings():
    """A signature gets at most its limit of recordings a build and day, and each bug with a crash gets one."""
    a = small(rollout=0.5, first=2, splits=3)
    f = day(a, "first", rollout=True)
    check(max(f.granted.values()) == 2, "a signature has more recordings than its limit")
    check(sum(n for key, n in f.granted.items() if key[0] == plan.BAD) == 6, "the rollout has other recordings than 2 of 3 signatures")
    check(not f.without_recording() and set(f.first) == set(f.seen), "a bug has no recording")
    check(f.reports == 200 + 250, "not each crash sends a report")
    calm = day(a, "first")
    check(plan.BAD not in calm.first and plan.BAD not in calm.seen, "a bug that never happens has a recording")
    lost = day(small(lost=1.0), "first")
    check(not lost.jobs and len(lost.without_recording()) == len(lost.seen), "a lost recording arrives")


def shape():
    """Crashes follow the skew and the hours of the day."""
    a = small(machines=20000, snapshots=0.0, crashes=1.0, new_bugs=0)
    events, _ = plan.make_day(a)
    top = sum(e.bug < a.bugs // 100 for e in events) / len(events)
    wanted = sum(1 / r for r in range(1, 21)) / sum(1 / r for r in range(1, 2001))
    check(close(top, wanted, 0.04), f"the first hundredth of the bugs has {top:.3f} of the crashes, not {wanted:.3f}")
    noon = sum(13 <= e.time / 3600 < 15 for e in events) / len(events) * 12
    check(close(noon, a.peak, 0.06), f"the busiest hours have {noon:.2f} times the mean")


def documented():
    """doc/fleet.md has each table as the program prints it."""
    text = subprocess.run([sys.executable, "-B", PLAN], capture_output=True, check=True, timeout=300, encoding="utf-8").stdout
    with open(os.path.join(SOURCE, "doc", "fleet.md"), encoding="utf-8") as f:
        doc = f.read()
    tables = text.split("### ")[1:]
    check(len(tables) == 11, f"{len(tables)} tables")
    for title, rows in (part.split("\n\n", 1) for part in tables):
        check(rows.strip() in doc, f"doc/fleet.md has another table than '{title}'; copy it from the output of bench/fleet_plan.py")


def signature():
    """The command for a signature prints the line of doc/fleet.md. Without jq this is not tested."""
    if not shutil.which("jq"):
        return
    with open(os.path.join(SOURCE, "doc", "fleet.md"), encoding="utf-8") as f:
        command, output = re.search(r"^    \$ (ptcap crash show .*)\n    (.*)$", f.read(), re.M).groups()
    path = {"PATH": os.path.dirname(PTCAP) + ":" + os.environ["PATH"]}
    r = subprocess.run(["sh", "-c", command], cwd=SOURCE, env=path, capture_output=True, check=False, timeout=120, encoding="utf-8")
    check(r.stdout.strip() == output, f"the signature is '{r.stdout}', not '{output}'; {r.stderr}")


def same_bytes():
    def text(*options):
        return subprocess.run([sys.executable, "-B", PLAN, "--machines", "300", *options], capture_output=True, check=True, timeout=120).stdout
    first = text()
    check(first == text(), "the same seed prints other bytes")
    check(first != text("--seed", "2"), "another seed prints the same bytes")
    check(all(line.count("|") > 3 for line in first.decode().splitlines() if line.startswith("|")), "a row has no cells")
    shown = types.SimpleNamespace(**{f.name: f.default for f in plan.fields(plan.Assumptions)})
    check(f"| `--skew` | {shown.skew} |".encode() in first, "the table of assumptions lacks an option")


for test in (products, uploads, queue, sampling, first_recordings, shape, documented, signature, same_bytes):
    test()
