/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/common/option_table.h"
#include "cli/common/sandbox.h"
#include "cli/common/selection_args.h"
#include "cli/common/stream_copy.h"
#include "cli/convert/branch_stacks.h"
#include "cli/convert/call_chains.h"
#include "cli/convert/copy_common.h"
#include "cli/decode/empty_warnings.h"
#include "ptcap/branchsel.h"
#include "ptcap/cutout.h"
#include "ptcap/decode.h"

enum { MAX_LIST = 4096, DEFAULT_LEVEL = 1 };

struct args {
	const char *input, *output;
	bool to_stdout;
	struct ptc_copy_opts opts;
	uint32_t cpus[MAX_LIST];
	int32_t tids[MAX_LIST];
	bool stacks; /* --branch-stacks */
	const char *filter;
	struct ptc_branch_stacks branches;
	bool makes_chains; /* --callchains */
	struct ptc_call_chains chains;
	struct ptc_shard_choice shard; /* n 0: none */
	struct ptc_cutout cutout;      /* owned */
	struct ptc_sandbox sandbox;
};

/* Return whether only a part of the records is to be copied. */
static bool selects(const struct ptc_copy_opts *o)
{
	return o->ncpus || o->ntids || o->from_ns || o->to_ns;
}

/* Parse a list such as "0,2-4". */
static bool parse_list(const char *s, uint32_t *list, size_t *n)
{
	for (*n = 0;; s++) {
		char *end;
		unsigned long from, to;

		if (*s < '0' || *s > '9')
			return false;
		from = to = strtoul(s, &end, 10);
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return false;
			to = strtoul(end + 1, &end, 10);
		}
		if (to > INT32_MAX || from > to || to - from >= MAX_LIST - *n)
			return false;
		for (; from <= to; from++)
			list[(*n)++] = (uint32_t)from;
		if (!*end)
			return true;
		if (*end != ',')
			return false;
		s = end;
	}
}

/* Parse seconds up to @end; an empty text is 0. */
static bool parse_seconds(const char **s, char end, uint64_t *ret_ns)
{
	uint64_t ns = 0, part = 0, scale = 1000000000;

	for (; **s >= '0' && **s <= '9'; (*s)++)
		if (__builtin_mul_overflow(ns, 10, &ns) ||
		    __builtin_add_overflow(ns, (uint64_t)(**s - '0'), &ns))
			return false;
	if (**s == '.')
		for ((*s)++; **s >= '0' && **s <= '9'; (*s)++) {
			scale /= 10;
			part += (uint64_t)(**s - '0') * scale;
		}
	return **s == end && !__builtin_mul_overflow(ns, UINT64_C(1000000000), &ns) &&
	       !__builtin_add_overflow(ns, part, ret_ns);
}

static bool parse_time(const char *s, struct ptc_copy_opts *o)
{
	if (!parse_seconds(&s, ',', &o->from_ns))
		return false;
	s++;
	if (*s && (!parse_seconds(&s, '\0', &o->to_ns) || !o->to_ns))
		return false;
	return !o->to_ns || o->to_ns >= o->from_ns;
}

static bool parse_level(const char *s, unsigned int *ret)
{
	uint64_t v = DEFAULT_LEVEL;

	if (s && (!ptc_parse_u64(s, &v) || !v || v > PTC_COMPRESS_LEVEL_MAX))
		return false;
	*ret = (unsigned int)v;
	return true;
}

static int set_pack(struct args *a, enum ptc_copy_pack pack)
{
	if (a->opts.pack != PTC_COPY_PACK_KEEP && a->opts.pack != pack)
		return ptc_usage_error("convert", "--compress and --decompress cannot be combined");
	a->opts.pack = pack;
	return -1;
}

static int take_compress(void *args, const char *value)
{
	struct args *a = args;
	const int code = set_pack(a, PTC_COPY_PACK_ZSTD);

	if (code < 0 && !parse_level(value, &a->opts.level))
		return ptc_value_error("convert", "--compress", value, "a level from 1 to %d",
				       PTC_COMPRESS_LEVEL_MAX);
	return code;
}

static int take_decompress(void *args, const char *value)
{
	(void)value;
	return set_pack(args, PTC_COPY_PACK_NONE);
}

static int take_cpus(void *args, const char *value)
{
	struct args *a = args;

	return parse_list(value, a->cpus, &a->opts.ncpus) ?
		       -1 :
		       ptc_value_error("convert", "--cpu", value, "CPU numbers, for example 0,2-4");
}

/* Parses the list of --tid with the parser for CPUs, and converts it. */
static int take_tids(void *args, const char *value)
{
	struct args *a = args;
	uint32_t list[MAX_LIST];
	size_t i;

	if (!parse_list(value, list, &a->opts.ntids))
		return ptc_value_error("convert", "--tid", value,
				       "thread IDs, for example 12,14-16");
	for (i = 0; i < a->opts.ntids; i++)
		a->tids[i] = (int32_t)list[i];
	return -1;
}

static bool take_time(const char *s, void *opts)
{
	return parse_time(s, opts);
}

