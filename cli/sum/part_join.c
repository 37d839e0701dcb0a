/* SPDX-License-Identifier: MIT */
#include "cli/sum/part_join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "cli/sum/part_item.h"
#include "cli/sum/sum_json.h"

/* A function of the part. */
struct ptc_joined_function {
	struct ptc_function f;
	struct ptc_source_line begin;
	uint32_t number; /* in the stream; PTC_NO_NUMBER: no call needed it yet */
};

/* A thread of the parts. */
struct ptc_joined_thread {
	uint64_t part;		/* the last part that has it */
	uint64_t before;	/* instructions in front of this part */
	uint64_t insns;		/* instructions so far */
	uint64_t exit_function; /* start of the function that has left the trace */
	char name[PTC_THREAD_NAME_MAX];
};

static int damaged_line(const struct ptc_sum_line *l, const char *what, struct ptc_err *err)
{
	return ptc_sum_fail(err, l, "%s; the file is damaged, write it again", what);
}

/* Returns the error of @rc, which is 0 or a code of the machine or of the sink. */
static int joining_error(const struct ptc_sum_line *l, int rc, struct ptc_err *err)
{
	if (rc == PTC_E_LIMIT)
		return ptc_fail(err, PTC_E_LIMIT,
				"'%s' line %llu: the calls have too many stacks, or a stack too "
				"many functions; decode the recording without --shard",
				l->file, (unsigned long long)l->number);
	return rc ? ptc_fail_mem(err) : 0;
}

/* --- the functions and threads of the machine --- */

/* Keeps where a function begins. Returns false if out of memory. */
static bool keep_begin(struct ptc_part_join *j, const struct ptc_joined_function *f)
{
	const size_t n = j->nbegins;

	/* A part does not know the begin of a function that it only has for lines. */
	if (f->number < n) {
		if (!j->begins[f->number].file)
			j->begins[f->number] = f->begin;
		return true;
	}
	if (!ptc_grow(&j->begins, &j->begins_cap, (size_t)f->number + 1, sizeof(*j->begins)))
		return false;
	j->nbegins = (size_t)f->number + 1;
	memset(j->begins + n, 0, (j->nbegins - n) * sizeof(*j->begins));
	j->begins[f->number] = f->begin;
	return true;
}

/* Returns the number of function @i of the part in the stream. PTC_NO_NUMBER: out of memory. */
static uint32_t joined_number(struct ptc_part_join *j, int64_t i)
{
	static const struct ptc_function unknown;
	struct ptc_joined_function *f;

	if (i < 0 || (uint64_t)i >= j->nfunctions)
		return ptc_call_stream_number(&j->stream, &unknown);
	f = &j->functions[i];
	if (f->number == PTC_NO_NUMBER)
		f->number = ptc_call_stream_number(&j->stream, &f->f);
	if (f->number != PTC_NO_NUMBER && !keep_begin(j, f))
		return PTC_NO_NUMBER;
	return f->number;
}

uint32_t ptc_part_join_number(struct ptc_part_join *j, uint64_t i)
{
	return joined_number(j, i < j->nfunctions ? (int64_t)i : -1);
}

/* Returns the thread, which may be new, valid until the next call. NULL: out of memory. */
static struct ptc_joined_thread *joined_thread(struct ptc_part_join *j, int32_t tid)
{
	size_t at = ptc_idmap_find(&j->tids, tid);
	struct ptc_joined_thread *t;

	if (at == SIZE_MAX) {
		at = j->tids.n;
		if (!ptc_grow(&j->threads, &j->threads_cap, at + 1, sizeof(*j->threads)) ||
		    !ptc_idmap_add(&j->tids, tid, at))
			return NULL;
		j->threads[at] = (struct ptc_joined_thread){ .name = "" };
	}
	t = &j->threads[at];
	if (t->part != j->part)
		t->before = t->insns;
	t->part = j->part;
	return t;
}

static uint64_t joined_start(void *ctx, const struct ptc_item *it, uint64_t ip)
{
	struct ptc_part_join *j = ctx;
	const struct ptc_joined_thread *t;

	if (ip == j->item->to.ip)
		return j->item->to.start;
	if (ip == j->item->from.ip)
		return j->item->from.start;
	/* The code at an exit from the trace does not change while the thread is outside. */
	t = joined_thread(j, it->tid);
	return t ? t->exit_function : 0;
}

