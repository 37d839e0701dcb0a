/* SPDX-License-Identifier: MIT */
#include "cli/snapshot/snapshot_args.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/place_arg.h"

static const char help[] =
	"usage: ptcap snapshot [OPTIONS] -p PID[,PID...] | -t TID[,TID...]\n"
	"       ptcap snapshot [OPTIONS] [--] CMD [ARG...]\n"
	"Keep the newest trace of a program in memory. Write a snapshot of it to a file\n"
	"when SIGUSR2 reaches ptcap, or at another trigger. Each snapshot is a complete\n"
	"recording.\n\n"
	"What to watch:\n"
	"  -p, --pid=PID[,PID...]\n"
	"                        Watch these running processes, all their threads, and\n"
	"                        their new children.\n"
	"  -t, --tid=TID[,TID...]\n"
	"                        Watch single threads of running processes.\n"
	"      --source=SOURCE   Choose the source (default: auto). auto: Intel PT, and\n"
	"                        an error without it. pt, step, emu: as for\n"
	"                        `ptcap record`.\n\n"
	"When to take a snapshot (default: --on-exit):\n"
	"      --control=CTL[,ACK]\n"
	"                        Read the commands snapshot, stop and ping from the FIFO\n"
	"                        CTL, and write ack or error to the FIFO ACK. Also\n"
	"                        fifo:CTL[,ACK], and fd:CTL[,ACK] for descriptors.\n"
	"      --every=TIME      Take a snapshot each TIME: seconds, or with a suffix\n"
	"                        us, ms, s, m, h.\n"
	"      --after=TIME      Take the first timed snapshot TIME after the start.\n"
	"                        Without --every it is the only one.\n"
	"      --on-signal=LIST  Take a snapshot before the program gets a signal of\n"
	"                        LIST, for example SEGV,USR1,34.\n"
	"      --on-crash        Take a snapshot, with the state for `ptcap crash show`,\n"
	"                        before a signal kills a process.\n"
	"      --at=PLACE[:N]    Take a snapshot each N-th time (default: 1) that a\n"
	"                        thread reaches PLACE. PLACE is as for\n"
	"                        `ptcap record --from`. At most four places.\n"
	"      --on-exit         Take a snapshot when the process exits. This is the\n"
	"                        default if no other trigger is given.\n"
	"      --no-final        Take no snapshot at ^C and at stop. Default: take one.\n\n"
	"Output:\n"
	"  -o, --output=FILE     Write to FILE.000, FILE.001, ... (default: perf.data).\n"
	"                        With --count=1: write to FILE itself.\n\n"
	"Trace buffers:\n"
	"  -m, --mmap-pages=DATA[,AUX]\n"
	"                        Set the size of each ring buffer: a number of pages,\n"
	"                        or bytes with a suffix B, K, M, G. A snapshot has up\n"
	"                        to AUX bytes for each CPU. Defaults: as for\n"
	"                        `ptcap record`.\n"
	"      --size=SIZE       Write only the newest SIZE bytes of each ring buffer.\n"
	"                        Default: all of it.\n\n"
	"Limits:\n"
	"      --count=N         Stop after N snapshots. Default: no limit.\n"
	"      --grace=TIME      Give CMD this time to end after a signal to ptcap\n"
	"                        (default: 1s). Then ptcap leaves CMD running.\n\n"
	"Messages and exit status:\n"
	"  -v, --verbose         Print what could not be recorded, and why.\n"
	"  -q, --quiet           Print only errors and losses. Default: also a line for\n"
	"                        each snapshot.\n"
	"      --strict          Exit with 3 if something was lost or a snapshot is\n"
	"                        incomplete. Default: losses do not change the status.\n"
	"      --no-sandbox      Keep all capabilities. Default: drop the capabilities\n"
	"                        that a recording does not need (SECURITY.md).\n"
	"  -h, --help            Print this text.\n";

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
				       { "on-signal", required_argument, NULL, OPT_ON_SIGNAL },
				       { "on-crash", no_argument, NULL, OPT_ON_CRASH },
				       { "at", required_argument, NULL, OPT_AT },
				       { "verbose", no_argument, NULL, 'v' },
				       { "quiet", no_argument, NULL, 'q' },
				       { "no-sandbox", no_argument, NULL, OPT_NO_SANDBOX },
				       { "help", no_argument, NULL, 'h' },
				       { NULL, 0, NULL, 0 } };

