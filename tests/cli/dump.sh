#!/bin/bash
# The output of dump: every record, once, in file order, with its fields.
. "$(dirname "$0")/lib.sh"
"$MKREC" perf.data || exit 1

run 0 dump
empty err
has out "# event 0: type=8 size=128 config=0x300e601 sample_period=1 sample_type=IP|TID|TIME|CPU|IDENTIFIER read_format=ID disabled=1 exclude_kernel=1 exclude_hv=1 enable_on_exec=1 sample_id_all=1 ids=[100]"
has out "# event 1: type=SOFTWARE size=128 config=0x9 "
has out '# feature 3 HOSTNAME'
has out '"ptcap" "record" "--" "mk rec"'
has out 'id=0102030000000000000000000000000000000000 pid=-1 misc=2 filename="/usr/bin/mk rec"'
has out 'misc=0x2 addr=0x7fff12340000 old_len=0 new_len=3 bytes=0f05c3 {pid=4242 tid=4242'
has out 'n=2 [id=100 idx=0 cpu=-1 tid=4242] [id=200'
has out 'time_shift=31 time_mult=715827883 time_zero=5000000000'
has out 'pmu_type=8'
has out 'n=1 [tid=4242 comm="mkrec"]'
has out 'pid=4242 tid=4242 exec comm="mkrec" {pid=4242 tid=4242 time=0.000000000 cpu=0 id=200}'
has out 'addr=0x401000 len=0x1000 pgoff=0x1000 prot=r-x'
has out 'filename="/usr/bin/mk rec\x1b[2J"'
has out 'offset=0x0 size=0x18 flags=0 {pid=4242 tid=4242 time=6.000000100 cpu=0 id=100}'
has out 'size=0x18 offset=0x0 reference=0xb2d05e00 idx=0 tid=4242 cpu=-1'
has out '# 12 records, 0 of unknown type'
grep -c '^0x' out >count
[ "$(cat count)" -eq 12 ] || { echo "FAIL: $(cat count) lines of records"; failures=$((failures + 1)); }
grep '^0x' out | cut -d' ' -f1 >offsets
sort -c offsets || failures=$((failures + 1))

# The same as JSON: one object per line.
run 0 dump --format json
empty err
python3 - out <<'END' || failures=$((failures + 1))
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
head = lines[0]
assert head["type"] == "file" and head["schema"] == "ptcap-dump" and head["version"] == 1
assert head["name"] == "perf.data"
events = [o for o in lines if o["type"] == "event"]
assert [e["ids"] for e in events] == [[100], [200]] and events[0]["attr"]["config"] == "0x300e601"
features = {o["name"]: o["fields"] for o in lines if o["type"] == "feature"}
assert features["HOSTNAME"] == {"text": "box"}
assert features["NRCPUS"] == {"available": 2, "online": 2}
assert features["CMDLINE"] == {"argv": ["ptcap", "record", "--", "mk rec"]}
assert features["BUILD_ID"]["files"][0]["filename"] == "/usr/bin/mk rec"
assert [e["name"] for e in features["EVENT_DESC"]["events"]] == ["intel_pt//u", "dummy:u"]
assert features["SAMPLE_TIME"] == {"first_ns": 6000000000, "last_ns": 6000000100}
assert features["AUXTRACE"]["pieces"][0]["size"] == 48
records = [o for o in lines if o["type"] == "record"]
assert len(records) == 12 and records[0]["offset"] == head["data_offset"]
assert lines[-1] == {"type": "end", "records": 12, "shown": 12, "unknown": 0}
for o in records:
    assert set(o) >= {"type", "offset", "record", "name", "misc", "cpumode", "flags", "size", "fields", "damaged"}, o
aux = [o for o in records if o["name"] == "AUX"][0]
assert aux["fields"] == {"offset": "0x0", "size": "0x18", "flags": "0"}
assert aux["sample_id"] == {"pid": 4242, "tid": 4242, "time_ns": 6000000100, "cpu": 0, "id": 100}
END
run 2 dump --format xml

# Selected parts.
shows() { # shows "TYPES" ARGS...: the records, in order
	local want=$1
	shift
	run 0 dump "$@"
	[ "$(sed -n 's/^0x[0-9a-f]* \([A-Z0-9_]*\).*/\1/p' out | tr '\n' ' ')" = "$want" ] ||
		{ echo "FAIL: dump $*: not '$want'"; cat out; failures=$((failures + 1)); }
}
shows 'COMM AUX ' --type comm,AUX
has out '# 2 of 12 records, 0 of unknown type'
grep -q '^# event\|^# feature' out && { echo "FAIL: --type shows more"; failures=$((failures + 1)); }
shows '' --type event
has out '# event 1:'
shows 'MMAP2 ' --type 10,feature
has out '# feature 3 HOSTNAME'
shows 'ITRACE_START SWITCH ' --time 6,6.000000099
shows 'AUX ' --time 6.000000001,
shows 'COMM MMAP2 TEXT_POKE ' --time ,5.9
shows 'ITRACE_START SWITCH AUX AUXTRACE ' --tid 4242 --type itrace_start,switch,aux,auxtrace
shows '' --tid 1
shows '' --cpu 1
shows 'ITRACE_START AUX ' --cpu 0 --type itrace_start,aux,auxtrace
for bad in '--type nosuch' '--type aux,' '--type 256' '--tid x' '--cpu -1' '--time 5' '--time 6,5' \
	'--time 1.1.1,' '--time 1.0000000001,' '--verify --type aux' '--verify --stored'; do
	# shellcheck disable=SC2086
	run 2 dump $bad