static uint32_t joined_function(void *ctx, const struct ptc_item *it, uint64_t ip)
{
	struct ptc_part_join *j = ctx;
	const struct ptc_place_of_thread *place;

	if (ip == j->item->to.ip)
		return joined_number(j, j->item->to.function);
	if (ip == j->item->from.ip)
		return joined_number(j, j->item->from.function);
	place = ptc_joined_places_find(&j->places, it->tid, ip);
	return place ? place->function : joined_number(j, -1);
}

static struct ptc_source_line joined_line(void *ctx, const struct ptc_item *it, uint64_t ip)
{
	static const struct ptc_source_line unknown;
	const struct ptc_part_join *j = ctx;
	const struct ptc_place_of_thread *place = ptc_joined_places_find(&j->places, it->tid, ip);

	return place ? place->at : unknown;
}

static struct ptc_source_line joined_begin(void *ctx, const struct ptc_item *it, uint64_t ip)
{
	static const struct ptc_source_line unknown;
	const struct ptc_part_join *j = ctx;
	const uint32_t number = joined_function(ctx, it, ip);

	if (number == PTC_NO_NUMBER)
		return (struct ptc_source_line){ .file = UINT32_MAX };
	return number < j->nbegins ? j->begins[number] : unknown;
}

static const char *joined_name(void *ctx, const struct ptc_item *it, uint64_t ip)
{
	struct ptc_part_join *j = ctx;
	const struct ptc_call_stream *s = &j->stream;
	const uint32_t number = ptc_call_stream_thread(&j->stream, it->tid);
	const int64_t to = j->item->to.function;
	const struct ptc_call_thread *t;

	if (ip == j->item->to.ip)
		return to >= 0 && (uint64_t)to < j->nfunctions ?
			       ptc_names_of(&s->names, j->functions[to].f.name) :
			       NULL;
	t = number != PTC_NO_NUMBER ? &s->threads[number] : NULL;
	return t && t->depth ? ptc_names_of(&s->names, s->functions[t->stack[t->depth - 1]].name) :
			       NULL;
}

static uint64_t joined_life(void *ctx, const struct ptc_item *it)
{
	const struct ptc_part_join *j = ctx;

	(void)it;
	return j->item->life;
}

static const char *joined_thread_name(void *ctx, int32_t tid)
{
	const struct ptc_part_join *j = ctx;

	(void)tid;
	return j->item->name;
}

static int on_joined_event(void *ctx, const struct ptc_call_event *e)
{
	struct ptc_part_join *j = ctx;

	return j->sink.on_event(j->sink.ctx, e);
}

/* --- lines --- */

static int add_part_function(struct ptc_part_join *j, const struct ptc_sum_line *l,
			     struct ptc_err *err)
{
	struct ptc_joined_function f = { .number = PTC_NO_NUMBER };
	struct ptc_names *names = &j->stream.names;
	const char *name, *file, *id, *source;
	uint64_t line;
	int rc = ptc_sum_json_maybe_text(l, l->json, "name", &name, err);

	if (!rc)
		rc = ptc_sum_json_maybe_text(l, l->json, "source", &source, err);
	if (!rc)
		rc = ptc_sum_json_count(l, l->json, "line", &line, err);
	if (!rc)
		rc = ptc_sum_json_maybe_text(l, l->json, "file", &file, err);
	if (!rc)
		rc = ptc_sum_json_maybe_text(l, l->json, "build_id", &id, err);
	if (!rc)
		rc = ptc_sum_json_hex(l, l->json, "offset", &f.f.off, err);
	if (rc)
		return rc;
	f.f.name = ptc_names_get(names, name);
	f.f.file = ptc_names_get(names, file);
	f.f.id = ptc_names_get(names, id);
	f.begin.file = ptc_names_get(names, source);
	f.begin.line = (uint32_t)line;
	if (f.begin.file == UINT32_MAX || f.f.name == UINT32_MAX || f.f.file == UINT32_MAX ||
	    f.f.id == UINT32_MAX ||
	    !ptc_grow(&j->functions, &j->functions_cap, j->nfunctions + 1, sizeof(f)))
		return ptc_fail_mem(err);
	j->functions[j->nfunctions++] = f;
	return 0;
}

