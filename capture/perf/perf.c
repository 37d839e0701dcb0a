/* SPDX-License-Identifier: MIT */
/*
 * The kernel as a source, through perf_event_open: Intel PT, any other PMU with an AUX area, or
 * sideband records only. Written for the ABI of include/uapi/linux/perf_event.h and
 * perf_event_open(2). README.md, "Limits", names the machines on which it was tested.
 * doc/adr/0013-events-rings-and-targets.md describes the events and their rings.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/perf/perf.h"

#include "base/err.h"
#include "capture/perf/event_attrs.h"
#include "capture/perf/synthesize.h"
#include "capture/perf/synthesize_kernel.h"

static struct ptc_perf *of(struct ptc_source *s)
{
	return (struct ptc_perf *)s; /* base is the first member */
}

static uint64_t who_runs(const struct ptc_perf *p)
{
	const struct perf_event_attr *side = &p->set.attr[p->set.nevents - 1];

	if (!side->context_switch)
		return 0;
	return ptc_attrs_by_cpu(p->opts) ? 3 : 2;
}

static void perf_describe(struct ptc_source *src, struct ptc_source_desc *ret)
{
	const struct ptc_perf *p = of(src);

	memset(ret, 0, sizeof(*ret));
	memcpy(ret->attr, p->set.attr, sizeof(ret->attr));
	ret->name[0] = p->event.name;
	ret->name[1] = p->sampler.name;
	ret->name[p->set.nevents > 2 ? 2 : 1] = "dummy:u";
	ret->nevents = p->set.nevents;
	ret->ids = p->ids;
	ret->nids = p->nids;
	ret->proc = "/proc";
	ret->label = p->event.intel_pt ? "Intel PT" : p->event.name;
	ret->no_info = !p->event.intel_pt;
	ret->keep_vdso = p->event.intel_pt && !ptc_attrs_by_cpu(p->opts);
	ret->info = (struct ptc_pt_info){
		.type = PTC_AUXTRACE_TYPE_INTEL_PT,
		.pmu_type = p->event.attr.type,
		.time = p->clock.conv,
		/* the kernel uses its own clock for records */
		.cap_user_time_zero = p->clock.kernel,
		.have_sched_switch = p->opts->target.per_thread ? 0 : who_runs(p),
		.per_cpu_mmaps = !p->opts->target.per_thread,
		.tsc_ctc_n = p->event.pmu.tsc_ctc_n,
		.tsc_ctc_d = p->event.pmu.tsc_ctc_d,
		.max_nonturbo_ratio = p->event.pmu.max_nonturbo_ratio,
		.filter = p->filter ? p->filter : "",
		.cap_event_trace = ptc_pmu_cap(&p->event.pmu, "event_trace", 0) != 0,
	};
	ptc_source_config_masks(&ret->info);
}

static size_t perf_rings(struct ptc_source *src, const struct ptc_source_ring **ret)
{
	*ret = of(src)->set.rings;
	return of(src)->set.nrings;
}

/* Records a CPU that came online. The new ids are needed to assign its records to events. */
static int record_again(void *ctx, int cpu, struct ptc_err *err)
{
	struct ptc_perf *p = ctx;
	int rc = ptc_set_again(&p->set, p->cgroup_fd, cpu, !p->paused, err);

	if (!rc)
		rc = ptc_cpus_add(&p->set.cpus, cpu, err);
	if (rc)
		return rc;
	p->ids = ptc_set_ids(&p->set, &p->nids);
	return p->ids ? 0 : ptc_fail_mem(err);
}

static uint64_t read_perf_clock_ns(void *ctx)
{
	return ptc_clock_ns(&((struct ptc_perf *)ctx)->clock);
}

static struct ptc_hotplug_whose whose_cpus(struct ptc_perf *p)
{
	return (struct ptc_hotplug_whose){
		.among = p->opts->target.cpus ? &p->set.cpus : NULL,
		.mine = &p->set.cpus,
		.tasks = !ptc_attrs_by_cpu(p->opts),
		.places = p->opts->snapshot.nat != 0,
		.again = p->stopped ? NULL : record_again,
		.now_ns = read_perf_clock_ns,
		.ctx = p,
		.note = p->opts->callbacks.on_note,
		.note_ctx = p->opts->callbacks.note_ctx,
	};
}

/* Handles wakeups of ring @i. When all attached targets have ended, so does the recording. */
static void perf_waken(struct ptc_source *src, size_t i)
{
	struct ptc_perf *p = of(src);
	const bool more = ptc_set_reap(&p->set, i);

	if (more)
		ptc_set_on_again(&p->set);
	if (more && !p->failed.code) {
		const struct ptc_hotplug_whose whose = whose_cpus(p);

		(void)ptc_hotplug_follow(&p->hotplug, &whose, &p->failed);
	}
	if (!p->set.live && !p->opts->target.argv)
		(void)eventfd_write(p->left_fd, 1);
}

