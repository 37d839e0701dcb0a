/* SPDX-License-Identifier: MIT */
/*
 * Where the flow is, and how it goes on: over whole blocks, with a bit or an address of trace, or
 * over a part of them, to where something happened. What was passed is listed as transfers.
 *
 * The instruction that ran last may yet turn out to have left traced code, or to be followed by
 * nothing that is known: then what was listed of it is taken back.
 */
#ifndef PTC_DECODE_FAST_FLOW_H
#define PTC_DECODE_FAST_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/fast/block.h"

enum { PTC_FAST_STACK = 64 }; /* return addresses that the processor keeps: SDM 33.4.2.2 */

/* How a piece of the flow ended. */
enum ptc_fast_reached {
	PTC_FAST_THERE,	     /* where it was to come */
	PTC_FAST_NEEDS_IP,   /* at an indirect jump, call or far transfer; it did not run */
	PTC_FAST_NEEDS_BITS, /* at a jcc or return; it did not run */
	PTC_FAST_LOST,	     /* not as the trace says, or no code; see why */
};

/* What is listed beside transfers has the kind of none, and this as its end. */
enum {
	PTC_FAST_OVERFLOW = 1, /* trace was lost here */
};

/* The instruction that ran last, as long as nothing else says where it led. */
struct ptc_fast_last {
	enum { PTC_FAST_LAST_NONE, PTC_FAST_LAST_BLOCK, PTC_FAST_LAST_INSN } how;
	bool listed;	/* what is known of where it led is the last of recs */
	bool proven;	/* a packet says that the flow came there */
	uint32_t block; /* BLOCK: its last one */
	uint64_t ip;	/* INSN: this one */
	uint8_t kind, len;
};

struct ptc_fast_flow {
	struct ptc_fast_hand *hand; /* lent; this flow's alone */
	struct ptc_fast_code *code; /* that it is in */
	uint32_t at;		    /* the block that comes next; NONE: tracing is off */
	enum ptc_mode mode;

	uint32_t stack[PTC_FAST_STACK]; /* blocks; NONE: nothing was pushed */
	unsigned int sp;		/* counts up; the next free one */

	struct ptc_fast_last last;

	struct ptc_fast_rec *recs; /* owned; those in front of the first are not of this flow */
	size_t first, nrecs, recs_cap;
	/* Transfers that were counted in place of being listed: all in front of recs. */
	size_t ncounted;
	uint64_t kinds[PTC_KIND_COUNT];
	uint64_t insns;

	const char *why; /* of LOST */
};

/* With @hand, or none yet (NULL). */
void ptc_fast_flow_init(struct ptc_fast_flow *f, struct ptc_fast_hand *hand);
/* From the next beginning on. */
void ptc_fast_flow_use(struct ptc_fast_flow *f, struct ptc_fast_hand *hand);
/* As new, but for the memory it has. */
void ptc_fast_flow_restart(struct ptc_fast_flow *f);
void ptc_fast_flow_release(struct ptc_fast_flow *f);

/* Tracing is on at @ip, in code of @mode: whether that is a start is the caller's business. */
enum ptc_fast_reached ptc_fast_flow_begin(struct ptc_fast_flow *f, uint64_t ip, enum ptc_mode mode);
static inline bool ptc_fast_flow_is_on(const struct ptc_fast_flow *f)
{
	return f->at != PTC_FAST_NONE;
}

/*
 * Use the @n bits of @bits, the oldest of which is bit 63, and move on. What is left when it needs
 * an address is behind that.
 */
enum ptc_fast_reached ptc_fast_flow_bits(struct ptc_fast_flow *f, uint64_t *bits, unsigned int *n);
/* The instruction that needs an address went to @ip, where the code is of @mode. */
enum ptc_fast_reached ptc_fast_flow_tip(struct ptc_fast_flow *f, uint64_t ip, enum ptc_mode mode);
/* Go on to @ip, without trace. */
enum ptc_fast_reached ptc_fast_flow_to(struct ptc_fast_flow *f, uint64_t ip);

/* Tracing went off in front of @ip, if there is one, or with the next instruction that needs trace.
 */
enum ptc_fast_reached ptc_fast_flow_off(struct ptc_fast_flow *f, bool has_ip, uint64_t ip);
/*
 * At @from something asynchronous led to @to, where the code is of @mode and tracing still @on, or
 * off (@to 0: not known).
 */
enum ptc_fast_reached ptc_fast_flow_async(struct ptc_fast_flow *f, uint64_t from, uint64_t to,
					  enum ptc_mode mode, bool on);
/* Trace was lost: where the flow is is not known. */
void ptc_fast_flow_cut(struct ptc_fast_flow *f);

/* Ends the trace: listed branches stay. Later instructions may not have run. */
void ptc_fast_flow_end(struct ptc_fast_flow *f);

/* What is known of the last instruction, if there is one: NONE or INSN. */
struct ptc_fast_last ptc_fast_flow_last(const struct ptc_fast_flow *f);

/* How many transfers there were, listed or counted. */
static inline size_t ptc_fast_flow_passed(const struct ptc_fast_flow *f)
{
	return f->ncounted + f->nrecs - f->first;
}

/* Count those that are listed, which is not for what may yet change. */
void ptc_fast_flow_count(struct ptc_fast_flow *f);

/* List something. */
enum ptc_fast_reached ptc_fast_flow_list(struct ptc_fast_flow *f, struct ptc_fast_rec rec);

/* The first @n records are done with. Not with the last one while last.listed: it may
 * change yet. */
void ptc_fast_flow_take(struct ptc_fast_flow *f, size_t n);

/* Behind a PSB no return goes where a call in front of it came from. */
void ptc_fast_flow_forget_calls(struct ptc_fast_flow *f);

/* Where it is, and where calls came from, without blocks: their addresses and modes. */
struct ptc_fast_stand {
	uint64_t at, stack[PTC_FAST_STACK]; /* 0: none */
	uint8_t modes[PTC_FAST_STACK];
};

/* From here on nothing of it is of its code any more, until it is back: */
struct ptc_fast_stand ptc_fast_flow_leave(struct ptc_fast_flow *f);
/* at the same place, in the code that it has now. False: why says why. */
bool ptc_fast_flow_return(struct ptc_fast_flow *f, const struct ptc_fast_stand *stand);

#endif
