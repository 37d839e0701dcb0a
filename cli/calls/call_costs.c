/* SPDX-License-Identifier: MIT */
#include "cli/calls/call_costs.h"

#include <stdlib.h>

#include "base/grow.h"

enum {
	SEEN_BITS = 14,
	/* Tail calls in one frame that end together. A state machine may make millions of them. */
	TAILS_MAX = 64,
};

/* The call of a pair of addresses. code: the number of the code at from */
struct ptc_call_seen {
	uint64_t from, code;
	uint32_t frame_function, callee;
	uint32_t call_plus_one; /* 0: unused */
};

bool ptc_call_costs_init(struct ptc_call_costs *c, struct ptc_call_stream *s)
{
	*c = (struct ptc_call_costs){ .stream = s };
	c->seen = calloc((size_t)1 << SEEN_BITS, sizeof(*c->seen));
	return c->seen;
}

void ptc_call_costs_release(struct ptc_call_costs *c)
{
	size_t i;

	for (i = 0; i < c->nthreads; i++) {
		free(c->threads[i].frames);
		free(c->threads[i].roots);
	}
	free(c->threads);
	free(c->functions);
	free(c->calls);
	free(c->index.slots);
	free(c->seen);
	*c = (struct ptc_call_costs){ .stream = c->stream };
}

/* --- functions and threads --- */

/* Returns the function with this number. NULL: out of memory. */
static struct ptc_function_cost *function_cost(struct ptc_call_costs *c, uint32_t number)
{
	const size_t n = c->nfunctions;

	if (number < n)
		return &c->functions[number];
	if (!ptc_grow(&c->functions, &c->functions_cap, number + 1, sizeof(*c->functions)))
		return NULL;
	c->nfunctions = number + 1;
	memset(c->functions + n, 0, (c->nfunctions - n) * sizeof(*c->functions));
	return &c->functions[number];
}

/* Look up where function @number begins, which was entered at @ip. Returns false if out of memory.
 */
static bool see_begin(struct ptc_call_costs *c, uint32_t number, const struct ptc_item *it,
		      uint64_t ip)
{
	struct ptc_function_cost *f = function_cost(c, number);

	if (!f)
		return false;
	if (f->entered)
		return true;
	f->entered = true;
	f->begin = ptc_function_begin(c->stream, it, ip);
	return f->begin.file != UINT32_MAX;
}

static bool is_root(uint32_t function)
{
	return function >= PTC_COST_ROOTS;
}

/* Make the root the only frame of thread @number. */
static void forget_frames(struct ptc_call_costs *c, uint32_t number)
{
	struct ptc_cost_thread *t = &c->threads[number];

	t->n = 1;
	t->frames[0] = (struct ptc_cost_frame){ .function = PTC_COST_ROOTS + number,
						.call = PTC_NO_NUMBER };
	t->last_time = PTC_NO_TIME;
	t->jumped = t->has_events = false;
	t->root_ns = 0;
	t->nroots = 0;
}

struct ptc_cost_thread *ptc_call_costs_thread(struct ptc_call_costs *c, uint32_t number)
{
	const size_t n = c->nthreads;
	size_t i;

	if (number < n)
		return &c->threads[number];
	if (!ptc_grow(&c->threads, &c->threads_cap, number + 1, sizeof(*c->threads)))
		return NULL;
	c->nthreads = number + 1;
	memset(c->threads + n, 0, (c->nthreads - n) * sizeof(*c->threads));
	for (i = n; c->of_part && i < c->nthreads; i++) {
		struct ptc_cost_thread *t = &c->threads[i];

		if (!ptc_grow(&t->frames, &t->cap, 1, sizeof(*t->frames)))
			return NULL;
		forget_frames(c, (uint32_t)i);
	}
	return &c->threads[number];
}

/* --- calls --- */

static uint64_t hash_of_call(const void *entry)
{
	const struct ptc_call_cost *call = entry;

	return ptc_hash_mix(
		ptc_hash_mix((uint64_t)call->caller << 32 | call->callee, call->at.file),
		call->at.line);
}

static bool is_same_call(const void *entry, const void *key)
{
	const struct ptc_call_cost *a = entry, *b = key;

	return a->caller == b->caller && a->callee == b->callee && a->at.file == b->at.file &&
	       a->at.line == b->at.line;
}

