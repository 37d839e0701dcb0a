/* SPDX-License-Identifier: MIT */
/*
 * Retired instructions in, one by one or a straight line of them at once; packets
 * and the list of transfers out. What the software sources do with an instruction
 * once they know where it led.
 */
#ifndef PTC_CAPTURE_SOFT_FLOW_H
#define PTC_CAPTURE_SOFT_FLOW_H

#include "arch/insn.h"
#include "capture/soft/encoder.h"
#include "ptcap/kind.h"

/* Every transfer that is listed (doc/format.md), as the source saw it: ground truth. */
typedef void ptc_truth_fn(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind);

struct ptc_lbr;

struct ptc_flow {
	struct ptc_enc *enc;
	struct ptc_lbr *lbr; /* gets the transfers, too; NULL: no branch stacks are wanted */
	ptc_truth_fn *truth; /* may be NULL */
	void *truth_ctx;
	int tid;
	uint64_t tsc;	/* of the newest branch stack */
	uint64_t insns; /* retired */
	uint64_t transfers;
	uint64_t unshown; /* of them, in circles that make no packet */
	/* Brent's cycle finder over direct transfers since the last packet. */
	uint64_t mark, steps, limit;
	bool circles;
	uint64_t odd; /* the kernel moved the thread elsewhere without a signal we saw */
};

/* What comes is of thread @tid of process @pid. */
void ptc_flow_of(struct ptc_flow *f, int pid, int tid);

/*
 * @insn at @ip retired and control is at @to. @taken says of a jcc whose target
 * is the next instruction which way it went, and is looked at then only.
 * @tsc: when the instruction was started. Instructions that enter the kernel
 * end the trace; it begins again with the next call.
 */
void ptc_flow_retire(struct ptc_flow *f, const struct ptc_insn *insn, uint64_t ip, uint64_t to,
		     bool taken, uint64_t tsc);

/*
 * @n instructions from @ip on retired, one behind the other; control is at the
 * next one, or where ptc_flow_lead says. @tsc: when the first was started.
 */
void ptc_flow_line(struct ptc_flow *f, uint64_t ip, uint64_t n, uint64_t tsc);

/* The last of them was @insn at @ip, and led to @to; @taken, @tsc: as of ptc_flow_retire. */
void ptc_flow_lead(struct ptc_flow *f, const struct ptc_insn *insn, uint64_t ip, uint64_t to,
		   bool taken, uint64_t tsc);

/*
 * A fault, a signal or the end of tracing at @ip, which has not retired. With
 * @attempted the instruction was started (a fault), so traced code was entered even
 * if the trace was off; without, nothing happens when it was.
 */
void ptc_flow_async(struct ptc_flow *f, uint64_t ip, bool attempted, uint64_t tsc);

#endif
