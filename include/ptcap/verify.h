/* SPDX-License-Identifier: MIT */
/*
 * Consistency check of a recording. Data that the reader trusts or repairs are compared with the
 * rest of the file: sizes, ids, offsets, order, trailing bytes, and duplicated information in
 * header and records.
 *
 * Deviations that real writers make are not findings. Unknown records and features come from a
 * newer writer, and are only counted.
 */
#ifndef PTCAP_VERIFY_H
#define PTCAP_VERIFY_H

#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/file.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One finding, of one of these checks:
 *   header      damage that the reader found: see ptc_file_damage
 *   layout      sections of the file do not overlap. Those of features are in the order of
 *               their bits, and no data follow the last section
 *   attr        sizes of the attrs; an id belongs to only one of them
 *   feature     each section of a feature can be read, to its last byte
 *   event_desc  EVENT_DESC has the attrs, and their ids
 *   dir_format  the feature exists and is 1, if the recording is a folder with data.N
 *   record      each record can be read
 *   trailing    each record is known to its last byte
 *   id          ids in records are those of an attr
 *   id_index    ids in ID_INDEX are those of an attr, and each occurs once
 *   info        AUXTRACE_INFO precedes the trace, and names the PMU of an event.
 *               TIME_CONV is the same clock
 *   index       the AUXTRACE feature lists exactly the AUXTRACE records
 *   aux         AUX records and AUXTRACE chunks cover the same bytes, once. A snapshot ends
 *               where an AUX record says that the trace stopped, and is no larger than
 *               the ring. Trace in samples has the size that the event asks for, and its
 *               queue has no AUXTRACE chunks
 *   ledger      the ledger agrees with the trace of the chunks, the losses in the records,
 *               and the ids of events. No part is larger than its whole
 *   crash       crash records of a process follow the record of its fatal signal
 *   order       FINISHED_ROUND: no later record is older than the mark promises
 *   time        SAMPLE_TIME spans the samples (without any: AUX, ITRACE_START)
 *   compressed  the COMPRESSED feature, and the expanded size of compressed records
 */
struct ptc_finding {
	const char *check; /* name of a check, from the list above; static */
	uint64_t off;	   /* see ptc_file_place */
	const char *msg;   /* borrowed for the call */
};

typedef void ptc_finding_fn(void *arg, const struct ptc_finding *finding);

/* Initialize with PTC_VERIFY_STATS_INIT. */
struct ptc_verify_stats {
	size_t size;			   /* sizeof(struct ptc_verify_stats) */
	uint64_t records, unknown_records; /* unknown_records: of an unknown type */
	uint64_t features, unknown_features;
	uint64_t trace_bytes; /* bytes in AUXTRACE records */
	uint64_t findings;
};

/* No counter is set. */
#ifdef __cplusplus
static inline struct ptc_verify_stats ptc_verify_stats_init(void)
{
	struct ptc_verify_stats ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_VERIFY_STATS_INIT ptc_verify_stats_init()
#else
/* clang-format off */
#define PTC_VERIFY_STATS_INIT                                                                    \
	{                                                                                          \
		.size = sizeof(struct ptc_verify_stats)                                            \
	}
/* clang-format on */
#endif

/*
 * Check @f. If @f was opened with ptc_file_open_damaged, the intact part of a damaged file is
 * checked too. @say gets each finding. Returns 0, with or without findings; PTC_E_NO_MEMORY;
 * PTC_E_LIMIT.
 */
PTC_API int ptc_verify(const struct ptc_file *f, ptc_finding_fn *say, void *arg,
		       struct ptc_verify_stats *ret, struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
