# Makes Debian roots, and runs commands in them. Sourced by bash after lib.sh, in the root of the sources.
# shellcheck shell=bash

# Ends with status 77 and the reason: a root cannot be made here.
skip() {
	printf '%s: skipped: %s\n' "${0##*/}" "$*" >&2
	exit 77
}

# Ends with status 77 if this process cannot make and enter roots.
need_roots() {
	[ "$(id -u)" = 0 ] || skip "only root can make a root"
	command -v mmdebstrap >/dev/null || command -v debootstrap >/dev/null ||
		skip "neither mmdebstrap nor debootstrap is installed"
	unshare --mount --propagation private true 2>/dev/null || skip "this process may not mount"
}

# Takes the lock of the root $root, until the script ends.
lock_root() {
	mkdir -p "$(dirname "$root")"
	exec 9>"$root.lock"
	flock -n 9 || {
		say "Waiting for another run in $root"
		flock 9
	}
}

# Prints the mirror that apt uses for this system's own main component.
mirror() {
	. /etc/os-release
	# shellcheck disable=SC2016 # apt replaces these
	apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' 2>/dev/null |
		awk -v name="${VERSION_CODENAME-}" '$2 == name && $3 == "main" && $4 == "Debian" { print $1; exit }'
}

# Prints the apt options for the mirror, such as a proxy.
apt_conf() {
	apt-config dump Acquire | grep -E '^Acquire::(http|https|ftp|Retries|Check-)' || true
	echo 'Acquire::Languages "none";'
}

# Makes the root $root of the release $suite, from the mirror @1 with the tool @2 and the packages @3, one a line.
make_root() {
	local uri=$1 log=$root.log list=$3
	rm -rf "$root"
	mkdir -p "$root"
	apt_conf >"$root.apt"
	say "Making a Debian root ($suite): $root (log: $log)"
	if [ "$2" = mmdebstrap ]; then
		mmdebstrap --mode=root --variant=minbase --aptopt="$root.apt" --dpkgopt=force-unsafe-io \
			--include="$(tr '\n' ',' <<<"$list")" "$suite" "$root" "deb $uri $suite main" >"$log" 2>&1 || return 1
	else
		debootstrap --variant=minbase "$suite" "$root" "$uri" >"$log" 2>&1 || return 1
		cp "$root.apt" "$root/etc/apt/apt.conf.d/90host"
		cp -L /etc/resolv.conf "$root/etc/resolv.conf"
		# shellcheck disable=SC2086 # a list of words
		inside "apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Options::=--force-unsafe-io \
			install --no-install-recommends $(tr '\n' ' ' <<<"$list")" >>"$log" 2>&1 || return 1
	fi
	cp -L /etc/resolv.conf "$root/etc/resolv.conf"
	mkdir -p "$root/ptcap/src" "$root/host"
	printf '%s\n' "$list" >"$root/ptcap/ready"
}

# Makes the root $root with the packages @1, one a line, if it was not made with these packages.
need_root() {
	local uri tool
	[ "$(cat "$root/ptcap/ready" 2>/dev/null)" != "$1" ] || return 0
	command -v apt-get >/dev/null || skip "there is no apt, whose mirror would be used"
	uri=$(mirror)
	[ -n "$uri" ] || skip "apt has no mirror of Debian"
	for tool in mmdebstrap debootstrap; do	# debootstrap only if mmdebstrap is missing or fails
		command -v $tool >/dev/null || continue
		make_root "$uri" $tool "$1" && return
		tail -n 20 "$root.log" >&2
	done
	skip "the root could not be made (see above)"
}

# Runs a shell command in the root, with the machine's files in /host. The mounts end with the
# command.
inside() {
	# shellcheck disable=SC2016 # for the other shell
	unshare --mount --propagation private bash -euc '
		root=$1
		for d in proc sys dev; do mount --rbind "/$d" "$root/$d"; done
		mkdir -p "$root/host"
		mount --bind / "$root/host"
		mount -o remount,bind,ro "$root/host" 2>/dev/null || true
		exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb \
			CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_DIR=/ptcap/ccache \
			chroot "$root" bash -euc "$2"' - "$root" "$1"
}
