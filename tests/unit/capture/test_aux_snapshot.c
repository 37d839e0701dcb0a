/* SPDX-License-Identifier: MIT */
/*
 * Description: the consumer of an AUX ring in overwrite mode: which bytes are new, and whether that
 * is certain.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/sideband.h"
#include "base/cursor.h"
#include "capture/rings/aux.h"
#include "capture/rings/aux_snapshot.h"
#include "capture/rings/ring.h"
#include "capture/soft/sideband_writer.h"

#define P ((uint64_t)PTC_AUX_PAGE)

/* Returns the PMU's output byte at a position: no two pages are alike. */
static uint8_t trace(uint64_t at)
{
	const uint64_t h = (at + 1) * 0x9e3779b97f4a7c15;

	return (uint8_t)(h >> 56 | 1); /* never 0, as in a fresh buffer */
}

struct fake {
	struct perf_event_mmap_page *page;
	uint8_t *area;
	size_t size;
	uint64_t made;
	struct ptc_snapshot snap;
	struct ptc_err err;
};

static void fake_init(struct fake *f, size_t size)
{
	memset(f, 0, sizeof(*f));
	f->size = size;
	f->page = calloc(1, sizeof(*f->page));
	f->area = calloc(1, size);
	f->page->aux_offset = 2 * P;
	f->page->aux_size = size;
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): fake_release has them */
	cr_assert_eq(ptc_snapshot_init(&f->snap, f->page, f->area, size, &f->err), 0);
}

static void fake_release(struct fake *f)
{
	ptc_snapshot_release(&f->snap);
	free(f->area);
	free(f->page);
}

static void produce(struct fake *f, uint64_t n)
{
	uint64_t i = n > f->size ? n - f->size : 0;

	for (; i < n; i++)
		f->area[(f->made + i) % f->size] = trace(f->made + i);
	f->made += n;
	f->page->aux_head = f->made % f->size;
}

static void take(struct fake *f, const char *name, uint64_t max, uint64_t want_len, bool goes_on)
{
	const uint64_t before = f->snap.pos;
	struct ptc_seg seg[2];
	uint64_t start, i, len = ptc_snapshot_read(&f->snap, max, seg, &start);

	cr_assert_eq(len, want_len, "%s: %lu bytes, expected %lu", name, len, want_len);
	cr_assert_eq(seg[0].len + seg[1].len, len);
	cr_assert_eq(start == before, goes_on, "%s: begins at %lu, the last one ended at %lu", name,
		     start, before);
	cr_assert_geq(start, before, "bytes are given twice");
	cr_assert_eq(start + len, f->snap.pos);
	cr_assert_eq(f->snap.pos % f->size, f->made % f->size);
	for (i = 0; i < len; i++) {
		const uint8_t *p = i < seg[0].len ?
					   (const uint8_t *)seg[0].bytes + i :
					   (const uint8_t *)seg[1].bytes + (i - seg[0].len);

		cr_assert_eq(*p, trace(f->made - len + i), "byte %lu of %lu", i, len);
	}
}

/*
 * One snapshot: @made bytes are written, @len bytes are read; @on: no bytes are missing before
 * them.
 */
struct step {
	uint64_t made, len;
	bool on;
};

struct scene {
	const char *name;
	size_t size;
	uint64_t max;
	struct step step[5]; /* ends where made, len and on are 0 */
};

#define S (16 * P)

