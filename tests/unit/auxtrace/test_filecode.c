/* SPDX-License-Identifier: MIT */
/* Description: the code of a deleted file is read as it was written, and is refused when cut. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/filecode.h"
#include "auxtrace/record/record.h"
#include "lib_perfdata.h"

enum { OFF = 96, CODE = 5 };

static struct ptc_filecode example(void)
{
	struct ptc_filecode c = { .maj = 8,
				  .min = 1,
				  .ino = 77,
				  .size = 0x1005,
				  .off = 0x1000,
				  .id.len = 20,
				  .name = "/usr/lib/a.so",
				  .bytes = ptc_cur_init("\x90\x90\x90\x90\xc3", CODE) };

	memset(c.id.bytes, 0xab, 20);
	return c;
}

static struct ptc_rec record_of(const uint8_t *body, size_t len)
{
	return (struct ptc_rec){ .off = OFF,
				 .type = PTC_REC_HEADER_EVENT_TYPE,
				 .body = ptc_cur_init(body, len) };
}

Test(filecode, what_is_put_is_read)
{
	const struct ptc_filecode put = example();
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_filecode got;
	struct ptc_rec rec;
	struct ptc_err err;
	struct ptc_cur c;

	ptc_filecode_put(&b, &put);
	cr_assert(!ptc_buf_failed(&b) && b.len % 8 == 0);
	c = ptc_cur_init(b.bytes, b.len);
	cr_assert_eq(ptc_rec_next(&c, 0, &rec, &err), 1);
	cr_assert_eq(ptc_filecode_parse(&rec, &got, &err), 1);
	cr_assert(got.maj == 8 && got.min == 1 && got.ino == 77);
	cr_assert(got.size == 0x1005 && got.off == 0x1000);
	cr_assert(ptc_build_id_same(&got.id, &put.id));
	cr_assert_str_eq(got.name, put.name);
	cr_assert_eq(ptc_cur_left(&got.bytes), CODE);
	cr_assert_eq(memcmp(got.bytes.pos, put.bytes.pos, CODE), 0);
	ptc_buf_release(&b);
}

Test(filecode, cut_at_every_length_it_is_refused)
{
	struct ptc_filecode put = example(), got;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	size_t len, whole;

	ptc_filecode_put(&b, &put);
	whole = b.len - PTC_REC_HEADER_SIZE - 3; /* without the five bytes of padding */
	for (len = 0; len <= whole; len++) {
		uint8_t *bytes = pd_exact(b.bytes + PTC_REC_HEADER_SIZE, len);
		const struct ptc_rec rec = record_of(bytes, len);

		cr_assert_eq(ptc_filecode_parse(&rec, &got, &err), len < whole ? PTC_E_FORMAT : 1,
			     "length %zu of %zu", len, whole);
		free(bytes);
	}
	ptc_buf_release(&b);
}

/*
 * With any byte of the numbers changed the record is read or refused, without an access out of
 * bounds.
 */
Test(filecode, no_number_leads_outside)
{
	struct ptc_filecode put = example(), got;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	size_t i;

	ptc_filecode_put(&b, &put);
	for (i = PTC_REC_HEADER_SIZE; i < b.len; i++) {
		uint8_t *bytes =
			pd_exact(b.bytes + PTC_REC_HEADER_SIZE, b.len - PTC_REC_HEADER_SIZE);
		const struct ptc_rec rec = record_of(bytes, b.len - PTC_REC_HEADER_SIZE);

		bytes[i - PTC_REC_HEADER_SIZE] ^= 0xff;
		if (ptc_filecode_parse(&rec, &got, &err) == 1)
			cr_assert(strlen(got.name) < b.len && got.id.len <= PTC_BUILD_ID_MAX &&
				  ptc_cur_left(&got.bytes) < b.len);
		free(bytes);
	}
	ptc_buf_release(&b);
}

Test(filecode, what_does_not_fit_fails)
{
	struct ptc_filecode put = example();
	uint8_t *much = calloc(1, PTC_FILECODE_MAX + 1);
	struct ptc_buf b = PTC_BUF_INIT;

	cr_assert_not_null(much);
	put.bytes = ptc_cur_init(much, PTC_FILECODE_MAX);
	ptc_filecode_put(&b, &put);
	cr_assert(!ptc_buf_failed(&b));
	put.bytes = ptc_cur_init(much, PTC_FILECODE_MAX + 1);
	ptc_filecode_put(&b, &put);
	cr_assert(ptc_buf_failed(&b));
	ptc_buf_release(&b);
	free(much);
}
