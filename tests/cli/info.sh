#!/bin/bash
# The output of info, as text and as JSON.
. "$(dirname "$0")/lib.sh"
"$MKREC" perf.data || exit 1

run 0 info
empty err
has out "perf.data, $(stat -c %s perf.data) bytes"
has out "host      box, 6.1.0, x86_64"
has out "cpu       Some CPU, GenuineIntel,6,158,10, microcode unknown, 2 of 2 online, 4 MiB of memory"
has out 'command   ptcap record -- "mk rec"'
has out "writer    0.1.0"
has out "event     intel_pt//u type 8 (intel_pt) config 0x300e601, user only"
has out "time      0.000000100 s, from 6.000000000 to 6.000000100"
has out "date      $(date -u -r perf.data '+%Y-%m-%d %H:%M:%S') UTC, when the file was written"
has out "queue 0: tid 4242, 1 chunk, 24 bytes"
has out "AUXTRACE 1"
has out "losses    none recorded"
has out "code      3 bytes that are not in a file, or were modified"

run 0 info -i perf.data --format json
empty err
python3 - out <<'END' || failures=$((failures + 1))
import json, sys
text = open(sys.argv[1]).read()
o = json.loads(text)
assert text.lstrip("{ \n").startswith('"schema"'), "schema is the first key"
assert o["schema"] == "ptcap-info" and o["version"] == 1
assert o["host"]["hostname"] == "box" and o["host"]["cpus_online"] == 2
assert o["cmdline"] == ["ptcap", "record", "--", "mk rec"]
assert [e["name"] for e in o["events"]] == ["intel_pt//u", "dummy:u"]
assert o["events"][0]["config"] == "0x300e601" and o["events"][0]["ids"] == [100]
assert o["time"] == {"first_ns": 6000000000, "last_ns": 6000000100}
assert o["intel_pt"]["time_shift"] == 31 and not o["intel_pt"]["per_cpu"]
assert o["queues"] == [{"queue": 0, "tid": 4242, "cpu": -1, "pieces": 1, "bytes": 24}]
assert o["records"]["AUXTRACE"] == 1 and o["records"]["MMAP2"] == 1
assert set(o["losses"].values()) == {0}
assert o["code_bytes"] == 3
assert o["decode"]["files"] >= len(o["decode"]["missing"]) == 1, o["decode"]
assert o["pmus"] == [{"type": 1, "name": "software"}, {"type": 8, "name": "intel_pt"}]
assert o["compression"] is None and o["clock"] is None and o["pmu_caps"] == {}
assert o["features"][:3] == ["BUILD_ID", "HOSTNAME", "OSRELEASE"]
END

# Every known feature.
"$MKREC" all all || exit 1
run 0 info -i all
has out "2 of 2 online, 1 package, 2 cores, 1 node, 4 MiB of memory"
has out "caps      cpu: branches=32, max_precise=3"
has out "caps      cpu_atom: branches=32, max_precise=3"
has out "date      2023-11-14 22:13:20 UTC at 6.000000000 of clock 4"
has out "packed    with zstd, level 3, ratio 5"
run 0 info -i all --format json
python3 - out <<'END' || failures=$((failures + 1))
import json, sys
o = json.load(open(sys.argv[1]))
assert o["host"]["packages"] == 1 and o["host"]["cores"] == 2 and o["host"]["numa_nodes"] == 1
assert o["pmu_caps"] == {pmu: {"branches": "32", "max_precise": "3"} for pmu in ("cpu", "cpu_atom")}
assert o["compression"] == {"type": 1, "level": 3, "ratio": 5}
assert o["clock"] == {"clockid": 4, "wall_ns": 1700000000000000000, "clock_ns": 6000000000}
assert len(o["features"]) == 32
END

"$MKREC" lossy truncated || exit 1
run 0 info --input=lossy
has out "losses    0 records lost; AUX truncated 1, partial 0, collision 0"
finish
