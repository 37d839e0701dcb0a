# Sourced by the scripts here: checks, and a folder that is removed at the end. PTCAP, MKREC: the
# programs. PTCAP_TRACES: real recordings, may be absent.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# run CODE ARGS...: runs ptcap; its output goes to ./out and ./err; its code must be CODE.
run() {
	local want=$1 got
	shift
	"$PTCAP" "$@" >out 2>err
	got=$?
	if [ $got -ne "$want" ]; then
		echo "FAIL: ptcap $*: exit code $got, expected $want"
		cat err
		failures=$((failures + 1))
	fi
}

# has FILE TEXT: a line of FILE contains TEXT.
has() {
	if ! grep -qF -- "$2" "$1"; then
		echo "FAIL: no '$2' in $1:"
		head -n 50 "$1"
		failures=$((failures + 1))
	fi
}

empty() {
	if [ -s "$1" ]; then
		echo "FAIL: $1 should be empty:"
		head -n 50 "$1"
		failures=$((failures + 1))
	fi
}

lines() {
	local got
	got=$(wc -l <"$1")
	if [ "$got" -ne "$2" ]; then
		echo "FAIL: $1 has $got lines, expected $2"
		failures=$((failures + 1))
	fi
}

finish() {
	[ "$failures" -eq 0 ] || exit 1
	exit 0
}
