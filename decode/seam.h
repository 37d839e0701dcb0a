/* SPDX-License-Identifier: MIT */
/*
 * Where two replays of one queue meet: one that came from in front, and one that began at a PSB as
 * if nothing had been there. From where both stand alike they give the same, whatever was before.
 */
#ifndef PTC_DECODE_SEAM_H
#define PTC_DECODE_SEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"
#include "decode/ahead.h"
#include "decode/range.h"

/*
 * How a replay stands right after a step that took a packet, behind the PSB at which its decoder
 * began anew: all that what it gives from there on can depend on. The decoder's state is that PSB,
 * and how far it has come from there.
 */
struct ptc_seam {
	struct ptc_spot spot;
	size_t from, floor; /* the PSB that it began at, as if nothing were in front of it */
	size_t raw, prev_off, prev2_off, psb, next_mark;
	uint64_t now, prev_now, told, bound;
	uint64_t ahead_last;			   /* of its struct ptc_ahead */
	struct ptc_ahead_psb ahead[PTC_AHEAD_FEW]; /* what is behind follows from these */
	uint64_t last_ip, last_time;		   /* the pending instruction */
	uint8_t last_kind, last_len;
	uint64_t loop_mark, loop_steps, loop_limit;
	int32_t pid, tid, cpu;
	enum ptc_mode mode;
	uint64_t as_version;
};

bool ptc_seam_agrees(const struct ptc_seam *a, const struct ptc_seam *b);

#endif
