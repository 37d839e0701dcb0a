/* SPDX-License-Identifier: MIT */
/*
 * Description: address filters in the kernel's syntax. A filter that the kernel would refuse is
 * refused with the reason.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "capture/perf/filter.h"

static const struct ptc_addr_filter within = { PTC_FILTER_WITHIN, "/bin/true", 0x1140, 0x42 };
static const struct ptc_addr_filter kernel = { PTC_FILTER_WITHIN, NULL, 0xffffffff81000000, 1 };

static struct ptc_event event(uint32_t filters, bool intel_pt)
{
	struct ptc_event e = { .name = "pmu//u", .intel_pt = intel_pt, .pmu.name = "pmu" };

	e.pmu.nr_addr_filters = filters;
	e.attr.exclude_kernel = 1;
	return e;
}

static int check(const struct ptc_record_opts *o, const struct ptc_event *e, const char *word)
{
	struct ptc_err err = { .msg = "" };
	const int rc = ptc_filter_check(o, e, &err);

	cr_expect(strstr(err.msg, word), "%s is not in: %s", word, err.msg);
	return rc;
}

Test(filter, all_are_one_text)
{
	const struct ptc_addr_filter l[] = {
		within,
		{ PTC_FILTER_STOP, "/bin/true", 0x2000, 0x10 },
		{ PTC_FILTER_START, "/bin/true", 0x3000, 0 },
		kernel,
	};
	const struct ptc_record_opts o = { .source.filters = l, .source.nfilters = 4 };
	struct ptc_err err;
	char *text;

	cr_assert_eq(ptc_filter_text(&o, &text, &err), 0);
	cr_assert_str_eq(text, "filter 0x1140/0x42@/bin/true,stop 0x2000/0x10@/bin/true,"
			       "start 0x3000@/bin/true,filter 0xffffffff81000000/0x1");
	free(text);
}

Test(filter, as_many_as_the_pmu_has)
{
	const struct ptc_addr_filter l[] = { within, within, within };
	struct ptc_record_opts o = { .source.filters = l, .source.nfilters = 2 };
	const struct ptc_event none = event(0, true), two = event(2, true);
	struct ptc_event software = event(2, false);

	software.software = true;
	cr_assert_eq(check(&o, &two, ""), 0);
	o.source.nfilters = 3;
	cr_assert_eq(check(&o, &two, "too many address filters: 3, but the PMU 'pmu' has 2"),
		     PTC_E_UNSUPPORTED);
	cr_assert_eq(check(&o, &none, "nr_addr_filters is 0"), PTC_E_UNSUPPORTED);
	cr_assert_eq(check(&o, &software, "does not support address filters"), PTC_E_UNSUPPORTED);
}

Test(filter, intel_pt_has_ranges_only)
{
	struct ptc_addr_filter f = { PTC_FILTER_START, "/bin/true", 1, 1 };
	const struct ptc_record_opts o = { .source.filters = &f, .source.nfilters = 1 };
	const struct ptc_event pt = event(1, true), other = event(1, false);

	cr_assert_eq(check(&o, &pt, "start filters"), PTC_E_UNSUPPORTED);
	cr_assert_eq(check(&o, &other, ""), 0);
	f = (struct ptc_addr_filter){ PTC_FILTER_STOP, "/bin/true", 1, 0 };
	cr_assert_eq(check(&o, &pt, "stop filters"), PTC_E_UNSUPPORTED);
	cr_assert_eq(check(&o, &other, ""), 0);
	f.size = 1;
	cr_assert_eq(check(&o, &pt, ""), 0);
	f = (struct ptc_addr_filter){ PTC_FILTER_WITHIN, "/bin/true", 1, 0 };
	cr_assert_eq(check(&o, &other, "no size"), PTC_E_USAGE);
}

Test(filter, files_are_for_tasks)
{
	struct ptc_record_opts o = { .source.filters = &within,
				     .source.nfilters = 1,
				     .target.all_cpus = true };
	const struct ptc_event e = event(1, true);

	cr_assert_eq(check(&o, &e, "does not filter CPUs or a cgroup"), PTC_E_USAGE);
	o.target.all_cpus = false;
	o.target.cpus = "0";
	cr_assert_eq(check(&o, &e, "does not filter CPUs or a cgroup"), PTC_E_USAGE);
	o.target.cpus = NULL;
	o.target.cgroup = "a";
	cr_assert_eq(check(&o, &e, "does not filter CPUs or a cgroup"), PTC_E_USAGE);
	o.target.cgroup = NULL;
	cr_assert_eq(check(&o, &e, ""), 0);
}

Test(filter, a_name_that_would_be_parted_is_refused)
{
	struct ptc_addr_filter f = within;
	const struct ptc_record_opts o = { .source.filters = &f, .source.nfilters = 1 };
	const struct ptc_event e = event(1, true);

	f.file = "/tmp/a b";
	cr_assert_eq(check(&o, &e, "'/tmp/a b'"), PTC_E_USAGE);
	f.file = "/tmp/a,b";
	cr_assert_eq(check(&o, &e, "'/tmp/a,b'"), PTC_E_USAGE);
}

Test(filter, code_of_the_kernel_needs_an_event_that_has_it)
{
	struct ptc_record_opts o = { .source.filters = &kernel,
				     .source.nfilters = 1,
				     .target.all_cpus = true };
	struct ptc_event e = event(1, true);

	cr_assert(ptc_filter_kernel(&o));
	cr_assert_eq(check(&o, &e, "-e pmu//k"), PTC_E_USAGE);
	e.attr.exclude_kernel = 0;
	cr_assert_eq(check(&o, &e, ""), 0);
	o.source.filters = &within;
	cr_assert(!ptc_filter_kernel(&o));
}
