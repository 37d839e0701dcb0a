/* SPDX-License-Identifier: MIT */
/*
 * Trace through the second engine (fast/) in place of libipt: a piece at a time, from one PSB to
 * the next. A piece is decoded as a whole, with the code and the threads as they are when it
 * begins, and its transfers are handed over step by step. What the engine declines, and all that
 * transfers do not tell, is libipt's.
 */
#ifndef PTC_DECODE_PIECE_H
#define PTC_DECODE_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/calm.h"
#include "decode/fast/engine.h"
#include "decode/made.h"
#include "decode/piece_code.h"
#include "decode/preview.h"
#include "ptcap/decode.h"

struct ptc_addrspace;
struct ptc_replay;

enum { PTC_ENGINE_REASONS = 48 };

/* The engine, for all replays of a thread, and what became of the pieces of those that have it. */
struct ptc_engine {
	bool verify; /* libipt decodes all, and what the engine would list is held against it */
	bool counts; /* transfers are counted in place of being listed; see ptc_sums_sink */
	struct ptc_engine *maker;   /* lent; that of the thread whose turn it is; NULL: this one */
	struct ptc_piece_user user; /* of what is known of code */
	struct ptc_fast fast;
	struct ptc_made made;	    /* the piece that was made last, in its turn; what it lists */
	struct ptc_made_room room;  /* is here until it is handed over */
	struct ptc_made_copy copy;  /* for made */
	struct ptc_turns turns;	    /* whose it is to be */
	struct ptc_preview preview; /* of their code, if that changes; see ptc_preview.d */

	struct ptc_engine_stats stats;
	uint64_t ahead; /* pieces that were made before their turn, of those that were taken */
	struct ptc_engine_reason reasons[PTC_ENGINE_REASONS];
	size_t nreasons;
	char difference[1024]; /* verify: the first one; "": none */
};

int ptc_engine_new(enum ptc_engine_choice choice, const struct ptc_fast_clock *clock, bool timed,
		   struct ptc_engine **ret, struct ptc_err *err);
/* Another one like @e, for another thread: what one finds out about code the other knows. */
int ptc_engine_new_like(const struct ptc_engine *e, struct ptc_engine **ret, struct ptc_err *err);
void ptc_engine_free(struct ptc_engine *e);
/*
 * It, and those that are like it, will be used by @n threads side by side: what all of them keep of
 * code is less than 1 GB, if they are no more than 32.
 */
void ptc_engine_share(struct ptc_engine *e, unsigned int n);

/*
 * What it makes next is of the code of @as, which is that of @pid; see ptc_piece_codes_use. False:
 * out of memory.
 */
bool ptc_engine_use_code(struct ptc_engine *e, const struct ptc_addrspace *as, int32_t pid,
			 bool begins);

/*
 * Make the piece at @from of the span that @v is of, with the code of @as, which is that of @pid.
 * All of it is theirs, but for turns that fast.ask tells of. What it lists goes behind what is in
 * @room.
 */
void ptc_engine_make(struct ptc_engine *e, const struct ptc_addrspace *as, int32_t pid,
		     const struct ptc_made_view *v, size_t from, struct ptc_made_room *room,
		     struct ptc_made *m);

/* A piece whose transfers are being handed over or, to verify, expected. */
struct ptc_piece {
	bool active;
	bool ahead;   /* it was made before its turn */
	bool counted; /* recs are not there, but how many there are of each kind */
	struct ptc_made_room own;
	struct ptc_made_room *lender;	 /* lent; has what is handed over; NULL: own has */
	const struct ptc_fast_rec *recs; /* there; [next, n) are to come */
	size_t next, n;
	uint64_t kinds[PTC_KIND_COUNT];
	struct ptc_fast_mark *marks; /* there; [next_mark, nmarks); tsc is in ns now */
	size_t next_mark, nmarks;
	size_t end; /* the next PSB, in the span */
	bool late;  /* the next one is of late_time, which is over */
	uint64_t late_time;
	uint64_t insns, time;
	uint64_t land; /* where the instruction in front of the piece led; has_land */
	bool has_land;
	bool stays_on; /* tracing is on behind it */
	/* The instruction that ran last: it leads to what is behind. */
	bool has_last;
	uint8_t last_kind, last_len;
	uint64_t last_ip, last_time;

	/* To verify: that in front of the piece leads to first, which comes before all. */
	bool pending;
	struct ptc_item first;
	uint64_t ran; /* instructions, by libipt */
};

void ptc_piece_release(struct ptc_piece *p);

/*
 * Those that were made ahead are about to go. What they list stays with them, unless it is still
 * handed over: memory that one CPU has written last is dear to write for another one, and must not
 * go from thread to thread.
 */
void ptc_piece_give_back(struct ptc_replay *r);

/*
 * Is there a piece to be handed over? If the decoder has just begun at a PSB the one behind it is
 * tried. False: libipt is to go on.
 */
bool ptc_piece_is_next(struct ptc_replay *r);
/* Hand over some of it, of one time, at most @max. As ptc_replay_steps. */
int ptc_piece_step(struct ptc_replay *r, size_t max);

/* To verify: the piece is what libipt should list, now. */
void ptc_piece_expect(struct ptc_replay *r);
/* Items from @first on are new, and should be those. */
void ptc_piece_check(struct ptc_replay *r, size_t first);
/* The decoder begins anew: it should be at the end of the piece. */
void ptc_piece_check_end(struct ptc_replay *r);

#endif
