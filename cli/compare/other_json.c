/* SPDX-License-Identifier: MIT */
/* JSON of compare A B: doc/json.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "base/terminal_escape.h"
#include "cli/common/jsontext.h"
#include "cli/compare/compare_report.h"
#include "cli/compare/other_report.h"

enum { FUNCTION_MAX = 256 };

static json_t *depths_json(const struct ptc_other_sum *s)
{
	json_t *list = json_array();
	size_t n = PTC_OTHER_DEPTHS, i;

	while (n && !s->depths[n - 1].judged)
		n--;
	for (i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:o,s:o}", "judged",
						      ptc_json_uint(s->depths[i].judged), "wrong",
						      ptc_json_uint(s->depths[i].wrong)));
	return list;
}

bool ptc_other_print_json(const struct ptc_other_report *r)
{
	const struct ptc_other_sum *s = r->sum;
	json_t *stacks = json_object(), *verdicts = json_object(), *o;
	char *text;
	int i;

	for (i = 0; i < PTC_RUNS_STACKS; i++)
		json_object_set_new(stacks, ptc_runs_stack_name((enum ptc_runs_stack)i),
				    ptc_json_uint(s->stacks[i]));
	for (i = 0; i < PTC_RUNS_VERDICTS; i++)
		json_object_set_new(verdicts, ptc_runs_verdict_name((enum ptc_runs_verdict)i),
				    ptc_json_uint(s->verdicts[i]));
	o = json_pack("{s:s,s:i,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:b}", "schema",
		      "ptcap-compare-runs", "version", 1, "verdict",
		      ptc_other_judge_name(r->verdict), "samples", ptc_json_uint(s->samples),
		      "stacks", stacks, "entries", ptc_json_uint(s->entries), "judged",
		      ptc_json_uint(s->judged), "wrong", ptc_json_uint(s->wrong), "wrong_samples",
		      ptc_json_uint(s->wrong_samples), "verdicts", verdicts, "ips",
		      ptc_json_uint(s->ips), "ips_missed", ptc_json_uint(s->ips_missed), "depths",
		      depths_json(s), "limited", r->total->limited, "many_threads",
		      r->total->many_threads);
	if (o && (!ptc_compare_set_cpu(o, &r->cpu) ||
		  json_object_set_new(o, "trace",
				      json_pack("{s:o,s:o,s:o,s:s?}", "branches",
						ptc_json_uint(r->total->branches), "edges",
						ptc_json_uint(r->total->edges), "edges_seen",
						ptc_json_uint(r->total->edges_seen),
						"software_source", r->trace_software)))) {
		json_decref(o);
		return false;
	}
	text = ptc_json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
	json_decref(o);
	if (text)
		puts(text);
	free(text);
	return text != NULL;
}

/* --- --list --- */

/* Format "FUNCTION+0xOFFSET", or "-" if the function is not known. */
static void name_function(const struct ptc_runs_sample *s, struct ptc_decode *d, uint64_t ip,
			  char text[FUNCTION_MAX])
{
	char name[FUNCTION_MAX - 24]; /* leaves space for a number behind */
	uint64_t off;
	const char *found = ptc_decode_symbol(d, &s->where, ip, &off);
	size_t i;

	(void)snprintf(text, FUNCTION_MAX, "-");
	if (!found)
		return;
	ptc_plain_copy(name, sizeof(name), found);
	(void)snprintf(text, FUNCTION_MAX, "%s+0x%" PRIx64, name, off);
	for (i = 0; text[i]; i++)
		text[i] = (char)(text[i] == ' ' ? '_' : text[i]);
}

static bool list_json(const struct ptc_runs_sample *s, size_t i, const char *from, const char *to)
{
	const struct ptc_runs_entry *r = ptc_runs_entry(s, i);
	const struct ptc_branch *e = r->branch;
	json_t *entry = json_pack("{s:o,s:o,s:o,s:o}", "from", ptc_json_hex(e->from), "to",
				  ptc_json_hex(e->to), "from_function",
				  *from == '-' ? json_null() : json_string(from), "to_function",
				  *to == '-' ? json_null() : json_string(to));
	json_t *o = json_pack(
		"{s:s,s:i,s:o,s:I,s:i,s:i,s:o,s:s,s:o,s:n}", "schema", "ptcap-compare-entry",
		"version", 1, "offset", ptc_json_hex(s->off), "time", (json_int_t)s->where.time,
		"tid", s->where.tid, "cpu", s->where.cpu, "depth", ptc_json_uint(i), "verdict",
		ptc_runs_verdict_name((enum ptc_runs_verdict)r->verdict), "entry", entry, "trace");
	char *text = ptc_json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);

	json_decref(o);
	if (text)
		puts(text);
	free(text);
	return text != NULL;
}

bool ptc_other_list(const struct ptc_runs_sample *s, struct ptc_decode *d, bool json)
{
	char from[FUNCTION_MAX], to[FUNCTION_MAX];
	size_t i;

	for (i = 0; s->stack != PTC_RUNS_STACK_SKIPPED && i < s->n; i++) {
		const struct ptc_runs_entry *r = ptc_runs_entry(s, i);
		const struct ptc_branch *e = r->branch;

		if (r->verdict <= PTC_RUNS_POSSIBLE)
			continue;
		name_function(s, d, e->from, from);
		name_function(s, d, e->to, to);
		if (json && !list_json(s, i, from, to))
			return false;
		if (!json)
			printf("0x%" PRIx64 " %" PRIu64 ".%09" PRIu64 " %" PRId32 " %" PRId32
			       " %zu %" PRIx64 " %s %" PRIx64 " %s | - - - - -: %s\n",
			       s->off, s->where.time / 1000000000, s->where.time % 1000000000,
			       s->where.tid, s->where.cpu, i, e->from, from, e->to, to,
			       ptc_runs_verdict_name((enum ptc_runs_verdict)r->verdict));
	}
	return true;
}
