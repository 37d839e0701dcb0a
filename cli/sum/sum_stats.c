/* SPDX-License-Identifier: MIT */
/* Adds the JSON of `ptcap decode --stats`. */
#include <stdlib.h>

#include "base/err.h"
#include "cli/common/jsontext.h"
#include "cli/sum/sum.h"
#include "cli/sum/sum_json.h"
#include "cli/sum/word_counts.h"
#include "ptcap/decode.h"

/* The numbers that add up: of the object itself, and of each engine. */
enum { TRACE_BYTES, INSTRUCTIONS, TRANSFERS, TOTALS };
enum { PIECES, BYTES, OF_ENGINE };

static const char *const totals[TOTALS] = { "trace_bytes", "instructions", "transfers" };
static const char *const engines[] = { "fast", "libipt" };

enum { FAST, LIBIPT, ENGINES };

struct state {
	uint64_t totals[TOTALS], engines[ENGINES][OF_ENGINE];
	uint64_t first_ns, last_ns, missing_files;
	bool has_first, has_last;
	struct ptc_word_counts kinds, gaps, gap_bytes, why;
};

static int add_count(const struct ptc_sum_line *l, const json_t *o, const char *key, uint64_t *sum,
		     struct ptc_err *err)
{
	uint64_t n;
	const int rc = ptc_sum_json_count(l, o, key, &n, err);

	if (!rc)
		ptc_sum_add(sum, n);
	return rc;
}

/* Adds the numbers of the object @o by their names. */
static int add_words(const struct ptc_sum_line *l, const json_t *o, struct ptc_word_counts *words,
		     struct ptc_err *err)
{
	const char *key;
	json_t *v;
	uint64_t n;
	int rc;

	json_object_foreach((json_t *)o, key, v)
	{
		rc = ptc_sum_json_count(l, o, key, &n, err);
		if (rc)
			return rc;
		if (!ptc_word_counts_add(words, key, n))
			return ptc_fail_mem(err);
	}
	return 0;
}

static int add_gaps(struct state *s, const struct ptc_sum_line *l, const json_t *gaps,
		    struct ptc_err *err)
{
	uint64_t count, bytes;
	const json_t *gap;
	const char *key;
	json_t *v;
	int rc;

	json_object_foreach((json_t *)gaps, key, v)
	{
		rc = ptc_sum_json_object(l, gaps, key, &gap, err);
		if (!rc)
			rc = ptc_sum_json_count(l, gap, "count", &count, err);
		if (!rc)
			rc = ptc_sum_json_count(l, gap, "bytes", &bytes, err);
		if (rc)
			return rc;
		if (!ptc_word_counts_add(&s->gaps, key, count) ||
		    !ptc_word_counts_add(&s->gap_bytes, key, bytes))
			return ptc_fail_mem(err);
	}
	return 0;
}

static int add_engines(struct state *s, const struct ptc_sum_line *l, const json_t *all,
		       struct ptc_err *err)
{
	const json_t *engine, *why;
	int rc = 0;
	size_t i;

	for (i = 0; i < ENGINES && !rc; i++) {
		rc = ptc_sum_json_object(l, all, engines[i], &engine, err);
		if (!rc)
			rc = add_count(l, engine, "pieces", &s->engines[i][PIECES], err);
		if (!rc)
			rc = add_count(l, engine, "bytes", &s->engines[i][BYTES], err);
	}
	if (!rc)
		rc = ptc_sum_json_object(l, engine, "why", &why, err);
	return rc ? rc : add_words(l, why, &s->why, err);
}

/* The times become the first and the last of all files, and missing_files the largest number. */
static int add_limits(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	uint64_t first, last, missing;
	bool has_first, has_last;
	int rc = ptc_sum_json_known(l, l->json, "first_ns", &first, &has_first, err);

	if (!rc)
		rc = ptc_sum_json_known(l, l->json, "last_ns", &last, &has_last, err);
	if (!rc)
		rc = ptc_sum_json_count(l, l->json, "missing_files", &missing, err);
	if (rc)
		return rc;
	if (has_first && (!s->has_first || first < s->first_ns))
		s->first_ns = first;
	if (has_last && (!s->has_last || last > s->last_ns))
		s->last_ns = last;
	s->has_first |= has_first;
	s->has_last |= has_last;
	if (missing > s->missing_files)
		s->missing_files = missing;
	return 0;
}

