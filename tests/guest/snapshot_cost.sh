#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Measures how long a snapshot turns the trace off: the time from the request until it is off, and
# from then until it is on again, as `ptcap snapshot -v` prints them. For processes of 1, 16 and 256
# threads, and AUX rings of 4 and 64 MiB that are full. All threads sleep while a snapshot is taken,
# so only ptcap and the kernel need time. Prints medians.
#
# COUNTED=1 tests/guest/full BUILD snapshot_cost.sh: the guest has one CPU, whose time is the number
# of executed instructions. So the figures do not depend on the load of the host. They do not show
# the time of memory accesses, and string instructions seem to count once for each byte.
. ./lib.sh
pad=/sys/module/softpt/parameters/pad
snaps=7
mkfifo go did ctl ack
exec 6<>ack 7<>go 9<>did

ask() { # ask COMMAND: its answer must be ack
	local answer
	echo "$1" >ctl
	read -r -t 600 answer <&6 || fail "no answer to $1: $(cat snapshot.err)"
	[ "$answer" = ack ] || fail "$1: $answer: $(cat snapshot.err)"
}

turn() { # turn f: traces much; turn s: traces little
	printf %s "$1" >&7
	read -r -n 1 -u 9 _
}

median() { # median of the numbers in FILE
	sort -n "$1" | sed -n "$(((snaps + 1) / 2))p"
}

# off THREADS MIB [OPTION]: the times of snapshots of full rings.
off() {
	local target waiting name n=0 size=0
	rm -f snapshot.err taken.*
	"$progs/prog_crowd" turns "$1" <go >did 6<&- &
	target=$!
	"$ptcap" snapshot -q -v ${3-} -p "$target" -m "512K,$2M" -o taken --control ctl,ack --no-final 2>snapshot.err 7<&- 9<&- &
	waiting=$!
	ask ping
	echo 4000 >$pad
	until [ "$size" -ge $(($2 << 20)) ]; do # the ring is full
		turn f
		ask snapshot
		printf -v name 'taken.%03d' $((n++))
		size=$(($(stat -c %s "$name") + 4096)) # it begins at the first PSB
		rm "$name"
	done
	echo 0 >$pad
	for ((n = 0; n < snaps; n++)); do
		turn s
		ask snapshot
		rm taken.*
	done
	ask stop
	wait "$waiting" || fail "snapshots: $(cat snapshot.err)"
	kill "$target"
	wait "$target" || :
	sed -n 's/.*it stopped \([0-9.]*\) ms after.*/\1/p' snapshot.err | tail -n $snaps >after
	sed -n 's/.*was off for \([0-9.]*\) ms.*/\1/p' snapshot.err | tail -n $snaps >off
	[ "$(wc -l <off)" = $snaps ] || fail "$1 threads, $2 MiB: $(cat snapshot.err)"
	echo "ok $1 threads, $2 MiB${3+, $3}: off $(median after) ms after the request, for $(median off) ms"
}

echo "transparent huge pages: $(cat /sys/kernel/mm/transparent_hugepage/enabled)"
for threads in 1 16 256; do
	off $threads 4
	off $threads 64
done
