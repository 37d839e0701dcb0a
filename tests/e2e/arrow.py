#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""arrow.py NAME: the tables of `ptcap decode --format=arrow`, read by apache-arrow and by DuckDB (arrow_tables.cjs)."""

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
from collections import Counter

import lib
from compile import built
from lib import PTCAP, Run, check, prog
from npm_packages import modules
from store import READS, fetch
from timelines import hostile_program

HERE = os.path.dirname(os.path.abspath(__file__))
TRACES = os.path.join(HERE, "..", "..", "traces")
BENCH = os.path.join(HERE, "..", "..", "bench")
NAMES = ("branches", "calls", "gaps", "crashes")
HOLE = 4 << 20  # cli/arrow/ipc_file.c: space in front of the batches
ROWS = 1 << 16  # rows of a batch
READING = 240  # seconds; apache-arrow does not end if a block of a file is at the wrong place
# Less work for the garbage collector. DuckDB has many functions, of which a test calls few.
NODE = ["node", "--max-semi-space-size=128", "--single-threaded", "--wasm-lazy-compilation", "--wasm-lazy-validation"]
CASES = {}
# Columns of a branch that --counts=edges tells, too.
SIGNATURE = ["signature", "signature_version", "signature_reason", "signature_frames"]
EDGE = ["from_file", "from_offset", "from_function", "to_file", "to_offset", "to_function", "kind"]


def case(f):
    CASES[f.__name__] = f
    return f


def written(path, out, *options):
    """Write the tables into the folder @out. Returns {name: file}."""
    r = Run([PTCAP, "decode", "-i", path, "--format=arrow", "-o", out, *options])
    check(r.status in (0, 3) and not r.out, f"{r.status} {r.err}")
    return {name[:-6]: os.path.join(out, name) for name in sorted(os.listdir(out))}


def read(tables, groups=(), sql=()):
    """Read tables {name: file}. Both readers must count equal groups. Returns the answer, with Counters as groups.

    DuckDB takes seconds to start. Without queries and under a sanitizer, which sees no reader, only apache-arrow reads."""
    duck = bool(sql) or not READS
    request = json.dumps({"tables": tables, "groups": [list(g) for g in groups], "sql": list(sql), "duck": duck})
    try:
        r = subprocess.run([*NODE, os.path.join(HERE, "arrow_tables.cjs")], input=request, capture_output=True, text=True,
                           env={**os.environ, "NODE_PATH": modules()}, check=False, timeout=READING)
    except subprocess.TimeoutExpired as e:
        raise lib.Failure(f"the readers have not read {list(tables)} in {READING} s") from e
    check(r.returncode == 0, r.stderr)
    answer = json.loads(r.stdout)
    for name in ("groups", "duck"):
        answer[name] = [Counter({tuple(row[:-1]): row[-1] for row in rows}) for rows in answer[name]]
    check(not duck or answer["groups"] == answer["duck"], [(a - b, b - a) for a, b in zip(answer["groups"], answer["duck"])])
    return answer


def lines(path, command, *options):
    """Return the objects of a JSON output."""
    r = Run([PTCAP, command, "-i", path, "--format=json", *options])
    check(r.status in (0, 3), r.err)
    return [json.loads(line) for line in r.out.splitlines()]


def end_of(o, side):
    """Return file, offset and function of one side of an edge. --counts has the address 0 for an end that is missing."""
    file = o.get(f"{side}_file")
    place = int(o[f"{side}_file_offset"] if file else o[side], 16)
    return (file, str(place) if file or place else None, o.get(f"{side}_function"))


def edges(path):
    """Return the branches as --counts=edges counts them."""
    found = Counter()
    for o in lines(path, "decode", "--counts=edges"):
        if o.get("type") == "count":
            found[(*end_of(o, "from"), *end_of(o, "to"), o["kind"])] += o["times"]
    return found


