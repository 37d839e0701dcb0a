/* SPDX-License-Identifier: MIT */
/*
 * Profiles of one program or library for other tools: how often each branch and each block of its
 * code ran, in one pass over the trace.
 *
 * BOLT: pre-aggregated profile of perf2bolt (-pa). PROFGEN: unsymbolized profile of llvm-profgen.
 * AFDO: text profile of create_llvm_prof (--profiler=text). doc/format.md has the sources.
 */
#ifndef PTC_CLI_DECODE_PROFILE_H
#define PTC_CLI_DECODE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/decode/branch_counts.h"

enum ptc_profile_kind {
	PTC_PROFILE_NONE,
	PTC_PROFILE_BOLT,
	PTC_PROFILE_PROFGEN,
	PTC_PROFILE_AFDO,
};

/* Initialize with ptc_profile_init. */
struct ptc_profile {
	enum ptc_profile_kind kind;
	const char *object; /* borrowed: path, or name without folders */
	bool is_shard;	    /* another shard may have branches of the object */
	bool refused;	    /* an error was reported: there is no such object */
	struct ptc_counts edges, blocks;
};

void ptc_profile_init(struct ptc_profile *p, struct ptc_decode *d);
void ptc_profile_release(struct ptc_profile *p);

/* ptc_sink.on_items for all items. ctx is a struct ptc_profile. */
int ptc_profile_items(void *ctx, const struct ptc_item *items, size_t n);

/*
 * Print the profile of the object, once, after all items. Without an object, reports an error and
 * sets refused. Then a shard prints an empty profile. Returns false if out of memory.
 */
bool ptc_profile_print(struct ptc_profile *p, struct ptc_line *l);

#endif
