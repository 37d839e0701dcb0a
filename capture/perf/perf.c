/* SPDX-License-Identifier: MIT */
/*
 * Intel PT through perf_event_open: one command, its first thread, one ring
 * pair, full trace. Written to the ABI of include/uapi/linux/perf_event.h and
 * perf_event_open(2); see the README for where it has run.
 *
 * Two events on the thread, as perf makes them: intel_pt, whose ring it is, and
 * a dummy for the side records, redirected into that ring.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/clock.h"
#include "capture/launch.h"
#include "capture/perf/event.h"
#include "capture/perf/explain.h"
#include "capture/source.h"

enum {
	DATA_DEFAULT = 512 << 10,
	AUX_DEFAULT = 4 << 20,
	/* What perf_event_mlock_kb allows everybody: perf's own defaults too. */
	DATA_UNPRIVILEGED = 256 << 10,
	AUX_UNPRIVILEGED = 128 << 10,
};

#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                   \
	 PERF_SAMPLE_IDENTIFIER)

struct perf {
	struct ptc_source base;
	const struct ptc_record_opts *opts;
	struct ptc_event event;
	struct ptc_clock clock;
	struct ptc_launch launch;
	struct perf_event_attr attr[PTC_SOURCE_EVENTS];
	uint64_t id[PTC_SOURCE_EVENTS];
	int fd[PTC_SOURCE_EVENTS]; /* -1: not open */
	void *data;		   /* mappings; NULL: none */
	void *aux;
	size_t data_size, aux_size;
	struct ptc_source_ring desc;
	int pidfd, left_fd, end_fd; /* the command ended; we left it; either (epoll) */
	pid_t pid;
	bool stopped, reaped;
	int status;
};

static struct perf *of(struct ptc_source *s)
{
	return (struct perf *)s; /* base is the first member */
}

static void fill_attrs(struct perf *p)
{
	struct perf_event_attr *pt = &p->attr[0], *side = &p->attr[1];
	size_t i;

	for (i = 0; i < PTC_SOURCE_EVENTS; i++) {
		p->attr[i].size = PERF_ATTR_SIZE_VER5; /* all we use; kernels since 4.2 know it */
		p->attr[i].sample_period = 1;
		p->attr[i].sample_type = SAMPLE_TYPE;
		p->attr[i].read_format = PERF_FORMAT_ID;
		p->attr[i].disabled = 1;
		p->attr[i].enable_on_exec = 1;
		p->attr[i].exclude_kernel = 1;
		p->attr[i].exclude_hv = 1;
		p->attr[i].sample_id_all = 1;
	}
	pt->type = p->event.attr.type;
	pt->config = p->event.attr.config;
	pt->aux_watermark = (uint32_t)(p->aux_size / 4); /* half makes small traces TRUNCATED */
	side->type = PERF_TYPE_SOFTWARE;
	side->config = PERF_COUNT_SW_DUMMY;
	side->mmap = 1;
	side->mmap2 = 1;
	side->comm = 1;
	side->comm_exec = 1;
	side->task = 1;
	side->context_switch = 1;
}

static int open_event(struct perf *p, size_t i, const char *what, struct ptc_err *err)
{
	p->fd[i] = (int)syscall(SYS_perf_event_open, &p->attr[i], p->pid, -1, -1,
				PERF_FLAG_FD_CLOEXEC);
	if (p->fd[i] < 0)
		return ptc_explain_open(err, errno, what);
	if (ioctl(p->fd[i], PERF_EVENT_IOC_ID, &p->id[i]))
		return ptc_fail_sys(err, errno, "cannot get the id of %s", what);
	return 0;
}

/* The data pages first; then where the AUX area will be is written into the page, and it is mapped.
 */
