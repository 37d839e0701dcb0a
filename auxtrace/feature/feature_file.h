/* SPDX-License-Identifier: MIT */
/*
 * Writing the features about the recording itself: the inverse of the parsers in ptcap/feature.h.
 */
#ifndef PTC_AUXTRACE_FEATURE_FEATURE_FILE_H
#define PTC_AUXTRACE_FEATURE_FEATURE_FILE_H

#include "auxtrace/feature/feature_base.h"
#include "base/elfnote.h"
#include "ptcap/feature.h"

/* CMDLINE. Read with ptc_feature_open and ptc_feature_next_string. */
void ptc_feature_put_cmdline(struct ptc_buf *b, const char *const *argv, size_t n);
void ptc_feature_put_build_id(struct ptc_buf *b, const struct ptc_build_id_entry *e);
/*
 * Return whether a BUILD_ID record, given without its header, is from perf of 2010, which has no
 * pid before the id. The second function returns the pid that perf assumes for such a record.
 */
bool ptc_feature_is_old_build_id(uint16_t misc, struct ptc_cur body);
int32_t ptc_feature_old_build_id_pid(uint16_t misc);
void ptc_feature_put_auxtrace(struct ptc_buf *b, const struct ptc_auxtrace_entry *e, size_t n);
void ptc_feature_put_sample_time(struct ptc_buf *b, uint64_t first_ns, uint64_t last_ns);
void ptc_feature_put_clockid(struct ptc_buf *b, uint64_t res_ns);
void ptc_feature_put_dir_format(struct ptc_buf *b, uint64_t version);
void ptc_feature_put_compressed(struct ptc_buf *b, const struct ptc_compressed *v);
void ptc_feature_put_clock_data(struct ptc_buf *b, const struct ptc_clock_data *v);

#endif
