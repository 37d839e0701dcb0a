/* SPDX-License-Identifier: MIT */
/*
 * Runs a recording: opens the source, drains its rings into the writer until the source ends, and
 * accounts for every byte.
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

#include "auxtrace/record/layout.h"
#include "auxtrace/record/record.h"
#include "base/err.h"
#include "base/folder_out.h"
#include "capture/perf/kcore.h"
#include "capture/session/capabilities.h"
#include "capture/session/drain.h"
#include "capture/session/file_metadata.h"
#include "capture/session/live_targets.h"
#include "capture/session/loop.h"
#include "capture/session/opts.h"
#include "capture/session/snapshot_files.h"
#include "capture/source/source.h"

enum {
	SNAPSHOT_MIN = 4096,
	ASK_AGAIN_MS = 20, /* a request to stop or leave is repeated until the source reacts */
};

struct session {
	const struct ptc_record_opts *opts;
	struct ptc_source *source; /* owned */
	struct ptc_writer *writer; /* owned until commit */
	/* with opts->kcore: the folder that contains the writer's file */
	struct ptc_folder_out folder;
	uint64_t kcore_bytes;
	struct ptc_filing filing;
	struct ptc_drain drain;
	struct ptc_series series; /* with opts->series: used instead of the writer */
	struct ptc_loop loop;
	struct ptc_buf running; /* records about processes that already run */
	uint64_t rights;	/* with opts->drop_rights: the capabilities to keep */
	struct ptc_writer_packed packed;
	struct ptc_source_choice choice;
};

/* --- before the command runs --- */

static bool has_target(const struct ptc_record_opts *o)
{
	return o->target.argv || o->target.npids || o->target.ntids || o->target.all_cpus ||
	       o->target.cpus || o->target.cgroup;
}

static int take_opts(struct ptc_record_opts *ret, const struct ptc_record_opts *opts,
		     struct ptc_err *err)
{
	const int rc = ptc_record_opts_take(ret, opts, err);

	if (rc)
		return rc;
	if (!ret->output.path)
		return ptc_fail(err, PTC_E_USAGE, "output is not set: a recording needs a path");
	if (!has_target(ret))
		return ptc_fail(err, PTC_E_USAGE,
				"nothing to record: argv, pids, tids, all_cpus, cpus and cgroup "
				"are not set");
	return 0;
}

static int refuse_for_hardware(const struct ptc_record_opts *o, struct ptc_err *err)
{
	const char *what = o->callbacks.truth		? "--truth" :
			   o->range.max_steps		? "--max-steps" :
			   o->range.from || o->range.to ? "--from and --to" :
			   o->lbr.size			? "--lbr-size" :
			   o->lbr.spoil.mode		? "--lbr-spoil" :
							  NULL;

	if (!what)
		return 0;
	(void)ptc_fail(err, PTC_E_USAGE, "Intel PT does not support %s; use --source step", what);
	return PTC_E_USAGE;
}

/* Refuses options that need branch stacks. */
static int check_lbr(const struct ptc_record_opts *o, struct ptc_err *err)
{
	if (o->lbr.branches)
		return 0;
	if (o->lbr.size || o->lbr.spoil.mode != PTC_SPOIL_NONE)
		return ptc_fail(err, PTC_E_USAGE, "--lbr-size and --lbr-spoil need --lbr");
	if ((o->lbr.period || o->lbr.freq || o->lbr.sampler) && !o->lbr.aux_sample)
		return ptc_fail(err, PTC_E_USAGE,
				"a sampling event or a period needs --lbr or --aux-sample");
	return 0;
}

static int check_snapshot(const struct session *s, struct ptc_err *err)
{
	const struct ptc_record_opts *o = s->opts;

	if (!o->snapshot.enabled)
		return o->snapshot.series ? ptc_fail(err, PTC_E_USAGE, "a series needs snapshots") :
					    0;
	if (o->rings.lossy)
		return ptc_fail(err, PTC_E_USAGE,
				"--lossy cannot be combined with snapshots, whose ring buffer is "
				"overwritten");
	if (o->snapshot.size && o->snapshot.size < SNAPSHOT_MIN)
		return ptc_fail(err, PTC_E_USAGE, "a snapshot cannot be smaller than %d bytes",
				SNAPSHOT_MIN);
	if (!s->source->ops->pause)
		return ptc_fail(err, PTC_E_USAGE,
				"this source cannot take snapshots: it cannot pause");
	return 0;
}

