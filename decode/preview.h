/* SPDX-License-Identifier: MIT */
/*
 * Code that changes in the time of a piece: what records will make of it is done to copies of the
 * processes, as their times come while the piece is made, and once more to the processes themselves
 * while it is handed over.
 */
#ifndef PTC_DECODE_PREVIEW_H
#define PTC_DECODE_PREVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/calm.h"
#include "decode/process.h"
#include "decode/sideband.h"

enum { PTC_PREVIEW_EVENTS = 256, PTC_PREVIEW_PROCS = 8 };

struct ptc_preview {
	struct ptc_decode *d;	/* lent; NULL: there is none */
	struct ptc_event *v;	/* owned; by time, what they lend is as long as none is applied */
	size_t n, next;		/* those in front of next were done */
	struct ptc_proc *procs; /* owned; PTC_PREVIEW_PROCS of them */
	size_t nprocs;
};

void ptc_preview_release(struct ptc_preview *p);

/*
 * Will code of those in @t change, up to @time, included, but in front of @t's until, and can that
 * be foreseen? Then @t has copies of them, until ptc_preview_end.
 */
bool ptc_preview_begin(struct ptc_preview *p, const struct ptc_calm *w, struct ptc_turns *t,
		       uint64_t time);
void ptc_preview_end(struct ptc_preview *p);

/* It is @time. Does @pid have other code now? False: out of memory. */
bool ptc_preview_move(struct ptc_preview *p, uint64_t time, int32_t pid, bool *ret_changed);

#endif
