/* SPDX-License-Identifier: MIT */
/* Adds the JSON of `ptcap decode --counts=coverage`: a line ran if it ran in a file. */
#include <string.h>

#include "base/err.h"
#include "cli/sum/count_table.h"
#include "cli/sum/missing_table.h"
#include "cli/sum/sum.h"
#include "cli/sum/sum_json.h"

struct state {
	struct ptc_count_table table; /* lines; times: the number of files in which a line ran */
	struct ptc_missing_table missing;
	/* Of the current file: what its head promises, and what its lines have. */
	uint64_t want_files, want_lines, files, lines;
};

/* An array of pairs of line numbers, ascending. */
struct stretches {
	const json_t *pairs;
	size_t at; /* the next pair */
	uint64_t first, last;
};

/* Gets the next pair. Returns 1, 0 at the end, or an error code. */
static int next_stretch(struct stretches *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const uint64_t before = s->at ? s->last + 1 : 0;
	const json_t *pair = json_array_get(s->pairs, s->at);
	const json_t *first = json_array_get(pair, 0), *last = json_array_get(pair, 1);

	if (!pair)
		return 0;
	if (json_is_integer(first) && json_is_integer(last) && json_integer_value(first) >= 0 &&
	    json_integer_value(last) >= json_integer_value(first) &&
	    json_integer_value(last) < INT64_MAX) {
		s->first = (uint64_t)json_integer_value(first);
		s->last = (uint64_t)json_integer_value(last);
		s->at++;
		if (s->first >= before)
			return 1;
	}
	return ptc_sum_fail(
		err, l, "lines that are no ascending list of [first, last]; write the file again");
}

/* Adds the lines @code, of which those in @idle did not run. */
static int add_stretches(struct state *s, const struct ptc_sum_line *l, const char *file,
			 struct stretches *code, struct stretches *idle, struct ptc_err *err)
{
	int more, more_idle = next_stretch(idle, l, err);
	uint64_t line;
	bool ran;

	while ((more = next_stretch(code, l, err)) > 0) {
		for (line = code->first; line <= code->last; line++) {
			while (more_idle > 0 && idle->last < line)
				more_idle = next_stretch(idle, l, err);
			if (more_idle < 0)
				return more_idle;
			ran = !more_idle || line < idle->first;
			if (!ptc_count_table_add_line(&s->table, file, line, ran))
				return ptc_fail_mem(err);
			s->lines++;
		}
	}
	return more < 0 ? more : more_idle < 0 ? more_idle : 0;
}

static int add_source(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct stretches code = { .at = 0 }, idle = { .at = 0 };
	const char *file;
	int rc = ptc_sum_json_text(l, l->json, "file", &file, err);

	if (!rc)
		rc = ptc_sum_json_array(l, l->json, "code", &code.pairs, err);
	if (!rc)
		rc = ptc_sum_json_array(l, l->json, "not_run", &idle.pairs, err);
	s->files++;
	return rc ? rc : add_stretches(s, l, file, &code, &idle, err);
}

static int add_coverage_head(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct ptc_counts *c = &s->table.counts;
	uint64_t blocks, lineless, gaps;
	int rc = ptc_sum_json_version(l, err);

	c->of = PTC_COUNTS_COVERAGE;
	s->files = s->lines = 0;
	if (!rc)
		rc = ptc_sum_json_count(l, l->json, "files", &s->want_files, err);
	if (!rc)
		rc = ptc_sum_json_count(l, l->json, "lines", &s->want_lines, err);
	if (!rc)
		rc = ptc_sum_json_count(l, l->json, "blocks", &blocks, err);
	if (!rc)
		rc = ptc_sum_json_count(l, l->json, "lineless", &lineless, err);
	if (!rc)
		rc = ptc_sum_json_count(l, l->json, "gaps", &gaps, err);
	if (rc)
		return rc;
	ptc_sum_add(&c->blocks, blocks);
	ptc_sum_add(&c->lineless, lineless);
	ptc_sum_add(&c->gaps, gaps);
	return 0;
}

static int add_coverage_line(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct state *s = state;
	const char *type = ptc_sum_json_word(l->json, "type");

	if (l->number == 1)
		return add_coverage_head(s, l, err);
	if (*ptc_sum_json_word(l->json, "schema"))
		return ptc_sum_fail(err, l, "a second output begins; give each output as a file");
	if (!strcmp(type, "file"))
		return add_source(s, l, err);
	return strcmp(type, "missing") != 0 ? 0 : ptc_missing_table_add(&s->missing, l, err);
}

static int end_coverage_file(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const struct state *s = state;

	if (l->number && s->files == s->want_files && s->lines == s->want_lines)
		return 0;
	return ptc_sum_fail(
		err, l,
		"only %llu of %llu source lines; write all (--counts=coverage without a "
		"number)",
		(unsigned long long)s->lines, (unsigned long long)s->want_lines);
}

static bool print_coverage_sum(void *state, const struct ptc_sum_how *how)
{
	struct state *s = state;

	ptc_counts_order(&s->table.counts);
	return ptc_counts_print(&s->table.counts, how->line, (size_t)how->most, how->width,
				!how->text) &&
	       (how->text || ptc_missing_table_print(&s->missing, how->line));
}

static void release_coverage_sum(void *state)
{
	struct state *s = state;

	ptc_count_table_release(&s->table);
	ptc_missing_table_release(&s->missing);
}

const struct ptc_sum_format ptc_sum_coverage_format = {
	.name = "coverage (decode --counts=coverage)",
	.is_json = true,
	.has_table = true,
	.size = sizeof(struct state),
	.add_line = add_coverage_line,
	.end_file = end_coverage_file,
	.print = print_coverage_sum,
	.release = release_coverage_sum,
};
