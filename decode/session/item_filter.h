/* SPDX-License-Identifier: MIT */
/*
 * Filter between the queues' merged items and the caller's sink: only requested items pass. It
 * works on items in their final order, when symbols can be looked up.
 */
#ifndef PTC_DECODE_SESSION_ITEM_FILTER_H
#define PTC_DECODE_SESSION_ITEM_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/session/tid_counter.h"
#include "ptcap/decode.h"

enum { PTC_PICK_BATCH = 512 };

struct ptc_pick {
	struct ptc_decode *d;	     /* lent; for symbol look-up */
	const struct ptc_sink *sink; /* lent */
	uint64_t from, to;	     /* ns, [from, to); UINT64_MAX: no end; no time counts as 0 */
	const char *sym;	     /* lent; NULL: any */
	char *plain;		     /* owned; sym demangled; NULL: sym is not mangled */
	struct ptc_tally skip;	     /* owned; for each thread: number of branches to drop first */
	uint64_t branches, gaps[PTC_GAP_COUNT]; /* of the items that passed */
	bool failed;				/* out of memory */
	struct ptc_item items[PTC_PICK_BATCH];
};

void ptc_pick_release(struct ptc_pick *p);

/* Returns true if any filter is set. */
bool ptc_pick_is_needed(const struct ptc_pick *p);

/* Returns true if @time (ns) is behind the requested time. */
static inline bool ptc_pick_is_over(const struct ptc_pick *p, uint64_t time)
{
	return time >= p->to && p->to != UINT64_MAX;
}

/* ptc_sink.on_items; ctx is a struct ptc_pick. */
int ptc_pick_items(void *ctx, const struct ptc_item *items, size_t n);

/*
 * Returns true if function name @name, demangled or not, matches @sym, with or without its
 * parameters.
 */
bool ptc_pick_is_name(const char *sym, const char *name);

#endif
