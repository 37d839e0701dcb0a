#!/bin/bash
# Samples by this machine's kernel: dump's output compared with perf script's.
. "$(dirname "$0")/lib.sh"
command -v perf >/dev/null || { echo "no perf"; exit 77; }

# record NAME OPTION...: makes a recording of a loop in the shell.
record() {
	perf record -q -o "$1" "${@:2}" -- bash -c 'for ((i = 0; i < 30000; i++)); do :; done' \
		>record.log 2>&1 || { echo "perf cannot record: $(tail -1 record.log)"; exit 77; }
	run 0 dump -i "$1"
	empty err
	if grep -m 3 -e DAMAGED -e ' more=' out; then # more: an unparsed field
		echo "FAIL: $1 is not read to its end"
		failures=$((failures + 1))
	fi
	grep ' SAMPLE ' out >samples
	[ -s samples ] || { echo "perf took no samples"; exit 77; }
}

# same WHAT: perf sorts samples by time, the file has them by CPU.
same() {
	sort ours >ours.sorted
	sort theirs >theirs.sorted
	[ -s ours ] && cmp -s ours.sorted theirs.sorted && return
	echo "FAIL: $1 differ from perf's, or there are none:"
	diff ours.sorted theirs.sorted | head -6
	failures=$((failures + 1))
}

field() { sed -E -n "s/.* $1=([^] ]*).*/\1/p" samples; }

record plain -e cpu-clock:u -c 500000 -d --user-regs=ax,sp,ip --intr-regs=bx --code-page-size -s
field ip >ours
perf script -i plain -F ip 2>/dev/null | awk '{print "0x" $1}' >theirs
same "instruction pointers"
sed -E -n 's/.*regs_user_abi=64 \[([^]]*)\].*/\1/p' samples | tr = : >ours
perf script -i plain -F uregs 2>/dev/null | sed -E 's/ *ABI:2 *//; s/ *$//; s/ +/ /g' >theirs
same "registers of user space"
sed -E -n 's/.*regs_intr_abi=64 \[([^]]*)\].*/\1/p' samples | tr = : >ours
perf script -i plain -F iregs 2>/dev/null | sed -E 's/ *ABI:2 *//; s/ *$//; s/ +/ /g' >theirs
same "registers at the interrupt"

record chain -e cpu-clock:u -c 500000 -g
sed -E -n 's/.* callchain=\[([^]]*)\].*/\1/p' samples | tr ' ' '\n' | grep '^0x' >ours
perf report -D -i chain 2>/dev/null | awk '/PERF_RECORD_SAMPLE/{on=1} /^$/{on=0}
	on && /^\.\.\.\.\. *[0-9]+: [0-9a-f]+$/{print "0x" $NF}' |
	sed -E 's/^0x0+(.)/0x\1/' | grep -v '^0xffffffffffff[ef]' >theirs
same callchains

record stack -e cpu-clock:u -c 500000 --call-graph dwarf,512
[ "$(field stack_user_size | sort -u)" = 512 ] || {
	echo "FAIL: stack sizes"
	failures=$((failures + 1))
}

record group -e '{cpu-clock:u,task-clock:u}:S'
sed -E -n 's/.*\[value=([0-9]+) id=([0-9]+) lost=[0-9]+\] \[value=([0-9]+) id=([0-9]+) .*/\1 \2\n\3 \4/p' \
	samples >ours
perf report -D -i group 2>/dev/null |
	sed -E -n 's/^\.+ id ([0-9a-f]+), value ([0-9a-f]+).*/\1 \2/p' |
	while read -r id value; do echo "$((16#$value)) $((16#$id))"; done >theirs
same "values of a group"
finish
