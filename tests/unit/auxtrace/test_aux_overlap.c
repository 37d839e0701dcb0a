/* SPDX-License-Identifier: MIT */
/* Description: finds where one chunk of a ring's trace continues in the next chunk. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader/aux_overlap.h"
#include "lib_perfdata.h"
#include "lib_pt.h"

/* Returns a trace of @n PSB segments of about 100 bytes, each with a TSC if @tsc. */
static struct ptc_buf trace(size_t n, bool tsc)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i, k;

	for (i = 0; i < n; i++) {
		pt_psb(&b);
		if (tsc)
			pt_tsc(&b, 1000 + i);
		pt_psbend(&b);
		for (k = 0; k < 11; k++)
			pt_ip(&b, PT_TIP, tsc ? 0x1000 : 0x1000 + 16 * i + k);
	}
	cr_assert(!ptc_buf_failed(&b));
	return b;
}

struct got {
	bool overlap;
	size_t a, b;
};

/* Both chunks are at the end of an allocation of exactly their size. */
static struct got try(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
	uint8_t *pa = pd_exact(a, a_len), *pb = pd_exact(b, b_len);
	struct got g = { .a = 0 };

	g.overlap = ptc_overlap(pa, a_len, pb, b_len, &g.a, &g.b);
	free(pa);
	free(pb);
	return g;
}

/* Tries each start of the second chunk with each end of the first chunk. */
Test(aux_overlap, two_windows_of_one_stream_are_joined_wherever_they_are_cut)
{
	struct ptc_buf s = trace(6, true);
	size_t from, to, psb;
	struct got g;

	for (from = 0; from < s.len; from += 7) {
		for (psb = from; psb < s.len && memcmp(s.bytes + psb, s.bytes, 16) != 0; psb++)
			;
		for (to = 1; to <= s.len; to += 5) {
			g = try(s.bytes, to, s.bytes + from, s.len - from);
			/* Only a common PSB with its TSC proves an overlap. */
			if (psb + 24 > ptc_without_padding(s.bytes, to)) {
				cr_assert(!g.overlap, "%zu %zu", from, to);
				continue;
			}
			cr_assert(g.overlap, "%zu %zu", from, to);
			cr_assert_eq(g.a, ptc_without_padding(s.bytes, to));
			cr_assert_eq(from + g.b, g.a);
		}
	}
	ptc_buf_release(&s);
}

Test(aux_overlap, padding_of_the_first_is_left_out)
{
	struct ptc_buf s = trace(3, true), a = PTC_BUF_INIT;
	struct got g;

	ptc_buf_put(&a, s.bytes, s.len - 6); /* ends with the first byte of a packet */
	ptc_buf_zero(&a, 7);
	g = try(a.bytes, a.len, s.bytes + 20, s.len - 20);
	cr_assert(g.overlap);
	cr_assert_eq(g.a, s.len - 6);
	cr_assert_eq(20 + g.b, g.a);
	ptc_buf_zero(&a, 2); /* more than any writer pads: part of the trace */
	g = try(a.bytes, a.len, s.bytes, s.len);
	cr_assert(!g.overlap);
	ptc_buf_release(&s);
	ptc_buf_release(&a);
}

Test(aux_overlap, what_is_alike_but_for_the_time_is_not_the_same)
{
	struct ptc_buf s = trace(2, true);

	/* The segments differ only in their TSCs. */
	cr_assert(!try(s.bytes, s.len / 2, s.bytes + s.len / 2, s.len / 2).overlap);
	cr_assert(try(s.bytes, s.len / 2, s.bytes, s.len / 2).overlap);
	ptc_buf_release(&s);
}

Test(aux_overlap, without_a_tsc_a_few_bytes_are_no_proof)
{
	struct ptc_buf s = trace(2, false);
	const size_t half = s.len / 2;

	cr_assert(!try(s.bytes, half + 60, s.bytes + half, half).overlap);
	cr_assert(try(s.bytes, half + 70, s.bytes + half, half).overlap);
	ptc_buf_release(&s);
}

Test(aux_overlap, nothing_overlaps_what_has_no_psb)
{
	struct ptc_buf s = trace(1, true);

	cr_assert(!try(s.bytes, s.len, s.bytes + 1, s.len - 1).overlap);
	cr_assert(!try(s.bytes, s.len, s.bytes, 0).overlap);
	cr_assert(!try(s.bytes, 0, s.bytes, s.len).overlap);
	ptc_buf_release(&s);
}

/* Only PSBs: every position is a candidate. The search must still end soon. */
Test(aux_overlap, a_trace_made_to_be_slow_is_not)
{
	enum { LEN = 4 << 20 };
	uint8_t *a = malloc(LEN), *b = malloc(LEN);
	size_t ret_a, ret_b, i;

	cr_assert(a && b);
	for (i = 0; i < LEN; i++)
		a[i] = b[i] = i % 2 ? 0x82 : 0x02;
	a[LEN - 1] = 1;
	b[LEN - 1] = 2;
	cr_assert(!ptc_overlap(a, LEN, b, LEN, &ret_a, &ret_b));
	free(a);
	free(b);
}
