#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Measures the cost of a trace for the recorder: ptcap and perf record, one after the other,
# attached to a program whose trace is made large (softpt's pad). The trace comes in portions.
# Prints the CPU time and the written bytes from the end of the first portion to the end of the last
# one, from the kernel's counters, so start and end do not count. `full` runs this in a guest whose
# time is the number of executed instructions, so that the figures do not depend on the load of the
# host.
. ./lib.sh
pad=/sys/module/softpt/parameters/pad
rounds=250 portions=4
mkfifo go did ctl ack
exec 6<>go 7<>did

ours() { # ours PID: waits until the recorder is attached
	rm -f cost.err
	"$ptcap" record -v -m 512K,4M -e intel_pt/mtc=0/u -o cost.data -p "$1" >cost.out 2>cost.err 6<&- 7<&- &
	recorder=$!
	await cost.err attached
}
theirs() {
	perf record -q -B -m 512K,4M -D -1 --control fifo:ctl,ack -e intel_pt/mtc=0/u -o cost.data -p "$1" >cost.out 2>cost.err 6<&- 7<&- &
	recorder=$!
	echo enable >ctl
	read -r _ <ack
}

# spent: prints the nanoseconds that the recorder's threads have run, and its written bytes.
spent() {
	local n name thread sum=-1 before=-2
	until [ $sum = $before ]; do # until it is idle
		pause 100
		before=$sum sum=0
		for thread in "/proc/$recorder/task"/*/schedstat; do
			read -r n _ <"$thread"
			sum=$((sum + n))
		done
	done
	ns=$sum
	while read -r name n; do
		[ "$name" != wchar: ] || bytes=$n
	done <"/proc/$recorder/io"
}

portion() {
	echo >&6
	read -r _ <&7
	spent
}

# cost WHO: nanoseconds for a KiB of trace.
cost() {
	local target first_ns first_bytes n
	rm -f cost.*
	(while read -r word <&6 && [ "$word" != end ]; do
		"$progs/prog_busy" $rounds >/dev/null || [ $? = 7 ]
		echo >&7
	done) &
	target=$!
	"$1" $target
	portion
	first_ns=$ns first_bytes=$bytes
	for ((n = 0; n < portions; n++)); do portion; done
	echo end >&6
	wait $target
	wait $recorder || fail "cost, $1: $(cat cost.out cost.err)"
	ns=$((ns - first_ns)) bytes=$((bytes - first_bytes))
	[ $bytes -gt 20000000 ] || fail "cost, $1: only $bytes bytes"
	echo "ok cost, $1: $((ns / 1000000)) ms of CPU for $((bytes / 1000000)) MB of trace, $((ns * 1000 / bytes)) ps for a byte"
	per_byte=$((ns * 1000 / bytes))
}

echo 4000 >$pad
cost theirs
per_byte_perf=$per_byte
cost ours
ratio=$((per_byte * 1000 / per_byte_perf))
echo "ok cost: $((ratio / 1000)).$(printf %03d $((ratio % 1000))) of perf's (at most 1 wanted)"
echo 0 >$pad
