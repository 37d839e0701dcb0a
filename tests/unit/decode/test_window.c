/* SPDX-License-Identifier: MIT */
/* Description: a span in parts is decoded as if it were contiguous. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/pt_packet.h"
#include "decode/stream/window.h"
#include "fewer.h"
#include "lib_perfdata.h"
#include "lib_pt.h"

enum { SIZE_STEP = FEWER(1, 7), WINDOWS = 2 };

/* Returns @bytes as a span with parts of @part bytes, each in an allocation of its own. */
static struct ptc_span parts(const uint8_t *bytes, size_t len, size_t part)
{
	struct ptc_span sp = { .len = len };
	size_t at, n;

	sp.parts = calloc(len / part + 1, sizeof(*sp.parts));
	cr_assert(sp.parts);
	for (at = 0; at < len; at += n) {
		n = len - at < part ? len - at : part;
		sp.parts[sp.nparts++] = (struct ptc_part){ pd_exact(bytes + at, n), at, n };
	}
	return sp;
}

static void release(struct ptc_span *sp)
{
	size_t i;

	for (i = 0; i < sp->nparts; i++)
		free((void *)(uintptr_t)sp->parts[i].bytes);
	free(sp->parts);
}

static void expect_same(const struct ptc_buf *trace, size_t part, struct pt_how how)
{
	struct ptc_span span = parts(trace->bytes, trace->len, part);
	const struct ptc_stream stream = { .spans = &span, .n = 1 };
	struct pt_how once = how;
	const char *got;
	size_t i = 0;
	char *want;

	once.once = true;
	want = strdup(pt_replay(trace, &once));
	got = pt_replay_stream(&stream, &how);

	while (got[i] && got[i] == want[i])
		i++;
	cr_assert_str_eq(got, want, "parts of %zu, at %zu:\n%.200s\nwant:\n%.200s", part, i,
			 got + (i < 100 ? 0 : i - 100), want + (i < 100 ? 0 : i - 100));
	cr_assert(strlen(want) > 400);
	free(want);
	release(&span);
}

/* Trace with @psbs PSBs, about 2000 bytes apart: larger than @windows windows. */
static struct ptc_buf flow(size_t psbs, size_t windows)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i, k;

	for (i = 0; i < psbs; i++) {
		pt_psb_off(&b);
		for (k = 0; k < 100; k++) {
			pt_enable(&b, 0x1000);
			pt_tnt(&b, "T");
			pt_tnt(&b, "T");
			pt_ip(&b, PT_TIP, 0x1016);
			pt_ip_none(&b, PT_PGD);
		}
	}
	cr_assert(!ptc_buf_failed(&b) && b.len > windows * PTC_WINDOW_AHEAD);
	return b;
}

Test(window, a_trace_larger_than_the_window_is_decoded_whole)
{
	struct ptc_buf b = flow(150 * WINDOWS + 50, WINDOWS);

	if (WINDOWS > 2)
		expect_same(&b, 777, (struct pt_how){ .max_steps = 10000000 });
	expect_same(&b, 300000, (struct pt_how){ .max_steps = 10000000 });
	ptc_buf_release(&b);
}

/*
 * Errors of every kind, everywhere: decoding resumes after each, sometimes with a graft across the
 * window.
 */
Test(window, damage_is_found_and_passed_as_in_one_piece)
{
	struct ptc_buf b = flow(200, 1);
	uint64_t x = 7;
	int i;

	for (i = 0; i < 300; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		b.bytes[(x >> 20) % b.len] ^= (uint8_t)(1 << (x >> 60) % 8);
	}
	if (FEWER(true, false))
		expect_same(&b, 1000, (struct pt_how){ .max_steps = 10000000 });
	expect_same(&b, 1000, (struct pt_how){ .psb = true, .max_steps = 10000000 });
	ptc_buf_release(&b);
}

