/* SPDX-License-Identifier: MIT */
/* Writing the kernel's side records: what ptcap/sideband.h reads. */
#ifndef PTC_AUXTRACE_SIDEBAND_H
#define PTC_AUXTRACE_SIDEBAND_H

#include "auxtrace/record.h"
#include "auxtrace/sample.h"
#include "base/elfnote.h"
#include "ptcap/sideband.h"

/*
 * Append @sb as a whole record with its trailer: the inverse of parse.
 * sb->misc is taken as is, but PERF_RECORD_MISC_MMAP_BUILD_ID is set by the
 * presence of a build-id. What is too long for a record, or lent in parts of a
 * wrong size, fails @b.
 */
void ptc_sb_put(struct ptc_buf *b, const struct ptc_sb *sb, uint64_t sample_type);

#endif
