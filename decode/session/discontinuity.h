/* SPDX-License-Identifier: MIT */
/*
 * Ring buffers of CPUs in overwrite mode do not begin at the same time, and each sample has a short
 * part of the trace. A thread may come to a CPU, or leave it, at a time of which nothing was kept
 * there. Its earlier trace on another CPU may still be kept. The two parts cannot be joined: there
 * is a break between them, and the part in front of it is old. The switches tell which thread runs
 * where.
 */
#ifndef PTC_DECODE_SESSION_DISCONTINUITY_H
#define PTC_DECODE_SESSION_DISCONTINUITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/sideband/sideband.h"
#include "ptcap/decode.h"

/* A time span of which a CPU's trace was kept, both ends included. */
struct ptc_kept_time {
	int32_t cpu;
	uint32_t queue;
	uint64_t from_ns, upto_ns;
};

/* A thread came to a CPU, or left it, at a time of which nothing was kept. */
struct ptc_discontinuity_break {
	uint64_t time;
	int32_t pid, tid, cpu;
	uint32_t queue;
};

struct ptc_discontinuity {
	struct ptc_kept_time *kept; /* owned; by CPU, then by time */
	size_t nkept, kept_cap;
	uint64_t until_ns; /* from then on, each CPU kept everything or nothing */
	bool samples; /* the trace is from samples: nothing was kept of a CPU without samples */
	struct ptc_discontinuity_break *breaks; /* owned; [head, nbreaks) are not reported yet */
	size_t head, nbreaks, breaks_cap;
	int32_t *seen; /* owned; ascending; threads that were active since their last break */
	size_t nseen, seen_cap;
};

/*
 * Add a span: the trace of a CPU was kept from from_ns to upto_ns (UINT64_MAX: to its end). If
 * nothing of a known CPU can be decoded, from_ns is UINT64_MAX. Add the spans of each CPU in
 * ascending order, CPU after CPU. Returns false if out of memory, as the functions below.
 */
bool ptc_discontinuity_keep(struct ptc_discontinuity *j, struct ptc_kept_time kept);
/* Forget pending breaks and seen threads. */
void ptc_discontinuity_rewind(struct ptc_discontinuity *j);
void ptc_discontinuity_release(struct ptc_discontinuity *j);

/* Take a sideband record: does a thread come to a CPU or leave it? Call in order of time. */
bool ptc_discontinuity_event(struct ptc_discontinuity *j, const struct ptc_event *ev);

/* Are all breaks reported, and is no break possible from @time on? */
static inline bool ptc_discontinuity_is_over(const struct ptc_discontinuity *j, uint64_t time)
{
	return j->head == j->nbreaks && time >= j->until_ns;
}

/*
 * Count the items of @items[0..n) in front of the next break: *@ret. Marks their threads as seen.
 * The items are in order, and behind all earlier ones.
 */
bool ptc_discontinuity_see(struct ptc_discontinuity *j, const struct ptc_item *items, size_t n,
			   size_t *ret);

/*
 * Report the next break before @time, of a thread that was seen, as the gap *@ret. Returns false if
 * there is none.
 */
bool ptc_discontinuity_next(struct ptc_discontinuity *j, uint64_t time, struct ptc_item *ret);

#endif
