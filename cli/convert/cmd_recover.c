/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/common/option_table.h"
#include "cli/common/sandbox.h"
#include "cli/convert/copy_common.h"
#include "ptcap/file.h"

struct recover_args {
	const char *input, *output;
	struct ptc_sandbox sandbox;
};

static const struct ptc_option options[] = {
	PTC_OPTION_INPUT(struct recover_args, input),
	{ "output", 'o', "NEW", "Write the new recording to NEW; an existing NEW becomes NEW.old.",
	  PTC_TEXT(struct recover_args, output) },
	PTC_OPTION_MAX_MEMORY_WHOLE,
	PTC_OPTION_NO_SANDBOX(struct recover_args, sandbox.off),
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "recover",
	.usage = "usage: ptcap recover [OPTIONS] -o NEW [FILE]\n"
		 "Repair a recording that was cut, or whose writer was killed. The new file has\n"
		 "all records up to the first damaged one, and the remaining bytes of a cut chunk\n"
		 "of trace. The damaged file stays as it is. ptcap prints the damage and the\n"
		 "losses.\n",
	.options = options,
	.notes = "Exit code 1: ptcap found nothing to recover, and wrote nothing.\n",
};

/* Returns the bytes of the table of features: 16 for each bit set in the header. */
static uint64_t table_size(const struct ptc_file *f)
{
	uint64_t n = 0;
	struct ptc_cur bits;
	uint8_t byte;

	if (!ptc_file_bytes(f, PTC_FILE_HEADER_SIZE - PTC_FEATURE_BITS / 8, PTC_FEATURE_BITS / 8,
			    &bits))
		return 0;
	while (ptc_cur_u8(&bits, &byte))
		n += (unsigned int)__builtin_popcount(byte);
	return n * 16;
}

/*
 * Returns the end of the first file's data, computed from the features behind them; 0: no features.
 */
static uint64_t features_begin(const struct ptc_file *f, uint64_t end)
{
	const uint64_t table = table_size(f);
	uint64_t off, first = UINT64_MAX;
	struct ptc_cur bytes;
	unsigned int bit;

	if (ptc_file_form(f) == PTC_FORM_PIPE)
		return 0;
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++)
		if (ptc_file_feature(f, bit, &bytes, &off) && ptc_cur_left(&bytes) && off >= end &&
		    off < first)
			first = off;
	return first == UINT64_MAX || first < table ? 0 : first - table;
}

/*
 * Returns the bytes of part @i before the features or the end of the file that are in no whole
 * record.
 */
static uint64_t lost_bytes(const struct ptc_file *f, size_t i, const struct ptc_file_part *p)
{
	const uint64_t end = p->data_off + p->data_size;
	const uint64_t until = i ? 0 : features_begin(f, end);

	if (until)
		return until > end ? until - end : 0;
	return p->size > end ? p->size - end : 0;
}

/* Report lost bytes. The existing part of a cut-off chunk of trace is not lost. */
static void say_lost(const struct ptc_file *f, size_t i)
{
	struct ptc_auxtrace a;
	struct ptc_file_part p;
	struct ptc_cur trace;
	uint64_t lost, kept;

	ptc_file_part(f, i, &p);
	lost = lost_bytes(f, i, &p);
	kept = ptc_file_cut_trace(f, i, &a, &trace);
	if (kept)
		kept += PTC_AUXTRACE_SIZE;
	if (kept)
		ptc_say("recovered %" PRIu64
			" bytes of a truncated chunk of trace in '%s' (offset 0x%" PRIx64 ")",
			kept - PTC_AUXTRACE_SIZE, p.name, p.data_off + p.data_size);
	if (lost > kept)
		ptc_say("lost %" PRIu64 " byte%s of '%s' (offset 0x%" PRIx64 ")", lost - kept,
			ptc_plural(lost - kept), p.name, p.data_off + p.data_size + kept);
}

static void say_damage(const struct ptc_file *f)
{
	const struct ptc_err *damage;
	size_t i;

	for (i = 0; (damage = ptc_file_damage_at(f, i)); i++)
		ptc_say("%s", damage->msg);
	/* In intact files too, perf may leave unused bytes after the records. */
	for (i = 0; i < ptc_file_nparts(f) && ptc_file_damage(f); i++)
		say_lost(f, i);
}

static int recover(const char *input, const char *output)
{
	const struct ptc_copy_opts opts = PTC_COPY_OPTS_INIT;
	struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
	int code = PTC_EXIT_OK;
	struct ptc_file *f;
	struct ptc_err err;

	if (ptc_file_open_damaged(input, &f, &err))
		return ptc_say_err(&err);
	say_damage(f);
	if (ptc_copy(f, output, &opts, &st, &err)) {
		code = ptc_say_err(&err);
	} else {
		ptc_say("wrote '%s': %" PRIu64 " record%s; %" PRIu64
			" chunk%s of trace with %" PRIu64 " byte%s",
			output, st.records, ptc_plural(st.records), st.pieces,
			ptc_plural(st.pieces), st.piece_bytes, ptc_plural(st.piece_bytes));
	}
	ptc_file_free(f);
	return code;
}

int ptc_cmd_recover(int argc, char **argv)
{
	struct recover_args a = { .input = NULL };
	int code = ptc_options_parse(&option_table, argc, argv, &a);

	if (code >= 0)
		return code;
	if (ptc_take_input("recover", argc, argv, &a.input))
		return PTC_EXIT_USAGE;
	if (!a.input)
		a.input = PTC_INPUT_DEFAULT;
	if (!a.output)
		return ptc_usage_error("recover", "no output file; add -o FILE");
	if (!strcmp(a.output, "-"))
		return ptc_usage_error("recover", "the output is a file; standard output (-o -) "
						  "cannot be used");
	if (ptc_copying_clash("recover", a.input, a.output))
		return PTC_EXIT_USAGE;
	a.sandbox.output = a.output;
	code = ptc_sandbox_enter(&a.sandbox);
	return code ? code : recover(a.input, a.output);
}
