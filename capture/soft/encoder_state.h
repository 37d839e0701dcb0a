/* SPDX-License-Identifier: MIT */
/*
 * The state of the encoder, and its steps that write no packet. They are inline, because the
 * emulated source makes them for each block.
 */
#ifndef PTC_CAPTURE_SOFT_ENCODER_STATE_H
#define PTC_CAPTURE_SOFT_ENCODER_STATE_H

#include "capture/soft/encoder.h"

struct pt_encoder;

enum {
	PTC_ENC_RET_STACK = 64, /* SDM 33.4.2.2, "RET compression" */
	PTC_ENC_TNT_LONG = 47,	/* bits in a long TNT */
	PTC_ENC_SCRATCH = 4096,
};

struct ptc_enc {
	struct ptc_enc_opts opts;
	struct pt_encoder *pt;
	ptc_enc_out *out;
	void *ctx;
	size_t used;  /* bytes used in scratch */
	uint64_t pos; /* stream length, including scratch */
	uint64_t last_psb;
	uint64_t last_ip; /* the decoder's last IP at this point */
	bool ip_known;	  /* last_ip may be used for IP compression */
	uint64_t tnt;	  /* pending TNT bits, the oldest is the highest */
	uint8_t ntnt;
	bool on;
	bool restart;	   /* write a PSB+ next, regardless of the period */
	bool mode_sent;	   /* MODE.Exec was sent since the last PSB */
	uint64_t mtc;	   /* number of the newest MTC tick */
	uint64_t mtc_next; /* TSC of the next MTC tick */
	uint64_t stack[PTC_ENC_RET_STACK];
	unsigned int top, depth;
	uint8_t scratch[PTC_ENC_SCRATCH];
};

static inline bool ptc_enc_psb_due(const struct ptc_enc *e)
{
	return e->pos - e->last_psb >= e->opts.psb_period || e->restart;
}

/* Returns true if tracing is on, and ptc_enc_step at time @tsc would write nothing. */
static inline bool ptc_enc_is_quiet(const struct ptc_enc *e, uint64_t tsc)
{
	return e->on && !ptc_enc_psb_due(e) && tsc < e->mtc_next;
}

/* As ptc_enc_cond, if there is space for the TNT bit. Otherwise does nothing and returns false. */
static inline bool ptc_enc_quick_cond(struct ptc_enc *e, bool taken)
{
	if (e->ntnt + 1 >= PTC_ENC_TNT_LONG)
		return false;
	e->tnt = e->tnt << 1 | taken;
	e->ntnt++;
	return true;
}

/* As ptc_enc_push. */
static inline void ptc_enc_quick_push(struct ptc_enc *e, uint64_t ret)
{
	e->stack[e->top] = ret;
	e->top = (e->top + 1) % PTC_ENC_RET_STACK;
	e->depth += e->depth < PTC_ENC_RET_STACK;
}

static inline unsigned int ptc_enc_newest(const struct ptc_enc *e)
{
	return (e->top + PTC_ENC_RET_STACK - 1) % PTC_ENC_RET_STACK;
}

/* Is a near return to @to a TNT bit (RET compression)? */
static inline bool ptc_enc_compresses(const struct ptc_enc *e, uint64_t to)
{
	return !e->opts.no_retcomp && e->depth && e->stack[ptc_enc_newest(e)] == to;
}

static inline void ptc_enc_pop(struct ptc_enc *e)
{
	e->top = ptc_enc_newest(e);
	e->depth--;
}

/* As ptc_enc_ret, if that adds a TNT bit for which there is space. Otherwise returns false. */
static inline bool ptc_enc_quick_ret(struct ptc_enc *e, uint64_t to)
{
	if (!ptc_enc_compresses(e, to) || !ptc_enc_quick_cond(e, true))
		return false;
	ptc_enc_pop(e);
	return true;
}

#endif
