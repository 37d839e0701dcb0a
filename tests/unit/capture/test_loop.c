/* SPDX-License-Identifier: MIT */
/*
 * Description: a separate thread drains the rings, and callbacks run on the caller's thread. A
 * snapshot is taken while all rings stand still, and copied again if a ring moved.
 */
#include <criterion/criterion.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "auxtrace/reader/reader.h"
#include "base/monotonic.h"
#include "fake_source.h"

/* The state of the caller. */
struct caller {
	pthread_t thread;
	int wake_fd;
	unsigned int wakes, snapshots;
	const struct fake *f;
	uint64_t woken_ns, called_ns; /* before the wake-up that requests a snapshot, and after */
};

static enum ptc_wake_action on_wake(void *ctx, pid_t pid)
{
	struct caller *c = ctx;
	eventfd_t ignored;

	cr_assert(pthread_equal(pthread_self(), c->thread) && pid == 77);
	(void)eventfd_read(c->wake_fd, &ignored);
	if (!c->wakes++)
		c->called_ns = ptc_monotonic_ns();
	return c->wakes == 1 ? PTC_WAKE_SNAPSHOT : c->snapshots ? PTC_WAKE_LEAVE : PTC_WAKE_GO_ON;
}

static void on_snapshot(void *ctx, const struct ptc_taken *t)
{
	struct caller *c = ctx;

	cr_assert(pthread_equal(pthread_self(), c->thread));
	cr_assert_eq(t->n, ++c->snapshots);
	cr_assert(!t->path && t->wanted == 1);
	(void)eventfd_write(c->wake_fd, 1);
	cr_assert_eq(t->bytes, t->n == 1 ? 16 * RINGS : 8 * RINGS);
	if (t->n == 1) { /* the request was between woken_ns and called_ns */
		const uint64_t sum = t->stopped_after_ns + t->off_ns;

		cr_assert_geq(t->stopped_after_ns, c->f->stopped_ns - c->called_ns);
		cr_assert_leq(t->stopped_after_ns, c->f->resumed_ns - c->woken_ns);
		cr_assert_geq(sum, c->f->resumed_ns - c->called_ns);
		cr_assert_leq(sum, ptc_monotonic_ns() - c->woken_ns);
	} else {
		cr_assert(!t->stopped_after_ns && !t->off_ns, "the trace had ended");
	}
}

static struct ptc_writer *writer(const char *path)
{
	const struct perf_event_attr attr = { .type = 8, .sample_id_all = 1 };
	const uint64_t id = 1;
	struct ptc_writer *w = NULL;
	struct ptc_err err;

	cr_assert_eq(ptc_writer_new(path, &w, &err), 0);
	cr_assert_eq(ptc_writer_attr(w, &attr, "x", &id, 1, &err), 0);
	return w;
}

/* Checks that each ring has 16 bytes in the first snapshot, then 8 in the last. */
static void check_file(const char *path)
{
	unsigned int pieces = 0;
	struct ptc_file *f;
	struct ptc_rec rec;
	struct ptc_err err;
	uint64_t pos = 0;

	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	while (ptc_file_next(f, &pos, &rec, &err) > 0) {
		struct ptc_auxtrace a;
		struct ptc_cur bytes;

		if (rec.type != PTC_REC_AUXTRACE)
			continue;
		cr_assert_eq(ptc_file_auxtrace(f, &rec, &a, &bytes, &err), 0);
		cr_assert_eq(a.size, pieces < RINGS ? 16 : 8);
		for (; bytes.pos < bytes.end; bytes.pos++)
			cr_assert_eq(*bytes.pos, pieces < RINGS ? 'a' + a.idx : 'z');
		pieces++;
	}
	cr_assert_eq(pieces, 2 * RINGS);
	ptc_file_free(f);
}

/* A loop that drains a fake source. */
struct looped {
	struct fake f;
	struct ptc_drain drain;
	struct ptc_loop loop;
	struct ptc_err err;
};

