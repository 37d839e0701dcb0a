/* SPDX-License-Identifier: MIT */
#include "cli/timeline/fxt_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/terminal_escape.h"
#include "cli/timeline/shown_tid.h"
#include "ptcap/lookup.h"

/* Fixed strings. Those of calls and gaps are indexed by enum ptc_call_how and ptc_gap_cause. */
enum {
	S_FUNCTION = 1,
	S_GAP,
	S_MERGED,
	S_HOW,
	S_CAUSE,
	S_MISSING,
	S_MERGED_GAPS,
	S_PROCESS,
	S_HOWS,
	S_CAUSES = S_HOWS + PTC_CALL_BY_END + 1,
	S_FUNCTIONS = S_CAUSES + PTC_GAP_COUNT,
};

/* HEADER_MAX: bytes of the fixed strings and of the records in front of them. */
enum { HEADER_MAX = 2048, NAME_MAX_LEN = 1000, THREAD_INDEXES = 255, PROCESS_MAX = 96 };

static const char *const fixed[] = {
	[S_FUNCTION] = "function",
	[S_GAP] = "gap",
	[S_MERGED] = "merged calls",
	[S_HOW] = "entered by",
	[S_CAUSE] = "cause",
	[S_MISSING] = "missing bytes",
	[S_MERGED_GAPS] = "merged gaps",
	[S_PROCESS] = "process",
	[S_HOWS + PTC_CALL_BY_CALL] = "call",
	[S_HOWS + PTC_CALL_BY_TRACE] = "begin of the trace",
	[S_HOWS + PTC_CALL_BY_RETURN] = "return",
	[S_HOWS + PTC_CALL_BY_TAIL] = "tail call",
	[S_HOWS + PTC_CALL_BY_SIGNAL] = "signal",
	[S_HOWS + PTC_CALL_BY_UNWINDING] = "unwinding",
	[S_HOWS + PTC_CALL_BY_INLINING] = "inlining",
	[S_HOWS + PTC_CALL_BY_GAP] = "gap",
	[S_HOWS + PTC_CALL_BY_END] = "end",
};

/* The names of a thread and its process at the first event of the thread. */
struct ptc_fxt_thread_begin {
	uint64_t place;
	char thread[PROCESS_MAX], process[PROCESS_MAX]; /* escaped */
	bool waits;					/* in the list of waiting threads */
};

/* --- names --- */

/* Gets the name of @function, escaped and cut. */
static void shown_name(const struct ptc_fxt_file *x, uint32_t function, char ret[NAME_MAX_LEN + 32])
{
	char buf[NAME_MAX_LEN];
	const char *name = ptc_call_function_name(&x->stream, function, buf, sizeof(buf));

	ptc_plain_copy(ret, NAME_MAX_LEN, *name ? name : "??");
	if (strlen(name) >= NAME_MAX_LEN) /* keep functions apart that begin the same */
		(void)snprintf(ret + strlen(ret), 32, "...%" PRIu32, function);
}

/* Returns the index of @function's name; 0: the table is full, and events have the name. */
static uint16_t name_index(uint32_t function)
{
	return function < PTC_FXT_STRINGS_MAX - S_FUNCTIONS ? (uint16_t)(function + S_FUNCTIONS) :
							      0;
}

static uint64_t cost_of_function(void *ctx, uint32_t function, uint64_t *ret_each)
{
	char name[NAME_MAX_LEN + 32];

	shown_name(ctx, function, name);
	*ret_each = name_index(function) ? 0 : ptc_fxt_string_bytes(name) - 8;
	return name_index(function) ? ptc_fxt_string_bytes(name) : 0;
}

/* --- threads --- */

static void name_thread(const struct ptc_fxt_file *x, const struct ptc_call_thread *t,
			struct ptc_fxt_thread_begin *b)
{
	const struct ptc_decode *d = x->stream.opts.d;
	const char *thread = ptc_decode_thread_name(d, t->tid);
	const char *process = ptc_decode_thread_name(d, t->pid);
	size_t len;

