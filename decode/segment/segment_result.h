/* SPDX-License-Identifier: MIT */
/*
 * PSB segments as the second engine has decoded them, before their turn or in it. The results
 * depend on the bytes and the code only, not on the trace in front of them.
 */
#ifndef PTC_DECODE_SEGMENT_SEGMENT_RESULT_H
#define PTC_DECODE_SEGMENT_SEGMENT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/engine/engine.h"
#include "decode/image/diagnostics.h"
#include "decode/stream/seek.h"

/* A longer segment is left to libipt: its branches would take a hundred times as much memory. */
enum { PTC_SEGMENT_MAX = 256 << 10 };

/* Contiguous bytes of a span that the engine may look at. */
struct ptc_result_view {
	const uint8_t *bytes; /* lent */
	size_t off, len;      /* offset in the span, and length */
	bool ends;	      /* the view ends where the span ends */
};

/* Copy of bytes that are not contiguous in the span, for one view at a time. */
struct ptc_result_copy {
	uint8_t *bytes; /* owned; PTC_SEGMENT_MAX bytes, or NULL */
};

/*
 * Get the segment of @sp from the PSB at @from to the one at @next, and some bytes behind it, which
 * the engine needs to judge the end. @far: more of these, because only timing packets follow for
 * long. Returns NULL on success. Then *@ret is valid as long as @copy does not change. On failure
 * returns the reason, a literal.
 */
const char *ptc_result_look(const struct ptc_span *sp, size_t from, size_t next, bool far,
			    struct ptc_result_copy *copy, struct ptc_result_view *ret);
void ptc_result_copy_release(struct ptc_result_copy *copy);

/* The position of libipt behind a step, or behind several with the same time. */
struct ptc_result_step {
	uint64_t now, low; /* as in struct ptc_replay_at */
	size_t off;	   /* in the span */
	size_t n;	   /* number of items of the segment so far */
	uint64_t newest;   /* the latest time among them */
};

struct ptc_result {
	struct ptc_spot spot;  /* the PSB at its beginning; set by the caller */
	uint64_t version;      /* state of the code of pid at the beginning */
	int32_t pid, tid, cpu; /* the thread there */

	bool on;	 /* tracing is on at its beginning, at ip */
	bool stays_on;	 /* tracing is on at its end */
	bool counted;	 /* counts only: no records */
	bool items;	 /* by libipt: items instead of records */
	const char *why; /* why the engine declined it, a literal; NULL: it did not */
	size_t end;	 /* offset of the next PSB, in the span */
	uint64_t ip;
	enum ptc_mode mode_before, mode;
	uint64_t insns;
	struct ptc_fast_last last;
	size_t recs, n; /* branches or items: index in the room, and number */
	size_t marks, nmarks;
	/* if counted: branches of each kind, without one that is last.listed */
	uint64_t kinds[PTC_KIND_COUNT];

	/* by libipt: */
	uint64_t begin_ns, bound; /* the time there, and the latest possible time */
	size_t steps, nsteps;	  /* in the room */
	size_t land;		  /* the step with the first instruction; SIZE_MAX: not known */
	uint64_t told;		  /* time of the last block or event */
	uint64_t last_time;	  /* of @last */
	struct ptc_decode_stats stats; /* of the items */
	const char *declined;	       /* why the engine declined it, a literal; NULL: no engine */
	struct ptc_notes *notes;       /* owned; about missing code; NULL: none */
};

/*
 * Results of segments, one behind the other. With memory of its own, each segment's place would
 * keep as much as the largest segment there ever needed.
 */
struct ptc_result_room {
	struct ptc_fast_rec *recs;   /* owned */
	struct ptc_fast_mark *marks; /* owned */
	size_t nrecs, recs_cap, nmarks, marks_cap;
	struct ptc_item *items;	       /* owned; of libipt */
	struct ptc_result_step *steps; /* owned */
	size_t nitems, items_cap, nsteps, steps_cap;
};

void ptc_result_room_release(struct ptc_result_room *room);

/* Some segments of one queue, ascending. */
struct ptc_result_list {
	struct ptc_result *v; /* owned */
	size_t n, cap;
	size_t next;  /* segments in front of this one are done */
	size_t taken; /* number of segments that were handed over */
	struct ptc_result_room room;
};

void ptc_result_list_release(struct ptc_result_list *l);
/* Empty the list. Keeps its memory, if that is not much. */
void ptc_result_list_renew(struct ptc_result_list *l);

/* Add one, to be filled. Returns NULL if out of memory. */
struct ptc_result *ptc_result_list_add(struct ptc_result_list *l);
/* Removes the last one. */
void ptc_result_list_drop(struct ptc_result_list *l);
/* Returns the segment at @spot. NULL: there is none. Spots ascend from call to call. */
struct ptc_result *ptc_result_list_find(struct ptc_result_list *l, struct ptc_spot spot);
/* The same, once. */
struct ptc_result *ptc_result_list_take(struct ptc_result_list *l, struct ptc_spot spot);

#endif
