/* SPDX-License-Identifier: MIT */
#include "cli/calls/part_costs.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "cli/common/jsontext.h"

enum { ROWS_IN_LINE = 1000 };

bool ptc_part_costs_begin(struct ptc_part_costs *c, struct ptc_part_out *o)
{
	const struct ptc_call_stream_opts opts = { .d = o->stream.opts.d };

	if (!ptc_call_costs_init(&c->calls, &o->stream))
		return false;
	c->calls.of_part = true;
	if (ptc_call_stream_init(&c->stream, &opts))
		return false;
	ptc_line_costs_init(&c->lines, &c->stream);
	return true;
}

void ptc_part_costs_release(struct ptc_part_costs *c)
{
	ptc_call_costs_release(&c->calls);
	ptc_line_costs_release(&c->lines);
	ptc_call_stream_release(&c->stream);
	free(c->of_calls.v);
	free(c->of_lines.v);
}

int ptc_part_costs_event(struct ptc_part_costs *c, size_t thread, const struct ptc_call_event *e)
{
	struct ptc_call_event of_part = *e;

	of_part.thread = (uint32_t)thread;
	return ptc_call_costs_event(&c->calls, &of_part);
}

int ptc_part_costs_items(struct ptc_part_costs *c, const struct ptc_item *items, size_t n)
{
	ptc_call_stream_begin(&c->stream);
	return ptc_line_costs_items(&c->lines, items, n);
}

bool ptc_part_costs_before(struct ptc_part_costs *c, const struct ptc_item *items, size_t n)
{
	return ptc_counts_before(&c->lines.blocks, items, n);
}

/* --- rows --- */

/* Returns @json if @ok, otherwise drops it and returns NULL. */
static json_t *complete(json_t *json, bool ok)
{
	if (ok)
		return json;
	json_decref(json);
	return NULL;
}

/* Gets the number of a source file, which is printed if it is new. Returns false if out of memory.
 */
static bool number_of_source(struct ptc_part_costs *c, struct ptc_part_out *o,
			     struct ptc_part_sources *s, const struct ptc_names *names,
			     uint32_t file, uint32_t *ret)
{
	const size_t n = s->n;

	*ret = 0;
	if (!file)
		return true;
	if (file >= n) {
		if (!ptc_grow(&s->v, &s->cap, (size_t)file + 1, sizeof(*s->v)))
			return false;
		s->n = (size_t)file + 1;
		memset(s->v + n, 0, (s->n - n) * sizeof(*s->v));
	}
	if (!s->v[file]) {
		s->v[file] = ++c->nsources;
		if (!ptc_part_out_line(o, json_pack("{s:s, s:o}", "type", "source", "file",
						    ptc_json_text(ptc_names_of(names, file)))))
			return false;
	}
	*ret = s->v[file];
	return true;
}

/* Appends a source line to a row. Returns false if out of memory. */
static bool append_line(struct ptc_part_costs *c, struct ptc_part_out *o, json_t *row,
			struct ptc_source_line at)
{
	uint32_t source;

	return number_of_source(c, o, &c->of_calls, &o->stream.names, at.file, &source) &&
	       !json_array_append_new(row, json_integer(source)) &&
	       !json_array_append_new(row, json_integer(at.line));
}

/* Returns [caller, source, line, callee]. A root is -1. NULL: out of memory. */
static json_t *row_of_call(struct ptc_part_costs *c, struct ptc_part_out *o,
			   const struct ptc_call_cost *call)
{
	const json_int_t caller = call->caller >= PTC_COST_ROOTS ? -1 : (json_int_t)call->caller;
	json_t *row = json_array();
	const bool ok = row && !json_array_append_new(row, json_integer(caller)) &&
			append_line(c, o, row, call->at) &&
			!json_array_append_new(row, json_integer(call->callee));

	return complete(row, ok);
}

/* Appends a row of a call and its costs to @rows. Returns false if out of memory. */
static bool append_call(struct ptc_part_costs *c, struct ptc_part_out *o, json_t *rows,
			const struct ptc_call_cost *call)
{
	json_t *row = row_of_call(c, o, call);
	int bad = !row;

	bad |= json_array_append_new(row, json_integer((json_int_t)call->times));
	bad |= json_array_append_new(row, json_integer((json_int_t)call->insns));
	bad |= json_array_append_new(row, json_integer((json_int_t)call->ns));
	bad |= json_array_append_new(rows, row);
	return !bad;
}

/* Appends a row of an open frame to @rows. Returns false if out of memory. */
static bool append_frame(struct ptc_part_costs *c, struct ptc_part_out *o, json_t *rows,
			 const struct ptc_cost_frame *f)
{
	json_t *row = row_of_call(c, o, &c->calls.calls[f->call]);
	int bad = !row;

	bad |= json_array_append_new(row, json_integer(f->depth));
	bad |= json_array_append_new(row, json_integer(f->tails));
	bad |= json_array_append_new(row, json_integer((json_int_t)f->since_insns));
	bad |= json_array_append_new(row, ptc_part_time(f->since_time));
	bad |= json_array_append_new(rows, row);
	return !bad;
}

/* --- steps --- */

/* Returns the calls by the root. NULL: out of memory. */
static json_t *rows_of_roots(struct ptc_part_costs *c, struct ptc_part_out *o,
			     const struct ptc_cost_thread *t)
{
	json_t *rows = json_array();
	bool ok = rows;
	size_t i;

	for (i = 0; ok && i < t->nroots; i++)
		ok = append_call(c, o, rows, &c->calls.calls[t->roots[i]]);
	return complete(rows, ok);
}

