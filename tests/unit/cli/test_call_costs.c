/* SPDX-License-Identifier: MIT */
/*
 * Description: the costs of calls in the parts of a trace, joined at the steps, are those of the
 * whole trace. Names give an order that does not depend on numbers.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cli/calls/call_costs.h"
#include "cli/calls/function_order.h"

enum {
	FUNCTIONS = 12,
	THREADS = 2,
	FIRST_TID = 7,
	DEPTH = 20,
	LENGTH = 2, /* of a branch */
	ITEMS = 3000,
};

/* A stream with its costs. Function N is at N << 8, from 1 on. Each fourth one has no symbol. */
struct costs {
	struct ptc_call_stream stream;
	struct ptc_call_costs calls;
	struct costs *into;	 /* of a part: who takes its steps */
	uint64_t insns[THREADS]; /* of a part: in front of it */
};

static bool has_symbol(uint64_t ip)
{
	return ip >> 8 & 3;
}

static uint64_t start_of(void *ctx, const struct ptc_item *it, uint64_t ip)
{
	(void)ctx;
	(void)it;
	return has_symbol(ip) ? ip & ~UINT64_C(255) : 0;
}

static uint32_t number_of(void *ctx, const struct ptc_item *it, uint64_t ip)
{
	(void)ctx;
	(void)it;
	return (uint32_t)(ip >> 8);
}

static const char *no_name(void *ctx, const struct ptc_item *it, uint64_t ip)
{
	(void)ctx;
	(void)it;
	(void)ip;
	return NULL;
}

static uint64_t one_life(void *ctx, const struct ptc_item *it)
{
	(void)ctx;
	(void)it;
	return 0;
}

static const char *no_thread_name(void *ctx, int32_t tid)
{
	(void)ctx;
	(void)tid;
	return NULL;
}

static struct ptc_source_line line_of(void *ctx, const struct ptc_item *it, uint64_t ip)
{
	(void)ctx;
	(void)it;
	return (struct ptc_source_line){ .line = (uint32_t)ip };
}

static int on_event(void *ctx, const struct ptc_call_event *e)
{
	struct costs *c = ctx;

	return ptc_call_costs_event(&c->calls, e);
}

static struct ptc_source_line begin_of(uint32_t function)
{
	return (struct ptc_source_line){ .line = function << 8 };
}

/* Adds the frames and calls of the part's thread @from since its last step to thread @to. */
static void join_thread(struct costs *part, uint32_t from, uint32_t to, uint64_t before)
{
	struct ptc_call_costs *into = &part->into->calls;
	const struct ptc_cost_thread *t = &part->calls.threads[from];
	struct ptc_cost_thread *joined = ptc_call_costs_thread(into, to);
	struct ptc_cost_frame root, f;
	struct ptc_call_cost call;
	size_t i;

	cr_assert(joined && joined->n);
	root = joined->frames[joined->n - 1];
	ptc_call_costs_pass(into, joined, t->first_time, t->last_time, t->root_ns);
	for (i = 0; i < t->nroots; i++) {
		call = part->calls.calls[t->roots[i]];
		call.caller = root.function;
		cr_assert(ptc_call_costs_enter(into, call.callee, begin_of(call.callee)));
		cr_assert_neq(ptc_call_costs_add(into, &call), PTC_NO_NUMBER);
	}
	for (i = 1; i < t->n; i++) {
		f = t->frames[i];
		call = part->calls.calls[f.call];
		call.times = call.insns = call.ns = 0;
		if (call.caller >= PTC_COST_ROOTS)
			call.caller = root.function;
		cr_assert(ptc_call_costs_enter(into, call.callee, begin_of(call.callee)));
		f.call = ptc_call_costs_add(into, &call);
		f.depth += root.depth;
		f.since_insns += before;
		cr_assert(ptc_call_costs_open(joined, &f));
	}
	ptc_call_costs_step(&part->calls, from);
}

