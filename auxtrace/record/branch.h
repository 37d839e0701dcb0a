/* SPDX-License-Identifier: MIT */
/* Writing branch stacks: the inverse of the parser in ptcap/sample.h. */
#ifndef PTC_AUXTRACE_RECORD_BRANCH_H
#define PTC_AUXTRACE_RECORD_BRANCH_H

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/sample.h"

/* Append one entry without its counters, which follow after all entries. */
void ptc_branch_put(struct ptc_buf *b, const struct ptc_branch *e);

/*
 * Append the stack: the inverse of ptc_branches_parse. @s->n is ignored. Incomplete entries, or a
 * number of counters unequal to the number of entries, set @b to failed.
 */
void ptc_branches_put(struct ptc_buf *b, const struct ptc_branches *s);

#endif