/* Returns the index of the calls that are like @call. PTC_NO_NUMBER: out of memory. */
static uint32_t number_of_call(struct ptc_call_costs *c, const struct ptc_call_cost *call)
{
	static const struct ptc_number_kind kind = { sizeof(*call), hash_of_call, is_same_call };
	uint32_t number = ptc_number_find(&c->index, &kind, c->calls, call);

	if (!number)
		number = ptc_number_append(&c->index, &kind, &c->calls, &c->n, &c->cap, call);
	return number - 1; /* 0 becomes PTC_NO_NUMBER */
}

uint64_t ptc_call_cost_address(const struct ptc_call *call)
{
	return call->how == PTC_CALL_BY_TAIL ? call->item->from : call->from;
}

/* Returns the index of the calls by the frame @by. PTC_NO_NUMBER: out of memory. */
static uint32_t find_call(struct ptc_call_costs *c, const struct ptc_call_event *e,
			  const struct ptc_cost_frame *by)
{
	const uint64_t from = ptc_call_cost_address(e->call);
	struct ptc_call_cost call = { .caller = by->function, .callee = e->function };
	uint32_t at_address;

	if (!is_root(by->function))
		call.at = c->functions[by->function].begin;
	if (!from)
		return number_of_call(c, &call);
	at_address = ptc_call_stream_function(c->stream, e->call->item, from);
	call.at = ptc_source_line_of(c->stream, e->call->item, from);
	if (at_address == PTC_NO_NUMBER || call.at.file == UINT32_MAX)
		return PTC_NO_NUMBER;
	/* Code without a symbol is part of the function that was entered. */
	if (c->stream->functions[at_address].name)
		call.caller = at_address;
	return number_of_call(c, &call);
}

/* As find_call, with the most recent results. */
static uint32_t find_call_again(struct ptc_call_costs *c, const struct ptc_call_event *e,
				const struct ptc_cost_frame *by)
{
	struct ptc_call_stream *s = c->stream;
	const uint64_t from = ptc_call_cost_address(e->call);
	struct ptc_call_seen *seen;
	uint64_t code = 0, hash;
	uint32_t number;

	if (s->opts.lookup)
		return find_call(c, e, by);
	if (from)
		code = ptc_code_parts_at(&s->code, s->opts.d, e->call->item, from)->number;
	hash = ptc_hash_mix(ptc_hash_mix((uint64_t)by->function << 32 | e->function, from), code);
	seen = &c->seen[hash >> (64 - SEEN_BITS)];
	if (seen->call_plus_one && seen->from == from && seen->code == code &&
	    seen->frame_function == by->function && seen->callee == e->function)
		return seen->call_plus_one - 1;
	number = find_call(c, e, by);
	if (number != PTC_NO_NUMBER)
		*seen = (struct ptc_call_seen){ from, code, by->function, e->function, number + 1 };
	return number;
}

/* --- events --- */

/* Returns the own time of the innermost function. */
static uint64_t *own_time_of(struct ptc_call_costs *c, struct ptc_cost_thread *t)
{
	const uint32_t function = t->frames[t->n - 1].function;

	return is_root(function) ? &t->root_ns : &c->functions[function].ns;
}

/* Adds the time since the last event of the thread to the function that ran. */
static void add_own_time(struct ptc_call_costs *c, struct ptc_cost_thread *t, uint64_t time)
{
	if (t->n && time != PTC_NO_TIME && t->last_time != PTC_NO_TIME && time > t->last_time)
		*own_time_of(c, t) += time - t->last_time;
	if (!t->has_events)
		t->first_time = time;
	t->has_events = true;
	t->last_time = time;
}

/* Ends the innermost frame. */
static void end_frame(struct ptc_call_costs *c, struct ptc_cost_thread *t,
		      const struct ptc_call *call)
{
	const struct ptc_cost_frame *f = &t->frames[--t->n];
	const uint64_t time = call->item->time;
	struct ptc_call_cost *cost;

	if (f->call == PTC_NO_NUMBER)
		return;
	cost = &c->calls[f->call];
	cost->insns += call->insns - f->since_insns;
	if (time != PTC_NO_TIME && f->since_time != PTC_NO_TIME && time > f->since_time)
		cost->ns += time - f->since_time;
}

/* Counts the call of index @i by thread @t. Returns false if out of memory. */
static bool count_call(struct ptc_call_costs *c, struct ptc_cost_thread *t, uint32_t i)
{
	struct ptc_call_cost *call = &c->calls[i];

	if (is_root(call->caller) && !call->times) {
		if (!ptc_grow(&t->roots, &t->roots_cap, t->nroots + 1, sizeof(*t->roots)))
			return false;
		t->roots[t->nroots++] = i;
	}
	call->times++;
	return true;
}

