/* SPDX-License-Identifier: MIT */
/*
 * Writing AUXTRACE_INFO for Intel PT, and TIME_CONV: the inverse of the parsers in ptcap/userrec.h.
 */
#ifndef PTC_AUXTRACE_RECORD_AUXTRACE_INFO_H
#define PTC_AUXTRACE_RECORD_AUXTRACE_INFO_H

#include "auxtrace/record/record.h"
#include "ptcap/userrec.h"

void ptc_pt_info_put(struct ptc_buf *b, const struct ptc_pt_info *info);
void ptc_time_conv_put(struct ptc_buf *b, const struct ptc_time_conv *tc);

#endif
