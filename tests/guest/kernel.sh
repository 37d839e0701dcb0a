#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernel's code stored with a recording: compared with perf's copy of it, and read by perf. (The
# trace is of user mode: the module makes no other.)
. ./lib.sh

# The kernel changes its own code when the first event of a kind exists. This makes it do so now,
# not between two copies.
perf record -q -B -N -a -e dummy -o holds.data -- sleep 10000 2>holds.err &
holder=$!
until [ "$(find "/proc/$holder/fd" -lname 'anon_inode:*perf_event*' | wc -l)" -ge 2 ]; do # on both CPUs
	kill -0 "$holder" || fail "perf holds no events: $(cat holds.err)"
	pause 10
done
"$ptcap" record -v --kcore -o ours -- "$progs/prog_recurse" >/dev/null 2>ours.err || [ $? -lt 125 ] || fail "ours: $(cat ours.err)"
perf record -q -B -N --kcore -e intel_pt// -o perfs -- "$progs/prog_recurse" >/dev/null 2>perfs.err || true
[ "$(cd ours && echo * kcore_dir/*)" = "data kcore_dir kcore_dir/kallsyms kcore_dir/kcore kcore_dir/modules" ] ||
	fail "ours: $(ls -R ours)"
cmp ours/kcore_dir/kallsyms perfs/kcore_dir/kallsyms || fail "not the same kallsyms"
python3 "$share/kcores.py" ours/kcore_dir perfs/kcore_dir >kcores || fail "the copies differ: $(head kcores)"
echo "ok copies: $(cat kcores)"

# Both tools read both folders.
for which in ours perfs; do
	"$ptcap" dump --verify -i $which >$which.verify || [ $which = perfs ] || fail "$which: $(head $which.verify)"
	"$ptcap" info -i $which >$which.info || fail "$which: info"
	"$ptcap" decode -i $which -F from,to 2>$which.dec.err >$which.ours || fail "$which: $(cat $which.dec.err)"
	perf script -i $which --itrace=be -F ip,addr 2>$which.perf.err | awk '$2 == "=>" { print $1, $3 }' >$which.perf
	[ "$(wc -l <$which.ours)" -gt 100 ] || fail "$which: too few transfers"
	diff $which.ours $which.perf >$which.diff || fail "$which: perf differs: $(head -n 6 $which.diff)"
	[ ! -s $which.perf.err ] || fail "$which: $(cat $which.perf.err)"
done
maps() { # the kernel and its modules, from a recording
	perf script -i "$1" --show-mmap-events 2>/dev/null | grep -o '\[0xffffffff.*' |
		sed 's/ <[0-9a-f]*>//; s/ 0 .*\]/]/; s/: [rwxps-]* / /' | sort
}
maps ours >ours.maps
maps perfs >perfs.maps
diff ours.maps perfs.maps >maps.diff || fail "perf says otherwise where the kernel is: $(head -n 6 maps.diff)"
[ "$(wc -l <ours.maps)" -gt 3 ] || fail "no modules: $(cat ours.maps)"
echo "ok folders: $(wc -l <ours.ours) transfers; $(wc -l <ours.maps) places of the kernel"

# perf finds names of the kernel in our copy.
"$ptcap" record --kcore --aux-sample -e intel_pt// -e cpu-clock -c 1M -o named -- "$progs/prog_tasks" spawn >/dev/null 2>named.err ||
	[ $? -lt 125 ] || fail "named: $(cat named.err)"
perf script -i named -F ip,sym 2>named.perf.err | grep -E '^ *ffffffff' >named.syms || fail "named: no samples in the kernel"
[ "$(grep -vc unknown named.syms)" -gt 0 ] || fail "named: perf finds no name: $(head -n 3 named.syms)"
echo "ok names: perf has those of $(grep -vc unknown named.syms) of $(wc -l <named.syms) samples"
kill -INT "$holder"
wait "$holder" || true

# Users without permission, and full disks: the command does not run, and no file remains.
refused() { # refused NAME WORDS OUTPUT COMMAND...
	local name=$1 words=$2 out=$3 status=0
	shift 3
	"$@" 2>"$name.err" || status=$?
	[ "$status" = 125 ] || fail "$name: exit status $status: $(cat "$name.err")"
	grep -q "$words" "$name.err" || fail "$name: $(cat "$name.err")"
	[ ! -e "$out" ] && [ -z "$(find "$(dirname "$out")" -maxdepth 1 -name ".${out##*/}.*")" ] || fail "$name: something is left"
	[ ! -e ran ] || fail "$name: the command ran"
	echo "ok $name: $(cat "$name.err")"
}
refused rawio CAP_SYS_RAWIO none setpriv --bounding-set -sys_rawio "$ptcap" record --kcore -q -o none -- touch ran
echo 2 >/proc/sys/kernel/kptr_restrict
refused hidden kptr_restrict none "$ptcap" record --kcore -q -o none -- touch ran
echo 0 >/proc/sys/kernel/kptr_restrict
mkdir -p full
mount -t tmpfs -o size=4M full full
refused full 'No space left' full/none "$ptcap" record --kcore -q -o full/none -- touch ran
umount full
