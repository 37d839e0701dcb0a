/* SPDX-License-Identifier: MIT */
/*
 * What sysfs says of a PMU: its type, which bits of perf_event_attr its terms are
 * (format/), and what it can (caps/). The root is given by the caller, for tests.
 */
#ifndef PTC_CAPTURE_PERF_PMU_H
#define PTC_CAPTURE_PERF_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

#include <linux/perf_event.h>

enum { PTC_PMU_TERMS = 64, PTC_PMU_CAPS = 48, PTC_PMU_CONFIGS = 5, PTC_PMU_NAME = 40 };

/* A term of an event: the bits of config, config1... that hold its value, lowest first. */
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
	struct ptc_pmu_term terms[PTC_PMU_TERMS]; /* by name */
	size_t nterms;
	struct ptc_sysfs_cap caps[PTC_PMU_CAPS];
	size_t ncaps;
	uint32_t nr_addr_filters; /* 0: it filters by no address */
	uint32_t max_nonturbo_ratio;
	uint32_t tsc_ctc_n, tsc_ctc_d; /* tsc_art_ratio; 0: not known */
};

/*
 * Read ROOT/sys/bus/event_source/devices/@name. PTC_E_NOT_EXIST: there is none;
 * PTC_E_FORMAT: a term of it cannot be understood.
 */
int ptc_pmu_read(struct ptc_pmu *p, const char *root, const char *name, struct ptc_err *err);

/* The value in caps/@name; @missing if the kernel does not say. */
uint64_t ptc_pmu_cap(const struct ptc_pmu *p, const char *name, uint64_t missing);

/* NULL: it has no such term. Lent from @p. */
const struct ptc_pmu_term *ptc_pmu_term(const struct ptc_pmu *p, const char *name);

/* PTC_E_USAGE: the PMU has no such term (the message names those it has), or @value is too big. */
int ptc_pmu_set(const struct ptc_pmu *p, const char *name, uint64_t value,
		struct perf_event_attr *attr, struct ptc_err *err);

/* attr.config, .config1, ... by its number, below PTC_PMU_CONFIGS. */
uint64_t ptc_pmu_config_get(const struct perf_event_attr *attr, unsigned int config);
void ptc_pmu_config_put(struct perf_event_attr *attr, unsigned int config, uint64_t value);

/*
 * "config1:0-7,32": which bits of which. False: it is no such text, or names a
 * config that attr does not have.
 */
bool ptc_pmu_parse_format(const char *text, unsigned int *ret_config, uint64_t *ret_bits);

#endif