/* Returns the result of ptc_loop_init. @path: the writer's output; NULL: no writer. */
static int loop_begin(struct looped *l, const struct ptc_record_opts *opts, const char *path)
{
	make(&l->f);
	cr_assert_eq(ptc_drain_init(&l->drain, &l->f.base, opts, &l->err), 0);
	if (path)
		l->drain.writer = writer(path);
	return ptc_loop_init(&l->loop, opts, &l->f.base, &l->drain, &l->err);
}

static void loop_end(struct looped *l)
{
	ptc_loop_release(&l->loop);
	ptc_drain_release(&l->drain);
	release(&l->f);
}

Test(loop, a_snapshot_is_of_rings_that_all_stand_still)
{
	struct caller c = { .thread = pthread_self(),
			    .wake_fd = eventfd(1, EFD_NONBLOCK),
			    .woken_ns = ptc_monotonic_ns() };
	const struct ptc_record_opts opts = { .snapshot.enabled = true,
					      .callbacks.wake_fd = c.wake_fd,
					      .callbacks.on_wake = on_wake,
					      .callbacks.wake_ctx = &c,
					      .callbacks.on_snapshot = on_snapshot,
					      .callbacks.snapshot_ctx = &c };
	char path[64];
	struct looped l;

	c.f = &l.f;
	(void)snprintf(path, sizeof(path), "/tmp/ptcap-loop-%d", (int)getpid());
	cr_assert_eq(loop_begin(&l, &opts, path), 0);
	cr_assert_eq(ptc_loop_run(&l.loop, 77, &l.err), 0, "%s", l.err.msg);
	cr_assert(l.f.pauses == 2 && l.f.resumes == 1 && l.f.leaves && l.f.quiesced == 1);
	cr_assert(c.snapshots == 2 && l.loop.snapshots == 2);
	cr_assert_not(pthread_equal(l.f.thread, pthread_self()), "it is drained by another");
	cr_assert_eq(ptc_writer_commit(l.drain.writer, &l.err), 0);
	check_file(path);
	loop_end(&l);
	(void)unlink(path);
	(void)close(c.wake_fd);
}

/* Takes one snapshot as a file of its own: after a pause, or at the end. */
static int take_file(struct fake *f, const char *path, bool at_end, struct ptc_err *err)
{
	const struct ptc_record_opts opts = { .snapshot.count = 1,
					      .snapshot.after_ns = at_end ? 0 : 1,
					      .range.max_ns = at_end ? 1 : 0 };

	return take_series(f, path, opts, err);
}

/* Checks that each ring has its @stopped bytes from the stop, and ring 0 @more bytes after it. */
static void check_copies(const char *path, size_t stopped, size_t more)
{
	unsigned int pieces = 0;
	struct ptc_file *f;
	struct ptc_rec rec;
	struct ptc_err err;
	uint64_t pos = 0;

	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	while (ptc_file_next(f, &pos, &rec, &err) > 0) {
		struct ptc_auxtrace a;
		struct ptc_cur bytes;
		size_t i;

		if (rec.type != PTC_REC_AUXTRACE)
			continue;
		cr_assert_eq(ptc_file_auxtrace(f, &rec, &a, &bytes, &err), 0);
		cr_assert_eq(a.idx, pieces);
		cr_assert_eq(a.size, (stopped + (pieces++ ? 0 : more) + 7) / 8 * 8);
		for (i = 0; !a.idx && i < more; i++)
			cr_assert_eq(bytes.pos[stopped + i], '+');
	}
	cr_assert_eq(pieces, RINGS);
	ptc_file_free(f);
}

