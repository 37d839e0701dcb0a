/* SPDX-License-Identifier: MIT */
#include "capture/live/live_process.h"

#include <sys/resource.h>

#include "base/err.h"
#include "capture/crash/state_channel.h"
#include "capture/live/live_state.h"
#include "capture/step/tracer_process.h"

enum { PRIORITY = -20 /* refused without CAP_SYS_NICE */ };

struct reading {
	const struct ptc_live_targets *targets;
	struct ptc_step_process process;
	struct ptc_states states; /* the way of the states from pt-stacks to ptcap */
};

/* --- in the process --- */

static int put_targets(struct ptc_buf *b, struct reading *r, uint64_t *ret, struct ptc_err *err)
{
	const struct ptc_live_targets *t = r->targets;
	size_t i;

	for (i = 0; i < t->npids; i++) {
		const struct ptc_live l = { .pid = t->pids[i],
					    .time_ns = PTC_STATE_NO_TIME,
					    .no_memory = t->no_memory };
		const size_t before = b->len;
		int rc;

		r->process.shared->pid = t->pids[i];
		rc = ptc_live_put(b, &l, err);
		if (rc && (rc == PTC_E_NO_MEMORY || !t->may_fail))
			return rc;
		if (rc)
			b->len = before;
		*ret += !rc;
	}
	return 0;
}

static void run_stacks_process(void *ctx)
{
	struct reading *r = ctx;
	struct ptc_step_shared *sh = r->process.shared;
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t n = 0;

	ptc_step_process_settle(&r->process);
	(void)setpriority(PRIO_PROCESS, 0, PRIORITY); /* the targets wait for this process */
	sh->rc = put_targets(&b, r, &n, &sh->err);
	if (!sh->rc)
		sh->rc = ptc_states_add_records(&r->states, &b, &sh->err);
	sh->crashes = n;
	sh->done = true;
	ptc_step_process_tell(&r->process);
}

/*
 * ptcap is gone: the process finishes its work. ptc_live_put limits the time of that, also when the
 * process sleeps in the kernel, where it receives no signal but SIGKILL.
 */
static void orphan(void *ctx)
{
	(void)ctx;
}

/* --- in ptcap --- */

/* Waits for the end of pt-stacks. */
static int await_stacks(struct ptc_step_process *p, struct ptc_err *err)
{
	const int rc = ptc_step_process_started(p, NULL, err);

	if (rc && p->shared->pid)
		return ptc_fail(err, PTC_E_IO,
				"the copy of process %d took too long, or pt-stacks was killed",
				(int)p->shared->pid);
	return rc;
}

static int read_states(struct reading *r, struct ptc_buf *b, uint64_t *ret, struct ptc_err *err)
{
	const struct ptc_step_body body = {
		.name = "pt-stacks", .run = run_stacks_process, .orphan = orphan, .ctx = r
	};
	int rc = ptc_step_process_init(&r->process, err);

	if (!rc)
		rc = ptc_states_open(&r->states, err);
	if (!rc)
		rc = ptc_step_process_start(&r->process, &body, err);
	if (!rc)
		rc = await_stacks(&r->process, err);
	if (!rc && r->process.shared->rc) {
		*err = r->process.shared->err;
		rc = r->process.shared->rc;
	}
	if (!rc)
		rc = ptc_states_get(&r->states, b, err);
	if (!rc)
		*ret += r->process.shared->crashes;
	return rc;
}

int ptc_live_process_read(struct ptc_buf *b, const struct ptc_live_targets *t, uint64_t *ret,
			  struct ptc_err *err)
{
	struct reading r = { .targets = t,
			     .process = PTC_STEP_PROCESS_INIT,
			     .states = PTC_STATES_INIT };
	const int rc = read_states(&r, b, ret, err);

	ptc_step_process_release(&r.process);
	ptc_states_release(&r.states);
	return rc;
}