	ptc_plain_copy(b->thread, sizeof(b->thread), thread ? thread : "");
	ptc_plain_copy(b->process, sizeof(b->process), process ? process : "");
	len = strlen(b->process);
	if (x->axis.by_insns)
		(void)snprintf(b->process + len, sizeof(b->process) - len,
			       " (1 ns = 1 instruction)");
}

static bool begin_thread(struct ptc_fxt_file *x, uint32_t thread, uint64_t place)
{
	if (thread < x->nbegins)
		return true;
	if (!ptc_grow(&x->begins, &x->begins_cap, (size_t)thread + 1, sizeof(*x->begins)))
		return false;
	for (; x->nbegins <= thread; x->nbegins++)
		x->begins[x->nbegins] = (struct ptc_fxt_thread_begin){ .place = place };
	name_thread(x, &x->stream.threads[thread], &x->begins[thread]);
	return true;
}

/* --- gaps --- */

/* Notes that a gap interrupted @thread. */
static bool wait_for_gap(struct ptc_fxt_file *x, uint32_t thread)
{
	if (x->begins[thread].waits)
		return true;
	if (!ptc_grow(&x->waiting, &x->waiting_cap, x->nwaiting + 1, sizeof(*x->waiting)))
		return false;
	x->begins[thread].waits = true;
	x->waiting[x->nwaiting++] = thread;
	return true;
}

/* Marks the gap @item in all waiting threads. */
static bool mark_gap(struct ptc_fxt_file *x, const struct ptc_item *item)
{
	const uint8_t cause = item->cause < PTC_GAP_COUNT ? item->cause : PTC_GAP_NONE;
	bool ok = true;
	size_t i;

	for (i = 0; i < x->nwaiting; i++) {
		const uint32_t thread = x->waiting[i];

		x->begins[thread].waits = false;
		ok = ok &&
		     ptc_kept_gap(&x->kept, thread, cause, item->to, x->axis.threads[thread].last);
	}
	x->nwaiting = 0;
	return ok;
}

/* --- calls --- */

/* Functions also end BY_GAP in a stack that is too deep. There the mark has no cause. */
static bool enter_call(struct ptc_fxt_file *x, const struct ptc_call_event *e, uint64_t place)
{
	const struct ptc_item none = { .cause = PTC_GAP_NONE };

	if (x->begins[e->thread].waits && !mark_gap(x, &none))
		return false;
	return ptc_kept_enter(&x->kept, e->thread, e->function, e->call->how, place);
}

static bool leave_call(struct ptc_fxt_file *x, const struct ptc_call_event *e, uint64_t place)
{
	return ptc_kept_leave(&x->kept, e->thread, place) &&
	       (e->call->how != PTC_CALL_BY_GAP || wait_for_gap(x, e->thread));
}

static bool take_event(struct ptc_fxt_file *x, const struct ptc_call_event *e)
{
	uint64_t place;

	if (e->thread != PTC_NO_NUMBER) {
		if (!ptc_call_axis_place(&x->axis, e, &place) || !begin_thread(x, e->thread, place))
			return false;
		if (e->call->type == PTC_CALL_ENTER)
			return enter_call(x, e, place);
		if (e->call->type == PTC_CALL_LEAVE)
			return leave_call(x, e, place);
		if (!wait_for_gap(x, e->thread))
			return false;
	}
	return mark_gap(x, e->call->item);
}

static int on_fxt_event(void *ctx, const struct ptc_call_event *event)
{
	struct ptc_fxt_file *x = ctx;

	if (take_event(x, event))
		return 0;
	x->failed = true;
	return ptc_fail_mem(&x->err);
}

int ptc_fxt_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_fxt_file *x = ctx;
	const int rc = ptc_call_stream_items(&x->stream, items, n);

	if (rc && !x->failed) {
		x->failed = true;
		(void)ptc_fail_mem(&x->err);
	}
	return rc;
}

