/* SPDX-License-Identifier: MIT */
/*
 * JSON report of compare: doc/json.md. Addresses are strings, because JSON numbers lose bits above
 * 2^53.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "cli/common/jsontext.h"
#include "cli/compare/compare_report.h"

enum { PLACES = 100 };

static json_t *name(const char *s)
{
	return s ? ptc_json_text(s) : json_null();
}

static json_t *count_of(const struct ptc_sum_count *c)
{
	return json_pack("{s:o,s:o,s:o}", "judged", ptc_json_uint(c->judged), "wrong",
			 ptc_json_uint(c->wrong), "missing", ptc_json_uint(c->missing));
}

static json_t *verdicts_of(const uint64_t counts[PTC_VERDICT_COUNT])
{
	json_t *o = json_object();
	int i;

	for (i = 0; i < PTC_VERDICT_COUNT; i++)
		json_object_set_new(o, ptc_verdict_name((enum ptc_verdict)i),
				    ptc_json_uint(counts[i]));
	return o;
}

static json_t *skips_of(const struct ptc_compare_sum *s)
{
	json_t *o = json_object();
	int i;

	for (i = PTC_COMPARE_JUDGED + 1; i < PTC_COMPARE_SKIPS; i++)
		json_object_set_new(o, ptc_compare_skip_name((enum ptc_compare_skip)i),
				    ptc_json_uint(s->skipped_entries[i]));
	return o;
}

static json_t *patterns_of(const struct ptc_compare_sum *s)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < PTC_PATTERN_COUNT; i++) {
		json_t *o;

		if (!(s->patterns >> i & 1))
			continue;
		o = json_pack("{s:s}", "pattern", ptc_pattern_name((enum ptc_sum_pattern)i));
		if (i == PTC_PATTERN_SHIFT || i == PTC_PATTERN_SHIFTED) {
			json_object_set_new(o, "transfers", ptc_json_uint(s->shift));
			json_object_set_new(o, "samples", ptc_json_uint(s->may[s->shift]));
		}
		if (i == PTC_PATTERN_CPU)
			json_object_set_new(o, "cpu", json_integer(s->cpu));
		if (i == PTC_PATTERN_LEAK && s->leak)
			json_object_set_new(o, "kind",
					    json_string(ptc_kind_name((enum ptc_kind)s->leak)));
		json_array_append_new(list, o);
	}
	return list;
}

/* Returns how many samples end N branches before their ip, for each N. */
static json_t *shifts_of(const struct ptc_compare_sum *s)
{
	json_t *list = json_array();
	size_t n = PTC_SUM_SHIFTS, i;

	while (n && !s->shifts[n - 1])
		n--;
	for (i = 0; i < n; i++)
		json_array_append_new(list, ptc_json_uint(s->shifts[i]));
	return list;
}

static json_t *depths_of(const struct ptc_compare_sum *s)
{
	json_t *list = json_array();
	size_t n = PTC_SUM_DEPTHS, i;

	while (n && !s->depths[n - 1][PTC_VERDICT_EXACT] && !s->missing_at[n - 1])
		n--;
	for (i = 0; i < n; i++)
		json_array_append_new(list,
				      json_pack("{s:o,s:o}", "verdicts", verdicts_of(s->depths[i]),
						"missing", ptc_json_uint(s->missing_at[i])));
	return list;
}

static json_t *kinds_of(const struct ptc_compare_sum *s)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; i < PTC_KIND_COUNT; i++)
		if (s->kinds[i].judged || s->kinds[i].missing)
			json_object_set_new(o, i ? ptc_kind_name((enum ptc_kind)i) : "unknown",
					    count_of(&s->kinds[i]));
	return o;
}

static json_t *cpus_of(const struct ptc_compare_sum *s)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < s->ncpus; i++) {
		json_t *o = count_of(&s->cpus[i].count);

		json_object_set_new(o, "cpu", json_integer(s->cpus[i].cpu));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *functions_of(const struct ptc_compare_sum *s)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < s->nfunctions && i < PLACES; i++)
		json_array_append_new(
			list, json_pack("{s:o,s:o,s:o}", "function", name(s->functions[i].name),
					"wrong", ptc_json_uint(s->functions[i].wrong), "missing",
					ptc_json_uint(s->functions[i].missing)));
	return list;
}

/* Add the known fields of @p to @o. */
static void add_place(json_t *o, const struct ptc_side_place *p)
{
	if (p->function) {
		json_object_set_new(o, "function", name(p->function));
		json_object_set_new(o, "function_offset", ptc_json_uint(p->off));
	}
	if (p->file) {
		json_object_set_new(o, "file", name(p->file));
		json_object_set_new(o, "line", json_integer(p->line));
	}
}

