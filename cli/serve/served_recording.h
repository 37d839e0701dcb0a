/* SPDX-License-Identifier: MIT */
/*
 * Everything that `ptcap view --serve` has of a recording: calls, levels of detail and branches, in
 * one temporary file. Memory has indexes of chunks, and the calls that are open.
 */
#ifndef PTC_CLI_SERVE_SERVED_RECORDING_H
#define PTC_CLI_SERVE_SERVED_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/serve/branch_store.h"
#include "cli/serve/call_store.h"
#include "cli/serve/level_store.h"
#include "cli/view/call_collector.h"

struct ptc_served_levels {
	struct ptc_level_store *axes; /* owned; [0] by instructions, [1] by time; NULL: no calls */
};

struct ptc_served_recording {
	struct ptc_temp_store file;
	struct ptc_call_store calls;
	struct ptc_branch_store branches;
	struct ptc_served_levels *levels; /* owned; by the numbers of threads */
	size_t nlevels, levels_cap;
	bool times;	     /* there is an axis of time */
	struct ptc_err *err; /* borrowed; why a function of the taker failed */
	struct ptc_view_taker taker;
};

/*
 * @limit: bytes of the temporary file. s->taker is then for ptc_call_collector_init, so @s must not
 * move. Caller releases @s, also on failure.
 */
int ptc_served_recording_init(struct ptc_served_recording *s, bool times, uint64_t limit,
			      struct ptc_err *err);
void ptc_served_recording_release(struct ptc_served_recording *s);

/* To be called once, when all calls have ended. */
int ptc_served_recording_finish(struct ptc_served_recording *s, struct ptc_err *err);

#endif
