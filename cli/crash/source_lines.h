/* SPDX-License-Identifier: MIT */
/* The source line of a place, with one line before and one behind it. */
#ifndef PTC_CLI_CRASH_SOURCE_LINES_H
#define PTC_CLI_CRASH_SOURCE_LINES_H

#include "cli/crash/crash_out.h"

/*
 * Append the lines around @p->line of @p->source to @s; nothing, if they cannot be read. v->symfs
 * is the root of the file. If the source is newer than the file with the code, a note says so.
 */
void ptc_crash_add_source(const struct ptc_crash_view *v, struct ptc_screen *s,
			  const struct ptc_crash_place *p);

#endif
