/* SPDX-License-Identifier: MIT */
/* What a recording begins with, before the first record out of a ring. */
#ifndef PTC_CAPTURE_PROLOGUE_H
#define PTC_CAPTURE_PROLOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "capture/source.h"

struct ptc_prologue { /* everything is lent */
	const struct ptc_source_desc *desc;
	const struct ptc_source_id *ids; /* event by event */
	size_t nids;			 /* at least one */
	const struct ptc_buf *running;	 /* records of what runs already */
	pid_t pid;	 /* of the command, or the first process attached to; 0: all there are */
	bool is_command; /* which has no name yet that anybody has told */
};

/* Append an ID_INDEX of @n ids, of which there are not more than fit a record. */
void ptc_prologue_put_ids(struct ptc_buf *b, const struct ptc_source_id *ids, size_t n);

/* Append those records to @b, up to FINISHED_INIT (doc/format.md, "The data section"). */
void ptc_prologue_put(struct ptc_buf *b, const struct ptc_prologue *p);

#endif
