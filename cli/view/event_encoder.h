/* SPDX-License-Identifier: MIT */
/*
 * Encodes entries and ends of functions for the page of `ptcap view`: about 0.2 bytes a call, when
 * the result is deflated.
 *
 * Programs repeat themselves. So tables remember what followed the last time: for a function and
 * the last function that it called, which event came next. For this pair, how many instructions
 * later, and from which place. Only events that differ are written. cli/view/README.md has the
 * bytes of a chunk. page/events.js reads them with equal tables.
 */
#ifndef PTC_CLI_VIEW_EVENT_ENCODER_H
#define PTC_CLI_VIEW_EVENT_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* An entry or an end. */
struct ptc_coded_event {
	uint32_t thread;
	/* Entry: (number of the function + 1) << 4 | how; end: how (enum ptc_call_how). */
	uint32_t op;
	uint32_t site;		 /* entry: number of the place that called; end: 0 */
	uint32_t in;		 /* number + 1 of the function that ran before; 0: none */
	uint32_t last;		 /* number + 1 of the last function that it called; 0: none */
	uint64_t insns, time_ns; /* since the thread's last event; since the last event of all */
};

struct ptc_event_tables; /* what followed the last time */

struct ptc_event_encoder {
	struct ptc_event_tables *tables; /* owned */
	size_t n;			 /* events in the chunk */
	uint64_t run;			 /* predicted events since the last miss */
	uint64_t still;			 /* events since the last one at another time */
	size_t last_switch;		 /* event at which the thread changed */
	uint32_t thread;		 /* of the last event */
	/* Columns. Each is a list of numbers (LEB128). */
	struct ptc_buf misses, ops, insns, sites, threads, times;
};

enum { PTC_CHUNK_EVENTS = 1 << 18 }; /* events of a full chunk */

/* Returns false if out of memory. Nothing needs a release then. */
bool ptc_event_encoder_init(struct ptc_event_encoder *e);
void ptc_event_encoder_release(struct ptc_event_encoder *e);

/* Add an event to the chunk. Out of memory: reported by ptc_event_encoder_take. */
void ptc_event_encoder_add(struct ptc_event_encoder *e, const struct ptc_coded_event *event);

/*
 * Append the chunk to @ret, and begin the next chunk. The tables stay, so chunks are read in their
 * order. Returns false if out of memory.
 */
bool ptc_event_encoder_take(struct ptc_event_encoder *e, struct ptc_buf *ret);

/* Append @v to @b, 7 bits a byte, the lowest first. */
void ptc_put_leb128(struct ptc_buf *b, uint64_t v);

#endif
