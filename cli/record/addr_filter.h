/* SPDX-License-Identifier: MIT */
/* Address filters of the command line, in perf's syntax. */
#ifndef PTC_CLI_RECORD_ADDR_FILTER_H
#define PTC_CLI_RECORD_ADDR_FILTER_H

#include <stddef.h>

#include "ptcap/capture.h"

struct ptc_filter_list {	       /* zeroed: no filters */
	struct ptc_addr_filter *items; /* owned, including their file names */
	size_t n, cap;
};

/*
 * Add the filters in @text, and resolve their symbols. Syntax: "filter|start|stop|tracestop START
 * [/ SIZE] [@ FILE]", several with blanks or commas between them.
 *
 * START: an offset in FILE, a function in FILE, or "*" for all of it. SIZE: bytes, or the last
 * function. Without FILE, addresses and functions are the kernel's. @kallsyms: /proc/kallsyms,
 * another file in tests. "NAME #N" selects the N-th of several functions by address, "NAME #g" the
 * global one.
 */
int ptc_addr_filters_parse(struct ptc_filter_list *l, const char *text, const char *kallsyms,
			   struct ptc_err *err);

/* Free the list. Accepts a zeroed list. */
void ptc_addr_filters_release(struct ptc_filter_list *l);

#endif
