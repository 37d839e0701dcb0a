/* SPDX-License-Identifier: MIT */
/*
 * The state of a replay, for the files that implement it:
 *   replay.c        follows the flow
 *   replay_event.c  lists events
 *   block_loop.c    lists many blocks at once where no event and no gap is between them
 *   position.c      determines the offset and the time
 *   recover.c       begins at a PSB, and goes on behind a gap
 *   open_gap.c      the gap that may still grow
 *   replay_image.c  gives the current code to the decoder
 *   late_code.c     waits for code that is mapped between two times
 *   psb_tracker.c   compares the flow with the PSBs
 */
#ifndef PTC_DECODE_LIBIPT_REPLAY_STATE_H
#define PTC_DECODE_LIBIPT_REPLAY_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <intel-pt.h>

#include "decode/image/addrspace.h"
#include "decode/image/ipt_image.h"
#include "decode/items/branch_builder.h"
#include "decode/libipt/ipt_track.h"
#include "decode/libipt/replay.h"
#include "decode/libipt/resync.h"
#include "decode/segment/segment.h"
#include "decode/stream/psb.h"
#include "decode/stream/time_bound.h"
#include "decode/stream/window.h"

/* ns; see not_before(). */
static const uint64_t MAX_SLIP = 1000000000;

struct ptc_packet_cursor;

/* The code of the current process, and the image of it that the decoder has. */
struct ptc_replay_code {
	struct ptc_addrspace *as;
	struct ptc_addrspace none; /* empty; for an unknown process */
	uint64_t version;	   /* version that dec and trail last saw */
	bool changed;
	const struct ptc_ipt_image *image; /* lent: the image of dec, */
	uint64_t image_drops;		   /* and conf.ipt->drops when it was set */
	enum ptc_mode mode;		   /* execution mode of dec; selects its code */
	bool modeless;			   /* dec knows no mode, at the start or after damage, */
	bool modeless_image;		   /* and has the image for no mode */
};

/* Position in the span. All but raw are offsets in the span. */
struct ptc_replay_place {
	/* Now, before the last call of dec, and before the call before that. */
	size_t off, prev_off, prev2_off;
	size_t raw;   /* now, as dec counts: in the bytes that it was given */
	size_t from;  /* where decoding began or resumed */
	size_t clean; /* from here on the bytes are the trace's own, not a graft's */
	size_t floor; /* a resume point must be at or behind this */
};

/* The time: in ns, except tsc. PTC_NO_TIME: not known. */
struct ptc_replay_times {
	uint64_t now;	   /* of the last packet used; libipt's own time includes read-ahead */
	uint64_t prev_now; /* before the last call of dec */
	uint64_t told;	   /* of the last block or event */
	uint64_t bound;	   /* now cannot be later than this */
	struct ptc_time_bound ahead;
	uint64_t tsc, tsc_bound; /* the source of now; tsc UINT64_MAX: not known */
};

/* PSBs that the decoder passes: see psb_tracker.c. */
struct ptc_psb_state {
	/*
	 * next: the first PSB at or behind place.off, when it was searched. check: that PSB, or a
	 * possible PSBEND in front of it whose own PSB is lost.
	 */
	size_t next, check;
	struct ptc_psb_walk way;  /* over the bytes that dec passed last, from way_from on */
	size_t way_from;	  /* SIZE_MAX: not begun yet */
	bool swallowed;		  /* PSB passed inside a packet, or its rest as packets */
	struct ptc_psb_rest left; /* if swallowed: the rest of that PSB+, */
	size_t left_end;	  /* and its end; 0: it is a PSB */
	size_t ahead_of;     /* a PSB that dec read and the flow has not reached; or SIZE_MAX */
	size_t off_psb;	     /* a PSB that dec read, with tracing off; or SIZE_MAX */
	size_t idle_psb;     /* the last PSB behind it with only timing packets between */
	bool off_psb_later;  /* an event in front of it is not reported yet */
	bool off_psb_agrees; /* tracing was off when dec read it */
	bool at_first;	     /* the status of its first PSB is not reported yet */
};

/* How far packets have proven the flow, beyond the last block. */
struct ptc_flow_proof {
	uint64_t before;   /* where dec was in front of an overflow; 0: not known */
	size_t fup_end;	   /* of a FUP that waits for its TIP; 0: none */
	uint64_t open_fup; /* IP of such a FUP in front of an overflow; 0: none */
	uint64_t event_ip; /* IP of an event with no block behind it yet; 0: none */
};