def recorded(folder):
    """Return recordings: of the emulator, and of the traces in the repository, with threads, gaps, a crash and generated code."""
    found = [os.path.join(TRACES, name + ".data") for name in ("threads", "gap", "crash", "jit")]
    # prog_swap maps a library, and then its copy to the same addresses. So an address is in two files.
    libs = [os.path.join(lib.PROGS, "libprog_lib.so"), os.path.join(folder, "copy.so")]
    shutil.copy(*libs)
    for name, *argv in (("swap", "over", *libs), ("except",), ("tasks", "exec"), ("tasks", "pool")):
        path = os.path.join(folder, "-".join([name, *argv[:1]]))
        fetch(path, [prog(name), *argv])
        found.append(path)
    return found


def written_all(folder, paths):
    """Write the tables of all recordings. Returns {name and number of the recording: file}."""
    tables = {}
    for i, path in enumerate(paths):
        own = written(path, os.path.join(folder, f"out{i}"))
        check(sorted(own) == sorted(NAMES), own)
        tables.update({name + str(i): file for name, file in own.items()})
    return tables


@case
def counts(folder):
    """Branches by kind and by their ends, and gaps by cause, are those of --stats and --counts=edges."""
    paths = recorded(folder)
    groups = [[name + str(i), *columns] for i in range(len(paths))
              for name, *columns in (("branches", "kind"), ("branches", *EDGE), ("gaps", "cause"), ("branches", "recording"))]
    got = read(written_all(folder, paths), groups, [f"SELECT sum(bytes)::BIGINT FROM gaps{i}" for i in range(len(paths))])
    for i, path in enumerate(paths):
        stats = lines(path, "decode", "--stats")[0]
        rows, (kinds, ends, causes, recordings) = got["rows"][f"branches{i}"], got["groups"][4 * i:4 * i + 4]
        check(rows == stats["transfers"] > 100, f"{path}: {rows} {stats['transfers']}")
        check(kinds == +Counter({(kind,): n for kind, n in stats["kinds"].items()}), f"{path}: {kinds}")
        want = edges(path)
        check(ends == want, f"{path}: {list((ends - want).items())[:3]} {list((want - ends).items())[:3]}")
        check(causes == +Counter({(cause,): g["count"] for cause, g in stats["gaps"].items()}), f"{path}: {causes}")
        check(int(got["sql"][i][0][0] or 0) == sum(g["bytes"] for g in stats["gaps"].values()), f"{path}: {got['sql'][i]}")
        check(set(recordings) == {(path,)}, recordings)
    check(sum(got["rows"][f"gaps{i}"] for i in range(len(paths))), "no recording has a gap")


@case
def branches(folder):
    """Each branch has the thread, time, number of instructions and kind that -F prints."""
    path = os.path.join(folder, "f")
    fetch(path, [prog("tasks"), "pool"])
    got = read(written(path, os.path.join(folder, "out")), (), ["SELECT pid, tid, cpu, time, icount, kind FROM branches"])
    want = [line.split() for line in lib.decode(path, "-F", "pid,tid,cpu,time,icount,kind").out.splitlines() if line[0] != "#"]
    for row in want:
        row[3] = str(round(float(row[3].replace(".", ""))) if row[3] != "-" else None)
    have = [[str(v) for v in row] for row in got["sql"][0]]
    check(len(have) > 1000 and have == want, next(((a, b) for a, b in zip(have, want) if a != b), len(have)))


def functions_of(path):
    """Return {name: calls} and {name: open calls} of `ptcap report`."""
    begun, unknown = Counter(), Counter()
    for o in lines(path, "report"):
        if o.get("type") == "function":
            begun[o["name"]] += o["calls"]
            unknown[o["name"]] += o["open"]
    return +begun, +unknown


def summed(groups):
    """Return the same of a table's groups: how calls of a function were entered and left."""
    begun, unknown = Counter(), Counter()
    for (name, file, offset, entered, left), n in groups.items():
        place = f"0x{int(offset):x}"
        shown = name or (f"{os.path.basename(file)}+{place}" if file else place)
        # A call that ran when the trace began has its begin in the trace, if it is the first function of a program.
        late = entered == "return" or (entered == "trace" and name != "_start")
        begun[shown] += n * (not late)
        unknown[shown] += n * (late or left in ("gap", "end"))
    return +begun, +unknown


