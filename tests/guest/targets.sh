#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The possible targets of Intel PT, on two CPUs. Each recording is compared with perf's decode of
# it. Recordings of a static program, also perf's own, are compared with one another.
. ./lib.sh

# by_tid NAME: "tid from to" from ptcap and from perf, thread by thread, in NAME.ours and NAME.perf.
by_tid() {
	"$ptcap" decode -i "$1.data" -F tid,from,to 2>"$1.dec.err" | sort -s -n -k 1,1 >"$1.ours"
	perf_by_tid "$1"
}
perf_by_tid() {
	perf script -i "$1.data" --itrace=be -F tid,ip,addr 2>"$1.perf.err" | awk '{ print $1, $2, $4 }' |
		sort -s -n -k 1,1 >"$1.perf"
}

# same_by_tid NAME THREADS: no gap, perf has the same, and at least THREADS threads.
same_by_tid() {
	by_tid "$1"
	! grep -m 3 '^#' "$1.ours" || fail "$1 has gaps: $(cat "$1.err")"
	! grep LOST "$1.err" || fail "$1 has losses"
	local n
	n=$(cut -d ' ' -f 1 "$1.ours" | uniq | wc -l)
	[ "$n" -ge "$2" ] || fail "$1: $n threads, expected $2"
	diff "$1.ours" "$1.perf" >"$1.diff" || fail "$1: perf differs: $(head -n 6 "$1.diff")"
	echo "ok $1: $n threads, $(wc -l <"$1.ours") transfers, as perf has them"
}

# perf_within NAME: ours has all of perf's branches, in that order. perf does not continue from one
# snapshot to the next without a PSB, so ours has more. (A diff of so much equal text finds
# differences where there are none.)
perf_within() {
	awk 'NR == FNR { perf[++n] = $0; next } i < n && $0 == perf[i + 1] { i++ }
		END { if (i < n) print "its line " i + 1 ": " perf[i + 1] }' "$1.perf" "$1.ours"
}

pt() { # pt NAME OPTIONS...: record with Intel PT
	local name=$1
	shift
	"$ptcap" record -v --source pt -o "$name.data" "$@" >"$name.stdout" 2>"$name.err" ||
		[ $? -lt 125 ] || fail "$name: $(cat "$name.err")"
}

# Threads, and processes that fork and exec, over two CPUs.
pt threads -- "$progs/prog_tasks" locks
same_by_tid threads 5
pt pipeline -- /bin/sh -c 'echo a b c | tr a-c x-z | cat'
same_by_tid pipeline 4
pt spawn -- "$progs/prog_tasks" spawn
same_by_tid spawn 3

# A static program takes the same path each time, with any interruptions: the lines "from to kind"
# of its thread in NAME.data are those of recurse.data.
calm() {
	"$ptcap" decode -i "$1.data" --tid "$2" -F from,to,kind 2>"$1.dec.err" |
		grep -v -e async -e start | grep -E '^40[0-9a-f]{4} '
}
tid_of() {
	"$ptcap" dump -i "$1.data" --type COMM | sed -n 's/.* tid=\([0-9]*\) exec comm="prog_recurse".*/\1/p'
}
pt recurse -- "$progs/prog_recurse"
calm recurse "$(tid_of recurse)" >calm.want
[ "$(wc -l <calm.want)" -gt 100 ] || fail "a small program was expected to do more"
same_as_recurse() {
	calm "$1" "$(tid_of "$1")" >calm.got || fail "$1: $(cat "$1.err")"
	cmp -s calm.got calm.want || fail "$1: not what it does alone: $(diff calm.got calm.want | head -n 6)"
	echo "ok $1: as recorded by itself"
}
perf record -q -B -e intel_pt//u -o perf.data -- "$progs/prog_recurse" >/dev/null 2>perf.err || true
same_as_recurse perf
pt per_thread --per-thread -- "$progs/prog_recurse"
same_as_recurse per_thread
pt config -e intel_pt/psb_period=1,noretcomp/u -- "$progs/prog_recurse"
same_as_recurse config
pt all -a -m 512K,1M -- "$progs/prog_recurse"
same_as_recurse all
mount -t cgroup2 none /sys/fs/cgroup
echo +pids >/sys/fs/cgroup/cgroup.subtree_control # only then has a new cgroup the files that perf_event needs
mkdir /sys/fs/cgroup/t
pt cgroup -G t -- /bin/sh -c 'echo $$ >/sys/fs/cgroup/t/cgroup.procs; exec "$0"' "$progs/prog_recurse"
same_as_recurse cgroup