/*
 * State known without asking dec for its position. bits: left of the current TNT packet; then dec
 * takes the next packet (packet_cursor.h). -1: unknown.
 */
struct ptc_quiet_state {
	int bits;
	int calls;     /* minimum number of calls that returns may go back to */
	uint64_t word; /* those bits */
	bool lags;     /* time of read-ahead packets may be later than the time of dec */
	bool fup;      /* dec may have read a FUP, but not the TIP of that event */
};

/* A gap that may still grow. It is listed after something behind the gap is decoded. */
struct ptc_open_gap {
	bool open;
	bool rest; /* from the packet cut off at the end of a truncated span */
	enum ptc_gap_cause cause;
	uint64_t off, end; /* in the AUX stream */
	uint64_t time;	   /* PTC_NO_TIME: unknown; then the time at its end */
	int32_t pid, tid, cpu;
	struct ptc_cost *cost; /* the file with missing code; NULL: none */
};

struct ptc_replay {
	struct ptc_replay_conf conf;
	struct ptc_out out;
	struct ptc_replay_code code;
	size_t span;	   /* index of the span being decoded */
	uint64_t block_ip; /* begin of the last block, including its earlier parts */
	bool done;
	bool stuck;		      /* see ptc_replay_is_stuck */
	bool again;		      /* the last step waited for code: see next_block_again() */
	bool seeking;		      /* searching for a resume point from place.floor on */
	bool to_psb;		      /* only a PSB is accepted */
	bool fresh;		      /* decoding has just begun at a PSB of the trace, */
	bool parked;		      /* but dec has not: see ptc_replay_park() */
	bool in_block;		      /* the last block was a part of a block */
	struct pt_block_decoder *dec; /* owned; NULL between spans */
	struct ptc_ipt_track track;   /* position and time of dec */
	int status;		      /* of the last call of dec */
	uint32_t ninsn;		      /* of the last block */
	unsigned int idle;

	/*
	 * Grafts are written over bytes in front of the resume point, which are finished. So a map
	 * is used, with space in front, at the latest from the first graft of a span on.
	 */
	struct ptc_window window; /* bytes that dec reads */
	struct ptc_walker walk;

	struct ptc_replay_place place;
	struct ptc_replay_times time;
	struct ptc_psb_state psbs;
	struct ptc_flow_proof proof;
	struct ptc_quiet_state quiet;
	struct ptc_open_gap gap;

	size_t next_mark;
	struct ptc_spot stop;	      /* a series of steps ends there */
	struct ptc_spot limit;	      /* see ptc_replay_set_limit() */
	bool before;		      /* see ptc_replay_set_before() */
	bool listing;		      /* see ptc_replay_set_listing() */
	struct ptc_result_list *made; /* lent; segments made before their turn; NULL: none */
	uint64_t applied;	      /* the latest time of an applied sideband record */
	struct ptc_branch_builder trail;
	struct ptc_segment piece;
};

static inline const struct ptc_span *span_of(const struct ptc_replay *r)
{
	return &r->conf.stream->spans[r->span];
}

/* Bytes in front of the span that the decoder has, too. */
static inline size_t room_of(const struct ptc_replay *r)
{
	return r->window.map ? PTC_WINDOW_ROOM : 0;
}

/*
 * Returns @time, but not less than @last. Between two TSC packets time is estimated, and behind a
 * graft it is the time of the last TSC packet. So it may go back a little; then it stands still
 * instead. A large step back is no estimate: one of the two times is wrong, and it is unknown
 * which.
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

/* Returns the first offset at or behind @from where the window has the trace's own bytes. */
static inline size_t first_sure(const struct ptc_replay *r, size_t from)
{
	if (from < r->place.clean)
		from = r->place.clean;
	return from < r->window.from ? r->window.from : from;
}

/* Returns the time, or 0 if it is not known. */
static inline uint64_t known_time(const struct ptc_replay *r)
{
	return r->time.now == PTC_NO_TIME ? 0 : r->time.now;
}

/* Returns the offset up to which a step may go before other code must check something. */
static inline size_t next_stop(const struct ptc_replay *r)
{
	const size_t stop = r->stop.span == r->span ? r->stop.off : SIZE_MAX;
	uint64_t mark;

	if (r->next_mark == r->conf.nmarks)
		return stop;
	mark = r->conf.marks[r->next_mark].off - span_of(r)->base;
	return mark < stop ? (size_t)mark : stop;
}

static inline enum ptc_mode mode_of(enum pt_exec_mode mode)
{
	return mode == ptem_32bit ? PTC_MODE_32 : mode == ptem_16bit ? PTC_MODE_16 : PTC_MODE_64;
}

