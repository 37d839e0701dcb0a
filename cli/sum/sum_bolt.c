/* SPDX-License-Identifier: MIT */
/* Adds `ptcap decode --format bolt`: the pre-aggregated profile of BOLT (doc/format.md). */
#include <string.h>

#include "base/err.h"
#include "cli/decode/line_buffer.h"
#include "cli/sum/span_table.h"
#include "cli/sum/sum.h"

enum { BRANCHES, BLOCKS };

/* Takes a blank and an address, or a blank and "X:0". */
static bool take_end(const char **at, uint64_t *ret)
{
	if (!strncmp(*at, " X:0", 4)) {
		*at += 4;
		*ret = PTC_SPAN_OUTSIDE;
		return true;
	}
	if (**at != ' ')
		return false;
	++*at;
	return ptc_sum_take_hex(at, ret) && *ret != PTC_SPAN_OUTSIDE;
}

static bool take_count(const char **at, uint64_t *ret)
{
	if (**at != ' ')
		return false;
	++*at;
	return ptc_sum_take_number(at, ret);
}

static int add_bolt_line(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct ptc_span s = { .list = *l->text == 'B' ? BRANCHES : BLOCKS };
	const char *at = l->text + 1;

	if ((*l->text != 'B' && *l->text != 'F') || !take_end(&at, &s.from) ||
	    !take_end(&at, &s.to) || !take_count(&at, &s.times) ||
	    (s.list == BRANCHES && !take_count(&at, &s.misses)) || *at)
		return ptc_sum_fail(
			err, l,
			"not a branch (B FROM TO COUNT MISSES) or a block (F FIRST LAST "
			"COUNT); write the file again");
	return ptc_span_table_add(state, &s) ? 0 : ptc_fail_mem(err);
}

static int end_bolt_file(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	(void)state;
	(void)l;
	(void)err;
	return 0;
}

static void put_end(struct ptc_line *l, uint64_t addr)
{
	ptc_line_char(l, ' ');
	if (addr == PTC_SPAN_OUTSIDE)
		ptc_line_str(l, "X:0");
	else
		ptc_line_hex(l, addr);
}

static bool print_bolt_sum(void *state, const struct ptc_sum_how *how)
{
	struct ptc_span_table *t = state;
	struct ptc_line *l = how->line;
	size_t i;

	ptc_span_table_sort(t);
	for (i = 0; i < t->n; i++) {
		const struct ptc_span *s = &t->spans[i];

		ptc_line_char(l, s->list == BRANCHES ? 'B' : 'F');
		put_end(l, s->from);
		put_end(l, s->to);
		ptc_line_char(l, ' ');
		ptc_line_dec(l, (int64_t)s->times);
		if (s->list == BRANCHES) {
			ptc_line_char(l, ' ');
			ptc_line_dec(l, (int64_t)s->misses);
		}
		ptc_line_char(l, '\n');
	}
	return true;
}

static void release_bolt_sum(void *state)
{
	ptc_span_table_release(state);
}

const struct ptc_sum_format ptc_sum_bolt_format = {
	.name = "a profile of BOLT (decode --format bolt)",
	.may_be_empty = true,
	.size = sizeof(struct ptc_span_table),
	.add_line = add_bolt_line,
	.end_file = end_bolt_file,
	.print = print_bolt_sum,
	.release = release_bolt_sum,
};
