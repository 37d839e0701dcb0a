/* SPDX-License-Identifier: MIT */
#include "ptcap/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/opts.h"
#include "decode/calls/calls_state.h"
#include "ptcap/branchsel.h"

struct ptc_calls *ptc_calls_new(const struct ptc_calls_opts *opts)
{
	struct ptc_calls *c = calloc(1, sizeof(*c));
	struct ptc_err err;

	if (!c || ptc_opts_take(&c->opts, sizeof(c->opts), opts, "PTC_CALLS_OPTS_INIT", &err)) {
		free(c);
		return NULL;
	}
	return c;
}

void ptc_calls_free(struct ptc_calls *c)
{
	if (!c)
		return;
	ptc_call_stacks_release(&c->stacks);
	free(c);
}

/* --- reporting --- */

/* Returns the caller's address of a frame entered at @it, or 0. */
static uint64_t caller_address(const struct ptc_call_stack *t, const struct ptc_item *it,
			       enum ptc_call_how how)
{
	if (how == PTC_CALL_BY_CALL)
		return it->from;
	return how == PTC_CALL_BY_SIGNAL ? t->exit_ip : 0;
}

static int report_call(struct ptc_calls *c, const struct ptc_call *call)
{
	return c->opts.on_call(c->opts.ctx, call);
}

static int leave(struct ptc_calls *c, struct ptc_call_stack *t, const struct ptc_item *it,
		 enum ptc_call_how how)
{
	const struct ptc_call_stack_frame *f = &t->frames[--t->n];

	ptc_call_stack_popped(t);
	return report_call(c, &(struct ptc_call){ .type = PTC_CALL_LEAVE,
						  .how = how,
						  .depth = (uint32_t)t->n,
						  .ip = f->ip,
						  .since = f->since,
						  .insns = t->insns,
						  .since_insns = f->since_insns,
						  .item = it });
}

/* With opts.closes: leave all frames, at the time of the last item. Drops all frames. */
static int close_frames(struct ptc_calls *c, struct ptc_call_stack *t, enum ptc_call_how how)
{
	const struct ptc_item end = { .type = PTC_ITEM_GAP,
				      .pid = t->pid,
				      .tid = t->tid,
				      .cpu = -1,
				      .queue = t->queue,
				      .time = t->time };
	int rc = 0;

	while (c->opts.closes && !rc && t->n)
		rc = leave(c, t, &end, how);
	t->n = 0;
	ptc_frame_index_clear(&t->index);
	t->out = false;
	return rc;
}

static int push_function_frame(struct ptc_calls *c, struct ptc_call_stack *t,
			       const struct ptc_item *it, enum ptc_call_how how, uint64_t ret)
{
	const bool full = t->n == PTC_CALL_STACK_MAX, cut = full && !c->opts.closes;
	struct ptc_call_stack_frame *f;
	int rc;

	if (full && !cut) {
		rc = close_frames(c, t, PTC_CALL_BY_GAP);
		if (rc)
			return rc;
	}
	if (cut) {
		memmove(t->frames, t->frames + PTC_CALL_STACK_MAX / 2,
			PTC_CALL_STACK_MAX / 2 * sizeof(*f));
		t->n = PTC_CALL_STACK_MAX / 2;
		if (!ptc_call_stack_renumbered(t))
			return PTC_E_NO_MEMORY;
	}
	if (!ptc_grow(&t->frames, &t->cap, t->n + 1, sizeof(*f)))
		return PTC_E_NO_MEMORY;
	f = &t->frames[t->n++];
	*f = (struct ptc_call_stack_frame){ .ip = it->to,
					    .function = c->opts.function(c->opts.ctx, it, it->to),
					    .ret = ret,
					    .since = it->time,
					    .since_insns = t->insns,
					    .signal = how == PTC_CALL_BY_SIGNAL };
	if (!ptc_call_stack_pushed(t))
		return PTC_E_NO_MEMORY;
	return report_call(c, &(struct ptc_call){ .type = PTC_CALL_ENTER,
						  .how = how,
						  .cut = cut,
						  .depth = (uint32_t)(t->n - 1),
						  .ip = f->ip,
						  .from = caller_address(t, it, how),
						  .ret = ret,
						  .since = f->since,
						  .insns = t->insns,
						  .since_insns = t->insns,
						  .item = it });
}

