/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as compressed data: the first byte sets the chunk sizes. The rest is compressed (even:
 * records split anywhere) or is used as the compressed bytes (odd). Asserted: in the first case the
 * records are the same as without compression. In the second case no access is out of bounds.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lib_packed.h"

/* Returns the records of a recording with the data p->data, and the code at their end. */
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

/* Returns true for records that pipe mode handles specially when they are not compressed. */
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
		/* The data behind these records is not a record. */
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
