/* SPDX-License-Identifier: MIT */
/* Description: AUXTRACE records sorted into queues. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader/aux_index.h"
#include "lib_perfdata.h"

Test(aux_index, pieces_of_a_queue_stay_in_order_and_queues_ascend)
{
	static const uint32_t order[] = { 5, 1, 9, 5, 1, 5 };
	struct ptc_index ix = PTC_INDEX_INIT;
	uint8_t trace[48];
	uint64_t pos = 0;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	struct pd p;
	uint8_t *bytes;
	size_t len, i, j;

	pd_init_pt(&p, NULL);
	for (i = 0; i < 6; i++) {
		memset(trace, (int)i + 1, sizeof(trace));
		pd_auxtrace(&p,
			    &(struct ptc_auxtrace){ .offset = 100 * i,
						    .reference = i,
						    .idx = order[i],
						    .tid = (int32_t)order[i],
						    .cpu = -1 },
			    trace, 8 * (i + 1));
	}
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		if (rec.type == PTC_REC_AUXTRACE)
			cr_assert_eq(ptc_index_add(&ix, f, &rec, &err), 0);
	cr_assert_eq(ix.nqueues, 3);
	for (i = 0; i < 6; i++)
		cr_assert_eq(ix.queues[ptc_index_find(&ix, order[i])].idx, order[i]);
	cr_assert_eq(ptc_index_find(&ix, 2), SIZE_MAX);
	ptc_index_sort(&ix);
	for (i = 0; i < 6; i++)
		cr_assert_eq(ix.queues[ptc_index_find(&ix, order[i])].idx, order[i]);
	cr_assert(ix.queues[0].idx == 1 && ix.queues[1].idx == 5 && ix.queues[2].idx == 9);
	cr_assert(ix.queues[0].nchunks == 2 && ix.queues[1].nchunks == 3 &&
		  ix.queues[2].nchunks == 1);
	cr_assert_eq(ix.queues[1].bytes, 8 + 32 + 48);
	cr_assert_eq(ix.queues[1].tid, 5);
	for (i = 0; i < ix.nqueues; i++) {
		for (j = 0; j < ix.queues[i].nchunks; j++) {
			const struct ptc_chunk *c = &ix.queues[i].chunks[j];
			const struct ptc_cur got = ptc_chunk_bytes(f, c);

			cr_assert_eq(ptc_cur_left(&got), c->size);
			cr_assert_eq(got.pos, bytes + c->file_off);
			cr_assert_eq(got.pos[0], c->reference + 1);
			cr_assert_eq(got.end[-1], c->reference + 1);
			cr_assert_eq(c->aux_off, 100 * c->reference);
			cr_assert(!j || c->aux_off > c[-1].aux_off);
		}
	}
	ptc_index_release(&ix);
	cr_assert_eq(ix.nqueues, 0);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

Test(aux_index, more_queues_than_the_limit_are_refused)
{
	struct ptc_index ix = PTC_INDEX_INIT;
	uint64_t pos = 0;
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	struct pd p;
	uint8_t *bytes;
	uint32_t i;
	size_t len;
	int rc = 0;

	pd_init(&p);
	for (i = 0; i <= PTC_LIMIT_QUEUES; i++)
		pd_auxtrace(&p, &(struct ptc_auxtrace){ .idx = i }, NULL, 0);
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	while (!rc && ptc_file_next(f, &pos, &rec, &err) > 0)
		rc = ptc_index_add(&ix, f, &rec, &err);
	cr_assert_eq(rc, PTC_E_LIMIT);
	cr_assert_eq(ix.nqueues, PTC_LIMIT_QUEUES);
	ptc_index_release(&ix);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

/* Three AUXTRACE records in two queues; places[i] is the offset of the i-th one. */
struct three {
	struct pd pd;
	uint64_t places[3];
};

