/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/read_format.h"

#include <linux/perf_event.h>

bool ptc_read_known(uint64_t read_format)
{
	return read_format < PERF_FORMAT_MAX;
}

static size_t value_size(uint64_t format)
{
	return 8 + (format & PERF_FORMAT_ID ? 8u : 0) + (format & PERF_FORMAT_LOST ? 8u : 0);
}

static bool get_if(struct ptc_cur *c, uint64_t has, uint64_t *ret)
{
	return !has || ptc_cur_le64(c, ret);
}

bool ptc_read_parse(struct ptc_cur *c, uint64_t read_format, struct ptc_read *ret)
{
	const bool group = (read_format & PERF_FORMAT_GROUP) != 0;
	struct ptc_read r = { .format = read_format, .n = 1 };
	struct ptc_cur pos = *c;

	if (!ptc_read_known(read_format) || !ptc_cur_le64(&pos, group ? &r.n : &r.one.value) ||
	    !get_if(&pos, read_format & PERF_FORMAT_TOTAL_TIME_ENABLED, &r.time_enabled) ||
	    !get_if(&pos, read_format & PERF_FORMAT_TOTAL_TIME_RUNNING, &r.time_running))
		return false;
	if (group) {
		const size_t size = value_size(read_format);

		if (r.n > ptc_cur_left(&pos) / size ||
		    !ptc_cur_sub(&pos, (size_t)r.n * size, &r.group))
			return false;
	} else if (!get_if(&pos, read_format & PERF_FORMAT_ID, &r.one.id) ||
		   !get_if(&pos, read_format & PERF_FORMAT_LOST, &r.one.lost)) {
		return false;
	}
	*c = pos;
	*ret = r;
	return true;
}

bool ptc_read_next(struct ptc_read *r, struct ptc_read_value *ret)
{
	struct ptc_read_value v = r->one;

	if (!r->n)
		return false;
	if (r->format & PERF_FORMAT_GROUP) {
		v = (struct ptc_read_value){ 0 };
		if (!ptc_cur_le64(&r->group, &v.value) ||
		    !get_if(&r->group, r->format & PERF_FORMAT_ID, &v.id) ||
		    !get_if(&r->group, r->format & PERF_FORMAT_LOST, &v.lost))
			return false;
	}
	r->n--;
	*ret = v;
	return true;
}

void ptc_read_value_put(struct ptc_buf *b, uint64_t read_format, const struct ptc_read_value *v)
{
	ptc_buf_le64(b, v->value);
	if (read_format & PERF_FORMAT_ID)
		ptc_buf_le64(b, v->id);
	if (read_format & PERF_FORMAT_LOST)
		ptc_buf_le64(b, v->lost);
}

void ptc_read_put(struct ptc_buf *b, const struct ptc_read *r)
{
	const size_t len = ptc_cur_left(&r->group);
	const bool group = (r->format & PERF_FORMAT_GROUP) != 0;

	ptc_buf_le64(b, group ? len / value_size(r->format) : r->one.value);
	if (r->format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		ptc_buf_le64(b, r->time_enabled);
	if (r->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		ptc_buf_le64(b, r->time_running);
	if (group) {
		ptc_buf_put(b, r->group.pos, len);
		return;
	}
	if (r->format & PERF_FORMAT_ID)
		ptc_buf_le64(b, r->one.id);
	if (r->format & PERF_FORMAT_LOST)
		ptc_buf_le64(b, r->one.lost);
}
