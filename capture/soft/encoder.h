/* SPDX-License-Identifier: MIT */
/*
 * Encodes control flow as Intel PT packets for software sources, as the processor's trace unit does
 * (SDM vol. 3C, chapter 33). The trace is user-only: an entry into the kernel ends it (TIP.PGD),
 * and the next user instruction starts it again (TIP.PGE). libipt's encoder builds the packets.
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
	uint8_t mtc_freq;    /* one MTC every 2^mtc_freq CTC ticks */
	/* TSC ticks per CTC tick; at most 511 (TMA.FastCounter has nine bits) */
	uint32_t tsc_per_ctc;
	uint8_t cbr; /* core:bus ratio */
};

/* Receives finished packets. It must take all @len bytes. */
typedef void ptc_enc_out(void *ctx, const uint8_t *bytes, size_t len);

int ptc_enc_new(const struct ptc_enc_opts *opts, ptc_enc_out *out, void *ctx, struct ptc_enc **ret,
		struct ptc_err *err);
void ptc_enc_free(struct ptc_enc *e);

/* Returns true while tracing: after an entry and before the next exit. */
bool ptc_enc_on(const struct ptc_enc *e);

/*
 * Starts the stream: a PSB+ with tracing off. @tsc is the current time, here and in the calls
 * below. It must not decrease.
 */
void ptc_enc_begin(struct ptc_enc *e, uint64_t tsc);

/* Traced code is entered at @ip. Writes TSC, TMA, MODE.Exec if needed, and TIP.PGE. */
void ptc_enc_enter(struct ptc_enc *e, uint64_t ip, uint64_t tsc);

/* A far branch left traced code. Writes TIP.PGD. */
void ptc_enc_exit(struct ptc_enc *e, uint64_t tsc);

/*
 * An asynchronous event at @ip left traced code; the instruction at @ip did not retire. Writes FUP
 * and TIP.PGD.
 */
void ptc_enc_async_exit(struct ptc_enc *e, uint64_t ip, uint64_t tsc);

/*
 * Call before each instruction while tracing is on. Writes MTCs up to @tsc, and a PSB+ if one is
 * due. @ip is the next instruction.
 */
void ptc_enc_step(struct ptc_enc *e, uint64_t ip, uint64_t tsc);

/* A conditional branch retired. Adds a TNT bit. */
void ptc_enc_cond(struct ptc_enc *e, bool taken);

/*
 * An indirect jump, an indirect call, or a far branch within traced code went to @to. Writes a TIP.
 */
void ptc_enc_indirect(struct ptc_enc *e, uint64_t to);

/* A near call pushed the return address @ret. Do not call it for a direct call to @ret itself. */
void ptc_enc_push(struct ptc_enc *e, uint64_t ret);

/* A near return went to @to. */
void ptc_enc_ret(struct ptc_enc *e, uint64_t to);

/*
 * Writes out all buffered packets and TNT bits, and PADs up to a multiple of 8 bytes. A chunk of
 * AUX data ends here.
 */
void ptc_enc_flush(struct ptc_enc *e);

/*
 * Call after a part of the stream was lost. The next step or entry writes a PSB+. The output then
 * gets, in order: the earlier bytes, a call with 0 bytes, an OVF, and the PSB+.
 */
void ptc_enc_restart(struct ptc_enc *e);

/*
 * Makes the next step or entry write a PSB+, regardless of the period: a decoder can start there.
 */
void ptc_enc_psb(struct ptc_enc *e);

/* Returns the number of bytes produced so far, including buffered ones. */
uint64_t ptc_enc_pos(const struct ptc_enc *e);

#endif