/* Returns the open frames without the root. NULL: out of memory. */
static json_t *rows_of_frames(struct ptc_part_costs *c, struct ptc_part_out *o,
			      const struct ptc_cost_thread *t)
{
	json_t *rows = json_array();
	bool ok = rows;
	size_t i;

	for (i = 1; ok && i < t->n; i++)
		ok = append_frame(c, o, rows, &t->frames[i]);
	return complete(rows, ok);
}

bool ptc_part_costs_step(struct ptc_part_costs *c, struct ptc_part_out *o, size_t thread,
			 json_t *step)
{
	const struct ptc_cost_thread *t = thread < c->calls.nthreads ? &c->calls.threads[thread] :
								       NULL;
	int bad = 0;

	if (!t || !t->has_events)
		return true;
	bad |= json_object_set_new(step, "times",
				   json_pack("[o,o,I]", ptc_part_time(t->first_time),
					     ptc_part_time(t->last_time), (json_int_t)t->root_ns));
	if (t->nroots)
		bad |= json_object_set_new(step, "calls", rows_of_roots(c, o, t));
	if (t->n > 1)
		bad |= json_object_set_new(step, "frames", rows_of_frames(c, o, t));
	ptc_call_costs_step(&c->calls, (uint32_t)thread);
	return !bad;
}

/* Appends the row of an address to @rows. Returns false if out of memory. */
static bool append_place(struct ptc_part_costs *c, struct ptc_part_out *o, json_t *rows,
			 const struct ptc_item *it, uint64_t ip)
{
	const struct ptc_source_line at = ptc_source_line_of(&o->stream, it, ip);
	uint32_t function;
	json_t *row;

	if (at.file == UINT32_MAX || !ptc_part_out_number(o, it, ip, &function))
		return false;
	row = json_pack("[o,i]", ptc_json_hex(ip), (int)function);
	if (row && append_line(c, o, row, at))
		return !json_array_append_new(rows, row);
	json_decref(row);
	return false;
}

json_t *ptc_part_costs_places(struct ptc_part_costs *c, struct ptc_part_out *o,
			      const struct ptc_item *it)
{
	json_t *rows = json_array();
	bool ok = rows && append_place(c, o, rows, it, it->from);

	/* A signal handler may begin there, which the function of the branch called. */
	if (ok && !ptc_item_has_to(it) && it->insn_len)
		ok = append_place(c, o, rows, it, it->from + it->insn_len);
	return complete(rows, ok);
}

/* --- the end --- */

/* Prints the rows that @append makes of each of @n costs, in lines of type @type. */
static bool put_rows(struct ptc_part_costs *c, struct ptc_part_out *o, const char *type, size_t n,
		     bool (*append)(struct ptc_part_costs *c, struct ptc_part_out *o, json_t *rows,
				    size_t i))
{
	json_t *rows = json_array();
	bool ok = rows;
	size_t i;

	for (i = 0; ok && i < n; i++) {
		ok = append(c, o, rows, i);
		if (!ok || json_array_size(rows) < ROWS_IN_LINE)
			continue;
		ok = ptc_part_out_line(o, json_pack("{s:s, s:O}", "type", type, "rows", rows)) &&
		     !json_array_clear(rows);
	}
	if (ok && json_array_size(rows))
		ok = ptc_part_out_line(o, json_pack("{s:s, s:O}", "type", type, "rows", rows));
	json_decref(rows);
	return ok;
}

/* The steps have printed the calls by roots. */
static bool append_known_call(struct ptc_part_costs *c, struct ptc_part_out *o, json_t *rows,
			      size_t i)
{
	const struct ptc_call_cost *call = &c->calls.calls[i];

	return call->caller >= PTC_COST_ROOTS || append_call(c, o, rows, call);
}

static bool append_own_time(struct ptc_part_costs *c, struct ptc_part_out *o, json_t *rows,
			    size_t i)
{
	const uint64_t ns = c->calls.functions[i].ns;

	(void)o;
	return !ns || !json_array_append_new(rows, json_pack("[i,I]", (int)i, (json_int_t)ns));
}

static bool append_cost(struct ptc_part_costs *c, struct ptc_part_out *o, json_t *rows, size_t i)
{
	const struct ptc_line_cost *cost = &c->lines.costs[i];
	const size_t first = o->stream.nfunctions;
	uint32_t source;

	if (!cost->insns)
		return true;
	return number_of_source(c, o, &c->of_lines, &c->stream.names, cost->at.file, &source) &&
	       !json_array_append_new(rows,
				      json_pack("[I,I,I,I]", (json_int_t)first + cost->function,
						(json_int_t)source, (json_int_t)cost->at.line,
						(json_int_t)cost->insns));
}

bool ptc_part_costs_end(struct ptc_part_costs *c, struct ptc_part_out *o)
{
	static const struct ptc_source_line unknown;
	bool ok = ptc_part_out_new_functions(o);
	size_t i;

	ptc_line_costs_count(&c->lines);
	for (i = 0; ok && i < c->stream.nfunctions; i++)
		ok = ptc_part_out_function(o, &c->stream.names, &c->stream.functions[i], unknown);
	return ok && put_rows(c, o, "calls", c->calls.n, append_known_call) &&
	       put_rows(c, o, "own", c->calls.nfunctions, append_own_time) &&
	       put_rows(c, o, "lines", c->lines.n, append_cost);
}
