/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/attr.h"

#include <assert.h>
#include <string.h>

#include "base/err.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "the flags of an attr are bit-fields: they are copied as they are in memory");

int ptc_attr_parse(struct ptc_cur bytes, uint64_t off, struct perf_event_attr *ret,
		   bool *ret_unknown, struct ptc_err *err)
{
	const size_t len = ptc_cur_left(&bytes);
	struct perf_event_attr a;
	bool unknown = false;
	size_t size, i;

	if (len < PERF_ATTR_SIZE_VER0)
		return ptc_fail_at(err, PTC_E_FORMAT, off,
				   "event attributes of %zu bytes are too short", len);
	size = ptc_le32(bytes.pos + offsetof(struct perf_event_attr, size));
	if (!size) /* writers older than the size field */
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0 || size > len)
		return ptc_fail_at(err, PTC_E_FORMAT, off,
				   "event attributes claim %zu bytes, their place has %zu", size,
				   len);
	memset(&a, 0, sizeof(a));
	memcpy(&a, bytes.pos, size < sizeof(a) ? size : sizeof(a));
	for (i = sizeof(a); i < size; i++)
		unknown |= bytes.pos[i] != 0;
	a.size = (uint32_t)size;
	*ret = a;
	*ret_unknown = unknown;
	return 0;
}

uint32_t ptc_attr_stored_size(const struct perf_event_attr *attr)
{
	if (attr->config4)
		return PERF_ATTR_SIZE_VER9;
	return attr->config3 ? PERF_ATTR_SIZE_VER8 : PERF_ATTR_SIZE_VER7;
}

void ptc_attr_put(struct ptc_buf *b, const struct perf_event_attr *attr, uint32_t size)
{
	struct perf_event_attr a = *attr;
	const size_t n = size < sizeof(a) ? size : sizeof(a);

	assert(size >= PERF_ATTR_SIZE_VER0 && size % 8 == 0);
	a.size = size;
	ptc_buf_put(b, &a, n);
	ptc_buf_zero(b, size - n);
}
