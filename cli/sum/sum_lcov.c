/* SPDX-License-Identifier: MIT */
/* Adds `ptcap decode --format lcov`: the executions of each source line. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/decode/out_coverage.h"
#include "cli/sum/count_table.h"
#include "cli/sum/sum.h"

struct state {
	struct ptc_count_table table;
	char *source; /* owned; the source file of the section; NULL: no section is open */
	uint64_t lines, ran;
};

static int begin_section(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	if (s->source)
		return ptc_sum_fail(err, l, "the section before has no end_of_record");
	s->source = strdup(l->text + strlen("SF:"));
	s->lines = s->ran = 0;
	return s->source ? 0 : ptc_fail_mem(err);
}

/* "DA:LINE,TIMES" */
static int add_data(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const char *at = l->text + strlen("DA:");
	uint64_t line, times;

	if (!ptc_sum_take_number(&at, &line) || *at++ != ',' || !ptc_sum_take_number(&at, &times) ||
	    *at)
		return ptc_sum_fail(err, l, "not DA:LINE,COUNT with counts up to 2^63-1");
	s->lines++;
	s->ran += times != 0;
	return ptc_count_table_add_line(&s->table, s->source, line, times) ? 0 : ptc_fail_mem(err);
}

/* "LF:NUMBER" and "LH:NUMBER" */
static int check_number(const struct ptc_sum_line *l, uint64_t want, struct ptc_err *err)
{
	const char *at = l->text + strlen("LF:");
	uint64_t n;

	if (ptc_sum_take_number(&at, &n) && !*at && n == want)
		return 0;
	return ptc_sum_fail(err, l,
			    "the section has other lines than this number tells; write the "
			    "file again");
}

static int add_lcov_line(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct state *s = state;

	if (!strcmp(l->text, "TN:") && !s->source)
		return 0;
	if (!strncmp(l->text, "SF:", 3))
		return begin_section(s, l, err);
	if (s->source && !strncmp(l->text, "DA:", 3))
		return add_data(s, l, err);
	if (s->source && !strncmp(l->text, "LF:", 3))
		return check_number(l, s->lines, err);
	if (s->source && !strncmp(l->text, "LH:", 3))
		return check_number(l, s->ran, err);
	if (!s->source || strcmp(l->text, "end_of_record") != 0)
		return ptc_sum_fail(err, l,
				    "ptcap writes no such line; `lcov -a` adds files of other "
				    "programs");
	free(s->source);
	s->source = NULL;
	return 0;
}

static int end_lcov_file(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const struct state *s = state;

	return s->source ? ptc_sum_fail(err, l, "the file ends inside a section; write it again") :
			   0;
}

static bool print_lcov_sum(void *state, const struct ptc_sum_how *how)
{
	struct state *s = state;

	s->table.counts.of = PTC_COUNTS_COVERAGE;
	ptc_counts_order(&s->table.counts);
	return ptc_lcov_print(&s->table.counts, how->line);
}

static void release_lcov_sum(void *state)
{
	struct state *s = state;

	ptc_count_table_release(&s->table);
	free(s->source);
}

const struct ptc_sum_format ptc_sum_lcov_format = {
	.name = "an lcov file (decode --format lcov)",
	.may_be_empty = true,
	.size = sizeof(struct state),
	.add_line = add_lcov_line,
	.end_file = end_lcov_file,
	.print = print_lcov_sum,
	.release = release_lcov_sum,
};
