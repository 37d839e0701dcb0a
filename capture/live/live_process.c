/* SPDX-License-Identifier: MIT */
#include "capture/live/live_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/err.h"
#include "base/monotonic.h"
#include "capture/crash/process_copy.h"
#include "capture/crash/state_channel.h"
#include "capture/live/live_state.h"
#include "capture/step/tracer_process.h"

enum {
	PRIORITY = -20, /* refused without CAP_SYS_NICE */
	/* limits of the wait for pt-stacks, and of its rest once the caller wants an end */
	LATE_MS = 10000,
	END_MS = 1000,
	LOOK_MS = 100,
};

#define NS_PER_MS UINT64_C(1000000)

struct reading {
	const struct ptc_live_targets *targets;
	bool may_fail;
	struct ptc_step_process process;
	struct ptc_states states; /* the way of the states from pt-stacks to ptcap */
};

/* --- in the process --- */

/* Writes the state of one process. *@ret_len: number of bytes. */
static int write_state(const struct reading *r, pid_t pid, struct ptc_copy_budget *budget,
		       size_t *ret_len, struct ptc_err *err)
{
	const struct ptc_live l = { .pid = pid,
				    .time_ns = PTC_STATE_NO_TIME,
				    .no_memory = r->targets->no_memory,
				    .budget = budget };
	struct ptc_buf b = PTC_BUF_INIT;
	int rc = ptc_live_put(&b, &l, err);

	if (!rc)
		rc = ptc_states_add_records(&r->states, &b, err);
	*ret_len = b.len;
	ptc_buf_release(&b);
	return rc;
}

/*
 * Writes the states. shared->crashes and shared->bytes always count the complete states:
 * this process may be killed at any time. shared->pid: the process that it reads.
 */
static int write_states(const struct reading *r)
{
	struct ptc_step_shared *sh = r->process.shared;
	struct ptc_copy_budget budget = { .left = PTC_COPY_MAX };
	struct ptc_err why;
	size_t i, len;

	for (i = 0; i < r->targets->npids; i++) {
		int rc;

		sh->pid = r->targets->pids[i];
		budget.processes = r->targets->npids - i;
		rc = write_state(r, sh->pid, &budget, &len, &why);
		if (!rc) {
			sh->crashes++;
			(void)atomic_fetch_add(&sh->bytes, len);
		} else if (!r->may_fail || rc == PTC_E_NO_MEMORY || rc == PTC_E_IO) {
			sh->err = why;
			return rc;
		} else if (rc != PTC_E_NOT_EXIST && !sh->untraced++) {
			sh->err = why;
		}
	}
	return 0;
}

