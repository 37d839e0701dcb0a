/* SPDX-License-Identifier: MIT */
/*
 * Copying a recording. Attrs with ids, features and records, also unknown ones, are copied by their
 * bytes and in order. The trace gets a new index. The copy may have another form, compression, or
 * only a part of the records.
 *
 * Unavoidable differences: a folder becomes one file, without DIR_FORMAT and without FINISHED_ROUND
 * records, which are valid for a single file only. HEADER_ATTR, HEADER_FEATURE, HEADER_BUILD_ID and
 * TRACING_DATA records of pipe mode become the header of a file, and the reverse. Pipe mode has no
 * AUXTRACE feature, no empty feature, and none larger than a record.
 */
#ifndef PTC_AUXTRACE_COPY_COPY_H
#define PTC_AUXTRACE_COPY_COPY_H

#include "auxtrace/copy/record_filter.h"
#include "auxtrace/reader/reader.h"

struct ptc_writer;

/*
 * One more event, whose records follow all others. FINISHED_ROUND records are then omitted, because
 * they would not be true. PTC_E_UNSUPPORTED: an event of the recording lacks
 * PERF_SAMPLE_IDENTIFIER.
 */
struct ptc_copy_more {
	struct perf_event_attr attr;
	const char *name;
	uint64_t id; /* from ptc_copy_new_id */
	/* Write the records. On failure returns non-zero, with *err set. */
	int (*put)(void *ctx, struct ptc_writer *w, struct ptc_err *err);
	void *ctx;
};

enum ptc_copy_pack {
	PTC_COPY_PACK_KEEP, /* compressed like the recording, with its level */
	PTC_COPY_PACK_NONE,
	PTC_COPY_PACK_ZSTD
};

struct ptc_copy_opts {
	bool pipe; /* pipe mode; then the output may be "-" */
	/*
	 * Omit the trace: AUXTRACE, AUXTRACE_INFO, AUXTRACE_ERROR, AUX, AUX_OUTPUT_HW_ID and
	 * ITRACE_START records, the ledger, and trace in samples.
	 */
	bool strip_aux;
	bool redact; /* zero arguments and environments: auxtrace/copy/redact.h */
	enum ptc_copy_pack pack;
	unsigned int level; /* for PTC_COPY_PACK_ZSTD */
	struct ptc_select_opts select;
	const struct ptc_copy_more *more; /* NULL: no additional event */
};

struct ptc_copy_stats {
	uint64_t records;  /* written, including AUXTRACE records */
	uint64_t left_out; /* omitted because of the options */
	uint64_t zeroed;   /* bytes that redact set to zero */
	/* AUXTRACE records written, and bytes of trace in them */
	uint64_t pieces, piece_bytes;
	bool lost_feature[PTC_FEATURE_BITS]; /* not possible in the output's form */
};

/*
 * Write a copy of @f to @path. The caller makes sure that @path is not a file of @f. The output
 * appears when it is complete, and an existing file becomes PATH.old. Standard output is written as
 * the data come. PTC_E_LIMIT: data too large for the output's form. PTC_E_NOT_EXIST: the copy would
 * have no record.
 */
int ptc_copy(const struct ptc_file *f, const char *path, const struct ptc_copy_opts *opts,
	     struct ptc_copy_stats *ret, struct ptc_err *err);

/* Returns an event id that @f does not use. */
uint64_t ptc_copy_new_id(const struct ptc_file *f);

#endif
