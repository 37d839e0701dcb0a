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
#ifndef PTCAP_COPY_H
#define PTCAP_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "ptcap/cutout.h"
#include "ptcap/error.h"
#include "ptcap/feature.h"
#include "ptcap/file.h"
#include "ptcap/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One more event, whose records follow all others. FINISHED_ROUND records are then omitted, because
 * they would not be true. PTC_E_UNSUPPORTED: an event of the recording lacks
 * PERF_SAMPLE_IDENTIFIER.
 */
struct ptc_copy_more {
	const struct perf_event_attr *attr; /* attr->size bytes */
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

/*
 * Initialize with PTC_COPY_OPTS_INIT. A selection by CPU, thread or time keeps the records that are
 * needed to interpret it: mappings, names, forks, exits, code; records without cpu, tid or time;
 * perf's own records; with trace also context switches. Chunks of trace are kept or omitted as a
 * whole.
 */
struct ptc_copy_opts {
	size_t size; /* sizeof(struct ptc_copy_opts) */
	bool pipe;   /* pipe mode; then the output may be "-" */
	/*
	 * Omit the trace: AUXTRACE, AUXTRACE_INFO, AUXTRACE_ERROR, AUX, AUX_OUTPUT_HW_ID and
	 * ITRACE_START records, the ledger, and trace in samples.
	 */
	bool strip_aux;
	bool redact; /* zero arguments and environments: auxtrace/copy/redact.h */
	enum ptc_copy_pack pack;
	unsigned int level;   /* for PTC_COPY_PACK_ZSTD */
	const uint32_t *cpus; /* lent; ncpus 0: all */
	size_t ncpus;
	const int32_t *tids; /* lent; ntids 0: all */
	size_t ntids;
	uint64_t from_ns, to_ns;	  /* [from_ns, to_ns); to_ns 0: no end */
	const struct ptc_copy_more *more; /* lent; NULL: no additional event */
	/*
	 * Lent; NULL: no cutout. Omit the trace of each queue in front of keep_from, and from
	 * keep_to on, and add the records of the cutout. All other records are copied, except the
	 * ledger. Excludes the selection and strip_aux.
	 */
	const struct ptc_cutout *cutout;
};

/* The defaults: a copy of all records, compressed like the recording. */
#ifdef __cplusplus
static inline struct ptc_copy_opts ptc_copy_opts_init(void)
{
	struct ptc_copy_opts ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_COPY_OPTS_INIT ptc_copy_opts_init()
#else
/* clang-format off */
#define PTC_COPY_OPTS_INIT                                                                    \
	{                                                                                          \
		.size = sizeof(struct ptc_copy_opts)                                            \
	}
/* clang-format on */
#endif

/* Initialize with PTC_COPY_STATS_INIT. */
struct ptc_copy_stats {
	size_t size;	   /* sizeof(struct ptc_copy_stats) */
	uint64_t records;  /* written, including AUXTRACE records */
	uint64_t left_out; /* omitted because of the options */
	uint64_t zeroed;   /* bytes that redact set to zero */
	/* AUXTRACE records written, and bytes of trace in them */
	uint64_t pieces, piece_bytes;
	bool lost_feature[PTC_FEATURE_BITS]; /* not possible in the output's form */
};

/* No counter is set. */
#ifdef __cplusplus
static inline struct ptc_copy_stats ptc_copy_stats_init(void)
{
	struct ptc_copy_stats ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_COPY_STATS_INIT ptc_copy_stats_init()
#else
/* clang-format off */
#define PTC_COPY_STATS_INIT                                                                    \
	{                                                                                          \
		.size = sizeof(struct ptc_copy_stats)                                            \
	}
/* clang-format on */
#endif

/*
 * Write a copy of @f to @path. The caller makes sure that @path is not a file of @f. The output
 * appears when it is complete, and an existing file becomes PATH.old. Standard output is written as
 * the data come. PTC_E_LIMIT: data too large for the output's form. PTC_E_NOT_EXIST: the copy would
 * have no record. PTC_E_USAGE: options without a size. PTC_E_UNSUPPORTED: unknown options of a
 * newer caller.
 */
PTC_API int ptc_copy(const struct ptc_file *f, const char *path, const struct ptc_copy_opts *opts,
		     struct ptc_copy_stats *ret, struct ptc_err *err);

/* Returns an event id that @f does not use. */
PTC_API uint64_t ptc_copy_new_id(const struct ptc_file *f);

#ifdef __cplusplus
}
#endif
#endif
