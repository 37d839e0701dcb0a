/* SPDX-License-Identifier: MIT */
/* Writing the kernel's sideband records: the inverse of the parser in ptcap/sideband.h. */
#ifndef PTC_AUXTRACE_RECORD_SIDEBAND_H
#define PTC_AUXTRACE_RECORD_SIDEBAND_H

#include "auxtrace/record/record.h"
#include "auxtrace/record/sample.h"
#include "base/elfnote.h"
#include "ptcap/sideband.h"

/*
 * Append @sb as a whole record with its trailer: the inverse of ptc_sb_parse. sb->misc is written
 * unchanged, except PERF_RECORD_MISC_MMAP_BUILD_ID, which is set if there is a build-id. Data too
 * long for a record, or borrowed parts of a wrong size, set @b to failed.
 */
void ptc_sb_put(struct ptc_buf *b, const struct ptc_sb *sb, uint64_t sample_type);

#endif
