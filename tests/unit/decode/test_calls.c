/* SPDX-License-Identifier: MIT */
/* Description: branches become calls and their ends, also if the flow returns in another way. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ptcap/calls.h"

/* Functions are 0x100 apart and called a, b, c ...; below 0x1000 nothing is known. */
static uint64_t function(void *ctx, const struct ptc_item *item, uint64_t ip)
{
	(void)ctx;
	(void)item;
	return ip < 0x1000 ? 0 : ip & ~(uint64_t)0xff;
}

/* The other functions have no names that matter. */
enum { RESUMES = 0x2400, RAISES = 0x2500, COLD = 0x2600 };

static const char *name(void *ctx, const struct ptc_item *item, uint64_t ip)
{
	switch (function(ctx, item, ip)) {
	case RESUMES:
		return "_Unwind_Resume";
	case RAISES:
		return "_Unwind_RaiseException";
	case COLD:
		return "b(int) [clone .cold]";
	default:
		return NULL;
	}
}

static char name_of(uint64_t ip)
{
	return (char)(ip < 0x1000 ? '?' : 'a' + (ip - 0x1000) / 0x100);
}

struct text {
	char bytes[1024];
	size_t n;
};

/*
 * "+a": a was entered, "-a": a was left. how: nothing, trace, return, jump, signal, unwinding,
 * inlining, gap, end.
 */
static int on_call(void *ctx, const struct ptc_call *call)
{
	static const char hows[] = { 0, 't', 'r', 'j', 's', 'u', 'i', 'g', 'e' };
	struct text *t = ctx;

	if (call->type == PTC_CALL_LOST)
		t->n += (size_t)snprintf(t->bytes + t->n, sizeof(t->bytes) - t->n, "lost ");
	else
		t->n += (size_t)snprintf(t->bytes + t->n, sizeof(t->bytes) - t->n, "%u%c%c%.1s ",
					 call->depth, call->type == PTC_CALL_ENTER ? '+' : '-',
					 name_of(call->ip),
					 hows[call->how] ? &hows[call->how] : "");
	return t->n > sizeof(t->bytes) - 64;
}

struct step {
	enum ptc_kind kind; /* NONE: a gap */
	uint64_t from, to;
};

static void expect(const struct step *steps, size_t n, const char *want)
{
	struct text text = { .n = 0 };
	const struct ptc_calls_opts opts = { .size = sizeof(opts),
					     .function = function,
					     .on_call = on_call,
					     .ctx = &text,
					     .name = name };
	struct ptc_calls *c = ptc_calls_new(&opts);
	size_t i;

	cr_assert_not_null(c);
	for (i = 0; i < n; i++) {
		const struct ptc_item it = { .from = steps[i].from,
					     .to = steps[i].to,
					     .tid = 1,
					     .type = steps[i].kind ? PTC_ITEM_BRANCH : PTC_ITEM_GAP,
					     .kind = (uint8_t)steps[i].kind,
					     .flags = steps[i].kind == PTC_KIND_ICALL &&
								      !steps[i].to ?
							      PTC_ITEM_TO_ZERO :
							      0,
					     .insn_len = 5 };

		cr_assert_eq(ptc_calls_item(c, &it), 0);
	}
	cr_assert_str_eq(text.bytes, want, "got '%s', not '%s'", text.bytes, want);
	ptc_calls_free(c);
}

#define EXPECT(want, ...)                                                                          \
	do {                                                                                       \
		static const struct step steps[] = { __VA_ARGS__ };                                \
		expect(steps, sizeof(steps) / sizeof(*steps), want);                               \
	} while (0)

#define START(to)                                                                                  \
	{                                                                                          \
		PTC_KIND_START, 0, to                                                              \
	}
#define CALL(from, to)                                                                             \
	{                                                                                          \
		PTC_KIND_CALL, from, to                                                            \
	}
#define RET(from, to)                                                                              \
	{                                                                                          \
		PTC_KIND_RET, from, to                                                             \
	}
#define IJMP(from, to)                                                                             \
	{                                                                                          \
		PTC_KIND_IJMP, from, to                                                            \
	}
