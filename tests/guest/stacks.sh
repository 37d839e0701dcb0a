# SPDX-License-Identifier: GPL-2.0
# `ptcap snapshot` keeps the stack of each thread beside the trace: of two threads that wait for each
# other's mutex, and of a thread in read(). Of a running process and of a command, as root and as a
# user.
. ./lib.sh
chmod 755 /tmp
mkdir bin root user
cp "$progs/prog_stacks_static" "$ptcap" bin/
chown 1000 user
ptcap=/tmp/bin/ptcap
paranoid=/proc/sys/kernel/perf_event_paranoid
read -r level <$paranoid

# waits_for TID CALL: the thread sleeps in this system call. Starts no process.
waits_for() {
	local call=
	read -r call <"/proc/$1/task/$1/syscall" || :
	[[ $call == $2 ]]
}

# locked: three threads wait for a mutex. The value of a contended mutex is 2.
locked() {
	local task n=0
	for task in "/proc/$target/task"/*; do
		! waits_for "${task##*/}" '202 0x* 0x80 0x2 *' || n=$((n + 1))
	done
	[ $n = 3 ]
}

# slept: prints how often the main thread has gone to sleep.
slept() {
	local name value
	while read -r name value; do
		[ "$name" != voluntary_ctxt_switches: ] || echo "$value"
	done <"/proc/$target/status"
}

# repeat COMMAND...: until it succeeds.
repeat() {
	local n
	for ((n = 0; n < 30000; n++)); do
		! "$@" || return 0
		pause 20
	done
	fail "never: $*: $(cat snapshot.err)"
}

more_slept() {
	[ "$(slept)" -gt "$1" ]
}

# stuck FOLDER COMMAND...: runs all programs by COMMAND. The main thread handles a byte, which is in
# the trace, and waits again.
stuck() {
	local before
	cd "$1"
	shift
	mkfifo in
	"$@" /tmp/bin/prog_stacks_static deadlock <in >out &
	target=$!
	exec 7>in
	await out ready
	repeat locked
	"$@" "$ptcap" snapshot -p "$target" -m 256K,64K -o snap --count 1 2>snapshot.err &
	waiting=$!
	await snapshot.err 'waiting; '
	before=$(slept)
	echo -n x >&7
	repeat more_slept "$before"
	kill -USR2 "$waiting"
	wait "$waiting" || fail "snapshot: $(cat snapshot.err)"
	"$ptcap" stacks snap >said || fail "stacks: $(cat said)"
	grep -q "^DEADLOCK: thread [0-9]* (left) waits for mutex 0x[0-9a-f]* (right_lock), owned by thread [0-9]* (right); " said ||
		fail "no deadlock: $(cat said)"
	grep -q "^thread $target (prog_stacks_sta): in read(0, .*), fd 0 -> $PWD/in\$" said || fail "no read: $(cat said)"
	"$ptcap" decode -i snap --strict -F tid,tosym >dec 2>dec.err || fail "decode: $(cat dec.err)"
	grep -q "^$target .*read" dec || fail "the trace has no read(): $(head -n 5 dec)"
	echo "ok stacks in a snapshot of user $(stat -c %u snap): $(head -n 1 said)"
	exec 7>&-
	wait "$target" || fail "the program was harmed: $?"
	cd ..
}

# child: the command of ptcap has locked its mutexes. Sets target.
child() {
	local pids=
	read -r pids <"/proc/$waiting/task/$waiting/children" 2>/dev/null || :
	target=${pids%% *}
	[ -n "$target" ] && [ -d "/proc/$target" ] && said out ready && locked
}

# begun FOLDER COMMAND...: a snapshot of a command that ptcap starts, in a shell by COMMAND.
begun() {
	cd "$1"
	shift
	"$@" "$ptcap" snapshot -m 256K,64K -o cmd "${options[@]}" -- /tmp/bin/prog_stacks_static deadlock <in >out 2>cmd.err &
	waiting=$!
	exec 7>in
	repeat child
	kill -USR2 "$waiting"
	await cmd.err "snapshot 1: 'cmd"
	exec 7>&-
	wait "$waiting" || fail "snapshot of a command: $(cat cmd.err)"
	cd ..
}

begun_shown() {
	options=()
	rm -f "$1/out"
	begun "$@"
	"$ptcap" stacks "$1/cmd.000" >said || fail "stacks: $(cat said)"
	grep -q "^DEADLOCK: thread [0-9]* (left) waits for mutex 0x[0-9a-f]* (right_lock), owned by thread [0-9]* (right); " said ||
		fail "no deadlock: $(cat said)"
	grep -q "^thread $target (prog_stacks_sta): in read(0, .*), fd 0 -> $PWD/$1/in\$" said || fail "no read: $(cat said)"
	"$ptcap" decode -i "$1/cmd.000" --strict -F tid,tosym >dec 2>dec.err || fail "decode: $(cat dec.err)"
	grep -q "^$target .*read" dec || fail "the trace has no read(): $(head -n 5 dec)"
	echo "ok stacks of a command in a snapshot of user $(stat -c %u "$1/cmd.000"): $(head -n 1 said)"
	rm "$1/out" "$1/cmd.err"
	options=(--no-stacks)
	begun "$@"
	! "$ptcap" stacks "$1/cmd.000" >said 2>&1 || fail "--no-stacks: $(cat said)"
}

stuck root
begun_shown root
echo 2 >$paranoid
stuck user setpriv --reuid 1000 --regid 1000 --clear-groups
begun_shown user setpriv --reuid 1000 --regid 1000 --clear-groups
echo "$level" >$paranoid
