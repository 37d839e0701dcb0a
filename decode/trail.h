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
#include "decode/fast/block.h"
#include "decode/item.h"
#include "decode/kinds.h"

struct ptc_addrspace;

enum { PTC_TRAIL_HELD = 8 };

struct ptc_trail {
	struct ptc_out *out; /* lent */
	bool insns, bytes;   /* as in the options */
	bool quick;	     /* transfers and nothing else are listed */

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

	struct ptc_kinds kinds;
};

/* A block, as the engine reports it. */
struct ptc_trail_block {
	uint64_t ip, end_ip;
	uint32_t ninsn;
	enum ptc_mode mode;
	uint64_t time;	/* of its instructions */
	bool bent;	/* jumps and calls may be inside, not only at its end */
	bool part;	/* the next one is the rest of it */
	uint64_t whole; /* where the block begins that it is in; ip, unless that was in parts */
};

/* @t is zeros: it is large. */
void ptc_trail_init(struct ptc_trail *t, struct ptc_out *out, const struct ptc_decode_opts *opts);
void ptc_trail_release(struct ptc_trail *t);

/* For another replay; what is known of the code is kept. */
void ptc_trail_renew(struct ptc_trail *t, struct ptc_out *out, const struct ptc_decode_opts *opts);

/* Use @as from now on, or look at it anew because it changed. */
void ptc_trail_set_code(struct ptc_trail *t, const struct ptc_addrspace *as);

/*
 * A block ran. False: the flow goes round in circles without needing any trace
 * (`jmp .` and its like), and would do so for ever.
 */
bool ptc_trail_block(struct ptc_trail *t, const struct ptc_trail_block *b);

/* Does it take trace to know where one of @kind led? */
static inline bool ptc_trail_needs_trace(uint8_t kind)
{
	return kind != PTC_KIND_NONE && kind != PTC_KIND_JMP && kind != PTC_KIND_CALL;
}

/*
 * Whoever comes back to an address without having used any trace since will do
 * so again: with no trace used, the address is the whole state.
 */
static inline bool ptc_trail_is_endless(struct ptc_trail *t, uint64_t ip)
{
	if (t->loop_steps && ip == t->loop_mark)
		return true;
	if (++t->loop_steps >= t->loop_limit) {
		t->loop_limit *= 2;
		t->loop_mark = ip;
	} else if (t->loop_steps == 1) {
		t->loop_mark = ip;
	}
	return false;
}

/* An event, or a block that needs trace: the trace moved on. */
static inline void ptc_trail_progress(struct ptc_trail *t)
{
	t->loop_steps = 0;
	t->loop_limit = 2;
}

/*
 * Is all that blocks do to lead the pending instruction somewhere, and to put another one in its
 * place? Then others may do that to it (row.c, where it must be fast).
 */
static inline bool ptc_trail_is_quick(const struct ptc_trail *t)
{
	return t->quick && t->last.valid && !t->nheld && t->kinds.mode == PTC_MODE_64;
}

/* @n transfers, of @time, of which nothing is pending; what they are of does not count as insns. */
void ptc_trail_list(struct ptc_trail *t, const struct ptc_fast_rec *recs, size_t n, uint64_t time);

/*
 * Lists what ran from @ip, where the flow is, up to @to: a packet says that the flow came there.
 * False: that takes trace, or code that is missing, and nothing is listed.
 */
bool ptc_trail_reach(struct ptc_trail *t, uint64_t ip, uint64_t to, enum ptc_mode mode,
		     uint64_t time);

/* The pending instruction led to @ip, where no block could follow. */
void ptc_trail_land(struct ptc_trail *t, uint64_t ip);

/* Tracing was enabled at @ip. */
void ptc_trail_start(struct ptc_trail *t, uint64_t ip, uint64_t time);
/*
 * Tracing was disabled by the pending instruction, which led to @to (0: not known). Where that
 * is no transfer (code that runs past the end of an address filter), the exit is asynchronous,
 * at the instruction behind it.
 */
void ptc_trail_exit(struct ptc_trail *t, uint64_t to, uint64_t time);
/* At @from something asynchronous happened; it led to @to, or out of traced code (0). */
void ptc_trail_async(struct ptc_trail *t, uint64_t from, uint64_t to, uint64_t time);
/* Continuity is lost: where the pending instruction led is not known. */
void ptc_trail_cut(struct ptc_trail *t);
/* It is @time, the first one that is known: of what is pending, too. */
void ptc_trail_learn_time(struct ptc_trail *t, uint64_t time);
/* List @ev behind what ran until now. */
void ptc_trail_event(struct ptc_trail *t, const struct ptc_pt_event *ev);

#endif
