/* SPDX-License-Identifier: MIT */
/* The AUXTRACE records of one queue as one stream, cut into spans where bytes are missing. */
#ifndef PTC_DECODE_STREAM_STREAM_H
#define PTC_DECODE_STREAM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auxtrace/reader/aux_index.h"

/* Bytes of a span that are contiguous in the file. */
struct ptc_part {
	const uint8_t *bytes; /* lent */
	size_t at, len;	      /* place in the span; parts are adjacent */
};

/* Bytes without a hole. */
struct ptc_span {
	const uint8_t *bytes; /* lent; NULL: use parts, see window.h */
	size_t len;
	struct ptc_part *parts; /* owned */
	size_t nparts, parts_cap;
	uint64_t base;	    /* offset of the first byte in the AUX stream */
	uint64_t lost;	    /* bytes of the AUX stream missing in front of it */
	uint64_t reference; /* TSC near its end; 0: not known */
	bool truncated;	    /* the buffer was full at its end */
};

struct ptc_stream {
	struct ptc_span *spans; /* owned */
	size_t n, cap;
	uint64_t bytes; /* of all spans */
};

/*
 * Joins the AUXTRACE records of @q. The bytes are lent as long as @f lives. Records that overlap
 * are joined by their offsets. If offsets are unknown (@by_content) or contradict, they are joined
 * by their contents.
 */
int ptc_stream_join(struct ptc_stream *s, const struct ptc_file *f, const struct ptc_queue *q,
		    bool by_content, struct ptc_err *err);
/* A place in the AUX stream where the buffer was full. */
struct ptc_cut {
	uint64_t off;
	bool done; /* a span ends here */
};

/*
 * Ends spans at @cuts[0..n), which ascend, and sets done. The bytes behind a cut become a span of
 * their own. A cut without any byte of the stream in front of it stays not done.
 */
int ptc_stream_cut(struct ptc_stream *s, struct ptc_cut *cuts, size_t n, struct ptc_err *err);
/*
 * Returns the byte at @at of @sp, and gets the number of contiguous bytes from there. @at must be
 * inside.
 */
const uint8_t *ptc_span_run(const struct ptc_span *sp, size_t at, size_t *ret_len);
/* Copies [at, at + n) of @sp, which must be inside. */
void ptc_span_read(const struct ptc_span *sp, size_t at, uint8_t *ret, size_t n);
/*
 * As ptc_pkt_next_psb(): returns the offset of the first PSB at or behind @from, or the length if
 * there is none.
 */
size_t ptc_span_next_psb(const struct ptc_span *sp, size_t from);

/* The same for a possible PSBEND in [@from, @upto). Returns @upto if there is none. */
size_t ptc_span_next_psbend(const struct ptc_span *sp, size_t from, size_t upto);

/* Returns how many of the first @n bytes are zeros, up to the first other byte. */
size_t ptc_span_skip_zeros(const struct ptc_span *sp, size_t n);

/* Makes a stream of one lent buffer. */
int ptc_stream_single(struct ptc_stream *s, const uint8_t *bytes, size_t len, struct ptc_err *err);
void ptc_stream_release(struct ptc_stream *s);

#endif
