/* SPDX-License-Identifier: MIT */
/* Folds the last branches: each visit of library code, and each repeated branch, is one entry. */
#ifndef PTC_CLI_CRASH_BRANCH_FOLD_H
#define PTC_CLI_CRASH_BRANCH_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/decode.h"

/* Consecutive items. */
struct ptc_fold_entry {
	const struct ptc_item *first; /* lent from opts.item */
	size_t n;		      /* number of items */
	bool library; /* branches into, within and out of library code; else all are equal */
};

struct ptc_fold {
	struct ptc_fold_entry *entries; /* owned; oldest first */
	size_t n;
};

struct ptc_fold_opts {
	size_t n;    /* number of items */
	size_t want; /* number of entries, from the last item on */
	/* Return item @i; the oldest has 0. */
	const struct ptc_item *(*item)(void *ctx, size_t i);
	/* Return whether the code at @ip belongs to a library. */
	bool (*is_library)(void *ctx, uint64_t ip);
	void *ctx;
};

/*
 * Fold the last items. Returns false if out of memory. Caller releases @ret in any case. A visit of
 * library code begins with the branch of the program that enters it, if there is that branch. A
 * gap ends a visit, and is an entry of its own.
 */
bool ptc_fold_branches(const struct ptc_fold_opts *opts, struct ptc_fold *ret);
void ptc_fold_release(struct ptc_fold *f);

#endif
