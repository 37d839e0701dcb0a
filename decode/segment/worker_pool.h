/* SPDX-License-Identifier: MIT */
/*
 * Threads that decode work units, in the order in which the work units were added. They take turns
 * in serving work units: going over the decoded items in order, and handing them over. The thread
 * that made a work unit serves it, because its CPU's caches have the results. The caller's thread
 * is one of the threads.
 */
#ifndef PTC_DECODE_SEGMENT_WORKER_POOL_H
#define PTC_DECODE_SEGMENT_WORKER_POOL_H

#include "decode/segment/work_unit.h"

struct ptc_pool;
struct ptc_pool_thread;

/*
 * Start @n threads in total, at least 2. If the system gives fewer, goes on with these. @params: of
 * the trace. @engine: the caller's; NULL: libipt only.
 */
int ptc_pool_new(unsigned int n, const struct ptc_ipt_params *params, struct ptc_engine *engine,
		 struct ptc_pool **ret, struct ptc_err *err);

/* End the running threads: no more work is done. */
void ptc_pool_stop(struct ptc_pool *j);
/* Release the work units first. NULL is fine. */
void ptc_pool_free(struct ptc_pool *j);

/*
 * Call @serve with @ctx, in one thread at a time, until it returns something other than
 * PTC_QUEUE_DECODER_PASS. Returns that result. Begins in the caller's thread. Continues in the
 * thread that ptc_pool_take selected. Each call sees what earlier calls did. Only @serve may use
 * the functions below.
 */
int ptc_pool_serve(struct ptc_pool *j, int (*serve)(void *ctx, struct ptc_err *err), void *ctx,
		   struct ptc_err *err);

/*
 * Is @s done and to be served by this thread? If not, @serve must pass.
 */
bool ptc_pool_take(struct ptc_pool *j, struct ptc_work_unit *s);
/* @s must live until it is done, or until @j is stopped. */
void ptc_pool_add(struct ptc_pool *j, struct ptc_work_unit *s);

/*
 * Let new items go to memory that this thread, which has the turn, has written last. *@writer: the
 * thread whose memory @o has now; NULL: none yet.
 */
void ptc_pool_lend_room(struct ptc_pool *j, struct ptc_out *o, struct ptc_pool_thread **writer);

/* Wait until @s is done. Runs waiting work units in the meantime. */
void ptc_pool_await(struct ptc_pool *j, struct ptc_work_unit *s);

/* Keep the memory of @made for another work unit. @made is empty afterwards. */
void ptc_pool_give_made(struct ptc_pool *j, struct ptc_result_list *made);

#endif
