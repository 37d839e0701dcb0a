/* SPDX-License-Identifier: MIT */
/*
 * Description: snapshots of an overwritten ring, compared byte by byte with the written stream.
 * Covers each buffer size, place of the last head, place of the head, and number of laps between.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "capture/rings/aux.h"
#include "capture/rings/aux_snapshot.h"
#include "fewer.h"

#define P ((uint64_t)PTC_AUX_PAGE)

enum { LAPS = 3, EACH = 8, PLACES = 3 * EACH };

/* Distances and places around the boundaries of a ring with two pages. */
static const uint64_t edges[] = { 0, 1, P - 1, P, P + 1, 2 * P - 1 };
enum { EDGES = sizeof(edges) / sizeof(*edges) };

/* A PMU with its complete output. */
struct pmu {
	struct perf_event_mmap_page page;
	uint8_t *stream, *area;
	uint64_t size, made;
	struct ptc_snapshot snap;
	uint64_t certain; /* a page, as in reality, or less */
};

/* At each place all laps have different bytes, and none has a fresh buffer's byte. */
static uint8_t byte_at(uint64_t at, uint64_t size)
{
	return (uint8_t)((at / size % 15 + 1) << 4 | (at + 1) * 0x9e3779b97f4a7c15 >> 60);
}

static void pmu_init(struct pmu *m, uint64_t size, uint64_t certain)
{
	const uint64_t all = (uint64_t)2 * (LAPS + 2) * size;
	uint64_t i;

	memset(m, 0, sizeof(*m));
	m->size = size;
	m->certain = certain;
	m->stream = malloc(all);
	m->area = malloc(size);
	m->page.aux_offset = P;
	m->page.aux_size = size;
	for (i = 0; i < all; i++)
		m->stream[i] = byte_at(i, size);
}

static void pmu_release(struct pmu *m)
{
	free(m->stream);
	free(m->area);
}

/* Starts with a fresh buffer and no output. */
static void begin(struct pmu *m)
{
	struct ptc_err err;

	memset(m->area, 0, m->size);
	m->made = 0;
	m->page.aux_head = 0;
	m->snap = (struct ptc_snapshot){ .page = &m->page,
					 .area = m->area,
					 .size = m->size,
					 .mark = calloc(1, m->size / 2),
					 .mark_len = m->size / 2,
					 .certain = m->certain };
	if (m->certain != P) /* smaller than a real page */
		return;
	ptc_snapshot_release(&m->snap);
	cr_assert_eq(ptc_snapshot_init(&m->snap, &m->page, m->area, m->size, &err), 0);
}

/* Produces the stream up to @to; writes only the bytes that remain in the ring. */
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

/* Checks that the @len bytes in @seg are the newest. */
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

/* Takes a snapshot after @fresh new bytes. */
static void take(struct pmu *m, uint64_t fresh)
{
	const uint64_t before = m->snap.pos;
	struct ptc_seg seg[2];
	uint64_t start, len = ptc_snapshot_read(&m->snap, 0, seg, &start);

	cr_assert_eq(len, least(fresh, m->size), "%lu of %lu bytes", len, fresh);
	check_bytes(m, seg, len);
	/*
	 * The snapshot continues the last one only if no byte is missing, and only if that is
	 * certain.
	 */
	cr_assert_eq(start == before, fresh <= m->size - m->certain, "%lu bytes of %lu", fresh,
		     m->size);
	cr_assert_eq(start + len, m->snap.pos);
	len = ptc_snapshot_window(&m->snap, 0, seg, &start);
	cr_assert_eq(len, least(m->made, m->size), "the window has %lu of %lu", len, m->made);
	check_bytes(m, seg, len);
	len = ptc_snapshot_window(&m->snap, m->certain, seg, &start);
	cr_assert_eq(len, least(least(m->made, m->size), m->certain));
	check_bytes(m, seg, len);
	/* A second read finds nothing new, and the window is unchanged. */
	cr_assert_eq(ptc_snapshot_read(&m->snap, 0, seg, &start), 0);
	cr_assert_eq(ptc_snapshot_window(&m->snap, 0, seg, &start), least(m->made, m->size));
}

/* Returns a place: a multiple of an eighth, or 5 bytes (part of a packet) before or behind. */
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

	pmu_init(&m, size, P);
	for (before = 0; before < 2; before++) /* 0: the last one was before a wrap, 1: after */
		for (from = 0; from < PLACES; from++)
			for (to = 0; to < PLACES; to++)
				for (laps = 0; laps <= LAPS; laps++)
					one(&m, place(&m, from) + before * size, place(&m, to),
					    laps);
	pmu_release(&m);
}

/* From every byte to every byte, with each number of laps; the pages of this ring have 8 bytes. */
Test(snapshot_all, small_rings_at_every_byte)
{
	const uint64_t certain = 8;
	uint64_t size, from, to;
	struct pmu m;

	for (size = 2 * certain; size <= 16 * certain; size *= 2) {
		pmu_init(&m, size, certain);
		for (from = 0; from < 2 * size; from++)
			for (to = 0; to < size; to++)
				for (unsigned int laps = 0; laps <= LAPS; laps++)
					one(&m, from, to, laps);
		pmu_release(&m);
	}
}

/*
 * The same with real pages: from every place to the next boundaries, and from the boundaries to
 * every place. All pairs would take minutes.
 */
Test(snapshot_all, rings_of_two_pages_at_every_byte)
{
	const uint64_t size = 2 * P;
	unsigned int laps, edge;
	uint64_t at;
	struct pmu m;

	pmu_init(&m, size, P);
	for (at = 0; at < size; at += FEWER(1, 5))
		for (edge = 0; edge < EDGES; edge++)
			for (laps = 0; laps <= LAPS; laps++) {
				one(&m, at + laps % 2 * size, (at + edges[edge]) % size, laps);
				one(&m, edges[edge], (edges[edge] + at) % size, laps);
			}
	pmu_release(&m);
}

Test(snapshot_all, rings_of_four_pages)
{
	all_of(4 * P);
}

/* The mark is smaller than half the ring here. */
Test(snapshot_all, rings_of_a_megabyte)
{
	const uint64_t size = 256 * P;
	unsigned int laps, from;
	struct pmu m;

	pmu_init(&m, size, P);
	for (from = 0; from < PLACES; from += 5)
		for (laps = 0; laps <= LAPS; laps++) {
			one(&m, place(&m, from), place(&m, from), laps);
			one(&m, place(&m, from), place(&m, from + 4), laps);
		}
	pmu_release(&m);
}
