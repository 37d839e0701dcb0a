/* SPDX-License-Identifier: MIT */
/* Passes messages between the drain thread and the caller's thread. */
#ifndef PTC_CAPTURE_SESSION_CALLBACK_MAILBOX_H
#define PTC_CAPTURE_SESSION_CALLBACK_MAILBOX_H

#include <pthread.h>

#include "base/buf.h"
#include "ptcap/capture.h"

enum ptc_asked { PTC_ASKED_NOTHING, PTC_ASKED_STOP, PTC_ASKED_LEAVE };

/* Requests from the caller to the drain thread. */
struct ptc_wish {
	bool go;   /* start recording */
	bool over; /* the caller has failed, or never began: end at once */
	/* to ptc_relay_ask: how many more to take; from ptc_relay_wish: how many in all */
	uint64_t snapshots;
	/*
	 * CLOCK_MONOTONIC of the request for a snapshot; from ptc_relay_wish: of the oldest since
	 * the last call, or 0
	 */
	uint64_t since_ns;
	bool last;  /* take a snapshot at the end, for any kind of end */
	bool heard; /* reply to news.ended: the caller has no more requests from before the end */
	enum ptc_asked asked; /* stop or leave the source */
	uint64_t asks;	      /* from ptc_relay_wish: number of requests with asked */
};

/* Messages from the drain thread to the caller. */
struct ptc_news {
	bool ended; /* the recorded program ended; the thread waits for wish.heard */
	bool done;
	bool has_progress;
	struct ptc_progress progress; /* the newest */
	uint64_t snapshots;	      /* number taken so far; @taken lists the new snapshots */
	struct ptc_buf taken; /* owned; a struct ptc_taken without path for each new snapshot */
};

struct ptc_relay {
	pthread_mutex_t lock; /* guards wish and news */
	bool has_lock;
	int wish_fd, news_fd; /* eventfds, readable when there is a new message. -1: none */
	struct ptc_wish wish;
	struct ptc_news news;
};

int ptc_relay_init(struct ptc_relay *r, struct ptc_err *err);
void ptc_relay_release(struct ptc_relay *r);

/* Called by the caller's thread: adds to its requests. Earlier requests stay. */
void ptc_relay_ask(struct ptc_relay *r, const struct ptc_wish *more);
/* Called by the drain thread: returns all requests so far. */
struct ptc_wish ptc_relay_wish(struct ptc_relay *r);

/* Called by the drain thread. */
void ptc_relay_progress(struct ptc_relay *r, const struct ptc_progress *p);
/* Adds a snapshot, and gives it its number. Its path is not used. */
void ptc_relay_snapshot(struct ptc_relay *r, const struct ptc_taken *t);
void ptc_relay_ended(struct ptc_relay *r);
void ptc_relay_done(struct ptc_relay *r);
/* Called by the caller's thread: returns new messages. Caller releases news.taken. */
struct ptc_news ptc_relay_news(struct ptc_relay *r);

#endif