@case
def calls(folder):
    """Calls of each function are those of `ptcap report`. A call is inside of its parent, one level deeper."""
    paths = recorded(folder)
    tables, queries = written_all(folder, paths), []
    for t in (f"calls{i}" for i in range(len(paths))):
        queries += [
            f"SELECT count(*), count(DISTINCT id), count(parent) FROM {t}",
            f"SELECT count(*) FROM {t} c JOIN {t} p ON c.parent = p.id WHERE p.depth + 1 = c.depth AND p.id < c.id AND "
            "p.tid = c.tid AND (c.instructions <= p.instructions OR p.instructions IS NULL) AND (c.begin >= p.begin OR "
            "c.begin IS NULL OR p.begin IS NULL)",
            f"SELECT count(*) FROM {t} WHERE parent IS NULL AND depth > 0"]
    some = written(paths[-1], os.path.join(folder, "some"), "--inline", "--tables=calls,gaps")
    check(sorted(some) == ["calls", "gaps"], some)
    tables["inlined"] = some["calls"]
    got = read(tables, [[f"calls{i}", "function", "file", "offset", "entered", "left"] for i in range(len(paths))], queries)
    for i, path in enumerate(paths):
        (all_of, lower, lost), rows = got["sql"][3 * i:3 * i + 3], got["rows"][f"calls{i}"]
        n, ids, parents = map(int, all_of[0])
        check(n == ids == rows > 10 and int(lower[0][0]) == parents and int(lost[0][0]) == 0, f"{path}: {all_of} {lower} {lost}")
        have, want = summed(got["groups"][i]), functions_of(path)
        check(have == want, [(a - b, b - a) for a, b in zip(have, want)])
    check(got["rows"]["inlined"] >= rows, "inlined")


@case
def crashes(folder):
    """The crash of a recording has the signal, the code, the process and the thread that `crash show` prints."""
    path = os.path.join(TRACES, "crash.data")
    tables = written(path, os.path.join(folder, "out"))
    if READS:  # a sanitizer sees no reader
        return
    want = json.loads(Run([PTCAP, "crash", "show", "-i", path, "--format=json"]).out)
    got = read(tables, (), ["SELECT signal, code, pid, tid, address FROM crashes"])
    check(got["sql"][0] == [[want["signal"], str(want["code"]), want["pid"], want["tid"], None]], got["sql"])


def explained(path, *options):
    """Return the signature that `crash show` has, as the columns of a row."""
    said = json.loads(Run([PTCAP, "crash", "show", "-i", path, "--format=json", *options]).expect(0).out)
    return [*(said[name] for name in SIGNATURE[:3]), "\n".join(said["signature_frames"])]


