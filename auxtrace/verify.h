/* SPDX-License-Identifier: MIT */
/*
 * Does a recording keep what it claims? What the reader takes on trust, or
 * mends, is held against the rest of the file: sizes, ids, offsets, order,
 * trailing bytes, and what header and records say of each other.
 *
 * What real writers do is no finding. Unknown records and features are only
 * counted: a newer writer made them.
 */
#ifndef PTC_AUXTRACE_VERIFY_H
#define PTC_AUXTRACE_VERIFY_H

#include "auxtrace/reader.h"

/*
 * What is verified; a finding names one of these:
 *   header      what the reader found damaged: see ptc_file_damage
 *   layout      sections of the file do not overlap, those of features are in
 *               the order of their bits, and nothing is behind the last one
 *   attr        sizes of the attrs; an id belongs to one of them
 *   feature     each section of a feature can be read, to its last byte
 *   event_desc  EVENT_DESC has the attrs, and their ids
 *   dir_format  the feature is there, and 1, if the recording is a folder with data.N
 *   record      each record can be read
 *   trailing    ... to its last byte
 *   id          ids in records are those of an attr
 *   id_index    ids in ID_INDEX, too, and each once
 *   info        AUXTRACE_INFO is in front of the trace, and of an event's PMU;
 *               TIME_CONV is the same clock
 *   index       the AUXTRACE feature lists the pieces there are
 *   aux         AUX records and AUXTRACE pieces tell of the same bytes, once; a
 *               snapshot ends where one says that the trace stopped, and is no
 *               larger than the ring; what samples have of the trace is what
 *               their event asks for, of one queue that has no pieces
 *   ledger      the ledger has the trace that the pieces have, the losses that the records
 *               tell of, and ids of events; nothing of it is more than what it is a part of
 *   order       FINISHED_ROUND: nothing behind it is older than it promises
 *   time        SAMPLE_TIME spans the samples (without any: AUX, ITRACE_START)
 *   compressed  the COMPRESSED feature, and what compressed records expand to
 */
struct ptc_finding {
	const char *check; /* of those above; static */
	uint64_t off;	   /* see ptc_file_place */
	const char *msg;   /* valid during the call */
};

typedef void ptc_finding_fn(void *arg, const struct ptc_finding *finding);

struct ptc_verify_stats {
	uint64_t records, unknown_records; /* unknown: of a type not known */
	uint64_t features, unknown_features;
	uint64_t trace_bytes; /* in AUXTRACE records */
	uint64_t findings;
};

/*
 * Verify @f, best opened with ptc_file_open_damaged: what is whole of a damaged
 * file is verified, too. @say gets each finding as it is met. Returns 0, with
 * findings or without; PTC_E_NO_MEMORY; PTC_E_LIMIT.
 */
int ptc_verify(const struct ptc_file *f, ptc_finding_fn *say, void *arg,
	       struct ptc_verify_stats *ret, struct ptc_err *err);

#endif
