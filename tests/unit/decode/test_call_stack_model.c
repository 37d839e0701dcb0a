/* SPDX-License-Identifier: MIT */
/* Description: the calls that have not returned, like the call-stack mode of the LBR. */
#include <criterion/criterion.h>

#include "decode/lbr/call_stack_model.h"
#include "ptcap/decode.h"
#include "ptcap/kind.h"

static bool step(struct ptc_live *l, enum ptc_kind kind, uint64_t from, uint64_t to)
{
	const struct ptc_step s = { .from = from, .to = to, .kind = (uint8_t)kind };
	bool changed;

	cr_assert(ptc_live_step(l, &s, &changed));
	return changed;
}

Test(call_stack_model, calls_are_pushed_and_returns_pop)
{
	struct ptc_live l = { .n = 0 };

	cr_assert_not(step(&l, PTC_KIND_RET, 0x10, 0x20)); /* its call is in front of the trace */
	cr_assert(step(&l, PTC_KIND_CALL, 0x100, 0x200));
	cr_assert(step(&l, PTC_KIND_ICALL, 0x210, 0x300));
	cr_assert_not(step(&l, PTC_KIND_JCC, 0x310, 0x320));
	cr_assert_not(step(&l, PTC_KIND_JMP, 0x330, 0x400)); /* a tail call is no call */
	cr_assert_eq(l.n, 2);
	cr_assert_eq(l.calls[1].from, 0x210);
	cr_assert(step(&l, PTC_KIND_RET, 0x410, 0x212));
	cr_assert_eq(l.n, 1);
	cr_assert_eq(l.calls[0].to, 0x200);
	cr_assert_not(l.cut);
	ptc_live_release(&l);
}

Test(call_stack_model, calls_that_only_push_the_ip_and_those_of_the_kernel_are_none)
{
	const uint64_t kernel = UINT64_C(1) << 63;
	struct ptc_live l = { .n = 0 };

	cr_assert_not(step(&l, PTC_KIND_CALL, 0x100, 0x105));
	cr_assert_not(step(&l, PTC_KIND_CALL, kernel, kernel + 0x100));
	cr_assert_not(step(&l, PTC_KIND_SYSCALL, 0x100, kernel));
	cr_assert_not(step(&l, PTC_KIND_CALL, 0x100, 0)); /* to untraced code */
	cr_assert(step(&l, PTC_KIND_ICALL, 0x100, 0x105));
	cr_assert_not(step(&l, PTC_KIND_RET, kernel, kernel + 0x100));
	cr_assert_eq(l.n, 1);
	ptc_live_release(&l);
}

Test(call_stack_model, in_front_of_a_gap_nothing_is_known)
{
	const struct ptc_step gap = { .flags = PTC_STEP_GAP, .kind = PTC_GAP_LOST };
	struct ptc_live l = { .n = 0 };
	bool changed;

	step(&l, PTC_KIND_CALL, 0x100, 0x200);
	cr_assert(ptc_live_step(&l, &gap, &changed));
	cr_assert(changed && l.n == 1 && l.calls[0].flags == PTC_STEP_GAP);
	cr_assert_eq(l.calls[0].kind, PTC_GAP_LOST);
	cr_assert_not(step(&l, PTC_KIND_RET, 0x210, 0x105)); /* the gap stays */
	step(&l, PTC_KIND_CALL, 0x300, 0x400);
	cr_assert_eq(l.n, 2);
	ptc_live_release(&l);
}

Test(call_stack_model, of_deep_recursion_the_newest_calls_are_kept)
{
	struct ptc_live l = { .n = 0 }, copy = { .n = 0 };
	uint64_t i;

	for (i = 1; i <= (uint64_t)10 * PTC_LIVE_MAX; i++)
		step(&l, PTC_KIND_CALL, i * 16, i * 16 + 16);
	cr_assert(l.cut && l.n >= PTC_LIVE_MAX && l.n <= (size_t)2 * PTC_LIVE_MAX);
	cr_assert_eq(l.calls[l.n - 1].from, (uint64_t)10 * PTC_LIVE_MAX * 16);
	cr_assert_eq(l.calls[0].from, ((uint64_t)10 * PTC_LIVE_MAX - l.n + 1) * 16);
	cr_assert(ptc_live_copy(&copy, &l));
	for (i = 0; i < (uint64_t)10 * PTC_LIVE_MAX; i++)
		step(&l, PTC_KIND_RET, 0x10, 0x20);
	cr_assert_eq(l.n, 0);
	cr_assert_eq(copy.calls[copy.n - 1].to, (uint64_t)10 * PTC_LIVE_MAX * 16 + 16);
	ptc_live_release(&l);
	ptc_live_release(&copy);
}
