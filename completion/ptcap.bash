# Completion of ptcap for bash. `ptcap help --list-options` prints the option tables of the program that is completed:
# command, short option, long option, value, words of the value, first sentence, with tabs between.
# shellcheck shell=bash

# Proposes the values of an option or an argument. $1: its value in the table, $2: its words, $3: the text so far
_ptcap_values() {
	local done=
	if [ -n "$2" ]; then
		case $1 in
		LIST | NAME,*)	# words with commas between
			[[ $3 == *,* ]] && done=${3%,*},
			;;
		esac
		mapfile -t COMPREPLY < <(compgen -P "$done" -W "$2" -- "${3##*,}")
		return
	fi
	case ${1#[} in
	FILE* | NEW* | PATH* | CTL*)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$3")
		;;
	DIR*)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$3")
		;;
	PID*)
		mapfile -t COMPREPLY < <(cd /proc && compgen -G "${3//[^0-9]/}[0-9]*")
		;;
	esac
}

# Completes the command that ptcap runs. $1: its place in COMP_WORDS, $2: the text so far
_ptcap_run() {
	local f
	for f in _comp_command_offset _command_offset; do	# of the package bash-completion
		if declare -F "$f" >/dev/null; then
			"$f" "$1"
			return
		fi
	done
	compopt -o filenames 2>/dev/null
	if [ "$1" = "$COMP_CWORD" ] && [[ $2 != */* ]]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$2")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$2")
	fi
}

_ptcap() {
	local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} first=2 runs='' names='' commands='' option=''
	local table name short long value words i word
	local -A value_of=() words_of=()
	COMPREPLY=()
	table=$("$1" help --list-options 2>/dev/null) || return

	if [ "$command" = crash ] && ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[2]} == @(show|core) ]]; then
		command="crash ${COMP_WORDS[2]}"
		first=3
	fi
	while IFS=$'\037' read -r name short long value words _; do
		if [ -z "$long" ]; then
			[[ $name == *' '* ]] || commands+=" $name"
			[ "$name" = "$command" ] && runs=$value
		elif [ "$name" = "$command" ]; then
			[[ -n $value && $value != \[* ]] && names+=" $long=" || names+=" $long"
			for option in $short $long; do
				value_of[$option]=$value
				words_of[$option]=$words
			done
		fi
	done <<<"${table//$'\t'/$'\037'}"

	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$commands help --help --version" -- "$cur")
		return
	elif [ "$command" = help ]; then
		[ "$COMP_CWORD" = 2 ] && mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
		return
	elif [ -z "$runs" ]; then
		return
	fi

	# Readline splits --format=json into three words. option: the one whose value comes next.
	option=
	for ((i = first; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [ "$word" = = ]; then
			[[ ${COMP_WORDS[i - 1]} == --* ]] && option=${COMP_WORDS[i - 1]}
		elif [ -n "$option" ]; then
			option=
		elif [ "$word" = -- ]; then
			if [ "$runs" = CMD ]; then
				_ptcap_run $((i + 1)) "$cur"
			else
				_ptcap_values "$runs" '' "$cur"
			fi
			return
		elif [[ $word != -?* ]]; then
			[ "$runs" = CMD ] && _ptcap_run "$i" "$cur"
			return
		elif [[ -n ${value_of[$word]-} && ${value_of[$word]} != \[* ]]; then
			option=$word
		fi
	done

	if [ "$cur" = = ] && [[ ${COMP_WORDS[COMP_CWORD - 1]} == --* ]]; then
		option=${COMP_WORDS[COMP_CWORD - 1]}
		cur=
	fi
	if [ -n "$option" ]; then
		_ptcap_values "${value_of[$option]-}" "${words_of[$option]-}" "$cur"
	elif [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$names" -- "$cur")
		[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
	elif [ "$command" = crash ] && [ "$COMP_CWORD" = 2 ] && [ -n "$(compgen -W 'show core' -- "${cur:- }")" ]; then
		mapfile -t COMPREPLY < <(compgen -W 'show core' -- "$cur")	# rather than each program with this begin
	elif [ "$runs" = CMD ]; then
		_ptcap_run "$COMP_CWORD" "$cur"
	else
		_ptcap_values "$runs" '' "$cur"
	fi
}

complete -F _ptcap ptcap
