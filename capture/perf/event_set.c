/* SPDX-License-Identifier: MIT */
#include "capture/perf/event_set.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"
#include "capture/perf/event_rings.h"
#include "capture/perf/open_error_text.h"
#include "capture/rings/barrier.h"

enum {
	REAP_AT_ONCE = 64,
	MAIN = 0,
	SAMPLER = 1,	  /* valid if there are three events */
	TIME_SLACK = 100, /* tolerance of 1/100: a full ring disables its own events for a while */
};

static int control(int fd, unsigned long request)
{
	return ioctl(fd, request, 0);
}

/* Returns the index of the sideband event. */
static size_t side(const struct ptc_set *s)
{
	return s->nevents - 1;
}

/* Returns true if @e is the sampling event. */
static bool sampler(const struct ptc_set *s, size_t e)
{
	return e == SAMPLER && e != side(s);
}

void ptc_set_init(struct ptc_set *s)
{
	memset(s, 0, sizeof(*s));
	s->opener = ptc_opener_kernel;
	s->control = control;
	s->cpus = (struct ptc_cpus)PTC_CPUS_INIT;
	s->again = (struct ptc_again)PTC_AGAIN_INIT;
}

static void close_slot(struct ptc_slot *slot)
{
	size_t e;

	for (e = 0; e < PTC_SOURCE_EVENTS; e++)
		if (slot->fd[e] >= 0)
			(void)close(slot->fd[e]);
}

void ptc_set_release(struct ptc_set *s)
{
	size_t i;

	ptc_rings_release(s);
	for (i = 0; i < s->nslots; i++)
		close_slot(&s->slots[i]);
	free(s->slots);
	free(s->ids);
	ptc_again_release(&s->again);
	ptc_cpus_release(&s->cpus);
	ptc_set_init(s);
}

size_t ptc_set_fds(const struct ptc_set *s)
{
	const size_t cpus = s->per_thread ? 1 : s->cpus.n;

	return s->ntargets * cpus * s->nevents + (s->per_thread ? s->ntargets : s->cpus.n);
}

/* --- connecting events to rings --- */

/* Lets the event wake its ring, and reports the event's end. */
static int watch(struct ptc_set *s, const struct ptc_slot *slot, int fd, struct ptc_err *err)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(s->rings[slot->ring].fd, EPOLL_CTL_ADD, fd, &ev))
		return ptc_fail_sys(err, errno, "cannot poll '%s'", s->event->name);
	s->live++;
	return 0;
}

/*
 * Connects a slot to its ring. The first event of a ring maps it. The others redirect their output
 * to that event.
 */
static int connect_slot(struct ptc_set *s, struct ptc_slot *slot, int cpu, struct ptc_err *err)
{
	int owner = -1, rc = 0;
	size_t e, i;

	if (!ptc_rings_find(s, cpu, &slot->ring)) {
		slot->ring = s->nrings;
		owner = slot->fd[MAIN];
		rc = ptc_rings_new(s, slot->tid, cpu, owner, err);
	} else if (!s->rings[slot->ring].page) {
		owner = slot->fd[MAIN];
		rc = ptc_rings_map(s, &s->rings[slot->ring], owner, err);
	}
	for (i = 0; owner < 0 && i < s->nslots; i++) /* the ring's first event */
		if (s->slots[i].ring == slot->ring)
			owner = s->slots[i].fd[MAIN];
	for (e = MAIN; !rc && e < PTC_SOURCE_EVENTS && e <= side(s); e++) {
		if (slot->fd[e] != owner && ioctl(slot->fd[e], PERF_EVENT_IOC_SET_OUTPUT, owner))
			rc = ptc_fail_sys(err, errno, "cannot redirect '%s' to the ring of '%s'%s",
					  sampler(s, e) ? s->sampler : s->event->name,
					  s->event->name,
					  sampler(s, e) ? ": does it trace, too?" : "");
		if (!rc)
			rc = watch(s, slot, slot->fd[e], err);
	}
	if (rc && owner == slot->fd[MAIN] && slot->ring < s->nrings) /* its event is closed too */
		ptc_rings_unmap(s, &s->rings[slot->ring]);
	return rc;
}

/* --- events --- */

