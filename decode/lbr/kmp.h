/* SPDX-License-Identifier: MIT */
/*
 * Finds a branch stack in a thread's branches, entry by entry. Branches are fed from the newest to
 * the oldest. w branches take O(n + w), however often they repeat (Knuth, Morris and Pratt).
 */
#ifndef PTC_DECODE_LBR_KMP_H
#define PTC_DECODE_LBR_KMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/lbr/align.h"

struct ptc_kmp {
	const struct ptc_branch *entries; /* newest first */
	/* state: number of first entries that match the newest branches fed */
	size_t n, state;
	size_t fed;
	/*
	 * back[i]: length of the longest proper prefix of the first i entries that also ends them
	 */
	uint16_t back[PTC_ALIGN_ENTRIES + 1];
	size_t at[PTC_ALIGN_ENTRIES]; /* numbers of the steps fed last, as a ring buffer */
};

/* @entries, 1 to PTC_ALIGN_ENTRIES, must outlive @x. */
void ptc_kmp_init(struct ptc_kmp *x, const struct ptc_branch *entries, size_t n);

static inline bool ptc_kmp_is_same(const struct ptc_branch *e, const struct ptc_step *s)
{
	return e->from == s->from && e->to == s->to;
}

/* Would feeding @s change the state? */
static inline bool ptc_kmp_cares(const struct ptc_kmp *x, const struct ptc_step *s)
{
	return x->state || ptc_kmp_is_same(x->entries, s);
}

/* Returns the state that follows @state when @s is fed. */
static inline size_t ptc_kmp_next(const struct ptc_kmp *x, size_t state, const struct ptc_step *s)
{
	if (state == x->n)
		state = x->back[state];
	while (state && !ptc_kmp_is_same(&x->entries[state], s))
		state = x->back[state];
	return state + ptc_kmp_is_same(&x->entries[state], s);
}

/*
 * Feed step number @at, the next older one that the filter lets through. Returns true if @s is the
 * oldest entry of a complete stack.
 */
static inline bool ptc_kmp_feed(struct ptc_kmp *x, const struct ptc_step *s, size_t at)
{
	x->state = ptc_kmp_next(x, x->state, s);
	x->at[x->fed++ % PTC_ALIGN_ENTRIES] = at;
	return x->state == x->n;
}

/* The next step that is fed does not follow the last one. */
static inline void ptc_kmp_cut(struct ptc_kmp *x)
{
	x->state = 0;
}

/* After ptc_kmp_feed() returned true: returns the number of the step that is entry @i. */
static inline size_t ptc_kmp_at(const struct ptc_kmp *x, size_t i)
{
	return x->at[(x->fed - x->n + i) % PTC_ALIGN_ENTRIES];
}

/* Do the entries say whether branches were predicted? If no entry does, it is unknown. */
bool ptc_kmp_predicts(const struct ptc_align_in *in);

/* Judge the type and the flags of @e, whose ends are those of @s. The filter lets @s through. */
enum ptc_verdict ptc_kmp_verdict(const struct ptc_align_in *in, bool predicts,
				 const struct ptc_branch *e, const struct ptc_step *s);

/* After ptc_kmp_feed() returned true: judge all entries by the @steps that they match. */
void ptc_kmp_read(const struct ptc_kmp *x, const struct ptc_align_in *in,
		  const struct ptc_step *steps, struct ptc_align_entry *ret_entries);

#endif
