/* SPDX-License-Identifier: MIT */
/*
 * What a thread finds in the branch stack when it gets a CPU is another's, unless the kernel clears
 * it. Of threads that run the same code it looks like their own: it is looked for among the last
 * that the others took before they lost a CPU.
 */
#ifndef PTC_DECODE_FOREIGN_H
#define PTC_DECODE_FOREIGN_H

#include <linux/perf_event.h>

#include "decode/align.h"
#include "decode/recent.h"

/*
 * As ptc_align_run, for a sample of the event @attr and of the thread @own. @in->foreign is set
 * here. An entry that is read differently as left over is ambiguous, unless what it would be by
 * itself makes far less sense.
 */
int ptc_foreign_run(struct ptc_align *a, const struct ptc_recent *r,
		    const struct ptc_recent_thread *own, const struct ptc_align_in *in,
		    const struct perf_event_attr *attr, struct ptc_align_entry *ret_entries,
		    struct ptc_align_result *ret);

#endif
