/* SPDX-License-Identifier: MIT */
/* Helpers shared by the parsers and writers of features. Public parsers: ptcap/feature.h. */
#ifndef PTC_AUXTRACE_FEATURE_FEATURE_BASE_H
#define PTC_AUXTRACE_FEATURE_FEATURE_BASE_H

#include "auxtrace/record/layout.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/feature.h"

/*
 * Append a string padded to 64 bytes: HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID, and in
 * lists.
 */
void ptc_feature_put_string(struct ptc_buf *b, const char *s);

/* Append a u32 count and strings: the inverse of ptc_feature_next_string. */
void ptc_feature_put_strings(struct ptc_buf *b, const char *const *list, size_t n);

/* For parsers: accept the entry that ends at @c. Returns 1. */
int ptc_feature_took(struct ptc_feature_iter *it, struct ptc_cur c);
/*
 * For parsers: find the end of the list @it, whose entries begin at the front of @c. @skip parses
 * one entry. @c moves behind the list, and *@it gets only the list's bytes. Returns 0 or
 * PTC_E_FORMAT.
 */
int ptc_feature_span(struct ptc_feature_iter *it, struct ptc_cur *c,
		     int (*skip)(struct ptc_feature_iter *, struct ptc_err *), struct ptc_err *err);

#endif
