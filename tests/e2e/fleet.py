#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fleet.py NAME: the commands of doc/fleet.md, with the text that is in the page."""

import json
import os
import re
import shutil
import sys
from collections import Counter

import lib
from arrow import read
from lib import PTCAP, Run, check, prog

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "..", "doc", "fleet.md")
TRACES = os.path.join(HERE, "..", "..", "traces")
CRASHES = ("null", "readonly", "wild", "badjump", "abort", "division", "ud2", "recursion")  # ways to die of prog_crash
CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def block(name):
    """Return the indented block behind a mark of the page."""
    with open(PAGE, encoding="utf-8") as f:
        found = re.search(rf"^<!-- fleet: {name} -->\n\n((?:    .*\n)+)", f.read(), re.M)
    check(found, f"doc/fleet.md has no block {name}")
    return re.sub(r"^    ", "", found[1], flags=re.M)


def run(folder, command, gaps=0, **env):
    """Run a command of the page in the folder. ptcap is the tested one. @gaps: so many of parallel's jobs had gaps."""
    env = {**os.environ, "PATH": os.path.dirname(PTCAP) + ":" + os.environ["PATH"], "HOME": folder, **env}
    r = Run(["/bin/sh", "-c", command], env=env, cwd=folder)
    check(r.status == gaps, f"{command}\n{r.status} {r.err}")
    return r.out


def crashed(path, kind):
    r = Run([PTCAP, "crash", "-q", "--source", lib.SOURCE, "-o", path, "--", prog("crash"), kind])
    check(r.status > 0, f"{kind}: it did not die: {r.err}")


def recordings(folder):
    """Make 20 recordings: crashes, and copies of those in the repository."""
    names = sorted(name for name in os.listdir(TRACES) if name.endswith(".data"))
    for name in names:
        shutil.copy(os.path.join(TRACES, name), folder)
    for n in range(20 - len(names)):
        crashed(os.path.join(folder, f"crash{n}.data"), CRASHES[n % len(CRASHES)])
    found = sorted(name for name in os.listdir(folder) if name.endswith(".data"))
    check(len(found) == 20, found)
    return found


def need_parallel():
    if not shutil.which("parallel"):
        lib.skip_without("GNU parallel")


def folders(folder):
    return sorted(os.listdir(os.path.join(folder, "tables")))


def union(kind, names):
    """Return a query of all tables of one kind, in place of read_arrow()."""
    return "(" + " UNION ALL ".join(f'SELECT * FROM "{kind}.{name}"' for name in names) + ")"


def answers(folder, *queries):
    """Ask queries of all tables. Returns the rows of each."""
    names = folders(folder)
    tables = {f"{kind}.{name}": os.path.join(folder, "tables", name, kind + ".arrow")
              for kind in ("branches", "crashes") for name in names}
    queries = [re.sub(r"read_arrow\('tables/\*/(\w+)\.arrow'\)", lambda m: union(m[1], names), query) for query in queries]
    return read(tables, (), queries)["sql"]


def last_millisecond(path, crashes):
    """Return the functions of the last millisecond before crashes {pid: times}, by the text output."""
    found = Counter()
    for line in Run([PTCAP, "decode", "-i", path, "-F", "pid,time,tosym"]).out.splitlines():
        pid, time, name = (line + "  ").split(" ", 2) if line[0] != "#" else ("-1", "0", "")
        name = re.sub(r"\+0x[0-9a-f]+$", "", name.strip())
        ns = int(time.replace(".", "")) if re.fullmatch(r"\d+\.\d{9}", time) else -1
        passed = sum(at - 1000000 <= ns <= at for at in crashes.get(int(pid), ()))
        if passed and name and name != "-":
            found[name] += passed
    return found