static int check_crash(const struct session *s, struct ptc_err *err)
{
	const struct ptc_record_opts *o = s->opts;

	if ((o->snapshot.on_signals || o->snapshot.nat) && !o->snapshot.enabled)
		return ptc_fail(err, PTC_E_USAGE, "signals and places need snapshots (-S)");
	if (o->snapshot.nat > PTC_AT_MAX)
		return ptc_fail(err, PTC_E_USAGE, "more than %u places (--at)", PTC_AT_MAX);
	if ((o->snapshot.crash || o->snapshot.on_signals || o->snapshot.nat) &&
	    !s->source->ops->held_fd)
		return ptc_fail(err, PTC_E_USAGE, "this source sees no signals and no places");
	return 0;
}

static int refuse_but_for_emu(const struct ptc_record_opts *o, struct ptc_err *err)
{
	const char *what = o->rings.lossy      ? "--lossy" :
			   o->source.vcpus     ? "--vcpus" :
			   o->source.code_size ? "--code-size" :
						 NULL;

	if (!what)
		return 0;
	return ptc_fail(err, PTC_E_USAGE, "only the emu source supports %s; use --source emu",
			what);
}

static int refuse_but_for_kernel(const struct ptc_record_opts *o, struct ptc_err *err)
{
	const char *what = o->source.event	? "events (-e)" :
			   o->source.nfilters	? "address filters (--filter)" :
			   o->target.all_cpus	? "whole CPUs (-a)" :
			   o->target.cpus	? "CPUs (-C)" :
			   o->target.cgroup	? "cgroups (--cgroup)" :
			   o->target.per_thread ? "--per-thread" :
			   o->lbr.aux_sample	? "--aux-sample" :
			   o->source.kcore	? "--kcore" :
						  NULL;

	if (!what)
		return 0;
	return ptc_fail(err, PTC_E_USAGE,
			"the step and emu sources do not support %s; use --source pt", what);
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
	if (!rc)
		rc = check_crash(s, err);
	if (!rc)
		rc = check_lbr(s->opts, err);
	return rc ? rc : check_snapshot(s, err);
}

/*
 * Drops capabilities. All steps that need more are done. The events are open, and the kernel's code
 * and symbols are read. The kernel's source has forked its command. A tracer or watcher that
 * attaches is forked later, with the kept capabilities.
 */
static int drop_rights(struct session *s, struct ptc_err *err)
{
	const bool steps = s->choice.kind != PTC_SOURCE_PT;

	if (!s->opts->rights.drop || (steps && s->opts->target.argv))
		return 0;
	s->rights = ptc_rights_needed_here(s->opts, steps);
	s->loop.rights = &s->rights;
	return ptc_rights_drop(s->rights, err);
}

static void tell_start(struct session *s, enum ptc_source_kind chosen)
{
	if (s->opts->callbacks.on_start)
		s->opts->callbacks.on_start(s->opts->callbacks.start_ctx, chosen, s->choice.why);
}

static int describe(struct session *s, struct ptc_err *err)
{
	struct ptc_filing *f = &s->filing;
	const int rc = ptc_filing_init(f, s->opts, s->source, s->drain.n, err);

	if (rc)
		return rc;
	if (s->opts->snapshot.series)
		return ptc_series_init(&s->series, f, &s->drain, err);
	ptc_noted_init(&s->drain.noted, ptc_filing_sample_type(f));
	s->drain.noted.keep_vdso = f->desc.keep_vdso;
	s->drain.whole_packets = !f->desc.no_info;
	return 0;
}

/*
 * Gets records about processes that already run, and notes their files like those of live records.
 */
