/* SPDX-License-Identifier: MIT */
/* Handles code that is mapped between two times in the trace. */
#include <intel-pt.h>

#include "arch/pt_packet.h"
#include "base/cursor.h"
#include "decode/image/diagnostics.h"
#include "decode/libipt/replay_state.h"
#include "decode/timeline/context_timeline.h"

/*
 * Returns the next time in the trace behind the decoder, or r->time.now if the next time may come
 * at once.
 */
static uint64_t next_time(const struct ptc_replay *r)
{
	const uint8_t *bytes = r->window.bytes;
	const size_t end = r->psbs.next < r->window.upto ? r->psbs.next : r->window.upto;
	enum ptc_pkt type = PTC_PKT_PAD;
	uint64_t time;
	size_t at;
	int n;

	/* The decoder may have read a TSC packet already, and not used it yet. */
	for (at = first_sure(r, r->place.prev2_off); at < end; at += (size_t)n) {
		n = ptc_pkt_len(bytes + at, end - at, &type);
		if (n <= 0 || type == PTC_PKT_MTC || type == PTC_PKT_CYC)
			return r->time.now;
		if (type != PTC_PKT_TSC)
			continue;
		time = to_ns(r, ptc_le64(bytes + at) >> 8, r->time.bound);
		if (time > r->time.now)
			return time;
	}
	return r->time.bound;
}

bool ptc_replay_wait_for_code(struct ptc_replay *r)
{
	uint64_t upto, time, ip;
	bool known;

	if (pt_errcode(r->status) != pte_nomap || !r->conf.clock.valid ||
	    r->time.now == PTC_NO_TIME || !r->conf.contexts)
		return false;
	upto = next_time(r);
	if (upto <= r->time.now)
		return false;
	ip = ptc_replay_current_ip(r);
	time = ptc_queue_contexts_next_code(r->conf.contexts, r->time.now, ip, upto, &known);
	r->stuck = r->conf.ahead && !known;
	if (!r->stuck &&
	    (time <= r->time.now || time == PTC_NO_TIME)) /* not a valid value of r->time.now */
		return false;
	if (!r->stuck) {
		ptc_notes_late_code(r->conf.notes, ip);
		r->time.now = time;
	}
	r->status = 0;
	r->again = true;
	return true;
}
