/* SPDX-License-Identifier: MIT */
/*
 * The state of a replay, for the files that it consists of:
 *   replay.c        follows the flow
 *   replay_event.c  lists events
 *   row.c           lists many blocks at once where no event and no gap is between them
 *   look.c          knows the offset and the time
 *   recover.c       begins at a PSB, and goes on behind a gap
 *   wait.c          waits for code that is mapped between two times
 *   waypoint.c      compares the flow with the PSBs
 */
#ifndef PTC_DECODE_REPLAY_STATE_H
#define PTC_DECODE_REPLAY_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <intel-pt.h>

#include "decode/addrspace.h"
#include "decode/ahead.h"
#include "decode/ipt.h"
#include "decode/ipt_track.h"
#include "decode/piece.h"
#include "decode/psb.h"
#include "decode/replay.h"
#include "decode/resync.h"
#include "decode/trail.h"
#include "decode/window.h"

/* ns; see not_before. */
static const uint64_t MAX_SLIP = 1000000000;

struct ptc_feed;

struct ptc_replay {
	struct ptc_replay_conf conf;
	struct ptc_out out;
	struct ptc_addrspace *as;
	struct ptc_addrspace none; /* of a process we know nothing of */
	uint64_t as_version;	   /* what dec and trail last saw */
	size_t span;		   /* index of the one being decoded */
	uint64_t block_ip;	   /* where the last block begins, with the parts in front of it */
	bool as_changed;
	bool done;
	bool stuck;	/* see ptc_replay_is_stuck */
	bool again;	/* the last step waited for code: see next_block_again */
	bool seeking;	/* a point to go on at, from floor on: step by step, as time goes on */
	bool to_psb;	/* only a PSB will do */
	bool swallowed; /* psb was passed, as part of a packet, or its rest as packets */
	bool at_first;	/* what the PSB that it began at says is yet to be told of */
	struct pt_block_decoder *dec;	   /* owned; NULL between spans */
	struct ptc_ipt_track track;	   /* where that is */
	const struct ptc_ipt_image *image; /* lent: dec's, */
	uint64_t image_drops;		   /* and the drops that there were by then */
	enum ptc_mode mode;		   /* the decoder's; its code is of that */
	bool modeless;			   /* it does not know one, since it began or for damage, */
	bool modeless_image;		   /* and has code of none */
	bool in_block;			   /* the last block was a part of one */
	int status;			   /* of its last call */
	uint32_t ninsn;			   /* of the last block */
	unsigned int idle;

	/*
	 * Grafts are written over bytes in front of the point to go on at,
	 * which are done with: hence a map, with room in front, from the first
	 * graft of a span on at the latest.
	 */
	struct ptc_window window; /* what dec works on */
	struct ptc_walker walk;
	size_t floor; /* resuming must be at or behind this */

	/* Offsets in the span: now, before the decoder's last call, and before the one before. */
	size_t off, prev_off, prev2_off;
	size_t raw; /* now, as the decoder counts: in what it was given */
	/*
	 * The first PSB at or behind off, when that was looked for; in front of it there may be
	 * what can be the PSBEND of one that is gone.
	 */
	size_t next_psb, psb;
	struct ptc_psb_walk way;  /* over what the decoder passed last, from way_from on */
	size_t way_from;	  /* SIZE_MAX: it is yet to begin */
	struct ptc_psb_rest left; /* swallowed: what is left of that PSB+, */
	size_t left_end;	  /* and where that ends; 0: it is a PSB */
	size_t ahead_of; /* a PSB that was read, and the flow is yet to come there; or SIZE_MAX */
	size_t off_psb;	 /* one that was read, where tracing is off; or SIZE_MAX */
	size_t idle_psb; /* the last one behind it with nothing but time between the two */
	bool off_psb_later;  /* there is an event in front of it yet to be told of */
	bool off_psb_agrees; /* tracing was off when it was read */
	bool fresh;	     /* decoding has just begun at a PSB of the trace */
	bool parked;	     /* and the decoder has not: see ptc_replay_park */
	bool left_engine;    /* the engine is not asked any more */
	uint64_t before;     /* where the decoder was in front of an overflow; 0: not known */
	size_t fup_end;	     /* of a FUP that waits for its TIP; 0: there is none */
	uint64_t open_fup;   /* the IP of such a FUP in front of an overflow; 0: there is none */
	uint64_t proven;     /* an event was here, and no block ran since; 0: no event was */
	size_t from;	     /* where decoding began or went on */
	size_t clean;	     /* from here on the bytes are the trace's: no graft */
	uint64_t now; /* time of the last packet used: libipt does not count what it read ahead */
	uint64_t prev_now; /* before the decoder's last call */
	uint64_t told;	   /* of the last block or event */
	uint64_t bound;	   /* it cannot be later than this */
	struct ptc_ahead ahead;