static int prepare(struct session *s, struct ptc_err *err)
{
	struct ptc_seg seg[2] = { { NULL, 0 }, { NULL, 0 } };
	struct ptc_noted *noted = &s->drain.noted;
	struct ptc_ledger_ring none = { .idx = 0 };
	int rc;

	if (!s->source->ops->prepare)
		return 0;
	rc = s->source->ops->prepare(s->source, &s->running, err);
	if (!rc && s->opts->snapshot.series)
		return ptc_kept_before(s->series.kept, &s->running, err);
	if (!rc && s->running.len) {
		seg[0] = (struct ptc_seg){ s->running.bytes, s->running.len };
		rc = ptc_noted_scan(noted, seg, &none, err);
		noted->forks = 0;
		ptc_buf_reset(&noted->pokes); /* the records in s->running have them */
	}
	return rc;
}

/*
 * Copies the kernel's code. Its changes are already recorded, and tracing has not started. A change
 * in between is in both the copy and the records.
 */
static int copy_kernel(struct session *s, struct ptc_err *err)
{
	const struct ptc_kcore_opts o = { .root = "" };
	char *dir;
	int rc;

	if (!s->opts->source.kcore)
		return 0;
	if (asprintf(&dir, "%s/kcore_dir", s->folder.tmp) < 0)
		return ptc_fail_mem(err);
	rc = ptc_kcore_copy(dir, &o, &s->kcore_bytes, err);
	free(dir);
	return rc;
}

/* --- ledger and result --- */

/* Runs on_wake once the loop is over. */
static bool is_left(void *ctx)
{
	const struct ptc_record_callbacks *c = ctx;

	return c->on_wake(c->wake_ctx, 0) == PTC_WAKE_LEAVE;
}

