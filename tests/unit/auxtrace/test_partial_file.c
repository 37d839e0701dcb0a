/* SPDX-License-Identifier: MIT */
/* Description: of a file, parts are kept and all other bytes are zeros, in chunks of any size. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/bundle/partial_file.h"

enum { LEN = 40 };

static struct ptc_partial *of_file(void)
{
	struct ptc_partial *p = calloc(1, sizeof(*p));

	cr_assert(p);
	return p;
}

/* Apply @p to a file of LEN bytes that are all 0xff, in chunks of @step bytes. */
static void apply_in_chunks(const struct ptc_partial *p, size_t step, uint8_t ret[LEN])
{
	size_t at, n;

	for (at = 0; at < LEN; at += n) {
		uint8_t *chunk;

		n = LEN - at < step ? LEN - at : step;
		chunk = malloc(n); /* its end is the end of the heap block */
		cr_assert(chunk);
		memset(chunk, 0xff, n);
		ptc_partial_apply(p, at, chunk, n);
		memcpy(ret + at, chunk, n);
		free(chunk);
	}
}

Test(partial_file, bytes_outside_the_parts_become_zeros)
{
	struct ptc_partial *p = of_file();
	uint8_t got[LEN], want[LEN] = { 0 };
	size_t step;

	/* Out of order, adjacent, overlapping, empty, and beyond the end. */
	cr_assert(ptc_partial_add(p, 20, 5));
	cr_assert(ptc_partial_add(p, 3, 2));
	cr_assert(ptc_partial_add(p, 5, 1));
	cr_assert(ptc_partial_add(p, 22, 6));
	cr_assert(ptc_partial_add(p, 10, 0));
	cr_assert(ptc_partial_add(p, 39, UINT64_MAX));
	ptc_partial_finish(p);
	cr_assert_eq(p->n, 3);
	memset(want + 3, 0xff, 3);
	memset(want + 20, 0xff, 8);
	memset(want + 39, 0xff, 1);
	for (step = 1; step <= LEN; step++) {
		apply_in_chunks(p, step, got);
		cr_assert_arr_eq(got, want, LEN, "chunks of %zu", step);
	}
	ptc_partial_free(p);
}

Test(partial_file, a_patch_may_lie_on_the_border_of_chunks)
{
	struct ptc_partial *p = of_file();
	uint8_t got[LEN], want[LEN];
	size_t step;

	cr_assert(ptc_partial_add(p, 0, LEN));
	cr_assert(ptc_partial_patch(p, 13, 0x04030201));
	ptc_partial_finish(p);
	memset(want, 0xff, LEN);
	memcpy(want + 13, (const uint8_t[]){ 1, 2, 3, 4 }, 4);
	for (step = 1; step <= LEN; step++) {
		apply_in_chunks(p, step, got);
		cr_assert_arr_eq(got, want, LEN, "chunks of %zu", step);
	}
	ptc_partial_free(p);
}

Test(partial_file, nothing_is_kept_of_a_file_without_parts)
{
	struct ptc_partial *p = of_file();
	const uint8_t want[LEN] = { 0 };
	uint8_t got[LEN];

	ptc_partial_finish(p);
	apply_in_chunks(p, 7, got);
	cr_assert_arr_eq(got, want, LEN);
	ptc_partial_free(p);
}
