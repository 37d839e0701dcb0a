/* SPDX-License-Identifier: MIT */
/* Adds `ptcap decode --format folded`: the number of each stack, whose text is the key. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/decode/line_buffer.h"
#include "cli/sum/sum.h"
#include "cli/sum/word_counts.h"

static int add_folded_line(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	char *blank = strrchr(l->text, ' ');
	const char *at = blank ? blank + 1 : NULL;
	uint64_t n;

	if (!at || blank == l->text || !ptc_sum_take_number(&at, &n) || *at)
		return ptc_sum_fail(err, l,
				    "not a stack with a number up to 2^63-1; write the file again");
	*blank = '\0';
	return ptc_word_counts_add(state, l->text, n) ? 0 : ptc_fail_mem(err);
}

static int end_folded_file(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	(void)state;
	(void)l;
	(void)err;
	return 0;
}

static bool print_folded_sum(void *state, const struct ptc_sum_how *how)
{
	const struct ptc_word_counts *stacks = state;
	uint32_t *order = ptc_word_counts_order(stacks);
	size_t i;

	if (!order)
		return false;
	for (i = 0; i < stacks->n; i++) {
		ptc_line_plain(how->line, ptc_names_of(&stacks->words, order[i]), "");
		ptc_line_char(how->line, ' ');
		ptc_line_dec(how->line, (int64_t)stacks->counts[order[i] - 1]);
		ptc_line_char(how->line, '\n');
	}
	free(order);
	return true;
}

static void release_folded_sum(void *state)
{
	ptc_word_counts_release(state);
}

const struct ptc_sum_format ptc_sum_folded_format = {
	.name = "folded stacks (decode --format folded)",
	.may_be_empty = true,
	.size = sizeof(struct ptc_word_counts),
	.add_line = add_folded_line,
	.end_file = end_folded_file,
	.print = print_folded_sum,
	.release = release_folded_sum,
};
