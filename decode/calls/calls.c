/* SPDX-License-Identifier: MIT */
#include "ptcap/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/opts.h"
#include "base/sorted.h"
#include "decode/calls/frame_index.h"
#include "ptcap/branchsel.h"

enum {
	DEPTH_MAX = 1 << 16, /* a deeper stack drops its outermost half */
	INNER = 64	     /* frames that are searched one by one */
};

struct frame {
	uint64_t ip;	   /* where it was entered */
	uint64_t function; /* start of its function; 0: unknown */
	uint64_t ret;	   /* return address; 0: unknown */
	uint64_t since, since_insns;
	bool signal;   /* ret is the interrupted address */
	bool returned; /* this handler has returned, to the code that calls sigreturn */
	/* In the index: the next outer frame with this function, and with this return address. */
	uint32_t before_function, before_ret;
};

struct thread {
	int32_t tid, pid;
	uint32_t queue;	      /* of its last item */
	uint64_t time;	      /* of its last item */
	uint64_t insns;	      /* sum of the insns of its items */
	uint64_t life;	      /* from opts.life, when it last came out of the kernel */
	struct frame *frames; /* owned */
	size_t n, cap;
	struct ptc_frame_index index; /* of all frames but the INNER innermost ones */
	/*
	 * out: outside of the trace. next: where it would go on if nothing came in between; may be
	 * 0.
	 */
	bool out, has_next;
	uint64_t next, exit_ip, exit_function;
};

struct ptc_calls {
	struct ptc_calls_opts opts;
	struct thread *threads; /* owned; ascending tid */
	size_t n, cap, last;
};

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
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->n; i++) {
		free(c->threads[i].frames);
		ptc_frame_index_release(&c->threads[i].index);
	}
	free(c->threads);
	free(c);
}

static struct thread *thread_of(struct ptc_calls *c, int32_t tid)
{
	size_t at;

	if (c->last < c->n && c->threads[c->last].tid == tid)
		return &c->threads[c->last];
	at = PTC_PARTITION_POINT(i, 0, c->n, c->threads[i].tid < tid);
	if (at == c->n || c->threads[at].tid != tid) {
		if (!ptc_grow(&c->threads, &c->cap, c->n + 1, sizeof(*c->threads)))
			return NULL;
		memmove(c->threads + at + 1, c->threads + at, (c->n - at) * sizeof(*c->threads));
		c->threads[at] = (struct thread){ .tid = tid };
		c->n++;
	}
	c->last = at;
	return &c->threads[at];
}

/* --- the index of outer frames --- */

static enum ptc_frame_member ret_member(const struct frame *f)
{
	return f->signal ? PTC_FRAME_SIGNAL_RET : PTC_FRAME_RET;
}

/* Add frame @i, whose outer frames are in the index. Returns false if out of memory. */
static bool index_frame(struct thread *t, size_t i)
{
	struct frame *f = &t->frames[i];

	return ptc_frame_index_add(&t->index, PTC_FRAME_FUNCTION, f->function, (uint32_t)i + 1,
				   &f->before_function) &&
	       ptc_frame_index_add(&t->index, ret_member(f), f->ret, (uint32_t)i + 1,
				   &f->before_ret);
}

/* A frame was pushed: one more is an outer frame. Returns false if out of memory. */
static bool index_after_push(struct thread *t)
{
	return t->n <= INNER || index_frame(t, t->n - INNER - 1);
}

/* A frame was popped: the innermost of the outer frames is an inner one again. */
static void index_after_pop(struct thread *t)
{
	const struct frame *f;

	if (t->n < INNER)
		return;
	f = &t->frames[t->n - INNER];
	ptc_frame_index_remove(&t->index, PTC_FRAME_FUNCTION, f->function, f->before_function);
	ptc_frame_index_remove(&t->index, ret_member(f), f->ret, f->before_ret);
}

/* The frames have other numbers. Returns false if out of memory. */
static bool index_all_frames(struct thread *t)
{
	size_t i;

	ptc_frame_index_clear(&t->index);
	for (i = 0; i + INNER < t->n; i++)
		if (!index_frame(t, i))
			return false;
	return true;
}

/* Returns the number of outer frames. */
static size_t outer_frames(const struct thread *t)
{
	return t->n > INNER ? t->n - INNER : 0;
}

