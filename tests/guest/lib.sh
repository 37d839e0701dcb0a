# SPDX-License-Identifier: GPL-2.0
# For the suites, which source it: they run in the folder shared with the guest; recordings go to
# the guest's own /tmp.
set -eu
share=$PWD
[ -d /run/bin ] || cp -r bin e2e /run/ # shared files are not cached
progs=/run/bin ptcap=/run/bin/ptcap refstep=/run/bin/refstep countcheck=/run/bin/countcheck
cd /tmp
[ -p /run/never ] || mkfifo /run/never
exec 8<>/run/never # no process writes there: a wait without a process
export HOME=/tmp LC_ALL=C

# Keeps the recordings so far in the shared folder: the guest's own /tmp is lost.
fail() {
	echo "FAILED: $1" >&2
	mkdir -p "$share/failed"
	find . -maxdepth 1 -type f -exec cp -t "$share/failed" {} + || true
	exit 1
}

# pause MILLISECONDS
pause() {
	read -r -t "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))" -u 8 || :
}

# said FILE TEXT: FILE contains TEXT. Starts no process: one costs 50 ms here.
said() {
	local all=
	[ ! -f "$1" ] || read -r -d '' all <"$1" || :
	[[ $all == *"$2"* ]]
}

# await FILE TEXT: waits until FILE contains TEXT, ten minutes at most. No older FILE may exist when its writer starts.
await() {
	local n
	for ((n = 0; n < 30000; n++)); do
		! said "$1" "$2" || return 0
		pause 20
	done
	fail "$1 never said '$2': $(cat "$1")"
}
