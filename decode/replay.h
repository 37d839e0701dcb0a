/* SPDX-License-Identifier: MIT */
/*
 * One queue's trace -> items, step by step. The engine behind it is libipt's
 * block decoder; nothing of it shows here.
 */
#ifndef PTC_DECODE_REPLAY_H
#define PTC_DECODE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/calm.h"
#include "decode/clock.h"
#include "decode/item.h"
#include "decode/range.h"
#include "decode/seam.h"
#include "decode/stream.h"

struct ptc_addrspace;
struct ptc_engine;
struct ptc_ipt;
struct ptc_made_list;
struct ptc_notes;
struct ptc_replay;

/* Something that AUX records say about a place in the stream. */
struct ptc_mark {
	uint64_t off; /* in the AUX stream */
	enum ptc_gap_cause cause;
	uint64_t len; /* bytes of it that are missing there */
};

/* Everything is lent, and must outlive the replay. */
struct ptc_replay_conf {
	const struct ptc_decode_opts *opts;
	enum ptc_resync resync; /* not DEFAULT */
	struct ptc_ipt *ipt;
	struct ptc_engine *engine; /* NULL: libipt alone */
	struct ptc_tsc_clock clock;
	const struct ptc_stream *stream;
	const struct ptc_psbs *psbs;  /* lent: those of it that were found; NULL: none */
	struct ptc_spot start;	      /* what is in front of it is as if it were not there */
	const struct ptc_mark *marks; /* ascending */
	size_t nmarks;
	bool ahead;	/* before its turn: more code may be mapped than it can know of */
	bool snapshots; /* a hole in the stream was not kept, rather than lost */
	uint32_t queue;
	struct ptc_decode_stats *stats;
	struct ptc_notes *notes;
	struct ptc_sums *sums;	 /* of pieces whose transfers are counted; NULL: of none are */
	bool runs;		 /* there may be RUN items */
	uint64_t from_ns, to_ns; /* the time that is asked for; to_ns 0: no end */
};

int ptc_replay_new(const struct ptc_replay_conf *conf, struct ptc_replay **ret,
		   struct ptc_err *err);
void ptc_replay_free(struct ptc_replay *r);

/* As if freed and made anew, without what is in the memory being lost. */
void ptc_replay_renew(struct ptc_replay *r, const struct ptc_replay_conf *conf);
/*
 * From now on it uses these in place of those it was made with; the context must be set before it
 * goes on. What its gap is to cost is counted where ptc_notes_take has put it.
 */
void ptc_replay_lend(struct ptc_replay *r, struct ptc_ipt *ipt, struct ptc_decode_stats *stats,
		     struct ptc_notes *notes);
/* A row of steps ends there at the latest. */
void ptc_replay_set_stop(struct ptc_replay *r, struct ptc_spot stop);

/*
 * Until the next step: no side record is to be applied, nor does anything else need a look, while
 * the time is before @until. It may be trusted, and decode ahead; even further, if @watch knows
 * more (its d may be NULL: it does not).
 */
void ptc_replay_set_calm(struct ptc_replay *r, uint64_t until, struct ptc_calm watch);

/* Pieces that the second engine has made ahead: @made (NULL: none) is lent until the next call. */
void ptc_replay_set_made(struct ptc_replay *r, struct ptc_made_list *made);

/* From the next PSB on no piece is the second engine's. */
void ptc_replay_leave_engine(struct ptc_replay *r);

/* Code was missing that may have been mapped since the last time that is known (conf.ahead). */
bool ptc_replay_is_stuck(const struct ptc_replay *r);

/* How it stands; see seam.h. False: not so that it could be compared. */
bool ptc_replay_seam(const struct ptc_replay *r, struct ptc_seam *ret);

/* Who runs from now on, and the code it has. */
void ptc_replay_set_context(struct ptc_replay *r, int32_t pid, int32_t tid, int32_t cpu,
			    struct ptc_addrspace *as);

/* One step: at most one block. Returns 1; 0 at the end of the trace; or a negative code. */
int ptc_replay_step(struct ptc_replay *r, struct ptc_err *err);
/*
 * As many steps, at least one, as make no difference to what is done between them: the time stays
 * the same, and no more than about @max items wait. The same return values.
 */
int ptc_replay_steps(struct ptc_replay *r, size_t max, struct ptc_err *err);

/* Where a replay is. */
struct ptc_replay_at {
	uint64_t now, low; /* as ptc_replay_time, but PTC_NO_TIME if not known; as ptc_replay_low */
	struct ptc_spot spot;
};

struct ptc_replay_at ptc_replay_where(const struct ptc_replay *r);
/* The time of what the next step will look at; 0 if not known. */
uint64_t ptc_replay_time(const struct ptc_replay *r);
/* No item to come is earlier than this. */
uint64_t ptc_replay_low(const struct ptc_replay *r);
/* Records were lost at @time, when it was @at: a gap of length 0, or earlier if what it belongs
 * behind is not there yet. */
void ptc_replay_lost(struct ptc_replay *r, struct ptc_replay_at at, uint64_t time);
/*
 * Is it handing over what the second engine has made? What is handed over as runs stays where it is
 * until then, and has to be copied if it still waits when the next piece is begun.
 */
bool ptc_replay_is_in_piece(const struct ptc_replay *r);
/* The same as a spot. */
struct ptc_spot ptc_replay_spot(const struct ptc_replay *r);

/* The items so far: the caller takes from the front by moving head. */
struct ptc_out *ptc_replay_out(struct ptc_replay *r);

#endif
