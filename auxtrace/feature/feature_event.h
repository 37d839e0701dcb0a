/* SPDX-License-Identifier: MIT */
/* Writing the features about events and PMUs: the inverse of the parsers in ptcap/feature.h. */
#ifndef PTC_AUXTRACE_FEATURE_FEATURE_EVENT_H
#define PTC_AUXTRACE_FEATURE_FEATURE_EVENT_H

#include "auxtrace/feature/feature_base.h"
#include "ptcap/feature.h"

/* EVENT_DESC: one event. */
struct ptc_event_desc {
	const struct perf_event_attr *attr;
	const char *name;
	const uint64_t *ids;
	size_t nids;
};
void ptc_feature_put_event_desc(struct ptc_buf *b, const struct ptc_event_desc *d, size_t n);
void ptc_feature_put_groups(struct ptc_buf *b, const struct ptc_group_desc *g, size_t n);
void ptc_feature_put_pmu_mappings(struct ptc_buf *b, const struct ptc_pmu_mapping *m, size_t n);
void ptc_feature_put_cpu_pmu_caps(struct ptc_buf *b, const struct ptc_pmu_cap *caps, size_t n);
struct ptc_pmu_caps_desc {
	const char *pmu;
	const struct ptc_pmu_cap *caps;
	size_t ncaps;
};
void ptc_feature_put_pmu_caps(struct ptc_buf *b, const struct ptc_pmu_caps_desc *d, size_t n);

#endif