static void begin_three(struct three *t)
{
	static const uint8_t trace[16];
	struct ptc_err err;
	struct ptc_file *f;
	struct ptc_rec rec;
	uint64_t pos = 0;
	uint8_t *bytes;
	size_t len, i;

	pd_init_pt(&t->pd, NULL);
	for (i = 0; i < 3; i++)
		pd_auxtrace(&t->pd,
			    &(struct ptc_auxtrace){
				    .offset = 16 * i, .idx = i == 1, .tid = 1, .cpu = -1 },
			    trace, 16);
	bytes = pd_finish(&t->pd, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	for (i = 0; ptc_file_next(f, &pos, &rec, &err) > 0;)
		if (rec.type == PTC_REC_AUXTRACE)
			t->places[i++] = rec.off;
	cr_assert_eq(i, 3);
	ptc_file_free(f);
	free(bytes);
}

/* Adds the index feature with @n entries and the count @claim. */
static void list(struct three *t, uint64_t claim, const uint64_t *offs, const uint64_t *sizes,
		 size_t n)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i;

	ptc_buf_le64(&b, claim);
	for (i = 0; i < n; i++) {
		ptc_buf_le64(&b, offs[i]);
		ptc_buf_le64(&b, sizes ? sizes[i] : 48);
	}
	pd_feature(&t->pd, PTC_FEAT_AUXTRACE, b.bytes, b.len);
	ptc_buf_release(&b);
}

/*
 * Checks the result of the feature, the number of AUXTRACE records that open finds, and the
 * complaints. @complaint: open complains; @agrees: a scan agrees with the index.
 */
static void expect_three(struct three *t, int feature, size_t pieces, bool complaint, bool agrees)
{
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_err err, why;
	struct ptc_file *f;
	uint8_t *bytes;
	size_t len, i, n = 0;

	bytes = pd_finish(&t->pd, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	cr_assert_eq(ptc_index_feature(&ix, f, &err), feature);
	cr_assert(feature >= 0 || strstr(err.msg, "'test'"), "%s", err.msg);
	ptc_index_release(&ix);
	cr_assert_eq(ptc_index_open(&ix, f, &why, &err), 0);
	cr_assert_eq(why.code != 0, complaint);
	for (i = 0; i < ix.nqueues; i++)
		n += ix.queues[i].nchunks;
	cr_assert_eq(n, pieces);
	ptc_index_release(&ix);
	cr_assert_eq(ptc_index_scan(&ix, f, &err), 0);
	cr_assert_eq(ptc_index_agrees(&ix, f, &why), agrees);
	cr_assert(agrees || strstr(why.msg, "'test'"), "%s", why.msg);
	ptc_index_release(&ix);
	ptc_file_free(f);
	free(bytes);
	pd_release(&t->pd);
}

Test(aux_index, the_feature_lists_the_pieces)
{
	struct three t;

	begin_three(&t);
	list(&t, 3, t.places, NULL, 3);
	expect_three(&t, 1, 3, false, true);
	begin_three(&t);
	expect_three(&t, 0, 3, false, true);
	begin_three(&t);
	list(&t, 0, NULL, NULL, 0);
	expect_three(&t, 0, 3, false, true);
}

Test(aux_index, a_feature_that_lists_too_few_is_believed_alone_but_not_beside_a_scan)
{
	struct three t;

	begin_three(&t);
	list(&t, 2, t.places, NULL, 2);
	expect_three(&t, 1, 2, false, false);
	begin_three(&t);
	list(&t, 1, t.places + 1, NULL, 1); /* one queue is missing */
	expect_three(&t, 1, 1, false, false);
}

Test(aux_index, a_feature_that_lists_what_is_not_there_is_not_used)
{
	static const uint64_t wrong[] = { 0, 8, 1, 104, UINT64_MAX, UINT64_MAX - 8, 1 << 20 };
	uint64_t offs[3];
	const uint64_t sizes[] = { 48, 47, 48 };
	struct three t;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		begin_three(&t);
		memcpy(offs, t.places, sizeof(offs));
		offs[i % 3] = wrong[i];
		list(&t, 3, offs, NULL, 3);
		expect_three(&t, PTC_E_FORMAT, 3, true, false);
	}
	for (i = 0; i < 3; i++) { /* 8 bytes behind the real offset */
		begin_three(&t);
		memcpy(offs, t.places, sizeof(offs));
		offs[i] += 8;
		list(&t, 3, offs, NULL, 3);
		expect_three(&t, PTC_E_FORMAT, 3, true, false);
	}
	begin_three(&t);
	list(&t, 3, t.places, sizes, 3);
	expect_three(&t, PTC_E_FORMAT, 3, true, false);
	begin_three(&t);
	offs[0] = offs[1] = t.places[0]; /* the same offset twice */
	offs[2] = t.places[2];
	list(&t, 3, offs, NULL, 3);
	expect_three(&t, PTC_E_FORMAT, 3, true, false);
}

