#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# smoke.sh WORK PTCAP REFSTEP PROGS [SCRIPT]: `ptcap record --source pt` on a real kernel's rings. See README.md.
# SCRIPT is what the guest runs, of this folder (inside.sh).
# Skips (77) where QEMU or the kernel headers are missing; fails instead with PTCAP_GUEST=required.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
work=$(realpath "$1") ptcap=$2 refstep=$3 progs=$4 script=${5-inside.sh}

skip() {
	echo "skipped: $1" >&2
	[ "${PTCAP_GUEST-}" != required ] || exit 1
	exit 77
}

command -v qemu-system-x86_64 >/dev/null || skip "qemu-system-x86_64 is not installed"
[ -x /bin/busybox ] || skip "busybox-static is not installed"
headers=$(ls -d /usr/src/linux-headers-*-amd64 2>/dev/null | sort -V | tail -n 1)
[ -n "$headers" ] || skip "linux-headers-amd64 is not installed"
version=${headers#/usr/src/linux-headers-}

# Debian's kernel of exactly that version, unpacked, not installed.
if [ ! -e "$work/image/boot/vmlinuz-$version" ]; then
	rm -rf "$work/image"
	mkdir -p "$work/image"
	(cd "$work/image" && apt-get download -q "linux-image-$version" >&2 && dpkg -x linux-image-*.deb . &&
		rm -f linux-image-*.deb) || skip "linux-image-$version cannot be downloaded"
fi
ln -sf "image/boot/vmlinuz-$version" "$work/kernel"
modules=$work/image/lib/modules/$version/kernel

# The module, and an initrd that mounts the host's root and loads it.
mkdir -p "$work/module"
cp "$here/softpt.c" "$work/module/"
echo 'obj-m := softpt.o' >"$work/module/Makefile"
make -s -C "$headers" M="$work/module" modules >&2
rm -rf "$work/initrd"
mkdir -p "$work/initrd/bin" "$work/initrd/m"
cp /bin/busybox "$work/initrd/bin/"
cp "$here/init" "$work/module/softpt.ko" "$work/initrd/"
for m in drivers/virtio/{virtio,virtio_ring,virtio_pci,virtio_pci_legacy_dev,virtio_pci_modern_dev} \
	fs/netfs/netfs fs/fscache/fscache fs/9p/9p net/9p/9pnet net/9p/9pnet_virtio; do
	cp "$modules/$m.ko" "$work/initrd/m/"
done
(cd "$work/initrd" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd.gz"

# Copies: the guest has a /tmp of its own, and the build may be below the host's.
rm -rf "$work/share"
mkdir -p "$work/share/bin"
cp "$here/$script" "$work/share/"
cp "$ptcap" "$refstep" "$progs"/prog_{recurse,signal,libc_static,busy,exit,tasks,wait,crowd} "$work/share/bin/"
exec "$here/run" "$work" bash "$script"