static const struct scene scenes[] = {
	{ "never wrapped", S, 0, { { 100, 100, true }, { 3 * P, 3 * P, true }, { 8, 8, true } } },
	{ "nothing at all, then something",
	  S,
	  0,
	  { { 0, 0, true }, { 0, 0, true }, { 8, 8, true } } },
	{ "nothing new", S, 0, { { 5 * P, 5 * P, true }, { 0, 0, true }, { 16, 16, true } } },
	{ "up to the end",
	  S,
	  0,
	  { { 10 * P, 10 * P, true }, { 6 * P, 6 * P, true }, { 0, 0, true }, { P, P, true } } },
	{ "across the end", S, 0, { { 10 * P, 10 * P, true }, { 11 * P, 11 * P, true } } },
	{ "across, and once more",
	  S,
	  0,
	  { { 10 * P, 10 * P, true },
	    { 10 * P, 10 * P, true },
	    { 10 * P, 10 * P, true },
	    { 10 * P, 10 * P, true } } },
	{ "once round at first", S, 0, { { S + 8, S, false }, { 8, 8, true } } },
	{ "once round, and the head at 0", S, 0, { { S, S, false }, { 8, 8, true } } },
	{ "twice round, and the head at 0", S, 0, { { 2 * S, S, false }, { 0, 0, true } } },
	{ "many times round",
	  S,
	  0,
	  { { 9 * S + 40, S, false }, { 7 * S + 8, S, false }, { S / 2, S / 2, true } } },
	{ "round to the very place",
	  S,
	  0,
	  { { 3 * P, 3 * P, true }, { S, S, false }, { 5 * S, S, false }, { 0, 0, true } } },
	{ "round and a little more", S, 0, { { 3 * P, 3 * P, true }, { S + 8, S, false } } },
	{ "round and all but a little", S, 0, { { 3 * P, 3 * P, true }, { 2 * S - 8, S, false } } },
	{ "all but a page: still certain",
	  S,
	  0,
	  { { 3 * P, 3 * P, true }, { S - P, S - P, true } } },
	/* One lap more would look the same, so the snapshot does not continue the last one. */
	{ "all but a few bytes",
	  S,
	  0,
	  { { 3 * P, 3 * P, true }, { S - 8, S - 8, false }, { 8, 8, true } } },
	{ "all but less than a page",
	  S,
	  0,
	  { { 3 * P, 3 * P, true }, { S - P + 8, S - P + 8, false } } },
	{ "all but a few bytes, at first", S, 0, { { S - 8, S - 8, false }, { 16, 16, true } } },
	{ "the newest",
	  S,
	  P,
	  { { 100, 100, true }, { 64, 64, true }, { 3 * P, P, false }, { 3 * S, P, false } } },
	{ "the newest, of an odd number", S, P + 5, { { 8 * P, P, false } } },
	{ "more than there can be", S, 2 * S, { { 9 * S, S, false }, { P, P, true } } },
	{ "the smallest ring",
	  2 * P,
	  0,
	  { { P, P, true }, { P, P, true }, { 2 * P, 2 * P, false }, { P + 8, P + 8, false } } },
	/* The mark is smaller than half the ring here. */
	{ "a large ring",
	  256 * P,
	  0,
	  { { 100 * P, 100 * P, true },
	    { 200 * P, 200 * P, true },
	    { 256 * P + 8, 256 * P, false },
	    { 250 * P, 250 * P, true } } },
};

Test(aux_snapshot, what_is_new_and_whether_it_is_certain)
{
	size_t i, k;

	for (i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
		const struct scene *sc = &scenes[i];
		struct fake f;

		fake_init(&f, sc->size);
		for (k = 0; k < 5; k++) {
			const struct step *st = &sc->step[k];

			if (!st->made && !st->len && !st->on)
				break;
			produce(&f, st->made);
			take(&f, sc->name, sc->max, st->len, st->on);
		}
		fake_release(&f);
	}
}

Test(aux_snapshot, whatever_was_written_nothing_is_false)
{
	uint64_t seed = 1, n, before, made;
	struct ptc_seg seg[2];
	int i;

	for (i = 0; i < 20; i++) {
		uint64_t start, len;
		struct fake f;
		int k;

		fake_init(&f, 4 * P);
		for (k = 0; k < 100; k++) {
			seed = seed * 6364136223846793005 + 1442695040888963407 + (uint64_t)i;
			n = seed >> 33;
			n = k % 3 ? n % (4 * P) : k % 2 ? 4 * P + n % 16 - 8 : n % (40 * P);
			made = f.made;
			before = f.snap.pos;
			produce(&f, n);
			len = ptc_snapshot_read(&f.snap, 0, seg, &start);
			cr_assert_leq(len, n, "bytes are given twice");
			cr_assert_eq(len, n < 4 * P ? n : 4 * P);
			cr_assert(start != before || f.made - len == made, "a hole is not seen");
			cr_assert(start == before || n > 3 * P, "%lu bytes are no wrap", n);
		}
		fake_release(&f);
	}
}

Test(aux_snapshot, init_checks_the_page_against_the_mapping)
{
	struct ptc_snapshot s = { .mark = NULL };
	struct fake f;

	fake_init(&f, 4 * P);
	cr_assert_eq(ptc_snapshot_init(&s, f.page, f.area, 2 * P, &f.err), PTC_E_FORMAT);
	f.page->aux_size = P;
	cr_assert_eq(ptc_snapshot_init(&s, f.page, f.area, P, &f.err), PTC_E_USAGE);
	ptc_snapshot_release(&s);
	fake_release(&f);
}