/* Returns a descriptor or a negative errno. */
static int open_event(struct ptc_set *s, size_t e, const struct ptc_perf_where *at)
{
	int fd;

	if (s->settled[e])
		return s->opener.open(s->opener.ctx, &s->attr[e], at);
	fd = ptc_perf_negotiate(&s->opener, &s->attr[e], at, !sampler(s, e) && s->may_exclude,
				s->note, s->note_ctx);
	s->settled[e] = fd >= 0;
	return fd;
}

static int refused(const struct ptc_set *s, size_t e, int sys, struct ptc_err *err)
{
	char what[320];

	if (e == MAIN)
		(void)snprintf(what, sizeof(what), "'%s'", s->event->name);
	else if (e == side(s))
		(void)snprintf(what, sizeof(what), "the event for sideband records of '%s'",
			       s->event->name);
	else if (!s->attr[e].branch_sample_type)
		(void)snprintf(what, sizeof(what), "'%s' to sample the trace of '%s'", s->sampler,
			       s->event->name);
	else {
		(void)snprintf(what, sizeof(what), "'%s' for branch stacks", s->sampler);
		return ptc_explain_lbr(err, sys, what, ptc_set_fds(s));
	}
	return ptc_explain_open(err, sys, what, ptc_set_fds(s));
}

/*
 * Opens the events of one slot, the sideband event first. A thread created in between that inherits
 * the tracing event then inherits the sideband event too. A group's leader is opened before its
 * members. Returns 1, 0 (no such thread, or @late and the thread has the events already), or an
 * error.
 */
static int open_slot(struct ptc_set *s, struct ptc_slot *slot, int cpu, bool late,
		     struct ptc_err *err)
{
	const struct ptc_perf_where inside = { .pid = slot->tid, .cpu = cpu, .flags = s->flags };
	/*
	 * For a cgroup, sideband records come from all tasks: a process may enter the cgroup with
	 * all its mappings.
	 */
	const struct ptc_perf_where anywhere = { .pid = -1, .cpu = cpu };
	const bool cgroup = s->flags & PERF_FLAG_PID_CGROUP;
	size_t n;

	for (n = 0; n < s->nevents; n++) {
		const size_t e = n ? n - 1 : side(s);
		struct ptc_perf_where at = cgroup && n == 0 && e != MAIN ? anywhere : inside;

		at.leader = sampler(s, e) && s->grouped ? &slot->fd[MAIN] : NULL;
		slot->fd[e] = open_event(s, e, &at);
		if (slot->fd[e] < 0) {
			const int sys = -slot->fd[e];

			if (sys == ESRCH || (late && sys == EBUSY && e == MAIN))
				return 0;
			return refused(s, e, sys, err);
		}
		if (ioctl(slot->fd[e], PERF_EVENT_IOC_ID, &slot->id[e]))
			return ptc_fail_sys(err, errno, "cannot get the id of '%s'",
					    s->event->name);
		if (e == MAIN && s->filter &&
		    ioctl(slot->fd[e], PERF_EVENT_IOC_SET_FILTER, s->filter))
			return ptc_fail_sys(err, errno,
					    "the kernel does not accept the filter '%s'",
					    s->filter);
	}
	return 1;
}

static int add_slot(struct ptc_set *s, pid_t tid, int cpu, bool late, struct ptc_err *err)
{
	struct ptc_slot slot = { .tid = tid, .fd = { -1, -1, -1 } };
	int rc;

	static_assert(PTC_SOURCE_EVENTS == 3, "fd");
	if (!ptc_vec_reserve((void **)&s->slots, &s->slots_cap, s->nslots + 1, sizeof(*s->slots)))
		return ptc_fail_mem(err);
	rc = open_slot(s, &slot, cpu, late, err);
	if (rc == 1) {
		const int failed = connect_slot(s, &slot, cpu, err);

		rc = failed ? failed : 1;
	}
	if (rc != 1) {
		close_slot(&slot);
		return rc;
	}
	s->slots[s->nslots++] = slot;
	if (s->side_on)
		(void)s->control(slot.fd[side(s)], PERF_EVENT_IOC_ENABLE);
	return 1;
}

