/* SPDX-License-Identifier: MIT */
/*
 * Rings of CPUs that went round do not begin at the same time, and samples of them bring a little
 * each. A thread that moves between CPUs may come to one, or go from one, at a time of which
 * nothing was kept there, while there still is what it did elsewhere before. The two cannot be
 * joined: between them there is a break, and what is in front of it is old. Who runs where is known
 * from the switches.
 */
#ifndef PTC_DECODE_JOINT_H
#define PTC_DECODE_JOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/sideband.h"
#include "ptcap/decode.h"

/* A time of which a CPU's trace was kept, both ends included. */
struct ptc_kept_time {
	int32_t cpu;
	uint32_t queue;
	uint64_t from_ns, upto_ns;
};

/* A thread came to a CPU, or went, at a time of which nothing was kept. */
struct ptc_joint_break {
	uint64_t time;
	int32_t pid, tid, cpu;
	uint32_t queue;
};

struct ptc_joint {
	struct ptc_kept_time *kept; /* owned; by CPU, then by time */
	size_t nkept, kept_cap;
	uint64_t until_ns; /* from then on everything was kept, or nothing */
	bool samples; /* the trace is that of samples: of a CPU that has none nothing was kept */
	struct ptc_joint_break *breaks; /* owned; those of [head, nbreaks) are yet to be told */
	size_t head, nbreaks, breaks_cap;
	int32_t *seen; /* owned; threads that did something since their last break; ascending */
	size_t nseen, seen_cap;
};

/*
 * The trace of @cpu was kept from @from_ns to @upto_ns (UINT64_MAX: to its end). One that is known,
 * and of which nothing can be decoded, is kept from UINT64_MAX on. Of each CPU in ascending order,
 * and CPU after CPU. False: out of memory; the same of the others.
 */
bool ptc_joint_keep(struct ptc_joint *j, struct ptc_kept_time kept);
/* Forget what is yet to be told, and who was seen. */
void ptc_joint_rewind(struct ptc_joint *j);
void ptc_joint_release(struct ptc_joint *j);

/* A side record: does somebody come to a CPU, or go? They come in the order of their times. */
bool ptc_joint_event(struct ptc_joint *j, const struct ptc_event *ev);

/* Nothing that happens from @time on breaks anything, and all that did was told. */
static inline bool ptc_joint_is_over(const struct ptc_joint *j, uint64_t time)
{
	return j->head == j->nbreaks && time >= j->until_ns;
}

/*
 * How many of @items[0..n), which are in order and behind all that were here before, go in front of
 * the next break. Their threads are seen.
 */
bool ptc_joint_see(struct ptc_joint *j, const struct ptc_item *items, size_t n, size_t *ret);

/*
 * The next break that is to be told, of those up to @time: of a thread that was seen. False: none.
 * *@ret is a gap.
 */
bool ptc_joint_next(struct ptc_joint *j, uint64_t time, struct ptc_item *ret);

#endif
