/* SPDX-License-Identifier: MIT */
/*
 * A virtual CPU of the emulated source: one ring pair, and the encoder that fills it. The threads
 * assigned to it take turns (trace_unit.c).
 */
#ifndef PTC_CAPTURE_EMU_CPU_H
#define PTC_CAPTURE_EMU_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/soft/encoder.h"
#include "capture/soft/insn_to_packets.h"
#include "capture/soft/lbr.h"
#include "capture/soft/sideband_writer.h"
#include "capture/soft/softring.h"
#include "capture/source/source.h"

struct ptc_emu_task;

struct ptc_emu_cpu {
	struct ptc_flow flow;
	struct ptc_records rec;
	struct ptc_lbr lbr;	   /* if branch stacks are wanted */
	struct ptc_softring *ring; /* owned */
	struct ptc_enc *enc;	   /* owned */
	size_t aux_size;
	uint64_t published; /* encoder position */
	bool lossy;
	bool dropping;	  /* the AUX ring was full, and has not been drained enough yet */
	uint64_t dropped; /* bytes of trace */
	/* used by trace_unit.c */
	struct ptc_emu_task *running; /* NULL: none */
	unsigned int tasks;	      /* number of assigned threads */
};

struct ptc_emu_cpu_opts {
	uint32_t number;
	struct ptc_softring_opts ring;
	struct ptc_enc_opts enc;
	const struct ptc_clock *clock; /* borrowed */
	uint64_t first_id; /* ids count from here: the trace, sideband records, branch stacks */
};

/* Initialises @c, which must be zeroed and must not move afterwards. */
int ptc_emu_cpu_open(struct ptc_emu_cpu *c, const struct ptc_emu_cpu_opts *opts,
		     struct ptc_err *err);
/*
 * Adds branch stacks as @o requests. Call it before the command runs and before ptc_emu_cpu_desc.
 */
int ptc_emu_cpu_open_lbr(struct ptc_emu_cpu *c, const struct ptc_record_opts *o,
			 struct ptc_lbr_stacks *stacks, struct ptc_truth *truth,
			 struct ptc_err *err);
/* Accepts a zeroed @c. */
void ptc_emu_cpu_close(struct ptc_emu_cpu *c);

/* Returns the description of the ring for the session. */
struct ptc_source_ring ptc_emu_cpu_desc(const struct ptc_emu_cpu *c, uint32_t idx);

/* Returns the number of bytes that were produced but not published. */
static inline uint64_t ptc_emu_cpu_unpublished(const struct ptc_emu_cpu *c)
{
	return ptc_enc_pos(c->enc) - c->published;
}

/* Publishes all bytes produced so far. */
void ptc_emu_cpu_publish(struct ptc_emu_cpu *c);

/* Used by ptc_emu_cpu_look. */
void ptc_emu_cpu_begin_anew(struct ptc_emu_cpu *c);

/*
 * Call between two blocks: starts the trace again if bytes were dropped and the ring has enough
 * space.
 */
static inline void ptc_emu_cpu_look(struct ptc_emu_cpu *c)
{
	if (__builtin_expect(c->dropping, 0))
		ptc_emu_cpu_begin_anew(c);
}

#endif
