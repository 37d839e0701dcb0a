#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks every instruction of the trace $1, by count and hash, from its bare stream and its code
# pages. Needs PTCAP, IPHASH, PTCAP_TRACES.
set -u -o pipefail
dir=$PTCAP_TRACES/$1
if [ ! -d "$dir" ]; then
	echo "skipped: no traces in $PTCAP_TRACES"
	exit 77
fi
field() { sed -n "s/.*\"$1\": \"\{0,1\}\([^\",}]*\).*/\1/p" "$dir/expected.json"; }

args=(--pt "$dir/pt.bin")
while read -r addr len off; do
	args+=(--raw "$dir/image.dump@0x$addr:0x$off:0x$len")
done <"$dir/image.map"
cpu=$(field cpu)
[ "$cpu" = - ] || args+=(--cpu "$cpu")
want="$(field insn) $(field fnv1a64_le_ips) 0"

fail=0
for resync in psb packet; do
	got=$("$PTCAP" decode "${args[@]}" --resync $resync --strict -F insn-ip | "$IPHASH") || fail=1
	if [ "$got" != "$want" ]; then
		echo "$1, resync $resync: got $got, want $want"
		fail=1
	fi
done

# The branches match these instructions too: their counts are in expected.json.
"$PTCAP" decode "${args[@]}" -F kind | sort | uniq -c | (
	declare -A n=()
	while read -r count kind; do n[$kind]=$count; done
	check() {
		[ "$2" = "$(field "$1")" ] || { echo "$1: $2, want $(field "$1")"; exit 1; }
	}
	check call $((${n[call]:-0} + ${n[icall]:-0})) &&
		check ret "${n[ret]:-0}" &&
		check far $((${n[syscall]:-0} + ${n[int]:-0} + ${n[iret]:-0} + ${n[far]:-0})) &&
		check jump $((${n[jmp]:-0} + ${n[ijmp]:-0}))
) || fail=1
exit $fail