@case
def signatures(folder):
    """A crash has the signature of `crash show`, also through a pipe and in shards. SQL counts crashes as `ptcap sum` does."""
    paths, tables, reports = [os.path.join(TRACES, "crash.data")], {}, []
    for n, kind in enumerate(("null", "null", "badjump", "abort", "recursion", "thread", "recursion")):
        paths.append(os.path.join(folder, f"crash{n}"))
        r = Run([PTCAP, "crash", "-q", "--source", lib.SOURCE, "-o", paths[-1], "--", prog("crash"), kind])
        check(r.status > 0, f"{kind}: it did not die: {r.err}")
    for i, path in enumerate(paths):
        tables[f"c{i}"] = written(path, os.path.join(folder, f"out{i}"))["crashes"]
        reports.append(os.path.join(folder, f"report{i}.json"))
        with open(reports[-1], "w", encoding="utf-8") as f:
            f.write(Run([PTCAP, "crash", "show", "-i", path, "--format=json"]).expect(0).out)
    for shard in ("1/3", "2/3", "3/3"):
        tables["s" + shard[0]] = written(paths[3], os.path.join(folder, "shard" + shard[0]), "--shard", shard)["crashes"]
    tables["piped"] = os.path.join(folder, "piped")
    with open(paths[3], "rb") as f, open(tables["piped"], "wb") as out:
        cat = subprocess.Popen(["cat"], stdin=f, stdout=subprocess.PIPE)
        subprocess.run([PTCAP, "decode", "-i", "-", "--format=arrow", "--tables=crashes"], stdin=cat.stdout, stdout=out, check=True)
        cat.stdout.close()
        check(cat.wait() == 0, "cat")
    every = " UNION ALL ".join(f"SELECT * FROM c{i}" for i in range(len(paths)))
    got = read(tables, (), [f"SELECT signature, count(*)::INTEGER FROM ({every}) GROUP BY ALL",
                            *(f"SELECT {', '.join(SIGNATURE)} FROM {name}" for name in tables)])
    rows = dict(zip(tables, got["sql"][1:]))
    for i, path in enumerate(paths):
        check(rows[f"c{i}"] == [explained(path)], f"{path}: {rows[f'c{i}']}")
    check(rows["s1"] == rows["piped"] == rows["c3"] and not rows["s2"] and not rows["s3"], [rows[n] for n in ("s1", "piped", "s2")])
    summed = [json.loads(line) for line in Run([PTCAP, "sum", *reports]).expect(0).out.splitlines()[1:]]
    want = {o["signature"]: o["count"] for o in summed}
    check(dict(got["sql"][0]) == want and sorted(want.values()) == [1, 1, 1, 1, 2, 2], f"{got['sql'][0]} {want}")


@case
def deaths(folder):
    """Of many deaths each has the signature of its own process. A death without registers, and an older one, have none."""
    path, many = os.path.join(folder, "f"), os.path.join(folder, "deaths")
    Run([PTCAP, "crash", "-q", "--source", lib.SOURCE, "-o", path, "--", prog("crash"), "null"])
    r = subprocess.run([PTCAP, "convert", "-i", path, "-o", "-"], stdout=subprocess.PIPE, check=True)
    at = r.stdout.index(b"ptcapCRS") - 8
    size, (pid, tid) = struct.unpack_from("<H", r.stdout, at + 6)[0], struct.unpack_from("<QQ", r.stdout, at + 96)
    record = r.stdout[at:at + size]
    check(struct.unpack_from("<I", record, 80)[0] == 1, "the first record is no signal")

    def dead(pid, tid):
        return record[:96] + struct.pack("<QQ", pid, tid) + record[112:]

    # 3 of other processes, an earlier one of the same process, and 20 behind it.
    tables, wants, numbers = {}, {}, {}
    for name, front, behind, told in (("few", [dead(n, n) for n in (1, 2, 3)] + [dead(pid, tid + 1)], [], 3),
                                      ("many", [], [dead(n, n) for n in range(1, 21)], 16)):
        end = r.stdout.rindex(b"ptcapCRS") - 8
        end += struct.unpack_from("<H", r.stdout, end + 6)[0]
        with open(many, "wb") as f:
            f.write(r.stdout[:at] + b"".join(front) + r.stdout[at:end] + b"".join(behind) + r.stdout[end:])
        said = Run([PTCAP, "decode", "-i", many, "--format=arrow", "-o", os.path.join(folder, name)]).expect(0).err
        check(said.count("has no signature: ") == told and "no registers" in said, said)
        tables[name] = os.path.join(folder, name, "crashes.arrow")
        wants[name], numbers[name] = explained(many, "-p", str(pid))[0] if front else None, 1 + len(front) + len(behind)
    if READS:  # a sanitizer sees no reader
        return
    for name, rows in zip(tables, read(tables, (), [f"SELECT pid, tid, signature FROM {name}" for name in tables])["sql"]):
        check(len(rows) == numbers[name], rows)
        check([row[2] for row in rows if row[:2] == [pid, tid]] == [wants[name]], rows)
        check(sum(row[2] is not None for row in rows) == (wants[name] is not None), rows)


