/* SPDX-License-Identifier: MIT */
/* What the thread that drains and the caller's thread tell each other. */
#ifndef PTC_CAPTURE_RELAY_H
#define PTC_CAPTURE_RELAY_H

#include <pthread.h>

#include "base/buf.h"
#include "ptcap/capture.h"

enum ptc_asked { PTC_ASKED_NOTHING, PTC_ASKED_STOP, PTC_ASKED_LEAVE };

/* What the caller wants of the thread. */
struct ptc_wish {
	bool go;	      /* begin */
	bool over;	      /* the caller has failed, or never began: end at once */
	uint64_t snapshots;   /* to take: how many more; what the thread gets is how many so far */
	bool last;	      /* take one at the end, whatever the end is */
	bool heard;	      /* the end, after all that the caller had to say before it */
	enum ptc_asked asked; /* of the source */
};

/* Of a snapshot: its bytes, how many were wanted when it was taken, and how late it was. */
enum { PTC_RELAY_TAKEN = 3 };

/* What the thread has to tell. */
struct ptc_news {
	bool ended; /* what is recorded; the thread waits for wish.heard */
	bool done;
	bool has_progress;
	struct ptc_progress progress; /* the newest */
	uint64_t snapshots;	      /* taken so far; taken has what is new */
	struct ptc_buf taken;	      /* owned; PTC_RELAY_TAKEN numbers of 8 bytes for each */
};

struct ptc_relay {
	pthread_mutex_t lock; /* guards wish and news */
	bool has_lock;
	int wish_fd, news_fd; /* eventfds: there is something new. -1: none */
	struct ptc_wish wish;
	struct ptc_news news;
};

int ptc_relay_init(struct ptc_relay *r, struct ptc_err *err);
void ptc_relay_release(struct ptc_relay *r);

/* The caller: add to what is wanted; what was asked for stays. */
void ptc_relay_ask(struct ptc_relay *r, const struct ptc_wish *more);
/* The thread: what is wanted by now. */
struct ptc_wish ptc_relay_wish(struct ptc_relay *r);

/* The thread. */
void ptc_relay_progress(struct ptc_relay *r, const struct ptc_progress *p);
void ptc_relay_snapshot(struct ptc_relay *r, uint64_t bytes, uint64_t wanted, uint64_t behind_ns);
void ptc_relay_ended(struct ptc_relay *r);
void ptc_relay_done(struct ptc_relay *r);
/* The caller: what is new, and the caller's to release. */
struct ptc_news ptc_relay_news(struct ptc_relay *r);

#endif
