/* SPDX-License-Identifier: MIT */
#include "snapshot_args.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "place.h"

static const char help[] =
	"usage: ptcap snapshot [OPTIONS] -p PID[,PID...] | -t TID[,TID...]\n"
	"       ptcap snapshot [OPTIONS] --source emu|step [--] CMD [ARG...]\n"
	"Keep the newest trace of a program in memory, and write it to a file, whole by itself,\n"
	"when something asks for it: SIGUSR2 to ptcap, --control, a signal to the program, its\n"
	"death, the clock, the end.\n\n"
	"  -o, --output FILE     snapshots go to FILE.000, FILE.001, ...; with --count 1 to FILE\n"
	"                        (default perf.data)\n"
	"  -p, --pid PID[,PID...]\n"
	"                        processes that run, every thread of them, those to come, too\n"
	"  -t, --tid TID[,TID...]\n"
	"                        single threads\n"
	"      --source SOURCE   auto: Intel PT, or nothing (default)\n"
	"                        pt, step, emu: as of ptcap record\n"
	"  -m, --mmap-pages DATA[,AUX]\n"
	"                        sizes of the rings: pages, or bytes with a suffix B, K, M, G; a\n"
	"                        snapshot has up to AUX for each CPU\n"
	"      --size SIZE       of each ring the newest SIZE bytes only\n"
	"      --control CTL[,ACK]\n"
	"                        FIFOs (fifo:CTL[,ACK]), or descriptors (fd:CTL[,ACK]): lines "
	"snapshot,\n"
	"                        stop, ping; the answer, ack or error, comes when it is done\n"
	"      --every TIME      a snapshot each TIME: seconds, or with a suffix us, ms, s, m, h\n"
	"      --after TIME      the first one so long after the beginning\n"
	"      --on-signal LIST  one when a signal of LIST is about to be delivered: SEGV,USR1,34\n"
	"      --on-crash        one when a signal is about to kill a process, with the state it "
	"is in\n"
	"                        (ptcap crash show)\n"
	"      --at PLACE[:N]    one when a thread comes to PLACE, as of record --from, each N-th\n"
	"                        time; four of these at most\n"
	"      --on-exit         one when what is watched ends (default, if nothing else but "
	"SIGUSR2\n"
	"                        asks for one)\n"
	"      --no-final        none at ^C and at stop\n"
	"      --grace TIME      a signal to ptcap gives CMD so long to end (default 1s), then CMD "
	"is "
	"left\n"
	"      --count N         end after N of them\n"
	"      --strict          exit 3 if anything was lost\n"
	"  -v, --verbose         what was left out, and why\n"
	"  -q, --quiet           nothing but errors and losses\n"
	"      --no-sandbox      keep all capabilities, not only those that a recording needs\n"
	"                        (SECURITY.md)\n"
	"  -h, --help            this text\n";

static int check(struct ptc_snapshot_args *a, char **rest)
{
	struct ptc_record_opts *o = &a->opts;
	const bool attach = o->npids || o->ntids;

	if (attach && rest[0])
		return ptc_usage_error("snapshot", "a command cannot be combined with -p or -t");
	if (!attach && !rest[0])
		return ptc_usage_error("snapshot",
				       "no command to run; give one, or -p PID or -t TID");
	o->argv = attach ? NULL : rest;
	o->pids = a->pids;
	o->tids = a->tids;
	o->snapshot = true;
	o->series = true;
	o->no_exit =
		(o->every_ns || o->after_ns || a->control || o->on_signals || o->crash || a->nat) &&
		!a->on_exit;
	return -1;
}

