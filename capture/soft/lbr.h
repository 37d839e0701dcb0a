/* SPDX-License-Identifier: MIT */
/*
 * The last branch records of a CPU, for software sources: what the filter lets through goes
 * round in so many entries, and each time that enough branches or instructions have retired a
 * sample has them, newest first. As the kernel does it (intel_pmu_lbr_sched_task), a thread begins
 * empty each time that it gets the CPU; its call stack is kept.
 */
#ifndef PTC_CAPTURE_SOFT_LBR_H
#define PTC_CAPTURE_SOFT_LBR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "capture/soft/records.h"
#include "capture/soft/spoil.h"
#include "ptcap/capture.h"
#include "ptcap/kind.h"
#include "ptcap/sample.h"

enum { PTC_LBR_SIZE = 32, PTC_LBR_PERIOD = 1000 };

struct ptc_truth;

/* Of a thread. */
struct ptc_lbr_stack {
	int tid; /* 0: nobody's */
	unsigned int
		lent; /* pointers to it that CPUs keep: it is nobody else's until they are gone */
	uint64_t top; /* entries[(top - 1) % size] is the newest */
	uint32_t n;
	struct ptc_branch entries[];
};

/* The stacks of all threads, shared by the CPUs, all of which one thread runs. */
struct ptc_lbr_stacks {
	struct ptc_lbr_stack **items; /* owned, each */
	size_t n, cap;
};

/* Also right for zeros. */
void ptc_lbr_stacks_release(struct ptc_lbr_stacks *s);

struct ptc_lbr {
	/* as ptc_lbr_init sets it */
	uint64_t sel; /* PERF_SAMPLE_BRANCH_* */
	uint32_t size;
	uint64_t period;
	bool counts_insns;	       /* else branches, taken or not */
	struct ptc_lbr_stacks *stacks; /* lent */
	struct ptc_records *rec;       /* lent: of the CPU */
	uint64_t id;		       /* of the event on this CPU */
	struct ptc_truth *truth;       /* lent: is told of each sample; or NULL */

	/* among @stacks: of whom the CPU is (NULL: nobody yet, or no memory), and who was before */
	struct ptc_lbr_stack *now, *other;
	int pid, tid;	   /* of whom the CPU is */
	uint64_t branches; /* retired: whoever calls counts them */
	uint64_t next;	   /* count that the next sample is due at */
	struct ptc_spoiler spoiler;
	struct ptc_branch *copy; /* owned: a stack to be sampled, newest first, and the other one */
	struct ptc_buf entries, buf;
};

/* Is @o for stacks that can be made? Else PTC_E_USAGE says why not. @data_size: of the ring. */
int ptc_lbr_check(const struct ptc_record_opts *o, uint64_t data_size, struct ptc_err *err);

/* The event that o->sampler names, with o's period and filter, as the file has it. */
struct perf_event_attr ptc_lbr_attr(const struct ptc_record_opts *o);

const char *ptc_lbr_name(const struct ptc_record_opts *o);

/* @l is zeros; sel, size, period and so on become those of @o, which was checked. */
int ptc_lbr_init(struct ptc_lbr *l, const struct ptc_record_opts *o, struct ptc_lbr_stacks *stacks,
		 struct ptc_records *rec, uint64_t id, struct ptc_truth *truth,
		 struct ptc_err *err);
/* Also right for zeros. */
void ptc_lbr_release(struct ptc_lbr *l);

/* Thread @tid of process @pid has the CPU from now on. */
void ptc_lbr_switch(struct ptc_lbr *l, int pid, int tid);

/*
 * @tid is gone, and may come back as another thread, or has run another program (exec): nothing is
 * left of what it did. A CPU that @tid has goes on with an empty stack, as @tid's.
 */
void ptc_lbr_forget(const struct ptc_lbr_stacks *s, int tid);

/* A transfer of the thread that has the CPU. @frame: a call, but not to the next instruction. */
void ptc_lbr_branch(struct ptc_lbr *l, uint64_t from, uint64_t to, enum ptc_kind kind, bool frame);

/* Is a sample due, as @insns and l->branches have retired on the CPU? Says so once. */
static inline bool ptc_lbr_due(struct ptc_lbr *l, uint64_t insns)
{
	const uint64_t count = l->counts_insns ? insns : l->branches;

	if (__builtin_expect(count < l->next, 1))
		return false;
	l->next += ((count - l->next) / l->period + 1) * l->period;
	return true;
}

/* A sample: the next instruction is at @ip, the time is @tsc. */
void ptc_lbr_sample(struct ptc_lbr *l, uint64_t ip, uint64_t tsc);

#endif
