/* SPDX-License-Identifier: MIT */
/* Reads a PSB+ (the packets from a PSB to its PSBEND), and decides whether bytes are one. */
#ifndef PTC_DECODE_STREAM_PSB_H
#define PTC_DECODE_STREAM_PSB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/pt_packet.h"

extern const uint8_t ptc_psb[PTC_PSB_LEN];

enum { PTC_PSB_PLUS_MAX = 256 }; /* bytes of a PSB+ that are read */

struct ptc_psb_plus {
	bool whole;  /* PSBEND was found */
	bool mode;   /* has the execution mode, ... */
	bool ip;     /* ... and an IP: tracing is on */
	uint64_t at; /* that IP */
	size_t len;  /* if whole */
};

/* Reads the PSB+ at the beginning of @bytes. */
struct ptc_psb_plus ptc_psb_read(const uint8_t *bytes, size_t len);

/*
 * Returns how many of the @len bytes behind a FUP complete a PSB+, including the PSBEND. Returns 0
 * if other packets are among them, or if PSBEND is missing.
 */
size_t ptc_psb_rest_len(const uint8_t *bytes, size_t len);

/* The rest of a PSB+ whose PSB is lost. */
struct ptc_psb_rest {
	size_t at; /* begin of the rest, or of timing packets in front */
	bool ip;   /* has an IP: its FUP would look like the FUP of an event */
};

/*
 * A walk from packet to packet. Places must be asked about in ascending order: then one walk over
 * the bytes answers all questions. The bytes must not change.
 */
struct ptc_psb_walk {
	size_t at; /* a packet begins here */
	struct ptc_psb_rest rest;
	size_t fup_end;
	bool whole; /* its PSB was seen */
	bool cut;   /* an overflow cut off earlier packets */
};

/* Begins a walk at @from, where a packet starts. */
void ptc_psb_walk_begin(struct ptc_psb_walk *w, size_t from);

/*
 * Returns true if the PSBEND at @psbend of @bytes ends no PSB+. Packets that an overflow cut off
 * may have had the PSB, so the result is false behind an overflow.
 */
bool ptc_psb_find_rest(struct ptc_psb_walk *w, const uint8_t *bytes, size_t psbend,
		       struct ptc_psb_rest *ret);

/*
 * Returns the last PSB in [from, to). SIZE_MAX: none, or too far away. If @agrees, also SIZE_MAX
 * unless a packet of a branch is between its PSB+ and @to. A FUP there, and packets that come with
 * it, is an event that was read ahead: the event may happen right at the PSB. @to is a packet's
 * start.
 */
size_t ptc_psb_left_behind(const uint8_t *bytes, size_t from, size_t to, bool agrees);

/* Returns true if packets lead up to the PSB at @psb, so that it is a packet. @to is behind it. */
bool ptc_psb_is_packet(struct ptc_psb_walk *w, const uint8_t *bytes, size_t psb, size_t to);

/*
 * Returns true if [from, to), which begins with a packet, has only PSBs, PSBENDs and timing
 * packets. A CBR counts as an event.
 */
bool ptc_psb_is_idle(const uint8_t *bytes, size_t from, size_t to);

/*
 * Returns true if [from, at) has a complete event, or bytes that are no packet. @from is a packet's
 * start. Packets in a PSB+ do not count, nor does an event that waits for more packets.
 */
bool ptc_psb_has_event_before(const uint8_t *bytes, size_t from, size_t at);

#endif