static int begin_frame(struct ptc_call_costs *c, struct ptc_cost_thread *t,
		       const struct ptc_call_event *e)
{
	const struct ptc_call *call = e->call;
	struct ptc_cost_frame f = { .function = e->function,
				    .depth = call->depth,
				    .call = PTC_NO_NUMBER,
				    .since_insns = call->insns,
				    .since_time = call->item->time };

	if (!see_begin(c, e->function, call->item, call->ip))
		return PTC_E_NO_MEMORY;
	if (t->jumped && t->n)
		f.tails = t->frames[t->n - 1].tails + 1;
	t->jumped = false;
	if (f.tails > TAILS_MAX) {
		f.tails = 1;
		while (t->n > 1 && t->frames[t->n - 1].tails)
			end_frame(c, t, call);
	}
	if (t->n) {
		f.call = find_call_again(c, e, &t->frames[t->n - 1]);
		if (f.call == PTC_NO_NUMBER || !count_call(c, t, f.call))
			return PTC_E_NO_MEMORY;
	}
	if (!ptc_grow(&t->frames, &t->cap, t->n + 1, sizeof(*t->frames)))
		return PTC_E_NO_MEMORY;
	t->frames[t->n++] = f;
	return 0;
}

int ptc_call_costs_event(struct ptc_call_costs *c, const struct ptc_call_event *e)
{
	struct ptc_cost_thread *t;

	if (e->call->type == PTC_CALL_LOST)
		return 0;
	t = ptc_call_costs_thread(c, e->thread);
	if (!t)
		return PTC_E_NO_MEMORY;
	add_own_time(c, t, e->call->item->time);
	if (e->call->type == PTC_CALL_ENTER)
		return begin_frame(c, t, e);
	if (e->call->how == PTC_CALL_BY_TAIL) {
		t->jumped = true;
		return 0;
	}
	t->jumped = false;
	while (t->n && t->frames[t->n - 1].depth >= e->call->depth)
		end_frame(c, t, e->call);
	return 0;
}

/* --- parts --- */

void ptc_call_costs_step(struct ptc_call_costs *c, uint32_t number)
{
	struct ptc_cost_thread *t = &c->threads[number];
	size_t i;

	for (i = 0; i < t->nroots; i++) {
		struct ptc_call_cost *call = &c->calls[t->roots[i]];

		call->times = call->insns = call->ns = 0;
	}
	forget_frames(c, number);
}

bool ptc_call_costs_enter(struct ptc_call_costs *c, uint32_t function, struct ptc_source_line begin)
{
	struct ptc_function_cost *f = function_cost(c, function);

	if (f && !f->entered)
		f->begin = begin;
	if (f)
		f->entered = true;
	return f;
}

uint32_t ptc_call_costs_add(struct ptc_call_costs *c, const struct ptc_call_cost *calls)
{
	const struct ptc_call_cost place = { .caller = calls->caller,
					     .callee = calls->callee,
					     .at = calls->at };
	const uint32_t i = number_of_call(c, &place);

	if (i == PTC_NO_NUMBER)
		return i;
	c->calls[i].times += calls->times;
	c->calls[i].insns += calls->insns;
	c->calls[i].ns += calls->ns;
	return i;
}

void ptc_call_costs_pass(struct ptc_call_costs *c, struct ptc_cost_thread *t, uint64_t first_time,
			 uint64_t last_time, uint64_t root_ns)
{
	add_own_time(c, t, first_time);
	*own_time_of(c, t) += root_ns;
	t->last_time = last_time;
}

bool ptc_call_costs_open(struct ptc_cost_thread *t, const struct ptc_cost_frame *frame)
{
	if (!ptc_grow(&t->frames, &t->cap, t->n + 1, sizeof(*t->frames)))
		return false;
	t->frames[t->n++] = *frame;
	return true;
}

/* --- the order --- */

static int by_caller(const void *a, const void *b, void *order)
{
	const struct ptc_function_order *o = order;
	const struct ptc_call_cost *x = a, *y = b;
	int r;

	if (x->caller != y->caller)
		return o->rank[x->caller] < o->rank[y->caller] ? -1 : 1;
	r = ptc_names_compare(o->names, x->at.file, y->at.file);
	if (r)
		return r;
	if (x->at.line != y->at.line)
		return x->at.line < y->at.line ? -1 : 1;
	return (o->rank[x->callee] > o->rank[y->callee]) -
	       (o->rank[x->callee] < o->rank[y->callee]);
}

void ptc_call_costs_sort(struct ptc_call_costs *c, const struct ptc_function_order *order)
{
	if (c->n)
		qsort_r(c->calls, c->n, sizeof(*c->calls), by_caller, (void *)order);
}
