/* SPDX-License-Identifier: MIT */
/* Description: gaps of the calls of a recording belong to the right thread, or to none. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cli/calls/call_stream.h"

static int keep_thread(void *ctx, const struct ptc_call_event *event)
{
	*(uint32_t *)ctx = event->thread;
	return 0;
}

/* Adds a thread, as the first entry of a function in it does. */
static void add_thread(struct ptc_call_stream *s, int32_t tid)
{
	cr_assert(ptc_idmap_add(&s->tids, tid, 0));
	s->threads = calloc(1, sizeof(*s->threads));
	s->newest = calloc(1, sizeof(*s->newest));
	cr_assert(s->threads && s->newest);
	s->threads[s->nthreads++].tid = tid;
}

/* Returns the thread of a gap with @gap_tid, after calls of the thread @tid. */
static uint32_t thread_of_gap(int32_t tid, int32_t gap_tid)
{
	const struct ptc_item gap = { .type = PTC_ITEM_GAP, .tid = gap_tid };
	uint32_t thread = 7;
	const struct ptc_call_stream_opts opts = { .on_event = keep_thread, .ctx = &thread };
	struct ptc_call_stream s;

	cr_assert_eq(ptc_call_stream_init(&s, &opts), 0);
	add_thread(&s, tid);
	cr_assert_eq(ptc_call_stream_item(&s, &gap), 0);
	ptc_call_stream_release(&s);
	return thread;
}

Test(call_stream, a_gap_of_a_queue_is_of_no_thread)
{
	cr_assert_eq(thread_of_gap(5, 5), 0);
	cr_assert_eq(thread_of_gap(5, 6), PTC_NO_NUMBER);
	cr_assert_eq(thread_of_gap(5, -1), PTC_NO_NUMBER);
	cr_assert_eq(thread_of_gap(-1, -1), PTC_NO_NUMBER, "even if a thread is not known");
}
