/* SPDX-License-Identifier: MIT */
/* Description: framing of records. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/layout.h"
#include "auxtrace/record/record.h"
#include "lib_perfdata.h"

Test(record, one_after_the_other_until_nothing_is_left)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	struct ptc_rec rec;
	struct ptc_cur c;
	size_t start;

	start = ptc_rec_begin(&b, 77, 5);
	ptc_buf_le32(&b, 0x11223344);
	ptc_rec_end(&b, start);
	cr_assert_eq(b.len, 16, "padded to 8");
	start = ptc_rec_begin(&b, 78, 0);
	ptc_rec_end(&b, start);
	c = ptc_cur_init(b.bytes, b.len);
	cr_assert_eq(ptc_rec_next(&c, 100, &rec, &err), 1);
	cr_assert_eq(rec.off, 100);
	cr_assert_eq(rec.type, 77);
	cr_assert_eq(rec.misc, 5);
	cr_assert_eq(ptc_cur_left(&rec.body), 8);
	cr_assert_eq(ptc_le32(rec.body.pos), 0x11223344);
	cr_assert_eq(ptc_rec_next(&c, 116, &rec, &err), 1);
	cr_assert_eq(rec.type, 78);
	cr_assert_eq(ptc_cur_left(&rec.body), 0);
	cr_assert_eq(ptc_rec_next(&c, 124, &rec, &err), 0);
	ptc_buf_release(&b);
}

Test(record, padding_counts_from_its_start)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t start;

	ptc_buf_zero(&b, 4);
	start = ptc_rec_begin(&b, 1, 0);
	ptc_buf_u8(&b, 1);
	ptc_rec_end(&b, start);
	cr_assert_eq(b.len, 20);
	cr_assert_eq(ptc_le16(b.bytes + 10), 16);
	ptc_buf_release(&b);
}

Test(record, sizes_that_make_no_progress_are_refused)
{
	uint16_t size;

	for (size = 0; size < 8; size++) {
		const uint8_t bytes[16] = { 1, 0, 0, 0, 0, 0, (uint8_t)size, 0 };
		struct ptc_cur c = ptc_cur_init(bytes, sizeof(bytes));
		struct ptc_err err;
		struct ptc_rec rec;

		cr_assert_eq(ptc_rec_next(&c, 0x30, &rec, &err), PTC_E_FORMAT);
		cr_assert_eq(err.off, 0x30);
		cr_assert_not_null(strstr(err.msg, "impossible size"));
		cr_assert_eq(ptc_cur_left(&c), sizeof(bytes), "the cursor did not move");
	}
}

Test(record, cut_at_every_length_it_is_refused)
{
	struct ptc_buf b = PTC_BUF_INIT;
	const size_t start = ptc_rec_begin(&b, 1, 0);
	size_t len;

	ptc_buf_zero(&b, 24);
	ptc_rec_end(&b, start);
	for (len = 1; len < b.len; len++) {
		uint8_t *bytes = pd_exact(b.bytes, len);
		struct ptc_cur c = ptc_cur_init(bytes, len);
		struct ptc_err err;
		struct ptc_rec rec;

		cr_assert_eq(ptc_rec_next(&c, 0, &rec, &err), PTC_E_FORMAT, "length %zu", len);
		free(bytes);
	}
	ptc_buf_release(&b);
}

Test(record, one_that_is_too_large_fails_the_buffer)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t start = ptc_rec_begin(&b, 1, 0);

	ptc_buf_zero(&b, PTC_REC_MAX - 8);
	ptc_rec_end(&b, start);
	cr_assert(!ptc_buf_failed(&b));
	cr_assert_eq(ptc_le16(b.bytes + 6), PTC_REC_MAX);
	ptc_buf_reset(&b);
	start = ptc_rec_begin(&b, 1, 0);
	ptc_buf_zero(&b, PTC_REC_MAX - 7);
	ptc_rec_end(&b, start);
	cr_assert(ptc_buf_failed(&b));
	ptc_buf_release(&b);
}

Test(record, types_have_the_names_perf_gives_them)
{
	cr_assert_str_eq(ptc_rec_name(PERF_RECORD_MMAP2), "MMAP2");
	cr_assert_str_eq(ptc_rec_name(PERF_RECORD_AUX_OUTPUT_HW_ID), "AUX_OUTPUT_HW_ID");
	cr_assert_str_eq(ptc_rec_name(PTC_REC_AUXTRACE), "AUXTRACE");
	cr_assert_str_eq(ptc_rec_name(PTC_REC_COMPRESSED2), "COMPRESSED2");
	cr_assert_null(ptc_rec_name(0));
	cr_assert_null(ptc_rec_name(63));
	cr_assert_null(ptc_rec_name(5000));
}

Test(record, bytes_behind_a_record_are_told)
{
	const uint8_t body[8] = { 0x10, 0x32, 0, 0, 1, 0, 0, 0 };
	struct ptc_rec rec = { .type = PTC_REC_AUXTRACE };
	size_t len;

	for (len = 0; len <= 8; len++) {
		uint8_t *bytes = pd_exact(body, len);

		rec.body = ptc_cur_init(bytes, len);
		rec.type = PTC_REC_AUXTRACE;
		cr_assert_eq(ptc_rec_trailing(&rec), len < 8 ? 0 : UINT64_C(0x100003210));
		rec.type = PTC_REC_HEADER_TRACING_DATA;
		cr_assert_eq(ptc_rec_trailing(&rec), len < 4 ? 0 : 0x3210);
		rec.type = PERF_RECORD_AUX;
		cr_assert_eq(ptc_rec_trailing(&rec), 0);
		free(bytes);
	}
}