int ptc_fxt_open(struct ptc_fxt_file *x, struct ptc_decode *d, const struct ptc_fxt_opts *opts,
		 struct ptc_err *err)
{
	const struct ptc_call_stream_opts stream = {
		.d = d, .inlines = opts->inlines, .on_event = on_fxt_event, .ctx = x
	};
	const bool to_stdout = !opts->path || !strcmp(opts->path, "-");
	int rc;

	*x = (struct ptc_fxt_file){ .out = PTC_TMPFILE_INIT };
	rc = to_stdout ? 0 : ptc_tmpfile_open(&x->out, opts->path, err);
	if (rc)
		return rc;
	if (ptc_call_stream_init(&x->stream, &stream)) {
		ptc_tmpfile_release(&x->out);
		return ptc_fail_mem(err);
	}
	ptc_call_axis_init(&x->axis, d, opts->by_insns);
	x->kept.limit = opts->limit;
	x->kept.bytes = x->kept.fixed = HEADER_MAX;
	x->kept.cost_of = cost_of_function;
	x->kept.ctx = x;
	x->writer.fd = to_stdout ? STDOUT_FILENO : x->out.fd;
	x->writer.name = to_stdout ? "standard output" : opts->path;
	return 0;
}

void ptc_fxt_close(struct ptc_fxt_file *x)
{
	ptc_call_stream_release(&x->stream);
	ptc_call_axis_release(&x->axis);
	ptc_kept_release(&x->kept);
	ptc_fxt_release(&x->writer);
	ptc_tmpfile_release(&x->out);
	free(x->begins);
	free(x->waiting);
}

/* --- writing --- */

static int write_strings(struct ptc_fxt_file *x, struct ptc_err *err)
{
	char name[NAME_MAX_LEN + 32];
	uint32_t i;
	int rc = 0;

	for (i = S_FUNCTION; i < S_CAUSES && !rc; i++)
		rc = ptc_fxt_string(&x->writer, (uint16_t)i, fixed[i], err);
	for (i = 0; i < PTC_GAP_COUNT && !rc; i++)
		rc = ptc_fxt_string(&x->writer, (uint16_t)(S_CAUSES + i),
				    i ? ptc_gap_name((enum ptc_gap_cause)i) : "stack too deep",
				    err);
	for (i = 0; i < x->stream.nfunctions && name_index(i) && !rc; i++)
		if (ptc_kept_has(&x->kept, i)) {
			shown_name(x, i, name);
			rc = ptc_fxt_string(&x->writer, name_index(i), name, err);
		}
	return rc;
}

static void add_number(struct ptc_fxt_args *a, uint16_t name, uint64_t number)
{
	if (number)
		a->v[a->n++] = (struct ptc_fxt_arg){ .name = name, .number = number };
}

static int write_begin(struct ptc_fxt_file *x, uint8_t thread, const struct ptc_kept_call *c,
		       struct ptc_err *err)
{
	const uint16_t index = name_index(c->function);
	struct ptc_fxt_args args = { .n = 0 };
	char name[NAME_MAX_LEN + 32];

	add_number(&args, S_MERGED, c->merged);
	if (c->how != PTC_CALL_BY_CALL)
		args.v[args.n++] = (struct ptc_fxt_arg){ .name = S_HOW,
							 .string = (uint16_t)(S_HOWS + c->how) };
	if (!index)
		shown_name(x, c->function, name);
	return ptc_fxt_event(&x->writer, PTC_FXT_BEGIN, thread, S_FUNCTION, index,
			     index ? NULL : name, c->begin, &args, err);
}

static int write_end(struct ptc_fxt_file *x, uint8_t thread, const struct ptc_kept_call *c,
		     struct ptc_err *err)
{
	static const struct ptc_fxt_args none = { .n = 0 };

	return ptc_fxt_event(&x->writer, PTC_FXT_END, thread, S_FUNCTION, name_index(c->function),
			     NULL, c->end, &none, err);
}

static int write_gap(struct ptc_fxt_file *x, uint8_t thread, const struct ptc_kept_call *c,
		     struct ptc_err *err)
{
	const uint16_t cause = (uint16_t)(S_CAUSES + (c->function - PTC_KEPT_GAP));
	struct ptc_fxt_args args = { .v = { { .name = S_CAUSE, .string = cause } }, .n = 1 };

