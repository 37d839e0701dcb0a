/* SPDX-License-Identifier: MIT */
#include "decode/crash/crash.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/insn.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/opts.h"
#include "decode/calls/silent_loop.h"
#include "decode/crash/core_match.h"
#include "decode/crash/core_state.h"
#include "decode/crash/crash_reason.h"
#include "decode/crash/gave_up.h"
#include "decode/image/core.h"
#include "decode/session/decode_input.h"
#include "decode/session/item_lookup.h"
#include "decode/sideband/process.h"

enum { INT3 = 0xcc, LINED_FRAMES = 100 };

/* --- the stacks --- */

static bool push_crash_frame(struct ptc_crash_stack *s, struct ptc_crash_frame frame)
{
	if (!ptc_grow(&s->frames, &s->cap, s->n + 1, sizeof(*s->frames)))
		return false;
	s->frames[s->n++] = frame;
	return true;
}

/* Append the place @pc in the function of @in. */
static bool push_traced(struct ptc_crash_report *r, uint64_t pc, bool exact,
			const struct ptc_flow_frame *in)
{
	return push_crash_frame(&r->traced,
				(struct ptc_crash_frame){ pc, exact, in->how, in->landed });
}

/* Returns the branch that led to where the signal came, or NULL. */
static const struct ptc_item *last_jump(const struct ptc_crash_report *r)
{
	const struct ptc_item *it = &r->flow.arrival;

	if (it->type != PTC_ITEM_BRANCH || !ptc_item_has_from(it) || !ptc_item_has_to(it))
		return NULL;
	return it->to == r->victim->state.regs[PTC_REG_RIP] ? it : NULL;
}

/*
 * Build the stack of the trace, innermost first: the current address, then where each function will
 * return to. If the culprit is a jump or a return, its place comes second.
 */
static bool make_traced(struct ptc_crash_report *r)
{
	struct ptc_crash_flow *f = &r->flow;
	size_t i;

	r->traced.cut = f->cut;
	if (!f->n)
		return true;
	if (!push_traced(r, r->at.ip, true, &f->frames[f->n - 1]))
		return false;
	if (f->strayed_n) {
		f->n = f->strayed_n;
		f->frames[0] = f->strayed_first;
	}
	if (r->culprit && r->culprit->kind != PTC_KIND_ICALL && r->culprit->kind != PTC_KIND_CALL &&
	    !push_traced(r, r->culprit->from, true, &f->frames[f->n - 1]))
		return false;
	for (i = f->n; i > 1 && f->frames[i - 1].has_ret; i--)
		if (!push_traced(r, f->frames[i - 1].ret, f->frames[i - 1].interrupts,
				 &f->frames[i - 2]))
			return false;
	return true;
}

/* Unwinds the memory of a thread. @ret starts zeroed; the caller frees its frames in any case. */
static int unwind(const struct ptc_crash_report *r, const struct ptc_crash_state_thread *t,
		  struct ptc_crash_stack *ret, struct ptc_err *err)
{
	const struct ptc_proc *p = ptc_decode_process(r->d, (int32_t)r->dead.signal.pid);
	struct ptc_unwound u = { .n = 0 };
	size_t i;
	int rc = 0;

	if (p)
		rc = ptc_unwind(&u, &r->dead, &t->state, &p->as, err);
	for (i = 0; !rc && i < u.n; i++)
		if (!push_crash_frame(ret, (struct ptc_crash_frame){ u.frames[i].pc,
								     u.frames[i].interrupted,
								     PTC_CALL_BY_CALL, false }))
			rc = ptc_fail_mem(err);
	ret->cut = u.cut;
	ret->ends_in = u.unknown ? u.unknown->name : NULL;
	ptc_unwound_release(&u);
	return rc;
}

int ptc_crash_unwind_thread(const struct ptc_crash_report *r,
			    const struct ptc_crash_state_thread *t, struct ptc_crash_stack **ret,
			    struct ptc_err *err)
{
	struct ptc_crash_stack *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return ptc_fail_mem(err);
	rc = unwind(r, t, s, err);
	if (rc)
		ptc_crash_stack_free(s);
	else
		*ret = s;
	return rc;
}

static int make_unwound(struct ptc_crash_report *r, struct ptc_err *err)
{
	const int rc = unwind(r, r->victim, &r->unwound, err);

	if (r->unwound.n)
		r->unwound.frames[0].pc = r->at.ip;
	return rc;
}

static bool is_unwinder(const struct ptc_crash_report *r, const struct ptc_crash_frame *f)
{
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;

	ptc_crash_place_frame(r, f, &place);
	return place.function && !strncmp(place.function, "_Unwind_", 8);
}

