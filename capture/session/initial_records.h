/* SPDX-License-Identifier: MIT */
/* Writes the records that precede the first record from a ring. */
#ifndef PTC_CAPTURE_SESSION_INITIAL_RECORDS_H
#define PTC_CAPTURE_SESSION_INITIAL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "capture/source/source.h"

struct ptc_prologue { /* all pointers are borrowed */
	const struct ptc_source_desc *desc;
	const struct ptc_source_id *ids; /* grouped by event */
	size_t nids;			 /* at least one */
	const struct ptc_buf *running;	 /* records about processes that already run */
	pid_t pid;	 /* the command, or the first process attached to; 0: all processes */
	bool is_command; /* pid is a command that has no COMM record yet */
};

/* Appends an ID_INDEX of @n ids. The caller limits @n to the size of one record. */
void ptc_prologue_put_ids(struct ptc_buf *b, const struct ptc_source_id *ids, size_t n);

/* Appends all prologue records to @b, up to FINISHED_INIT (doc/format.md, "The data section"). */
void ptc_prologue_put(struct ptc_buf *b, const struct ptc_prologue *p);

#endif