@case
def parquet(folder):
    """DuckDB (@duckdb/node-api) writes each table as Parquet, with the rows, groups and nulls of the recording (bench/parquet.cjs)."""
    # 300 names: more than the numbers of 8 bits that DuckDB's ENUM has for few names.
    paths, queries, wrote = [*recorded(folder), looping(folder, "wide", 3, 300, 20)], [], []
    env = {**os.environ, "NODE_PATH": modules()}

    def node(*args, text=None):
        r = subprocess.run(["node", *args], input=text, capture_output=True, text=True, env=env, check=False, timeout=READING)
        check(r.returncode == 0, f"{args}: {r.stderr}")
        return list(map(json.loads, r.stdout.splitlines()))

    for i, path in enumerate(paths):
        for name, table in written(path, os.path.join(folder, f"out{i}")).items():
            wrote += [os.path.join(folder, f"{name}{i}.parquet"), table]
            queries.append(f"SELECT count(*) FROM '{wrote[-2]}'")
        queries += [f"SELECT {', '.join(EDGE)}, count(*) FROM '{folder}/branches{i}.parquet' GROUP BY ALL",
                    f"SELECT {', '.join(SIGNATURE)} FROM '{folder}/crashes{i}.parquet'"]
    rows = [said["rows"] for said in node(os.path.join(BENCH, "parquet.cjs"), *wrote)]
    got = node(os.path.join(HERE, "duckdb_query.cjs"), text=json.dumps(queries))[0]
    for i, path in enumerate(paths):
        counted, (ends, signed) = got[6 * i:6 * i + 4], got[6 * i + 4:6 * i + 6]
        check([int(of[0][0]) for of in counted] == rows[4 * i:4 * i + 4], f"{path}: {counted}")
        have, want = Counter({tuple(row[:-1]): int(row[-1]) for row in ends}), edges(path)
        check(have == want, f"{path}: {list((have - want).items())[:3]} {list((want - have).items())[:3]}")
        check(signed == ([explained(path)] if path.endswith("crash.data") else []), f"{path}: {signed}")


@case
def stream(folder):
    """Standard output gets one table as a stream, with the rows of the file. It fails if it cannot be written."""
    path, out = os.path.join(folder, "f"), os.path.join(folder, "out")
    fetch(path, [prog("signal")])
    tables, queries = {f"file{n}": file for n, file in written(path, out).items()}, []
    chosen = [("branches",), ("branches", "-o", "-"), *((n, f"--tables={n}") for n in NAMES)]
    for i, (name, *options) in enumerate(chosen):
        tables[f"stream{i}"] = f"{out}.{i}"
        with open(f"{out}.{i}", "w+b") as f:
            subprocess.run([PTCAP, "decode", "-i", path, "--format=arrow", *options], stdin=subprocess.DEVNULL, stdout=f, check=True)
            f.seek(0)
            whole = f.read()
        check(whole[:4] == b"\xff" * 4 and whole[-8:] == b"\xff" * 4 + bytes(4), whole[:8])
        queries += [f"SELECT count(*) FROM (FROM {a} EXCEPT ALL FROM {b})"
                    for a, b in ((f"file{name}", f"stream{i}"), (f"stream{i}", f"file{name}"))]
    with open("/dev/full", "w", encoding="ascii") as full:
        r = Run([PTCAP, "decode", "-i", path, "--format=arrow"], stdout=full).expect(1)
    check("No space left" in r.err, r.err)
    if READS:  # a sanitizer sees no reader
        return
    got = read(tables, (), queries)
    check(all(int(rows[0][0]) == 0 for rows in got["sql"]), got["sql"])
    for i, (name, *_) in enumerate(chosen):
        check(got["types"][f"file{name}"] == got["types"][f"stream{i}"], name)


