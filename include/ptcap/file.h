/* SPDX-License-Identifier: MIT */
/*
 * Reading perf.data: struct ptc_file is a recording of any form, mapped and
 * validated. A file, a file in pipe mode (perf record -o -), a folder (perf
 * record --threads), each with or without compression (-z), look the same from
 * outside. Big-endian files and the old PERFFILE are refused by name.
 *
 * What is lent (bytes, strings, records, attrs) lives until ptc_file_free. An
 * open file does not change: threads can share it, each with positions of its
 * own. Sizes are bytes, times ns of the clock that was recorded with (perf
 * clock), if nothing else is said.
 *
 * Functions return 0, a count, or a negative enum ptc_errc with *err filled.
 * Errors of the functions of this header name the file; those of the parsers of
 * single records and features (sample.h, sideband.h, userrec.h, ledger.h, feature.h) do
 * not: see ptc_file_err_name. What a file claims is held against its size
 * before anything is allocated for it.
 *
 * An offset (struct ptc_rec's, err.off before ptc_file_err_name, and what
 * ptc_file_bytes takes) is the one in the file, if that is one file without
 * compression. Of the other forms it is a number that is unique, ascends within
 * a file, and is for ptc_file_place to turn into something to show.
 *
 * Layouts: tools/perf/Documentation/perf.data-file-format.txt,
 * include/uapi/linux/perf_event.h, tools/lib/perf/include/perf/event.h.
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

enum ptc_file_form {
	PTC_FORM_FILE,
	PTC_FORM_PIPE,	/* attrs and features are records */
	PTC_FORM_FOLDER /* "data", and "data.N" of each thread that wrote */
};

/* One event of the recording. */
struct ptc_file_attr {
	/* 0 where the file's attr is older; the room is for newer ones */
	__extension__ union { /* C99 has no unions without a name */
		struct perf_event_attr attr;
		uint8_t attr_room[PTC_ATTR_ROOM];
	};
	bool unknown_bytes;    /* the file's attr has more than we know */
	struct ptc_cur stored; /* the attr as the file has it, attr.size bytes; lent */
	const uint64_t *ids;   /* owned by the file */
	size_t nids;
	/*
	 * Told by the last EVENT_UPDATE: of all in pipe mode and by ptc_file_open_damaged, else of
	 * those in front of all records of the kernel, so that opening need not look at the
	 * rest; lent. NULL, NULL, 0: not told.
	 */
	const char *name, *unit;
	double scale;
};

/*
 * Open and validate the header, the attrs and the feature table. Everything
 * lent by the functions below lives until ptc_file_free. "-" is standard input.
 * What is no regular file is read to its end first, into memory or a temporary
 * file; so is what compressed records expand to, of which 16 MiB and 256
 * times their size are accepted, at most 64 GiB: PTC_E_LIMIT.
 *
 * A file that was cut (a writer that was killed: data size 0) is refused, saying
 * so; in pipe mode it is known by its last record. A damaged record inside the
 * data is not looked for: ptc_file_next comes upon it. PTC_E_IO, PTC_E_NOT_EXIST,
 * PTC_E_PERM, PTC_E_FORMAT, PTC_E_UNSUPPORTED, PTC_E_LIMIT, PTC_E_NO_MEMORY.
 */
PTC_API int ptc_file_open(const char *path, struct ptc_file **ret, struct ptc_err *err);
/* The same for bytes in memory, which must outlive the file; @name is for messages. */
PTC_API int ptc_file_open_bytes(const void *bytes, size_t len, const char *name,
				struct ptc_file **ret, struct ptc_err *err);
/*
 * For those who want what is left of a damaged file. What lies outside the file
 * is dropped, and the data end behind the last whole record before the first
 * damage; so ptc_file_data_off + ptc_file_data_size (ptc_file_part, of a folder)
 * is where the good data end, and ptc_file_next does not fail. A header whose
 * writer was killed (data size 0, no features yet) is made up for: the records
 * go to the end of the file, and a feature table behind them is used if it is
 * whole. The header itself and the attrs must be there.
 */
