/* SPDX-License-Identifier: MIT */
/*
 * A recording written again: the attrs with their ids and the features by their
 * bytes, the records in their order, those we do not know too, the trace with a new
 * index; in another form, compressed or not, all of it or a part.
 *
 * What cannot be the same: a folder becomes one file, without the FINISHED_ROUND
 * records, which are of a single file, and without DIR_FORMAT. HEADER_ATTR,
 * HEADER_FEATURE, HEADER_BUILD_ID and TRACING_DATA records of pipe mode are the
 * header of a file, and the other way round. Pipe mode has no AUXTRACE feature, none
 * that is empty, and none of more than a record's size.
 */
#ifndef PTC_AUXTRACE_COPY_H
#define PTC_AUXTRACE_COPY_H

#include "auxtrace/reader.h"
#include "auxtrace/select.h"

struct ptc_writer;

/*
 * Records of one more event, behind all others: then there are no FINISHED_ROUND records, as they
 * would not be true. Every event of the recording must have PERF_SAMPLE_IDENTIFIER
 * (PTC_E_UNSUPPORTED).
 */
struct ptc_copy_more {
	struct perf_event_attr attr;
	const char *name;
	uint64_t id; /* ptc_copy_new_id */
	/* Write them. Non-zero: *err is set. */
	int (*put)(void *ctx, struct ptc_writer *w, struct ptc_err *err);
	void *ctx;
};

enum ptc_copy_pack {
	PTC_COPY_PACK_KEEP, /* compressed if the recording is, with the level it says */
	PTC_COPY_PACK_NONE,
	PTC_COPY_PACK_ZSTD
};

struct ptc_copy_opts {
	bool pipe; /* pipe mode; then the output may be "-" */
	/*
	 * Leave the trace out: AUXTRACE, AUXTRACE_INFO, AUXTRACE_ERROR, AUX,
	 * AUX_OUTPUT_HW_ID and ITRACE_START records, the ledger, and what samples have of it.
	 */
	bool strip_aux;
	bool redact; /* arguments and environments become zeros: auxtrace/redact.h */
	enum ptc_copy_pack pack;
	unsigned int level; /* of PTC_COPY_PACK_ZSTD */
	struct ptc_select_opts select;
	const struct ptc_copy_more *more; /* NULL: nothing */
};

struct ptc_copy_stats {
	uint64_t records;		     /* written; pieces of trace among them */
	uint64_t left_out;		     /* that the options leave out */
	uint64_t zeroed;		     /* bytes that redact made zero */
	uint64_t pieces, piece_bytes;	     /* AUXTRACE records written, and the trace in them */
	bool lost_feature[PTC_FEATURE_BITS]; /* that the output's form cannot have */
};

/*
 * Write @f to @path, which is the caller's to keep apart from what @f was opened
 * from. It appears when it is whole, and what was there is PATH.old; standard
 * output has it as it comes. PTC_E_LIMIT: what the form has no room for.
 * PTC_E_NOT_EXIST: there would be no record in it.
 */
int ptc_copy(const struct ptc_file *f, const char *path, const struct ptc_copy_opts *opts,
	     struct ptc_copy_stats *ret, struct ptc_err *err);

/* An id that no event of @f has. */
uint64_t ptc_copy_new_id(const struct ptc_file *f);

#endif
