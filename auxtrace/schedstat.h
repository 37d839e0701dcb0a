/* SPDX-License-Identifier: MIT */
/*
 * SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN: lines of /proc/schedstat as counters.
 * Layout and names: tools/lib/perf/include/perf/schedstat-v15.h to -v17.h.
 */
#ifndef PTC_AUXTRACE_SCHEDSTAT_H
#define PTC_AUXTRACE_SCHEDSTAT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/cursor.h"

struct ptc_schedstat {
	uint64_t time; /* jiffies */
	uint32_t cpu;
	uint16_t version;	 /* of /proc/schedstat: 15 to 17 have names here */
	uint16_t domain;	 /* SCHEDSTAT_DOMAIN: its number; 0 else */
	bool of_domain;		 /* SCHEDSTAT_DOMAIN */
	struct ptc_cur counters; /* lent; ptc_schedstat_next */
	unsigned int at;	 /* how far ptc_schedstat_next is; 0 at the start */
};

/*
 * Read the body of either record (@of_domain says which). False: it is too
 * short, or for the counters of its version; counters of a version we do not
 * know are lent all the same.
 */
bool ptc_schedstat_parse(struct ptc_cur body, bool of_domain, struct ptc_schedstat *ret);

/* The next counter: its name (static), and its value. NULL: no more, or a version we do not know.
 */
const char *ptc_schedstat_next(struct ptc_schedstat *s, uint64_t *ret);

/* Append the body: the inverse of parse. */
void ptc_schedstat_put(struct ptc_buf *b, const struct ptc_schedstat *s);

#endif
