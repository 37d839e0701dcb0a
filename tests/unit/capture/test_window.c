/* SPDX-License-Identifier: MIT */
/* Description: the arithmetic of ring windows, compared with a byte-by-byte model. */
#include <criterion/criterion.h>

#include "capture/rings/window.h"

/* Compares the bytes of [tail + lost, head) one by one, for a ring of any size. */
static void check_against_model(uint64_t tail, uint64_t head, size_t size)
{
	const struct ptc_window w = ptc_window_between(tail, head, size);
	const uint64_t span = head - tail;
	uint64_t i;

	cr_assert_eq(w.lost, span > size ? span - size : 0, "tail %lu head %lu size %zu", tail,
		     head, size);
	cr_assert_eq(w.lost + w.len[0] + w.len[1], span, "tail %lu head %lu size %zu", tail, head,
		     size);
	for (i = 0; i < w.len[0] + w.len[1]; i++) {
		const size_t at = i < w.len[0] ? w.off[0] + i : w.off[1] + (i - w.len[0]);

		cr_assert_eq(at, (tail + w.lost + i) % size, "tail %lu head %lu size %zu byte %lu",
			     tail, head, size, i);
	}
}

Test(window, empty_window_has_no_bytes)
{
	const struct ptc_window w = ptc_window_between(13, 13, 8);

	cr_assert_eq(w.len[0], 0);
	cr_assert_eq(w.len[1], 0);
	cr_assert_eq(w.lost, 0);
	cr_assert_eq(w.off[0], 5);
}

Test(window, exactly_full_loses_nothing)
{
	const struct ptc_window w = ptc_window_between(8, 16, 8);

	cr_assert_eq(w.len[0], 8);
	cr_assert_eq(w.len[1], 0, "it ends where the ring ends, so it is one piece");
	cr_assert_eq(w.lost, 0);
}

Test(window, full_and_wrapped_is_two_pieces)
{
	const struct ptc_window w = ptc_window_between(11, 19, 8);

	cr_assert_eq(w.off[0], 3);
	cr_assert_eq(w.len[0], 5);
	cr_assert_eq(w.off[1], 0);
	cr_assert_eq(w.len[1], 3);
}

Test(window, overrun_keeps_the_newest_and_counts_the_rest)
{
	const struct ptc_window w = ptc_window_between(3, 103, 8);

	cr_assert_eq(w.lost, 92);
	cr_assert_eq(w.off[0], 95 % 8);
	cr_assert_eq(w.len[0] + w.len[1], 8);
}

Test(window, every_window_of_small_rings_is_right)
{
	size_t size;
	uint64_t tail, head;

	for (size = 1; size <= 9; size++) /* powers of two and others */
		for (tail = 0; tail <= 3 * size; tail++)
			for (head = tail; head <= tail + 3 * size; head++)
				check_against_model(tail, head, size);
}

Test(window, positions_pass_2_to_the_64)
{
	uint64_t back, span;

	for (back = 0; back <= 20; back++)
		for (span = 0; span <= 20; span++)
			check_against_model(-back, span - back, 8);
}

Test(window, non_power_of_two_is_right_up_to_2_to_the_64)
{
	uint64_t back;

	for (back = 1; back <= 20; back++)
		check_against_model(UINT64_MAX - 20, UINT64_MAX - 20 + back, 7);
}

Test(window, rings_of_four_gigabytes_do_not_overflow)
{
	const size_t size = (size_t)1 << 32;
	const struct ptc_window w = ptc_window_between(size - 1, 2 * size - 1, size);

	cr_assert_eq(w.len[0], 1);
	cr_assert_eq(w.len[1], size - 1);
}
