/* SPDX-License-Identifier: MIT */
/* Which records `ptcap dump` prints. */
#ifndef PTC_CLI_DUMP_FILTER_H
#define PTC_CLI_DUMP_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "auxtrace/reader.h"

struct ptc_dump_filter {
	bool by_type; /* only what is named: */
	bool events, features;
	bool types[256];     /* of records */
	bool other_types;    /* those above */
	bool by_tid, by_cpu; /* only records that tell a thread or CPU, and this one */
	uint64_t tid, cpu;
	bool by_time; /* only records with a time, and one of these: */
	uint64_t from_ns, to_ns;
};

/* Each takes an option's argument. False: it is none. */
bool ptc_dump_filter_type(struct ptc_dump_filter *d, const char *arg); /* NAME[,NAME]... */
bool ptc_dump_filter_time(struct ptc_dump_filter *d, const char *arg); /* [FROM],[TO] in seconds */

bool ptc_dump_wants(const struct ptc_dump_filter *d, const struct ptc_file *f,
		    const struct ptc_rec *rec);

#endif