int ptc_set_add(struct ptc_set *s, pid_t tid, bool late, struct ptc_err *err)
{
	int any = 0, rc;
	size_t i;

	if (s->per_thread)
		return add_slot(s, tid, -1, late, err);
	for (i = 0; i < s->cpus.n; i++) {
		rc = add_slot(s, tid, s->cpus.items[i], late, err);
		if (rc < 0)
			return rc;
		any |= rc;
	}
	return any;
}

/* --- enabling and disabling --- */

/*
 * DISABLE uses the opposite order of ENABLE. So the last event of a target is enabled only while
 * all its events are: see add_target.
 */
static void each_once(const struct ptc_set *s, size_t e, unsigned long request)
{
	size_t i, k;

	for (i = 0; i < s->nslots; i++) {
		k = request == PERF_EVENT_IOC_DISABLE ? s->nslots - 1 - i : i;
		if (s->slots[k].fd[e] >= 0 && !s->slots[k].over)
			(void)s->control(s->slots[k].fd[e], request);
	}
}

/*
 * Enables or disables twice, because a new task may copy its parent's old state. inherit_event() of
 * Linux 6.1 reads that state before it takes the lock that the ioctl takes. If the parent has
 * swapped its context with a child, no other lock protects the copy. The second ioctl finds the new
 * task, unless its creation waits for memory or a CPU; then a later repetition finds it. Until then
 * the parent can get the wrong state by a context switch between both
 * (perf_event_context_sched_out()). Tasks that it then creates get the wrong state too.
 */
static void each(struct ptc_set *s, size_t e, unsigned long request)
{
	each_once(s, e, request);
	if (!s->attr[e].inherit)
		return;
	each_once(s, e, request);
	if (request == PERF_EVENT_IOC_ENABLE)
		ptc_again_begin(&s->again);
}

static void each_of_ring(const struct ptc_set *s, size_t ring, unsigned long request)
{
	size_t i;

	for (i = 0; i < s->nslots; i++)
		if (s->slots[i].ring == ring && !s->slots[i].over)
			(void)s->control(s->slots[i].fd[MAIN], request);
}

void ptc_set_enable_side(struct ptc_set *s)
{
	s->side_on = true;
	each(s, side(s), PERF_EVENT_IOC_ENABLE);
}

/* Switches the events that are enabled together with the trace. A group follows its leader. */
static void each_tracing(struct ptc_set *s, unsigned long request)
{
	each(s, MAIN, request);
	if (sampler(s, SAMPLER) && !s->grouped)
		each(s, SAMPLER, request);
}

void ptc_set_enable(struct ptc_set *s)
{
	s->main_on = true;
	each_tracing(s, PERF_EVENT_IOC_ENABLE);
}

/*
 * Linux 6.1 to 6.15 may leave the event of a full ring enabled, with PT off. ENABLE alone then does
 * nothing: DISABLE first.
 */
void ptc_set_restart_ring(struct ptc_set *s, size_t ring)
{
	each_of_ring(s, ring, PERF_EVENT_IOC_DISABLE);
	each_of_ring(s, ring, PERF_EVENT_IOC_ENABLE);
	s->main_on = true;
	if (s->attr[MAIN].inherit)
		ptc_again_begin(&s->again);
}

void ptc_set_disable(struct ptc_set *s)
{
	s->main_on = false;
	each_tracing(s, PERF_EVENT_IOC_DISABLE);
}

void ptc_set_disable_once(struct ptc_set *s)
{
	s->main_on = false;
	each_once(s, MAIN, PERF_EVENT_IOC_DISABLE);
	if (sampler(s, SAMPLER) && !s->grouped)
		each_once(s, SAMPLER, PERF_EVENT_IOC_DISABLE);
}

void ptc_set_disable_all(struct ptc_set *s)
{
	ptc_set_disable(s);
	s->side_on = false;
	each(s, side(s), PERF_EVENT_IOC_DISABLE);
}

bool ptc_set_moved(struct ptc_set *s)
{
	bool moved = false;
	size_t i;

	for (i = 0; i < s->nrings; i++) {
		const struct ptc_source_ring *r = &s->rings[i];
		const uint64_t head = r->aux_size && r->page ? ptc_load_head(&r->page->aux_head) :
							       0;

		moved |= head != s->heads[i];
		s->heads[i] = head;
	}
	return moved;
}