# While whole CPUs are traced, threads cannot be traced; ptcap says so.
"$ptcap" record -a --source pt -o busy.data 2>busy.err &
recorder=$!
await busy.err recording
status=0
"$ptcap" record --source pt -o refused.data -- "$progs/prog_exit" 3 2>refused.err || status=$?
[ "$status" = 125 ] || fail "refused: exit status $status: $(cat refused.err)"
grep -q 'the PMU is in use' refused.err || fail "refused: $(cat refused.err)"
[ ! -e refused.data ] || fail "refused: a file is left"
kill -INT "$recorder"
wait "$recorder" || fail "busy: $(cat busy.err)"
echo "ok refused: $(cat refused.err)"

# Attach: eight threads, then a child; the recording ends with its target.
mkfifo talk
"$progs/prog_tasks" serve <talk >serve.out &
target=$!
exec 5>talk
await serve.out ready
"$ptcap" record -v --source pt -o attach.data -p "$target" 2>attach.err 5>&- &
recorder=$!
await attach.err attached
echo -n f >&5
await serve.out forked
exec 5>&-
wait "$recorder" || fail "attach: $(cat attach.err)"
same_by_tid attach 9

# Threads are created during the attach and after it, one after the other: none is missing. The
# trace goes on and off event by event, each for one CPU, and a new thread inherits it: from the
# first thread that has a trace on a CPU until the last one that it is on for there. So the threads
# between the first and the last on each CPU have a trace, on any CPU.
"$progs/prog_crowd" churn 1000000 0 >/dev/null &
target=$!
for seconds in 1 2 4 20 100 400; do # until enough threads had their turn, also on a busy machine
	"$ptcap" record -v --source pt --max-time "$seconds" -o churn.data -p "$target" 2>churn.err ||
		fail "churn: $(cat churn.err)"
	"$ptcap" dump -i churn.data --type EXIT | sed -n 's/.* EXIT .* tid=\([0-9]*\) .*{.*/\1/p' >churn.died
	"$ptcap" dump -i churn.data --type FORK | grep -o ' tid=.*' |
		sed 's/ tid=\([0-9]*\) .*{.*time=\([0-9.]*\).*/\2 \1/' |
		sort -n | cut -d ' ' -f 2 | grep -Fx -f churn.died >churn.born || true
	"$ptcap" decode -i churn.data -F tid,cpu,from,to 2>churn.dec.err >churn.all
	cut -d ' ' -f 1,2 churn.all | uniq | sort -u >churn.traced
	awk 'NR == FNR { nth[$1] = FNR; next }
		!($1 in nth) { next }
		!first[$2] || nth[$1] < first[$2] { first[$2] = nth[$1] }
		nth[$1] > last[$2] { last[$2] = nth[$1] }
		END {
			from = first[0] > first[1] ? first[0] : first[1]
			to = last[0] < last[1] ? last[0] : last[1]
			for (tid in nth)
				if (nth[tid] > from && nth[tid] < to)
					print tid
		}' churn.born churn.traced | sort -n >churn.whole
	[ "$(wc -l <churn.whole)" -le 5 ] || break
done
kill "$target"
[ "$(wc -l <churn.whole)" -gt 5 ] || fail "churn: only $(wc -l <churn.whole) threads were born while all was on"
cut -d ' ' -f 1 churn.traced | uniq | grep -vxF -f - churn.whole >churn.missing || true
[ ! -s churn.missing ] || fail "churn: threads without a trace: $(tr '\n' ' ' <churn.missing)"
cut -d ' ' -f 1,3- churn.all | sort -s -n -k 1,1 >churn.ours
perf_by_tid churn
! grep -m 3 '^#' churn.ours || fail "churn has gaps: $(cat churn.err)"
diff churn.ours churn.perf >churn.diff || fail "churn: perf differs: $(head -n 6 churn.diff)"
echo "ok churn: $(wc -l <churn.whole) threads were born and ended, each has its trace, as perf has it"

