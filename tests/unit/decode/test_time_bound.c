/* SPDX-License-Identifier: MIT */
/*
 * Description: a time later than that of the next PSB is not trusted, nor is a PSB that other PSBs
 * contradict.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "decode/stream/time_bound.h"
#include "lib_pt.h"

enum { PSBS = 5 };

/* Which PSBs are known. */
enum known {
	NOBODY,
	FIRST, /* all up to the third */
	WRONG, /* all except the fourth */
};

static void know(struct ptc_psbs *l, const size_t *at, enum known known)
{
	size_t i;

	l->v = malloc((PSBS + 1) * sizeof(*l->v));
	cr_assert(l->v);
	for (i = 0; i < (known == FIRST ? 3 : PSBS); i++)
		if (i != 3)
			l->v[l->n++] = (struct ptc_spot){ 0, at[i] };
}

/* Gets the bound in front of each PSB, for PSBs with these times, and behind the last one. */
static void bounds(const uint64_t *times, enum known known, uint64_t *ret)
{
	struct ptc_psbs psbs = { .n = 0 };
	const struct ptc_tsc_clock clock = { .conv = { .mult = 1 }, .valid = true };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_span span = { .len = 0 };
	const struct ptc_stream s = { .spans = &span, .n = 1 };
	struct ptc_time_bound a;
	size_t at[PSBS + 1], i;

	for (i = 0; i < PSBS; i++) {
		ptc_buf_u8(&b, 0);
		at[i] = b.len;
		pt_psb(&b);
		pt_tsc(&b, times[i]);
		pt_psbend(&b);
	}
	at[i] = b.len;
	span.bytes = b.bytes;
	span.len = b.len;
	if (known != NOBODY)
		know(&psbs, at, known);
	ptc_time_bound_init(&a, &s, &clock, &psbs);
	for (i = 0; i <= PSBS; i++)
		ret[i] = ptc_time_bound_get(&a, (struct ptc_spot){ 0, at[i] - 1 });
	ptc_psbs_release(&psbs);
	ptc_buf_release(&b);
}

static void expect(const uint64_t *times, const uint64_t *want)
{
	enum known known;
	uint64_t got[PSBS + 1];
	size_t i;

	for (known = NOBODY; known <= FIRST; known++) {
		bounds(times, known, got);
		for (i = 0; i <= PSBS; i++)
			cr_assert_eq(got[i], want[i], "%zu: %lu, not %lu", i, got[i], want[i]);
	}
}

Test(time_bound, a_psb_that_was_found_is_not_looked_for_again)
{
	uint64_t got[PSBS + 1];

	bounds((const uint64_t[]){ 10, 20, 30, 40, 50 }, WRONG, got);
	cr_assert_eq(got[2], 30);
	cr_assert_eq(got[3], 50);
}

Test(time_bound, it_is_no_later_than_at_the_next_psb)
{
	expect((const uint64_t[]){ 10, 20, 30, 40, 50 },
	       (const uint64_t[]){ 10, 20, 30, 40, 50, UINT64_MAX });
}

Test(time_bound, a_psb_that_is_too_late_is_not_believed)
{
	expect((const uint64_t[]){ 10, 20, 1000, 40, 50 },
	       (const uint64_t[]){ 10, 20, 40, 40, 50, UINT64_MAX });
}

Test(time_bound, a_psb_that_is_too_early_is_not_believed)
{
	expect((const uint64_t[]){ 10, 20, 3, 40, 50 },
	       (const uint64_t[]){ 10, 20, 40, 40, 50, UINT64_MAX });
}

/* The same result as a search from any place. PSBs may have no time, or be longer. */
Test(time_bound, the_psb_that_comes_next_is_known)
{
	const struct ptc_tsc_clock clock = { .conv = { .mult = 1 }, .valid = true };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_span spans[2] = { { .len = 0 } };
	const struct ptc_stream s = { .spans = spans, .n = 2 };
	struct ptc_time_bound a;
	size_t i, at, from, psb, known = 0;

	for (i = 0; i < 64; i++) {
		pt_tnt(&b, "TNT");
		pt_psb(&b);
		if (i % 5 == 3)
			ptc_buf_put(&b, "\x02\x82", 2);
		if (i % 4 != 2)
			pt_tsc(&b, 100 * i);
		pt_psbend(&b);
	}
	spans[0].bytes = spans[1].bytes = b.bytes;
	spans[0].len = b.len;
	spans[1].len = b.len / 2;
	ptc_time_bound_init(&a, &s, &clock, NULL);
	cr_assert_eq(ptc_time_bound_next_psb(&a, (struct ptc_spot){ 0, 0 }), SIZE_MAX);
	for (i = 0; i < 2; i++)
		for (at = 0; at < spans[i].len; at++) {
			(void)ptc_time_bound_get(&a, (struct ptc_spot){ i, at });
			for (from = at; from < at + 64 && from < spans[i].len; from++) {
				psb = ptc_time_bound_next_psb(&a, (struct ptc_spot){ i, from });
				known += psb < SIZE_MAX;
				if (psb < SIZE_MAX)
					cr_assert_eq(psb, ptc_span_next_psb(&spans[i], from),
						     "from %zu, %zu", from, psb);
			}
		}
	cr_assert_gt(known, 10 * (spans[0].len + spans[1].len), "%zu", known);
	ptc_buf_release(&b);
}
