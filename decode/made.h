/* SPDX-License-Identifier: MIT */
/*
 * Pieces of trace as the second engine has made them, before their turn or in it: all that follows
 * from their bytes and the code, and nothing that depends on what was in front of them.
 */
#ifndef PTC_DECODE_MADE_H
#define PTC_DECODE_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/fast/engine.h"
#include "decode/range.h"

/* A longer piece is libipt's: its transfers would be a hundred times as long. */
enum { PTC_PIECE_MAX = 256 << 10 };

/* Bytes of a span that the engine may look at, side by side. */
struct ptc_made_view {
	const uint8_t *bytes; /* lent */
	size_t off, len;      /* where in the span; how many */
	bool ends;	      /* with the span */
};

/* What of the span is not side by side, for one view at a time. */
struct ptc_made_copy {
	uint8_t *bytes; /* owned; PTC_PIECE_MAX of them, or NULL */
};

/*
 * The piece of @sp from the PSB at @from to that at @next, and as much behind that as the engine's
 * judge wants to see: @far, where nothing but the time comes for long. NULL: it is *ret, as long as
 * @copy is left alone; else why not, a literal.
 */
const char *ptc_made_look(const struct ptc_span *sp, size_t from, size_t next, bool far,
			  struct ptc_made_copy *copy, struct ptc_made_view *ret);
void ptc_made_copy_release(struct ptc_made_copy *copy);

struct ptc_made {
	struct ptc_spot spot; /* the PSB that it begins at; by whoever keeps it */
	int32_t pid;	      /* whose code it was made with, */
	uint64_t version;     /* and which state of it */

	const char *why; /* the engine declined it; NULL: it did not. A literal */
	size_t end;	 /* the next PSB, in the span */
	bool on;	 /* tracing, when it begins: */
	uint64_t ip;
	enum ptc_mode mode_before, mode;
	bool stays_on; /* and where it ends */
	uint64_t insns;
	struct ptc_fast_last last;
	size_t recs, n; /* transfers, and marks: where in its room, how many */
	size_t marks, nmarks;
	bool counted; /* recs are not there; of the n, without one that is last.listed, there are */
	uint64_t kinds[PTC_KIND_COUNT]; /* so many of each */
};

/*
 * What pieces list, one behind the other: with a memory of its own each would keep what the largest
 * one needed that ever had its place.
 */
struct ptc_made_room {
	struct ptc_fast_rec *recs;   /* owned */
	struct ptc_fast_mark *marks; /* owned */
	size_t nrecs, recs_cap, nmarks, marks_cap;
};

void ptc_made_room_release(struct ptc_made_room *room);

/* Some of one lane, ascending. */
struct ptc_made_list {
	struct ptc_made *v; /* owned */
	size_t n, cap;
	size_t next; /* those in front of it are behind us */
	struct ptc_made_room room;
};

void ptc_made_list_release(struct ptc_made_list *l);
/* Empty, with the memory that it has, if that is not much. */
void ptc_made_list_renew(struct ptc_made_list *l);

/* One more, to be filled. NULL: out of memory. */
struct ptc_made *ptc_made_list_add(struct ptc_made_list *l);
/* The one at @spot, once. NULL: there is none. Spots ascend from call to call. */
struct ptc_made *ptc_made_list_take(struct ptc_made_list *l, struct ptc_spot spot);

#endif