/* Do the outermost frames of @a from @k on equal those of @b from @i on? One stack may be shorter.
 */
static bool has_same_end(const struct ptc_crash_stack *a, size_t k, const struct ptc_crash_stack *b,
			 size_t i)
{
	for (; k < a->n && i < b->n; k++, i++)
		if (a->frames[k].pc != b->frames[i].pc)
			return false;
	return true;
}

static void drop_traced(struct ptc_crash_stack *a, size_t from, size_t to)
{
	memmove(a->frames + from, a->frames + to, (a->n - to) * sizeof(*a->frames));
	a->n -= to - from;
}

/*
 * An unwinder goes on in the frame that handles the exception. The landing pad may be in a part of
 * its function that has no symbol, or the function may have called itself. Then the trace does not
 * tell which frame that is, and the frames in between stay. The stack from memory tells it.
 */
static void drop_unwound(struct ptc_crash_report *r)
{
	struct ptc_crash_stack *a = &r->traced;
	const struct ptc_crash_stack *b = &r->unwound;
	bool landed = false;
	size_t i, k;

	for (i = 0; i < a->n && i < b->n; landed |= a->frames[i++].landed) {
		bool unwinds;

		if (a->frames[i].pc == b->frames[i].pc)
			continue;
		unwinds = is_unwinder(r, &a->frames[i]);
		if (!unwinds && !landed)
			return;
		for (k = i + 1; k < a->n; k++)
			if (a->frames[k].pc == b->frames[i].pc &&
			    (unwinds || has_same_end(a, k, b, i)))
				break;
		if (k == a->n)
			return;
		drop_traced(a, i, k);
	}
}

static bool is_goexit(const struct ptc_crash_report *r, const struct ptc_crash_frame *f)
{
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;

	ptc_crash_place_frame(r, f, &place);
	return place.function && !strncmp(place.function, "runtime.goexit", 14);
}

/* The memory does not tell whether a signal handler has inserted a call. The trace does. */
static void copy_exactness(struct ptc_crash_report *r)
{
	const struct ptc_crash_stack *a = &r->traced;
	struct ptc_crash_stack *b = &r->unwound;
	size_t i;

	for (i = 0; i < a->n && i < b->n && a->frames[i].pc == b->frames[i].pc; i++)
		b->frames[i].exact |= a->frames[i].exact;
}

/*
 * The memory of a goroutine ends in a function that never called it. The trace goes on with the
 * scheduler, which jumped to the goroutine.
 */
static void drop_scheduler(struct ptc_crash_report *r)
{
	struct ptc_crash_stack *a = &r->traced;
	const struct ptc_crash_stack *b = &r->unwound;
	size_t i;

	for (i = 0; i < a->n && i < b->n && a->frames[i].pc == b->frames[i].pc; i++)
		;
	if (i < a->n && i + 1 == b->n && is_goexit(r, &b->frames[i]))
		a->n = i;
}

/*
 * Find the first difference. Three kinds of missing frames do not count: behind the end of a trace
 * that begins late, behind a file that is not available, and in memory that was not saved.
 */
static int compare(const struct ptc_crash_report *r)
{
	const struct ptc_crash_stack *a = &r->traced, *b = &r->unwound;
	size_t i;

	for (i = 0; i < a->n && i < b->n; i++)
		if (a->frames[i].pc != b->frames[i].pc)
			return (int)i;
	if (b->cut || b->ends_in || r->dead.signal.no_memory)
		return PTC_CRASH_SAME;
	return i < a->n ? (int)i : PTC_CRASH_SAME;
}

/* --- the instruction --- */

static size_t read_code(const struct ptc_crash_report *r, uint64_t ip, uint8_t *ret, size_t len)
{
	const struct ptc_proc *p = ptc_decode_process(r->d, (int32_t)r->dead.signal.pid);
	const size_t n = ptc_crash_state_memory(&r->dead, ip, ret, len);

	return n || !p ? n : ptc_addrspace_read(&p->as, ip, ret, len);
}

static size_t read_for_circle(void *ctx, uint64_t ip, uint8_t *ret, size_t len)
{
	return read_code(ctx, ip, ret, len);
}

/* Does the last branch of the trace lead into a loop, and is the thread in that loop? */
static void find_circle(struct ptc_crash_report *r)
{
	const struct ptc_item *it = &r->flow.arrival;

	if (it->type == PTC_ITEM_BRANCH && it->to)
		r->circle = ptc_silent_loop_find(read_for_circle, r, it->to, r->at.ip);
}

