/* SPDX-License-Identifier: MIT */
/* Writing branch stacks: what ptcap/sample.h reads. */
#ifndef PTC_AUXTRACE_BRANCH_H
#define PTC_AUXTRACE_BRANCH_H

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/sample.h"

/* Append one entry, without its counters: they stand together behind the entries. */
void ptc_branch_put(struct ptc_buf *b, const struct ptc_branch *e);

/*
 * Append the stack: the inverse of parse. @s->n is not used. Entries that are
 * not whole, or counters that are not one each, fail @b.
 */
void ptc_branches_put(struct ptc_buf *b, const struct ptc_branches *s);

#endif
