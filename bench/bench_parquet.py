#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_parquet.py PTCAP RECORDING [OPTION...]: a recording becomes Parquet: `ptcap decode --format arrow`, then DuckDB.

Prints for both programs: elapsed time, CPU time (user and system), the highest memory, and the bytes of the output. DuckDB is
@duckdb/node-api with two threads (parquet.cjs). Checks that DuckDB finds in the Parquet file the branches of `decode --stats`, by
kind. OPTIONs go to `ptcap decode`. Default: -j2. The files are in $TMPDIR: 70 bytes for each branch, and a tenth of it.

NODE_PATH has the packages of tests/npm: copy package.json and package-lock.json to an empty folder, run `npm ci --ignore-scripts`
there, and set NODE_PATH to its node_modules.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = """
const duckdb = require("@duckdb/node-api");
duckdb.DuckDBInstance.create(":memory:").then((i) => i.connect()).then((c) => c.runAndReadAll(
    "SELECT kind, count(*) FROM '" + process.argv[1].replaceAll("'", "''") + "' GROUP BY ALL")).then((r) =>
    process.stdout.write(JSON.stringify(r.getRowsJson())));
"""


def run(argv, statuses=(0,), **more):
    """Run a program. Returns its elapsed time, CPU time and highest memory in MB, and its output."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out:
        with subprocess.Popen(argv, stdout=out, stderr=subprocess.DEVNULL, **more) as p:
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        if p.returncode not in statuses:
            sys.exit(f"{' '.join(argv)} failed: {p.returncode}")
        return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000, out.read().decode()


def show(name, took, size, branches):
    print(f"{name}: {took[0]:.1f} s, CPU time {took[1]:.1f} s, {took[2]:.0f} MB of memory, writes {size / 1e6:.0f} MB, "
          f"{size / branches:.1f} bytes a branch")


def main(ptcap, recording, *options):
    options = list(options) or ["-j2"]
    if not os.environ.get("NODE_PATH"):
        sys.exit(f"NODE_PATH is not set\n{__doc__}")
    decode = [ptcap, "decode", "-i", recording, *options]
    stats = json.loads(run([*decode, "--stats", "--format=json"], (0, 3))[3].splitlines()[0])
    branches = stats["transfers"]
    with tempfile.TemporaryDirectory() as folder:
        table, out = os.path.join(folder, "tables", "branches.arrow"), os.path.join(folder, "branches.parquet")
        wrote = run([*decode, "--format=arrow", "--tables=branches", "-o", os.path.dirname(table)], (0, 3))
        size = os.path.getsize(table)
        read = run(["node", os.path.join(HERE, "parquet.cjs"), out, table])
        rows = json.loads(read[3])["rows"]
        kinds = {kind: int(n) for kind, n in json.loads(run(["node", "-e", KINDS, out])[3])}
        print(f"branches: {branches}")
        show("ptcap", wrote, size, branches)
        show("DuckDB", read, os.path.getsize(out), branches)
    if rows != branches or kinds != {kind: n for kind, n in stats["kinds"].items() if n}:
        sys.exit(f"the Parquet file has other branches: {rows} {kinds}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
