/* SPDX-License-Identifier: MIT */
/* `ptcap report --format csv`: fields as in RFC 4180, lines end with \n. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal_escape.h"
#include "cli/report/report.h"

enum { NAME_ROOM = 512 };

/*
 * Print a text in quotes. Control characters, and bytes that are not UTF-8, become \xNN, because a
 * table may be printed on a terminal. So does a first byte that would make the text a formula.
 * Returns false if out of memory.
 */
bool ptc_report_put_quoted(struct ptc_line *l, const char *s)
{
	char *plain = ptc_plain_dup(s), *c, first[8];

	if (!plain)
		return false;
	ptc_line_char(l, '"');
	c = plain;
	if (*c && strchr("=+-@", *c)) { /* a spreadsheet would take the name for a formula */
		(void)snprintf(first, sizeof(first), "\\x%02x", (unsigned char)*c++);
		ptc_line_str(l, first);
	}
	for (; *c; c++) {
		if (*c == '"')
			ptc_line_char(l, '"');
		ptc_line_char(l, *c);
	}
	ptc_line_char(l, '"');
	free(plain);
	return true;
}

void ptc_report_put_field(struct ptc_line *l, uint64_t n)
{
	char text[24];

	(void)snprintf(text, sizeof(text), ",%" PRIu64, n);
	ptc_line_str(l, text);
}

/* Print the sums on one axis. Unknown values are empty. */
static void put_axis(const struct ptc_report *r, const struct ptc_function_sum *row,
		     unsigned int axis)
{
	if (axis == PTC_SUMS_TIME && !r->has_time) {
		ptc_line_str(r->line, ",,,,,,");
		return;
	}
	ptc_report_put_field(r->line, row->self[axis]);
	ptc_report_put_field(r->line, row->total[axis]);
	ptc_report_put_field(r->line, row->known[axis]);
	if (!row->known[axis]) {
		ptc_line_str(r->line, ",,,");
		return;
	}
	ptc_report_put_field(r->line, ptc_report_mean(row, axis));
	ptc_report_put_field(r->line, ptc_function_sums_p99(&r->sums, row, axis));
	ptc_report_put_field(r->line, row->max[axis]);
}

/* Print the fields of a group: pid,tid,thread or pid. A file is a field of each function. */
static bool put_group_fields(const struct ptc_report *r, uint32_t group)
{
	const struct ptc_call_thread *t;

	if (r->args->by == PTC_BY_PROCESS) {
		ptc_line_dec(r->line, (int32_t)group);
		ptc_line_char(r->line, ',');
	}
	if (r->args->by != PTC_BY_THREAD)
		return true;
	t = ptc_report_thread(r, group);
	ptc_line_dec(r->line, t->pid);
	ptc_line_char(r->line, ',');
	ptc_line_dec(r->line, t->tid);
	ptc_line_char(r->line, ',');
	if (!ptc_report_put_quoted(r->line, t->name))
		return false;
	ptc_line_char(r->line, ',');
	return true;
}

static bool put_csv_row(const struct ptc_report *r, const struct ptc_function_sum *row)
{
	const struct ptc_function *f = &r->stream.functions[row->function];
	const char *file = ptc_names_of(&r->stream.names, f->file);
	char name[NAME_ROOM], off[32];

	if (!put_group_fields(r, row->group) ||
	    !ptc_report_put_quoted(r->line, ptc_report_name(r, row->function, name, sizeof(name))))
		return false;
	ptc_line_char(r->line, ',');
	if (!ptc_report_put_quoted(r->line, file ? file : ""))
		return false;
	(void)snprintf(off, sizeof(off), ",0x%" PRIx64 ",%d", f->off, f->inlined);
	ptc_line_str(r->line, off);
	ptc_report_put_field(r->line, row->calls);
	ptc_report_put_field(r->line, row->open);
	put_axis(r, row, PTC_SUMS_INSNS);
	put_axis(r, row, PTC_SUMS_TIME);
	ptc_line_char(r->line, '\n');
	return true;
}

bool ptc_report_csv(const struct ptc_report *r)
{
	static const char *const heads[PTC_BY_COUNT] = {
		[PTC_BY_THREAD] = "pid,tid,thread,", [PTC_BY_PROCESS] = "pid,"
	};
	size_t i, k;

	if (r->args->function)
		return ptc_report_focus_csv(r);
	ptc_line_str(r->line, heads[r->args->by] ? heads[r->args->by] : "");
	ptc_line_str(r->line, "function,file,offset,inlined,calls,open,self_insns,total_insns,"
			      "known_insns,mean_insns,p99_insns,max_insns,self_ns,total_ns,"
			      "known_ns,mean_ns,p99_ns,max_ns\n");
	for (i = 0; i < r->ngroups; i++)
		for (k = 0; k < ptc_report_shown(r, &r->groups[i]); k++)
			if (!put_csv_row(r, r->row[r->groups[i].first + k]))
				return false;
	return true;
}
