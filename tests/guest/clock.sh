#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Compares times by MTC packets, of two periods, between ptcap and perf for the same file. Each
# entry is at the same nanosecond. In between, perf gives a branch the time when its packet came,
# and ptcap the time when the code before it began. So our time is not before perf's time of the
# previous branch, and not after perf's time of the branch itself. Once one was after that, but not
# after the next. So with small counts a few are allowed; with full counts none occurred in 200,000
# branches.
. ./lib.sh
program=$progs/prog_busy rounds=500 most=2
[ -z "${FULL-}" ] || rounds=12000 most=0

for period in 6 9; do
	name=clock$period
	"$ptcap" record -q -e intel_pt/mtc_period=$period/u -o $name.data -- "$program" $rounds >/dev/null || [ $? -lt 125 ] ||
		fail "$name: not recorded"
	"$ptcap" decode -i $name.data -F time,from,to >$name.ours
	perf script -i $name.data --ns --itrace=be -F time,ip,addr 2>$name.err | tr -d : | awk '{ print $1, $2, $4 }' >$name.perf
	paste -d ' ' $name.ours $name.perf | tr -d . | awk -v most=$most '
		$2 != $5 || $3 != $6 { print "other transfers: " $0; exit }
		$1 < last { print "before " last ": " $0; exit }
		ours > $4 { print "behind " ours ": " $0; exit }
		$1 > $4 && ++late > most { print "behind perf: " $0; exit }
		$2 == 0 && $1 != $4 { print "an entry of another time: " $0; exit }
		{ times += $1 != ours; starts += $2 == 0; last = $4; ours = $1 }
		END { if (NR < 1000 || times < starts + 100) print "only " times " times in " NR " lines, " starts " entries" }' >$name.diff
	[ ! -s $name.diff ] || fail "$name: $(cat $name.diff)"
	echo "ok MTC of period $period: $(cut -d ' ' -f 1 $name.ours | uniq | wc -l) times in $(wc -l <$name.ours) transfers, as perf has them"
done
