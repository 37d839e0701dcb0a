/* SPDX-License-Identifier: MIT */
/*
 * A recording: opens the source, drains its rings into the writer until it
 * ends, and accounts for everything. The only loop that reads rings.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "auxtrace/feature.h"
#include "auxtrace/layout.h"
#include "auxtrace/record.h"
#include "base/err.h"
#include "capture/aux.h"
#include "capture/clock.h"
#include "capture/hostinfo.h"
#include "capture/noted.h"
#include "capture/prologue.h"
#include "capture/ring.h"
#include "capture/snapshot.h"
#include "capture/source.h"

enum {
	AUX_NEARLY_FULL = 2 * 4096,
	SNAPSHOT_MIN = 4096,
	ASK_AGAIN_MS = 20, /* a request to stop or leave is repeated until it is heard */
	NS_PER_MS = 1000000,
};

static const uint64_t NEVER = UINT64_MAX;
static const uint64_t PROGRESS_NS = 1000000000;

/* What is polled behind the rings. */
enum { FD_END, FD_WAKE, FD_TRUTH, FD_OTHERS };

enum asked { ASKED_NOTHING, ASKED_STOP, ASKED_LEAVE };

struct ring_pair {
	struct ptc_ring data;
	struct ptc_aux aux;		    /* full trace */
	struct ptc_snapshot snap;	    /* snapshots */
	const struct ptc_source_ring *desc; /* lent by the source */
};

struct session {
	const struct ptc_record_opts *opts;
	struct ptc_source *source; /* owned */
	struct ptc_writer *writer; /* owned until commit */
	struct ptc_source_desc desc;
	struct ring_pair *pairs; /* owned */
	size_t npairs;
	struct pollfd *fds;	   /* owned: the rings', then FD_END... */
	struct ptc_source_id *ids; /* owned; event by event */
	size_t nids;
	struct ptc_buf running; /* records of what ran before us */
	struct ptc_noted noted;
	uint64_t aux_bytes, data_bytes;
	struct ptc_writer_packed packed;
	pid_t pid;
	enum asked asked;
	bool pausing; /* for a snapshot */
	uint64_t snapshots;
	uint64_t start_ns, tell_ns, stop_ns; /* CLOCK_MONOTONIC; NEVER: not */
	bool limited;
	struct ptc_source_choice choice;
};

/* --- before the command runs --- */

static int refuse_for_hardware(const struct ptc_record_opts *o, struct ptc_err *err)
{
	const char *what = o->truth	    ? "tells the truth about itself (--truth)" :
			   o->max_steps	    ? "counts steps (--max-steps)" :
			   o->from || o->to ? "can begin and end at a place (--from, --to)" :
					      NULL;

	if (!what)
		return 0;
	(void)ptc_fail(err, PTC_E_USAGE, "only a software source %s; use --source step", what);
	return PTC_E_USAGE;
}

static int check_snapshot(const struct session *s, enum ptc_source_kind chosen, struct ptc_err *err)
{
	const struct ptc_record_opts *o = s->opts;

	if (!o->snapshot)
		return 0;
	if (o->lossy)
		return ptc_fail(err, PTC_E_USAGE,
				"snapshots are of a ring that is overwritten: there is nothing to "
				"lose (--lossy)");
	if (o->snapshot_size && o->snapshot_size < SNAPSHOT_MIN)
		return ptc_fail(err, PTC_E_USAGE, "a snapshot cannot be smaller than %d bytes",
				SNAPSHOT_MIN);
	if (!s->source->ops->pause)
		return ptc_fail(
			err, PTC_E_USAGE,
			"the %s source takes no snapshots: it cannot pause; use --source emu",
			chosen == PTC_SOURCE_PT ? "Intel PT" : "step");
	return 0;
}

static int refuse_but_for_emu(const struct ptc_record_opts *o, struct ptc_err *err)
{
	const char *what = o->lossy	? "has a choice (--lossy)" :
			   o->vcpus	? "has virtual CPUs (--vcpus)" :
			   o->code_size ? "keeps code (--code-size)" :
					  NULL;

	if (!what)
		return 0;
	return ptc_fail(err, PTC_E_USAGE, "only the emulated source %s; use --source emu", what);
}