#define JCC(from, to)                                                                              \
	{                                                                                          \
		PTC_KIND_JCC, from, to                                                             \
	}
#define CALLS_KERNEL(from)                                                                         \
	{                                                                                          \
		PTC_KIND_SYSCALL, from, 0                                                          \
	}
#define ASYNC(from)                                                                                \
	{                                                                                          \
		PTC_KIND_ASYNC, from, 0                                                            \
	}
#define GAP                                                                                        \
	{                                                                                          \
		PTC_KIND_NONE, 0, 8                                                                \
	}

Test(calls, what_is_called_returns)
{
	EXPECT("0+at 1+b 2+c 2-c 1-b 1+b 1-b ", START(0x1010), CALL(0x1010, 0x1100),
	       JCC(0x1100, 0x1120), CALL(0x1120, 0x1200), RET(0x1210, 0x1125), RET(0x1130, 0x1015),
	       CALL(0x1020, 0x1100), RET(0x1105, 0x1025));
}

Test(calls, a_call_to_the_next_instruction_is_none)
{
	EXPECT("0+at ", START(0x1010), CALL(0x1010, 0x1015));
}

Test(calls, recursion_returns_one_by_one)
{
	EXPECT("0+at 1+b 2+b 2-b 1-b ", START(0x1000), CALL(0x1000, 0x1100), CALL(0x1110, 0x1100),
	       RET(0x1120, 0x1115), RET(0x1120, 0x1005));
}

Test(calls, a_tail_call_takes_the_place_of_its_caller)
{
	EXPECT("0+at 1+b 1-bj 1+cj 1-c ", START(0x1000), CALL(0x1000, 0x1100), IJMP(0x1110, 0x1200),
	       RET(0x1210, 0x1005));
	EXPECT("0+at 1+b 1-bj 1+cj 1-c ", START(0x1000), CALL(0x1000, 0x1100), JCC(0x1110, 0x1200),
	       RET(0x1210, 0x1005));
}

Test(calls, longjmp_leaves_everything_above_its_setjmp)
{
	EXPECT("0+at 1+b 2+c 3+d 3-du 2-cu 1-b ", START(0x1000), CALL(0x1000, 0x1100),
	       CALL(0x1110, 0x1200), CALL(0x1210, 0x1300), IJMP(0x1310, 0x1115),
	       RET(0x1120, 0x1005));
}

Test(calls, an_unwinder_that_returns_into_a_landing_pad)
{
	EXPECT("0+at 1+b 2+c 3+d 3-du 2-cu 1-b ", START(0x1000), CALL(0x1000, 0x1100),
	       CALL(0x1110, 0x1200), CALL(0x1210, 0x1300), RET(0x1310, 0x1180),
	       RET(0x1190, 0x1005));
}

Test(calls, resumed_unwinding_leaves_the_call_that_resumed_it)
{
	/* b has called itself twice. The landing pad is in b, in a part of b, or has no name. */
	EXPECT("0+at 1+b 2+b 3+b 4+u 4-uu 3-bu 2-b ", START(0x1000), CALL(0x1000, 0x1100),
	       CALL(0x1110, 0x1100), CALL(0x1110, 0x1100), CALL(0x1120, RESUMES),
	       IJMP(RESUMES + 16, 0x1180), RET(0x1190, 0x1115));
	EXPECT("0+at 1+b 2+b 3+b 4+u 4-uu 3-bu 2-b ", START(0x1000), CALL(0x1000, 0x1100),
	       CALL(0x1110, 0x1100), CALL(0x1110, 0x1100), CALL(0x1120, RESUMES),
	       RET(RESUMES + 16, COLD + 8), RET(COLD + 16, 0x1115));
	EXPECT("0+at 1+b 2+b 3+u 3-uu 2-bu 1-b ", START(0x1000), CALL(0x1000, 0x1100),
	       CALL(0x1110, 0x1100), CALL(0x1120, RESUMES), IJMP(RESUMES + 16, 0x20),
	       RET(0x30, 0x1005));
	/* a caller further out */
	EXPECT("0+at 1+b 2+c 3+d 4+u 4-uu 3-du 2-cu 1-b ", START(0x1000), CALL(0x1000, 0x1100),
	       CALL(0x1110, 0x1200), CALL(0x1210, 0x1300), CALL(0x1310, RESUMES),
	       IJMP(RESUMES + 16, 0x1180), RET(0x1190, 0x1005));
}