static int map_rings(struct perf *p, struct ptc_err *err)
{
	const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page;
	void *map = mmap(NULL, page_size + p->data_size, PROT_READ | PROT_WRITE, MAP_SHARED,
			 p->fd[0], 0);

	if (map == MAP_FAILED)
		return ptc_explain_mmap(err, errno, "the data ring", page_size + p->data_size);
	p->data = map;
	page = map;
	page->aux_offset = page_size + p->data_size;
	page->aux_size = p->aux_size;
	map = mmap(NULL, p->aux_size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd[0],
		   (off_t)page->aux_offset);
	if (map == MAP_FAILED)
		return ptc_explain_mmap(err, errno, "the AUX ring", p->aux_size);
	p->aux = map;
	p->desc = (struct ptc_source_ring){
		.page = page,
		.data_off = page_size,
		.data_size = p->data_size,
		.aux = p->aux,
		.aux_size = p->aux_size,
		.fd = p->fd[0],
		.tid = p->pid,
		.cpu = -1,
		.id = { p->id[0], p->id[1] },
	};
	return 0;
}

static int watch_end(struct perf *p, struct ptc_err *err)
{
	struct epoll_event ev = { .events = EPOLLIN };

	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	p->left_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->end_fd = epoll_create1(EPOLL_CLOEXEC);
	if (p->pidfd < 0 || p->left_fd < 0 || p->end_fd < 0 ||
	    epoll_ctl(p->end_fd, EPOLL_CTL_ADD, p->pidfd, &ev) ||
	    epoll_ctl(p->end_fd, EPOLL_CTL_ADD, p->left_fd, &ev))
		return ptc_fail_sys(err, errno, "cannot watch process %d", (int)p->pid);
	return 0;
}

static void perf_describe(struct ptc_source *src, struct ptc_source_desc *ret)
{
	const struct perf *p = of(src);

	memset(ret, 0, sizeof(*ret));
	memcpy(ret->attr, p->attr, sizeof(ret->attr));
	ret->name[0] = "intel_pt//u";
	ret->name[1] = "dummy:u";
	ret->label = "Intel PT";
	ret->info = (struct ptc_pt_info){
		.type = PTC_AUXTRACE_TYPE_INTEL_PT,
		.pmu_type = p->event.pmu.type,
		.time = p->clock.conv,
		.cap_user_time_zero =
			p->clock.kernel, /* the kernel stamps records with its own clock */
		.tsc_ctc_n = p->event.pmu.tsc_ctc_n,
		.tsc_ctc_d = p->event.pmu.tsc_ctc_d,
		.max_nonturbo_ratio = p->event.pmu.max_nonturbo_ratio,
		.filter = "",
	};
	ptc_source_config_masks(&ret->info);
}

static size_t perf_rings(struct ptc_source *src, const struct ptc_source_ring **ret)
{
	*ret = &of(src)->desc;
	return 1;
}

/*
 * A full AUX ring stops the trace (TRUNCATED). Linux 6.1 to 6.15 may leave the
 * event enabled with PT off, where ENABLE alone does nothing: DISABLE first.
 */
static void perf_drained(struct ptc_source *src, size_t i, bool stopped)
{
	struct perf *p = of(src);

	(void)i;
	if (!stopped || p->stopped)
		return;
	(void)ioctl(p->fd[0], PERF_EVENT_IOC_DISABLE, 0);
	(void)ioctl(p->fd[0], PERF_EVENT_IOC_ENABLE, 0);
}

static int perf_start(struct ptc_source *src, pid_t *ret_pid, struct ptc_err *err)
{
	struct perf *p = of(src);
	int rc = ptc_launch_let_go(&p->launch, err);

	if (!rc)
		rc = ptc_launch_result(&p->launch, false, err);
	if (!rc)
		*ret_pid = p->pid;
	else
		p->reaped = true;
	return rc;
}

static int perf_end_fd(struct ptc_source *src)
{
	return of(src)->end_fd;
}

static void perf_stop(struct ptc_source *src)
{
	struct perf *p = of(src);
	size_t i;

	if (p->stopped)
		return;
	p->stopped = true;
	for (i = 0; i < PTC_SOURCE_EVENTS; i++)
		(void)ioctl(p->fd[i], PERF_EVENT_IOC_DISABLE, 0);
}

static void perf_leave(struct ptc_source *src)
{
	perf_stop(src);
	(void)eventfd_write(of(src)->left_fd, 1);
}

