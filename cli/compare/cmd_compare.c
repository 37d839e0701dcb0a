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
#include "cli/common/stream_copy.h"
#include "cli/compare/clock_check.h"
#include "cli/compare/compare_report.h"
#include "cli/compare/compare_runs.h"
#include "ptcap/compare.h"
#include "ptcap/lookup.h"

struct args {
	const char *input;
	const char *other; /* B of `compare A B`; NULL: compare the input with itself */
	bool json, list, slack_given;
	uint64_t first, last; /* --samples */
	uint64_t slack_ns;
	struct ptc_compare_limits limits;
	struct ptc_sandbox sandbox;
};

/* Parse "A,B", "A," or ",B". */
static bool parse_samples(const char *s, struct args *a)
{
	const size_t len = strcspn(s, ",");
	char first[24];

	if (!s[len] || len >= sizeof(first) || (!len && !s[1]))
		return false;
	memcpy(first, s, len);
	first[len] = '\0';
	a->first = 1;
	a->last = UINT64_MAX;
	return (!len || ptc_parse_u64(first, &a->first)) &&
	       (!s[len + 1] || ptc_parse_u64(s + len + 1, &a->last)) && a->first &&
	       a->first <= a->last;
}

/* Parse a percentage with up to four decimals, to parts per million. */
static bool parse_percent(const char *s, uint64_t *ret_ppm)
{
	uint64_t ppm = 0, scale = 10000;
	const char *digits = s;

	for (; *s >= '0' && *s <= '9' && ppm <= 100; s++)
		ppm = ppm * 10 + (uint64_t)(*s - '0');
	if (s == digits)
		return false;
	ppm *= 10000;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9' && scale > 1; s++) {
			scale /= 10;
			ppm += (uint64_t)(*s - '0') * scale;
		}
	if (*s || ppm > 1000000)
		return false;
	*ret_ppm = ppm;
	return true;
}

static int take_samples(void *args, const char *value)
{
	return parse_samples(value, args) ?
		       -1 :
		       ptc_value_error("compare", "--samples", value,
				       "A,B: the numbers of the first and the last sample");
}

static int take_slack(void *args, const char *value)
{
	struct args *a = args;

	a->slack_given = true;
	return ptc_parse_duration(value, &a->slack_ns) ?
		       -1 :
		       ptc_value_error("compare", "--slack", value, "a duration, for example 2us");
}

static bool take_percent(const char *s, void *ret_ppm)
{
	return parse_percent(s, ret_ppm);
}

static const struct ptc_option options[] = {
	PTC_HEADING("What to compare:"),
	PTC_OPTION_INPUT(struct args, input),
	{ "samples", 0, "A,B",
	  "Compare only the samples from number A to number B, by time, from 1. Either may be "
	  "omitted. Default: all.",
	  .take = take_samples },
	{ "slack", 0, "TIME",
	  "Accept this error of times. Default: 2us, or 200us if that makes most of the wrong "
	  "samples exact.",
	  .take = take_slack },
	PTC_HEADING("Output:"),
	{ "list", 0, NULL,
	  "Also print a line for each entry that is not exact, and for each missing branch, "
	  "before the report.",
	  PTC_FLAG(struct args, list) },
	PTC_OPTION_FORMAT(struct args, json, "Print text (default) or json (see doc/json.md)."),
	PTC_HEADING("Exit status:"),
	{ "max-wrong", 0, "PERCENT",
	  "Exit with 0 if at most PERCENT of the judged entries are wrong or missing (default: "
	  "0).",
	  PTC_PARSED(struct args, limits.max_wrong_ppm, take_percent,
		     "a percentage from 0 to 100") },
	{ "min-judged", 0, "PERCENT",
	  "Exit with 4 if less than PERCENT of the entries could be judged (default: 50).",
	  PTC_PARSED(struct args, limits.min_judged_ppm, take_percent,
		     "a percentage from 0 to 100") },
	PTC_HEADING("Limits:"),
	PTC_OPTION_MAX_MEMORY,
	PTC_OPTION_NO_SANDBOX(struct args, sandbox.off),
	PTC_OPTION_HELP,
	PTC_OPTIONS_END,
};

