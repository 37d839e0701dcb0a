# What scripts/demo and scripts/test share. Sourced by bash, in the root of the sources.
# shellcheck shell=bash

say() {
	printf '\n== %s\n' "$*"
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

jobs=$(nproc)

# A command as root: as we are, or through sudo.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "packages are missing; run this as root, or install them: apt-get install ${missing[*]}"
	fi
}

# Install what is missing of the packages of `scripts/packages $1`.
need_packages() {
	local p list
	missing=()
	command -v dpkg-query >/dev/null ||
		die "this is not Debian; install by hand the equivalents of: $(scripts/packages "$1" | tr '\n' ' ')"
	list=$(scripts/packages "$1")
	for p in $list; do
		[ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] ||
			missing+=("$p")
	done
	if [ ${#missing[@]} = 0 ]; then
		say "All Debian packages are there"
		return
	fi
	say "Installing Debian packages: ${missing[*]}"
	as_root apt-get -q -o DPkg::Lock::Timeout=300 update
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
		install --no-install-recommends "${missing[@]}" </dev/null
}

# Configure and build a preset into build/PRESET; the log is shown only if it fails.
build() {
	local log=build/$1.log
	say "Building preset $1 (log: $log)"
	mkdir -p build
	if ! { cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs"; } >"$log" 2>&1; then
		tail -n 60 "$log" >&2
		return 1
	fi
}
