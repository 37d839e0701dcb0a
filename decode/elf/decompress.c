/* SPDX-License-Identifier: MIT */
#include "decode/elf/decompress.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/budget.h"
#include "base/io.h"

enum { MAGIC_MAX = 6, PIECE = 1 << 17 };

/* The unpacked data, written in chunks. */
struct output {
	struct ptc_unpacked *to;
	uint8_t piece[PIECE];
};

typedef bool unpack_fn(struct output *o, const uint8_t *bytes, size_t len);

/*
 * Writes the first @n bytes of the chunk. Returns false if the data is too large, or out of memory.
 */
static bool write_unpacked_bytes(struct output *o, size_t n)
{
	struct ptc_unpacked *u = o->to;
	struct ptc_err err;

	if (u->len + n > PTC_UNPACKED_MAX || !ptc_budget_allows(n)) {
		u->too_large = true;
		return false;
	}
	if (ptc_write_all(u->fd, o->piece, n, "memory", &err))
		return false;
	ptc_budget_hold(n);
	u->len += n;
	return true;
}

/* Returns log2 of the largest window that the memory budget allows. */
static int window_log(void)
{
	enum { LEAST = 10, MOST = 27 }; /* limits of libzstd */
	const uint64_t left = ptc_budget_left();
	int n = LEAST;

	while (n < MOST && (UINT64_C(2) << n) <= left)
		n++;
	return n;
}

static bool unpack_zstd(struct output *o, const uint8_t *bytes, size_t len)
{
	ZSTD_inBuffer in = { bytes, len, 0 };
	ZSTD_DStream *z = ZSTD_createDStream();
	size_t left = 1;
	bool ok = z && !ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, window_log()));

	while (ok && left) {
		ZSTD_outBuffer out = { o->piece, PIECE, 0 };

		left = ZSTD_decompressStream(z, &out, &in);
		ok = !ZSTD_isError(left) && (out.pos || in.pos < in.size || !left) &&
		     write_unpacked_bytes(o, out.pos);
		left += in.size - in.pos; /* another frame follows */
	}
	o->to->too_large |= ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge;
	(void)ZSTD_freeDStream(z);
	return ok;
}

static bool unpack_gzip(struct output *o, const uint8_t *bytes, size_t len)
{
	/* zlib takes non-const pointers, but does not write to the input. */
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)bytes, .avail_in = (uInt)len };
	int r = inflateInit2(&z, 16 + MAX_WBITS); /* 16: with gzip's header */
	const bool begun = r == Z_OK;

	while (r == Z_OK) {
		z.next_out = o->piece;
		z.avail_out = PIECE;
		r = inflate(&z, Z_NO_FLUSH);
		if ((r == Z_OK || r == Z_STREAM_END) &&
		    !write_unpacked_bytes(o, PIECE - z.avail_out))
			r = Z_MEM_ERROR;
		if (r == Z_STREAM_END && z.avail_in && *z.next_in == bytes[0])
			r = inflateReset(&z); /* another gzip member follows */
	}
	if (begun)
		(void)inflateEnd(&z);
	return r == Z_STREAM_END;
}

static bool unpack_xz(struct output *o, const uint8_t *bytes, size_t len)
{
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_ret r = lzma_stream_decoder(&z, ptc_budget_left(), LZMA_CONCATENATED);

	z.next_in = bytes;
	z.avail_in = len;
	while (r == LZMA_OK) {
		z.next_out = o->piece;
		z.avail_out = PIECE;
		r = lzma_code(&z, LZMA_FINISH);
		if ((r == LZMA_OK || r == LZMA_STREAM_END) &&
		    !write_unpacked_bytes(o, PIECE - z.avail_out))
			r = LZMA_MEM_ERROR;
	}
	o->to->too_large |= r == LZMA_MEMLIMIT_ERROR;
	lzma_end(&z);
	return r == LZMA_STREAM_END;
}

static const struct sort {
	uint8_t len, magic[MAGIC_MAX];
	unpack_fn *unpack;
} sorts[] = {
	{ 4, { 0x28, 0xb5, 0x2f, 0xfd }, unpack_zstd },
	{ 3, { 0x1f, 0x8b, 8 }, unpack_gzip },
	{ 6, { 0xfd, '7', 'z', 'X', 'Z', 0 }, unpack_xz },
};

/* Returns NULL if the data is not packed, or in an unknown format. */
static const struct sort *sort_of(const uint8_t *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++)
		if (len >= sorts[i].len && !memcmp(bytes, sorts[i].magic, sorts[i].len))
			return &sorts[i];
	return NULL;
}

bool ptc_is_packed(int fd)
{
	uint8_t bytes[MAGIC_MAX];
	const ssize_t n = pread(fd, bytes, sizeof(bytes), 0);

	return n > 0 && sort_of(bytes, (size_t)n);
}

bool ptc_unpack_bytes(const uint8_t *bytes, size_t len, struct ptc_unpacked *ret)
{
	const struct sort *sort = len <= PTC_PACKED_MAX ? sort_of(bytes, len) : NULL;
	struct output *o = sort ? malloc(sizeof(*o)) : NULL;
	bool ok = false;

	*ret = (struct ptc_unpacked){ .fd = o ? memfd_create("ptcap-unpacked", MFD_CLOEXEC) : -1 };
	if (o && ret->fd >= 0) {
		o->to = ret;
		ok = sort->unpack(o, bytes, len);
	}
	free(o);
	if (!ok)
		ptc_unpacked_release(ret);
	return ok;
}

bool ptc_unpack(int fd, uint64_t len, struct ptc_unpacked *ret)
{
	uint8_t *bytes = NULL;
	bool ok;

	*ret = (struct ptc_unpacked){ .fd = -1 };
	if (!len || len > PTC_PACKED_MAX)
		return false;
	ret->too_large = !ptc_budget_allows(len);
	bytes = ret->too_large ? NULL : malloc(len);
	ok = bytes && pread(fd, bytes, len, 0) == (ssize_t)len && ptc_unpack_bytes(bytes, len, ret);
	free(bytes);
	return ok;
}

void ptc_unpacked_release(struct ptc_unpacked *u)
{
	if (u->fd >= 0)
		(void)close(u->fd);
	ptc_budget_drop(u->len);
	u->fd = -1;
	u->len = 0;
}
