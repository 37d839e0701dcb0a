/* SPDX-License-Identifier: MIT */
#include "capture/session/live_targets.h"

#include "base/err.h"
#include "capture/crash/process_copy.h"
#include "capture/host/tasks.h"
#include "capture/live/live_process.h"

int ptc_live_targets_put(struct ptc_buf *b, const struct ptc_record_opts *o, pid_t command,
			 const struct ptc_live_caller *caller, uint64_t *ret,
			 struct ptc_live_missing *missing, struct ptc_err *err)
{
	struct ptc_live_targets t = { .pids = o->target.pids,
				      .npids = o->target.npids,
				      .no_memory = o->snapshot.no_memory,
				      .caller = caller };
	struct ptc_tids family = PTC_TIDS_INIT;
	int rc = 0;

	if (command) {
		rc = ptc_tasks_family(&family, "/proc", command, PTC_COPY_PROCESSES, err);
		t.pids = family.items;
		t.npids = family.n;
	}
	if (!rc && t.npids)
		rc = ptc_live_process_read(b, &t, ret, missing, err);
	ptc_tids_release(&family);
	return rc == PTC_E_NO_MEMORY ? rc : 0;
}
