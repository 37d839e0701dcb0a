#!/bin/bash
# Bad input to info and dump: an error that names file and offset, the right exit code, no crash.
. "$(dirname "$0")/lib.sh"
"$MKREC" good || exit 1

for cmd in info dump; do
	# Usage errors: 2, nothing on stdout, the message names the command.
	for args in "-x" "--nonsense" "-i" "--input" "good stray" "-i good stray" "--inp" "--help=x"; do
		# shellcheck disable=SC2086
		run 2 $cmd $args
		empty out
		has err "ptcap $cmd: "
		lines err 1
	done
	run 2 $cmd good stray
	has err "ptcap $cmd: unexpected argument 'stray'; see"
	run 2 $cmd -i good stray
	has err "ptcap $cmd: two input files: 'good' with -i, and 'stray'; give one of them; see"
	run 2 $cmd --nonsense
	has err "ptcap $cmd: unknown option '--nonsense'; see"
	run 2 $cmd --fromat=text
	has err "ptcap $cmd: unknown option '--fromat' (did you mean '--format'?); see"
	run 2 $cmd --format text --help=x
	has err "ptcap $cmd: option '--help' takes no value; see"
	run 2 $cmd -x
	has err "ptcap $cmd: unknown option '-x'; see"
	run 0 $cmd --help
	has out "usage: ptcap $cmd"
	has out "--input"
	empty err

	# No file, or a name that cannot be a recording: 1.
	run 1 $cmd
	has err "'perf.data': No such file"
	run 1 $cmd -i missing
	has err "'missing': No such file"
	run 1 $cmd -i .
	has err "'.': it is a folder"
	run 1 $cmd -i /dev/null
	has err "'/dev/null': it is not a regular file"
	: >zero
	run 1 $cmd -i zero
	has err "'zero': the file is empty"
	echo "this is no recording at all" >text
	run 1 $cmd -i text
	has err "'text': not a perf.data file: wrong magic (offset 0x0)"
	printf 'PERFFILE\150\0\0\0\0\0\0\0' >v1
	run 1 $cmd -i v1
	has err "'v1': the old PERFFILE format"
	printf '2ELIFREP\0\0\0\0\0\0\0\150' >big
	run 1 $cmd -i big
	has err "'big': a big-endian perf.data"
	printf 'PERFILE2\20\0\0\0\0\0\0\0\7\0\0' >pipe
	run 1 $cmd -i pipe
	has err "'pipe': 3 bytes are left where a record should start (offset 0x10)"
done
run 2 info --format xml
has err "invalid value 'xml' for --format: expected text or json; see"
run 2 decode --s
has err "ptcap decode: ambiguous option '--s'; see"

# a file behind the options is the input, for each command that reads one
for cmd in info dump; do
	run 0 $cmd -i good
	mv out want
	for args in "good" "--format text good" "good --format text" "-- good"; do
		# shellcheck disable=SC2086
		run 0 $cmd $args
		cmp -s out want || { echo "FAIL: $cmd $args"; failures=$((failures + 1)); }
	done
done
for cmd in info dump decode compare "convert -o new" "recover -o new" "crash show" "crash core -o new"; do
	# shellcheck disable=SC2086
	run 1 $cmd missing
	has err "'missing': No such file"
	# shellcheck disable=SC2086
	run 2 $cmd -i good missing
	has err "two input files: 'good' with -i, and 'missing'"
	[ "$cmd" != compare ] || continue # it takes two recordings
	# shellcheck disable=SC2086
	run 2 $cmd good missing
	has err "unexpected argument 'missing'"
done
run 1 compare good missing
has err "'missing': No such file"
run 2 compare good good missing
has err "unexpected argument 'missing'"
[ ! -e new ] || { echo "FAIL: something was written"; failures=$((failures + 1)); }

# help, and what is similar to what does not exist
run 0 --help
mv out want
for args in help "help --help" "help help" -h; do
	# shellcheck disable=SC2086
	run 0 $args
	cmp -s out want || { echo "FAIL: $args"; failures=$((failures + 1)); }
done
for cmd in record snapshot decode info dump convert recover crash compare "crash show" "crash core"; do
	# shellcheck disable=SC2086
	run 0 $cmd --help
	mv out want
	# shellcheck disable=SC2086
	run 0 help $cmd
	cmp -s out want || { echo "FAIL: help $cmd"; failures=$((failures + 1)); }
