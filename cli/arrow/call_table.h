/* SPDX-License-Identifier: MIT */
/*
 * The table of calls: a row for each call that ended, in the order of the ends. Calls have ids in
 * the order of their begins, so that a row can name its caller, which ends later.
 */
#ifndef PTC_CLI_ARROW_CALL_TABLE_H
#define PTC_CLI_ARROW_CALL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "cli/arrow/arrow_names.h"
#include "cli/arrow/arrow_table.h"
#include "cli/calls/call_stream.h"

enum { PTC_CALL_COLUMNS = 15 };

extern const struct ptc_ipc_column ptc_call_columns[PTC_CALL_COLUMNS];

/* Initialize with zeros, table and names, which are borrowed. */
struct ptc_call_table {
	struct ptc_arrow_table *table;
	struct ptc_arrow_names *names;
	struct ptc_call_table_thread *threads; /* owned; by the numbers of threads */
	size_t nthreads, threads_cap;
	struct ptc_call_table_function *functions; /* owned; by the numbers of functions */
	size_t nfunctions, functions_cap;
	uint64_t ids; /* of the next call */
};

void ptc_call_table_release(struct ptc_call_table *c);

/* Takes an event of @s. Returns 0, PTC_E_IO or PTC_E_NO_MEMORY. */
int ptc_call_table_event(struct ptc_call_table *c, const struct ptc_call_stream *s,
			 const struct ptc_call_event *event, struct ptc_err *err);

#endif
