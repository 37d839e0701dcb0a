/* SPDX-License-Identifier: MIT */
/*
 * The format is that of uftrace 0.13 (doc/format.md). Differences between two versions of uftrace
 * do not matter here: later ones read the same files.
 */
#include "cli/timeline/uftrace_folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/replace.h"
#include "cli/timeline/folder_file.h"
#include "cli/timeline/shown_tid.h"
#include "ptcap/file.h"
#include "ptcap/lookup.h"

#define SESSION_ID PTC_UFTRACE_SESSION /* of all processes, which share the map */

/* MAX_DEPTH: limit of the header. LINE: uftrace's
 * limit. */
enum { MAX_DEPTH = 65535, LINE_MAX_LEN = 3800 };

/* A line of task.txt: a session is a program of a process, a task is a thread. */
struct ptc_uftrace_task {
	bool session;
	int32_t pid, tid;
	uint64_t time;
	char name[32];
};

/* --- tasks --- */

static bool add_task(struct ptc_uftrace *u, const struct ptc_uftrace_task *t)
{
	if (!ptc_grow(&u->tasks, &u->tasks_cap, u->ntasks + 1, sizeof(*u->tasks)))
		return false;
	u->tasks[u->ntasks++] = *t;
	return true;
}

/* Adds a session for the program @name of @pid, if its session before has another name. */
static bool add_session(struct ptc_uftrace *u, int32_t pid, uint64_t time, const char *name)
{
	struct ptc_uftrace_task t = { .session = true, .pid = pid, .tid = pid, .time = time };
	size_t at = ptc_idmap_find(&u->pids, pid);

	(void)snprintf(t.name, sizeof(t.name), "%s", name);
	ptc_uftrace_clean_word(t.name);
	if (at < SIZE_MAX && !strcmp(u->tasks[u->sessions[at]].name, t.name))
		return true;
	if (at == SIZE_MAX) {
		at = u->nsessions;
		if (!ptc_grow(&u->sessions, &u->sessions_cap, at + 1, sizeof(*u->sessions)) ||
		    !ptc_idmap_add(&u->pids, pid, at))
			return false;
		u->nsessions++;
	}
	u->sessions[at] = (uint32_t)u->ntasks;
	return add_task(u, &t);
}

/* Adds the lines of threads up to @event's, which has the place @time. */
static bool begin_tasks(struct ptc_uftrace *u, const struct ptc_call_event *event, uint64_t time)
{
	const struct ptc_call_thread *t = &u->stream.threads[event->thread];
	const char *name;

	if (event->thread < u->nlost)
		return true;
	if (!ptc_grow(&u->lost, &u->lost_cap, (size_t)event->thread + 1, sizeof(*u->lost)))
		return false;
	while (u->nlost <= event->thread)
		u->lost[u->nlost++] = false;
	name = ptc_decode_thread_name(u->stream.opts.d, t->pid);
	if (!name)
		name = ptc_decode_thread_name(u->stream.opts.d, t->tid);
	return add_session(u, ptc_shown_tid(t->pid), time, name ? name : "unknown") &&
	       add_task(u, &(struct ptc_uftrace_task){ .pid = ptc_shown_tid(t->pid),
						       .tid = ptc_shown_tid(t->tid),
						       .time = time });
}

/* --- calls --- */

static int put_call_record(struct ptc_uftrace *u, uint32_t thread, enum ptc_uftrace_type type,
			   uint32_t depth, uint64_t time, uint64_t address)
{
	return ptc_uftrace_record(&u->records, ptc_shown_tid(u->stream.threads[thread].tid), type,
				  depth, time, address, &u->err);
}

static int put_call(struct ptc_uftrace *u, const struct ptc_call_event *event, uint64_t time)
{
	const bool enters = event->call->type == PTC_CALL_ENTER;
	const uint32_t depth = event->call->depth;
	uint64_t address;

	if (enters)
		u->calls++;
	u->too_deep += enters && depth >= PTC_UFTRACE_LEVELS;
	if (depth >= MAX_DEPTH)
		return 0;
	u->deepest = depth > u->deepest ? depth : u->deepest;
	address = ptc_uftrace_address(&u->addresses, &u->stream, event->function);
	if (!address)
		return ptc_fail_mem(&u->err);
	u->lost[event->thread] &= !enters;
	return put_call_record(u, event->thread, enters ? PTC_UFTRACE_ENTRY : PTC_UFTRACE_EXIT,
			       depth, time, address);
}

