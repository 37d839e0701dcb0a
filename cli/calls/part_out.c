/* SPDX-License-Identifier: MIT */
#include "cli/calls/part_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "cli/calls/part_costs.h"
#include "cli/common/jsontext.h"
#include "ptcap/file.h"
#include "ptcap/lookup.h"

enum {
	NODES_IN_LINE = 1000,
	NODES_KEPT = 1 << 20, /* of all threads; more are printed */
};

json_t *ptc_part_time(uint64_t n)
{
	return json_integer(n == PTC_NO_TIME ? -1 : (json_int_t)n);
}

bool ptc_part_out_line(struct ptc_part_out *o, json_t *line)
{
	o->nlines++;
	return ptc_line_json(o->line, line);
}

/* --- threads --- */

/* Returns the thread, which may be new. NULL: out of memory. */
static struct ptc_part_thread *thread_of_part(struct ptc_part_out *o, int32_t tid)
{
	size_t at = ptc_idmap_find(&o->tids, tid);

	if (at != SIZE_MAX)
		return &o->threads[at];
	at = o->tids.n;
	if (!ptc_grow(&o->threads, &o->cap, at + 1, sizeof(*o->threads)) ||
	    !ptc_idmap_add(&o->tids, tid, at))
		return NULL;
	o->threads[at] = (struct ptc_part_thread){ .name = "" };
	return &o->threads[at];
}

/* Notes where @function begins, which is at @ip in the process of @it. Returns false if out of
 * memory. */
static bool note_begin(struct ptc_part_out *o, uint32_t function, const struct ptc_item *it,
		       uint64_t ip)
{
	const size_t n = o->nbegins;

	if (!o->has_begins || function < n)
		return true;
	if (!ptc_grow(&o->begins, &o->begins_cap, (size_t)function + 1, sizeof(*o->begins)))
		return false;
	o->nbegins = (size_t)function + 1;
	memset(o->begins + n, 0, (o->nbegins - n) * sizeof(*o->begins));
	o->begins[function] = ptc_function_begin(&o->stream, it, ip);
	return o->begins[function].file != UINT32_MAX;
}

bool ptc_part_out_number(struct ptc_part_out *o, const struct ptc_item *it, uint64_t ip,
			 uint32_t *ret)
{
	const uint32_t function = ptc_call_stream_function(&o->stream, it, ip);

	*ret = function;
	return function != PTC_NO_NUMBER && note_begin(o, function, it, ip);
}

/* As on_part_event, for a part with costs. */
static int on_costs_event(struct ptc_part_out *o, const struct ptc_call_event *e)
{
	const struct ptc_item *it = e->call->item;
	uint32_t caller;

	if (!thread_of_part(o, it->tid))
		return PTC_E_NO_MEMORY;
	if (e->call->type == PTC_CALL_ENTER && !note_begin(o, e->function, it, e->call->ip))
		return PTC_E_NO_MEMORY;
	if (ptc_part_costs_event(o->costs, ptc_idmap_find(&o->tids, it->tid), e))
		return PTC_E_NO_MEMORY;
	/* The costs have given a number to the caller. */
	if (o->stream.nfunctions == o->nbegins)
		return 0;
	return ptc_part_out_number(o, it, ptc_call_cost_address(e->call), &caller) ?
		       0 :
		       PTC_E_NO_MEMORY;
}

static int on_part_event(void *ctx, const struct ptc_call_event *e)
{
	struct ptc_part_out *o = ctx;
	const uint64_t now[PTC_PART_AXES] = { e->call->insns, e->call->item->time };
	struct ptc_part_open ended;
	struct ptc_part_thread *t;
	const bool ends = e->call->type == PTC_CALL_LEAVE;

	if (o->costs)
		return on_costs_event(o, e);
	t = thread_of_part(o, e->call->item->tid);
	if (!t || !ptc_part_tree_event(&t->tree, e, &ended))
		return PTC_E_NO_MEMORY;
	if (!ends && !note_begin(o, e->function, e->call->item, e->call->ip))
		return PTC_E_NO_MEMORY;
	if (!ends)
		memcpy(t->name, o->stream.threads[e->thread].name, sizeof(t->name));
	if (ends && o->on_end && !o->on_end(o->ctx, e->function, ended.since, now))
		return PTC_E_NO_MEMORY;
	return 0;
}

