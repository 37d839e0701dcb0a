/* SPDX-License-Identifier: MIT */
#include "cli/snapshot/snapshot_args.h"

#include <getopt.h> /* optind */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/option_table.h"
#include "cli/common/place_arg.h"

static int take_pids(void *args, const char *value)
{
	struct ptc_snapshot_args *a = args;

	return ptc_args_ids(value, a->pids, &a->opts.target.npids) ?
		       -1 :
		       ptc_value_error("snapshot", "--pid", value, PTC_ARGS_PIDS);
}

static int take_tids(void *args, const char *value)
{
	struct ptc_snapshot_args *a = args;

	return ptc_args_ids(value, a->tids, &a->opts.target.ntids) ?
		       -1 :
		       ptc_value_error("snapshot", "--tid", value, PTC_ARGS_TIDS);
}

static int take_at(void *args, const char *value)
{
	struct ptc_snapshot_args *a = args;

	if (a->nat == PTC_AT_MAX)
		return ptc_usage_error("snapshot", "more than %u places (--at)", PTC_AT_MAX);
	a->at_texts[a->nat++] = value;
	return -1;
}

static const struct ptc_option options[] = {
	PTC_HEADING("What to watch:"),
	{ "pid", 'p', "PID[,PID...]",
	  "Watch these running processes, all their threads, and their new children.",
	  .take = take_pids },
	{ "tid", 't', "TID[,TID...]", "Watch single threads of running processes.",
	  .take = take_tids },
	{ "source", 0, "SOURCE",
	  "Choose the source (default: auto). auto: Intel PT, and an error without it. pt, step, "
	  "emu: as for `ptcap record`.",
	  PTC_PARSED(struct ptc_snapshot_args, opts.source.kind, ptc_args_source,
		     PTC_ARGS_SOURCES) },
	PTC_HEADING("When to take a snapshot (default: --on-exit):"),
	{ "control", 0, "CTL[,ACK]",
	  "Read the commands snapshot, stop and ping from the FIFO CTL, and write ack or error to "
	  "the FIFO ACK. Also fifo:CTL[,ACK], and fd:CTL[,ACK] for descriptors.",
	  PTC_TEXT(struct ptc_snapshot_args, control) },
	{ "every", 0, "TIME",
	  "Take a snapshot each TIME: seconds, or with a suffix us, ms, s, m, h.",
	  PTC_PARSED(struct ptc_snapshot_args, opts.snapshot.every_ns, ptc_take_duration,
		     PTC_ARGS_DURATION) },
	{ "after", 0, "TIME",
	  "Take the first timed snapshot TIME after the start. Without --every it is the only "
	  "one.",
	  PTC_PARSED(struct ptc_snapshot_args, opts.snapshot.after_ns, ptc_take_duration,
		     PTC_ARGS_DURATION) },
	{ "on-signal", 0, "LIST",
	  "Take a snapshot before the program gets a signal of LIST, for example SEGV,USR1,34.",
	  PTC_PARSED(struct ptc_snapshot_args, opts.snapshot.on_signals, ptc_args_signals,
		     "signals except KILL, for example SEGV,USR1,34") },
	{ "on-crash", 0, NULL,
	  "Take a snapshot, with the state for `ptcap crash show`, before a signal kills a "
	  "process.",
	  PTC_FLAG(struct ptc_snapshot_args, opts.snapshot.crash) },
	{ "at", 0, "PLACE[:N]",
	  "Take a snapshot each N-th time (default: 1) that a thread reaches PLACE. PLACE is as "
	  "for `ptcap record --from`. At most four places.",
	  .take = take_at },
	{ "on-exit", 0, NULL,
	  "Take a snapshot when the process exits. This is the default if no other trigger is "
	  "given.",
	  PTC_FLAG(struct ptc_snapshot_args, on_exit) },
	{ "no-final", 0, NULL, "Take no snapshot at ^C and at stop. Default: take one.",
	  PTC_FLAG(struct ptc_snapshot_args, opts.snapshot.no_last) },
	{ "no-stacks", 0, NULL,
	  "Leave out the stacks of the program's threads. Default: each snapshot has them for "
	  "`ptcap stacks`, and the program stands still for some milliseconds.",
	  PTC_FLAG(struct ptc_snapshot_args, no_stacks) },
	PTC_HEADING("Output:"),
	{ "output", 'o', "FILE",
	  "Write to FILE.000, FILE.001, ... (default: perf.data). With --count=1: write to FILE "
	  "itself.",
	  PTC_TEXT(struct ptc_snapshot_args, opts.output.path) },
	PTC_HEADING("Trace buffers:"),
	{ "mmap-pages", 'm', "DATA[,AUX]",
	  "Set the size of each ring buffer: a number of pages, or bytes with a suffix B, K, M, "
	  "G. A snapshot has up to AUX bytes for each CPU. Defaults: as for `ptcap record`.",
	  PTC_PARSED(struct ptc_snapshot_args, opts.rings, ptc_args_mmap, PTC_ARGS_MMAP) },
	{ "size", 0, "SIZE",
	  "Write only the newest SIZE bytes of each ring buffer. Default: all of it.",
	  PTC_PARSED(struct ptc_snapshot_args, opts.snapshot.size, ptc_args_bytes, PTC_ARGS_SIZE) },
	PTC_HEADING("Limits:"),
	{ "count", 0, "N", "Stop after N snapshots. Default: no limit.",
	  PTC_PARSED(struct ptc_snapshot_args, opts.snapshot.count, ptc_take_count,
		     "a number of snapshots") },
	{ "grace", 0, "TIME",
	  "Give CMD this time to end after a signal to ptcap (default: 1s). Then ptcap leaves CMD "
	  "running.",
	  PTC_PARSED(struct ptc_snapshot_args, grace_ns, ptc_take_duration, PTC_ARGS_DURATION) },
	PTC_HEADING("Messages and exit status:"),
	{ "verbose", 'v', NULL,
	  "Print how long the trace was off for each snapshot, and what could not be recorded.",
	  PTC_FLAG(struct ptc_snapshot_args, verbose) },
	{ "quiet", 'q', NULL,
	  "Print only errors and losses. Default: also a line for each snapshot.",
	  PTC_FLAG(struct ptc_snapshot_args, quiet) },
	{ "strict", 0, NULL,
	  "Exit with 3 if something was lost or a snapshot is incomplete. Default: losses do not "
	  "change the status.",
	  PTC_FLAG(struct ptc_snapshot_args, strict) },
	PTC_OPTION_ALL_RIGHTS(struct ptc_snapshot_args, no_sandbox),
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "snapshot",
	.usage = "usage: ptcap snapshot [OPTIONS] -p PID[,PID...] | -t TID[,TID...]\n"
		 "       ptcap snapshot [OPTIONS] [--] CMD [ARG...]\n"
		 "Keep the newest trace of a program in memory. Write a snapshot of it to a file\n"
		 "when SIGUSR2 reaches ptcap, or at another trigger. Each snapshot is a complete\n"
		 "recording.\n",
	.options = options,
	.runs_command = true,
};

