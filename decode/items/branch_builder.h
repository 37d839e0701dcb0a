/* SPDX-License-Identifier: MIT */
/*
 * Turns blocks of instructions into items. The last instruction of a block stays pending until the
 * next block, or an event, shows where it led.
 */
#ifndef PTC_DECODE_ITEMS_BRANCH_BUILDER_H
#define PTC_DECODE_ITEMS_BRANCH_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/insn.h"
#include "decode/items/branch_rec.h"
#include "decode/items/event.h"
#include "decode/items/insn_cache.h"
#include "decode/items/item_queue.h"

struct ptc_addrspace;

enum { PTC_BRANCH_BUILDER_HELD = 8 };

struct ptc_branch_builder {
	struct ptc_out *out;	    /* lent */
	bool insns, bytes, lengths; /* as in the options */
	bool plain;		    /* only branches are listed, without bytes */
	bool quick;		    /* the same, without lengths */

	struct {
		bool valid;
		uint8_t kind, len;
		uint64_t ip, time;
	} last;	     /* the last instruction retired; its target is not known yet */
	bool landed; /* ptc_branch_builder_land() was called; cleared by others */

	/* Events that must be listed behind the pending branch. None if last is not valid. */
	struct ptc_pt_event held[PTC_BRANCH_BUILDER_HELD];
	size_t nheld;

	/* Brent's cycle finder, for blocks that needed no trace. */
	uint64_t loop_mark, loop_steps, loop_limit;

	struct ptc_insn_cache kinds;
};

/* A block, as the engine reports it. */
struct ptc_branch_builder_block {
	uint64_t ip, end_ip;
	uint32_t ninsn;
	enum ptc_mode mode;
	uint64_t time;	/* of its instructions */
	bool bent;	/* jumps and calls may be inside, not only at the end */
	bool part;	/* the rest of the block comes next */
	uint64_t whole; /* begin of the whole block; ip, unless it comes in parts */
};

/* @t must be zeroed: it is large, and is not cleared here. */
void ptc_branch_builder_init(struct ptc_branch_builder *t, struct ptc_out *out,
			     const struct ptc_decode_opts *opts);
void ptc_branch_builder_release(struct ptc_branch_builder *t);

/* Resets @t for another replay. Knowledge about the code is kept. */
void ptc_branch_builder_renew(struct ptc_branch_builder *t, struct ptc_out *out,
			      const struct ptc_decode_opts *opts);

/* Uses @as from now on, or rereads it because it changed. */
void ptc_branch_builder_set_code(struct ptc_branch_builder *t, const struct ptc_addrspace *as);

/*
 * Takes a block that ran. Returns false if the flow is an endless loop that needs no trace (`jmp .`
 * and the like).
 */
bool ptc_branch_builder_block(struct ptc_branch_builder *t,
			      const struct ptc_branch_builder_block *b);

/* Returns true if the target of an instruction of @kind can only be known from the trace. */
static inline bool ptc_branch_builder_needs_trace(uint8_t kind)
{
	return kind != PTC_KIND_NONE && kind != PTC_KIND_JMP && kind != PTC_KIND_CALL;
}

/*
 * Returns true if the flow came back to an address without using any trace. It will do so again and
 * again: if no trace is used, the address is the whole state.
 */
static inline bool ptc_branch_builder_is_endless(struct ptc_branch_builder *t, uint64_t ip)
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

/* Call it for an event, or for a block that needs trace: the position in the trace advanced. */
static inline void ptc_branch_builder_progress(struct ptc_branch_builder *t)
{
	t->loop_steps = 0;
	t->loop_limit = 2;
}

/*
 * Returns true if blocks only complete the pending instruction and replace it. Then
 * decode/libipt/block_loop.c may do this itself, faster.
 */
static inline bool ptc_branch_builder_is_quick(const struct ptc_branch_builder *t)
{
	return t->quick && t->last.valid && !t->nheld && t->kinds.mode == PTC_MODE_64;
}

/* Lists @n branches of @time. Nothing may be pending. Their instructions are not counted here. */
void ptc_branch_builder_list(struct ptc_branch_builder *t, const struct ptc_fast_rec *recs,
			     size_t n, uint64_t time);

/*
 * With opts.insns: lists the instruction at @ip. Returns its length, 0: not known. Blocks are not
 * told about it.
 */
uint8_t ptc_branch_builder_insn(struct ptc_branch_builder *t, uint64_t ip, enum ptc_mode mode,
				uint64_t time);

/*
 * Lists what ran from @ip, where the flow is, up to @to, which a packet proves. Returns false, and
 * lists nothing, if that needs trace, or code that is missing.
 */
bool ptc_branch_builder_reach(struct ptc_branch_builder *t, uint64_t ip, uint64_t to,
			      enum ptc_mode mode, uint64_t time);

/* The pending instruction led to @ip, where no block could follow. */
void ptc_branch_builder_land(struct ptc_branch_builder *t, uint64_t ip);

/* Tracing was enabled at @ip. */
void ptc_branch_builder_start(struct ptc_branch_builder *t, uint64_t ip, uint64_t time);
/*
 * Tracing was disabled by the pending instruction, which led to @to (0: not known). If it was no
 * branch (code that runs past the end of an address filter), the exit is asynchronous, at the
 * instruction behind it.
 */
void ptc_branch_builder_exit(struct ptc_branch_builder *t, uint64_t to, uint64_t time);
/* Something asynchronous happened at @from and led to @to, or out of traced code (0). */
void ptc_branch_builder_async(struct ptc_branch_builder *t, uint64_t from, uint64_t to,
			      uint64_t time);
/* The flow is interrupted: the target of the pending instruction is not known. */
void ptc_branch_builder_cut(struct ptc_branch_builder *t);
/* @time is the first known time: it also applies to pending items. */
void ptc_branch_builder_learn_time(struct ptc_branch_builder *t, uint64_t time);
/* Lists @ev behind everything that ran until now. */
void ptc_branch_builder_event(struct ptc_branch_builder *t, const struct ptc_pt_event *ev);

#endif
