/* SPDX-License-Identifier: MIT */
/* The interface for users of the library: a decode from its opening to its results. */
#include "decode/session/decoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/opts.h"
#include "decode/segment/segment.h"
#include "decode/session/last_n.h"
#include "decode/session/shard_choice.h"
#include "ptcap/cutout.h"
#include "ptcap/lookup.h"

static int begin_decode(struct ptc_decode *d, const struct ptc_decode_opts *opts,
			struct ptc_err *err)
{
	const int r = ptc_decode_input_begin(&d->in, opts, err);

	d->pass.in = &d->in;
	d->pass.to_ns = d->pick.to = d->pass.shard.to_ns = UINT64_MAX;
	d->pick.d = d;
	d->pick.sym = d->in.opts.sym;
	d->pick.count_insns = d->in.opts.icount;
	d->pick.insns.d = d;
	if (!r && d->pick.sym && !d->in.opts.mangled)
		d->pick.plain = ptc_demangle(d->pick.sym);
	return r;
}

/* @r: whether opening failed, which frees @d. */
static int end_opening(struct ptc_decode *d, int r, struct ptc_decode **ret)
{
	if (r < 0)
		ptc_decode_free(d);
	else
		*ret = d;
	return r < 0 ? r : 0;
}

int ptc_decode_open(const char *path, const struct ptc_decode_opts *opts, struct ptc_decode **ret,
		    struct ptc_err *err)
{
	struct ptc_decode *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return ptc_fail_mem(err);
	r = begin_decode(d, opts, err);
	if (!r)
		r = ptc_decode_input_open(&d->in, path, err);
	return end_opening(d, r, ret);
}

int ptc_decode_open_raw(const char *pt_path, const struct ptc_raw_code *code, size_t n,
			const struct ptc_decode_opts *opts, struct ptc_decode **ret,
			struct ptc_err *err)
{
	struct ptc_decode *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return ptc_fail_mem(err);
	r = begin_decode(d, opts, err);
	if (!r)
		r = ptc_decode_input_open_raw(&d->in, pt_path, code, n, err);
	return end_opening(d, r, ret);
}

void ptc_decode_free(struct ptc_decode *d)
{
	if (!d)
		return;
	ptc_pass_end(&d->pass);
	ptc_item_filter_release(&d->pick);
	ptc_srclines_release(&d->srclines);
	ptc_code_numbers_release(&d->code_numbers);
	ptc_decode_input_release(&d->in);
	ptc_pass_release(&d->pass);
	free(d);
}

static int run_picked(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err)
{
	const struct ptc_sink picked = { ptc_item_filter_items, &d->pick };
	int r;

	d->pick.sink = sink;
	r = ptc_pass_run(&d->pass, &picked, err);
	d->pass.stats.branches = d->pick.branches;
	memcpy(d->pass.stats.gaps, d->pick.gaps, sizeof(d->pass.stats.gaps));
	return d->pick.failed ? ptc_fail_mem(err) : r;
}

int ptc_decode_run(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err)
{
	const bool first = !d->ran;
	int r;

	if (!first && !d->pass.paused)
		return ptc_fail(err, PTC_E_USAGE, "this recording was already decoded");
	d->ran = true;
	if (d->in.opts.last && first) {
		r = ptc_last_find(&d->pass, &d->pick.skip, err);
		if (r < 0)
			return r;
	}
	return ptc_item_filter_is_needed(&d->pick) ? run_picked(d, sink, err) :
						     ptc_pass_run(&d->pass, sink, err);
}

int ptc_decode_get_times(const struct ptc_decode *d, uint64_t *ret_first_ns, uint64_t *ret_last_ns,
			 struct ptc_err *err)
{
	uint64_t first, last, low = UINT64_MAX, high = 0;
	size_t i;

	for (i = 0; i < d->in.nlanes; i++) {
		if (!ptc_range_times(&d->in.lanes[i].stream, &d->in.clock, &first, &last))
			continue;
		low = first < low ? first : low;
		high = last > high ? last : high;
	}
	if (low > high)
		return ptc_fail(err, PTC_E_NOT_EXIST, "the trace has no times");
	*ret_first_ns = low;
	*ret_last_ns = high;
	return 0;
}

int ptc_decode_choose_time(struct ptc_decode *d, uint64_t from_ns, uint64_t to_ns,
			   struct ptc_err *err)
{
	size_t i;

	if (d->in.opts.last || d->ran)
		return ptc_fail(
			err, PTC_E_USAGE,
			"--time must be set before decoding, and cannot be combined with --last");
	if (d->sharded)
		return ptc_fail(err, PTC_E_USAGE, "--time cannot be combined with --shard");
	if (!d->in.clock.valid)
		return ptc_fail(err, PTC_E_NOT_EXIST, "the trace has no times");
	d->pick.from = d->pass.from_ns = from_ns;
	d->pick.to = d->pass.to_ns = to_ns;
	for (i = 0; i < d->in.nlanes; i++)
		d->in.lanes[i].start =
			ptc_range_at_time(&d->in.lanes[i].stream, &d->in.clock, from_ns);
	return 0;
}

