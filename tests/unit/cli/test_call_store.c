/* SPDX-License-Identifier: MIT */
/* Description: stored calls of two threads and their levels, against lists of all calls. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cli/serve/call_search.h"
#include "cli/serve/served_recording.h"
#include "cli/serve/window_cells.h"
#include "fewer.h"

enum { THREADS = 2, EVENTS = 60000, DEPTH = 40, FUNCTIONS = 50, CALLS = EVENTS / 2 + DEPTH };

/* All calls, by thread and number. */
static struct ptc_served_call all[THREADS][CALLS];
static uint64_t entries[THREADS];
static struct ptc_served_recording recording;
static struct ptc_err err;
static uint32_t seed = 1;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void feed(uint32_t thread, uint32_t op, struct ptc_view_moment at)
{
	const struct ptc_view_taker *t = &recording.taker;

	cr_assert_eq(t->on_event(t->ctx, thread, op, op >= 16 ? op % 7 : 0, at), 0, "%s", err.msg);
}

/* A run of one thread, with short and long calls. The time often stands still, and threads share
 * times. */
static void make_thread(uint32_t thread)
{
	uint64_t stack[DEPTH];
	struct ptc_view_moment at = { 10, 1000 };
	size_t depth = 0;
	int i;

	for (i = 0; i < EVENTS || depth; i++) {
		const bool enters = depth < 2 || (depth < DEPTH && random_below(100) < 50);

		at.insns += random_below(100) ? random_below(20) : random_below(5000);
		at.time_ns += random_below(4) ? 0 : 100 * random_below(4);
		if (enters && i < EVENTS) {
			const uint32_t rare = random_below(3000) ? 0 : FUNCTIONS;
			const uint32_t function = random_below(FUNCTIONS) + rare;

			stack[depth] = entries[thread];
			all[thread][entries[thread]++] = (struct ptc_served_call){
				.number = stack[depth],
				.depth = (uint32_t)depth,
				.function = function,
				.site = ((function + 1) << 4) % 7,
				.begin = at,
			};
			if (depth)
				all[thread][stack[depth - 1]].calls++;
			depth++;
			feed(thread, (function + 1) << 4, at);
		} else {
			struct ptc_served_call *call = &all[thread][stack[--depth]];

			call->end = at;
			call->how = 2 << 4;
			feed(thread, 2, at);
		}
	}
}

static void make_recording(void)
{
	uint32_t thread;

	cr_assert_eq(ptc_served_recording_init(&recording, true, UINT64_C(1) << 30, &err), 0, "%s",
		     err.msg);
	for (thread = 0; thread < THREADS; thread++)
		make_thread(thread);
	cr_assert_eq(ptc_served_recording_finish(&recording, &err), 0, "%s", err.msg);
	cr_assert_gt(recording.calls.threads[0].n, 3, "there are several chunks");
}

static void drop_recording(void)
{
	ptc_served_recording_release(&recording);
}

static void same(const struct ptc_served_call *a, const struct ptc_served_call *b)
{
	cr_assert(a->number == b->number && a->depth == b->depth && a->function == b->function &&
			  a->site == b->site && a->how == b->how && a->calls == b->calls &&
			  a->begin.insns == b->begin.insns && a->end.insns == b->end.insns &&
			  a->begin.time_ns == b->begin.time_ns && a->end.time_ns == b->end.time_ns,
		  "call %llu", (unsigned long long)b->number);
}

TestSuite(call_store, .init = make_recording, .fini = drop_recording);

Test(call_store, chunks_have_each_call_once)
{
	struct ptc_call_list l = { .n = 0 };
	uint32_t thread;
	size_t i;

	for (thread = 0; thread < THREADS; thread++) {
		bool *seen = calloc(CALLS, 1);

		cr_assert(seen);
		l.n = 0;
		for (i = 0; i < recording.calls.threads[thread].n; i++)
			cr_assert_eq(ptc_call_store_entries(&recording.calls, thread, i, &l, &err),
				     0);
		cr_assert_eq(l.n, entries[thread]);
		for (i = 0; i < l.n; i++) {
			cr_assert(!seen[l.v[i].number]);
			seen[l.v[i].number] = true;
			same(&l.v[i], &all[thread][l.v[i].number]);
		}
		free(seen);
	}
	free(l.v);
}