static int refuse_but_for_kernel(const struct ptc_record_opts *o, struct ptc_err *err)
{
	const char *what = o->event	 ? "has events (-e)" :
			   o->nfilters	 ? "filters by address (--filter)" :
			   o->all_cpus	 ? "records whole CPUs (-a)" :
			   o->cpus	 ? "knows real CPUs (-C)" :
			   o->cgroup	 ? "knows cgroups (--cgroup)" :
			   o->per_thread ? "has rings for threads (--per-thread)" :
			   o->aux_sample ? "samples a trace (--aux-sample)" :
					   NULL;

	if (!what)
		return 0;
	return ptc_fail(err, PTC_E_USAGE, "only the kernel %s: not a software source", what);
}

static int open_source(struct session *s, struct ptc_record_result *ret, struct ptc_err *err)
{
	int rc = ptc_source_choose(s->opts, &s->choice, err);

	if (rc)
		return rc;
	ret->source = s->choice.kind;
	if (ret->source == PTC_SOURCE_PT)
		rc = refuse_for_hardware(s->opts, err);
	else
		rc = refuse_but_for_kernel(s->opts, err);
	if (!rc && ret->source != PTC_SOURCE_EMU)
		rc = refuse_but_for_emu(s->opts, err);
	if (rc)
		return rc;
	if (ret->source == PTC_SOURCE_PT)
		rc = ptc_perf_open(s->opts, &s->source, err);
	else if (ret->source == PTC_SOURCE_EMU)
		rc = ptc_emu_open(s->opts, &s->source, err);
	else
		rc = ptc_step_open(s->opts, &s->source, err);
	return rc ? rc : check_snapshot(s, ret->source, err);
}

static void tell_start(struct session *s, enum ptc_source_kind chosen)
{
	if (s->opts->on_start)
		s->opts->on_start(s->opts->start_ctx, chosen, s->choice.why);
}

static int map_aux(const struct session *s, struct ring_pair *p, struct ptc_err *err)
{
	const struct ptc_source_ring *d = p->desc;

	if (!d->aux_size)
		return 0;
	if (!s->opts->snapshot)
		return ptc_aux_init(&p->aux, d->page, d->aux, d->aux_size, err);
	if (s->opts->snapshot_size > d->aux_size)
		return ptc_fail(err, PTC_E_USAGE,
				"a snapshot cannot be larger than the AUX ring, %zu bytes (-m)",
				d->aux_size);
	return ptc_snapshot_init(&p->snap, d->page, d->aux, d->aux_size, err);
}

static int map_rings(struct session *s, struct ptc_err *err)
{
	const struct ptc_source_ring *rings;
	size_t i;
	int rc = 0;

	s->npairs = s->source->ops->rings(s->source, &rings);
	s->pairs = calloc(s->npairs, sizeof(*s->pairs));
	s->fds = calloc(s->npairs + FD_OTHERS, sizeof(*s->fds));
	if (!s->pairs || !s->fds)
		return ptc_fail_mem(err);
	for (i = 0; !rc && i < s->npairs; i++) {
		const struct ptc_source_ring *d = &rings[i];

		s->pairs[i].desc = d;
		rc = ptc_ring_init(&s->pairs[i].data, d->page, d->data_off, d->data_size, err);
		if (!rc)
			rc = map_aux(s, &s->pairs[i], err);
		s->fds[i] = (struct pollfd){ .fd = d->fd, .events = POLLIN };
	}
	s->fds[s->npairs + FD_WAKE] = (struct pollfd){ .fd = s->opts->wake_fd, .events = POLLIN };
	s->fds[s->npairs + FD_TRUTH] =
		(struct pollfd){ .fd = s->source->truth ? ptc_truth_fd(s->source->truth) : -1,
				 .events = POLLIN };
	return rc;
}

/* The ids of a source whose events are one of each for a ring. */
static void ids_of_rings(struct session *s)
{
	size_t e, i;

	s->nids = 0;
	for (e = 0; e < s->desc.nevents; e++) {
		for (i = 0; i < s->npairs; i++) {
			const struct ptc_source_ring *d = s->pairs[i].desc;

			s->ids[s->nids++] =
				(struct ptc_source_id){ e, d->id[e], d->idx, d->cpu, d->tid };
		}
	}
}

