/* SPDX-License-Identifier: MIT */
/*
 * After an error: where decoding can go on.
 *
 * A walker follows the packets of a span, so that it knows the last IP, the
 * execution mode and the last TSC wherever an error happens. From there on it
 * looks for a packet that says where the processor is: that point is made a
 * PSB of our own (a "graft") for the decoder to start at.
 */
#ifndef PTC_DECODE_RESYNC_H
#define PTC_DECODE_RESYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/pt_packet.h"

struct ptc_addrspace;
struct ptc_span;
struct ptc_window;

enum { PTC_GRAFT_MAX = 64 }; /* bytes; a graft is at most 48 */

/* What an MTC packet tells: CTC ticks a period (as a power of two), TSC ticks a CTC tick. */
struct ptc_mtc_rate {
	uint8_t freq;
	uint32_t n, d; /* 0: not known */
};

struct ptc_walker {
	struct ptc_mtc_rate rate;    /* may be set once it is initialized */
	const uint8_t *bytes;	     /* lent: the span */
	const struct ptc_span *span; /* lent; where PSBs are looked for; NULL: in bytes */
	struct ptc_window *window; /* lent; asked for bytes that may not be there; NULL: all are */
	size_t len;
	size_t pos;	 /* next packet */
	size_t next_psb; /* the first PSB at or behind pos, once looked for */
	bool synced;	 /* pos is a packet's start */
	bool in_psb;	 /* between PSB and PSBEND */
	uint64_t last_ip;
	bool has_tsc;
	bool new_tsc;	 /* since the last PTC_RESUME_LATER, */
	bool new_mtc;	 /* and of those that count from a TMA */
	uint8_t tsc[8];	 /* the last TSC packet */
	uint8_t mode[2]; /* the last MODE.Exec packet */
	bool has_tma;	 /* with that TSC */
	uint8_t tma[7];
	bool has_mtc; /* since then */
	uint8_t mtc;  /* the last one's payload */
	size_t mtcs;  /* periods since then */
	bool has_cbr;
	uint8_t cbr[4]; /* the last CBR packet */
	bool bound;	/* a packet at bind waits for its FUP */
	size_t bind;
};

enum ptc_resume_how {
	PTC_RESUME_END,	  /* nowhere: nothing is left */
	PTC_RESUME_PSB,	  /* at a PSB of the trace */
	PTC_RESUME_GRAFT, /* at a point where the graft must be put in front */
	PTC_RESUME_LATER, /* not known yet: there is a point of a later time */
};

struct ptc_resume {
	enum ptc_resume_how how;
	size_t off;   /* the gap ends here; END: the length */
	size_t floor; /* the next floor must not be below: proves progress */
	size_t next;  /* GRAFT: the first byte to be decoded behind the graft */
	size_t graft_len;
	uint8_t graft[PTC_GRAFT_MAX];
};

void ptc_walker_init(struct ptc_walker *r, const uint8_t *bytes, size_t len);
/* The same over a window of a span. */
void ptc_walker_init_window(struct ptc_walker *r, struct ptc_window *w);

/* Begin at the PSB at @at, as if nothing were in front of it. */
void ptc_walker_begin(struct ptc_walker *r, size_t at);

/*
 * Find the next point at or behind @floor where the flow is known and @as has
 * code. @floor must not decrease from call to call.
 *
 * In front of the first point behind a TSC packet it answers PTC_RESUME_LATER, once: ask again
 * when @as is as at ptc_walker_tsc. So it does where tracing is switched on behind MTC packets: the
 * CPU may have gone from one thread to another, and no TSC packet need tell.
 */
void ptc_walker_to_packet(struct ptc_walker *r, size_t floor, const struct ptc_addrspace *as,
			  struct ptc_resume *ret);

/*
 * The last TSC packet's time, and what MTC packets add to it: it is not earlier. There is one after
 * PTC_RESUME_LATER.
 */
uint64_t ptc_walker_tsc(const struct ptc_walker *r);

/* Follow the packets up to @upto: what is in front of it may be overwritten then. */
void ptc_walker_pass(struct ptc_walker *r, size_t upto);

/* The next PSB at or behind @floor. */
void ptc_walker_to_psb(struct ptc_walker *r, size_t floor, struct ptc_resume *ret);

/* The first packet of @type in [from, to), where @from is a packet's start; or @to. */
size_t ptc_find_packet(const uint8_t *bytes, size_t from, size_t to, enum ptc_pkt type);

/* The same for the first packet that is neither a branch's (TNT, TIP) nor timing. */
size_t ptc_find_event(const uint8_t *bytes, size_t from, size_t to);

/*
 * ptc_find_packet, or for PTC_PKT_COUNT ptc_find_event, in the span itself: a
 * window of it may have a graft there. Out of memory: nothing is found.
 */
size_t ptc_span_find(const struct ptc_span *sp, size_t from, size_t to, enum ptc_pkt type);

/*
 * Where the packet begins that is cut off at the end of @bytes; @len if none
 * is. @from is a packet's start, or if not (@sure false) only a PSB behind it is.
 */
size_t ptc_find_rest(const uint8_t *bytes, size_t from, bool sure, size_t len);

#endif
