/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader.h"
#include "cli.h"
#include "compare_report.h"
#include "decode/compare.h"

struct args {
	const char *input;
	bool json;
	uint64_t first, last; /* --samples */
	uint64_t slack_ns;
	uint64_t max_wrong_ppm, min_judged_ppm;
};

static void help(void)
{
	printf("usage: ptcap compare [-i FILE] [OPTIONS]\n"
	       "Hold the branch stacks of a recording's samples (LBR) against its trace of the "
	       "same\n"
	       "moments: a verdict for each entry.\n\n"
	       "  -i, --input=FILE      the recording (default: perf.data)\n"
	       "      --samples=A,B     only the samples number A to B, by time, from 1; either "
	       "may "
	       "be\n"
	       "                        missing\n"
	       "      --slack=TIME      by how much times may be wrong (default: 2us)\n"
	       "      --max-wrong=PERCENT\n"
	       "                        of the judged entries wrong, or missing ones, are no "
	       "findings\n"
	       "                        (default: 0)\n"
	       "      --min-judged=PERCENT\n"
	       "                        of the entries have to be judged (default: 50)\n"
	       "      --format=FORMAT   text (default) or json, see doc/json.md\n"
	       "  -h, --help            this text\n\n"
	       "Exit code 0: what was judged is as traced; 3: it is not; 4: too little was "
	       "judged.\n");
}

/* "A,B", "A," or ",B" */
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

/* A percentage with up to four decimals, in parts of a million. */
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

enum { OPT_SAMPLES = 256, OPT_SLACK, OPT_MAX_WRONG, OPT_MIN_JUDGED, OPT_FORMAT };

static int set_option(struct args *a, int c, const char *text)
{
	switch (c) {
	case 'i':
		a->input = text;
		return 0;
	case OPT_SAMPLES:
		return parse_samples(text, a) ?
			       0 :
			       ptc_usage_error("compare", "'%s' is not A,B: numbers of samples",
					       text);
	case OPT_SLACK:
		return ptc_parse_duration(text, &a->slack_ns) ?
			       0 :
			       ptc_usage_error("compare", "'%s' is no duration", text);
	case OPT_MAX_WRONG:
	case OPT_MIN_JUDGED:
		return parse_percent(text,
				     c == OPT_MAX_WRONG ? &a->max_wrong_ppm : &a->min_judged_ppm) ?
			       0 :
			       ptc_usage_error("compare", "'%s' is no percentage", text);
	default:
		a->json = !strcmp(text, "json");
		return a->json || !strcmp(text, "text") ?
			       0 :
			       ptc_usage_error("compare", "no format '%s': text or json", text);
	}
}

/* -1: go on; else the exit code. */
static int parse(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{ "input", required_argument, NULL, 'i' },
		{ "samples", required_argument, NULL, OPT_SAMPLES },
		{ "slack", required_argument, NULL, OPT_SLACK },
		{ "max-wrong", required_argument, NULL, OPT_MAX_WRONG },
		{ "min-judged", required_argument, NULL, OPT_MIN_JUDGED },
		{ "format", required_argument, NULL, OPT_FORMAT },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":i:h", options, NULL)) != -1) {
		if (c == ':' || c == '?')
			return ptc_option_error("compare", argv, c);
		if (c == 'h') {
			help();
			return PTC_EXIT_OK;
		}
		if (set_option(a, c, optarg))
			return PTC_EXIT_USAGE;
	}
	if (optind < argc)
		return ptc_usage_error("compare", "what is '%s'? a recording is named with -i",
				       argv[optind]);
	if (!strcmp(a->input, "-"))
		return ptc_usage_error("compare", "a recording is read twice: not from standard "
						  "input");
	return -1;
}

static bool on_sample(void *ctx, const struct ptc_compare_sample *s)
{
	return ptc_compare_sum_add(ctx, s);
}

static char *function_at(void *ctx, const struct ptc_item *where, uint64_t ip)
{
	uint64_t off;
	const char *name = ptc_decode_symbol(ctx, where, ip, &off);
	char *text;

	return name && asprintf(&text, "%s+0x%" PRIx64, name, off) >= 0 ? text : NULL;
}

/* Is @part more than so many parts of a million of @whole? */
static bool is_above(uint64_t part, uint64_t whole, uint64_t ppm)
{
	return (double)part * 1e6 > (double)whole * (double)ppm;
}

static int judge(const struct args *a, const struct ptc_compare_sum *s)
{
	const uint64_t wrong = s->all.wrong + s->all.missing;

	if (is_above(wrong, s->all.judged, a->max_wrong_ppm) ||
	    s->patterns & 1u << PTC_PATTERN_SHIFT)
		return PTC_EXIT_FINDINGS;
	if (!s->all.judged || !is_above(s->all.judged + 1, s->entries, a->min_judged_ppm)) {
		ptc_say("too little could be judged: %" PRIu64 " of %" PRIu64 " entries",
			s->all.judged, s->entries);
		return PTC_EXIT_NOTHING;
	}
	return PTC_EXIT_OK;
}

static int report(const struct args *a, struct ptc_compare_sum *s, struct ptc_decode *d)
{
	const char *note;
	size_t i;

	ptc_compare_sum_finish(s);
	if (!a->json)
		ptc_compare_print_text(s);
	else if (!ptc_compare_print_json(s)) {
		ptc_say("out of memory");
		return PTC_EXIT_FAIL;
	}
	fflush(stdout);
	for (i = 0; (note = ptc_decode_note(d, i)) != NULL; i++)
		ptc_say("%s", note);
	return judge(a, s);
}

static int compare(const struct args *a, const struct ptc_file *f, struct ptc_decode *d)
{
	struct ptc_compare_sum *s = calloc(1, sizeof(*s));
	struct ptc_compare_opts opts = { .slack_ns = a->slack_ns,
					 .first = a->first,
					 .last = a->last,
					 .d = d,
					 .file = f,
					 .on_sample = on_sample,
					 .ctx = s };
	uint64_t samples;
	struct ptc_err err;
	int code;

	if (!s) {
		ptc_say("out of memory");
		return PTC_EXIT_FAIL;
	}
	s->name = function_at;
	s->ctx = d;
	if (ptc_compare_run(&opts, &samples, &err)) {
		code = ptc_say_err(&err);
	} else if (!samples) {
		ptc_say("nothing to compare: '%s' has no samples with branch stacks", a->input);
		code = PTC_EXIT_NOTHING;
	} else {
		code = report(a, s, d);
	}
	ptc_compare_sum_release(s);
	free(s);
	return code;
}

static int open_and_compare(const struct args *a)
{
	struct ptc_decode *d;
	struct ptc_file *f;
	struct ptc_err err;
	int code;

	if (ptc_file_open(a->input, &f, &err))
		return ptc_say_input_err(a->input, &err);
	if (!ptc_decode_open(a->input, NULL, &d, &err)) {
		code = compare(a, f, d);
		ptc_decode_free(d);
	} else if (err.code == PTC_E_NOT_EXIST) {
		ptc_say("nothing to compare with: %s", err.msg);
		code = PTC_EXIT_NOTHING;
	} else {
		code = ptc_say_err(&err);
	}
	ptc_file_free(f);
	return code;
}

int ptc_cmd_compare(int argc, char **argv)
{
	struct args a = { .input = "perf.data",
			  .first = 1,
			  .last = UINT64_MAX,
			  .slack_ns = PTC_COMPARE_SLACK_NS,
			  .min_judged_ppm = 500000 };
	const int code = parse(argc, argv, &a);

	return code < 0 ? open_and_compare(&a) : code;
}
