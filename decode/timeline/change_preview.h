/* SPDX-License-Identifier: MIT */
/*
 * Code that changes during a segment. While the segment is made, sideband records are applied to
 * copies of the processes as their times are reached. While the segment is handed over, the same
 * records are applied to the processes themselves.
 */
#ifndef PTC_DECODE_TIMELINE_CHANGE_PREVIEW_H
#define PTC_DECODE_TIMELINE_CHANGE_PREVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/sideband/process.h"
#include "decode/sideband/sideband.h"
#include "decode/timeline/lookahead.h"

enum { PTC_PREVIEW_EVENTS = 256, PTC_PREVIEW_PROCS = 8 };

struct ptc_preview {
	struct ptc_decode *d;	/* lent; NULL: no preview is active */
	struct ptc_event *v;	/* owned; by time. What events lend is valid until one is applied */
	size_t n, next;		/* events in front of next are done */
	struct ptc_proc *procs; /* owned; PTC_PREVIEW_PROCS of them */
	size_t nprocs;
};

void ptc_preview_release(struct ptc_preview *p);

/*
 * Returns true if code of a process in @t will change up to @time (included), but before @t->until,
 * and the changes are known. Then @t refers to copies of the processes until ptc_preview_end().
 */
bool ptc_preview_begin(struct ptc_preview *p, const struct ptc_calm *w, struct ptc_turns *t,
		       uint64_t time);
void ptc_preview_end(struct ptc_preview *p);

/*
 * Moves the copies on to @time. *@ret_changed: the code of @pid changed. Returns false if out of
 * memory.
 */
bool ptc_preview_move(struct ptc_preview *p, uint64_t time, int32_t pid, bool *ret_changed);

#endif
