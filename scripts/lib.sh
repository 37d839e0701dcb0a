# Code for the other scripts. Sourced by bash, in the root of the sources.
# shellcheck shell=bash

say() {
	printf '\n== %s\n' "$*"
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

jobs=${PTCAP_JOBS:-$(nproc)}	# compilers at once; one test more than that

# Runs a command as root: directly, or through sudo.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "packages are missing; run this as root, or install them: apt-get install ${missing[*]}"
	fi
}

# Installs the missing packages of `scripts/packages $1`.
need_packages() {
	local p list
	missing=()
	if ! command -v dpkg-query >/dev/null; then
		scripts/packages "$1" >&2
		die "install these packages by hand"
	fi
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

# Configures and builds preset $1 into build/$1. The log is shown only if it fails.
build() {
	local log=build/$1.log
	say "Building preset $1 (log: $log)"
	mkdir -p build
	if ! { cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs"; } >"$log" 2>&1; then
		tail -n 60 "$log" >&2
		return 1
	fi
}

# Returns 0 if the qemu-x86_64 at @1 loads plugins. Debian's static one does not.
has_plugins() {
	[ -x "$1" ] && "$1" --help 2>/dev/null | grep -q -e '^-plugin '
}

# Prints the QEMU that ptcap uses: PTCAP_QEMU, else the build of scripts/qemu, else the one in PATH.
# Prints nothing if there is none.
qemu_in_use() {
	local own=build/qemu/qemu-x86_64
	if [ -n "${PTCAP_QEMU-}" ]; then
		command -v "$PTCAP_QEMU" || true
	elif [ -x "$own" ]; then
		echo "$own"
	else
		command -v qemu-x86_64 || true
	fi
}

# Builds a QEMU with plugins if there is none yet. Without one ptcap single-steps: that is no
# failure.
need_qemu() {
	if has_plugins "$(qemu_in_use)"; then
		return 0
	fi
	say "The QEMU of this distribution loads no plugins: building one from its source package (scripts/qemu)"
	scripts/qemu || say "No QEMU with plugins could be built (see above): ptcap steps instead, thousands of times slower"
}
