# Proves the Debian packages of scripts/package. Sourced by bash in the root of the sources, after roots.sh.
# shellcheck shell=bash
#
# check_packages needs the folder $to with the packages, the root $root with which they were built, its release $release and
# $suite, and the folder $roots of the roots. Each check works in a new copy of a root:
#
# reproducible  another user builds the same bytes in another folder, at another time, with other settings
# install       the packages bring all that they need. After their removal the root has the same files as before
# tools         the tests of debian/tests, by autopkgtest as an ordinary user. The debug symbols have source lines. Packages
#               that are unpacked in another folder find their plugin
# shellcheck disable=SC2154,SC2016 # set by scripts/package; variables of the other shell

# Prints the digests of the packages in the folder @1.
digests() {
	(cd "$1" && sha256sum ./*.deb)
}

# Makes the root $root: a copy of @1 without its folder /ptcap.
copy_root() {
	rm -rf "$root"
	mkdir -p "$root"
	tar -C "$1" --exclude=./ptcap --one-file-system -cf - . | tar -C "$root" -xpf -
	mkdir -p "$root/ptcap/debs"
}

# Makes the root of the kind @1 with the packages @2, one a line, and $root as a copy of that root. $root has the packages of
# ptcap in /ptcap/debs, and an ordinary user "tester".
test_root() {
	local kept
	root=$roots/$1$release
	need_root "$2"
	kept=$root root=$root.check
	copy_root "$kept"
	cp "$to"/* "$root/ptcap/debs/"
	inside 'useradd -m tester && apt-get -q update'
}

# Runs the shell command @1 in the root as the ordinary user, with a new environment.
as_tester() {
	printf 'set -eux\n%s\n' "$1" >"$root/ptcap/command"
	inside 'cd /home/tester && setpriv --reuid=tester --regid=tester --init-groups env -i HOME=/home/tester LANG=C.UTF-8 \
		PATH=/usr/bin:/bin sh /ptcap/command'
}

# Builds the source package in the folder @1 of the root again: another user, folder, date, time zone, language, umask, host name,
# order of files in folders, and number of compilers at once.
build_again() {
	local there=/ptcap/other/place
	inside "useradd -m builder
		mkdir -p $there /ptcap/second
		mount -t tmpfs -o mode=755 none $there 2>/dev/null || true
		cp $1/*.dsc $1/*.tar.* $there/
		chown -R builder: $there
		unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
		export TZ=Asia/Tokyo LC_ALL=C LANGUAGE=de HOME=/home/builder USER=builder DEB_BUILD_OPTIONS=parallel=$((jobs + 1))
		export FAKETIME_DONT_RESET=1 NO_FAKE_STAT=1
		cd $there
		umask 0002
		unshare --uts sh -c 'hostname elsewhere; exec \"\$@\"' - setpriv --reuid=builder --regid=builder --init-groups \
			faketime -f +400d sh -c 'dpkg-source -x *.dsc unpacked; cd unpacked; dpkg-buildpackage -b -us -uc'
		find $there -maxdepth 1 -type f -exec cp -t /ptcap/second {} +"
}

check_reproducible() {
	local first=$root root=$root.check
	copy_root "$first"
	cp "$to"/* "$root/ptcap/debs/"
	build_again /ptcap/debs
	diff <(digests "$to") <(digests "$root/ptcap/second") || {
		echo "the packages differ: compare $to with $root/ptcap/second, for example with diffoscope" >&2
		return 1
	}
	echo "the packages are byte-equal: $(cd "$to" && echo *.deb)"
}

# Lists the files of the root, without caches, logs, and the state of apt and dpkg, which also change for other packages.
files_of_root() {
	(cd "$root" && find . \( -path ./ptcap -o -path ./host -o -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o \
		-path ./home -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt \) -prune -o -print |
		grep -v -e '^./var/lib/dpkg/[^/]*-old$' | sort)
}

apt_get='DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Options::=--force-unsafe-io'

# Prints the names of the files in $to for the packages @1, below /ptcap/debs of a root.
debs() {
	(cd "$to" && for name in "$@"; do printf '/ptcap/debs/%s ' "$name"_*.deb; done)
}

check_install() {
	local root
	test_root clean passwd
	files_of_root >"$root/ptcap/before"
	inside "$apt_get install --no-install-recommends $(debs ptcap)"	# no other package of ptcap may hide a missing one
	as_tester 'ptcap record --source step -o ls.data -- ls / | grep "^usr$"
		ptcap decode ls.data >ls.txt
		grep -c call ls.txt
		ptcap info ls.data | grep "losses *none recorded"
		ptcap archive ls.data -o ls.ptcap
		ptcap view ls.ptcap -o ls.html
		ptcap doctor --quick || [ $? = 3 ]'
	inside "$apt_get install --no-install-recommends /ptcap/debs/*.deb"
	inside 'dpkg -l ptcap libptcap0 libptcap-dev ptcap-dbgsym libptcap0-dbgsym && dpkg --audit'
	as_tester 'for file in $(dpkg -L ptcap libptcap0); do
			case $file in
			*.so* | /usr/bin/*) [ -z "$(ldd "$file" | grep "not found")" ] ;;
			esac
		done'
	inside "$apt_get purge 'ptcap*' 'libptcap*' && $apt_get autoremove --purge"
	files_of_root | diff "$root/ptcap/before" - || {
		echo "files are left, or are gone" >&2
		return 1
	}
	echo "$(wc -l <"$root/ptcap/before") files before the installation, and the same files after the removal"
}

# Copies a QEMU with plugins into the root, which scripts/debian13 has built. Prints its path in the root, if there is one.
qemu_of_root() {
	local qemu=$roots/debian13/ptcap/src/build/qemu/qemu-x86_64
	if [ "$release" = 13 ] && [ -x "$qemu" ]; then
		cp "$qemu" "$root/ptcap/qemu-x86_64"
		echo /ptcap/qemu-x86_64
	fi
}

# The debug file of each program and library has main or ptc_version, with its source line.
check_symbols() {
	as_tester 'for pair in /usr/bin/ptcap:main "$(echo /usr/lib/*/libptcap.so.0):ptc_version"; do
			id=$(readelf -n "${pair%:*}" | sed -n "s/.*Build ID: //p")
			debug=/usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug
			address=$(nm "$debug" | sed -n "s/ T ${pair#*:}$//p")
			addr2line -e "$debug" "$address" | grep "[.]c:[1-9]"
		done'
}