static int add_stats_line(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct state *s = state;
	const json_t *kinds, *gaps, *all;
	int rc = ptc_sum_json_version(l, err);
	size_t i;

	for (i = 0; i < TOTALS && !rc; i++)
		rc = add_count(l, l->json, totals[i], &s->totals[i], err);
	if (!rc)
		rc = add_limits(s, l, err);
	if (!rc)
		rc = ptc_sum_json_object(l, l->json, "kinds", &kinds, err);
	if (!rc)
		rc = add_words(l, kinds, &s->kinds, err);
	if (!rc)
		rc = ptc_sum_json_object(l, l->json, "gaps", &gaps, err);
	if (!rc)
		rc = add_gaps(s, l, gaps, err);
	if (!rc)
		rc = ptc_sum_json_object(l, l->json, "engines", &all, err);
	return rc ? rc : add_engines(s, l, all, err);
}

static int end_stats_file(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	(void)state;
	return l->number ? 0 : ptc_sum_fail(err, l, "the file is empty; write it again");
}

/* Moves the count of @name from @from to @o, with the count of @bytes if it is not NULL. */
static int move_word(json_t *o, const char *name, const struct ptc_word_counts *from,
		     const struct ptc_word_counts *bytes, uint32_t number)
{
	const json_int_t n = (json_int_t)from->counts[number - 1];

	if (!bytes)
		return json_object_set_new(o, name, json_integer(n));
	return json_object_set_new(o, name,
				   json_pack("{s:I, s:I}", "count", n, "bytes",
					     (json_int_t)bytes->counts[number - 1]));
}

/*
 * Returns the counts of @words as an object: first the @nfirst names of @name_of, as decode prints
 * them, then all others by their texts. @bytes: further counts of the same words, or NULL. NULL:
 * out of memory.
 */
static json_t *words_object(const struct ptc_word_counts *words,
			    const struct ptc_word_counts *bytes, const char *(*name_of)(int number),
			    int nfirst)
{
	uint32_t *order = ptc_word_counts_order(words);
	json_t *o = order ? json_object() : NULL;
	int i, bad = !o;
	size_t k;

	for (i = 0; i < nfirst; i++)
		if (!bad)
			bad |= json_object_set_new(o, name_of(i), json_null());
	for (k = 0; !bad && k < words->n; k++)
		bad |= move_word(o, ptc_names_of(&words->words, order[k]), words, bytes, order[k]);
	for (i = 0; i < nfirst && !bad; i++)
		if (json_is_null(json_object_get(o, name_of(i))))
			bad |= json_object_del(o, name_of(i));
	free(order);
	if (!bad)
		return o;
	json_decref(o);
	return NULL;
}

static const char *name_of_kind(int i)
{
	return ptc_kind_name((enum ptc_kind)i);
}

static const char *name_of_gap(int i)
{
	return ptc_gap_name((enum ptc_gap_cause)i);
}

static json_t *engines_object(const struct state *s)
{
	const uint64_t(*e)[OF_ENGINE] = s->engines;

	return json_pack("{s:{s:I, s:I}, s:{s:I, s:I, s:o}}", engines[FAST], "pieces",
			 (json_int_t)e[FAST][PIECES], "bytes", (json_int_t)e[FAST][BYTES],
			 engines[LIBIPT], "pieces", (json_int_t)e[LIBIPT][PIECES], "bytes",
			 (json_int_t)e[LIBIPT][BYTES], "why", words_object(&s->why, NULL, NULL, 0));
}

static bool print_stats_sum(void *state, const struct ptc_sum_how *how)
{
	const struct state *s = state;
	json_t *o = json_pack("{s:s, s:i, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:o, s:o}", "schema",
			      "ptcap-decode-stats", "version", 1, totals[TRACE_BYTES],
			      (json_int_t)s->totals[TRACE_BYTES], totals[INSTRUCTIONS],
			      (json_int_t)s->totals[INSTRUCTIONS], totals[TRANSFERS],
			      (json_int_t)s->totals[TRANSFERS], "first_ns",
			      s->has_first ? ptc_json_uint(s->first_ns) : json_null(), "last_ns",
			      s->has_last ? ptc_json_uint(s->last_ns) : json_null(),
			      "missing_files", (json_int_t)s->missing_files, "kinds",
			      words_object(&s->kinds, NULL, name_of_kind, PTC_KIND_COUNT), "gaps",
			      words_object(&s->gaps, &s->gap_bytes, name_of_gap, PTC_GAP_COUNT),
			      "engines", engines_object(s));

	return ptc_line_json(how->line, o);
}

static void release_stats_sum(void *state)
{
	struct state *s = state;

	ptc_word_counts_release(&s->kinds);
	ptc_word_counts_release(&s->gaps);
	ptc_word_counts_release(&s->gap_bytes);
	ptc_word_counts_release(&s->why);
}

const struct ptc_sum_format ptc_sum_stats_format = {
	.name = "statistics (decode --stats)",
	.is_json = true,
	.size = sizeof(struct state),
	.add_line = add_stats_line,
	.end_file = end_stats_file,
	.print = print_stats_sum,
	.release = release_stats_sum,
};
