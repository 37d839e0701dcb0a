#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Address filters: in a static program only one function is traced, or all code up to one. Compared
# with perf's decode and with the same program without a filter.
. ./lib.sh
program=$progs/prog_recurse

record() { # record NAME OPTIONS...
	local name=$1
	shift
	"$ptcap" record --source pt -o "$name.data" "$@" -- "$program" >/dev/null 2>"$name.err" ||
		[ $? -lt 125 ] || fail "$name: $(cat "$name.err")"
}

# calm NAME: "from to" without interruptions.
calm() {
	"$ptcap" decode -i "$1.data" -F from,to,kind >"$1.all"
	! grep -m 3 '^#' "$1.all" || fail "$1 has gaps"
	grep -v -e async -e start "$1.all" | cut -d ' ' -f 1,2
}

record whole
calm whole >whole.calm
record down --filter "filter down @ $program"
calm down >down.calm
lines=$(wc -l <down.calm)
[ "$lines" -gt 100 ] || fail "filter: $lines transfers"
# The branches of the whole trace that start in the function: 0x40104b to 0x401063.
range() { grep -E "^4010(4[b-f]|5|6[0-3])"; }
range <whole.calm | diff - down.calm >down.diff || fail "filter: not the function's: $(head -n 3 down.diff)"
perf script -i down.data --itrace=be -F ip,addr 2>down.perf.err | awk '{ print $1, $3 }' >down.perf
cut -d ' ' -f 1,2 down.all | diff - down.perf >down.diff || fail "filter: perf differs: $(head -n 3 down.diff)"
echo "ok filter: $lines transfers, as perf has them, those of the function"

# Up to a function, and no further.
record stop --filter "tracestop inner @ $program"
calm stop | sed '$d' >stop.calm # the last one leads into the function
lines=$(wc -l <stop.calm)
[ "$lines" -gt 100 ] && [ "$lines" -lt "$(wc -l <whole.calm)" ] || fail "tracestop: $lines transfers"
head -n "$lines" whole.calm | diff - stop.calm >stop.diff || fail "tracestop: not the beginning: $(head -n 6 stop.diff)"
echo "ok tracestop: $lines transfers"
