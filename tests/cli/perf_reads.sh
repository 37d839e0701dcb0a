#!/bin/bash
# Debian's perf reads the writer's files without any message.
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
sed -i "s/ = 8 (uprobe)/ = 8/" out # perf 6.12 looks up the type's name on this machine
has out "# event : name = intel_pt//u, , id = { 100 }, type = 8, size = 128, config = 0x300e601"
has out "# event : name = dummy:u, , id = { 200 }"
has out "# pmu mappings: software = 1, intel_pt = 8"
has out "# time of first sample : 6.000000"
has out "# contains AUX area data"

"$MKREC" full features || exit 1
check perf report -i full --header-only -I
has out "# sibling sockets : 0-1"
has out "# sibling threads : 1"
has out "# CPU 1: Core ID 1, Die ID 0, Socket ID 0"
has out "# node0 meminfo  : total = 4096 kB, free = 1024 kB"
has out "# node0 cpu list : 0-1"
has out "# group: pair{intel_pt//u,dummy:u}"
has out "#  L2 Unified             256K [0-1]"
has out "# memory nodes (nr 1, block size 0x8000000):"
has out "#    0 [1152M]: 0-2,4-8,64"
has out "# clockid frequency: 1000 MHz"
has out "# bpf_prog_info 17:"
has out "# btf info of id 3"
has out "# compressed : Zstd, level = 3, ratio = 5"
has out "# cpu pmu capabilities: branches=32, max_precise=3"
has out "# cpu_atom pmu capabilities: branches=32, max_precise=3"
has out "# cpu_core cpu list : 0"
has out "# reference time: 2023-11-14 22:13:20.000000 = 1700000000.000000 (TOD) = 6.000000000 (monotonic_raw)"

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
