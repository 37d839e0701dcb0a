/* SPDX-License-Identifier: MIT */
/* Description: inlined functions become frames around the calls made in them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ptcap/calls.h"

/* The functions inlined at an address: its last digits, the innermost first. */
static size_t inlines(void *ctx, const struct ptc_item *item, uint64_t ip,
		      struct ptc_inline_frame frames[PTC_INLINE_MAX])
{
	static const char *const names[] = { NULL, "p", "q", "r", "s", "t", "u", "v",
					     "w",  "x", "y", "z", "A", "B", "C", "D" };
	size_t n = 0;

	(void)ctx;
	(void)item;
	for (; ip & 0xf; ip >>= 4)
		frames[n++] =
			(struct ptc_inline_frame){ .function = names[ip & 0xf], .scope = ip & 0xf };
	frames[n++] = (struct ptc_inline_frame){ .function = "real", .scope = 99 };
	return n;
}

struct text {
	char bytes[4096];
	size_t n;
};

/*
 * "+a": real function a was entered, "+(p)": inlined function p, "-a", "-()": they were left. "!":
 * with .cut.
 */
static int on_call(void *ctx, const struct ptc_call *call)
{
	const bool inlined = call->how == PTC_CALL_BY_INLINING;
	struct text *t = ctx;
	char name[16] = "()";

	if (inlined && call->type == PTC_CALL_ENTER)
		(void)snprintf(name, sizeof(name), "(%s)", call->name);
	if (!inlined)
		(void)snprintf(name, sizeof(name), "%c", (int)call->ip);
	if (call->type == PTC_CALL_LOST)
		t->n += (size_t)snprintf(t->bytes + t->n, sizeof(t->bytes) - t->n, "lost ");
	else
		t->n += (size_t)snprintf(t->bytes + t->n, sizeof(t->bytes) - t->n, "%u%c%s%s ",
					 call->depth, call->type == PTC_CALL_ENTER ? '+' : '-',
					 name, call->cut ? "!" : "");
	cr_assert_lt(t->n, sizeof(t->bytes) - 64);
	return 0;
}

struct step {
	enum ptc_call_type type;
	uint32_t depth;
	uint64_t from; /* 0: not entered by a call */
	char function;
	int tid;
	bool cut;
};

static void expect(const struct step *steps, size_t n, const char *want)
{
	struct text text = { .n = 0 };
	const struct ptc_inline_calls_opts opts = { sizeof(opts), inlines, on_call, &text };
	struct ptc_inline_calls *c = ptc_inline_calls_new(&opts);
	size_t i;

	cr_assert_not_null(c);
	for (i = 0; i < n; i++) {
		const struct ptc_item it = { .tid = steps[i].tid };
		const struct ptc_call call = { .type = steps[i].type,
					       .depth = steps[i].depth,
					       .cut = steps[i].cut,
					       .ip = (uint64_t)steps[i].function,
					       .from = steps[i].from,
					       .item = &it };

		cr_assert_eq(ptc_inline_calls_add(c, &call), 0);
	}
	cr_assert_str_eq(text.bytes, want, "got '%s', not '%s'", text.bytes, want);
	ptc_inline_calls_free(c);
}

#define EXPECT(want, ...)                                                                          \
	do {                                                                                       \
		static const struct step steps[] = { __VA_ARGS__ };                                \
		expect(steps, sizeof(steps) / sizeof(*steps), want);                               \
	} while (0)

#define ENTER(depth, from, function)                                                               \
	{                                                                                          \
		PTC_CALL_ENTER, depth, from, function, 1, false                                    \
	}
#define LEAVE(depth, function)                                                                     \
	{                                                                                          \
		PTC_CALL_LEAVE, depth, 0, function, 1, false                                       \
	}

Test(inline_calls, a_call_without_inlined_functions_stays_as_it_is)
{
	EXPECT("0+a 1+b 1-b 0-a ", ENTER(0, 0, 'a'), ENTER(1, 0x10, 'b'), LEAVE(1, 'b'),
	       LEAVE(0, 'a'));
}

Test(inline_calls, inlined_functions_are_around_the_call)
{
	EXPECT("0+a 1+(q) 2+(p) 3+b 3-b 2-() 1-() 0-a ", ENTER(0, 0, 'a'), ENTER(1, 0x21, 'b'),
	       LEAVE(1, 'b'), LEAVE(0, 'a'));
}