PTC_API int ptc_file_open_damaged(const char *path, struct ptc_file **ret, struct ptc_err *err);
PTC_API int ptc_file_open_damaged_bytes(const void *bytes, size_t len, const char *name,
					struct ptc_file **ret, struct ptc_err *err);
/*
 * Behind the good data of part @i of such a file there may be a piece of trace whose end is
 * missing. Returns how many bytes of it are there (whole words), 0: there is none; then *ret is its
 * record, with that size, and *ret_trace has them, lent.
 */
PTC_API uint64_t ptc_file_cut_trace(const struct ptc_file *f, size_t i, struct ptc_auxtrace *ret,
				    struct ptc_cur *ret_trace);
/* What was wrong, the first (most telling) of it. NULL: nothing. Lent. */
PTC_API const struct ptc_err *ptc_file_damage(const struct ptc_file *f);
/* The @i-th thing that was wrong; NULL: there were no more (or no more are kept). Lent. */
PTC_API const struct ptc_err *ptc_file_damage_at(const struct ptc_file *f, size_t i);
/* @f may be NULL. */
PTC_API void ptc_file_free(struct ptc_file *f);

/*
 * Put the file's name in front of the message of a parser's error, and the place
 * (see ptc_file_place) into its end. Once for each error. Returns err->code.
 */
PTC_API int ptc_file_err_name(const struct ptc_file *f, struct ptc_err *err);

/* Of all its files together: name as opened, bytes. */
PTC_API const char *ptc_file_name(const struct ptc_file *f);
PTC_API uint64_t ptc_file_size(const struct ptc_file *f);
PTC_API enum ptc_file_form ptc_file_form(const struct ptc_file *f);
/* It has compressed records (whatever came of them). */
PTC_API bool ptc_file_compressed(const struct ptc_file *f);
/* The data section of the file, or of the first one of a folder. */
PTC_API uint64_t ptc_file_data_off(const struct ptc_file *f);
PTC_API uint64_t ptc_file_data_size(const struct ptc_file *f);

/* The single files: one, or a folder's "data" and its "data.N" (part N + 1). */
struct ptc_file_part {
	const char *name; /* lent */
	uint64_t size, data_off, data_size;
};
/* @i below ptc_file_nparts. */
PTC_API size_t ptc_file_nparts(const struct ptc_file *f);
PTC_API void ptc_file_part(const struct ptc_file *f, size_t i, struct ptc_file_part *ret);

/* Where an offset is, in words that mean something outside. */
struct ptc_file_place {
	const char *name; /* of the single file; lent */
	uint64_t off;	  /* in it; of the compressed record, if @inflated */
	bool inflated;
	uint64_t inner; /* in the records that the compressed record gave; may be beyond them */
};
PTC_API void ptc_file_place(const struct ptc_file *f, uint64_t off, struct ptc_file_place *ret);

/* The events, @i below ptc_file_nattrs; lent. */
PTC_API size_t ptc_file_nattrs(const struct ptc_file *f);
PTC_API const struct ptc_file_attr *ptc_file_attr(const struct ptc_file *f, size_t i);

/*
 * The bytes of a feature bit, lent; false when the file has none. *ret_off (may
 * be NULL): the offset where they are. In pipe mode they come from
 * HEADER_FEATURE records (the last one of a bit counts), those of TRACING_DATA
 * are what follows its record, and those of BUILD_ID the HEADER_BUILD_ID records
 * one after the other (*ret_off: of the first one).
 */
PTC_API bool ptc_file_feature(const struct ptc_file *f, unsigned int bit, struct ptc_cur *ret,
			      uint64_t *ret_off);

/*
 * Iterate over all records: *@pos starts at 0 and moves on. The files of a
 * folder follow each other. What follows an AUXTRACE or TRACING_DATA record and
 * belongs to it is skipped. Where a compressed record stands, the records that
 * it completes come instead of it. Returns 1, 0 at the end (it stays there), or
 * a negative code (a damaged record: iteration cannot go on).
 */