/* One call of the decoder reads over all of them, and past the window. */
Test(window, more_pads_than_a_window_holds_do_not_hide_what_is_behind_them)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_span span;
	const struct ptc_stream stream = { .spans = &span, .n = 1 };
	struct pt_how how = { .psb = false };
	char want[256];
	size_t psb;

	pt_psb_off(&b);
	pt_enable(&b, 0x1016);
	pt_ip_none(&b, PT_PGD);
	ptc_buf_zero(&b, (size_t)3 * PTC_WINDOW_AHEAD);
	pt_enable(&b, 0x1016);
	pt_ip_none(&b, PT_PGD);
	psb = b.len;
	pt_psb_off(&b);
	pt_enable(&b, 0x1000);
	pt_tnt(&b, "T");
	span = parts(b.bytes, b.len, 5000);
	/* The trace in front of the PSB is listed as a gap. */
	snprintf(want, sizeof(want),
		 "0 1016 start\n1016 0 syscall\ngap %x %zx desync\n"
		 "0 1000 start\n1000 1003 jcc\n",
		 PTC_WINDOW_AHEAD, psb - PTC_WINDOW_AHEAD);
	cr_assert_str_eq(pt_replay_stream(&stream, &how), want);
	release(&span);
	ptc_buf_release(&b);
}

/*
 * Adds @n bytes in a PSB+ (@inside), or behind it, that do not affect the flow. The second engine
 * declines the piece.
 */
static void put_far(struct ptc_buf *b, size_t n, bool mtc, bool inside)
{
	size_t i;

	if (inside) {
		pt_psb(b);
		ptc_buf_zero(b, n);
		pt_mode_exec64(b);
		pt_ip(b, PT_FUP, 0x1016);
		pt_psbend(b);
	} else {
		pt_psb_on(b, 0x1016);
	}
	for (i = 0; mtc && i < n; i += 2)
		pt_mtc(b, (uint8_t)(i / 2));
	if (!mtc)
		ptc_buf_zero(b, n);
	pt_ip(b, PT_TIP, 0x1000);
	pt_tnt(b, "T");
	pt_ip_none(b, PT_PGD);
	ptc_buf_u8(b, 0x02); /* no packet: a search ends at the next one */
	ptc_buf_u8(b, 0x55);
}

/* It is not in the window yet when the PSB is read. */
Test(window, what_is_far_behind_a_psb_is_seen)
{
	size_t n, i;

	for (n = PTC_WINDOW_PEEK - 100; n < PTC_WINDOW_PEEK + 100; n += SIZE_STEP) {
		struct ptc_buf b = PTC_BUF_INIT;

		for (i = 0; i < 10; i++)
			put_far(&b, n, i % 2, n % 4 > 1);
		expect_same(&b, 5003, (struct pt_how){ .psb = n % 2 });
		ptc_buf_release(&b);
	}
}

/* Nor is all of a second PSB that libipt reads over at once. */
Test(window, a_psb_at_the_end_of_what_is_seen_is_seen_whole)
{
	size_t n, i;

	for (n = PTC_WINDOW_PEEK - 400; n < PTC_WINDOW_PEEK + 10; n += SIZE_STEP) {
		struct ptc_buf b = PTC_BUF_INIT;

		for (i = 0; i < 8; i++) {
			if (i % 2)
				pt_psb_off(&b);
			else
				pt_psb_on(&b, 0x100b);
			ptc_buf_zero(&b, n);
			if (i % 4 > 1)
				pt_psb_off(&b);
			put_far(&b, 10, false, false);
		}
		expect_same(&b, 5003, (struct pt_how){ .psb = n % 2 });
		ptc_buf_release(&b);
	}
}

Test(window, a_psb_is_found_across_every_seam)
{
	uint8_t bytes[64];
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_span span;
	size_t part, at;

	pt_psb(&b);
	for (part = 1; part < 40; part++) {
		for (at = 0; at <= sizeof(bytes) - PTC_PSB_LEN; at++) {
			memset(bytes, 0x99, sizeof(bytes));
			memcpy(bytes + at, b.bytes, PTC_PSB_LEN);
			span = parts(bytes, sizeof(bytes), part);
			cr_assert_eq(ptc_span_next_psb(&span, 0), at);
			cr_assert_eq(ptc_span_next_psb(&span, at), at);
			cr_assert_eq(ptc_span_next_psb(&span, at + 1), sizeof(bytes));
			release(&span);
		}
	}
	ptc_buf_release(&b);
}

