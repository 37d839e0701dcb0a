/* SPDX-License-Identifier: MIT */
/* Description: which branches of a trace a branch stack with a given filter contains. */
#include <criterion/criterion.h>

#include "ptcap/branchsel.h"
#include "ptcap/kind.h"

#define KERNEL_IP UINT64_C(0xffffffff81000000)

static uint32_t kinds_of(uint64_t sel)
{
	uint32_t kinds = 0;
	unsigned int k;

	for (k = 0; k < PTC_KIND_COUNT; k++)
		kinds |= (uint32_t)ptc_branchsel_wants(sel, (uint8_t)k, 0x1000) << k;
	return kinds;
}

static uint64_t parse(const char *s)
{
	uint64_t sel;

	cr_assert(ptc_branchsel_parse(s, &sel), "%s", s);
	return sel;
}

Test(branchsel, classes_add_up)
{
	const uint32_t all = (1u << PTC_KIND_COUNT) - 1;
	const uint32_t returns = 1u << PTC_KIND_RET | 1u << PTC_KIND_SYSRET | 1u << PTC_KIND_IRET;

	cr_assert_eq(kinds_of(parse("any,u")), all);
	cr_assert_eq(kinds_of(parse("u")), all);
	cr_assert_eq(kinds_of(parse("any_ret,u")), returns);
	cr_assert_eq(kinds_of(parse("any_ret,cond,u")), returns | 1u << PTC_KIND_JCC);
	cr_assert_eq(kinds_of(parse("ind_call,u")), 1u << PTC_KIND_ICALL);
	cr_assert_eq(kinds_of(parse("ind_jmp,u")), 1u << PTC_KIND_IJMP);
	cr_assert_eq(kinds_of(parse("call,u")), 1u << PTC_KIND_CALL);
	cr_assert(kinds_of(parse("any_call,u")) & 1u << PTC_KIND_ASYNC);
	cr_assert_not(kinds_of(parse("any_call,u")) & 1u << PTC_KIND_JCC);
}

Test(branchsel, a_transfer_is_of_the_level_it_leads_to)
{
	cr_assert(ptc_branchsel_wants(parse("any,u"), PTC_KIND_SYSRET, 0x1000));
	cr_assert_not(ptc_branchsel_wants(parse("any,u"), PTC_KIND_SYSCALL, KERNEL_IP));
	cr_assert(ptc_branchsel_wants(parse("any,k"), PTC_KIND_SYSCALL, KERNEL_IP));
	cr_assert(ptc_branchsel_wants(parse("any,u,k"), PTC_KIND_SYSCALL, KERNEL_IP));
}

Test(branchsel, levels_left_open_are_the_events_own)
{
	struct perf_event_attr attr = { .branch_sample_type = PERF_SAMPLE_BRANCH_ANY,
					.exclude_kernel = 1 };

	cr_assert_eq(ptc_branchsel_of(&attr), PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER);
	attr.branch_sample_type |= PERF_SAMPLE_BRANCH_KERNEL;
	cr_assert_eq(ptc_branchsel_of(&attr), PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL);
}

Test(branchsel, words_are_whole)
{
	static const char *const bad[] = { "", "an", "anyx", "any,", ",any", "any,,u", "any u" };
	uint64_t sel = 7;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_assert_not(ptc_branchsel_parse(bad[i], &sel), "%s", bad[i]);
	cr_assert_eq(sel, 7);
	cr_assert_eq(parse("save_type") & PERF_SAMPLE_BRANCH_ANY, PERF_SAMPLE_BRANCH_ANY);
}

Test(branchsel, every_word_of_perf_is_a_bit)
{
	static const struct {
		const char *word;
		uint64_t bit;
	} words[] = {
		{ "hv", PERF_SAMPLE_BRANCH_HV },
		{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
		{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
		{ "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
		{ "priv", PERF_SAMPLE_BRANCH_PRIV_SAVE },
		{ "hw_index", PERF_SAMPLE_BRANCH_HW_INDEX },
		{ "no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS },
		{ "no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES },
		{ "counter", PERF_SAMPLE_BRANCH_COUNTERS },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const uint64_t sel = parse(words[i].word);

		cr_assert(sel & words[i].bit, "%s", words[i].word);
		cr_assert_eq(!(sel & PERF_SAMPLE_BRANCH_ANY),
			     words[i].bit == PERF_SAMPLE_BRANCH_ABORT_TX, "%s", words[i].word);
	}
	cr_assert_eq(kinds_of(parse("abort_tx,u")), 0);
}

Test(branchsel, a_call_stack_has_no_other_class)
{
	const uint32_t frames = 1u << PTC_KIND_CALL | 1u << PTC_KIND_ICALL | 1u << PTC_KIND_RET;
	uint64_t sel;

	cr_assert_eq(parse("stack,u"), PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER);
	cr_assert_eq(parse("call_stack,u"), parse("stack,u"));
	cr_assert_eq(kinds_of(parse("stack,u,no_flags")), frames);
	cr_assert_not(ptc_branchsel_parse("any,stack", &sel));
	cr_assert_not(ptc_branchsel_parse("call_stack,any_call,u", &sel));
}

Test(branchsel, types_are_those_that_kernels_agree_about)
{
	cr_assert_eq(ptc_branchsel_type(PTC_KIND_JCC), PERF_BR_COND);
	cr_assert_eq(ptc_branchsel_type(PTC_KIND_SYSRET), PERF_BR_SYSRET);
	cr_assert_eq(ptc_branchsel_type(PTC_KIND_ASYNC), PERF_BR_UNKNOWN);
	cr_assert_eq(ptc_branchsel_type(PTC_KIND_COUNT), PERF_BR_UNKNOWN);
}
