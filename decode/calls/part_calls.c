/* SPDX-License-Identifier: MIT */
/*
 * The machine is that of `calls`. One frame stands for all unknown ones. An item goes to the
 * machine if the known frames decide its effect. Otherwise it becomes a step.
 */
#include "ptcap/part_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "decode/calls/calls_state.h"
#include "ptcap/branchsel.h"

enum { ABSENT_MAX = 64 };

/* No function starts here. */
#define UNKNOWN (UINT64_MAX - 1)

struct part_thread {
	bool passed;	 /* it had a branch */
	bool began;	 /* at least one function is open */
	bool out_known;	 /* the stack's member out is right */
	bool life_known; /* the stack's member life is right */
	/*
	 * The innermost unknown function is that of the frame that stands for it. Otherwise it is,
	 * or this function is not open.
	 */
	bool certain;
	struct ptc_item exit; /* the last branch out of the trace */
	uint64_t absent[ABSENT_MAX];
	size_t nabsent;
};

struct ptc_part_calls {
	struct ptc_calls *calls; /* owned */
	int (*on_step)(void *ctx, const struct ptc_part_step *step);
	struct part_thread *threads; /* owned */
	size_t cap;
	struct ptc_idmap tids;
	struct ptc_open_call *open; /* owned */
	size_t open_cap;
};

struct ptc_part_calls *ptc_part_calls_new(const struct ptc_calls_opts *opts,
					  int (*on_step)(void *ctx,
							 const struct ptc_part_step *step))
{
	struct ptc_part_calls *p = calloc(1, sizeof(*p));

	if (p)
		p->calls = ptc_calls_new(opts);
	if (!p || !p->calls || !p->calls->opts.closes) {
		ptc_part_calls_free(p);
		return NULL;
	}
	p->on_step = on_step;
	return p;
}

void ptc_part_calls_free(struct ptc_part_calls *p)
{
	if (!p)
		return;
	ptc_calls_free(p->calls);
	free(p->threads);
	ptc_idmap_release(&p->tids);
	free(p->open);
	free(p);
}

/* Make the stack one frame, which stands for all. Returns false if out of memory. */
static bool forget_calls(struct part_thread *p, struct ptc_call_stack *t)
{
	if (!ptc_grow(&t->frames, &t->cap, 1, sizeof(*t->frames)))
		return false;
	ptc_frame_index_clear(&t->index);
	t->frames[0] = (struct ptc_call_stack_frame){ .function = UNKNOWN,
						      .since = PTC_NO_TIME,
						      .since_insns = PTC_NO_TIME };
	t->n = 1;
	p->certain = false;
	p->nabsent = 0;
	return true;
}

/* Returns the state of the thread of @t, which may be new. NULL: out of memory. */
static struct part_thread *part_thread(struct ptc_part_calls *p, struct ptc_call_stack *t)
{
	size_t at = ptc_idmap_find(&p->tids, t->tid);

	if (at != SIZE_MAX)
		return &p->threads[at];
	at = p->tids.n;
	if (!ptc_grow(&p->threads, &p->cap, at + 1, sizeof(*p->threads)) ||
	    !ptc_idmap_add(&p->tids, t->tid, at))
		return NULL;
	p->threads[at] = (struct part_thread){ .began = false };
	return forget_calls(&p->threads[at], t) ? &p->threads[at] : NULL;
}

/* --- steps --- */

static int report_step(struct ptc_part_calls *p, const struct part_thread *part,
		       const struct ptc_call_stack *t, const struct ptc_item *item)
{
	struct ptc_part_step step = { .tid = t->tid,
				      .passed = part->passed,
				      .pid = t->pid,
				      .queue = t->queue,
				      .time = t->time,
				      .insns = t->insns,
				      .ncalls = t->n - 1,
				      .absent = part->absent,
				      .nabsent = part->nabsent,
				      .exit = part->out_known && t->out ? &part->exit : NULL,
				      .exit_function = t->exit_function,
				      .item = item };
	size_t i;

	if (!ptc_grow(&p->open, &p->open_cap, t->n, sizeof(*p->open)))
		return PTC_E_NO_MEMORY;
	for (i = 1; i < t->n; i++)
		p->open[i - 1] = (struct ptc_open_call){ .ip = t->frames[i].ip,
							 .function = t->frames[i].function,
							 .ret = t->frames[i].ret,
							 .since = t->frames[i].since,
							 .since_insns = t->frames[i].since_insns };
	step.calls = p->open;
	return p->on_step(p->calls->opts.ctx, &step);
}

