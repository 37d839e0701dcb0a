/* SPDX-License-Identifier: MIT */
/* `ptcap crash`: a recording that keeps the state of what dies; crash_show.c explains it. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "recording.h"

static void help(void)
{
	printf("usage: ptcap crash [OPTIONS] [--] CMD [ARG...]\n"
	       "       ptcap crash [OPTIONS] --source step -p PID[,PID...]\n"
	       "       ptcap crash show [-i FILE] [OPTIONS]\n"
	       "Run CMD and record its control flow. When a signal kills it, keep the state it was "
	       "in,\n"
	       "which `ptcap crash show` explains, and let it die as it would have.\n\n"
	       "  -o, --output FILE     the recording (default perf.data); an older one becomes "
	       "FILE.old\n"
	       "      --source SOURCE   step (default): a software PMU that single-steps CMD; the "
	       "others do\n"
	       "                        not see yet what kills a program\n"
	       "  -p, --pid PID[,PID...]\n"
	       "                        processes that run already; they are stepped, and slow, "
	       "until they\n"
	       "                        die or ^C leaves them\n"
	       "      --truth FILE      what the source itself saw, a line for each transfer (for "
	       "tests)\n"
	       "  -q, --quiet           say nothing but errors and losses\n"
	       "  -h, --help            this text\n\n"
	       "`ptcap crash show --help` lists the options of that; a program of this name is run "
	       "by\n"
	       "`ptcap crash -- show`.\n");
}

enum { OPT_SOURCE = 256, OPT_TRUTH };

static int take_option(struct ptc_record_args *a, int c, char *const *argv)
{
	switch (c) {
	case 'o':
		a->opts.output = optarg;
		return -1;
	case 'q':
		a->quiet = true;
		return -1;
	case 'p':
		if (!ptc_args_ids(optarg, a->pids, &a->opts.npids))
			return ptc_usage_error("crash", "'%s' is no list of pids", optarg);
		return -1;
	case OPT_SOURCE:
		if (!ptc_args_source(optarg, &a->opts.source))
			return ptc_usage_error("crash", "no source '%s': step", optarg);
		return -1;
	case OPT_TRUTH:
		a->truth_path = optarg;
		return -1;
	case 'h':
		help();
		return PTC_EXIT_OK;
	default:
		return ptc_option_error("crash", argv, c);
	}
}

/* Returns -1 to go on, or an exit code. */
static int parse_args(struct ptc_record_args *a, int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "source", required_argument, NULL, OPT_SOURCE },
		{ "pid", required_argument, NULL, 'p' },
		{ "truth", required_argument, NULL, OPT_TRUTH },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c, code;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:o:p:qh", options, NULL)) != -1) {
		code = take_option(a, c, argv);
		if (code >= 0)
			return code;
	}
	if (optind < argc)
		a->opts.argv = argv + optind;
	if (!a->opts.argv == !a->opts.npids)
		return ptc_usage_error("crash", "either a command or -p");
	if (a->opts.npids && a->opts.source == PTC_SOURCE_AUTO)
		return ptc_usage_error("crash",
				       "to step what is in service is an outage: it has to "
				       "be asked for with --source step");
	return -1;
}

static int record(int argc, char **argv)
{
	struct ptc_record_args a = PTC_RECORD_ARGS_INIT(a);
	const int code = parse_args(&a, argc, argv);

	if (code >= 0)
		return code;
	a.opts.crash = true;
	a.opts.pids = a.pids;
	a.opts.tids = a.tids;
	if (a.opts.source == PTC_SOURCE_AUTO)
		a.opts.source = PTC_SOURCE_STEP;
	return ptc_recording_run(&a, argv);
}

int ptc_cmd_crash(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "show"))
		return ptc_cmd_crash_show(argc - 1, argv + 1);
	return record(argc, argv);
}
