/* SPDX-License-Identifier: MIT */
/* What parsers and writers of features share. The parsers are public: ptcap/feature.h. */
#ifndef PTC_AUXTRACE_FEATURE_BASE_H
#define PTC_AUXTRACE_FEATURE_BASE_H

#include "auxtrace/layout.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/feature.h"

/* A string padded to 64 bytes: HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID, and in lists. */
void ptc_feature_put_string(struct ptc_buf *b, const char *s);

/* u32 count and strings, as ptc_feature_next_string takes them. */
void ptc_feature_put_strings(struct ptc_buf *b, const char *const *list, size_t n);

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