Test(calls, an_exception_is_caught_in_a_call_before_the_trace)
{
	EXPECT("0+ct 1+v 1-vu 0-cu 0+dr 1+b ", START(0x1210), CALL(0x1210, RAISES),
	       IJMP(RAISES + 16, 0x1380), CALL(0x1390, 0x1100));
	/* The first call is known, so the landing pad is in a part of a known function. */
	EXPECT("0+ct 1+v ", START(0x1200), CALL(0x1210, RAISES), IJMP(RAISES + 16, 0x1380));
	EXPECT("0+ct 1+v ", START(0x1210), CALL(0x1210, RAISES), IJMP(RAISES + 16, COLD + 8));
}

Test(calls, a_retpoline_is_a_jump)
{
	/* a calls the thunk b. Its inner call c never returns: it "returns" to d */
	EXPECT("0+at 1+b 2+b 2-bj 2+dj 2-du 1-b ", START(0x1000), CALL(0x1000, 0x1100),
	       CALL(0x1100, 0x1110), RET(0x1114, 0x1300), RET(0x1310, 0x1005));
}

Test(calls, a_signal_handler_comes_in_between_and_ends_with_sigreturn)
{
	EXPECT("0+at 1+bs 2+c 2-c 1-bs 1+d 1-d ", START(0x1000), ASYNC(0x1010), START(0x1100),
	       CALL(0x1100, 0x1200), RET(0x1210, 0x1105), RET(0x1110, 0x1800), CALLS_KERNEL(0x1807),
	       START(0x1010), CALL(0x1020, 0x1300), RET(0x1310, 0x1025));
	/* on the way back from a system call */
	EXPECT("0+at 1+bs 1-bs ", START(0x1000), CALLS_KERNEL(0x1010), START(0x1100),
	       RET(0x1110, 0x1800), CALLS_KERNEL(0x1807), START(0x1015));
}

Test(calls, a_handler_changes_where_its_program_goes_on)
{
	/* It inserts a call of d, which returns to the interrupted address. */
	EXPECT("0+at 1+bs 1-bs 1+ds 1-d ", START(0x1000), ASYNC(0x1010), START(0x1100),
	       RET(0x1110, 0x1800), CALLS_KERNEL(0x1807), START(0x1300), RET(0x1310, 0x1010));
	/* It goes on in the same function. */
	EXPECT("0+at 1+bs 1-bs 1+d ", START(0x1000), ASYNC(0x1010), START(0x1100),
	       RET(0x1110, 0x1800), CALLS_KERNEL(0x1807), START(0x1050), CALL(0x1060, 0x1300));
	/* Another signal was pending: its handler d comes before the interrupted address. */
	EXPECT("0+at 1+bs 1-bs 1+ds 1-ds 1+c ", START(0x1000), ASYNC(0x1010), START(0x1100),
	       RET(0x1110, 0x1800), CALLS_KERNEL(0x1807), START(0x1300), RET(0x1310, 0x1800),
	       CALLS_KERNEL(0x1807), START(0x1010), CALL(0x1020, 0x1200));
}

Test(calls, interrupts_and_restarted_calls_are_nothing)
{
	EXPECT("0+at ", START(0x1000), ASYNC(0x1010), START(0x1010), CALLS_KERNEL(0x1020),
	       START(0x1025), CALLS_KERNEL(0x1030), START(0x1030));
}

Test(calls, what_an_address_filter_leaves_out_returns)
{
	/* functions called by b, and the caller of b */
	EXPECT("0+bt 1+c 1-c ", START(0x1100), CALL(0x1110, 0x1200), START(0x1115));
	EXPECT("0+bt 0-br 0+ar 1+bt 1-bu ", START(0x1100), RET(0x1110, 0x1010), START(0x1100),
	       RET(0x1110, 0x1020));
}

