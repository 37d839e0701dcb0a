/* SPDX-License-Identifier: MIT */
#include "capture/perf/breakpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"
#include "capture/host/debugreg_probe.h"
#include "capture/host/place_lookup.h"
#include "capture/host/tasks.h"
#include "capture/perf/open_error_text.h"
#include "capture/rings/barrier.h"

#include <linux/hw_breakpoint.h>

enum {
	DATA_SIZE = 4096,
	RING_SIZE = 4096 + DATA_SIZE,
	TIME_AT = sizeof(struct perf_event_header), /* the only sampled field */
};

/* Parameters for opening events. */
struct opening {
	struct ptc_breakpoints *b;
	const struct ptc_opener *opener;
	const struct ptc_cpus *cpus;
	struct perf_event_attr attr;
	struct ptc_tids done;
};

static void set_attr(struct perf_event_attr *a, bool on_exec)
{
	*a = (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(*a),
		.sample_type = PERF_SAMPLE_TIME,
		.bp_type = HW_BREAKPOINT_X,
		.bp_len = sizeof(long), /* the size that x86 requires for execution breakpoints */
		.wakeup_events = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = on_exec,
		.enable_on_exec = on_exec,
	};
	a->size = ptc_perf_attr_size(a);
}

/* The first event of a CPU maps the ring. The others write into it. */
static int join_ring(struct opening *o, size_t cpu, int fd, struct ptc_err *err)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct ptc_breakpoints *b = o->b;
	void *map;

	if (b->leaders[cpu] >= 0) {
		if (!ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, b->leaders[cpu]))
			return 0;
		return ptc_fail_sys(err, errno,
				    "cannot redirect breakpoint events to their ring buffer");
	}
	map = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return ptc_explain_mmap(err, errno, "breakpoints", RING_SIZE, o->cpus->n);
	b->rings[cpu] = map;
	b->leaders[cpu] = fd;
	if (epoll_ctl(b->epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		return ptc_fail_sys(err, errno, "cannot wait for breakpoints");
	return 0;
}

static int refuse(const struct perf_event_attr *a, int sys, size_t fds, struct ptc_err *err)
{
	if (sys == ENOSPC)
		return ptc_fail(err, PTC_E_BUSY,
				"no free hardware breakpoint for 0x%llx (--at): a debugger or "
				"another tracer uses them",
				(unsigned long long)a->bp_addr);
	if (sys == EOPNOTSUPP || sys == ENOENT || sys == ENODEV)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"this machine does not support breakpoint events (--at)");
	return ptc_explain_open(err, sys, "a breakpoint (--at)", fds);
}

/* Opens a breakpoint for thread @tid on one CPU. */
static int open_one(struct opening *o, pid_t tid, size_t cpu, struct ptc_err *err)
{
	const struct ptc_perf_where at = { .pid = tid,
					   .cpu = o->cpus->items[cpu],
					   .flags = PERF_FLAG_FD_CLOEXEC };
	struct ptc_breakpoints *b = o->b;
	int fd;

	if (o->opener == &ptc_opener_kernel && !ptc_hwbreak_works())
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"hardware breakpoints do not work on this (virtual) machine: its "
				"debug registers stop no thread (--at)");
	if (!ptc_vec_reserve((void **)&b->fds, &b->fds_cap, b->nfds + 1, sizeof(*b->fds)))
		return ptc_fail_mem(err);
	fd = o->opener->open(o->opener->ctx, &o->attr, &at);
	if (fd == -ESRCH) /* the thread has ended */
		return 0;
	if (fd < 0)
		return refuse(&o->attr, -fd, b->nfds, err);
	b->fds[b->nfds++] = fd;
	return join_ring(o, cpu, fd, err);
}

static int open_place(struct opening *o, const struct ptc_crossing *c, const struct ptc_maps *maps,
		      pid_t tid, struct ptc_err *err)
{
	const struct ptc_placed placed = ptc_placed_of(&c->place);
	size_t cpu;
	int rc = 0;

	o->attr.bp_addr = ptc_placed_at(&placed, maps);
	o->attr.sample_period = c->count ? c->count : 1;
	if (!o->attr.bp_addr)
		return ptc_fail(err, PTC_E_NOT_EXIST,
				"process %d does not map '%.100s', the file of a place (--at)",
				(int)tid, c->place.file);
	for (cpu = 0; !rc && cpu < o->cpus->n; cpu++)
		rc = open_one(o, tid, cpu, err);
	return rc;
}

/* Watches all places for @tid. @maps belong to its process. */
static int open_thread(struct opening *o, const struct ptc_record_opts *opts,
		       const struct ptc_maps *maps, pid_t tid, struct ptc_err *err)
{
	size_t i;
	int rc = ptc_tids_add(&o->done, tid) ? 0 : ptc_fail_mem(err);

	for (i = 0; !rc && i < opts->snapshot.nat; i++)
		rc = open_place(o, &opts->snapshot.at[i], maps, tid, err);
	return rc;
}

/*
 * Watches all threads of @pid, or (@one) only @pid itself. Threads that a watched thread creates
 * inherit the events.
 */
