/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a span, contiguous as libipt needs them, without all of them in memory. The window
 * reserves address space for the whole span. A part around the decoding position is filled from the
 * AUXTRACE records in the file. Outside that part there are zeros, which are PAD packets.
 */
#ifndef PTC_DECODE_STREAM_WINDOW_H
#define PTC_DECODE_STREAM_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/stream/stream.h"
#include "decode/stream/unknown_packets.h"
#include "ptcap/error.h"

enum {
	/*
	 * The window is filled up to the second multiple of this behind the position. The end must
	 * depend on nothing else: it may show in the output if one call reads that far.
	 */
	PTC_WINDOW_NEAR = 128 << 10,
	PTC_WINDOW_AHEAD = 2 * PTC_WINDOW_NEAR, /* maximum filled in front of the position */
	PTC_WINDOW_PEEK = 1024,			/* filled at a PSB while no more is needed, */
	PTC_WINDOW_MARGIN = 320,		/* with at least this much left unread */
	PTC_WINDOW_ROOM = 64,			/* writable in front of the span's first byte */
};

struct ptc_window {
	const struct ptc_span *span; /* lent */
	uint8_t *map;		     /* owned; NULL: the span's own bytes are used */
	size_t map_len;
	const uint8_t *bytes; /* the span's first byte; ROOM bytes are in front if there is a map */
	size_t from, upto;    /* [from, upto) of the span is filled */
	size_t near;	      /* positions from here on need more to be filled */
	size_t low;	      /* nothing in front of this is in memory */
	struct ptc_mask mask; /* packets that libipt does not know, removed from the map so far */
};

#define PTC_WINDOW_INIT                                                                            \
	{                                                                                          \
		NULL, NULL, 0, NULL, 0, 0, 0, 0,                                                   \
		{                                                                                  \
			0, 0, 0, NULL, 0, 0, 0                                                     \
		}                                                                                  \
	}

/*
 * Opens a window on @span, which must outlive it. @writable: uses a map even if the bytes of the
 * span are contiguous.
 */
int ptc_window_open(struct ptc_window *w, const struct ptc_span *span, bool writable,
		    struct ptc_err *err);
void ptc_window_release(struct ptc_window *w);

/* The position is @at: fills the bytes that come next, and frees those far behind. */
void ptc_window_move(struct ptc_window *w, size_t at);
/*
 * Fills only enough to read the PSB+ at @at, followed by bytes that stop the decoder. A decoder
 * that reached ptc_window_peeked() must move the window there, and read again.
 */
void ptc_window_peek(struct ptc_window *w, size_t at);
/* Returns true if ptc_window_move() would do something. */
static inline bool ptc_window_is_stale(const struct ptc_window *w, size_t at)
{
	return at < w->from || at >= w->near;
}
/* Fills [at, at + n), as far as the span goes, and everything between that and the window. */
void ptc_window_need(struct ptc_window *w, size_t at, size_t n);

/* Writes @byte at @at, which may be negative within PTC_WINDOW_ROOM. Only for a map. */
static inline void ptc_window_put(struct ptc_window *w, ptrdiff_t at, uint8_t byte)
{
	w->map[w->bytes - w->map + at] = byte;
}

/* Returns true if @at is near the end of the bytes filled by a peek, or behind it. */
static inline bool ptc_window_peeked(const struct ptc_window *w, size_t at)
{
	return w->map && w->upto < w->span->len && at + PTC_WINDOW_MARGIN > w->upto;
}

/* Returns true if bytes up to @at were read that are not filled. */
static inline bool ptc_window_passed(const struct ptc_window *w, size_t at)
{
	return at > w->upto;
}

#endif
