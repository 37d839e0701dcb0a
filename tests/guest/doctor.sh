# SPDX-License-Identifier: GPL-2.0
# `ptcap doctor` with a PMU intel_pt: the verdict is hardware. The commands that it names mend a refused recording of a user,
# and the rings that it names are the largest that the kernel maps.
. ./lib.sh
chmod 755 /tmp
mkdir doctor-bin doctor-user
cp "$progs/prog_exit" "$ptcap" doctor-bin/
chown 1000 doctor-user
ptcap=/tmp/doctor-bin/ptcap
paranoid=/proc/sys/kernel/perf_event_paranoid
read -r level <$paranoid
export PTCAP_QEMU=/nonexistent # an emulator in an emulator is slow
cd doctor-user

# doctor NAME STATUS COMMAND...: runs it in the given way.
doctor() {
	local name=$1 want=$2 status=0
	shift 2
	"$@" "$ptcap" doctor --quick >"$name.out" 2>"$name.err" || status=$?
	[ "$status" = "$want" ] || fail "$name: exit status $status: $(cat "$name.out" "$name.err")"
}

# has NAME REGEX...: for each REGEX a line matches. Sets found to the first group of the last one. Starts no process.
has() {
	local name=$1 regex line
	shift
	for regex; do
		found=none
		while read -r line; do
			[[ ! $line =~ $regex ]] || found=${BASH_REMATCH[1]-}
		done <"$name.out"
		[ "$found" != none ] || fail "$name: no '$regex' in $(cat "$name.out")"
	done
}

user="setpriv --reuid 1000 --regid 1000 --clear-groups"
doctor root 0
has root '^ok +intel_pt +the kernel has the PMU intel_pt, type ' '^ok +intel_pt caps .*address filters \(--filter\)' \
	'^ok +intel_pt event ' '^ok +record -a +pt: ' '^ok +snapshot -p PID +pt: ' '^verdict +hardware'

# Debian's kernel refuses a user at level 3. The command in the last column mends it.
echo 3 >$paranoid
doctor refused 3 $user
has refused '^broken +intel_pt event .*Permission denied' \
	'^broken +perf_event_paranoid +3: this user may trace nothing; mend: sudo (.*)'
$found >mend.out || fail "$found: $(cat mend.out)"

# The largest rings work, and larger ones do not.
doctor mended 0 $user prlimit --memlock=65536:65536
has mended '^note +perf_event_paranoid +2: this user may trace your own programs in user mode' '^missing +record -a ' \
	'^note +rings +at most -m ([0-9]+K,[0-9]+K) \(tried\)'
sizes=$found
data=${sizes%K,*} aux=${sizes#*,}
record() { # record SIZES
	$user prlimit --memlock=65536:65536 "$ptcap" record --source pt -m "$1" -o f -- /tmp/doctor-bin/prog_exit 3 2>record.err
}
status=0
record "$sizes" || status=$?
[ "$status" = 3 ] || fail "-m $sizes: exit status $status: $(cat record.err)"
for more in "$((data * 2))K,$aux" "${data}K,$((${aux%K} * 2))K"; do
	status=0
	record "$more" || status=$?
	[ "$status" = 125 ] || fail "-m $more: exit status $status: $(cat record.err)"
	said record.err 'see `ptcap doctor`' || fail "-m $more: $(cat record.err)"
done
echo "$level" >$paranoid
echo "ok doctor: hardware; at most -m $sizes"