done
run 2 help recrod
has err "unknown command 'recrod' (did you mean 'record'?); "
run 2 help record ls
has err "unexpected argument 'ls'; see"
run 2 help crash core ls
has err "unexpected argument 'ls'; see"
run 2 help crash show ls
has err "unexpected argument 'ls'; see"
run 2 snapshto
has err "unknown command 'snapshto' (did you mean 'snapshot'?); "
run 2 nothing_like_it
has err "unknown command 'nothing_like_it'; "
run 2 --verison
has err "unknown option '--verison' (did you mean '--version'?); "

# Output that cannot be written is a failure.
if [ -c /dev/full ]; then
	for cmd in info dump; do
		"$PTCAP" $cmd -i good >/dev/full 2>err
		[ $? -eq 1 ] || { echo "FAIL: $cmd to a full device"; failures=$((failures + 1)); }
		has err "cannot write standard output"
	done
	"$PTCAP" decode -i good --format bin >/dev/full 2>err
	[ $? -eq 1 ] || { echo "FAIL: decode --format bin to a full device"; failures=$((failures + 1)); }
	has err "cannot write 'standard output'"
fi

# A record of an impossible size: dump shows the records before it, then the error.
off=$("$PTCAP" dump -i good | awk '/ COMM /{print $1}')
cp good size0
printf '\1\0' | dd of=size0 bs=1 seek=$((off + 6)) conv=notrunc 2>/dev/null
run 1 dump -i size0
has out "THREAD_MAP"
has out "feature 3 HOSTNAME"
has err "'size0': a record of type 3 has the impossible size 1 (offset $(printf '0x%x' $((off))))"
lines err 1
run 1 info -i size0
empty out
has err "(offset $(printf '0x%x' $((off))))"

# A senseless body: its line says so, and the rest is still shown.
off=$("$PTCAP" dump -i good | awk '/ AUXTRACE_INFO /{print $1}')
cp good words
printf '\377' | dd of=words bs=1 seek=$((off + 8 + 8 + 8)) conv=notrunc 2>/dev/null
run 1 dump -i words
has out "DAMAGED"
has out "ITRACE_START"
has err "'words': AUXTRACE_INFO has an impossible clock"

# A killed writer: data size 0.
cp good killed
printf '\0\0\0\0\0\0\0\0' | dd of=killed bs=1 seek=48 conv=notrunc 2>/dev/null
run 1 info -i killed
has err "'killed': the file was not finished"
run 1 dump -i killed
has out "ITRACE_START"

# Cut at every 40 bytes: never a crash, always an error with an offset, and dump shows the existing
# records.
size=$(stat -c %s good)
for ((n = 1; n < size; n += 40)); do
	head -c "$n" good >cut
	run 1 info -i cut
	empty out
	has err "'cut': "
	run 1 dump -i cut
	has err "(offset 0x"
done
head -c 2000 good >cut
# The message has the remedy, if there is one.
for cmd in decode info compare "convert -o new" "crash show" "crash core -o new"; do
	# shellcheck disable=SC2086
	run 1 $cmd -i cut
	has err "ptcap recover -i 'cut' -o NEW"
	lines err 2
done
[ ! -e new ] || { echo "FAIL: convert has left something"; failures=$((failures + 1)); }
run 0 recover -i cut -o NEW
head -c 100 good >cut
run 1 info -i cut
lines err 1
run 1 crash show -i missing
run 1 crash show -i good --core missing
has err "cannot open 'missing' (--core): No such file"
run 2 crash show --nonsense
has err "ptcap crash show: unknown option '--nonsense'; see"
head -c 2000 good >cut
for cmd in "--tid 999999" "--cpu 999"; do
	# shellcheck disable=SC2086
	run 4 decode -i good $cmd
	has err "nothing in 'good' matches $(echo $cmd | cut -d ' ' -f 1); "
done
for cmd in "--type nonsense" "--tid x" "--cpu -1" "--time x"; do
	# shellcheck disable=SC2086
	run 2 dump -i good $cmd
	has err "dump: invalid value '$(echo $cmd | cut -d ' ' -f 2)' for $(echo $cmd | cut -d ' ' -f 1): expected "
done
run 1 dump -i cut
has out "AUXTRACE_INFO"
finish
