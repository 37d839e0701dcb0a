/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h> /* optind */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/err.h"
#include "base/open_input.h"
#include "base/tmpfile.h"
#include "cli/common/cli.h"
#include "cli/common/option_table.h"
#include "cli/common/sandbox.h"
#include "cli/common/terminal.h"
#include "cli/convert/copy_common.h"
#include "cli/decode/line_buffer.h"
#include "cli/sum/sum.h"

enum form { FORM_OF_FILES, FORM_TEXT, FORM_JSON };

struct sum_args {
	const char *output; /* NULL: standard output */
	enum form form;
	uint64_t most; /* 0: all */
	bool full_names;
	struct ptc_sandbox sandbox;
};

static bool take_form(const char *s, void *ret)
{
	bool json;

	if (!ptc_take_json(s, &json))
		return false;
	*(enum form *)ret = json ? FORM_JSON : FORM_TEXT;
	return true;
}

static const struct ptc_option options[] = {
	PTC_HEADING("Output:"),
	{ "output", 'o', "NEW",
	  "Write the sum to NEW (default: standard output). An existing NEW becomes NEW.old.",
	  PTC_TEXT(struct sum_args, output) },
	{ "format", 0, "FORMAT",
	  "text: counts and crashes as a table. json: as JSON. Default: the format of the files.",
	  PTC_PARSED(struct sum_args, form, take_form, "text or json") },
	{ "top", 'n', "N", "Print only the N largest counts or crashes (default: all).",
	  PTC_PARSED(struct sum_args, most, ptc_take_count, "a number, not 0") },
	{ "full-names", 0, NULL,
	  "Print names in a table as long as they are. Default: shorten names to the width of the "
	  "terminal, or to 80 columns.",
	  PTC_FLAG(struct sum_args, full_names) },
	PTC_HEADING("Limits:"),
	{ "max-memory", 0, "SIZE",
	  "Use at most this much memory (default: a quarter of the machine's, at most 4G). If the "
	  "sum needs more, the command fails.",
	  .does = PTC_PARSES, .parse = ptc_take_max_memory,
	  .expected = "a size: a number with K, M or G" },
	{ "no-sandbox", 0, NULL,
	  "Read the files without seccomp and Landlock, which protect against hostile files "
	  "(SECURITY.md).",
	  PTC_FLAG(struct sum_args, sandbox.off) },
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "sum",
	.usage = "usage: ptcap sum [OPTIONS] FILE...\n"
		 "Add the outputs of other commands, of several recordings or machines. All files\n"
		 "have one format, which ptcap recognises, and so has the sum. -: read standard\n"
		 "input.\n",
	.options = options,
	.notes = "Formats that can be added:\n"
		 "  decode --stats --format json\n"
		 "  decode --counts=edges|calls|blocks|lines|coverage --format json\n"
		 "  decode --format lcov|bolt|profgen|afdo|callgrind|folded\n"
		 "  report --format json (by function)\n"
		 "  decode --format callgrind|folded|pprof, or report, of all shards (--shard)\n"
		 "  crash show --format json (crashes with the same signature are counted)\n",
};

/* Adds the file @name. Returns 0, or an exit code after a message. */
static int add_file(struct ptc_sum *s, const char *name)
{
	const int fd = ptc_open_input(name);
	struct ptc_err err;
	int rc;

	if (fd < 0) {
		ptc_say("cannot open '%s': %s", name, strerror(errno));
		return PTC_EXIT_FAIL;
	}
	rc = ptc_sum_add_file(s, fd, name, &err);
	(void)close(fd);
	return rc ? ptc_say_err(&err) : 0;
}

/* A first file that is empty has no format. Only a later file tells whether the format allows that.
 */
static int check_empty(const struct ptc_sum *s, const char *empty)
{
	if (!s->format) {
		ptc_say("nothing to add: all files are empty");
		return PTC_EXIT_NOTHING;
	}
	if (!empty || s->format->may_be_empty)
		return 0;
	ptc_say("'%s' is empty, but '%s' is %s; write the file again", empty, s->format_of,
		s->format->name);
	return PTC_EXIT_FAIL;
}

