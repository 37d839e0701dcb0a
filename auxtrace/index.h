/* SPDX-License-Identifier: MIT */
/* AUXTRACE pieces of a file, sorted into queues. Offsets, never pointers. */
#ifndef PTC_AUXTRACE_INDEX_H
#define PTC_AUXTRACE_INDEX_H

#include <stdbool.h>

#include "auxtrace/reader.h"

struct ptc_chunk {
	uint64_t file_off; /* of the payload */
	uint64_t size;
	uint64_t aux_off; /* in the queue's AUX stream */
	uint64_t reference;
};

struct ptc_queue {
	uint32_t idx;
	int32_t tid, cpu;	  /* of its first piece */
	struct ptc_chunk *chunks; /* in file order, which is stream order */
	size_t nchunks, cap;
	uint64_t bytes; /* payload in all */
	bool samples;	/* pieces from samples: aux_off only counts them, they may overlap */
};

struct ptc_index {
	struct ptc_queue *queues; /* ascending idx */
	size_t nqueues, cap;
};

#define PTC_INDEX_INIT                                                                             \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

/* Add the piece described by an AUXTRACE record of @f. */
int ptc_index_add(struct ptc_index *ix, const struct ptc_file *f, const struct ptc_rec *rec,
		  struct ptc_err *err);

/* Trace in a sample (PERF_SAMPLE_AUX). */
struct ptc_aux_sample {
	uint64_t file_off, size; /* of the trace bytes */
	uint64_t reference;	 /* TSC of the sample; 0: not known */
	uint32_t idx;
	int32_t tid, cpu;
};
/* Add it as a piece. Its bytes must be inside @f: PTC_E_FORMAT. */
int ptc_index_add_sample(struct ptc_index *ix, const struct ptc_file *f,
			 const struct ptc_aux_sample *s, struct ptc_err *err);

/* Add every AUXTRACE record of @f. Errors name the file. */
int ptc_index_scan(struct ptc_index *ix, const struct ptc_file *f, struct ptc_err *err);

/*
 * Add what the AUXTRACE feature lists; no other record is looked at. Returns
 * 1; 0 when @f has no such feature, or one that lists nothing; PTC_E_FORMAT
 * when an entry is not the place and size of an AUXTRACE record, or is not
 * behind the one before; PTC_E_LIMIT.
 */
int ptc_index_feature(struct ptc_index *ix, const struct ptc_file *f, struct ptc_err *err);

/*
 * @ix, empty, from the feature, or from a scan if there is none that can be
 * used: *ret_complaint says why, its code is 0 when there is nothing to say.
 */
int ptc_index_open(struct ptc_index *ix, const struct ptc_file *f, struct ptc_err *ret_complaint,
		   struct ptc_err *err);

/*
 * Does @scan, made of every AUXTRACE record of @f, hold what the feature lists?
 * True also without one; else *ret_complaint says what is wrong.
 */
bool ptc_index_agrees(const struct ptc_index *scan, const struct ptc_file *f,
		      struct ptc_err *ret_complaint);

/* Which queue has @idx: SIZE_MAX if none. */
size_t ptc_index_find(const struct ptc_index *ix, uint32_t idx);

void ptc_index_release(struct ptc_index *ix);

/* A chunk's bytes, lent from the file. */
struct ptc_cur ptc_chunk_bytes(const struct ptc_file *f, const struct ptc_chunk *c);

#endif