/* --- reporting --- */

/* Returns the caller's address of a frame entered at @it, or 0. */
static uint64_t caller_address(const struct thread *t, const struct ptc_item *it,
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

static int leave(struct ptc_calls *c, struct thread *t, const struct ptc_item *it,
		 enum ptc_call_how how)
{
	const struct frame *f = &t->frames[--t->n];

	index_after_pop(t);
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
static int close_frames(struct ptc_calls *c, struct thread *t, enum ptc_call_how how)
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

static int push_function_frame(struct ptc_calls *c, struct thread *t, const struct ptc_item *it,
			       enum ptc_call_how how, uint64_t ret)
{
	const bool full = t->n == DEPTH_MAX, cut = full && !c->opts.closes;
	struct frame *f;
	int rc;

	if (full && !cut) {
		rc = close_frames(c, t, PTC_CALL_BY_GAP);
		if (rc)
			return rc;
	}
	if (cut) {
		memmove(t->frames, t->frames + DEPTH_MAX / 2, DEPTH_MAX / 2 * sizeof(*f));
		t->n = DEPTH_MAX / 2;
		if (!index_all_frames(t))
			return PTC_E_NO_MEMORY;
	}
	if (!ptc_grow(&t->frames, &t->cap, t->n + 1, sizeof(*f)))
		return PTC_E_NO_MEMORY;
	f = &t->frames[t->n++];
	*f = (struct frame){ .ip = it->to,
			     .function = c->opts.function(c->opts.ctx, it, it->to),
			     .ret = ret,
			     .since = it->time,
			     .since_insns = t->insns,
			     .signal = how == PTC_CALL_BY_SIGNAL };
	if (!index_after_push(t))
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
static int leave_to(struct ptc_calls *c, struct thread *t, const struct ptc_item *it, size_t n,
		    enum ptc_call_how how)
{
	int rc = 0;

	while (!rc && t->n > n)
		rc = leave(c, t, it, t->n == n + 1 ? how : PTC_CALL_BY_UNWINDING);
	return rc;
}

/* --- finding --- */

/* Returns the index + 1 of the innermost frame that returns to @to. 0: none. */
static size_t by_return(const struct thread *t, uint64_t to)
{
	size_t i;

	if (!to) /* nothing returns to address 0 */
		return 0;
	for (i = t->n; i > outer_frames(t); i--)
		if (t->frames[i - 1].ret == to && !t->frames[i - 1].signal)
			return i;
	return ptc_frame_index_find(&t->index, PTC_FRAME_RET, to);
}

/*
 * Returns the index + 1 of the innermost of the first @n frames that is of @function. 0: none. @n
 * leaves out at most two frames, which are inner ones.
 */
static size_t by_function(const struct thread *t, uint64_t function, size_t n)
{
	size_t i;

	if (!function)
		return 0;
	for (i = n; i > outer_frames(t); i--)
		if (t->frames[i - 1].function == function)
			return i;
	return ptc_frame_index_find(&t->index, PTC_FRAME_FUNCTION, function);
}

static size_t by_signal(const struct thread *t, uint64_t interrupted)
{
	size_t i;

	for (i = t->n; i > outer_frames(t); i--)
		if (t->frames[i - 1].signal && t->frames[i - 1].ret == interrupted)
			return i;
	return ptc_frame_index_find(&t->index, PTC_FRAME_SIGNAL_RET, interrupted);
}

/* --- unwinders of exceptions --- */

enum unwinder {
	NO_UNWINDER,
	UNWINDER, /* begins at the function that throws */
	RESUMED,  /* _Unwind_Resume: leaves the function that called it */
};

/* Returns the kind of the function at the top, if @it may go on at a landing pad. */
static enum unwinder unwinder_of(const struct ptc_calls *c, const struct thread *t,
				 const struct ptc_item *it)
{
	const uint64_t function = t->frames[t->n - 1].function;
	const char *name = NULL;

	if (c->opts.name && function && (it->kind == PTC_KIND_IJMP || it->kind == PTC_KIND_RET))
		name = c->opts.name(c->opts.ctx, it, function);
	if (!name || strncmp(name, "_Unwind_", 8) != 0)
		return NO_UNWINDER;
	return strcmp(name, "_Unwind_Resume") != 0 ? UNWINDER : RESUMED;
}

/* Is the target in the part of a function that the compiler put elsewhere? */
static bool is_cold_part(const struct ptc_calls *c, const struct ptc_item *it)
{
	const char *name = c->opts.name(c->opts.ctx, it, it->to);

	return name && strstr(name, ".cold");
}

/* Did the trace begin in the middle of a function, so that callers are missing? */
static bool begins_late(const struct thread *t)
{
	return t->frames[0].function && t->frames[0].ip != t->frames[0].function;
}

/*
 * A branch into the middle of @function, which may be 0: maybe to a landing pad. The trace does not
 * tell which one of several calls of the function goes on. A landing pad may be in a part of its
 * function that has another symbol or none.
 */
static int on_landing(struct ptc_calls *c, struct thread *t, const struct ptc_item *it,
		      uint64_t function)
{
	const enum unwinder unwinder = unwinder_of(c, t, it);
	const bool leaves = unwinder == RESUMED && t->n > 2;
	const size_t i = by_function(t, function, leaves ? t->n - 2 : t->n);
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
static int on_jump(struct ptc_calls *c, struct thread *t, const struct ptc_item *it)
{
	const struct frame *top = &t->frames[t->n - 1];
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

static int on_return(struct ptc_calls *c, struct thread *t, const struct ptc_item *it)
{
	size_t i = by_return(t, it->to);
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
	i = by_function(t, function, t->n - 1);
	if (i || unwinder_of(c, t, it))
		return on_landing(c, t, it, function);
	rc = leave_to(c, t, it, 0, PTC_CALL_BY_RETURN);
	return rc ? rc : push_function_frame(c, t, it, PTC_CALL_BY_RETURN, 0);
}

static void on_leaving(struct ptc_calls *c, struct thread *t, const struct ptc_item *it)
{
	const bool retired = it->kind != PTC_KIND_ASYNC;

	t->out = true;
	t->exit_ip = it->from;
	t->has_next = !retired || it->insn_len;
	t->next = !retired ? it->from : it->insn_len ? it->from + it->insn_len : 0;
	t->exit_function = c->opts.function(c->opts.ctx, it, it->from);
}

/* A start behind a branch out of an address filter: the code that ran there is unknown. */
static int on_reentry(struct ptc_calls *c, struct thread *t, const struct ptc_item *it)
{
	const size_t i = by_return(t, it->to);

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
static int on_changed_context(struct ptc_calls *c, struct thread *t, const struct ptc_item *it)
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

static int on_start(struct ptc_calls *c, struct thread *t, const struct ptc_item *it)
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
	i = by_signal(t, it->to);
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

static int on_transfer(struct ptc_calls *c, struct thread *t, const struct ptc_item *it)
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

/* Did the kernel return to user space? The thread or the program may be another one. */
static bool comes_back(const struct ptc_item *it)
{
	return it->kind == PTC_KIND_START ||
	       (ptc_is_kernel_ip(it->from) && ptc_item_has_to(it) && !ptc_is_kernel_ip(it->to));
}

/*
 * If a new life began, drop all frames: they are of an older thread with this ID, or of the program
 * before an exec.
 */
static int begin_life(struct ptc_calls *c, struct thread *t, const struct ptc_item *it)
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

	for (i = 0; i < c->n && !rc; i++)
		if (c->threads[i].queue == it->queue)
			rc = close_frames(c, &c->threads[i], PTC_CALL_BY_GAP);
	return rc ? rc : tell_lost(c, it);
}

int ptc_calls_item(struct ptc_calls *c, const struct ptc_item *it)
{
	struct thread *t;
	bool begins;
	int rc;

	if (it->type != PTC_ITEM_BRANCH && it->type != PTC_ITEM_GAP)
		return 0;
	if (it->type == PTC_ITEM_GAP && it->tid < 0)
		return on_gap_of_queue(c, it);
	t = thread_of(c, it->tid);
	if (!t)
		return PTC_E_NO_MEMORY;
	begins = it->type == PTC_ITEM_BRANCH && c->opts.life && comes_back(it);
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

	for (i = 0; i < c->n && !rc; i++)
		rc = close_frames(c, &c->threads[i], PTC_CALL_BY_END);
	return rc;
}
