/* SPDX-License-Identifier: MIT */
#include "auxtrace/writer/compress.h"

#include <assert.h>
#include <stdlib.h>
#include <zstd.h>

#include "auxtrace/record/layout.h"
#include "base/err.h"

/*
 * Sideband records repeat nearby data, so a small window suffices at any level. The tables of the
 * high levels do not shrink with the window, and would take most of a gigabyte.
 */
enum { WINDOW_LOG = 20, TABLE_LOG = 20, HIGH_LEVEL = 7 };

struct ptc_compressor {
	ZSTD_CCtx *z;
	size_t taken; /* input bytes in the current record */
	size_t len;   /* bytes of the record that the stream has output so far */
	uint8_t rec[UINT16_MAX];
};

/* 1024: headers of blocks and of the frame, and growth of incompressible input. */
static_assert(PTC_COMPRESS_PIECE + PTC_REC_HEADER_SIZE + 1024 <= UINT16_MAX,
	      "a piece fits in a record");

static int fail_zstd(size_t rc, struct ptc_err *err)
{
	return ptc_fail(err, PTC_E_NO_MEMORY, "cannot compress: %s", ZSTD_getErrorName(rc));
}

static size_t set_up(ZSTD_CCtx *z, unsigned int level)
{
	size_t rc = ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, (int)level);

	if (!ZSTD_isError(rc))
		rc = ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, WINDOW_LOG);
	if (!ZSTD_isError(rc) && level >= HIGH_LEVEL)
		rc = ZSTD_CCtx_setParameter(z, ZSTD_c_hashLog, TABLE_LOG);
	if (!ZSTD_isError(rc) && level >= HIGH_LEVEL)
		rc = ZSTD_CCtx_setParameter(z, ZSTD_c_chainLog, TABLE_LOG);
	return rc;
}

int ptc_compressor_new(unsigned int level, struct ptc_compressor **ret, struct ptc_err *err)
{
	struct ptc_compressor *c;
	size_t rc;

	if (!level || level > PTC_COMPRESS_LEVEL_MAX)
		return ptc_fail(err, PTC_E_USAGE, "invalid compression level %u: expected 1 to %d",
				level, PTC_COMPRESS_LEVEL_MAX);
	c = malloc(sizeof(*c));
	if (!c)
		return ptc_fail_mem(err);
	c->taken = 0;
	c->len = PTC_REC_HEADER_SIZE;
	c->z = ZSTD_createCCtx();
	if (!c->z) {
		ptc_compressor_free(c);
		return ptc_fail_mem(err);
	}
	rc = set_up(c->z, level);
	if (ZSTD_isError(rc)) {
		ptc_compressor_free(c);
		return fail_zstd(rc, err);
	}
	*ret = c;
	return 0;
}

void ptc_compressor_free(struct ptc_compressor *c)
{
	if (!c)
		return;
	(void)ZSTD_freeCCtx(c->z);
	free(c);
}

static int run_zstd_stream(struct ptc_compressor *c, ZSTD_inBuffer *in, ZSTD_EndDirective what,
			   struct ptc_err *err)
{
	ZSTD_outBuffer out = { c->rec, sizeof(c->rec), c->len };
	const size_t rc = ZSTD_compressStream2(c->z, &out, in, what);

	if (ZSTD_isError(rc))
		return fail_zstd(rc, err);
	assert(in->pos == in->size);
	assert(what == ZSTD_e_continue || !rc); /* all output was written */
	c->len = out.pos;
	return 0;
}

int ptc_compressor_add(struct ptc_compressor *c, const void *bytes, size_t len, size_t *ret_taken,
		       struct ptc_err *err)
{
	const size_t room = PTC_COMPRESS_PIECE - c->taken;
	ZSTD_inBuffer in = { bytes, len < room ? len : room, 0 };
	int rc = in.size ? run_zstd_stream(c, &in, ZSTD_e_continue, err) : 0;

	if (rc)
		return rc;
	c->taken += in.size;
	*ret_taken = in.size;
	return 0;
}

int ptc_compressor_finish(struct ptc_compressor *c, const void **ret, size_t *ret_len,
			  struct ptc_err *err)
{
	ZSTD_inBuffer in = { NULL, 0, 0 };
	int rc;

	*ret_len = 0;
	if (!c->taken)
		return 0;
	rc = run_zstd_stream(c, &in, ZSTD_e_flush, err);
	if (rc)
		return rc;
	c->rec[0] = PTC_REC_COMPRESSED;
	c->rec[1] = c->rec[2] = c->rec[3] = 0; /* type */
	c->rec[4] = c->rec[5] = 0;	       /* misc */
	c->rec[6] = (uint8_t)c->len;
	c->rec[7] = (uint8_t)(c->len >> 8);
	*ret = c->rec;
	*ret_len = c->len;
	c->taken = 0;
	c->len = PTC_REC_HEADER_SIZE;
	return 0;
}