/* Writes the saved states of crashed processes. After a request to end: of live processes, too. */
static int write_states(struct session *s, struct ptc_err *err)
{
	struct ptc_record_callbacks wake = s->opts->callbacks;
	const struct ptc_live_caller caller = { wake.on_wake ? wake.wake_fd : -1, is_left, &wake };
	struct ptc_buf b = PTC_BUF_INIT;
	int rc = 0;

	if (s->opts->snapshot.crash && s->writer)
		rc = s->source->ops->states(s->source, &b, err);
	if (!rc && s->opts->snapshot.crash && s->writer && s->loop.asked)
		rc = ptc_live_targets_put(&b, s->opts, s->loop.command, &caller, &s->loop.states,
					  &s->loop.missing, err);
	if (!rc && ptc_buf_failed(&b))
		rc = ptc_fail_mem(err);
	if (!rc && b.len)
		rc = ptc_writer_plain(s->writer, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}

/* Writes code of files that are gone or replaced by now. */
static int write_code(struct session *s, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc = 0;

	if (s->source->ops->code && s->writer)
		rc = s->source->ops->code(s->source, &b, err);
	if (!rc && b.len)
		rc = ptc_writer_plain(s->writer, b.bytes, b.len, err);
	ptc_buf_release(&b);
	return rc;
}

static int write_ledger(struct session *s, const struct ptc_source_end *end, struct ptc_err *err)
{
	ptc_drain_close(&s->drain);
	if (s->opts->callbacks.on_ledger)
		s->opts->callbacks.on_ledger(s->opts->callbacks.ledger_ctx, s->drain.ledger,
					     s->drain.n, end->events, end->nevents);
	if (!s->writer)
		return 0;
	return ptc_filing_ledger(&s->filing, s->writer,
				 &(struct ptc_account){ .rings = s->drain.ledger,
							.nrings = s->drain.n,
							.events = end->events,
							.nevents = end->nevents,
							.source = { .insns = end->insns,
								    .transfers = end->transfers,
								    .unshown = end->unshown } },
				 err);
}

static struct ptc_ledger_ring ledger_sum(const struct session *s)
{
	struct ptc_ledger_ring sum = { .idx = 0 };
	size_t i;

	for (i = 0; i < s->drain.n; i++)
		ptc_ledger_add(&sum, &s->drain.ledger[i]);
	return sum;
}

static void fill_result(const struct session *s, const struct ptc_source_end *end,
			struct ptc_record_result *ret)
{
	const struct ptc_ledger_ring sum = ledger_sum(s);
	const uint64_t lost = sum.lost_records + sum.lost_samples;

	ret->status = end->status;
	ret->left_running = end->left_running;
	ret->limited = s->loop.limited || end->limited;
	ret->unreached = end->unreached;
	ret->unmet = end->unmet;
	ret->cut_short = end->cut_short;
	ret->unanswered = end->unanswered;
	ret->insns = end->insns;
	ret->transfers = end->transfers;
	ret->unshown = end->unshown;
	ret->odd = end->odd;
	ret->untraced = end->follows ? end->untraced : s->drain.noted.forks;
	ret->left_behind = end->left_behind;
	ret->aux_bytes = s->drain.aux_bytes + s->series.trace;
	ret->crashes = s->opts->snapshot.series ? s->series.crashes : end->crashes;
	ret->late_crashes = end->crashes > ret->crashes ? end->crashes - ret->crashes : 0;
	ret->handled = s->opts->snapshot.series ? s->series.handled : end->handled;
	ret->undumped = end->undumped;
	ret->states = s->loop.states;
	ret->missing_states = s->loop.missing.n;
	if (s->loop.missing.n)
		memcpy(ret->missing_why, s->loop.missing.first.msg, sizeof(ret->missing_why));
	ret->unseen = end->unseen;
	ret->unwatched = end->unwatched;
	ret->snapshots = s->loop.snapshots;
	ret->data_bytes = s->drain.data_bytes;
	ret->packed_in = s->packed.in;
	ret->packed_out = s->packed.out;
	/* The records of a series are in other files, and its oldest records are in no file. */
	ret->duration_ns = s->opts->snapshot.series ?
				   s->loop.ran_ns :
				   s->drain.noted.last_ns - s->drain.noted.first_ns;
	ret->truncated = sum.truncated;
	ret->partial = sum.partial;
	ret->lost_records = lost > end->lost_records ? lost : end->lost_records;
	ret->lost_aux = end->lost_aux + sum.aux_overrun;
	ret->made_aux = end->made_aux;
	ret->throttled = sum.throttled;
	ret->collisions = sum.collisions;
	ret->restarts = sum.restarts;
	ret->disk_full = s->drain.full;
	ret->unwritten = sum.aux_read - sum.aux_stored;
	ret->samples = s->drain.noted.samples;
	ret->enabled_ns = end->enabled_ns;
	ret->running_ns = end->running_ns;
	ret->unscheduled = end->unscheduled;
	ret->failed = end->failed;
	ret->missed_cpus = end->missed_cpus;
	ret->late_cpus = end->late_cpus;
	ret->rightless = end->rightless;
	memcpy(ret->rightless_path, end->rightless_path, sizeof(ret->rightless_path));
	memcpy(ret->lacking, end->lacking, sizeof(ret->lacking));
	memcpy(ret->unfollowed, end->unfollowed, sizeof(ret->unfollowed));
	ret->kcore_bytes = s->kcore_bytes;
}

/* Waits for the command after the recording has failed: the command runs on, untraced. */
static void wait_for_command(struct session *s)
{
	struct pollfd fds[2] = { { .fd = -1, .events = POLLIN },
				 { .fd = s->opts->callbacks.wake_fd, .events = POLLIN } };

	fds[0].fd = (int)syscall(SYS_pidfd_open, s->filing.pid, 0);
	while (fds[0].fd >= 0) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents || ((fds[1].revents & POLLIN) &&
				       s->opts->callbacks.on_wake(s->opts->callbacks.wake_ctx,
								  s->filing.pid) == PTC_WAKE_LEAVE))
			break;
	}
	if (fds[0].fd >= 0)
		(void)close(fds[0].fd);
	(void)waitpid(s->filing.pid, NULL, WNOHANG);
}

/*
 * Makes the source leave its target, and waits for the source's end. The rings will not be drained
 * any more.
 */
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
	if (end.left_running && s->opts->target.argv)
		wait_for_command(s);
}

static void session_release(struct session *s)
{
	ptc_loop_release(&s->loop); /* first: the loop uses all other members */
	if (s->source)
		s->source->ops->free(s->source);
	ptc_writer_free(s->writer);
	ptc_folder_out_release(&s->folder); /* the folder contains the writer's file */
	ptc_drain_release(&s->drain);
	ptc_series_release(&s->series);
	ptc_filing_release(&s->filing);
	ptc_buf_release(&s->running);
}

