/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common/cli.h"
#include "cli/common/max_memory.h"
#include "cli/common/sandbox.h"
#include "cli/info/info.h"

static void help_info(void)
{
	fputs("usage: ptcap info [OPTIONS] [FILE]\n"
	      "Summarise a recording: the machine, the command, the events, the trace queues,\n"
	      "the number of records of each type, the losses, and the files that are missing\n"
	      "for decoding.\n\n"
	      "  -i, --input=FILE      Read FILE (default: perf.data), the same as the argument\n"
	      "                        FILE. -: read standard input.\n"
	      "      --format=FORMAT   Print text (default) or json (one object, see\n"
	      "                        doc/json.md).\n",
	      stdout);
	fputs(PTC_HELP_MAX_MEMORY PTC_SANDBOX_HELP, stdout);
	fputs("  -h, --help            Print this text.\n", stdout);
}

/*
 * Returns the modification time of @path. For a folder, that of its first file, which perf finishes
 * last.
 */
static int64_t modified(const char *path)
{
	char first[PATH_MAX];
	struct stat st;

	if (!strcmp(path, "-") || stat(path, &st))
		return 0;
	if (S_ISDIR(st.st_mode) &&
	    (snprintf(first, sizeof(first), "%s/data", path) >= (int)sizeof(first) ||
	     stat(first, &st)))
		return 0;
	return S_ISREG(st.st_mode) ? st.st_mtime : 0;
}

static int print_info(const struct ptc_info *i, bool json)
{
	if (!json) {
		ptc_info_text(i);
	} else if (!ptc_info_json(i)) {
		return ptc_say_no_memory();
	}
	return PTC_EXIT_OK;
}

static int info(const char *path, bool json, const struct ptc_sandbox *sandbox)
{
	struct ptc_info i = { .modified_s = modified(path) };
	int code;
	struct ptc_file *f;
	struct ptc_err err;

	if (!ptc_keep_input(path))
		return PTC_EXIT_FAIL;
	(void)unsetenv("DEBUGINFOD_URLS"); /* ptcap-info(1) promises not to use the network */
	code = ptc_sandbox_enter(sandbox);
	if (code)
		return code;
	if (ptc_file_open(path, &f, &err))
		return ptc_say_input_err(path, &err);
	if (ptc_info_gather(f, &i, &err)) {
		code = ptc_say_input_err(path, &err);
	} else {
		ptc_info_survey(path, &i);
		ptc_info_judge(path, &i);
		code = print_info(&i, json);
	}
	ptc_info_release(&i);
	ptc_file_free(f);
	return code;
}

enum { OPT_NO_SANDBOX = 256 };

int ptc_cmd_info(int argc, char **argv)
{
	static const struct option options[] = {
		{ "input", required_argument, NULL, 'i' },
		{ "format", required_argument, NULL, 'f' },
		{ "max-memory", required_argument, NULL, PTC_OPT_MAX_MEMORY },
		{ "no-sandbox", no_argument, NULL, OPT_NO_SANDBOX },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct ptc_sandbox sandbox = { .off = false };
	const char *path = NULL;
	bool json = false;
	int c;

	ptc_options_begin(options);
	while ((c = getopt_long(argc, argv, ":i:h", options, NULL)) != -1) {
		switch (c) {
		case 'i':
			path = optarg;
			break;
		case 'f':
			json = !strcmp(optarg, "json");
			if (!json && strcmp(optarg, "text") != 0)
				return ptc_value_error("info", "--format", optarg, "text or json");
			break;
		case PTC_OPT_MAX_MEMORY:
			if (ptc_max_memory("info", optarg))
				return PTC_EXIT_USAGE;
			break;
		case OPT_NO_SANDBOX:
			sandbox.off = true;
			break;
		case 'h':
			help_info();
			return PTC_EXIT_OK;
		default:
			return ptc_option_error("info", argv, c);
		}
	}
	if (ptc_take_input("info", argc, argv, &path))
		return PTC_EXIT_USAGE;
	return info(path ? path : PTC_INPUT_DEFAULT, json, &sandbox);
}