static void perf_abandon(struct ptc_source *src)
{
	(void)src; /* the kernel does not wait for us */
}

static int perf_finish(struct ptc_source *src, struct ptc_source_end *ret, struct ptc_err *err)
{
	struct perf *p = of(src);
	pid_t got;

	memset(ret, 0, sizeof(*ret));
	got = waitpid(p->pid, &p->status, WNOHANG);
	if (got < 0)
		return ptc_fail_sys(err, errno, "cannot wait for process %d", (int)p->pid);
	p->reaped = got == p->pid;
	ret->status = p->status;
	ret->left_running = !p->reaped;
	return 0;
}

static void perf_free(struct ptc_source *src)
{
	struct perf *p = of(src);
	size_t i;

	if (!src)
		return;
	ptc_launch_release(&p->launch); /* a child that was never let go ends here */
	if (p->aux)
		(void)munmap(p->aux, p->aux_size);
	if (p->data)
		(void)munmap(p->data, (size_t)sysconf(_SC_PAGESIZE) + p->data_size);
	for (i = 0; i < PTC_SOURCE_EVENTS; i++)
		if (p->fd[i] >= 0)
			(void)close(p->fd[i]);
	if (p->end_fd >= 0)
		(void)close(p->end_fd);
	if (p->left_fd >= 0)
		(void)close(p->left_fd);
	if (p->pidfd >= 0)
		(void)close(p->pidfd);
	free(p);
}

static const struct ptc_source_ops perf_ops = {
	.describe = perf_describe,
	.rings = perf_rings,
	.drained = perf_drained,
	.start = perf_start,
	.end_fd = perf_end_fd,
	.stop = perf_stop,
	.leave = perf_leave,
	.abandon = perf_abandon,
	.finish = perf_finish,
	.free = perf_free,
};

int ptc_perf_open(const struct ptc_record_opts *opts, struct ptc_source **ret, struct ptc_err *err)
{
	const bool privileged = !geteuid();
	struct perf *p = calloc(1, sizeof(*p));
	const struct ptc_event_base base = { opts->no_retcomp, opts->psb_period };
	int rc;

	if (!p)
		return ptc_fail_mem(err);
	if (!opts->argv) {
		free(p);
		(void)ptc_fail(err, PTC_E_UNSUPPORTED,
			       "this version cannot attach with Intel PT; --source step can");
		return PTC_E_UNSUPPORTED;
	}
	p->base.ops = &perf_ops;
	p->opts = opts;
	p->fd[0] = p->fd[1] = p->pidfd = p->left_fd = p->end_fd = -1;
	p->launch = (struct ptc_launch)PTC_LAUNCH_INIT;
	p->data_size = opts->data_size ? opts->data_size :
		       privileged      ? (size_t)DATA_DEFAULT :
					 (size_t)DATA_UNPRIVILEGED;
	p->aux_size = opts->aux_size ? opts->aux_size :
		      privileged     ? (size_t)AUX_DEFAULT :
				       (size_t)AUX_UNPRIVILEGED;
	rc = ptc_source_check_rings(p->data_size, p->aux_size, err);
	if (!rc)
		rc = ptc_event_parse(&p->event, PTC_EVENT_DEFAULT, &base, "", err);
	if (!rc)
		rc = ptc_launch_fork(&p->launch, opts->argv, opts->cmd_sigmask, &p->pid, err);
	if (rc)
		goto out;
	ptc_clock_init(&p->clock);
	fill_attrs(p);
	rc = open_event(p, 0, "the Intel PT event", err);
	if (!rc)
		rc = open_event(p, 1, "the event for side records", err);
	if (!rc)
		rc = map_rings(p, err);
	if (!rc && ioctl(p->fd[1], PERF_EVENT_IOC_SET_OUTPUT, p->fd[0]))
		rc = ptc_fail_sys(err, errno, "cannot send side records into the ring of Intel PT");
	if (!rc)
		rc = watch_end(p, err);
out:
	if (rc) {
		perf_free(&p->base);
		return rc;
	}
	*ret = &p->base;
	return 0;
}