Test(call_store, the_stack_of_each_call_is_known)
{
	struct ptc_call_list l = { .n = 0 };
	uint64_t number;

	for (number = 0; number < entries[1]; number += 97) {
		size_t i;

		l.n = 0;
		cr_assert_eq(ptc_call_store_stack(&recording.calls, 1, number, &l, &err), 0);
		cr_assert_eq(l.n, (size_t)all[1][number].depth + 1);
		cr_assert_eq(l.v[0].number, number);
		for (i = 0; i < l.n; i++) {
			const struct ptc_served_call *call = &all[1][l.v[i].number];

			same(&l.v[i], call);
			cr_assert_eq(call->depth, l.n - 1 - i);
			cr_assert(call->begin.insns <= all[1][number].begin.insns &&
				  call->end.insns >= all[1][number].end.insns);
		}
	}
	l.n = 0;
	cr_assert_eq(ptc_call_store_stack(&recording.calls, 1, entries[1], &l, &err), 0);
	cr_assert_eq(l.n, 0, "there is no such call");
	free(l.v);
}

/* --- search --- */

static uint64_t place(const struct ptc_served_call *c, int axis)
{
	return axis ? c->begin.time_ns : c->begin.insns;
}

/* Compares (place, thread, number). */
static bool is_before(uint32_t ta, const struct ptc_served_call *a, uint32_t tb,
		      const struct ptc_served_call *b, int axis)
{
	if (place(a, axis) != place(b, axis))
		return place(a, axis) < place(b, axis);
	return ta != tb ? ta < tb : a->number < b->number;
}

/* Returns the nearest call of @functions behind (before) a call by looking at all of them. */
static bool naive(const struct ptc_call_search *ask, struct ptc_call_place *ret)
{
	const struct ptc_served_call *from = &all[ask->at.thread][ask->at.number];
	const struct ptc_served_call *best = NULL;
	uint32_t thread;
	uint64_t i;

	for (thread = 0; thread < THREADS; thread++)
		for (i = 0; i < entries[thread]; i++) {
			const struct ptc_served_call *c = &all[thread][i];

			if (c->function != ask->functions[0] && c->function != ask->functions[1])
				continue;
			if (!ask->whole &&
			    !(ask->backward ?
				      is_before(thread, c, ask->at.thread, from, ask->axis) :
				      is_before(ask->at.thread, from, thread, c, ask->axis)))
				continue;
			if (best &&
			    is_before(thread, c, ret->thread, best, ask->axis) != !ask->backward)
				continue;
			best = c;
			*ret = (struct ptc_call_place){ thread, i };
		}
	return best != NULL;
}

Test(call_store, a_search_finds_the_nearest_call_in_both_directions)
{
	int i;

	for (i = 0; i < FEWER(200, 70); i++) {
		const uint32_t first = random_below(FUNCTIONS - 1);
		const uint32_t functions[2] = { first + (i % 3 ? FUNCTIONS : 0),
						first + FUNCTIONS + 1 };
		struct ptc_call_search ask = { functions,   2,
					       i % 2,	    i % 4 > 1,
					       i % 11 == 0, { (uint32_t)i / 4 % THREADS, 0 } };
		struct ptc_call_place got = { 0, 0 }, want = { 0, 0 };
		bool found;

		ask.at.number = random_below((uint32_t)entries[ask.at.thread]);
		cr_assert_eq(ptc_call_search(&recording, &ask, &found, &got, &err), 0);
		cr_assert_eq(found, naive(&ask, &want), "search %d", i);
		cr_assert(!found || (got.thread == want.thread && got.number == want.number),
			  "search %d: %llu, not %llu", i, (unsigned long long)got.number,
			  (unsigned long long)want.number);
	}
}

