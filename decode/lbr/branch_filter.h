/* SPDX-License-Identifier: MIT */
/* The branches that an event's branch filter passes. Looked up once, and used for many branches. */
#ifndef PTC_DECODE_LBR_BRANCH_FILTER_H
#define PTC_DECODE_LBR_BRANCH_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "decode/lbr/align.h"
#include "ptcap/branchsel.h"

struct ptc_wants {
	uint64_t kinds; /* one bit for each kind */
	bool user, kernel;
};

static inline struct ptc_wants ptc_wants_of(const struct perf_event_attr *attr)
{
	const uint64_t sel = ptc_branchsel_of(attr);

	return (struct ptc_wants){ .kinds = ptc_branchsel_kinds(sel),
				   .user = sel & PERF_SAMPLE_BRANCH_USER,
				   .kernel = sel & PERF_SAMPLE_BRANCH_KERNEL };
}

/* @s must not be a gap. A branch without one of its ends is in no branch stack. */
static inline bool ptc_wants_step(const struct ptc_wants *w, const struct ptc_step *s)
{
	return s->from && s->to && w->kinds >> s->kind & 1 &&
	       (ptc_is_kernel_ip(s->to) ? w->kernel : w->user);
}

#endif
