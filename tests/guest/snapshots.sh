# SPDX-License-Identifier: GPL-2.0
# `ptcap snapshot` on the kernel's rings: attached to a process whose threads come and go, and of a
# command.
. ./lib.sh
mkfifo ctl ack
exec 6<>ack

# ask COMMAND: its answer must be ack.
ask() {
	local answer
	echo "$1" >ctl
	read -r -t 600 answer <&6 || fail "no answer to $1: $(cat snapshot.err)"
	[ "$answer" = ack ] || fail "$1: $answer: $(cat snapshot.err)"
}

# whole FILE: verifies it, and checks that it is complete by itself. Its threads are in FILE.tids.
whole() {
	"$ptcap" dump --verify -i "$1" >one.verify || fail "$1: $(tail -n 3 one.verify)"
	"$ptcap" decode -i "$1" --strict -F tid 2>one.dec.err | uniq | sort -u >one.tids
	! grep '^#' one.tids | grep -v cause=snapshot || fail "$1 has gaps: $(cat snapshot.err)"
	grep -v '^#' one.tids >"$1.tids" || fail "$1 has no transfers"
	! grep -q '^-1' "$1.tids" || fail "$1: transfers of a thread that nobody knows"
}

# as_perf FILE: all of perf's branches are in ours, in that order.
as_perf() {
	"$ptcap" decode -i "$1" -F tid,from,to 2>one.dec.err | grep -v '^#' | sort -s -n -k 1,1 >one.ours
	perf script -i "$1" --itrace=be -F tid,ip,addr 2>one.perf.err | awk '{ print $1, $2, $4 }' | sort -s -n -k 1,1 >one.perf
	more=$(awk 'NR == FNR { perf[++n] = $0; next } i < n && $0 == perf[i + 1] { i++ }
		END { if (i < n) print "its line " i + 1 ": " perf[i + 1] }' one.perf one.ours)
	[ -z "$more" ] || fail "$1: perf has more, $more"
}

# undisturbed FILE: prints its branches without interruptions.
undisturbed() {
	"$ptcap" decode -i "$1" -F from,to,kind | awk '/^#/ { next } / async$/ { away = 1; next }
		!away || !/ start$/ { print } { away = 0 }'
}

# The module keeps all bytes that it writes: each window is compared with them.
snaps=3 births=2 keep=8 after=100
[ -z "${FULL-}" ] || snaps=50 births=20 keep=64
aux=65536
kept=/sys/kernel/debug/intel_pt birth_ms=/sys/module/softpt/parameters/birth_ms
[ -d /sys/kernel/debug/tracing ] || mount -t debugfs d /sys/kernel/debug

counts() { # bytes written on each CPU
	read -r first <$kept/0.count
	read -r second <$kept/1.count
}

await_written() { # await_written BYTES: more than now
	counts
	local goal=$((first + second + $1)) tries=0
	until [ $((first + second)) -ge $goal ]; do
		[ $((tries++)) -lt 60000 ] || fail "nothing is traced any more: $first, $second bytes; $(tail -n 2 snapshot.err); \
			what is watched: $(grep -E '^(State|Threads|TracerPid)' "/proc/$target/status" | tr -s '\n\t' ' ') $(cat crowd.out)"
		pause 10
		counts
	done
}

resources() { # the descriptors of ptcap, and its memory
	fds=$(ls "/proc/$waiting/fd" | wc -l)
	kib=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$waiting/status")
}

# take NAME SNAPS BUSY [BIRTH_MS]: SNAPS snapshots of threads that run one after the other until all
# snapshots are taken, next to BUSY threads that never rest; with BIRTH_MS, of threads whose creation
# takes a while, all on one CPU.
take() {
	local name=$1 snaps=$2 cpus=${4:+1} n before came had_fds had_kib
	busybox rmmod softpt # its kept bytes begin with the rings
	busybox insmod /run/softpt.ko keep=$keep
	rm -f enough
	mkfifo enough
	exec 7<>enough
	taskset "${cpus:-3}" "$progs/prog_crowd" on $after "$3" <enough >crowd.out &
	target=$!
	"$ptcap" snapshot -v -p "$target" -m 256K,${aux}B -o "$name" --control ctl,ack --no-final 2>snapshot.err &
	waiting=$!
	ask ping
	echo "${4-0}" >$birth_ms
	for ((n = 0; n < snaps; n++)); do
		await_written 8000
		counts
		before="$first $second"
		ask snapshot
		counts
		echo "$before $first $second"
		[ $n != $((snaps / 2)) ] || { resources && had_fds=$fds had_kib=$kib; }
	done >asked
	resources
	[ "$fds" -le "$had_fds" ] || fail "$fds descriptors, $had_fds earlier"
	[ "$kib" -le $((had_kib + 1024)) ] || fail "$kib KiB of memory, $had_kib earlier"
	echo 0 >$birth_ms
	kill -0 "$target" || fail "after $n snapshots what is watched has ended: $(cat crowd.out)"
	ask stop
	wait "$waiting" || fail "snapshots: $(cat snapshot.err)"
	! grep LOST snapshot.err || fail "snapshots of a busy process have losses"
	echo >&7
	exec 7>&-
	wait "$target" || fail "what was watched ended with $?"
	read -r came _ <crowd.out
	[ "$came" -gt $after ] || fail "what was watched said: $(cat crowd.out)"
	echo "ok $snaps snapshots: $fds descriptors and $kib KiB at the end, $had_fds and $had_kib after half of them; $came threads came"
}

# taken NAME SNAPS: each is complete and equals the content of the rings; some are compared with
# perf.
taken() {
	local name n files=() total=0
	for ((n = 0; n < $2; n++)); do
		printf -v name '%s.%03d' "$1" "$n"
		files+=("$name")
		whole "$name"
		[ $((n % 10)) = 2 ] || continue
		as_perf "$name"
		total=$((total + $(wc -l <one.ours)))
	done
	PTCAP=$ptcap python3 "$share/kept.py" $kept asked $aux "${files[@]}" >windows 2>&1 || fail "$(tail -n 3 windows)"
	echo "ok each by itself: $(cat windows); in every tenth $total transfers, as perf has them"
}

take busy $snaps 1
taken busy $snaps
# Threads created while the trace is off, which appear only when it is on again.
take births $births 0 4
taken births $births
if [ -n "${FULL-}" ]; then
	take churn 200 0
	taken churn 200
fi
busybox rmmod softpt
busybox insmod /run/softpt.ko

# The snapshot at the end of a command has its last branches.
"$ptcap" record --source pt -q -o all.data -- "$progs/prog_busy" 300 >/dev/null || [ $? = 7 ] || fail "record"
"$ptcap" snapshot -m 256K,8K -o end --count 1 -- "$progs/prog_busy" 300 >/dev/null 2>snapshot.err || [ $? = 7 ] || fail "$(cat snapshot.err)"
whole end
as_perf end
undisturbed all.data >all.flow
undisturbed end >end.flow
n=$(wc -l <end.flow)
[ "$n" -gt 20 ] || fail "the end has $n transfers"
tail -n 3 all.flow >all.end
tail -n 3 end.flow | diff - all.end || fail "the end of a command is not what it did last"
grep -q 'branches without a gap up to' snapshot.err || fail "there is no verdict: $(cat snapshot.err)"
echo "ok the end of a command: $n transfers"