static int add_node(struct ptc_part_join *j, const struct ptc_sum_line *l, const json_t *row,
		    struct ptc_err *err)
{
	enum {
		PARENT,
		FUNCTION,
		CALLS,
		SELF,
		TOTAL = SELF + PTC_PART_AXES,
		N = TOTAL + PTC_PART_AXES
	};
	uint64_t v[N];
	struct ptc_part_node n = { .parent = PTC_NO_NUMBER, .function = PTC_NO_NUMBER };
	const int rc = ptc_part_row_get(l, row, N, v, err);

	if (rc)
		return rc;
	if (j->nnodes && (v[PARENT] >= j->nnodes || v[FUNCTION] >= j->nfunctions))
		return damaged_line(l, "a call of an unknown function", err);
	if (j->nnodes) {
		n.parent = (uint32_t)v[PARENT];
		n.function = joined_number(j, (int64_t)v[FUNCTION]);
	}
	n.calls = v[CALLS];
	memcpy(n.self, &v[SELF], sizeof(n.self));
	memcpy(n.total, &v[TOTAL], sizeof(n.total));
	if ((j->nnodes && n.function == PTC_NO_NUMBER) || j->nnodes >= PTC_NO_NUMBER - 1 ||
	    !ptc_grow(&j->nodes, &j->nodes_cap, j->nnodes + 1, sizeof(n)))
		return ptc_fail_mem(err);
	j->nodes[j->nnodes++] = n;
	return 0;
}

static int add_nodes(struct ptc_part_join *j, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const json_t *rows;
	size_t i;
	int rc = ptc_sum_json_array(l, l->json, "nodes", &rows, err);

	for (i = 0; !rc && i < json_array_size(rows); i++)
		rc = add_node(j, l, json_array_get(rows, i), err);
	return rc;
}

/* --- steps --- */

/* Gives the tree to the sink, for thread number @thread of the stream. */
static int give_tree(struct ptc_part_join *j, const struct ptc_sum_line *l, uint32_t thread,
		     const struct ptc_joined_thread *t, struct ptc_err *err)
{
	struct ptc_joined_tree tree = { .thread = thread, .nodes = j->nodes, .n = j->nnodes };
	const char *name;
	int rc = ptc_part_row_get(l, json_object_get(l->json, "first"), PTC_PART_AXES, tree.first,
				  err);

	if (!rc)
		rc = ptc_part_row_get(l, json_object_get(l->json, "last"), PTC_PART_AXES, tree.last,
				      err);
	if (!rc)
		rc = ptc_sum_json_text(l, l->json, "name", &name, err);
	if (rc)
		return rc;
	tree.first[PTC_PART_INSNS] += t->before;
	tree.last[PTC_PART_INSNS] += t->before;
	(void)snprintf(j->stream.threads[thread].name, PTC_THREAD_NAME_MAX, "%s", name);
	j->stream.threads[thread].last_insns = tree.last[PTC_PART_INSNS];
	return joining_error(l, j->sink.on_tree(j->sink.ctx, &tree), err);
}

static int open_calls(struct ptc_part_join *j, const struct ptc_sum_line *l, int32_t tid,
		      const struct ptc_joined_thread *t, struct ptc_err *err)
{
	enum { IP, FUNCTION, START, RET, INSNS, TIME, N };
	const json_t *rows = json_object_get(l->json, "open");
	uint64_t v[N], since[PTC_PART_AXES];
	uint32_t function, thread;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < json_array_size(rows); i++) {
		struct ptc_open_call call;

		rc = ptc_part_row_get(l, json_array_get(rows, i), N, v, err);
		if (rc)
			return rc;
		call = (struct ptc_open_call){ v[IP], v[START], v[RET], v[TIME],
					       t->before + v[INSNS] };
		function = joined_number(j, (int64_t)v[FUNCTION]);
		since[PTC_PART_INSNS] = call.since_insns;
		since[PTC_PART_TIME] = call.since;
		rc = function == PTC_NO_NUMBER ?
			     PTC_E_NO_MEMORY :
			     ptc_call_stream_restore(&j->stream, tid, function, &call, &thread);
		if (!rc && j->sink.on_open)
			rc = j->sink.on_open(j->sink.ctx, thread, function, since);
		rc = joining_error(l, rc, err);
	}
	return rc;
}