/* A full AUX ring has stopped the trace (TRUNCATED): restart it. */
static void perf_drained(struct ptc_source *src, size_t i, bool stopped)
{
	struct ptc_perf *p = of(src);

	if (!stopped || p->stopped)
		return;
	ptc_set_restart_ring(&p->set, i);
	p->restarts[i]++;
}

static void perf_account(struct ptc_source *src, size_t i, struct ptc_ledger_ring *ret)
{
	ret->restarts = of(src)->restarts[i];
}

static int put_running(struct ptc_perf *p, struct ptc_buf *b, struct ptc_err *err)
{
	const struct perf_event_attr *side = &p->set.attr[p->set.nevents - 1];
	const struct ptc_running r = {
		.proc = "/proc",
		.sample_type = side->sample_type,
		.id = p->set.slots[0].id[p->set.nevents - 1],
		.build_ids = side->build_id,
		.vdso = !p->event.software && !ptc_attrs_by_cpu(p->opts),
	};
	int rc = 0;
	size_t i;

	if (ptc_attrs_by_cpu(p->opts))
		rc = ptc_tasks_processes(&p->processes, "/proc", err);
	for (i = 0; rc >= 0 && i < p->processes.n; i++)
		rc = ptc_running_put(b, &r, p->processes.items[i], err);
	return rc < 0 ? rc : 0;
}

/* Writes the kernel's mappings. For a user who may not see them, only a note is written. */
static int put_kernel(struct ptc_perf *p, struct ptc_buf *b, struct ptc_err *err)
{
	const size_t side = p->set.nevents - 1;
	const struct ptc_kernelmap m = {
		.root = "",
		.sample_type = p->set.attr[side].sample_type,
		.id = p->set.nslots ? p->set.slots[0].id[side] : 0,
	};
	int rc;

	if (p->set.attr[0].exclude_kernel)
		return 0;
	rc = ptc_kernelmap_put(b, &m, err);
	if (rc != PTC_E_PERM && rc != PTC_E_NOT_EXIST)
		return rc;
	if (p->opts->callbacks.on_note)
		p->opts->callbacks.on_note(p->opts->callbacks.note_ctx, err->msg);
	return 0;
}

static int perf_prepare(struct ptc_source *src, struct ptc_buf *b, struct ptc_err *err)
{
	struct ptc_perf *p = of(src);
	int rc = put_kernel(p, b, err);

	if (rc || p->set.attr[0].enable_on_exec) /* at its exec the kernel writes these records */
		return rc;
	rc = put_running(p, b, err);
	if (!rc)
		ptc_set_enable(&p->set);
	return rc;
}

static int perf_start(struct ptc_source *src, pid_t *ret_pid, struct ptc_err *err)
{
	struct ptc_perf *p = of(src);
	int rc;

	*ret_pid = p->pid;
	rc = ptc_trigger_start(&p->trigger, p->opts, &p->clock, &p->set.cpus,
			       p->opts->target.argv ? p->pid : 0, err);
	if (rc || !p->opts->target.argv)
		return rc;
	rc = ptc_launch_let_go(&p->launch, err);
	if (!rc)
		rc = ptc_launch_result(&p->launch, false, err);
	if (rc)
		p->reaped = true;
	return rc;
}

static int perf_end_fd(struct ptc_source *src)
{
	return of(src)->end_fd;
}

static void perf_quiesce(struct ptc_source *src)
{
	of(src)->stopped = true;
	ptc_set_disable_all(&of(src)->set);
	(void)ptc_set_moved(&of(src)->set);
}

static void perf_stop(struct ptc_source *src)
{
	struct ptc_perf *p = of(src);

	ptc_watch_leave(&p->trigger.watch);
	if (!p->stopped)
		perf_quiesce(src);
	if (!p->opts->target.argv)
		(void)eventfd_write(p->left_fd, 1);
}

static void perf_leave(struct ptc_source *src)
{
	perf_stop(src);
	(void)eventfd_write(of(src)->left_fd, 1);
}

/* Disables each event separately. Each is off when its ioctl returns. Sideband records continue. */
static bool perf_pause(struct ptc_source *src)
{
	of(src)->paused = true;
	if (of(src)->opts->snapshot.series) /* perf_went_on repeats it after the copy */
		ptc_set_disable_once(&of(src)->set);
	else
		ptc_set_disable(&of(src)->set);
	(void)ptc_set_moved(&of(src)->set);
	ptc_trigger_pause(&of(src)->trigger);
	return true;
}

/*
 * A new thread may have inherited an enabled event (see each() in event_set.c). A thread runs only
 * after the kernel has linked its events to the original events. So one pass over all events finds
 * each event that has traced during the copy. Disabling it moves the AUX head. An event that is
 * linked later traces later, and cannot spoil the copy.
 */