int ptc_snapshot_args_parse(int argc, char **argv, struct ptc_snapshot_args *a)
{
	enum {
		OPT_SOURCE = 256,
		OPT_SIZE,
		OPT_CONTROL,
		OPT_EVERY,
		OPT_AFTER,
		OPT_GRACE,
		OPT_ON_EXIT,
		OPT_NO_FINAL,
		OPT_COUNT,
		OPT_STRICT,
		OPT_ON_SIGNAL,
		OPT_ON_CRASH,
		OPT_AT,
		OPT_NO_SANDBOX
	};
	static const struct option longs[] = { { "output", required_argument, NULL, 'o' },
					       { "pid", required_argument, NULL, 'p' },
					       { "tid", required_argument, NULL, 't' },
					       { "mmap-pages", required_argument, NULL, 'm' },
					       { "source", required_argument, NULL, OPT_SOURCE },
					       { "size", required_argument, NULL, OPT_SIZE },
					       { "control", required_argument, NULL, OPT_CONTROL },
					       { "every", required_argument, NULL, OPT_EVERY },
					       { "after", required_argument, NULL, OPT_AFTER },
					       { "grace", required_argument, NULL, OPT_GRACE },
					       { "on-exit", no_argument, NULL, OPT_ON_EXIT },
					       { "no-final", no_argument, NULL, OPT_NO_FINAL },
					       { "count", required_argument, NULL, OPT_COUNT },
					       { "strict", no_argument, NULL, OPT_STRICT },
					       { "on-signal", required_argument, NULL,
						 OPT_ON_SIGNAL },
					       { "on-crash", no_argument, NULL, OPT_ON_CRASH },
					       { "at", required_argument, NULL, OPT_AT },
					       { "verbose", no_argument, NULL, 'v' },
					       { "quiet", no_argument, NULL, 'q' },
					       { "no-sandbox", no_argument, NULL, OPT_NO_SANDBOX },
					       { "help", no_argument, NULL, 'h' },
					       { NULL, 0, NULL, 0 } };
	struct ptc_record_opts *o = &a->opts;
	int c;

	o->output = "perf.data";
	ptc_options_begin(longs);
	while ((c = getopt_long(argc, argv, "+:o:p:t:m:vqh", longs, NULL)) != -1) {
		switch (c) {
		case 'o':
			o->output = optarg;
			break;
		case 'p':
			if (!ptc_args_ids(optarg, a->pids, &o->npids))
				return ptc_value_error("snapshot", "--pid", optarg, PTC_ARGS_PIDS);
			break;
		case 't':
			if (!ptc_args_ids(optarg, a->tids, &o->ntids))
				return ptc_value_error("snapshot", "--tid", optarg, PTC_ARGS_TIDS);
			break;
		case 'm':
			if (!ptc_args_mmap(optarg, o))
				return ptc_value_error("snapshot", "--mmap-pages", optarg,
						       PTC_ARGS_MMAP);
			break;
		case OPT_SOURCE:
			if (!ptc_args_source(optarg, &o->source))
				return ptc_value_error("snapshot", "--source", optarg,
						       PTC_ARGS_SOURCES);
			break;
		case OPT_SIZE:
			if (!ptc_args_bytes(optarg, &o->snapshot_size))
				return ptc_value_error("snapshot", "--size", optarg, PTC_ARGS_SIZE);
			break;
		case OPT_CONTROL:
			a->control = optarg;
			break;
		case OPT_EVERY:
		case OPT_AFTER:
			if (!ptc_parse_duration(optarg,
						c == OPT_EVERY ? &o->every_ns : &o->after_ns))
				return ptc_value_error("snapshot",
						       c == OPT_EVERY ? "--every" : "--after",
						       optarg, PTC_ARGS_DURATION);
			break;
		case OPT_GRACE:
			if (!ptc_parse_duration(optarg, &a->grace_ns))
				return ptc_value_error("snapshot", "--grace", optarg,
						       PTC_ARGS_DURATION);
			break;
		case OPT_ON_EXIT:
			a->on_exit = true;
			break;
		case OPT_NO_FINAL:
			o->no_last = true;
			break;
		case OPT_COUNT:
			if (!ptc_parse_count(optarg, &o->count) || !o->count)
				return ptc_value_error("snapshot", "--count", optarg,
						       "a number of snapshots");
			break;
		case OPT_STRICT:
			a->strict = true;
			break;
		case OPT_ON_SIGNAL:
			if (!ptc_args_signals(optarg, &o->on_signals))
				return ptc_value_error("snapshot", "--on-signal", optarg,
						       "signals except KILL, for example "
						       "SEGV,USR1,34");
			break;
		case OPT_ON_CRASH:
			o->crash = true;
			break;
		case OPT_AT:
			if (a->nat == PTC_AT_MAX)
				return ptc_usage_error("snapshot", "more than %u places (--at)",
						       PTC_AT_MAX);
			a->at_texts[a->nat++] = optarg;
			break;
		case 'v':
			a->verbose = true;
			break;
		case OPT_NO_SANDBOX:
			a->no_sandbox = true;
			break;
		case 'q':
			a->quiet = true;
			break;
		case 'h':
			fputs(help, stdout);
			return PTC_EXIT_OK;
		default:
			return ptc_option_error("snapshot", argv, c);
		}
	}
	return check(a, argv + optind);
}

/*
 * Cut off the N of "PLACE:N". In "a::1" there is no N. Without N *@ret is 1. Returns false if N is
 * 0.
 */
static bool take_count(char *text, uint64_t *ret)
{
	char *colon = strrchr(text, ':');

	*ret = 1;
	if (!colon || colon == text || colon[-1] == ':' || !ptc_parse_u64(colon + 1, ret))
		return true;
	*colon = '\0';
	return *ret != 0;
}

static int find_place(const char *at, const char *program, struct ptc_crossing *ret,
		      struct ptc_err *err)
{
	char *text = strdup(at);
	int rc = PTC_E_USAGE;

	if (text && take_count(text, &ret->count)) {
		rc = ptc_place_parse(text, program, &ret->place, err);
	} else {
		err->code = PTC_E_USAGE;
		(void)snprintf(err->msg, sizeof(err->msg),
			       "invalid value '%.100s' for --at: expected PLACE[:COUNT]", at);
	}
	free(text);
	return rc;
}

int ptc_snapshot_args_places(struct ptc_snapshot_args *a, struct ptc_err *err)
{
	const struct ptc_record_opts *o = &a->opts;
	char *program = NULL;
	size_t i;
	int rc = 0;

	if (a->nat)
		rc = ptc_place_program(o->argv,
				       o->npids ? o->pids[0] :
				       o->ntids ? o->tids[0] :
						  0,
				       &program, err);
	for (i = 0; !rc && i < a->nat; i++)
		rc = find_place(a->at_texts[i], program, &a->at[i], err);
	free(program);
	a->opts.at = a->at;
	a->opts.nat = a->nat;
	return rc;
}

void ptc_snapshot_args_release(struct ptc_snapshot_args *a)
{
	size_t i;

	for (i = 0; i < a->nat; i++)
		free((char *)(uintptr_t)a->at[i].place.file);
}
