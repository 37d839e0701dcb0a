/* SPDX-License-Identifier: MIT */
/*
 * Threads that decode slices, in the order in which they were added, and take turns in serving
 * them: going over what was decoded, in order, and handing it over. Who made a slice serves it,
 * because what it made is in the caches of its CPU. The caller's thread is one of them.
 */
#ifndef PTC_DECODE_JOBS_H
#define PTC_DECODE_JOBS_H

#include "decode/slice.h"

struct ptc_jobs;
struct ptc_jobs_thread;

/*
 * @n threads in all, at least 2; if the system gives fewer, with those. @params: of the trace.
 * @engine (NULL: libipt alone): of the caller.
 */
int ptc_jobs_new(unsigned int n, const struct ptc_ipt_params *params, struct ptc_engine *engine,
		 struct ptc_jobs **ret, struct ptc_err *err);

/* End what runs: nothing is done any more. */
void ptc_jobs_stop(struct ptc_jobs *j);
/* The slices must be gone. NULL is fine. */
void ptc_jobs_free(struct ptc_jobs *j);

/*
 * Call @serve with @ctx, by one thread at a time, until it returns something other than
 * PTC_LANE_PASS, which is returned. Begins, as a rule, with the caller's thread, and goes on with
 * the one that was found out, by one of the two below, to be who should. What one call has done the
 * next one sees. Only @serve may use what follows.
 */
int ptc_jobs_serve(struct ptc_jobs *j, int (*serve)(void *ctx, struct ptc_err *err), void *ctx,
		   struct ptc_err *err);

/* Is @s, of pieces, done and to be served by this thread? Else: pass. */
bool ptc_jobs_take(struct ptc_jobs *j, struct ptc_slice *s);
/* Is this the thread that called ptc_jobs_serve? Else: pass. */
bool ptc_jobs_take_back(struct ptc_jobs *j);

/* @s must live until it is done, or @j is stopped. */
void ptc_jobs_add(struct ptc_jobs *j, struct ptc_slice *s);

/*
 * Let items to come be written to memory that this thread, whose turn it is, has written last. That
 * of *@writer (NULL: it has none yet) is what @o has now.
 */
void ptc_jobs_lend_room(struct ptc_jobs *j, struct ptc_out *o, struct ptc_jobs_thread **writer);

/* Until @s is done; work is done meanwhile. */
void ptc_jobs_await(struct ptc_jobs *j, struct ptc_slice *s);

/* @r (NULL is fine) is not needed any more. */
void ptc_jobs_give_replay(struct ptc_jobs *j, struct ptc_replay *r);
/* Nor is what @made has, which is empty then. */
void ptc_jobs_give_made(struct ptc_jobs *j, struct ptc_made_list *made);

#endif
