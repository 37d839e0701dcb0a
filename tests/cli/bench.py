# SPDX-License-Identifier: MIT
"""bench/all answers a question with one table, says which rows are left out, and leaves no temporary file.

usage: bench.py SOURCE_DIR PTCAP BENCH...    PTCAP, BENCH: programs of the build. BENCH is not read: the test needs it to exist
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

SOURCE, PTCAP = sys.argv[1:3]
BUILD = os.path.dirname(os.path.dirname(PTCAP))
ALL = [sys.executable, "-B", os.path.join(SOURCE, "bench", "all")]
HEAD = "| text | ptcap | peer | ratio | wanted | limit | of the limit |"
NAMES = ("`decode`", "`decode --calls`", "`decode -F from,to`", "`decode --insn`", "`decode -F insn-ip`")


def run(*options, **more):
    return subprocess.run([*ALL, *options], capture_output=True, text=True, check=False, timeout=120, **more)


def check(good, what, r):
    if not good:
        sys.exit(f"FAILED: {what}\n{r.stdout}{r.stderr}")


def helps():
    r = run("--help")
    check(r.returncode == 0 and not r.stderr, "--help fails", r)
    for word in ("--question", "--pairs", "--dir", "--keep", "--build", "--json", "first-pass", "snapshot"):
        check(word in r.stdout, f"--help does not name {word}", r)


def fake_perf(folder, text):
    path = os.path.join(folder, "perf")
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(path, 0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def prints_a_table(folder):
    """A perf that prints as many lines as ptcap has a ratio. One that prints other lines has none."""
    path = fake_perf(folder, "#!/bin/sh\n[ \"$4\" = --itrace=i0ns ] || yes | head -n 321\n")
    inside = os.path.join(folder, "inside")
    os.mkdir(inside)
    values = os.path.join(folder, "values.json")
    r = run("--build", BUILD, "--question", "text", "--pairs", "1", "--dir", inside, "--json", values,
            os.path.join(SOURCE, "traces", "calls.data"), env=path)
    check(r.returncode == 0, "the question text fails", r)
    lines = r.stdout.splitlines()
    check(lines[0].startswith("machine: ") and "load average before: " in lines[0], "the first line is not the machine", r)
    check(lines.count(HEAD) == 1, "not one table", r)
    at = lines.index(HEAD)
    check(lines[at + 1] == "|" + "---|" * 7, "no line below the head", r)
    rows = [re.split(r" *\| *", line)[1:-1] for line in lines[at + 2:] if line.startswith("|")]
    left = [line for line in lines if line.startswith("- ")]
    for name in NAMES:
        row = next((row for row in rows if row[0].startswith(name + ", ")), None)
        check(row and len(row) == 7 and row[1].endswith(" s") and row[5].endswith(" s") and row[6].endswith(" %"), f"the row of {name}", r)
        same = name in ("`decode`", "`decode -F from,to`")
        check(row[2].endswith(" s") == same and row[3].endswith(" times as fast") == same, f"perf beside {name}", r)
        check(any(line.startswith(f"- {name}: no ratio") for line in left) == (not same and "--insn" not in name), f"the reason of {name}", r)
    check(any(row[0] == "`decode --insn`, 1,913 lines" for row in rows), "the lines of --insn are not counted", r)
    with open(values, encoding="utf-8") as f:
        text = json.load(f)["questions"]["text"]
    check(len(text["rows"]) == len(rows) and all(len(row["ours"]) == 1 for row in text["rows"]), "the JSON file has other rows", r)
    check(os.listdir(inside) == [], f"left behind: {os.listdir(inside)}", r)


def leaves_rows_out(folder):
    """A program that is not installed costs a row, not the question."""
    r = run("--build", BUILD, "--question", "recording", "--dir", folder, env={"PATH": folder})
    check(r.returncode == 0 and "- sqlite3: left out: sqlite3 is not installed" in r.stdout
          and "- xz: left out: xz is not installed" in r.stdout and "- cc1: left out: cc1 is not installed" in r.stdout, "no reasons", r)


def names_the_commands(folder):
    r = run("--build", folder, "--question", "hot")
    check(r.returncode == 1 and "has no ptcap, bench_fast, bench_limits;" in r.stderr and "cmake --preset release" in r.stderr
          and "cmake --build --preset release" in r.stderr, "no commands for a build without benchmarks", r)
    check(run("--question", "none").returncode == 2, "an unknown question", r)


def cleans_up(folder):
    """A signal removes the temporary files, and ends the programs that run."""
    path = fake_perf(folder, "#!/bin/sh\necho $$ >$0.pid\nexec sleep 600\n")
    inside, told = os.path.join(folder, "inside"), os.path.join(folder, "perf.pid")
    os.mkdir(inside)
    os.mkfifo(told)
    with subprocess.Popen([*ALL, "--build", BUILD, "--question", "text", "--dir", inside, os.path.join(SOURCE, "traces", "calls.data")],
                          stdout=subprocess.PIPE, text=True, env=path) as p:
        with open(told, encoding="ascii") as f:  # waits until perf runs
            pid = int(f.read())
        p.send_signal(signal.SIGINT)
        out = p.communicate(timeout=60)[0]
    r = subprocess.CompletedProcess([], p.returncode, out, "")
    check(p.returncode == 130, f"status {p.returncode} after ^C", r)
    check(os.listdir(inside) == [], f"left behind after ^C: {os.listdir(inside)}", r)
    check(not os.path.exists(f"/proc/{pid}/exe") or "sleep" not in os.readlink(f"/proc/{pid}/exe"), "perf runs on after ^C", r)


def main():
    helps()
    for case in (prints_a_table, leaves_rows_out, names_the_commands, cleans_up):
        with tempfile.TemporaryDirectory(prefix="ptcap-cli-bench.") as folder:
            case(folder)


main()
