/* SPDX-License-Identifier: MIT */
/*
 * From blocks of instructions to items: the last instruction of a block stays
 * pending until the next block, or an event, says where it led.
 */
#ifndef PTC_DECODE_TRAIL_H
#define PTC_DECODE_TRAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/insn.h"
#include "decode/event.h"
#include "decode/item.h"

struct ptc_addrspace;

enum { PTC_TRAIL_CACHE = 4096 }; /* a power of two */
enum { PTC_TRAIL_HELD = 8 };

/* What ptc_insn_decode found at an address: direct-mapped by address. */
struct ptc_trail_insn {
	uint64_t ip;
	uint32_t gen; /* valid if it equals the trail's */
	uint8_t len, kind, mode;
};

struct ptc_trail {
	const struct ptc_addrspace *as;
	struct ptc_out *out; /* lent */
	bool insns, bytes;   /* as in the options */

	struct {
		bool valid;
		uint8_t kind, len;
		uint64_t ip, time;
	} last; /* the last instruction retired; not led anywhere yet */

	/* Events behind the pending transfer, which must be listed first. None if it is not valid.
	 */
	struct ptc_pt_event held[PTC_TRAIL_HELD];
	size_t nheld;

	/* Brent's cycle finder over blocks that needed no trace. */
	uint64_t loop_mark, loop_steps, loop_limit;

	uint32_t gen;
	struct ptc_trail_insn cache[PTC_TRAIL_CACHE];
};

/* A block, as the engine reports it. */
struct ptc_trail_block {
	uint64_t ip, end_ip;
	uint32_t ninsn;
	enum ptc_mode mode;
	uint64_t time; /* of its instructions */
	bool bent;     /* jumps and calls may be inside, not only at its end */
};

void ptc_trail_init(struct ptc_trail *t, struct ptc_out *out, const struct ptc_decode_opts *opts);

/* Use @as from now on, or look at it anew because it changed. */
void ptc_trail_set_code(struct ptc_trail *t, const struct ptc_addrspace *as);

/*
 * A block ran. False: the flow goes round in circles without needing any trace
 * (`jmp .` and its like), and would do so for ever.
 */
bool ptc_trail_block(struct ptc_trail *t, const struct ptc_trail_block *b);

/* The pending instruction led to @ip, where no block could follow. */
void ptc_trail_land(struct ptc_trail *t, uint64_t ip);

/* Tracing was enabled at @ip. */
void ptc_trail_start(struct ptc_trail *t, uint64_t ip, uint64_t time);
/*
 * Tracing was disabled by the pending instruction. Where that is no transfer
 * (code that runs past the end of an address filter), the exit is asynchronous,
 * at the instruction behind it.
 */
void ptc_trail_exit(struct ptc_trail *t, uint64_t time);
/* At @from something asynchronous happened; it led to @to, or out of traced code (0). */
void ptc_trail_async(struct ptc_trail *t, uint64_t from, uint64_t to, uint64_t time);
/* Continuity is lost: where the pending instruction led is not known. */
void ptc_trail_cut(struct ptc_trail *t);
/* List @ev behind what ran until now. */
void ptc_trail_event(struct ptc_trail *t, const struct ptc_pt_event *ev);
/* An event: the trace moved on. */
void ptc_trail_progress(struct ptc_trail *t);

#endif
