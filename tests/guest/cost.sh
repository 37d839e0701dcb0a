#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What recording costs, in CPU time of the recorder: ptcap and perf record, one after the other, attached to a program whose
# trace is made large (softpt's pad). Each twice, of little and of much; the difference is what the trace costs, without
# the start and the end. Numbers only: nothing is said of what they should be.
. ./lib.sh
pad=/sys/module/softpt/parameters/pad
mkfifo go ctl ack
TIMEFORMAT='%U %S'

ours() { # ours PID
	{ time "$ptcap" record -m 512K,4M -e intel_pt/mtc=0/u -o cost.data -p "$1" >cost.out 2>cost.err; } 2>cost.time
}
theirs() {
	{ time perf record -q -B -m 512K,4M -D -1 --control fifo:ctl,ack -e intel_pt/mtc=0/u -o cost.data -p "$1" >cost.out 2>cost.err; } 2>cost.time
}
await_ours() {
	until grep -q attached cost.err 2>/dev/null; do sleep 0.05; done
}
await_theirs() {
	echo enable >ctl
	read -r _ <ack
}

# cost WHO ROUNDS: milliseconds of CPU, and bytes of trace.
cost() {
	local target recorder
	rm -f cost.*
	(read -r _ <go && exec "$progs/prog_busy" "$2" >/dev/null) &
	target=$!
	"$1" $target &
	recorder=$!
	"await_$1"
	echo >go
	wait $target || true
	wait $recorder || fail "cost, $1: $(cat cost.out cost.err)"
	awk '{ printf "%d", ($1 + $2) * 1000 }' cost.time
	"$ptcap" dump -i cost.data --type AUXTRACE | sed -n 's/.* AUXTRACE .* size=\(0x[0-9a-f]*\) .*/\1/p' | {
		n=0
		while read -r size; do n=$((n + size)); done
		echo " $n"
	}
}

echo 4000 >$pad
for who in ours theirs; do
	cost $who 100 >little
	cost $who 4000 >much
	read -r ms bytes <little
	read -r more_ms more_bytes <much
	[ "${more_bytes:-0}" -gt $((bytes + 50000000)) ] || fail "cost, $who: $bytes and ${more_bytes-} bytes"
	per_gb=$(((more_ms - ms) * 1000000 / ((more_bytes - bytes) / 1000)))
	echo "ok cost, $who: $((more_ms - ms)) ms of CPU for $(((more_bytes - bytes) / 1000000)) MB of trace, $per_gb for a GB; $ms ms for the rest"
	[ $who = theirs ] || our_per_gb=$per_gb
done
echo "ok cost: $((our_per_gb * 100 / per_gb)) % of perf's (at most 100 wanted)"
echo 0 >$pad