Test(calls, what_was_called_before_the_trace)
{
	EXPECT("0+ct 0-cr 0+br 1+d 1-d 0-br 0+ar ", START(0x1210), RET(0x1220, 0x1110),
	       CALL(0x1120, 0x1300), RET(0x1310, 0x1125), RET(0x1130, 0x1010));
}

Test(calls, a_gap_forgets_the_stack)
{
	EXPECT("0+at 1+b lost 0+ct 1+d ", START(0x1000), CALL(0x1000, 0x1100), GAP,
	       CALL(0x1210, 0x1300));
	EXPECT("0+at 1+b lost 0+ct ", START(0x1000), CALL(0x1000, 0x1100), GAP, START(0x1210));
}

Test(calls, code_without_names)
{
	EXPECT("0+?t 1+? 1-? ", START(0x10), CALL(0x10, 0x100), IJMP(0x110, 0x200),
	       RET(0x210, 0x15));
}

Test(calls, a_very_deep_stack_forgets_its_outermost_half)
{
	struct text text = { .n = 0 };
	const struct ptc_calls_opts opts = { .size = sizeof(opts),
					     .function = function,
					     .on_call = on_call,
					     .ctx = &text,
					     .name = name };
	struct ptc_calls *c = ptc_calls_new(&opts);
	struct ptc_item it = { .tid = 1, .type = PTC_ITEM_BRANCH, .insn_len = 5 };
	unsigned int i;

	it.kind = PTC_KIND_CALL;
	for (i = 0; i < 3u << 16; i++) {
		it.from = 0x1110;
		it.to = 0x1100;
		text.n = 0;
		cr_assert_eq(ptc_calls_item(c, &it), 0);
	}
	it.kind = PTC_KIND_RET;
	it.to = 0x1115;
	text.n = 0;
	cr_assert_eq(ptc_calls_item(c, &it), 0);
	cr_assert(strstr(text.bytes, "-b"));
	ptc_calls_free(c);
}

static uint64_t life(void *ctx, const struct ptc_item *item)
{
	(void)ctx;
	return item->time < 10 ? 1 : 2;
}

Test(calls, a_thread_with_the_number_of_another_one_has_a_stack_of_its_own)
{
	static const struct ptc_item items[] = {
		{ .to = 0x1000, .kind = PTC_KIND_START },
		{ .from = 0x1000, .to = 0x1100, .kind = PTC_KIND_CALL },
		{ .from = 0x1110, .kind = PTC_KIND_SYSCALL },
		{ .time = 10, .to = 0x1100, .kind = PTC_KIND_START },
		{ .time = 10, .from = 0x1120, .to = 0x1000, .kind = PTC_KIND_CALL },
	};
	struct text text = { .n = 0 };
	const struct ptc_calls_opts opts = { .size = sizeof(opts),
					     .function = function,
					     .on_call = on_call,
					     .ctx = &text,
					     .life = life,
					     .name = name };
	struct ptc_calls *c = ptc_calls_new(&opts);
	size_t i;

	for (i = 0; i < sizeof(items) / sizeof(*items); i++) {
		struct ptc_item it = items[i];

		it.type = PTC_ITEM_BRANCH;
		it.tid = 1;
		it.insn_len = 5;
		cr_assert_eq(ptc_calls_item(c, &it), 0);
	}
	cr_assert_str_eq(text.bytes, "0+at 1+b 1-bu 0-au 0+bt 1+a ", "got %s", text.bytes);
	ptc_calls_free(c);
}