static int on_step(void *ctx, const struct ptc_part_step *step)
{
	struct costs *part = ctx, *into = part->into;
	const uint32_t from = ptc_call_stream_thread(&part->stream, step->tid);
	const uint32_t to = ptc_call_stream_thread(&into->stream, step->tid);
	const uint64_t before = part->insns[step->tid - FIRST_TID];
	uint64_t *insns = &into->insns[step->tid - FIRST_TID];
	const struct ptc_item last = { .tid = step->tid, .time = step->time };
	struct ptc_open_call call;
	uint32_t thread;
	size_t i;

	if (from < part->calls.nthreads && part->calls.threads[from].has_events)
		join_thread(part, from, to, before);
	for (i = 0; i < step->ncalls; i++) {
		call = step->calls[i];
		call.since_insns += before;
		cr_assert(!ptc_call_stream_restore(&into->stream, step->tid,
						   part->stream.threads[from].stack[i], &call,
						   &thread));
	}
	if (step->passed)
		cr_assert(
			!ptc_calls_pass(into->stream.calls, &last, before + step->insns - *insns));
	if (step->passed)
		*insns = before + step->insns;
	if (!step->item)
		return 0;
	*insns += step->item->insns;
	return ptc_call_stream_item(&into->stream, step->item);
}

static void init(struct costs *c, struct costs *into)
{
	static const struct ptc_call_lookup lookup = { start_of,       number_of, no_name, one_life,
						       no_thread_name, line_of,	  line_of };
	const struct ptc_call_stream_opts opts = {
		.on_event = on_event, .ctx = c, .on_step = into ? on_step : NULL, .lookup = &lookup
	};
	struct ptc_function f = { .name = 0 };

	c->into = into;
	cr_assert_eq(ptc_call_stream_init(&c->stream, &opts), 0);
	for (; f.off <= FUNCTIONS; f.off++) {
		f.name = has_symbol(f.off << 8) ? ptc_names_get(&c->stream.names, "f") : 0;
		cr_assert_eq(ptc_call_stream_number(&c->stream, &f), f.off);
	}
	cr_assert(ptc_call_costs_init(&c->calls, &c->stream));
	c->calls.of_part = into;
}

static void release(struct costs *c)
{
	ptc_call_costs_release(&c->calls);
	ptc_call_stream_release(&c->stream);
}

/* Ends the part, and adds its sums. */
static void end_part(struct costs *part)
{
	struct ptc_call_costs *into = &part->into->calls;
	size_t i;

	cr_assert_eq(ptc_call_stream_finish(&part->stream), 0);
	for (i = 0; i < part->calls.n; i++) {
		const struct ptc_call_cost *call = &part->calls.calls[i];

		if (call->caller >= PTC_COST_ROOTS)
			continue;
		cr_assert(ptc_call_costs_enter(into, call->callee, begin_of(call->callee)));
		cr_assert_neq(ptc_call_costs_add(into, call), PTC_NO_NUMBER);
	}
	for (i = 0; i < part->calls.nfunctions; i++)
		if (part->calls.functions[i].ns)
			into->functions[i].ns += part->calls.functions[i].ns;
	release(part);
}

/* --- a program --- */

/* A thread that calls functions, returns from them, and jumps to others. */
struct program {
	uint64_t seed;
	struct running {
		uint64_t ip, rets[DEPTH];
		size_t depth;
	} threads[THREADS];
	uint64_t time;
	int tails; /* jumps that follow */
};

static uint64_t random_below(struct program *p, uint64_t n)
{
	p->seed ^= p->seed << 13;
	p->seed ^= p->seed >> 7;
	p->seed ^= p->seed << 17;
	return p->seed % n;
}

static struct ptc_item next_item(struct program *p)
{
	const uint64_t thread = p->tails ? 0 : random_below(p, THREADS);
	struct running *t = &p->threads[thread];
	const uint64_t what = p->tails ? 8 : random_below(p, 10);
	struct ptc_item it = { .type = PTC_ITEM_BRANCH,
			       .tid = FIRST_TID + (int32_t)thread,
			       .cpu = -1,
			       .insn_len = LENGTH,
			       .insns = 1 + (uint32_t)random_below(p, 9),
			       .from = (t->ip & ~UINT64_C(255)) + 1 + random_below(p, 200) };

	if (!p->tails && !random_below(p, 300))
		p->tails = 70;
	p->tails -= p->tails > 0;
	p->time += random_below(p, 5);
	it.time = random_below(p, 20) ? p->time : PTC_NO_TIME;
	it.to = (1 + random_below(p, FUNCTIONS)) << 8;
	it.kind = PTC_KIND_CALL;
	if (!t->ip) {
		it.kind = PTC_KIND_START;
		it.from = 0;
		it.insn_len = 0;
	} else if (what >= 8) {
		it.kind = PTC_KIND_JMP;
	} else if ((what >= 4 && t->depth) || t->depth == DEPTH) {
		it.kind = PTC_KIND_RET;
		it.to = t->rets[--t->depth];
	} else {
		t->rets[t->depth++] = it.from + LENGTH;
	}
	t->ip = it.to;
	return it;
}

