/* SPDX-License-Identifier: MIT */
/*
 * Packets that libipt 2.0 does not know: CFE, EVD, BBP, BIP, BEP, TRIG and long CYC. None of them
 * changes where the flow goes. Over its copy of the trace each becomes PADs, or, where a FUP
 * follows that says no more than where the event was, an EXSTOP with that FUP. SDM 33.4.2.
 */
#ifndef PTC_DECODE_MASK_H
#define PTC_DECODE_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/pt_packet.h"
#include "ptcap/decode.h"

/* What the FUP behind a packet is. */
enum ptc_mask_fup {
	PTC_MASK_NO_FUP,
	PTC_MASK_FUP,	    /* it says where the event was, and nothing else */
	PTC_MASK_FUP_TIP,   /* a TIP, or TIP.PGD, says where the event led */
	PTC_MASK_UNDECIDED, /* that is behind the bytes */
};

/* Of the packet at @p, of @len bytes, which is one of these and has @n bytes. */
enum ptc_mask_fup ptc_mask_fup(const uint8_t *p, size_t n, size_t len);

/* The kind of event that the packet at @p tells of, and its value; NONE: of none. */
enum ptc_event_kind ptc_mask_event(const uint8_t *p, enum ptc_pkt type, uint64_t *ret_value);

/* A packet that was masked, for those who want events. */
struct ptc_masked {
	size_t off;
	enum ptc_event_kind kind;
	enum ptc_mask_fup fup;
	uint64_t value;
};

struct ptc_mask {
	size_t pos; /* the next packet is here, */
	bool synced;
	bool listed;	      /* somebody wants to know of them */
	struct ptc_masked *v; /* owned; packets not yet listed */
	size_t first, n, cap;
};

void ptc_mask_release(struct ptc_mask *m);

/* Nothing is known of packets until the first PSB at or behind @at. */
void ptc_mask_restart(struct ptc_mask *m, size_t at);

/*
 * [@from, @upto) of @bytes, a span's, are there; @from is where this ended last, or in front of the
 * place of ptc_mask_restart. @ends: the span ends there. What is undecided waits for the next call.
 */
void ptc_mask_run(struct ptc_mask *m, uint8_t *bytes, size_t from, size_t upto, bool ends);

/* Returns the first packet not yet listed, if it is in front of @upto; else NULL. */
const struct ptc_masked *ptc_mask_next(const struct ptc_mask *m, size_t upto);
void ptc_mask_take(struct ptc_mask *m);

#endif