/* Counts the functions that the part did not expect among the open ones. */
static int check_absent(struct ptc_part_join *j, const struct ptc_sum_line *l, int32_t tid,
			struct ptc_err *err)
{
	const json_t *rows = json_object_get(l->json, "absent");
	const size_t n = json_array_size(rows);
	const char *s;
	uint64_t start;
	size_t i;

	for (i = 0; i < n; i++) {
		s = json_string_value(json_array_get(rows, i));
		if (!s || strncmp(s, "0x", 2) != 0)
			return damaged_line(l, "not an address", err);
		s += 2;
		if (!ptc_sum_take_hex(&s, &start))
			return damaged_line(l, "not an address", err);
		j->unclear += ptc_calls_is_open(j->stream.calls, tid, start);
	}
	return 0;
}

/* Passes the branches that are in the tree. */
static int pass_branches(struct ptc_part_join *j, const struct ptc_sum_line *l, int32_t tid,
			 struct ptc_err *err)
{
	enum { PID, QUEUE, TIME, INSNS, N };
	const json_t *row = json_object_get(l->json, "passed");
	struct ptc_item last = { .tid = tid };
	struct ptc_joined_thread *t;
	uint64_t v[N], insns;
	int rc = 0;

	if (!row)
		return 0;
	rc = ptc_part_row_get(l, row, N, v, err);
	if (rc)
		return rc;
	t = joined_thread(j, tid);
	if (!t)
		return ptc_fail_mem(err);
	last.pid = (int32_t)v[PID];
	last.queue = (uint32_t)v[QUEUE];
	last.time = v[TIME];
	insns = t->before + v[INSNS] - t->insns;
	t->insns += insns;
	return joining_error(l, ptc_calls_pass(j->stream.calls, &last, insns), err);
}

/* Notes the addresses of an item, from which a function may be called. */
static int note_places(struct ptc_part_join *j, const struct ptc_sum_line *l, const json_t *item,
		       int32_t tid, struct ptc_err *err)
{
	enum { IP, FUNCTION, SOURCE, LINE, N };
	const json_t *rows = json_object_get(item, "at");
	struct ptc_place_of_thread place = { .tid = tid };
	uint64_t v[N];
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < json_array_size(rows); i++) {
		rc = ptc_part_row_get(l, json_array_get(rows, i), N, v, err);
		if (!rc)
			rc = ptc_joined_source(&j->sources, l, v[SOURCE], v[LINE], &place.at, err);
		if (rc)
			return rc;
		place.ip = v[IP];
		place.function = ptc_part_join_number(j, v[FUNCTION]);
		if (place.function == PTC_NO_NUMBER || !ptc_joined_places_note(&j->places, &place))
			return ptc_fail_mem(err);
	}
	return rc;
}

/* Gives the machine the item that member @key has, if there is one. */
static int give_item(struct ptc_part_join *j, const struct ptc_sum_line *l, const char *key,
		     struct ptc_err *err)
{
	const json_t *o = json_object_get(l->json, key);
	struct ptc_joined_thread *t = NULL;
	struct ptc_joined_item item;
	int rc;

	if (!o)
		return 0;
	rc = ptc_part_item_get(l, o, &item, err);
	if (!rc)
		rc = note_places(j, l, o, item.item.tid, err);
	if (rc)
		return rc;
	if (item.item.type == PTC_ITEM_BRANCH || item.item.tid >= 0) {
		t = joined_thread(j, item.item.tid);
		if (!t)
			return ptc_fail_mem(err);
		t->insns += item.item.insns;
		if (item.item.type == PTC_ITEM_BRANCH && !ptc_item_has_to(&item.item))
			t->exit_function = item.from.start;
	}
	j->item = &item;
	rc = ptc_call_stream_item(&j->stream, &item.item);
	j->item = NULL;
	return joining_error(l, rc, err);
}

static int take_joined_step(struct ptc_part_join *j, const struct ptc_sum_line *l,
			    struct ptc_err *err)
{
	const json_t *v = json_object_get(l->json, "tid");
	const int32_t tid = (int32_t)json_integer_value(v);
	uint32_t thread;
	struct ptc_joined_thread *t;
	bool has_calls;
	int rc = 0;

