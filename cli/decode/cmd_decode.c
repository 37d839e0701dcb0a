/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plural.h"
#include "cli/common/cli.h"
#include "cli/common/open_chosen.h"
#include "cli/common/stream_copy.h"
#include "cli/decode/decode_args.h"
#include "cli/decode/decode_findings.h"
#include "cli/decode/empty_warnings.h"
#include "ptcap/cutout.h"

/* Report whether the two engines produced the same. Returns the exit code. */
static int tell_difference(const struct ptc_decode *d)
{
	const char *difference = ptc_decode_difference(d);
	struct ptc_engine_stats s = PTC_ENGINE_STATS_INIT;

	ptc_decode_get_engine_stats(d, &s);
	if (difference)
		ptc_say("the engines differ in %llu of %llu segments; first in %s",
			(unsigned long long)s.differing, (unsigned long long)s.pieces, difference);
	else
		ptc_say("the engines agree in %llu segment%s (%llu bytes); libipt alone decoded "
			"%llu more",
			(unsigned long long)s.pieces, ptc_plural(s.pieces),
			(unsigned long long)s.bytes, (unsigned long long)s.declined);
	return difference ? PTC_EXIT_FINDINGS : PTC_EXIT_OK;
}

/* Report what a folder of uftrace does not show. */
static void tell_uftrace(const struct ptc_uftrace *u)
{
	if (u->too_deep)
		ptc_say("%llu call%s deeper than the %d levels that uftrace shows",
			(unsigned long long)u->too_deep, u->too_deep == 1 ? " is" : "s are",
			PTC_UFTRACE_LEVELS);
}

/* Report what an FXT file does not show. */
static void tell_fxt(const struct ptc_kept_calls *k, const char *unit)
{
	if (k->merged && k->threshold < UINT64_MAX)
		ptc_say("calls shorter than %llu %s are merged into their callers",
			(unsigned long long)k->threshold, unit);
	if (k->merged)
		ptc_say("%llu of %llu calls are merged; a larger --budget shows more calls, and "
			"--time a part of the trace",
			(unsigned long long)k->merged, (unsigned long long)k->calls);
}

/* Report what the output of calls for another tool means. Returns false if there is no call. */
static bool tell_calls(const struct ptc_decode_args *a)
{
	const struct ptc_decoded_form *f = &a->out.form;
	const char *name = f->output ? f->output : "-";
	const bool by_insns = a->out.printer.by_insns;

	if (!(f->fxt ? a->out.fxt.kept.calls : a->out.uftrace.calls)) {
		ptc_say("the trace has no calls: '%s' was not written", name);
		return false;
	}
	if (f->fxt)
		tell_fxt(&a->out.fxt.kept, by_insns ? "instructions" : "ns");
	else
		tell_uftrace(&a->out.uftrace);
	if (by_insns)
		ptc_say("'%s' has instructions instead of times: 1 ns is 1 instruction", name);
	return true;
}

static bool wants_color(const struct ptc_decode_args *a)
{
	if (a->out.form.fields.n || (a->color && !strcmp(a->color, "never")))
		return false;
	return (a->color && !strcmp(a->color, "always")) || a->colors;
}

static bool wants_lines(const struct ptc_decoded_form *f)
{
	return f->inlines || f->counts == PTC_COUNTS_LINES || f->counts == PTC_COUNTS_COVERAGE ||
	       ptc_fields_have(&f->fields, PTC_FIELD_SRCLINE);
}

static struct ptc_asked_part part_of(const struct ptc_decode_args *a)
{
	return (struct ptc_asked_part){ .tid = a->tids.n,
					.cpu = a->cpus.n,
					.time = a->has_time,
					.sym = a->opts.sym ? a->opts.sym : a->out.form.choice.sym };
}

static const char *name_of(const struct ptc_decode_args *a)
{
	return a->pt ? a->pt : a->input ? a->input : "perf.data";
}

