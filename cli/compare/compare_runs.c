/* SPDX-License-Identifier: MIT */
#include "cli/compare/compare_runs.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/common/cli.h"
#include "cli/compare/other_report.h"
#include "ptcap/compare_runs.h"
#include "ptcap/lookup.h"

struct comparing_runs {
	const struct ptc_compare_runs *args;
	struct ptc_decode *a, *b; /* owned */
	struct ptc_other_sum sum;
	struct ptc_runs_total total;
};

static bool on_other_sample(void *ctx, const struct ptc_runs_sample *s)
{
	struct comparing_runs *c = ctx;

	ptc_other_sum_add(&c->sum, s);
	return !c->args->list || ptc_other_list(s, c->a, c->args->json);
}

static void say_notes(const struct ptc_decode *d)
{
	const char *note;
	size_t i;

	for (i = 0; (note = ptc_decode_note(d, i)) != NULL; i++)
		ptc_say("%s", note);
}

static int report_runs(struct comparing_runs *c)
{
	struct ptc_other_report r = { .sum = &c->sum, .total = &c->total };
	bool ok = true;

	r.verdict = ptc_other_judge(&c->sum, &c->args->limits);
	ptc_recorded_cpu_read(&r.cpu, ptc_decode_recording(c->a));
	r.trace_software = ptc_file_software_source(ptc_decode_recording(c->b));
	if (c->args->json)
		ok = ptc_other_print_json(&r);
	else
		ptc_other_print_text(&r);
	if (!ok)
		return ptc_say_no_memory();
	fflush(stdout);
	say_notes(c->b);
	return r.verdict == PTC_STACKS_RIGHT ? PTC_EXIT_OK :
	       r.verdict == PTC_STACKS_WRONG ? PTC_EXIT_FINDINGS :
					       PTC_EXIT_NOTHING;
}

static int open_runs(struct comparing_runs *c)
{
	struct ptc_decode_opts decode = PTC_DECODE_OPTS_INIT;
	struct ptc_err err;

	decode.untraced = true;
	if (ptc_decode_open(c->args->a, &decode, &c->a, &err))
		return ptc_say_input_err(c->args->a, &err);
	if (ptc_decode_open(c->args->b, &decode, &c->b, &err))
		return ptc_say_input_err(c->args->b, &err);
	return 0;
}

static int judge_runs(struct comparing_runs *c)
{
	struct ptc_runs_opts opts = PTC_RUNS_OPTS_INIT;
	struct ptc_err err;
	int rc;

	opts.a = c->a;
	opts.b = c->b;
	opts.first = c->args->first;
	opts.last = c->args->last;
	opts.on_sample = on_other_sample;
	opts.ctx = c;
	rc = ptc_runs_compare(&opts, &c->total, &err);
	if (rc == PTC_E_NOT_EXIST) {
		ptc_say("nothing to compare: %s", err.msg);
		return PTC_EXIT_NOTHING;
	}
	if (rc)
		return ptc_say_err(&err);
	if (!c->total.samples) {
		ptc_say("nothing to compare: '%s' has no samples with branch stacks", c->args->a);
		return PTC_EXIT_NOTHING;
	}
	if (!c->total.traced) {
		ptc_say("nothing to compare with: '%s' has no Intel PT trace", c->args->b);
		return PTC_EXIT_NOTHING;
	}
	return report_runs(c);
}

int ptc_compare_runs(const struct ptc_compare_runs *args)
{
	struct comparing_runs c = { .args = args, .total = PTC_RUNS_TOTAL_INIT };
	int code = open_runs(&c);

	if (!code)
		code = judge_runs(&c);
	ptc_decode_free(c.a);
	ptc_decode_free(c.b);
	return code;
}
