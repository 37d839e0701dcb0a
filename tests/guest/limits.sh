#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Things that the kernel does not allow, or takes away: the right message and exit status, and no
# file or process remains. Allowed things work.
. ./lib.sh
chmod 755 /tmp
mkdir bin user
cp "$progs"/{prog_recurse,prog_exit,prog_tasks} "$ptcap" bin/
chown 1000 user
ptcap=/tmp/bin/ptcap
cd user

as_user() { # as_user [CAPABILITIES] COMMAND...
	local caps=
	case $1 in +*) caps=$1 && shift ;; esac
	setpriv --reuid 1000 --regid 1000 --clear-groups ${caps:+--inh-caps "$caps" --ambient-caps "$caps"} "$@"
}

works() { # works NAME COMMAND...: ends like prog_exit 3, with a file that has a trace
	local name=$1 status=0
	shift
	rm -f f
	"$@" >"$name.out" 2>"$name.err" || status=$?
	[ "$status" = 3 ] || fail "$name: exit status $status: $(cat "$name.err")"
	"$ptcap" decode -i f >"$name.dec" 2>&1 || fail "$name: $(cat "$name.dec")"
	grep -q prog_main "$name.dec" || fail "$name: it is not in the trace: $(tail -n 3 "$name.dec")"
	echo "ok $name"
}

refused() { # refused NAME WORDS COMMAND...: fails before the command runs, without a file
	local name=$1 words=$2 status=0 want=125
	shift 2
	case " $* " in *' -p '*) want=1 ;; esac # there is no command
	rm -f f
	"$@" >"$name.out" 2>"$name.err" || status=$?
	[ "$status" = "$want" ] || fail "$name: exit status $status: $(cat "$name.err")"
	grep -q -e "$words" "$name.err" || fail "$name: $(cat "$name.err")"
	[ ! -e f ] || fail "$name: a file is left"
	echo "ok $name: $(tail -n 1 "$name.err")"
}

# A user at each level. Debian's kernel has levels above 2, which forbid everything.
record="$ptcap record --source pt -o f"
command="-- /tmp/bin/prog_exit 3"
for level in 4 3; do
	echo $level >/proc/sys/kernel/perf_event_paranoid
	refused paranoid$level "perf_event_paranoid is $level, which forbids it to all users" as_user $record $command
	refused paranoid$level.perfmon "or use CAP_SYS_ADMIN" as_user +perfmon $record $command
	works paranoid$level.admin as_user +sys_admin $record $command
done
echo 2 >/proc/sys/kernel/perf_event_paranoid
works paranoid2 as_user $record $command
refused paranoid2.kernel 'perf_event_paranoid is 2: .* 1 their kernel part' as_user $record -e intel_pt//k $command
works paranoid2.perfmon as_user +perfmon $record -a -e intel_pt// $command
works paranoid2.quietly as_user $record -v -e intel_pt// $command
grep -q 'not recorded: the kernel' paranoid2.quietly.err || fail "paranoid2: $(cat paranoid2.quietly.err)"
refused paranoid2.all '0 whole CPUs' as_user $record -a $command
refused paranoid2.others "CAP_SYS_PTRACE" as_user $record -p 1
echo 1 >/proc/sys/kernel/perf_event_paranoid
works paranoid1 as_user $record -e intel_pt// $command
refused paranoid1.all '0 whole CPUs' as_user $record -a $command
echo 0 >/proc/sys/kernel/perf_event_paranoid
works paranoid0.all as_user $record -a $command
echo 2 >/proc/sys/kernel/perf_event_paranoid

# Locked memory: the size in the message works, and twice that size does not.
for kib in 128 516; do
	echo $kib >/proc/sys/kernel/perf_event_mlock_kb
	refused mlock$kib "perf_event_mlock_kb allows $kib KiB" as_user prlimit --memlock=0:0 $record -m 2M,2M $command
	most=$(grep -o 'at most [0-9]*K' mlock$kib.err | tr -dc 0-9)
	half=$((most / 2))
	works mlock$kib.most as_user prlimit --memlock=0:0 $record -m ${half}K,${half}K $command
	refused mlock$kib.more 'at most' as_user prlimit --memlock=0:0 $record -m ${most}K,${most}K $command