static int describe(struct session *s, struct ptc_err *err)
{
	s->source->ops->describe(s->source, &s->desc);
	if (!s->desc.nevents)
		s->desc.nevents = PTC_SOURCE_EVENTS_USUAL;
	s->nids = s->desc.ids ? s->desc.nids : s->npairs * s->desc.nevents;
	s->ids = calloc(s->nids + 1, sizeof(*s->ids));
	if (!s->ids)
		return ptc_fail_mem(err);
	if (s->desc.ids)
		memcpy(s->ids, s->desc.ids, s->nids * sizeof(*s->ids));
	else
		ids_of_rings(s);
	if (s->opts->snapshot) {
		s->desc.info.snapshot_mode = true;
		s->desc.attr[0].aux_watermark = 0; /* in overwrite mode there is none */
	}
	ptc_noted_init(&s->noted, s->desc.attr[s->desc.nevents - 1].sample_type);
	s->noted.keep_vdso = s->desc.keep_vdso;
	return 0;
}

static int write_attrs(struct session *s, struct ptc_err *err)
{
	uint64_t *ids = calloc(s->nids, sizeof(*ids));
	size_t i, k, n;
	int rc = 0;

	if (!ids)
		return ptc_fail_mem(err);
	for (i = 0; !rc && i < s->desc.nevents; i++) {
		for (k = 0, n = 0; k < s->nids; k++)
			if (s->ids[k].event == i)
				ids[n++] = s->ids[k].id;
		rc = ptc_writer_attr(s->writer, &s->desc.attr[i], s->desc.name[i], ids, n, err);
	}
	free(ids);
	return rc;
}

/* What ran before us; its files are noted as those of live records are. */
static int prepare(struct session *s, struct ptc_err *err)
{
	struct ptc_seg seg[2] = { { NULL, 0 }, { NULL, 0 } };
	int rc;

	if (!s->source->ops->prepare)
		return 0;
	rc = s->source->ops->prepare(s->source, &s->running, err);
	if (!rc && s->running.len) {
		seg[0] = (struct ptc_seg){ s->running.bytes, s->running.len };
		rc = ptc_noted_scan(&s->noted, seg, err);
		s->noted.forks = 0;
		ptc_buf_reset(&s->noted.pokes); /* they are in there */
	}
	return rc;
}

/* --- what comes before the first live record --- */

static void put_bare(struct ptc_buf *b, uint32_t type)
{
	ptc_rec_end(b, ptc_rec_begin(b, type, 0));
}

static int write_buf(struct session *s, const struct ptc_buf *b, struct ptc_err *err)
{
	return ptc_buf_failed(b) ? ptc_fail_mem(err) :
				   ptc_writer_plain(s->writer, b->bytes, b->len, err);
}

static int write_prologue(struct session *s, struct ptc_err *err)
{
	const struct ptc_prologue p = {
		.desc = &s->desc,
		.ids = s->ids,
		.nids = s->nids,
		.running = &s->running,
		.pid = s->pid,
		.is_command = s->opts->argv != NULL,
	};
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_prologue_put(&b, &p);
	rc = write_buf(s, &b, err);
	ptc_buf_release(&b);
	return rc;
}

/* --- draining --- */

/* Records, and what we know of what they tell of. */
static int write_records(struct session *s, const struct ptc_seg seg[2], struct ptc_err *err)
{
	struct ptc_seg pokes[2] = { { NULL, 0 }, { NULL, 0 } };
	int rc = ptc_noted_scan(&s->noted, seg, err);

	if (!rc)
		rc = ptc_writer_records(s->writer, seg, err);
	if (rc || !s->noted.pokes.len)
		return rc;
	pokes[0] = (struct ptc_seg){ s->noted.pokes.bytes, s->noted.pokes.len };
	rc = ptc_buf_failed(&s->noted.pokes) ? ptc_fail_mem(err) :
					       ptc_writer_records(s->writer, pokes, err);
	ptc_buf_reset(&s->noted.pokes);
	return rc;
}

static void clear_wakeup(const struct ptc_source_ring *d)
{
	uint64_t count;

	if (d->counts)
		(void)!read(d->fd, &count, sizeof(count));
}

static int write_aux(struct session *s, const struct ring_pair *p, uint64_t off,
		     const struct ptc_seg seg[2], struct ptc_err *err)
{
	const struct ptc_auxtrace a = {
		.offset = off,
		.reference = ptc_rdtsc(),
		.idx = p->desc->idx,
		.tid = p->desc->tid,
		.cpu = p->desc->cpu,
	};

	s->aux_bytes += (uint64_t)seg[0].len + seg[1].len;
	return ptc_writer_auxtrace(s->writer, &a, seg, err);
}

