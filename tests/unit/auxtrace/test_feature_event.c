/* SPDX-License-Identifier: MIT */
/* Description: event groups, PMUs and PMU capabilities are read as they were written. */
#include <criterion/criterion.h>
#include <string.h>

#include "auxtrace/feature/feature.h"

static struct ptc_err err;

static struct ptc_feature_iter open_all(enum ptc_feature bit, const struct ptc_buf *b)
{
	struct ptc_feature_iter it;

	cr_assert_eq(ptc_feature_open(bit, ptc_cur_init(b->bytes, b->len), 0, &it, &err), 0);
	return it;
}

Test(feature_event, groups_and_pmus_come_back)
{
	const struct ptc_group_desc groups[] = { { "{anon_group}", 0, 2 }, { "g", 2, 3 } };
	const struct ptc_pmu_mapping pmus[] = { { 8, "intel_pt" }, { 1, "software" } };
	struct ptc_feature_iter it;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_pmu_mapping m;
	struct ptc_group_desc g;
	size_t i;

	ptc_feature_put_groups(&b, groups, 2);
	it = open_all(PTC_FEAT_GROUP_DESC, &b);
	for (i = 0; i < 2; i++) {
		cr_assert_eq(ptc_feature_next_group(&it, &g, &err), 1);
		cr_assert(!strcmp(g.name, groups[i].name) && g.leader == groups[i].leader &&
			  g.members == groups[i].members);
	}
	cr_assert_eq(ptc_feature_next_group(&it, &g, &err), 0);

	ptc_buf_reset(&b);
	ptc_feature_put_pmu_mappings(&b, pmus, 2);
	it = open_all(PTC_FEAT_PMU_MAPPINGS, &b);
	for (i = 0; i < 2; i++) {
		cr_assert_eq(ptc_feature_next_pmu_mapping(&it, &m, &err), 1);
		cr_assert(m.type == pmus[i].type && !strcmp(m.name, pmus[i].name));
	}
	cr_assert_eq(ptc_feature_next_pmu_mapping(&it, &m, &err), 0);
	ptc_buf_release(&b);
}

Test(feature_event, capabilities_stand_before_their_pmus_name)
{
	const struct ptc_pmu_cap caps[] = { { "branches", "32" }, { "pmu_name", "icelake" } };
	const struct ptc_pmu_caps_desc pmus[] = { { "none", caps, 0 },
						  { "one", caps, 1 },
						  { "cpu_core", caps, 2 } };
	struct ptc_feature_iter it;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_pmu_caps p;
	struct ptc_pmu_cap c;
	size_t i, j;

	ptc_feature_put_cpu_pmu_caps(&b, caps, 2);
	it = open_all(PTC_FEAT_CPU_PMU_CAPS, &b);
	cr_assert_eq(ptc_feature_next_pmu_cap(&it, &c, &err), 1);
	cr_assert(!strcmp(c.name, "branches") && !strcmp(c.value, "32"));

	ptc_buf_reset(&b);
	ptc_feature_put_pmu_caps(&b, pmus, 3);
	it = open_all(PTC_FEAT_PMU_CAPS, &b);
	for (i = 0; i < 3; i++) {
		cr_assert_eq(ptc_feature_next_pmu_caps(&it, &p, &err), 1);
		cr_assert_str_eq(p.pmu, pmus[i].pmu);
		for (j = 0; j < i; j++) {
			cr_assert_eq(ptc_feature_next_pmu_cap(&p.caps, &c, &err), 1);
			cr_assert(!strcmp(c.name, caps[j].name) && !strcmp(c.value, caps[j].value));
		}
		cr_assert_eq(ptc_feature_next_pmu_cap(&p.caps, &c, &err), 0);
	}
	cr_assert_eq(ptc_feature_next_pmu_caps(&it, &p, &err), 0);
	cr_assert_eq(ptc_cur_left(&it.cur), 0);
	ptc_buf_release(&b);
}
