/* SPDX-License-Identifier: MIT */
/*
 * Where in the trace libipt's block decoder is, and what time it is there: by what the flow has
 * used. libipt 2.0 answers that itself. From 2.1 on its block decoder has the next event already,
 * and a TNT or TIP packet is an event: its place is behind that packet, its time that of the one in
 * front. So an event decoder of ours goes side by side with the block decoder, and knows what the
 * flow has used of what the block decoder has read.
 */
#ifndef PTC_DECODE_IPT_TRACK_H
#define PTC_DECODE_IPT_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <intel-pt.h>

#include "ptcap/error.h"

#if LIBIPT_VERSION >= 0x201

/* An event that was read. */
struct ptc_ipt_read {
	struct pt_event ev;
	uint64_t end; /* the packet behind it */
	int status;   /* negative: there is none */
};

struct ptc_ipt_track {
	struct pt_event_decoder *dec; /* owned; NULL: none yet */
	const uint8_t *bytes;	      /* lent */
	size_t len;
	struct ptc_ipt_read cur, next; /* what the block decoder has, and what comes behind it */
	int bits;		       /* unused bits of cur, if cur is a TNT */
	bool touched;		       /* one of them was used */
	bool fails;		       /* the packet behind cur cannot be read, */
	bool failed;		       /* so cur was not used */
	bool timed;		       /* there was an event in front of cur with a time, */
	uint64_t tsc;		       /* which is this */
	uint64_t before;	       /* end of the event in front of cur */
	bool due;		      /* in front of cur comes an event that libipt 2.1 left out, */
	struct pt_event due_event;    /* this one, */
	int due_status;		      /* with this status */
	uint64_t looked_from, looked; /* what ahead() was last asked, and its answer */
};

/* The slow ways of the functions below. */
int ptc_ipt_track_use(struct ptc_ipt_track *t, struct pt_block_decoder *dec, int status,
		      const struct pt_block *b);

#else

struct ptc_ipt_track {
	char none;
};

#endif

/* For decoders of @config, whose bytes are lent. @t: zeroed, or of others. */
int ptc_ipt_track_init(struct ptc_ipt_track *t, const struct pt_config *config,
		       struct ptc_err *err);
void ptc_ipt_track_release(struct ptc_ipt_track *t);

/* pt_blk_sync_set */
int ptc_ipt_track_sync(struct ptc_ipt_track *t, struct pt_block_decoder *dec, uint64_t at);
/* pt_blk_event. What only libipt 2.1 tells of a PSB+ is left out. */
int ptc_ipt_track_event(struct ptc_ipt_track *t, struct pt_block_decoder *dec, struct pt_event *ev);
/* The place of the packet that is used next; false: none. */
bool ptc_ipt_track_offset(struct ptc_ipt_track *t, struct pt_block_decoder *dec, uint64_t *ret);
/* Of the packet that was used last; false: there is none. */
bool ptc_ipt_track_time(const struct ptc_ipt_track *t, struct pt_block_decoder *dec, uint64_t *ret);

/* pt_blk_next gave @b, whole, and @status. Returns the status as libipt 2.0 has it. */
static inline int ptc_ipt_track_block(struct ptc_ipt_track *t, struct pt_block_decoder *dec,
				      int status, const struct pt_block *b)
{
#if LIBIPT_VERSION >= 0x201
	if (!status && b->iclass == ptic_cond_jump && t->bits > 1) {
		t->bits--;
		t->touched = true;
		return 0;
	}
	return ptc_ipt_track_use(t, dec, status, b);
#else
	(void)t;
	(void)dec;
	(void)b;
	return status;
#endif
}

#endif