/* Returns true if the replay is in the middle of something that does not end with a PSB. */
static inline bool ptc_replay_is_busy(const struct ptc_replay *r)
{
	return r->status < 0 || r->gap.open || r->gap.rest || r->psbs.swallowed ||
	       r->psbs.ahead_of != SIZE_MAX || r->psbs.off_psb != SIZE_MAX ||
	       r->place.clean != r->place.from || r->trail.nheld;
}

/* Reads the PSB+ at @at, which may be a graft. */
static inline struct ptc_psb_plus psb_plus_at(const struct ptc_replay *r, ptrdiff_t at)
{
	const size_t left = (size_t)((ptrdiff_t)span_of(r)->len - at);

	return ptc_psb_read(r->window.bytes + at,
			    left < PTC_PSB_PLUS_MAX ? left : PTC_PSB_PLUS_MAX);
}

/* replay_image.c */

/* Gives the current code to the decoder, if a decoder exists. */
int ptc_replay_set_image(struct ptc_replay *r, struct ptc_err *err);
/* The same if the code, or the known mode, has changed. */
int ptc_replay_use_code(struct ptc_replay *r, struct ptc_err *err);
/* Changes the image if @ev brought the decoder into another mode. */
int ptc_replay_follow_mode(struct ptc_replay *r, const struct pt_event *ev, struct ptc_err *err);

/* late_code.c */

/*
 * No code is known at the flow's position at the last known time. If code is mapped there before
 * the next known time, assumes the time of that mapping, and returns true: repeat the step.
 */
bool ptc_replay_wait_for_code(struct ptc_replay *r);

/* position.c */

/* Updates the latest time that is possible here. */
void ptc_replay_look_at_bound(struct ptc_replay *r);
/* Call it after each call of the decoder. */
void ptc_replay_look_around(struct ptc_replay *r);
/* The same after a call for block @b, whether it worked or not: r->status may be an error. */
void ptc_replay_look_behind(struct ptc_replay *r, const struct pt_block *b);
/* Returns the decoder's offset in the span, and updates r->place.raw. */
size_t ptc_replay_position(struct ptc_replay *r);
/* Returns the properties of the packets that the decoder takes next: see struct ptc_packet_cursor.
 */
struct ptc_packet_cursor ptc_replay_feed(const struct ptc_replay *r);
/*
 * As ptc_replay_look_behind(), for a block that may have used trace but had no event and no error.
 * r->place.off and r->place.prev_off are still those in front of it. @empty: no TNT bits were left
 * before.
 */
void ptc_replay_look_ahead(struct ptc_replay *r, const struct pt_block *b, bool empty,
			   struct ptc_packet_cursor *ret);

/* block_loop.c */

enum ptc_left {
	PTC_LEFT_NOTHING, /* nothing to be done */
	PTC_LEFT_BLOCK,	  /* the last block was not handled */
	PTC_LEFT_ENDLESS, /* the flow is an endless loop: see ptc_branch_builder_is_endless() */
};

/*
 * Decodes blocks, if ptc_branch_builder_is_quick(). Stops at a block that is not simple, when the
 * time changes, or at @max items of the pending instruction's time. There must be space for one
 * item more. @max 0: one block; the pending instruction may have another time.
 */
enum ptc_left ptc_replay_run_blocks(struct ptc_replay *r, size_t max, struct pt_block *b);

/* psb_tracker.c */

/*
 * Decoding is behind the PSB at @psb, which may be a graft. Finds the next PSB or PSBEND from @from
 * on.
 */
void ptc_replay_look_for_psb(struct ptc_replay *r, ptrdiff_t psb, size_t from);
/* Finds only the next PSB: the PSB+ is complete. */
void ptc_replay_look_for_next_psb(struct ptc_replay *r, size_t from);
/* The decoder passed the PSB or PSBEND at r->psbs.check, and maybe more: updates the state. */
void ptc_replay_pass_psbs(struct ptc_replay *r);
/*
 * If the swallowed bytes are the rest of a PSB+ and can be nothing else: reports and clears them.
 * Returns true if nothing is swallowed now.
 */
bool ptc_replay_tell_of_rest(struct ptc_replay *r);
/* Returns the first PSB that was read and that the flow has not reached, or SIZE_MAX. */
size_t ptc_replay_psb_ahead(const struct ptc_replay *r);
/*
 * Call it before an event is reported. Returns the PSB that the event may belong to: see
 * ptc_replay_came_to_psb().
 */
