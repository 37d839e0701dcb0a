/* SPDX-License-Identifier: MIT */
#include "decode/calls/call_stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sorted.h"

enum { INNER = 64 /* frames that are searched one by one */ };

void ptc_call_stacks_release(struct ptc_call_stacks *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		free(s->v[i].frames);
		ptc_frame_index_release(&s->v[i].index);
	}
	free(s->v);
	*s = (struct ptc_call_stacks){ .n = 0 };
}

struct ptc_call_stack *ptc_call_stack_of(struct ptc_call_stacks *s, int32_t tid)
{
	size_t at;

	if (s->last < s->n && s->v[s->last].tid == tid)
		return &s->v[s->last];
	at = PTC_PARTITION_POINT(i, 0, s->n, s->v[i].tid < tid);
	if (at == s->n || s->v[at].tid != tid) {
		if (!ptc_grow(&s->v, &s->cap, s->n + 1, sizeof(*s->v)))
			return NULL;
		memmove(s->v + at + 1, s->v + at, (s->n - at) * sizeof(*s->v));
		s->v[at] = (struct ptc_call_stack){ .tid = tid };
		s->n++;
	}
	s->last = at;
	return &s->v[at];
}

/* --- the index of outer frames --- */

static enum ptc_frame_member ret_member(const struct ptc_call_stack_frame *f)
{
	return f->signal ? PTC_FRAME_SIGNAL_RET : PTC_FRAME_RET;
}

/* Add frame @i, whose outer frames are in the index. Returns false if out of memory. */
static bool index_frame(struct ptc_call_stack *t, size_t i)
{
	struct ptc_call_stack_frame *f = &t->frames[i];

	return ptc_frame_index_add(&t->index, PTC_FRAME_FUNCTION, f->function, (uint32_t)i + 1,
				   &f->before_function) &&
	       ptc_frame_index_add(&t->index, ret_member(f), f->ret, (uint32_t)i + 1,
				   &f->before_ret);
}

bool ptc_call_stack_pushed(struct ptc_call_stack *t)
{
	return t->n <= INNER || index_frame(t, t->n - INNER - 1);
}

void ptc_call_stack_popped(struct ptc_call_stack *t)
{
	const struct ptc_call_stack_frame *f;

	if (t->n < INNER)
		return;
	f = &t->frames[t->n - INNER];
	ptc_frame_index_remove(&t->index, PTC_FRAME_FUNCTION, f->function, f->before_function);
	ptc_frame_index_remove(&t->index, ret_member(f), f->ret, f->before_ret);
}

bool ptc_call_stack_renumbered(struct ptc_call_stack *t)
{
	size_t i;

	ptc_frame_index_clear(&t->index);
	for (i = 0; i + INNER < t->n; i++)
		if (!index_frame(t, i))
			return false;
	return true;
}

/* Returns the number of outer frames. */
static size_t outer_frames(const struct ptc_call_stack *t)
{
	return t->n > INNER ? t->n - INNER : 0;
}

/* --- finding --- */

size_t ptc_call_stack_by_return(const struct ptc_call_stack *t, uint64_t to)
{
	size_t i;

	if (!to) /* nothing returns to address 0 */
		return 0;
	for (i = t->n; i > outer_frames(t); i--)
		if (t->frames[i - 1].ret == to && !t->frames[i - 1].signal)
			return i;
	return ptc_frame_index_find(&t->index, PTC_FRAME_RET, to);
}

size_t ptc_call_stack_by_function(const struct ptc_call_stack *t, uint64_t function, size_t n)
{
	size_t i;

	if (!function)
		return 0;
	for (i = n; i > outer_frames(t); i--)
		if (t->frames[i - 1].function == function)
			return i;
	return ptc_frame_index_find(&t->index, PTC_FRAME_FUNCTION, function);
}

size_t ptc_call_stack_by_signal(const struct ptc_call_stack *t, uint64_t interrupted)
{
	size_t i;

	for (i = t->n; i > outer_frames(t); i--)
		if (t->frames[i - 1].signal && t->frames[i - 1].ret == interrupted)
			return i;
	return ptc_frame_index_find(&t->index, PTC_FRAME_SIGNAL_RET, interrupted);
}