/* --- lines --- */

bool ptc_part_out_function(struct ptc_part_out *o, const struct ptc_names *names,
			   const struct ptc_function *f, struct ptc_source_line begin)
{
	const char *source = ptc_names_of(names, begin.file);

	return ptc_part_out_line(
		o,
		json_pack("{s:s, s:o*, s:i, s:o*, s:o*, s:s*, s:o}", "type", "function", "source",
			  source ? ptc_json_text(source) : NULL, "line", (int)begin.line, "name",
			  f->name ? ptc_json_text(ptc_names_of(names, f->name)) : NULL, "file",
			  f->file ? ptc_json_text(ptc_names_of(names, f->file)) : NULL, "build_id",
			  ptc_names_of(names, f->id), "offset", ptc_json_hex(f->off)));
}

bool ptc_part_out_new_functions(struct ptc_part_out *o)
{
	static const struct ptc_source_line unknown;
	size_t *i = &o->nprinted;
	bool ok = true;

	for (; ok && *i < o->stream.nfunctions; ++*i)
		ok = ptc_part_out_function(o, &o->stream.names, &o->stream.functions[*i],
					   *i < o->nbegins ? o->begins[*i] : unknown);
	return ok;
}

/* Returns the tree's nodes from @first on, in rows. NULL: out of memory. */
static json_t *rows_of_nodes(const struct ptc_part_tree *t, size_t first)
{
	json_t *rows = json_array();
	size_t i;
	int bad = !rows;

	for (i = first; !bad && i < t->n && i < first + NODES_IN_LINE; i++) {
		const struct ptc_part_node *n = &t->nodes[i];

		bad = json_array_append_new(rows, json_pack("[i,i,I,I,I,I,I]", (int)n->parent,
							    (int)n->function, (json_int_t)n->calls,
							    (json_int_t)n->self[PTC_PART_INSNS],
							    (json_int_t)n->self[PTC_PART_TIME],
							    (json_int_t)n->total[PTC_PART_INSNS],
							    (json_int_t)n->total[PTC_PART_TIME]));
	}
	if (!bad)
		return rows;
	json_decref(rows);
	return NULL;
}

/* Prints the calls of a thread since its last step. Returns false if out of memory. */
static bool put_tree(struct ptc_part_out *o, const struct ptc_part_thread *t)
{
	const struct ptc_part_tree *tree = &t->tree;
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < tree->n; i += NODES_IN_LINE)
		ok = ptc_part_out_line(o, json_pack("{s:s, s:o}", "type", "nodes", "nodes",
						    rows_of_nodes(tree, i)));
	return ok;
}

/* Returns an address with its function. NULL: out of memory. */
static json_t *address_row(struct ptc_part_out *o, const struct ptc_item *it, uint64_t ip)
{
	uint32_t function;

	if (!ptc_part_out_number(o, it, ip, &function))
		return NULL;
	return json_pack("[o,i,o]", ptc_json_hex(ip), (int)function,
			 ptc_json_hex(ptc_call_stream_start(&o->stream, it, ip)));
}

