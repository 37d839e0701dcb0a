/* SPDX-License-Identifier: MIT */
#include "capture/session/callback_mailbox.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"

int ptc_relay_init(struct ptc_relay *r, struct ptc_err *err)
{
	int sys;

	*r = (struct ptc_relay){ .wish_fd = -1, .news_fd = -1 };
	sys = pthread_mutex_init(&r->lock, NULL);
	if (sys)
		return ptc_fail_sys(err, sys, "cannot create a mutex");
	r->has_lock = true;
	r->wish_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->wish_fd < 0 || r->news_fd < 0)
		return ptc_fail_sys(err, errno, "cannot create an eventfd");
	return 0;
}

void ptc_relay_release(struct ptc_relay *r)
{
	if (!r->has_lock)
		return;
	if (r->wish_fd >= 0)
		(void)close(r->wish_fd);
	if (r->news_fd >= 0)
		(void)close(r->news_fd);
	ptc_buf_release(&r->news.taken);
	(void)pthread_mutex_destroy(&r->lock);
	r->has_lock = false;
}

static void lock(struct ptc_relay *r)
{
	(void)pthread_mutex_lock(&r->lock);
}

/* Unlocks and wakes the thread that polls @fd. */
static void unlock(struct ptc_relay *r, int fd)
{
	(void)pthread_mutex_unlock(&r->lock);
	(void)eventfd_write(fd, 1);
}

static void clear(int fd)
{
	eventfd_t ignored;

	(void)eventfd_read(fd, &ignored);
}

void ptc_relay_ask(struct ptc_relay *r, const struct ptc_wish *more)
{
	lock(r);
	r->wish.go |= more->go;
	r->wish.over |= more->over;
	r->wish.snapshots += more->snapshots;
	if (more->snapshots && !r->wish.since_ns)
		r->wish.since_ns = more->since_ns;
	r->wish.last |= more->last;
	r->wish.heard |= more->heard;
	r->wish.asks += more->asked != PTC_ASKED_NOTHING;
	if (more->asked > r->wish.asked)
		r->wish.asked = more->asked;
	unlock(r, r->wish_fd);
}

struct ptc_wish ptc_relay_wish(struct ptc_relay *r)
{
	struct ptc_wish wish;

	clear(r->wish_fd); /* before the lock: a later request makes wish_fd readable again */
	lock(r);
	wish = r->wish;
	r->wish.since_ns = 0;
	(void)pthread_mutex_unlock(&r->lock);
	return wish;
}

void ptc_relay_progress(struct ptc_relay *r, const struct ptc_progress *p)
{
	lock(r);
	r->news.progress = *p;
	r->news.has_progress = true;
	unlock(r, r->news_fd);
}

void ptc_relay_snapshot(struct ptc_relay *r, const struct ptc_taken *t)
{
	struct ptc_taken taken = *t;

	lock(r);
	taken.n = ++r->news.snapshots;
	ptc_buf_put(&r->news.taken, &taken, sizeof(taken));
	unlock(r, r->news_fd);
}

void ptc_relay_ended(struct ptc_relay *r)
{
	lock(r);
	r->news.ended = true;
	unlock(r, r->news_fd);
}

void ptc_relay_done(struct ptc_relay *r)
{
	lock(r);
	r->news.done = true;
	unlock(r, r->news_fd);
}

struct ptc_news ptc_relay_news(struct ptc_relay *r)
{
	struct ptc_news news;

	clear(r->news_fd);
	lock(r);
	news = r->news;
	r->news.has_progress = false;
	r->news.ended = false;
	r->news.taken = (struct ptc_buf)PTC_BUF_INIT;
	(void)pthread_mutex_unlock(&r->lock);
	return news;
}
