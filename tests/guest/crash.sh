# SPDX-License-Identifier: GPL-2.0
# `ptcap crash`, and snapshots triggered by signals, on the kernel's rings: the trace ends where the
# saved state says that the process died.
. ./lib.sh

# explained FILE SIGNAL FUNCTION: checks the output of `crash show`, and that the trace ends there.
explained() {
	"$ptcap" dump --verify -i "$1" >"$1.verify" || fail "$1: $(tail -n 3 "$1.verify")"
	"$ptcap" crash show -v -i "$1" >"$1.said" 2>&1 || fail "$1: $(cat "$1.said")"
	grep -q "^$2: " "$1.said" || fail "$1 is not of $2: $(cat "$1.said" "$1.err")"
	grep -q "^  at .* $3+0x" "$1.said" || fail "$1 did not die in $3: $(cat "$1.said" "$1.err")"
	! grep 'the trace ends before the crash\|has no trace of this thread' "$1.said" || fail "$1: $(cat "$1.said" "$1.err")"
	n=$(sed -n '/^last branches/,$p' "$1.said" | wc -l)
	[ "$n" -gt 10 ] || fail "$1 has $n lines of last branches: $(cat "$1.said" "$1.err")"
	! grep LOST "$1.err" || fail "$1 has losses"
}

# Commands: a fault of its own; a thread next to others; a return to an invalid address, whose cause
# is in the trace; a child.
for how in "null SIGSEGV write_null" "thread SIGSEGV write_null" "division SIGFPE divide" "child SIGSEGV write_null"; do
	read -r mode sig function <<<"$how"
	status=0
	"$progs/prog_crash_static" "$mode" >bare.out 2>&1 || status=$?
	got=0
	"$ptcap" crash -o "$mode" -m 256K,64K -- "$progs/prog_crash_static" "$mode" >"$mode.out" 2>"$mode.err" || got=$?
	[ "$got" = "$status" ] || fail "$mode: status $got, alone $status: $(cat "$mode.err")"
	explained "$mode" "$sig" "$function"
	echo "ok crash $mode: $(head -n 1 "$mode.said")"
done
"$ptcap" crash -o smash -- "$progs/prog_crash_static" smash 2>smash.err || true
"$ptcap" crash show -i smash >smash.said || fail "$(cat smash.err)"
grep -q '^  from .* smash+0x' smash.said || fail "the return that did it is not there: $(cat smash.said)"
echo "ok crash smash: $(head -n 1 smash.said)"

# A running process: the newest part of a long trace; a handled signal is no death.
mkfifo in out
"$progs/prog_wait" catch <in >out &
target=$!
exec 7>in 8<out
read -r line <&8
"$ptcap" crash -p "$target" -o waits 2>waits.err &
us=$!
await waits.err attached
kill -TERM "$target"
read -r line <&8
[ "$line" = caught ] || fail "its handler did not run: $line"
kill -ABRT "$target"
wait "$us" || fail "crash -p: $(cat waits.err)"
status=0
wait "$target" || status=$?
[ "$status" = 134 ] || fail "it ended with $status, not of SIGABRT"
exec 7>&- 8<&-
"$ptcap" crash show -i waits >waits.said || fail "$(cat waits.err)"
grep -q '^SIGABRT: ' waits.said || fail "$(cat waits.said)"
"$ptcap" decode -i waits | grep -q 'caught' || fail "the trace has nothing of its handler: $("$ptcap" decode -i waits | tail -n 5)"
echo "ok crash -p: $(head -n 1 waits.said)"

# One snapshot for each signal, before its delivery, and the program ends as alone.
"$ptcap" snapshot --on-signal USR1,HUP -m 256K,64K -o sig -- "$progs/prog_signal" 2>sig.err || fail "snapshot --on-signal: $(cat sig.err)"
[ "$(echo sig.0??)" = "sig.000 sig.001 sig.002 sig.003" ] || fail "$(echo sig.0??): $(cat sig.err)"
for f in sig.0??; do
	"$ptcap" dump --verify -i "$f" >sig.verify || fail "$f: $(tail -n 3 sig.verify)"
	[ "$("$ptcap" decode -i "$f" --strict 2>/dev/null | tail -n 1 | grep -c ' \(syscall\|async\) ')" = 1 ] ||
		fail "$f does not end where the signal was sent: $("$ptcap" decode -i "$f" | tail -n 2)"
done
echo "ok snapshots of 4 signals"
