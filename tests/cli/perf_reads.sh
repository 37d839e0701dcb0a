#!/bin/bash
# Debian's perf reads what the writer wrote, without a word of complaint.
. "$(dirname "$0")/lib.sh"
if ! perf --version >/dev/null 2>&1; then
	echo "skipped: no perf (apt-get install linux-perf)"
	exit 77
fi
"$MKREC" perf.data || exit 1

check() {
	if ! "$@" >out 2>err; then
		echo "FAIL: $*"
		cat err
		failures=$((failures + 1))
	fi
	empty err
}

check perf report -i perf.data --header-only -I
has out "# hostname : box"
has out "# os release : 6.1.0"
has out "# cpuid : GenuineIntel,6,158,10"
has out "# cmdline : ptcap record -- mk rec"
has out "# event : name = intel_pt//u, , id = { 100 }, type = 8, size = 128, config = 0x300e601"
has out "# event : name = dummy:u, , id = { 200 }"
has out "# pmu mappings: software = 1, intel_pt = 8"
has out "# time of first sample : 6.000000"
has out "# contains AUX area data"

check perf report -i perf.data -D --no-itrace
for type in ID_INDEX TIME_CONV AUXTRACE_INFO THREAD_MAP COMM MMAP2 ITRACE_START AUX AUXTRACE; do
	has out "PERF_RECORD_$type"
done
"$PTCAP" dump -i perf.data | grep -c '^0x' >ours
grep -c '^0x.*PERF_RECORD\|^[0-9-].* 0x[0-9a-f]* \[0x[0-9a-f]*\]: PERF_RECORD\|^0x[0-9a-f]* \[0x' out >theirs
cmp ours theirs || { echo "FAIL: $(cat ours) records, perf sees $(cat theirs)"; failures=$((failures + 1)); }

check perf script -i perf.data -D
has out "Intel Processor Trace data: size 24 bytes"
has out "PSB"
check perf buildid-list -i perf.data
has out "0102030000000000000000000000000000000000 /usr/bin/mk rec"
check perf script -i perf.data --itrace=b --ns -F tid,ip,addr
finish