	if (!json_is_integer(v) || json_integer_value(v) != tid)
		return damaged_line(l, "a step without a thread", err);
	t = joined_thread(j, tid);
	if (!t)
		return ptc_fail_mem(err);
	thread = ptc_call_stream_thread(&j->stream, tid);
	has_calls = j->sink.on_costs ? json_object_get(l->json, "times") != NULL : j->nnodes != 0;
	if (has_calls && (thread == PTC_NO_NUMBER || !j->stream.threads[thread].depth))
		return damaged_line(l, "calls of a thread that has no open function", err);
	rc = check_absent(j, l, tid, err);
	if (!rc && has_calls)
		rc = j->sink.on_costs ? j->sink.on_costs(j->sink.ctx, l, thread, t->before, err) :
					give_tree(j, l, thread, t, err);
	if (!rc && has_calls)
		rc = open_calls(j, l, tid, t, err);
	if (!rc)
		rc = give_item(j, l, "exit", err);
	if (!rc)
		rc = pass_branches(j, l, tid, err);
	j->nnodes = 0;
	return rc ? rc : give_item(j, l, "item", err);
}

static int end_part(struct ptc_part_join *j, const struct ptc_sum_line *l, struct ptc_err *err)
{
	uint64_t insns, lines;
	int rc = ptc_sum_json_count(l, l->json, "instructions", &insns, err);

	if (!rc)
		rc = ptc_sum_json_count(l, l->json, "lines", &lines, err);
	if (rc)
		return rc;
	if (lines + 1 != j->nlines)
		return damaged_line(l, "lines are missing", err);
	ptc_sum_add(&j->insns, insns);
	j->ended = true;
	return 0;
}

int ptc_part_join_line(struct ptc_part_join *j, const struct ptc_sum_line *l, bool *ret_other,
		       struct ptc_err *err)
{
	const char *type = ptc_sum_json_word(l->json, "type");

	*ret_other = false;
	j->nlines += strcmp(type, "missing") != 0;
	if (j->ended)
		return damaged_line(l, "a line behind the end", err);
	if (!strcmp(type, "function"))
		return add_part_function(j, l, err);
	if (!strcmp(type, "nodes"))
		return add_nodes(j, l, err);
	if (!strcmp(type, "step"))
		return take_joined_step(j, l, err);
	if (!strcmp(type, "source"))
		return ptc_joined_sources_add(&j->sources, &j->stream.names, l, err);
	if (!strcmp(type, "end"))
		return end_part(j, l, err);
	*ret_other = true;
	return 0;
}

int ptc_part_join_function(struct ptc_part_join *j, const struct ptc_sum_line *l, uint32_t *ret,
			   struct ptc_err *err)
{
	uint64_t i;
	const int rc = ptc_sum_json_count(l, l->json, "function", &i, err);

	if (rc)
		return rc;
	if (i >= j->nfunctions)
		return damaged_line(l, "an unknown function", err);
	*ret = joined_number(j, (int64_t)i);
	return *ret == PTC_NO_NUMBER ? ptc_fail_mem(err) : 0;
}

/* --- the whole --- */

int ptc_part_join_init(struct ptc_part_join *j, const struct ptc_join_sink *sink)
{
	static const struct ptc_call_lookup lookup = { joined_start,	   joined_function,
						       joined_name,	   joined_life,
						       joined_thread_name, joined_line,
						       joined_begin };
	const struct ptc_call_stream_opts opts = { .on_event = on_joined_event,
						   .ctx = j,
						   .lookup = &lookup };

	*j = (struct ptc_part_join){ .sink = *sink };
	return ptc_call_stream_init(&j->stream, &opts);
}

void ptc_part_join_begin(struct ptc_part_join *j)
{
	j->part++;
	j->nfunctions = j->nnodes = 0;
	j->sources.n = 0;
	j->nlines = 0;
	j->ended = false;
}

int ptc_part_join_finish(struct ptc_part_join *j)
{
	return ptc_call_stream_finish(&j->stream);
}

void ptc_part_join_release(struct ptc_part_join *j)
{
	ptc_call_stream_release(&j->stream);
	free(j->functions);
	free(j->begins);
	free(j->nodes);
	free(j->threads);
	free(j->sources.v);
	ptc_joined_places_release(&j->places);
	ptc_idmap_release(&j->tids);
	*j = (struct ptc_part_join){ .part = 0 };
}