static bool is_jump(const struct ptc_item *it)
{
	return it->kind == PTC_KIND_JCC || it->kind == PTC_KIND_JMP || it->kind == PTC_KIND_IJMP;
}

static bool is_new_life(const struct ptc_part_calls *p, const struct part_thread *part,
			const struct ptc_call_stack *t, const struct ptc_item *it)
{
	const struct ptc_calls_opts *opts = &p->calls->opts;

	return opts->life && ptc_calls_comes_back(it) &&
	       (!part->life_known || opts->life(opts->ctx, it) != t->life);
}

/* Sets the state of the thread from the branch of a step: process, time, life, and function. */
static void learn_from_branch(const struct ptc_part_calls *p, struct part_thread *part,
			      struct ptc_call_stack *t, const struct ptc_item *it)
{
	const struct ptc_calls_opts *opts = &p->calls->opts;

	t->pid = it->pid;
	t->time = it->time;
	part->passed = part->began = true;
	if (it->kind == PTC_KIND_START || is_new_life(p, part, t, it)) {
		/* A branch of the first life known here may be of the life before, too. */
		part->out_known = it->kind == PTC_KIND_START || part->life_known || !t->out;
		t->out = false;
	}
	if (opts->life && ptc_calls_comes_back(it)) {
		t->life = opts->life(opts->ctx, it);
		part->life_known = true;
	}
	if (!is_jump(it))
		return;
	t->frames[0].function = opts->function(opts->ctx, it, it->to);
	part->certain = t->frames[0].function == it->to;
}

static int take_step(struct ptc_part_calls *p, struct part_thread *part, struct ptc_call_stack *t,
		     const struct ptc_item *it)
{
	const int rc = report_step(p, part, t, it);

	if (rc)
		return rc;
	if (!forget_calls(part, t))
		return PTC_E_NO_MEMORY;
	t->queue = it->queue;
	t->insns += it->insns;
	if (it->type == PTC_ITEM_BRANCH) {
		learn_from_branch(p, part, t, it);
	} else {
		part->began = false;
		part->out_known = true;
		t->out = false;
	}
	return 0;
}

int ptc_part_calls_flush(struct ptc_part_calls *p)
{
	struct ptc_call_stacks *stacks = &p->calls->stacks;
	struct part_thread *part;
	size_t i;
	int rc = 0;

	for (i = 0; i < stacks->n && !rc; i++) {
		part = part_thread(p, &stacks->v[i]);
		rc = part ? report_step(p, part, &stacks->v[i], NULL) : PTC_E_NO_MEMORY;
		if (!rc && !forget_calls(part, &stacks->v[i]))
			rc = PTC_E_NO_MEMORY;
	}
	return rc;
}

/* A gap of a queue depends on the queues of all threads. */
static int on_queue_gap(struct ptc_part_calls *p, const struct ptc_item *gap)
{
	const struct ptc_part_step step = { .tid = -1, .item = gap };
	struct ptc_call_stacks *stacks = &p->calls->stacks;
	struct part_thread *part;
	const int rc = ptc_part_calls_flush(p);
	size_t i;

	for (i = 0; i < stacks->n && !rc; i++) {
		if (stacks->v[i].queue != gap->queue)
			continue;
		part = part_thread(p, &stacks->v[i]);
		if (!part)
			return PTC_E_NO_MEMORY;
		part->began = false;
		part->out_known = true;
		stacks->v[i].out = false;
	}
	return rc ? rc : p->on_step(p->calls->opts.ctx, &step);
}

/* --- what the known frames decide --- */

/*
 * Assume that @function is not among the unknown ones. So a direct jump into the middle of another
 * function, as in the C library's string functions, is no step. Returns false if there are too many
 * assumptions.
 */
static bool assume_absent(struct part_thread *part, uint64_t function)
{
	size_t i;

	for (i = 0; i < part->nabsent; i++)
		if (part->absent[i] == function)
			return true;
	if (part->nabsent == ABSENT_MAX)
		return false;
	part->absent[part->nabsent++] = function;
	return true;
}

/* Is a jump from a function that is known into the middle of @function decided? */
static bool decides_landing(const struct ptc_part_calls *p, struct part_thread *part,
			    const struct ptc_call_stack *t, const struct ptc_item *it,
			    uint64_t function)
{
	const enum ptc_unwinder unwinder =
		t->n > 1 || part->certain ? ptc_calls_unwinder(p->calls, t, it) : PTC_NO_UNWINDER;
	const size_t i = ptc_call_stack_by_function(t, function, t->n);

	if (unwinder == PTC_RESUMED)
		return false;
	if (i)
		return i > 1 || part->certain;
	if (unwinder)
		return false;
	if (!function)
		return true;
	return it->kind != PTC_KIND_IJMP && assume_absent(part, function);
}

