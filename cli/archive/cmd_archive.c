/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/common/code_options.h"
#include "cli/common/open_chosen.h"
#include "cli/common/option_table.h"
#include "cli/common/sandbox.h"
#include "cli/convert/copy_common.h"
#include "cli/decode/decode_findings.h"
#include "ptcap/bundle.h"

struct archive_args {
	const char *input, *output, *debuginfod;
	struct ptc_code_opts code;
	bool all, no_debug, reached;
	uint64_t level;
	struct ptc_sandbox sandbox;
};

static bool take_level(const char *s, void *ret)
{
	uint64_t level;

	if (!ptc_parse_u64(s, &level) || !level || level > PTC_BUNDLE_LEVEL_MAX)
		return false;
	*(uint64_t *)ret = level;
	return true;
}

static const struct ptc_option options[] = {
	PTC_HEADING("Input and output:"),
	PTC_OPTION_INPUT(struct archive_args, input),
	{ "output", 'o', "NEW", "Write the bundle to NEW; an existing NEW becomes NEW.old.",
	  PTC_TEXT(struct archive_args, output) },
	{ "level", 0, "N", "Compress with zstd, from 1 (fast) to 19 (small). Default: 3.",
	  PTC_PARSED(struct archive_args, level, take_level, "a level from 1 to 19") },
	PTC_HEADING(
		"What to add (default: the files that the trace reached, and their debug files):"),
	{ "all", 0, NULL, "Add all files that the recording maps as code, also unreached files.",
	  PTC_FLAG(struct archive_args, all) },
	{ "reached", 0, NULL,
	  "Add of each file only names and the pages of code that the trace reached.",
	  PTC_FLAG(struct archive_args, reached) },
	{ "no-debug", 0, NULL, "Add no separate debug files. Source lines may be missing then.",
	  PTC_FLAG(struct archive_args, no_debug) },
	PTC_HEADING("Where to find the files:"),
	PTC_OPTION_SYMFS(struct archive_args, code.symfs),
	PTC_OPTION_DEBUGINFOD(struct archive_args, debuginfod),
	PTC_HEADING("Limits:"),
	PTC_OPTION_MAX_MEMORY,
	PTC_OPTION_NO_SANDBOX(struct archive_args, sandbox.off),
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "archive",
	.usage =
		"usage: ptcap archive [OPTIONS] -o NEW [FILE]\n"
		"Write a recording with its files as one bundle, to decode it on another machine.\n"
		"Each command reads the bundle in place of a recording.\n",
	.options = options,
	.notes =
		"A bundle is a tar archive, packed by zstd. After `tar xf NEW` perf reads it with\n"
		"`perf --buildid-dir . script -i perf.data`.\n",
};

static void on_left_out(void *ctx, const char *why)
{
	(void)ctx;
	ptc_say("%s", why);
}

/* Each file stays open until the bundle is written. */
static void allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int write_bundle(const struct archive_args *a, struct ptc_archive *bundle)
{
	struct ptc_err err;
	size_t n;

	if (ptc_archive_write(bundle, a->output, &err))
		return ptc_say_err(&err);
	n = ptc_archive_nfiles(bundle);
	ptc_say("wrote '%s': the recording and %zu file%s, %" PRIu64 " bytes", a->output, n,
		ptc_plural(n), ptc_archive_size(bundle));
	return PTC_EXIT_OK;
}

static int archive_decoded(const struct archive_args *a, struct ptc_decode *d)
{
	struct ptc_archive_opts opts = PTC_ARCHIVE_OPTS_INIT;
	struct ptc_decode_stats stats = PTC_DECODE_STATS_INIT;
	struct ptc_sink sink = { .on_items = ptc_archive_items };
	struct ptc_archive *bundle;
	struct ptc_err err;
	int code;

	opts.all = a->all;
	opts.no_debug = a->no_debug;
	opts.reached = a->reached;
	opts.level = (unsigned int)a->level;
	opts.left_out = on_left_out;
	if (ptc_archive_new(d, &opts, &bundle, &err))
		return ptc_say_err(&err);
	sink.ctx = bundle;
	if (ptc_decode_run(d, &sink, &err)) {
		code = err.code == PTC_E_STOPPED ? ptc_say_no_memory() : ptc_say_err(&err);
	} else {
		ptc_decode_get_stats(d, &stats);
		ptc_say_findings(d, &stats);
		code = write_bundle(a, bundle);
	}
	ptc_archive_free(bundle);
	return code;
}

static int archive_recording(struct archive_args *a)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	const struct ptc_chosen chosen = { .input = a->input, .opts = &opts };
	struct ptc_decode *d;
	struct ptc_err err;
	int code = ptc_choose_code(a->debuginfod, &a->code);

	if (code)
		return code;
	opts.code = &a->code;
	opts.untraced = true;
	opts.jobs = ptc_default_jobs();
	allow_many_files();
	if (ptc_bundle_load_library(&err))
		return ptc_say_err(&err);
	a->sandbox.output = a->output;
	a->sandbox.finds_code = true;
	code = ptc_open_chosen(&a->sandbox, &chosen, &d);
	if (code)
		return code;
	code = archive_decoded(a, d);
	ptc_decode_free(d);
	return code;
}

int ptc_cmd_archive(int argc, char **argv)
{
	struct archive_args a = { .code = PTC_CODE_OPTS_INIT, .level = PTC_BUNDLE_LEVEL };
	const int code = ptc_options_parse(&option_table, argc, argv, &a);

	if (code >= 0)
		return code;
	if (ptc_take_input("archive", argc, argv, &a.input))
		return PTC_EXIT_USAGE;
	if (!a.input)
		a.input = PTC_INPUT_DEFAULT;
	if (!a.output)
		return ptc_usage_error("archive", "no output file; add -o FILE");
	if (!strcmp(a.output, "-"))
		return ptc_usage_error("archive", "the output is a file; standard output (-o -) "
						  "cannot be used");
	if (ptc_copying_clash("archive", a.input, a.output))
		return PTC_EXIT_USAGE;
	return archive_recording(&a);
}
