/* SPDX-License-Identifier: MIT */
/*
 * A table that collects rows, column by column, and writes a batch whenever a fixed number of rows
 * is complete. So its memory does not depend on the number of rows.
 */
#ifndef PTC_CLI_ARROW_ARROW_TABLE_H
#define PTC_CLI_ARROW_ARROW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/arrow/arrow_names.h"
#include "cli/arrow/ipc_file.h"
#include "cli/arrow/ipc_message.h"
#include "ptcap/error.h"

enum { PTC_ARROW_ROWS = 1 << 16 /* of a batch */ };

/* Numbers of 8 bytes that stand for null; PTC_NO_TIME is equal. */
#define PTC_ARROW_NULL64 UINT64_MAX

/* Initialize with PTC_ARROW_TABLE_INIT. */
struct ptc_arrow_table {
	const struct ptc_ipc_column *columns; /* static; NULL: the table is not wanted */
	size_t ncolumns;
	/* Owned; PTC_ARROW_ROWS numbers of each column. */
	union {
		int8_t *i8;
		int32_t *i32;
		uint64_t *u64;
		void *all;
	} v[PTC_IPC_COLUMNS_MAX];
	uint8_t *bits; /* owned; which numbers of a column are not null, column by column */
	size_t rows;   /* of the next batch */
	uint64_t written;
	struct ptc_ipc_file file;
};

#define PTC_ARROW_TABLE_INIT                                                                       \
	{                                                                                          \
		.file = PTC_IPC_FILE_INIT                                                          \
	}

/* As ptc_ipc_file_open. @columns are borrowed. */
int ptc_arrow_table_open(struct ptc_arrow_table *t, const char *folder, const char *name,
			 const struct ptc_ipc_column *columns, size_t n, struct ptc_err *err);
/* Accepts PTC_ARROW_TABLE_INIT. */
void ptc_arrow_table_release(struct ptc_arrow_table *t);

static inline bool ptc_arrow_table_wanted(const struct ptc_arrow_table *t)
{
	return t->columns != NULL;
}

/* Writes the collected rows. Returns 0, PTC_E_IO or PTC_E_NO_MEMORY. */
int ptc_arrow_table_flush(struct ptc_arrow_table *t, struct ptc_err *err);

/* Ends the row at index t->rows, whose numbers the caller has set in each column. */
static inline int ptc_arrow_table_next(struct ptc_arrow_table *t, struct ptc_err *err)
{
	return ++t->rows == PTC_ARROW_ROWS ? ptc_arrow_table_flush(t, err) : 0;
}

/* As ptc_ipc_file_finish, with the rows that are not written yet. */
int ptc_arrow_table_finish(struct ptc_arrow_table *t, const struct ptc_arrow_names *names,
			   struct ptc_err *err);

#endif