/* The signal of an int3 comes behind the instruction. */
static void find_ip(struct ptc_crash_report *r)
{
	uint8_t before;

	r->at.ip = r->victim->state.regs[PTC_REG_RIP];
	if (r->dead.signal.signo == SIGTRAP && read_code(r, r->at.ip - 1, &before, 1) == 1 &&
	    before == INT3)
		r->at.ip--;
}

static void read_insn(struct ptc_crash_report *r)
{
	const struct ptc_crash_thread *t = &r->victim->state;
	struct ptc_crash_point *at = &r->at;
	struct ptc_insn insn;
	size_t n;

	n = read_code(r, at->ip, at->insn, PTC_INSN_MAX);
	if (ptc_insn_decode(PTC_MODE_64, at->insn, n, at->ip, &insn) != PTC_INSN_OK ||
	    !ptc_operands_read(at->insn, n, at->ip, t->regs, &r->ops))
		return;
	at->insn_len = insn.len;
	at->regs = r->ops.regs;
}

/* --- the user's code --- */

static void find_lined_file(struct ptc_crash_report *r)
{
	const struct ptc_crash_stack *s = ptc_crash_report_believed(r);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	size_t i;

	for (i = 0; i < s->n && i < LINED_FRAMES && !r->lined_file; i++) {
		ptc_crash_place_frame(r, &s->frames[i], &place);
		if (ptc_crash_find_user_code(r, &place) && place.source)
			r->lined_file = place.file;
	}
}

/* --- all of it --- */

static int open_trace(struct ptc_crash_report *r, const char *path, const struct ptc_crash_opts *o,
		      struct ptc_err *err)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	int rc;

	opts.bytes = true;
	r->tid.first = r->tid.last = (int32_t)r->dead.signal.tid;
	opts.tids = (struct ptc_ids){ &r->tid, 1 };
	opts.code = o->code;
	opts.untraced = true;
	opts.mangled = o->mangled;
	rc = ptc_decode_open(path, &opts, &r->d, err);
	if (rc)
		return rc;
	r->flow.d = r->d;
	r->flow.tid = r->tid.first;
	r->flow.until_ns = r->dead.signal.time_ns;
	r->flow.max_branches = o->branches ? o->branches : 1;
	r->flow.max_calls = o->calls;
	return ptc_crash_flow_run(&r->flow, err);
}

static bool ends_elsewhere(const struct ptc_crash_report *r)
{
	const struct ptc_item *last =
		r->flow.nbranches ? ptc_crash_flow_branch(&r->flow, r->flow.nbranches - 1) : NULL;

	return !last || last->type != PTC_ITEM_BRANCH ||
	       (ptc_item_has_to(last) ?
			last->to :
			last->from + (last->kind == PTC_KIND_ASYNC ? 0 : last->insn_len)) !=
		       r->victim->state.regs[PTC_REG_RIP];
}

/* --- a core beside it --- */

/* Is @t where the recording has it? A thread in a system call has moved on, or calls again. */
static bool is_there(const struct ptc_crash_state *d, const struct ptc_core_thread *t)
{
	size_t i;

	for (i = 0; i < d->nthreads; i++) {
		const struct ptc_crash_thread *s = &d->threads[i].state;

		if (s->tid == t->tid)
			return s->in_call || s->regs[PTC_REG_RIP] == t->regs[PTC_REG_RIP];
	}
	return false;
}

/*
 * Open the core, and use it as the state, or compare it with the state. A core of another process
 * or with other threads is an error.
 */
static int read_core(struct ptc_crash_report *r, const char *path, bool alone, struct ptc_err *err)
{
	size_t i;
	int rc = ptc_core_open(path, &(struct ptc_untrusted){ .kernel = true }, &r->core, err);

	if (rc)
		return rc;
	rc = alone ? ptc_crash_state_of_core(&r->dead, r->core, err) :
		     ptc_core_match_state(r->core, &r->dead, r->file, err);
	for (i = 0; !rc && i < r->core->nthreads; i++)
		r->core_says.moved += !is_there(&r->dead, &r->core->threads[i]);
	r->core_says.is_state = alone;
	return rc;
}

static int read_state(struct ptc_crash_report *r, const char *path,
		      const struct ptc_crash_opts *opts, struct ptc_err *err)
{
	const char *core = opts->code ? opts->code->core : NULL;
	int rc = ptc_file_open(path, &r->file, err);

	if (!rc)
		rc = ptc_crash_state_read(&r->dead, r->file, opts->pid, err);
	if (!rc && r->dead.states > 1)
		rc = ptc_crash_state_deaths(r->file, &r->deaths, err);
	if (core && (!rc || rc == PTC_E_NOT_EXIST) && r->file)
		rc = read_core(r, core, rc != 0, err);
	return rc;
}

