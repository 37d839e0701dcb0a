/* SPDX-License-Identifier: MIT */
/*
 * Reading perf.data: struct ptc_file is a recording, mapped and validated. All forms have the same
 * interface: a file, a file in pipe mode (perf record -o -), a folder (perf record --threads), each
 * with or without compression (-z). Big-endian files and the old PERFFILE are refused, with a
 * message that names the form.
 *
 * Borrowed data (bytes, strings, records, attrs) are valid until ptc_file_free. An open file does
 * not change: threads can share it, each with its own positions. Unless stated otherwise, sizes are
 * bytes, and times are ns of the recording's clock (perf clock).
 *
 * Functions return 0, a count, or a negative enum ptc_errc with *err filled. Errors of this
 * header's functions name the file. Errors of the parsers of single records and features (sample.h,
 * sideband.h, userrec.h, ledger.h, feature.h) do not: see ptc_file_err_name. Sizes in the file are
 * checked against the file's size before memory is allocated for them.
 *
 * Offsets (in struct ptc_rec, in err.off before ptc_file_err_name, in calls of ptc_file_bytes) are
 * file offsets, if the recording is one file without compression. In all other forms an offset is a
 * unique number that ascends within a file. ptc_file_place converts it to a location for messages.
 *
 * Layouts: tools/perf/Documentation/perf.data-file-format.txt, include/uapi/linux/perf_event.h,
 * tools/lib/perf/include/perf/event.h.
 */
#ifndef PTCAP_FILE_H
#define PTCAP_FILE_H

#include "ptcap/cursor.h"
#include "ptcap/error.h"
#include "ptcap/feature.h"
#include "ptcap/ledger.h"
#include "ptcap/record.h"
#include "ptcap/sample.h"
#include "ptcap/sideband.h"
#include "ptcap/userrec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ptc_file;

/* Forms of a recording. */
enum ptc_file_form {
	PTC_FORM_FILE,
	PTC_FORM_PIPE,	/* pipe mode: attrs and features are records */
	PTC_FORM_FOLDER /* "data", and "data.N" of each writer thread */
};

/* One event of the recording. */
struct ptc_file_attr {
	/*
	 * Fields that the file's older attr does not have are 0; attr_room leaves space for newer
	 * ones.
	 */
	__extension__ union { /* C99 has no unions without a name */
		struct perf_event_attr attr;
		uint8_t attr_room[PTC_ATTR_ROOM];
	};
	bool unknown_bytes;    /* the file's attr has non-zero bytes after the known fields */
	struct ptc_cur stored; /* the attr's attr.size bytes in the file; borrowed */
	const uint64_t *ids;   /* owned by the file */
	size_t nids;
	/*
	 * From the last EVENT_UPDATE. In pipe mode and with ptc_file_open_damaged all of them
	 * count. Otherwise only those before the first kernel record count, so that opening need
	 * not read the whole file. Borrowed. NULL, NULL, 0: not in the file.
	 */
	const char *name, *unit;
	double scale;
};

/*
 * Open @path, and validate the header, the attrs and the feature table. "-" is standard input. On
 * success the caller owns *@ret and frees it with ptc_file_free.
 *
 * An input that is no regular file is first read to its end, into memory or a temporary file.
 * Compressed records are expanded there too. PTC_E_LIMIT: they expand to more than 64 GiB, or more
 * than 16 MiB plus 256 times their size.
 *
 * A file cut off by a killed writer (data size 0) is refused with a message. In pipe mode the last
 * record shows it. Damaged records inside the data are not searched for. ptc_file_next reports
 * them. Errors: PTC_E_IO, PTC_E_NOT_EXIST, PTC_E_PERM, PTC_E_FORMAT, PTC_E_UNSUPPORTED,
 * PTC_E_LIMIT, PTC_E_NO_MEMORY.
 */
PTC_API int ptc_file_open(const char *path, struct ptc_file **ret, struct ptc_err *err);
/* As ptc_file_open, for bytes in memory, which must outlive the file. @name is for messages. */
PTC_API int ptc_file_open_bytes(const void *bytes, size_t len, const char *name,
				struct ptc_file **ret, struct ptc_err *err);
/*
 * Open a damaged file, to salvage the intact part. Parts outside the file are dropped. The data end
 * after the last whole record before the first damage. So ptc_file_data_off + ptc_file_data_size
 * (in a folder: ptc_file_part) is the end of the good data, and ptc_file_next does not fail.
 *
 * If the writer was killed (data size 0, no features yet), the header is completed: the records
 * extend to the end of the file. A feature table behind them is used if it is complete. The header
 * itself and the attrs must be intact.
 */
