/* SPDX-License-Identifier: MIT */
/*
 * Tells which upcoming sideband records matter for a queue. Most records concern other threads or
 * repeat known facts. Some records bring another thread to the queue. The answer is the time until
 * which the queue may run without looking at sideband records.
 */
#ifndef PTC_DECODE_TIMELINE_LOOKAHEAD_H
#define PTC_DECODE_TIMELINE_LOOKAHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_addrspace;
struct ptc_decode;
struct ptc_event;
struct ptc_lane;
struct ptc_piece_user;

/* The queue that questions are about. d NULL: nothing is known. */
struct ptc_calm {
	struct ptc_decode *d;	  /* lent */
	const struct ptc_lane *l; /* lent */
};

/* The thread that runs on a queue from a time on. */
struct ptc_turn {
	uint64_t time;
	int32_t pid, tid, cpu;
	/* process that `as` belongs to: pid, or the parent that pid is yet to be forked from */
	int32_t code;
	uint64_t born;			/* time of that fork; 0: pid exists already */
	const struct ptc_addrspace *as; /* lent, until sideband records are applied */
	bool known;			/* the process that `as` belongs to exists */
};

enum { PTC_TURNS = 128 };

/* v[0] is the thread that runs now. */
struct ptc_turns {
	struct ptc_turn v[PTC_TURNS]; /* by time */
	size_t n;
	uint64_t until; /* before this time nothing else matters, except changes of code */
	bool changes;	/* changes of code are taken into account, too */
};

/*
 * Returns the first time, up to @time (included), at which code of process @pid is mapped or
 * written at @ip. Looks at the upcoming sideband records. 0: no record does so.
 */
uint64_t ptc_calm_next_code(const struct ptc_calm *w, int32_t pid, uint64_t ip, uint64_t time);

/*
 * Pass the time of the next sideband record to the queue's replay. Call before each of its steps.
 */
void ptc_calm_tell(struct ptc_decode *d, const struct ptc_lane *l);

/* Predict the threads that run on the queue up to @time (included), as far as possible. */
void ptc_calm_foresee(const struct ptc_calm *w, uint64_t time, struct ptc_turns *ret);
/*
 * Is @t complete up to @time (included), and does the code that was used stay unchanged? @user
 * knows the used code. NULL: unknown, so any change counts.
 */
bool ptc_calm_lasts(const struct ptc_calm *w, const struct ptc_turns *t, uint64_t time,
		    const struct ptc_piece_user *user);

/*
 * Pass each record up to @time (included) that changes code of a process in @t to @take: first the
 * records of the file, then the added ones. Returns false if @take did, or if such a process is
 * unknown or yet to be forked.
 */
bool ptc_calm_changes(const struct ptc_calm *w, const struct ptc_turns *t, uint64_t time,
		      bool (*take)(void *ctx, const struct ptc_event *ev), void *ctx);

#endif
