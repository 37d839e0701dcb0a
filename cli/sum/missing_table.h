/* SPDX-License-Identifier: MIT */
/* The objects for files with missing code, at the end of some JSON outputs. */
#ifndef PTC_CLI_SUM_MISSING_TABLE_H
#define PTC_CLI_SUM_MISSING_TABLE_H

#include "cli/sum/sum_line.h"

struct ptc_line;
struct ptc_missing_row;

/* Initialize with zeros. */
struct ptc_missing_table {
	struct ptc_missing_row *rows; /* owned */
	size_t n, cap;
};

/* Adds the object l->json, of type "missing". */
int ptc_missing_table_add(struct ptc_missing_table *t, const struct ptc_sum_line *l,
			  struct ptc_err *err);
/* Prints an object for each file and build-id, in their order. Returns false if out of memory. */
bool ptc_missing_table_print(struct ptc_missing_table *t, struct ptc_line *l);
void ptc_missing_table_release(struct ptc_missing_table *t);

#endif