static int add_files(struct ptc_sum *s, char *const *names)
{
	const char *empty = NULL;
	struct ptc_err err;
	int code = 0;

	for (; *names && !code; names++) {
		code = add_file(s, *names);
		if (!s->format)
			empty = *names;
	}
	if (!code)
		code = check_empty(s, empty);
	return code || !ptc_sum_finish(s, &err) ? code : ptc_say_err(&err);
}

/* Checks options that not every format has. */
static int check_form(const struct sum_args *a, const struct ptc_sum *s)
{
	const struct ptc_sum_format *f = s->format;

	if (!a->output && f->is_binary && f->is_binary(s->state) && isatty(STDOUT_FILENO))
		return ptc_usage_error("sum", "standard output is a terminal; redirect the profile "
					      "to a file");
	if ((a->form == FORM_TEXT || a->most) && !f->has_table)
		return ptc_usage_error("sum", "%s needs counts or crashes, but the files are %s",
				       a->most ? "--top" : "--format=text", f->name);
	if (a->form == FORM_JSON && !f->is_json)
		return ptc_usage_error(
			"sum", "--format=json needs JSON files, but the files are %s", f->name);
	return 0;
}

static int print_sum(const struct sum_args *a, struct ptc_sum *s)
{
	static struct ptc_line line;
	const struct ptc_sum_how how = { .text = a->form == FORM_TEXT,
					 .most = a->most,
					 .width = a->full_names ? 0 : ptc_terminal_columns(),
					 .line = &line };

	if (!s->format->print(s->state, &how))
		return ptc_say_no_memory();
	ptc_line_flush(&line);
	return line.failed ? PTC_EXIT_FAIL : PTC_EXIT_OK;
}

/* Prints into a file that gets its name when it is complete. */
static int write_sum(const struct sum_args *a, struct ptc_sum *s)
{
	struct ptc_tmpfile file = PTC_TMPFILE_INIT;
	struct ptc_err err;
	int code;

	if (ptc_tmpfile_open(&file, a->output, &err))
		return ptc_say_err(&err);
	if (dup2(file.fd, STDOUT_FILENO) < 0) {
		ptc_say("cannot write '%s': %s", a->output, strerror(errno));
		code = PTC_EXIT_FAIL;
	} else {
		code = ptc_finish_stdout(print_sum(a, s));
	}
	if (!code && ptc_tmpfile_commit(&file, &err))
		code = ptc_say_err(&err);
	ptc_tmpfile_release(&file);
	return code;
}

static int sum_files(struct sum_args *a, char *const *names)
{
	struct ptc_sum s = { .format = NULL };
	int code;

	a->sandbox.output = a->output;
	code = ptc_sandbox_enter(&a->sandbox);
	if (!code)
		code = add_files(&s, names);
	if (!code)
		code = check_form(a, &s);
	if (!code)
		code = a->output ? write_sum(a, &s) : print_sum(a, &s);
	ptc_sum_release(&s);
	return code;
}

/* malloc for jansson, so that the objects of a line count in the memory budget. */
static void *allocate(size_t n)
{
	return ptc_budget_allows(n) ? malloc(n) : NULL;
}

int ptc_cmd_sum(int argc, char **argv)
{
	struct sum_args a = { .form = FORM_OF_FILES };
	int i, inputs = 0, code = ptc_options_parse(&option_table, argc, argv, &a);

	if (code >= 0)
		return code;
	if (optind == argc)
		return ptc_usage_error("sum", "no file to add; name outputs of other commands");
	if (a.output && !strcmp(a.output, "-"))
		a.output = NULL;
	for (i = optind; i < argc; i++) {
		inputs += !strcmp(argv[i], "-");
		if (a.output && ptc_copying_clash("sum", argv[i], a.output))
			return PTC_EXIT_USAGE;
	}
	if (inputs > 1)
		return ptc_usage_error("sum", "standard input (-) can be read only once");
	json_set_alloc_funcs(allocate, free);
	code = sum_files(&a, argv + optind);
	json_set_alloc_funcs(malloc, free);
	return code;
}
