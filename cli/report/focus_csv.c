/* SPDX-License-Identifier: MIT */
/* `ptcap report --function --format csv`: callers and callees, or the slowest calls. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/report/report.h"

enum { NAME_ROOM = 512 };

/* Print ,"NAME","FILE" of a function. Both are empty if the function is unknown. */
static bool put_function_fields(const struct ptc_report *r, uint32_t function)
{
	const char *name = "", *file = NULL;
	char buf[NAME_ROOM];

	if (function != PTC_NO_NUMBER) {
		name = ptc_report_name(r, function, buf, sizeof(buf));
		file = ptc_names_of(&r->stream.names, r->stream.functions[function].file);
	}
	ptc_line_char(r->line, ',');
	if (!ptc_report_put_quoted(r->line, name))
		return false;
	ptc_line_char(r->line, ',');
	return ptc_report_put_quoted(r->line, file ? file : "");
}

static bool put_edge_row(const struct ptc_report *r, const struct ptc_call_edge *e,
			 const char *kind)
{
	ptc_line_str(r->line, kind);
	if (!put_function_fields(r, e->caller) || !put_function_fields(r, e->callee))
		return false;
	ptc_report_put_field(r->line, e->calls);
	ptc_report_put_field(r->line, e->self[PTC_SUMS_INSNS]);
	ptc_report_put_field(r->line, e->total[PTC_SUMS_INSNS]);
	if (r->has_time) {
		ptc_report_put_field(r->line, e->self[PTC_SUMS_TIME]);
		ptc_report_put_field(r->line, e->total[PTC_SUMS_TIME]);
	} else {
		ptc_line_str(r->line, ",,");
	}
	ptc_line_char(r->line, '\n');
	return true;
}

static bool put_slow_row(const struct ptc_report *r, const struct ptc_slow_call *c)
{
	const struct ptc_call_thread *t = ptc_report_thread(r, c->thread);
	const bool timed = r->has_time && c->at[PTC_SUMS_TIME] != PTC_NO_TIME;
	char text[64];

	(void)snprintf(text, sizeof(text), "%" PRId32 ",%" PRId32, t->pid, t->tid);
	ptc_line_str(r->line, text);
	if (!put_function_fields(r, c->function))
		return false;
	ptc_report_put_field(r->line, c->at[PTC_SUMS_INSNS]);
	ptc_report_put_field(r->line, c->duration[PTC_SUMS_INSNS]);
	if (timed) {
		ptc_report_put_field(r->line, c->at[PTC_SUMS_TIME]);
		ptc_report_put_field(r->line, c->duration[PTC_SUMS_TIME]);
	} else {
		ptc_line_str(r->line, ",,");
	}
	if (!put_function_fields(r, c->caller))
		return false;
	ptc_line_char(r->line, ',');
	if (!ptc_report_put_quoted(r->line, c->file ? c->file : ""))
		return false;
	if (c->file)
		ptc_report_put_field(r->line, (uint64_t)c->line);
	else
		ptc_line_char(r->line, ',');
	ptc_line_char(r->line, '\n');
	return true;
}

static bool put_slow_rows(const struct ptc_report *r)
{
	size_t i;

	ptc_line_str(r->line, "pid,tid,function,file,begin_insns,duration_insns,begin_ns,"
			      "duration_ns,caller,caller_file,source,line\n");
	for (i = 0; i < r->focus.slowest.n; i++)
		if (!put_slow_row(r, &r->focus.slowest.v[i]))
			return false;
	return true;
}

bool ptc_report_focus_csv(const struct ptc_report *r)
{
	const struct ptc_function_focus *f = &r->focus;
	size_t i;

	if (r->args->slowest)
		return put_slow_rows(r);
	ptc_line_str(r->line, "type,caller,caller_file,callee,callee_file,calls,self_insns,"
			      "total_insns,self_ns,total_ns\n");
	for (i = 0; i < f->nedges; i++)
		if (ptc_function_focus_knows(f, f->edges[i].callee) &&
		    !put_edge_row(r, &f->edges[i], "caller"))
			return false;
	for (i = 0; i < f->nedges; i++)
		if (ptc_function_focus_knows(f, f->edges[i].caller) &&
		    !put_edge_row(r, &f->edges[i], "callee"))
			return false;
	return true;
}