@case
def commands(folder):
    """20 recordings, in shards, as tables, one answer. The text output of whole recordings has the same branches."""
    need_parallel()
    names = recordings(folder)
    status = {f"{name[:-5]}.{n}": Run([PTCAP, "decode", "-i", os.path.join(folder, name), "--shard", f"{n}/4", "--stats"]).status
              for name in names for n in (1, 2, 3, 4)}
    run(folder, block("shards"), sum(s != 0 for s in status.values()))
    # One recording is damaged so that ptcap refuses it. It leaves nothing.
    check(folders(folder) == sorted(name for name, s in status.items() if s in (0, 3)) and len(folders(folder)) >= 76, folders(folder))
    select = re.search(r"SELECT.*?;", block("question"), re.S)[0].rstrip(";")
    got = Counter()
    functions, died, branches = answers(folder, select, "SELECT recording, pid, time FROM read_arrow('tables/*/crashes.arrow')",
                                        "SELECT recording, count(*)::INTEGER FROM read_arrow('tables/*/branches.arrow') GROUP BY ALL")
    for build, function, n in functions:
        check(build is None or re.fullmatch("[0-9a-f]{8,40}", build), build)
        got[function] += n
    crashes = {}
    for name, pid, time in died:
        crashes.setdefault(name, {}).setdefault(pid, []).append(int(time))
    check(len(crashes) >= 8, crashes)
    want = Counter()
    for name, pids in crashes.items():
        want += last_millisecond(os.path.join(folder, name), pids)
    check(got == want and sum(got.values()) > 500, [(got - want).most_common(5), (want - got).most_common(5)])
    rows = dict(branches)
    for name in names:
        out = Run([PTCAP, "decode", "-i", os.path.join(folder, name), "--stats", "--format=json"]).out
        want = json.loads(out)["transfers"] if out else 0
        check(rows.get(name, 0) == want, f"{name}: {rows.get(name)} {want}")


@case
def schedulers(folder):
    """The script of Slurm and the Job of Kubernetes decode all of each recording."""
    shutil.copy(os.path.join(TRACES, "threads.data"), folder)
    whole = json.loads(Run([PTCAP, "decode", "-i", os.path.join(folder, "threads.data"), "--stats", "--format=json"]).out)["transfers"]
    count = "SELECT count(*)::INTEGER FROM read_arrow('tables/*/branches.arrow')"
    for task in range(1, 4):
        run(folder, block("slurm"), SLURM_ARRAY_TASK_ID=str(task), SLURM_ARRAY_TASK_COUNT="3")
    check(len(folders(folder)) == 3 and answers(folder, count) == [[[whole]]], folders(folder))
    shutil.rmtree(os.path.join(folder, "tables"))
    job = block("kubernetes")
    pods = int(re.search(r"completions: (\d+)", job)[1])
    command = " ".join(re.search(r"args:\n +- (.*?)\n +resources:", job, re.S)[1].split())
    for pod in range(pods):
        run(folder, command, JOB_COMPLETION_INDEX=str(pod))
    check(len(folders(folder)) == pods and answers(folder, count) == [[[whole]]], folders(folder))


@case
def crashes(folder):
    """Reports of crashes are counted by their signatures, and SQL over the tables counts the same."""
    need_parallel()
    for n in range(6):
        crashed(os.path.join(folder, f"crash{n}.data"), CRASHES[n // 2])
    out = run(folder, block("crashes")).splitlines()
    check(out[0] == "# 6 crashes, 3 signatures" and [line.split()[0] for line in out if line[0] != "#"] == ["2"] * 3, out)
    run(folder, block("shards"))
    select = re.search(r"SELECT.*?;", block("signatures"), re.S)[0].rstrip(";")
    rows = {row[0]: row[1:] for row in answers(folder, select)[0]}
    for name in ("crash0", "crash2", "crash4"):
        with open(os.path.join(folder, name + ".json"), encoding="utf-8") as f:
            said = json.load(f)
        want = [2, 2, said["signature_reason"], said["signature_frames"][0]]
        check(rows.pop(said["signature"], None) == want, f"{name}: {rows} {want}")
    check(not rows, rows)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
