/* SPDX-License-Identifier: MIT */
/*
 * A span's bytes side by side, as libipt wants them, without having them all in
 * memory: address space for the whole span, of which a window around the place
 * of decoding is filled from the pieces in the file. Outside of it there are
 * zeros, which are PADs.
 */
#ifndef PTC_DECODE_WINDOW_H
#define PTC_DECODE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/mask.h"
#include "decode/stream.h"
#include "ptcap/error.h"

enum {
	/*
	 * It is filled to the second multiple of this behind the place: where that is, which may
	 * show where one call reads on for so long, depends on nothing else.
	 */
	PTC_WINDOW_NEAR = 128 << 10,
	PTC_WINDOW_AHEAD = 2 * PTC_WINDOW_NEAR, /* the most that is filled in front of the place */
	PTC_WINDOW_PEEK = 1024,			/* filled at a PSB, if no more is wanted yet, */
	PTC_WINDOW_MARGIN = 320,		/* of which so much is to be left */
	PTC_WINDOW_ROOM = 64,			/* writable in front of the span's first byte */
};

struct ptc_window {
	const struct ptc_span *span; /* lent */
	uint8_t *map;		     /* owned; NULL: the span's own bytes are used */
	size_t map_len;
	const uint8_t *bytes; /* the span's first; ROOM is in front if there is a map */
	size_t from, upto;    /* [from, upto) of the span is filled */
	size_t near;	      /* a place behind it wants it filled further */
	size_t low;	      /* in front of it nothing is in memory */
	struct ptc_mask mask; /* what libipt does not know is not in the map, as far as that goes */
};

#define PTC_WINDOW_INIT                                                                            \
	{                                                                                          \
		NULL, NULL, 0, NULL, 0, 0, 0, 0,                                                   \
		{                                                                                  \
			0, 0, 0, NULL, 0, 0, 0                                                     \
		}                                                                                  \
	}

/*
 * Over @span, which must outlive it. @writable: a map even where the span has
 * its bytes in one piece.
 */
int ptc_window_open(struct ptc_window *w, const struct ptc_span *span, bool writable,
		    struct ptc_err *err);
void ptc_window_release(struct ptc_window *w);

/* The place is @at: fill what comes next, and forget what is far behind. */
void ptc_window_move(struct ptc_window *w, size_t at);
/*
 * Fill just what is needed to see the PSB+ at @at. Behind it is what ends a look at it; who came to
 * ptc_window_peeked is to have the window moved there, and look again.
 */
void ptc_window_peek(struct ptc_window *w, size_t at);
/* Would ptc_window_move do anything? */
static inline bool ptc_window_is_stale(const struct ptc_window *w, size_t at)
{
	return at < w->from || at >= w->near;
}
/* Fill [at, at + n), or what the span has of it, and what lies between it and the window. */
void ptc_window_need(struct ptc_window *w, size_t at, size_t n);

/* Write @byte at @at, which may be negative as far as there is room. Only of a map. */
static inline void ptc_window_put(struct ptc_window *w, ptrdiff_t at, uint8_t byte)
{
	w->map[w->bytes - w->map + at] = byte;
}

/* @at is near where what was filled by a peek may end, or behind that. */
static inline bool ptc_window_peeked(const struct ptc_window *w, size_t at)
{
	return w->map && w->upto < w->span->len && at + PTC_WINDOW_MARGIN > w->upto;
}

/* Was something read, up to @at, that is not filled? */
static inline bool ptc_window_passed(const struct ptc_window *w, size_t at)
{
	return at > w->upto;
}

#endif