	/*
	 * What is known without asking the decoder where it is: that this many bits are left of the
	 * TNT packet in front of it, and what it uses next (feed.h); -1: nothing is known.
	 */
	int quiet;
	int quiet_calls;	 /* and calls that returns may go back to, at least */
	uint64_t quiet_word;	 /* those bits */
	uint64_t tsc, tsc_bound; /* that now is made of; tsc UINT64_MAX: not known */
	bool lags; /* the time of what it has read ahead may be later than the decoder's */
	bool fup;  /* it may have read one, and not the TIP of that event */

	/* A gap that may yet grow: it is listed once something behind it is decoded. */
	bool gap;
	bool rest; /* it is of the packet cut off at the end of a truncated span */
	enum ptc_gap_cause gap_cause;
	uint64_t gap_off, gap_end; /* in the AUX stream */
	uint64_t gap_time;	   /* PTC_NO_TIME: not known; then it is when it ends */
	int32_t gap_pid, gap_tid, gap_cpu;
	struct ptc_cost *gap_cost; /* whose code was missing; NULL: nobody's */

	size_t next_mark;
	struct ptc_spot stop;	    /* a row of steps ends there */
	struct ptc_made_list *made; /* lent; pieces made before their turn; NULL: none */
	uint64_t calm;	       /* at no time in front of this is there anything else to be done; */
	struct ptc_calm watch; /* whether there is behind that */
	struct ptc_trail trail;
	struct ptc_piece piece;
};

static inline const struct ptc_span *span_of(const struct ptc_replay *r)
{
	return &r->conf.stream->spans[r->span];
}

/* Bytes in front of the span's first one that the decoder has, too. */
static inline size_t room_of(const struct ptc_replay *r)
{
	return r->window.map ? PTC_WINDOW_ROOM : 0;
}

/*
 * @time, but not before @last. Between two TSC packets time is estimated, and behind a graft it is
 * that of the last one: it may go back a little, and stands still instead. Much is no estimate: one
 * of the two is wrong, and who knows which.
 */
static inline uint64_t not_before(uint64_t last, uint64_t time)
{
	return last != PTC_NO_TIME && time < last && last - time < MAX_SLIP ? last : time;
}

static inline uint64_t to_ns(const struct ptc_replay *r, uint64_t tsc, uint64_t bound)
{
	const uint64_t ns = ptc_tsc_clock_ns(&r->conf.clock, tsc, span_of(r)->reference);

	return ns > bound && ns != PTC_NO_TIME ? bound : ns;
}

/* At or behind @from there are the trace's bytes in the window. */
static inline size_t first_sure(const struct ptc_replay *r, size_t from)
{
	if (from < r->clean)
		from = r->clean;
	return from < r->window.from ? r->window.from : from;
}

static inline enum ptc_mode mode_of(enum pt_exec_mode mode)
{
	return mode == ptem_32bit ? PTC_MODE_32 : mode == ptem_16bit ? PTC_MODE_16 : PTC_MODE_64;
}

/* The PSB+ at @at, which may be a graft. */
static inline struct ptc_psb_plus psb_plus_at(const struct ptc_replay *r, ptrdiff_t at)
{
	const size_t left = (size_t)((ptrdiff_t)span_of(r)->len - at);

	return ptc_psb_read(r->window.bytes + at,
			    left < PTC_PSB_PLUS_MAX ? left : PTC_PSB_PLUS_MAX);
}

/* replay.c */

/* Give the decoder, if there is one, the code as it is now. */
int ptc_replay_set_image(struct ptc_replay *r, struct ptc_err *err);

/* wait.c */

/*
 * No code is known where the flow is, at the time that was known last; now it may be later. Where
 * code comes there before the next time that is known, it is as late as that: the step is to be
 * made again.
 */
bool ptc_replay_wait_for_code(struct ptc_replay *r);

/* look.c */

/* How late it can be here. */
void ptc_replay_look_at_bound(struct ptc_replay *r);
/* After each call of the decoder. */
void ptc_replay_look_around(struct ptc_replay *r);
/* The same after one for a block, @b, whatever came of it: r->status may be an error then. */
void ptc_replay_look_behind(struct ptc_replay *r, const struct pt_block *b);
/* Where the decoder is, as an offset in the span; r->raw follows. */
size_t ptc_replay_position(struct ptc_replay *r);
/* Where in the span a step may go on to before somebody else must have a look. */
size_t ptc_replay_next_stop(const struct ptc_replay *r);
/* What is known of what the decoder takes next. */
struct ptc_feed ptc_replay_feed(const struct ptc_replay *r);
/*
 * look_behind, where the block may have used trace, but had no event and no error. r->off and
 * r->prev_off are those in front of it. @empty: it had no bits of a TNT packet before.
 */
void ptc_replay_look_ahead(struct ptc_replay *r, const struct pt_block *b, bool empty,
			   struct ptc_feed *ret);

/* row.c */

enum ptc_left {
	PTC_LEFT_NOTHING, /* to be done */
	PTC_LEFT_BLOCK,	  /* that was not looked at */
	PTC_LEFT_ENDLESS, /* the flow goes in circles: see ptc_trail_is_endless */
};