/* Leave all frames behind the first @n. The last of them goes by @how. */
static int leave_to(struct ptc_calls *c, struct ptc_call_stack *t, const struct ptc_item *it,
		    size_t n, enum ptc_call_how how)
{
	int rc = 0;

	while (!rc && t->n > n)
		rc = leave(c, t, it, t->n == n + 1 ? how : PTC_CALL_BY_UNWINDING);
	return rc;
}

/* --- unwinders of exceptions --- */

enum ptc_unwinder ptc_calls_unwinder(const struct ptc_calls *c, const struct ptc_call_stack *t,
				     const struct ptc_item *it)
{
	const uint64_t function = t->frames[t->n - 1].function;
	const char *name = NULL;

	if (c->opts.name && function && (it->kind == PTC_KIND_IJMP || it->kind == PTC_KIND_RET))
		name = c->opts.name(c->opts.ctx, it, function);
	if (!name || strncmp(name, "_Unwind_", 8) != 0)
		return PTC_NO_UNWINDER;
	return strcmp(name, "_Unwind_Resume") != 0 ? PTC_UNWINDER : PTC_RESUMED;
}

/* Is the target in the part of a function that the compiler put elsewhere? */
static bool is_cold_part(const struct ptc_calls *c, const struct ptc_item *it)
{
	const char *name = c->opts.name(c->opts.ctx, it, it->to);

	return name && strstr(name, ".cold");
}

/* Did the trace begin in the middle of a function, so that callers are missing? */
static bool begins_late(const struct ptc_call_stack *t)
{
	return t->frames[0].function && t->frames[0].ip != t->frames[0].function;
}

/*
 * A branch into the middle of @function, which may be 0: maybe to a landing pad. The trace does not
 * tell which one of several calls of the function goes on. A landing pad may be in a part of its
 * function that has another symbol or none.
 */
static int on_landing(struct ptc_calls *c, struct ptc_call_stack *t, const struct ptc_item *it,
		      uint64_t function)
{
	const enum ptc_unwinder unwinder = ptc_calls_unwinder(c, t, it);
	const bool leaves = unwinder == PTC_RESUMED && t->n > 2;
	const size_t i = ptc_call_stack_by_function(t, function, leaves ? t->n - 2 : t->n);
	int rc;

	if (i)
		return leave_to(c, t, it, i, PTC_CALL_BY_UNWINDING);
	if (leaves)
		return leave_to(c, t, it, t->n - 2, PTC_CALL_BY_UNWINDING);
	if (!unwinder || !function || !begins_late(t) || is_cold_part(c, it))
		return 0;
	rc = leave_to(c, t, it, 0, PTC_CALL_BY_UNWINDING);
	return rc ? rc : push_function_frame(c, t, it, PTC_CALL_BY_RETURN, 0);
}

/* --- branches --- */

/* A jump. A jump inside one function changes nothing. */
static int on_jump(struct ptc_calls *c, struct ptc_call_stack *t, const struct ptc_item *it)
{
	const struct ptc_call_stack_frame *top = &t->frames[t->n - 1];
	const uint64_t function = c->opts.function(c->opts.ctx, it, it->to);
	const uint64_t ret = top->ret;
	const bool signal = top->signal;
	int rc;

	if (function == top->function)
		return 0;
	if (it->to != function)
		return on_landing(c, t, it, function);
	rc = leave(c, t, it, PTC_CALL_BY_TAIL);
	if (!rc)
		rc = push_function_frame(c, t, it, PTC_CALL_BY_TAIL, ret);
	if (!rc)
		t->frames[t->n - 1].signal = signal;
	return rc;
}

