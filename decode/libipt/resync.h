/* SPDX-License-Identifier: MIT */
/*
 * Resynchronization: finds where decoding can go on after an error.
 *
 * A walker follows the packets of a span. So it knows the last IP, the execution mode and the last
 * TSC wherever an error happens. From there on it looks for a packet that says where the processor
 * is. A PSB+ of our own (a "graft") for that point is put in front of it, and the decoder starts
 * there.
 */
#ifndef PTC_DECODE_LIBIPT_RESYNC_H
#define PTC_DECODE_LIBIPT_RESYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/pt_packet.h"

struct ptc_addrspace;
struct ptc_span;
struct ptc_window;

enum { PTC_GRAFT_MAX = 64 }; /* bytes; a graft has at most 48 */

/* Meaning of an MTC packet: CTC ticks per period (as a power of two), TSC ticks per CTC tick. */
struct ptc_mtc_rate {
	uint8_t freq;
	uint32_t n, d; /* 0: not known */
};

struct ptc_walker {
	struct ptc_mtc_rate rate;    /* may be set after initialization */
	const uint8_t *bytes;	     /* lent: the span */
	const struct ptc_span *span; /* lent; where PSBs are searched; NULL: in bytes */
	struct ptc_window *window;   /* lent; provides bytes that may be missing; NULL: none are */
	size_t len;
	size_t pos;	 /* of the next packet */
	size_t next_psb; /* the first PSB at or behind pos, once searched */
	bool synced;	 /* a packet begins at pos */
	bool in_psb;	 /* between PSB and PSBEND */
	uint64_t last_ip;
	bool has_tsc;
	bool new_tsc;	 /* new since the last PTC_RESUME_LATER, */
	bool new_mtc;	 /* also MTCs that count from a TMA */
	uint8_t tsc[8];	 /* the last TSC packet */
	uint8_t mode[2]; /* the last MODE.Exec packet */
	bool has_tma;	 /* since that TSC packet */
	uint8_t tma[7];
	bool has_mtc; /* since the TMA packet */
	uint8_t mtc;  /* payload of the last MTC */
	size_t mtcs;  /* MTC periods since the TMA packet */
	bool has_cbr;
	uint8_t cbr[4]; /* the last CBR packet */
	bool bound;	/* a packet at @bind waits for its FUP */
	size_t bind;
};

enum ptc_resume_how {
	PTC_RESUME_END,	  /* nowhere: nothing is left */
	PTC_RESUME_PSB,	  /* at a PSB of the trace */
	PTC_RESUME_GRAFT, /* at a point that needs a graft in front */
	PTC_RESUME_LATER, /* not known yet: a possible point has a later time */
};

struct ptc_resume {
	enum ptc_resume_how how;
	size_t off;   /* end of the gap; END: the length */
	size_t floor; /* minimum floor of the next call: guarantees progress */
	size_t next;  /* GRAFT: the first byte to decode behind the graft */
	size_t graft_len;
	uint8_t graft[PTC_GRAFT_MAX];
};

void ptc_walker_init(struct ptc_walker *r, const uint8_t *bytes, size_t len);
/* The same for a window of a span. */
void ptc_walker_init_window(struct ptc_walker *r, struct ptc_window *w);

/* Begins at the PSB at @at, and ignores everything in front of it. */
void ptc_walker_begin(struct ptc_walker *r, size_t at);

/*
 * Finds the next point at or behind @floor where the flow is known and @as has code. @floor must
 * not decrease from call to call.
 *
 * In front of the first point behind a TSC packet the answer is PTC_RESUME_LATER, once: ask again
 * when @as is as it was at ptc_walker_tsc(). The answer is the same where tracing is switched on
 * behind MTC packets: the CPU may have switched threads without a TSC packet.
 */
void ptc_walker_to_packet(struct ptc_walker *r, size_t floor, const struct ptc_addrspace *as,
			  struct ptc_resume *ret);

/*
 * Returns the time of the last TSC packet plus the MTC packets since: a lower bound of the time. It
 * is known after PTC_RESUME_LATER.
 */
uint64_t ptc_walker_tsc(const struct ptc_walker *r);

/* Follows the packets up to @upto. The bytes in front of @upto may be overwritten then. */
void ptc_walker_pass(struct ptc_walker *r, size_t upto);

/* Finds the next PSB at or behind @floor. */
void ptc_walker_to_psb(struct ptc_walker *r, size_t floor, struct ptc_resume *ret);

/* Returns the first packet of @type in [from, to), or @to. @from must be a packet's start. */
size_t ptc_find_packet(const uint8_t *bytes, size_t from, size_t to, enum ptc_pkt type);

/* The same for the first packet that is neither a branch's (TNT, TIP) nor timing. */
size_t ptc_find_event(const uint8_t *bytes, size_t from, size_t to);

/*
 * As ptc_find_packet(), or ptc_find_event() for PTC_PKT_COUNT, but reads the span itself: a window
 * of the span may have a graft there. Out of memory: finds nothing.
 */
size_t ptc_span_find(const struct ptc_span *sp, size_t from, size_t to, enum ptc_pkt type);

/*
 * Returns where the packet begins that is cut off at the end of @bytes, or @len if none is. @from
 * is a packet's start. If it may not be one (@sure false), only packets behind a PSB are used.
 */
size_t ptc_find_rest(const uint8_t *bytes, size_t from, bool sure, size_t len);

#endif
