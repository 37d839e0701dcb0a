/* SPDX-License-Identifier: MIT */
#include "cli/decode/decode_sink.h"

#include "base/err.h"
#include "cli/decode/out_coverage.h"
#include "ptcap/lookup.h"

enum { PRINTERS_MAX = 16 /* more threads would wait for the output */ };

/* Bytes. Viewers need several times as much memory. */
#define DEFAULT_BUDGET (UINT64_C(100) << 20)

int ptc_decoded_sums(void *ctx, const struct ptc_sums *sums)
{
	struct ptc_decoded *o = ctx;

	if (o->progress)
		ptc_progress_at(o->progress, sums->last_ns);
	return ptc_totals_sums(&o->totals, sums);
}

static bool is_first_shard(const struct ptc_decoded_form *f)
{
	return f->shard.i <= 1;
}

/* Takes items in front of the shard, which are not printed. */
static bool take_before(struct ptc_decoded *o, const struct ptc_item *items, size_t n)
{
	if (o->form.bin)
		ptc_print_bin_before(&o->bin, items, n);
	else if (o->profile.kind)
		return ptc_counts_before(&o->profile.blocks, items, n);
	else if (o->call_profile.kind)
		return ptc_call_profile_before(&o->call_profile, items, n);
	else if (o->form.counts)
		return ptc_counts_before(&o->counts, items, n);
	else if (o->threads)
		ptc_print_threads_before(o->threads, items, n);
	else if (o->form.insn)
		ptc_print_insn_before(&o->printer, items, n);
	return true;
}

static int shard_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_decoded *o = ctx;
	size_t before = 0;

	while (before < n && items[before].flags & PTC_ITEM_BEFORE)
		before++;
	if (before && !take_before(o, items, before))
		return 1;
	return before < n ? o->inner.on_items(o->inner.ctx, items + before, n - before) : 0;
}

static struct ptc_sink printer_of(struct ptc_decoded *o)
{
	const struct ptc_decoded_form *f = &o->form;
	const unsigned int printers = f->jobs < PRINTERS_MAX ? f->jobs : PRINTERS_MAX;
	struct ptc_sink sink = { .on_items = ptc_print_text, .ctx = &o->printer };

	if (f->bin) {
		ptc_print_bin_begin(&o->bin, f->icount, is_first_shard(f));
		return (struct ptc_sink){ ptc_print_bin, &o->bin };
	}
	if (f->insn)
		sink.on_items = ptc_print_insn;
	else if (f->json)
		sink.on_items = ptc_print_json;
	if (printers > 1)
		o->threads = ptc_print_threads_new(&o->printer, sink.on_items, printers);
	if (o->threads)
		return (struct ptc_sink){ ptc_print_threads_items, o->threads };
	return sink;
}

static int begin_arrow(struct ptc_decoded *o, struct ptc_decode *d, struct ptc_sink *ret,
		       struct ptc_err *err)
{
	const struct ptc_arrow_opts opts = { .path = o->form.output,
					     .recording = o->form.recording,
					     .input = o->form.input,
					     .code = o->form.code,
					     .tables = o->form.tables,
					     .inlines = o->form.inlines,
					     .is_shard = o->form.shard.n,
					     .no_crashes = !is_first_shard(&o->form) };

	*ret = (struct ptc_sink){ ptc_arrow_items, &o->arrow };
	return ptc_arrow_open(&o->arrow, d, &opts, err);
}

/* Begins a file or folder of calls for another tool. */
static int begin_timeline(struct ptc_decoded *o, struct ptc_decode *d, struct ptc_sink *ret,
			  struct ptc_err *err)
{
	const struct ptc_decoded_form *f = &o->form;
	const struct ptc_fxt_opts fxt = { .path = f->output,
					  .inlines = f->inlines,
					  .by_insns = o->printer.by_insns,
					  .limit = f->budget ? f->budget : DEFAULT_BUDGET };

	if (f->fxt) {
		*ret = (struct ptc_sink){ ptc_fxt_items, &o->fxt };
		return ptc_fxt_open(&o->fxt, d, &fxt, err);
	}
	*ret = (struct ptc_sink){ ptc_uftrace_items, &o->uftrace };
	return ptc_uftrace_open(&o->uftrace, d, f->output, f->inlines, o->printer.by_insns, err);
}

int ptc_decoded_begin(struct ptc_decoded *o, struct ptc_decode *d, struct ptc_sink *ret,
		      struct ptc_err *err)
{
	static struct ptc_line line;
	const struct ptc_decoded_form *f = &o->form;

