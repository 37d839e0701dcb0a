/* SPDX-License-Identifier: MIT */
/*
 * The position of the flow, and how it moves on: over whole blocks, with a bit or an address of
 * trace; or over a part of a block, to the place of an event. The branches on the way are listed.
 *
 * The last instruction may turn out to have left traced code. Or unknown trace may follow it. Then
 * its record is taken back.
 */
#ifndef PTC_DECODE_ENGINE_FLOW_CURSOR_H
#define PTC_DECODE_ENGINE_FLOW_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/engine/block.h"

enum { PTC_FAST_STACK = 64 }; /* return addresses that the processor keeps: SDM 33.4.2.2 */

/* How a part of the flow ended. */
enum ptc_fast_reached {
	PTC_FAST_THERE,	     /* the flow reached its destination */
	PTC_FAST_NEEDS_IP,   /* at an indirect jump, call or far branch, which did not run */
	PTC_FAST_NEEDS_BITS, /* at a jcc or return, which did not run */
	PTC_FAST_LOST,	     /* the trace does not match the code, or there is no code; see why */
};

/* A record that is no branch has kind NONE, and one of these as its to. */
enum {
	PTC_FAST_OVERFLOW = 1, /* trace was lost here */
};

/* The last instruction, as long as no packet says where it led. */
struct ptc_fast_last {
	enum { PTC_FAST_LAST_NONE, PTC_FAST_LAST_BLOCK, PTC_FAST_LAST_INSN } how;
	bool listed;	/* the last record has its target, as far as known */
	bool proven;	/* a packet shows that the flow came to the target */
	uint32_t block; /* BLOCK: the last instruction of this block */
	uint64_t ip;	/* INSN: the instruction at this address */
	uint8_t kind, len;
};

struct ptc_fast_flow {
	struct ptc_fast_hand *hand; /* lent; for this flow only */
	struct ptc_fast_code *code; /* the code of hand */
	uint32_t at;		    /* the next block; NONE: tracing is off */
	enum ptc_mode mode;

	uint32_t stack[PTC_FAST_STACK]; /* blocks; NONE: nothing was pushed */
	unsigned int sp;		/* counts up; the next free slot */

	struct ptc_fast_last last;

	struct ptc_fast_rec *recs; /* owned; records in front of first are not of this flow */
	size_t first, nrecs, recs_cap;
	/* Branches that were counted instead of listed. All come before recs. */
	size_t ncounted;
	uint64_t kinds[PTC_KIND_COUNT];
	uint64_t insns;

	const char *why; /* reason for LOST */
};

/* @hand may be NULL: none yet. */
void ptc_fast_flow_init(struct ptc_fast_flow *f, struct ptc_fast_hand *hand);
/* Use @hand from the next beginning on. */
void ptc_fast_flow_use(struct ptc_fast_flow *f, struct ptc_fast_hand *hand);
/* Reset everything except the allocated memory. */
void ptc_fast_flow_restart(struct ptc_fast_flow *f);
void ptc_fast_flow_release(struct ptc_fast_flow *f);

/* Tracing is on at @ip, in code of @mode. Caller decides whether to list a start. */
enum ptc_fast_reached ptc_fast_flow_begin(struct ptc_fast_flow *f, uint64_t ip, enum ptc_mode mode);
static inline bool ptc_fast_flow_is_on(const struct ptc_fast_flow *f)
{
	return f->at != PTC_FAST_NONE;
}

/*
 * Use the @n bits of @bits, the oldest of which is bit 63, and move on. If an address is needed,
 * the bits that are left come behind it.
 */
enum ptc_fast_reached ptc_fast_flow_bits(struct ptc_fast_flow *f, uint64_t *bits, unsigned int *n);
/* The instruction that needs an address led to @ip, in code of @mode. */
enum ptc_fast_reached ptc_fast_flow_tip(struct ptc_fast_flow *f, uint64_t ip, enum ptc_mode mode);
/* Move on to @ip, without trace. */
enum ptc_fast_reached ptc_fast_flow_to(struct ptc_fast_flow *f, uint64_t ip);

/* Tracing went off in front of @ip if @has_ip, else with the next instruction that needs trace. */
enum ptc_fast_reached ptc_fast_flow_off(struct ptc_fast_flow *f, bool has_ip, uint64_t ip);
/*
 * At @from an asynchronous event led to @to, in code of @mode. Tracing is still @on, or is off (@to
 * 0: unknown).
 */
enum ptc_fast_reached ptc_fast_flow_async(struct ptc_fast_flow *f, uint64_t from, uint64_t to,
					  enum ptc_mode mode, bool on);
/* Trace was lost: the position of the flow is unknown. */
void ptc_fast_flow_cut(struct ptc_fast_flow *f);

/* Ends the trace: listed branches stay. Later instructions may not have run. */
void ptc_fast_flow_end(struct ptc_fast_flow *f);

/* Returns the last instruction as INSN. NONE: there is none. */
struct ptc_fast_last ptc_fast_flow_last(const struct ptc_fast_flow *f);

/* Returns the number of branches, listed or counted. */
static inline size_t ptc_fast_flow_passed(const struct ptc_fast_flow *f)
{
	return f->ncounted + f->nrecs - f->first;
}

/* Count the listed branches instead of listing them. None of them may still change. */
void ptc_fast_flow_count(struct ptc_fast_flow *f);

/* List a record. */
enum ptc_fast_reached ptc_fast_flow_list(struct ptc_fast_flow *f, struct ptc_fast_rec rec);

/*
 * Remove the first @n records. Not the last record while last.listed is set: it may still change.
 */
void ptc_fast_flow_take(struct ptc_fast_flow *f, size_t n);

/* Behind a PSB, no return refers to a call in front of it. */
void ptc_fast_flow_forget_calls(struct ptc_fast_flow *f);

/* The position and the return addresses, without blocks: addresses and modes. */
struct ptc_fast_stand {
	uint64_t at, stack[PTC_FAST_STACK]; /* 0: none */
	uint8_t modes[PTC_FAST_STACK];
};

/*
 * Returns the stand of the flow. Until ptc_fast_flow_return, the flow refers to nothing of its
 * code.
 */
struct ptc_fast_stand ptc_fast_flow_leave(struct ptc_fast_flow *f);
/*
 * Go on at the same place, in the code that the flow has now. On failure false: why has the reason.
 */
bool ptc_fast_flow_return(struct ptc_fast_flow *f, const struct ptc_fast_stand *stand);

#endif