Test(inline_calls, calls_from_one_inlined_function_share_its_frame)
{
	EXPECT("0+a 1+(q) 2+(p) 3+b 3-b 3+c 3-c 2-() 2+d 2-d 1-() 1+e 1-e ", ENTER(0, 0, 'a'),
	       ENTER(1, 0x21, 'b'), LEAVE(1, 'b'), ENTER(1, 0x21, 'c'), LEAVE(1, 'c'),
	       ENTER(1, 0x2, 'd'), LEAVE(1, 'd'), ENTER(1, 0x30, 'e'), LEAVE(1, 'e'));
}

Test(inline_calls, the_same_function_inlined_elsewhere_is_another_frame)
{
	EXPECT("0+a 1+(q) 2+(p) 3+b 3-b 2-() 1-() 1+(r) 2+(p) 3+b ", ENTER(0, 0, 'a'),
	       ENTER(1, 0x21, 'b'), LEAVE(1, 'b'), ENTER(1, 0x31, 'b'));
}

Test(inline_calls, each_real_function_has_its_own)
{
	EXPECT("0+a 1+(p) 2+b 3+(q) 4+c 4-c 3-() 2-b 1-() 1+d ", ENTER(0, 0, 'a'),
	       ENTER(1, 0x1, 'b'), ENTER(2, 0x2, 'c'), LEAVE(2, 'c'), LEAVE(1, 'b'),
	       ENTER(1, 0x10, 'd'));
}

Test(inline_calls, a_tail_call_stays_in_the_callers_inlined_function)
{
	EXPECT("0+a 1+(p) 2+b 3+(q) 4+c 4-c 3-() 2-b 2+d 2-d 1-() 0-a ", ENTER(0, 0, 'a'),
	       ENTER(1, 0x1, 'b'), ENTER(2, 0x2, 'c'), LEAVE(2, 'c'), LEAVE(1, 'b'),
	       ENTER(1, 0, 'd'), LEAVE(1, 'd'), LEAVE(0, 'a'));
}

Test(inline_calls, behind_a_gap_the_stack_begins_anew)
{
	EXPECT("0+a 1+(p) 2+b lost 0+c 1+(p) 2+d ", ENTER(0, 0, 'a'), ENTER(1, 0x1, 'b'),
	       { PTC_CALL_LOST, 0, 0, 0, 1, false }, ENTER(0, 0, 'c'), ENTER(1, 0x1, 'd'));
	EXPECT("0+a 1+(p) 2+b lost 0+c 0-c ", ENTER(0, 0, 'a'), ENTER(1, 0x1, 'b'),
	       { PTC_CALL_LOST, 0, 0, 0, -1, false }, ENTER(0, 0, 'c'), LEAVE(0, 'c'));
}

Test(inline_calls, threads_have_stacks_of_their_own)
{
	EXPECT("0+a 0+b 1+(p) 2+c 1+(q) 2+d 2-c 1-() 0-b 2-d 1-() 0-a ", ENTER(0, 0, 'a'),
	       { PTC_CALL_ENTER, 0, 0, 'b', 2, false }, { PTC_CALL_ENTER, 1, 0x1, 'c', 2, false },
	       ENTER(1, 0x2, 'd'), { PTC_CALL_LEAVE, 1, 0, 'c', 2, false },
	       { PTC_CALL_LEAVE, 0, 0, 'b', 2, false }, LEAVE(1, 'd'), LEAVE(0, 'a'));
}

Test(inline_calls, the_outermost_frames_are_dropped_with_their_inlined_functions)
{
	EXPECT("0+a 1+(p) 2+b 3+(q) 4+c 5+(r) 6+d 1+(s)! 2+e 2-e 1-() 0-d ", ENTER(0, 0, 'a'),
	       ENTER(1, 0x1, 'b'), ENTER(2, 0x2, 'c'), ENTER(3, 0x3, 'd'),
	       { PTC_CALL_ENTER, 1, 0x4, 'e', 1, true }, LEAVE(1, 'e'), LEAVE(0, 'd'));
	/* The last call before was inlined, and ends. */
	EXPECT("0+a 1+b 2+(p) 3+c 3-c 1-()! 1+d ", ENTER(0, 0, 'a'), ENTER(1, 0x10, 'b'),
	       ENTER(2, 0x1, 'c'), LEAVE(2, 'c'), { PTC_CALL_ENTER, 1, 0x20, 'd', 1, true });
}
