/* SPDX-License-Identifier: MIT */
/*
 * Turns retired instructions into packets and a list of branches. Instructions come one by one or
 * as a straight line. Software sources call this once they know where an instruction led.
 */
#ifndef PTC_CAPTURE_SOFT_INSN_TO_PACKETS_H
#define PTC_CAPTURE_SOFT_INSN_TO_PACKETS_H

#include "arch/insn.h"
#include "capture/soft/encoder.h"
#include "ptcap/kind.h"

/* Receives every listed branch (doc/format.md) as the source saw it: the ground truth. */
typedef void ptc_truth_fn(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind);

struct ptc_lbr;

struct ptc_flow {
	struct ptc_enc *enc;
	struct ptc_lbr *lbr; /* also receives the branches; NULL: no branch stacks are wanted */
	ptc_truth_fn *truth; /* may be NULL */
	void *truth_ctx;
	int tid;
	uint64_t tsc;	/* of the newest branch stack */
	uint64_t insns; /* retired */
	uint64_t transfers;
	uint64_t unshown; /* branches in endless loops that make no packet */
	/* Brent's cycle detection over the direct branches since the last packet. */
	uint64_t mark, steps, limit;
	bool circles;
	uint64_t odd; /* times that the kernel moved the thread without a signal that we saw */
};

/*
 * Detects cycles of direct branches, which make no packet. A thread that reaches the same address
 * twice without a packet repeats that path. A decoder detects the same, and lists no more branches
 * (ptc_branch_builder_is_endless).
 */
static inline void ptc_flow_circle(struct ptc_flow *f, uint64_t to)
{
	f->unshown += f->circles;
	f->circles |= to == f->mark;
	if (!f->circles && ++f->steps >= f->limit) {
		f->limit *= 2;
		f->mark = to;
	}
}

/* All further calls are for thread @tid of process @pid. */
void ptc_flow_of(struct ptc_flow *f, int pid, int tid);

/*
 * Reports that @insn at @ip retired and that control is at @to. @taken is used only for a jcc whose
 * target is the next instruction. @tsc: time at the start of the instruction. An instruction that
 * enters the kernel ends the trace. The next call starts it again.
 */
void ptc_flow_retire(struct ptc_flow *f, const struct ptc_insn *insn, uint64_t ip, uint64_t to,
		     bool taken, uint64_t tsc);

/*
 * Reports that @n consecutive instructions from @ip on retired. Control is at the next instruction,
 * or where ptc_flow_lead reports. @tsc: time at the start of the first.
 */
void ptc_flow_line(struct ptc_flow *f, uint64_t ip, uint64_t n, uint64_t tsc);

/*
 * Reports that the last of these instructions was @insn at @ip, and that it led to @to. @taken and
 * @tsc: as for ptc_flow_retire.
 */
void ptc_flow_lead(struct ptc_flow *f, const struct ptc_insn *insn, uint64_t ip, uint64_t to,
		   bool taken, uint64_t tsc);

/*
 * Reports a fault, a signal or the end of tracing at @ip; the instruction there did not retire.
 * @attempted: the instruction was started (a fault), so traced code was entered even if the trace
 * was off. Without @attempted nothing happens if the trace is off.
 */
void ptc_flow_async(struct ptc_flow *f, uint64_t ip, bool attempted, uint64_t tsc);

#endif