static void compare(const struct costs *whole, struct costs *joined, uint64_t seed)
{
	struct ptc_function_order order;
	size_t i;

	cr_assert(ptc_function_order_init(&order, &whole->stream));
	ptc_call_costs_sort((struct ptc_call_costs *)&whole->calls, &order);
	ptc_call_costs_sort(&joined->calls, &order);
	cr_assert_eq(whole->calls.n, joined->calls.n, "seed %lu: %zu and %zu calls", seed,
		     whole->calls.n, joined->calls.n);
	for (i = 0; i < whole->calls.n; i++) {
		const struct ptc_call_cost *a = &whole->calls.calls[i];
		const struct ptc_call_cost *b = &joined->calls.calls[i];

		cr_assert(a->caller == b->caller && a->callee == b->callee &&
				  a->at.line == b->at.line && a->times == b->times &&
				  a->insns == b->insns && a->ns == b->ns,
			  "seed %lu: call %zu of %u by %u (line %u): %lu times, %lu instructions; "
			  "%lu, %lu",
			  seed, i, a->callee, a->caller, a->at.line, a->times, a->insns, b->times,
			  b->insns);
	}
	for (i = 0; i < whole->calls.nfunctions; i++)
		cr_assert(whole->calls.functions[i].ns == joined->calls.functions[i].ns &&
				  whole->calls.functions[i].begin.line ==
					  joined->calls.functions[i].begin.line,
			  "seed %lu: function %zu", seed, i);
	ptc_function_order_release(&order);
}

static void compare_parts(uint64_t seed)
{
	struct program p = { .seed = seed };
	struct costs whole = { .into = NULL }, joined = whole, part = whole;
	int i;

	init(&whole, NULL);
	init(&joined, NULL);
	init(&part, &joined);
	for (i = 0; i < ITEMS; i++) {
		const struct ptc_item it = next_item(&p);

		cr_assert_eq(ptc_call_stream_item(&whole.stream, &it), 0);
		cr_assert_eq(ptc_call_stream_item(&part.stream, &it), 0);
		if (random_below(&p, 40))
			continue;
		end_part(&part);
		part = (struct costs){ .into = NULL };
		memcpy(part.insns, joined.insns, sizeof(part.insns));
		init(&part, &joined);
	}
	end_part(&part);
	cr_assert_eq(ptc_call_stream_finish(&whole.stream), 0);
	cr_assert_eq(ptc_call_stream_finish(&joined.stream), 0);
	compare(&whole, &joined, seed);
	release(&whole);
	release(&joined);
}

Test(call_costs, parts_joined_at_steps_are_the_whole)
{
	uint64_t seed;

	for (seed = 1; seed <= 40; seed++)
		compare_parts(seed);
}

Test(call_costs, the_order_of_functions_does_not_depend_on_numbers)
{
	static const struct {
		const char *file, *name;
		uint64_t off;
	} functions[] = { { "b", "x", 1 },  { "a", "y", 9 }, { "a", NULL, 7 },
			  { NULL, "z", 0 }, { "a", "x", 5 }, { "a", "x", 4 } };
	static const uint32_t want[] = { 3, 2, 5, 4, 1, 0 };
	const struct ptc_call_stream_opts opts = { .d = NULL };
	struct ptc_function_order order;
	struct ptc_call_stream s;
	size_t i;

	cr_assert_eq(ptc_call_stream_init(&s, &opts), 0);
	for (i = 0; i < 6; i++) {
		const struct ptc_function f = { .file = ptc_names_get(&s.names, functions[i].file),
						.name = ptc_names_get(&s.names, functions[i].name),
						.off = functions[i].off };

		cr_assert_eq(ptc_call_stream_number(&s, &f), i);
	}
	cr_assert(ptc_function_order_init(&order, &s));
	for (i = 0; i < 6; i++)
		cr_assert(order.at[i] == want[i] && order.rank[want[i]] == i, "place %zu", i);
	ptc_function_order_release(&order);
	ptc_call_stream_release(&s);
}
