/* SPDX-License-Identifier: MIT */
#include "cli/sum/word_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "cli/sum/sum_line.h"

bool ptc_word_counts_add(struct ptc_word_counts *w, const char *word, uint64_t n)
{
	const uint32_t number = ptc_names_get(&w->words, word);

	if (number == UINT32_MAX || !ptc_grow(&w->counts, &w->cap, number, sizeof(*w->counts)))
		return false;
	for (; w->n < number; w->n++)
		w->counts[w->n] = 0;
	ptc_sum_add(&w->counts[number - 1], n);
	return true;
}

static int by_word(const void *a, const void *b, void *words)
{
	return strcmp(ptc_names_of(words, *(const uint32_t *)a),
		      ptc_names_of(words, *(const uint32_t *)b));
}

uint32_t *ptc_word_counts_order(const struct ptc_word_counts *w)
{
	uint32_t *order = calloc(w->n + 1, sizeof(*order));
	struct ptc_names words = w->words;
	uint32_t i;

	for (i = 0; order && i < w->n; i++)
		order[i] = i + 1;
	if (order)
		qsort_r(order, w->n, sizeof(*order), by_word, &words);
	return order;
}

void ptc_word_counts_release(struct ptc_word_counts *w)
{
	ptc_names_release(&w->words);
	free(w->counts);
}
