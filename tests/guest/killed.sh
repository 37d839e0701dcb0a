#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `ptcap snapshot` is killed at random moments: the watched program runs on, no partial file has a
# name, and all earlier files are complete.
. ./lib.sh
times=3
[ -z "${FULL-}" ] || times=100
: "${SEED:=1}"
RANDOM=$SEED
mkdir files

watch() {
	"$ptcap" snapshot -p "$target" -m 64K,16K --every 200ms -o files/f 2>snapshot.err &
	waiting=$!
}

killed() {
	kill -KILL "$waiting"
	local status=0
	{ wait "$waiting" || status=$?; } 2>/dev/null # otherwise the shell reports the kill
	[ $status = 137 ] || fail "it ended by itself, with $status: $(cat snapshot.err)"
}

ticks() { # CPU time of the watched program
	read -r -a stat <"/proc/$target/stat"
	used=${stat[13]}
}

runs_on() {
	ticks
	local before=$used n
	for ((n = 0; used == before; n++)); do
		[ $n -lt 60000 ] || fail "what was watched does not run: ${stat[*]}"
		pause 10
		ticks
	done
}

bash -c 'trap "echo good; exit 5" TERM; while :; do :; done' >target.out &
target=$!

# The moments: within the time of four snapshots here, or soon after one of the first three.
begun=${EPOCHREALTIME/./}
watch
until [ -e files/f.003 ]; do
	kill -0 "$waiting" || fail "no snapshots: $(cat snapshot.err)"
	pause 10
done
took=$(((${EPOCHREALTIME/./} - begun) / 1000))
killed
rm files/*

found=0
for ((n = 0; n < times; n++)); do
	watch
	if ((after = RANDOM % 4)); then
		until [ -e "files/f.00$((after - 1))" ]; do
			kill -0 "$waiting" || fail "no snapshots: $(cat snapshot.err)"
			pause 10
		done
		pause $((RANDOM % 250))
	else
		pause $((RANDOM * took / 32768))
	fi
	killed
	runs_on
	for file in files/{*,.[!.]*}; do
		[ -e "$file" ] || continue
		[[ $file =~ ^files/f\.[0-9]{3}$ ]] || fail "$file is left behind"
		"$ptcap" dump --verify -i "$file" >verify || fail "$file, killed in round $n, seed $SEED: $(head verify)"
		found=$((found + 1))
		rm "$file"
	done
	[ -e "/proc/$target/fd" ] || fail "what was watched has ended"
done
[ $times -lt 10 ] || [ $found -ge $times ] || fail "hardly any file: $found"
kill -TERM "$target"
status=0
wait "$target" || status=$?
[ "$status $(cat target.out)" = "5 good" ] || fail "what was watched ended with $status, and said: $(cat target.out)"
echo "ok killed: $times times within $took ms, $found whole files, what was watched runs on"
