/* SPDX-License-Identifier: MIT */
/* Fields and arrays in the user-space records of perf. */
#ifndef PTC_AUXTRACE_RECORD_USERREC_FIELD_H
#define PTC_AUXTRACE_RECORD_USERREC_FIELD_H

#include <string.h>

#include "auxtrace/record/record.h"

static inline bool get_i32(struct ptc_cur *c, int32_t *ret)
{
	uint32_t v;

	if (!ptc_cur_le32(c, &v))
		return false;
	*ret = (int32_t)v;
	return true;
}

static inline bool get_rest(struct ptc_cur *c, struct ptc_cur *ret)
{
	return ptc_cur_sub(c, ptc_cur_left(c), ret);
}

/* Take a NUL-terminated string in a field of @size bytes. */
static inline bool get_field(struct ptc_cur *c, size_t size, const char **ret)
{
	struct ptc_cur field;

	return ptc_cur_sub(c, size, &field) && ptc_cur_str(&field, ret);
}

/* Take a u64 count and that many entries of @size bytes. */
static inline bool get_array(struct ptc_cur *c, size_t size, uint64_t *ret_n, struct ptc_cur *ret)
{
	return ptc_cur_le64(c, ret_n) && *ret_n <= ptc_cur_left(c) / size &&
	       ptc_cur_sub(c, (size_t)*ret_n * size, ret);
}

static inline void put_array(struct ptc_buf *b, size_t size, struct ptc_cur array)
{
	const size_t len = ptc_cur_left(&array);

	if (len % size)
		b->failed = true;
	ptc_buf_le64(b, len / size);
	ptc_buf_put(b, array.pos, len);
}

static inline void put_rest(struct ptc_buf *b, struct ptc_cur bytes)
{
	ptc_buf_put(b, bytes.pos, ptc_cur_left(&bytes));
}

static inline void put_field(struct ptc_buf *b, size_t size, const char *s)
{
	const size_t len = strlen(s);

	if (len >= size) {
		b->failed = true;
		return;
	}
	ptc_buf_put(b, s, len);
	ptc_buf_zero(b, size - len);
}

#endif