# A PMU of another name is recorded unchanged: the trace is there, and nothing calls it Intel PT.
busybox rmmod softpt
busybox insmod /run/softpt.ko name=some_trace
status=0
"$ptcap" record -v -e some_trace/pt,branch,tsc/u -o raw.data -- "$progs/prog_recurse" >/dev/null 2>raw.err || status=$?
[ "$status" -lt 125 ] || fail "raw: $(cat raw.err)"
"$ptcap" dump -i raw.data >raw.dump
! grep AUXTRACE_INFO raw.dump || fail "raw: it says what it cannot know"
grep -q '^0x[0-9a-f]* AUXTRACE .*size=0x[0-9a-f]\{3,\}' raw.dump || fail "raw: there is no trace"
! "$ptcap" dump --verify -i raw.data | grep -v -e 'no AUXTRACE_INFO' -e 'findings\? in ' || fail "raw: more than that is wrong"
! "$ptcap" record -e intel_pt//u -o none.data -- "$progs/prog_recurse" 2>none.err || fail "raw: there is an intel_pt"
echo "ok raw: $(grep -c ' AUXTRACE ' raw.dump) pieces of a PMU that nobody knows"
busybox rmmod softpt
busybox insmod /run/softpt.ko

# Only the newest trace: at a signal, and at the end.
"$ptcap" record -v --source pt -S -m 64K,16K -o snap.data -- "$progs/prog_wait" catch >snap.out 2>snap.err <talk &
recorder=$!
exec 5>talk
await snap.out ready
kill -USR2 "$recorder"
await snap.err 'snapshot 1'
exec 5>&-
wait "$recorder" || [ $? = 7 ] || fail "snapshots: $(cat snap.err)"
by_tid snap
more=$(perf_within snap)
[ -z "$more" ] || fail "snapshots: perf has more, $more"
[ "$(wc -l <snap.perf)" -gt 3 ] || fail "snapshots: perf has too little"
echo "ok snapshots: $(wc -l <snap.ours) transfers"
# Again and again, while threads come and go, until there is something to compare. (snapshots.sh
# does this, too.)
if [ -n "${FULL-}" ]; then
	bytes_taken() {
		awk '/snapshot [0-9]*:/ { n += $4 } END { print n + 0 }' snaps.err
	}
	snaps=50
	"$ptcap" record -v --source pt -S -m 1M,16K -o snaps.data -- "$progs/prog_crowd" churn 100000000 1 >/dev/null 2>snaps.err &
	recorder=$!
	await snaps.err source:
	for ((n = 1; n <= snaps || $(bytes_taken) < 32768; n++)); do
		kill -USR2 "$recorder"
		await snaps.err "snapshot $n:"
	done
	kill -TERM "$recorder"
	wait "$recorder" || [ $? -ge 128 ] || fail "snapshots under load: $(cat snaps.err)"
	by_tid snaps
	more=$(perf_within snaps)
	[ -z "$more" ] || fail "snapshots under load: perf has more, $more"
	[ "$(wc -l <snaps.perf)" -gt 1000 ] || fail "snapshots under load: too few transfers"
	echo "ok $n snapshots under load: $(wc -l <snaps.ours) transfers, $(wc -l <snaps.perf) of perf's"
fi
pt snapbusy -S -m 64K,16K -- "$progs/prog_busy" 20000
by_tid snapbusy
grep -v '^#' snapbusy.ours | diff - snapbusy.perf >snapbusy.diff || fail "a snapshot of a ring that went round: $(head -n 6 snapbusy.diff)"
[ "$(grep -vc '^#' snapbusy.ours)" -gt 100 ] || fail "snapshot: too few transfers"
echo "ok snapshot of a ring that went round: $(wc -l <snapbusy.ours) transfers"
