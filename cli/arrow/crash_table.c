/* SPDX-License-Identifier: MIT */
#include "cli/arrow/crash_table.h"

#include <signal.h>
#include <stdbool.h>

#include "base/err.h"
#include "cli/crash/crash_out.h"
#include "ptcap/crash.h"
#include "ptcap/file.h"
#include "ptcap/record.h"

enum { RECORDING, PID, TID, TIME, SIGNAL, CODE, ADDRESS, SENDER, EXIT_STATUS };

const struct ptc_ipc_column ptc_crash_columns[PTC_CRASH_COLUMNS] = {
	[RECORDING] = { "recording", PTC_IPC_INT8, PTC_ARROW_RECORDING, false },
	[PID] = { "pid", PTC_IPC_INT32, PTC_IPC_NO_DICTIONARY, false },
	[TID] = { "tid", PTC_IPC_INT32, PTC_IPC_NO_DICTIONARY, false },
	[TIME] = { "time", PTC_IPC_INT64, PTC_IPC_NO_DICTIONARY, true },
	[SIGNAL] = { "signal", PTC_IPC_INT32, PTC_ARROW_SIGNAL, false },
	[CODE] = { "code", PTC_IPC_INT64, PTC_IPC_NO_DICTIONARY, false },
	[ADDRESS] = { "address", PTC_IPC_UINT64, PTC_IPC_NO_DICTIONARY, true },
	[SENDER] = { "sender", PTC_IPC_INT64, PTC_IPC_NO_DICTIONARY, true },
	[EXIT_STATUS] = { "exit_status", PTC_IPC_INT64, PTC_IPC_NO_DICTIONARY, true },
};

/* Returns whether the kernel sent the signal, with an address (sigaction(2), si_addr). */
static bool has_address(const struct ptc_crash_signal *s)
{
	return s->code > 0 && s->code < SI_KERNEL &&
	       (s->signo == SIGILL || s->signo == SIGFPE || s->signo == SIGSEGV ||
		s->signo == SIGBUS || s->signo == SIGTRAP);
}

static int add_crash(struct ptc_arrow_table *t, struct ptc_arrow_names *names,
		     const struct ptc_crash_signal *s, struct ptc_err *err)
{
	const size_t row = t->rows;
	char name[16];
	int32_t index;

	ptc_crash_signal_name(s->signo, name);
	index = ptc_arrow_name(names, PTC_ARROW_SIGNAL, name);
	if (index < 0)
		return ptc_fail_mem(err);
	t->v[RECORDING].i8[row] = 0;
	t->v[PID].i32[row] = (int32_t)s->pid;
	t->v[TID].i32[row] = (int32_t)s->tid;
	t->v[TIME].u64[row] = s->time_ns;
	t->v[SIGNAL].i32[row] = index;
	t->v[CODE].u64[row] = (uint64_t)s->code;
	t->v[ADDRESS].u64[row] = has_address(s) ? s->addr : PTC_ARROW_NULL64;
	t->v[SENDER].u64[row] = s->code <= 0 ? s->sender : PTC_ARROW_NULL64;
	t->v[EXIT_STATUS].u64[row] = s->exit_status ? s->exit_status : PTC_ARROW_NULL64;
	return ptc_arrow_table_next(t, err);
}

int ptc_crash_table_fill(struct ptc_arrow_table *t, struct ptc_arrow_names *names,
			 const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_err ignored;
	struct ptc_crash crash;
	struct ptc_rec rec;
	uint64_t pos = 0;
	int rc = 0;

	while (f && !rc && ptc_file_next(f, &pos, &rec, &ignored) > 0)
		if (ptc_crash_parse(&rec, &crash, &ignored) > 0 && crash.kind == PTC_CRASH_SIGNAL &&
		    crash.u.signal.signo)
			rc = add_crash(t, names, &crash.u.signal, err);
	return rc;
}
