/* SPDX-License-Identifier: MIT */
/* A source with three rings that stand still in a pause, and loops that record it. */
#ifndef PTC_TESTS_UNIT_CAPTURE_FAKE_SOURCE_H
#define PTC_TESTS_UNIT_CAPTURE_FAKE_SOURCE_H

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "capture/session/loop.h"
#include "fake_ring.h"

enum { P = 4096, RINGS = 3, AUX = 2 * P };

/* The fake fills its rings only at the stop, which detects an earlier read. */
struct fake {
	struct ptc_source base;
	struct ptc_source_ring rings[RINGS];
	int end_fd;
	unsigned int pauses, resumes, leaves, quiesced;
	bool asks;			 /* requests a snapshot */
	uint64_t stopped_ns, resumed_ns; /* when the rings stood still, and when they went on */
	unsigned int goes_on, asked;	 /* how often a stopped trace went on; number of checks */
	pid_t victim;			 /* a child that resume kills; 0: none */
	pthread_t thread;		 /* last thread that called the source */
};

static inline struct fake *of(struct ptc_source *s)
{
	struct fake *f = (struct fake *)s;

	f->thread = pthread_self();
	return f;
}

static inline size_t fake_rings(struct ptc_source *s, const struct ptc_source_ring **ret)
{
	*ret = of(s)->rings;
	return RINGS;
}

static inline void fake_drained(struct ptc_source *s, size_t i, bool stopped)
{
	(void)of(s);
	(void)i;
	(void)stopped;
}

static inline int fake_end_fd(struct ptc_source *s)
{
	return of(s)->end_fd;
}

/* The first call is not ready yet; the next one stops the rings. */
static inline bool fake_pause(struct ptc_source *s)
{
	struct fake *f = of(s);
	size_t i;

	if (!f->pauses++)
		return false;
	for (i = 0; i < RINGS; i++) {
		memset(f->rings[i].aux, (int)('a' + i), 16);
		f->rings[i].page->aux_head = 16;
	}
	f->stopped_ns = ptc_monotonic_ns();
	return true;
}

static inline void fake_resume(struct ptc_source *s)
{
	struct fake *f = of(s);
	size_t i;

	f->resumes++;
	f->resumed_ns = ptc_monotonic_ns();
	if (f->victim) {
		siginfo_t ignored;

		(void)kill(f->victim, SIGKILL);
		cr_assert_eq(waitid(P_PID, (id_t)f->victim, &ignored, WEXITED | WNOWAIT), 0);
	}
	for (i = 0; i < RINGS; i++) /* overwritten again */
		memset(f->rings[i].aux, '!', AUX);
}

static inline void fake_leave(struct ptc_source *s)
{
	of(s)->leaves++;
	(void)eventfd_write(of(s)->end_fd, 1);
}

static inline void fake_quiesce(struct ptc_source *s)
{
	struct fake *f = of(s);
	size_t i;

	f->quiesced++;
	for (i = 0; i < RINGS; i++) {
		memset((uint8_t *)f->rings[i].aux, (int)('a' + i), 16);
		memset((uint8_t *)f->rings[i].aux + 16, 'z', 8);
		memset((uint8_t *)f->rings[i].aux + 24, 0, AUX - 24);
		f->rings[i].page->aux_head = 24;
	}
}

/* Ring 0 gets one more byte. */
static inline bool fake_went_on(struct ptc_source *s)
{
	struct fake *f = of(s);

	if (f->asked++ >= f->goes_on)
		return false;
	((uint8_t *)f->rings[0].aux)[f->rings[0].page->aux_head++ % AUX] = '+';
	return true;
}

static inline bool fake_asks(struct ptc_source *s)
{
	return of(s)->asks;
}

/* An unknown PMU: its trace is stored unchanged. */
static inline void fake_describe(struct ptc_source *s, struct ptc_source_desc *ret)
{
	static const struct perf_event_attr attr = { .type = 8, .sample_id_all = 1 };

	(void)of(s);
	*ret = (struct ptc_source_desc){
		.attr = { attr, attr }, .name = { "x", "dummy" }, .no_info = true, .label = "fake"
	};
}

static const struct ptc_source_ops fake_ops = { .describe = fake_describe,
						.rings = fake_rings,
						.drained = fake_drained,
						.end_fd = fake_end_fd,
						.pause = fake_pause,
						.went_on = fake_went_on,
						.asks = fake_asks,
						.resume = fake_resume,
						.stop = fake_leave,
						.leave = fake_leave,
						.quiesce = fake_quiesce };

static inline void make(struct fake *f)
{
	size_t i;

	memset(f, 0, sizeof(*f));
	f->base.ops = &fake_ops;
	f->end_fd = eventfd(0, EFD_NONBLOCK);
	for (i = 0; i < RINGS; i++)
		f->rings[i] = fake_ring(i, P, AUX);
}

static inline void release(struct fake *f)
{
	size_t i;

	for (i = 0; i < RINGS; i++) {
		free(f->rings[i].page);
		free(f->rings[i].aux);
	}
	(void)close(f->end_fd);
}

/* Takes a series of files of @pid at @path as @opts ask. Returns the result of the loop. */
static inline int take_series_of(struct fake *f, const char *path, struct ptc_record_opts opts,
				 pid_t pid, struct ptc_err *err)
{
	struct ptc_filing filing;
	struct ptc_series series;
	struct ptc_drain drain;
	struct ptc_loop loop;
	int rc;

	opts.snapshot.enabled = opts.snapshot.series = true;
	opts.output.path = path;
	opts.callbacks.wake_fd = -1;
	cr_assert_eq(ptc_drain_init(&drain, &f->base, &opts, err), 0);
	cr_assert_eq(ptc_filing_init(&filing, &opts, &f->base, RINGS, err), 0);
	cr_assert_eq(ptc_series_init(&series, &filing, &drain, err), 0, "%s", err->msg);
	cr_assert_eq(ptc_loop_init(&loop, &opts, &f->base, &drain, err), 0);
	loop.series = &series;
	rc = ptc_loop_run(&loop, pid, err);
	ptc_loop_release(&loop);
	ptc_drain_release(&drain);
	ptc_series_release(&series);
	ptc_filing_release(&filing);
	return rc;
}

static inline int take_series(struct fake *f, const char *path, struct ptc_record_opts opts,
			      struct ptc_err *err)
{
	return take_series_of(f, path, opts, 77, err);
}

#endif