PTC_API int ptc_file_next(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret,
			  struct ptc_err *err);
/*
 * The same, up to @n records at once, for those who read millions of them: several
 * times as fast. Returns how many, fewer than @n in front of the end or of a damaged
 * record too; then 0 or the error.
 */
PTC_API int ptc_file_next_batch(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *recs,
				size_t n, struct ptc_err *err);
/* ptc_file_next without looking into COMPRESSED and COMPRESSED2, which are given themselves. */
PTC_API int ptc_file_next_stored(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret,
				 struct ptc_err *err);

/*
 * The sample_type that a record's trailer follows, 0 if it has none: kernel
 * records of a recording whose attrs have sample_id_all. With several attrs
 * the IDENTIFIER, which is always last, tells whose it is.
 */
PTC_API uint64_t ptc_file_trailer_type(const struct ptc_file *f, const struct ptc_rec *rec);
/* The attr that a PERF_RECORD_SAMPLE belongs to; NULL in a file without attrs. */
PTC_API const struct ptc_file_attr *ptc_file_sample_attr(const struct ptc_file *f,
							 const struct ptc_rec *rec);
/* The attr that an id belongs to, or NULL. */
PTC_API const struct ptc_file_attr *ptc_file_attr_of_id(const struct ptc_file *f, uint64_t id);

/* Any @size bytes at an offset: lent. False if they are not inside. */
PTC_API bool ptc_file_bytes(const struct ptc_file *f, uint64_t off, uint64_t size,
			    struct ptc_cur *ret);

/* An AUXTRACE record from ptc_file_next, typed, and its trace: lent bytes. PTC_E_FORMAT. */
PTC_API int ptc_file_auxtrace(const struct ptc_file *f, const struct ptc_rec *rec,
			      struct ptc_auxtrace *ret, struct ptc_cur *ret_bytes,
			      struct ptc_err *err);

/*
 * The trace of a file by queue, as many as there were AUX buffers (one a CPU or
 * thread). A queue's pieces follow each other in the stream that the buffer was.
 */

struct ptc_chunk {
	uint64_t file_off; /* of the payload */
	uint64_t size;
	uint64_t aux_off;   /* in the queue's AUX stream */
	uint64_t reference; /* TSC when it was copied */
};

struct ptc_queue {
	uint32_t idx;
	int32_t tid, cpu;	  /* of its first piece; -1: none */
	struct ptc_chunk *chunks; /* in file order, which is stream order */
	size_t nchunks, cap;
	uint64_t bytes; /* payload in all */
	bool samples;	/* pieces from samples: aux_off only counts them, they may overlap */
};

/* Starts as PTC_INDEX_INIT; owns its lists, and lends nothing from the file. */
struct ptc_index {
	struct ptc_queue *queues; /* ascending idx; between add and sort as they came */
	size_t nqueues, cap;
	struct ptc_idmap *places; /* where each is, between add and sort; NULL: they ascend */
};

#define PTC_INDEX_INIT                                                                             \
	{                                                                                          \
		NULL, 0, 0, NULL                                                                   \
	}

/*
 * Add the piece described by an AUXTRACE record of @f. Behind the last one call ptc_index_sort.
 * PTC_E_FORMAT, PTC_E_LIMIT.
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
/* Add it as a piece, as ptc_index_add. Its bytes must be inside @f: PTC_E_FORMAT. */
PTC_API int ptc_index_add_sample(struct ptc_index *ix, const struct ptc_file *f,
				 const struct ptc_aux_sample *s, struct ptc_err *err);

/*
 * Bring the queues that were added into ascending order. Until then only ptc_index_find knows
 * where a queue is.
 */
PTC_API void ptc_index_sort(struct ptc_index *ix);

/* Add every AUXTRACE record of @f. Errors name the file. */
PTC_API int ptc_index_scan(struct ptc_index *ix, const struct ptc_file *f, struct ptc_err *err);

