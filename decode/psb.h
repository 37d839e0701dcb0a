/* SPDX-License-Identifier: MIT */
/* What a PSB+ says, and whether it is one. */
#ifndef PTC_DECODE_PSB_H
#define PTC_DECODE_PSB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/pt_packet.h"

extern const uint8_t ptc_psb[PTC_PSB_LEN];

enum { PTC_PSB_PLUS_MAX = 256 }; /* bytes of one that are looked at */

struct ptc_psb_plus {
	bool whole; /* as far as PSBEND */
	bool mode;  /* the execution mode is told, ... */
	bool ip;    /* ... and an IP: tracing is on */
	size_t len; /* of a whole one */
};

/* Of the PSB+ that @bytes begins with. */
struct ptc_psb_plus ptc_psb_read(const uint8_t *bytes, size_t len);

/*
 * How many of the @len bytes behind a FUP are what follows it in a PSB+, with the PSBEND; 0: there
 * is something else, or no PSBEND.
 */
size_t ptc_psb_rest_len(const uint8_t *bytes, size_t len);

/* What is left of a PSB+ whose PSB is gone. */
struct ptc_psb_rest {
	size_t at; /* where it begins, or timing packets in front of it */
	bool ip;   /* it tells one: its FUP would pass for that of an event */
};

/*
 * A walk from packet to packet, on and on: what is asked for one place after the other, ascending,
 * is found out in one walk over the bytes, which must stay as they are.
 */
struct ptc_psb_walk {
	size_t at; /* a packet's start */
	struct ptc_psb_rest rest;
	size_t fup_end;
	bool whole; /* its PSB is there */
	bool cut;   /* an overflow cut short what was there */
};

/* A packet starts at @from. */
void ptc_psb_walk_begin(struct ptc_psb_walk *w, size_t from);

/*
 * Is there a PSBEND at @psbend of @bytes that ends no PSB+? What an overflow cut short may have
 * one.
 */
bool ptc_psb_find_rest(struct ptc_psb_walk *w, const uint8_t *bytes, size_t psbend,
		       struct ptc_psb_rest *ret);

/*
 * The last PSB in [from, to), unless @agrees and no packet of a branch is between its PSB+ and @to;
 * SIZE_MAX: none, or not near. A FUP there, and what comes with it, is an event that was read
 * ahead: it may happen just where the PSB was. @to is a packet's start.
 */
size_t ptc_psb_left_behind(const uint8_t *bytes, size_t from, size_t to, bool agrees);

/* Do packets lead to the PSB at @psb? @to is behind it. */
bool ptc_psb_is_packet(struct ptc_psb_walk *w, const uint8_t *bytes, size_t psb, size_t to);

/*
 * Is there nothing in [from, to), packets from @from on, but PSBs, their ends, and what tells of
 * time alone? What a CBR tells is an event.
 */
bool ptc_psb_is_idle(const uint8_t *bytes, size_t from, size_t to);

/*
 * Is there an event in [from, at) (or bytes that are no packet)? @from is a packet's start. What is
 * in a PSB+ does not count, nor does an event that waits for more packets.
 */
bool ptc_psb_has_event_before(const uint8_t *bytes, size_t from, size_t at);

#endif
