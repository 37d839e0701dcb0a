/* SPDX-License-Identifier: MIT */
/*
 * A growing byte buffer for building records. After a failed append the buffer is marked as failed,
 * and later appends do nothing. The caller checks once at the end, with ptc_buf_failed(). All
 * numbers are written little endian.
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

/* Empty the buffer, but keep its memory. Also clears a failure. */
void ptc_buf_reset(struct ptc_buf *b);

static inline bool ptc_buf_failed(const struct ptc_buf *b)
{
	return b->failed;
}

/* Append @n uninitialized bytes. Returns their address, or NULL (buffer failed). */
uint8_t *ptc_buf_grow(struct ptc_buf *b, size_t n);

void ptc_buf_put(struct ptc_buf *b, const void *bytes, size_t n);
void ptc_buf_zero(struct ptc_buf *b, size_t n);
void ptc_buf_u8(struct ptc_buf *b, uint8_t v);
void ptc_buf_le16(struct ptc_buf *b, uint16_t v);
void ptc_buf_le32(struct ptc_buf *b, uint32_t v);
void ptc_buf_le64(struct ptc_buf *b, uint64_t v);

/* Append the string, its NUL, and zeros until len is a multiple of @align. */
void ptc_buf_str(struct ptc_buf *b, const char *s, size_t align);

/* Overwrite a number written before. It must lie inside the buffer. */
void ptc_buf_set_le16(struct ptc_buf *b, size_t off, uint16_t v);
void ptc_buf_set_le64(struct ptc_buf *b, size_t off, uint64_t v);

#endif