static int open_threads(struct opening *o, const struct ptc_record_opts *opts, pid_t pid, bool one,
			struct ptc_err *err)
{
	struct ptc_tids tids = PTC_TIDS_INIT;
	struct ptc_maps maps = PTC_MAPS_INIT;
	size_t before, i;
	int rc = ptc_maps_read(&maps, "/proc", pid, err);

	do {
		before = o->done.n;
		tids.n = 0;
		if (!rc && one)
			rc = ptc_tids_add(&tids, pid) ? 0 : ptc_fail_mem(err);
		else if (!rc)
			rc = ptc_tasks_threads(&tids, "/proc", pid, err);
		for (i = 0; !rc && i < tids.n; i++)
			if (!ptc_tids_have(&o->done, tids.items[i]))
				rc = open_thread(o, opts, &maps, tids.items[i], err);
	} while (!rc && o->done.n > before);
	ptc_maps_release(&maps);
	ptc_tids_release(&tids);
	return rc;
}

/* A place in a file needs an address, which is unknown before the command's exec. */
static int open_command(struct opening *o, const struct ptc_record_opts *opts, pid_t pid,
			struct ptc_err *err)
{
	const struct ptc_maps none = PTC_MAPS_INIT;
	size_t i;

	for (i = 0; i < opts->snapshot.nat; i++)
		if (opts->snapshot.at[i].place.file)
			return ptc_fail(err, PTC_E_USAGE,
					"the address of '%.80s' (--at) is unknown before it runs; "
					"attach with -p, give an address, or use --source step",
					opts->snapshot.at[i].place.file);
	return open_thread(o, opts, &none, pid, err);
}

static int open_all(struct opening *o, const struct ptc_record_opts *opts, pid_t command,
		    struct ptc_err *err)
{
	int rc = command ? open_command(o, opts, command, err) : 0;
	size_t i;

	for (i = 0; !rc && i < opts->target.npids; i++)
		rc = open_threads(o, opts, opts->target.pids[i], false, err);
	for (i = 0; !rc && i < opts->target.ntids; i++)
		rc = open_threads(o, opts, opts->target.tids[i], true, err);
	return rc;
}

int ptc_breakpoints_open(struct ptc_breakpoints *b, const struct ptc_opener *opener,
			 const struct ptc_record_opts *opts, const struct ptc_cpus *cpus,
			 pid_t command, struct ptc_err *err)
{
	struct opening o = { .b = b, .opener = opener, .cpus = cpus, .done = PTC_TIDS_INIT };
	size_t i;
	int rc;

	if (!opts->snapshot.nat)
		return 0;
	b->rings = calloc(cpus->n + 1, sizeof(struct perf_event_mmap_page *));
	b->leaders = calloc(cpus->n + 1, sizeof(*b->leaders));
	if (!b->rings || !b->leaders)
		return ptc_fail_mem(err);
	b->ncpus = cpus->n;
	for (i = 0; i < b->ncpus; i++)
		b->leaders[i] = -1;
	b->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (b->epoll_fd < 0)
		return ptc_fail_sys(err, errno, "cannot wait for breakpoints");
	set_attr(&o.attr, command != 0);
	rc = open_all(&o, opts, command, err);
	ptc_tids_release(&o.done);
	return rc;
}

void ptc_breakpoints_release(struct ptc_breakpoints *b)
{
	size_t i;

	for (i = 0; i < b->ncpus && b->rings; i++)
		if (b->rings[i])
			(void)munmap(b->rings[i], RING_SIZE);
	while (b->nfds)
		(void)close(b->fds[--b->nfds]);
	if (b->epoll_fd >= 0)
		(void)close(b->epoll_fd);
	free(b->rings);
	free(b->leaders);
	free(b->fds);
	*b = (struct ptc_breakpoints)PTC_BREAKPOINTS_INIT;
}

/* The sizes of records are multiples of 8: neither a header nor a time wraps at the ring's end. */
static size_t take_ring(struct perf_event_mmap_page *page, uint64_t *newest)
{
	const uint8_t *data = (const uint8_t *)page + page->data_offset;
	const uint64_t head = ptc_load_head(&page->data_head);
	uint64_t at = page->data_tail, time;
	struct perf_event_header h;
	size_t n = 0;

	for (; at < head; at += h.size) {
		memcpy(&h, data + at % DATA_SIZE, sizeof(h));
		if (h.size < sizeof(h)) /* not written by the kernel */
			break;
		if (h.type != PERF_RECORD_SAMPLE)
			continue;
		memcpy(&time, data + (at + TIME_AT) % DATA_SIZE, sizeof(time));
		*newest = time > *newest ? time : *newest;
		n++;
	}
	ptc_store_tail(&page->data_tail, head);
	return n;
}

size_t ptc_breakpoints_take(struct ptc_breakpoints *b, uint64_t *ret_time_ns)
{
	uint64_t newest = 0;
	size_t i, n = 0;

	for (i = 0; i < b->ncpus; i++)
		if (b->rings[i])
			n += take_ring(b->rings[i], &newest);
	*ret_time_ns = newest;
	return n;
}

bool ptc_breakpoints_pending(const struct ptc_breakpoints *b)
{
	size_t i;

	for (i = 0; i < b->ncpus; i++)
		if (b->rings[i] && ptc_load_head(&b->rings[i]->data_head) != b->rings[i]->data_tail)
			return true;
	return false;
}
