#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Accounts for every byte: compares recordings of the PMU softcount, whose trace is a counter
# (softcount.c), with that PMU's account of each ring (support/countcheck.c). Drained rings of many
# sizes, at many rates, with a reader that is sometimes stopped; a fast reader; snapshots.
. ./lib.sh
runs=4 whole=8388608 rounds=1 patient=,patient
[ -z "${FULL-}" ] || runs=100 whole=536870912 rounds=5 patient=
: "${SEED:=1}"
RANDOM=$SEED

# one_of VARIABLE VALUE...: sets one of the values (without a subprocess: that would have another
# RANDOM).
one_of() {
	local -n ret=$1
	shift $((1 + RANDOM % ($# - 1)))
	ret=$1
}

# judge NAME MOST...: the rings since the last call must match NAME.data.
seen=$(tail -n 1 /proc/softcount | cut -d ' ' -f 1)
: "${seen:=0}"
judge() {
	local name=$1
	shift
	awk -v seen="$seen" '$1 > seen' /proc/softcount >"$name.rings"
	seen=$(tail -n 1 "$name.rings" | cut -d ' ' -f 1)
	"$countcheck" "$name.data" "$name.rings" "$@" >"$name.sums" || {
		cat "$name.err" "$name.rings" >&2
		fail "$name, seed $SEED: $what"
	}
	read_sums "$name"
}

# read_sums NAME: sets sums[WORD] to the number behind each word of NAME.sums. (A process for each
# would be too slow.)
declare -A sums
read_sums() {
	local words i
	read -r -a words <"$1.sums"
	for ((i = 0; i + 1 < ${#words[@]}; i += 2)); do
		sums[${words[i]}]=${words[i + 1]}
	done
}

# Stops a process now and then while it exists.
hold_up() {
	while kill -STOP "$1" 2>/dev/null; do
		pause $((RANDOM % 60))
		kill -CONT "$1" 2>/dev/null || break
		pause $((RANDOM % 60))
	done
}

# --- drained rings ---

spin='for ((i = 0; i < 4000; i++)); do :; done'
move='for c in 1 0 1 0; do taskset -pc $c $$ >/dev/null; for ((i = 0; i < 1000; i++)); do :; done; done'

# accounted NAME OPTIONS...: records, sometimes with a stopped reader; ptcap's report must match the
# account.
accounted() {
	local name=$1 recorder holder= said
	shift
	what="$*"
	"$ptcap" record -o "$name.data" "$@" >/dev/null 2>"$name.err" &
	recorder=$!
	if [ "$held" = 1 ]; then
		hold_up "$recorder" &
		holder=$!
	fi
	wait "$recorder" || fail "$name, seed $SEED: $what: $(cat "$name.err")"
	[ -z "$holder" ] || wait "$holder" || :
	judge "$name"
	said=$(sed -n 's/.*LOST: .* \([0-9]*\) truncated .*/\1/p' "$name.err")
	[ "${said:-0}" = "${sums[truncated]}" ] || [ "${sums[lost]}" != 0 ] ||
		fail "$name, seed $SEED: $what: ${said:-0} truncated: $(cat "$name.err" "$name.sums")"
}

stored=0 dropped=0 offered=0 with_loss=0
for ((run = 0; run < runs; run++)); do
	held=$((run % 3 != 0))
	one_of data 8K 64K
	one_of aux 8K 16K 32K 64K 128K 256K 512K 1M 2M 4M
	one_of chunk 8 72 1000 4096 16384
	one_of us 100 300 1000
	[ "$run" != 1 ] || aux=8K chunk=16384 # never fits
	case $((run % 4)) in
	0) whom=(-C 0,1 -- sleep 0.3) ;;
	1) whom=(-- bash -c "$spin") ;;
	2) whom=(-- bash -c "$move") ;;
	3) whom=(--per-thread -- bash -c "$move") ;;
	esac
	accounted run -e softcount/chunk=$chunk,us=$us/ -m $data,$aux "${whom[@]}"
	stored=$((stored + sums[stored])) dropped=$((dropped + sums[dropped])) offered=$((offered + sums[offered]))
	[ "${sums[dropped]}" = 0 ] || with_loss=$((with_loss + 1))
done
# Goes on and off all the time, and so slowly that the reader is always at the end of the trace, in
# the middle of a page.
held=0
accounted slow -e softcount/chunk=8,us=300/ -m 64K,8K --per-thread -- bash -c "$move"
[ $((stored + dropped)) = "$offered" ] || fail "$stored stored and $dropped dropped, of $offered"
[ "$with_loss" -gt 0 ] || fail "nothing was dropped where it cannot fit"
echo "ok drained rings: $runs runs, $with_loss of them with a loss: $stored bytes stored, $dropped dropped, $offered offered"

# Sets how many bytes a ring is offered in total.
ceiling() {
	echo "$1" >/sys/module/softcount/parameters/ceiling
}
no_ceiling=18446744073709551615

# Waits until both of the next rings were offered this number of bytes.
await_offered() {
	local n=0 ring offered _
	until [ $n = 2 ]; do
		pause 10
		n=0
		while read -r ring _ offered _; do
			[ "$ring" -le "$seen" ] || [ "$offered" -lt "$1" ] || n=$((n + 1))
		done </proc/softcount
	done
}

# A fast reader, or a PMU that waits for it: nothing is missing.
ceiling $whole
what="a fast reader"
"$ptcap" record -C 0,1 -m 512K,4M -e "softcount/chunk=16384,us=1000$patient/" -o whole.data 2>whole.err &
recorder=$!
await_offered $whole
kill -INT "$recorder"
wait "$recorder" || fail "$what: $(cat whole.err)"
ceiling $no_ceiling
judge whole
[ "${sums[stored]}" = $((2 * whole)) ] && [ "${sums[truncated]}" = 0 ] && ! grep LOST whole.err ||
	fail "$what: $(cat whole.sums whole.err)"
echo "ok a fast reader: ${sums[stored]} bytes, ${sums[dropped]} dropped"
rm whole.data

# --- snapshots ---

# snapshots SIZE MOST OFFERED...: of rings of SIZE, the newest MOST bytes (0: all), each when that
# many bytes were offered (0: now).
snapshots() {
	local size=$1 most=$2 n=0 snap=-S
	shift 2
	[ "$most" = 0 ] || snap=-S$most
	what="$snap -m 64K,${size}B, at $*"
	[ "$1" = 0 ] || ceiling "$1"
	rm -f snap.err
	"$ptcap" record "$snap" -C 0,1 -m "64K,${size}B" -e softcount/chunk=4096,us=1000/ -o snap.data 2>snap.err &
	recorder=$!
	await snap.err recording
	for at in "$@"; do
		n=$((n + 1))
		if [ "$at" != 0 ]; then
			ceiling "$at"
			await_offered "$at"
		fi
		kill -USR2 "$recorder"
		await snap.err "snapshot $n"
	done
	ceiling $no_ceiling
	kill -INT "$recorder"
	wait "$recorder" || fail "$what: $(cat snap.err)"
	judge snap "$most"
	taken=$((taken + n + 1)) wrapped=$((wrapped + sums[wrapped]))
}

taken=0 wrapped=0
"$progs/prog_busy" 1000000000 >/dev/null & # the load
busy=$!
for ((round = 0; round < rounds; round++)); do
	size=$((16384 << 2 * (round % 5))) most=$((round % 2 * size / 2))
	# Before the wrap, further, up to the end of the ring, nothing new, a whole lap, a little more than a lap, and further.
	snapshots $size $most $((size / 2)) $((size / 2 + 8)) $size $size $((2 * size)) $((3 * size + 4096)) \
		$((3 * size + 8192))
	[ "$most" != 0 ] || [ "${sums[wrapped]}" -ge 2 ] || fail "snapshots: no ring went round"
	snapshots $size $most 0 0 0
done
kill "$busy"
echo "ok snapshots: $taken of two rings each, each what the ring held; $wrapped of rings that had gone round"
