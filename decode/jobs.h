/* SPDX-License-Identifier: MIT */
/*
 * Threads that decode slices, in the order in which they were added. The thread that adds them is
 * one of them while it waits.
 */
#ifndef PTC_DECODE_JOBS_H
#define PTC_DECODE_JOBS_H

#include "decode/slice.h"

struct ptc_jobs;

/*
 * @n threads in all, at least 2; if the system gives fewer, with those. @ipt, @engine (NULL: libipt
 * alone): of the caller.
 */
int ptc_jobs_new(unsigned int n, const struct ptc_ipt *ipt, struct ptc_engine *engine,
		 struct ptc_jobs **ret, struct ptc_err *err);

/* End what runs: nothing is done any more. */
void ptc_jobs_stop(struct ptc_jobs *j);
/* The slices must be gone. NULL is fine. */
void ptc_jobs_free(struct ptc_jobs *j);

/* @s must live until it is done, or @j is stopped. */
void ptc_jobs_add(struct ptc_jobs *j, struct ptc_slice *s);

/* Until @s is done; work is done meanwhile. */
void ptc_jobs_await(struct ptc_jobs *j, struct ptc_slice *s);

/* @r (NULL is fine) is not needed any more. */
void ptc_jobs_give_replay(struct ptc_jobs *j, struct ptc_replay *r);
/* Nor is what @made has, which is empty then. */
void ptc_jobs_give_made(struct ptc_jobs *j, struct ptc_made_list *made);

#endif
