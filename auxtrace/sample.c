/* SPDX-License-Identifier: MIT */
#include "auxtrace/sample.h"

#include <linux/perf_event.h>

/* Every field of the trailer takes 8 bytes; TID and CPU are two u32. */
#define TRAILER                                                                                    \
	((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |  \
		    PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER))

size_t ptc_sample_id_size(uint64_t sample_type)
{
	return 8 * (size_t)__builtin_popcountll(sample_type & TRAILER);
}

static bool get_tid(struct ptc_cur *c, struct ptc_sample_id *id)
{
	uint32_t pid, tid;

	if (!ptc_cur_le32(c, &pid) || !ptc_cur_le32(c, &tid))
		return false;
	id->pid = (int32_t)pid;
	id->tid = (int32_t)tid;
	return true;
}

static bool get_cpu(struct ptc_cur *c, struct ptc_sample_id *id)
{
	return ptc_cur_le32(c, &id->cpu) && ptc_cur_skip(c, 4);
}

bool ptc_sample_id_parse(struct ptc_cur *body, uint64_t sample_type, struct ptc_sample_id *ret)
{
	const size_t size = ptc_sample_id_size(sample_type);
	const size_t left = ptc_cur_left(body);
	struct ptc_sample_id id = { .has = sample_type & TRAILER };
	struct ptc_cur c;

	if (size > left)
		return false;
	c = ptc_cur_init(body->pos + (left - size), size);
	if (((sample_type & PERF_SAMPLE_TID) && !get_tid(&c, &id)) ||
	    ((sample_type & PERF_SAMPLE_TIME) && !ptc_cur_le64(&c, &id.time)) ||
	    ((sample_type & PERF_SAMPLE_ID) && !ptc_cur_le64(&c, &id.id)) ||
	    ((sample_type & PERF_SAMPLE_STREAM_ID) && !ptc_cur_le64(&c, &id.stream_id)) ||
	    ((sample_type & PERF_SAMPLE_CPU) && !get_cpu(&c, &id)) ||
	    ((sample_type & PERF_SAMPLE_IDENTIFIER) && !ptc_cur_le64(&c, &id.id)))
		return false;
	body->end -= size;
	*ret = id;
	return true;
}

void ptc_sample_id_put(struct ptc_buf *b, uint64_t sample_type, const struct ptc_sample_id *id)
{
	if (sample_type & PERF_SAMPLE_TID) {
		ptc_buf_le32(b, (uint32_t)id->pid);
		ptc_buf_le32(b, (uint32_t)id->tid);
	}
	if (sample_type & PERF_SAMPLE_TIME)
		ptc_buf_le64(b, id->time);
	if (sample_type & PERF_SAMPLE_ID)
		ptc_buf_le64(b, id->id);
	if (sample_type & PERF_SAMPLE_STREAM_ID)
		ptc_buf_le64(b, id->stream_id);
	if (sample_type & PERF_SAMPLE_CPU) {
		ptc_buf_le32(b, id->cpu);
		ptc_buf_le32(b, 0);
	}
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		ptc_buf_le64(b, id->id);
}

bool ptc_sample_parse(struct ptc_cur *body, uint64_t sample_type, struct ptc_sample *ret)
{
	const uint64_t known = TRAILER | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD;
	struct ptc_sample s = { .id.has = sample_type & known };
	struct ptc_cur c = *body;

	if (((sample_type & PERF_SAMPLE_IDENTIFIER) && !ptc_cur_le64(&c, &s.id.id)) ||
	    ((sample_type & PERF_SAMPLE_IP) && !ptc_cur_le64(&c, &s.ip)) ||
	    ((sample_type & PERF_SAMPLE_TID) && !get_tid(&c, &s.id)) ||
	    ((sample_type & PERF_SAMPLE_TIME) && !ptc_cur_le64(&c, &s.id.time)) ||
	    ((sample_type & PERF_SAMPLE_ADDR) && !ptc_cur_le64(&c, &s.addr)) ||
	    ((sample_type & PERF_SAMPLE_ID) && !ptc_cur_le64(&c, &s.id.id)) ||
	    ((sample_type & PERF_SAMPLE_STREAM_ID) && !ptc_cur_le64(&c, &s.id.stream_id)) ||
	    ((sample_type & PERF_SAMPLE_CPU) && !get_cpu(&c, &s.id)) ||
	    ((sample_type & PERF_SAMPLE_PERIOD) && !ptc_cur_le64(&c, &s.period)))
		return false;
	*body = c;
	*ret = s;
	return true;
}
