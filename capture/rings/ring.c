/* SPDX-License-Identifier: MIT */
#include "capture/rings/ring.h"

#include <inttypes.h>
#include <string.h>

#include "base/cursor.h"
#include "base/err.h"
#include "capture/rings/barrier.h"
#include "capture/rings/window.h"

enum {
	HEADER = sizeof(struct perf_event_header),
	SIZE_AT = offsetof(struct perf_event_header, size)
};

int ptc_ring_init(struct ptc_ring *r, struct perf_event_mmap_page *page, size_t data_off,
		  size_t size, struct ptc_err *err)
{
	if (page->data_size && (page->data_size != size || page->data_offset != data_off))
		return ptc_fail(
			err, PTC_E_FORMAT,
			"the data ring has %llu bytes at offset %llu, but its mapping %zu at %zu",
			(unsigned long long)page->data_size, (unsigned long long)page->data_offset,
			size, data_off);
	if (!size || !data_off)
		return ptc_fail(err, PTC_E_FORMAT, "the data ring is too small for records");
	*r = (struct ptc_ring){
		.page = page,
		.data = (const uint8_t *)page + data_off,
		.size = size,
		.tail = ptc_load_tail(&page->data_tail),
	};
	r->begin = r->tail;
	return 0;
}

uint64_t ptc_ring_made(const struct ptc_ring *r)
{
	return ptc_load_head(&r->page->data_head) - r->begin;
}

/* Points *ret to the @n bytes at @pos of the stream. Returns false if they are not contiguous. */
static bool in_place(const struct ptc_seg seg[2], size_t pos, size_t n, const uint8_t **ret)
{
	size_t i = 0;

	if (pos >= seg[0].len) {
		pos -= seg[0].len;
		i = 1;
	}
	if (pos > seg[i].len || n > seg[i].len - pos)
		return false;
	*ret = (const uint8_t *)seg[i].bytes + pos;
	return true;
}

/* Copies @n bytes at @pos of the stream. Returns false if the stream ends before that. */
static bool copy(const struct ptc_seg seg[2], size_t pos, size_t n, uint8_t *out)
{
	const size_t len = seg[0].len + seg[1].len;
	size_t first = 0;

	if (pos > len || n > len - pos)
		return false;
	if (pos < seg[0].len) {
		first = seg[0].len - pos;
		if (first > n)
			first = n;
		memcpy(out, (const uint8_t *)seg[0].bytes + pos, first);
		pos += first;
	}
	if (first < n)
		memcpy(out + first, (const uint8_t *)seg[1].bytes + (pos - seg[0].len), n - first);
	return true;
}

/* Returns the record size from the header at @pos; 0 at the end, or if that size is impossible. */
static size_t record_size(const struct ptc_seg seg[2], size_t pos)
{
	uint8_t room[HEADER];
	const uint8_t *header = room;
	size_t size;

	if (!in_place(seg, pos, HEADER, &header) && !copy(seg, pos, HEADER, room))
		return 0;
	size = ptc_le16(header + SIZE_AT);
	if (size < HEADER || size > seg[0].len + seg[1].len - pos)
		return 0;
	return size;
}

int64_t ptc_ring_read(const struct ptc_ring *r, struct ptc_seg seg[2], uint64_t *ret_end,
		      struct ptc_err *err)
{
	const uint64_t head = ptc_load_head(&r->page->data_head);
	struct ptc_seg s[2];
	struct ptc_window w;
	size_t pos = 0, len, i;

	if (head - r->tail > r->size)
		return ptc_fail(err, PTC_E_FORMAT,
				"the data ring's head 0x%" PRIx64
				" is not within %zu bytes of 0x%" PRIx64,
				head, r->size, r->tail);
	w = ptc_window_between(r->tail, head, r->size);
	for (i = 0; i < 2; i++)
		s[i] = (struct ptc_seg){ r->data + w.off[i], w.len[i] };
	len = w.len[0] + w.len[1];
	/*
	 * The producer publishes whole records only. If the chain of sizes does not end at the
	 * head, nothing after the break can be trusted.
	 */
	while (pos < len) {
		const size_t n = record_size(s, pos);

		if (!n)
			return ptc_fail_at(err, PTC_E_FORMAT, r->tail + pos,
					   "a record in the data ring has an impossible size");
		pos += n;
	}
	memcpy(seg, s, sizeof(s));
	*ret_end = head;
	return (int64_t)len;
}

void ptc_ring_done(struct ptc_ring *r, uint64_t end)
{
	r->tail = end;
	ptc_store_tail(&r->page->data_tail, end);
}

size_t ptc_ring_record(const struct ptc_seg seg[2], size_t pos, uint8_t *out)
{
	const size_t n = record_size(seg, pos);

	return n && copy(seg, pos, n, out) ? n : 0;
}
