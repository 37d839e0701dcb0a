/* SPDX-License-Identifier: MIT */
/*
 * Features that tell of the events and of the PMUs. Parsing and writing as
 * feature_base.h says.
 */
#ifndef PTC_AUXTRACE_FEATURE_EVENT_H
#define PTC_AUXTRACE_FEATURE_EVENT_H

#include <linux/perf_event.h>

#include "auxtrace/feature_base.h"

/* EVENT_DESC */
struct ptc_event_desc {
	const struct perf_event_attr *attr;
	const char *name;
	const uint64_t *ids;
	size_t nids;
};
void ptc_feature_put_event_desc(struct ptc_buf *b, const struct ptc_event_desc *d, size_t n);

/* Reading it: an iterator over a section, whose bytes must outlive it. */
struct ptc_event_desc_iter {
	struct ptc_cur cur;
	uint64_t off; /* of the section, for messages */
	uint32_t left, attr_size;
};
struct ptc_event_desc_entry {
	struct perf_event_attr attr;
	const char *name;   /* lent */
	struct ptc_cur ids; /* lent; u64 each */
};
int ptc_feature_open_event_desc(struct ptc_cur section, uint64_t off,
				struct ptc_event_desc_iter *ret, struct ptc_err *err);
/* Returns 1, 0 at the end, or PTC_E_FORMAT. */
int ptc_feature_next_event_desc(struct ptc_event_desc_iter *it, struct ptc_event_desc_entry *ret,
				struct ptc_err *err);

/* GROUP_DESC: events that are counted together. */
struct ptc_group_desc {
	const char *name; /* lent; "{anon_group}": none */
	uint32_t leader;  /* which event it is, from 0 */
	uint32_t members; /* it and those that follow */
};
int ptc_feature_next_group(struct ptc_feature_iter *it, struct ptc_group_desc *ret,
			   struct ptc_err *err);
void ptc_feature_put_groups(struct ptc_buf *b, const struct ptc_group_desc *g, size_t n);

/* PMU_MAPPINGS: what the numbers in attr.type are called. */
struct ptc_pmu_mapping {
	uint32_t type;
	const char *name; /* lent */
};
int ptc_feature_next_pmu_mapping(struct ptc_feature_iter *it, struct ptc_pmu_mapping *ret,
				 struct ptc_err *err);
void ptc_feature_put_pmu_mappings(struct ptc_buf *b, const struct ptc_pmu_mapping *m, size_t n);

/* CPU_PMU_CAPS: of the PMU "cpu". Also the lists inside PMU_CAPS. */
struct ptc_pmu_cap {
	const char *name, *value; /* lent */
};
int ptc_feature_next_pmu_cap(struct ptc_feature_iter *it, struct ptc_pmu_cap *ret,
			     struct ptc_err *err);
void ptc_feature_put_cpu_pmu_caps(struct ptc_buf *b, const struct ptc_pmu_cap *caps, size_t n);

/* PMU_CAPS: of the other PMUs. */
struct ptc_pmu_caps {
	const char *pmu; /* lent */
	struct ptc_feature_iter caps;
};
int ptc_feature_next_pmu_caps(struct ptc_feature_iter *it, struct ptc_pmu_caps *ret,
			      struct ptc_err *err);
struct ptc_pmu_caps_desc {
	const char *pmu;
	const struct ptc_pmu_cap *caps;
	size_t ncaps;
};
void ptc_feature_put_pmu_caps(struct ptc_buf *b, const struct ptc_pmu_caps_desc *d, size_t n);

#endif
