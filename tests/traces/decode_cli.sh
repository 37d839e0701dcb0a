#!/bin/bash
# SPDX-License-Identifier: MIT
# The command line of decode: its output, its refusals, and the exit codes.
set -u -o pipefail
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
bad=0

# expect CODE STDOUT STDERR-PATTERN ARGS...: the pattern is for grep -E; -: nothing on stderr.
expect() {
	local code=$1 out=$2 err=$3
	shift 3
	"$PTCAP" decode "$@" >out 2>err </dev/null
	local got=$?
	if [ $got != "$code" ] || [ "$(cat out)" != "$out" ] ||
		{ [ "$err" = - ] && [ -s err ]; } ||
		{ [ "$err" != - ] && ! grep -Eq -- "$err" err; } ||
		grep -q 'runtime error\|Sanitizer' err; then
		echo "decode $*: exit $got, want $code"
		sed 's/^/  stdout: /' out
		sed 's/^/  stderr: /' err
		bad=1
	fi
}

# PSB, MODE.Exec, PSBEND; TIP.PGE 1000; TNT T; TIP 100b; TIP.PGD
psb='\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82'
printf "$psb"'\x99\x01\x02\x23\x71\x00\x10\x00\x00\x00\x00\x06\x6d\x05\x10\x00\x00\x00\x00\x01' >pt
# 1000: je 1003; nop; jmp *%rax; 1005: syscall
printf '\x74\x01\x90\xff\xe0\x0f\x05' >code
{ printf 'xxxx' && cat code && printf 'yy'; } >code+4
raw=(--pt pt --raw code@0x1000)

expect 0 '0 1000 start
1000 1003 jcc
1003 1005 ijmp
1005 0 syscall' - "${raw[@]}" -F from,to,kind
expect 0 '1000
1003
1005' - "${raw[@]}" -F insn-ip
expect 0 '1000 7401 -
1003 ffe0 -
1005 0f05 -' - "${raw[@]}" -F insn-ip,insn,sym
expect 0 '-1 -1 -1 - 0 1000 start - - -
-1 -1 -1 - 1000 1003 jcc - - 7401
-1 -1 -1 - 1003 1005 ijmp - - ffe0
-1 -1 -1 - 1005 0 syscall - - 0f05' - "${raw[@]}" -F pid,tid,cpu,time,from,to,kind,sym,tosym,insn
expect 0 '{"schema":"ptcap-decode","version":1}
{"type":"branch","tid":-1,"cpu":-1,"time":null,"icount":0,"from":"0x0","to":"0x1000","kind":"start"}
{"type":"branch","tid":-1,"cpu":-1,"time":null,"icount":1,"from":"0x1000","to":"0x1003","kind":"jcc"}
{"type":"branch","tid":-1,"cpu":-1,"time":null,"icount":2,"from":"0x1003","to":"0x1005","kind":"ijmp"}
{"type":"branch","tid":-1,"cpu":-1,"time":null,"icount":3,"from":"0x1005","to":"0x0","kind":"syscall"}' \
	- "${raw[@]}" --format json
expect 0 '1000
1003
1005' - --pt pt --raw code+4@4096:4:0x7 -F insn-ip --cpu 6/94/3 --resync packet
expect 0 '1000
1003
1005' - --pt pt --raw code@0x1000:0:3 --raw code@0x1003:3:2 --raw=code@0x1005:5 -F insn-ip

# Engines.
expect 0 '0 1000 start
1000 1003 jcc
1003 1005 ijmp
1005 0 syscall' - "${raw[@]}" -F from,to,kind --engine fast
cat pt pt >pt2
expect 0 '0 1000 start
1000 1003 jcc
1003 1005 ijmp
1005 0 syscall
0 1000 start
1000 1003 jcc
1003 1005 ijmp
1005 0 syscall' 'the engines agree in 1 segment \(36 bytes\); libipt alone decoded 1 more' \
	--pt pt2 --raw code@0x1000 -F from,to,kind --engine verify
expect 2 '' "invalid value 'quick' for --engine: expected libipt, fast or verify" "${raw[@]}" --engine quick
for more in --insn --events '-F insn-ip'; do
	# shellcheck disable=SC2086 # an option, and maybe what it is given
	expect 2 '' '--engine verify cannot be combined with' "${raw[@]}" --engine verify $more
done

# Requested but missing data.
expect 4 '' "no branch from or to a function 'nosuch' in 'pt'$" "${raw[@]}" -F kind --sym nosuch
for option in symfs core kcore vmlinux; do
	expect 1 '' "cannot open 'missing' \\(--$option\\): No such file" -i "$PTCAP" --$option missing
done

# Names with @ and :, which only the last @ splits.
mkdir a@b && cp code 'a@b/c@0x1'
expect 0 '1000
1003
1005' - --pt pt --raw a@b/c@0x1@0x1000 -F insn-ip

# Gaps.
expect 0 '0 1000 start
1000 1003 jcc
1003 1005 ijmp
# gap queue=0 tid=-1 offset=0x23 length=0x1 cause=nocode' '1 gap in the trace' \
	--pt pt --raw code@0x1000:0:5 -F from,to,kind
expect 3 '# gap queue=0 tid=-1 offset=0x1b length=0x9 cause=nocode' 'no mapping is known at 0x1000' \
	--pt pt -F insn-ip --strict
