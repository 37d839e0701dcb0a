/* SPDX-License-Identifier: MIT */
/* Description: the ELF header of kcore and of its copy. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "capture/perf/kcore_elf.h"

static const struct ptc_kcore_load two[] = { { 0xffffffff81000000, 0x3000, PTC_KCORE_ROOM },
					     { 0xffffffffc0000000, 0x1000, 0x20000 } };

enum { TWO_LEN = PTC_KCORE_EHDR + 2 * 56 };

static int parse(const struct ptc_buf *b, size_t len, struct ptc_kcore_load **ret, size_t *ret_n)
{
	uint8_t *exact = malloc(len ? len : 1); /* exact size: ASan sees an overread */
	struct ptc_err err;
	int rc;

	cr_assert_not_null(exact);
	memcpy(exact, b->bytes, len);
	rc = ptc_kcore_parse(ptc_cur_init(exact, len), ret, ret_n, &err);
	free(exact);
	return rc;
}

Test(kcore_elf, what_is_written_is_read)
{
	struct ptc_kcore_load *got;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	size_t n, len;

	ptc_kcore_put(&b, two, 2);
	cr_assert_eq(b.len, PTC_KCORE_ROOM);
	cr_assert_eq(ptc_kcore_head_len(ptc_cur_init(b.bytes, PTC_KCORE_EHDR), &len, &err), 0);
	cr_assert_eq(len, TWO_LEN);
	cr_assert_eq(parse(&b, len, &got, &n), 0);
	cr_assert_eq(n, 2);
	cr_assert_eq(memcmp(got, two, sizeof(two)), 0);
	free(got);
	ptc_buf_release(&b);
}

Test(kcore_elf, cut_at_each_length)
{
	struct ptc_kcore_load *got;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	size_t n, len;

	ptc_kcore_put(&b, two, 2);
	for (len = 0; len < TWO_LEN; len++) {
		cr_assert_eq(parse(&b, len, &got, &n), PTC_E_FORMAT, "%zu", len);
		if (len < 58)
			cr_assert_eq(ptc_kcore_head_len(ptc_cur_init(b.bytes, len), &n, &err),
				     PTC_E_FORMAT, "%zu", len);
	}
	ptc_buf_release(&b);
}

Test(kcore_elf, what_it_cannot_be_is_refused)
{
	static const struct {
		size_t at;
		uint8_t value;
		int code;
	} bad[] = {
		{ 0, 0, PTC_E_FORMAT },	   /* not an ELF file */
		{ 4, 1, PTC_E_FORMAT },	   /* a 32-bit ELF file */
		{ 5, 2, PTC_E_FORMAT },	   /* big-endian */
		{ 16, 2, PTC_E_FORMAT },   /* an executable */
		{ 18, 183, PTC_E_FORMAT }, /* for arm64 */
		{ 54, 55, PTC_E_FORMAT },  /* the size of a program header */
		{ 36, 1, PTC_E_LIMIT },	   /* e_phoff */
		{ 57, 0xff, 0 },	   /* many segments, but within the limit */
	};
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	size_t i, len;

	ptc_kcore_put(&b, two, 2);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const uint8_t was = b.bytes[bad[i].at];

		b.bytes[bad[i].at] = bad[i].value;
		cr_assert_eq(ptc_kcore_head_len(ptc_cur_init(b.bytes, PTC_KCORE_EHDR), &len, &err),
			     bad[i].code, "%zu", i);
		b.bytes[bad[i].at] = was;
	}
	ptc_buf_release(&b);
}

Test(kcore_elf, segments_that_go_round_are_left_out)
{
	struct ptc_kcore_load loads[] = { { UINT64_MAX - 0xfff, 0x1000,
					    0x10000 }, /* the last page */
					  { UINT64_MAX - 0xfff, 0x1001, 0x10000 },
					  { 0x1000, 0x1000, UINT64_MAX - 5 },
					  { 0x1000, 0x1000, INT64_MAX },
					  { 0x1000, 0, 0x10000 } };
	struct ptc_kcore_load *got;
	struct ptc_buf b = PTC_BUF_INIT;
	size_t n;

	ptc_kcore_put(&b, loads, 5);
	cr_assert_eq(parse(&b, b.len, &got, &n), 0);
	cr_assert_eq(n, 1);
	cr_assert_eq(got[0].len, 0x1000);
	free(got);
	ptc_buf_release(&b);
}
