/* SPDX-License-Identifier: MIT */
/* The table of gaps: a row for each part of the trace that is missing or could not be decoded. */
#ifndef PTC_CLI_ARROW_GAP_TABLE_H
#define PTC_CLI_ARROW_GAP_TABLE_H

#include "cli/arrow/arrow_table.h"
#include "ptcap/decode.h"

enum { PTC_GAP_COLUMNS = 9 };

extern const struct ptc_ipc_column ptc_gap_columns[PTC_GAP_COLUMNS];

/* Appends the gap @it. Returns 0, PTC_E_IO or PTC_E_NO_MEMORY. */
int ptc_gap_table_add(struct ptc_arrow_table *t, const struct ptc_item *it, struct ptc_err *err);

#endif