done
works mlock.ipc_lock as_user +ipc_lock prlimit --memlock=0:0 $record -m 2M,2M $command
works mlock.limit prlimit --memlock=16777216:16777216 setpriv --reuid 1000 --regid 1000 --clear-groups $record -m 2M,2M $command

refused files 'descriptors are needed beside those that are open, the limit is 7' as_user prlimit --nofile=7:7 $record $command

# Two tracers: CPUs, and threads; the second one names the first, and the first one continues.
echo 0 >/proc/sys/kernel/perf_event_paranoid
"$ptcap" record -a --source pt -o first.data 2>first.err &
first=$!
await first.err recording
refused tracers "the PMU is in use: .*who has events: ptcap $first" $record $command
kill -INT "$first"
wait "$first" || fail "the first tracer: $(cat first.err)"
works tracers.after $record $command

events() { # of the recorder
	ls -l "/proc/$recorder/fd" | grep -c perf_event
}

# A CPU goes offline and online while whole CPUs are recorded, or comes online only after the begin
# (with late set). Its later activity is recorded, too.
hotplug() { # hotplug NAME STATUS OPTIONS...
	local name=$1 want=$2 status=0 before
	shift 2
	[ -z "${late-}" ] || echo 0 >/sys/devices/system/cpu/cpu1/online
	"$ptcap" record -v --strict -o $name.data "$@" 2>$name.err &
	recorder=$!
	await $name.err recording
	before=$(events)
	[ -n "${late-}" ] || echo 0 >/sys/devices/system/cpu/cpu1/online
	/tmp/bin/prog_recurse >$name.out || true
	echo 1 >/sys/devices/system/cpu/cpu1/online
	until [ "$want" = 0 ] || [ "$(events)" -gt "$before" ]; do pause 50; done
	taskset -c 1 /tmp/bin/prog_exit 3 || true
	kill -INT "$recorder"
	wait "$recorder" || status=$?
	[ "$status" = "$want" ] || fail "$name: exit status $status: $(cat $name.err)"
	"$ptcap" dump --verify -i $name.data >$name.verify || fail "$name: $(cat $name.verify)"
	[ "$want" = 0 ] || grep -q "CPU 1 was offline .* first moment" $name.err || fail "$name: $(cat $name.err)"
	[ "$want" = 0 ] || "$ptcap" dump -i $name.data --type COMM | grep -q 'exec comm="prog_exit".* cpu=1 ' ||
		fail "$name: the CPU is not recorded again"
	"$ptcap" dump -i $name.data --type COMM | grep -q 'exec comm="prog_recurse"' || fail "$name: the other CPU is not recorded"
	echo "ok $name: $(grep LOST $name.err)"
}
hotplug hotplug.side 3 -e dummy -a
hotplug hotplug.pt 3 --source pt -a
late=1 hotplug hotplug.late.side 3 -e dummy -a
late=1 hotplug hotplug.late 3 --source pt -a
for name in hotplug.pt hotplug.late; do
	"$ptcap" decode -i $name.data --cpu 1 --sym prog_main >hotplug.dec || fail "$name: $(tail -n 3 hotplug.dec)"
	[ -s hotplug.dec ] || fail "$name: there is no trace of what ran after the CPU came"
	perf script -i $name.data --itrace=b -F comm,ip,sym >hotplug.perf 2>hotplug.perf.err || fail "perf: $(cat hotplug.perf.err)"
	grep -q 'prog_exit .*prog_main' hotplug.perf || fail "$name: perf does not decode what ran after the CPU came"
done
hotplug hotplug.other 0 -e dummy -C 0