/* Returns a branch or a gap. NULL: out of memory. */
static json_t *item_object(struct ptc_part_out *o, const struct ptc_item *it)
{
	const char *name = ptc_decode_thread_name(o->stream.opts.d, it->tid);
	json_t *j = json_pack("{s:i, s:i, s:I, s:o, s:I}", "pid", it->pid, "tid", it->tid, "queue",
			      (json_int_t)it->queue, "time", ptc_part_time(it->time), "insns",
			      (json_int_t)it->insns);
	int bad = !j;

	if (!bad && name)
		bad = json_object_set_new(j, "name", ptc_json_text(name));
	if (bad || it->type == PTC_ITEM_GAP)
		return j;
	bad |= json_object_set_new(j, "kind", json_string(ptc_kind_name((enum ptc_kind)it->kind)));
	bad |= json_object_set_new(j, "length", json_integer(it->insn_len));
	bad |= json_object_set_new(j, "life", ptc_json_hex(ptc_decode_life(o->stream.opts.d, it)));
	if (it->kind != PTC_KIND_START)
		bad |= json_object_set_new(j, "from", address_row(o, it, it->from));
	if (ptc_item_has_to(it) || it->kind == PTC_KIND_START)
		bad |= json_object_set_new(j, "to", address_row(o, it, it->to));
	if (o->costs && it->kind != PTC_KIND_START)
		bad |= json_object_set_new(j, "at", ptc_part_costs_places(o->costs, o, it));
	if (!bad)
		return j;
	json_decref(j);
	return NULL;
}

/* Returns the branch with which the thread has left the trace. NULL: out of memory. */
static json_t *exit_object(struct ptc_part_out *o, const struct ptc_part_step *step)
{
	const struct ptc_item *it = step->exit;
	json_t *j = json_pack(
		"{s:i, s:i, s:I, s:o, s:i, s:s, s:i, s:[o,i,o]}", "pid", it->pid, "tid", it->tid,
		"queue", (json_int_t)it->queue, "time", ptc_part_time(it->time), "insns", 0, "kind",
		ptc_kind_name((enum ptc_kind)it->kind), "length", it->insn_len, "from",
		ptc_json_hex(it->from), -1, ptc_json_hex(step->exit_function));
	if (!o->costs || !json_object_set_new(j, "at", ptc_part_costs_places(o->costs, o, it)))
		return j;
	json_decref(j);
	return NULL;
}

/* Returns the open calls of a step, with their functions. NULL: out of memory. */
static json_t *rows_of_open(struct ptc_part_out *o, const struct ptc_part_step *step)
{
	const uint32_t number = ptc_call_stream_thread(&o->stream, step->tid);
	const struct ptc_call_thread *t = number != PTC_NO_NUMBER ? &o->stream.threads[number] :
								    NULL;
	json_t *rows = json_array();
	size_t i;
	int bad = !rows;

	for (i = 0; !bad && i < step->ncalls; i++) {
		const struct ptc_open_call *c = &step->calls[i];
		const uint32_t function = t && i < t->depth ? t->stack[i] : 0;

		bad = json_array_append_new(
			rows, json_pack("[o,i,o,o,I,o]", ptc_json_hex(c->ip), (int)function,
					ptc_json_hex(c->function), ptc_json_hex(c->ret),
					(json_int_t)c->since_insns, ptc_part_time(c->since)));
	}
	if (!bad)
		return rows;
	json_decref(rows);
	return NULL;
}

static json_t *rows_of_absent(const struct ptc_part_step *step)
{
	json_t *rows = json_array();
	size_t i;
	int bad = !rows;

	for (i = 0; !bad && i < step->nabsent; i++)
		bad = json_array_append_new(rows, ptc_json_hex(step->absent[i]));
	if (!bad)
		return rows;
	json_decref(rows);
	return NULL;
}

static json_t *pair_of_places(const uint64_t *places)
{
	return json_pack("[I,o]", (json_int_t)places[PTC_PART_INSNS],
			 ptc_part_time(places[PTC_PART_TIME]));
}

