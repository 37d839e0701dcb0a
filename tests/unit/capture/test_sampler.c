/* SPDX-License-Identifier: MIT */
/* Description: which events can sample which trace (--aux-sample). */
#include <criterion/criterion.h>
#include <string.h>

#include "capture/perf/sampler.h"
#include "lib_sysfs.h"

static char root[64];

static void make(void)
{
	sysfs_make(root, sizeof(root), "intel_pt");
}

static void away(void)
{
	sysfs_remove(root);
}

static struct ptc_event event(const char *text)
{
	static const struct ptc_event_base plain = { false, 0 };
	struct ptc_event e;
	struct ptc_err err;

	cr_assert_eq(ptc_event_parse(&e, text, &plain, root, &err), 0, "%s", err.msg);
	return e;
}

static int parse(const struct ptc_record_opts *o, const char *tracer, struct ptc_event *ret,
		 struct ptc_err *err)
{
	const struct ptc_event t = event(tracer);

	return ptc_sampler_parse(ret, o, &t, root, err);
}

static void refused(const struct ptc_record_opts *o, const char *tracer, const char *word)
{
	struct ptc_event e;
	struct ptc_err err;

	cr_assert_eq(parse(o, tracer, &e, &err), PTC_E_USAGE);
	cr_assert_not_null(strstr(err.msg, word), "%s", err.msg);
}

Test(sampler, the_default_is_the_clock, .init = make, .fini = away)
{
	const struct ptc_record_opts o = { .lbr.aux_sample = 4096 };
	struct ptc_event e;
	struct ptc_err err;

	cr_assert_eq(parse(&o, "intel_pt//u", &e, &err), 0, "%s", err.msg);
	cr_assert_eq(e.attr.type, PERF_TYPE_SOFTWARE);
	cr_assert_eq(e.attr.config, PERF_COUNT_SW_CPU_CLOCK);
	cr_assert(e.attr.exclude_kernel);
	cr_assert_eq(e.attr.sample_period, 250000);
	cr_assert_eq(e.attr.aux_sample_size, 4096);
}

Test(sampler, its_period_can_be_told, .init = make, .fini = away)
{
	const struct ptc_record_opts o = { .lbr.aux_sample = 8,
					   .lbr.sampler = "page-faults",
					   .lbr.period = 7 };
	struct ptc_event e;
	struct ptc_err err;

	cr_assert_eq(parse(&o, "intel_pt//u", &e, &err), 0, "%s", err.msg);
	cr_assert_eq(e.attr.config, PERF_COUNT_SW_PAGE_FAULTS);
	cr_assert_eq(e.attr.sample_period, 7);
}

Test(sampler, a_size_is_rounded_up_to_what_the_kernel_copies, .init = make, .fini = away)
{
	struct ptc_record_opts o = { .lbr.aux_sample = 1 };
	struct ptc_event e;
	struct ptc_err err;

	cr_assert_eq(parse(&o, "intel_pt//u", &e, &err), 0, "%s", err.msg);
	cr_assert_eq(e.attr.aux_sample_size, 8);
	o.lbr.aux_sample = PTC_AUX_SAMPLE_MAX;
	cr_assert_eq(parse(&o, "intel_pt//u", &e, &err), 0, "%s", err.msg);
	cr_assert_eq(e.attr.aux_sample_size, PTC_AUX_SAMPLE_MAX);
}

Test(sampler, what_does_not_fit_a_record_is_refused, .init = make, .fini = away)
{
	const struct ptc_record_opts o = { .lbr.aux_sample = PTC_AUX_SAMPLE_MAX + 1 };

	refused(&o, "intel_pt//u", "61441");
}

Test(sampler, there_must_be_a_trace_and_an_event_that_samples, .init = make, .fini = away)
{
	const struct ptc_record_opts clock = { .lbr.aux_sample = 8 };
	const struct ptc_record_opts pt = { .lbr.aux_sample = 8, .lbr.sampler = "intel_pt//u" };
	const struct ptc_record_opts dummy = { .lbr.aux_sample = 8, .lbr.sampler = "dummy:u" };

	refused(&clock, "cpu-clock:u", "needs a trace");
	refused(&pt, "intel_pt//u", "does not support samples");
	refused(&dummy, "intel_pt//u", "does not support samples");
}

Test(sampler, one_ring_does_not_give_snapshots_as_well, .init = make, .fini = away)
{
	const struct ptc_record_opts o = { .lbr.aux_sample = 8, .snapshot.enabled = true };

	refused(&o, "intel_pt//u", "snapshots cannot be combined with AUX samples");
}

Test(sampler, its_ring_is_the_smallest_that_holds_a_sample)
{
	cr_assert_eq(ptc_sampler_ring(1), 8192);
	cr_assert_eq(ptc_sampler_ring(8192), 8192);
	cr_assert_eq(ptc_sampler_ring(8193), 16384);
	cr_assert_eq(ptc_sampler_ring(PTC_AUX_SAMPLE_MAX), 65536);
}

Test(sampler, branch_stacks_are_of_the_cpus_own_counters, .init = make, .fini = away)
{
	const struct ptc_record_opts lbr = { .lbr.branches = 9 };
	const struct ptc_record_opts clock = { .lbr.branches = 9, .lbr.sampler = "cpu-clock:u" };
	const struct ptc_record_opts branches = { .lbr.branches = 9,
						  .lbr.sampler = "branches:pp",
						  .lbr.period = 7 };
	struct ptc_event e;
	struct ptc_err err;

	cr_assert_eq(parse(&lbr, "intel_pt//u", &e, &err), 0, "%s", err.msg);
	cr_assert(e.attr.type == PERF_TYPE_HARDWARE && e.attr.config == PERF_COUNT_HW_CPU_CYCLES);
	cr_assert(e.attr.exclude_kernel && e.attr.branch_sample_type == 9);
	cr_assert_eq(parse(&branches, "intel_pt//u", &e, &err), 0, "%s", err.msg);
	cr_assert_eq(e.attr.config, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	cr_assert(e.attr.precise_ip == 2 && !e.attr.freq && e.attr.sample_period == 7);
	refused(&clock, "intel_pt//u", "cycles:u");
	refused(&lbr, "dummy:u", "perf record -j");
	refused(&(struct ptc_record_opts){ .lbr.branches = 9, .lbr.sampler = "intel_pt//u" },
		"intel_pt//u", "branch stacks");
}