static json_t *places_of(const struct ptc_compare_sum *s)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < s->nplaces && i < PLACES; i++) {
		json_t *o = json_pack("{s:o,s:o,s:o}", "from", ptc_json_hex(s->places[i].from),
				      "wrong", ptc_json_uint(s->places[i].wrong), "missing",
				      ptc_json_uint(s->places[i].missing));

		add_place(o, &s->places[i].place);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *end_of(const struct ptc_side_end *e)
{
	json_t *o = json_pack("{s:o}", "ip", ptc_json_hex(e->ip));

	add_place(o, &e->place);
	return o;
}

static json_t *side_of(const struct ptc_side_end ends[2])
{
	return ends[0].ip || ends[1].ip ?
		       json_pack("{s:o,s:o}", "from", end_of(&ends[0]), "to", end_of(&ends[1])) :
		       json_null();
}

static json_t *row_of(const struct ptc_side_row *row)
{
	json_t *trace = side_of(row->trace);

	if (row->kind)
		json_object_set_new(trace, "kind",
				    json_string(ptc_kind_name((enum ptc_kind)row->kind)));
	return json_pack("{s:o,s:s,s:o,s:o}", "depth", ptc_json_uint(row->depth), "verdict",
			 row->missing ? "missing" :
					ptc_verdict_name((enum ptc_verdict)row->verdict),
			 "entry", side_of(row->lbr), "trace", trace);
}

static json_t *worst_of(const struct ptc_compare_sum *s)
{
	json_t *list = json_array();
	size_t i, k;

	for (i = 0; i < s->nworst; i++) {
		const struct ptc_side *w = &s->worst[i];
		json_t *rows = json_array();

		for (k = 0; k < w->n; k++)
			json_array_append_new(rows, row_of(&w->rows[k]));
		json_array_append_new(
			list, json_pack("{s:o,s:o,s:i,s:i,s:o,s:o,s:o}", "offset",
					ptc_json_hex(w->off), "time", ptc_json_uint(w->time), "tid",
					w->tid, "cpu", w->cpu, "wrong", ptc_json_uint(w->wrong),
					"places", ptc_json_uint(w->candidates), "rows", rows));
	}
	return list;
}

/* Returns the number of samples by their number of matching positions in the trace. */
static json_t *candidates_of(const struct ptc_compare_sum *s)
{
	return json_pack("{s:o,s:o,s:o,s:o}", "1", ptc_json_uint(s->candidates[0]), "2-9",
			 ptc_json_uint(s->candidates[1]), "10-99", ptc_json_uint(s->candidates[2]),
			 "100-", ptc_json_uint(s->candidates[3]));
}

static json_t *gaps_of(const struct ptc_compare_sum *s)
{
	json_t *o = json_object();
	int i;

	for (i = 1; i < PTC_GAP_COUNT; i++)
		if (s->gaps[i])
			json_object_set_new(o, ptc_gap_name((enum ptc_gap_cause)i),
					    ptc_json_uint(s->gaps[i]));
	return o;
}

bool ptc_compare_print_json(const struct ptc_compare_sum *s, enum ptc_stacks_are verdict,
			    uint64_t slack_ns, const struct ptc_recorded_cpu *cpu)
{
	json_t *o = json_pack("{s:s,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema",
			      "ptcap-compare", "version", 1, "samples", ptc_json_uint(s->samples),
			      "exact_samples", ptc_json_uint(s->exact_samples), "entries",
			      ptc_json_uint(s->entries), "judged", ptc_json_uint(s->all.judged),
			      "wrong", ptc_json_uint(s->all.wrong), "missing",
			      ptc_json_uint(s->all.missing), "verdicts", verdicts_of(s->verdicts),
			      "not_judged", skips_of(s), "patterns", patterns_of(s));
	bool ok = o && ptc_compare_set_cpu(o, cpu) &&
		  !json_object_set_new(o, "verdict",
				       json_string(ptc_compare_verdict_name(verdict))) &&
		  !json_object_set_new(o, "wrong_samples", ptc_json_uint(s->wrong_samples)) &&
		  !json_object_set_new(o, "slack", ptc_json_uint(slack_ns)) &&
		  !json_object_set_new(o, "shifts", shifts_of(s)) &&
		  !json_object_set_new(o, "depths", depths_of(s)) &&
		  !json_object_set_new(o, "kinds", kinds_of(s)) &&
		  !json_object_set_new(o, "cpus", cpus_of(s)) &&
		  !json_object_set_new(o, "candidates", candidates_of(s)) &&
		  !json_object_set_new(o, "gaps", gaps_of(s)) &&
		  !json_object_set_new(o, "limited_samples", ptc_json_uint(s->limited)) &&
		  !json_object_set_new(o, "functions", functions_of(s)) &&
		  !json_object_set_new(o, "places", places_of(s)) &&
		  !json_object_set_new(o, "worst", worst_of(s));
	char *text = ok ? ptc_json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;

	json_decref(o);
	if (!text)
		return false;
	puts(text);
	free(text);
	return true;
}
