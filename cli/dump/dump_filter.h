/* SPDX-License-Identifier: MIT */
/* Selection of the records that `ptcap dump` prints. */
#ifndef PTC_CLI_DUMP_DUMP_FILTER_H
#define PTC_CLI_DUMP_DUMP_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/file.h"

struct ptc_dump_filter {
	bool by_type; /* only the named types: */
	bool events, features;
	bool types[256];     /* record types */
	bool other_types;    /* types above 255 */
	bool by_tid, by_cpu; /* only records with this tid or CPU */
	uint64_t tid, cpu;
	bool by_time; /* only records with a time in this range: */
	uint64_t from_ns, to_ns;
};

/* Parse an option's argument. Return false if malformed. */
bool ptc_dump_filter_type(struct ptc_dump_filter *d, const char *arg); /* NAME[,NAME]... */
bool ptc_dump_filter_time(struct ptc_dump_filter *d, const char *arg); /* [FROM],[TO] in seconds */

bool ptc_dump_wants(const struct ptc_dump_filter *d, const struct ptc_file *f,
		    const struct ptc_rec *rec);

#endif