/*
 * Each take_ function handles some options, and passes other options on to the next take_ function.
 * Returns -1 to continue, or an exit code.
 */

/* Options without a value to check. */
static int take_flag(struct ptc_snapshot_args *a, char **argv, int c)
{
	struct ptc_record_opts *o = &a->opts;

	switch (c) {
	case 'o':
		o->output = optarg;
		break;
	case OPT_CONTROL:
		a->control = optarg;
		break;
	case OPT_ON_EXIT:
		a->on_exit = true;
		break;
	case OPT_NO_FINAL:
		o->no_last = true;
		break;
	case OPT_ON_CRASH:
		o->crash = true;
		break;
	case OPT_STRICT:
		a->strict = true;
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
	return -1;
}

/* Options with a time, a count, signals or a place. */
static int take_trigger(struct ptc_snapshot_args *a, char **argv, int c)
{
	struct ptc_record_opts *o = &a->opts;

	switch (c) {
	case OPT_EVERY:
	case OPT_AFTER:
		if (!ptc_parse_duration(optarg, c == OPT_EVERY ? &o->every_ns : &o->after_ns))
			return ptc_value_error("snapshot", c == OPT_EVERY ? "--every" : "--after",
					       optarg, PTC_ARGS_DURATION);
		break;
	case OPT_GRACE:
		if (!ptc_parse_duration(optarg, &a->grace_ns))
			return ptc_value_error("snapshot", "--grace", optarg, PTC_ARGS_DURATION);
		break;
	case OPT_COUNT:
		if (!ptc_parse_count(optarg, &o->count) || !o->count)
			return ptc_value_error("snapshot", "--count", optarg,
					       "a number of snapshots");
		break;
	case OPT_ON_SIGNAL:
		if (!ptc_args_signals(optarg, &o->on_signals))
			return ptc_value_error("snapshot", "--on-signal", optarg,
					       "signals except KILL, for example "
					       "SEGV,USR1,34");
		break;
	case OPT_AT:
		if (a->nat == PTC_AT_MAX)
			return ptc_usage_error("snapshot", "more than %u places (--at)",
					       PTC_AT_MAX);
		a->at_texts[a->nat++] = optarg;
		break;
	default:
		return take_flag(a, argv, c);
	}
	return -1;
}

/* Options with a process, a source or a size. */
static int take_target(struct ptc_snapshot_args *a, char **argv, int c)
{
	struct ptc_record_opts *o = &a->opts;

	switch (c) {
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
			return ptc_value_error("snapshot", "--mmap-pages", optarg, PTC_ARGS_MMAP);
		break;
	case OPT_SOURCE:
		if (!ptc_args_source(optarg, &o->source))
			return ptc_value_error("snapshot", "--source", optarg, PTC_ARGS_SOURCES);
		break;
	case OPT_SIZE:
		if (!ptc_args_bytes(optarg, &o->snapshot_size))
			return ptc_value_error("snapshot", "--size", optarg, PTC_ARGS_SIZE);
		break;
	default:
		return take_trigger(a, argv, c);
	}
	return -1;
}

int ptc_snapshot_args_parse(int argc, char **argv, struct ptc_snapshot_args *a)
{
	int c, rc;

	a->opts.output = "perf.data";
	ptc_options_begin(longs);
	while ((c = getopt_long(argc, argv, "+:o:p:t:m:vqh", longs, NULL)) != -1) {
		rc = take_target(a, argv, c);
		if (rc >= 0)
			return rc;
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
