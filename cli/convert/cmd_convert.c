/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/record/branchsel.h"
#include "auxtrace/writer/compress.h"
#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/common/max_memory.h"
#include "cli/common/sandbox.h"
#include "cli/convert/branch_stacks.h"
#include "cli/convert/copy_common.h"

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
	struct ptc_sandbox sandbox;
};

static void help_convert(void)
{
	fputs("usage: ptcap convert [OPTIONS] -o NEW [FILE]\n"
	      "Write a recording again, in another form or in part. Records keep their order.\n"
	      "ptcap reads all forms of perf.data, and writes a file or, with --pipe, a stream.\n\n"
	      "Input and output:\n"
	      "  -i, --input=FILE      Read FILE (default: perf.data), the same as the argument\n"
	      "                        FILE. -: read standard input.\n"
	      "  -o, --output=NEW      Write the new recording to NEW; an existing NEW\n"
	      "                        becomes NEW.old. -: write to standard output, in pipe\n"
	      "                        mode.\n"
	      "      --pipe            Write in pipe mode, as `perf record -o -` does.\n"
	      "                        Default: a file with a header.\n"
	      "      --compress[=LEVEL]\n"
	      "                        Compress sideband records with zstd, from 1 (fast) to\n"
	      "                        22 (small). Default: as the input; without LEVEL: 1.\n"
	      "      --decompress      Write all records uncompressed. Default: as the input.\n\n"
	      "What to keep (default: all):\n"
	      "      --cpu=LIST        Keep only records of these CPUs, for example 0,2-4.\n"
	      "      --tid=LIST        Keep only records of these threads.\n"
	      "      --time=A,B        Keep only the time from A up to B, in seconds of the\n"
	      "                        recording's clock. Either may be omitted.\n"
	      "      --strip-aux       Remove the trace.\n"
	      "      --redact          Overwrite arguments and environments with zeros.\n\n"
	      "Branch stacks:\n"
	      "      --branch-stacks[=N,PERIOD]\n"
	      "                        Add samples with branch stacks, made from the trace:\n"
	      "                        the last N branches (default: 32) of a thread, each\n"
	      "                        PERIOD branches (default: 1000).\n"
	      "      --branch-filter=LIST\n"
	      "                        Keep only some branches in these stacks: any,u\n"
	      "                        (default), any_call, any_ret, ind_call, ind_jmp, cond,\n"
	      "                        call, call_stack (calls that have not returned), k.\n"
	      "                        save_type adds the types.\n\n"
	      "Limits:\n",
	      stdout);
	fputs(PTC_HELP_MAX_MEMORY PTC_SANDBOX_HELP, stdout);
	fputs("  -h, --help            Print this text.\n\n"
	      "Records that decoding needs always stay: mappings, names, forks, code, and\n"
	      "records without a CPU, thread or time. ptcap keeps or removes whole chunks of\n"
	      "trace (AUXTRACE records).\n",
	      stdout);
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

static bool parse_time(const char *s, struct ptc_select_opts *o)
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

/* Returns a usage error, or 0. */
static int set_pack(struct args *a, enum ptc_copy_pack pack, const char *text)
{
	if (a->opts.pack != PTC_COPY_PACK_KEEP && a->opts.pack != pack)
		return ptc_usage_error("convert", "--compress and --decompress cannot be combined");
	a->opts.pack = pack;
	if (pack == PTC_COPY_PACK_ZSTD && !parse_level(text, &a->opts.level))
		return ptc_value_error("convert", "--compress", text, "a level from 1 to %d",
				       PTC_COMPRESS_LEVEL_MAX);
	return 0;
}

static int set_list(const char *option, const char *what, const char *text, uint32_t *list,
		    size_t *n)
{
	return parse_list(text, list, n) ? 0 : ptc_value_error("convert", option, text, "%s", what);
}

/* Parse the list of --tid with the parser for CPUs, and convert it. */
static int set_tids(struct args *a, const char *text)
{
	uint32_t list[MAX_LIST];
	size_t i;

	if (set_list("--tid", "thread IDs, for example 12,14-16", text, list,
		     &a->opts.select.ntids))
		return PTC_EXIT_USAGE;
	for (i = 0; i < a->opts.select.ntids; i++)
		a->tids[i] = (int32_t)list[i];
	return 0;
}

enum {
	OPT_PIPE = 256,
	OPT_COMPRESS,
	OPT_DECOMPRESS,
	OPT_STRIP,
	OPT_REDACT,
	OPT_CPU,
	OPT_TID,
	OPT_TIME,
	OPT_STACKS,
	OPT_FILTER,
	OPT_NO_SANDBOX
};

static int set_option(struct args *a, int c, const char *text)
{
	switch (c) {
	case 'i':
		a->input = text;
		return 0;
	case 'o':
		a->output = text;
		return 0;
	case OPT_PIPE:
		a->opts.pipe = true;
		return 0;
	case OPT_COMPRESS:
		return set_pack(a, PTC_COPY_PACK_ZSTD, text);
	case OPT_DECOMPRESS:
		return set_pack(a, PTC_COPY_PACK_NONE, NULL);
	case OPT_NO_SANDBOX:
		a->sandbox.off = true;
		return 0;
	case OPT_STRIP:
		a->opts.strip_aux = true;
		return 0;
	case OPT_REDACT:
		a->opts.redact = true;
		return 0;
	case OPT_CPU:
		return set_list("--cpu", "CPU numbers, for example 0,2-4", text, a->cpus,
				&a->opts.select.ncpus);
	case OPT_TID:
		return set_tids(a, text);
	case OPT_STACKS:
		a->stacks = true;
		if (!ptc_branch_stacks_parse(text, &a->branches.opts))
			return ptc_value_error("convert", "--branch-stacks", text,
					       "N,PERIOD with N from 1 to %d",
					       PTC_STACKS_DEPTH_MAX);
		return 0;
	case PTC_OPT_MAX_MEMORY:
		return ptc_max_memory("convert", text);
	case OPT_FILTER:
		a->filter = text;
		if (!ptc_branchsel_parse(text, &a->branches.opts.sel))
			return ptc_value_error("convert", "--branch-filter", text,
					       "names of branch types, for example any_call,u");
		if (a->branches.opts.sel & ~PTC_STACKS_SEL)
			return ptc_value_error("convert", "--branch-filter", text,
					       "what a trace has: branch types, call_stack, u, k "
					       "and save_type");
		return 0;
	default:
		return parse_time(text, &a->opts.select) ?
			       0 :
			       ptc_value_error("convert", "--time", text, "FROM,TO in seconds");
	}
}

/* Returns -1 to continue, or the exit code. */
static int parse(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{ "input", required_argument, NULL, 'i' },
		{ "output", required_argument, NULL, 'o' },
		{ "pipe", no_argument, NULL, OPT_PIPE },
		{ "compress", optional_argument, NULL, OPT_COMPRESS },
		{ "decompress", no_argument, NULL, OPT_DECOMPRESS },
		{ "strip-aux", no_argument, NULL, OPT_STRIP },
		{ "redact", no_argument, NULL, OPT_REDACT },
		{ "cpu", required_argument, NULL, OPT_CPU },
		{ "tid", required_argument, NULL, OPT_TID },
		{ "time", required_argument, NULL, OPT_TIME },
		{ "branch-stacks", optional_argument, NULL, OPT_STACKS },
		{ "branch-filter", required_argument, NULL, OPT_FILTER },
		{ "max-memory", required_argument, NULL, PTC_OPT_MAX_MEMORY },
		{ "no-sandbox", no_argument, NULL, OPT_NO_SANDBOX },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	ptc_options_begin(options);
	while ((c = getopt_long(argc, argv, ":i:o:h", options, NULL)) != -1) {
		if (c == ':' || c == '?')
			return ptc_option_error("convert", argv, c);
		if (c == 'h') {
			help_convert();
			return PTC_EXIT_OK;
		}
		if (set_option(a, c, optarg))
			return PTC_EXIT_USAGE;
	}
	if (ptc_take_input("convert", argc, argv, &a->input))
		return PTC_EXIT_USAGE;
	if (!a->input)
		a->input = PTC_INPUT_DEFAULT;
	if (!a->output)
		return ptc_usage_error("convert", "no output file; add -o FILE, or -o - for "
						  "standard output");
	if (a->filter && !a->stacks)
		return ptc_usage_error("convert", "--branch-filter needs --branch-stacks");
	if (a->stacks && !ptc_select_is_all(&a->opts.select))
		return ptc_usage_error("convert",
				       "--branch-stacks cannot be combined with --cpu, --tid or "
				       "--time; convert twice");
	if (a->stacks && !strcmp(a->input, "-"))
		return ptc_usage_error("convert", "--branch-stacks reads the recording twice, so "
						  "standard input (-i -) cannot be used");
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

static int convert(struct args *a)
{
	struct ptc_copy_stats st;
	struct ptc_file *f;
	struct ptc_err err;
	int code = PTC_EXIT_OK;

	if (a->to_stdout && isatty(STDOUT_FILENO))
		return ptc_usage_error("convert", "standard output is a terminal; redirect it, or "
						  "use -o FILE");
	a->sandbox.output = a->output;
	a->sandbox.finds_code = a->stacks;
	code = ptc_sandbox_enter(&a->sandbox);
	if (code)
		return code;
	if (ptc_file_open(a->input, &f, &err))
		return ptc_say_input_err(a->input, &err);
	if (a->stacks && ptc_branch_stacks_open(&a->branches, a->input, f, &err)) {
		ptc_file_free(f);
		return ptc_say_err(&err);
	}
	a->opts.more = a->stacks ? &a->branches.more : NULL;
	if (ptc_copy(f, a->output, &a->opts, &st, &err)) {
		code = ptc_say_err(&err);
	} else {
		ptc_copying_say_lost(&st);
		if (a->opts.redact)
			say_zeroed(st.zeroed);
	}
	ptc_branch_stacks_close(&a->branches);
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
	a->branches.opts.sel = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	code = parse(argc, argv, a);
	if (code < 0) {
		a->opts.select.cpus = a->cpus;
		a->opts.select.tids = a->tids;
		code = convert(a);
	}
	free(a);
	return code;
}
