/* SPDX-License-Identifier: MIT */
/* Opens the kernel's source: checks the options, and opens events for the targets. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/perf/perf.h"

#include "base/err.h"
#include "capture/perf/attach.h"
#include "capture/perf/event_attrs.h"
#include "capture/perf/event_rings.h"
#include "capture/perf/filter.h"
#include "capture/perf/sampler.h"

enum {
	DATA_DEFAULT = 512 << 10,
	AUX_DEFAULT = 4 << 20,
	/* Sizes that perf_event_mlock_kb permits every user; also perf's defaults. */
	DATA_UNPRIVILEGED = 256 << 10,
	AUX_UNPRIVILEGED = 128 << 10,
};

/* --- targets --- */

static int open_cgroup(struct ptc_perf *p, struct ptc_err *err)
{
	char *path;
	int rc = ptc_tasks_cgroup("/proc", p->opts->target.cgroup, &path, err);

	if (rc)
		return rc;
	p->cgroup_fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	if (p->cgroup_fd < 0)
		rc = ptc_fail_sys(err, errno, "cannot open the cgroup '%s'", path);
	free(path);
	p->set.flags = PERF_FLAG_PID_CGROUP;
	return rc;
}

/*
 * Adds rings for CPUs that may come online. If the present CPUs are unknown, a CPU that comes
 * online counts as a loss.
 */
static int add_spare(struct ptc_perf *p, struct ptc_err *err)
{
	struct ptc_cpus present = PTC_CPUS_INIT;
	int rc = 0;

	if (!p->opts->target.cpus && !ptc_cpus_present(&present, "", err))
		rc = ptc_rings_spare(&p->set, &present, err);
	ptc_cpus_release(&present);
	return rc;
}

/* Adds events for whole CPUs, or for a cgroup on them. */
static int add_cpus(struct ptc_perf *p, struct ptc_err *err)
{
	int rc = p->opts->target.cgroup ? open_cgroup(p, err) : 0;

	p->set.ntargets = 1;
	if (!rc)
		rc = ptc_set_add(&p->set, p->cgroup_fd, false, err);
	if (rc == 1)
		ptc_set_enable_side(&p->set);
	return rc < 0 ? rc : add_spare(p, err);
}

static int add_command(struct ptc_perf *p, struct ptc_err *err)
{
	int rc;

	p->set.ntargets = 1;
	rc = ptc_set_add(&p->set, p->pid, false, err);
	if (!rc)
		return ptc_fail(err, PTC_E_NOT_EXIST, "process %d has ended", (int)p->pid);
	return rc < 0 ? rc : 0;
}

static int add_targets(struct ptc_perf *p, struct ptc_err *err)
{
	const struct ptc_record_opts *o = p->opts;
	int rc = 0;

	if (o->target.argv)
		rc = ptc_launch_fork(&p->launch, o->target.argv, o->target.sigmask, &p->pid, err);
	if (rc)
		return rc;
	if (ptc_attrs_by_cpu(o))
		return add_cpus(p, err);
	if (o->target.argv)
		return add_command(p, err);
	rc = ptc_attach(&p->set, o, &p->processes, err);
	p->pid = p->processes.n ? p->processes.items[0] : 0;
	return rc;
}

static int watch_end(struct ptc_perf *p, struct ptc_err *err)
{
	struct epoll_event ev = { .events = EPOLLIN };

	p->left_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->end_fd = epoll_create1(EPOLL_CLOEXEC);
	if (p->opts->target.argv)
		p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (p->left_fd < 0 || p->end_fd < 0 || (p->opts->target.argv && p->pidfd < 0) ||
	    (p->pidfd >= 0 && epoll_ctl(p->end_fd, EPOLL_CTL_ADD, p->pidfd, &ev)) ||
	    epoll_ctl(p->end_fd, EPOLL_CTL_ADD, p->left_fd, &ev))
		return ptc_fail_sys(err, errno, "cannot watch process %d", (int)p->pid);
	return 0;
}

/* --- the whole source --- */

static int check_opts(const struct ptc_record_opts *o, struct ptc_err *err)
{
	if (ptc_attrs_by_cpu(o) && (o->target.npids || o->target.ntids))
		return ptc_fail(err, PTC_E_USAGE,
				"CPUs or a cgroup cannot be combined with processes or threads");
	if (o->target.per_thread && ptc_attrs_by_cpu(o))
		return ptc_fail(err, PTC_E_USAGE,
				"--per-thread cannot be combined with CPUs or a cgroup");
	if ((o->snapshot.crash || o->snapshot.on_signals || o->snapshot.nat) && ptc_attrs_by_cpu(o))
		return ptc_fail(err, PTC_E_USAGE,
				"signals and places need a process (-p) or a command, not CPUs or "
				"a cgroup");
	if (!o->target.argv && !ptc_attrs_by_cpu(o) && !o->target.npids && !o->target.ntids)
		return ptc_fail(err, PTC_E_USAGE, "nothing to record");
	return 0;
}

