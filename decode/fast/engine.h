/* SPDX-License-Identifier: MIT */
/*
 * A second engine beside libipt: packets in, transfers out, the same ones as libipt's block decoder
 * and our trail make, at many times their speed. It does not judge: what is rare, and what is
 * wrong, it declines, and leaves to libipt.
 *
 * It runs from PSB to PSB. What it has listed up to the last PSB is right if it came there.
 */
#ifndef PTC_DECODE_FAST_ENGINE_H
#define PTC_DECODE_FAST_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/pt_packet.h"
#include "decode/fast/chain.h"
#include "decode/fast/flow.h"
#include "decode/fast/time.h"

enum ptc_fast_status {
	PTC_FAST_GO_ON = -1, /* inside: there is more of the same */
	PTC_FAST_AT_PSB,     /* behind a PSB+, other than the one it began at */
	PTC_FAST_AT_END,     /* of the bytes */
	PTC_FAST_DECLINED, /* flow.why says why, pos where; nothing can be done with it any more */
};

/*
 * From here on it is another time. What that of a transfer is, as libipt tells it, follows from the
 * packet that the one before it used: so a mark is behind the branch that uses the first packet of
 * a time, but at once where an event is what comes next.
 */
struct ptc_fast_mark {
	size_t recs;	/* in front of it, of those of this run, listed or counted; */
	uint64_t insns; /* and instructions */
	uint64_t tsc;
	bool turn; /* from here on it is somebody else's; */
	bool late; /* also the last of recs, of the time in front */
};

struct ptc_fast;

/*
 * From here on it is @tsc: is it still the same thread that runs? PTC_FAST_TURN: not; if that has
 * other code, ptc_fast_change was called.
 */
enum ptc_fast_turn { PTC_FAST_SAME, PTC_FAST_TURN, PTC_FAST_NO_TURN };
typedef enum ptc_fast_turn ptc_fast_ask(void *ctx, struct ptc_fast *f, uint64_t tsc);

struct ptc_fast {
	struct ptc_fast_flow flow;
	struct ptc_fast_chains *chains; /* lent; of the flow's code */
	bool plain;			/* bit by bit, without chains */
	bool counts;			/* transfers, where it need not list them */
	/*
	 * Decline what records do not tell, overflows and changes of mode, and what an erratum
	 * makes, which not all processors have.
	 */
	bool strict;
	const uint8_t *bytes; /* lent */
	size_t len, pos;
	bool cut;   /* the trace goes on behind the bytes */
	bool began; /* the first PSB+ is behind us: */
	struct {
		bool on; /* tracing, */
		uint64_t ip;
		enum ptc_mode mode;
	} start; /* as it says */

	/* TNT bits that are not used yet; the oldest is bit 63. */
	uint64_t bits;
	unsigned int nbits;
	unsigned int newest; /* as many were in the last packet */

	uint64_t last_ip;
	uint64_t left_at;   /* where the flow was when something asynchronous ended tracing; or 0 */
	enum ptc_mode mode; /* of the next address that there is */
	bool no_mode;	    /* none was told yet */
	bool tsc;	    /* see ptc_fast_is_time */
	bool mode_said;	    /* for the TIP that has to come next, */
	bool mode_waits;    /* or, while tracing is off, for the TIP.PGE */
	bool marker;	    /* the next FUP is of a packet in front of it, */
	bool mwait;	    /* a MWAIT, whose FUP an EXSTOP may share */
	bool marked;	    /* there was one, when there were */
	uint64_t marked_insns;
	size_t psb;   /* where the last one began */
	bool erratum; /* not strict: a PSB+ was taken for one of an erratum */

	struct ptc_fast_time time;
	uint64_t told;		     /* the time of the last mark, or that it began with */
	bool due;		     /* it is another one now: a mark is to come */
	struct ptc_fast_mark *marks; /* owned */
	size_t nmarks, marks_cap;

	ptc_fast_ask *ask; /* at each mark; NULL: nobody */
	void *asked;	   /* lent */
};

/* @hand and @chains (lent), of the same code, which may know much already; or NULL, see below. */
void ptc_fast_init(struct ptc_fast *f, struct ptc_fast_hand *hand, struct ptc_fast_chains *chains);
void ptc_fast_release(struct ptc_fast *f);
/* From the next beginning on these. */
void ptc_fast_use(struct ptc_fast *f, struct ptc_fast_hand *hand, struct ptc_fast_chains *chains);

/*
 * In the middle of it: where the flow is, and goes back to, is the same addresses in other code,
 * which @get gives (false: why is flow.why).
 */
bool ptc_fast_change(struct ptc_fast *f, bool (*get)(void *ctx, struct ptc_fast *f), void *ctx);

/*
 * Begin at the PSB at @pos of @bytes, with nothing listed and nothing known of what was before. If
 * time.on there are marks; then its PSB+ must tell the time, and this is to be done for each PSB.
 */
void ptc_fast_begin(struct ptc_fast *f, const uint8_t *bytes, size_t len, size_t pos);

/* Run to the next PSB, and behind its PSB+. */
enum ptc_fast_status ptc_fast_run(struct ptc_fast *f);

#endif
