/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as what is compressed: the first byte says in what pieces, the rest
 * is compressed as it is (even: a record that is split anywhere) or are the
 * compressed bytes themselves (odd). Asserted: the first comes back as the same
 * bytes would be read without compression; the second is survived, in bounds.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lib_packed.h"

/* The records of a recording whose data are p->data; what ended them. */
static int read_records(const struct pd *p, struct ptc_buf *ret)
{
	struct ptc_file *f;
	struct ptc_err err;
	uint8_t *whole;
	size_t len;
	int rc;

	whole = pd_finish_pipe(p, &len);
	CHECK(!ptc_file_open_damaged_bytes(whole, len, "fuzz", &f, &err));
	rc = pk_records(f, ret, &err);
	CHECK(!rc);
	rc = ptc_file_damage(f) != NULL;
	ptc_file_free(f);
	free(whole);
	return rc;
}

/* Records that pipe mode looks into, if they are not themselves compressed. */
static bool has_special(const uint8_t *bytes, size_t len)
{
	struct ptc_cur c = ptc_cur_init(bytes, len);
	struct ptc_err err;
	struct ptc_rec rec;

	while (ptc_rec_next(&c, 0, &rec, &err) > 0) {
		if (rec.type == PTC_REC_HEADER_ATTR || rec.type == PTC_REC_HEADER_FEATURE ||
		    rec.type == PTC_REC_HEADER_BUILD_ID || rec.type == PTC_REC_COMPRESSED ||
		    rec.type == PTC_REC_COMPRESSED2)
			return true;
		/* What follows them is none of the loop's business. */
		if (rec.type == PTC_REC_AUXTRACE || rec.type == PTC_REC_HEADER_TRACING_DATA)
			return true;
	}
	return false;
}

static void compress(const uint8_t *bytes, size_t len, uint8_t how)
{
	struct ptc_buf plain = PTC_BUF_INIT, packed = PTC_BUF_INIT;
	struct packer *z = pk_new();
	const size_t step = how / 2 % 16 + 1;
	struct pd p;
	size_t i;

	pd_init(&p);
	ptc_buf_put(&p.data, bytes, len);
	(void)read_records(&p, &plain);
	ptc_buf_reset(&p.data);
	for (i = 0; i < len; i += step)
		pk_put(z, &p.data, how & 32 ? PTC_REC_COMPRESSED : PTC_REC_COMPRESSED2, bytes + i,
		       len - i < step ? len - i : step, 1 + how / 64 * 20u);
	(void)read_records(&p, &packed);
	if (!has_special(bytes, len)) {
		CHECK(packed.len == plain.len);
		CHECK(!plain.len || !memcmp(packed.bytes, plain.bytes, plain.len));
	}
	pk_free(z);
	ptc_buf_release(&plain);
	ptc_buf_release(&packed);
	pd_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ptc_buf got = PTC_BUF_INIT;
	size_t max, i, n;
	struct pd p;

	if (!len || len > 4096)
		return 0;
	if (!(bytes[0] & 1)) {
		compress(bytes + 1, len - 1, bytes[0]);
		return 0;
	}
	pd_init(&p);
	max = (size_t)bytes[0] * 4;
	for (i = 1; i < len; i += n) {
		n = len - i < max ? len - i : max;
		ptc_buf_le32(&p.data, PTC_REC_COMPRESSED);
		ptc_buf_le16(&p.data, 0);
		ptc_buf_le16(&p.data, (uint16_t)(8 + n));
		ptc_buf_put(&p.data, bytes + i, n);
	}
	(void)read_records(&p, &got);
	CHECK(got.len <= PTC_LIMIT_INFLATE_FREE + len * PTC_LIMIT_INFLATE_RATIO + (1u << 18));
	ptc_buf_release(&got);
	pd_release(&p);
	return 0;
}