PTC_API int ptc_file_open_damaged(const char *path, struct ptc_file **ret, struct ptc_err *err);
PTC_API int ptc_file_open_damaged_bytes(const void *bytes, size_t len, const char *name,
					struct ptc_file **ret, struct ptc_err *err);
/*
 * Get the cut-off AUXTRACE chunk behind the good data of part @i of a damaged file. Returns its
 * bytes that are in the file (whole words), or 0 if there is no such chunk. *ret: its record, with
 * size set to these bytes. *ret_trace: the bytes, borrowed.
 */
PTC_API uint64_t ptc_file_cut_trace(const struct ptc_file *f, size_t i, struct ptc_auxtrace *ret,
				    struct ptc_cur *ret_trace);
/* Returns the most important damage, borrowed; NULL: the file is intact. */
PTC_API const struct ptc_err *ptc_file_damage(const struct ptc_file *f);
/* Returns damage @i, borrowed; NULL: no more. Only a limited number is kept. */
PTC_API const struct ptc_err *ptc_file_damage_at(const struct ptc_file *f, size_t i);
/* Free @f and all memory borrowed from it. @f may be NULL. */
PTC_API void ptc_file_free(struct ptc_file *f);

/*
 * Complete the error of a parser: put the file's name before the message, and the location (see
 * ptc_file_place) at its end. To be called once per error. Returns err->code.
 */
PTC_API int ptc_file_err_name(const struct ptc_file *f, struct ptc_err *err);

/* Name as opened, and size in bytes of all files of the recording together. */
PTC_API const char *ptc_file_name(const struct ptc_file *f);
PTC_API uint64_t ptc_file_size(const struct ptc_file *f);
PTC_API enum ptc_file_form ptc_file_form(const struct ptc_file *f);
/* Return whether the file has compressed records. */
PTC_API bool ptc_file_compressed(const struct ptc_file *f);
/* Offset and size of the data section, in a folder that of the first file. */
PTC_API uint64_t ptc_file_data_off(const struct ptc_file *f);
PTC_API uint64_t ptc_file_data_size(const struct ptc_file *f);

/*
 * One file of the recording: the file itself, or a folder's "data" and its "data.N" (part N + 1).
 */
struct ptc_file_part {
	const char *name; /* borrowed */
	uint64_t size, data_off, data_size;
};
/* @i must be below ptc_file_nparts. */
PTC_API size_t ptc_file_nparts(const struct ptc_file *f);
PTC_API void ptc_file_part(const struct ptc_file *f, size_t i, struct ptc_file_part *ret);

/* Location of an offset for messages. */
struct ptc_file_place {
	const char *name; /* name of the single file; borrowed */
	uint64_t off;	  /* offset in that file; if @inflated, of the compressed record */
	bool inflated;
	/* Offset in the expanded records of the compressed record; may be beyond them. */
	uint64_t inner;
};
/* Get the location of offset @off, which must be from @f. */
PTC_API void ptc_file_place(const struct ptc_file *f, uint64_t off, struct ptc_file_place *ret);

/* The events; @i must be below ptc_file_nattrs. Borrowed. */
PTC_API size_t ptc_file_nattrs(const struct ptc_file *f);
PTC_API const struct ptc_file_attr *ptc_file_attr(const struct ptc_file *f, size_t i);

/*
 * Get the bytes of a feature, borrowed. Returns false if the file does not have the feature.
 * *ret_off (may be NULL): their offset. In pipe mode the bytes come from HEADER_FEATURE records;
 * the last record of a bit counts. TRACING_DATA are the bytes behind its record. BUILD_ID is all
 * HEADER_BUILD_ID records in sequence (*ret_off: of the first one).
 */
PTC_API bool ptc_file_feature(const struct ptc_file *f, unsigned int bit, struct ptc_cur *ret,
			      uint64_t *ret_off);

/*
 * Iterate over all records: *@pos starts at 0 and advances. The files of a folder follow each
 * other. The payload behind an AUXTRACE or TRACING_DATA record is skipped. A compressed record is
 * replaced by the records that it completes. Returns 1, 0 at the end (also on later calls), or a
 * negative code at a damaged record. After an error, iteration cannot continue.
 */
PTC_API int ptc_file_next(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret,
			  struct ptc_err *err);
/*
 * As ptc_file_next, but up to @n records per call: several times as fast for millions of records.
 * Returns the number of records. It is less than @n before the end or a damaged record. The next
 * call then returns 0 or the error.
 */
PTC_API int ptc_file_next_batch(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *recs,
				size_t n, struct ptc_err *err);
/* As ptc_file_next, but returns COMPRESSED and COMPRESSED2 records themselves, not expanded. */
PTC_API int ptc_file_next_stored(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret,
				 struct ptc_err *err);

