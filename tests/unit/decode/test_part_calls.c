/* SPDX-License-Identifier: MIT */
/*
 * Description: the calls of all parts, with the steps between them, are the calls of the whole. The
 * branches are random: calls, returns, jumps, signals, gaps, new lives, in three threads.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "fewer.h"
#include "ptcap/part_calls.h"

enum { ITEMS = 3000, THREADS = 3, FUNCTIONS = 12, CALLS_MAX = 4 * ITEMS };

/* Functions are 0x100 apart; below 0x1000 nothing is known. */
static uint64_t function(void *ctx, const struct ptc_item *item, uint64_t ip)
{
	(void)ctx;
	(void)item;
	return ip < 0x1000 ? 0 : ip & ~(uint64_t)0xff;
}

static const char *name(void *ctx, const struct ptc_item *item, uint64_t ip)
{
	switch (function(ctx, item, ip)) {
	case 0x1000:
		return "_Unwind_Resume";
	case 0x1100:
		return "_Unwind_RaiseException";
	default:
		return NULL;
	}
}

/* A thread gets another life every 1000 items. */
static uint64_t life(void *ctx, const struct ptc_item *item)
{
	(void)ctx;
	return 1 + item->time / 1000;
}

/* An event without its depth: a part does not know it. */
struct event {
	int32_t tid;
	enum ptc_call_type type;
	enum ptc_call_how how;
	uint64_t ip, time, since, took;
};

struct events {
	struct event v[CALLS_MAX];
	size_t n;
};

struct joining {
	struct events *events;
	struct ptc_calls *calls;
	uint64_t before[THREADS], insns[THREADS]; /* in front of the part, and so far */
	size_t unclear;
};

static void note(struct events *e, const struct ptc_call *call)
{
	const bool ends = call->type == PTC_CALL_LEAVE;

	cr_assert_lt(e->n, (size_t)CALLS_MAX);
	memset(&e->v[e->n], 0, sizeof(e->v[e->n]));
	e->v[e->n].tid = call->item->tid;
	e->v[e->n].type = call->type;
	e->v[e->n].how = call->how;
	e->v[e->n].ip = call->ip;
	e->v[e->n].time = call->item->time;
	e->v[e->n].since = ends ? call->since : 0;
	e->v[e->n++].took = ends ? call->insns - call->since_insns : 0;
}

static int on_whole_call(void *ctx, const struct ptc_call *call)
{
	note(ctx, call);
	return 0;
}

static int on_part_call(void *ctx, const struct ptc_call *call)
{
	struct joining *j = ctx;

	note(j->events, call);
	return 0;
}

static int on_step(void *ctx, const struct ptc_part_step *step)
{
	struct joining *j = ctx;
	const struct ptc_item last = {
		.tid = step->tid, .pid = step->pid, .queue = step->queue, .time = step->time
	};
	struct ptc_item left;
	size_t i;

	for (i = 0; i < step->nabsent; i++)
		j->unclear += ptc_calls_is_open(j->calls, step->tid, step->absent[i]);
	for (i = 0; i < step->ncalls; i++) {
		struct ptc_open_call call = step->calls[i];

		call.since_insns += j->before[step->tid];
		cr_assert_eq(ptc_calls_restore(j->calls, step->tid, &call), 0);
	}
	if (step->exit) {
		left = *step->exit;
		left.insns = 0;
		cr_assert_eq(ptc_calls_item(j->calls, &left), 0);
	}
	if (step->passed) {
		const uint64_t now = j->before[step->tid] + step->insns;

		cr_assert_eq(ptc_calls_pass(j->calls, &last, now - j->insns[step->tid]), 0);
		j->insns[step->tid] = now;
	}
	if (!step->item)
		return 0;
	if (step->item->tid >= 0)
		j->insns[step->item->tid] += step->item->insns;
	return ptc_calls_item(j->calls, step->item);
}

static uint64_t state;

static uint64_t random_below(uint64_t n)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (state >> 33) % n;
}

static uint64_t place(void)
{
	return 0x1000 + 0x100 * random_below(FUNCTIONS) +
	       (random_below(2) ? 0 : 5 * random_below(20));
}

