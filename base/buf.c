/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void ptc_buf_release(struct ptc_buf *b)
{
	free(b->bytes);
	*b = (struct ptc_buf)PTC_BUF_INIT;
}

void ptc_buf_reset(struct ptc_buf *b)
{
	b->len = 0;
	b->failed = false;
}

uint8_t *ptc_buf_grow(struct ptc_buf *b, size_t n)
{
	size_t want;
	uint8_t *p;

	if (b->failed)
		return NULL;
	if (__builtin_add_overflow(b->len, n, &want))
		goto fail;
	if (want > b->cap) {
		size_t cap = b->cap ? b->cap : 256;

		while (cap < want)
			if (__builtin_mul_overflow(cap, (size_t)2, &cap))
				goto fail;
		p = realloc(b->bytes, cap);
		if (!p)
			goto fail;
		b->bytes = p;
		b->cap = cap;
	}
	p = b->bytes + b->len;
	b->len = want;
	return p;
fail:
	b->failed = true;
	return NULL;
}

void ptc_buf_put(struct ptc_buf *b, const void *bytes, size_t n)
{
	uint8_t *p;

	if (!n)
		return;
	p = ptc_buf_grow(b, n);
	if (p)
		memcpy(p, bytes, n);
}

void ptc_buf_zero(struct ptc_buf *b, size_t n)
{
	uint8_t *p;

	if (!n)
		return;
	p = ptc_buf_grow(b, n);
	if (p)
		memset(p, 0, n);
}

static void put_le(struct ptc_buf *b, uint64_t v, size_t n)
{
	uint8_t *p = ptc_buf_grow(b, n);
	size_t i;

	for (i = 0; p && i < n; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

void ptc_buf_u8(struct ptc_buf *b, uint8_t v)
{
	put_le(b, v, 1);
}

void ptc_buf_le16(struct ptc_buf *b, uint16_t v)
{
	put_le(b, v, 2);
}

void ptc_buf_le32(struct ptc_buf *b, uint32_t v)
{
	put_le(b, v, 4);
}

void ptc_buf_le64(struct ptc_buf *b, uint64_t v)
{
	put_le(b, v, 8);
}

void ptc_buf_str(struct ptc_buf *b, const char *s, size_t align)
{
	ptc_buf_put(b, s, strlen(s) + 1);
	if (!b->failed && align && b->len % align)
		ptc_buf_zero(b, align - b->len % align);
}

static void set_le(struct ptc_buf *b, size_t off, uint64_t v, size_t n)
{
	size_t i;

	if (b->failed)
		return;
	assert(n <= b->len && off <= b->len - n);
	for (i = 0; i < n; i++)
		b->bytes[off + i] = (uint8_t)(v >> (8 * i));
}

void ptc_buf_set_le16(struct ptc_buf *b, size_t off, uint16_t v)
{
	set_le(b, off, v, 2);
}

void ptc_buf_set_le64(struct ptc_buf *b, size_t off, uint64_t v)
{
	set_le(b, off, v, 8);
}
