/* SPDX-License-Identifier: MIT */
/* Description: where to begin in a stream: by time, by branches, by bytes. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "decode/session/item_filter.h"
#include "decode/stream/seek.h"
#include "lib_pt.h"

static const struct ptc_tsc_clock clock_1ns = { true, { .shift = 0, .mult = 1, .zero = 0 } };

enum { SEGMENTS = 40 };

/*
 * Segments: a PSB+ with a TSC of 100, 200, ...; 12 taken branches and two others; and a TIP. psb[]
 * has their offsets. Behind the PSB+ are @pad bytes, to make them long.
 */
static void make(struct ptc_buf *b, size_t psb[SEGMENTS], size_t pad)
{
	size_t i;

	for (i = 0; i < SEGMENTS; i++) {
		psb[i] = b->len;
		pt_psb(b);
		pt_tsc(b, 100 * (i + 1));
		pt_psbend(b);
		ptc_buf_zero(b, pad);
		pt_tnt(b, "TTTTTN TTTTTN TT");
		pt_ip(b, PT_TIP, 0x1000);
	}
}

static bool is_at(struct ptc_spot s, size_t span, size_t off)
{
	return s.span == span && s.off == off;
}

/* The same bytes in parts of @size, which end anywhere. */
static void cut(struct ptc_span *sp, size_t size)
{
	const uint8_t *bytes = sp->bytes;
	size_t at;

	sp->parts = calloc(sp->len / size + 1, sizeof(*sp->parts));
	cr_assert(sp->parts);
	for (at = 0; at < sp->len; at += size)
		sp->parts[sp->nparts++] =
			(struct ptc_part){ bytes + at, at,
					   sp->len - at < size ? sp->len - at : size };
	sp->bytes = NULL;
}

static void check_all(size_t pad, size_t piece)
{
	struct ptc_stream s = { .n = 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	size_t psb[SEGMENTS], i;
	uint64_t first, last;
	struct ptc_spot at;
	struct ptc_err err;

	make(&b, psb, pad);
	cr_assert_eq(ptc_stream_single(&s, b.bytes, b.len, &err), 0);
	if (piece)
		cut(&s.spans[0], piece);
	for (i = 0; i < SEGMENTS; i++) {
		cr_assert(is_at(ptc_range_at_time(&s, &clock_1ns, 100 * (i + 1) + 1), 0, psb[i]));
		cr_assert(is_at(ptc_range_at_time(&s, &clock_1ns, 100 * (i + 2)), 0, psb[i]) ||
			  i + 1 == SEGMENTS);
		/* 13 per segment: 12 or fewer branches are not counted twice */
		cr_assert_eq(ptc_range_at_last(&s, 13 * (i + 1), &at, &err), 0);
		cr_assert(is_at(at, 0, i + 1 < SEGMENTS ? psb[SEGMENTS - i - 2] : 0));
		cr_assert(is_at(ptc_range_back(&s, (struct ptc_spot){ 0, psb[i] + 1 }, 1), 0,
				i ? psb[i - 1] : 0));
		cr_assert_eq(ptc_range_left(&s, (struct ptc_spot){ 0, psb[i] }), b.len - psb[i]);
	}
	cr_assert(is_at(ptc_range_at_time(&s, &clock_1ns, 100), 0, 0));
	cr_assert_eq(ptc_range_at_last(&s, 14, &at, &err), 0);
	cr_assert(is_at(at, 0, psb[SEGMENTS - 3]));
	cr_assert(ptc_range_times(&s, &clock_1ns, &first, &last));
	cr_assert_eq(first, 100);
	cr_assert_eq(last, (uint64_t)100 * SEGMENTS);
	ptc_stream_release(&s);
	ptc_buf_release(&b);
}

Test(seek, a_psb_is_found_by_its_time_and_by_what_is_behind_it)
{
	check_all(0, 0);
}

Test(seek, in_a_long_stream_too)
{
	check_all(20000, 0);
}

Test(seek, and_in_one_of_many_pieces)
{
	check_all(0, 7);
	check_all(20000, 4099);
}

Test(seek, the_end_of_a_packet_that_looks_like_a_psb_s_begin_is_none)
{
	struct ptc_stream s = { .n = 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_spot at;
	struct ptc_err err;
	size_t second;

	pt_psb(&b);
	pt_psbend(&b);
	ptc_buf_u8(&b, PT_TIP | 1 << 5);
	ptc_buf_le16(&b, 0x8202);
	second = b.len;
	pt_psb(&b);
	pt_psbend(&b);
	pt_tnt(&b, "TT");
	cr_assert_eq(ptc_stream_single(&s, b.bytes, b.len, &err), 0);
	at = ptc_range_back(&s, (struct ptc_spot){ 0, b.len }, 1);
	cr_assert_eq(at.off, second);
	at = ptc_range_back(&s, at, 1);
	cr_assert_eq(at.off, 0);
	ptc_stream_release(&s);
	ptc_buf_release(&b);
}

Test(seek, what_has_no_time_begins_at_its_beginning)
{
	struct ptc_stream s = { .n = 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t first, last;
	struct ptc_spot at;
	struct ptc_err err;

	cr_assert_eq(ptc_range_at_last(&s, 1, &at, &err), 0);
	cr_assert(ptc_spot_is_begin(at));
	pt_psb(&b);
	pt_psbend(&b);
	pt_psb(&b);
	pt_psbend(&b);
	cr_assert_eq(ptc_stream_single(&s, b.bytes, b.len, &err), 0);
	cr_assert(ptc_spot_is_begin(ptc_range_at_time(&s, &clock_1ns, 5)));
	cr_assert_not(ptc_range_times(&s, &clock_1ns, &first, &last));
	ptc_stream_release(&s);
	ptc_buf_release(&b);
}

Test(seek, functions_go_by_their_names_with_and_without_parameters)
{
	cr_assert(ptc_is_function_name("f", "f"));
	cr_assert(ptc_is_function_name("a::f", "a::f(int)"));
	cr_assert(ptc_is_function_name("a::f(int)", "a::f(int)"));
	cr_assert_not(ptc_is_function_name("f", "ff"));
	cr_assert_not(ptc_is_function_name("ff", "f"));
	cr_assert_not(ptc_is_function_name("f(long)", "f(int)"));
}