static const struct ptc_option_table option_table = {
	.command = "compare",
	.usage = "usage: ptcap compare [OPTIONS] [FILE]\n"
		 "       ptcap compare [OPTIONS] A B\n"
		 "Compare the branch stacks (LBR) of a recording's samples with its trace of the\n"
		 "same moments. Each entry of a stack gets a verdict.\n"
		 "With A and B, compare the stacks of A with the trace of B, another run of the\n"
		 "same program, by control flow alone.\n",
	.options = options,
	.notes = "Exit code 0: the stacks agree with the trace; 3: they differ; 4: too few\n"
		 "entries could be judged.\n",
};

/* Returns -1 to continue, or the exit code. */
static int parse_args(int argc, char **argv, struct args *a)
{
	const int code = ptc_options_parse(&option_table, argc, argv, a);

	if (code >= 0)
		return code;
	if (optind + 2 == argc && !a->input) {
		a->input = argv[optind];
		a->other = argv[optind + 1];
		if (a->slack_given)
			return ptc_usage_error("compare", "--slack is about times, and two runs "
							  "have no times in common");
		if (!strcmp(a->input, "-") && !strcmp(a->other, "-"))
			return ptc_usage_error("compare", "only one recording can be '-'");
		return -1;
	}
	if (optind + 2 < argc && !a->input)
		return ptc_argument_error("compare", argv + optind + 2);
	return ptc_take_input("compare", argc, argv, &a->input) ? PTC_EXIT_USAGE : -1;
}

struct comparing {
	const struct args *a;
	uint64_t slack_ns;
	bool list;
	struct ptc_decode *d; /* owned */
	struct ptc_side_names names;
	struct ptc_compare_sum sum;
	struct ptc_doubts doubts;
};

static void release(struct comparing *c)
{
	ptc_compare_sum_release(&c->sum);
	ptc_decode_free(c->d);
	c->d = NULL;
}

static bool on_sample(void *ctx, const struct ptc_compare_sample *s)
{
	struct comparing *c = ctx;

	ptc_doubts_add(&c->doubts, c->a->first, s);
	return (!c->list || ptc_compare_list(s, &c->names, c->a->json)) &&
	       ptc_compare_sum_add(&c->sum, s);
}

/* Copy @s, or set NULL for NULL. Returns false if out of memory. */
static bool copy(const char *s, char **ret)
{
	*ret = s ? strdup(s) : NULL;
	return !s || *ret;
}

static bool find_place(void *ctx, const struct ptc_item *where, uint64_t ip,
		       struct ptc_side_place *ret)
{
	return copy(ptc_decode_symbol(ctx, where, ip, &ret->off), &ret->function) &&
	       copy(ptc_decode_srcline(ctx, where, ip, &ret->line), &ret->file);
}

static int exit_code_of_comparison(enum ptc_stacks_are verdict)
{
	switch (verdict) {
	case PTC_STACKS_RIGHT:
		return PTC_EXIT_OK;
	case PTC_STACKS_WRONG:
		return PTC_EXIT_FINDINGS;
	default:
		return PTC_EXIT_NOTHING;
	}
}

static int report(struct comparing *c)
{
	const struct args *a = c->a;
	struct ptc_compare_sum *s = &c->sum;
	struct ptc_recorded_cpu cpu = { .n = 0 };
	enum ptc_stacks_are verdict;
	const char *note;
	size_t i;

	if (!ptc_compare_sum_finish(s))
		return ptc_say_no_memory();
	verdict = ptc_compare_verdict(s, &a->limits);
	ptc_recorded_cpu_read(&cpu, ptc_decode_recording(c->d));
	if (a->json && !ptc_compare_print_json(s, verdict, c->slack_ns, &cpu))
		return ptc_say_no_memory();
	if (!a->json)
		ptc_compare_print_text(s, verdict, &cpu);
	fflush(stdout);
	for (i = 0; (note = ptc_decode_note(c->d, i)) != NULL; i++)
		ptc_say("%s", note);
	return exit_code_of_comparison(verdict);
}

