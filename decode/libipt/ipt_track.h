/* SPDX-License-Identifier: MIT */
/*
 * Tells where in the trace libipt's block decoder is, and the time there, by what the flow has
 * used. libipt 2.0 answers that itself. From 2.1 on, its block decoder has read the next event
 * already, and a TNT or TIP packet is an event. Then its place is behind that packet, and its time
 * is that of the packet in front. So an event decoder of ours runs beside the block decoder. It
 * tells how much of what the block decoder has read was used by the flow.
 */
#ifndef PTC_DECODE_LIBIPT_IPT_TRACK_H
#define PTC_DECODE_LIBIPT_IPT_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <intel-pt.h>

#include "ptcap/error.h"

#if LIBIPT_VERSION >= 0x201

/* An event that was read. */
struct ptc_ipt_read {
	struct pt_event ev;
	uint64_t end; /* offset of the packet behind it */
	int status;   /* negative: there is no event */
};

struct ptc_ipt_track {
	struct pt_event_decoder *dec; /* owned; NULL: none yet */
	const uint8_t *bytes;	      /* lent */
	size_t len;
	/* the event of the block decoder, and the next event */
	struct ptc_ipt_read cur, next;
	int bits;		      /* unused bits of cur, if cur is a TNT */
	bool touched;		      /* one of these bits was used */
	bool fails;		      /* the packet behind cur cannot be read */
	bool failed;		      /* cur was not used for that reason */
	bool timed;		      /* an event in front of cur had a time */
	uint64_t tsc;		      /* time of that event */
	uint64_t before;	      /* end of the event in front of cur */
	bool due;		      /* in front of cur comes an event that libipt 2.1 left out */
	struct pt_event due_event;    /* the event that was left out */
	int due_status;		      /* status of due_event */
	uint64_t looked_from, looked; /* the last argument of ahead(), and its result */
};

/* Slow path of ptc_ipt_track_block(). */
int ptc_ipt_track_use(struct ptc_ipt_track *t, struct pt_block_decoder *dec, int status,
		      const struct pt_block *b);

#else

struct ptc_ipt_track {
	char none;
};

#endif

/* Initialize @t for decoders of @config, whose bytes are lent. @t: zeroed, or in use for others. */
int ptc_ipt_track_init(struct ptc_ipt_track *t, const struct pt_config *config,
		       struct ptc_err *err);
void ptc_ipt_track_release(struct ptc_ipt_track *t);

/* pt_blk_sync_set */
int ptc_ipt_track_sync(struct ptc_ipt_track *t, struct pt_block_decoder *dec, uint64_t at);
/* pt_blk_event(). Leaves out the events of a PSB+ that only libipt 2.1 reports. */
int ptc_ipt_track_event(struct ptc_ipt_track *t, struct pt_block_decoder *dec, struct pt_event *ev);
/* Sets *@ret to the offset of the packet that is used next. Returns false if there is none. */
bool ptc_ipt_track_offset(struct ptc_ipt_track *t, struct pt_block_decoder *dec, uint64_t *ret);
/* Sets *@ret to the time of the packet that was used last. Returns false if there is none. */
bool ptc_ipt_track_time(const struct ptc_ipt_track *t, struct pt_block_decoder *dec, uint64_t *ret);

/*
 * Call after pt_blk_next() gave the whole block @b and @status. Returns the status of libipt 2.0.
 */
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
