/* SPDX-License-Identifier: MIT */
/*
 * Description: snapshots of an overwritten ring, for each buffer size, place of the last head,
 * place of the head and number of laps between, against the stream that was written, byte for byte.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "capture/aux.h"
#include "capture/snapshot.h"

#define P ((uint64_t)PTC_AUX_PAGE)

enum { LAPS = 3, EACH = 8, PLACES = 3 * EACH };

/* A PMU, and all that it writes in its life. */
struct pmu {
	struct perf_event_mmap_page page;
	uint8_t *stream, *area;
	uint64_t size, made;
	struct ptc_snapshot snap;
	const char *what; /* for messages */
};

static void pmu_init(struct pmu *m, uint64_t size)
{
	const uint64_t all = (uint64_t)2 * (LAPS + 2) * size;
	uint64_t i;

	memset(m, 0, sizeof(*m));
	m->size = size;
	m->stream = malloc(all);
	m->area = malloc(size);
	m->page.aux_offset = P;
	m->page.aux_size = size;
	for (i = 0; i < all; i++)
		m->stream[i] = (uint8_t)((i + 1) * 0x9e3779b97f4a7c15 >> 56 | 1);
}

static void pmu_release(struct pmu *m)
{
	free(m->stream);
	free(m->area);
}

/* A fresh buffer, and nothing written. */
static void begin(struct pmu *m)
{
	struct ptc_err err;

	memset(m->area, 0, m->size);
	m->made = 0;
	m->page.aux_head = 0;
	cr_assert_eq(ptc_snapshot_init(&m->snap, &m->page, m->area, m->size, &err), 0);
}

/* Up to @to of the stream; only what stays is written. */
static void produce(struct pmu *m, uint64_t to)
{
	uint64_t at = to - m->made > m->size ? to - m->size : m->made;

	while (at < to) {
		const uint64_t in = at % m->size;
		const uint64_t n = to - at < m->size - in ? to - at : m->size - in;

		memcpy(m->area + in, m->stream + at, n);
		at += n;
	}
	m->made = to;
	m->page.aux_head = to % m->size;
}

/* The @len bytes that @seg lends are the newest. */
static void check_bytes(const struct pmu *m, const struct ptc_seg seg[2], uint64_t len)
{
	cr_assert_eq(seg[0].len + seg[1].len, len);
	cr_assert_leq(len, m->made);
	cr_assert(!memcmp(seg[0].bytes, m->stream + (m->made - len), seg[0].len));
	cr_assert(!memcmp(seg[1].bytes, m->stream + (m->made - seg[1].len), seg[1].len));
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* @fresh bytes were written since the last one. */
static void take(struct pmu *m, uint64_t fresh)
{
	const uint64_t before = m->snap.pos;
	struct ptc_seg seg[2];
	uint64_t start, len = ptc_snapshot_read(&m->snap, 0, seg, &start);

	cr_assert_eq(len, least(fresh, m->size), "%lu of %lu bytes", len, fresh);
	check_bytes(m, seg, len);
	/* It goes on from there only if that is so, and it is said so if it is certain. */
	cr_assert_eq(start == before, fresh <= m->size - P, "%lu bytes of %lu", fresh, m->size);
	cr_assert_eq(start + len, m->snap.pos);
	len = ptc_snapshot_window(&m->snap, 0, seg, &start);
	cr_assert_eq(len, least(m->made, m->size), "the window has %lu of %lu", len, m->made);
	check_bytes(m, seg, len);
	len = ptc_snapshot_window(&m->snap, P, seg, &start);
	cr_assert_eq(len, least(least(m->made, m->size), P));
	check_bytes(m, seg, len);
	/* And again: nothing is new, and the window is as it was. */
	cr_assert_eq(ptc_snapshot_read(&m->snap, 0, seg, &start), 0);
	cr_assert_eq(ptc_snapshot_window(&m->snap, 0, seg, &start), least(m->made, m->size));
}

/* At the beginning, at each eighth, and a few bytes (a part of a packet) to both sides. */
static uint64_t place(const struct pmu *m, unsigned int i)
{
	const uint64_t at = i / 3 * (m->size / EACH);

	return (at + (i % 3 == 1 ? 5 : i % 3 == 2 ? m->size - 5 : 0)) % m->size;
}

static void one(struct pmu *m, uint64_t first, uint64_t head, unsigned int laps)
{
	const uint64_t ahead = (head + m->size - first % m->size) % m->size;

	begin(m);
	produce(m, first);
	take(m, first);
	produce(m, first + ahead + laps * m->size);
	take(m, ahead + laps * m->size);
	ptc_snapshot_release(&m->snap);
}

static void all_of(uint64_t size)
{
	unsigned int from, to, laps, before;
	struct pmu m;

	pmu_init(&m, size);
	for (before = 0; before < 2; before++) /* was the last one of a ring that had wrapped? */
		for (from = 0; from < PLACES; from++)
			for (to = 0; to < PLACES; to++)
				for (laps = 0; laps <= LAPS; laps++)
					one(&m, place(&m, from) + before * size, place(&m, to),
					    laps);
	pmu_release(&m);
}

Test(snapshot_all, rings_of_two_pages)
{
	all_of(2 * P);
}

Test(snapshot_all, rings_of_four_pages)
{
	all_of(4 * P);
}

/* The mark is no half of it. */
Test(snapshot_all, rings_of_a_megabyte)
{
	const uint64_t size = 256 * P;
	unsigned int laps, from;
	struct pmu m;

	pmu_init(&m, size);
	for (from = 0; from < PLACES; from += 5)
		for (laps = 0; laps <= LAPS; laps++) {
			one(&m, place(&m, from), place(&m, from), laps);
			one(&m, place(&m, from), place(&m, from + 4), laps);
		}
	pmu_release(&m);
}
