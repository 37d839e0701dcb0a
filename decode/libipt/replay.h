/* SPDX-License-Identifier: MIT */
/*
 * Decodes one queue's trace into items, step by step. The second engine decodes PSB segments
 * (decode/segment). libipt's block decoder decodes everything else.
 */
#ifndef PTC_DECODE_LIBIPT_REPLAY_H
#define PTC_DECODE_LIBIPT_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/items/item_queue.h"
#include "decode/stream/seek.h"
#include "decode/stream/stream.h"
#include "decode/stream/tsc_clock.h"

struct ptc_addrspace;
struct ptc_engine;
struct ptc_ipt;
struct ptc_queue_contexts;
struct ptc_result;
struct ptc_result_list;
struct ptc_notes;
struct ptc_replay;

/* Information from AUX records about a place in the stream. */
struct ptc_mark {
	uint64_t off; /* in the AUX stream */
	enum ptc_gap_cause cause;
	uint64_t len; /* how many bytes of the stream are missing */
};

/* Everything is lent, and must outlive the replay. */
struct ptc_replay_conf {
	const struct ptc_decode_opts *opts;
	enum ptc_resync resync; /* not DEFAULT */
	struct ptc_ipt *ipt;
	struct ptc_engine *engine; /* NULL: use only libipt */
	struct ptc_tsc_clock clock;
	const struct ptc_queue_contexts *contexts; /* of the queue; NULL: none are known */
	const struct ptc_stream *stream;
	const struct ptc_psbs *psbs;  /* lent: known PSBs of the stream; NULL: none */
	struct ptc_spot start;	      /* trace in front of it is ignored */
	const struct ptc_mark *marks; /* ascending */
	size_t nmarks;
	bool ahead;	/* decoded before its turn */
	bool snapshots; /* a hole in the stream was not kept, and is no loss */
	uint32_t queue;
	struct ptc_decode_stats *stats;
	struct ptc_notes *notes;
	struct ptc_sums *sums;	 /* for segments whose branches are counted; NULL: none are */
	bool runs;		 /* RUN items are allowed */
	uint64_t from_ns, to_ns; /* the requested time; to_ns 0: no end */
};

int ptc_replay_new(const struct ptc_replay_conf *conf, struct ptc_replay **ret,
		   struct ptc_err *err);
void ptc_replay_free(struct ptc_replay *r);

/* As ptc_replay_free() and ptc_replay_new(), but keeps the memory for reuse. */
void ptc_replay_renew(struct ptc_replay *r, const struct ptc_replay_conf *conf);
/* Makes a series of steps end at @stop or before. */
void ptc_replay_set_stop(struct ptc_replay *r, struct ptc_spot stop);

/* @before: gaps that begin from now on belong to another shard: their missing code is not noted. */
void ptc_replay_set_before(struct ptc_replay *r, bool before);
/* @listing: the engine lists the branches of segments that it could count. */
void ptc_replay_set_listing(struct ptc_replay *r, bool listing);
/* A segment that libipt made ahead is not taken if it ends behind @limit, where items are checked.
 */
void ptc_replay_set_limit(struct ptc_replay *r, struct ptc_spot limit);

/*
 * From now on the engine makes no segment with a time at or behind @engine_to_ns, and instructions
 * count from @from_ns up to @to_ns. 0: no end.
 */
void ptc_replay_set_times(struct ptc_replay *r, uint64_t engine_to_ns, uint64_t from_ns,
			  uint64_t to_ns);

/* Sideband records up to time @ns have been applied. The time of the replay may be lower. */
void ptc_replay_set_applied(struct ptc_replay *r, uint64_t ns);

/* Lends segments that were made ahead, until the next call. @made may be NULL. */
void ptc_replay_set_made(struct ptc_replay *r, struct ptc_result_list *made);

/*
 * Returns true if code is missing that may have been mapped since the last known time (conf.ahead).
 */
bool ptc_replay_is_stuck(const struct ptc_replay *r);

/*
 * Returns true if decoding has just begun at a PSB, and nothing from in front of the PSB is needed
 * but the pending instruction and the time.
 */
bool ptc_replay_is_at_psb(const struct ptc_replay *r);
/* Begins @m at that PSB. */
void ptc_replay_begin_made(const struct ptc_replay *r, struct ptc_result *m);
/* Ends @m at that PSB: moves the pending instruction to @m. */
void ptc_replay_end_made(struct ptc_replay *r, struct ptc_result *m);

/* Sets the thread that runs from now on, and its code. */
void ptc_replay_set_context(struct ptc_replay *r, int32_t pid, int32_t tid, int32_t cpu,
			    struct ptc_addrspace *as);

/* Makes one step: at most one block. Returns 1; 0 at the end of the trace; or a negative code. */
int ptc_replay_step(struct ptc_replay *r, struct ptc_err *err);
/*
 * Makes at least one step, and more as long as the caller has nothing to do between them: the time
 * stays the same, and no more than about @max items wait. Returns as ptc_replay_step().
 */
int ptc_replay_steps(struct ptc_replay *r, size_t max, struct ptc_err *err);

/* Returns the time at which the next step begins; 0 if not known. */
uint64_t ptc_replay_time(const struct ptc_replay *r);
/* Returns a time that no item to come is earlier than. */
uint64_t ptc_replay_low(const struct ptc_replay *r);
/* Returns true if a gap without a time may still grow, and is not listed yet. */
bool ptc_replay_has_open_gap(const struct ptc_replay *r);
/*
 * Records were lost at @time: lists a gap of length 0. The gap is
 * earlier if the items in front of it are not there yet.
 */
void ptc_replay_lost(struct ptc_replay *r, uint64_t time);
/*
 * Returns true while a segment of the second engine is being handed over. Runs from the segment
 * stay in its buffer until then. If they still wait when the next segment begins, they must be
 * copied.
 */
bool ptc_replay_is_in_piece(const struct ptc_replay *r);
/* Returns the position as a spot. */
struct ptc_spot ptc_replay_spot(const struct ptc_replay *r);

/* The same, but in front of a PSB that was read and that the flow has not reached. */
struct ptc_spot ptc_replay_flow_spot(const struct ptc_replay *r);

/* Returns the items so far. The caller takes items from the front by moving head. */
struct ptc_out *ptc_replay_out(struct ptc_replay *r);

#endif
