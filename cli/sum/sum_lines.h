/* SPDX-License-Identifier: MIT */
/* Reads the lines of a file. A line has a limit, so memory is bounded. */
#ifndef PTC_CLI_SUM_SUM_LINES_H
#define PTC_CLI_SUM_SUM_LINES_H

#include "base/buf.h"
#include "cli/sum/sum_line.h"

enum { PTC_SUM_LINE_MAX = 16 << 20 }; /* bytes of a line */

struct ptc_sum_lines {
	int fd; /* borrowed */
	struct ptc_buf buf;
	size_t at; /* in buf: begin of the next line */
	bool ended;
};

/*
 * Gets the next line: sets l->text and l->len, valid until the next call, and increments l->number.
 * Returns 1, 0 at the end of the file, or an error code: the file cannot be read, a line is too
 * long, has a NUL byte, or lacks its newline.
 */
int ptc_sum_lines_next(struct ptc_sum_lines *r, struct ptc_sum_line *l, struct ptc_err *err);
void ptc_sum_lines_release(struct ptc_sum_lines *r);

#endif
