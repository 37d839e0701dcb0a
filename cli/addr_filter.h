/* SPDX-License-Identifier: MIT */
/* Address filters, as the user gives them: perf's syntax. */
#ifndef PTC_CLI_ADDR_FILTER_H
#define PTC_CLI_ADDR_FILTER_H

#include <stddef.h>

#include "ptcap/capture.h"

struct ptc_filter_list {	       /* zeroed: none */
	struct ptc_addr_filter *items; /* owned, and their files */
	size_t n, cap;
};

/*
 * Add those of @text, with symbols looked up: "filter|start|stop|tracestop START [/ SIZE]
 * [@ FILE]", one or more, with blanks or commas between them. START: an offset into FILE, a
 * function of it, or "*", all of it; SIZE: bytes, or the last function. Without FILE addresses
 * and functions are the kernel's, by @kallsyms (/proc/kallsyms but for tests). "NAME #N" is the
 * N-th of several functions, by address, "NAME #g" the global one.
 */
int ptc_addr_filters_parse(struct ptc_filter_list *l, const char *text, const char *kallsyms,
			   struct ptc_err *err);

/* Accepts what is zeroed. */
void ptc_addr_filters_release(struct ptc_filter_list *l);

#endif
