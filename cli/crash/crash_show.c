/* SPDX-License-Identifier: MIT */
/* `ptcap crash show`: explains a crash. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/max_memory.h"
#include "cli/common/sandbox.h"
#include "cli/common/terminal.h"
#include "cli/crash/crash_out.h"
#include "cli/decode/empty_warnings.h"

enum {
	BRANCHES_TEXT = 20,
	BRANCHES_JSON = 100,
	BRANCHES_MAX = 1 << 20,
	CALLS = 1024,
	OPT_FORMAT = 256,
	OPT_CORE,
	OPT_SYMFS,
	OPT_NO_DEMANGLE,
	OPT_NO_PAGER,
	OPT_NO_SANDBOX
};

struct show_args {
	struct ptc_crash_opts opts;
	struct ptc_code_opts code;
	bool json, help, no_pager;
	struct ptc_sandbox sandbox;
};

static void help_crash_show(void)
{
	fputs("usage: ptcap crash show [OPTIONS] [FILE]\n"
	      "Explain the crash in a recording by `ptcap crash`.\n\n"
	      "What to show:\n"
	      "  -i, --input=FILE      Read FILE (default: perf.data), the same as the argument\n"
	      "                        FILE.\n"
	      "  -p, --pid=PID         Explain the crash of this process (default: the process\n"
	      "                        that died last).\n"
	      "  -n, --branches=N      Show the last N branches (default: 20; with json: 100).\n"
	      "      --format=FORMAT   Print text (default) or json (one object, see\n"
	      "                        doc/json.md).\n\n"
	      "Where to find code and state:\n"
	      "      --core=FILE       Compare the saved state with this core dump. Without a\n"
	      "                        saved state the core dump replaces it. Default: none.\n"
	      "      --symfs=DIR       Find the recorded files below DIR (default: /).\n\n"
	      "Terminal:\n"
	      "      --no-demangle     Print the linker's names of C++, Rust and D functions.\n"
	      "                        Default: demangled names.\n"
	      "      --no-pager        Print to the terminal without $PAGER.\n\n"
	      "Limits:\n",
	      stdout);
	fputs(PTC_HELP_MAX_MEMORY PTC_SANDBOX_HELP, stdout);
	fputs("  -h, --help            Print this text.\n", stdout);
}

static int take_number(const char *option, const char *what, uint64_t max, uint64_t *ret)
{
	if (ptc_parse_u64(optarg, ret) && *ret && *ret <= max)
		return 0;
	return ptc_value_error("crash show", option, optarg, "%s", what);
}

static int parse_crash_show_option(struct show_args *a, int c, char *const *argv)
{
	uint64_t n = 0;
	int code;

	switch (c) {
	case 'i':
		a->opts.input = optarg;
		return 0;
	case 'n':
		code = take_number("--branches", "a number of branches from 1 to 1048576",
				   BRANCHES_MAX, &n);
		a->opts.branches = (size_t)n;
		return code;
	case 'p':
		return take_number("--pid", "a process ID", INT32_MAX, &a->opts.pid);
	case OPT_FORMAT:
		a->json = !strcmp(optarg, "json");
		if (!a->json && strcmp(optarg, "text") != 0)
			return ptc_value_error("crash show", "--format", optarg, "text or json");
		return 0;
	case OPT_CORE:
		a->code.core = optarg;
		return 0;
	case OPT_SYMFS:
		a->code.symfs = optarg;
		return 0;
	case OPT_NO_DEMANGLE:
		a->opts.mangled = true;
		return 0;
	case OPT_NO_PAGER:
		a->no_pager = true;
		return 0;
	case PTC_OPT_MAX_MEMORY:
		return ptc_max_memory("crash show", optarg);
	case OPT_NO_SANDBOX:
		a->sandbox.off = true;
		return 0;
	case 'h':
		a->help = true;
		return 0;
	default:
		return ptc_option_error("crash show", argv, c);
	}
}

static int parse_args(struct show_args *a, int argc, char **argv)
{
	static const struct option options[] = {
		{ "input", required_argument, NULL, 'i' },
		{ "branches", required_argument, NULL, 'n' },
		{ "pid", required_argument, NULL, 'p' },
		{ "format", required_argument, NULL, OPT_FORMAT },
		{ "core", required_argument, NULL, OPT_CORE },
		{ "symfs", required_argument, NULL, OPT_SYMFS },
		{ "no-demangle", no_argument, NULL, OPT_NO_DEMANGLE },
		{ "no-pager", no_argument, NULL, OPT_NO_PAGER },
		{ "max-memory", required_argument, NULL, PTC_OPT_MAX_MEMORY },
		{ "no-sandbox", no_argument, NULL, OPT_NO_SANDBOX },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c, code;

	ptc_options_begin(options);
	while ((c = getopt_long(argc, argv, ":i:n:p:h", options, NULL)) != -1) {
		code = parse_crash_show_option(a, c, argv);
		if (code || a->help)
			return code;
	}
	if (ptc_take_input("crash show", argc, argv, &a->opts.input))
		return PTC_EXIT_USAGE;
	if (!a->opts.input)
		a->opts.input = PTC_INPUT_DEFAULT;
	if (!a->opts.branches)
		a->opts.branches = a->json ? BRANCHES_JSON : BRANCHES_TEXT;
	return 0;
}

/* Start the pager only when there is output, so that errors do not disappear in it. */
static int print(const struct show_args *a, const struct ptc_crash_report *r,
		 struct ptc_pager *pager)
{
	const bool color = ptc_terminal_has_colors();
	bool whole = true;

	ptc_pager_start(pager);
	if (a->json)
		whole = ptc_crash_json(r);
	else
		ptc_crash_text(r, color);
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
	for (i = 0; (note = ptc_decode_note(r->d, i)) != NULL; i++)
		ptc_say("%s", note);
}

int ptc_cmd_crash_show(int argc, char **argv)
{
	struct show_args a = { .opts = { .calls = CALLS },
			       .sandbox = { .finds_code = true },
			       .code = PTC_CODE_OPTS_INIT };
	struct ptc_crash_report report = { .file = NULL };
	struct ptc_pager pager = PTC_PAGER_INIT;
	struct ptc_err err;
	int code = parse_args(&a, argc, argv);

	a.opts.code = &a.code;
	if (code)
		return code;
	if (a.help) {
		help_crash_show();
		return PTC_EXIT_OK;
	}
	if (!ptc_asked_code_is_there(&a.code))
		return PTC_EXIT_FAIL;
	if (!a.no_pager && !a.json)
		ptc_pager_prepare(&pager);
	code = ptc_sandbox_enter(&a.sandbox);
	if (code)
		return code;
	if (!ptc_crash_explain(&report, &a.opts, &err)) {
		code = print(&a, &report, &pager);
		tell_notes(&report);
	} else {
		(void)ptc_say_input_err(a.opts.input, &err);
		/* A missing file is another error. */
		code = err.code == PTC_E_NOT_EXIST && !err.sys ? PTC_EXIT_NOTHING : PTC_EXIT_FAIL;
	}
	ptc_crash_report_release(&report);
	return code;
}