/* Marks a gap. Consecutive gaps without calls between them are one. */
static int put_gap(struct ptc_uftrace *u, uint32_t thread, uint64_t time)
{
	if (u->lost[thread])
		return 0;
	u->lost[thread] = true;
	return put_call_record(u, thread, PTC_UFTRACE_EVENT, 0, time, PTC_UFTRACE_GAP);
}

/*
 * Returns whether a gap is to be marked in front of @call. The mark is inside of the functions that
 * the gap ends, because `uftrace replay` shows no events outside of functions.
 */
static bool is_at_gap(const struct ptc_call *call)
{
	return call->type == PTC_CALL_LOST ||
	       (call->type == PTC_CALL_LEAVE && call->how == PTC_CALL_BY_GAP);
}

static int on_call_event(void *ctx, const struct ptc_call_event *event)
{
	struct ptc_uftrace *u = ctx;
	uint64_t time;
	int rc = 0;

	/* A gap of no thread ends functions of the threads that it concerns, BY_GAP. */
	if (event->thread == PTC_NO_NUMBER)
		return 0;
	if (!ptc_call_axis_place(&u->axis, event, &time) || !begin_tasks(u, event, time))
		rc = ptc_fail_mem(&u->err);
	else if (is_at_gap(event->call))
		rc = put_gap(u, event->thread, time);
	if (!rc && event->call->type != PTC_CALL_LOST)
		rc = put_call(u, event, time);
	u->failed |= rc != 0;
	return rc;
}

int ptc_uftrace_open(struct ptc_uftrace *u, struct ptc_decode *d, const char *path, bool inlines,
		     bool by_insns, struct ptc_err *err)
{
	const struct ptc_call_stream_opts opts = {
		.d = d, .inlines = inlines, .on_event = on_call_event, .ctx = u
	};
	int rc;

	*u = (struct ptc_uftrace){ .out = PTC_FOLDER_OUT_INIT };
	rc = ptc_folder_out_open(&u->out, path, err);
	if (rc)
		return rc;
	if (ptc_call_stream_init(&u->stream, &opts)) {
		ptc_folder_out_release(&u->out);
		return ptc_fail_mem(err);
	}
	ptc_call_axis_init(&u->axis, d, by_insns);
	u->records.folder = u->out.tmp;
	return 0;
}

void ptc_uftrace_release(struct ptc_uftrace *u)
{
	ptc_call_stream_release(&u->stream);
	ptc_call_axis_release(&u->axis);
	ptc_uftrace_addresses_release(&u->addresses);
	ptc_uftrace_records_release(&u->records);
	ptc_idmap_release(&u->pids);
	free(u->tasks);
	free(u->sessions);
	free(u->lost);
	ptc_folder_out_release(&u->out);
}

int ptc_uftrace_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_uftrace *u = ctx;
	const int rc = ptc_call_stream_items(&u->stream, items, n);

	if (rc && !u->failed) {
		u->failed = true;
		(void)ptc_fail_mem(&u->err);
	}
	return rc;
}

/* --- the other files --- */

static void put_task(FILE *f, const struct ptc_uftrace *u, const struct ptc_uftrace_task *t)
{
	const uint64_t second = 1000000000;
	const char *path;

	fprintf(f, "%s timestamp=%" PRIu64 ".%09" PRIu64, t->session ? "SESS" : "TASK",
		t->time / second, t->time % second);
	if (!t->session) {
		fprintf(f, " tid=%d pid=%d\n", t->tid, t->pid);
		return;
	}
	path = ptc_uftrace_path(&u->addresses, t->name);
	fprintf(f, " pid=%d sid=" SESSION_ID " exename=\"%s\"\n", t->pid, path ? path : t->name);
}

static int write_tasks(const struct ptc_uftrace *u, struct ptc_err *err)
{
	FILE *f = ptc_folder_file_create(u->out.tmp, "task.txt", err);
	size_t i;

	if (!f)
		return err->code;
	for (i = 0; i < u->ntasks; i++)
		put_task(f, u, &u->tasks[i]);
	return ptc_folder_file_close(f, u->out.tmp, "task.txt", err);
}

