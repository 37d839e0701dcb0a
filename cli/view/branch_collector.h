/* SPDX-License-Identifier: MIT */
/*
 * Collects single branches for `ptcap view`, if there are not too many. Each different branch
 * (from, to and kind) has a number, and the encoder predicts the next branch from the last two.
 */
#ifndef PTC_CLI_VIEW_BRANCH_COLLECTOR_H
#define PTC_CLI_VIEW_BRANCH_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/common/number_index.h"
#include "cli/view/call_sites.h"
#include "cli/view/event_encoder.h"

struct ptc_view_edge {
	uint32_t from, to; /* numbers of places; 0: outside of the trace */
	uint8_t kind;	   /* enum ptc_kind */
};

/* What the collector knows of a thread. Starts zeroed. */
struct ptc_branch_thread {
	uint32_t last, before;	 /* numbers + 1 of its last two branches */
	uint64_t insns, time_ns; /* place of its last branch */
	uint64_t n;		 /* branches */
};

struct ptc_branch_collector {
	struct ptc_call_sites sites; /* the places that branches leave and reach */
	uint64_t limit, n;
	size_t edges_max; /* different branches; 0: no limit */
	bool over;	  /* more than a limit: nothing is kept */
	bool encodes;	  /* branches go to chunks */
	struct ptc_event_encoder events;
	uint64_t time_ns;	 /* of the last branch */
	struct ptc_view_edge *v; /* owned; the different branches */
	size_t nv, cap;
	struct ptc_number_index index;
	struct ptc_buf *chunks; /* owned */
	size_t nchunks, chunks_cap;
};

/*
 * @limit 0: no branches. @texts get names, and @sources files; borrowed. Returns false if out of
 * memory. Caller releases
 * @b, also on failure.
 */
bool ptc_branch_collector_init(struct ptc_branch_collector *b, struct ptc_decode *d,
			       struct ptc_names *texts, struct ptc_view_sources *sources,
			       uint64_t limit);
void ptc_branch_collector_release(struct ptc_branch_collector *b);

/*
 * Add the branch @item of thread @number. @insns, @time_ns: its place; neither goes back. To be
 * called inside on_items. Returns false if out of memory.
 */
bool ptc_branch_collector_add(struct ptc_branch_collector *b, struct ptc_branch_thread *t,
			      uint32_t number, const struct ptc_item *item, uint64_t insns,
			      uint64_t time_ns);

/* End the last chunk. Returns false if out of memory. */
bool ptc_branch_collector_finish(struct ptc_branch_collector *b);

#endif