Test(call_store, the_call_beside_a_call_has_its_depth)
{
	uint64_t number;

	for (number = 0; number < entries[0]; number += FEWER(61, 181)) {
		const uint32_t depth = all[0][number].depth;
		uint64_t want = number + 1, got = 0;
		bool found;

		while (want < entries[0] && all[0][want].depth != depth)
			want++;
		cr_assert_eq(ptc_call_beside(&recording, (struct ptc_call_place){ 0, number },
					     depth, false, &found, &got, &err),
			     0);
		cr_assert_eq(found, want < entries[0]);
		cr_assert(!found || got == want);
		for (want = number; want && all[0][want - 1].depth != depth;)
			want--;
		cr_assert_eq(ptc_call_beside(&recording, (struct ptc_call_place){ 0, number },
					     depth, true, &found, &got, &err),
			     0);
		cr_assert_eq(found, want > 0);
		cr_assert(!found || got == want - 1);
	}
}

/* --- windows --- */

/* The cells of a window have all calls that end in it, and each call of two pixels is single. */
static void check_window(uint32_t thread, const struct ptc_window_ask *ask)
{
	const uint64_t pixel = (ask->to - ask->from) / ask->pixels;
	struct ptc_window_cells w = { .n = 0 };
	uint64_t inside[DEPTH] = { 0 }, counted[DEPTH] = { 0 }, overlaps[DEPTH] = { 0 };
	uint64_t i;
	size_t row, at = 0, single = 0;

	cr_assert_eq(ptc_window_cells_find(&w, &recording, thread, ask, &err), 0, "%s", err.msg);
	for (i = 0; i < entries[thread]; i++) {
		const struct ptc_served_cell c = ptc_served_cell_of(&all[thread][i], ask->axis);

		/* A cell at the first edge may have calls outside. A cell at the last edge may be
		 * missing. */
		inside[c.depth] += c.begin >= ask->from && c.end + pixel + 64 <= ask->to;
		overlaps[c.depth] += c.begin <= ask->to && c.end + pixel + 64 >= ask->from;
		single += c.begin <= ask->to && c.end >= ask->from &&
			  c.end - c.begin >= 2 * (pixel + 1);
	}
	for (row = 0; row < w.rows; row++) {
		for (; at < w.ends[row]; at++) {
			const struct ptc_served_cell *c = &w.sorted[at];

			cr_assert_eq(c->depth, row);
			cr_assert(c->busy <= c->end - c->begin && c->longest <= c->busy);
			counted[row] += c->count;
			if (c->count == 1) {
				const struct ptc_served_cell want =
					ptc_served_cell_of(&all[thread][c->number], ask->axis);

				cr_assert(want.begin == c->begin && want.end == c->end &&
					  want.function == c->function && want.how == c->how);
				single -= c->end - c->begin >= 2 * (pixel + 1);
			}
			cr_assert(at == (row ? w.ends[row - 1] : 0) ||
				  w.sorted[at - 1].end <= c->begin);
		}
		cr_assert(counted[row] >= inside[row] && counted[row] <= overlaps[row],
			  "depth %zu: %llu calls, %llu to %llu", row,
			  (unsigned long long)counted[row], (unsigned long long)inside[row],
			  (unsigned long long)overlaps[row]);
	}
	cr_assert_eq(single, 0, "%zu calls are not single", single);
	ptc_window_cells_release(&w);
}

Test(call_store, windows_have_all_calls_and_show_long_ones)
{
	int i;

	for (i = 0; i < FEWER(400, 140); i++) {
		const int axis = i % 2;
		const uint32_t thread = (uint32_t)i / 2 % THREADS;
		const uint64_t end = axis ? all[thread][0].end.time_ns : all[thread][0].end.insns;
		const uint64_t length = i < 8 ? end + 100 : (end >> random_below(18)) + 1;
		const uint64_t from = i < 8 ? 0 : random_below((uint32_t)end);
		const struct ptc_window_ask ask = {
			axis, from, from + length, 1 + random_below(2000), thread, thread, false
		};

		check_window(thread, &ask);
	}
}