Test(aux_index, a_feature_that_is_cut_or_claims_too_much_is_not_used)
{
	static const uint64_t claims[] = { 4, UINT64_MAX, UINT64_MAX / 16, 1ull << 60, 1ull << 63 };
	struct three t;
	size_t i;

	for (i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		begin_three(&t);
		list(&t, claims[i], t.places, NULL, 3);
		expect_three(&t, PTC_E_FORMAT, 3, true, false);
	}
	for (i = 0; i < 8 + 3 * 16; i++) {
		uint8_t entries[8 + 3 * 16] = { 3 };
		size_t k, n;

		begin_three(&t);
		for (k = 0; k < 3; k++)
			for (n = 0; n < 8; n++) {
				entries[8 + 16 * k + n] = (uint8_t)(t.places[k] >> (8 * n));
				entries[16 + 16 * k + n] = n ? 0 : 48;
			}
		pd_feature(&t.pd, PTC_FEAT_AUXTRACE, entries, i);
		expect_three(&t, PTC_E_FORMAT, 3, true, false);
	}
}

/* After the sort a queue number may be used again. */
Test(aux_index, queues_that_descend_are_found_before_and_behind_sort)
{
	enum { MANY = 1000 };
	struct ptc_aux_sample s = { .size = 4, .tid = -1, .cpu = 2 };
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_file *f;
	struct ptc_err err;
	struct pd p;
	uint8_t *bytes;
	size_t len, i, round;

	pd_init_pt(&p, NULL);
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	s.file_off = len - 4;
	for (round = 1; round <= 2; round++) {
		for (i = 0; i < MANY; i++) {
			s.idx = (uint32_t)(UINT32_MAX - i * round);
			cr_assert_eq(ptc_index_add_sample(&ix, f, &s, &err), 0);
			cr_assert_eq(ix.queues[ptc_index_find(&ix, s.idx)].idx, s.idx);
		}
		ptc_index_sort(&ix);
		for (i = 0; i < ix.nqueues; i++)
			cr_assert_eq(ptc_index_find(&ix, ix.queues[i].idx), i);
		for (i = 1; i < ix.nqueues; i++)
			cr_assert_lt(ix.queues[i - 1].idx, ix.queues[i].idx);
	}
	cr_assert_eq(ix.nqueues, MANY + MANY / 2);
	ptc_index_release(&ix);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

Test(aux_index, trace_in_samples_is_a_queue_too)
{
	struct ptc_aux_sample s = { .size = 4, .reference = 5, .idx = 3, .tid = -1, .cpu = 2 };
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_file *f;
	struct ptc_err err;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	pd_init_pt(&p, NULL);
	bytes = pd_finish(&p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "test", &f, &err), 0);
	s.file_off = len - 4;
	cr_assert_eq(ptc_index_add_sample(&ix, f, &s, &err), 0);
	cr_assert_eq(ptc_index_add_sample(&ix, f, &s, &err), 0);
	s.file_off++;
	cr_assert_eq(ptc_index_add_sample(&ix, f, &s, &err), PTC_E_FORMAT);
	s.file_off = 8;
	s.size = UINT64_MAX;
	cr_assert_eq(ptc_index_add_sample(&ix, f, &s, &err), PTC_E_FORMAT);
	cr_assert(ix.nqueues == 1 && ix.queues[0].samples && ix.queues[0].nchunks == 2);
	cr_assert(ix.queues[0].cpu == 2 && ix.queues[0].idx == 3 && ix.queues[0].bytes == 8);
	cr_assert(ix.queues[0].chunks[0].aux_off == 0 && ix.queues[0].chunks[1].aux_off == 4);
	cr_assert_eq(ptc_index_find(&ix, 3), 0);
	cr_assert_eq(ptc_index_find(&ix, 2), SIZE_MAX);
	cr_assert_eq(ptc_index_find(&ix, 4), SIZE_MAX);
	ptc_index_release(&ix);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}
