/* SPDX-License-Identifier: MIT */
/* Writing the records of a cutout. Reading: ptcap/cutout.h. */
#ifndef PTC_AUXTRACE_RECORD_CUTOUT_H
#define PTC_AUXTRACE_RECORD_CUTOUT_H

#include "base/buf.h"
#include "ptcap/cutout.h"

/* Appends the records of @c: at least one. */
void ptc_cutout_put(struct ptc_buf *b, const struct ptc_cutout *c);

/*
 * Adds the queues of @r to @c, which is empty, or has records of the same shard with smaller
 * indexes. PTC_E_FORMAT, PTC_E_LIMIT, PTC_E_NO_MEMORY.
 */
int ptc_cutout_add(struct ptc_cutout *c, struct ptc_cutout_record *r, struct ptc_err *err);

/* Returns the queue of @c with the index @idx, or NULL. */
const struct ptc_cutout_queue *ptc_cutout_find(const struct ptc_cutout *c, uint32_t idx);

#endif
