/* SPDX-License-Identifier: MIT */
/* Description: the attr of samples made from a trace fits the caller's struct, also an older one.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "ptcap/synth.h"

Test(synth_stacks, an_attr_has_the_size_of_the_caller)
{
	static const size_t sizes[] = { PERF_ATTR_SIZE_VER5,
					PERF_ATTR_SIZE_VER6,
					124,
					PERF_ATTR_SIZE_VER7,
					sizeof(struct perf_event_attr),
					256 };
	static const uint32_t wanted[] = { 112, 120, 120, 128, 128, 128 };
	uint8_t bytes[300];
	size_t i, k;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct perf_event_attr *a = (struct perf_event_attr *)(void *)bytes;

		memset(bytes, 0x5a, sizeof(bytes));
		cr_assert(ptc_synth_attr(3, 100, PERF_SAMPLE_CALLCHAIN, a, sizes[i]));
		cr_assert(a->size == wanted[i] && a->config == 3 && a->sample_period == 100);
		cr_assert(a->sample_type & PERF_SAMPLE_CALLCHAIN);
		for (k = sizes[i]; k < sizeof(bytes); k++)
			cr_assert_eq(bytes[k], 0x5a, "byte %zu with %zu", k, sizes[i]);
		for (k = sizeof(*a); k < sizes[i]; k++)
			cr_assert_eq(bytes[k], 0);
	}
}

Test(synth_stacks, an_attr_needs_a_size_and_options_too)
{
	struct ptc_synth_stacks_opts opts = PTC_SYNTH_STACKS_OPTS_INIT;
	struct perf_event_attr a = { .type = 77 };

	cr_assert_not(ptc_synth_attr(3, 100, 0, &a, PERF_ATTR_SIZE_VER4));
	cr_assert_not(ptc_synth_stacks_attr(&opts, &a, PERF_ATTR_SIZE_VER4));
	opts.size = 0;
	cr_assert_not(ptc_synth_stacks_attr(&opts, &a, sizeof(a)));
	cr_assert_eq(a.type, 77);
}

Test(synth_stacks, the_filter_excludes_the_kernel)
{
	struct ptc_synth_stacks_opts opts = PTC_SYNTH_STACKS_OPTS_INIT;
	struct perf_event_attr a;

	cr_assert(ptc_synth_stacks_attr(&opts, &a, sizeof(a)));
	cr_assert(a.exclude_kernel && a.sample_period == PTC_SYNTH_PERIOD);
	cr_assert_eq(a.branch_sample_type, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER);
	opts.sel |= PERF_SAMPLE_BRANCH_KERNEL;
	cr_assert(ptc_synth_stacks_attr(&opts, &a, sizeof(a)));
	cr_assert_not(a.exclude_kernel);
}

Test(synth_stacks, options_out_of_range_are_refused)
{
	struct ptc_synth_stacks_opts depth = PTC_SYNTH_STACKS_OPTS_INIT, period = depth,
				     sel = depth, none = depth;
	struct ptc_err err;

	depth.depth = PTC_SYNTH_DEPTH_MAX + 1;
	period.period = 0;
	sel.sel |= PERF_SAMPLE_BRANCH_IN_TX;
	none.size = 0;
	cr_assert_eq(ptc_synth_stacks_run(&depth, &err), PTC_E_USAGE);
	cr_assert_eq(ptc_synth_stacks_run(&period, &err), PTC_E_USAGE);
	cr_assert_eq(ptc_synth_stacks_run(&sel, &err), PTC_E_USAGE);
	cr_assert_eq(ptc_synth_stacks_run(&none, &err), PTC_E_USAGE);
}
