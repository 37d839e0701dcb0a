/* SPDX-License-Identifier: MIT */
/*
 * Selects calls of `decode --calls`: the calls below a function (--sym), the outer calls (--depth),
 * and the long calls (--min). A call is shown if all its callers are shown, so --min keeps only the
 * calls that are open, and no calls that ended.
 */
#ifndef PTC_CLI_DECODE_CALL_VIEW_H
#define PTC_CLI_DECODE_CALL_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "cli/decode/shown_call.h"

/* What to show. Zeros: everything. */
struct ptc_calls_choice {
	const char *sym;  /* only this function and its calls; borrowed; NULL: all */
	uint64_t depth;	  /* only so many levels; 0: all */
	uint64_t min;	  /* the least duration of a call; 0: all */
	bool min_is_time; /* min is ns, else instructions */
	bool folds;	  /* equal calls in a row become one */
};

struct ptc_call_view {
	struct ptc_calls_choice choice;
	struct ptc_shown_sink sink;
	struct ptc_view_thread *threads; /* owned */
	size_t cap;
	struct ptc_idmap tids;
	bool found; /* a call of the function choice.sym was there */
};

/* ptc_shown_sink.on_call; ctx is a struct ptc_call_view. Returns PTC_E_NO_MEMORY, too. */
int ptc_call_view_add(void *ctx, const struct ptc_shown_call *call);

/* Show the open calls that could become long. Returns the non-zero result of the sink. */
int ptc_call_view_finish(struct ptc_call_view *v);

void ptc_call_view_release(struct ptc_call_view *v);

#endif
