/* SPDX-License-Identifier: MIT */
/* The last calls of `ptcap crash show -v`, as a tree. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/crash/crash_out.h"
#include "cli/crash/place_text.h"

enum { CALLS = 24, INDENT_MAX = 24, DECORATION = 8 };

static void add_call(const struct ptc_crash_view *v, struct ptc_screen *s, int indent,
		     const struct ptc_flow_call *c, bool empty)
{
	const char *how = c->how == PTC_CALL_BY_SIGNAL ? " /* signal handler */" :
			  c->how == PTC_CALL_BY_TAIL   ? " /* jumped to */" :
							 "";
	const size_t taken = (size_t)indent + DECORATION + strlen(how);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	char *name;

	ptc_crash_place_at(v->r, c->ip, &place);
	name = ptc_place_name(&place, v->width == SIZE_MAX ? SIZE_MAX :
				      v->width > taken	   ? v->width - taken :
							     1);
	if (name) /* C++ names include parameters */
		ptc_screen_add(s, PTC_STYLE_PLAIN, "  %*s%s%s%s%s", indent, "", name,
			       place.function && strchr(name, '(') ? "" : "()", empty ? ";" : " {",
			       how);
	s->failed |= !name;
	free(name);
}

void ptc_crash_add_calls(const struct ptc_crash_view *v, struct ptc_screen *s)
{
	const size_t n = ptc_crash_report_calls(v->r), first = n > CALLS ? n - CALLS : 0;
	uint32_t least = UINT32_MAX, floor = UINT32_MAX;
	size_t i;

	ptc_screen_heading(s, "last calls");
	for (i = first; i < n; i++)
		if (ptc_crash_report_call(v->r, i)->depth < least)
			least = ptc_crash_report_call(v->r, i)->depth;
	for (i = first; i < n; i++) {
		const struct ptc_flow_call *c = ptc_crash_report_call(v->r, i);
		const struct ptc_flow_call *next = ptc_crash_report_call(v->r, i + 1);
		const uint32_t deep = (c->depth - least) * 2;
		const int indent = (int)(deep < INDENT_MAX ? deep : INDENT_MAX);
		const bool empty = next && next->type == PTC_CALL_LEAVE && next->depth == c->depth;

		if (c->type == PTC_CALL_LEAVE && c->depth < floor)
			continue; /* the function began before the first line */
		if (c->type != PTC_CALL_ENTER) {
			ptc_screen_add(s, PTC_STYLE_PLAIN, "  %*s%s", indent, "",
				       c->type == PTC_CALL_LOST ? "(gap)" : "}");
			continue;
		}
		floor = c->depth < floor ? c->depth : floor;
		add_call(v, s, indent, c, empty);
		i += empty;
	}
}
