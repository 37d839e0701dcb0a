/* SPDX-License-Identifier: MIT */
/* Description: the consumer of a data ring; records are cut by the ring's end at every byte. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/layout.h"
#include "capture/rings/ring.h"

enum { RING = 96, OFF = sizeof(struct perf_event_mmap_page) };

/* A ring of any size, at the end of an exact allocation: ASan sees the byte behind it. */
struct fake {
	struct perf_event_mmap_page *page;
	struct ptc_ring ring;
	struct ptc_err err;
	uint64_t head;
	size_t size;
};

static void fake_init(struct fake *f, size_t size, uint64_t start)
{
	f->page = calloc(1, OFF + size);
	f->page->data_offset = OFF;
	f->page->data_size = size;
	f->page->data_head = start;
	f->page->data_tail = start;
	f->head = start;
	f->size = size;
	cr_assert_eq(ptc_ring_init(&f->ring, f->page, OFF, size, &f->err), 0);
}

static void fake_release(struct fake *f)
{
	free(f->page);
}

static void put_byte(struct fake *f, uint8_t v)
{
	((uint8_t *)f->page)[OFF + f->head++ % f->size] = v;
}

/* Writes a record of @size bytes whose header claims @claim; its body counts up from @fill. */
static void put_record(struct fake *f, uint16_t size, uint16_t claim, uint8_t fill)
{
	const uint8_t header[8] = { 9, 0, 0, 0, 0, 0, (uint8_t)claim, (uint8_t)(claim >> 8) };
	uint16_t i;

	for (i = 0; i < size; i++)
		put_byte(f, i < 8 ? header[i] : (uint8_t)(fill + i));
	f->page->data_head = f->head;
}

static void check_record(const struct ptc_seg seg[2], size_t pos, uint16_t size, uint8_t fill)
{
	uint8_t *out = malloc(PTC_REC_MAX + 8);
	uint16_t i;

	cr_assert_eq(ptc_ring_record(seg, pos, out), size);
	for (i = 8; i < size; i++)
		cr_assert_eq(out[i], (uint8_t)(fill + i), "byte %u", i);
	free(out);
}

Test(ring, empty_ring_gives_nothing)
{
	struct ptc_seg seg[2];
	struct fake f;
	uint64_t end;
	uint8_t out[8];

	fake_init(&f, RING, 1000);
	cr_assert_eq(ptc_ring_read(&f.ring, seg, &end, &f.err), 0);
	cr_assert_eq(end, 1000);
	cr_assert_eq(ptc_ring_record(seg, 0, out), 0);
	fake_release(&f);
}

Test(ring, records_wrap_at_every_byte)
{
	uint64_t start;

	for (start = 0; start < 2ull * RING; start++) { /* in the header and in the body */
		struct ptc_seg seg[2];
		struct fake f;
		uint64_t end;

		fake_init(&f, RING, start);
		put_record(&f, 40, 40, 1);
		put_record(&f, 8, 8, 0);
		put_record(&f, 48, 48, 2); /* exactly full */
		cr_assert_eq(ptc_ring_read(&f.ring, seg, &end, &f.err), RING, "start %lu", start);
		check_record(seg, 0, 40, 1);
		check_record(seg, 40, 8, 0);
		check_record(seg, 48, 48, 2);
		ptc_ring_done(&f.ring, end);
		cr_assert_eq(f.page->data_tail, start + RING);
		cr_assert_eq(ptc_ring_read(&f.ring, seg, &end, &f.err), 0);
		fake_release(&f);
	}
}

Test(ring, positions_pass_2_to_the_64)
{
	struct ptc_seg seg[2];
	struct fake f;
	uint64_t end;

	fake_init(&f, 64, -24ull);
	put_record(&f, 40, 40, 3);
	cr_assert_eq(ptc_ring_read(&f.ring, seg, &end, &f.err), 40);
	cr_assert_eq(end, 16);
	check_record(seg, 0, 40, 3);
	fake_release(&f);
}

Test(ring, done_in_the_middle_goes_on_there)
{
	struct ptc_seg seg[2];
	struct fake f;
	uint64_t end;

	fake_init(&f, RING, 80);
	put_record(&f, 24, 24, 1);
	put_record(&f, 32, 32, 2);
	cr_assert_eq(ptc_ring_read(&f.ring, seg, &end, &f.err), 56);
	ptc_ring_done(&f.ring, 80 + 24);
	cr_assert_eq(ptc_ring_read(&f.ring, seg, &end, &f.err), 32);
	check_record(seg, 0, 32, 2);
	fake_release(&f);
}

