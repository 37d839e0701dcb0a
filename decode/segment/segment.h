/* SPDX-License-Identifier: MIT */
/*
 * Decodes trace with the second engine (decode/engine) instead of libipt, one PSB segment at a
 * time. A PSB segment is the trace from one PSB to the next.
 *
 * A segment is decoded as a whole, with the threads and the code that the context timeline gives.
 * Its branches are then handed over step by step. libipt decodes segments that the engine declines,
 * and everything that branches do not show.
 */
#ifndef PTC_DECODE_SEGMENT_SEGMENT_H
#define PTC_DECODE_SEGMENT_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/engine/code_cache.h"
#include "decode/engine/engine.h"
#include "decode/segment/segment_result.h"
#include "decode/timeline/context_timeline.h"
#include "ptcap/decode.h"

struct ptc_replay;

enum { PTC_ENGINE_REASONS = 48 };

/*
 * The engine of one thread, used by all its replays, and statistics about the segments of those
 * replays.
 */
struct ptc_engine {
	bool verify; /* libipt decodes everything; its branches are compared with ours */
	bool counts; /* branches are counted, not listed; see ptc_sums_sink */
	struct ptc_engine *maker; /* lent; the engine of the serving thread; NULL: this engine */
	struct ptc_segment_user user; /* the cached knowledge about code */
	struct ptc_fast fast;
	struct ptc_result made;	     /* the segment made last, when its turn came. Its branches */
	struct ptc_result_room room; /* stay here until they are handed over */
	struct ptc_result_copy copy; /* backs @made */

	struct ptc_engine_stats stats;
	struct ptc_engine_reason reasons[PTC_ENGINE_REASONS];
	size_t nreasons;
	char difference[1024]; /* verify: the first difference; "": none */
};

int ptc_engine_new(enum ptc_engine_choice choice, const struct ptc_fast_clock *clock, bool timed,
		   struct ptc_engine **ret, struct ptc_err *err);
/* Creates an engine like @e for another thread. Both engines share their facts about code. */
int ptc_engine_new_like(const struct ptc_engine *e, struct ptc_engine **ret, struct ptc_err *err);
void ptc_engine_free(struct ptc_engine *e);
/*
 * Prepares for @n threads that use @e and its copies in parallel. All their caches of code together
 * take less than 1 GB if @n is at most 32.
 */
void ptc_engine_share(struct ptc_engine *e, unsigned int n);

/* What a segment is made from. All of it is lent. */
struct ptc_segment_source {
	const struct ptc_span *span;
	size_t from, next; /* offsets of its PSB and of the next one, in @span */
	const struct ptc_tsc_clock *clock;
	const struct ptc_queue_contexts *contexts;
	size_t first;	/* index of the context at its beginning */
	uint64_t to_ns; /* end of the requested time; 0: none */
	bool listing;	/* branches are listed, even if the engine counts */
};

/*
 * The reason of segments during which records are lost, or the requested time or the known contexts
 * end.
 */
extern const char PTC_SEGMENT_CUT_SHORT[];

/*
 * Decodes a segment. The result depends on @s only. Branches are appended to @room. @copy: memory
 * for bytes that are not contiguous.
 */
void ptc_engine_make(struct ptc_engine *e, const struct ptc_segment_source *s,
		     struct ptc_result_copy *copy, struct ptc_result_room *room,
		     struct ptc_result *m);

/* A segment whose branches are being handed over or, with verify, compared. */
struct ptc_segment {
	bool active;
	bool ahead;   /* the segment was made before its turn */
	bool counted; /* branches are only counted, by kind; recs is not set */
	struct ptc_result_room own;
	struct ptc_result_room *lender;	 /* lent; the buffer with recs; NULL: @own has them */
	const struct ptc_fast_rec *recs; /* in that buffer; [next, n) are still to be handed over */
	size_t next, n;
	/* With opts.insns. nall: n, and the branch without a target yet; ip: of the next one. */
	size_t nall;
	uint64_t ran_insns, ip;
	uint64_t kinds[PTC_KIND_COUNT];
	/* By libipt: items, in that buffer; [next, n) and [next_step, nsteps) left. */
	bool items;
	const struct ptc_item *its;
	const struct ptc_result_step *steps;
	size_t next_step, nsteps;
	size_t land_step; /* the step in which the instruction in front of it leads to @land */
	uint64_t told;
	struct ptc_decode_stats stats;
	struct ptc_notes *notes;     /* owned */
	struct ptc_fast_mark *marks; /* in that buffer; [next_mark, nmarks) left; tsc: ns now */
	size_t next_mark, nmarks;
	size_t end; /* offset of the next PSB in the span */
	bool late;  /* the next branch still has late_time, which is past */
	uint64_t late_time;
	uint64_t insns, time;
	uint64_t land; /* where the instruction in front of the segment led; if has_land */
	bool has_land;
	bool stays_on; /* tracing is on behind the segment */
	/* The instruction that ran last. The next segment shows where it led. */
	bool has_last;
	uint8_t last_kind, last_len;
	uint64_t last_ip, last_time;

	/* verify: the instruction in front of the segment led to @first, which comes before all. */
	bool pending;
	struct ptc_item first;
	uint64_t ran; /* instructions that libipt decoded */
};

void ptc_segment_release(struct ptc_segment *p);

/*
 * Call it before the segments made ahead are freed. Their records stay in their buffer, unless they
 * are still being handed over. A buffer should not move between threads: writing memory that
 * another CPU wrote last is expensive.
 */
void ptc_segment_give_back(struct ptc_replay *r);

/*
 * Returns true if there is a segment to hand over. If the decoder has just begun at a PSB, tries
 * the segment behind that PSB. Returns false if libipt must go on.
 */
bool ptc_segment_is_next(struct ptc_replay *r);
/*
 * Hands over part of the segment: branches of one time, at most @max. Returns as
 * ptc_replay_steps().
 */
int ptc_segment_step(struct ptc_replay *r, size_t max);

/* segment_insns.c: */

/*
 * With opts.insns: lists some @max instructions, all of one time. Returns true if they were the
 * last ones of the segment.
 */
bool ptc_segment_step_insns(struct ptc_replay *r, size_t max);

/* item_handover.c: */

/*
 * Begins to hand over the segment that libipt made before its turn, if one is here and fits the
 * state of the replay. Returns the segment, or NULL.
 */
const struct ptc_result *ptc_segment_take_items(struct ptc_replay *r);
/* Hands over the items of one step. Returns true if these were the last ones. */
bool ptc_segment_step_items(struct ptc_replay *r);

/* engine_crosscheck.c: */

/* Verify: libipt should list this segment now. */
void ptc_segment_expect(struct ptc_replay *r);
/* Verify: compares the new items, from @first on, with the segment. */
void ptc_segment_check(struct ptc_replay *r, size_t first);
/* Verify: the decoder begins anew, and should have reached the end of the segment. */
void ptc_segment_check_end(struct ptc_replay *r);

#endif
