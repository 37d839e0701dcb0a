/* SPDX-License-Identifier: MIT */
/*
 * AUX records joined to AUXTRACE pieces: for each byte of a queue's trace, when
 * it was made and whether anything is known to be missing around it.
 *
 * An AUX record tells of [offset, offset + size) of the AUX stream of the ring
 * it is about; AUXTRACE pieces are cut elsewhere. In overwrite mode (snapshots)
 * its offset is a position in the ring and its size the whole ring: those
 * recordings are not joined, each AUXTRACE piece is a span.
 */
#ifndef PTC_AUXTRACE_AUX_JOIN_H
#define PTC_AUXTRACE_AUX_JOIN_H

#include "auxtrace/index.h"
#include "auxtrace/pt_info.h"
#include "auxtrace/sideband.h"

/* An AUX record, as far as it is of use here. */
struct ptc_aux_said {
	uint64_t off, size, flags;
	uint64_t time_ns; /* 0: none */
	uint64_t id;
	uint64_t seq;	  /* order in the file */
	int32_t tid, cpu; /* -1: not known */
	size_t queue;	  /* in the index; PTC_AUX_NO_QUEUE: none of them */
};

#define PTC_AUX_NO_QUEUE SIZE_MAX

struct ptc_aux_id {
	uint64_t id;
	uint32_t idx; /* of its queue */
};

struct ptc_aux_join {
	struct ptc_aux_said *said; /* owned */
	size_t nsaid, said_cap;
	struct ptc_aux_id *ids; /* owned; from ID_INDEX; ascending */
	size_t nids, ids_cap;
	bool ids_sorted;   /* no more are taken */
	uint64_t unplaced; /* AUX records of which the queue is not known; set by sort */
};

#define PTC_AUX_JOIN_INIT                                                                          \
	{                                                                                          \
		NULL, 0, 0, NULL, 0, 0, false, 0                                                   \
	}

/* Bytes [off, off + size) of a queue's AUX stream. Size 0: a loss where nothing was written. */
struct ptc_aux_span {
	uint64_t off, size;
	uint64_t after_ns; /* made after this; 0: not known. Perf clock */
	uint64_t until_ns; /* and not after this; UINT64_MAX: not known */
	uint64_t flags;	   /* PERF_AUX_FLAG_* of its AUX record */
	uint64_t lost;	   /* bytes of the stream in front of it that are not in the file */
	bool told;	   /* an AUX record tells of it */
};

struct ptc_aux_spans {
	struct ptc_aux_span *spans; /* owned; ascending, but for overwrite mode: file order */
	size_t n, cap;
};

/* Keep an AUX record. PTC_E_LIMIT beyond PTC_LIMIT_AUX_CHUNKS. */
int ptc_aux_join_add(struct ptc_aux_join *j, const struct ptc_sb *sb, struct ptc_err *err);
/*
 * Keep what an ID_INDEX record says: which id belongs to which queue. Ignored
 * once one was asked for. PTC_E_FORMAT, PTC_E_LIMIT.
 */
int ptc_aux_join_ids(struct ptc_aux_join *j, const struct ptc_rec *rec, struct ptc_err *err);

/* The idx of the queue that @id belongs to. False, and nothing set: not known. */
bool ptc_aux_join_idx(struct ptc_aux_join *j, uint64_t id, uint32_t *ret_idx);

/*
 * Once everything is kept: find each record's queue in @ix, by cpu, tid or id;
 * if there is one queue only, nothing but a contradiction parts them.
 */
int ptc_aux_join_sort(struct ptc_aux_join *j, const struct ptc_index *ix, struct ptc_err *err);

/*
 * The spans of queue @i of @ix, the one given to sort; *@ret is to be released.
 * Padding behind the last packet is in no span. @conv (NULL: none) turns the
 * reference of pieces that no AUX record tells of into times.
 */
int ptc_aux_join_queue(const struct ptc_aux_join *j, const struct ptc_index *ix, size_t i,
		       const struct ptc_time_conv *conv, struct ptc_aux_spans *ret,
		       struct ptc_err *err);

void ptc_aux_spans_release(struct ptc_aux_spans *s);
void ptc_aux_join_release(struct ptc_aux_join *j);

#endif
