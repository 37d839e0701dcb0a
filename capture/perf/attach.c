/* SPDX-License-Identifier: MIT */
#include "capture/perf/attach.h"

#include <stdbool.h>

#include "base/err.h"

enum { ROUNDS_MAX = 100 }; /* limit for processes that create threads faster than we attach */

/* Lists the threads of all requested processes, and the requested threads. */
static int list_tids(const struct ptc_record_opts *o, struct ptc_tids *tids, struct ptc_err *err)
{
	size_t i;

	for (i = 0; i < o->target.npids; i++) {
		struct ptc_err gone;

		if (ptc_tasks_threads(tids, "/proc", o->target.pids[i], &gone) == PTC_E_NO_MEMORY)
			return ptc_fail_mem(err);
	}
	for (i = 0; i < o->target.ntids; i++)
		if (!ptc_tids_add(tids, o->target.tids[i]))
			return ptc_fail_mem(err);
	return 0;
}

/*
 * Attaches in rounds until no new thread is found: a thread that was not attached yet may create
 * others. @late: true for all rounds but the very first.
 */
static int attach_rounds(struct ptc_set *s, const struct ptc_record_opts *o, struct ptc_tids *done,
			 bool late, struct ptc_err *err)
{
	struct ptc_tids now = PTC_TIDS_INIT;
	unsigned int round;
	bool fresh = true;
	size_t i;
	int rc = 0;

	for (round = 0; !rc && fresh && round < ROUNDS_MAX; round++, late = true) {
		fresh = false;
		now.n = 0;
		rc = list_tids(o, &now, err);
		s->ntargets = now.n;
		for (i = 0; !rc && i < now.n; i++) {
			if (ptc_tids_have(done, now.items[i]))
				continue;
			rc = ptc_set_add(s, now.items[i], late, err);
			if (rc < 0)
				break;
			fresh = true;
			rc = ptc_tids_add(done, now.items[i]) ? 0 : ptc_fail_mem(err);
		}
	}
	if (!rc && fresh && s->note)
		s->note(s->note_ctx, "some threads may be missing: the process creates threads "
				     "faster than ptcap attaches to them");
	ptc_tids_release(&now);
	return rc;
}

static int check_targets(const struct ptc_record_opts *o, struct ptc_tids *processes,
			 struct ptc_err *err)
{
	size_t i;

	for (i = 0; i < o->target.npids + o->target.ntids; i++) {
		const bool thread = i >= o->target.npids;
		const pid_t id = thread ? o->target.tids[i - o->target.npids] : o->target.pids[i];
		const pid_t pid = ptc_tasks_process("/proc", id);

		if (!pid || (!thread && pid != id))
			return ptc_fail(err, PTC_E_NOT_EXIST, "no %s %d%s",
					thread ? "thread" : "process", (int)id,
					pid ? ": it is a thread; use -t" : "");
		if (!ptc_tids_add(processes, pid))
			return ptc_fail_mem(err);
	}
	return 0;
}

int ptc_attach(struct ptc_set *s, const struct ptc_record_opts *o, struct ptc_tids *processes,
	       struct ptc_err *err)
{
	struct ptc_tids done = PTC_TIDS_INIT;
	int rc = check_targets(o, processes, err);

	if (!rc)
		rc = attach_rounds(s, o, &done, false, err);
	if (!rc && !s->nslots)
		rc = ptc_fail(err, PTC_E_NOT_EXIST, "process %d has ended",
			      (int)processes->items[0]);
	if (!rc) {
		ptc_set_enable_side(s);
		rc = attach_rounds(s, o, &done, true, err);
	}
	ptc_tids_release(&done);
	return rc;
}
