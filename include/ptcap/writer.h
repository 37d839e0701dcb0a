/* SPDX-License-Identifier: MIT */
/*
 * Writing a perf.data that perf can read. Order of calls: new, attr..., then
 * records and AUXTRACE pieces, then features, then commit. The file appears
 * under its name only at commit; ptc_writer_free before it leaves nothing.
 * Memory: attrs, features and 16 bytes an AUXTRACE piece; records pass through
 * one buffer of fixed size, and maybe a compressor (below 16 MiB).
 */
#ifndef PTCAP_WRITER_H
#define PTCAP_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "ptcap/error.h"
#include "ptcap/userrec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ptc_writer;

/* A piece of memory; rings give up to two when a read wraps. */
struct ptc_seg {
	const void *bytes;
	size_t len;
};

/* A recording that will be at @path. PTC_E_IO, PTC_E_PERM, PTC_E_NOT_EXIST. */
PTC_API int ptc_writer_new(const char *path, struct ptc_writer **ret, struct ptc_err *err);

struct ptc_writer_opts {
	size_t size; /* sizeof(struct ptc_writer_opts) */
	/* Pipe mode. @path may be "-", standard output, which has what is written at once. */
	bool pipe;
	/*
	 * What is written was read from a file: no EVENT_DESC is made, and AUXTRACE
	 * only if there is a piece or ptc_writer_feature asked for one.
	 */
	bool copy;
};

/* The defaults: a file of its own, not a copy. */
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
 * As ptc_writer_new, with @opts; NULL: the defaults. A file in pipe mode gets its attrs and
 * features before the first record. PTC_E_USAGE: options without a size.
 */
PTC_API int ptc_writer_new_as(const char *path, const struct ptc_writer_opts *opts,
			      struct ptc_writer **ret, struct ptc_err *err);
/* What is not committed is gone. @w may be NULL. */
PTC_API void ptc_writer_free(struct ptc_writer *w);

/*
 * Declare an event (before the first record). Also the source of EVENT_DESC at
 * commit. attr->size says how many bytes @attr has; 0: PERF_ATTR_SIZE_VER7.
 */
PTC_API int ptc_writer_attr(struct ptc_writer *w, const struct perf_event_attr *attr,
			    const char *name, const uint64_t *ids, size_t nids,
			    struct ptc_err *err);

/*
 * Declare an event by the bytes that a file has of it, and keep those that we do
 * not know. All attrs of a file have one size, so shorter ones get zeros behind
 * them, and their size field says so. PTC_E_LIMIT: more bytes than an attr may have.
 */
PTC_API int ptc_writer_attr_stored(struct ptc_writer *w, struct ptc_cur attr, const uint64_t *ids,
				   size_t nids, struct ptc_err *err);

/*
 * Compress the records to come (before the first): as `perf record -z`, with
 * the COMPRESSED feature made by commit. @level: 1 (fast) to 22 (small), else
 * PTC_E_USAGE.
 */
PTC_API int ptc_writer_compress(struct ptc_writer *w, unsigned int level, struct ptc_err *err);

/*
 * Append whole records, as bytes of a ring, or of a file that is read. What is
 * given must end at a record's end; the two segments are one stream. Compressed,
 * they reach the file with the next plain record or AUXTRACE piece at the latest.
 */
PTC_API int ptc_writer_records(struct ptc_writer *w, const struct ptc_seg seg[2],
			       struct ptc_err *err);

/*
 * The same for records that are never compressed: those of perf's own types
 * (what comes first, and FINISHED_ROUND), by which a reader finds its way.
 */
PTC_API int ptc_writer_plain(struct ptc_writer *w, const void *bytes, size_t len,
			     struct ptc_err *err);

/* Append a whole record of any size as it stood in a file; @compress: if records are. */
PTC_API int ptc_writer_stored(struct ptc_writer *w, const void *rec, size_t len, bool compress,
			      struct ptc_err *err);

/* Append an AUXTRACE record as it stood in a file, and its @payload; noted for the feature. */
PTC_API int ptc_writer_piece(struct ptc_writer *w, struct ptc_cur rec, struct ptc_cur payload,
			     struct ptc_err *err);

/*
 * Append an AUXTRACE record and its payload, padded with PT's PAD (0) to a
 * multiple of 8 (a->size is computed here); noted for the AUXTRACE feature.
 */
PTC_API int ptc_writer_auxtrace(struct ptc_writer *w, const struct ptc_auxtrace *a,
				const struct ptc_seg seg[2], struct ptc_err *err);

/*
 * Keep some room of the disk, so that what is there when the rest is full can be committed:
 * see ptc_writer_cut. False: there was none to keep, or the file system cannot.
 */
PTC_API bool ptc_writer_reserve(struct ptc_writer *w);

/*
 * After a record or piece that failed, as the disk is full: take back what of it was written, and
 * use the room that was kept for what has to follow. Features, the ledger (a plain record or
 * two) and commit are then possible again. Fails as before if nothing was kept, or nothing
 * written.
 */
PTC_API int ptc_writer_cut(struct ptc_writer *w, struct ptc_err *err);

/* Bytes of the data section so far. */
PTC_API uint64_t ptc_writer_data_size(const struct ptc_writer *w);

/* What compression did so far: bytes of records, and of the COMPRESSED records made of them. */
struct ptc_writer_packed {
	uint64_t in, out; /* both 0 without compression */
};
PTC_API void ptc_writer_packed(const struct ptc_writer *w, struct ptc_writer_packed *ret);

/*
 * Set a feature section (copied). EVENT_DESC, AUXTRACE and COMPRESSED are made by commit; see
 * ptc_writer_opts.copy. In pipe mode a section must fit a record (64 KiB).
 */
PTC_API int ptc_writer_feature(struct ptc_writer *w, unsigned int bit, const void *bytes,
			       size_t len, struct ptc_err *err);

/* Write features and header, rename; consumes @w whether it succeeds or not. */
PTC_API int ptc_writer_commit(struct ptc_writer *w, struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
