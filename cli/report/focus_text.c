/* SPDX-License-Identifier: MIT */
/* `ptcap report --function`: callers, function, callees and slowest calls, for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/report/report.h"

/* Columns in front of the name, and for FILE:LINE. */
enum { EDGE_TAKEN = 32, SLOW_TAKEN = 37, SOURCE_ROOM = 20 };

/* Returns the total of all functions with the name. */
static uint64_t focus_total(const struct ptc_report *r)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < r->sums.nrows; i++)
		if (ptc_function_focus_knows(&r->focus, r->sums.rows[i].function))
			ptc_sums_add(&total, r->sums.rows[i].total[r->axis]);
	return total;
}

static void put_edge(const struct ptc_report *r, const struct ptc_call_edge *e, uint32_t other,
		     uint64_t whole)
{
	ptc_report_put_amount(r, e->total[r->axis], false);
	ptc_report_put_share(r, e->total[r->axis], whole);
	ptc_report_put_amount(r, e->self[r->axis], false);
	ptc_report_put_amount(r, e->calls, true);
	ptc_line_str(r->line, "  ");
	if (other == PTC_NO_NUMBER)
		ptc_line_str(r->line, "(unknown)");
	else
		ptc_report_put_name(r, other, EDGE_TAKEN);
	ptc_line_char(r->line, '\n');
}

static void put_slow(const struct ptc_report *r, const struct ptc_slow_call *c)
{
	const char *base = c->file ? strrchr(c->file, '/') : NULL;
	struct ptc_line *l = r->line;
	char text[64];

	if (r->axis == PTC_SUMS_TIME && c->at[PTC_SUMS_TIME] != PTC_NO_TIME)
		(void)snprintf(text, sizeof(text), "%9" PRIu64 ".%09" PRIu64,
			       c->at[PTC_SUMS_TIME] / 1000000000,
			       c->at[PTC_SUMS_TIME] % 1000000000);
	else
		(void)snprintf(text, sizeof(text), "%19" PRIu64, c->at[PTC_SUMS_INSNS]);
	ptc_line_str(l, text);
	ptc_report_put_amount(r, c->duration[r->axis], false);
	(void)snprintf(text, sizeof(text), " %7" PRId32 "  ", ptc_report_thread(r, c->thread)->tid);
	ptc_line_str(l, text);
	if (c->caller == PTC_NO_NUMBER)
		ptc_line_str(l, "(unknown)");
	else
		ptc_report_put_name(r, c->caller, SLOW_TAKEN + (c->file ? 2 + SOURCE_ROOM : 0));
	if (c->file) {
		(void)snprintf(text, sizeof(text), ":%d", c->line);
		ptc_line_str(l, "  ");
		ptc_report_put_tail(r, base && r->width ? base + 1 : c->file,
				    SOURCE_ROOM - strlen(text));
		ptc_line_str(l, text);
	}
	ptc_line_char(l, '\n');
}

static void put_slowest(const struct ptc_report *r)
{
	size_t i;

	ptc_line_str(r->line, r->axis == PTC_SUMS_TIME ?
				      "#             begin     took  thread  slowest call by\n" :
				      "#       instruction     took  thread  slowest call by\n");
	for (i = 0; i < r->focus.slowest.n; i++)
		put_slow(r, &r->focus.slowest.v[i]);
}

void ptc_report_focus_text(const struct ptc_report *r)
{
	const uint64_t whole = focus_total(r);
	const struct ptc_call_edge *e;
	size_t i;

	ptc_line_str(r->line, "# total      %    self   calls  caller\n");
	for (i = 0; i < r->focus.nedges; i++) {
		e = &r->focus.edges[i];
		if (ptc_function_focus_knows(&r->focus, e->callee))
			put_edge(r, e, e->caller, whole);
	}
	ptc_line_str(r->line, "#  self      %   total   calls open    mean     p99     max  "
			      "function\n");
	for (i = 0; i < r->sums.nrows; i++)
		if (ptc_function_focus_knows(&r->focus, r->row[i]->function))
			ptc_report_put_row(r, r->row[i]);
	ptc_line_str(r->line, "# total      %    self   calls  called function\n");
	for (i = 0; i < r->focus.nedges; i++) {
		e = &r->focus.edges[i];
		if (ptc_function_focus_knows(&r->focus, e->caller))
			put_edge(r, e, e->callee, whole);
	}
	if (r->args->slowest)
		put_slowest(r);
}