/* Returns the object of a step without its tree. NULL: out of memory. */
static json_t *step_object(struct ptc_part_out *o, const struct ptc_part_step *step,
			   const struct ptc_part_thread *t)
{
	json_t *j = json_pack("{s:s, s:i}", "type", "step", "tid", step->tid);
	int bad = !j;

	if (!bad && step->passed)
		bad |= json_object_set_new(
			j, "passed",
			json_pack("[i,I,o,I]", step->pid, (json_int_t)step->queue,
				  ptc_part_time(step->time), (json_int_t)step->insns));
	if (!bad && t->tree.n) {
		bad |= json_object_set_new(j, "name", ptc_json_text(t->name));
		bad |= json_object_set_new(j, "first", pair_of_places(t->tree.first));
		bad |= json_object_set_new(j, "last", pair_of_places(t->tree.last));
	}
	if (!bad && o->costs)
		bad = !ptc_part_costs_step(o->costs, o, ptc_idmap_find(&o->tids, step->tid), j);
	if (!bad && step->ncalls)
		bad |= json_object_set_new(j, "open", rows_of_open(o, step));
	if (!bad && step->nabsent)
		bad |= json_object_set_new(j, "absent", rows_of_absent(step));
	if (!bad && step->exit)
		bad |= json_object_set_new(j, "exit", exit_object(o, step));
	if (!bad && step->item)
		bad |= json_object_set_new(j, "item", item_object(o, step->item));
	if (!bad)
		return j;
	json_decref(j);
	return NULL;
}

static int put_step(void *ctx, const struct ptc_part_step *step)
{
	struct ptc_part_out *o = ctx;
	struct ptc_part_thread *t = thread_of_part(o, step->tid);
	json_t *j = t ? step_object(o, step, t) : NULL;
	bool ok = j && ptc_part_out_new_functions(o) && put_tree(o, t);

	if (ok)
		ok = ptc_part_out_line(o, j);
	else
		json_decref(j);
	if (t)
		ptc_part_tree_clear(&t->tree);
	return ok ? 0 : PTC_E_NO_MEMORY;
}

/* --- the whole part --- */

/* Returns what parts of one recording have in common. NULL: out of memory. */
static json_t *trace_object(const struct ptc_decode *d)
{
	const struct ptc_file *file = ptc_decode_recording(d);
	uint64_t first = PTC_NO_TIME, last = PTC_NO_TIME;
	struct ptc_err ignored;

	(void)ptc_decode_get_times(d, &first, &last, &ignored);
	return json_pack("[I,o,o]", (json_int_t)(file ? ptc_file_data_size(file) : 0),
			 ptc_part_time(first), ptc_part_time(last));
}

bool ptc_part_out_begin(struct ptc_part_out *o, struct ptc_decode *d, json_t *options)
{
	const struct ptc_call_stream_opts opts = {
		.d = d, .on_event = on_part_event, .ctx = o, .on_step = put_step
	};

	if (ptc_call_stream_init(&o->stream, &opts)) {
		json_decref(options);
		return false;
	}
	return ptc_line_json(o->line,
			     json_pack("{s:s, s:i, s:s, s:I, s:I, s:o, s:o}", "schema",
				       "ptcap-calls-part", "version", 1, "of", o->of, "shard",
				       (json_int_t)o->shard.i, "shards", (json_int_t)o->shard.n,
				       "trace", trace_object(d), "options", options));
}

int ptc_part_out_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_part_out *o = ctx;
	size_t i, nodes = 0;
	int rc;

	for (i = 0; i < n; i++)
		o->insns += items[i].insns;
	rc = ptc_call_stream_items(&o->stream, items, n);
	for (i = 0; i < o->tids.n; i++)
		nodes += o->threads[i].tree.n;
	return rc || nodes <= NODES_KEPT ? rc : ptc_call_stream_finish(&o->stream);
}

bool ptc_part_out_steps(struct ptc_part_out *o)
{
	return !ptc_call_stream_finish(&o->stream);
}

bool ptc_part_out_end(struct ptc_part_out *o)
{
	return ptc_part_out_new_functions(o) &&
	       ptc_line_json(o->line,
			     json_pack("{s:s, s:I, s:I}", "type", "end", "instructions",
				       (json_int_t)o->insns, "lines", (json_int_t)o->nlines));
}

void ptc_part_out_release(struct ptc_part_out *o)
{
	size_t i;

	for (i = 0; i < o->tids.n; i++)
		ptc_part_tree_release(&o->threads[i].tree);
	free(o->threads);
	free(o->begins);
	ptc_idmap_release(&o->tids);
	if (o->stream.parts)
		ptc_call_stream_release(&o->stream);
	o->threads = NULL;
}
