/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "cli/common/cli.h"
#include "cli/common/open_chosen.h"
#include "cli/common/terminal.h"
#include "cli/decode/decode_findings.h"
#include "cli/decode/empty_warnings.h"
#include "cli/report/report.h"
#include "cli/report/report_part.h"
#include "ptcap/lookup.h"

static const char *recording_name(const struct ptc_report_args *a)
{
	return a->pt ? a->pt : a->input ? a->input : PTC_INPUT_DEFAULT;
}

static struct ptc_asked_part asked_part(const struct ptc_report_args *a)
{
	return (struct ptc_asked_part){
		.tid = a->tids.n, .cpu = a->cpus.n, .time = a->time_text, .sym = a->function
	};
}

/* ptc_sink.on_items; ctx is a struct ptc_report. */
static int sum_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_report *r = ctx;
	size_t i;

	for (i = 0; i < n; i++)
		r->insns += items[i].insns;
	return ptc_call_stream_items(&r->stream, items, n);
}

/* Decode to @own. Returns 0, or an exit code after a message. */
static int run_decode(struct ptc_report *r, struct ptc_sink own, uint64_t *ret_items)
{
	struct ptc_asked asked = { .inner = own };
	struct ptc_sink sink, inner = { ptc_asked_items, &asked };
	struct ptc_progress progress;
	struct ptc_err err;
	const bool shows = ptc_progress_start(&progress, r->d, &inner);
	int rc;

	sink = shows ? (struct ptc_sink){ ptc_progress_items, &progress } : inner;
	rc = ptc_decode_run(r->d, &sink, &err);
	if (shows)
		ptc_progress_finish(&progress);
	if (rc < 0 && err.code != PTC_E_STOPPED)
		return ptc_say_err(&err);
	*ret_items = asked.items;
	return rc < 0 ? ptc_say_no_memory() : 0;
}

/* Decode, and sum all calls. Returns 0, or an exit code after a message. */
static int sum_recording(struct ptc_report *r, uint64_t *ret_items)
{
	const int code = run_decode(r, (struct ptc_sink){ sum_items, r }, ret_items);

	if (code)
		return code;
	if (ptc_call_stream_finish(&r->stream))
		return ptc_say_no_memory();
	ptc_function_sums_finish(&r->sums);
	ptc_function_focus_sort(&r->focus);
	r->insns -= r->sums.left_out;
	return ptc_report_sort_rows(r) ? 0 : ptc_say_no_memory();
}

static bool print_rows(const struct ptc_report *r)
{
	bool whole;

	if (r->args->format == PTC_REPORT_JSON)
		whole = ptc_report_json(r);
	else
		whole = r->args->format == PTC_REPORT_CSV ? ptc_report_csv(r) : ptc_report_text(r);
	ptc_line_flush(r->line);
	return whole;
}

/* Report what the recording lacks. Returns the exit code. */
static int judge(const struct ptc_report *r, uint64_t items)
{
	const struct ptc_asked_part part = asked_part(r->args);
	struct ptc_decode_stats stats = PTC_DECODE_STATS_INIT;

	ptc_decode_get_stats(r->d, &stats);
	ptc_say_findings(r->d, &stats);
	if (r->args->inlines || r->args->slowest)
		ptc_say_without_lines(r->d);
	if (!r->args->shard.n && ptc_asked_any(&part) && (!items || (part.sym && !r->focus.found)))
		return ptc_asked_say_none(&part, r->d, recording_name(r->args));
	if (!stats.aux_bytes && !r->args->shard.n) {
		ptc_say("'%s' has no trace to decode", recording_name(r->args));
		return PTC_EXIT_NOTHING;
	}
	return r->args->strict && ptc_count_gaps(&stats) ? PTC_EXIT_FINDINGS : PTC_EXIT_OK;
}