/* Three threads in two queues: threads that ran last in the queue of the gap lose their stacks. */
Test(calls, a_gap_of_nobody_is_of_all_in_its_queue)
{
	struct text text = { .n = 0 };
	const struct ptc_calls_opts opts = { .size = sizeof(opts),
					     .function = function,
					     .on_call = on_call,
					     .ctx = &text,
					     .name = name };
	struct ptc_calls *c = ptc_calls_new(&opts);
	struct ptc_item it = { .type = PTC_ITEM_BRANCH, .kind = PTC_KIND_CALL, .insn_len = 5 };
	int i;

	it.from = 0x1010;
	it.to = 0x1100;
	for (i = 0; i < 3; i++) {
		it.tid = 1 + i;
		it.queue = i == 1;
		cr_assert_eq(ptc_calls_item(c, &it), 0);
	}
	text.n = 0;
	it = (struct ptc_item){ .tid = -1, .type = PTC_ITEM_GAP, .cause = PTC_GAP_SNAPSHOT };
	cr_assert_eq(ptc_calls_item(c, &it), 0);
	cr_assert_str_eq(text.bytes, "lost ");
	it = (struct ptc_item){ .type = PTC_ITEM_BRANCH, .kind = PTC_KIND_RET, .insn_len = 1 };
	it.from = 0x1110;
	it.to = 0x1015;
	for (i = 0; i < 3; i++) {
		text.n = 0;
		it.tid = 1 + i;
		it.queue = i == 1;
		cr_assert_eq(ptc_calls_item(c, &it), 0);
		cr_assert_str_eq(text.bytes, i == 1 ? "1-b " : "0+bt 0-br 0+ar ", "thread %d: %s",
				 1 + i, text.bytes);
	}
	ptc_calls_free(c);
}

Test(calls, a_call_through_a_null_pointer_is_a_call_and_its_handler_one_of_a_signal)
{
	EXPECT("0+at 1+b 2+? 3+cs ", { PTC_KIND_START, 0, 0x1000 },
	       { PTC_KIND_CALL, 0x1010, 0x1100 }, { PTC_KIND_ICALL, 0x1110, 0 },
	       { PTC_KIND_ASYNC, 0, 0 }, { PTC_KIND_START, 0, 0x1200 });
}

/* Feed @n items of thread 1 and the end, with opts.closes. */
static void expect_closed(const struct step *steps, size_t n, const char *want)
{
	struct text text = { .n = 0 };
	const struct ptc_calls_opts opts = { .size = sizeof(opts),
					     .function = function,
					     .on_call = on_call,
					     .ctx = &text,
					     .name = name,
					     .closes = true };
	struct ptc_calls *c = ptc_calls_new(&opts);
	size_t i;

	for (i = 0; i < n; i++) {
		const struct ptc_item it = { .from = steps[i].from,
					     .to = steps[i].to,
					     .tid = steps[i].kind || steps[i].to ? 1 : -1,
					     .type = steps[i].kind ? PTC_ITEM_BRANCH : PTC_ITEM_GAP,
					     .kind = (uint8_t)steps[i].kind,
					     .insn_len = 5 };

		cr_assert_eq(ptc_calls_item(c, &it), 0);
	}
	cr_assert_eq(ptc_calls_finish(c), 0);
	cr_assert_str_eq(text.bytes, want, "got '%s', not '%s'", text.bytes, want);
	ptc_calls_free(c);
}

Test(calls, with_closes_each_entry_has_its_end)
{
	static const struct step of_thread[] = {
		START(0x1000), CALL(0x1000, 0x1100), { 0, 0, 1 }, CALL(0x1210, 0x1300)
	};
	static const struct step of_queue[] = {
		START(0x1000), CALL(0x1000, 0x1100), { 0, 0, 0 }, START(0x1210)
	};

	expect_closed(of_thread, 4, "0+at 1+b 1-bg 0-ag lost 0+ct 1+d 1-de 0-ce ");
	expect_closed(of_queue, 4, "0+at 1+b 1-bg 0-ag lost 0+ct 0-ce ");
}

struct balance {
	uint32_t depth, deepest;
	unsigned int gaps;
};

static int check_balance(void *ctx, const struct ptc_call *call)
{
	struct balance *b = ctx;

	if (call->type == PTC_CALL_ENTER)
		cr_assert_eq(call->depth, b->depth++);
	else
		cr_assert_eq(call->depth, --b->depth);
	b->deepest = b->depth > b->deepest ? b->depth : b->deepest;
	b->gaps += call->how == PTC_CALL_BY_GAP;
	return 0;
}

