/* SPDX-License-Identifier: MIT */
/*
 * Collects the calls of a recording for `ptcap view`: encodes their events, and sums them by
 * function. Its memory does not grow with the number of calls.
 */
#ifndef PTC_CLI_VIEW_CALL_COLLECTOR_H
#define PTC_CLI_VIEW_CALL_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/calls/call_stream.h"
#include "cli/view/branch_collector.h"
#include "cli/view/call_sites.h"
#include "cli/view/event_encoder.h"
#include "cli/view/open_calls.h"
#include "cli/view/view_moment.h"

/* Sums over the calls of a function. */
struct ptc_view_function {
	uint64_t calls;
	/* Inside its calls (recursive calls count once), and the part outside of called functions.
	 */
	struct ptc_view_moment total, self;
	uint32_t source; /* file of its first line; number in the stream's names; 0: not known */
	int line;
};

struct ptc_view_thread {
	bool begun;			    /* it has an event */
	struct ptc_view_moment first, last; /* of its events */
	struct ptc_view_frame *stack;	    /* owned; open calls, the outermost first */
	size_t depth, stack_cap;
	uint32_t
		last_called; /* number + 1 of the last function that was called with no open call */
	struct ptc_branch_thread branches;
	uint64_t *rows; /* owned; number of calls of each depth */
	size_t nrows, rows_cap;
};

/*
 * Trace that is missing. A gap of a queue is in the list once for each thread whose calls ended
 * there, or that began there.
 */
struct ptc_view_gap {
	uint32_t thread; /* PTC_NO_NUMBER: not known */
	struct ptc_view_moment at;
	uint8_t cause; /* enum ptc_gap_cause */
	uint64_t bytes;
};

/* Takes single events and branches, instead of chunks. */
struct ptc_view_taker {
	/* As struct ptc_coded_event. Returns non-zero to stop decoding. */
	int (*on_event)(void *ctx, uint32_t thread, uint32_t op, uint32_t site,
			struct ptc_view_moment at);
	/* A branch with the number @edge. Returns non-zero to stop decoding. */
	int (*on_branch)(void *ctx, uint32_t thread, uint32_t edge, struct ptc_view_moment at);
	void *ctx;
};

struct ptc_view_limits {
	uint64_t calls; /* at most this many calls and gaps */
	size_t functions;
	size_t text;	   /* bytes of all names */
	uint64_t branches; /* no branches are kept if there are more */
	size_t edges;	   /* the same for different branches; 0: no limit */
};

struct ptc_call_collector {
	struct ptc_call_stream stream;
	struct ptc_view_sources sources;
	struct ptc_call_sites sites;
	struct ptc_event_encoder events;
	struct ptc_branch_collector branches;
	struct ptc_idmap tids; /* indexes into insns */
	uint64_t *insns;       /* owned; instructions of each thread ID, in all its lives */
	size_t insns_cap;
	struct ptc_view_limits limits;
	bool times; /* times are wanted */
	/* Takes a chunk of events. Returns non-zero to stop decoding. */
	int (*on_chunk)(void *ctx, const struct ptc_buf *chunk);
	void *ctx;
	const struct ptc_view_taker *taker; /* borrowed; NULL: chunks are made */
	struct ptc_buf chunk;

	uint64_t ncalls;
	uint64_t first_ns; /* of the first event with a time; PTC_NO_TIME: none so far */
	/* Of the last event, and of the last one that was encoded; since first_ns. */
	uint64_t now_ns, coded_ns;
	struct ptc_view_function *sums; /* owned; one for each of the stream's functions */
	size_t nsums, sums_cap;
	struct ptc_view_thread *threads; /* owned; one for each of the stream's threads */
	size_t nthreads, threads_cap;
	struct ptc_view_gap *gaps; /* owned */
	size_t ngaps, gaps_cap;
	uint64_t nlost;			  /* gaps, each once */
	struct ptc_queue_gap *queue_gaps; /* owned; the newest gap of each queue without a thread */
	size_t nqueue_gaps, queue_gaps_cap;
	uint32_t *closed; /* owned; threads whose calls ended at a gap that is not yet known */
	size_t nclosed, closed_cap;
	struct ptc_open_calls open;
	bool too_many; /* a limit was exceeded */
};

struct ptc_call_collector_opts {
	struct ptc_decode *d; /* borrowed; with opts.lengths and opts.icount */
	bool inlines, times, sources;
	struct ptc_view_limits limits;
	int (*on_chunk)(void *ctx, const struct ptc_buf *chunk);
	void *ctx;
	const struct ptc_view_taker
		*taker; /* borrowed; gets all events instead of on_chunk; or NULL */
};

/* Returns 0 or PTC_E_NO_MEMORY. Caller releases @c, also on failure. */
int ptc_call_collector_init(struct ptc_call_collector *c,
			    const struct ptc_call_collector_opts *opts);
void ptc_call_collector_release(struct ptc_call_collector *c);

/* ptc_sink.on_items; ctx is a struct ptc_call_collector. Stops when too_many is set. */
int ptc_call_collector_items(void *ctx, const struct ptc_item *items, size_t n);

/* Ends all calls. To be called once, after the decode. Returns non-zero as the sink does. */
int ptc_call_collector_finish(struct ptc_call_collector *c);

#endif