/*
 * Check before decoding that there are samples, and a trace to compare them with. Returns -1 to
 * continue, or the exit code.
 */
static int check_samples_and_trace(const struct args *a, const struct ptc_compare_total *t)
{
	if (!t->samples) {
		ptc_say("nothing to compare: '%s' has no samples with branch stacks; `ptcap record "
			"--lbr` records them beside the trace",
			a->input);
		return PTC_EXIT_NOTHING;
	}
	if (!t->traced) {
		ptc_say("nothing to compare with: '%s' has no Intel PT trace, only %" PRIu64
			" sample%s with branch stacks (%" PRIu64 " entries)",
			a->input, t->samples, ptc_plural(t->samples), t->entries);
		return PTC_EXIT_NOTHING;
	}
	return -1;
}

/* Decode and compare, with c->d open afterwards. Returns -1, or the exit code. */
static int replay(struct comparing *c)
{
	const struct args *a = c->a;
	struct ptc_decode_opts decode = PTC_DECODE_OPTS_INIT;
	struct ptc_compare_opts opts = PTC_COMPARE_OPTS_INIT;
	struct ptc_compare_total total = PTC_COMPARE_TOTAL_INIT;
	struct ptc_err err;

	release(c);
	decode.untraced = true;
	if (ptc_decode_open(a->input, &decode, &c->d, &err))
		return ptc_say_input_err(a->input, &err);
	c->names = (struct ptc_side_names){ find_place, c->d };
	c->sum.names = &c->names;
	opts.d = c->d;
	opts.slack_ns = c->slack_ns;
	opts.first = a->first;
	opts.last = a->last;
	opts.on_sample = on_sample;
	opts.ctx = c;
	if (ptc_compare_run(&opts, &total, &err))
		return ptc_say_err(&err);
	return check_samples_and_trace(a, &total);
}

/* As replay, and again with a tolerance if the samples' times turn out to be wrong. */
static int replay_in_time(struct comparing *c)
{
	struct ptc_err err;
	bool off;
	int code = replay(c);

	if (code >= 0)
		return code;
	if (ptc_doubts_check(&c->doubts, c->a->input, &off, &err))
		return ptc_say_err(&err);
	if (off) {
		c->slack_ns = PTC_TIMES_SLACK_NS;
		ptc_say("sample times are off by more than 2us; compared with --slack 200us");
	}
	c->list = c->a->list;
	return off || c->list ? replay(c) : -1;
}

static int compare(struct comparing *c)
{
	const struct args *a = c->a;
	int code;

	c->slack_ns = a->slack_given ? a->slack_ns : PTC_COMPARE_SLACK_NS;
	if (a->slack_given) {
		c->list = a->list;
		code = replay(c);
	} else {
		code = replay_in_time(c);
	}
	code = code < 0 ? report(c) : code;
	release(c);
	return code;
}

int ptc_cmd_compare(int argc, char **argv)
{
	struct args a = {
		.first = 1,
		.last = UINT64_MAX,
		.limits = { .min_judged_ppm = 500000 },
		.sandbox = { .finds_code = true },
	};
	int code = parse_args(argc, argv, &a);
	struct comparing *c;

	if (code >= 0)
		return code;
	if (!a.input)
		a.input = PTC_INPUT_DEFAULT;
	code = ptc_sandbox_enter_with_copy(&a.sandbox, &a.input);
	if (code)
		return code;
	if (a.other)
		return ptc_compare_runs(&(struct ptc_compare_runs){ .a = a.input,
								    .b = a.other,
								    .first = a.first,
								    .last = a.last,
								    .limits = a.limits,
								    .json = a.json,
								    .list = a.list });
	c = calloc(1, sizeof(*c));
	if (!c)
		return ptc_say_no_memory();
	c->a = &a;
	code = compare(c);
	free(c);
	return code;
}
