/* SPDX-License-Identifier: MIT */
/* `ptcap crash`: records and saves the state of a crashing process. crash_show.c explains it. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/record/record_exit.h"
#include "cli/record/record_run.h"

static void help_crash(void)
{
	fputs("usage: ptcap crash [OPTIONS] [--] CMD [ARG...]\n"
	      "       ptcap crash [OPTIONS] -p PID[,PID...]\n"
	      "       ptcap crash show [OPTIONS] [FILE]\n"
	      "Record a program, and save its state when a signal kills it. The program then\n"
	      "dies as it does without ptcap. `ptcap crash show` explains the crash, and\n"
	      "`ptcap crash show --help` lists its options.\n\n"
	      "What to record:\n"
	      "  -p, --pid=PID[,PID...]\n"
	      "                        Watch these running processes until they die or until\n"
	      "                        ^C. Without Intel PT: only with --source=step or\n"
	      "                        -e dummy:u.\n"
	      "      --source=SOURCE   Choose the source (default: auto).\n"
	      "                        auto: Intel PT, else step for a CMD.\n"
	      "                        pt:   Intel PT, into ring buffers in memory.\n"
	      "                        step: Single-step CMD, thousands of times slower.\n"
	      "  -e, --event=EVENT     Record this event, as in `ptcap record` (default:\n"
	      "                        intel_pt//u). dummy:u saves the state without a trace.\n"
	      "      --no-memory       Save no stacks and no generated code, thus no arguments\n"
	      "                        and no environment. Default: save them.\n\n"
	      "Output:\n"
	      "  -o, --output=FILE     Write the recording to FILE (default: perf.data). An\n"
	      "                        existing FILE becomes FILE.old.\n\n"
	      "Trace buffers:\n"
	      "  -m, --mmap-pages=DATA[,AUX]\n"
	      "                        Set the size of each ring buffer: a number of pages,\n"
	      "                        or bytes with a suffix B, K, M, G. pt keeps the newest\n"
	      "                        AUX bytes. Default for step: keep all trace.\n\n"
	      "Messages:\n"
	      "  -q, --quiet           Print only errors and losses. Default: also a summary.\n"
	      "      --no-sandbox      Keep all capabilities. Default: drop the capabilities\n"
	      "                        that a recording does not need (SECURITY.md).\n"
	      "  -h, --help            Print this text.\n\n"
	      "For tests:\n"
	      "      --truth=FILE      Write a line for each branch that the source saw.\n\n"
	      "A program with the name show needs: ptcap crash -- show\n",
	      stdout);
}

enum { OPT_SOURCE = 256, OPT_NO_MEMORY, OPT_TRUTH, OPT_NO_SANDBOX };

static int parse_crash_option(struct ptc_record_args *a, int c, char *const *argv)
{
	switch (c) {
	case 'o':
		a->opts.output = optarg;
		return -1;
	case 'q':
		a->quiet = true;
		return -1;
	case 'e':
		a->opts.event = optarg;
		return -1;
	case 'm':
		if (!ptc_args_mmap(optarg, &a->opts))
			return ptc_value_error("crash", "--mmap-pages", optarg, PTC_ARGS_MMAP);
		return -1;
	case 'p':
		if (!ptc_args_ids(optarg, a->pids, &a->opts.npids))
			return ptc_value_error("crash", "--pid", optarg, PTC_ARGS_PIDS);
		return -1;
	case OPT_SOURCE:
		if (!ptc_args_source(optarg, &a->opts.source))
			return ptc_value_error("crash", "--source", optarg, "auto, pt or step");
		return -1;
	case OPT_NO_MEMORY:
		a->opts.no_memory = true;
		return -1;
	case OPT_NO_SANDBOX:
		a->no_sandbox = true;
		return -1;
	case OPT_TRUTH:
		a->truth_path = optarg;
		return -1;
	case 'h':
		help_crash();
		return PTC_EXIT_OK;
	default:
		return ptc_option_error("crash", argv, c);
	}
}

/* Returns -1 to continue, or an exit code. */
static int parse_args(struct ptc_record_args *a, int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "source", required_argument, NULL, OPT_SOURCE },
		{ "event", required_argument, NULL, 'e' },
		{ "mmap-pages", required_argument, NULL, 'm' },
		{ "pid", required_argument, NULL, 'p' },
		{ "no-memory", no_argument, NULL, OPT_NO_MEMORY },
		{ "truth", required_argument, NULL, OPT_TRUTH },
		{ "quiet", no_argument, NULL, 'q' },
		{ "no-sandbox", no_argument, NULL, OPT_NO_SANDBOX },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c, code;

	ptc_options_begin(options);
	while ((c = getopt_long(argc, argv, "+:o:e:m:p:qh", options, NULL)) != -1) {
		code = parse_crash_option(a, c, argv);
		if (code >= 0)
			return code;
	}
	if (optind < argc)
		a->opts.argv = argv + optind;
	if (!a->opts.argv == !a->opts.npids)
		return a->opts.argv ?
			       ptc_usage_error("crash", "a command cannot be combined with -p") :
			       ptc_usage_error("crash", "no command to run; give one, or -p PID");
	a->opts.crash = true;
	a->opts.pids = a->pids;
	a->opts.tids = a->tids;
	return -1;
}

/*
 * Use a ring that is overwritten until a signal kills a process. This applies to a kernel trace,
 * and to the step source if a ring size was given. Returns -1 to continue, or an exit code.
 */
static int set_rings(struct ptc_record_args *a)
{
	struct ptc_source_choice choice;
	struct ptc_err err;

	if (ptc_source_choose(&a->opts, &choice, &err)) {
		(void)ptc_say_err(&err);
		return ptc_outcome_failure(&a->opts, &err);
	}
	if (choice.kind != PTC_SOURCE_PT && !a->opts.data_size && !a->opts.aux_size)
		return -1;
	a->opts.snapshot = true;
	a->opts.series = true;
	a->opts.count = 1;
	return -1;
}

static int record(int argc, char **argv)
{
	struct ptc_record_args a = PTC_RECORD_ARGS_INIT;
	int code;

	a.opts.output = "perf.data";
	code = parse_args(&a, argc, argv);

	if (code < 0)
		code = set_rings(&a);
	return code < 0 ? ptc_recording_run(&a, argv) : code;
}

int ptc_cmd_crash(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "show"))
		return ptc_cmd_crash_show(argc - 1, argv + 1);
	return record(argc, argv);
}