/*
 * Blocks, where ptc_trail_is_quick, until one is not as most are, the time changes, or there are
 * @max items, for which there is room, and for one more; of the pending instruction's time. 0: one
 * block, and the instruction may be of another time.
 */
enum ptc_left ptc_replay_run_blocks(struct ptc_replay *r, size_t max, struct pt_block *b);

/* waypoint.c */

/* Decoding is behind the PSB at @psb, which may be a graft; from @from on: what is next? */
void ptc_replay_look_for_psb(struct ptc_replay *r, ptrdiff_t psb, size_t from);
/* No more than the next PSB, where the PSB+ is as it should be. */
void ptc_replay_look_for_next_psb(struct ptc_replay *r, size_t from);
/* The decoder passed the PSB, or what may be a PSBEND, at r->psb, and maybe more. */
void ptc_replay_pass_psbs(struct ptc_replay *r);
/*
 * If what was swallowed is left of a PSB+ and can be taken for nothing else: tell of it, and forget
 * it. Is nothing swallowed then?
 */
bool ptc_replay_tell_of_rest(struct ptc_replay *r);
/* The first PSB that was read and that the flow has yet to come to, or SIZE_MAX. */
size_t ptc_replay_psb_ahead(const struct ptc_replay *r);
/* An event is about to be told of. Returns the PSB that it can be of: see came_to_psb. */
size_t ptc_replay_begin_event(struct ptc_replay *r);
/*
 * A PSB+ says where the flow is, or that tracing is off, and the decoder is to come to the same.
 * libipt takes packets from behind the PSB if it needs them to come there; then what it followed
 * was not the trace's flow: true. @off: tracing was off; @to is where it got.
 */
bool ptc_replay_strayed(struct ptc_replay *r, const struct pt_event *ev, bool off, size_t to);
/*
 * The PSB that the flow is at now, where decoding is to begin anew, or SIZE_MAX. @ev, which has
 * just been told of, is what its PSB+ (the one at @due) tells, or was the last event in front of it
 * and tracing is off.
 */
size_t ptc_replay_came_to_psb(struct ptc_replay *r, const struct pt_event *ev, size_t due);
/*
 * A PSB that the decoder has passed without coming to where that says the flow is: what it followed
 * was not the trace's, no one knows since when. SIZE_MAX: there is none.
 */
size_t ptc_replay_missed_psb(const struct ptc_replay *r);

/* recover.c */

/* Begin the next span at its first PSB, or where it is to begin. */
int ptc_replay_open_span(struct ptc_replay *r, struct ptc_err *err);
void ptc_replay_close_span(struct ptc_replay *r);

/*
 * The flow came to the PSB at @psb: begin there. What the decoder knows from in front of
 * it, such as a FUP that still waits for its TIP, is of no use behind it, or damage.
 */
int ptc_replay_begin_anew(struct ptc_replay *r, size_t psb);
/*
 * The engine came to the PSB at @psb, at the time that its PSB+ tells, and may go on: the decoder
 * begins there if that declines, and not before. False: it has to, at once. Until then the place is
 * that of the PSB, where the decoder's would be some packets behind it; that is told only of a loss
 * of records, and of the end of a time that was asked for, and a piece with one of these is never
 * the engine's.
 */
bool ptc_replay_park(struct ptc_replay *r, size_t psb);

/* The decoder failed with @status: go on elsewhere. */
int ptc_replay_recover(struct ptc_replay *r, int status);
/*
 * Find where to go on, until it works or the span ends; each round starts further on. It may take
 * several steps.
 */
int ptc_replay_seek(struct ptc_replay *r, int status);

/* A gap without length at @off of the span; one that may yet grow lasts until there. */
void ptc_replay_tell_of(struct ptc_replay *r, size_t off);
/* List the gap that may have grown until now. @time is when that is: of use where no time was known
 * when it began. */
void ptc_replay_list_gap(struct ptc_replay *r, uint64_t time);
void ptc_replay_list_marks(struct ptc_replay *r, uint64_t upto, uint64_t time);

/*
 * Keeps where the decoder is, in front of an event read between @from and @to that may be an
 * overflow. Behind an overflow libipt does not tell how far packets had proven the flow.
 */
void ptc_replay_note_place(struct ptc_replay *r, size_t from, size_t to);
/*
 * Lists event @ev, which libipt read between the offsets @from and @to of the span. @bound: the
 * latest time that its time can be, as for to_ns.
 */
void ptc_replay_take_event(struct ptc_replay *r, const struct pt_event *ev, size_t from, size_t to,
			   uint64_t bound);
/*
 * Lists the packets in front of the offset @upto that libipt does not know, as of @time. Stops at a
 * packet whose FUP the flow has not reached.
 */
void ptc_replay_list_masked(struct ptc_replay *r, size_t upto, uint64_t time);

/* Where the decoder stands: a block begins there, even one that fails. Only after an error. */
uint64_t ptc_replay_current_ip(struct ptc_replay *r);
/* The decoder had taken the last instruction to @ip when it failed. */
void ptc_replay_land(struct ptc_replay *r, uint64_t ip);

#endif
