/* SPDX-License-Identifier: MIT */
#include "cli/arrow/crash_table.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/common/cli.h"
#include "cli/crash/crash_out.h"
#include "ptcap/crash.h"
#include "ptcap/crash_report.h"
#include "ptcap/file.h"
#include "ptcap/record.h"

enum {
	RECORDING,
	PID,
	TID,
	TIME,
	SIGNAL,
	CODE,
	ADDRESS,
	SENDER,
	EXIT_STATUS,
	SIGNATURE,
	VERSION,
	REASON,
	FRAMES
};

enum { EXPLAINED = 16 /* limit: each explanation is a decode, and damage may repeat records */ };

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
	[SIGNATURE] = { "signature", PTC_IPC_INT32, PTC_ARROW_SIGNATURE, true },
	[VERSION] = { "signature_version", PTC_IPC_INT32, PTC_IPC_NO_DICTIONARY, true },
	[REASON] = { "signature_reason", PTC_IPC_INT32, PTC_ARROW_SIGNATURE_REASON, true },
	[FRAMES] = { "signature_frames", PTC_IPC_INT32, PTC_ARROW_SIGNATURE_FRAMES, true },
};

/* Returns whether the kernel sent the signal, with an address (sigaction(2), si_addr). */
static bool has_address(const struct ptc_crash_signal *s)
{
	return s->code > 0 && s->code < SI_KERNEL &&
	       (s->signo == SIGILL || s->signo == SIGFPE || s->signo == SIGSEGV ||
		s->signo == SIGBUS || s->signo == SIGTRAP);
}

/* The signature of a row: numbers of its columns. */
struct signature {
	int32_t text, version, reason, frames;
};

/* Gets the functions of @r as one text, the innermost first. Returns its number. */
static int32_t frames_of(struct ptc_arrow_names *names, const struct ptc_crash_report *r)
{
	struct ptc_buf text = PTC_BUF_INIT;
	int32_t ret = PTC_ARROW_NO_MEMORY;
	const char *frame;
	size_t i;

	for (i = 0; (frame = ptc_crash_report_signature_frame(r, i)) != NULL; i++) {
		if (i)
			ptc_buf_put(&text, "\n", 1);
		ptc_buf_put(&text, frame, strlen(frame));
	}
	ptc_buf_put(&text, "", 1);
	if (!text.failed)
		ret = ptc_arrow_name(names, PTC_ARROW_SIGNATURE_FRAMES, (const char *)text.bytes);
	ptc_buf_release(&text);
	return ret;
}

static int take_signature(struct ptc_arrow_names *names, const struct ptc_crash_report *r,
			  struct signature *ret, struct ptc_err *err)
{
	ret->text = ptc_arrow_name(names, PTC_ARROW_SIGNATURE, ptc_crash_report_signature(r));
	ret->version = (int32_t)ptc_crash_report_signature_version(r);
	ret->reason = ptc_arrow_name(names, PTC_ARROW_SIGNATURE_REASON,
				     ptc_crash_report_signature_reason(r));
	ret->frames = frames_of(names, r);
	return ret->text < 0 || ret->reason < 0 || ret->frames < 0 ? ptc_fail_mem(err) : 0;
}

/* Does @r explain @s? A report is about the last death with that process ID. */
static bool is_about(const struct ptc_crash_report *r, const struct ptc_crash_signal *s)
{
	const struct ptc_crash_signal *dead = ptc_crash_state_signal(ptc_crash_report_state(r));

	return dead->tid == s->tid && dead->time_ns == s->time_ns;
}

/*
 * Explains the crash @s as `ptcap crash show` does: with all of the thread's trace. The end of the
 * trace would give another stack if memory was overwritten.
 */
static int sign(struct ptc_arrow_names *names, const struct ptc_crash_source *from,
		const struct ptc_crash_signal *s, struct signature *ret, struct ptc_err *err)
{
	struct ptc_crash_opts opts = PTC_CRASH_OPTS_INIT;
	struct ptc_crash_report *r = NULL;
	struct ptc_code_opts code = *from->code;
	int rc;

	code.core = NULL;
	opts.pid = s->pid;
	opts.code = &code;
	rc = ptc_crash_explain(from->path, &opts, &r, err);
	if (!rc && is_about(r, s))
		rc = take_signature(names, r, ret, err);
	else if (rc && rc != PTC_E_NO_MEMORY) {
		ptc_say("the crash of process %llu has no signature: %s",
			(unsigned long long)s->pid, err->msg);
		rc = 0;
	}
	ptc_crash_report_free(r);
	return rc;
}

static int add_crash(struct ptc_arrow_table *t, struct ptc_arrow_names *names,
		     const struct ptc_crash_signal *s, const struct signature *signature,
		     struct ptc_err *err)
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
	t->v[SIGNATURE].i32[row] = signature->text;
	t->v[VERSION].i32[row] = signature->version;
	t->v[REASON].i32[row] = signature->reason;
	t->v[FRAMES].i32[row] = signature->frames;
	return ptc_arrow_table_next(t, err);
}

/* Gets the next saved death of @f from *@pos on. Returns false at the end. */
static bool next_death(const struct ptc_file *f, uint64_t *pos, struct ptc_crash_signal *ret)
{
	struct ptc_err ignored;
	struct ptc_crash crash;
	struct ptc_rec rec;

	while (f && ptc_file_next(f, pos, &rec, &ignored) > 0) {
		if (ptc_crash_parse(&rec, &crash, &ignored) <= 0 ||
		    crash.kind != PTC_CRASH_SIGNAL || !crash.u.signal.signo)
			continue;
		*ret = crash.u.signal;
		return true;
	}
	return false;
}

int ptc_crash_table_fill(struct ptc_arrow_table *t, struct ptc_arrow_names *names,
			 const struct ptc_crash_source *from, struct ptc_err *err)
{
	struct ptc_crash_signal s;
	uint64_t pos = 0, left = 0;
	int rc = 0;

	while (next_death(from->f, &pos, &s))
		left++;
	for (pos = 0; !rc && next_death(from->f, &pos, &s); left--) {
		struct signature signature = { PTC_ARROW_NULL, PTC_ARROW_NULL, PTC_ARROW_NULL,
					       PTC_ARROW_NULL };

		if (left <= EXPLAINED)
			rc = sign(names, from, &s, &signature, err);
		if (!rc)
			rc = add_crash(t, names, &s, &signature, err);
	}
	return rc;
}