static int take_stacks(void *args, const char *value)
{
	struct args *a = args;

	a->stacks = true;
	return ptc_branch_stacks_parse(value, &a->branches.opts) ?
		       -1 :
		       ptc_value_error("convert", "--branch-stacks", value,
				       "N,PERIOD with N from 1 to %d", PTC_SYNTH_DEPTH_MAX);
}

static int take_chains(void *args, const char *value)
{
	struct args *a = args;

	a->makes_chains = true;
	return ptc_call_chains_parse(value, &a->chains.opts) ?
		       -1 :
		       ptc_value_error("convert", "--callchains", value,
				       "a number of instructions, for example 10000");
}

static int take_branch_filter(void *args, const char *value)
{
	struct args *a = args;

	a->filter = value;
	if (!ptc_branchsel_parse(value, &a->branches.opts.sel))
		return ptc_value_error("convert", "--branch-filter", value,
				       "names of branch types, for example any_call,u");
	if (a->branches.opts.sel & ~PTC_SYNTH_SEL)
		return ptc_value_error("convert", "--branch-filter", value,
				       "what a trace has: branch types, call_stack, u, k "
				       "and save_type");
	return -1;
}

static const struct ptc_option options[] = {
	PTC_HEADING("Input and output:"),
	PTC_OPTION_INPUT(struct args, input),
	{ "output", 'o', "NEW",
	  "Write the new recording to NEW; an existing NEW becomes NEW.old. -: write to standard "
	  "output, in pipe mode.",
	  PTC_TEXT(struct args, output) },
	{ "pipe", 0, NULL,
	  "Write in pipe mode, as `perf record -o -` does. Default: a file with a header.",
	  PTC_FLAG(struct args, opts.pipe) },
	{ "compress", 0, "[LEVEL]",
	  "Compress sideband records with zstd, from 1 (fast) to 22 (small). Default: as the "
	  "input; without LEVEL: 1.",
	  .take = take_compress },
	{ "decompress", 0, NULL, "Write all records uncompressed. Default: as the input.",
	  .take = take_decompress },
	PTC_HEADING("What to keep (default: all):"),
	{ "cpu", 0, "LIST", "Keep only records of these CPUs, for example 0,2-4.",
	  .take = take_cpus },
	{ "tid", 0, "LIST", "Keep only records of these threads.", .take = take_tids },
	{ "time", 0, "A,B",
	  "Keep only the time from A up to B, in seconds of the recording's clock. Either may be "
	  "omitted.",
	  PTC_PARSED(struct args, opts, take_time, "FROM,TO in seconds") },
	{ "shard", 0, "I/N",
	  "Keep only the trace that `ptcap decode --shard I/N` needs. Default: all of the trace.",
	  PTC_PARSED(struct args, shard, ptc_take_shard, "a part of several, for example 1/8") },
	{ "strip-aux", 0, NULL, "Remove the trace.", PTC_FLAG(struct args, opts.strip_aux) },
	{ "redact", 0, NULL, "Overwrite arguments and environments with zeros.",
	  PTC_FLAG(struct args, opts.redact) },
	PTC_HEADING("Branch stacks:"),
	{ "branch-stacks", 0, "[N,PERIOD]",
	  "Add samples with branch stacks, made from the trace: the last N branches (default: "
	  "32) of a thread, each PERIOD branches (default: 1000).",
	  .take = take_stacks },
	{ "branch-filter", 0, "LIST",
	  "Keep only some branches in these stacks: any,u (default), any_call, any_ret, "
	  "ind_call, ind_jmp, cond, call, call_stack (calls that have not returned), k. "
	  "save_type adds the types.",
	  .take = take_branch_filter },
	PTC_HEADING("Call chains:"),
	{ "callchains", 0, "[PERIOD]",
	  "Add samples with call chains, made from the trace: the callers of each PERIOD-th "
	  "instruction (default: 10000) of a thread, for perf report -g and hotspot.",
	  .take = take_chains },
	PTC_HEADING("Limits:"),
	PTC_OPTION_MAX_MEMORY,
	PTC_OPTION_NO_SANDBOX(struct args, sandbox.off),
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "convert",
	.usage = "usage: ptcap convert [OPTIONS] -o NEW [FILE]\n"
		 "Write a recording again, in another form or in part. Records keep their order.\n"
		 "ptcap reads all forms of perf.data, and writes a file or, with --pipe, a "
		 "stream.\n",
	.options = options,
	.notes = "Records that decoding needs always stay: mappings, names, forks, code, and\n"
		 "records without a CPU, thread or time. ptcap keeps or removes whole chunks of\n"
		 "trace (AUXTRACE records), except with --shard.\n",
};

