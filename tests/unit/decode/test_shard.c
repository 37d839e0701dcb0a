/* SPDX-License-Identifier: MIT */
/* Description: where a trace is cut into shards. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "decode/session/shard.h"
#include "lib_pt.h"

static const struct ptc_tsc_clock clock_1ns = { true, { .shift = 0, .mult = 1, .zero = 0 } };
static const struct ptc_tsc_clock no_clock = { .valid = false };

enum { QUEUES = 3, SEGMENTS = 200, LONGEST = 64 };

/* Queues of segments: a PSB+ with a TSC, if the trace has times, and branches. */
struct made {
	struct ptc_buf bufs[QUEUES];
	struct ptc_stream streams[QUEUES];
	const struct ptc_stream *queues[QUEUES];
	size_t ends[QUEUES][SEGMENTS + 1]; /* offsets of the PSBs, and of the end */
	uint64_t times[QUEUES][SEGMENTS];
	size_t n[QUEUES]; /* segments */
	struct ptc_shard_trace trace;
};

static void add_segment(struct made *m, size_t q, uint64_t time, size_t tips)
{
	struct ptc_buf *b = &m->bufs[q];

	m->ends[q][m->n[q]] = b->len;
	m->times[q][m->n[q]++] = time;
	pt_psb(b);
	if (m->trace.clock->valid)
		pt_tsc(b, time);
	pt_psbend(b);
	while (tips--)
		pt_ip(b, PT_TIP, 0x1000);
	m->ends[q][m->n[q]] = b->len;
}

static void begin(struct made *m, const struct ptc_tsc_clock *clock)
{
	*m = (struct made){ .trace = { .clock = clock } };
}

/* The trace is complete. */
static void finish(struct made *m, size_t queues)
{
	struct ptc_err err;
	size_t i;

	for (i = 0; i < queues; i++) {
		if (m->n[i])
			cr_assert_eq(ptc_stream_single(&m->streams[i], m->bufs[i].bytes,
						       m->bufs[i].len, &err),
				     0);
		m->queues[i] = &m->streams[i];
	}
	m->trace.queues = m->queues;
	m->trace.n = queues;
}

static void release(struct made *m)
{
	size_t i;

	for (i = 0; i < QUEUES; i++) {
		ptc_stream_release(&m->streams[i]);
		ptc_buf_release(&m->bufs[i]);
	}
}

/* Three queues with segments of different lengths, and times that go on at different speeds. */
static void make_three(struct made *m, const struct ptc_tsc_clock *clock)
{
	size_t i;

	begin(m, clock);
	for (i = 0; i < SEGMENTS; i++) {
		add_segment(m, 0, 100 + 10 * i, 20 + i % 7);
		add_segment(m, 1, 105 + 20 * i, 5 + i % 11);
		if (i < SEGMENTS / 4)
			add_segment(m, 2, 1000 + 3 * i, 30);
	}
	finish(m, QUEUES);
}

static struct ptc_queue_border begin_of(const struct made *m, uint32_t k, uint32_t n, size_t q)
{
	const struct ptc_shard_border b = ptc_shard_border_of(&m->trace, k ? k : 1, n);

	if (!k)
		return ptc_shard_begin();
	return k < n ? ptc_shard_cut(&m->trace, &b, q) : ptc_shard_end(&m->trace, q);
}

static uint64_t bytes_of(const struct made *m, uint32_t k, uint32_t n)
{
	uint64_t bytes = 0;
	size_t q;

	for (q = 0; q < m->trace.n; q++)
		bytes += ptc_range_left(m->queues[q], begin_of(m, k, n, q).at) -
			 ptc_range_left(m->queues[q], begin_of(m, k + 1, n, q).at);
	return bytes;
}

static void check_balance(const struct made *m, uint32_t n)
{
	uint64_t all = 0, sum = 0, bytes;
	uint32_t k;
	size_t q;

	for (q = 0; q < m->trace.n; q++)
		all += m->bufs[q].len;
	for (k = 0; k < n; k++) {
		bytes = bytes_of(m, k, n);
		sum += bytes;
		cr_assert(bytes > all / n * 9 / 10 && bytes < all / n * 11 / 10,
			  "shard %u of %u: %zu of %zu bytes", k + 1, n, (size_t)bytes, (size_t)all);
	}
	cr_assert_eq(sum, all);
}

Test(shard, borders_with_times_leave_shards_of_equal_size)
{
	struct made m;

	make_three(&m, &clock_1ns);
	check_balance(&m, 2);
	check_balance(&m, 3);
	check_balance(&m, 7);
	release(&m);
}

Test(shard, borders_without_times_leave_shards_of_equal_size)
{
	struct made m;

	make_three(&m, &no_clock);
	check_balance(&m, 2);
	check_balance(&m, 7);
	check_balance(&m, 16);
	release(&m);
}

