/* SPDX-License-Identifier: MIT */
/*
 * Filter between the queues' merged items and the caller's sink: only requested items pass. It
 * works on items in their final order, when symbols can be looked up. It also gives items their
 * number of instructions, because the counter must see the items that do not pass.
 */
#ifndef PTC_DECODE_SESSION_ITEM_FILTER_H
#define PTC_DECODE_SESSION_ITEM_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tid_counter.h"
#include "decode/session/insn_counter.h"
#include "ptcap/decode.h"
#include "ptcap/lookup.h"

enum { PTC_ITEM_FILTER_BATCH = 512 };

struct ptc_item_filter {
	struct ptc_decode *d;	       /* lent; for symbol look-up */
	const struct ptc_sink *sink;   /* lent */
	uint64_t from, to;	       /* ns, [from, to); UINT64_MAX: no end; no time counts as 0 */
	const char *sym;	       /* lent; NULL: any */
	char *plain;		       /* owned; sym demangled; NULL: sym is not mangled */
	bool count_insns;	       /* set insns of the items */
	struct ptc_insn_counter insns; /* owned */
	struct ptc_tid_counter skip; /* owned; for each thread: number of branches to drop first */
	uint64_t branches, gaps[PTC_GAP_COUNT]; /* of the items that passed */
	bool failed;				/* out of memory */
	struct ptc_item items[PTC_ITEM_FILTER_BATCH];
};

void ptc_item_filter_release(struct ptc_item_filter *p);

/* Returns true if any filter is set. */
bool ptc_item_filter_is_needed(const struct ptc_item_filter *p);

/* Returns true if @time (ns) is behind the requested time. */
static inline bool ptc_item_filter_is_over(const struct ptc_item_filter *p, uint64_t time)
{
	return time >= p->to && p->to != UINT64_MAX;
}

/* ptc_sink.on_items; ctx is a struct ptc_item_filter. */
int ptc_item_filter_items(void *ctx, const struct ptc_item *items, size_t n);

#endif
