/* SPDX-License-Identifier: MIT */
/*
 * Where a branch stack is in a thread's transfers, entry by entry. They are fed from the newest to
 * the oldest; w of them take O(n + w), however often they repeat (Knuth, Morris and Pratt).
 */
#ifndef PTC_DECODE_EXACT_H
#define PTC_DECODE_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/align.h"

struct ptc_exact {
	const struct ptc_branch *entries; /* the newest first */
	size_t n, state;		  /* so many of them are the last that were fed */
	size_t fed;
	uint16_t back[PTC_ALIGN_ENTRIES + 1]; /* of the first i: how many start anew at their end */
	size_t at[PTC_ALIGN_ENTRIES];	      /* of the last that were fed, in turn */
};

/* @entries, 1 to PTC_ALIGN_ENTRIES, outlive @x. */
void ptc_exact_init(struct ptc_exact *x, const struct ptc_branch *entries, size_t n);

static inline bool ptc_exact_is_same(const struct ptc_branch *e, const struct ptc_step *s)
{
	return e->from == s->from && e->to == s->to;
}

/* Does it change anything to feed @s? */
static inline bool ptc_exact_cares(const struct ptc_exact *x, const struct ptc_step *s)
{
	return x->state || ptc_exact_is_same(x->entries, s);
}

/* What @state becomes with @s. */
static inline size_t ptc_exact_next(const struct ptc_exact *x, size_t state,
				    const struct ptc_step *s)
{
	if (state == x->n)
		state = x->back[state];
	while (state && !ptc_exact_is_same(&x->entries[state], s))
		state = x->back[state];
	return state + ptc_exact_is_same(&x->entries[state], s);
}

/* Step number @at, the next older one that the filter lets through. True: the stack begins here. */
static inline bool ptc_exact_feed(struct ptc_exact *x, const struct ptc_step *s, size_t at)
{
	x->state = ptc_exact_next(x, x->state, s);
	x->at[x->fed++ % PTC_ALIGN_ENTRIES] = at;
	return x->state == x->n;
}

/* What is fed next does not follow. */
static inline void ptc_exact_cut(struct ptc_exact *x)
{
	x->state = 0;
}

/* After ptc_exact_feed said true: the number of the step that entry @i is. */
static inline size_t ptc_exact_at(const struct ptc_exact *x, size_t i)
{
	return x->at[(x->fed - x->n + i) % PTC_ALIGN_ENTRIES];
}

/* Do the entries say whether branches were predicted? Where none does nobody knows. */
bool ptc_exact_predicts(const struct ptc_align_in *in);

/* Of an entry whose ends are those of @s, which the filter lets through: its type and its flags. */
enum ptc_verdict ptc_exact_verdict(const struct ptc_align_in *in, bool predicts,
				   const struct ptc_branch *e, const struct ptc_step *s);

/* After ptc_exact_feed said true: all entries as those of @steps that they are. */
void ptc_exact_read(const struct ptc_exact *x, const struct ptc_align_in *in,
		    const struct ptc_step *steps, struct ptc_align_entry *ret_entries);

#endif
