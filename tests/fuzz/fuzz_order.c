/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a perf.data: its records sorted by time, its trace by queue and matched with AUX
 * records, and chunks joined by content. Asserted: sorting returns each record once and keeps its
 * own promises. Spans ascend and add up. The overlap of two chunks has equal bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader/aux_join.h"
#include "auxtrace/reader/aux_overlap.h"
#include "auxtrace/reader/time_order.h"
#include "auxtrace/record/sample.h"
#include "fuzz.h"

/* Returns the sum of the offsets of all returned records, or 0 after an error. */
static uint64_t order(const struct ptc_file *f, const struct ptc_order_opts *opts)
{
	struct ptc_order_stats stats = PTC_ORDER_STATS_INIT;
	struct ptc_order *o;
	struct ptc_rec rec;
	struct ptc_err err;
	uint64_t time, youngest = 0, unordered = 0, sum = 0;
	int r;

	CHECK(!ptc_order_new(f, opts, &o, &err));
	while ((r = ptc_order_next(o, &rec, &time, &err)) > 0) {
		unordered += time && time < youngest;
		if (time > youngest)
			youngest = time;
		sum += rec.off * rec.off + 1;
	}
	ptc_order_get_stats(o, &stats);
	CHECK(stats.unordered == unordered);
	ptc_order_free(o);
	return r < 0 ? 0 : sum;
}

static void check_order(const struct ptc_file *f)
{
	const struct ptc_order_opts all = { .size = sizeof(all), .no_rounds = true },
				    few = { .size = sizeof(few), .max = 3 };
	struct ptc_rec rec;
	struct ptc_err err;
	uint64_t pos = 0, sum = 0;
	int r;

	while ((r = ptc_file_next(f, &pos, &rec, &err)) > 0)
		sum += rec.off * rec.off + 1;
	if (r < 0)
		sum = 0;
	CHECK(order(f, NULL) == sum && order(f, &all) == sum && order(f, &few) == sum);
}

static void check_spans(const struct ptc_aux_join *j, const struct ptc_index *ix, size_t i)
{
	const struct ptc_time_conv conv = { .shift = 3, .mult = 5, .zero = 1 };
	const struct ptc_queue *q = &ix->queues[i];
	struct ptc_aux_spans s;
	struct ptc_err err;
	uint64_t sum = 0;
	size_t k;

	CHECK(!ptc_aux_join_queue(j, ix, i, &conv, &s, &err));
	for (k = 0; k < s.n; k++) {
		CHECK(s.spans[k].size <= UINT64_MAX - s.spans[k].off || !s.spans[k].told);
		CHECK(s.spans[k].lost <= s.spans[k].off);
		sum += s.spans[k].size;
	}
	CHECK(sum <= q->bytes);
	ptc_aux_spans_release(&s);
}

static void check_overlap(const struct ptc_file *f, const struct ptc_chunk *a,
			  const struct ptc_chunk *b)
{
	const struct ptc_cur ca = ptc_chunk_bytes(f, a), cb = ptc_chunk_bytes(f, b);
	size_t at, skip;

	if (!ptc_overlap(ca.pos, (size_t)a->size, cb.pos, (size_t)b->size, &at, &skip))
		return;
	CHECK(at <= a->size && a->size - at <= PTC_PADDING_MAX && skip <= b->size && skip >= 16);
	CHECK(at >= 16 && !memcmp(ca.pos + at - 16, cb.pos + skip - 16, 16));
}

static void take(const struct ptc_file *f, struct ptc_aux_join *j, struct ptc_index *ix,
		 const struct ptc_rec *rec)
{
	const struct ptc_file_attr *a;
	struct ptc_sample sample;
	struct ptc_err err;
	struct ptc_sb sb;

	if (rec->type == PTC_REC_AUXTRACE)
		CHECK(!ptc_index_add(ix, f, rec, &err) || err.code == PTC_E_LIMIT);
	else if (rec->type == PTC_REC_ID_INDEX)
		(void)ptc_aux_join_ids(j, rec, &err);
	else if (rec->type == PERF_RECORD_AUX &&
		 ptc_sb_parse(rec, ptc_file_trailer_type(f, rec), &sb, &err) > 0)
		CHECK(!ptc_aux_join_add(j, &sb, &err));
	a = ptc_file_sample_attr(f, rec);
	if (a && !ptc_sample_parse(rec, &a->attr, &sample, &err) && ptc_cur_left(&sample.aux))
		CHECK(sample.aux.pos >= rec->body.pos && sample.aux.end <= rec->body.end);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ptc_aux_join j = PTC_AUX_JOIN_INIT;
	struct ptc_index ix = PTC_INDEX_INIT, listed = PTC_INDEX_INIT;
	struct ptc_err err, why;
	struct ptc_file *f;
	struct ptc_rec rec;
	uint64_t pos = 0;
	size_t i, k;

	if (ptc_file_open_bytes(bytes, len, "fuzz", &f, &err))
		return 0;
	check_order(f);
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		take(f, &j, &ix, &rec);
	ptc_index_sort(&ix);
	CHECK(!ptc_aux_join_sort(&j, &ix, &err));
	for (i = 0; i < ix.nqueues; i++) {
		check_spans(&j, &ix, i);
		for (k = 1; k < ix.queues[i].nchunks; k++)
			check_overlap(f, &ix.queues[i].chunks[k - 1], &ix.queues[i].chunks[k]);
	}
	(void)ptc_index_open(&listed, f, &why, &err);
	(void)ptc_index_agrees(&ix, f, &why);
	ptc_index_release(&listed);
	ptc_index_release(&ix);
	ptc_aux_join_release(&j);
	ptc_file_free(f);
	return 0;
}
