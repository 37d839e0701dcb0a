/* SPDX-License-Identifier: MIT */
#include "cli/arrow/branch_table.h"

#include "base/err.h"

enum {
	RECORDING,
	PID,
	TID,
	CPU,
	TIME,
	ICOUNT,
	FROM_FILE,
	FROM_BUILD_ID,
	FROM_OFFSET,
	FROM_FUNCTION,
	TO_FILE,
	TO_BUILD_ID,
	TO_OFFSET,
	TO_FUNCTION,
	KIND,
};

const struct ptc_ipc_column ptc_branch_columns[PTC_BRANCH_COLUMNS] = {
	[RECORDING] = { "recording", PTC_IPC_INT8, PTC_ARROW_RECORDING, false },
	[PID] = { "pid", PTC_IPC_INT32, PTC_IPC_NO_DICTIONARY, true },
	[TID] = { "tid", PTC_IPC_INT32, PTC_IPC_NO_DICTIONARY, true },
	[CPU] = { "cpu", PTC_IPC_INT32, PTC_IPC_NO_DICTIONARY, true },
	[TIME] = { "time", PTC_IPC_INT64, PTC_IPC_NO_DICTIONARY, true },
	[ICOUNT] = { "icount", PTC_IPC_INT64, PTC_IPC_NO_DICTIONARY, true },
	[FROM_FILE] = { "from_file", PTC_IPC_INT32, PTC_ARROW_FILE, true },
	[FROM_BUILD_ID] = { "from_build_id", PTC_IPC_INT32, PTC_ARROW_BUILD_ID, true },
	[FROM_OFFSET] = { "from_offset", PTC_IPC_UINT64, PTC_IPC_NO_DICTIONARY, true },
	[FROM_FUNCTION] = { "from_function", PTC_IPC_INT32, PTC_ARROW_FUNCTION, true },
	[TO_FILE] = { "to_file", PTC_IPC_INT32, PTC_ARROW_FILE, true },
	[TO_BUILD_ID] = { "to_build_id", PTC_IPC_INT32, PTC_ARROW_BUILD_ID, true },
	[TO_OFFSET] = { "to_offset", PTC_IPC_UINT64, PTC_IPC_NO_DICTIONARY, true },
	[TO_FUNCTION] = { "to_function", PTC_IPC_INT32, PTC_ARROW_FUNCTION, true },
	[KIND] = { "kind", PTC_IPC_INT8, PTC_ARROW_KIND, true },
};

int ptc_branch_table_add(struct ptc_arrow_table *t, struct ptc_arrow_places *places,
			 const struct ptc_item *it, uint64_t icount, struct ptc_err *err)
{
	const struct ptc_arrow_pair *pair = ptc_arrow_places_pair(places, it);
	const size_t row = t->rows;

	if (!pair)
		return ptc_fail_mem(err);
	t->v[RECORDING].i8[row] = 0;
	t->v[PID].i32[row] = it->pid;
	t->v[TID].i32[row] = it->tid;
	t->v[CPU].i32[row] = it->cpu;
	t->v[TIME].u64[row] = it->time;
	t->v[ICOUNT].u64[row] = icount;
	t->v[FROM_FILE].i32[row] = pair->source.file;
	t->v[FROM_BUILD_ID].i32[row] = pair->source.build_id;
	t->v[FROM_OFFSET].u64[row] = pair->source.off;
	t->v[FROM_FUNCTION].i32[row] = pair->source.function;
	t->v[TO_FILE].i32[row] = pair->target.file;
	t->v[TO_BUILD_ID].i32[row] = pair->target.build_id;
	t->v[TO_OFFSET].u64[row] = pair->target.off;
	t->v[TO_FUNCTION].i32[row] = pair->target.function;
	t->v[KIND].i8[row] = it->kind < PTC_KIND_COUNT ? (int8_t)it->kind : PTC_ARROW_NULL;
	return ptc_arrow_table_next(t, err);
}
