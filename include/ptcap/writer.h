/* SPDX-License-Identifier: MIT */
/*
 * Writing a perf.data that perf can read. Order of calls: new, attr..., records and AUXTRACE
 * chunks, features, commit. The file gets its name at commit. ptc_writer_free before commit leaves
 * no file. Memory: attrs, features, and 16 bytes per AUXTRACE chunk. Records pass through one
 * buffer of fixed size, and a compressor if enabled (below 16 MiB).
 */
#ifndef PTCAP_WRITER_H
#define PTCAP_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "ptcap/error.h"
#include "ptcap/sample.h"
#include "ptcap/userrec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PTC_COMPRESS_LEVEL_MAX = 22 }; /* zstd's smallest output; 1 is the fastest level */

struct ptc_writer;

/* A span of memory. A read from a ring gives two if it wraps. */
struct ptc_seg {
	const void *bytes;
	size_t len;
};

/* Start a recording at @path. The caller owns *@ret. PTC_E_IO, PTC_E_PERM, PTC_E_NOT_EXIST. */
PTC_API int ptc_writer_new(const char *path, struct ptc_writer **ret, struct ptc_err *err);

/* Options of ptc_writer_new_as. */
struct ptc_writer_opts {
	size_t size; /* sizeof(struct ptc_writer_opts) */
	/* Write in pipe mode. @path may be "-", standard output, which gets the data as written. */
	bool pipe;
	/*
	 * The data were read from a file. EVENT_DESC is then not generated. AUXTRACE is generated
	 * only if there is a chunk, or if ptc_writer_feature asked for it.
	 */
	bool copy;
};

/* The defaults: a regular file, not a copy. */
#ifdef __cplusplus
static inline struct ptc_writer_opts ptc_writer_opts_init(void)
{
	struct ptc_writer_opts opts = {};

	opts.size = sizeof(opts);
	return opts;
}
#define PTC_WRITER_OPTS_INIT ptc_writer_opts_init()
#else
/* clang-format off */
#define PTC_WRITER_OPTS_INIT                                                                       \
	{                                                                                          \
		.size = sizeof(struct ptc_writer_opts)                                             \
	}
/* clang-format on */
#endif

/*
 * As ptc_writer_new, with @opts; NULL: the defaults. In pipe mode, attrs and features must be set
 * before the first record. PTC_E_USAGE: options without a size.
 */
PTC_API int ptc_writer_new_as(const char *path, const struct ptc_writer_opts *opts,
			      struct ptc_writer **ret, struct ptc_err *err);
/* Discard everything not committed, and free @w. @w may be NULL. */
PTC_API void ptc_writer_free(struct ptc_writer *w);

/*
 * Declare an event, before the first record. EVENT_DESC is generated from these calls at commit.
 * attr->size: bytes of @attr; 0: PERF_ATTR_SIZE_VER7. All arguments are copied.
 */
PTC_API int ptc_writer_attr(struct ptc_writer *w, const struct perf_event_attr *attr,
			    const char *name, const uint64_t *ids, size_t nids,
			    struct ptc_err *err);

/*
 * Declare an event with the bytes of a file's attr, including unknown ones. All attrs of a file
 * have one size, so shorter ones are padded with zeros, and their size field is updated.
 * PTC_E_LIMIT: more bytes than an attr may have.
 */
PTC_API int ptc_writer_attr_stored(struct ptc_writer *w, struct ptc_cur attr, const uint64_t *ids,
				   size_t nids, struct ptc_err *err);

/*
 * Compress all records, as `perf record -z`. To be called before the first record. Commit generates
 * the COMPRESSED feature. @level: 1 (fast) to 22 (small), otherwise PTC_E_USAGE.
 */
PTC_API int ptc_writer_compress(struct ptc_writer *w, unsigned int level, struct ptc_err *err);

/*
 * Append whole records, as bytes of a ring or of another file. The two segments are one stream,
 * which must end at the end of a record. With compression, the records reach the file no later than
 * the next plain record or AUXTRACE chunk.
 */
PTC_API int ptc_writer_records(struct ptc_writer *w, const struct ptc_seg seg[2],
			       struct ptc_err *err);

/*
 * As ptc_writer_records, for records that are never compressed: perf's own types (those at the
 * start, and FINISHED_ROUND), which readers need before decompression.
 */
PTC_API int ptc_writer_plain(struct ptc_writer *w, const void *bytes, size_t len,
			     struct ptc_err *err);

/*
 * Append a whole record of any size, as read from a file. @compress: apply compression, if enabled.
 */
PTC_API int ptc_writer_stored(struct ptc_writer *w, const void *rec, size_t len, bool compress,
			      struct ptc_err *err);

/*
 * Append a SAMPLE record with the layout of @attr: the inverse of ptc_sample_parse. @misc:
 * PERF_RECORD_MISC_* bits. s->id.has and the counts of s->branches are ignored. raw and aux are
 * padded as by the kernel. Compression, if enabled, is applied. PTC_E_USAGE: the record would be
 * larger than PTC_REC_MAX, or a part contradicts @attr: a number of registers unequal to the bits
 * of the mask, or a number of counters unequal to the number of branches.
 */
PTC_API int ptc_writer_sample(struct ptc_writer *w, const struct perf_event_attr *attr,
			      uint16_t misc, const struct ptc_sample *s, struct ptc_err *err);

/*
 * Append an AUXTRACE record as read from a file, and its @payload. Adds the record to the AUXTRACE
 * feature.
 */
PTC_API int ptc_writer_piece(struct ptc_writer *w, struct ptc_cur rec, struct ptc_cur payload,
			     struct ptc_err *err);

/*
 * Append an AUXTRACE record and its payload. The payload is padded with PAD packets (0) to a
 * multiple of 8, and a->size is computed here. Adds the record to the AUXTRACE feature.
 */
PTC_API int ptc_writer_auxtrace(struct ptc_writer *w, const struct ptc_auxtrace *a,
				const struct ptc_seg seg[2], struct ptc_err *err);

/*
 * Reserve disk space, so that the file can still be committed when the disk is full: see
 * ptc_writer_cut. Returns false if there is no space, or the file system cannot reserve.
 */
PTC_API bool ptc_writer_reserve(struct ptc_writer *w);

/*
 * Recover from a full disk, after a record or chunk failed. Removes the incomplete part, and
 * releases the reserved space for the end of the file: features, the ledger (a plain record or two)
 * and commit. Fails with the earlier error if nothing was reserved or written.
 */
PTC_API int ptc_writer_cut(struct ptc_writer *w, struct ptc_err *err);

/* Returns the bytes of the data section so far. */
PTC_API uint64_t ptc_writer_data_size(const struct ptc_writer *w);

/* Bytes of records before compression, and of the COMPRESSED records made from them. */
struct ptc_writer_packed {
	uint64_t in, out; /* both 0 without compression */
};
/* Get these numbers. */
PTC_API void ptc_writer_packed(const struct ptc_writer *w, struct ptc_writer_packed *ret);

/*
 * Set a feature section; @bytes are copied. EVENT_DESC, AUXTRACE and COMPRESSED are generated by
 * commit; see ptc_writer_opts.copy. In pipe mode a section must fit a record (64 KiB).
 */
PTC_API int ptc_writer_feature(struct ptc_writer *w, unsigned int bit, const void *bytes,
			       size_t len, struct ptc_err *err);

/*
 * Write features and header, and give the file its name. Frees @w on success and on failure.
 */
PTC_API int ptc_writer_commit(struct ptc_writer *w, struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