/*
 * Add what the AUXTRACE feature lists; no other record is looked at. Returns
 * 1; 0 when @f has no such feature, or one that lists nothing; PTC_E_FORMAT
 * when an entry is not the place and size of an AUXTRACE record, or is not
 * behind the one before; PTC_E_LIMIT.
 */
PTC_API int ptc_index_feature(struct ptc_index *ix, const struct ptc_file *f, struct ptc_err *err);

/*
 * @ix, empty, from the feature, or from a scan if there is none that can be
 * used: *ret_complaint says why, its code is 0 when there is nothing to say.
 */
PTC_API int ptc_index_open(struct ptc_index *ix, const struct ptc_file *f,
			   struct ptc_err *ret_complaint, struct ptc_err *err);

/*
 * Does @scan, made of every AUXTRACE record of @f, hold what the feature lists?
 * True also without one; else *ret_complaint says what is wrong.
 */
PTC_API bool ptc_index_agrees(const struct ptc_index *scan, const struct ptc_file *f,
			      struct ptc_err *ret_complaint);

/* Which queue has @idx: SIZE_MAX if none. */
PTC_API size_t ptc_index_find(const struct ptc_index *ix, uint32_t idx);

/* Its lists; it is then as PTC_INDEX_INIT. */
PTC_API void ptc_index_release(struct ptc_index *ix);

/* A chunk's bytes, lent from the file that the index was made of. */
PTC_API struct ptc_cur ptc_chunk_bytes(const struct ptc_file *f, const struct ptc_chunk *c);

/*
 * A file's records in the order of their times.
 *
 * The kernel's records come from several rings, drained one after another. The
 * recorder promises, with FINISHED_ROUND, that nothing behind such a mark is
 * older than what was in front of the one before it. So at each mark what is
 * not younger than the youngest record in front of the last one goes out, as in
 * perf. Equal times keep the order of the file.
 *
 * Records without a time, or with time 0 or ~0 (made up by perf), and perf's
 * own records have no place in this order: they come when they are met.
 *
 * Memory: 16 to 32 bytes a waiting record, PTC_ORDER_MAX of them at most. Where more
 * would have to wait the oldest goes out instead, mark or not.
 */

enum { PTC_ORDER_MAX = 1 << 22 }; /* 64 MiB, at most 128 */

struct ptc_order_opts {
	size_t size; /* sizeof(struct ptc_order_opts) */
	/*
	 * Do not believe in FINISHED_ROUND: sort as many records as can wait,
	 * which is the whole file if it has no more.
	 */
	bool no_rounds;
	size_t max; /* records that wait; 0: PTC_ORDER_MAX */
};

/* The defaults: the order that perf gives records. */
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

struct ptc_order_stats {
	uint64_t records; /* given so far */
	/* Given behind a younger one: the file broke its promise, or too many had to wait. */
	uint64_t unordered;
	/* Kernel's records without a time given behind one with a time. */
	uint64_t late;
	size_t waiting_max; /* the most that ever waited */
};

struct ptc_order;

/* @f is lent and must outlive the result. @opts NULL: the defaults. PTC_E_USAGE: no size in it. */
PTC_API int ptc_order_new(const struct ptc_file *f, const struct ptc_order_opts *opts,
			  struct ptc_order **ret, struct ptc_err *err);
PTC_API void ptc_order_free(struct ptc_order *o);

/*
 * The next record, lent from the file, and its time in ns (0: none). Returns 1,
 * 0 at the end, or a negative code at a damaged record, as ptc_file_next; what
 * waited is then not given.
 */
PTC_API int ptc_order_next(struct ptc_order *o, struct ptc_rec *ret, uint64_t *ret_time_ns,
			   struct ptc_err *err);

PTC_API void ptc_order_get_stats(const struct ptc_order *o, struct ptc_order_stats *ret);

#ifdef __cplusplus
}
#endif
#endif
