/* SPDX-License-Identifier: MIT */
/*
 * Sets of CPUs as perf writes them in CPU_MAP and EVENT_UPDATE records:
 * struct perf_record_cpu_map_data of tools/lib/perf/include/perf/event.h.
 */
#ifndef PTC_AUXTRACE_CPUMAP_H
#define PTC_AUXTRACE_CPUMAP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/cursor.h"

enum { /* perf_record_cpu_map_data.type */
       PTC_CPU_MAP_CPUS = 0,
       PTC_CPU_MAP_MASK = 1,
       PTC_CPU_MAP_RANGE = 2,
};

struct ptc_cpu_map {
	uint16_t type;	      /* PTC_CPU_MAP_*: how it is written */
	struct ptc_cur cpus;  /* CPUS: lent; u16 each, 0xffff is -1 */
	uint16_t word_size;   /* MASK: 4 or 8 bytes */
	struct ptc_cur mask;  /* MASK: lent; words of that size, lowest CPU first */
	bool any;	      /* RANGE: -1 is in it */
	uint16_t first, last; /* RANGE: both are in it */
	uint32_t at;	      /* how far ptc_cpu_map_next is; 0 at the start */
};

/*
 * Take a map from the front of @c. False (nothing moved): too few bytes for
 * what it claims, a word size other than 4 and 8, a range that ends before it
 * starts, or an unknown type.
 */
bool ptc_cpu_map_parse(struct ptc_cur *c, struct ptc_cpu_map *ret);

/* The next CPU, in ascending order but for CPUS, which has its own; -1: any CPU. False: no more. */
bool ptc_cpu_map_next(struct ptc_cpu_map *m, int32_t *ret);

/* Append @m as its type says: the inverse of parse. Parts of a wrong size fail @b. */
void ptc_cpu_map_put(struct ptc_buf *b, const struct ptc_cpu_map *m);

#endif
