/* SPDX-License-Identifier: MIT */
#include "cli/decode/gzip_out.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
	LEVEL = 6,
	MEMORY_LEVEL = 8,
	GZIP_WINDOW = 15 + 16, /* 16: with the header of gzip, not of zlib */
};

struct ptc_gzip {
	z_stream stream;
	struct ptc_line *l; /* borrowed */
	uint8_t out[1 << 14];
};

struct ptc_gzip *ptc_gzip_begin(struct ptc_line *l)
{
	struct ptc_gzip *z = calloc(1, sizeof(*z));

	if (!z)
		return NULL;
	z->l = l;
	if (deflateInit2(&z->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) == Z_OK)
		return z;
	free(z);
	return NULL;
}

/* Compress the input, and pass on the output until there is no more. */
static void deflate_input(struct ptc_gzip *z, int flush)
{
	size_t n;

	do {
		z->stream.next_out = z->out;
		z->stream.avail_out = sizeof(z->out);
		(void)deflate(&z->stream, flush); /* fails only if the stream is damaged */
		n = sizeof(z->out) - z->stream.avail_out;
		if (n)
			memcpy(ptc_line_room(z->l, n), z->out, n);
		z->l->n += n;
	} while (!z->stream.avail_out);
}

void ptc_gzip_put(struct ptc_gzip *z, const uint8_t *bytes, size_t n)
{
	size_t part;

	for (; n; n -= part) {
		part = n < INT_MAX ? n : INT_MAX;
		z->stream.next_in = (uint8_t *)(uintptr_t)bytes; /* zlib does not write there */
		z->stream.avail_in = (uInt)part;
		deflate_input(z, Z_NO_FLUSH);
		bytes += part;
	}
}

void ptc_gzip_end(struct ptc_gzip *z)
{
	if (!z)
		return;
	z->stream.avail_in = 0;
	deflate_input(z, Z_FINISH);
	(void)deflateEnd(&z->stream);
	free(z);
}
