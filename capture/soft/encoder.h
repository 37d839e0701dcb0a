/* SPDX-License-Identifier: MIT */
/*
 * Control flow in, Intel PT packets out: what the processor's trace unit does
 * (SDM vol. 3C, chapter 33), for software sources. User-only trace: an entry
 * into the kernel ends it (TIP.PGD), the next user instruction begins it again
 * (TIP.PGE). Packets are built by libipt's encoder.
 */
#ifndef PTC_CAPTURE_SOFT_ENCODER_H
#define PTC_CAPTURE_SOFT_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

struct ptc_enc;

struct ptc_enc_opts {
	bool no_retcomp;     /* DisRETC: every RET gets a TIP */
	uint32_t psb_period; /* bytes between PSBs */
	uint8_t mtc_freq;    /* MTC every 2^mtc_freq CTC ticks */
	uint32_t
		tsc_per_ctc; /* TSC ticks a CTC tick; at most 511 (TMA.FastCounter has nine bits) */
	uint8_t cbr;	     /* core:bus ratio */
};

/* Gets finished packets; must take them all. */
typedef void ptc_enc_out(void *ctx, const uint8_t *bytes, size_t len);

int ptc_enc_new(const struct ptc_enc_opts *opts, ptc_enc_out *out, void *ctx, struct ptc_enc **ret,
		struct ptc_err *err);
void ptc_enc_free(struct ptc_enc *e);

/* Is the trace on: between an entry and an exit? */
bool ptc_enc_on(const struct ptc_enc *e);

/* Begin: a PSB+ with packets off. @tsc, here and below, is the time and must not run backwards. */
void ptc_enc_begin(struct ptc_enc *e, uint64_t tsc);

/* Traced code is entered at @ip: TSC, TMA, MODE.Exec where due, TIP.PGE. */
void ptc_enc_enter(struct ptc_enc *e, uint64_t ip, uint64_t tsc);

/* A far transfer left traced code: TIP.PGD. */
void ptc_enc_exit(struct ptc_enc *e, uint64_t tsc);

/* An asynchronous event at @ip, which did not retire, left traced code: FUP, TIP.PGD. */
void ptc_enc_async_exit(struct ptc_enc *e, uint64_t ip, uint64_t tsc);

/*
 * Before each instruction while on: time goes on (MTC), and a PSB+ is made
 * when one is due. @ip is the instruction about to run.
 */
void ptc_enc_step(struct ptc_enc *e, uint64_t ip, uint64_t tsc);

/* A conditional branch retired. */
void ptc_enc_cond(struct ptc_enc *e, bool taken);

/* An indirect jump or call, or a far transfer that stays in traced code, went to @to. */
void ptc_enc_indirect(struct ptc_enc *e, uint64_t to);

/* A near call pushed @ret, the address behind it (direct calls to @ret itself are not to be told).
 */
void ptc_enc_push(struct ptc_enc *e, uint64_t ret);

/* A near return went to @to. */
void ptc_enc_ret(struct ptc_enc *e, uint64_t to);

/*
 * Write out what is held back (TNT bits too), and PADs until the stream's
 * length is a multiple of 8: an AUX piece ends here.
 */
void ptc_enc_flush(struct ptc_enc *e);

/*
 * For whoever lost a part of the stream: the next step or entry makes a PSB+, the
 * output gets what is before it, then nothing (0 bytes), then an OVF and the PSB+.
 */
void ptc_enc_restart(struct ptc_enc *e);

/* The next step or entry makes a PSB+, whatever the period: a reader can begin there. */
void ptc_enc_psb(struct ptc_enc *e);

/* Bytes made so far, held back or not. */
uint64_t ptc_enc_pos(const struct ptc_enc *e);

#endif
