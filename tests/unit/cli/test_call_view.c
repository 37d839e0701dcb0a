/* SPDX-License-Identifier: MIT */
/* Description: the selected calls of a stack that is too deep, and of a decode without memory. */
#include <criterion/criterion.h>

#include "cli/decode/call_view.h"
#include "cli/decode/out_calls.h"

enum { DEPTH_MAX = 1 << 16, HALF = DEPTH_MAX / 2 };

struct seen {
	uint64_t entries, ends;
	uint32_t indent; /* of the last one */
};

static int count_seen(void *ctx, const struct ptc_shown_call *call)
{
	struct seen *s = ctx;

	s->entries += call->type == PTC_CALL_ENTER;
	s->ends += call->type == PTC_CALL_LEAVE;
	s->indent = call->indent;
	return 0;
}

static struct ptc_call_view view(struct seen *s, const char *sym, uint64_t min)
{
	return (struct ptc_call_view){ .choice = { .sym = sym, .min = min },
				       .sink = { count_seen, s } };
}

static void enter(struct ptc_call_view *v, uint32_t depth, bool is_chosen, bool cut)
{
	const struct ptc_shown_call c = { .type = PTC_CALL_ENTER,
					  .depth = depth,
					  .indent = depth,
					  .tid = 1,
					  .is_chosen = is_chosen,
					  .cut = cut,
					  .name = "f",
					  .times = 1 };

	cr_assert_eq(ptc_call_view_add(v, &c), 0);
}

static void leave(struct ptc_call_view *v, uint32_t depth, uint64_t now)
{
	const struct ptc_shown_call c = {
		.type = PTC_CALL_LEAVE, .depth = depth, .tid = 1, .insns = now, .times = 1
	};

	cr_assert_eq(ptc_call_view_add(v, &c), 0);
}

/* Enters one call more than a stack has. The call at depth @root is the chosen one. */
static void enter_too_many(struct ptc_call_view *v, uint32_t root)
{
	uint32_t i;

	for (i = 0; i < DEPTH_MAX; i++)
		enter(v, i, i == root, false);
	enter(v, HALF, false, true);
}

Test(call_view, calls_of_a_function_whose_depth_falls_are_shown)
{
	const uint32_t root = HALF + 100;
	struct seen s = { 0 };
	struct ptc_call_view v = view(&s, "f", 0);
	uint32_t i;

	enter_too_many(&v, root);
	cr_assert_eq(s.entries, DEPTH_MAX - root + 1);
	cr_assert_eq(s.indent, HALF - 100);
	for (i = HALF + 1; i--;)
		leave(&v, i, 0);
	cr_assert_eq(s.ends, s.entries, "%lu ends", (unsigned long)s.ends);
	cr_assert_eq(s.indent, 0);
	ptc_call_view_release(&v);
}

Test(call_view, calls_of_a_function_that_was_dropped_are_shown)
{
	struct seen s = { 0 };
	struct ptc_call_view v = view(&s, "f", 0);
	uint32_t i;

	enter_too_many(&v, 10);
	enter(&v, HALF + 1, false, false);
	cr_assert_eq(s.entries, DEPTH_MAX - 10 + 2);
	cr_assert_eq(s.indent, HALF + 1);
	for (i = HALF + 2; i--;)
		leave(&v, i, 0);
	cr_assert_eq(s.ends, HALF + 2);
	ptc_call_view_release(&v);
}

Test(call_view, a_long_call_whose_depth_falls_is_shown)
{
	struct seen s = { 0 };
	struct ptc_call_view v = view(&s, NULL, 1000);
	uint32_t i;

	enter_too_many(&v, 0);
	cr_assert_eq(s.entries, HALF, "the dropped calls, whose ends are not known");
	for (i = HALF + 1; i-- > HALF - 5;)
		leave(&v, i, 10);
	cr_assert(s.entries == HALF && !s.ends);
	leave(&v, HALF - 6, 2000);
	cr_assert_eq(s.entries, DEPTH_MAX - 5);
	cr_assert_eq(s.ends, 1);
	ptc_call_view_release(&v);
}

static int refuse(void *ctx, const struct ptc_shown_call *call)
{
	(void)ctx;
	(void)call;
	return PTC_E_NO_MEMORY;
}

/* At the end, a call is kept for --min, and another one for --fold. */
Test(call_view, lines_without_memory_at_the_end_are_no_success)
{
	const struct ptc_calls_form form = { .choice = { .min = 1000, .folds = true } };
	struct ptc_calls_printer p;
	int round;

	for (round = 0; round < 3; round++) {
		cr_assert_eq(ptc_calls_printer_init(&p, NULL, NULL, &form), 0);
		p.fold.sink = (struct ptc_shown_sink){ count_seen, &(struct seen){ 0 } };
		enter(&p.view, 0, false, false);
		if (round == 1)
			p.view.sink.on_call = refuse;
		if (round == 2)
			p.fold.sink.on_call = refuse;
		ptc_calls_printer_finish(&p);
		cr_assert_eq(p.failed, round != 0, "round %d", round);
	}
}
