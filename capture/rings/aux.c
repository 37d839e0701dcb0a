/* SPDX-License-Identifier: MIT */
#include "capture/rings/aux.h"

#include <assert.h>

#include "base/err.h"
#include "capture/rings/barrier.h"

int ptc_aux_init(struct ptc_aux *a, struct perf_event_mmap_page *page, const void *area,
		 size_t size, struct ptc_err *err)
{
	uint64_t tail;

	if (!size || page->aux_size != size)
		return ptc_fail(err, PTC_E_FORMAT,
				"the AUX area has %llu bytes, but its mapping %zu",
				(unsigned long long)page->aux_size, size);
	if (!page->aux_offset || page->aux_offset % PTC_AUX_PAGE)
		return ptc_fail(err, PTC_E_FORMAT, "the AUX area has an invalid offset: %llu",
				(unsigned long long)page->aux_offset);
	tail = ptc_load_tail(&page->aux_tail);
	*a = (struct ptc_aux){
		.page = page, .area = area, .size = size, .pos = tail, .tail = tail, .begin = tail
	};
	return 0;
}

uint64_t ptc_aux_read(struct ptc_aux *a, struct ptc_seg seg[2], uint64_t *ret_start)
{
	const uint64_t head = ptc_load_head(&a->page->aux_head);
	struct ptc_window w = { { 0, 0 }, { 0, 0 }, 0 };
	int i;

	/*
	 * A head below pos is invalid. As an unsigned distance it would count as nearly 2^64 lost
	 * bytes.
	 */
	if (head - a->pos <= INT64_MAX)
		w = ptc_window_between(a->pos, head, a->size);
	a->lost += w.lost;
	a->pos += w.lost;
	for (i = 0; i < 2; i++)
		seg[i] = (struct ptc_seg){ a->area + w.off[i], w.len[i] };
	*ret_start = a->pos;
	return (uint64_t)w.len[0] + w.len[1];
}

void ptc_aux_done(struct ptc_aux *a, uint64_t end, bool all)
{
	const uint64_t tail = all ? end : end - end % PTC_AUX_PAGE;

	assert(end - a->pos <= INT64_MAX);
	a->pos = end;
	/*
	 * The rounded tail may lie below a tail that was published with @all: the tail never moves
	 * back.
	 */
	if (tail == a->tail || tail - a->tail > INT64_MAX)
		return;
	a->tail = tail;
	ptc_store_tail(&a->page->aux_tail, tail);
}

uint64_t ptc_aux_made(const struct ptc_aux *a)
{
	return ptc_load_head(&a->page->aux_head) - a->begin;
}