static int on_return(struct ptc_calls *c, struct ptc_call_stack *t, const struct ptc_item *it)
{
	size_t i = ptc_call_stack_by_return(t, it->to);
	uint64_t function;
	int rc;

	if (i)
		return leave_to(c, t, it, i - 1, PTC_CALL_BY_CALL);
	if (t->frames[t->n - 1].signal) {
		if (t->frames[t->n - 1].ret == it->to) /* a function that a handler inserted */
			return leave_to(c, t, it, t->n - 1, PTC_CALL_BY_CALL);
		t->frames[t->n - 1].returned = true; /* to the trampoline that calls sigreturn */
		return 0;
	}
	function = c->opts.function(c->opts.ctx, it, it->to);
	if (function && function == it->to) /* a return used as a jump */
		return on_jump(c, t, it);
	i = ptc_call_stack_by_function(t, function, t->n - 1);
	if (i || ptc_calls_unwinder(c, t, it))
		return on_landing(c, t, it, function);
	rc = leave_to(c, t, it, 0, PTC_CALL_BY_RETURN);
	return rc ? rc : push_function_frame(c, t, it, PTC_CALL_BY_RETURN, 0);
}

static void on_leaving(struct ptc_calls *c, struct ptc_call_stack *t, const struct ptc_item *it)
{
	const bool retired = it->kind != PTC_KIND_ASYNC;

	t->out = true;
	t->exit_ip = it->from;
	t->has_next = !retired || it->insn_len;
	t->next = !retired ? it->from : it->insn_len ? it->from + it->insn_len : 0;
	t->exit_function = c->opts.function(c->opts.ctx, it, it->from);
}

/* A start behind a branch out of an address filter: the code that ran there is unknown. */
static int on_reentry(struct ptc_calls *c, struct ptc_call_stack *t, const struct ptc_item *it)
{
	const size_t i = ptc_call_stack_by_return(t, it->to);

	if (i)
		return leave_to(c, t, it, i - 1, PTC_CALL_BY_CALL);
	if (c->opts.function(c->opts.ctx, it, it->to) == t->frames[t->n - 1].function)
		return 0;
	return push_function_frame(c, t, it, PTC_CALL_BY_TRACE, 0);
}

/*
 * A handler has returned, but its sigreturn did not lead to the interrupted address. If a function
 * begins there, the handler has inserted a call of this function, as Go's handlers do.
 */
static int on_changed_context(struct ptc_calls *c, struct ptc_call_stack *t,
			      const struct ptc_item *it)
{
	const uint64_t ret = t->frames[t->n - 1].ret;
	const uint64_t function = c->opts.function(c->opts.ctx, it, it->to);
	const int rc = leave(c, t, it, PTC_CALL_BY_SIGNAL);

	if (rc || !t->n)
		return rc;
	if (function != it->to)
		return on_landing(c, t, it, function);
	t->exit_ip = ret;
	return push_function_frame(c, t, it, PTC_CALL_BY_SIGNAL, ret);
}

static int on_start(struct ptc_calls *c, struct ptc_call_stack *t, const struct ptc_item *it)
{
	const bool was_out = t->out;
	size_t i;
	int rc;

	t->out = false;
	if (!t->n)
		return push_function_frame(c, t, it, PTC_CALL_BY_TRACE, 0);
	if (!was_out)
		return on_reentry(c, t, it);
	if (!t->has_next || it->to == t->next || it->to == t->exit_ip)
		return 0; /* a system call, an interrupt, a restarted system call */
	i = ptc_call_stack_by_signal(t, it->to);
	if (i)
		return leave_to(c, t, it, i - 1, PTC_CALL_BY_SIGNAL);
	if (t->frames[t->n - 1].returned && t->next != t->exit_ip)
		return on_changed_context(c, t, it);
	/* Another program: other code is now at the address of the exit. */
	if (c->opts.function(c->opts.ctx, it, t->exit_ip) != t->exit_function) {
		rc = leave_to(c, t, it, 0, PTC_CALL_BY_UNWINDING);
		return rc ? rc : push_function_frame(c, t, it, PTC_CALL_BY_TRACE, 0);
	}
	return push_function_frame(c, t, it, PTC_CALL_BY_SIGNAL, t->next);
}