/* Makes branches that a program could have: most returns go to a call that is open. */
static void make_items(struct ptc_item *items)
{
	static uint64_t stacks[THREADS][ITEMS];
	size_t depth[THREADS] = { 0 }, i;
	uint64_t at[THREADS] = { 0x1200, 0x1300, 0x1400 };
	bool out[THREADS] = { true, true, true };

	for (i = 0; i < ITEMS; i++) {
		struct ptc_item *it = &items[i];
		const int32_t t = (int32_t)random_below(THREADS);
		const uint64_t dice = random_below(100);

		*it = (struct ptc_item){ .type = PTC_ITEM_BRANCH,
					 .kind = PTC_KIND_JCC,
					 .from = at[t] + 2,
					 .to = (at[t] & ~(uint64_t)0xff) + 8,
					 .time = i,
					 .pid = 7,
					 .tid = t,
					 .queue = (uint32_t)random_below(2),
					 .insn_len = 5,
					 .insns = (uint32_t)random_below(9) };
		if (out[t]) {
			it->kind = PTC_KIND_START;
			it->from = 0;
			it->to = dice < 80 ? at[t] : place();
			out[t] = false;
		} else if (dice < 35 && depth[t] < ITEMS) {
			it->kind = PTC_KIND_CALL;
			it->to = place();
			stacks[t][depth[t]++] = it->from + 5;
		} else if (dice < 70 && depth[t]) {
			it->kind = PTC_KIND_RET;
			if (dice < 38) /* longjmp */
				depth[t] = 1 + random_below(depth[t]);
			it->to = stacks[t][--depth[t]];
		} else if (dice < 74) {
			it->kind = dice < 72 ? PTC_KIND_IJMP : PTC_KIND_RET;
			it->to = place();
		} else if (dice < 78) {
			it->kind = PTC_KIND_JMP;
			it->to = place() & ~(uint64_t)0xff;
		} else if (dice < 84) {
			it->kind = dice < 81 ? PTC_KIND_SYSCALL : PTC_KIND_ASYNC;
			it->to = 0;
			at[t] = it->kind == PTC_KIND_SYSCALL ? it->from + 5 : it->from;
			out[t] = true;
		} else if (dice < 85) {
			it->type = PTC_ITEM_GAP;
			it->tid = random_below(2) ? t : -1;
			out[t] |= it->tid >= 0;
		}
		if (!out[t] && it->type == PTC_ITEM_BRANCH)
			at[t] = it->to;
	}
}

static int by_value(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct event));
}

static struct ptc_calls_opts options(int (*on_call)(void *ctx, const struct ptc_call *call),
				     void *ctx)
{
	struct ptc_calls_opts opts = PTC_CALLS_OPTS_INIT;

	opts.function = function;
	opts.on_call = on_call;
	opts.ctx = ctx;
	opts.life = life;
	opts.name = name;
	opts.closes = true;
	return opts;
}

/* Joins @n parts of about equal length. Returns the number of assumptions that are not true. */
static size_t join(const struct ptc_item *items, size_t n, struct events *ret)
{
	struct joining j = { .events = ret };
	struct ptc_calls_opts opts = options(on_whole_call, ret);
	struct ptc_part_calls *part;
	size_t k, i = 0;

	ret->n = 0;
	j.calls = ptc_calls_new(&opts);
	opts = options(on_part_call, &j);
	for (k = 1; k <= n; k++) {
		memcpy(j.before, j.insns, sizeof(j.before));
		part = ptc_part_calls_new(&opts, on_step);
		cr_assert_not_null(part);
		for (; i < ITEMS * k / n; i++) {
			cr_assert_eq(ptc_part_calls_item(part, &items[i]), 0);
			if (!(i % 777))
				cr_assert_eq(ptc_part_calls_flush(part), 0);
		}
		cr_assert_eq(ptc_part_calls_flush(part), 0);
		ptc_part_calls_free(part);
	}
	cr_assert_eq(ptc_calls_finish(j.calls), 0);
	ptc_calls_free(j.calls);
	qsort(ret->v, ret->n, sizeof(*ret->v), by_value);
	return j.unclear;
}

Test(part_calls, the_calls_of_parts_are_those_of_the_whole)
{
	static struct ptc_item items[ITEMS];
	static struct events whole, parts;
	const struct ptc_calls_opts opts = options(on_whole_call, &whole);
	static const size_t numbers[] = { 1, 2, 3, 7, 64, ITEMS };
	enum { SEEDS = FEWER(60, 25) };
	size_t seed, i, k, clear = 0;

	for (seed = 1; seed <= SEEDS; seed++) {
		struct ptc_calls *c = ptc_calls_new(&opts);

		state = seed;
		make_items(items);
		whole.n = 0;
		for (i = 0; i < ITEMS; i++)
			cr_assert_eq(ptc_calls_item(c, &items[i]), 0);
		cr_assert_eq(ptc_calls_finish(c), 0);
		ptc_calls_free(c);
		qsort(whole.v, whole.n, sizeof(*whole.v), by_value);
		for (k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
			if (join(items, numbers[k], &parts))
				continue;
			clear++;
			cr_assert_eq(parts.n, whole.n, "seed %zu, %zu parts: %zu calls, not %zu",
				     seed, numbers[k], parts.n, whole.n);
			if (!memcmp(parts.v, whole.v, whole.n * sizeof(*whole.v)))
				continue;
			for (i = 0; i < whole.n; i++)
				cr_assert_arr_eq(&parts.v[i], &whole.v[i], sizeof(whole.v[i]),
						 "seed %zu, %zu parts: call at 0x%llx, not 0x%llx",
						 seed, numbers[k],
						 (unsigned long long)parts.v[i].ip,
						 (unsigned long long)whole.v[i].ip);
		}
	}
	cr_assert_gt(clear, (size_t)5 * SEEDS);
}

Test(part_calls, needs_calls_that_are_closed)
{
	struct ptc_calls_opts opts = options(on_whole_call, NULL);

	opts.closes = false;
	cr_assert_null(ptc_part_calls_new(&opts, on_step));
	ptc_part_calls_free(NULL);
}
