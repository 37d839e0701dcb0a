/* SPDX-License-Identifier: MIT */
/* Internals of ptc_dump_feature: one printer per feature. */
#ifndef PTC_CLI_DUMP_DUMP_FEATURE_H
#define PTC_CLI_DUMP_DUMP_FEATURE_H

#include "cli/common/field_writer.h"
#include "ptcap/file.h"

/* A section, with the data needed to parse it. */
struct ptc_dump_section {
	struct ptc_cur c;
	uint64_t off;
	uint32_t ncpus;
	enum ptc_feature bit;
};

/* Print the fields, up to damage. Returns 0 or the code of the damage. */
typedef int ptc_dump_fn(struct ptc_emit *e, const struct ptc_dump_section *s, struct ptc_err *err);

ptc_dump_fn ptc_dump_topology, ptc_dump_numa, ptc_dump_hybrid, ptc_dump_cache,
	ptc_dump_mem_topology, ptc_dump_domains;

/* Open a list whose entries the caller prints as rows. */
int ptc_dump_rows(struct ptc_emit *e, const struct ptc_dump_section *s, const char *name,
		  struct ptc_feature_iter *ret, struct ptc_err *err);
/* Print all strings of a list. */
int ptc_dump_strings(struct ptc_emit *e, const char *name, struct ptc_feature_iter it,
		     struct ptc_err *err);

#endif