Test(loop, what_went_on_while_it_was_copied_is_copied_again)
{
	char path[64];
	struct ptc_err err;
	int at_end;

	(void)snprintf(path, sizeof(path), "/tmp/ptcap-loop-%d", (int)getpid());
	for (at_end = 0; at_end < 2; at_end++) {
		struct fake f;

		make(&f);
		f.goes_on = 2;
		cr_assert_eq(take_file(&f, path, at_end, &err), 0, "%s", err.msg);
		cr_assert_eq(f.asked, 3, "asked behind each copy");
		cr_assert_eq(f.resumes, !at_end);
		check_copies(path, at_end ? 24 : 16, 2);
		(void)unlink(path);
		release(&f);
	}
}

Test(loop, what_was_asked_for_just_before_the_end_is_taken)
{
	const struct ptc_record_opts opts = { .snapshot.no_exit = true };
	char path[64], file[80];
	struct ptc_err err;
	int asks;

	(void)snprintf(path, sizeof(path), "/tmp/ptcap-loop-%d", (int)getpid());
	(void)snprintf(file, sizeof(file), "%s.000", path);
	for (asks = 0; asks < 2; asks++) {
		struct fake f;

		make(&f);
		f.asks = asks;
		(void)eventfd_write(f.end_fd, 1);
		cr_assert_eq(take_series(&f, path, opts, &err), 0, "%s", err.msg);
		cr_assert_eq(!access(file, F_OK), asks, "%s", file);
		(void)unlink(file);
		release(&f);
	}
}

Test(loop, a_trace_that_never_stands_still_is_an_error)
{
	char path[64];
	struct ptc_err err;
	int at_end;

	(void)snprintf(path, sizeof(path), "/tmp/ptcap-loop-%d", (int)getpid());
	for (at_end = 0; at_end < 2; at_end++) {
		struct fake f;

		make(&f);
		f.goes_on = UINT_MAX;
		cr_assert_eq(take_file(&f, path, at_end, &err), PTC_E_BUSY);
		cr_assert(strstr(err.msg, "disabled 100 times"), "%s", err.msg);
		cr_assert_eq(f.asked, 100);
		cr_assert_eq(f.resumes, !at_end, "who is traced is not kept from it");
		cr_assert_neq(access(path, F_OK), 0, "there is no such file");
		release(&f);
	}
}

Test(loop, a_thread_that_never_goes_ends)
{
	const struct ptc_record_opts opts = { .callbacks.wake_fd = -1 };
	struct looped l;

	cr_assert_eq(loop_begin(&l, &opts, NULL), 0);
	ptc_loop_release(&l.loop);
	cr_assert(!l.f.quiesced && !l.f.leaves);
	ptc_drain_release(&l.drain);
	release(&l.f);
}

Test(loop, time_is_up)
{
	const struct ptc_record_opts opts = { .callbacks.wake_fd = -1, .range.max_ns = 1 };
	char path[64];
	struct looped l;

	(void)snprintf(path, sizeof(path), "/tmp/ptcap-loop-%d", (int)getpid());
	cr_assert_eq(loop_begin(&l, &opts, path), 0);
	cr_assert_eq(ptc_loop_run(&l.loop, 77, &l.err), 0, "%s", l.err.msg);
	cr_assert(l.loop.limited && l.f.leaves);
	ptc_writer_free(l.drain.writer);
	loop_end(&l);
}

Test(loop, a_priority_that_is_not_for_us_is_refused)
{
	const struct ptc_record_opts opts = { .callbacks.wake_fd = -1, .rings.realtime = 7 };
	const struct rlimit none = { 0, 0 };
	struct looped l;

	cr_assert_eq(setrlimit(RLIMIT_RTPRIO, &none), 0);
	if (!geteuid() && setresuid(65534, 65534, 65534)) /* no CAP_SYS_NICE */
		cr_skip_test("cannot become somebody else");
	cr_assert_eq(loop_begin(&l, &opts, NULL), PTC_E_PERM);
	cr_assert(strstr(l.err.msg, "ulimit -r 7"), "%s", l.err.msg);
	loop_end(&l);
}
