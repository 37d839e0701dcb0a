/* SPDX-License-Identifier: MIT */
/* Everything in the page of `ptcap view` but the events: names, functions, threads, gaps, as JSON.
 */
#ifndef PTC_CLI_VIEW_VIEW_META_H
#define PTC_CLI_VIEW_VIEW_META_H

#include <stdbool.h>

#include "base/buf.h"
#include "cli/view/call_collector.h"
#include "cli/view/crash_answer_lines.h"

struct ptc_view_facts {
	const char *recording;		    /* borrowed, as all members; name of the recording */
	const struct ptc_call_collector *c; /* after ptc_call_collector_finish */
	const struct ptc_crash_lines *crash;
	const char *symfs;   /* or NULL; where source files are */
	bool is_of_software; /* times are no measure */
};

/* Append one JSON object to @ret. Returns false if out of memory. cli/view/README.md has its keys.
 */
bool ptc_view_meta(const struct ptc_view_facts *facts, struct ptc_buf *ret);

#endif
