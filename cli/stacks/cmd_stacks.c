/* SPDX-License-Identifier: MIT */
/* `ptcap stacks`: shows the stack of every thread of a live process, and what the thread waits for.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/args.h"
#include "cli/common/cli.h"
#include "cli/common/code_options.h"
#include "cli/common/option_table.h"
#include "cli/common/process_root.h"
#include "cli/decode/empty_warnings.h"
#include "cli/stacks/stacks_out.h"
#include "ptcap/state_recording.h"

enum { FRAMES_DEFAULT = 64 };

struct stacks_args {
	struct ptc_stacks_show_args show;
	struct ptc_state_recording_opts take;
	struct ptc_code_opts code;
	pid_t pids[PTC_MAX_TARGETS];
	uint64_t wanted[PTC_MAX_TARGETS]; /* the same numbers */
	char root[PTC_PROCESS_ROOT];	  /* of a process in a container */
	bool live;
};

static int take_pids(void *args, const char *value)
{
	struct stacks_args *a = args;

	return ptc_args_ids(value, a->pids, &a->take.npids) ?
		       -1 :
		       ptc_value_error("stacks", "--pid", value, PTC_ARGS_PIDS);
}

static bool take_frames(const char *s, void *ret)
{
	uint64_t n;

	if (!ptc_parse_u64(s, &n) || !n || n > PTC_UNWIND_MAX)
		return false;
	*(size_t *)ret = (size_t)n;
	return true;
}

static const struct ptc_option options[] = {
	PTC_HEADING("What to show:"),
	{ "pid", 'p', "PID[,PID...]",
	  "Read the threads of these running processes. With FILE: show only these processes "
	  "(default: all).",
	  .take = take_pids },
	{ "input", 'i', "FILE",
	  "Show the states in FILE (default without -p: perf.data), the same as the argument FILE. "
	  "-: read standard input.",
	  PTC_TEXT(struct stacks_args, show.input) },
	{ "frames", 'n', "N", "Show at most N frames of each stack (default: 64).",
	  PTC_PARSED(struct stacks_args, show.view.frames, take_frames,
		     "a number of frames from 1 to 4096") },
	PTC_OPTION_FORMAT(struct stacks_args, show.json,
			  "Print text (default) or json (one object, see doc/json.md)."),
	{ "verbose", 'v', NULL,
	  "Also print how long each process stood still. Default: only the threads.",
	  PTC_FLAG(struct stacks_args, show.view.verbose) },
	PTC_HEADING("What to keep:"),
	{ "output", 'o', "FILE",
	  "With -p: also write a recording, which `ptcap stacks FILE` shows again. An existing "
	  "FILE "
	  "becomes FILE.old. Default: keep nothing.",
	  PTC_TEXT(struct stacks_args, take.output) },
	{ "no-memory", 0, NULL,
	  "With -p: read no stacks, thus no arguments and no environment. Only the innermost frame "
	  "of each thread is then known. Default: read them.",
	  PTC_FLAG(struct stacks_args, take.no_memory) },
	PTC_HEADING("Where to find code:"),
	{ "symfs", 0, "DIR",
	  "Find the recorded files below DIR (default: /; with -p the root of the process).",
	  PTC_TEXT(struct stacks_args, code.symfs) },
	PTC_HEADING("Terminal:"),
	PTC_OPTION_NO_DEMANGLE(struct stacks_args, show.opts.mangled),
	PTC_OPTION_NO_PAGER(struct stacks_args, show.no_pager),
	PTC_HEADING("Limits:"),
	PTC_OPTION_MAX_MEMORY,
	PTC_OPTION_NO_SANDBOX(struct stacks_args, show.no_sandbox),
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "stacks",
	.usage = "usage: ptcap stacks [OPTIONS] -p PID[,PID...]\n"
		 "       ptcap stacks [OPTIONS] [FILE]\n"
		 "Show the stack of each thread and what the thread waits for. A deadlock comes\n"
		 "first. The process stands still for some milliseconds. Needs no Intel PT.\n",
	.options = options,
};

/* Returns -1 to continue, or an exit code. */
static int parse_stacks_args(struct stacks_args *a, int argc, char **argv)
{
	const int code = ptc_options_parse(&option_table, argc, argv, a);
	size_t i;

	if (code >= 0)
		return code;
	if (ptc_take_input("stacks", argc, argv, &a->show.input))
		return PTC_EXIT_USAGE;
	a->live = a->take.npids && !a->show.input;
	if (!a->live && (a->take.output || a->take.no_memory))
		return ptc_usage_error("stacks", "%s needs -p PID, and no FILE to show",
				       a->take.output ? "-o" : "--no-memory");
	if (!a->show.input)
		a->show.input = PTC_INPUT_DEFAULT;
	for (i = 0; i < a->take.npids; i++)
		a->wanted[i] = (uint64_t)a->pids[i];
	a->show.opts.pids = a->wanted;
	a->show.opts.npids = a->take.npids;
	a->take.pids = a->pids;
	return -1;
}

/* Records the processes. The recording then is the input. Returns -1 to continue, or an exit code.
 */
static int take_states(struct stacks_args *a)
{
	struct ptc_err err;
	int fd = -1;

	if (!a->code.symfs && a->take.npids == 1 && ptc_process_root(a->pids[0], a->root))
		a->code.symfs = a->root;
	if (ptc_record_states(&a->take, &fd, &err))
		return ptc_say_err(&err);
	a->show.input = a->take.output;
	if (fd < 0)
		return -1;
	a->show.input = "-";
	if (dup2(fd, STDIN_FILENO) < 0) {
		ptc_say("cannot read the recording in memory: %s", strerror(errno));
		return PTC_EXIT_FAIL;
	}
	(void)close(fd);
	return -1;
}

int ptc_cmd_stacks(int argc, char **argv)
{
	struct stacks_args a = { .show = { .opts = PTC_STACKS_OPTS_INIT,
					   .view.frames = FRAMES_DEFAULT },
				 .take = PTC_STATE_RECORDING_OPTS_INIT,
				 .code = PTC_CODE_OPTS_INIT };
	int code = parse_stacks_args(&a, argc, argv);

	if (code < 0 && !ptc_asked_code_is_there(&a.code))
		code = PTC_EXIT_FAIL;
	a.show.opts.code = &a.code;
	a.take.cmdline = (const char *const *)argv - 1; /* argv[-1] is "ptcap" */
	if (code < 0 && a.live)
		code = take_states(&a);
	return code < 0 ? ptc_stacks_show(&a.show) : code;
}
