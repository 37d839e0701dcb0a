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
 * Is there a PSBEND at @psbend of @bytes that ends no PSB+? @from is a packet's start. What an
 * overflow cut short may have one.
 */
bool ptc_psb_find_rest(const uint8_t *bytes, size_t from, size_t psbend, struct ptc_psb_rest *ret);

/*
 * The last PSB in [from, to), unless @agrees and no packet of a branch is between its PSB+ and @to;
 * SIZE_MAX: none, or not near. A FUP there, and what comes with it, is an event that was read
 * ahead: it may happen just where the PSB was. @to is a packet's start.
 */
size_t ptc_psb_left_behind(const uint8_t *bytes, size_t from, size_t to, bool agrees);

/* Do packets from @from on, where one begins, lead to the PSB at @psb? @to is behind it. */
bool ptc_psb_is_packet(const uint8_t *bytes, size_t from, size_t psb, size_t to);

/*
 * Is there an event in [from, at) (or bytes that are no packet)? @from is a packet's start. What is
 * in a PSB+ does not count, nor does an event that waits for more packets.
 */
bool ptc_psb_has_event_before(const uint8_t *bytes, size_t from, size_t at);

#endif
