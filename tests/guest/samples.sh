#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# AUX samples: the newest trace with each sample of another event. Compared with perf's decode of
# the same file and of its own recording. Each sample is also compared with the trace available at
# its time.
. ./lib.sh

# same NAME: ptcap's decode of NAME.data equals perf's (which lists the samples themselves as well).
same() {
	"$ptcap" decode -i "$1.data" -F tid,from,to 2>"$1.dec.err" | grep -v '^#' | sort -s -n -k 1,1 >"$1.ours"
	perf script -i "$1.data" --itrace=be -F tid,ip,addr 2>"$1.perf.err" | awk '$3 == "=>" { print $1, $2, $4 }' |
		sort -s -n -k 1,1 >"$1.perf"
	[ "$(wc -l <"$1.ours")" -gt 100 ] || fail "$1: too few transfers"
	diff "$1.ours" "$1.perf" >"$1.diff" || fail "$1: perf differs: $(head -n 6 "$1.diff")"
	"$ptcap" dump --verify -i "$1.data" >"$1.verify" || fail "$1: $(head "$1.verify")"
	[ ! -s "$1.perf.err" ] || fail "$1: $(cat "$1.perf.err")"
	echo "ok $1: $(wc -l <"$1.ours") transfers, as perf has them"
}

sample() { # sample NAME OPTIONS...
	local name=$1
	shift
	"$ptcap" record -m 4M -o "$name.data" "$@" >/dev/null 2>"$name.err" || [ $? -lt 125 ] || fail "$name: $(cat "$name.err")"
}

sample one --source pt --aux-sample -- "$progs/prog_busy" 3000
same one
sample threads --aux-sample=8K -e intel_pt//u -e task-clock:u -c 1M -- "$progs/prog_tasks" locks
same threads
sample per_thread --aux-sample=600 -e intel_pt/psb_period=0/u -e cpu-clock:u --per-thread -- "$progs/prog_busy" 1000
"$ptcap" dump -i per_thread.data --type SAMPLE | grep -q 'aux_size=600 ' || fail "per_thread: samples of another size"
perf record -q -B -N -m 4M --aux-sample -e '{intel_pt//u,cpu-clock:u}' -o perfs.data -- "$progs/prog_busy" 1500 >/dev/null 2>&1 || true
same perfs

# Each sample has the newest bytes at its time: consecutive, with zeros only before the first byte.
before=$(tail -n 1 /proc/softcount | cut -d ' ' -f 1)
sample count --aux-sample=16K -e softcount/chunk=512,us=200/ -e cpu-clock -c 1M -- \
	bash -c 'for ((i = 0; i < 3000; i++)); do :; done'
awk -v seen="${before:-0}" '$1 > seen' /proc/softcount >count.rings
"$countcheck" count.data count.rings samples >count.sums || fail "count: $(cat count.rings)"
echo "ok samples of a count: $(cat count.sums)"

# A PMU without trace, and an event without samples.
for events in '-e msr/event=0/ -e cpu-clock' '-e intel_pt//u -e softcount/chunk=8/'; do
	status=0
	"$ptcap" record --aux-sample $events -o refused.data -- "$progs/prog_exit" 3 2>refused.err || status=$?
	[ "$status" = 125 ] || fail "$events: exit status $status: $(cat refused.err)"
	echo "ok refused: $(cat refused.err)"
done
