/* SPDX-License-Identifier: MIT */
#include "capture/rings/aux_snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "capture/rings/aux.h"
#include "capture/rings/barrier.h"
#include "capture/rings/window.h"

enum {
	MARK_MAX = 256 << 10,
	/*
	 * This many unchanged bytes were not written again: they contain a time. Else they contain
	 * control flow that another lap would have to repeat at the same offset.
	 */
	CERTAIN = PTC_AUX_PAGE,
	PACKETS = 8, /* a chunk begins and ends at a multiple of this */
};

/* Returns the buffer offset of the byte @back bytes before offset @at. */
static size_t before(const struct ptc_snapshot *s, size_t at, size_t back)
{
	return at >= back ? at - back : at + s->size - back;
}

/* Returns true if the newest @len bytes of the mark are unchanged in the buffer. */
static bool stands(const struct ptc_snapshot *s, size_t len)
{
	const uint8_t *mark = s->mark + (s->mark_len - len);
	const size_t at = before(s, (size_t)(s->pos % s->size), len);
	const size_t to_end = s->size - at < len ? s->size - at : len;

	return !memcmp(mark, s->area + at, to_end) && !memcmp(mark + to_end, s->area, len - to_end);
}

static void set_mark(struct ptc_snapshot *s)
{
	const size_t at = before(s, (size_t)(s->pos % s->size), s->mark_len);
	const size_t to_end = s->size - at < s->mark_len ? s->size - at : s->mark_len;

	memcpy(s->mark, s->area + at, to_end);
	memcpy(s->mark + to_end, s->area, s->mark_len - to_end);
}

int ptc_snapshot_init(struct ptc_snapshot *s, struct perf_event_mmap_page *page, const void *area,
		      size_t size, struct ptc_err *err)
{
	struct ptc_aux checked;
	const int rc = ptc_aux_init(&checked, page, area, size, err);

	if (rc)
		return rc;
	if (size < (size_t)2 * CERTAIN)
		return ptc_fail(err, PTC_E_USAGE, "an AUX ring of %zu bytes is too small", size);
	*s = (struct ptc_snapshot){ .page = page, .area = area, .size = size, .certain = CERTAIN };
	s->mark_len = size / 2 < MARK_MAX ? size / 2 : MARK_MAX;
	s->mark = malloc(s->mark_len);
	if (!s->mark)
		return ptc_fail_mem(err);
	s->pos = ptc_load_head(&page->aux_head) % size;
	set_mark(s);
	return 0;
}

void ptc_snapshot_release(struct ptc_snapshot *s)
{
	free(s->mark);
	s->mark = NULL;
}

/* Returns the @len bytes before pos, or the newest @max of them. */
static uint64_t newest(const struct ptc_snapshot *s, uint64_t len, uint64_t max,
		       struct ptc_seg seg[2], uint64_t *ret_start)
{
	const uint64_t n = max && len > max ? max - max % PACKETS : len;
	const struct ptc_window w = ptc_window_between(s->pos - n, s->pos, s->size);
	int i;

	for (i = 0; i < 2; i++)
		seg[i] = (struct ptc_seg){ s->area + w.off[i], w.len[i] };
	*ret_start = s->pos - n;
	return n;
}

uint64_t ptc_snapshot_read(struct ptc_snapshot *s, uint64_t max, struct ptc_seg seg[2],
			   uint64_t *ret_start)
{
	const size_t head = (size_t)(ptc_load_head(&s->page->aux_head) % s->size);
	/* Number of new and of old bytes, if the head made less than one lap. */
	const size_t fresh = before(s, head, (size_t)(s->pos % s->size));
	const size_t old = s->size - fresh;
	const bool same = stands(s, old < s->mark_len ? old : s->mark_len);
	uint64_t len = same ? fresh : s->size, end = s->pos + fresh;

	/* The head made a lap, or may have: skip a lap in the stream, a gap of unknown length. */
	if (!same || old < s->certain)
		end += s->size;
	if (!same && !fresh)
		end += s->size;
	s->held = same && fresh < s->size - s->held ? s->held + fresh : s->size;
	s->pos = end;
	set_mark(s);
	return newest(s, len, max, seg, ret_start);
}

uint64_t ptc_snapshot_window(const struct ptc_snapshot *s, uint64_t max, struct ptc_seg seg[2],
			     uint64_t *ret_start)
{
	return newest(s, s->held, max, seg, ret_start);
}
