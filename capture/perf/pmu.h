/* SPDX-License-Identifier: MIT */
/*
 * Reads a PMU's description in sysfs: its type, the perf_event_attr bits of its terms (format/),
 * and its capabilities (caps/). The caller gives the root, for tests.
 */
#ifndef PTC_CAPTURE_PERF_PMU_H
#define PTC_CAPTURE_PERF_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

#include <linux/perf_event.h>

enum { PTC_PMU_TERMS = 64, PTC_PMU_CAPS = 48, PTC_PMU_CONFIGS = 5, PTC_PMU_NAME = 40 };

/* A term of an event: the bits of config, config1 and so on that hold its value, lowest first. */
struct ptc_pmu_term {
	char name[PTC_PMU_NAME];
	unsigned int config; /* 0: attr.config, 1: attr.config1, ... */
	uint64_t bits;
};

struct ptc_sysfs_cap {
	char name[PTC_PMU_NAME];
	uint64_t value;
};

struct ptc_pmu {
	char name[PTC_PMU_NAME];
	uint32_t type;
	struct ptc_pmu_term terms[PTC_PMU_TERMS]; /* sorted by name */
	size_t nterms;
	struct ptc_sysfs_cap caps[PTC_PMU_CAPS];
	size_t ncaps;
	uint32_t nr_addr_filters; /* 0: no address filters */
	uint32_t max_nonturbo_ratio;
	uint32_t tsc_ctc_n, tsc_ctc_d; /* tsc_art_ratio; 0: unknown */
};

/*
 * Reads ROOT/sys/bus/event_source/devices/@name. PTC_E_NOT_EXIST: there is no such PMU.
 * PTC_E_FORMAT: a term cannot be parsed.
 */
int ptc_pmu_read(struct ptc_pmu *p, const char *root, const char *name, struct ptc_err *err);

/* Returns the value in caps/@name, or @missing if there is no such file. */
uint64_t ptc_pmu_cap(const struct ptc_pmu *p, const char *name, uint64_t missing);

/* Returns the term, borrowed from @p; NULL: no such term. */
const struct ptc_pmu_term *ptc_pmu_term(const struct ptc_pmu *p, const char *name);

/*
 * Sets term @name to @value in @attr. PTC_E_USAGE: the PMU has no such term, and the message lists
 * its terms; or @value is too large.
 */
int ptc_pmu_set(const struct ptc_pmu *p, const char *name, uint64_t value,
		struct perf_event_attr *attr, struct ptc_err *err);

/* Access attr.config, .config1 and so on by number, below PTC_PMU_CONFIGS. */
uint64_t ptc_pmu_config_get(const struct perf_event_attr *attr, unsigned int config);
void ptc_pmu_config_put(struct perf_event_attr *attr, unsigned int config, uint64_t value);

/*
 * Parses a format such as "config1:0-7,32": the config number and its bits. Returns false if the
 * text is malformed, or names a config that attr does not have.
 */
bool ptc_pmu_parse_format(const char *text, unsigned int *ret_config, uint64_t *ret_bits);

#endif
