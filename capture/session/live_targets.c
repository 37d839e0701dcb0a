/* SPDX-License-Identifier: MIT */
#include "capture/session/live_targets.h"

#include "base/err.h"
#include "capture/live/live_process.h"

int ptc_live_targets_put(struct ptc_buf *b, const struct ptc_record_opts *o, uint64_t *ret,
			 struct ptc_err *err)
{
	const struct ptc_live_targets t = { .pids = o->target.pids,
					    .npids = o->target.npids,
					    .no_memory = o->snapshot.no_memory,
					    .may_fail = true };
	struct ptc_err why;

	if (!t.npids || ptc_live_process_read(b, &t, ret, &why) != PTC_E_NO_MEMORY)
		return 0;
	return ptc_fail_mem(err);
}