/* Skips pinned events: ENABLE would clear their error state, and so hide the error. */
void ptc_set_on_again(struct ptc_set *s)
{
	if (!ptc_again_due(&s->again))
		return;
	if (s->side_on && side(s) != MAIN)
		each_once(s, side(s), PERF_EVENT_IOC_ENABLE);
	if (s->main_on && !s->attr[MAIN].pinned)
		each_once(s, MAIN, PERF_EVENT_IOC_ENABLE);
	if (s->main_on && sampler(s, SAMPLER) && !s->grouped && !s->attr[SAMPLER].pinned)
		each_once(s, SAMPLER, PERF_EVENT_IOC_ENABLE);
}

/* --- a CPU comes online or comes back --- */

/*
 * Disables the ring's old events. If their CPU never went offline, they would write records twice.
 */
static void retire(struct ptc_set *s, size_t ring)
{
	size_t i, e;

	for (i = 0; i < s->nslots; i++) {
		struct ptc_slot *slot = &s->slots[i];

		for (e = 0; slot->ring == ring && !slot->over && e < s->nevents; e++)
			(void)s->control(slot->fd[e], PERF_EVENT_IOC_DISABLE);
		slot->over |= slot->ring == ring;
	}
}

int ptc_set_again(struct ptc_set *s, pid_t tid, int cpu, bool on, struct ptc_err *err)
{
	size_t ring;
	int rc;

	if (!ptc_rings_find(s, cpu, &ring))
		return ptc_fail(err, PTC_E_NOT_EXIST,
				"it did not exist when the recording began and has no ring");
	retire(s, ring);
	rc = add_slot(s, tid, cpu, false, err);
	if (!rc)
		return ptc_fail(err, PTC_E_NOT_EXIST, "nothing to attach to");
	if (rc < 0)
		return rc;
	if (on)
		(void)s->control(s->slots[s->nslots - 1].fd[MAIN], PERF_EVENT_IOC_ENABLE);
	if (on && sampler(s, SAMPLER) && !s->grouped)
		(void)s->control(s->slots[s->nslots - 1].fd[SAMPLER], PERF_EVENT_IOC_ENABLE);
	return 0;
}

enum { NO_EVENT = -1 };

int ptc_set_wake_for(struct ptc_set *s, int fd, struct ptc_err *err)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = NO_EVENT };

	if (epoll_ctl(s->rings[0].fd, EPOLL_CTL_ADD, fd, &ev))
		return ptc_fail_sys(err, errno, "cannot poll for more than the rings");
	return 0;
}

int ptc_set_keep_on(struct ptc_set *s, struct ptc_err *err)
{
	int rc;

	if (!s->attr[MAIN].inherit)
		return 0;
	rc = ptc_again_open(&s->again, err);
	if (!rc)
		rc = ptc_set_wake_for(s, s->again.fd, err);
	if (!rc && s->side_on)
		ptc_again_begin(&s->again);
	return rc;
}

/* --- the end of events --- */

bool ptc_set_reap(struct ptc_set *s, size_t ring)
{
	struct epoll_event ev[REAP_AT_ONCE];
	bool more = false;
	int i, n;

	do {
		int gone = 0;

		n = epoll_wait(s->rings[ring].fd, ev, REAP_AT_ONCE, 0);
		for (i = 0; i < n; i++) {
			more |= ev[i].data.fd == NO_EVENT;
			if (!(ev[i].events & (EPOLLHUP | EPOLLERR)) || ev[i].data.fd == NO_EVENT ||
			    epoll_ctl(s->rings[ring].fd, EPOLL_CTL_DEL, ev[i].data.fd, NULL))
				continue;
			s->live--;
			s->ended_badly += (ev[i].events & EPOLLERR) != 0;
			gone++;
		}
		if (!gone)
			break;
	} while (n == REAP_AT_ONCE);
	return more;
}

const struct ptc_source_id *ptc_set_ids(struct ptc_set *s, size_t *ret_n)
{
	struct ptc_source_id *id;
	size_t i, e;

	free(s->ids);
	s->ids = calloc(s->nslots * s->nevents + 1, sizeof(*s->ids));
	if (!s->ids)
		return NULL;
	id = s->ids;
	for (e = 0; e < s->nevents; e++) {
		for (i = 0; i < s->nslots; i++) {
			const struct ptc_source_ring *r = &s->rings[s->slots[i].ring];

			*id++ = (struct ptc_source_id){
				.event = e,
				.id = s->slots[i].id[e],
				.idx = r->idx,
				.cpu = r->cpu,
				.tid = s->flags ? -1 : s->slots[i].tid,
			};
		}
	}
	*ret_n = (size_t)(id - s->ids);
	return s->ids;
}