static int set_sizes(struct ptc_perf *p, struct ptc_err *err)
{
	const bool privileged = !geteuid();
	const struct ptc_record_opts *o = p->opts;
	const size_t aux = o->rings.aux_size ? o->rings.aux_size :
			   o->lbr.aux_sample ? ptc_sampler_ring(o->lbr.aux_sample) :
			   privileged	     ? (size_t)AUX_DEFAULT :
					       (size_t)AUX_UNPRIVILEGED;

	p->set.data_size = o->rings.data_size ? o->rings.data_size :
			   privileged	      ? (size_t)DATA_DEFAULT :
						(size_t)DATA_UNPRIVILEGED;
	p->set.aux_size = p->event.software ? 0 : aux;
	if (o->lbr.aux_sample > aux)
		return ptc_fail(err, PTC_E_USAGE,
				"a sample cannot be larger than the AUX ring of %zu bytes; use a "
				"larger ring (-m)",
				aux);
	return ptc_source_check_rings(p->set.data_size, aux, err);
}

static int parse_event(struct ptc_perf *p, struct ptc_err *err)
{
	const struct ptc_event_base base = { p->opts->source.no_retcomp,
					     p->opts->source.psb_period };
	const char *text = p->opts->source.event ? p->opts->source.event :
			   p->opts->source.kcore ? "intel_pt//" :
						   PTC_EVENT_DEFAULT;
	int rc = ptc_event_parse(&p->event, text, &base, "", err);

	if (!rc && p->opts->source.kcore && p->event.attr.exclude_kernel)
		return ptc_fail(err, PTC_E_USAGE,
				"--kcore needs kernel trace, but '%s' excludes the kernel; remove "
				"':u' or '/u'",
				text);
	if (!rc && p->event.software && p->opts->snapshot.enabled && !p->opts->snapshot.crash)
		return ptc_fail(err, PTC_E_USAGE, "snapshots need a trace, but '%s' has none",
				text);
	if (!rc && ptc_sampler_wanted(p->opts))
		rc = ptc_sampler_parse(&p->sampler, p->opts, &p->event, "", err);
	return rc;
}

static int make_filter(struct ptc_perf *p, struct ptc_err *err)
{
	int rc;

	if (!p->opts->source.nfilters)
		return 0;
	rc = ptc_filter_check(p->opts, &p->event, err);
	if (!rc)
		rc = ptc_filter_text(p->opts, &p->filter, err);
	if (rc)
		return rc;
	p->set.filter = p->filter;
	if (p->opts->callbacks.on_note)
		p->opts->callbacks.on_note(p->opts->callbacks.note_ctx, p->filter);
	return 0;
}

static int open_all(struct ptc_perf *p, struct ptc_err *err)
{
	int rc = check_opts(p->opts, err);

	if (!rc)
		rc = parse_event(p, err);
	if (!rc)
		rc = make_filter(p, err);
	if (!rc)
		rc = set_sizes(p, err);
	if (!p->opts->target.per_thread) /* per_thread events belong to no CPU */
		ptc_hotplug_listen(&p->hotplug);
	if (!rc)
		rc = ptc_cpus_choose(&p->set.cpus, p->opts->target.cpus, "", err);
	if (rc)
		return rc;
	ptc_clock_init(&p->clock);
	p->set.event = &p->event;
	p->set.may_exclude = !p->event.modified && !ptc_filter_kernel(p->opts) &&
			     !p->opts->source.kcore;
	p->set.overwrite = p->opts->snapshot.enabled || p->opts->lbr.aux_sample;
	p->set.sampler = p->sampler.name;
	p->set.per_thread = p->opts->target.per_thread;
	p->set.note = p->opts->callbacks.on_note;
	p->set.note_ctx = p->opts->callbacks.note_ctx;
	ptc_attrs_fill(&p->set, p->opts, &p->sampler);
	rc = add_targets(p, err);
	if (rc)
		return rc;
	p->ids = ptc_set_ids(&p->set, &p->nids);
	p->restarts = calloc(p->set.nrings + 1, sizeof(*p->restarts));
	if (!p->ids || !p->restarts)
		return ptc_fail_mem(err);
	if (p->hotplug.fd >= 0)
		rc = ptc_set_wake_for(&p->set, p->hotplug.fd, err);
	if (!rc)
		rc = ptc_set_keep_on(&p->set, err);
	return rc ? rc : watch_end(p, err);
}

int ptc_perf_open(const struct ptc_record_opts *opts, struct ptc_source **ret, struct ptc_err *err)
{
	struct ptc_perf *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return ptc_fail_mem(err);
	p->base.ops = &ptc_perf_ops;
	p->opts = opts;
	p->cgroup_fd = p->pidfd = p->left_fd = p->end_fd = -1;
	p->launch = (struct ptc_launch)PTC_LAUNCH_INIT;
	p->trigger = (struct ptc_trigger)PTC_TRIGGER_INIT;
	p->hotplug = (struct ptc_hotplug)PTC_HOTPLUG_INIT;
	ptc_set_init(&p->set);
	rc = open_all(p, err);
	if (rc) {
		ptc_perf_ops.free(&p->base);
		return rc;
	}
	*ret = &p->base;
	return 0;
}