Test(window, it_holds_what_was_asked_for_wherever_it_goes)
{
	enum { LEN = 2 << 20 };
	static const size_t places[] = { 0,	  100,	   300000,   1000000, 999000,
					 1500000, 1400000, LEN - 10, 200000,  LEN };
	uint8_t *bytes = malloc(LEN);
	struct ptc_window w;
	struct ptc_span span;
	struct ptc_err err;
	size_t i, n;

	cr_assert(bytes);
	for (i = 0; i < LEN; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251);
	span = parts(bytes, LEN, 6007);
	cr_assert_eq(ptc_window_open(&w, &span, false, &err), 0);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		ptc_window_peek(&w, places[i]);
		n = LEN - places[i] < PTC_WINDOW_PEEK ? LEN - places[i] : PTC_WINDOW_PEEK;
		cr_assert(w.from <= places[i] && w.upto >= places[i] + n);
		cr_assert(!memcmp(w.bytes + w.from, bytes + w.from, w.upto - w.from));
		cr_assert_eq(ptc_window_peeked(&w, w.upto), w.upto < LEN);
		cr_assert_not(ptc_window_peeked(&w, places[i]) && n == PTC_WINDOW_PEEK);
		cr_assert(w.upto == LEN || i > 0 || w.bytes[w.upto] == 0x06);
		ptc_window_move(&w, places[i]);
		n = LEN - places[i] < PTC_WINDOW_NEAR ? LEN - places[i] : PTC_WINDOW_NEAR;
		cr_assert(w.from <= places[i] && w.upto >= places[i] + n);
		cr_assert(!memcmp(w.bytes + w.from, bytes + w.from, w.upto - w.from));
		cr_assert(ptc_window_passed(&w, w.upto + 1) && !ptc_window_passed(&w, w.upto));
	}
	ptc_window_release(&w);
	ptc_window_release(&w);
	release(&span);
	free(bytes);
}

Test(window, what_may_be_a_psbend_is_found_across_parts)
{
	static const uint8_t bytes[] = { 2, 0x23, 2, 2, 0x23, 0x23, 0, 2 };
	size_t part, from, upto, want;

	for (part = 1; part <= sizeof(bytes); part++) {
		struct ptc_span sp = parts(bytes, sizeof(bytes), part);

		for (upto = 0; upto <= sizeof(bytes); upto++) {
			for (from = 0; from <= upto; from++) {
				want = !from && upto >= 2 ? 0 : from <= 3 && upto >= 5 ? 3 : upto;
				cr_assert_eq(ptc_span_next_psbend(&sp, from, upto), want);
			}
		}
		release(&sp);
	}
}

/* Memory far behind the position is freed in the end: it reads as zeros then. */
Test(window, what_is_far_behind_is_given_back)
{
	enum { LEN = 5 << 20, STEP = 100000, KEPT = (1 << 20) + PTC_WINDOW_NEAR };
	uint8_t *bytes = malloc(LEN);
	struct ptc_window w;
	struct ptc_span sp;
	struct ptc_err err;
	size_t at;

	cr_assert(bytes);
	memset(bytes, 0x5a, LEN);
	sp = parts(bytes, LEN, 70000);
	cr_assert_geq(ptc_window_open(&w, &sp, true, &err), 0);
	for (at = 0; at < LEN; at += STEP) {
		ptc_window_move(&w, at);
		cr_assert(w.from <= at && w.upto > at && w.bytes[at] == 0x5a);
		cr_assert_lt(at - w.from, (size_t)KEPT + STEP);
		cr_assert_eq(w.bytes[w.from], 0x5a);
		cr_assert_eq(w.bytes[w.upto - 1], 0x5a);
	}
	cr_assert_gt(w.from, LEN / 2);
	cr_expect_eq(w.bytes[LEN / 2], 0);
	cr_expect_eq(w.bytes[0], 0);
	ptc_window_release(&w);
	release(&sp);
	free(bytes);
}
