/* SPDX-License-Identifier: MIT */
#include "auxtrace/copy/trim.h"

#include <linux/perf_event.h>

#include "auxtrace/record/record.h"

/* perf writes AUXTRACE records of a multiple of 8 bytes. */
enum { ALIGN = 8 };

#define END_FLAGS ((uint64_t)(PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL))

static uint64_t end_of_range(uint64_t off, uint64_t size)
{
	return size > UINT64_MAX - off ? UINT64_MAX : off + size;
}

bool ptc_trim_piece(const struct ptc_trim *t, struct ptc_auxtrace *a, struct ptc_cur *payload)
{
	const uint64_t end = end_of_range(a->offset, a->size);
	uint64_t front, upto;

	if (a->offset >= t->to || end <= t->from)
		return false;
	front = t->from > a->offset ? (t->from - a->offset) / ALIGN * ALIGN : 0;
	upto = t->to < end ? t->to - a->offset : a->size;
	upto = a->size - upto < ALIGN ? a->size : (upto + ALIGN - 1) / ALIGN * ALIGN;
	*payload = ptc_cur_init(payload->pos + front, (size_t)(upto - front));
	a->offset += front;
	a->size = upto - front;
	return true;
}

void ptc_trim_aux(const struct ptc_trim *t, const struct ptc_rec *rec, struct ptc_buf *b)
{
	struct ptc_cur rest = rec->body;
	uint64_t off, size, flags, end;
	size_t start;

	if (!ptc_cur_le64(&rest, &off) || !ptc_cur_le64(&rest, &size) ||
	    !ptc_cur_le64(&rest, &flags)) {
		b->failed = true;
		return;
	}
	end = end_of_range(off, size);
	if (end > t->to) {
		end = t->to;
		flags &= ~END_FLAGS;
	}
	off = off < t->from ? t->from : off;
	start = ptc_rec_begin(b, rec->type, rec->misc);
	ptc_buf_le64(b, off);
	ptc_buf_le64(b, end > off ? end - off : 0);
	ptc_buf_le64(b, flags);
	ptc_buf_put(b, rest.pos, ptc_cur_left(&rest));
	ptc_rec_end(b, start);
}
