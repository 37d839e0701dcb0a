# SPDX-License-Identifier: GPL-2.0
# `ptcap snapshot --at`: the kernel's breakpoints besides the trace. The trace has each pass of a
# place: the breakpoint's trap leaves user mode there, and returns.
. ./lib.sh
rings=(-m 256K,64K)

# unharmed PID: no process traces it, and all four breakpoints are free.
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
	[ "$(grep -c 'us after the place' at.err)" = 3 ] || fail "it is not said how far behind: $(cat at.err)"
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
grep -q 'more than 4 places' at.err || fail "why not five: $(cat at.err)"
unharmed "$target"
kill "$target"
wait "$target" || true

# passed FILE PLACE: prints the thread of the last pass of PLACE.
passed() {
	"$ptcap" decode -i "$1" -F tid,tosym 2>at.dec.err | grep " $2+0x0\$" | tail -n 1 | cut -d ' ' -f 1 >passed.by
	[ -s passed.by ] || fail "$1 has no pass of $2: $(cat at.dec.err)"
	cat passed.by
}

# born PLACE PROGRAM...: threads created during the wait come to PLACE, and each snapshot shows
# another thread. Other activity does no harm.
born() {
	local place=$1 count=2 n by
	shift
	"$@" >born.out <&8 &
	target=$!
	pause 100
	ls "/proc/$target/task" >tasks.before
	"$ptcap" snapshot --at "$place" --count $count "${rings[@]}" -p "$target" -o born 2>at.err || fail "--at $place: $(cat at.err)"
	: >born.tids
	for ((n = 0; n < count; n++)); do
		"$ptcap" dump --verify -i born.00$n >at.verify || fail "born.00$n: $(tail -n 3 at.verify)"
		by=$(passed born.00$n "$place")
		! grep -qx "$by" tasks.before || fail "born.00$n: $by of $place was there before: $(cat tasks.before)"
		echo "$by" >>born.tids
	done
	[ "$(sort -u born.tids | wc -l)" = $count ] || fail "$place: not each another one: $(cat born.tids)"
	rm born.00?
	unharmed "$target"
	kill "$target"
	wait "$target" || true
}
born come_and_go "$progs/prog_crowd" churn 100000000 3
born born "$progs/prog_crowd" forks 100000000

# Eight threads pass a place all the time, counted separately on each CPU. Another tracer takes the
# free breakpoints, and gives them back. ptcap is killed while it waits for a place that is never
# reached.
"$progs/prog_tasks" serve >tasks.out <&8 &
target=$!
await tasks.out ready
: >many.tids
for n in 200 400 800 1600 3200 6400 12800; do # the first watched thread is ahead, but less so with more passes
	"$ptcap" snapshot --at idle:$n --count 4 "${rings[@]}" -p "$target" -o many$n 2>at.err || fail "--at idle:$n: $(cat at.err)"
	for f in many$n.0??; do passed "$f" idle; done >>many.tids
	[ "$(sort -u many.tids | wc -l)" = 1 ] || break
done
[ "$(sort -u many.tids | wc -l)" -gt 1 ] || fail "it is one thread that comes there: $(cat many.tids)"
perf stat -p "$target" -e mem:0x1000:x,mem:0x2000:x,mem:0x3000:x,mem:0x4000:x 2>perf.err &
other=$!
until [ "$(find "/proc/$other/fd" -lname 'anon_inode:*perf_event*' | wc -l)" = 36 ]; do # for nine threads
	kill -0 "$other" || fail "perf holds no breakpoints: $(cat perf.err)"
	pause 10
done
! "$ptcap" snapshot --at idle --count 1 "${rings[@]}" -p "$target" -o busy 2>at.err || fail "there are more than four places"
grep -q 'no free hardware breakpoint for 0x.*: a debugger' at.err || fail "why it is refused: $(cat at.err)"
[ ! -e busy ] || fail "there is a file of who was refused"
kill -INT "$other"
wait "$other" || true
unharmed "$target"
"$ptcap" snapshot --at answer --at answered --at 0x1000 --at 0x2000 --no-final "${rings[@]}" -p "$target" -o killed 2>at.err &
waiting=$!
until grep -q '^ptcap: waiting; ' at.err; do
	kill -0 "$waiting" || fail "it does not wait: $(cat at.err)"
	pause 10
done
kill -KILL "$waiting"
wait "$waiting" || true
[ -z "$(echo killed*)" ] || [ "$(echo killed*)" = 'killed*' ] || fail "there is a file of who was killed: $(echo killed*)"
unharmed "$target"
"$ptcap" snapshot --at answer --no-final --after 50ms --count 1 "${rings[@]}" -p "$target" -o never 2>at.err || fail "--at answer: $(cat at.err)"
grep -q 'no snapshot for a place (--at): ' at.err || fail "it is not said that nobody came there: $(cat at.err)"
kill "$target"
wait "$target" || true

# On one CPU it counts all passes, which are 20: the last one is just before the end.
hop=$(sed -n 's/ . hop$//p' "$progs/prog_busy.nm")
for n in 20 21; do
	code=0
	taskset 1 "$ptcap" snapshot --at "0x$hop:$n" --no-final "${rings[@]}" -o "last$n" -- "$progs/prog_busy" 10 >/dev/null 2>at.err || code=$?
	[ "$code" = 7 ] || fail "--at 0x$hop:$n: exit status $code: $(cat at.err)"
done
[ "$(echo last2?.*)" = last20.000 ] || fail "of 20 passes the 20th is not the one: $(echo last2?.*) $(cat at.err)"
"$ptcap" decode -i last20.000 >at.dec 2>at.dec.err || fail "last20.000: $(cat at.dec.err)"
[ "$(grep -c ' icall .* hop$' at.dec)" = 20 ] || fail "not all 20 passes are in it: $(grep ' icall ' at.dec | tail -n 30)"
echo "ok snapshots at places: every 100th pass, each pass, the last one in front of the end, four places, of threads and children born later, of eight threads; not beside another tracer; killed; what was watched is as it was"