static int check(struct ptc_snapshot_args *a, char **rest)
{
	struct ptc_record_opts *o = &a->opts;
	const bool attach = o->target.npids || o->target.ntids;

	if (attach && rest[0])
		return ptc_usage_error("snapshot", "a command cannot be combined with -p or -t");
	if (!attach && !rest[0])
		return ptc_usage_error("snapshot",
				       "no command to run; give one, or -p PID or -t TID");
	o->target.argv = attach ? NULL : rest;
	o->target.pids = a->pids;
	o->target.tids = a->tids;
	o->snapshot.enabled = true;
	o->snapshot.series = true;
	o->snapshot.stacks = (o->target.npids || o->target.argv) && !a->no_stacks;
	o->snapshot.no_exit = (o->snapshot.every_ns || o->snapshot.after_ns || a->control ||
			       o->snapshot.on_signals || o->snapshot.crash || a->nat) &&
			      !a->on_exit;
	return -1;
}

int ptc_snapshot_args_parse(int argc, char **argv, struct ptc_snapshot_args *a)
{
	int code;

	a->opts.output.path = "perf.data";
	code = ptc_options_parse(&option_table, argc, argv, a);
	return code < 0 ? check(a, argv + optind) : code;
}

/*
 * Cut off the N of "PLACE:N". In "a::1" there is no N. Without N *@ret is 1. Returns false if N is
 * 0.
 */
static bool cut_count(char *text, uint64_t *ret)
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

	if (text && cut_count(text, &ret->count)) {
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
		rc = ptc_place_program(o->target.argv,
				       o->target.npids ? o->target.pids[0] :
				       o->target.ntids ? o->target.tids[0] :
							 0,
				       &program, err);
	for (i = 0; !rc && i < a->nat; i++)
		rc = find_place(a->at_texts[i], program, &a->at[i], err);
	free(program);
	a->opts.snapshot.at = a->at;
	a->opts.snapshot.nat = a->nat;
	return rc;
}

void ptc_snapshot_args_release(struct ptc_snapshot_args *a)
{
	size_t i;

	for (i = 0; i < a->nat; i++)
		free((char *)(uintptr_t)a->at[i].place.file);
}