/* Returns -1 to continue, or the exit code. */
static int parse_args(int argc, char **argv, struct args *a)
{
	const int code = ptc_options_parse(&option_table, argc, argv, a);

	if (code >= 0)
		return code;
	if (ptc_take_input("convert", argc, argv, &a->input))
		return PTC_EXIT_USAGE;
	if (!a->input)
		a->input = PTC_INPUT_DEFAULT;
	if (!a->output)
		return ptc_usage_error("convert", "no output file; add -o FILE, or -o - for "
						  "standard output");
	if (a->filter && !a->stacks)
		return ptc_usage_error("convert", "--branch-filter needs --branch-stacks");
	if (a->stacks && a->makes_chains)
		return ptc_usage_error("convert", "--branch-stacks and --callchains cannot be "
						  "combined; convert twice");
	if ((a->stacks || a->makes_chains) && selects(&a->opts))
		return ptc_usage_error("convert",
				       "--branch-stacks and --callchains cannot be combined with "
				       "--cpu, --tid or --time; convert twice");
	if (a->shard.n && (selects(&a->opts) || a->opts.strip_aux || a->stacks || a->makes_chains))
		return ptc_usage_error("convert",
				       "--shard cannot be combined with --cpu, --tid, --time, "
				       "--strip-aux, --branch-stacks or --callchains");
	if (ptc_copying_clash("convert", a->input, a->output))
		return PTC_EXIT_USAGE;
	a->to_stdout = !strcmp(a->output, "-");
	a->opts.pipe |= a->to_stdout;
	return -1;
}

static void say_zeroed(uint64_t n)
{
	if (n)
		ptc_say("redacted %" PRIu64 " byte%s of arguments and environments", n,
			ptc_plural(n));
	else
		ptc_say("no arguments and no environments to redact");
}

/* Finds the trace of the shard. Returns 0 or an exit code. */
static int find_shard(struct args *a)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_code_opts code = PTC_CODE_OPTS_INIT;
	struct ptc_decode *d;
	struct ptc_err err;
	int rc;

	code.look_only = true;
	opts.code = &code;
	if (ptc_decode_open(a->input, &opts, &d, &err))
		return ptc_say_input_err(a->input, &err);
	rc = ptc_decode_get_cutout(d, a->shard.i, a->shard.n, &a->cutout, &err);
	ptc_decode_free(d);
	a->opts.cutout = &a->cutout;
	return rc ? ptc_say_err(&err) : 0;
}

static void tell_shard(const struct args *a)
{
	ptc_say("'%s' has shard %" PRIu32 " of %" PRIu32
		", and some trace around the shard; decode "
		"with --shard %" PRIu32 "/%" PRIu32,
		a->output, a->shard.i, a->shard.n, a->shard.i, a->shard.n);
}

/* Prepare the event that the command line asks for. Returns 0, or a negative code with *err set. */
static int open_added_event(struct args *a, const struct ptc_file *f, struct ptc_err *err)
{
	int rc = 0;

	if (a->stacks) {
		rc = ptc_branch_stacks_open(&a->branches, a->input, f, err);
		a->opts.more = &a->branches.more;
	} else if (a->makes_chains) {
		rc = ptc_call_chains_open(&a->chains, a->input, f, err);
		a->opts.more = &a->chains.more;
	}
	return rc;
}

static int convert(struct args *a)
{
	struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
	struct ptc_file *f;
	struct ptc_err err;
	int code = PTC_EXIT_OK;

	if (a->to_stdout && isatty(STDOUT_FILENO))
		return ptc_usage_error("convert", "standard output is a terminal; redirect it, or "
						  "use -o FILE");
	a->sandbox.output = a->output;
	a->sandbox.finds_code = a->stacks || a->makes_chains || a->shard.n;
	code = a->sandbox.finds_code ? ptc_sandbox_enter_with_copy(&a->sandbox, &a->input) :
				       ptc_sandbox_enter(&a->sandbox);
	if (code)
		return code;
	if (a->shard.n)
		code = find_shard(a);
	if (code)
		return code;
	if (ptc_file_open(a->input, &f, &err))
		return ptc_say_input_err(a->input, &err);
	if (open_added_event(a, f, &err)) {
		ptc_file_free(f);
		return ptc_say_err(&err);
	}
	if (ptc_copy(f, a->output, &a->opts, &st, &err)) {
		code = ptc_say_err(&err);
	} else {
		ptc_copying_say_lost(&st);
		if (a->opts.redact)
			say_zeroed(st.zeroed);
		if (a->shard.n)
			tell_shard(a);
	}
	ptc_branch_stacks_close(&a->branches, !code);
	ptc_call_chains_close(&a->chains, !code);
	ptc_file_free(f);
	return code;
}

int ptc_cmd_convert(int argc, char **argv)
{
	struct args *a = calloc(1, sizeof(*a));
	int code;

	if (!a) {
		return ptc_say_no_memory();
	}
	a->opts = (struct ptc_copy_opts)PTC_COPY_OPTS_INIT;
	a->branches.opts = (struct ptc_synth_stacks_opts)PTC_SYNTH_STACKS_OPTS_INIT;
	code = parse_args(argc, argv, a);
	if (code < 0) {
		a->opts.cpus = a->cpus;
		a->opts.tids = a->tids;
		code = convert(a);
	}
	ptc_cutout_release(&a->cutout);
	free(a);
	return code;
}