@case
def hostile(folder):
    """Hostile names are the texts of the JSON output: valid UTF-8, with their control characters."""
    program, path, out = hostile_program(folder), os.path.join(folder, "f"), os.path.join(folder, "out")
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", program]).expect(0)
    got = read(written(path, out), [("branches", *EDGE), ("calls", "function")])
    ends, want = got["groups"][0], edges(path)
    check(ends == want, f"{list((ends - want))[:2]} {list((want - ends))[:2]}")
    names = {name for name, in got["groups"][1]}
    check({"new\nline T x", 'quote"\'\\', "\x1b[31mred\x1b]0;title\x07", "???(", "tab\tbed", "L" * 65536} <= names,
          [n[:40] for n in names if n])


LOOP = """
int n;
%s
int main(void) { %s for (int i = 0; i < %d; i++) { %s } return 0; }
"""


def looping(folder, name, rounds, long=0, width=60000):
    """Record a program with @rounds rounds of 10 calls, and with calls of @long functions with names of @width characters."""
    once, often = [f"l{i}_".ljust(width, "x") for i in range(long)], [f"f{i}" for i in range(10)]
    source = os.path.join(folder, name + ".c")
    with open(source, "w", encoding="ascii") as f:
        f.write(LOOP % ("\n".join(f"__attribute__((noinline)) void {n}(void) {{ n++; }}" for n in once + often),
                        " ".join(f"{n}();" for n in once), rounds, " ".join(f"{n}();" for n in often)))
    program = built(folder, ["gcc", "-O1", "-static", source], name)
    if not program:
        lib.skip_without("gcc")
    path = program + ".data"
    Run([PTCAP, "record", "-q", "--source", "emu", "-o", path, "--", program]).expect(0)
    return path