done

# The claims of the file.
run 0 dump --verify
has out 'verified: 12 records, 0 of unknown type; 14 features, 0 unknown; 24 bytes of trace'
lines out 1
run 0 dump --verify --format json
python3 -c 'import json
o = json.load(open("out"))
assert o["type"] == "verified" and o["findings"] == 0 and o["records"] == 12' || failures=$((failures + 1))
cp perf.data false
off=$("$PTCAP" dump --type aux | awk '/ AUX /{print $1}')
printf '\040' | dd of=false bs=1 seek=$((off + 16)) conv=notrunc 2>/dev/null
run 3 dump --verify -i false
has out 'aux: 8 bytes in front of 0x20 of queue 0 are told of, or left out, and are not there'
has out '1 finding in 12 records'
lines out 2
run 3 dump --verify -i false --format json
python3 -c 'import json
a, b = [json.loads(line) for line in open("out")]
assert a["type"] == "finding" and a["check"] == "aux" and int(a["offset"], 16), a
assert b["findings"] == 1' || failures=$((failures + 1))
printf 'more' >>false
run 3 dump --verify -i false
has out 'layout: 4 bytes behind the last section'
run 1 dump --verify -i nosuch
head -c 800 perf.data >short
run 3 dump --verify -i short
has out 'header: '

"$MKREC" lossy truncated || exit 1
run 0 dump -i lossy
has out 'flags=TRUNCATED'

# Every known feature.
"$MKREC" all all || exit 1
run 0 dump -i all
has out 'feature 13 CPU_TOPOLOGY'
has out 'packages=["0-1"] threads=["0" "1"] dies=["0-1"]'
has out '#   cpu=1 core=1 socket=0 die=0'
has out '#   node=0 total_kib=4096 free_kib=1024 cpus="0-1"'
has out '#   name="pair" leader=0 members=2'
has out '#   level=2 line_size=64 sets=1024 ways=4 type="Unified" size="256K" cpus="0-1"'
has out '#     first=4 last=8'
has out '#   pmu="cpu_atom"'
has out '#     name="branches" value="32"'
has out '#     domain=0 name="MC" mask="3" cpus="0-1"'
run 0 dump -i all --format json
python3 - out <<'END' || failures=$((failures + 1))
import json, sys
features = {}
for line in open(sys.argv[1]):
    o = json.loads(line)
    if o["type"] == "feature":
        assert set(o) == {"type", "bit", "name", "offset", "size", "fields"}, o
        assert "rest" not in o["fields"], o
        features[o["bit"]] = o["fields"]
assert sorted(features) == list(range(1, 33))
assert features[1]["systems"] == [{"name": "sched", "format_bytes": [3]}]
assert features[13]["cpus"][1] == {"cpu": 1, "core": 1, "socket": 0, "die": 0}
assert features[14]["nodes"] == [{"node": 0, "total_kib": 4096, "free_kib": 1024, "cpus": "0-1"}]
assert features[15] == features[19] == {}
assert features[17]["groups"] == [{"name": "pair", "leader": 0, "members": 2}]
assert [list(b.values()) for b in features[22]["nodes"][0]["blocks"]] == [[0, 2], [4, 8], [64, 64]]
assert features[23] == {"resolution_ns": 1} and features[24] == {"version": 1}
assert features[25]["programs"][0]["name"] == "pr" and features[26]["types"][0]["id"] == 3
assert features[27] == {"version": 1, "type": 1, "level": 3, "ratio": 5, "mmap_len": 65536}
assert features[28]["caps"][0] == {"name": "branches", "value": "32"}
assert features[29]["wall_ns"] == 1700000000000000000
assert features[31]["pmus"][0]["caps"][1] == {"name": "max_precise", "value": "3"}
assert features[32]["cpus"][0]["domains"][0]["name"] == "MC"
END

# A feature with additional data by a newer writer, and one that is cut.
"$MKREC" rest || exit 1
off=$("$PTCAP" dump -i rest | sed -n 's/.* CMDLINE: \(0x[0-9a-f]*\)+.*/\1/p')
printf '\003' | dd of=rest bs=1 seek=$((off)) conv=notrunc 2>/dev/null
run 0 dump -i rest
has out '["ptcap" "record" "--"] rest=68 rest_bytes='
printf '\005' | dd of=rest bs=1 seek=$((off)) conv=notrunc 2>/dev/null
run 1 dump -i rest
has out '"mk rec"] DAMAGED'
has err 'feature CMDLINE is too short'
run 1 dump -i rest --format json
python3 -c 'import json, sys
o = [json.loads(line) for line in open("out")]
assert "CMDLINE is too short" in [f for f in o if f.get("bit") == 11][0]["damage"]' || failures=$((failures + 1))

# An unknown record type.
off=$("$PTCAP" dump | awk '/ FINISHED_INIT /{print $1}')
printf '\132' | dd of=perf.data bs=1 seek=$((off)) conv=notrunc 2>/dev/null
run 0 dump
has out 'UNKNOWN(90)'
has out '# 12 records, 1 of unknown type'

real=$PTCAP_TRACES/quipper-intel_pt-4.14/perf.data.intel_pt-4.14
if [ -r "$real" ]; then
	run 0 dump -i "$real"
	has out '# 257 records, 0 of unknown type'
	[ "$(grep -c '^0x' out)" -eq 257 ] || failures=$((failures + 1))
fi
finish
