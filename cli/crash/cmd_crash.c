/* SPDX-License-Identifier: MIT */
/*
 * `ptcap crash`: records and saves the state of a crashing process. crash_show.c explains it, and
 * crash_core.c writes it as a core.
 */
#include <getopt.h> /* optind */
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/option_table.h"
#include "cli/record/record_exit.h"
#include "cli/record/record_run.h"

static int take_pids(void *args, const char *value)
{
	struct ptc_record_args *a = args;

	return ptc_args_ids(value, a->pids, &a->opts.target.npids) ?
		       -1 :
		       ptc_value_error("crash", "--pid", value, PTC_ARGS_PIDS);
}

static const struct ptc_option options[] = {
	PTC_HEADING("What to record:"),
	{ "pid", 'p', "PID[,PID...]",
	  "Watch these running processes until they die or until ^C. Without Intel PT: only with "
	  "--source=step or -e dummy:u.",
	  .take = take_pids },
	{ "source", 0, "SOURCE",
	  "Choose the source (default: auto).\n"
	  "auto: Intel PT, else for a CMD emu if QEMU is installed, else step.\n"
	  "pt:   Intel PT, into ring buffers in memory.\n"
	  "emu:  Run CMD in QEMU, with a plugin.\n"
	  "step: Single-step CMD, thousands of times slower.",
	  PTC_PARSED(struct ptc_record_args, opts.source.kind, ptc_args_source,
		     "auto, pt, emu or step") },
	{ "event", 'e', "EVENT",
	  "Record this event, as in `ptcap record` (default: intel_pt//u). dummy:u saves the state "
	  "without a trace.",
	  PTC_TEXT(struct ptc_record_args, opts.source.event) },
	{ "no-memory", 0, NULL,
	  "Save no stacks and no generated code, thus no arguments and no environment. Default: "
	  "save them.",
	  PTC_FLAG(struct ptc_record_args, opts.snapshot.no_memory) },
	PTC_HEADING("Output:"),
	{ "output", 'o', "FILE",
	  "Write the recording to FILE (default: perf.data). An existing FILE becomes FILE.old.",
	  PTC_TEXT(struct ptc_record_args, opts.output.path) },
	{ "count", 0, "N",
	  "Keep N deaths, each in its own recording: FILE.000, FILE.001, ... (default: 1, in "
	  "FILE). "
	  "Then stop.",
	  PTC_PARSED(struct ptc_record_args, opts.snapshot.count, ptc_take_count,
		     "a number of deaths") },
	PTC_HEADING("Trace buffers:"),
	{ "mmap-pages", 'm', "DATA[,AUX]",
	  "Set the size of each ring buffer: a number of pages, or bytes with a suffix B, K, M, G. "
	  "pt and emu keep the newest AUX bytes. Default for step: keep all trace.",
	  PTC_PARSED(struct ptc_record_args, opts.rings, ptc_args_mmap, PTC_ARGS_MMAP) },
	PTC_HEADING("Messages:"),
	{ "quiet", 'q', NULL, "Print only errors and losses. Default: also a summary.",
	  PTC_FLAG(struct ptc_record_args, quiet) },
	PTC_OPTION_ALL_RIGHTS(struct ptc_record_args, no_sandbox),
	PTC_OPTION_HELP,
	PTC_HEADING("For tests:"),
	{ "truth", 0, "FILE", "Write a line for each branch that the source saw.",
	  PTC_TEXT(struct ptc_record_args, truth_path) },
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "crash",
	.usage = "usage: ptcap crash [OPTIONS] [--] CMD [ARG...]\n"
		 "       ptcap crash [OPTIONS] -p PID[,PID...]\n"
		 "       ptcap crash show [OPTIONS] [FILE]\n"
		 "       ptcap crash core [OPTIONS] [FILE]\n"
		 "Record a program, and save its state when a signal kills it. The program then\n"
		 "dies as it does without ptcap. `ptcap crash show` explains the crash, and\n"
		 "`ptcap crash core` writes a core for a debugger. Both have a --help.\n",
	.options = options,
	.notes = "A program with the name show or core needs: ptcap crash -- show\n",
	.runs_command = true,
};

/* Returns -1 to continue, or an exit code. */
static int parse_args(struct ptc_record_args *a, int argc, char **argv)
{
	const int code = ptc_options_parse(&option_table, argc, argv, a);

	if (code >= 0)
		return code;
	if (optind < argc)
		a->opts.target.argv = argv + optind;
	if (!a->opts.target.argv == !a->opts.target.npids)
		return a->opts.target.argv ?
			       ptc_usage_error("crash", "a command cannot be combined with -p") :
			       ptc_usage_error("crash", "no command to run; give one, or -p PID");
	a->opts.snapshot.crash = true;
	a->opts.target.pids = a->pids;
	a->opts.target.tids = a->tids;
	return -1;
}

/*
 * Use a ring that is overwritten until a signal kills a process. For the step source this applies
 * only if a ring size or a number of deaths was given. Returns -1 to continue, or an exit code.
 */
static int set_rings(struct ptc_record_args *a)
{
	struct ptc_source_choice choice;
	struct ptc_err err;

	if (ptc_source_choose(&a->opts, &choice, &err)) {
		(void)ptc_say_err(&err);
		return ptc_outcome_failure(&a->opts, &err);
	}
	if (choice.kind == PTC_SOURCE_STEP && !a->opts.rings.data_size && !a->opts.rings.aux_size &&
	    !a->opts.snapshot.count)
		return -1;
	a->opts.snapshot.enabled = true;
	a->opts.snapshot.series = true;
	if (!a->opts.snapshot.count)
		a->opts.snapshot.count = 1;
	return -1;
}

static int record(int argc, char **argv)
{
	struct ptc_record_args a = PTC_RECORD_ARGS_INIT;
	int code;

	a.opts.output.path = "perf.data";
	code = parse_args(&a, argc, argv);

	if (code < 0)
		code = set_rings(&a);
	return code < 0 ? ptc_recording_run(&a, argv) : code;
}

int ptc_cmd_crash(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "show"))
		return ptc_cmd_crash_show(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "core"))
		return ptc_cmd_crash_core(argc - 1, argv + 1);
	return record(argc, argv);
}
