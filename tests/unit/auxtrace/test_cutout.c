/* SPDX-License-Identifier: MIT */
/* Description: the borders of a cutout are read as they were written, and trace is cut to them. */
#include <criterion/criterion.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/copy/trim.h"
#include "auxtrace/record/cutout.h"
#include "auxtrace/record/record.h"
#include "lib_perfdata.h"

enum { QUEUES = 3000 /* more than a record holds */ };

static struct ptc_cutout example(struct ptc_cutout_queue *queues, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		queues[i] = (struct ptc_cutout_queue){ i, 11, 12, 13, 14, 10, PTC_CUTOUT_END };
	return (struct ptc_cutout){ .i = 2,
				    .n = 3,
				    .timed = true,
				    .from_ns = 5,
				    .to_ns = 9,
				    .queues = queues,
				    .nqueues = n };
}

Test(cutout, what_is_put_is_read)
{
	static struct ptc_cutout_queue queues[QUEUES];
	const struct ptc_cutout put = example(queues, QUEUES);
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_cutout got = { .n = 0 };
	struct ptc_cutout_record r;
	struct ptc_rec rec;
	struct ptc_err err;
	struct ptc_cur c;
	uint64_t at = 0;
	int records = 0;

	ptc_cutout_put(&b, &put);
	cr_assert(!ptc_buf_failed(&b) && b.len % 8 == 0);
	c = ptc_cur_init(b.bytes, b.len);
	for (; ptc_rec_next(&c, at, &rec, &err) == 1; records++) {
		cr_assert_eq(ptc_cutout_parse(&rec, &r, &err), 1);
		cr_assert_eq(ptc_cutout_add(&got, &r, &err), 0);
	}
	cr_assert_gt(records, 1);
	cr_assert(got.i == 2 && got.n == 3 && got.timed && got.from_ns == 5 && got.to_ns == 9);
	cr_assert_eq(got.nqueues, QUEUES);
	cr_assert_eq(memcmp(got.queues, queues, sizeof(queues)), 0);
	cr_assert_eq(ptc_cutout_find(&got, 7), &got.queues[7]);
	cr_assert_null(ptc_cutout_find(&got, QUEUES));
	ptc_cutout_release(&got);
	ptc_buf_release(&b);
}

Test(cutout, cut_at_every_length_it_is_refused)
{
	struct ptc_cutout_queue queues[2];
	const struct ptc_cutout put = example(queues, 2);
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_cutout_record r;
	struct ptc_err err;
	size_t len, whole;

	ptc_cutout_put(&b, &put);
	whole = b.len - PTC_REC_HEADER_SIZE;
	for (len = 0; len <= whole; len++) {
		uint8_t *bytes = pd_exact(b.bytes + PTC_REC_HEADER_SIZE, len);
		const struct ptc_rec rec = { .type = PTC_REC_HEADER_EVENT_TYPE,
					     .body = ptc_cur_init(bytes, len) };

		cr_assert_eq(ptc_cutout_parse(&rec, &r, &err), len < whole ? PTC_E_FORMAT : 1,
			     "length %zu of %zu", len, whole);
		free(bytes);
	}
	ptc_buf_release(&b);
}

Test(cutout, two_shards_in_one_recording_are_refused)
{
	struct ptc_cutout_queue queues[1];
	struct ptc_cutout put = example(queues, 1), got = { .n = 0 };
	struct ptc_cutout_record r = { .head = put, .size = sizeof(queues[0]) };
	struct ptc_err err;

	r.head.queues = NULL;
	cr_assert_eq(ptc_cutout_add(&got, &r, &err), 0);
	r.head.to_ns++;
	cr_assert_eq(ptc_cutout_add(&got, &r, &err), PTC_E_FORMAT);
	ptc_cutout_release(&got);
}

Test(cutout, a_chunk_is_cut_to_the_trace_and_stays_aligned)
{
	static const struct {
		struct ptc_trim t;
		bool keeps;
		uint64_t off, size;
	} cases[] = {
		{ { 0, UINT64_MAX }, true, 100, 64 }, { { 110, 130 }, true, 108, 24 },
		{ { 0, 120 }, true, 100, 24 },	      { { 120, UINT64_MAX }, true, 116, 48 },
		{ { 164, UINT64_MAX }, false, 0, 0 }, { { 0, 100 }, false, 0, 0 },
		{ { 163, 164 }, true, 156, 8 },	      { { 100, 101 }, true, 100, 8 },
	};
	uint8_t bytes[64];
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(100 + i);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ptc_auxtrace a = { .offset = 100, .size = sizeof(bytes) };
		struct ptc_cur payload = ptc_cur_init(bytes, sizeof(bytes));

		cr_assert_eq(ptc_trim_piece(&cases[i].t, &a, &payload), cases[i].keeps, "%zu", i);
		if (!cases[i].keeps)
			continue;
		cr_assert(a.offset == cases[i].off && a.size == cases[i].size, "%zu", i);
		cr_assert(ptc_cur_left(&payload) == a.size && payload.pos[0] == a.offset, "%zu", i);
	}
}

Test(cutout, a_loss_at_an_end_that_was_cut_off_goes_with_it)
{
	static const struct {
		struct ptc_trim t;
		uint64_t off, size, flags;
	} cases[] = {
		{ { 0, 200 }, 100, 64, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_COLLISION },
		{ { 110, 164 }, 110, 54, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_COLLISION },
		{ { 110, 163 }, 110, 53, PERF_AUX_FLAG_COLLISION },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ptc_buf in = PTC_BUF_INIT, out = PTC_BUF_INIT;
		uint64_t words[4];
		struct ptc_rec rec = { .type = PERF_RECORD_AUX };
		struct ptc_cur c;

		ptc_buf_le64(&in, 100);
		ptc_buf_le64(&in, 64);
		ptc_buf_le64(&in, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_COLLISION);
		ptc_buf_le64(&in, 77); /* the trailer */
		rec.body = ptc_cur_init(in.bytes, in.len);
		ptc_trim_aux(&cases[i].t, &rec, &out);
		cr_assert_eq(out.len, in.len + PTC_REC_HEADER_SIZE);
		c = ptc_cur_init(out.bytes + PTC_REC_HEADER_SIZE, in.len);
		cr_assert(ptc_cur_le64(&c, &words[0]) && ptc_cur_le64(&c, &words[1]) &&
			  ptc_cur_le64(&c, &words[2]) && ptc_cur_le64(&c, &words[3]));
		cr_assert(words[0] == cases[i].off && words[1] == cases[i].size &&
				  words[2] == cases[i].flags && words[3] == 77,
			  "%zu", i);
		ptc_buf_release(&in);
		ptc_buf_release(&out);
	}
}
