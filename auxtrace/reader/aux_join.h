/* SPDX-License-Identifier: MIT */
/*
 * Join AUX records with AUXTRACE chunks. The result says, for each byte of a queue's trace, when it
 * was generated and whether bytes around it are missing.
 *
 * An AUX record covers [offset, offset + size) of the AUX stream of its ring. AUXTRACE chunks have
 * other boundaries. In overwrite mode (snapshots) offset is a position in the ring, and size is the
 * size of the ring. Such recordings are not joined: each AUXTRACE chunk is one span.
 */
#ifndef PTC_AUXTRACE_READER_AUX_JOIN_H
#define PTC_AUXTRACE_READER_AUX_JOIN_H

#include "auxtrace/reader/aux_index.h"
#include "auxtrace/record/auxtrace_info.h"
#include "auxtrace/record/sideband.h"

/* The fields of an AUX record that are used here. */
struct ptc_aux_said {
	uint64_t off, size, flags;
	uint64_t time_ns; /* perf clock; 0: none */
	uint64_t id;
	uint64_t seq;	  /* order in the file */
	int32_t tid, cpu; /* -1: not known */
	size_t queue;	  /* position in the index; PTC_AUX_NO_QUEUE: unknown */
};

#define PTC_AUX_NO_QUEUE SIZE_MAX

struct ptc_aux_id {
	uint64_t id;
	uint32_t idx; /* idx of its queue */
};

struct ptc_aux_join {
	struct ptc_aux_said *said; /* owned */
	size_t nsaid, said_cap;
	struct ptc_aux_id *ids; /* owned; from ID_INDEX; ascending */
	size_t nids, ids_cap;
	bool ids_sorted;   /* sorted; no more ids are added */
	uint64_t unplaced; /* AUX records of unknown queue; set by ptc_aux_join_sort */
};

#define PTC_AUX_JOIN_INIT                                                                          \
	{                                                                                          \
		NULL, 0, 0, NULL, 0, 0, false, 0                                                   \
	}

/* Bytes [off, off + size) of a queue's AUX stream. Size 0: a loss at a position without bytes. */
struct ptc_aux_span {
	uint64_t off, size;
	uint64_t after_ns; /* generated after this time, perf clock; 0: unknown */
	uint64_t until_ns; /* and not after this time; UINT64_MAX: unknown */
	uint64_t flags;	   /* PERF_AUX_FLAG_* of its AUX record */
	uint64_t lost;	   /* bytes of the stream before it that are not in the file */
	bool told;	   /* covered by an AUX record */
};

struct ptc_aux_spans {
	struct ptc_aux_span *spans; /* owned; ascending, in overwrite mode in file order */
	size_t n, cap;
};

/* Add an AUX record. PTC_E_LIMIT: more than PTC_LIMIT_AUX_CHUNKS. */
int ptc_aux_join_add(struct ptc_aux_join *j, const struct ptc_sb *sb, struct ptc_err *err);
/*
 * Add the id-to-queue pairs of an ID_INDEX record. Ignored after the first lookup. PTC_E_FORMAT,
 * PTC_E_LIMIT.
 */
int ptc_aux_join_ids(struct ptc_aux_join *j, const struct ptc_rec *rec, struct ptc_err *err);

/* Get the idx of the queue of event @id. Returns false, without setting *ret_idx, if unknown. */
bool ptc_aux_join_idx(struct ptc_aux_join *j, uint64_t id, uint32_t *ret_idx);

/*
 * After all records were added: find each record's queue in @ix, by cpu, tid or id. With a single
 * queue, every record that does not contradict it belongs to it.
 */
int ptc_aux_join_sort(struct ptc_aux_join *j, const struct ptc_index *ix, struct ptc_err *err);

/*
 * Get the spans of queue @i of @ix, the index given to ptc_aux_join_sort. The caller releases
 * *@ret. Padding after the last packet is in no span. @conv (or NULL) converts the reference of
 * chunks without an AUX record to times.
 */
int ptc_aux_join_queue(const struct ptc_aux_join *j, const struct ptc_index *ix, size_t i,
		       const struct ptc_time_conv *conv, struct ptc_aux_spans *ret,
		       struct ptc_err *err);

void ptc_aux_spans_release(struct ptc_aux_spans *s);
void ptc_aux_join_release(struct ptc_aux_join *j);

#endif
