/* SPDX-License-Identifier: MIT */
/*
 * Consumer of an AUX ring in full-trace mode (AUX mapped PROT_WRITE): head and
 * tail are monotonic, the tail is given back on page boundaries only (with an
 * unaligned tail the kernel's pt.c may overwrite unread bytes).
 */
#ifndef PTC_CAPTURE_AUX_H
#define PTC_CAPTURE_AUX_H

#include <stdbool.h>
#include <stdint.h>

#include "auxtrace/writer.h"
#include "capture/window.h"

#include <linux/perf_event.h>

enum { PTC_AUX_PAGE = 4096 }; /* tails are given back in units of this */

struct ptc_aux {
	struct perf_event_mmap_page *page; /* shared */
	const uint8_t *area;		   /* shared; size bytes */
	size_t size;
	uint64_t pos;	/* consumer's own: everything before it was read */
	uint64_t tail;	/* consumer's own; what was given back, at most pos */
	uint64_t lost;	/* bytes overwritten before they were read */
	uint64_t begin; /* where reading started */
};

/*
 * aux_offset and aux_size of the page must be those of the mapping at @area,
 * else PTC_E_FORMAT. Reading starts at the page's aux_tail.
 */
int ptc_aux_init(struct ptc_aux *a, struct perf_event_mmap_page *page, const void *area,
		 size_t size, struct ptc_err *err);

/*
 * What can be read now, [pos, head): seg[0..1], *ret_start its position in the
 * AUX stream (behind the old pos when bytes were lost; they are added to a->lost
 * and pos moves over them, so that none is counted twice). Returns the number of
 * bytes. The bytes stay there until ptc_aux_done.
 */
uint64_t ptc_aux_read(struct ptc_aux *a, struct ptc_seg seg[2], uint64_t *ret_start);

/*
 * Everything before @end is safe: move pos there, and give back to the
 * producer whole pages only (@all: everything, at the end of the recording).
 */
void ptc_aux_done(struct ptc_aux *a, uint64_t end, bool all);

/* How far the producer came since reading started: bytes. */
uint64_t ptc_aux_made(const struct ptc_aux *a);

#endif