/* Finds the instruction at which the signal came, and why it came. */
static void find_reason(struct ptc_crash_report *r)
{
	find_ip(r);
	read_insn(r);
	r->why = ptc_reason_find(&r->dead, &r->victim->state, r->at.insn_len ? &r->ops : NULL);
	if (r->why.is_target)
		r->culprit = last_jump(r);
	if (r->why.is_target && r->why.addr == r->at.ip)
		r->at.insn_len = 0; /* there is no instruction at ip */
}

static int make_stacks(struct ptc_crash_report *r, struct ptc_err *err)
{
	int rc;

	if (!make_traced(r))
		return ptc_fail_mem(err);
	rc = make_unwound(r, err);
	if (rc)
		return rc;
	drop_unwound(r);
	drop_scheduler(r);
	copy_exactness(r);
	find_circle(r);
	r->differ = r->circle.insns ? PTC_CRASH_SAME : compare(r);
	return 0;
}

static int explain_crash(struct ptc_crash_report *r, const char *path,
			 const struct ptc_crash_opts *opts, struct ptc_err *err)
{
	struct ptc_python_limits python = PTC_PYTHON_LIMITS;
	int rc = read_state(r, path, opts, err);

	if (rc)
		return rc;
	r->victim = ptc_crash_state_victim(&r->dead);
	if (!r->victim)
		return ptc_fail(err, PTC_E_FORMAT, "'%s' has no registers of the killed thread",
				path);
	rc = open_trace(r, path, opts, err);
	if (!rc && r->core)
		rc = ptc_core_match_process(r->core, &ptc_decode_input(r->d)->procs,
					    r->dead.signal.pid, r->core_says.is_state, err);
	if (rc)
		return rc;
	find_reason(r);
	rc = make_stacks(r, err);
	if (rc)
		return rc;
	r->trace_is_short = ends_elsewhere(r);
	find_lined_file(r);
	ptc_crash_find_who_gave_up(r);
	rc = ptc_python_frames_read(&r->dead, r->dead.signal.tid, &python, &r->python, err);
	return rc ? rc : ptc_crash_signature_make(r, &r->signature, err);
}

/* Copy the options of a caller that may be older or newer than this library. */
static int take_crash_opts(const struct ptc_crash_opts *opts, struct ptc_crash_opts *ret,
			   struct ptc_code_opts *ret_code, struct ptc_err *err)
{
	const struct ptc_crash_opts defaults = PTC_CRASH_OPTS_INIT;
	int rc = ptc_opts_take(ret, sizeof(*ret), opts ? opts : &defaults, "PTC_CRASH_OPTS_INIT",
			       err);

	if (!rc && ret->code) {
		rc = ptc_opts_take(ret_code, sizeof(*ret_code), ret->code, "PTC_CODE_OPTS_INIT",
				   err);
		ret->code = ret_code;
	}
	if (!rc && (ret->branches > PTC_CRASH_KEPT_MAX || ret->calls > PTC_CRASH_KEPT_MAX))
		return ptc_fail(err, PTC_E_LIMIT, "a report has at most %d branches and calls",
				PTC_CRASH_KEPT_MAX);
	return rc;
}

int ptc_crash_explain(const char *path, const struct ptc_crash_opts *opts,
		      struct ptc_crash_report **ret, struct ptc_err *err)
{
	struct ptc_crash_report *r;
	struct ptc_crash_opts o;
	struct ptc_code_opts code;
	int rc = take_crash_opts(opts, &o, &code, err);

	if (rc)
		return rc;
	r = calloc(1, sizeof(*r));
	if (!r)
		return ptc_fail_mem(err);
	r->gave_up = -1;
	rc = explain_crash(r, path, &o, err);
	if (rc)
		ptc_crash_report_free(r);
	else
		*ret = r;
	return rc;
}

void ptc_crash_report_free(struct ptc_crash_report *r)
{
	if (!r)
		return;
	ptc_crash_flow_release(&r->flow);
	ptc_decode_free(r->d);
	ptc_crash_state_release(&r->dead);
	ptc_core_free(r->core);
	ptc_file_free(r->file);
	free(r->traced.frames);
	free(r->unwound.frames);
	free(r->python.items);
	ptc_crash_signature_release(&r->signature);
	free(r);
}
