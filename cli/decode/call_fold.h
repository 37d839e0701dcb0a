/* SPDX-License-Identifier: MIT */
/*
 * `decode --calls --fold`: calls in a row that are equal, with all calls inside, become one with a
 * count and a total. Equal means: the same functions, entered and left in the same way, as often.
 *
 * A call can be compared only when it has ended. So the calls of each thread are kept until
 * then, at most PTC_FOLD_KEPT of them. If there are more, the outermost open call is printed, and
 * is not compared.
 */
#ifndef PTC_CLI_DECODE_CALL_FOLD_H
#define PTC_CLI_DECODE_CALL_FOLD_H

#include <stddef.h>

#include "base/idmap.h"
#include "cli/decode/shown_call.h"

enum { PTC_FOLD_KEPT = 1024 };

/* Initialize with zeros, except sink. */
struct ptc_call_fold {
	struct ptc_shown_sink sink;
	struct ptc_fold_thread *threads; /* owned */
	size_t cap;
	struct ptc_idmap tids;
};

/* ptc_shown_sink.on_call; ctx is a struct ptc_call_fold. Returns PTC_E_NO_MEMORY, too. */
int ptc_call_fold_add(void *ctx, const struct ptc_shown_call *call);

/* Print all calls that are kept. Returns the non-zero result of the sink. */
int ptc_call_fold_finish(struct ptc_call_fold *f);

void ptc_call_fold_release(struct ptc_call_fold *f);

#endif
