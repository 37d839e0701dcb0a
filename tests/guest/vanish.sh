#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Attached processes end, exec or are killed at random moments, and ptcap is killed: e2e/failing.py,
# with Intel PT.
. ./lib.sh
times=3
[ -z "${FULL-}" ] || times=200
export PTCAP=$ptcap REFSTEP=$refstep PEAK=none PROGS=$progs PERF=/usr/bin/perf PTCAP_EVENT=intel_pt//u

# The moments are spread over the duration of a whole recording here.
begun=${EPOCHREALTIME/./}
"$ptcap" record -q -e intel_pt//u -o begun.data -- "$progs/prog_exit" 0
took=$((${EPOCHREALTIME/./} - begun))
PTCAP_MOMENT=$(printf '%d.%06d' $((took / 1000000)) $((took % 1000000)))
export PTCAP_MOMENT

for what in target killed; do
	python3 -B /run/e2e/failing.py "$what" "$times" >"$what.out" 2>&1 || fail "$what: $(cat "$what.out")"
	cat "$what.out"
done