/* The pager starts only when there is output, so that errors do not disappear in it. */
static int print_report(struct ptc_report *r, struct ptc_pager *pager, uint64_t items)
{
	int code;

	r->width = r->args->full_names ? 0 : ptc_terminal_columns();
	ptc_pager_start(pager);
	if (!print_rows(r))
		code = ptc_say_no_memory();
	else
		code = r->line->failed ? PTC_EXIT_FAIL : judge(r, items);
	return ptc_pager_finish(pager) || code ? code : PTC_EXIT_FAIL;
}

/* Decode a shard, and print it for `ptcap sum`. */
static int report_shard(struct ptc_report *r)
{
	struct ptc_report_part part = { .n = 0 };
	uint64_t items = 0;
	int code;

	ptc_report_choose_axis(r);
	code = ptc_report_part_begin(&part, r) ? 0 : ptc_say_no_memory();
	if (!code)
		code = run_decode(r, (struct ptc_sink){ ptc_report_part_items, &part }, &items);
	if (!code && !ptc_report_part_end(&part))
		code = ptc_say_no_memory();
	ptc_line_flush(r->line);
	if (!code)
		code = r->line->failed ? PTC_EXIT_FAIL : judge(r, items);
	ptc_report_part_release(&part);
	return code;
}

static int report_decoded(const struct ptc_report_args *a, struct ptc_decode *d,
			  struct ptc_pager *pager)
{
	static struct ptc_line line;
	struct ptc_report r = { .args = a, .d = d, .line = &line };
	const struct ptc_call_stream_opts opts = {
		.d = d, .inlines = a->inlines, .on_event = ptc_function_sums_event, .ctx = &r.sums
	};
	uint64_t items = 0;
	int code;

	if (a->shard.n)
		return report_shard(&r);
	if (ptc_call_stream_init(&r.stream, &opts))
		return ptc_say_no_memory();
	r.sums.stream = &r.stream;
	r.sums.is_part = a->time_text;
	r.sums.group_of = a->by ? ptc_report_group_of : NULL;
	r.sums.ctx = &r;
	ptc_report_choose_axis(&r);
	if (a->function) {
		r.focus = (struct ptc_function_focus){ .stream = &r.stream,
						       .name = a->function,
						       .axis = r.axis,
						       .plain = a->opts.mangled ?
									NULL :
									ptc_demangle(a->function),
						       .slowest = { .max = (size_t)a->slowest } };
		r.sums.focus = &r.focus;
	}
	code = sum_recording(&r, &items);
	if (!code)
		code = print_report(&r, pager, items);
	ptc_report_release_rows(&r);
	ptc_function_focus_release(&r.focus);
	ptc_function_sums_release(&r.sums);
	ptc_call_stream_release(&r.stream);
	return code;
}

static int report_recording(struct ptc_report_args *a)
{
	const struct ptc_chosen chosen = { .input = recording_name(a),
					   .pt = a->pt,
					   .raw = a->raw.v,
					   .nraw = a->raw.n,
					   .opts = &a->opts,
					   .time = a->time_text ? &a->time : NULL,
					   .shard = a->shard };
	struct ptc_pager pager = PTC_PAGER_INIT;
	struct ptc_decode *d;
	int code = ptc_choose_code(a->debuginfod, &a->code);

	if (code)
		return code;
	if (!a->no_pager && a->format == PTC_REPORT_TEXT && !a->shard.n)
		ptc_pager_prepare(&pager);
	a->sandbox.finds_code = true;
	code = ptc_open_chosen(&a->sandbox, &chosen, &d);
	if (code)
		return code;
	code = report_decoded(a, d, &pager);
	ptc_decode_free(d);
	return code;
}

int ptc_cmd_report(int argc, char **argv)
{
	struct ptc_report_args a;
	int code = ptc_report_args_parse(&a, argc, argv);

	if (code < 0)
		code = report_recording(&a);
	ptc_report_args_release(&a);
	return code;
}