static bool decides_jump(const struct ptc_part_calls *p, struct part_thread *part,
			 const struct ptc_call_stack *t, const struct ptc_item *it)
{
	const struct ptc_calls_opts *opts = &p->calls->opts;
	const uint64_t function = opts->function(opts->ctx, it, it->to);
	const bool top_known = t->n > 1 || part->certain;

	if (function == t->frames[t->n - 1].function)
		return top_known || function != it->to;
	if (!top_known)
		return false;
	if (function == it->to)
		return t->n > 1;
	return decides_landing(p, part, t, it, function);
}

static bool decides_start(const struct part_thread *part, const struct ptc_call_stack *t,
			  const struct ptc_item *it)
{
	if (!part->out_known)
		return false;
	if (!t->out)
		return ptc_call_stack_by_return(t, it->to) > 1;
	return !t->has_next || it->to == t->next || it->to == t->exit_ip;
}

/* Do the known frames decide the effect of branch @it? */
static bool is_decided(const struct ptc_part_calls *p, struct part_thread *part,
		       const struct ptc_call_stack *t, const struct ptc_item *it)
{
	if (is_new_life(p, part, t, it))
		return false;
	if (!ptc_item_has_to(it) && it->kind != PTC_KIND_START)
		return true;
	if (!part->began)
		return false;
	switch ((enum ptc_kind)it->kind) {
	case PTC_KIND_START:
		return decides_start(part, t, it);
	case PTC_KIND_CALL:
	case PTC_KIND_ICALL:
		return t->n < PTC_CALL_STACK_MAX;
	case PTC_KIND_RET:
		return ptc_call_stack_by_return(t, it->to) > 1;
	case PTC_KIND_JCC:
	case PTC_KIND_JMP:
	case PTC_KIND_IJMP:
		return decides_jump(p, part, t, it);
	default:
		return true;
	}
}

/* --- items --- */

int ptc_part_calls_item(struct ptc_part_calls *p, const struct ptc_item *it)
{
	struct ptc_call_stack *t;
	struct part_thread *part;
	int rc;

	if (it->type != PTC_ITEM_BRANCH && it->type != PTC_ITEM_GAP)
		return 0;
	if (it->type == PTC_ITEM_GAP && it->tid < 0)
		return on_queue_gap(p, it);
	t = ptc_call_stack_of(&p->calls->stacks, it->tid);
	part = t ? part_thread(p, t) : NULL;
	if (!part)
		return PTC_E_NO_MEMORY;
	if (it->type == PTC_ITEM_GAP || !is_decided(p, part, t, it))
		return take_step(p, part, t, it);
	rc = ptc_calls_item(p->calls, it);
	part->passed = true;
	if (!ptc_item_has_to(it) && it->kind != PTC_KIND_START) {
		part->exit = *it;
		part->out_known = true;
	}
	return rc;
}

/* --- joining --- */

int ptc_calls_restore(struct ptc_calls *c, int32_t tid, const struct ptc_open_call *call)
{
	struct ptc_call_stack *t = ptc_call_stack_of(&c->stacks, tid);

	if (t && t->n >= PTC_CALL_STACK_MAX)
		return PTC_E_LIMIT;
	if (!t || !ptc_grow(&t->frames, &t->cap, t->n + 1, sizeof(*t->frames)))
		return PTC_E_NO_MEMORY;
	t->frames[t->n++] = (struct ptc_call_stack_frame){ .ip = call->ip,
							   .function = call->function,
							   .ret = call->ret,
							   .since = call->since,
							   .since_insns = call->since_insns };
	return ptc_call_stack_pushed(t) ? 0 : PTC_E_NO_MEMORY;
}

int ptc_calls_pass(struct ptc_calls *c, const struct ptc_item *last, uint64_t insns)
{
	struct ptc_call_stack *t = ptc_call_stack_of(&c->stacks, last->tid);

	if (!t)
		return PTC_E_NO_MEMORY;
	t->pid = last->pid;
	t->queue = last->queue;
	t->time = last->time;
	t->insns += insns;
	return 0;
}

bool ptc_calls_is_open(struct ptc_calls *c, int32_t tid, uint64_t function)
{
	const struct ptc_call_stack *t = ptc_call_stack_of(&c->stacks, tid);

	return t && ptc_call_stack_by_function(t, function, t->n);
}
