/* SPDX-License-Identifier: MIT */
/* `ptcap report --function --format json`: doc/json.md. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "cli/common/jsontext.h"
#include "cli/report/report.h"

enum { NAME_ROOM = 512 };

static json_t *name_or_null(const struct ptc_report *r, uint32_t function)
{
	char name[NAME_ROOM];

	if (function == PTC_NO_NUMBER)
		return json_null();
	return ptc_json_text(ptc_report_name(r, function, name, sizeof(name)));
}

static json_t *place_or_null(const struct ptc_report *r, uint32_t function)
{
	return function == PTC_NO_NUMBER ? json_null() :
					   ptc_report_file(r, r->stream.functions[function].file);
}

static json_t *edge_sums(const struct ptc_call_edge *e, unsigned int axis)
{
	return json_pack("{s:o, s:o}", "self", ptc_report_number(e->self[axis]), "total",
			 ptc_report_number(e->total[axis]));
}

static bool put_edge_object(const struct ptc_report *r, const struct ptc_call_edge *e,
			    const char *type)
{
	return ptc_line_json(
		r->line,
		json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "type", type, "caller",
			  name_or_null(r, e->caller), "caller_file", place_or_null(r, e->caller),
			  "callee", name_or_null(r, e->callee), "callee_file",
			  place_or_null(r, e->callee), "calls", ptc_report_number(e->calls),
			  "insns", edge_sums(e, PTC_SUMS_INSNS), "time",
			  r->has_time ? edge_sums(e, PTC_SUMS_TIME) : json_null()));
}

static json_t *begin_and_duration(const struct ptc_slow_call *c, unsigned int axis)
{
	const bool known = c->at[axis] != PTC_NO_TIME;

	return json_pack("{s:o, s:o}", "begin",
			 known ? ptc_report_number(c->at[axis]) : json_null(), "duration",
			 known ? ptc_report_number(c->duration[axis]) : json_null());
}

static bool put_slow_object(const struct ptc_report *r, const struct ptc_slow_call *c)
{
	const struct ptc_call_thread *t = ptc_report_thread(r, c->thread);
	char from[32];

	(void)snprintf(from, sizeof(from), "0x%" PRIx64, c->from);
	return ptc_line_json(
		r->line,
		json_pack("{s:s, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "type", "slowest",
			  "name", name_or_null(r, c->function), "pid", (int)t->pid, "tid",
			  (int)t->tid, "insns", begin_and_duration(c, PTC_SUMS_INSNS), "time",
			  r->has_time ? begin_and_duration(c, PTC_SUMS_TIME) : json_null(),
			  "caller", name_or_null(r, c->caller), "from",
			  c->from ? json_string(from) : json_null(), "source",
			  c->file ? ptc_json_text(c->file) : json_null(), "line",
			  c->file ? json_integer(c->line) : json_null()));
}

bool ptc_report_focus_json(const struct ptc_report *r)
{
	const struct ptc_function_focus *f = &r->focus;
	bool ok = true;
	size_t i;

	for (i = 0; i < f->nedges && ok; i++)
		if (ptc_function_focus_knows(f, f->edges[i].callee))
			ok = put_edge_object(r, &f->edges[i], "caller");
	for (i = 0; i < r->sums.nrows && ok; i++)
		if (ptc_function_focus_knows(f, r->row[i]->function))
			ok = ptc_report_put_function(r, r->row[i], SIZE_MAX);
	for (i = 0; i < f->nedges && ok; i++)
		if (ptc_function_focus_knows(f, f->edges[i].caller))
			ok = put_edge_object(r, &f->edges[i], "callee");
	for (i = 0; i < f->slowest.n && ok; i++)
		ok = put_slow_object(r, &f->slowest.v[i]);
	return ok;
}