Test(calls, with_closes_a_very_deep_stack_begins_again)
{
	struct balance b = { .depth = 0 };
	const struct ptc_calls_opts opts = { .size = sizeof(opts),
					     .function = function,
					     .on_call = check_balance,
					     .ctx = &b,
					     .closes = true };
	struct ptc_calls *c = ptc_calls_new(&opts);
	struct ptc_item it = { .tid = 1, .type = PTC_ITEM_BRANCH, .insn_len = 5 };
	unsigned int i;

	it.kind = PTC_KIND_CALL;
	it.from = 0x1110;
	it.to = 0x1100;
	for (i = 0; i < 3u << 16; i++)
		cr_assert_eq(ptc_calls_item(c, &it), 0);
	cr_assert_eq(ptc_calls_finish(c), 0);
	cr_assert_eq(b.depth, 0);
	cr_assert_eq(b.deepest, 1 << 16);
	cr_assert_eq(b.gaps, 3 << 16, "%u", b.gaps);
	ptc_calls_free(c);
}

/* The older frames end at the last item of the older life, not at the first one of the next. */
Test(calls, with_closes_frames_end_with_their_life)
{
	struct text text = { .n = 0 };
	const struct ptc_calls_opts opts = { .size = sizeof(opts),
					     .function = function,
					     .on_call = on_call,
					     .ctx = &text,
					     .life = life,
					     .closes = true };
	struct ptc_calls *c = ptc_calls_new(&opts);
	struct ptc_item it = { .tid = 1, .type = PTC_ITEM_BRANCH, .insn_len = 5 };

	it.to = 0x1000;
	it.kind = PTC_KIND_START;
	cr_assert_eq(ptc_calls_item(c, &it), 0);
	it.time = 10; /* of the next life */
	it.insns = 7;
	it.to = 0x1100;
	cr_assert_eq(ptc_calls_item(c, &it), 0);
	cr_assert_eq(ptc_calls_finish(c), 0);
	cr_assert_str_eq(text.bytes, "0+at 0-ae 0+bt 0-be ", "got %s", text.bytes);
	ptc_calls_free(c);
}

/*
 * Frames of a deep stack are found, wherever they are: 300 calls of one function after another,
 * then returns over 90 frames at once, one of them into the middle of an outer function.
 */
Test(calls, outer_frames_of_a_deep_stack_are_found)
{
	enum { FIRST = 0x10000, CALLS = 300 };
	struct balance b = { .depth = 0 };
	const struct ptc_calls_opts opts = { .size = sizeof(opts),
					     .function = function,
					     .on_call = check_balance,
					     .ctx = &b,
					     .closes = true };
	struct ptc_calls *c = ptc_calls_new(&opts);
	struct ptc_item it = { .tid = 1, .type = PTC_ITEM_BRANCH, .insn_len = 5 };
	uint64_t at;
	int round;

	it.kind = PTC_KIND_START;
	it.to = FIRST;
	cr_assert_eq(ptc_calls_item(c, &it), 0);
	for (round = 0; round < 3; round++) {
		it.kind = PTC_KIND_CALL;
		for (at = b.depth; at < CALLS; at++) {
			it.from = FIRST + (at - 1) * 0x100 + 0x10;
			it.to = FIRST + at * 0x100;
			cr_assert_eq(ptc_calls_item(c, &it), 0);
		}
		cr_assert_eq(b.depth, CALLS);
		it.kind = PTC_KIND_RET;
		/* Return to the return address in frame at - 1. */
		for (at = CALLS - 10; at >= 10; at -= 10) {
			it.to = FIRST + (at - 1) * 0x100 + 0x15;
			cr_assert_eq(ptc_calls_item(c, &it), 0);
			cr_assert_eq(b.depth, at, "%u frames, not %u", b.depth, (unsigned int)at);
			if (round == 2 && at == 200) {
				/* Return into the middle of the second outermost function. */
				it.to = FIRST + 0x142;
				cr_assert_eq(ptc_calls_item(c, &it), 0);
				cr_assert_eq(b.depth, 2, "%u", b.depth);
				break;
			}
		}
	}
	cr_assert_eq(ptc_calls_finish(c), 0);
	cr_assert_eq(b.depth, 0);
	ptc_calls_free(c);
}