static bool perf_went_on(struct ptc_source *src)
{
	if (of(src)->stopped)
		ptc_set_disable_all(&of(src)->set);
	else
		ptc_set_disable_once(&of(src)->set);
	return ptc_set_moved(&of(src)->set);
}

static void perf_resume(struct ptc_source *src)
{
	of(src)->paused = false;
	if (!of(src)->stopped)
		ptc_set_enable(&of(src)->set);
	ptc_trigger_resume(&of(src)->trigger);
}

static int perf_held_fd(struct ptc_source *src)
{
	return ptc_trigger_fd(&of(src)->trigger);
}

static bool perf_asks(struct ptc_source *src)
{
	return ptc_trigger_asks(&of(src)->trigger);
}

static uint64_t perf_behind(struct ptc_source *src)
{
	return of(src)->trigger.behind_ns;
}

static int perf_states(struct ptc_source *src, struct ptc_buf *b, struct ptc_err *err)
{
	return ptc_states_take(&of(src)->trigger.watch.states, b, err);
}

static void perf_part(struct ptc_source *src)
{
	struct ptc_err ignored; /* finish reports it */

	(void)ptc_watch_end(&of(src)->trigger.watch, &ignored);
}

static void perf_abandon(struct ptc_source *src)
{
	(void)src; /* the kernel never waits for us */
}

static int perf_finish(struct ptc_source *src, struct ptc_source_end *ret, struct ptc_err *err)
{
	struct ptc_perf *p = of(src);
	const struct ptc_hotplug_whose whose = whose_cpus(p);
	struct ptc_set_counts counts;
	pid_t got;
	int rc;

	memset(ret, 0, sizeof(*ret));
	ret->unwatched = ptc_watch_end(&p->trigger.watch, err) != 0;
	if (ret->unwatched && p->opts->callbacks.on_note)
		p->opts->callbacks.on_note(p->opts->callbacks.note_ctx, err->msg);
	ret->crashes = p->trigger.watch.crashes;
	ret->handled = p->trigger.watch.handled;
	ret->unseen = p->trigger.unseen;
	ret->unmet = p->opts->snapshot.nat && !p->trigger.came;
	rc = p->failed.code;
	if (rc)
		*err = p->failed;
	else
		rc = ptc_hotplug_follow(&p->hotplug, &whose, err);
	ptc_hotplug_tell(&p->hotplug, &whose);
	ret->missed_cpus = p->hotplug.came.n;
	ret->late_cpus = ptc_hotplug_late(&p->hotplug);
	ptc_set_counts(&p->set, &counts);
	ret->enabled_ns = counts.enabled_ns;
	ret->running_ns = counts.running_ns;
	ret->unscheduled = counts.unscheduled;
	ret->failed = counts.failed + p->set.ended_badly;
	ret->lost_records = counts.lost;
	free(p->events);
	p->events = counts.events;
	ret->events = p->events;
	ret->nevents = counts.nevents;
	ret->follows = !p->opts->target.per_thread;
	if (!p->opts->target.argv) {
		ret->left_running = p->set.live != 0;
		return rc;
	}
	got = waitpid(p->pid, &p->status, WNOHANG);
	if (got < 0)
		return ptc_fail_sys(err, errno, "cannot wait for process %d", (int)p->pid);
	p->reaped = got == p->pid;
	ret->status = p->status;
	ret->left_running = !p->reaped;
	return rc;
}

static void perf_free(struct ptc_source *src)
{
	struct ptc_perf *p = of(src);

	if (!src)
		return;
	/* first: the watcher would hide the child's end from us */
	ptc_trigger_release(&p->trigger);
	ptc_launch_release(&p->launch); /* ends a child that still waits */
	ptc_set_release(&p->set);
	ptc_hotplug_release(&p->hotplug);
	ptc_tids_release(&p->processes);
	free(p->filter);
	free(p->events);
	free(p->restarts);
	if (p->cgroup_fd >= 0)
		(void)close(p->cgroup_fd);
	if (p->end_fd >= 0)
		(void)close(p->end_fd);
	if (p->left_fd >= 0)
		(void)close(p->left_fd);
	if (p->pidfd >= 0)
		(void)close(p->pidfd);
	free(p);
}

const struct ptc_source_ops ptc_perf_ops = {
	.describe = perf_describe,
	.rings = perf_rings,
	.prepare = perf_prepare,
	.waken = perf_waken,
	.quiesce = perf_quiesce,
	.drained = perf_drained,
	.account = perf_account,
	.start = perf_start,
	.end_fd = perf_end_fd,
	.pause = perf_pause,
	.went_on = perf_went_on,
	.resume = perf_resume,
	.held_fd = perf_held_fd,
	.asks = perf_asks,
	.behind = perf_behind,
	.stop = perf_stop,
	.leave = perf_leave,
	.abandon = perf_abandon,
	.finish = perf_finish,
	.part = perf_part,
	.states = perf_states,
	.free = perf_free,
};