/*
 * One ring pair. The AUX head is taken first, then the data ring is emptied,
 * then the AUX bytes up to that head follow: so the record that tells of them
 * is always in the file before them. With snapshots the AUX ring is left alone.
 */
static int drain(struct session *s, struct ring_pair *p, bool last, bool *ret_any,
		 bool *ret_stopped, struct ptc_err *err)
{
	const uint64_t truncated = s->noted.truncated;
	struct ptc_seg data[2], aux[2];
	uint64_t start = 0, end, n = 0;
	int64_t got;
	int rc = 0;

	clear_wakeup(p->desc);
	if (!s->opts->snapshot && p->desc->aux_size)
		n = ptc_aux_read(&p->aux, aux, &start);
	got = ptc_ring_read(&p->data, data, &end, err);
	if (got < 0)
		return (int)got;
	if (got) {
		rc = write_records(s, data, err);
		if (rc)
			return rc;
		s->data_bytes += (uint64_t)got;
		ptc_ring_done(&p->data, end);
	}
	*ret_any = *ret_any || got || n;
	if (s->opts->snapshot || !p->desc->aux_size)
		return 0;
	if (n)
		rc = write_aux(s, p, start, aux, err);
	if (rc)
		return rc;
	ptc_aux_done(&p->aux, start + n, last);
	/* A start that finds the ring full makes no record at all (pt.c, pt_buffer_reset_markers).
	 */
	*ret_stopped = s->noted.truncated != truncated || n + AUX_NEARLY_FULL >= p->desc->aux_size;
	return 0;
}

/* What is new in the AUX rings, which stand still. */
static int write_snapshot(struct session *s, struct ptc_err *err)
{
	const uint64_t bytes = s->aux_bytes;
	struct ptc_seg seg[2];
	uint64_t start;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < s->npairs; i++)
		if (s->pairs[i].desc->aux_size &&
		    ptc_snapshot_read(&s->pairs[i].snap, s->opts->snapshot_size, seg, &start))
			rc = write_aux(s, &s->pairs[i], start, seg, err);
	s->snapshots++;
	if (!rc && s->opts->on_snapshot)
		s->opts->on_snapshot(s->opts->snapshot_ctx, s->snapshots, s->aux_bytes - bytes);
	return rc;
}

/* Every ring once; then a mark that all records before it are older than all behind the next. */
static int drain_all(struct session *s, bool last, bool snapshot, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	bool any = false;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < s->npairs; i++) {
		bool stopped = false;

		if (s->source->ops->waken)
			s->source->ops->waken(s->source, i);
		rc = drain(s, &s->pairs[i], last, &any, &stopped, err);
		s->source->ops->drained(s->source, i, stopped);
	}
	if (!rc && s->source->truth)
		rc = ptc_truth_drain(s->source->truth, s->opts->truth, s->opts->truth_ctx, err);
	if (!rc && snapshot)
		rc = write_snapshot(s, err);
	if (!rc && (any || snapshot)) {
		put_bare(&b, PTC_REC_FINISHED_ROUND);
		rc = write_buf(s, &b, err);
		ptc_buf_release(&b);
	}
	return rc;
}

/* --- while it runs --- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void ask(struct session *s)
{
	if (s->asked == ASKED_STOP)
		s->source->ops->stop(s->source);
	if (s->asked == ASKED_LEAVE)
		s->source->ops->leave(s->source);
}

static int poll_timeout(const struct session *s)
{
	const uint64_t next = s->tell_ns < s->stop_ns ? s->tell_ns : s->stop_ns;
	uint64_t now;

	if (s->asked || s->pausing)
		return ASK_AGAIN_MS;
	if (next == NEVER)
		return -1;
	now = now_ns();
	if (next <= now)
		return 0;
	return next - now > (uint64_t)INT_MAX * NS_PER_MS ? INT_MAX :
							    (int)((next - now) / NS_PER_MS) + 1;
}

static void tell_progress(struct session *s, uint64_t now)
{
	struct ptc_progress p = { .aux_bytes = s->aux_bytes };

	if (s->source->ops->progress)
		s->source->ops->progress(s->source, &p);
	p.elapsed_ns = now - s->start_ns;
	s->opts->on_progress(s->opts->progress_ctx, &p);
	s->tell_ns = now + PROGRESS_NS;
}

static void look_at_clock(struct session *s)
{
	const uint64_t now = s->tell_ns == NEVER && s->stop_ns == NEVER ? 0 : now_ns();

	if (now >= s->tell_ns && !s->asked)
		tell_progress(s, now);
	if (now >= s->stop_ns) {
		s->stop_ns = NEVER;
		s->limited = true;
		if (s->asked < ASKED_STOP)
			s->asked = ASKED_STOP;
	}
}

static void start_clock(struct session *s)
{
	s->start_ns = now_ns();
	s->tell_ns = s->opts->on_progress ? s->start_ns + PROGRESS_NS : NEVER;
	s->stop_ns = s->opts->max_ns ? s->start_ns + s->opts->max_ns : NEVER;
	if (s->stop_ns < s->start_ns) /* beyond all time */
		s->stop_ns = NEVER;
}

