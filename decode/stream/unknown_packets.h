/* SPDX-License-Identifier: MIT */
/*
 * Packets that libipt 2.0 does not know: CFE, EVD, BBP, BIP, BEP, TRIG and long CYC. None of them
 * changes the flow. In libipt's copy of the trace each becomes PADs. If a FUP follows that only
 * gives the place of the event, the packet becomes an EXSTOP with that FUP. SDM 33.4.2.
 */
#ifndef PTC_DECODE_STREAM_UNKNOWN_PACKETS_H
#define PTC_DECODE_STREAM_UNKNOWN_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/pt_packet.h"
#include "ptcap/decode.h"

/* The meaning of the FUP behind a packet. */
enum ptc_mask_fup {
	PTC_MASK_NO_FUP,
	PTC_MASK_FUP,	    /* the FUP gives the place of the event, and nothing else */
	PTC_MASK_FUP_TIP,   /* a TIP, or TIP.PGD, gives the target of the event */
	PTC_MASK_UNDECIDED, /* the answer is behind the available bytes */
};

/*
 * Returns the meaning of the FUP behind the packet at @p, which has @n bytes. @len bytes of the
 * trace are available.
 */
enum ptc_mask_fup ptc_mask_fup(const uint8_t *p, size_t n, size_t len);

/* Returns the kind of event that the packet at @p reports, and its value. NONE: no event. */
enum ptc_event_kind ptc_mask_event(const uint8_t *p, enum ptc_pkt type, uint64_t *ret_value);

/* A masked packet, for callers that want events. */
struct ptc_masked {
	size_t off;
	enum ptc_event_kind kind;
	enum ptc_mask_fup fup;
	uint64_t value;
};

struct ptc_mask {
	size_t pos; /* offset of the next packet */
	bool synced;
	bool listed;	      /* the caller wants the packets in v */
	struct ptc_masked *v; /* owned; packets not yet listed */
	size_t first, n, cap;
};

void ptc_mask_release(struct ptc_mask *m);

/* Forget the packets. Goes on at the first PSB at or behind @at. */
void ptc_mask_restart(struct ptc_mask *m, size_t at);

/*
 * Mask the packets of [@from, @upto) of @bytes, which are a span's. @from: the end of the last
 * call, or in front of the place of ptc_mask_restart. @ends: the span ends at @upto. An undecided
 * packet waits for the next call.
 */
void ptc_mask_run(struct ptc_mask *m, uint8_t *bytes, size_t from, size_t upto, bool ends);

/* Returns the first packet not yet listed, if it is in front of @upto; else NULL. */
const struct ptc_masked *ptc_mask_next(const struct ptc_mask *m, size_t upto);
void ptc_mask_take(struct ptc_mask *m);

#endif
