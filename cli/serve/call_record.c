/* SPDX-License-Identifier: MIT */
#include "cli/serve/call_record.h"

void ptc_call_record_put(const struct ptc_call_record *r, struct ptc_buf *b)
{
	const struct ptc_served_call *c = &r->call;
	const uint64_t numbers[PTC_CALL_RECORD_SIZE / 8] = {
		r->caller,
		c->number,
		(uint64_t)c->depth << 32 | c->how,
		(uint64_t)c->function << 32 | c->site,
		c->begin.insns,
		c->begin.time_ns,
		c->end.insns,
		c->end.time_ns,
		c->inside.insns,
		c->inside.time_ns,
		c->calls,
	};
	size_t i;

	for (i = 0; i < PTC_CALL_RECORD_SIZE / 8; i++)
		ptc_buf_le64(b, numbers[i]);
}

void ptc_call_record_get(const uint8_t bytes[PTC_CALL_RECORD_SIZE], struct ptc_call_record *ret)
{
	uint64_t v[PTC_CALL_RECORD_SIZE / 8] = { 0 };
	size_t i;

	for (i = 0; i < PTC_CALL_RECORD_SIZE; i++)
		v[i / 8] |= (uint64_t)bytes[i] << i % 8 * 8;
	ret->caller = v[0];
	ret->call = (struct ptc_served_call){
		.number = v[1],
		.depth = (uint32_t)(v[2] >> 32),
		.how = (uint8_t)v[2],
		.function = (uint32_t)(v[3] >> 32),
		.site = (uint32_t)v[3],
		.begin = { v[4], v[5] },
		.end = { v[6], v[7] },
		.inside = { v[8], v[9] },
		.calls = v[10],
	};
}