	add_number(&args, S_MISSING, c->end);
	add_number(&args, S_MERGED_GAPS, c->merged);
	return ptc_fxt_event(&x->writer, PTC_FXT_INSTANT, thread, S_GAP, S_GAP, NULL, c->begin,
			     &args, err);
}

/* Returns whether @open has ended before @next, a call or a gap; NULL: the end of the calls. */
static bool ends_before(const struct ptc_kept_call *open, const struct ptc_kept_call *next)
{
	if (!next)
		return true;
	return next->function < PTC_KEPT_GAP ? open->depth >= next->depth :
					       open->end <= next->begin;
}

/* Writes the calls of @t. k->path: the calls that have not ended. */
static int write_calls(struct ptc_fxt_file *x, const struct ptc_kept_thread *t, uint8_t thread,
		       struct ptc_err *err)
{
	size_t *path = x->kept.path, n = 0, i;
	int rc = 0;

	for (i = 0; i <= t->n && !rc; i++) {
		const struct ptc_kept_call *c = i < t->n ? &t->calls[i] : NULL;
		const bool call = c && c->function < PTC_KEPT_GAP;

		while (n && ends_before(&t->calls[path[n - 1]], c) && !rc)
			rc = write_end(x, thread, &t->calls[path[--n]], err);
		if (rc || !c)
			break;
		rc = call ? write_begin(x, thread, c, err) : write_gap(x, thread, c, err);
		if (call)
			path[n++] = i;
	}
	return rc;
}

static int write_thread(struct ptc_fxt_file *x, size_t number, struct ptc_err *err)
{
	const struct ptc_call_thread *t = &x->stream.threads[number];
	const struct ptc_fxt_thread_begin *b = &x->begins[number];
	const struct ptc_kept_thread *kept = &x->kept.threads[number];
	const uint8_t index = (uint8_t)(number % THREAD_INDEXES + 1);
	const int32_t pid = ptc_shown_tid(t->pid), tid = ptc_shown_tid(t->tid);
	struct ptc_fxt_args merged = { .n = 0 };
	int rc;

	rc = ptc_fxt_object(&x->writer, PTC_FXT_PROCESS, pid, b->process, 0, 0, err);
	if (!rc)
		rc = ptc_fxt_object(&x->writer, PTC_FXT_OBJECT_THREAD, tid, b->thread, S_PROCESS,
				    pid, err);
	if (!rc)
		rc = ptc_fxt_thread(&x->writer, index, pid, tid, err);
	add_number(&merged, S_MERGED, kept->merged);
	if (!rc && merged.n)
		rc = ptc_fxt_event(&x->writer, PTC_FXT_INSTANT, index, S_FUNCTION, S_MERGED, NULL,
				   b->place, &merged, err);
	return rc ? rc : write_calls(x, kept, index, err);
}

int ptc_fxt_finish(struct ptc_fxt_file *x, struct ptc_err *err)
{
	size_t i;
	int rc;

	if (ptc_call_stream_finish(&x->stream)) {
		*err = x->err;
		return err->code;
	}
	if (!x->kept.calls)
		return 0;
	ptc_kept_finish(&x->kept);
	if (x->kept.bytes > x->kept.limit)
		return ptc_fail(err, PTC_E_LIMIT,
				"cannot write '%s': its threads need %" PRIu64
				" bytes, more than --budget",
				x->writer.name, x->kept.bytes);
	rc = ptc_fxt_begin(&x->writer, x->axis.by_insns ? "ptcap (1 ns = 1 instruction)" : "ptcap",
			   err);
	if (!rc)
		rc = write_strings(x, err);
	for (i = 0; i < x->kept.nthreads && !rc; i++)
		rc = write_thread(x, i, err);
	if (!rc)
		rc = ptc_fxt_flush(&x->writer, err);
	return rc || x->out.fd < 0 ? rc : ptc_tmpfile_commit(&x->out, err);
}