size_t ptc_replay_begin_event(struct ptc_replay *r);
/*
 * A PSB+ says where the flow is, or that tracing is off. The decoder should come to the same state.
 * To get there, libipt takes packets from behind the PSB if it needs them. Then the flow that it
 * followed was wrong: returns true. @off: tracing was off; @to is the offset that it reached.
 */
bool ptc_replay_strayed(struct ptc_replay *r, const struct pt_event *ev, bool off, size_t to);
/*
 * Returns the PSB that the flow is at now, where decoding must begin anew, or SIZE_MAX. @ev has
 * just been reported. It comes from the PSB+ at @due, or it was the last event in front of the PSB
 * and tracing is off.
 */
size_t ptc_replay_came_to_psb(struct ptc_replay *r, const struct pt_event *ev, size_t due);
/*
 * Returns a PSB that the decoder passed without reaching the IP of its PSB+. So the flow was wrong,
 * since an unknown place. SIZE_MAX: none.
 */
size_t ptc_replay_missed_psb(const struct ptc_replay *r);

/* open_gap.c */

/*
 * Begins a gap at @off of the span, or extends the open gap to @off. Items behind @off may already
 * be listed.
 */
void ptc_replay_begin_gap(struct ptc_replay *r, enum ptc_gap_cause cause, size_t off);
/* Makes the gap end at @off of the span. */
void ptc_replay_end_gap(struct ptc_replay *r, size_t off);
/* The gap will last to @off of the span: adds the trace bytes to its cost. */
void ptc_replay_charge_gap(struct ptc_replay *r, size_t off);
/*
 * Begins a gap without length at @off of the span. A gap that may still grow is extended to @off.
 */
void ptc_replay_tell_of(struct ptc_replay *r, size_t off);
/*
 * Lists the gap that may have grown until now. @time is the current time, used if no time was known
 * when the gap began.
 */
void ptc_replay_list_gap(struct ptc_replay *r, uint64_t time);
/* Lists the marks up to @upto of the AUX stream, at @time. */
void ptc_replay_list_marks(struct ptc_replay *r, uint64_t upto, uint64_t time);

/* recover.c */

/* Opens the next span and begins at its first PSB, or at conf.start. */
int ptc_replay_open_span(struct ptc_replay *r, struct ptc_err *err);
void ptc_replay_close_span(struct ptc_replay *r);

/*
 * The flow came to the PSB at @psb: begins there. State from in front of the PSB, such as a FUP
 * that waits for its TIP, is useless behind it, or damage.
 */
int ptc_replay_begin_anew(struct ptc_replay *r, size_t psb);
/*
 * The engine came to the PSB at @psb, at the time of its PSB+, and may go on: the decoder begins
 * there only if the engine declines. Returns false if the decoder must begin at once.
 *
 * Until then the position is that of the PSB, where the decoder's would be some packets further.
 * That matters only for a loss of records and for the end of a requested time, and libipt decodes
 * any segment with one of these.
 */
bool ptc_replay_park(struct ptc_replay *r, size_t psb);

/* The decoder failed with @status: goes on elsewhere. */
int ptc_replay_recover(struct ptc_replay *r, int status);
/*
 * Finds a place to go on, until one works or the span ends. Each round starts further on. It may
 * take several steps.
 */
int ptc_replay_seek(struct ptc_replay *r, int status);

/*
 * Returns the decoder's IP, where a block begins, even a block that fails. Call it only after an
 * error.
 */
uint64_t ptc_replay_current_ip(struct ptc_replay *r);
/* The decoder had followed the last instruction to @ip when it failed. */
void ptc_replay_land(struct ptc_replay *r, uint64_t ip);

/* replay_event.c */

/*
 * Keeps the decoder's position in front of an event, read between @from and @to, that may be an
 * overflow. Behind an overflow libipt does not report how far packets had proven the flow.
 */
void ptc_replay_note_place(struct ptc_replay *r, size_t from, size_t to);
/*
 * Lists event @ev, which libipt read between the offsets @from and @to of the span. @bound: the
 * latest possible time of the event, as for to_ns().
 */
void ptc_replay_take_event(struct ptc_replay *r, const struct pt_event *ev, size_t from, size_t to,
			   uint64_t bound);
/*
 * Lists the packets in front of offset @upto that libipt does not know, with time @time. Stops at a
 * packet whose FUP the flow has not reached.
 */
void ptc_replay_list_masked(struct ptc_replay *r, size_t upto, uint64_t time);

#endif
