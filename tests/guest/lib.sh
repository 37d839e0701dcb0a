# SPDX-License-Identifier: GPL-2.0
# For the suites, which source it: they run in the folder that is shared with the guest; recordings go to its own /tmp.
set -eu
progs=$PWD/bin ptcap=$PWD/bin/ptcap refstep=$PWD/bin/refstep countcheck=$PWD/bin/countcheck
cd /tmp
export HOME=/tmp

# What was recorded so far stays in the shared folder: the guest's own /tmp goes with it.
fail() {
	echo "FAILED: $1" >&2
	mkdir -p "$progs/../failed"
	find . -maxdepth 1 -type f -exec cp -t "$progs/../failed" {} + || true
	exit 1
}
