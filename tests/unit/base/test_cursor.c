/* SPDX-License-Identifier: MIT */
/* Description: the cursor: every reader at every length, at the end of an exact allocation. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/cursor.h"

/* noinline: otherwise gcc knows the size and warns about the reads that the cursor must refuse. */
static __attribute__((noinline)) uint8_t *counting(size_t len)
{
	uint8_t *p = malloc(len ? len : 1);
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (uint8_t)(i + 1);
	return p;
}

Test(cursor, numbers_are_little_endian)
{
	uint8_t *p = counting(15);
	struct ptc_cur c = ptc_cur_init(p, 15);
	uint8_t a;
	uint16_t b;
	uint32_t d;
	uint64_t e;

	cr_assert(ptc_cur_u8(&c, &a));
	cr_assert(ptc_cur_le16(&c, &b));
	cr_assert(ptc_cur_le32(&c, &d));
	cr_assert(ptc_cur_le64(&c, &e));
	cr_assert_eq(a, 0x01);
	cr_assert_eq(b, 0x0302);
	cr_assert_eq(d, 0x07060504);
	cr_assert_eq(e, 0x0f0e0d0c0b0a0908);
	cr_assert_eq(ptc_cur_left(&c), 0);
	free(p);
}

Test(cursor, the_top_bit_is_no_sign)
{
	const uint8_t ff[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	cr_assert_eq(ptc_le16(ff), 0xffff);
	cr_assert_eq(ptc_le32(ff), 0xffffffff);
	cr_assert_eq(ptc_le64(ff), UINT64_MAX);
}

Test(cursor, too_few_bytes_move_nothing)
{
	size_t len;

	for (len = 0; len < 8; len++) {
		uint8_t *p = counting(len);
		struct ptc_cur c = ptc_cur_init(p, len), sub;
		const uint8_t *bytes;
		uint16_t v16 = 7;
		uint32_t v32 = 7;
		uint64_t v64 = 7;
		uint8_t v8 = 7;

		cr_assert_not(ptc_cur_le64(&c, &v64));
		cr_assert_not(ptc_cur_skip(&c, len + 1));
		cr_assert_not(ptc_cur_skip(&c, SIZE_MAX));
		cr_assert_not(ptc_cur_bytes(&c, len + 1, &bytes));
		cr_assert_not(ptc_cur_sub(&c, len + 1, &sub));
		cr_assert_eq(ptc_cur_left(&c), len);
		if (len < 4)
			cr_assert_not(ptc_cur_le32(&c, &v32));
		if (len < 2)
			cr_assert_not(ptc_cur_le16(&c, &v16));
		if (len < 1)
			cr_assert_not(ptc_cur_u8(&c, &v8));
		cr_assert(v8 == 7 && v16 == 7 && v32 == 7 && v64 == 7);
		cr_assert_eq(ptc_cur_left(&c), len);
		free(p);
	}
}

Test(cursor, a_part_is_a_view_of_its_own)
{
	uint8_t *p = counting(5);
	struct ptc_cur c = ptc_cur_init(p, 5), sub;
	uint8_t v;

	cr_assert(ptc_cur_sub(&c, 2, &sub));
	cr_assert_eq(ptc_cur_left(&sub), 2);
	cr_assert_eq(ptc_cur_left(&c), 3);
	cr_assert(ptc_cur_skip(&sub, 2));
	cr_assert_not(ptc_cur_u8(&sub, &v));
	cr_assert(ptc_cur_u8(&c, &v));
	cr_assert_eq(v, 3);
	free(p);
}

Test(cursor, a_string_needs_its_nul_inside)
{
	const char text[] = { 'a', 'b', 0, 'c' };
	size_t len;

	for (len = 0; len <= sizeof(text); len++) {
		char *p = malloc(len ? len : 1);
		struct ptc_cur c;
		const char *s;

		memcpy(p, text, len);
		c = ptc_cur_init(p, len);
		cr_assert_eq(ptc_cur_str(&c, &s), len >= 3, "length %zu", len);
		if (len >= 3) {
			cr_assert_str_eq(s, "ab");
			cr_assert_eq(ptc_cur_left(&c), len - 3);
			cr_assert_not(ptc_cur_str(&c, &s), "'c' has no end");
		} else {
			cr_assert_eq(ptc_cur_left(&c), len);
		}
		free(p);
	}
}

Test(cursor, nothing_at_all_is_a_view_too)
{
	struct ptc_cur c = ptc_cur_init(NULL, 0);
	const char *s;
	uint8_t v;

	cr_assert_eq(ptc_cur_left(&c), 0);
	cr_assert_not(ptc_cur_u8(&c, &v));
	cr_assert_not(ptc_cur_str(&c, &s));
	cr_assert(ptc_cur_skip(&c, 0));
}
