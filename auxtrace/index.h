/* SPDX-License-Identifier: MIT */
/* AUXTRACE pieces of a file, sorted into queues. Offsets, never pointers. */
#ifndef PTC_AUXTRACE_INDEX_H
#define PTC_AUXTRACE_INDEX_H

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
void ptc_index_release(struct ptc_index *ix);

/* A chunk's bytes, lent from the file. */
struct ptc_cur ptc_chunk_bytes(const struct ptc_file *f, const struct ptc_chunk *c);

#endif
