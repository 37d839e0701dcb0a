/* SPDX-License-Identifier: MIT */
/*
 * A begin or an end of a function, or a gap, as `decode --calls` prints it. It does not refer to an
 * item, so that it can be kept and printed later.
 */
#ifndef PTC_CLI_DECODE_SHOWN_CALL_H
#define PTC_CLI_DECODE_SHOWN_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/calls.h"

struct ptc_shown_call {
	enum ptc_call_type type;
	enum ptc_call_how how;
	int32_t tid;
	uint32_t queue;	 /* of the item */
	uint32_t depth;	 /* of the frame; the outermost frame of the thread has 0 */
	uint32_t indent; /* the same in text, from the outermost frame that is shown */
	uint64_t ip;
	/* On both axes. LEAVE: also of the entry. Each may be PTC_NO_TIME. */
	uint64_t time, insns, since, since_insns;
	bool cut;	  /* as in struct ptc_call */
	bool is_chosen;	  /* ENTER: the function is that of --sym */
	const char *name; /* ENTER: borrowed until the end of the output, printable ASCII */
	/* Equal calls in a row that are shown as one; at least 1. Sums of their durations. */
	uint64_t times, total_time, total_insns;
	const struct ptc_item *gap; /* LOST: borrowed for the call */
};

/* Receiver of shown calls. on_call returns non-zero to stop. */
struct ptc_shown_sink {
	int (*on_call)(void *ctx, const struct ptc_shown_call *call);
	void *ctx;
};

#endif