static void on_wake(struct session *s)
{
	switch (s->opts->on_wake(s->opts->wake_ctx, s->pid)) {
	case PTC_WAKE_LEAVE:
		s->asked = ASKED_LEAVE;
		break;
	case PTC_WAKE_SNAPSHOT:
		s->pausing = s->opts->snapshot;
		break;
	case PTC_WAKE_GO_ON:
		break;
	}
}

static int poll_once(struct session *s, struct ptc_err *err)
{
	if (poll(s->fds, (nfds_t)s->npairs + FD_OTHERS, poll_timeout(s)) < 0 && errno != EINTR)
		return ptc_fail_sys(err, errno, "cannot poll the rings");
	if (s->fds[s->npairs + FD_WAKE].revents & POLLIN)
		on_wake(s);
	look_at_clock(s);
	ask(s);
	return 0;
}

/* The trace that has ended is the last snapshot; while its end is waited for there is no other. */
static int drain_or_take(struct session *s, bool ended, struct ptc_err *err)
{
	const bool paused = s->pausing && !ended && !s->asked && s->source->ops->pause(s->source);
	const int rc = drain_all(s, ended, paused || (ended && s->opts->snapshot), err);

	if (paused) {
		s->pausing = false;
		s->source->ops->resume(s->source);
	}
	return rc;
}

static int record(struct session *s, struct ptc_err *err)
{
	bool ended = false;
	int rc = write_prologue(s, err);

	s->fds[s->npairs + FD_END] =
		(struct pollfd){ .fd = s->source->ops->end_fd(s->source), .events = POLLIN };
	start_clock(s);
	while (!rc && !ended) {
		rc = poll_once(s, err);
		ended = s->fds[s->npairs + FD_END].revents & (POLLIN | POLLHUP);
		if (ended && s->source->ops->quiesce)
			s->source->ops->quiesce(s->source);
		if (!rc)
			rc = drain_or_take(s, ended, err);
	}
	return rc;
}

/* --- the end --- */

