# SPDX-License-Identifier: GPL-2.0
# For the suites, which source it: they run in the folder that is shared with the guest; recordings go to its own /tmp.
set -eu
progs=$PWD/bin ptcap=$PWD/bin/ptcap refstep=$PWD/bin/refstep countcheck=$PWD/bin/countcheck
cd /tmp
export HOME=/tmp

fail() {
	echo "FAILED: $1" >&2
	exit 1
}
