/* SPDX-License-Identifier: MIT */
#include "cli/arrow/call_table.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"

enum {
	RECORDING,
	PID,
	TID,
	ID,
	PARENT,
	FUNCTION,
	FUNCTION_FILE,
	BUILD_ID,
	OFFSET,
	BEGIN,
	DURATION,
	INSTRUCTIONS,
	DEPTH,
	ENTERED,
	LEFT,
};

const struct ptc_ipc_column ptc_call_columns[PTC_CALL_COLUMNS] = {
	[RECORDING] = { "recording", PTC_IPC_INT8, PTC_ARROW_RECORDING, false },
	[PID] = { "pid", PTC_IPC_INT32, PTC_IPC_NO_DICTIONARY, true },
	[TID] = { "tid", PTC_IPC_INT32, PTC_IPC_NO_DICTIONARY, true },
	[ID] = { "id", PTC_IPC_INT64, PTC_IPC_NO_DICTIONARY, false },
	[PARENT] = { "parent", PTC_IPC_INT64, PTC_IPC_NO_DICTIONARY, true },
	[FUNCTION] = { "function", PTC_IPC_INT32, PTC_ARROW_FUNCTION, true },
	[FUNCTION_FILE] = { "file", PTC_IPC_INT32, PTC_ARROW_FILE, true },
	[BUILD_ID] = { "build_id", PTC_IPC_INT32, PTC_ARROW_BUILD_ID, true },
	[OFFSET] = { "offset", PTC_IPC_UINT64, PTC_IPC_NO_DICTIONARY, true },
	[BEGIN] = { "begin", PTC_IPC_INT64, PTC_IPC_NO_DICTIONARY, true },
	[DURATION] = { "duration", PTC_IPC_INT64, PTC_IPC_NO_DICTIONARY, true },
	[INSTRUCTIONS] = { "instructions", PTC_IPC_INT64, PTC_IPC_NO_DICTIONARY, true },
	[DEPTH] = { "depth", PTC_IPC_INT32, PTC_IPC_NO_DICTIONARY, false },
	[ENTERED] = { "entered", PTC_IPC_INT8, PTC_ARROW_HOW, false },
	[LEFT] = { "left", PTC_IPC_INT8, PTC_ARROW_HOW, false },
};

struct open_call {
	uint64_t id;
	enum ptc_call_how entered;
};

/* The calls of a thread that have not ended, the outermost first. */
struct ptc_call_table_thread {
	struct open_call *open; /* owned */
	size_t n, cap;
};

/* Indexes of a function's texts. */
struct ptc_call_table_function {
	int32_t name, file, build_id;
};

void ptc_call_table_release(struct ptc_call_table *c)
{
	size_t i;

	for (i = 0; i < c->nthreads; i++)
		free(c->threads[i].open);
	free(c->threads);
	free(c->functions);
}

/* Returns the state of thread @number. NULL: out of memory. */
static struct ptc_call_table_thread *open_calls_of(struct ptc_call_table *c, uint32_t number)
{
	if (number >= c->nthreads &&
	    !ptc_grow(&c->threads, &c->threads_cap, (size_t)number + 1, sizeof(*c->threads)))
		return NULL;
	while (c->nthreads <= number)
		c->threads[c->nthreads++] = (struct ptc_call_table_thread){ .n = 0 };
	return &c->threads[number];
}

/* Looks up the texts of all functions that are new in @s. Returns false if out of memory. */
static bool name_functions(struct ptc_call_table *c, const struct ptc_call_stream *s)
{
	if (!ptc_grow(&c->functions, &c->functions_cap, s->nfunctions, sizeof(*c->functions)))
		return false;
	for (; c->nfunctions < s->nfunctions; c->nfunctions++) {
		const struct ptc_function *f = &s->functions[c->nfunctions];
		struct ptc_call_table_function texts;

		texts.name = ptc_arrow_name(c->names, PTC_ARROW_FUNCTION,
					    ptc_names_of(&s->names, f->name));
		texts.file =
			ptc_arrow_name(c->names, PTC_ARROW_FILE, ptc_names_of(&s->names, f->file));
		texts.build_id = ptc_arrow_name(c->names, PTC_ARROW_BUILD_ID,
						ptc_names_of(&s->names, f->id));
		if (texts.name == PTC_ARROW_NO_MEMORY || texts.file == PTC_ARROW_NO_MEMORY ||
		    texts.build_id == PTC_ARROW_NO_MEMORY)
			return false;
		c->functions[c->nfunctions] = texts;
	}
	return true;
}

static uint64_t difference(uint64_t end, uint64_t begin)
{
	return end == PTC_NO_TIME || begin == PTC_NO_TIME || end < begin ? PTC_ARROW_NULL64 :
									   end - begin;
}

static void set_row(const struct ptc_call_table *c, const struct ptc_call_stream *s,
		    const struct ptc_call_event *e, const struct ptc_call_table_thread *thread)
{
	struct ptc_arrow_table *t = c->table;
	const struct open_call *ended = &thread->open[thread->n];
	const struct ptc_function *f = &s->functions[e->function];
	const size_t row = t->rows;

	t->v[RECORDING].i8[row] = 0;
	t->v[PID].i32[row] = s->threads[e->thread].pid;
	t->v[TID].i32[row] = s->threads[e->thread].tid;
	t->v[ID].u64[row] = ended->id;
	t->v[PARENT].u64[row] = thread->n ? ended[-1].id : PTC_ARROW_NULL64;
	t->v[FUNCTION].i32[row] = c->functions[e->function].name;
	t->v[FUNCTION_FILE].i32[row] = c->functions[e->function].file;
	t->v[BUILD_ID].i32[row] = c->functions[e->function].build_id;
	t->v[OFFSET].u64[row] = f->inlined ? PTC_ARROW_NULL64 : f->off;
	t->v[BEGIN].u64[row] = e->call->since;
	t->v[DURATION].u64[row] = difference(e->call->item->time, e->call->since);
	t->v[INSTRUCTIONS].u64[row] = difference(e->call->insns, e->call->since_insns);
	t->v[DEPTH].i32[row] = (int32_t)e->call->depth;
	t->v[ENTERED].i8[row] = (int8_t)ended->entered;
	t->v[LEFT].i8[row] = (int8_t)e->call->how;
}

int ptc_call_table_event(struct ptc_call_table *c, const struct ptc_call_stream *s,
			 const struct ptc_call_event *event, struct ptc_err *err)
{
	struct ptc_call_table_thread *t;

	if (event->call->type == PTC_CALL_LOST)
		return 0;
	t = open_calls_of(c, event->thread);
	if (!t || !ptc_grow(&t->open, &t->cap, t->n + 1, sizeof(*t->open)) ||
	    (c->nfunctions < s->nfunctions && !name_functions(c, s)))
		return ptc_fail_mem(err);
	if (event->call->type == PTC_CALL_ENTER) {
		t->open[t->n++] = (struct open_call){ c->ids++, event->call->how };
		return 0;
	}
	if (!t->n)
		return 0;
	t->n--;
	set_row(c, s, event, t);
	return ptc_arrow_table_next(c->table, err);
}