# Unpacks the packages in a folder of the ordinary user, and removes the installed packages: ptcap finds its plugin there.
check_moved() {
	as_tester 'mkdir moved
		for deb in /ptcap/debs/*.deb; do dpkg-deb -x "$deb" moved; done'
	inside "$apt_get purge 'ptcap*' 'libptcap*'"
	as_tester "[ ! -e /usr/bin/ptcap ] && [ -z \"\$(ls -d /usr/lib/*/ptcap 2>/dev/null)\" ]
		PTCAP_QEMU=$1 moved/usr/bin/ptcap record --source emu -o moved.data -- ls /
		moved/usr/bin/ptcap decode moved.data >moved.txt
		grep -c call moved.txt
		[ -z \"\$(grep '^# gap' moved.txt)\" ]"
}

check_tools() {
	local root qemu
	test_root tools "$(scripts/packages package-test | sort -u)"
	qemu=$(qemu_of_root)
	inside "unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
		autopkgtest --user=tester ${qemu:+--env=PTCAP_QEMU=$qemu} /ptcap/debs/*.changes -- null"
	inside "cd /ptcap/debs && $apt_get install --no-install-recommends ./*.deb"
	check_symbols
	if [ -n "$qemu" ] || inside "qemu-x86_64 --help" | grep -e '^-plugin ' >/dev/null; then
		check_moved "${qemu:-qemu-x86_64}"
		echo "the emulated source is tested, and also in packages that were moved"
	else
		echo "the emulated source is not tested: the QEMU of this root loads no plugins (scripts/debian13 builds one)"
	fi
}

# Runs the checks. Each has a log beside its root.
check_packages() {
	local check log begun status
	for check in reproducible install tools; do
		log=$roots/check$release-$check.log begun=$SECONDS
		say "Check $check in Debian $release (log: $log)"
		set +e	# as a condition, the check would not end with its first failure
		(set -e; "check_$check") >"$log" 2>&1
		status=$?
		set -e
		if [ $status != 0 ]; then
			tail -n 60 "$log" >&2
			[ $status != 77 ] || skip "$(tail -n 1 "$log")"
			die "the check failed: $check"
		fi
		tail -n 1 "$log"
		say "$check: $((SECONDS - begun)) s"
	done
	rm -rf "$roots"/{package,clean,tools}"$release".check
}
