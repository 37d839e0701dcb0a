# SPDX-License-Identifier: GPL-2.0
# `ptcap snapshot --at`: the kernel's breakpoints beside the trace. The trace has each pass of a place: the breakpoint's
# trap leaves user mode there, and comes back.
. ./lib.sh
rings=(-m 256K,64K)

# unharmed PID: nobody traces it, and all four breakpoints are free for others.
unharmed() {
	grep -q '^TracerPid:.0$' "/proc/$1/status" || fail "somebody traces $1"
	perf stat -p "$1" -e mem:0x1000:x,mem:0x2000:x,mem:0x3000:x,mem:0x4000:x true 2>free.err || fail "breakpoints are left: $(cat free.err)"
	! grep 'not supported\|not counted' free.err || fail "breakpoints are left: $(cat free.err)"
}

"$progs/prog_busy" 100000000 >/dev/null &
target=$!
for n in 100 1; do
	"$ptcap" snapshot --at hop:$n --count 3 "${rings[@]}" -p "$target" -o at$n 2>at.err || fail "--at hop:$n: $(cat at.err)"
	[ "$(echo at$n.0??)" = "at$n.000 at$n.001 at$n.002" ] || fail "not three: $(cat at.err)"
	[ "$(grep -c 'us behind the place' at.err)" = 3 ] || fail "it is not said how far behind: $(cat at.err)"
	for f in at$n.0??; do
		"$ptcap" dump --verify -i "$f" >at.verify || fail "$f: $(tail -n 3 at.verify)"
		"$ptcap" decode -i "$f" >at.dec 2>at.dec.err || fail "$f: $(cat at.dec.err)"
		grep -q ' start .* hop$' at.dec || fail "$f has no pass of the place: $(tail -n 4 at.dec)"
	done
done
unharmed "$target"
four=(--at hop:5000 --at prog_main --at 0x1000 --at 0x2000)
"$ptcap" snapshot "${four[@]}" --count 1 "${rings[@]}" -p "$target" -o four 2>at.err || fail "four places: $(cat at.err)"
! "$ptcap" snapshot "${four[@]}" --at 0x3000 -p "$target" -o five 2>at.err || fail "there are five places"
grep -q 'a processor watches 4 places' at.err || fail "why not five: $(cat at.err)"
unharmed "$target"
kill "$target"
wait "$target" || true

# On one CPU it counts all passes, of which there are 20: the last one is right in front of the end.
hop=$(nm "$progs/prog_busy" | sed -n 's/ . hop$//p')
for n in 20 21; do
	code=0
	taskset 1 "$ptcap" snapshot --at "0x$hop:$n" --no-final "${rings[@]}" -o "last$n" -- "$progs/prog_busy" 10 >/dev/null 2>at.err || code=$?
	[ "$code" = 7 ] || fail "--at 0x$hop:$n: exit status $code: $(cat at.err)"
done
[ "$(echo last2?.*)" = last20.000 ] || fail "of 20 passes the 20th is not the one: $(echo last2?.*) $(cat at.err)"
"$ptcap" decode -i last20.000 >at.dec 2>at.dec.err || fail "last20.000: $(cat at.dec.err)"
[ "$(grep -c ' icall .* hop$' at.dec)" = 20 ] || fail "not all 20 passes are in it: $(grep ' icall ' at.dec | tail -n 30)"
echo "ok snapshots at places: every 100th pass, each pass, the last one in front of the end, four places; what was watched is as it was"
