/* SPDX-License-Identifier: MIT */
/*
 * A bounds-checked view of bytes. All data from a file or a ring is read through it: little endian,
 * byte by byte, never by casting a pointer to a struct.
 *
 * The readers return false and do not move the cursor when too few bytes are left.
 */
#ifndef PTCAP_CURSOR_H
#define PTCAP_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The view is [pos, end). Reading moves pos. */
struct ptc_cur {
	const uint8_t *pos;
	const uint8_t *end; /* borrowed: valid as long as the owner of the bytes keeps them */
};

/* Returns a view of @len bytes at @bytes, which may be NULL if @len is 0. */
static inline struct ptc_cur ptc_cur_init(const void *bytes, size_t len)
{
	const uint8_t *p = (const uint8_t *)bytes;
	struct ptc_cur c = { p, p };

	if (len)
		c.end += len;
	return c;
}

/* Returns the number of bytes left. */
static inline size_t ptc_cur_left(const struct ptc_cur *c)
{
	return (size_t)(c->end - c->pos);
}

/* Load a little-endian number from 2, 4 or 8 bytes at @p, which may be unaligned. */
static inline uint16_t ptc_le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t ptc_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t ptc_le64(const uint8_t *p)
{
	return (uint64_t)ptc_le32(p) | (uint64_t)ptc_le32(p + 4) << 32;
}

/* Skip @n bytes. */
static inline bool ptc_cur_skip(struct ptc_cur *c, size_t n)
{
	if (n > ptc_cur_left(c)) /* subtract, never add: cannot overflow */
		return false;
	if (n) /* an empty view may be NULL, and NULL + n is undefined in C */
		c->pos += n;
	return true;
}

/* Borrow the next @n bytes: *ret points into the view. */
static inline bool ptc_cur_bytes(struct ptc_cur *c, size_t n, const uint8_t **ret)
{
	const uint8_t *p = c->pos;

	if (!ptc_cur_skip(c, n))
		return false;
	*ret = p;
	return true;
}

/* Split off the first @n bytes into *ret. */
static inline bool ptc_cur_sub(struct ptc_cur *c, size_t n, struct ptc_cur *ret)
{
	const uint8_t *p;

	if (!ptc_cur_bytes(c, n, &p))
		return false;
	*ret = ptc_cur_init(p, n);
	return true;
}

/* Read a number of 1, 2, 4 or 8 bytes. */
static inline bool ptc_cur_u8(struct ptc_cur *c, uint8_t *ret)
{
	const uint8_t *p;

	if (!ptc_cur_bytes(c, 1, &p))
		return false;
	*ret = p[0];
	return true;
}

static inline bool ptc_cur_le16(struct ptc_cur *c, uint16_t *ret)
{
	const uint8_t *p;

	if (!ptc_cur_bytes(c, 2, &p))
		return false;
	*ret = ptc_le16(p);
	return true;
}

static inline bool ptc_cur_le32(struct ptc_cur *c, uint32_t *ret)
{
	const uint8_t *p;

	if (!ptc_cur_bytes(c, 4, &p))
		return false;
	*ret = ptc_le32(p);
	return true;
}

static inline bool ptc_cur_le64(struct ptc_cur *c, uint64_t *ret)
{
	const uint8_t *p;

	if (!ptc_cur_bytes(c, 8, &p))
		return false;
	*ret = ptc_le64(p);
	return true;
}

/*
 * Read a NUL-terminated string that lies wholly inside the view. *ret points into the view. The
 * cursor moves behind the NUL. Returns false, without moving, if there is no NUL.
 */
static inline bool ptc_cur_str(struct ptc_cur *c, const char **ret)
{
	const uint8_t *nul = ptc_cur_left(c) ? (const uint8_t *)memchr(c->pos, 0, ptc_cur_left(c)) :
					       NULL;

	if (!nul)
		return false;
	*ret = (const char *)c->pos;
	c->pos = nul + 1;
	return true;
}

#ifdef __cplusplus
}
#endif
#endif
