/* SPDX-License-Identifier: MIT */
/*
 * A seam: where two replays of one queue meet. One came from in front, the other began at a PSB and
 * ignored everything in front of it. From a place where both have the same state, both list the
 * same items.
 */
#ifndef PTC_DECODE_SEGMENT_SEAM_H
#define PTC_DECODE_SEGMENT_SEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"
#include "decode/stream/seek.h"
#include "decode/stream/time_bound.h"

/*
 * State of a replay right after a step that took a packet, behind the PSB at which its decoder
 * began anew. All later items depend only on this state. The decoder's own state is given by that
 * PSB and the offset reached since.
 */
struct ptc_seam {
	struct ptc_spot spot;
	size_t from, floor; /* the PSB at which the decoder began anew */
	size_t raw, prev_off, prev2_off, psb, next_mark;
	uint64_t now, prev_now, told, bound;
	uint64_t ahead_last;			   /* of its struct ptc_ahead */
	struct ptc_ahead_psb ahead[PTC_AHEAD_FEW]; /* the later ones follow from these */
	uint64_t last_ip, last_time;		   /* the pending instruction */
	uint8_t last_kind, last_len;
	uint64_t loop_mark, loop_steps, loop_limit;
	int32_t pid, tid, cpu;
	enum ptc_mode mode;
	uint64_t as_version;
};

bool ptc_seam_agrees(const struct ptc_seam *a, const struct ptc_seam *b);

#endif