Test(ring, impossible_sizes_are_format_errors)
{
	static const uint16_t claims[] = { 0, 1, 7, 33, 40, 65535 };
	size_t i;

	for (i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		struct ptc_seg seg[2];
		struct fake f;
		uint64_t end = 42;

		fake_init(&f, RING, 16);
		put_record(&f, 16, 16, 0);
		put_record(&f, 32, claims[i], 0);
		cr_assert_eq(ptc_ring_read(&f.ring, seg, &end, &f.err), PTC_E_FORMAT, "size %u",
			     claims[i]);
		cr_assert_eq(f.err.off, 32);
		cr_assert_eq(end, 42, "results are written on success only");
		fake_release(&f);
	}
}

/* The rest is shorter than a header or than the record: tests each length. */
Test(ring, a_head_inside_a_record_is_a_format_error)
{
	uint64_t cut;

	for (cut = 1; cut < 40; cut++) {
		struct ptc_seg seg[2];
		struct fake f;
		uint64_t end;

		fake_init(&f, RING, 70);
		put_record(&f, 40, 40, 0);
		f.page->data_head = 70 + cut;
		cr_assert_eq(ptc_ring_read(&f.ring, seg, &end, &f.err), PTC_E_FORMAT, "cut %lu",
			     cut);
		fake_release(&f);
	}
}

Test(ring, a_head_beyond_the_ring_is_a_format_error)
{
	struct ptc_seg seg[2];
	struct fake f;
	uint64_t end;

	fake_init(&f, RING, 8);
	f.page->data_head = 8 + RING + 1;
	cr_assert_eq(ptc_ring_read(&f.ring, seg, &end, &f.err), PTC_E_FORMAT);
	f.page->data_head = 7; /* behind the tail */
	cr_assert_eq(ptc_ring_read(&f.ring, seg, &end, &f.err), PTC_E_FORMAT);
	fake_release(&f);
}

/* Tests ptc_ring_record with segments of each length, at the end of exact allocations. */
Test(ring, record_never_reads_behind_the_segments)
{
	size_t first, second;

	for (first = 0; first <= 24; first++)
		for (second = 0; first + second <= 24; second++) {
			uint8_t *a = malloc(first ? first : 1), *b = malloc(second ? second : 1);
			const struct ptc_seg seg[2] = { { a, first }, { b, second } };
			uint8_t out[24], record[24] = { [6] = 24 };

			memcpy(a, record, first);
			memcpy(b, record + first, second);
			cr_assert_eq(ptc_ring_record(seg, 0, out), first + second == 24 ? 24 : 0);
			cr_assert_eq(ptc_ring_record(seg, 25, out), 0);
			free(a);
			free(b);
		}
}

Test(ring, init_checks_the_page_against_the_mapping)
{
	struct perf_event_mmap_page *page = calloc(1, OFF + RING);
	struct ptc_ring r;
	struct ptc_err err;

	cr_assert_eq(ptc_ring_init(&r, page, OFF, RING, &err), 0, "before 4.1: no sizes");
	cr_assert_eq(ptc_ring_init(&r, page, OFF, 0, &err), PTC_E_FORMAT);
	page->data_size = RING;
	page->data_offset = OFF;
	cr_assert_eq(ptc_ring_init(&r, page, OFF, RING, &err), 0);
	cr_assert_eq(ptc_ring_init(&r, page, OFF, RING + 1, &err), PTC_E_FORMAT);
	cr_assert_eq(ptc_ring_init(&r, page, OFF + 8, RING, &err), PTC_E_FORMAT);
	free(page);
}

Test(ring, reading_starts_at_the_tail_of_the_page)
{
	struct ptc_seg seg[2];
	struct fake f;
	uint64_t end;

	fake_init(&f, RING, 0);
	put_record(&f, 16, 16, 1);
	put_record(&f, 24, 24, 2);
	f.page->data_tail = 16;
	cr_assert_eq(ptc_ring_init(&f.ring, f.page, OFF, RING, &f.err), 0);
	cr_assert_eq(ptc_ring_read(&f.ring, seg, &end, &f.err), 24);
	check_record(seg, 0, 24, 2);
	fake_release(&f);
}
