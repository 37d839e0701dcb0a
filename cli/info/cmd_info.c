/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common/cli.h"
#include "cli/common/option_table.h"
#include "cli/common/sandbox.h"
#include "cli/common/stream_copy.h"
#include "cli/info/info.h"

struct info_args {
	const char *path;
	bool json;
	struct ptc_sandbox sandbox;
};

static const struct ptc_option options[] = {
	PTC_OPTION_INPUT(struct info_args, path),
	PTC_OPTION_FORMAT(struct info_args, json,
			  "Print text (default) or json (one object, see doc/json.md)."),
	PTC_OPTION_MAX_MEMORY,
	PTC_OPTION_NO_SANDBOX(struct info_args, sandbox.off),
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "info",
	.usage = "usage: ptcap info [OPTIONS] [FILE]\n"
		 "Summarise a recording: the machine, the command, the events, the trace queues,\n"
		 "the number of records of each type, the losses, and the files that are missing\n"
		 "for decoding.\n",
	.options = options,
};

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

	(void)unsetenv("DEBUGINFOD_URLS"); /* ptcap-info(1) promises not to use the network */
	code = ptc_sandbox_enter_with_copy(sandbox, &path);
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

int ptc_cmd_info(int argc, char **argv)
{
	struct info_args a = { .path = NULL };
	const int code = ptc_options_parse(&option_table, argc, argv, &a);

	if (code >= 0)
		return code;
	if (ptc_take_input("info", argc, argv, &a.path))
		return PTC_EXIT_USAGE;
	return info(a.path ? a.path : PTC_INPUT_DEFAULT, a.json, &a.sandbox);
}
