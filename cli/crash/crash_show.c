/* SPDX-License-Identifier: MIT */
/* `ptcap crash show`: explains a crash. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/code_options.h"
#include "cli/common/option_table.h"
#include "cli/common/sandbox.h"
#include "cli/common/stream_copy.h"
#include "cli/common/terminal.h"
#include "cli/crash/crash_out.h"
#include "cli/decode/empty_warnings.h"

/* Text needs more branches than its lines, because library calls are folded. */
enum { BRANCHES_TEXT = 1 << 16, BRANCHES_JSON = 100, BRANCHES_MAX = 1 << 20, CALLS = 1024 };

struct show_args {
	const char *input;
	struct ptc_crash_opts opts;
	struct ptc_code_opts code;
	size_t branches; /* -n; 0: default */
	bool json, no_pager, full_names, verbose, threads;
	struct ptc_sandbox sandbox;
};

bool ptc_take_crash_pid(const char *s, void *ret)
{
	uint64_t *pid = ret;

	return ptc_parse_u64(s, pid) && *pid && *pid <= INT32_MAX;
}

static bool take_branches(const char *s, void *ret)
{
	uint64_t n;

	if (!ptc_parse_u64(s, &n) || !n || n > BRANCHES_MAX)
		return false;
	*(size_t *)ret = (size_t)n;
	return true;
}

static const struct ptc_option options[] = {
	PTC_HEADING("What to show:"),
	{ "input", 'i', "FILE", "Read FILE (default: perf.data), the same as the argument FILE.",
	  PTC_TEXT(struct show_args, input) },
	{ "pid", 'p', "PID",
	  "Explain the crash of this process (default: the process that died last).",
	  PTC_PARSED(struct show_args, opts.pid, ptc_take_crash_pid, "a process ID") },
	{ "branches", 'n', "N",
	  "Show the last N branches. Default: as many as fit the screen, at most 20; with json "
	  "100.",
	  PTC_PARSED(struct show_args, branches, take_branches,
		     "a number of branches from 1 to 1048576") },
	{ "threads", 0, NULL,
	  "Show all other threads with their stacks. Default: one line for each, at most four "
	  "lines.",
	  PTC_FLAG(struct show_args, threads) },
	{ "verbose", 'v', NULL,
	  "Show all frames, the last calls, and the branches in libraries. Default: one screen of "
	  "at most 40 lines.",
	  PTC_FLAG(struct show_args, verbose) },
	PTC_OPTION_FORMAT(struct show_args, json,
			  "Print text (default) or json (one object, see doc/json.md)."),
	PTC_HEADING("Where to find code and state:"),
	{ "core", 0, "FILE",
	  "Compare the saved state with this core dump. Without a saved state the core dump "
	  "replaces it. Default: none.",
	  PTC_TEXT(struct show_args, code.core) },
	PTC_OPTION_SYMFS(struct show_args, code.symfs),
	PTC_HEADING("Terminal:"),
	PTC_OPTION_NO_DEMANGLE(struct show_args, opts.mangled),
	{ "full-names", 0, NULL,
	  "Print names as long as they are. Default: shorten names to the width of the terminal.",
	  PTC_FLAG(struct show_args, full_names) },
	PTC_OPTION_NO_PAGER(struct show_args, no_pager),
	PTC_HEADING("Limits:"),
	PTC_OPTION_MAX_MEMORY,
	PTC_OPTION_NO_SANDBOX(struct show_args, sandbox.off),
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "crash show",
	.usage = "usage: ptcap crash show [OPTIONS] [FILE]\n"
		 "Explain the crash in a recording by `ptcap crash`.\n",
	.options = options,
};

/* Returns -1 to continue, or an exit code. */
static int parse_args(struct show_args *a, int argc, char **argv)
{
	const int code = ptc_options_parse(&option_table, argc, argv, a);

	if (code >= 0)
		return code;
	if (ptc_take_input("crash show", argc, argv, &a->input))
		return PTC_EXIT_USAGE;
	if (!a->input)
		a->input = PTC_INPUT_DEFAULT;
	a->opts.branches = a->branches;
	if (a->json && !a->branches)
		a->opts.branches = BRANCHES_JSON;
	else if (!a->json && a->branches < BRANCHES_TEXT)
		a->opts.branches = BRANCHES_TEXT;
	return -1;
}

/* Start the pager only when there is output, so that errors do not disappear in it. */
static int print(const struct show_args *a, const struct ptc_crash_report *r,
		 struct ptc_pager *pager)
{
	const struct ptc_crash_view view = {
		.r = r,
		.width = a->full_names ? SIZE_MAX : ptc_terminal_columns(),
		.branches = a->branches,
		.color = ptc_terminal_has_colors(),
		.verbose = a->verbose,
		.threads = a->threads,
		.symfs = a->code.symfs,
	};
	bool whole;

	ptc_pager_start(pager);
	whole = a->json ? ptc_crash_json(r) : ptc_crash_text(&view);
	if (!ptc_pager_finish(pager))
		return PTC_EXIT_FAIL;
	if (whole)
		return PTC_EXIT_OK;
	return ptc_say_no_memory();
}

static void tell_notes(const struct ptc_crash_report *r)
{
	const char *note;
	size_t i;

	(void)fflush(stdout);
	for (i = 0; (note = ptc_crash_report_note(r, i)) != NULL; i++)
		ptc_say("%s", note);
}

int ptc_cmd_crash_show(int argc, char **argv)
{
	struct show_args a = { .opts = PTC_CRASH_OPTS_INIT,
			       .sandbox = { .finds_code = true },
			       .code = PTC_CODE_OPTS_INIT };
	struct ptc_crash_report *report = NULL;
	struct ptc_pager pager = PTC_PAGER_INIT;
	struct ptc_err err;
	int code = parse_args(&a, argc, argv);

	a.opts.code = &a.code;
	a.opts.calls = CALLS;
	if (code >= 0)
		return code;
	if (!ptc_asked_code_is_there(&a.code))
		return PTC_EXIT_FAIL;
	if (!a.no_pager && !a.json)
		ptc_pager_prepare(&pager);
	code = ptc_sandbox_enter_with_copy(&a.sandbox, &a.input);
	if (code)
		return code;
	if (!ptc_crash_explain(a.input, &a.opts, &report, &err)) {
		code = print(&a, report, &pager);
		tell_notes(report);
	} else {
		(void)ptc_say_input_err(a.input, &err);
		/* A missing file is another error. */
		code = err.code == PTC_E_NOT_EXIST && !err.sys ? PTC_EXIT_NOTHING : PTC_EXIT_FAIL;
	}
	ptc_crash_report_free(report);
	return code;
}