expect 3 '{"schema":"ptcap-decode","version":1}
{"type":"branch","tid":-1,"cpu":-1,"time":null,"icount":0,"from":"0x0","to":"0x1000","kind":"start"}
{"type":"gap","queue":0,"tid":-1,"offset":"0x1b","length":"0x9","cause":"nocode"}' \
	'no mapping is known at 0x1000' --pt pt --format json --strict
head -c 30 pt >cut
# libipt 2.0 goes on to where it needs the cut packet; 2.1 does not (doc/engine.md).
case $(readlink -f "$(ldd "$PTCAP" | sed -n 's/.* => \(.*libipt[^ ]*\) .*/\1/p')") in
*.so.2.0*) further='1003
' ;;
*) further= ;;
esac
expect 0 '1000
'"$further"'# gap queue=0 tid=-1 offset=0x1c length=0x2 cause=badpacket' '1 gap in the trace' \
	--pt cut --raw code@0x1000 -F insn-ip

# Nothing to decode.
: >empty
expect 4 '' "'empty' has no trace to decode" --pt empty --raw code@0x1000 -F insn-ip

# Refused options.
expect 2 '' "overlaps 'code' at 0x1000" --pt pt --raw code@0x1000 --raw code@0x1006
expect 2 '' 'none at offset 0x7' --pt pt --raw code@0x1000:7
expect 2 '' 'not 0x8 at offset 0x0' --pt pt --raw code@0x1000:0:8
expect 2 '' 'exceeds the last address' --pt pt --raw code@0xfffffffffffffffe
for arg in code @0x1000 code@ code@x code@0x1000: code@0x1000:0:0 code@0x1000:0:1:2 code@-1 \
	code@0x10000000000000000; do
	expect 2 '' 'for --raw: expected FILE@ADDR' --pt pt --raw "$arg"
done
expect 2 '' '--raw needs --pt' --raw code@0x1000
expect 2 '' 'a recording .*cannot be combined with --pt' --pt pt -i pt
expect 2 '' 'a recording .*cannot be combined with --pt' --pt pt pt
expect 2 '' 'for --cpu: expected FAMILY/MODEL/STEPPING' "${raw[@]}" --cpu 1
expect 2 '' 'for --cpu: expected FAMILY/MODEL/STEPPING' "${raw[@]}" --cpu 6/256/1
expect 2 '' 'for --cpu: expected CPU numbers' -i pt --cpu 6/94/3
expect 2 '' 'for --tid: expected thread IDs' -i pt --tid -1
expect 2 '' 'for --tid: expected thread IDs' -i pt --tid 1,
expect 2 '' 'for --tid: expected thread IDs' -i pt --tid 7-5
expect 2 '' 'for --cpu: expected CPU numbers' -i pt --cpu 4294967296
expect 2 '' 'for --time: expected FROM,TO' -i pt --time 5
expect 2 '' 'for --time: expected FROM,TO' -i pt --time ,
expect 2 '' 'for --time: expected FROM,TO' -i pt --time 6,5.5
expect 2 '' 'for --time: expected FROM,TO' -i pt --time 10%-101%
expect 2 '' 'for --time: expected FROM,TO' -i pt --time 99999999999,
expect 2 '' 'for --last: expected a number of branches' -i pt --last 0
expect 2 '' '--time cannot be combined with --last' -i pt --last 1 --time 1,2
expect 2 '' '--stats cannot be combined with' -i pt --stats --insn
expect 2 '' '--format bin cannot be combined with' -i pt --format bin --calls
expect 2 '' '--events cannot be combined with' -i pt --events --stats
expect 2 '' 'for --color: expected auto, always or never' -i pt --color red
expect 2 '' 'unknown field .x.' "${raw[@]}" -F from,x
expect 2 '' "unknown field ''" "${raw[@]}" -F ,
for field in from to kind tosym; do
	expect 2 '' "insn-ip .*'$field'" "${raw[@]}" -F insn-ip,$field
done
expect 2 '' '-F cannot be combined with --format json' "${raw[@]}" -F from --format json
expect 2 '' "invalid value 'xml' for --format: expected text, json, bin, arrow, callgrind, folded, pprof, lcov, bolt, profgen, afdo, uftrace or fxt" --format xml
expect 2 '' "invalid value 'x' for --resync: expected psb or packet" --resync x
expect 2 '' 'needs a value' --pt
expect 2 '' "unknown option '--nonsense'; see" --nonsense
expect 2 '' "unknown option '--fromat' \\(did you mean '--format'\\?\\); see" --fromat=json
expect 1 '' "cannot open 'x': No such file" x
expect 2 '' "unexpected argument 'x'" pt x
expect 2 '' "two input files: 'pt' with -i, and 'x'" -i pt x
expect 1 '' "perf.data.*No such file" -F from
expect 1 '' "'nofile'.*No such file" --pt nofile --raw code@0x1000
expect 1 '' "'nofile'.*No such file" --pt pt --raw nofile@0x1000
expect 1 '' "code" -i code

if [ -w /dev/full ]; then
	"$PTCAP" decode "${raw[@]}" -F insn-ip >/dev/full 2>err
	[ $? = 1 ] && grep -q 'No space left' err || { echo "a full disk: $(cat err)"; bad=1; }
fi
"$PTCAP" decode --help >out && grep -q '^usage: ptcap decode' out || { echo "--help"; bad=1; }
exit $bad
