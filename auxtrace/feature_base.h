/* SPDX-License-Identifier: MIT */
/*
 * What the sections of the header's features are made of. Strings are u32
 * length (padded) and bytes; lists are a count and entries. Nothing is copied
 * or allocated: what a parser gives points into the section, whose bytes must
 * outlive it, and a count is only a promise of entries that are read one by one.
 */
#ifndef PTC_AUXTRACE_FEATURE_BASE_H
#define PTC_AUXTRACE_FEATURE_BASE_H

#include <stdbool.h>

#include "auxtrace/layout.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/error.h"

/* A string padded to 64 bytes: HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID, and in lists. */
void ptc_feature_put_string(struct ptc_buf *b, const char *s);
/* Take one from the front of @c. False, moving nothing, if it is not there whole, with its NUL. */
bool ptc_feature_get_string(struct ptc_cur *c, const char **ret);

/* The entries of a list. */
struct ptc_feature_iter {
	struct ptc_cur cur; /* the entries to come; what else the section has is behind them */
	uint64_t left;	    /* how many, as the section claims */
	uint64_t off;	    /* of the section in the file, for messages */
	enum ptc_feature bit;
};

/*
 * Open the section of a feature that is a count and entries: CMDLINE,
 * NUMA_TOPOLOGY, PMU_MAPPINGS, GROUP_DESC, AUXTRACE, BPF_PROG_INFO, BPF_BTF,
 * CPU_PMU_CAPS, HYBRID_TOPOLOGY, PMU_CAPS. PTC_E_FORMAT: no count.
 *
 * The functions ptc_feature_next_... take an entry: they return 1 with *@ret
 * set, 0 at the end, or PTC_E_FORMAT where the section ends inside an entry
 * (then nothing can follow).
 */
int ptc_feature_open(enum ptc_feature bit, struct ptc_cur section, uint64_t off,
		     struct ptc_feature_iter *ret, struct ptc_err *err);

/* Entries that are a string: CMDLINE, and the lists of CPU_TOPOLOGY. */
int ptc_feature_next_string(struct ptc_feature_iter *it, const char **ret, struct ptc_err *err);

/* u32 count and strings, as ptc_feature_next_string takes them. */
void ptc_feature_put_strings(struct ptc_buf *b, const char *const *list, size_t n);

/* For the parsers: "feature NAME is too short"; PTC_E_FORMAT. */
int ptc_feature_broken(enum ptc_feature bit, uint64_t off, struct ptc_err *err);
/* For the parsers: an entry ends at @c. Returns 1. */
int ptc_feature_took(struct ptc_feature_iter *it, struct ptc_cur c);
/*
 * For the parsers: the entries of the list @it begin at the front of @c, and
 * @skip takes one away. Moves @c behind them all; *@it gets their bytes alone.
 * Returns 0 or PTC_E_FORMAT.
 */
int ptc_feature_span(struct ptc_feature_iter *it, struct ptc_cur *c,
		     int (*skip)(struct ptc_feature_iter *, struct ptc_err *), struct ptc_err *err);

#endif
