/* SPDX-License-Identifier: MIT */
/* Description: pieces that the second engine made ahead, in the order of the trace. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "decode/segment/segment.h"
#include "decode/segment/segment_result.h"

static void add(struct ptc_result_list *l, size_t span, size_t off)
{
	struct ptc_result *m = ptc_result_list_add(l);

	cr_assert(m);
	m->spot = (struct ptc_spot){ span, off };
}

static bool take(struct ptc_result_list *l, size_t span, size_t off)
{
	const struct ptc_result *m = ptc_result_list_take(l, (struct ptc_spot){ span, off });

	return m && m->spot.span == span && m->spot.off == off;
}

Test(segment_result, each_is_taken_once_and_only_where_it_begins)
{
	struct ptc_result_list l = { .n = 0 };

	add(&l, 0, 16);
	add(&l, 0, 64);
	add(&l, 1, 0);
	add(&l, 1, 32);
	cr_assert(!take(&l, 0, 0));
	cr_assert(take(&l, 0, 16));
	cr_assert(!take(&l, 0, 16));
	cr_assert(!take(&l, 0, 32));
	cr_assert(!take(&l, 0, 80)); /* the piece at 64 was passed */
	cr_assert(take(&l, 1, 0));
	cr_assert(take(&l, 1, 32));
	cr_assert(!take(&l, 1, 32));
	ptc_result_list_release(&l);
}

/* Renews a list that has 8 records and claims @cap. @stays: the memory must be kept. */
static void renew(struct ptc_result_list *l, size_t cap, bool stays)
{
	struct ptc_fast_rec *recs;

	add(l, 0, 16);
	recs = l->room.recs = calloc(8, sizeof(*recs));
	l->room.recs_cap = cap;
	l->room.marks = calloc(8, sizeof(*l->room.marks));
	cr_assert(recs && l->room.marks);
	l->room.marks_cap = 8;
	l->room.nrecs = 8;
	ptc_result_list_renew(l);
	cr_expect_eq(l->room.recs, stays ? recs : NULL);
	cr_expect_eq(l->room.recs_cap, stays ? cap : 0);
	cr_expect_eq(l->room.nrecs, 0);
	cr_assert(!take(l, 0, 16));
	add(l, 3, 16);
	cr_assert(take(l, 3, 16));
	ptc_result_list_release(l);
	cr_expect_null(l->room.recs);
}

/* With PSBs far apart a list is one large piece, or two. */
Test(segment_result, memory_is_used_again_unless_it_is_much)
{
	const size_t mib = (1 << 20) / sizeof(struct ptc_fast_rec);
	struct ptc_result_list l = { .n = 0 };

	renew(&l, 8, true);
	renew(&l, 4 * mib, true);
	renew(&l, 4 * mib + 1, false);
}

static unsigned int halved_for(unsigned int n)
{
	const struct ptc_fast_clock clock = { .mtc_freq = 0 };
	struct ptc_engine *e, *other;
	struct ptc_err err;
	unsigned int halved;

	cr_assert_eq(ptc_engine_new(PTC_ENGINE_FAST, &clock, true, &e, &err), 0);
	ptc_engine_share(e, n);
	cr_assert_eq(ptc_engine_new_like(e, &other, &err), 0);
	cr_assert_eq(other->user.codes, e->user.codes);
	halved = e->user.codes->halved;
	cr_assert(other->fast.time.on);
	ptc_engine_free(e);
	ptc_engine_free(other);
	return halved;
}

Test(segment_result, engines_side_by_side_share_what_two_may_have)
{
	cr_assert_eq(halved_for(2), 0);
	cr_assert_eq(halved_for(3), 1);
	cr_assert_eq(halved_for(4), 1);
	cr_assert_eq(halved_for(16), 3);
	cr_assert_eq(halved_for(32), 4);
	cr_assert_eq(halved_for(256), 4);
}
