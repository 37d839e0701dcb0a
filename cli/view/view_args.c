/* SPDX-License-Identifier: MIT */
#include "cli/view/view_args.h"

#include <string.h>
#include <unistd.h>

#include "cli/common/cli.h"
#include "cli/common/code_options.h"
#include "cli/common/option_table.h"
#include "cli/convert/copy_common.h"

static int take_branch_limit(void *args, const char *value)
{
	struct ptc_view_args *a = args;

	a->has_branches = true;
	return ptc_parse_count(value, &a->branches) ?
		       -1 :
		       ptc_value_error("view", "--branches", value, "a number of branches");
}

static int take_call_limit(void *args, const char *value)
{
	struct ptc_view_args *a = args;

	a->has_max_calls = true;
	return ptc_take_count(value, &a->max_calls) ?
		       -1 :
		       ptc_value_error("view", "--max-calls", value, "a number of calls");
}

static int take_port(void *args, const char *value)
{
	struct ptc_view_args *a = args;
	uint64_t port;

	if (!ptc_parse_count(value, &port) || !port || port > UINT16_MAX)
		return ptc_value_error("view", "--port", value, "a port: 1 to 65535");
	a->port = (uint16_t)port;
	return -1;
}

static int take_view_time(void *args, const char *value)
{
	struct ptc_view_args *a = args;

	a->has_time = true;
	return ptc_time_choice_parse(value, &a->time) ?
		       -1 :
		       ptc_value_error("view", "--time", value, "FROM,TO in seconds, or N%%-M%%");
}

static const struct ptc_option options[] = {
	PTC_HEADING("Input and output:"),
	PTC_OPTION_INPUT(struct ptc_view_args, input),
	{ "output", 'o', "PAGE",
	  "Write the page to PAGE (default: view.html). An existing PAGE becomes PAGE.old. -: "
	  "write to standard output.",
	  PTC_TEXT(struct ptc_view_args, output) },
	{ "serve", 0, NULL,
	  "Write no page. Serve the page to a browser on this machine, for recordings with more "
	  "calls than a page can have. The address is printed.",
	  PTC_FLAG(struct ptc_view_args, serves) },
	{ "port", 0, "N", "With --serve: use this port (default: any free port).",
	  .take = take_port },
	PTC_HEADING("Which part of the recording (default: all):"),
	{ "tid", 0, "LIST", "Show only these threads, for example 12,15-17.",
	  PTC_PARSED(struct ptc_view_args, tids, ptc_take_ids,
		     "thread IDs, for example 12,14-16") },
	{ "cpu", 0, "LIST", "Show only calls on these CPUs, for example 0,2-4.",
	  PTC_PARSED(struct ptc_view_args, cpus, ptc_take_ids, "CPU numbers, for example 0,2-4") },
	{ "time", 0, "FROM,TO",
	  "Show only calls from FROM up to TO, in seconds. Omit either, or give a part of the "
	  "trace: 10%-20%.",
	  .take = take_view_time },
	{ "branches", 0, "N",
	  "Also show single branches, if there are at most N (default: 2M; with --serve 10G; 0: "
	  "never).",
	  .take = take_branch_limit },
	{ "inline", 0, NULL,
	  "Also show inlined functions that make calls. Default: only real functions.",
	  PTC_FLAG(struct ptc_view_args, inlines) },
	{ "sources", 0, NULL,
	  "Include the source files of functions and branches, at most 32 MiB. Default: only their "
	  "names and line numbers.",
	  PTC_FLAG(struct ptc_view_args, sources) },
	PTC_HEADING("Where to find the code:"),
	PTC_OPTIONS_CODE(struct ptc_view_args, code.symfs, debuginfod, code.core),
	PTC_OPTION_NO_DEMANGLE(struct ptc_view_args, opts.mangled),
	PTC_HEADING("Limits:"),
	{ "max-calls", 0, "N",
	  "Refuse a recording with more than N calls and gaps (default: 10M; with --serve 1G). A "
	  "browser takes about 25 bytes of memory for each call, but not with --serve.",
	  .take = take_call_limit },
	PTC_OPTION_MAX_MEMORY,
	PTC_OPTION_NO_SANDBOX(struct ptc_view_args, sandbox.off),
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "view",
	.usage = "usage: ptcap view [OPTIONS] [-o PAGE] [FILE]\n"
		 "Write the calls of a recording as a page for a browser: flame charts of all\n"
		 "threads, search, and a table of functions. The page needs no network.\n",
	.options = options,
};

void ptc_view_args_release(struct ptc_view_args *a)
{
	ptc_id_list_release(&a->tids);
	ptc_id_list_release(&a->cpus);
}

/* Sets what --serve changes. */
static int complete_serving(struct ptc_view_args *a)
{
	if (a->output)
		return ptc_usage_error("view", "--serve writes no page, so it cannot have -o");
	if (!a->has_max_calls)
		a->max_calls = PTC_SERVE_CALLS;
	if (!a->has_branches)
		a->branches = PTC_SERVE_BRANCHES;
	a->sandbox.serves = true;
	return -1;
}

int ptc_view_args_parse(struct ptc_view_args *a, int argc, char **argv)
{
	int code;

	*a = (struct ptc_view_args){ .output = NULL,
				     .max_calls = PTC_VIEW_CALLS,
				     .branches = PTC_VIEW_BRANCHES,
				     .code = PTC_CODE_OPTS_INIT,
				     .opts = PTC_DECODE_OPTS_INIT };
	code = ptc_options_parse(&option_table, argc, argv, a);
	if (code >= 0)
		return code;
	if (ptc_take_input("view", argc, argv, &a->input))
		return PTC_EXIT_USAGE;
	if (!a->input)
		a->input = PTC_INPUT_DEFAULT;
	a->opts.code = &a->code;
	a->opts.lengths = true;
	a->opts.icount = true;
	a->opts.jobs = ptc_default_jobs();
	a->opts.tids = (struct ptc_ids){ a->tids.ranges, a->tids.n };
	a->opts.cpus = (struct ptc_ids){ a->cpus.ranges, a->cpus.n };
	a->sandbox.finds_code = true;
	if (a->serves)
		return complete_serving(a);
	if (a->port)
		return ptc_usage_error("view", "--port needs --serve");
	if (!a->output)
		a->output = "view.html";
	if (!strcmp(a->output, "-") && isatty(STDOUT_FILENO))
		return ptc_usage_error(
			"view", "standard output is a terminal; redirect it, or use -o PAGE");
	if (ptc_copying_clash("view", a->input, a->output))
		return PTC_EXIT_USAGE;
	a->sandbox.output = a->output;
	return -1;
}