static void run_stacks_process(void *ctx)
{
	struct reading *r = ctx;
	struct ptc_step_shared *sh = r->process.shared;

	ptc_step_process_settle(&r->process);
	(void)setpriority(PRIO_PROCESS, 0, PRIORITY); /* the targets wait for this process */
	sh->rc = write_states(r);
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

static void kill_stacks(struct ptc_step_process *p)
{
	struct ptc_err ignored;

	p->killed = true;
	(void)kill(p->pid, SIGKILL);
	(void)ptc_step_process_reap(p, &ignored);
}

/*
 * Waits for the message of pt-stacks or for its death. Kills a pt-stacks that is late. Returns true
 * if the caller wanted an end.
 */
static bool await_message(struct ptc_step_process *p, const struct ptc_live_caller *c)
{
	struct pollfd fds[2] = { { .fd = p->end_fd, .events = POLLIN },
				 { .fd = c->fd, .events = POLLIN } };
	uint64_t now = ptc_monotonic_ns(), until = now + LATE_MS * NS_PER_MS;
	bool over = false;

	for (; now < until; now = ptc_monotonic_ns()) {
		if (poll(fds, 2, LOOK_MS) <= 0)
			continue;
		if (fds[0].revents)
			return over;
		if (!(fds[1].revents & POLLIN)) {
			fds[1].fd = -1;
		} else if (c->wants_end(c->ctx) && !over) {
			over = true;
			now += END_MS * NS_PER_MS;
			until = now < until ? now : until;
		}
	}
	kill_stacks(p);
	return over;
}

/* Waits for the end of pt-stacks. */
static int await_stacks(struct ptc_step_process *p, const struct ptc_live_caller *c,
			struct ptc_err *err)
{
	const bool over = c && await_message(p, c);
	const int rc = p->killed ? PTC_E_IO : ptc_step_process_started(p, NULL, err);

	if (p->killed && p->shared->done)
		return 0;
	if (p->killed && over)
		return ptc_fail(err, PTC_E_IO,
				"a request to end came before the copy of process %d was complete",
				(int)p->shared->pid);
	if (rc && (p->killed || p->shared->pid))
		return ptc_fail(err, PTC_E_IO,
				"the copy of process %d took too long, or pt-stacks was killed",
				(int)p->shared->pid);
	return rc;
}

/* Appends the complete states. */
static int get_states(const struct reading *r, struct ptc_buf *b, uint64_t *ret,
		      struct ptc_err *err)
{
	const size_t before = b->len;
	const uint64_t complete = atomic_load(&r->process.shared->bytes);
	int rc = ptc_states_get(&r->states, b, err);

	if (rc)
		return rc;
	if (complete < b->len - before)
		b->len = before + complete;
	*ret += r->process.shared->crashes;
	return 0;
}

/* Returns the number of processes that pt-stacks had not finished. */
static size_t unfinished(const struct ptc_live_targets *t, const struct ptc_step_shared *sh)
{
	size_t i;

	for (i = 0; sh && i < t->npids; i++)
		if (t->pids[i] == sh->pid)
			return t->npids - i;
	return t->npids;
}

static void note_missing(struct ptc_live_missing *m, uint64_t n, const struct ptc_err *why)
{
	if (!m->n && n)
		m->first = *why;
	m->n += n;
}

static int read_states(struct reading *r, struct ptc_buf *b, uint64_t *ret,
		       struct ptc_live_missing *missing, struct ptc_err *err)
{
	const struct ptc_step_body body = {
		.name = "pt-stacks", .run = run_stacks_process, .orphan = orphan, .ctx = r
	};
	const struct ptc_step_shared *sh;
	struct ptc_err ignored;
	int rc = ptc_step_process_init(&r->process, err);

	if (!rc)
		rc = ptc_states_open(&r->states, err);
	if (!rc)
		rc = ptc_step_process_start(&r->process, &body, err);
	if (rc)
		return rc;
	sh = r->process.shared;
	rc = await_stacks(&r->process, r->targets->caller, err);
	if (!rc && sh->rc) {
		*err = sh->err;
		rc = sh->rc;
	}
	if (missing)
		note_missing(missing, sh->untraced, &sh->err);
	if (!rc)
		return get_states(r, b, ret, err);
	if (missing && rc == PTC_E_IO && get_states(r, b, ret, &ignored) == PTC_E_NO_MEMORY)
		return ptc_fail_mem(err);
	return rc;
}

int ptc_live_process_read(struct ptc_buf *b, const struct ptc_live_targets *t, uint64_t *ret,
			  struct ptc_live_missing *missing, struct ptc_err *err)
{
	struct reading r = { .targets = t,
			     .may_fail = missing != NULL,
			     .process = PTC_STEP_PROCESS_INIT,
			     .states = PTC_STATES_INIT };
	int rc = read_states(&r, b, ret, missing, err);

	if (missing && rc && rc != PTC_E_NO_MEMORY) {
		note_missing(missing, unfinished(t, r.process.shared), err);
		rc = 0;
	}
	ptc_step_process_release(&r.process);
	ptc_states_release(&r.states);
	return rc;
}
