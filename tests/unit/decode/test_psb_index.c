/* SPDX-License-Identifier: MIT */
/* Description: known PSBs are where a search would find them, and are not searched for again. */
#include <criterion/criterion.h>

#include "decode/stream/psb_index.h"
#include "lib_pt.h"

enum { SPANS = 3, FAR = 3 << 20 };

static uint64_t number(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 33) % below;
}

/* Adds PSBs: some with extra bytes, near each other, adjacent, and some far apart. */
static void put_trace(struct ptc_buf *b, uint64_t seed, bool far)
{
	int i, n;

	for (i = 0; i < 60; i++) {
		for (n = (int)number(&seed, 5); n; n--)
			pt_tnt(b, "TNT");
		pt_psb(b);
		if (!number(&seed, 6))
			ptc_buf_put(b, "\x02\x82", 2);
	}
	if (far)
		for (n = FAR; n; n--)
			n % 1000 ? ptc_buf_u8(b, 0) : pt_psb(b);
	pt_psb(b);
	if (seed % 2)
		pt_tnt(b, "T");
}

struct test {
	struct ptc_buf bytes[SPANS];
	struct ptc_span spans[SPANS];
	struct ptc_stream s;
	struct ptc_psbs p;
};

static void begin(struct test *t, uint64_t seed, bool far)
{
	size_t i;

	*t = (struct test){ .s = { .spans = t->spans, .n = SPANS } };
	for (i = 0; i < SPANS; i++) {
		t->bytes[i] = (struct ptc_buf)PTC_BUF_INIT;
		if (i != 1 || seed % 3)
			put_trace(&t->bytes[i], seed + i, far);
		t->spans[i].bytes = t->bytes[i].bytes;
		t->spans[i].len = t->bytes[i].len;
	}
}

static void end(struct test *t)
{
	size_t i;

	ptc_psbs_release(&t->p);
	for (i = 0; i < SPANS; i++)
		ptc_buf_release(&t->bytes[i]);
}

static size_t really(const struct test *t, struct ptc_spot at)
{
	return ptc_span_next_psb(&t->spans[at.span], at.off);
}

/*
 * Checks everything that @p knows between @from, or a nearer place, and @to. Returns the number of
 * known places.
 */
static size_t check(const struct test *t, const struct ptc_psbs *p, struct ptc_spot from,
		    struct ptc_spot to)
{
	size_t known = 0, psb;

	if (from.span == to.span && to.off - from.off > 2048)
		from.off = to.off - 2048;
	for (; ptc_spot_is_before(from, to); from.off++) {
		while (from.span < SPANS && from.off >= t->spans[from.span].len)
			from = (struct ptc_spot){ from.span + 1, 0 };
		if (!ptc_spot_is_before(from, to))
			break;
		psb = ptc_psbs_find(p, from);
		known += psb < SIZE_MAX;
		if (psb < SIZE_MAX)
			cr_assert_eq(psb, really(t, from), "%zu %zu: %zu", from.span, from.off,
				     psb);
	}
	return known;
}

/* Goes to places about @step apart. Returns the number of known places. */
static size_t go_over(struct test *t, uint64_t seed, size_t step)
{
	struct ptc_spot at = { 0, 0 }, behind = at;
	struct ptc_psbs some;
	size_t known = 0, left;

	while (at.span < SPANS) {
		if (at.off >= t->spans[at.span].len) {
			at = (struct ptc_spot){ at.span + 1, number(&seed, 100) };
			behind = (struct ptc_spot){ at.span, 0 };
			continue;
		}
		cr_assert_eq(ptc_psbs_look(&t->p, &t->s, at), really(t, at), "%zu %zu", at.span,
			     at.off);
		some = (struct ptc_psbs){ .n = 0 };
		ptc_psbs_copy(&t->p, behind, at, &some);
		(void)check(t, &some, behind, at);
		ptc_psbs_release(&some);
		known += check(t, &t->p, behind, at);
		if (step > FAR / 4 || !number(&seed, 5)) {
			behind = at;
			left = ptc_psbs_find(&t->p, behind);
			ptc_psbs_forget(&t->p, behind);
			cr_assert_eq(ptc_psbs_find(&t->p, behind), left);
			/*
			 * The last PSB in front of the place, and all known PSBs from the place on.
			 */
			cr_assert_leq(t->p.n - t->p.head, 1 + step / PTC_PSB_LEN + 64);
		}
		at.off += step + number(&seed, 8);
	}
	return known;
}

Test(psb_index, they_are_where_a_search_finds_them)
{
	static const size_t steps[] = { 1, 7, 40, 300, FAR / 2 };
	size_t i, k, known = 0;
	struct test t;

	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		for (k = 0; k < 12; k += PT_CUT_STEP) {
			begin(&t, k, steps[i] > FAR / 4);
			known += go_over(&t, k, steps[i]);
			end(&t);
		}
	cr_assert_gt(known, 10000 / PT_CUT_STEP, "%zu", known);
}

Test(psb_index, what_was_passed_is_known_and_nothing_else)
{
	struct ptc_psbs some = { .n = 0 };
	struct test t;
	size_t first, psb;

	begin(&t, 2, false);
	first = ptc_psbs_look(&t.p, &t.s, (struct ptc_spot){ 0, 0 });
	psb = ptc_psbs_look(&t.p, &t.s, (struct ptc_spot){ 0, 500 });
	cr_assert_gt(psb, 500);
	t.spans[0].bytes = NULL; /* a search would crash */
	cr_assert_eq(ptc_psbs_find(&t.p, (struct ptc_spot){ 0, first }), first);
	cr_assert_eq(ptc_psbs_find(&t.p, (struct ptc_spot){ 0, psb - 1 }), psb);
	cr_assert_eq(ptc_psbs_look(&t.p, &t.s, (struct ptc_spot){ 0, psb - 1 }), psb);
	cr_assert_eq(ptc_psbs_find(&t.p, (struct ptc_spot){ 0, psb + 1 }), SIZE_MAX);
	cr_assert_eq(ptc_psbs_find(&t.p, (struct ptc_spot){ 1, 0 }), SIZE_MAX);
	ptc_psbs_copy(&t.p, (struct ptc_spot){ 0, first }, (struct ptc_spot){ 0, psb }, &some);
	cr_assert_eq(ptc_psbs_find(&some, (struct ptc_spot){ 0, psb - 1 }), psb);
	ptc_psbs_release(&some);
	end(&t);
}
