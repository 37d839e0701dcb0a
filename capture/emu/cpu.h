/* SPDX-License-Identifier: MIT */
/*
 * A virtual CPU of the emulated source: one ring pair with the encoder that fills
 * it. The threads that it was given take turns on it (unit.c).
 */
#ifndef PTC_CAPTURE_EMU_CPU_H
#define PTC_CAPTURE_EMU_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/soft/encoder.h"
#include "capture/soft/flow.h"
#include "capture/soft/lbr.h"
#include "capture/soft/records.h"
#include "capture/soft/softring.h"
#include "capture/source.h"

struct ptc_emu_task;

struct ptc_emu_cpu {
	struct ptc_flow flow;
	struct ptc_records rec;
	struct ptc_lbr lbr;	   /* for branch stacks, if they are wanted */
	struct ptc_softring *ring; /* owned */
	struct ptc_enc *enc;	   /* owned */
	size_t aux_size;
	uint64_t published; /* encoder position */
	bool lossy;
	bool dropping;	  /* the AUX ring was full, and is not yet empty enough */
	uint64_t dropped; /* trace bytes */
	/* unit.c's */
	struct ptc_emu_task *running; /* NULL: none */
	unsigned int tasks;	      /* that it was given */
};

struct ptc_emu_cpu_opts {
	uint32_t number;
	struct ptc_softring_opts ring;
	struct ptc_enc_opts enc;
	const struct ptc_clock *clock; /* lent */
	uint64_t first_id;	       /* of this CPU's events: the trace, side records, stacks */
};

/* @c must be zeroed, and stay where it is. */
int ptc_emu_cpu_open(struct ptc_emu_cpu *c, const struct ptc_emu_cpu_opts *opts,
		     struct ptc_err *err);
/* Branch stacks, too, as @o has it. Before anything runs, and before ptc_emu_cpu_desc. */
int ptc_emu_cpu_open_lbr(struct ptc_emu_cpu *c, const struct ptc_record_opts *o,
			 struct ptc_lbr_stacks *stacks, struct ptc_truth *truth,
			 struct ptc_err *err);
/* Also right for a zeroed one. */
void ptc_emu_cpu_close(struct ptc_emu_cpu *c);

/* What the session drains. */
struct ptc_source_ring ptc_emu_cpu_desc(const struct ptc_emu_cpu *c, uint32_t idx);

/* Bytes that were made and cannot be seen by the consumer yet. */
static inline uint64_t ptc_emu_cpu_unpublished(const struct ptc_emu_cpu *c)
{
	return ptc_enc_pos(c->enc) - c->published;
}

/* Let the consumer see all that was made. */
void ptc_emu_cpu_publish(struct ptc_emu_cpu *c);

/* Of ptc_emu_cpu_look. */
void ptc_emu_cpu_begin_anew(struct ptc_emu_cpu *c);

/* Between two blocks: if trace was dropped, and there is room again, begin anew. */
static inline void ptc_emu_cpu_look(struct ptc_emu_cpu *c)
{
	if (__builtin_expect(c->dropping, 0))
		ptc_emu_cpu_begin_anew(c);
}

#endif
