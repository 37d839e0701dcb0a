#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Single programs: compares ptcap's decode of a recording, perf's decode, and an independent
# stepper.
. ./lib.sh

# compare NAME PROGRAM...: ptcap's and perf's decode of the same file have the same branches,
# without a gap.
compare() {
	local name=$1
	shift
	"$ptcap" record --source pt -o "$name.data" -- "$@" >"$name.stdout" 2>"$name.err" ||
		[ $? -lt 125 ] || fail "$name: $(cat "$name.err")"
	"$ptcap" decode -i "$name.data" -F from,to >"$name.ours"
	! grep -m 3 '^#' "$name.ours" || fail "$name has gaps"
	perf script -i "$name.data" --itrace=be -F ip,addr 2>"$name.perf.err" | awk '{ print $1, $3 }' >"$name.perf"
	[ "$(wc -l <"$name.ours")" -gt 10 ] || fail "$name: too few transfers"
	diff "$name.ours" "$name.perf" >"$name.diff" || fail "$name: perf differs: $(head -n 6 "$name.diff")"
	echo "ok $name: $(wc -l <"$name.ours") transfers, as perf has them"
}

compare recurse "$progs/prog_recurse"
compare signal "$progs/prog_signal"
compare indirect "$progs/prog_libc_static"
compare true /bin/true

# The instructions equal those of a stepper that shares no code with ptcap (the guest has no KASLR,
# and setarch -R no ASLR).
setarch -R "$refstep" "$progs/prog_recurse" >ref.ips 2>ref.err || true
"$ptcap" decode -i recurse.data -F insn-ip >ours.ips
cmp ref.ips ours.ips || fail "refstep sees other instructions"
echo "ok refstep: $(wc -l <ours.ips) instructions"

# The smallest rings: trace that the kernel could not write is a reported loss, and a gap.
"$ptcap" record --source pt -m 8K,8K -o small.data -- "$progs/prog_busy" 20000 >/dev/null 2>small.err ||
	[ $? -lt 125 ] || fail "small rings: $(cat small.err)"
"$ptcap" decode -i small.data -F from,to >small.ours
gaps=$(grep -c '^# gap' small.ours || true)
if grep -q LOST small.err; then
	[ "$gaps" -gt 0 ] || fail "a loss without a gap: $(cat small.err)"
else
	[ "$gaps" = 0 ] || fail "a gap without a loss: $(grep '^# gap' small.ours | head -n 3)"
fi
echo "ok small rings: $(wc -l <small.ours) lines, $gaps gaps"

# Exit statuses pass through this source, too.
status=0
"$ptcap" record -q --source pt -o exit.data -- "$progs/prog_exit" 3 || status=$?
[ "$status" = 3 ] || fail "exit status $status instead of 3"
echo "ok exit status"