@case
def sizes(folder):
    """Few and many branches, with few and many bytes of names, are files that both readers read."""
    cases, tables, totals = (("few", 100, 0), ("names", 100, 75), ("many", 60000, 75)), {}, []
    for name, rounds, long in cases:
        path = looping(folder, name, rounds, long)
        tables[name] = written(path, os.path.join(folder, f"{name}.out"), "--tables=branches")["branches"]
        totals.append(lines(path, "decode", "--stats")[0]["transfers"])
        os.unlink(path)
    got = read(tables, [(name, "from_function", "kind") for name in tables], [f"SELECT count(*) FROM {name}" for name in tables])
    for i, (name, rounds, long) in enumerate(cases):
        size, total = os.path.getsize(tables[name]), totals[i]
        check(got["rows"][name] == total == int(got["sql"][i][0][0]), f"{name}: {got['rows']} {total}")
        check(got["batches"][name] == (total + ROWS - 1) // ROWS, f"{name}: {got['batches']} {total}")
        returns = {key[0]: n for key, n in got["groups"][i].items() if key[1] == "ret"}
        check(all(returns.get(f"f{k}") == rounds for k in range(10)), f"{name}: {len(returns)}")
        check(sum(n == 1 and len(key or "") == 60000 for key, n in returns.items()) == long, f"{name}: {len(returns)}")
        check((size > 64 << 20) == (rounds > 1000) and (not long or size > HOLE), f"{name}: {size}")


@case
def bounded(folder):
    """Memory does not depend on the number of branches."""
    peaks = []
    for rounds in (7000, 70000):
        path = looping(folder, f"r{rounds}", rounds)
        peak = os.path.join(folder, "peak")
        Run([lib.PEAK, peak, PTCAP, "decode", "-j1", "-i", path, "--format=arrow", "-o", os.path.join(folder, "out")]).expect(0)
        with open(peak, encoding="ascii") as f:
            peaks.append(int(f.read()))
    check(peaks[1] < peaks[0] * 5 // 4, peaks)


def limited(size):
    """Return a function that lets a process write no file beyond @size bytes."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        lib.resource.setrlimit(lib.resource.RLIMIT_FSIZE, (size, size))
    return limit


@case
def cut(folder):
    """A table that cannot be written completely, wherever it is cut, does not stay."""
    path, out = looping(folder, "f", 18000), os.path.join(folder, "out")
    whole = os.path.getsize(written(path, out, "--tables=branches")["branches"])
    shutil.rmtree(out)
    before = sorted(os.listdir(folder))
    batch = ROWS * 70
    sizes = [0, 100, HOLE - 1, HOLE, *(HOLE + batch * n + more for n in range(whole // batch + 1) for more in (-4096, 8192))]
    done = 0
    for size in sizes:
        r = Run([PTCAP, "decode", "-i", path, "--format=arrow", "-o", out, "--tables=branches"], preexec_fn=limited(size))
        if r.status == 0 and size >= whole:
            read({"branches": os.path.join(out, "branches.arrow")})
            shutil.rmtree(out)
            done += 1
            continue
        check(r.status == 1 and "File too large" in r.err, f"{size} of {whole}: {r.status} {r.err}")
        check(sorted(os.listdir(folder)) == before, f"{size}: {os.listdir(folder)}")
    check(done < len(sizes) - 4, done)


@case
def damaged(folder):
    """Tables of damaged recordings are complete, or they are refused. Nothing is left of the latter."""
    path, bad, tables = os.path.join(folder, "f"), os.path.join(folder, "bad"), {}
    fetch(path, [prog("signal")])
    with open(path, "rb") as f:
        whole = f.read()
    rng = random.Random(3)
    for n in range(40):
        out, data = os.path.join(folder, f"out{n}"), bytearray(whole)
        for _ in range(1 << n % 8):
            data[rng.randrange(104, len(data))] = rng.randrange(256)
        with open(bad, "wb") as f:
            f.write(data if n % 5 else data[: rng.randrange(len(data))])
        r = Run([PTCAP, "decode", "-i", bad, "--format=arrow", "-o", out])
        check(r.status in (0, 1, 3, 4) and (r.status != 1 or not os.path.exists(out)), f"{n}: {r.status} {r.err}")
        if os.path.exists(out):
            tables.update({f"{name}{n}": os.path.join(out, name + ".arrow") for name in NAMES})
    check(not [name for name in os.listdir(folder) if name.startswith(".")], os.listdir(folder))
    check(len(tables) > 40, len(tables))
    read(tables)


@case
def replaced(folder):
    """A folder of tables becomes NAME.old. Any other folder stays. Bad options are errors with a reason."""
    path, out = os.path.join(folder, "f"), os.path.join(folder, "out")
    fetch(path, [prog("signal")])
    os.mkdir(out)
    for n in range(3):
        written(path, out, *(["--tables=gaps"] if n == 1 else []))
        check(sorted(os.listdir(folder)) == ["f", "out"] + ["out.old"] * (n > 0), os.listdir(folder))
    check(os.listdir(out + ".old") == ["gaps.arrow"], os.listdir(out + ".old"))
    with open(os.path.join(out, "notes"), "wb") as f:
        f.write(b"mine")
    decode = [PTCAP, "decode", "-i", path, "--format=arrow"]
    r = Run([*decode, "-o", out]).expect(2)
    check("folder without a recording" in r.err and os.path.exists(os.path.join(out, "notes")), r.err)
    new = os.path.join(folder, "new")
    for words, *options in (
        ("standard output takes one table", "--tables=branches,calls"),
        ("expected branches, calls", "--tables=branches,"),
        ("expected branches, calls", "--tables=all"),
        ("cannot be combined", "-o", new, "--stats"),
        ("cannot be combined", "-o", new, "--calls"),
        ("cannot be combined", "-o", new, "-F", "tid"),
        ("cannot be combined", "-o", new, "--sym=main"),
        ("the input itself", "-o", path),
        ("--tables needs --format arrow", "--format=json", "--tables=calls"),
        ("is empty", "-o", ""),
    ):
        r = Run([*decode, *options]).expect(2)
        check(words in r.err and not r.out, f"{options}: {r.err}")
    master, slave = os.openpty()
    r = Run(decode, stdout=slave).expect(2)
    check("standard output is a terminal" in r.err, r.err)
    os.close(master), os.close(slave)
    check(sorted(os.listdir(folder)) == ["f", "out", "out.old"], os.listdir(folder))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
