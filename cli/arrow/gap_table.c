/* SPDX-License-Identifier: MIT */
#include "cli/arrow/gap_table.h"

enum { RECORDING, QUEUE, PID, TID, CPU, TIME, CAUSE, OFFSET, BYTES };

const struct ptc_ipc_column ptc_gap_columns[PTC_GAP_COLUMNS] = {
	[RECORDING] = { "recording", PTC_IPC_INT8, PTC_ARROW_RECORDING, false },
	[QUEUE] = { "queue", PTC_IPC_INT64, PTC_IPC_NO_DICTIONARY, false },
	[PID] = { "pid", PTC_IPC_INT32, PTC_IPC_NO_DICTIONARY, true },
	[TID] = { "tid", PTC_IPC_INT32, PTC_IPC_NO_DICTIONARY, true },
	[CPU] = { "cpu", PTC_IPC_INT32, PTC_IPC_NO_DICTIONARY, true },
	[TIME] = { "time", PTC_IPC_INT64, PTC_IPC_NO_DICTIONARY, true },
	[CAUSE] = { "cause", PTC_IPC_INT8, PTC_ARROW_CAUSE, true },
	[OFFSET] = { "offset", PTC_IPC_UINT64, PTC_IPC_NO_DICTIONARY, false },
	[BYTES] = { "bytes", PTC_IPC_UINT64, PTC_IPC_NO_DICTIONARY, false },
};

int ptc_gap_table_add(struct ptc_arrow_table *t, const struct ptc_item *it, struct ptc_err *err)
{
	const size_t row = t->rows;

	t->v[RECORDING].i8[row] = 0;
	t->v[QUEUE].u64[row] = it->queue;
	t->v[PID].i32[row] = it->pid;
	t->v[TID].i32[row] = it->tid;
	t->v[CPU].i32[row] = it->cpu;
	t->v[TIME].u64[row] = it->time;
	t->v[CAUSE].i8[row] = it->cause < PTC_GAP_COUNT ? (int8_t)it->cause : PTC_ARROW_NULL;
	t->v[OFFSET].u64[row] = it->from;
	t->v[BYTES].u64[row] = it->to;
	return ptc_arrow_table_next(t, err);
}