/* Checks shard @i of @n, and that nothing excludes it. */
static int check_shard(const struct ptc_decode *d, uint32_t i, uint32_t n, struct ptc_err *err)
{
	if (!i || i > n)
		return ptc_fail(err, PTC_E_USAGE,
				"shard %u of %u: a shard is 1 to the number of shards", i, n);
	if (d->in.opts.last || d->ran || d->sharded)
		return ptc_fail(
			err, PTC_E_USAGE,
			"--shard must be set before decoding, and cannot be combined with --last");
	if (d->pick.from || d->pick.to != UINT64_MAX)
		return ptc_fail(err, PTC_E_USAGE, "--time cannot be combined with --shard");
	if (d->in.opts.icount && !d->in.opts.before)
		return ptc_fail(err, PTC_E_USAGE,
				"a shard does not know how many instructions ran before it");
	return 0;
}

int ptc_decode_choose_shard(struct ptc_decode *d, uint32_t i, uint32_t n, struct ptc_err *err)
{
	const int rc = check_shard(d, i, n, err);

	if (rc)
		return rc;
	d->sharded = true;
	return ptc_shard_choose(&d->pass, i, n, err);
}

int ptc_decode_get_cutout(struct ptc_decode *d, uint32_t i, uint32_t n, struct ptc_cutout *ret,
			  struct ptc_err *err)
{
	int rc;

	*ret = (struct ptc_cutout){ .n = 0 };
	rc = check_shard(d, i, n, err);
	if (rc)
		return rc;
	d->sharded = true;
	return ptc_shard_get_cutout(&d->pass, i, n, ret, err);
}

bool ptc_decode_is_cutout(const struct ptc_decode *d, uint32_t *ret_i, uint32_t *ret_n)
{
	*ret_i = d->in.cutout.i;
	*ret_n = d->in.cutout.n;
	return d->in.cutout.n;
}

void ptc_decode_pause(struct ptc_decode *d)
{
	d->pass.pause = true;
}

void ptc_decode_on_change(struct ptc_decode *d, void (*before_change)(void *ctx), void *ctx)
{
	d->pass.before_change = before_change;
	d->pass.change_ctx = ctx;
}

void ptc_decode_get_engine_stats(const struct ptc_decode *d, struct ptc_engine_stats *ret)
{
	const struct ptc_engine_stats none = { .pieces = 0 };

	ptc_opts_give(ret, d->pass.engine ? &d->pass.engine->stats : &none, sizeof(none));
}

bool ptc_decode_get_engine_reason(const struct ptc_decode *d, size_t i,
				  struct ptc_engine_reason *ret)
{
	if (!d->pass.engine || i >= d->pass.engine->nreasons)
		return false;
	*ret = d->pass.engine->reasons[i];
	return true;
}

const char *ptc_decode_difference(const struct ptc_decode *d)
{
	return d->pass.engine && d->pass.engine->difference[0] ? d->pass.engine->difference : NULL;
}

void ptc_decode_get_stats(const struct ptc_decode *d, struct ptc_decode_stats *ret)
{
	ptc_opts_give(ret, &d->pass.stats, sizeof(d->pass.stats));
}

/* Building the notes has no effect that a caller can see, so @d may be const. */
static struct ptc_notes *notes_of(const struct ptc_decode *d)
{
	struct ptc_decode_input *in = d->pass.in;

	if (!in->notes.made)
		in->notes.extra = ptc_origin_remarks(&in->procs);
	return &in->notes;
}

const char *ptc_decode_note(const struct ptc_decode *d, size_t i)
{
	return ptc_notes_line(notes_of(d), &d->in.origin.files, i);
}

bool ptc_decode_missing(const struct ptc_decode *d, size_t i, struct ptc_missing *ret)
{
	return ptc_notes_missing(notes_of(d), &d->in.origin.files, i, ret);
}

int ptc_decode_survey(struct ptc_decode *d, size_t *ret_files, struct ptc_err *err)
{
	int r;

	if (d->ran)
		return ptc_fail(err, PTC_E_USAGE, "this recording was already decoded");
	d->ran = true;
	/*
	 * Code without a file may be in the recording itself. That is known after all records are
	 * applied.
	 */
	while (ptc_sideband_peek(&d->in.sideband, UINT64_MAX)) {
		r = ptc_sideband_apply(&d->in.sideband, &d->in.procs, err);
		if (r < 0)
			return r;
	}
	d->in.notes.all = true;
	*ret_files = d->in.origin.files.n;
	return 0;
}
