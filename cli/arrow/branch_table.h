/* SPDX-License-Identifier: MIT */
/* The table of branches: a row for each branch, in the order of the decoder. */
#ifndef PTC_CLI_ARROW_BRANCH_TABLE_H
#define PTC_CLI_ARROW_BRANCH_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "cli/arrow/arrow_places.h"
#include "cli/arrow/arrow_table.h"
#include "ptcap/decode.h"

enum { PTC_BRANCH_COLUMNS = 15 };

extern const struct ptc_ipc_column ptc_branch_columns[PTC_BRANCH_COLUMNS];

/*
 * Appends the branch @it. @icount: instructions of its thread so far. Returns 0, PTC_E_IO or
 * PTC_E_NO_MEMORY.
 */
int ptc_branch_table_add(struct ptc_arrow_table *t, struct ptc_arrow_places *places,
			 const struct ptc_item *it, uint64_t icount, struct ptc_err *err);

#endif
