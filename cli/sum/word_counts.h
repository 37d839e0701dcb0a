/* SPDX-License-Identifier: MIT */
/* Numbers of texts, added over files. */
#ifndef PTC_CLI_SUM_WORD_COUNTS_H
#define PTC_CLI_SUM_WORD_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/common/string_pool.h"

/* Initialize with zeros. */
struct ptc_word_counts {
	struct ptc_names words;
	uint64_t *counts; /* owned; of the word with the number i + 1 */
	size_t n, cap;
};

/* Adds @n to the number of @word. Returns false if out of memory. */
bool ptc_word_counts_add(struct ptc_word_counts *w, const char *word, uint64_t n);
/*
 * Returns the numbers of the words in the order of their texts: w->n of them. Caller frees them.
 * NULL: out of memory.
 */
uint32_t *ptc_word_counts_order(const struct ptc_word_counts *w);
void ptc_word_counts_release(struct ptc_word_counts *w);

#endif