/*
 * Returns the sample_type of a record's sample_id trailer, or 0 if it has no trailer. Kernel
 * records have one if the attrs have sample_id_all. If there are several attrs, the IDENTIFIER,
 * which is always last, selects the attr.
 */
PTC_API uint64_t ptc_file_trailer_type(const struct ptc_file *f, const struct ptc_rec *rec);
/* Returns the attr of a PERF_RECORD_SAMPLE; NULL if the file has no attrs. */
PTC_API const struct ptc_file_attr *ptc_file_sample_attr(const struct ptc_file *f,
							 const struct ptc_rec *rec);
/* Returns the attr of an event id, or NULL. */
PTC_API const struct ptc_file_attr *ptc_file_attr_of_id(const struct ptc_file *f, uint64_t id);

/* Borrow @size bytes at an offset. Returns false if they are not all inside. */
PTC_API bool ptc_file_bytes(const struct ptc_file *f, uint64_t off, uint64_t size,
			    struct ptc_cur *ret);

/* Decode an AUXTRACE record from ptc_file_next. *ret_bytes: its trace, borrowed. PTC_E_FORMAT. */
PTC_API int ptc_file_auxtrace(const struct ptc_file *f, const struct ptc_rec *rec,
			      struct ptc_auxtrace *ret, struct ptc_cur *ret_bytes,
			      struct ptc_err *err);

/*
 * The trace of a file by queue. There is one queue per AUX buffer (of a CPU or thread). The chunks
 * of a queue follow each other in the AUX stream of that buffer.
 */

/* The trace of an AUXTRACE record or of a sample. */
struct ptc_chunk {
	uint64_t file_off; /* file offset of the payload */
	uint64_t size;
	uint64_t aux_off;   /* offset in the queue's AUX stream */
	uint64_t reference; /* TSC when the chunk was copied */
};

/* The trace of one AUX buffer. */
struct ptc_queue {
	uint32_t idx;
	int32_t tid, cpu;	  /* of the queue's first chunk; -1: none */
	struct ptc_chunk *chunks; /* in file order, which is stream order */
	size_t nchunks, cap;
	uint64_t bytes; /* sum of the payload bytes */
	/* The chunks are from samples: aux_off is only a running sum, and chunks may overlap. */
	bool samples;
};

/* Initialize with PTC_INDEX_INIT. Owns its lists, and borrows nothing from the file. */
struct ptc_index {
	struct ptc_queue *queues; /* ascending idx; between add and sort in order of arrival */
	size_t nqueues, cap;
	/* Position of each idx, between add and sort; NULL: they ascend. */
	struct ptc_idmap *places;
};

#define PTC_INDEX_INIT                                                                             \
	{                                                                                          \
		NULL, 0, 0, NULL                                                                   \
	}

/*
 * Add the chunk of an AUXTRACE record of @f. Call ptc_index_sort after the last one. PTC_E_FORMAT,
 * PTC_E_LIMIT.
 */
PTC_API int ptc_index_add(struct ptc_index *ix, const struct ptc_file *f, const struct ptc_rec *rec,
			  struct ptc_err *err);

/* Trace in a sample (PERF_SAMPLE_AUX). */
struct ptc_aux_sample {
	uint64_t file_off, size; /* of the trace bytes */
	uint64_t reference;	 /* TSC of the sample; 0: not known */
	uint32_t idx;
	int32_t tid, cpu;
};
/*
 * Add the trace of a sample as a chunk, as ptc_index_add. PTC_E_FORMAT: its bytes are not inside
 * @f.
 */
PTC_API int ptc_index_add_sample(struct ptc_index *ix, const struct ptc_file *f,
				 const struct ptc_aux_sample *s, struct ptc_err *err);

/* Sort the added queues by idx. Before that, only ptc_index_find finds a queue. */
PTC_API void ptc_index_sort(struct ptc_index *ix);

/* Add every AUXTRACE record of @f. Errors name the file. */
PTC_API int ptc_index_scan(struct ptc_index *ix, const struct ptc_file *f, struct ptc_err *err);

/*
 * Add the chunks that the AUXTRACE feature lists, without reading other records. Returns 1, or 0 if
 * @f has no such feature or an empty one. PTC_E_FORMAT: an entry is not the location and size of an
 * AUXTRACE record, or entries are not ascending. PTC_E_LIMIT.
 */
PTC_API int ptc_index_feature(struct ptc_index *ix, const struct ptc_file *f, struct ptc_err *err);

/*
 * Fill @ix, which must be empty, from the feature. Without a usable feature, scan all records.
 * *ret_complaint: why the feature is unusable, or code 0.
 */
PTC_API int ptc_index_open(struct ptc_index *ix, const struct ptc_file *f,
			   struct ptc_err *ret_complaint, struct ptc_err *err);

