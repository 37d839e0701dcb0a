/* SPDX-License-Identifier: MIT */
/* Inside of ptc_dump_feature: what shows one feature each. */
#ifndef PTC_CLI_DUMP_FEATURE_H
#define PTC_CLI_DUMP_FEATURE_H

#include "emit.h"
#include "ptcap/file.h"

/* A section, with what it takes to read it. */
struct ptc_dump_section {
	struct ptc_cur c;
	uint64_t off;
	uint32_t ncpus;
	enum ptc_feature bit;
};

/* Shows the fields in front of damage, too. Returns 0 or the damage's code. */
typedef int ptc_dump_fn(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err);

ptc_dump_fn ptc_dump_topology, ptc_dump_numa, ptc_dump_hybrid, ptc_dump_cache,
	ptc_dump_mem_topology, ptc_dump_domains;

/* Open a list; its entries are to become rows. */
int ptc_dump_rows(struct ptc_emit *e, const struct ptc_dump_section *s, const char *name,
		  struct ptc_feature_iter *ret, struct ptc_err *err);
/* All the strings of a list. */
int ptc_dump_strings(struct ptc_emit *e, const char *name, struct ptc_feature_iter it,
		     struct ptc_err *err);

#endif
