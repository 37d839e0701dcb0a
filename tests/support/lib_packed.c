/* SPDX-License-Identifier: MIT */
#include "lib_packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "auxtrace/record/attr.h"

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);           \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

enum {
	END_MARK = 33, /* the first feature bit unknown to a writer */
	WINDOW = 10,   /* log2 of the memory that a reader must reserve */
};

static void put_header(struct ptc_buf *b, uint32_t type, size_t size)
{
	CHECK(size <= UINT16_MAX);
	ptc_buf_le32(b, type);
	ptc_buf_le16(b, 0);
	ptc_buf_le16(b, (uint16_t)size);
}

static void put_feature(struct ptc_buf *b, uint64_t bit, const void *bytes, size_t len)
{
	put_header(b, PTC_REC_HEADER_FEATURE, 16 + len);
	ptc_buf_le64(b, bit);
	ptc_buf_put(b, bytes, len);
}

uint8_t *pd_finish_pipe(const struct pd *p, size_t *ret_len)
{
	struct ptc_buf b = PTC_BUF_INIT;
	uint8_t *bytes;
	size_t i, j;

	ptc_buf_put(&b, PTC_MAGIC_FILE2, 8);
	ptc_buf_le64(&b, PTC_PIPE_HEADER_SIZE);
	for (i = 0; i < p->nattrs; i++) {
		put_header(&b, PTC_REC_HEADER_ATTR, 8 + p->attr_size + 8 * p->attrs[i].nids);
		ptc_attr_put(&b, &p->attrs[i].attr, p->attr_size);
		for (j = 0; j < p->attrs[i].nids; j++)
			ptc_buf_le64(&b, p->attrs[i].ids[j]);
	}
	for (i = 0; i < PTC_FEATURE_BITS; i++)
		if (p->has[i])
			put_feature(&b, i, p->features[i].bytes, p->features[i].len);
	put_feature(&b, END_MARK, NULL, 0);
	ptc_buf_put(&b, p->data.bytes, p->data.len);
	CHECK(!ptc_buf_failed(&b));
	bytes = pd_exact(b.bytes, b.len);
	*ret_len = b.len;
	ptc_buf_release(&b);
	return bytes;
}

struct packer {
	ZSTD_CStream *stream;
};

struct packer *pk_new(void)
{
	struct packer *z = malloc(sizeof(*z));

	CHECK(z);
	z->stream = ZSTD_createCStream();
	CHECK(z->stream && !ZSTD_isError(ZSTD_initCStream(z->stream, 1)));
	return z;
}

void pk_free(struct packer *z)
{
	(void)ZSTD_freeCStream(z->stream);
	free(z);
}

static void put_record(struct ptc_buf *out, uint32_t type, const uint8_t *bytes, size_t n)
{
	const size_t pad = type == PTC_REC_COMPRESSED2 ? -n & 7 : 0;

	put_header(out, type, (type == PTC_REC_COMPRESSED2 ? 16u : 8u) + n + pad);
	if (type == PTC_REC_COMPRESSED2)
		ptc_buf_le64(out, n);
	ptc_buf_put(out, bytes, n);
	ptc_buf_zero(out, pad);
}

void pk_put(struct packer *z, struct ptc_buf *out, uint32_t type, const void *bytes, size_t len,
	    size_t max)
{
	ZSTD_inBuffer in = { bytes, len, 0 };
	uint8_t *place = malloc(max);
	size_t left;

	CHECK(place);
	do {
		ZSTD_outBuffer o = { place, max, 0 };

		left = ZSTD_compressStream2(z->stream, &o, &in, ZSTD_e_flush);
		CHECK(!ZSTD_isError(left));
		put_record(out, type, place, o.pos);
	} while (left);
	free(place);
}

void pk_pack(struct pd *p, uint32_t type, size_t max)
{
	static const uint8_t zstd[20] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
	struct ptc_buf plain = p->data;
	struct packer *z = pk_new();

	CHECK(!ZSTD_isError(ZSTD_CCtx_setParameter(z->stream, ZSTD_c_windowLog, WINDOW)));
	p->data = (struct ptc_buf)PTC_BUF_INIT;
	pk_put(z, &p->data, type, plain.bytes, plain.len, max);
	pk_free(z);
	ptc_buf_release(&plain);
	pd_feature(p, PTC_FEAT_COMPRESSED, zstd, sizeof(zstd));
}

int pk_records(const struct ptc_file *f, struct ptc_buf *ret, struct ptc_err *err)
{
	struct ptc_rec rec;
	uint64_t pos = 0;
	int rc;

	ptc_buf_reset(ret);
	while ((rc = ptc_file_next(f, &pos, &rec, err)) > 0) {
		if (rec.type == PTC_REC_HEADER_ATTR || rec.type == PTC_REC_HEADER_FEATURE)
			continue;
		ptc_buf_le32(ret, rec.type);
		ptc_buf_le16(ret, rec.misc);
		ptc_buf_le16(ret, (uint16_t)(8 + ptc_cur_left(&rec.body)));
		ptc_buf_put(ret, rec.body.pos, ptc_cur_left(&rec.body));
	}
	CHECK(!ptc_buf_failed(ret));
	return rc;
}

bool pk_begins(const struct ptc_buf *whole, const struct ptc_buf *part)
{
	return part->len <= whole->len &&
	       (!part->len || !memcmp(whole->bytes, part->bytes, part->len));
}