/* Creates the output, and does all that can fail before the target runs. */
static int open_file(struct session *s, struct ptc_err *err)
{
	const struct ptc_record_opts *o = s->opts;
	int rc = 0;

	if (o->snapshot.series && o->source.kcore)
		return ptc_fail(err, PTC_E_USAGE,
				"--kcore cannot be combined with a series of snapshots");
	if (o->snapshot.series) /* each snapshot creates a file */
		return describe(s, err);
	if (o->source.kcore)
		rc = ptc_folder_out_open(&s->folder, o->output.path, err);
	if (!rc)
		rc = ptc_writer_new(o->source.kcore ? s->folder.data : o->output.path, &s->writer,
				    err);
	if (!rc && s->opts->output.compression)
		rc = ptc_writer_compress(s->writer, s->opts->output.compression, err);
	if (rc)
		return rc;
	s->drain.writer = s->writer;
	(void)ptc_writer_reserve(s->writer);
	rc = describe(s, err);
	return rc ? rc : ptc_filing_attrs(&s->filing, s->writer, err);
}

/* Completes the file and gives it its final name. */
static int commit(struct session *s, uint64_t *ret_bytes, struct ptc_err *err)
{
	const bool folder = s->opts->source.kcore;
	struct ptc_writer *w = s->writer;
	int rc = w ? ptc_filing_features(&s->filing, w, &s->drain.noted, err) : 0;
	struct stat st;

	if (rc || !w)
		return rc;
	ptc_writer_packed(w, &s->packed);
	s->writer = NULL;
	rc = ptc_writer_commit(w, err);
	if (rc)
		return rc;
	if (!stat(folder ? s->folder.data : s->opts->output.path, &st))
		*ret_bytes = (uint64_t)st.st_size;
	return folder ? ptc_folder_out_commit(&s->folder, err) : 0;
}

int ptc_record(const struct ptc_record_opts *asked, struct ptc_record_result *ret,
	       struct ptc_err *err)
{
	struct ptc_record_opts copy;
	const struct ptc_record_opts *opts = &copy;
	struct session s = { .opts = opts, .folder = PTC_FOLDER_OUT_INIT };
	struct ptc_source_end end;
	int rc;

	memset(ret, 0, sizeof(*ret));
	rc = take_opts(&copy, asked, err);
	if (rc)
		return rc;
	rc = open_source(&s, ret, err);
	if (!rc)
		rc = ptc_drain_init(&s.drain, s.source, opts, err);
	if (!rc)
		rc = open_file(&s, err);
	if (!rc)
		rc = ptc_loop_init(&s.loop, opts, s.source, &s.drain, err);
	if (!rc)
		rc = copy_kernel(&s, err);
	if (!rc)
		rc = prepare(&s, err);
	if (rc)
		goto out;
	if (opts->snapshot.series)
		s.loop.series = &s.series;
	rc = drop_rights(&s, err);
	if (rc)
		goto out;
	if (opts->target.argv)
		tell_start(&s, ret->source);
	rc = s.source->ops->start(s.source, &s.filing.pid, err);
	if (rc)
		goto out;
	if (!opts->target.argv) /* the processes are attached now */
		tell_start(&s, ret->source);
	if (s.writer)
		rc = ptc_filing_prologue(&s.filing, s.writer, &s.running, err);
	if (!rc)
		rc = ptc_loop_run(&s.loop, s.filing.pid, err);
	if (rc) {
		give_up(&s);
		goto out;
	}
	rc = s.source->ops->finish(s.source, &end, err);
	if (rc && end.left_running && opts->target.argv)
		wait_for_command(&s);
	if (!rc && s.writer)
		rc = ptc_filing_late(&s.filing, s.source, s.writer, err);
	if (!rc)
		rc = write_states(&s, err);
	if (!rc)
		rc = write_code(&s, err);
	if (!rc)
		rc = write_ledger(&s, &end, err);
	if (!rc)
		rc = commit(&s, &ret->file_bytes, err);
	ret->file_bytes += s.series.file_bytes;
	if (!rc)
		fill_result(&s, &end, ret);
out:
	session_release(&s);
	return rc;
}