/* Prints the command line of the recording, cut to the length of uftrace's lines. */
static void put_command(FILE *f, const struct ptc_file *file)
{
	struct ptc_feature_iter it = { .left = 0 };
	size_t left = LINE_MAX_LEN;
	struct ptc_err ignored;
	const char *word;
	struct ptc_cur c;
	uint64_t off;
	char *plain;

	fputs("cmdline:", f);
	if (file && ptc_file_feature(file, PTC_FEAT_CMDLINE, &c, &off))
		(void)ptc_feature_open(PTC_FEAT_CMDLINE, c, off, &it, &ignored);
	while (ptc_feature_next_string(&it, &word, &ignored) > 0) {
		plain = strlen(word) < left ? strdup(word) : NULL;
		if (!plain) {
			fputs("...", f);
			break;
		}
		left -= strlen(plain) + 1;
		ptc_uftrace_clean_word(plain);
		fprintf(f, "%s ", plain);
		free(plain);
	}
	fputc('\n', f);
}

/* Returns false if out of memory. */
static bool put_header(FILE *f, const struct ptc_uftrace *u)
{
	/* Features TASK_SESSION, SYM_REL_ADDR, MAX_STACK, EVENT. */
	static const uint64_t features = 1 << 1 | 1 << 5 | 1 << 6 | 1 << 7;
	/* Information: EXE_NAME, CMDLINE, TASKINFO, VERSION. */
	static const uint64_t information = 1 << 0 | 1 << 3 | 1 << 7 | 1 << 13;
	const uint32_t stack = u->deepest + 2 > PTC_UFTRACE_LEVELS ? u->deepest + 2 :
								     PTC_UFTRACE_LEVELS;
	struct ptc_buf b = PTC_BUF_INIT;
	bool ok;

	ptc_buf_put(&b, "Ftrace!", 8);
	ptc_buf_le32(&b, 4);  /* version */
	ptc_buf_le16(&b, 40); /* size of the header */
	ptc_buf_u8(&b, 1);    /* ELFDATA2LSB */
	ptc_buf_u8(&b, 2);    /* ELFCLASS64 */
	ptc_buf_le64(&b, features);
	ptc_buf_le64(&b, information);
	ptc_buf_le16(&b, (uint16_t)(stack < MAX_DEPTH ? stack : MAX_DEPTH));
	ptc_buf_zero(&b, 6);
	ok = !ptc_buf_failed(&b);
	if (ok)
		(void)fwrite(b.bytes, 1, b.len, f);
	ptc_buf_release(&b);
	return ok;
}

static int write_info(const struct ptc_uftrace *u, struct ptc_err *err)
{
	FILE *f = ptc_folder_file_create(u->out.tmp, "info", err);
	const char *path = ptc_uftrace_path(&u->addresses, u->tasks[0].name);
	size_t i;

	if (!f)
		return err->code;
	if (!put_header(f, u)) {
		(void)fclose(f);
		return ptc_fail_mem(err);
	}
	fprintf(f, "exename:%s\n", path ? path : u->tasks[0].name);
	put_command(f, ptc_decode_recording(u->stream.opts.d));
	fprintf(f, "taskinfo:lines=2\ntaskinfo:nr_tid=%zu\ntaskinfo:tids=", u->records.nfiles);
	for (i = 0; i < u->records.nfiles; i++)
		fprintf(f, "%s%d", i ? "," : "", ptc_uftrace_records_tid(&u->records, i));
	fprintf(f, "\nuftrace_version:ptcap%s\n",
		u->axis.by_insns ? " ( 1 ns = 1 instruction )" : "");
	return ptc_folder_file_close(f, u->out.tmp, "info", err);
}

static int write_events(const struct ptc_uftrace *u, struct ptc_err *err)
{
	FILE *f = ptc_folder_file_create(u->out.tmp, "events.txt", err);

	if (!f)
		return err->code;
	fprintf(f, "EVENT: %" PRIu64 " ptcap:gap\n", PTC_UFTRACE_GAP);
	return ptc_folder_file_close(f, u->out.tmp, "events.txt", err);
}

int ptc_uftrace_finish(struct ptc_uftrace *u, struct ptc_err *err)
{
	int rc = ptc_call_stream_finish(&u->stream);

	if (!rc)
		rc = ptc_uftrace_records_flush(&u->records, &u->err);
	if (rc) {
		*err = u->err;
		return err->code;
	}
	if (!u->records.nfiles)
		return 0;
	rc = ptc_uftrace_write_symbols(&u->addresses, &u->stream, u->out.tmp, SESSION_ID, err);
	if (!rc)
		rc = write_tasks(u, err);
	if (!rc)
		rc = write_info(u, err);
	if (!rc)
		rc = write_events(u, err);
	return rc ? rc : ptc_folder_out_commit(&u->out, err);
}