	o->d = d;
	o->line = &line;
	o->printer = (struct ptc_printer){
		.d = d,
		.fields = f->fields,
		.line = &line,
		.color = f->color,
		.inlines = f->inlines,
		.width = f->width,
		.icount = f->icount,
	};
	o->printer.by_insns = f->axis == PTC_AXIS_INSNS ||
			      (f->axis == PTC_AXIS_AUTO && ptc_decode_is_of_software(d));
	o->counts = (struct ptc_counts){ .of = f->counts, .d = d };
	ptc_profile_init(&o->profile, d);
	o->profile.is_shard = f->shard.n;
	if (f->json && !f->stats && !f->counts && is_first_shard(f))
		ptc_print_json_head(&line);
	if (f->arrow)
		return begin_arrow(o, d, ret, err);
	if (f->uftrace || f->fxt)
		return begin_timeline(o, d, ret, err);
	if (f->stats)
		*ret = (struct ptc_sink){ .on_items = ptc_totals_items, .ctx = &o->totals };
	else if (o->profile.kind)
		*ret = (struct ptc_sink){ .on_items = ptc_profile_items, .ctx = &o->profile };
	else if (f->counts)
		*ret = (struct ptc_sink){ .on_items = ptc_counts_items, .ctx = &o->counts };
	else if (f->calls)
		*ret = (struct ptc_sink){ .on_items = ptc_print_calls, .ctx = &o->calls };
	else if (!o->call_profile.kind)
		*ret = printer_of(o);
	else if (!ptc_call_profile_begin(&o->call_profile, d, &line, ret))
		return ptc_fail_mem(err);
	if (f->calls &&
	    ptc_calls_printer_init(&o->calls, d, &line,
				   &(struct ptc_calls_form){ .json = f->json,
							     .inlines = f->inlines,
							     .by_insns = o->printer.by_insns,
							     .width = f->width,
							     .mangled = f->mangled,
							     .choice = f->choice }))
		return ptc_fail_mem(err);
	if (f->shard.n) {
		o->inner = *ret;
		*ret = (struct ptc_sink){ shard_items, o };
	}
	return 0;
}

int ptc_decoded_run(struct ptc_decoded *o, const struct ptc_sink *sink, struct ptc_err *err)
{
	return o->threads ? ptc_print_threads_run(o->threads, sink, err) :
			    ptc_decode_run(o->d, sink, err);
}

static bool print_counts(struct ptc_decoded *o)
{
	if (o->profile.kind)
		return ptc_profile_print(&o->profile, o->line);
	if (o->call_profile.kind)
		return ptc_call_profile_print(&o->call_profile, o->line);
	if (o->counts.failed || !ptc_counts_sort(&o->counts))
		return false;
	if (o->form.lcov)
		return ptc_lcov_print(&o->counts, o->line);
	return ptc_counts_print(&o->counts, o->line, o->form.most, o->form.width, o->form.json);
}

static int end_uftrace(struct ptc_decoded *o, bool whole, struct ptc_err *err)
{
	int rc = 0;

	*err = o->uftrace.err;
	if (o->uftrace.failed)
		rc = err->code;
	else if (whole)
		rc = ptc_uftrace_finish(&o->uftrace, err);
	ptc_uftrace_release(&o->uftrace);
	return rc;
}

static int end_fxt(struct ptc_decoded *o, bool whole, struct ptc_err *err)
{
	int rc = 0;

	*err = o->fxt.err;
	if (o->fxt.failed)
		rc = err->code;
	else if (whole)
		rc = ptc_fxt_finish(&o->fxt, err);
	ptc_fxt_close(&o->fxt);
	return rc;
}

static int end_arrow(struct ptc_decoded *o, bool whole, struct ptc_err *err)
{
	int rc = 0;

	*err = o->arrow.err;
	if (o->arrow.failed)
		rc = err->code;
	else if (whole)
		rc = ptc_arrow_finish(&o->arrow, err);
	ptc_arrow_close(&o->arrow);
	return rc;
}

int ptc_decoded_end(struct ptc_decoded *o, bool whole, struct ptc_err *err)
{
	bool ok = !o->counts.failed && !o->call_profile.failed;

	ptc_print_threads_free(o->threads);
	if (o->form.uftrace)
		return end_uftrace(o, whole, err);
	if (o->form.fxt)
		return end_fxt(o, whole, err);
	if (o->form.arrow)
		return end_arrow(o, whole, err);
	if (o->form.calls) {
		ptc_calls_printer_finish(&o->calls);
		ok = !o->calls.failed;
	}
	if (o->form.stats && whole)
		ptc_totals_print(&o->totals, o->d, o->line, o->form.json);
	if ((o->form.counts || o->profile.kind || o->call_profile.kind) && whole)
		ok = print_counts(o);
	if (o->form.json && whole)
		ptc_print_json_missing(o->d, o->line);
	if (o->form.bin && !ptc_print_bin_end(&o->bin))
		o->line->failed = true;
	ptc_printer_release(&o->printer);
	ptc_counts_release(&o->counts);
	ptc_profile_release(&o->profile);
	ptc_call_profile_release(&o->call_profile);
	ptc_line_flush(o->line);
	if (o->line->failed)
		return PTC_E_IO;
	return ok ? 0 : ptc_fail_mem(err);
}