/*
 * Compare @scan, made from every AUXTRACE record of @f, with the feature. Returns true if they
 * agree, or if there is no feature. Otherwise *ret_complaint has the difference.
 */
PTC_API bool ptc_index_agrees(const struct ptc_index *scan, const struct ptc_file *f,
			      struct ptc_err *ret_complaint);

/* Returns the position of the queue with @idx; SIZE_MAX if there is none. */
PTC_API size_t ptc_index_find(const struct ptc_index *ix, uint32_t idx);

/* Free the lists of @ix. @ix is then as after PTC_INDEX_INIT. */
PTC_API void ptc_index_release(struct ptc_index *ix);

/* Returns the bytes of a chunk, borrowed from the file that the index was made from. */
PTC_API struct ptc_cur ptc_chunk_bytes(const struct ptc_file *f, const struct ptc_chunk *c);

/*
 * A file's records in time order.
 *
 * The kernel's records come from several rings, drained one after another. A FINISHED_ROUND record
 * is a promise of the recorder: records behind a mark are not older than records before the
 * previous mark. So at each mark, records up to the youngest time before the previous mark are
 * released, as in perf. Records with equal times keep the order of the file.
 *
 * Records without a time, or with time 0 or ~0 (synthesized by perf), and perf's own records have
 * no position in this order. They are released as soon as they are read.
 *
 * Memory: 16 to 32 bytes per waiting record, at most PTC_ORDER_MAX records. At that limit the
 * oldest waiting record is released without waiting for a mark.
 */

enum { PTC_ORDER_MAX = 1 << 22 }; /* 64 MiB to 128 MiB */

/* Options of ptc_order_new. */
struct ptc_order_opts {
	size_t size; /* sizeof(struct ptc_order_opts) */
	/*
	 * Ignore FINISHED_ROUND: sort as many records as may wait. If the file has no more records
	 * than that, it is fully sorted.
	 */
	bool no_rounds;
	size_t max; /* maximum of waiting records; 0: PTC_ORDER_MAX */
};

/* The defaults: the order that perf uses. */
#ifdef __cplusplus
static inline struct ptc_order_opts ptc_order_opts_init(void)
{
	struct ptc_order_opts opts = {};

	opts.size = sizeof(opts);
	return opts;
}
#define PTC_ORDER_OPTS_INIT ptc_order_opts_init()
#else
/* clang-format off */
#define PTC_ORDER_OPTS_INIT                                                                        \
	{                                                                                          \
		.size = sizeof(struct ptc_order_opts)                                              \
	}
/* clang-format on */
#endif

/*
 * Counters of an iteration in time order. Initialize with PTC_ORDER_STATS_INIT: a library of
 * another version sets only the members that it and the caller know.
 */
struct ptc_order_stats {
	size_t size;	  /* sizeof(struct ptc_order_stats) */
	uint64_t records; /* released so far */
	/*
	 * Released after a younger record: the recorder broke its promise, or too many had to wait.
	 */
	uint64_t unordered;
	/* Kernel records without a time that were released after a record with a time. */
	uint64_t late;
	size_t waiting_max; /* highest number of waiting records */
};

/* No counter is set. */
#ifdef __cplusplus
static inline struct ptc_order_stats ptc_order_stats_init(void)
{
	struct ptc_order_stats ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_ORDER_STATS_INIT ptc_order_stats_init()
#else
/* clang-format off */
#define PTC_ORDER_STATS_INIT                                                                       \
	{                                                                                          \
		.size = sizeof(struct ptc_order_stats)                                             \
	}
/* clang-format on */
#endif

struct ptc_order;

/*
 * Create an iterator over @f in time order. @f is borrowed and must outlive *@ret. @opts NULL: the
 * defaults. The caller owns *@ret. PTC_E_USAGE: options without a size.
 */
PTC_API int ptc_order_new(const struct ptc_file *f, const struct ptc_order_opts *opts,
			  struct ptc_order **ret, struct ptc_err *err);
/* Free @o, which may be NULL. */
PTC_API void ptc_order_free(struct ptc_order *o);

/*
 * Get the next record, borrowed from the file, and its time in ns (0: none). Returns 1, 0 at the
 * end, or a negative code at a damaged record, as ptc_file_next. After an error the records that
 * still waited are not released.
 */
PTC_API int ptc_order_next(struct ptc_order *o, struct ptc_rec *ret, uint64_t *ret_time_ns,
			   struct ptc_err *err);

/* Get the counters so far. Without a size in *@ret nothing is set. */
PTC_API void ptc_order_get_stats(const struct ptc_order *o, struct ptc_order_stats *ret);

#ifdef __cplusplus
}
#endif
#endif
