/* SPDX-License-Identifier: MIT */
/* One queue's pieces as one stream, cut into spans where bytes are missing. */
#ifndef PTC_DECODE_STREAM_H
#define PTC_DECODE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auxtrace/index.h"

/* Bytes of a span that are side by side in the file. */
struct ptc_part {
	const uint8_t *bytes; /* lent */
	size_t at, len;	      /* where in the span; each begins where the one before ends */
};

/* Bytes without a hole. */
struct ptc_span {
	const uint8_t *bytes; /* lent; NULL: they are in parts, see window.h */
	size_t len;
	struct ptc_part *parts; /* owned */
	size_t nparts, parts_cap;
	uint64_t base;	    /* offset of the first byte in the AUX stream */
	uint64_t lost;	    /* bytes of the AUX stream missing in front of it */
	uint64_t reference; /* TSC near its end; 0: not known */
	bool truncated;	    /* its end: there the buffer was full */
};

struct ptc_stream {
	struct ptc_span *spans; /* owned */
	size_t n, cap;
	uint64_t bytes; /* in all */
};

/*
 * Join the pieces of @q. What is lent lives as long as @f. Pieces that overlap
 * are joined by their offsets or, where those do not tell (@by_content, or they
 * contradict), by what is in them.
 */
int ptc_stream_join(struct ptc_stream *s, const struct ptc_file *f, const struct ptc_queue *q,
		    bool by_content, struct ptc_err *err);
/* A place in the AUX stream where the buffer was full. */
struct ptc_cut {
	uint64_t off;
	bool done; /* a span ends there */
};

/*
 * End spans at @cuts[0..n), which ascend, and set done: what follows a cut is a
 * span of its own. Not done is what has no byte of the stream in front of it.
 */
int ptc_stream_cut(struct ptc_stream *s, struct ptc_cut *cuts, size_t n, struct ptc_err *err);
/* The byte at @at of @sp, which has it, and how many there are side by side with it. */
const uint8_t *ptc_span_run(const struct ptc_span *sp, size_t at, size_t *ret_len);
/* Copy [at, at + n) of @sp, which must be inside. */
void ptc_span_read(const struct ptc_span *sp, size_t at, uint8_t *ret, size_t n);
/* As ptc_pkt_next_psb: offset of the first PSB at or behind @from, or the length when there is
 * none. */
size_t ptc_span_next_psb(const struct ptc_span *sp, size_t from);

/* The same for what may be a PSBEND, in [@from, @upto), or @upto. */
size_t ptc_span_next_psbend(const struct ptc_span *sp, size_t from, size_t upto);

/* How many of the first @n bytes are zeros, until one is not. */
size_t ptc_span_skip_zeros(const struct ptc_span *sp, size_t n);

/* One piece (lent). */
int ptc_stream_single(struct ptc_stream *s, const uint8_t *bytes, size_t len, struct ptc_err *err);
void ptc_stream_release(struct ptc_stream *s);

#endif