/* read_format: value, enabled, running, id, lost (perf_event_open(2)). */
struct reading {
	uint64_t value, enabled, running, id, lost;
};

static struct reading read_event(const struct ptc_set *s, const struct ptc_slot *slot, size_t e,
				 struct ptc_set_counts *ret)
{
	struct reading r = { 0, 0, 0, 0, 0 };
	const ssize_t n = read(slot->fd[e], &r, sizeof(r));

	static_assert(sizeof(r) == 40, "what read(2) gives");
	if (n == 0)
		ret->failed++;
	if (n < (ssize_t)offsetof(struct reading, id))
		r = (struct reading){ 0, 0, 0, 0, 0 };
	if (n < (ssize_t)sizeof(r) || !(s->attr[e].read_format & PERF_FORMAT_LOST))
		r.lost = 0;
	if (ret->events)
		ret->events[ret->nevents++] = (struct ptc_ledger_event){ slot->id[e], r.enabled,
									 r.running, r.lost,
									 n == 0 };
	return r;
}

/* Returns how many slots, one per CPU, belong to the target whose first slot is @first. */
static size_t slots_of_target(const struct ptc_set *s, size_t first)
{
	const pid_t tid = s->slots[first].tid;
	size_t n = 1;

	while (tid >= 0 && !s->flags && first + n < s->nslots && s->slots[first + n].tid == tid)
		n++;
	return n;
}

struct times {
	uint64_t enabled, running;
};

/* Returns true if another user had the PMU. */
static bool pmu_was_busy(const struct times *t)
{
	return t->running < t->enabled - t->enabled / TIME_SLACK;
}

/*
 * Adds up the events of one target: @n slots from @first, one per CPU. An event is enabled all the
 * time, and runs while the target is on its CPU. The last event is enabled only while all are, and
 * it is read first. So the sum of running times is at least the last event's enabled time. If not,
 * the PMU was busy.
 */
static struct times add_target(const struct ptc_set *s, size_t first, size_t n,
			       struct ptc_set_counts *ret)
{
	struct times t = { UINT64_MAX, 0 };
	size_t i, e;

	for (i = first + n; i-- > first;) {
		for (e = 0; e < s->nevents; e++) {
			const struct reading r = read_event(s, &s->slots[i], e, ret);

			ret->lost += r.lost;
			if (e != MAIN)
				continue;
			t.running += r.running;
			if (t.enabled > r.enabled)
				t.enabled = r.enabled;
		}
	}
	ret->enabled_ns += t.enabled;
	ret->running_ns += t.running < t.enabled ? t.running : t.enabled;
	return t;
}

/*
 * Returns true if the target has events of its own only on some CPUs. open_slot() left out the
 * others: the thread inherited them while ptcap opened its creator's events, or the thread ended.
 */
static bool inherits(const struct ptc_set *s, size_t first, size_t n)
{
	return s->slots[first].tid >= 0 && !s->flags && !s->per_thread && n < s->cpus.n;
}

/*
 * The times of inherited events are in the sums of the creator's events. So if a target inherited
 * some of its events, only the sums over all targets show whether the PMU was busy.
 */
void ptc_set_counts(const struct ptc_set *s, struct ptc_set_counts *ret)
{
	struct times t, all = { 0, 0 };
	bool mixed = false;
	size_t i, n;

	memset(ret, 0, sizeof(*ret));
	ret->events = calloc(s->nslots * s->nevents + 1, sizeof(*ret->events));
	for (i = 0; i < s->nslots; i += n) {
		n = slots_of_target(s, i);
		t = add_target(s, i, n, ret);
		all.enabled += t.enabled;
		all.running += t.running;
		ret->unscheduled += pmu_was_busy(&t);
		mixed |= inherits(s, i, n);
	}
	if (mixed)
		ret->unscheduled = pmu_was_busy(&all);
}
