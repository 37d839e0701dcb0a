# SPDX-License-Identifier: GPL-2.0
# `ptcap snapshot` on the kernel's rings: of a process that is attached to while its threads come and go, and of a command.
. ./lib.sh
mkfifo ctl ack
exec 6<>ack

# ask COMMAND: its answer is ack.
ask() {
	local answer
	echo "$1" >ctl
	read -r -t 200 answer <&6 || fail "no answer to $1: $(cat snapshot.err)"
	[ "$answer" = ack ] || fail "$1: $answer: $(cat snapshot.err)"
}

# one FILE: it is verified, whole by itself, and perf has nothing that ours has not, in that order.
one() {
	"$ptcap" dump --verify -i "$1" >one.verify || fail "$1: $(tail -n 3 one.verify)"
	"$ptcap" decode -i "$1" --strict -F tid,from,to 2>one.dec.err | grep -v '^# .*cause=snapshot' | sort -s -n -k 1,1 >one.ours
	! grep -m 3 '^#' one.ours || fail "$1 has gaps: $(cat snapshot.err)"
	perf script -i "$1" --itrace=be -F tid,ip,addr 2>one.perf.err | awk '{ print $1, $2, $4 }' | sort -s -n -k 1,1 >one.perf
	more=$(awk 'NR == FNR { perf[++n] = $0; next } i < n && $0 == perf[i + 1] { i++ }
		END { if (i < n) print "its line " i + 1 ": " perf[i + 1] }' one.perf one.ours)
	[ -z "$more" ] || fail "$1: perf has more, $more"
	! grep -q '^-1 ' one.ours || fail "$1: transfers of a thread that nobody knows"
}

snaps=3
[ -z "${FULL-}" ] || snaps=50
"$progs/prog_crowd" churn 100000000 >/dev/null &
target=$!
"$ptcap" snapshot -v -p "$target" -m 256K,16K -o busy --control ctl,ack 2>snapshot.err &
waiting=$!
ask ping
total=0
for ((n = 0; n < snaps || total < 5000; n++)); do
	[ "$n" -lt 300 ] || fail "hardly anything in $n snapshots: $(cat snapshot.err)"
	ask snapshot
	name=$(printf 'busy.%03d' "$n")
	one "$name"
	total=$((total + $(wc -l <one.ours)))
done
ask stop
wait "$waiting" || fail "snapshots: $(cat snapshot.err)"
! grep LOST snapshot.err || fail "snapshots of a busy process have losses"
kill -0 "$target" || fail "what was watched has ended"
grep -q '^State:.*[RSD] ' "/proc/$target/status" || fail "what was watched does not run: $(grep State "/proc/$target/status")"
kill "$target"
wait "$target" || true
[ "$(cut -d ' ' -f 1 one.ours | uniq | wc -l)" -ge 1 ] || fail "the last one has no thread"
echo "ok $n snapshots of a busy process, each by itself: $total transfers"

# The end of a command is the end of what it does.
"$ptcap" record --source pt -q -o all.data -- "$progs/prog_busy" 300 >/dev/null || [ $? = 7 ] || fail "record"
"$ptcap" snapshot -m 256K,8K -o end --count 1 -- "$progs/prog_busy" 300 >/dev/null 2>snapshot.err || [ $? = 7 ] || fail "$(cat snapshot.err)"
one end
"$ptcap" decode -i all.data -F from,to,kind | grep -v ' async$' >all.flow
"$ptcap" decode -i end -F from,to,kind | grep -v '^#' | grep -v ' async$' >end.flow
n=$(wc -l <end.flow)
[ "$n" -gt 20 ] || fail "the end has $n transfers"
tail -n 3 all.flow >all.end
tail -n 3 end.flow | diff - all.end || fail "the end of a command is not what it did last"
grep -q 'branches, complete up to' snapshot.err || fail "there is no verdict: $(cat snapshot.err)"
echo "ok the end of a command: $n transfers"
