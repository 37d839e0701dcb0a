/* SPDX-License-Identifier: MIT */
/* The table of crashes: a row for each process whose death by a signal the recording has saved. */
#ifndef PTC_CLI_ARROW_CRASH_TABLE_H
#define PTC_CLI_ARROW_CRASH_TABLE_H

#include "cli/arrow/arrow_names.h"
#include "cli/arrow/arrow_table.h"

struct ptc_file;

enum { PTC_CRASH_COLUMNS = 9 };

extern const struct ptc_ipc_column ptc_crash_columns[PTC_CRASH_COLUMNS];

/*
 * Appends the crashes of @f; NULL: there are none. Records behind a damaged record are ignored, as
 * the decoder does. Returns 0, PTC_E_IO or PTC_E_NO_MEMORY.
 */
int ptc_crash_table_fill(struct ptc_arrow_table *t, struct ptc_arrow_names *names,
			 const struct ptc_file *f, struct ptc_err *err);

#endif