static int print_decoded_items(struct ptc_decode_args *a, struct ptc_decode *d)
{
	const struct ptc_asked_part part = part_of(a);
	struct ptc_asked asked = { .items = 0 };
	struct ptc_progress progress;
	struct ptc_decode_stats stats = PTC_DECODE_STATS_INIT;
	struct ptc_sink sink, inner = { .on_items = ptc_asked_items, .ctx = &asked };
	struct ptc_err err, end_err;
	int r, end;

	a->out.form.color = wants_color(a);
	if (ptc_decoded_begin(&a->out, d, &asked.inner, &err))
		return ptc_say_err(&err);
	sink = inner;
	if (ptc_progress_start(&progress, d, &inner)) {
		sink = (struct ptc_sink){ .on_items = ptc_progress_items, .ctx = &progress };
		a->out.progress = &progress;
	}
	r = ptc_decoded_run(&a->out, &sink, &err);
	ptc_progress_finish(&progress);
	a->out.progress = NULL;
	ptc_decode_get_stats(d, &stats);
	end = ptc_decoded_end(&a->out, r >= 0, &end_err);
	if (a->out.line->failed)
		return PTC_EXIT_FAIL; /* main reports the reason */
	if (end)
		return ptc_say_err(&end_err);
	if ((a->out.profile.refused || a->out.call_profile.refused) && !a->shard.n)
		return PTC_EXIT_FAIL; /* the reason is printed */
	if (r < 0)
		return ptc_say_err(&err);
	ptc_say_findings(d, &stats);
	if (wants_lines(&a->out.form))
		ptc_say_without_lines(d);
	if (!a->shard.n && ptc_asked_any(&part) &&
	    !(a->out.form.choice.sym ? a->out.calls.view.found : asked.items))
		return ptc_asked_say_none(&part, d, name_of(a));
	if (!stats.aux_bytes && !a->shard.n) {
		ptc_say("'%s' has no trace to decode", name_of(a));
		return PTC_EXIT_NOTHING;
	}
	if ((a->out.form.uftrace || a->out.form.fxt) && !tell_calls(a))
		return PTC_EXIT_NOTHING;
	r = a->opts.engine == PTC_ENGINE_VERIFY ? tell_difference(d) : PTC_EXIT_OK;
	return a->strict && ptc_count_gaps(&stats) ? PTC_EXIT_FINDINGS : r;
}

/*
 * Run with a pager. To be called when there is output, so that errors do not disappear in the
 * pager.
 */
static int run_paged(struct ptc_decode_args *a, struct ptc_decode *d, struct ptc_pager *pager)
{
	int code;

	a->colors = ptc_terminal_has_colors();
	if (!a->full_names && isatty(STDOUT_FILENO))
		a->out.form.width = ptc_terminal_columns();
	ptc_pager_start(pager);
	code = print_decoded_items(a, d);
	return ptc_pager_finish(pager) || code ? code : PTC_EXIT_FAIL;
}

/* A recording of one shard has more trace than the shard. */
static void tell_cutout(const struct ptc_decode_args *a, const struct ptc_decode *d)
{
	uint32_t i, n;

	if (!a->shard.n && ptc_decode_is_cutout(d, &i, &n))
		ptc_say("'%s' has shard %u of %u, and some trace around the shard; --shard %u/%u "
			"prints the shard alone",
			name_of(a), i, n, i, n);
}

/* Is the recording opened a second time, for signatures of crashes? */
static bool explains_crashes(const struct ptc_decoded_form *f)
{
	return f->arrow && f->shard.i <= 1 && f->tables >> PTC_ARROW_CRASHES & 1;
}

/* Enters the sandbox, and opens the recording. Returns 0 or an exit code. */
static int open_recording(struct ptc_decode_args *a, struct ptc_chosen *c, struct ptc_decode **ret)
{
	const bool twice = explains_crashes(&a->out.form);
	const int code = twice ? ptc_sandbox_enter_with_copy(&a->sandbox, &c->input) : 0;

	a->out.form.input = c->input;
	a->out.form.code = &a->code;
	return code ? code : ptc_open_chosen(twice ? NULL : &a->sandbox, c, ret);
}

static int decode_recording(struct ptc_decode_args *a)
{
	struct ptc_chosen chosen = { .input = name_of(a),
				     .pt = a->pt,
				     .raw = a->raw.v,
				     .nraw = a->raw.n,
				     .opts = &a->opts,
				     .time = a->has_time ? &a->time : NULL,
				     .shard = a->shard };
	struct ptc_pager pager = PTC_PAGER_INIT;
	struct ptc_decode *d;
	int code = ptc_choose_code(a->debuginfod, &a->code);

	if (code)
		return code;
	if (a->out.call_profile.kind == PTC_CALL_PROFILE_PPROF && isatty(STDOUT_FILENO))
		return ptc_usage_error("decode", "standard output is a terminal; redirect the "
						 "profile to a file");
	if (!a->no_pager && !a->out.form.bin && !a->out.form.stats && !a->out.form.uftrace &&
	    !a->out.form.fxt && !a->out.form.arrow)
		ptc_pager_prepare(&pager);
	a->sandbox.output = a->out.form.output;
	a->sandbox.finds_code = true;
	code = open_recording(a, &chosen, &d);
	if (code)
		return code;
	tell_cutout(a, d);
	code = run_paged(a, d, &pager);
	ptc_decode_free(d);
	return code;
}

int ptc_cmd_decode(int argc, char **argv)
{
	struct ptc_decode_args a;
	int code = ptc_decode_args_parse(&a, argc, argv);

	if (code < 0)
		code = decode_recording(&a);
	ptc_decode_args_release(&a);
	return code;
}
