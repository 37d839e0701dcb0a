/* SPDX-License-Identifier: MIT */
/* Description: the sysfs description of a PMU is read, and each term sets the right bits. */
#include <criterion/criterion.h>
#include <string.h>

#include "capture/perf/pmu.h"
#include "lib_sysfs.h"

Test(pmu, everything_of_sysfs_is_read)
{
	struct ptc_pmu p;
	struct ptc_err err;
	char root[64];

	sysfs_make(root, sizeof(root), "intel_pt");
	cr_assert_eq(ptc_pmu_read(&p, root, "intel_pt", &err), 0);
	cr_assert_eq(p.type, 8);
	cr_assert_eq(p.nterms, 12);
	cr_assert_str_eq(p.terms[0].name, "branch"); /* sorted by name */
	cr_assert_eq(ptc_pmu_cap(&p, "mtc_periods", 0), 0x249);
	cr_assert_eq(ptc_pmu_cap(&p, "ptwrite", 7), 0);
	cr_assert_eq(ptc_pmu_cap(&p, "no_such", 7), 7);
	cr_assert_eq(p.nr_addr_filters, 2);
	cr_assert_eq(p.max_nonturbo_ratio, 34);
	cr_assert_eq(p.tsc_ctc_n, 284);
	cr_assert_eq(p.tsc_ctc_d, 2);
	sysfs_remove(root);
}

Test(pmu, one_that_is_not_there_is_named)
{
	struct ptc_pmu p;
	struct ptc_err err;

	cr_assert_eq(ptc_pmu_read(&p, "/nowhere", "intel_pt", &err), PTC_E_NOT_EXIST);
	cr_assert_not_null(strstr(err.msg, "intel_pt"));
	cr_assert_eq(ptc_pmu_read(&p, "/nowhere", "../x", &err), PTC_E_USAGE);
	cr_assert_eq(ptc_pmu_read(&p, "/nowhere", "", &err), PTC_E_USAGE);
}

Test(pmu, a_format_is_a_config_and_its_bits)
{
	static const struct {
		const char *text;
		bool ok;
		unsigned int config;
		uint64_t bits;
	} t[] = {
		{ "config:0\n", true, 0, 1 },
		{ "config:0-7,21\n", true, 0, 0x2000ff },
		{ "config1:8-15", true, 1, 0xff00 },
		{ "config2:63", true, 2, (uint64_t)1 << 63 },
		{ "config3:0-63", true, 3, UINT64_MAX },
		{ "config4:1", true, 4, 2 },
		{ "config5:1", false, 0, 0 },
		{ "config", false, 0, 0 },
		{ "config:", false, 0, 0 },
		{ "config:1-", false, 0, 0 },
		{ "config:64", false, 0, 0 },
		{ "config:7-1", false, 0, 0 },
		{ "config:1;2", false, 0, 0 },
		{ "conf:1", false, 0, 0 },
		{ "", false, 0, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		unsigned int config = 9;
		uint64_t bits = 9;

		cr_assert_eq(ptc_pmu_parse_format(t[i].text, &config, &bits), t[i].ok, "%s",
			     t[i].text);
		cr_assert_eq(config, t[i].ok ? t[i].config : 9);
		cr_assert_eq(bits, t[i].ok ? t[i].bits : 9);
	}
}

Test(pmu, a_format_that_cannot_be_read_is_told)
{
	struct ptc_pmu p;
	struct ptc_err err;
	char root[64];

	sysfs_make(root, sizeof(root), "intel_pt");
	sysfs_set(root, "intel_pt", "format/odd", "config:what\n");
	cr_assert_eq(ptc_pmu_read(&p, root, "intel_pt", &err), PTC_E_FORMAT);
	cr_assert_not_null(strstr(err.msg, "'odd'"));
	sysfs_remove(root);
}

Test(pmu, a_value_is_spread_over_its_bits)
{
	struct ptc_pmu p = { .name = "x", .nterms = 3 };
	struct perf_event_attr attr = { .config = 0xf0f, .config1 = 1 };
	struct ptc_err err;

	p.terms[0] = (struct ptc_pmu_term){ "a", 0, 0xf0 | (uint64_t)1 << 32 };
	p.terms[1] = (struct ptc_pmu_term){ "b", 1, 0x3 };
	p.terms[2] = (struct ptc_pmu_term){ "c", 3, UINT64_MAX };
	cr_assert_eq(ptc_pmu_set(&p, "a", 0x15, &attr, &err), 0);
	cr_assert_eq(attr.config, 0xf5f | (uint64_t)1 << 32);
	cr_assert_eq(ptc_pmu_set(&p, "b", 2, &attr, &err), 0);
	cr_assert_eq(attr.config1, 2, "the old value goes");
	cr_assert_eq(ptc_pmu_set(&p, "b", 4, &attr, &err), PTC_E_USAGE);
	cr_assert_eq(attr.config1, 2);
	cr_assert_eq(ptc_pmu_set(&p, "c", UINT64_MAX, &attr, &err), 0);
	cr_assert_eq(attr.config3, UINT64_MAX);
	cr_assert_eq(ptc_pmu_set(&p, "d", 1, &attr, &err), PTC_E_USAGE);
	cr_assert_not_null(strstr(err.msg, "has no 'd'; it has a, b, c"), "%s", err.msg);
}
