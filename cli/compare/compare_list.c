/* SPDX-License-Identifier: MIT */
/* --list of compare: one line for each inexact entry of a sample. doc/format.md, doc/json.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/terminal_escape.h"
#include "cli/common/jsontext.h"
#include "cli/compare/compare_report.h"

enum { NAME_MAX_LEN = 256 };

struct listing {
	const struct ptc_compare_sample *s;
	const struct ptc_side_names *names;
	bool json;
};

/*
 * Format "FUNCTION+0xOFFSET" of @ip, or "-" if the function is not known. Returns false if out of
 * memory.
 */
static bool function_text(const struct listing *l, uint64_t ip, char text[NAME_MAX_LEN])
{
	struct ptc_side_place place = { .off = 0 };
	const bool found = l->names->find(l->names->ctx, &l->s->where, ip, &place);
	char name[NAME_MAX_LEN - 24]; /* leaves space for a number behind */

	(void)snprintf(text, NAME_MAX_LEN, "-");
	if (found && place.function) {
		ptc_plain_copy(name, sizeof(name), place.function);
		(void)snprintf(text, NAME_MAX_LEN, "%s+0x%" PRIx64, name, place.off);
	}
	ptc_side_place_release(&place);
	return found;
}

/* Print an end as two fields, address and function: blanks in a name become '_'. */
static bool print_end(const struct listing *l, uint64_t ip)
{
	char text[NAME_MAX_LEN];
	size_t i;

	if (!function_text(l, ip, text))
		return false;
	for (i = 0; text[i]; i++)
		text[i] = (char)(text[i] == ' ' ? '_' : text[i]);
	printf(" %" PRIx64 " %s", ip, text);
	return true;
}

static bool print_ends(const struct listing *l, const struct ptc_side_end ends[2])
{
	if (ends[0].ip || ends[1].ip)
		return print_end(l, ends[0].ip) && print_end(l, ends[1].ip);
	printf(" - - - -");
	return true;
}

static bool print_line(const struct listing *l, const struct ptc_side_row *row, const char *verdict)
{
	const struct ptc_item *where = &l->s->where;

	printf("0x%" PRIx64 " ", l->s->off);
	if (l->s->sample->id.has & PERF_SAMPLE_TIME)
		printf("%" PRIu64 ".%09" PRIu64, where->time / 1000000000,
		       where->time % 1000000000);
	else
		printf("-");
	printf(" %" PRId32 " %" PRId32 " %zu", where->tid, where->cpu, row->depth);
	if (!print_ends(l, row->lbr))
		return false;
	printf(" |");
	if (!print_ends(l, row->trace))
		return false;
	printf(" %s: %s\n", row->kind ? ptc_kind_name((enum ptc_kind)row->kind) : "-", verdict);
	return true;
}

static json_t *function_of(const struct listing *l, uint64_t ip)
{
	char text[NAME_MAX_LEN];

	if (!function_text(l, ip, text))
		return NULL;
	return strcmp(text, "-") != 0 ? json_string(text) : json_null();
}

static json_t *ends_of(const struct listing *l, const struct ptc_side_end ends[2])
{
	if (!ends[0].ip && !ends[1].ip)
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o}", "from", ptc_json_hex(ends[0].ip), "to",
			 ptc_json_hex(ends[1].ip), "from_function", function_of(l, ends[0].ip),
			 "to_function", function_of(l, ends[1].ip));
}

static bool print_object(const struct listing *l, const struct ptc_side_row *row,
			 const char *verdict)
{
	json_t *o = json_pack("{s:s,s:i,s:o,s:I,s:i,s:i,s:I,s:s,s:o,s:o}", "schema",
			      "ptcap-compare-entry", "version", 1, "offset",
			      ptc_json_hex(l->s->off), "time", (json_int_t)l->s->where.time, "tid",
			      l->s->where.tid, "cpu", l->s->where.cpu, "depth",
			      (json_int_t)row->depth, "verdict", verdict, "entry",
			      ends_of(l, row->lbr), "trace", ends_of(l, row->trace));
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
	return print_line(l, row, verdict);
}

bool ptc_compare_list(const struct ptc_compare_sample *s, const struct ptc_side_names *names,
		      bool json)
{
	struct listing l = { s, names, json };

	return s->skip != PTC_COMPARE_JUDGED || ptc_side_walk(s, on_row, &l);
}
