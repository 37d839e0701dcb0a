#!/bin/bash
# SPDX-License-Identifier: MIT
# A whole recording of kernel and user on two CPUs, without any of its binaries: decoding must end,
# report the missing files, and know which threads ran.
set -u -o pipefail
f=$PTCAP_TRACES/quipper-intel_pt-4.14/perf.data.intel_pt-4.14
if [ ! -f "$f" ]; then
	echo "skipped: no traces in $PTCAP_TRACES"
	exit 77
fi
fail() { echo "$*"; exit 1; }
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT

"$PTCAP" decode -i "$f" -F tid,cpu,time,from,to,kind >"$tmp/out" 2>"$tmp/err" || fail "exit $?"
grep -q '^# gap queue=0 tid=3174 offset=0x60 length=0x2f70 cause=nocode$' "$tmp/out" ||
	fail "no gap on cpu 0: $(cat "$tmp/out")"
grep -q '^# gap queue=3 tid=.* cause=nocode$' "$tmp/out" || fail "no gap on cpu 3"
grep -v '^# gap .* cause=nocode$' "$tmp/out" | grep '^#' && fail "a gap of another cause"
grep -q '^3174 3 641\.256845844 0 ffffffffb960d302 start$' "$tmp/out" || fail "no start on cpu 3"
grep -q '^1760 3 ' "$tmp/out" || fail "the switch to thread 1760 was missed"
grep -q "no code for '\[kernel.kallsyms\]' (build-id 672679ceaecf17b7a879e56c56802afc568aa242): 3 gaps, at least" \
	"$tmp/err" || fail "nothing said about the kernel: $(cat "$tmp/err")"
"$PTCAP" info -i "$f" >"$tmp/info" || fail "info"
grep -q '^decode    incomplete on this machine: 66 of 66 files missing$' "$tmp/info" ||
	fail "what is missing? $(grep -A3 ^decode "$tmp/info")"
while read -r id name; do
	[ "$name" = "[vdso]" ] || ! grep -qF "filename=\"$name\"" <("$PTCAP" dump -i "$f") ||
		grep -qF " $name build-id $id" "$tmp/info" || fail "$name with build-id $id is not listed"
done <"$f.buildids"
"$PTCAP" decode -i "$f" --format json >"$tmp/json" 2>/dev/null || fail "json: $?"
head -n 1 "$tmp/json" >"$tmp/first"
tail -n 1 "$tmp/json" >"$tmp/last"
grep -qx '{"schema":"ptcap-decode","version":1}' "$tmp/first" || fail "json: $(cat "$tmp/first")"
grep -q '^{"type":"missing","file":"\[kernel.kallsyms\]","build_id":"672679' "$tmp/last" || fail "json: $(cat "$tmp/last")"
"$PTCAP" decode -i "$f" --cpu 0 -F cpu 2>/dev/null | grep -v '^#' | grep -vx 0 && fail "--cpu"
"$PTCAP" decode -i "$f" --tid 1760 -F tid 2>/dev/null | grep -v '^# gap queue=. tid=1760' |
	grep -vx 1760 && fail "--tid"
"$PTCAP" decode -i "$f" --strict >/dev/null 2>&1
[ $? = 3 ] || fail "--strict"
for how in psb packet; do
	"$PTCAP" decode -i "$f" --resync $how -F insn-ip >/dev/null 2>&1 || fail "--resync $how: $?"
done
exit 0
