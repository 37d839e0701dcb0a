/* SPDX-License-Identifier: MIT */
/*
 * Adds `ptcap decode --format profgen` and `--format afdo` (doc/format.md). Both are lists with a
 * number in front: blocks, single addresses (afdo only), and branches.
 */
#include <string.h>

#include "base/err.h"
#include "cli/decode/line_buffer.h"
#include "cli/sum/span_table.h"
#include "cli/sum/sum.h"

enum { BLOCKS, ADDRESSES, BRANCHES, LISTS };

struct state {
	struct ptc_span_table table;
	bool known;	    /* a file ended: has_addresses is known */
	bool has_addresses; /* afdo */
	/* Of the current file. */
	unsigned int nlists; /* numbers of lists that were read */
	uint64_t left;	     /* rows of the list that are missing */
	bool addresses;	     /* the second list has addresses, or the file has three lists */
	bool branches;	     /* the second list has branches */
};

static int begin_list(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const char *at = l->text;

	if (!ptc_sum_take_number(&at, &s->left) || *at)
		return ptc_sum_fail(err, l, "not the number of rows of a list");
	s->nlists++;
	if (s->nlists == 3 && s->branches)
		return ptc_sum_fail(err, l, "a third list behind the list of branches");
	if (s->nlists == 3)
		s->addresses = true;
	if (s->nlists > 3)
		return ptc_sum_fail(err, l, "more than three lists");
	return 0;
}

/* Takes "FIRST-LAST:", "FROM->TO:" or "ADDRESS:". */
static bool take_ends(const char **at, struct ptc_span *s)
{
	if (!ptc_sum_take_hex(at, &s->from))
		return false;
	s->list = ADDRESSES;
	if (**at == '-') {
		s->list = *++*at == '>' ? BRANCHES : BLOCKS;
		*at += s->list == BRANCHES;
		if (!ptc_sum_take_hex(at, &s->to))
			return false;
	}
	return *(*at)++ == ':';
}

/* Is a row of @list in place in the list that was begun last? */
static bool fits(const struct state *s, unsigned int list)
{
	if (s->nlists == 1)
		return list == BLOCKS;
	if (s->nlists == 3)
		return list == BRANCHES;
	return (list == BRANCHES && !s->addresses) || (list == ADDRESSES && !s->branches);
}

static int add_row(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const char *at = l->text;
	struct ptc_span span = { .to = 0 };

	if (!take_ends(&at, &span) || !ptc_sum_take_number(&at, &span.times) || *at ||
	    !fits(s, span.list))
		return ptc_sum_fail(err, l,
				    "not a row of its list; the file is damaged, write it again");
	s->branches |= span.list == BRANCHES;
	s->addresses |= span.list == ADDRESSES;
	s->left--;
	return ptc_span_table_add(&s->table, &span) ? 0 : ptc_fail_mem(err);
}

static int add_spans_line(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct state *s = state;

	if (l->number == 1) {
		s->nlists = 0;
		s->left = 0;
		s->addresses = s->branches = false;
	}
	return s->left ? add_row(s, l, err) : begin_list(s, l, err);
}

static int end_spans_file(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct state *s = state;

	if (!l->number || s->left || s->nlists < 2 || (s->nlists == 2 && s->addresses))
		return ptc_sum_fail(err, l, "the file ends inside its lists; write it again");
	if (s->known && s->has_addresses != s->addresses)
		return ptc_sum_fail(
			err, l,
			"%s, but the files before have the other format; add files of one "
			"format",
			s->addresses ? "a profile of autofdo" : "a profile of llvm-profgen");
	s->known = true;
	s->has_addresses = s->addresses;
	return 0;
}

static void put_list(const struct state *s, unsigned int list, struct ptc_line *l)
{
	const struct ptc_span *spans = s->table.spans;
	uint64_t rows = 0;
	size_t i;

	for (i = 0; i < s->table.n; i++)
		rows += spans[i].list == list;
	ptc_line_dec(l, (int64_t)rows);
	ptc_line_char(l, '\n');
	for (i = 0; i < s->table.n; i++) {
		if (spans[i].list != list)
			continue;
		ptc_line_hex(l, spans[i].from);
		if (list != ADDRESSES) {
			ptc_line_str(l, list == BRANCHES ? "->" : "-");
			ptc_line_hex(l, spans[i].to);
		}
		ptc_line_char(l, ':');
		ptc_line_dec(l, (int64_t)spans[i].times);
		ptc_line_char(l, '\n');
	}
}

static bool print_spans_sum(void *state, const struct ptc_sum_how *how)
{
	struct state *s = state;

	ptc_span_table_sort(&s->table);
	put_list(s, BLOCKS, how->line);
	if (s->has_addresses)
		put_list(s, ADDRESSES, how->line);
	put_list(s, BRANCHES, how->line);
	return true;
}

static void release_spans_sum(void *state)
{
	struct state *s = state;

	ptc_span_table_release(&s->table);
}

const struct ptc_sum_format ptc_sum_spans_format = {
	.name = "a profile of llvm-profgen or autofdo (decode --format profgen or afdo)",
	.size = sizeof(struct state),
	.add_line = add_spans_line,
	.end_file = end_spans_file,
	.print = print_spans_sum,
	.release = release_spans_sum,
};
