/* SPDX-License-Identifier: MIT */
/*
 * Counts the instructions between branches. From one branch to the next the code runs straight on:
 * all jumps that were taken are branches. So the code between the target of a branch and the next
 * branch has all instructions that ran. Each such block is counted once and remembered.
 *
 * Not counted: instructions behind the last branch in front of a gap, and in front of the first
 * branch behind a gap. There the trace does not say where the code ran from, or to.
 */
#ifndef PTC_DECODE_SESSION_INSN_COUNTER_H
#define PTC_DECODE_SESSION_INSN_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/session/code_numbers.h"
#include "ptcap/decode.h"

enum { PTC_INSN_COUNTER_BITS = 16 };

struct ptc_addrspace;

/* A block that ran, with its number of instructions. */
struct ptc_insn_block {
	uint64_t start, end; /* end: its last instruction, or if @open the instruction behind it */
	uint64_t code;	     /* number of a ptc_code_part, and 1 bit: open */
	uint32_t insns;
};

struct ptc_insn_thread {
	int64_t who;	  /* a tid; below 0: the unknown thread of a queue */
	uint64_t at;	  /* next instruction */
	bool known;	  /* at is known */
	uint64_t pending; /* instructions that no delivered item has */
};

struct ptc_insn_counter {
	struct ptc_decode *d;		 /* lent */
	struct ptc_insn_block *blocks;	 /* owned; 1 << BITS, by hash; NULL: none yet */
	struct ptc_insn_thread *threads; /* owned; ascending */
	size_t n, cap, newest;
	/* ptc_decode_code_state of pid; valid for one call of on_items */
	uint64_t state;
	int32_t pid;
	bool state_known;
	struct ptc_code_numbers numbers;
	struct ptc_code_part part; /* the last; valid while the state is part_state */
	uint64_t part_state;
};

void ptc_insn_counter_release(struct ptc_insn_counter *c);

/* Call it at the begin of on_items: mappings may have changed since the last call. */
static inline void ptc_insn_counter_begin(struct ptc_insn_counter *c)
{
	c->state_known = false;
}

/*
 * Count what ran up to @it, which is the next item in order. Returns the number of instructions
 * that the thread of @it has retired since the last item with a number (see
 * ptc_insn_counter_take), valid until the next call. NULL: out of memory.
 */
uint64_t *ptc_insn_counter_add(struct ptc_insn_counter *c, const struct ptc_item *it);

/* Returns *@pending, as far as an item's number can hold it, and subtracts it. */
static inline uint32_t ptc_insn_counter_take(uint64_t *pending)
{
	const uint32_t n = *pending < UINT32_MAX ? (uint32_t)*pending : UINT32_MAX;

	*pending -= n;
	return n;
}

/*
 * Returns the number of instructions from @start up to @end, which is included unless @open. 0: the
 * code is not known, or does not lead there.
 */
uint32_t ptc_insn_count(const struct ptc_addrspace *as, uint64_t start, uint64_t end, bool open);

/*
 * Call @on_insn with @ctx for each of these instructions, in order, with its address. Stops when
 * @on_insn returns non-zero, and returns that value. Otherwise returns 0.
 */
int ptc_insn_each(const struct ptc_addrspace *as, uint64_t start, uint64_t end, bool open,
		  int (*on_insn)(void *ctx, uint64_t ip), void *ctx);

#endif
