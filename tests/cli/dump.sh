#!/bin/bash
# What dump prints: every record, once, in file order, with its fields.
. "$(dirname "$0")/lib.sh"
"$MKREC" perf.data || exit 1

run 0 dump
empty err
has out "# event 0: type=8 size=128 config=0x300e601 period=1 sample_type=IP|TID|TIME|CPU|IDENTIFIER sample_id_all exclude_kernel ids=100"
has out '# feature 3 HOSTNAME'
has out '"ptcap" "record" "--" "mk rec"'
has out '0102030000000000000000000000000000000000 pid=-1 "/usr/bin/mk rec"'
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

"$MKREC" lossy truncated || exit 1
run 0 dump -i lossy
has out 'flags=TRUNCATED'

# a type from the future
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
