/* SPDX-License-Identifier: MIT */
/*
 * The second engine, beside libipt: packets in, branches out. It gives the same branches as
 * libipt's block decoder with our branch builder, at many times their speed. It declines rare and
 * wrong trace, and leaves it to libipt.
 *
 * Runs from PSB to PSB. Once a PSB is reached, all branches listed up to there are right.
 */
#ifndef PTC_DECODE_ENGINE_ENGINE_H
#define PTC_DECODE_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/pt_packet.h"
#include "decode/engine/flow_cursor.h"
#include "decode/engine/packet_time.h"
#include "decode/engine/tnt_chain.h"

enum ptc_fast_status {
	PTC_FAST_GO_ON = -1, /* internal: more packets to take */
	PTC_FAST_AT_PSB,     /* behind a PSB+, other than the first one */
	PTC_FAST_AT_END,     /* at the end of the bytes */
	PTC_FAST_DECLINED,   /* flow.why has the reason, pos the place; it cannot go on */
};

/*
 * From here on the time is another one. libipt gives a branch the time of the packet that the
 * branch before it used. So a mark is behind the branch that uses the first packet of a time. If an
 * event comes next, the mark is here at once.
 */
struct ptc_fast_mark {
	size_t recs;	/* records of this run in front of it, listed or counted */
	uint64_t insns; /* instructions in front of it */
	uint64_t tsc;
	bool turn; /* from here on another thread runs */
	bool late; /* the last record in front is of that thread, too, at the earlier time */
};

struct ptc_fast;

/*
 * Asks whether the same thread still runs at time @tsc. PTC_FAST_TURN: another thread runs. If that
 * has other code, ptc_fast_change was called. PTC_FAST_NO_TURN: declined, and flow.why has the
 * reason.
 */
enum ptc_fast_turn { PTC_FAST_SAME, PTC_FAST_TURN, PTC_FAST_NO_TURN };
typedef enum ptc_fast_turn ptc_fast_ask(void *ctx, struct ptc_fast *f, uint64_t tsc);

struct ptc_fast {
	struct ptc_fast_flow flow;
	struct ptc_fast_chains *chains; /* lent; of the flow's code */
	bool plain;			/* go bit by bit, without chains */
	bool counts;			/* count branches that need not be listed */
	/*
	 * Decline overflows and changes of mode, which records do not report. Decline trace that
	 * only processors with an erratum produce.
	 */
	bool strict;
	const uint8_t *bytes; /* lent */
	size_t len, pos;
	bool cut;   /* the trace goes on behind the bytes */
	bool began; /* the first PSB+ was read */
	struct {
		bool on; /* tracing is on */
		uint64_t ip;
		enum ptc_mode mode;
	} start; /* as the first PSB+ says */

	/* Unused TNT bits; the oldest is bit 63. */
	uint64_t bits;
	unsigned int nbits;
	unsigned int newest; /* number of bits in the last packet */

	uint64_t last_ip;
	uint64_t left_at;   /* where the flow was when an asynchronous event ended tracing; or 0 */
	enum ptc_mode mode; /* of the next address */
	bool no_mode;	    /* no mode is known yet */
	bool tsc;	    /* see ptc_fast_is_time */
	bool mode_said;	    /* there is a mode for the TIP that must come next */
	bool mode_waits;    /* tracing is off: there is a mode for the next TIP.PGE */
	bool marker;	    /* the next FUP belongs to a packet in front of it */
	bool mwait;	    /* the packet is an MWAIT, whose FUP an EXSTOP may share */
	bool marked;	    /* such a FUP came at marked_insns instructions */
	uint64_t marked_insns;
	size_t psb;   /* offset of the last PSB */
	bool erratum; /* not strict: a PSB+ was accepted as one of an erratum */

	struct ptc_fast_time time;
	uint64_t told;		     /* time of the last mark, or of the beginning */
	bool due;		     /* the time has changed: a mark must follow */
	struct ptc_fast_mark *marks; /* owned */
	size_t nmarks, marks_cap;

	ptc_fast_ask *ask; /* called at each mark; NULL: not called */
	void *asked;	   /* lent; argument of ask */
};

/* @hand and @chains (lent) are of the same code, and may know much already. Or NULL, see below. */
void ptc_fast_init(struct ptc_fast *f, struct ptc_fast_hand *hand, struct ptc_fast_chains *chains);
void ptc_fast_release(struct ptc_fast *f);
/* Use these from the next beginning on. */
void ptc_fast_use(struct ptc_fast *f, struct ptc_fast_hand *hand, struct ptc_fast_chains *chains);

/*
 * Switch to other code in the middle of a run. The position of the flow and its return addresses
 * keep their addresses, in the code that @get gives. On failure false: flow.why has the reason.
 */
bool ptc_fast_change(struct ptc_fast *f, bool (*get)(void *ctx, struct ptc_fast *f), void *ctx);

/*
 * Begin at the PSB at @pos of @bytes. Nothing is listed, and nothing is known of the trace before.
 * If time.on there are marks. Then the PSB+ must give the time, and this must be called for each
 * PSB.
 */
void ptc_fast_begin(struct ptc_fast *f, const uint8_t *bytes, size_t len, size_t pos);

/* Run to the next PSB, and over its PSB+. */
enum ptc_fast_status ptc_fast_run(struct ptc_fast *f);

#endif