static int write_sample_time(struct session *s, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_feature_put_sample_time(&b, s->noted.first_ns, s->noted.last_ns);
	rc = ptc_buf_failed(&b) ?
		     ptc_fail_mem(err) :
		     ptc_writer_feature(s->writer, PTC_FEAT_SAMPLE_TIME, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}

static int write_features(struct session *s, struct ptc_err *err)
{
	char version[64];
	int rc;

	(void)snprintf(version, sizeof(version), "ptcap " PTCAP_VERSION " (%s)", s->desc.label);
	rc = ptc_hostinfo_write(s->writer, "", version, s->opts->cmdline,
				s->desc.no_info ? 0 : s->desc.info.pmu_type, err);
	if (!rc)
		rc = ptc_noted_write_build_ids(&s->noted, s->writer, err);
	if (!rc)
		rc = write_sample_time(s, err);
	return rc;
}

static void fill_result(const struct session *s, const struct ptc_source_end *end,
			struct ptc_record_result *ret)
{
	struct stat st;
	size_t i;

	ret->status = end->status;
	ret->left_running = end->left_running;
	ret->limited = s->limited || end->limited;
	ret->unreached = end->unreached;
	ret->cut_short = end->cut_short;
	ret->insns = end->insns;
	ret->transfers = end->transfers;
	ret->odd = end->odd;
	ret->untraced = end->follows ? end->untraced : s->noted.forks;
	ret->left_behind = end->left_behind;
	ret->aux_bytes = s->aux_bytes;
	ret->snapshots = s->snapshots;
	ret->data_bytes = s->data_bytes;
	ret->packed_in = s->packed.in;
	ret->packed_out = s->packed.out;
	ret->duration_ns = s->noted.last_ns - s->noted.first_ns;
	ret->truncated = s->noted.truncated;
	ret->partial = s->noted.partial;
	ret->lost_records = s->noted.lost_records > end->lost_records ? s->noted.lost_records :
									end->lost_records;
	ret->lost_aux = end->lost_aux;
	ret->made_aux = end->made_aux;
	ret->throttled = s->noted.throttled;
	ret->collisions = s->noted.collisions;
	ret->samples = s->noted.samples;
	ret->enabled_ns = end->enabled_ns;
	ret->running_ns = end->running_ns;
	ret->unscheduled = end->unscheduled;
	ret->failed = end->failed;
	ret->missed_cpus = end->missed_cpus;
	memcpy(ret->lacking, end->lacking, sizeof(ret->lacking));
	for (i = 0; i < s->npairs; i++)
		ret->lost_aux += s->pairs[i].aux.lost;
	ret->file_bytes = stat(s->opts->output, &st) ? 0 : (uint64_t)st.st_size;
}

/* The recording failed, the command did not: it runs on untraced, and is waited for. */
static void wait_for_command(struct session *s)
{
	struct pollfd fds[2] = { { .fd = -1, .events = POLLIN },
				 { .fd = s->opts->wake_fd, .events = POLLIN } };

	fds[0].fd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	while (fds[0].fd >= 0) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents ||
		    ((fds[1].revents & POLLIN) &&
		     s->opts->on_wake(s->opts->wake_ctx, s->pid) == PTC_WAKE_LEAVE))
			break;
	}
	if (fds[0].fd >= 0)
		(void)close(fds[0].fd);
	(void)waitpid(s->pid, NULL, WNOHANG);
}

/* Nothing more will be drained: have the source leave its target, and see it end. */
static void give_up(struct session *s)
{
	struct ptc_source_end end;
	struct ptc_err ignored;
	struct pollfd fd = { .fd = s->source->ops->end_fd(s->source), .events = POLLIN };

	s->source->ops->abandon(s->source);
	do
		s->source->ops->leave(s->source);
	while (poll(&fd, 1, ASK_AGAIN_MS) < 1);
	(void)s->source->ops->finish(s->source, &end, &ignored);
	if (end.left_running && s->opts->argv)
		wait_for_command(s);
}

static void session_release(struct session *s)
{
	size_t i;

	if (s->source)
		s->source->ops->free(s->source);
	ptc_writer_free(s->writer);
	ptc_noted_release(&s->noted);
	for (i = 0; s->pairs && i < s->npairs; i++)
		ptc_snapshot_release(&s->pairs[i].snap);
	free(s->pairs);
	free(s->fds);
	free(s->ids);
	ptc_buf_release(&s->running);
}

int ptc_record(const struct ptc_record_opts *opts, struct ptc_record_result *ret,
	       struct ptc_err *err)
{
	struct session s = { .opts = opts };
	struct ptc_source_end end;
	int rc;

	memset(ret, 0, sizeof(*ret));
	rc = open_source(&s, ret, err);
	if (!rc)
		rc = map_rings(&s, err);
	if (!rc)
		rc = ptc_writer_new(opts->output, &s.writer, err);
	if (!rc && opts->compression)
		rc = ptc_writer_compress(s.writer, opts->compression, err);
	if (rc)
		goto out;
	rc = describe(&s, err);
	if (!rc)
		rc = write_attrs(&s, err);
	if (!rc)
		rc = prepare(&s, err);
	if (!rc && opts->argv)
		tell_start(&s, ret->source);
	if (!rc)
		rc = s.source->ops->start(s.source, &s.pid, err);
	if (rc)
		goto out;
	if (!opts->argv) /* now they are ours */
		tell_start(&s, ret->source);
	rc = record(&s, err);
	if (rc) {
		give_up(&s);
		goto out;
	}
	rc = s.source->ops->finish(s.source, &end, err);
	if (rc && end.left_running && opts->argv)
		wait_for_command(&s);
	if (!rc)
		rc = write_features(&s, err);
	if (!rc) {
		struct ptc_writer *w = s.writer;

		ptc_writer_packed(w, &s.packed);
		s.writer = NULL;
		rc = ptc_writer_commit(w, err);
	}
	if (!rc)
		fill_result(&s, &end, ret);
out:
	session_release(&s);
	return rc;
}
