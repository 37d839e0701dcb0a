/* SPDX-License-Identifier: MIT */
/* Description: the AUXTRACE record. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "auxtrace/record/auxtrace_rec.h"
#include "lib_perfdata.h"

static const struct ptc_auxtrace some = {
	.size = 4096,
	.offset = 0x100000000,
	.reference = 0x1122334455667788,
	.idx = 3,
	.tid = 1234,
	.cpu = -1,
};

Test(auxtrace_rec, it_has_48_bytes_and_comes_back)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_auxtrace got;
	struct ptc_err err;

	ptc_auxtrace_put(&b, &some);
	cr_assert_eq(b.len, PTC_AUXTRACE_SIZE);
	cr_assert_eq(ptc_auxtrace_parse(ptc_cur_init(b.bytes + 8, 40), 0, 4096, &got, &err), 0);
	cr_assert(got.size == some.size && got.offset == some.offset &&
		  got.reference == some.reference && got.idx == some.idx && got.tid == some.tid &&
		  got.cpu == some.cpu);
	ptc_buf_release(&b);
}

Test(auxtrace_rec, a_payload_beyond_the_file_is_refused)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_auxtrace got;
	struct ptc_err err;

	ptc_auxtrace_put(&b, &some);
	cr_assert_eq(ptc_auxtrace_parse(ptc_cur_init(b.bytes + 8, 40), 0x77, 4095, &got, &err),
		     PTC_E_FORMAT);
	cr_assert_eq(err.off, 0x77);
	ptc_buf_release(&b);
}

Test(auxtrace_rec, cut_at_every_length_it_is_refused)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t len;

	ptc_auxtrace_put(&b, &some);
	for (len = 0; len < 36; len++) { /* the last 4 bytes are padding */
		uint8_t *bytes = pd_exact(b.bytes + 8, len);
		struct ptc_auxtrace got;
		struct ptc_err err;

		cr_assert_eq(
			ptc_auxtrace_parse(ptc_cur_init(bytes, len), 0, UINT64_MAX, &got, &err),
			PTC_E_FORMAT, "length %zu", len);
		free(bytes);
	}
	ptc_buf_release(&b);
}
