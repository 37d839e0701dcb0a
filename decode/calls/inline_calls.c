/* SPDX-License-Identifier: MIT */
#include "ptcap/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/opts.h"
#include "base/sorted.h"

/* A function that has begun. */
struct open_function {
	uint64_t scope; /* of an inlined function; 0: a real function */
	uint64_t ip;	/* inlined: the first call in it */
};

struct inline_stack {
	int32_t tid;
	struct open_function *v; /* owned; the outermost first */
	size_t n, cap;
	size_t real; /* number of real functions in v */
	bool cut;    /* the next call that is reported has .cut */
};

struct ptc_inline_calls {
	struct ptc_inline_calls_opts opts;
	struct inline_stack *stacks; /* owned; ascending tid */
	size_t n, cap, last;
};

struct ptc_inline_calls *ptc_inline_calls_new(const struct ptc_inline_calls_opts *opts)
{
	struct ptc_inline_calls *c = calloc(1, sizeof(*c));
	struct ptc_err err;

	if (!c ||
	    ptc_opts_take(&c->opts, sizeof(c->opts), opts, "PTC_INLINE_CALLS_OPTS_INIT", &err)) {
		free(c);
		return NULL;
	}
	return c;
}

void ptc_inline_calls_free(struct ptc_inline_calls *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->n; i++)
		free(c->stacks[i].v);
	free(c->stacks);
	free(c);
}

static struct inline_stack *inline_stack_of(struct ptc_inline_calls *c, int32_t tid)
{
	size_t at;

	if (c->last < c->n && c->stacks[c->last].tid == tid)
		return &c->stacks[c->last];
	at = PTC_PARTITION_POINT(i, 0, c->n, c->stacks[i].tid < tid);
	if (at == c->n || c->stacks[at].tid != tid) {
		if (!ptc_grow(&c->stacks, &c->cap, c->n + 1, sizeof(*c->stacks)))
			return NULL;
		memmove(c->stacks + at + 1, c->stacks + at, (c->n - at) * sizeof(*c->stacks));
		c->stacks[at] = (struct inline_stack){ .tid = tid };
		c->n++;
	}
	c->last = at;
	return &c->stacks[at];
}

static bool push_open(struct inline_stack *s, uint64_t scope, uint64_t ip)
{
	if (!ptc_grow(&s->v, &s->cap, s->n + 1, sizeof(*s->v)))
		return false;
	s->v[s->n++] = (struct open_function){ scope, ip };
	s->real += !scope;
	return true;
}

/* Drop functions that ended without a report, until there are at most @real real functions. */
static void drop_stale(struct inline_stack *s, size_t real)
{
	while (s->real > real)
		s->real -= !s->v[--s->n].scope;
}

/* Drop the outermost real functions, and those inlined in them, until @real are left. */
static void drop_outermost(struct inline_stack *s, size_t real)
{
	size_t i = 0;

	for (; i < s->n && (s->real > real || s->v[i].scope); i++)
		s->real -= !s->v[i].scope;
	if (!i)
		return;
	memmove(s->v, s->v + i, (s->n - i) * sizeof(*s->v));
	s->n -= i;
}

/* Returns whether the next call has .cut. */
static bool take_cut(struct inline_stack *s)
{
	const bool cut = s->cut;

	s->cut = false;
	return cut;
}

static int report_inlined(struct ptc_inline_calls *c, struct inline_stack *s,
			  const struct ptc_call *by, enum ptc_call_type type, const char *name)
{
	const struct ptc_call call = { .type = type,
				       .how = PTC_CALL_BY_INLINING,
				       .depth = (uint32_t)(s->n - 1),
				       .cut = take_cut(s),
				       .ip = s->v[s->n - 1].ip,
				       .since = PTC_NO_TIME,
				       .insns = by->insns,
				       .since_insns = PTC_NO_TIME,
				       .name = name,
				       .item = by->item };

	return c->opts.on_call(c->opts.ctx, &call);
}

/* Ends the innermost functions until @n are left. All of them are inlined. */
static int end_inlined(struct ptc_inline_calls *c, struct inline_stack *s, size_t n,
		       const struct ptc_call *by)
{
	int rc = 0;

	for (; !rc && s->n > n; s->n--)
		rc = report_inlined(c, s, by, PTC_CALL_LEAVE, NULL);
	return rc;
}

/* Returns the number of functions up to the innermost real one. */
static size_t up_to_real(const struct inline_stack *s)
{
	size_t n = s->n;

	while (n && s->v[n - 1].scope)
		n--;
	return n;
}

/* Ends and begins inlined functions: the functions around the call @by stay, or begin. */
static int update_inlined(struct ptc_inline_calls *c, struct inline_stack *s,
			  const struct ptc_call *by)
{
	struct ptc_inline_frame frames[PTC_INLINE_MAX];
	const size_t n = c->opts.inlines(c->opts.ctx, by->item, by->from, frames);
	size_t left = n ? n - 1 : 0, same = up_to_real(s);
	int rc;

	for (; left && same < s->n && s->v[same].scope == frames[left - 1].scope; left--)
		same++;
	rc = end_inlined(c, s, same, by);
	for (; !rc && left; left--) {
		if (!push_open(s, frames[left - 1].scope, by->from))
			return PTC_E_NO_MEMORY;
		rc = report_inlined(c, s, by, PTC_CALL_ENTER, frames[left - 1].function);
	}
	return rc;
}

static int forward_call(struct ptc_inline_calls *c, struct inline_stack *s,
			const struct ptc_call *call, size_t depth)
{
	struct ptc_call deeper = *call;

	deeper.depth = (uint32_t)depth;
	deeper.cut = take_cut(s);
	return c->opts.on_call(c->opts.ctx, &deeper);
}

static int enter_real(struct ptc_inline_calls *c, struct inline_stack *s,
		      const struct ptc_call *call)
{
	int rc = 0;

	s->cut = call->cut;
	if (call->cut)
		drop_outermost(s, call->depth);
	drop_stale(s, call->depth);
	if (call->from && s->real)
		rc = update_inlined(c, s, call);
	if (rc)
		return rc;
	if (!push_open(s, 0, 0))
		return PTC_E_NO_MEMORY;
	return forward_call(c, s, call, s->n - 1);
}

static int leave_real(struct ptc_inline_calls *c, struct inline_stack *s,
		      const struct ptc_call *call)
{
	int rc;

	drop_stale(s, (size_t)call->depth + 1);
	rc = end_inlined(c, s, up_to_real(s), call);
	if (rc || !s->n)
		return rc ? rc : forward_call(c, s, call, call->depth);
	s->n--;
	s->real--;
	return forward_call(c, s, call, s->n);
}

int ptc_inline_calls_add(struct ptc_inline_calls *c, const struct ptc_call *call)
{
	struct inline_stack *s;

	/* A gap without a thread ends stacks of several threads: drop_stale does it later. */
	if (call->type == PTC_CALL_LOST && call->item->tid < 0)
		return c->opts.on_call(c->opts.ctx, call);
	s = inline_stack_of(c, call->item->tid);
	if (!s)
		return PTC_E_NO_MEMORY;
	switch (call->type) {
	case PTC_CALL_ENTER:
		return enter_real(c, s, call);
	case PTC_CALL_LEAVE:
		return leave_real(c, s, call);
	default:
		s->n = s->real = 0;
		return c->opts.on_call(c->opts.ctx, call);
	}
}
