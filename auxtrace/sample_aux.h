/* SPDX-License-Identifier: MIT */
/* The trace that a sample carries: PERF_SAMPLE_AUX, the last field of its ABI. */
#ifndef PTC_AUXTRACE_SAMPLE_AUX_H
#define PTC_AUXTRACE_SAMPLE_AUX_H

#include "auxtrace/record.h"
#include "auxtrace/sample.h"

#include <linux/perf_event.h>

/*
 * Find it in a PERF_RECORD_SAMPLE of an event with @attr. Returns 1 with the
 * sample's front in *@ret and the trace, lent, in *@ret_aux; 0 if it has none;
 * PTC_E_FORMAT when the record is too short for its fields.
 */
int ptc_sample_aux(const struct ptc_rec *rec, const struct perf_event_attr *attr,
		   struct ptc_sample *ret, struct ptc_cur *ret_aux, struct ptc_err *err);

#endif
