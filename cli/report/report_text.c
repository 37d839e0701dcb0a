/* SPDX-License-Identifier: MIT */
/* `ptcap report`: the table for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "cli/report/amount.h"
#include "cli/report/report.h"

/* TAKEN: columns in front of the name. */
enum { TAKEN = 61, GROUP_TAKEN = 37, NAME_ROOM = 512, NAME_MIN = 16 };

void ptc_report_put_name(const struct ptc_report *r, uint32_t function, size_t taken)
{
	const struct ptc_function *f = &r->stream.functions[function];
	const char *file = f->name ? ptc_names_of(&r->stream.names, f->file) : NULL, *base;
	const size_t width = r->width > taken + NAME_MIN ? r->width - taken : NAME_MIN;
	char buf[NAME_ROOM];
	const char *name = ptc_report_name(r, function, buf, sizeof(buf));

	base = file ? strrchr(file, '/') : NULL;
	file = base ? base + 1 : file;
	if (!r->width || !f->name) /* without a symbol the end has the offset in the file */
		ptc_report_put_tail(r, name, width);
	else
		ptc_print_short_name(r->line, name, width);
	if (!file || (r->width && strlen(name) + strlen(file) + strlen(" ()") > width))
		return;
	ptc_line_str(r->line, " (");
	ptc_print_label(r->line, file);
	ptc_line_char(r->line, ')');
}

void ptc_report_put_tail(const struct ptc_report *r, const char *s, size_t room)
{
	const size_t n = strlen(s);

	if (r->width && n > room) {
		ptc_line_str(r->line, "...");
		s += n - room + strlen("...");
	}
	ptc_print_label(r->line, s);
}

void ptc_report_put_share(const struct ptc_report *r, uint64_t part, uint64_t whole)
{
	char text[32];

	(void)snprintf(text, sizeof(text), " %5.1f",
		       whole ? 100.0 * (double)part / (double)whole : 0.0);
	ptc_line_str(r->line, text);
}

void ptc_report_put_amount(const struct ptc_report *r, uint64_t n, bool is_count)
{
	char amount[PTC_AMOUNT_ROOM], text[PTC_AMOUNT_ROOM + 10];

	ptc_amount(amount, n, !is_count && r->axis == PTC_SUMS_TIME);
	(void)snprintf(text, sizeof(text), " %7s", amount);
	ptc_line_str(r->line, text);
}

void ptc_report_put_row(const struct ptc_report *r, const struct ptc_function_sum *row)
{
	struct ptc_line *l = r->line;
	char text[32];

	ptc_report_put_amount(r, row->self[r->axis], false);
	ptc_report_put_share(r, row->self[r->axis], r->sums.all.self[r->axis]);
	ptc_report_put_amount(r, row->total[r->axis], false);
	ptc_report_put_amount(r, row->calls, true);
	(void)snprintf(text, sizeof(text), " %4" PRIu64, row->open);
	ptc_line_str(l, text);
	if (row->known[r->axis]) {
		ptc_report_put_amount(r, ptc_report_mean(row, r->axis), false);
		ptc_report_put_amount(r, ptc_function_sums_p99(&r->sums, row, r->axis), false);
		ptc_report_put_amount(r, row->max[r->axis], false);
	} else {
		ptc_line_str(l, "       -       -       -");
	}
	ptc_line_str(l, r->args->by ? "    " : "  ");
	ptc_report_put_name(r, row->function, r->args->by ? TAKEN + 2 : TAKEN);
	ptc_line_char(l, '\n');
}

static void put_head(const struct ptc_report *r)
{
	const struct ptc_function_sum *all = &r->sums.all;
	char text[160], amount[PTC_AMOUNT_ROOM];

	(void)snprintf(text, sizeof(text), "# %" PRIu64 " instruction%s", r->insns,
		       ptc_plural(r->insns));
	ptc_line_str(r->line, text);
	if (r->has_time) {
		ptc_amount(amount, all->self[PTC_SUMS_TIME], true);
		(void)snprintf(text, sizeof(text), ", %s", amount);
		ptc_line_str(r->line, text);
	}
	(void)snprintf(text, sizeof(text), ", %" PRIu64 " call%s, %zu function%s, %zu thread%s\n",
		       all->calls, ptc_plural(all->calls), r->stream.nfunctions,
		       ptc_plural(r->stream.nfunctions), r->stream.nthreads,
		       ptc_plural(r->stream.nthreads));
	ptc_line_str(r->line, text);
	ptc_line_str(r->line, "#  self      %   total   calls open    mean     p99     max  "
			      "function\n");
}

/* Print the name of a group. The process of a thread is left out if it does not fit. */
static void put_group_name(const struct ptc_report *r, uint32_t group)
{
	const size_t room = r->width > GROUP_TAKEN + NAME_MIN ? r->width - GROUP_TAKEN : NAME_MIN;
	const struct ptc_call_thread *t;
	const char *file;
	char text[PTC_THREAD_NAME_MAX + 64];
	int n;

	if (r->args->by == PTC_BY_THREAD) {
		t = ptc_report_thread(r, group);
		n = snprintf(text, sizeof(text), "thread %" PRId32 " (%s)", t->tid, t->name);
		ptc_print_label(r->line, text);
		n += snprintf(text, sizeof(text), " of process %" PRId32, t->pid);
		if (r->width && (size_t)n > room)
			return;
	} else if (r->args->by == PTC_BY_PROCESS) {
		(void)snprintf(text, sizeof(text), "process %" PRId32, (int32_t)group);
	} else {
		file = ptc_names_of(&r->stream.names, group);
		ptc_report_put_tail(r, file ? file : "no file", room);
		return;
	}
	ptc_line_str(r->line, text);
}

static void put_group(const struct ptc_report *r, const struct ptc_report_group *g)
{
	const size_t shown = ptc_report_shown(r, g);
	char text[64];
	size_t i;

	if (r->args->by) {
		ptc_report_put_amount(r, g->sum.self[r->axis], false);
		ptc_report_put_share(r, g->sum.self[r->axis], r->sums.all.self[r->axis]);
		ptc_line_str(r->line, "        ");
		ptc_report_put_amount(r, g->sum.calls, true);
		(void)snprintf(text, sizeof(text), " %4" PRIu64 "  ", g->sum.open);
		ptc_line_str(r->line, text);
		put_group_name(r, g->sum.group);
		ptc_line_char(r->line, '\n');
	}
	for (i = 0; i < shown; i++)
		ptc_report_put_row(r, r->row[g->first + i]);
	if (shown == g->n)
		return;
	(void)snprintf(text, sizeof(text), "# and %zu more function%s\n", g->n - shown,
		       ptc_plural(g->n - shown));
	ptc_line_str(r->line, text);
}

bool ptc_report_text(const struct ptc_report *r)
{
	size_t i;

	if (r->args->function) {
		if (r->focus.found)
			ptc_report_focus_text(r);
		return true;
	}
	put_head(r);
	for (i = 0; i < r->ngroups; i++) {
		if (i)
			ptc_line_char(r->line, '\n');
		put_group(r, &r->groups[i]);
	}
	return true;
}