Test(shard, a_border_is_the_time_of_a_psb_and_half_open)
{
	struct made m;
	uint32_t k;
	size_t q, i;

	make_three(&m, &clock_1ns);
	for (k = 1; k < 7; k++) {
		const struct ptc_shard_border b = ptc_shard_border_of(&m.trace, k, 7);
		bool is_of_psb = false;

		for (q = 0; q < QUEUES; q++) {
			const struct ptc_queue_border cut = ptc_shard_cut(&m.trace, &b, q);

			for (i = 0; i < m.n[q] && m.times[q][i] < b.ns; i++)
				;
			is_of_psb |= i < m.n[q] && m.times[q][i] == b.ns;
			cr_assert_eq(cut.at.span, i == m.n[q] ? 1 : 0);
			cr_assert_eq(cut.at.off, i == m.n[q] ? 0 : m.ends[q][i]);
			cr_assert_eq(cut.arm.off, i ? m.ends[q][i - 1] : 0);
		}
		cr_assert(is_of_psb);
	}
	release(&m);
}

/* Returns whether the borders of @n shards never decrease. */
static void check_ascending(const struct made *m, uint32_t n)
{
	uint64_t sum = 0, all = 0;
	uint32_t k;
	size_t q;

	for (k = 0; k < n; k++) {
		for (q = 0; q < m->trace.n; q++)
			cr_assert_not(ptc_spot_is_before(begin_of(m, k + 1, n, q).at,
							 begin_of(m, k, n, q).at),
				      "border %u of %u: queue %zu at %zu, then at %zu", k, n, q,
				      begin_of(m, k, n, q).at.off, begin_of(m, k + 1, n, q).at.off);
		sum += bytes_of(m, k, n);
	}
	for (q = 0; q < m->trace.n; q++)
		all += m->bufs[q].len;
	cr_assert_eq(sum, all);
}

Test(shard, more_shards_than_psbs_are_empty_but_complete)
{
	const struct ptc_tsc_clock *clocks[] = { &clock_1ns, &no_clock };
	struct made m;
	size_t i, k;

	for (k = 0; k < 2; k++) {
		begin(&m, clocks[k]);
		for (i = 0; i < 5; i++)
			add_segment(&m, 0, 100 * (i + 1), 3);
		finish(&m, 2); /* the second queue is empty */
		for (i = 1; i <= LONGEST; i++)
			check_ascending(&m, (uint32_t)i);
		release(&m);
	}
}

Test(shard, psbs_of_one_time_stay_together)
{
	struct made m;
	size_t i;

	begin(&m, &clock_1ns);
	for (i = 0; i < 30; i++)
		add_segment(&m, 0, i < 5 ? 100 + i : i < 25 ? 200 : 300 + i, 10);
	finish(&m, 1);
	check_ascending(&m, 4);
	for (i = 1; i < 4; i++) {
		const size_t at = begin_of(&m, (uint32_t)i, 4, 0).at.off;

		cr_assert(at <= m.ends[0][5] || at >= m.ends[0][25]);
	}
	release(&m);
}

Test(shard, a_time_that_goes_back_does_not_reorder_borders)
{
	struct made m;
	size_t i;

	begin(&m, &clock_1ns);
	for (i = 0; i < SEGMENTS; i++)
		add_segment(&m, 0, i % 9 == 4 ? UINT32_MAX : i % 9 == 7 ? 1 : 1000 + 10 * i, 10);
	finish(&m, 1);
	for (i = 2; i < LONGEST; i++) {
		uint64_t last = 0;
		uint32_t k;

		for (k = 1; k < i; k++) {
			const uint64_t ns = ptc_shard_border_of(&m.trace, k, (uint32_t)i).ns;

			cr_assert_geq(ns, last);
			last = ns;
		}
	}
	release(&m);
}

Test(shard, no_border_is_in_front_of_the_least_time)
{
	struct made m;
	uint32_t k;

	make_three(&m, &clock_1ns);
	m.trace.least_ns = 1500;
	for (k = 1; k < 16; k++)
		cr_assert_geq(ptc_shard_border_of(&m.trace, k, 16).ns, 1500);
	check_ascending(&m, 16);
	m.trace.least_ns = UINT64_MAX;
	cr_assert_eq(bytes_of(&m, 0, 16), m.bufs[0].len + m.bufs[1].len + m.bufs[2].len);
	check_ascending(&m, 16);
	release(&m);
}

Test(shard, a_trace_cut_anywhere_has_ascending_borders)
{
	const struct ptc_tsc_clock *clocks[] = { &clock_1ns, &no_clock };
	size_t k, len, i;

	for (k = 0; k < 2; k++)
		for (len = 0; len < 150; len++) {
			struct ptc_err err;
			struct made m;
			uint8_t *exact;

			begin(&m, clocks[k]);
			for (i = 0; i < 4; i++)
				add_segment(&m, 0, 100 * (i + 1), 3);
			/* At the end of an allocation: ASan sees a byte too many. */
			exact = malloc(len ? len : 1);
			cr_assert(exact);
			len = len < m.bufs[0].len ? len : m.bufs[0].len;
			memcpy(exact, m.bufs[0].bytes, len);
			m.bufs[0].len = len;
			if (len)
				cr_assert_eq(ptc_stream_single(&m.streams[0], exact, len, &err), 0);
			m.queues[0] = &m.streams[0];
			m.trace.queues = m.queues;
			m.trace.n = 1;
			check_ascending(&m, 1);
			check_ascending(&m, 3);
			check_ascending(&m, 9);
			ptc_stream_release(&m.streams[0]);
			ptc_buf_release(&m.bufs[0]);
			free(exact);
		}
}
