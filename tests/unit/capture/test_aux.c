/* SPDX-License-Identifier: MIT */
/* Description: the consumer of an AUX ring: the bytes it reads, and the bytes it gives back. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "capture/rings/aux.h"

#define P    ((uint64_t)PTC_AUX_PAGE)
#define SIZE (4 * P)

struct fake {
	struct perf_event_mmap_page *page;
	uint8_t *area;
	struct ptc_aux aux;
	struct ptc_err err;
};

static void fake_init(struct fake *f, uint64_t start)
{
	size_t i;

	f->page = calloc(1, sizeof(*f->page));
	f->area = malloc(SIZE);
	for (i = 0; i < SIZE; i++)
		f->area[i] = (uint8_t)(i * 7 + i / 251);
	f->page->aux_offset = 2 * P;
	f->page->aux_size = SIZE;
	f->page->aux_head = start;
	f->page->aux_tail = start;
	cr_assert_eq(ptc_aux_init(&f->aux, f->page, f->area, SIZE, &f->err), 0);
}

static void fake_release(struct fake *f)
{
	free(f->area);
	free(f->page);
}

static void check_read(struct fake *f, uint64_t start, uint64_t len)
{
	struct ptc_seg seg[2];
	uint64_t at, i;

	cr_assert_eq(ptc_aux_read(&f->aux, seg, &at), len);
	cr_assert_eq(at, start);
	cr_assert_eq(seg[0].len + seg[1].len, len);
	for (i = 0; i < len; i++) {
		const uint8_t *p = i < seg[0].len ? (const uint8_t *)seg[0].bytes + i :
						    (const uint8_t *)seg[1].bytes + i - seg[0].len;

		cr_assert_eq(*p, f->area[(start + i) % SIZE], "byte %lu", i);
	}
}

Test(aux, nothing_new_is_nothing_to_read)
{
	struct fake f;

	fake_init(&f, 3 * P);
	check_read(&f, 3 * P, 0);
	fake_release(&f);
}

Test(aux, a_read_wraps_at_every_byte_of_a_page)
{
	uint64_t head;

	for (head = SIZE + 1; head < SIZE + P; head += 61) {
		struct fake f;

		fake_init(&f, SIZE - P);
		f.page->aux_head = head;
		check_read(&f, SIZE - P, head - (SIZE - P));
		fake_release(&f);
	}
}

Test(aux, exactly_full_loses_nothing)
{
	struct fake f;

	fake_init(&f, P);
	f.page->aux_head = P + SIZE;
	check_read(&f, P, SIZE);
	cr_assert_eq(f.aux.lost, 0);
	fake_release(&f);
}

Test(aux, tails_are_given_back_on_page_boundaries)
{
	struct fake f;

	fake_init(&f, 0);
	f.page->aux_head = P + 100;
	check_read(&f, 0, P + 100);
	ptc_aux_done(&f.aux, P - 1, false);
	cr_assert_eq(f.page->aux_tail, 0);
	ptc_aux_done(&f.aux, P + 100, false);
	cr_assert_eq(f.page->aux_tail, P);
	check_read(&f, P + 100, 0);
	f.page->aux_head = 2 * P + 1;
	check_read(&f, P + 100, P - 99);
	ptc_aux_done(&f.aux, 2 * P + 1, false);
	cr_assert_eq(f.page->aux_tail, 2 * P);
	fake_release(&f);
}

Test(aux, the_end_gives_back_everything_and_nothing_takes_it_again)
{
	struct fake f;

	fake_init(&f, 0);
	f.page->aux_head = P + 100;
	check_read(&f, 0, P + 100);
	ptc_aux_done(&f.aux, P + 100, true);
	cr_assert_eq(f.page->aux_tail, P + 100);
	ptc_aux_done(&f.aux, P + 100, false);
	cr_assert_eq(f.page->aux_tail, P + 100, "a tail never moves back");
	fake_release(&f);
}

Test(aux, overwritten_bytes_are_counted_once)
{
	struct fake f;

	fake_init(&f, 2 * P);
	f.page->aux_head = 2 * P + SIZE + 100;
	check_read(&f, 2 * P + 100, SIZE);
	check_read(&f, 2 * P + 100, SIZE);
	cr_assert_eq(f.aux.lost, 100);
	ptc_aux_done(&f.aux, 2 * P + 100 + SIZE, false);
	f.page->aux_head += 7;
	check_read(&f, 2 * P + 100 + SIZE, 7);
	cr_assert_eq(f.aux.lost, 100);
	fake_release(&f);
}

Test(aux, positions_pass_2_to_the_64)
{
	struct fake f;

	fake_init(&f, -P);
	f.page->aux_head = 50;
	check_read(&f, -P, P + 50);
	ptc_aux_done(&f.aux, 50, false);
	cr_assert_eq(f.page->aux_tail, 0);
	fake_release(&f);
}

Test(aux, a_head_behind_what_was_read_is_no_head)
{
	struct fake f;

	fake_init(&f, P);
	f.page->aux_head = P - 1;
	check_read(&f, P, 0);
	cr_assert_eq(f.aux.lost, 0);
	fake_release(&f);
}

Test(aux, init_checks_the_page_against_the_mapping)
{
	struct fake f;

	fake_init(&f, 0);
	cr_assert_eq(ptc_aux_init(&f.aux, f.page, f.area, SIZE / 2, &f.err), PTC_E_FORMAT);
	cr_assert_eq(ptc_aux_init(&f.aux, f.page, f.area, 0, &f.err), PTC_E_FORMAT);
	f.page->aux_offset = 0;
	cr_assert_eq(ptc_aux_init(&f.aux, f.page, f.area, SIZE, &f.err), PTC_E_FORMAT);
	fake_release(&f);
}
