/* SPDX-License-Identifier: MIT */
/* --list of compare: one line for each inexact entry of a sample. doc/format.md, doc/json.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "cli/common/jsontext.h"
#include "cli/compare/compare_report.h"

struct listing {
	const struct ptc_compare_sample *s;
	bool json;
};

static void print_ends(const struct ptc_side_end ends[2])
{
	if (ends[0].ip || ends[1].ip)
		printf(" %" PRIx64 " %" PRIx64, ends[0].ip, ends[1].ip);
	else
		printf(" - -");
}

static void print_line(const struct listing *l, const struct ptc_side_row *row, const char *verdict)
{
	const struct ptc_item *where = &l->s->where;

	printf("0x%" PRIx64 " ", l->s->off);
	if (l->s->sample->id.has & PERF_SAMPLE_TIME)
		printf("%" PRIu64 ".%09" PRIu64, where->time / 1000000000,
		       where->time % 1000000000);
	else
		printf("-");
	printf(" %" PRId32 " %" PRId32 " %zu", where->tid, where->cpu, row->depth);
	print_ends(row->lbr);
	printf(" |");
	print_ends(row->trace);
	printf(" %s: %s\n", row->kind ? ptc_kind_name((enum ptc_kind)row->kind) : "-", verdict);
}

static json_t *address(uint64_t v)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "0x%" PRIx64, v);
	return json_string(text);
}

static json_t *ends_of(const struct ptc_side_end ends[2])
{
	return ends[0].ip || ends[1].ip ? json_pack("{s:o,s:o}", "from", address(ends[0].ip), "to",
						    address(ends[1].ip)) :
					  json_null();
}

static bool print_object(const struct listing *l, const struct ptc_side_row *row,
			 const char *verdict)
{
	json_t *o = json_pack("{s:s,s:i,s:o,s:I,s:i,s:i,s:I,s:s,s:o,s:o}", "schema",
			      "ptcap-compare-entry", "version", 1, "offset", address(l->s->off),
			      "time", (json_int_t)l->s->where.time, "tid", l->s->where.tid, "cpu",
			      l->s->where.cpu, "depth", (json_int_t)row->depth, "verdict", verdict,
			      "entry", ends_of(row->lbr), "trace", ends_of(row->trace));
	char *text;

	if (o && row->kind)
		json_object_set_new(json_object_get(o, "trace"), "kind",
				    json_string(ptc_kind_name((enum ptc_kind)row->kind)));
	text = ptc_json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
	json_decref(o);
	if (text)
		puts(text);
	free(text);
	return text != NULL;
}

static bool on_row(void *ctx, const struct ptc_side_row *row)
{
	const struct listing *l = ctx;
	const char *verdict = row->missing ? "missing" :
					     ptc_verdict_name((enum ptc_verdict)row->verdict);

	if (!row->missing && row->verdict == PTC_VERDICT_EXACT)
		return true;
	if (l->json)
		return print_object(l, row, verdict);
	print_line(l, row, verdict);
	return true;
}

bool ptc_compare_list(const struct ptc_compare_sample *s, bool json)
{
	struct listing l = { s, json };

	return s->skip != PTC_COMPARE_JUDGED || ptc_side_walk(s, on_row, &l);
}
