/* SPDX-License-Identifier: MIT */
/* Description: the growing buffer: byte order, padding, and a failure that sticks. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"

Test(buf, numbers_are_little_endian)
{
	static const uint8_t want[] = { 1, 3, 2, 7, 6, 5, 4, 15, 14, 13, 12, 11, 10, 9, 8 };
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_buf_u8(&b, 0x01);
	ptc_buf_le16(&b, 0x0203);
	ptc_buf_le32(&b, 0x04050607);
	ptc_buf_le64(&b, 0x08090a0b0c0d0e0f);
	cr_assert_eq(b.len, sizeof(want));
	cr_assert_arr_eq(b.bytes, want, sizeof(want));
	ptc_buf_release(&b);
	cr_assert_null(b.bytes);
}

Test(buf, growing_keeps_what_was_there)
{
	struct ptc_buf b = PTC_BUF_INIT;
	uint32_t i;

	for (i = 0; i < 5000; i++)
		ptc_buf_le32(&b, i);
	cr_assert_not(ptc_buf_failed(&b));
	cr_assert_eq(b.len, 20000);
	for (i = 0; i < 5000; i++)
		cr_assert_eq(ptc_le32(b.bytes + (size_t)4 * i), i);
	ptc_buf_release(&b);
}

Test(buf, strings_are_padded_from_the_start_of_the_buffer)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_buf_u8(&b, 0xff);
	ptc_buf_str(&b, "abc", 8);
	cr_assert_eq(b.len, 8);
	cr_assert_arr_eq(b.bytes,
			 "\xff"
			 "abc\0\0\0\0",
			 8);
	ptc_buf_str(&b, "1234567", 8);
	cr_assert_eq(b.len, 16, "exactly full needs no padding");
	ptc_buf_str(&b, "", 0);
	cr_assert_eq(b.len, 17);
	ptc_buf_release(&b);
}

Test(buf, numbers_can_be_set_later)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_buf_zero(&b, 12);
	ptc_buf_set_le16(&b, 0, 0xabcd);
	ptc_buf_set_le64(&b, 4, 0x1122334455667788);
	cr_assert_eq(ptc_le16(b.bytes), 0xabcd);
	cr_assert_eq(ptc_le16(b.bytes + 2), 0);
	cr_assert_eq(ptc_le64(b.bytes + 4), 0x1122334455667788);
	ptc_buf_release(&b);
}

Test(buf, a_failure_sticks_until_reset)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_buf_le32(&b, 1);
	cr_assert_null(ptc_buf_grow(&b, SIZE_MAX));
	cr_assert(ptc_buf_failed(&b));
	ptc_buf_le32(&b, 2);
	ptc_buf_put(&b, "x", 1);
	ptc_buf_zero(&b, 1);
	ptc_buf_str(&b, "x", 8);
	ptc_buf_set_le16(&b, 0, 9);
	cr_assert_eq(b.len, 4);
	cr_assert_eq(ptc_le32(b.bytes), 1);
	ptc_buf_reset(&b);
	cr_assert_not(ptc_buf_failed(&b));
	cr_assert_eq(b.len, 0);
	ptc_buf_le32(&b, 3);
	cr_assert_eq(b.len, 4);
	ptc_buf_release(&b);
}

Test(buf, appending_nothing_needs_no_memory)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_buf_put(&b, NULL, 0);
	ptc_buf_zero(&b, 0);
	cr_assert_null(b.bytes);
	cr_assert_not(ptc_buf_failed(&b));
	ptc_buf_release(&b);
}
