#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Times by MTC packets, of two periods, ours and perf's of the same file. Each entry is at the same nanosecond. In between
# perf says of a branch what the time was when its packet came, and ptcap when the code in front of it began: so perf's is
# between ours of that branch and of the next one.
. ./lib.sh
program=$progs/prog_busy

for period in 6 9; do
	name=clock$period
	"$ptcap" record -q -e intel_pt/mtc_period=$period/u -o $name.data -- "$program" 500 >/dev/null || [ $? -lt 125 ] ||
		fail "$name: not recorded"
	"$ptcap" decode -i $name.data -F time,from,to >$name.ours
	perf script -i $name.data --ns --itrace=be -F time,ip,addr 2>$name.err | tr -d : | awk '{ print $1, $2, $4 }' >$name.perf
	paste -d ' ' $name.ours $name.perf | tr -d . | awk -v period=$period '
		$2 != $5 || $3 != $6 { print "other transfers: " $0; exit }
		$1 < last || $1 > $4 { print "not between " last " and the next: " $0; exit }
		$2 == 0 && $1 != $4 { print "an entry of another time: " $0; exit }
		{ last = $4; times += $1 != before; before = $1; starts += $2 == 0 }
		END { if (NR < 1000 || times < starts + 100) print "only " times " times in " NR " lines, " starts " entries" }' >$name.diff
	[ ! -s $name.diff ] || fail "$name: $(cat $name.diff)"
	echo "ok MTC of period $period: $(cut -d ' ' -f 1 $name.ours | uniq | wc -l) times in $(wc -l <$name.ours) transfers, as perf has them"
done
