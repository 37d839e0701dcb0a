/* SPDX-License-Identifier: MIT */
/*
 * Simulates a CPU's last branch records (LBR) for software sources. Branches that pass the filter
 * go into a ring of a fixed number of entries. A sample of them, newest first, is taken after each
 * period of branches or instructions. As in the kernel (intel_pmu_lbr_sched_task), a thread starts
 * with an empty stack each time it gets the CPU. Call stacks are kept.
 */
#ifndef PTC_CAPTURE_SOFT_LBR_H
#define PTC_CAPTURE_SOFT_LBR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "capture/soft/lbr_fault_injection.h"
#include "capture/soft/sideband_writer.h"
#include "ptcap/capture.h"
#include "ptcap/kind.h"
#include "ptcap/sample.h"

enum { PTC_LBR_SIZE = 32, PTC_LBR_PERIOD = 1000 };

struct ptc_truth;

/* Branch stack of one thread. */
struct ptc_lbr_stack {
	int tid;	   /* 0: unused */
	unsigned int lent; /* number of CPUs that point to this stack; reusable only at 0 */
	uint64_t top;	   /* entries[(top - 1) % size] is the newest */
	uint32_t n;
	struct ptc_branch entries[];
};

/* The stacks of all threads, shared by all CPUs. A single thread simulates these CPUs. */
struct ptc_lbr_stacks {
	struct ptc_lbr_stack **items; /* owned, including the items */
	size_t n, cap;
};

/* Accepts zeros. */
void ptc_lbr_stacks_release(struct ptc_lbr_stacks *s);

struct ptc_lbr {
	/* set by ptc_lbr_init */
	uint64_t sel; /* PERF_SAMPLE_BRANCH_* */
	uint32_t size;
	uint64_t period;
	bool counts_insns; /* true: counts instructions; false: branches, taken or not */
	struct ptc_lbr_stacks *stacks; /* borrowed */
	struct ptc_records *rec;       /* borrowed: the CPU's records */
	uint64_t id;		       /* id of the event on this CPU */
	struct ptc_truth *truth;       /* borrowed: receives each sample; or NULL */

	/*
	 * in @stacks: the current thread's stack (NULL: none yet, or no memory), and the previous
	 * thread's
	 */
	struct ptc_lbr_stack *now, *other;
	int pid, tid;	   /* the thread that has the CPU */
	uint64_t branches; /* retired branches: the caller counts them */
	uint64_t next;	   /* count at which the next sample is due */
	struct ptc_spoiler spoiler;
	/* owned: the stack to be sampled, newest first, then the other one */
	struct ptc_branch *copy;
	struct ptc_buf entries, buf;
};

/*
 * Returns PTC_E_USAGE with a reason if @o asks for unsupported branch stacks. @data_size: size of
 * the data ring.
 */
int ptc_lbr_check(const struct ptc_record_opts *o, uint64_t data_size, struct ptc_err *err);

/*
 * Returns the attr for the event o->sampler, with the period and filter of @o, as stored in the
 * file.
 */
struct perf_event_attr ptc_lbr_attr(const struct ptc_record_opts *o);

const char *ptc_lbr_name(const struct ptc_record_opts *o);

/* Initialises @l from @o, which must have passed ptc_lbr_check. All pointers are borrowed. */
int ptc_lbr_init(struct ptc_lbr *l, const struct ptc_record_opts *o, struct ptc_lbr_stacks *stacks,
		 struct ptc_records *rec, uint64_t id, struct ptc_truth *truth,
		 struct ptc_err *err);
/* Accepts zeros. */
void ptc_lbr_release(struct ptc_lbr *l);

/* Thread @tid of process @pid now has the CPU. */
void ptc_lbr_switch(struct ptc_lbr *l, int pid, int tid);

/*
 * Forgets the branches of @tid: the thread has ended, and its number may be reused, or it has
 * executed another program. A CPU that runs @tid continues with an empty stack for @tid.
 */
void ptc_lbr_forget(const struct ptc_lbr_stacks *s, int tid);

/*
 * Records a branch of the thread that has the CPU. @frame: a call to another address than the next
 * instruction.
 */
void ptc_lbr_branch(struct ptc_lbr *l, uint64_t from, uint64_t to, enum ptc_kind kind, bool frame);

/* Returns true once if a sample is due. @insns and l->branches have retired on the CPU. */
static inline bool ptc_lbr_due(struct ptc_lbr *l, uint64_t insns)
{
	const uint64_t count = l->counts_insns ? insns : l->branches;

	if (__builtin_expect(count < l->next, 1))
		return false;
	l->next += ((count - l->next) / l->period + 1) * l->period;
	return true;
}

/* Takes a sample. @ip: the next instruction. @tsc: the time. */
void ptc_lbr_sample(struct ptc_lbr *l, uint64_t ip, uint64_t tsc);

#endif
