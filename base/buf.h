/* SPDX-License-Identifier: MIT */
/*
 * A growing byte buffer for building records. A failed append marks the buffer
 * as failed and later appends do nothing: check once, at the end, with
 * ptc_buf_failed(). All numbers are written little endian.
 */
#ifndef PTC_BASE_BUF_H
#define PTC_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_buf {
	uint8_t *bytes; /* owned; NULL when empty */
	size_t len;
	size_t cap;
	bool failed; /* out of memory */
};

#define PTC_BUF_INIT                                                                               \
	{                                                                                          \
		NULL, 0, 0, false                                                                  \
	}

void ptc_buf_release(struct ptc_buf *b);

/* Forget the contents, keep the memory. Clears a failure too. */
void ptc_buf_reset(struct ptc_buf *b);

static inline bool ptc_buf_failed(const struct ptc_buf *b)
{
	return b->failed;
}

/* Room for @n more bytes, already counted in len, or NULL (buffer failed). */
uint8_t *ptc_buf_grow(struct ptc_buf *b, size_t n);

void ptc_buf_put(struct ptc_buf *b, const void *bytes, size_t n);
void ptc_buf_zero(struct ptc_buf *b, size_t n);
void ptc_buf_u8(struct ptc_buf *b, uint8_t v);
void ptc_buf_le16(struct ptc_buf *b, uint16_t v);
void ptc_buf_le32(struct ptc_buf *b, uint32_t v);
void ptc_buf_le64(struct ptc_buf *b, uint64_t v);

/* The string, its NUL, and zeros until len is a multiple of @align (from the buffer's start). */
void ptc_buf_str(struct ptc_buf *b, const char *s, size_t align);

/* Overwrite a number written before. @off + size must lie inside. */
void ptc_buf_set_le16(struct ptc_buf *b, size_t off, uint16_t v);
void ptc_buf_set_le64(struct ptc_buf *b, size_t off, uint64_t v);

#endif
