/* SPDX-License-Identifier: MIT */
/* Description: stacks are found in a trace if their branches follow each other there. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "decode/lbr/flow_table.h"
#include "ptcap/kind.h"

static const struct ptc_wants all = { .kinds = UINT64_MAX, .user = true };
static const struct ptc_wants calls = { .kinds = 1u << PTC_KIND_CALL, .user = true };

/* A branch is a letter: its places depend on the letter. Capital letters are calls. */
static uint64_t from_of(char c)
{
	return 0x100 + (uint64_t)c;
}

static uint64_t to_of(char c)
{
	return 0x200 + (uint64_t)c;
}

/* Adds a stack, oldest first. Returns its numbers in @numbers. */
static size_t add(struct ptc_flow_table *t, const struct ptc_wants *w, const char *s,
		  uint32_t *numbers)
{
	size_t n;

	for (n = 0; s[n]; n++) {
		cr_assert(ptc_flow_add_edge(t, from_of(s[n]), to_of(s[n]), &numbers[n]));
		cr_assert(numbers[n]);
	}
	cr_assert(ptc_flow_add_stack(t, ptc_flow_filter(t, w), numbers, n));
	return n;
}

static void feed(struct ptc_flow_table *t, int32_t tid, const char *s)
{
	for (; *s; s++) {
		const struct ptc_step step = { .from = 1,
					       .to = 2,
					       .kind = *s < 'a' ? PTC_KIND_CALL : PTC_KIND_JMP };

		if (*s == '|')
			ptc_flow_cut(t);
		else
			cr_assert(ptc_flow_feed(t, tid, &step, from_of(*s), to_of(*s)));
	}
}

/* Does the trace of thread 1 have the stack? Thread 2 runs between the branches of thread 1. */
static bool has(const char *trace, const struct ptc_wants *w, const char *stack)
{
	struct ptc_flow_table t = { .nedges = 0 };
	const struct ptc_flow_stack *k;
	uint32_t numbers[64];
	size_t n;
	bool found;

	(void)ptc_flow_filter(&t, &all);
	n = add(&t, w, stack, numbers);
	for (; *trace; trace++) {
		const char one[2] = { *trace, '\0' };

		feed(&t, 1, one);
		feed(&t, 2, "xy");
	}
	k = ptc_flow_find_stack(&t, ptc_flow_filter(&t, w), numbers, n);
	cr_assert(k);
	found = k->found;
	ptc_flow_table_release(&t);
	return found;
}

Test(flow_table, a_stack_is_found_where_its_branches_follow_each_other)
{
	cr_assert(has("abc", &all, "abc"));
	cr_assert(has("zabcz", &all, "abc"));
	cr_assert(has("abababc", &all, "ababc"));
	cr_assert(has("a", &all, "a"));
	cr_assert(has("aaaa", &all, "aaa"));
	cr_assert_not(has("abdc", &all, "abc"));
	cr_assert_not(has("ab", &all, "abc"));
	cr_assert_not(has("bca", &all, "abc"));
	cr_assert_not(has("aa", &all, "aaa"));
	cr_assert_not(has("ab|c", &all, "abc"), "behind a gap");
	cr_assert(has("ab|abc", &all, "abc"));
}

Test(flow_table, the_filter_of_the_stack_is_applied_to_the_trace)
{
	cr_assert(has("AbBcC", &calls, "ABC"));
	cr_assert_not(has("AbBcC", &all, "ABC"));
	cr_assert_not(has("AbB", &calls, "Ab"));
}

Test(flow_table, edges_are_seen_alone)
{
	struct ptc_flow_table t = { .nedges = 0 };
	uint32_t numbers[4], number;

	(void)add(&t, &all, "abc", numbers);
	(void)add(&t, &all, "abc", numbers);
	cr_assert(t.nedges == 3 && t.nstacks == 1, "equal stacks are one");
	feed(&t, 1, "bz");
	cr_assert(ptc_flow_find_edge(&t, from_of('b'), to_of('b'), &number)->seen);
	cr_assert_not(ptc_flow_find_edge(&t, from_of('a'), to_of('a'), &number)->seen);
	cr_assert_null(ptc_flow_find_edge(&t, from_of('a'), to_of('b'), &number));
	cr_assert_null(ptc_flow_find_edge(&t, 0, to_of('b'), &number));
	cr_assert(ptc_flow_add_edge(&t, 0, 1, &number) && !number, "no place");
	ptc_flow_table_release(&t);
}

Test(flow_table, long_and_many_stacks)
{
	enum { N = 3000, LEN = PTC_ALIGN_ENTRIES - 1 };
	struct ptc_flow_table t = { .nedges = 0 };
	const struct ptc_step step = { .from = 1, .to = 2, .kind = PTC_KIND_JMP };
	const int filter = ptc_flow_filter(&t, &all);
	uint32_t *numbers = calloc(N, sizeof(*numbers));
	size_t i, found = 0;

	for (i = 0; i < N; i++)
		cr_assert(ptc_flow_add_edge(&t, i + 1, i + 2, &numbers[i]) && numbers[i] == i + 1);
	for (i = 0; i + LEN <= N; i++)
		cr_assert(ptc_flow_add_stack(&t, filter, numbers + i, LEN));
	cr_assert(ptc_flow_add_stack(&t, filter, numbers, LEN + 1));
	cr_assert_eq(t.nstacks, N - LEN + 1, "a stack that is too long is left out");
	for (i = 0; i < N; i++)
		if (i != N - 100)
			cr_assert(ptc_flow_feed(&t, 1, &step, i + 1, i + 2));
	for (i = 0; i < t.nstacks; i++)
		found += t.stacks[i].found;
	cr_assert_eq(found, N - 100 - LEN + 1, "all in front of the missing branch");
	ptc_flow_table_release(&t);
	free(numbers);
}

Test(flow_table, filters_and_threads_are_limited)
{
	struct ptc_flow_table t = { .nedges = 0 };
	uint32_t numbers[4];
	int32_t tid;
	uint64_t i;

	(void)add(&t, &all, "ab", numbers);
	for (i = 1; i < PTC_FLOW_FILTERS; i++)
		cr_assert_eq(ptc_flow_filter(&t, &(struct ptc_wants){ .kinds = i }), (int)i);
	cr_assert_eq(ptc_flow_filter(&t, &(struct ptc_wants){ .kinds = 99 }), -1);
	for (tid = 0; tid <= PTC_FLOW_THREADS; tid++)
		feed(&t, tid, "a");
	cr_assert(t.many_threads);
	feed(&t, 0, "b");
	cr_assert(t.stacks[0].found);
	feed(&t, 1, "a");
	ptc_flow_cut_thread(&t, 1);
	t.stacks[0].found = false;
	feed(&t, 1, "b");
	cr_assert_not(t.stacks[0].found, "of another thread with this number");
	ptc_flow_table_release(&t);
}