static int on_transfer(struct ptc_calls *c, struct ptc_call_stack *t, const struct ptc_item *it)
{
	struct ptc_item before = *it;
	uint64_t next;
	int rc = 0;

	if (!t->n) { /* behind a gap without an entry: enter the function of the source */
		before.to = it->from;
		rc = push_function_frame(c, t, &before, PTC_CALL_BY_TRACE, 0);
		if (rc)
			return rc;
	}
	switch ((enum ptc_kind)it->kind) {
	case PTC_KIND_CALL:
	case PTC_KIND_ICALL:
		next = it->insn_len ? it->from + it->insn_len : 0;
		return it->to == next ? 0 : push_function_frame(c, t, it, PTC_CALL_BY_CALL, next);
	case PTC_KIND_RET:
		return on_return(c, t, it);
	case PTC_KIND_JCC:
	case PTC_KIND_JMP:
	case PTC_KIND_IJMP:
		return on_jump(c, t, it);
	default:
		return 0;
	}
}

bool ptc_calls_comes_back(const struct ptc_item *it)
{
	return it->kind == PTC_KIND_START ||
	       (ptc_is_kernel_ip(it->from) && ptc_item_has_to(it) && !ptc_is_kernel_ip(it->to));
}

/*
 * If a new life began, drop all frames: they are of an older thread with this ID, or of the program
 * before an exec.
 */
static int begin_life(struct ptc_calls *c, struct ptc_call_stack *t, const struct ptc_item *it)
{
	const uint64_t life = c->opts.life(c->opts.ctx, it);

	if (life == t->life)
		return 0;
	t->life = life;
	t->out = false;
	if (c->opts.closes) /* nobody knows when the older frames ended: at the last item at best */
		return close_frames(c, t, PTC_CALL_BY_END);
	return leave_to(c, t, it, 0, PTC_CALL_BY_UNWINDING);
}

static int tell_lost(struct ptc_calls *c, const struct ptc_item *it)
{
	return report_call(c, &(struct ptc_call){ .type = PTC_CALL_LOST,
						  .how = PTC_CALL_BY_TRACE,
						  .since = PTC_NO_TIME,
						  .since_insns = PTC_NO_TIME,
						  .item = it });
}

/* A gap without a thread counts for all threads that were last in its queue. */
static int on_gap_of_queue(struct ptc_calls *c, const struct ptc_item *it)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < c->stacks.n && !rc; i++)
		if (c->stacks.v[i].queue == it->queue)
			rc = close_frames(c, &c->stacks.v[i], PTC_CALL_BY_GAP);
	return rc ? rc : tell_lost(c, it);
}

int ptc_calls_item(struct ptc_calls *c, const struct ptc_item *it)
{
	struct ptc_call_stack *t;
	bool begins;
	int rc;

	if (it->type != PTC_ITEM_BRANCH && it->type != PTC_ITEM_GAP)
		return 0;
	if (it->type == PTC_ITEM_GAP && it->tid < 0)
		return on_gap_of_queue(c, it);
	t = ptc_call_stack_of(&c->stacks, it->tid);
	if (!t)
		return PTC_E_NO_MEMORY;
	begins = it->type == PTC_ITEM_BRANCH && c->opts.life && ptc_calls_comes_back(it);
	if (begins && c->opts.closes) { /* with the time and the count of the older life */
		rc = begin_life(c, t, it);
		if (rc)
			return rc;
	}
	t->insns += it->insns;
	if (it->type == PTC_ITEM_GAP) {
		rc = close_frames(c, t, PTC_CALL_BY_GAP);
		t->queue = it->queue;
		return rc ? rc : tell_lost(c, it);
	}
	t->queue = it->queue;
	t->pid = it->pid;
	t->time = it->time;
	if (begins && !c->opts.closes) {
		rc = begin_life(c, t, it);
		if (rc)
			return rc;
	}
	if (it->kind == PTC_KIND_START)
		return on_start(c, t, it);
	if (ptc_item_has_to(it))
		return on_transfer(c, t, it);
	on_leaving(c, t, it);
	return 0;
}

int ptc_calls_finish(struct ptc_calls *c)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < c->stacks.n && !rc; i++)
		rc = close_frames(c, &c->stacks.v[i], PTC_CALL_BY_END);
	return rc;
}