/* --- a software ring as the producer --- */

static uint64_t aux_record(struct ptc_softring *r, struct ptc_sb *ret)
{
	static uint8_t bytes[PTC_REC_MAX + 8];
	struct ptc_ring ring;
	struct ptc_seg seg[2];
	struct ptc_err err;
	struct ptc_cur c;
	struct ptc_rec rec;
	uint64_t end;

	cr_assert_eq(ptc_ring_init(&ring, ptc_softring_page(r), P, P, &err), 0);
	cr_assert_gt(ptc_ring_read(&ring, seg, &end, &err), 0);
	c = ptc_cur_init(bytes, ptc_ring_record(seg, 0, bytes));
	cr_assert_gt(ptc_rec_next(&c, 0, &rec, &err), 0);
	cr_assert_gt(ptc_sb_parse(&rec, PTC_SOFT_SAMPLE_TYPE, ret, &err), 0);
	ptc_ring_done(&ring, end);
	return ret->u.aux.offset;
}

Test(aux_snapshot, a_software_ring_is_overwritten_and_says_so)
{
	const struct ptc_softring_opts opts = { .data_size = P,
						.aux_size = 2 * P,
						.overwrite = true,
						.sample_type = PTC_SOFT_SAMPLE_TYPE };
	struct ptc_clock clock = { 0 };
	struct ptc_records rec = { .clock = &clock, .pt_id = 1 };
	struct ptc_softring *r;
	struct ptc_snapshot s;
	struct ptc_err err;
	struct ptc_seg seg[2];
	uint8_t piece[24], *large;
	uint64_t at = 0, start, i, k;
	struct ptc_sb sb;

	cr_assert_eq(ptc_softring_new(&opts, &r, &err), 0);
	cr_assert(ptc_softring_overwrites(r));
	cr_assert_eq(ptc_snapshot_init(&s, ptc_softring_page(r), ptc_softring_aux(r), 2 * P, &err),
		     0);
	for (i = 0; i < 1000; i++, at += sizeof(piece)) { /* no reader, no waiting */
		for (k = 0; k < sizeof(piece); k++)
			piece[k] = trace(at + k);
		cr_assert_eq(ptc_softring_aux_write(r, piece, sizeof(piece), NULL, NULL),
			     sizeof(piece));
	}
	cr_assert_eq(ptc_softring_page(r)->aux_head, 0, "nothing was published");
	rec.ring = r;
	ptc_records_aux(&rec, 0, at, 0);
	ptc_softring_aux_publish(r);
	cr_assert_eq(ptc_softring_page(r)->aux_head, at % (2 * P));
	cr_assert_eq(aux_record(r, &sb), at % (2 * P));
	cr_assert_eq(sb.u.aux.size, 2 * P);
	cr_assert_eq(sb.u.aux.flags, PERF_AUX_FLAG_OVERWRITE);
	cr_assert_eq(ptc_snapshot_read(&s, 0, seg, &start), 2 * P);
	for (i = 0; i < seg[0].len; i++)
		cr_assert_eq(((const uint8_t *)seg[0].bytes)[i], trace(at - 2 * P + i));
	for (i = 0; i < seg[1].len; i++)
		cr_assert_eq(((const uint8_t *)seg[1].bytes)[i], trace(at - seg[1].len + i));
	large = malloc(5 * P); /* only its end remains */
	for (i = 0; i < 5 * P; i++)
		large[i] = trace(at + i);
	cr_assert_eq(ptc_softring_aux_write(r, large, 5 * P, NULL, NULL), 5 * P);
	free(large);
	at += 5 * P;
	ptc_softring_aux_publish(r);
	cr_assert_eq(ptc_snapshot_read(&s, 0, seg, &start), 2 * P);
	for (i = 0; i < seg[0].len; i++)
		cr_assert_eq(((const uint8_t *)seg[0].bytes)[i], trace(at - 2 * P + i));
	cr_assert_eq(ptc_softring_lost_aux(r), 0, "overwritten is not lost");
	ptc_snapshot_release(&s);
	ptc_records_release(&rec);
	ptc_softring_free(r);
}
