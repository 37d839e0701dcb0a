/* SPDX-License-Identifier: MIT */
/* Description: AUXTRACE pieces sorted into queues. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/index.h"
#include "lib_perfdata.h"

Test(index, pieces_of_a_queue_stay_in_order_and_queues_ascend)
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

Test(index, more_queues_than_the_limit_are_refused)
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
