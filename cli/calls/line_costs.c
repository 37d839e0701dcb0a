/* SPDX-License-Identifier: MIT */
#include "cli/calls/line_costs.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/sorted.h"
#include "ptcap/lookup.h"

/* Consecutive instructions of a block that are of the same function and line. */
struct ptc_block_part {
	uint32_t cost; /* index in costs */
	uint32_t insns;
};

struct ptc_source_line ptc_source_line_of(struct ptc_call_stream *s, const struct ptc_item *it,
					  uint64_t ip)
{
	int line = 0;
	const char *file;

	if (s->opts.lookup)
		return s->opts.lookup->line(s->opts.ctx, it, ip);
	file = ip ? ptc_decode_srcline(s->opts.d, it, ip, &line) : NULL;

	return (struct ptc_source_line){ .file = ptc_names_get(&s->names, file),
					 .line = file && line > 0 ? (uint32_t)line : 0 };
}

struct ptc_source_line ptc_function_begin(struct ptc_call_stream *s, const struct ptc_item *it,
					  uint64_t ip)
{
	uint64_t off = 0;

	if (s->opts.lookup)
		return s->opts.lookup->begin(s->opts.ctx, it, ip);
	if (!ptc_decode_symbol(s->opts.d, it, ip, &off))
		off = 0;
	return ptc_source_line_of(s, it, ip - off);
}

static uint64_t hash_of_cost(const void *entry)
{
	const struct ptc_line_cost *c = entry;

	return ptc_hash_mix(ptc_hash_mix(c->function, c->at.file), c->at.line);
}

static bool is_same_cost(const void *entry, const void *key)
{
	const struct ptc_line_cost *a = entry, *b = key;

	return a->function == b->function && a->at.file == b->at.file && a->at.line == b->at.line;
}

/* Returns the number + 1 of the cost of this place. 0: out of memory. */
static uint32_t cost_of(struct ptc_line_costs *c, const struct ptc_line_cost *at)
{
	static const struct ptc_number_kind kind = { sizeof(*at), hash_of_cost, is_same_cost };
	const uint32_t found = ptc_number_find(&c->index, &kind, c->costs, at);

	return found ? found : ptc_number_append(&c->index, &kind, &c->costs, &c->n, &c->cap, at);
}

bool ptc_line_costs_add(struct ptc_line_costs *c, const struct ptc_line_cost *cost)
{
	const struct ptc_line_cost place = { .function = cost->function, .at = cost->at };
	const uint32_t number = cost_of(c, &place);

	if (number)
		c->costs[number - 1].insns += cost->insns;
	return number;
}

/* A block whose instructions are visited. */
struct visit {
	struct ptc_line_costs *c;
	const struct ptc_item *it;
	struct ptc_counts_entry *block;
	uint32_t function; /* of the whole block; PTC_NO_NUMBER: of each instruction */
	const char *file;  /* of the last instruction */
	int line;
	uint32_t last_function;
};

/* Returns the part that begins with an instruction of this place. NULL: out of memory. */
static struct ptc_block_part *begin_part(struct ptc_line_costs *c, const struct visit *v)
{
	struct ptc_line_cost at = { .function = v->last_function };
	uint32_t cost;

	at.at.file = ptc_names_get(&c->stream->names, v->file);
	at.at.line = v->file && v->line > 0 ? (uint32_t)v->line : 0;
	if (at.at.file == UINT32_MAX ||
	    !ptc_grow(&c->parts, &c->parts_cap, c->nparts + 1, sizeof(*c->parts)))
		return NULL;
	cost = cost_of(c, &at);
	if (!cost)
		return NULL;
	v->block->nlines++;
	c->parts[c->nparts] = (struct ptc_block_part){ .cost = cost - 1 };
	return &c->parts[c->nparts++];
}

static int visit_insn(void *ctx, uint64_t ip)
{
	struct visit *v = ctx;
	struct ptc_line_costs *c = v->c;
	struct ptc_block_part *part;
	int line = 0;
	const char *file = ptc_decode_srcline(c->stream->opts.d, v->it, ip, &line);
	const uint32_t function = v->function != PTC_NO_NUMBER ?
					  v->function :
					  ptc_call_stream_function(c->stream, v->it, ip);

	if (function == PTC_NO_NUMBER)
		return PTC_E_NO_MEMORY;
	if (!v->block->nlines || file != v->file || line != v->line ||
	    function != v->last_function) {
		v->file = file;
		v->line = line;
		v->last_function = function;
		part = begin_part(c, v);
	} else {
		part = &c->parts[c->nparts - 1];
	}
	if (!part)
		return PTC_E_NO_MEMORY;
	part->insns++;
	return 0;
}

/*
 * Find the function of a block. A block without a symbol is one function. A block that runs from
 * one function into the next has PTC_NO_NUMBER. Returns false if out of memory.
 */
static bool find_block_function(struct visit *v)
{
	struct ptc_call_stream *s = v->c->stream;
	const uint32_t first = ptc_call_stream_function(s, v->it, v->block->from.ip);
	const uint32_t last =
		v->block->to.symbol ? ptc_call_stream_function(s, v->it, v->block->to.ip) : first;

	v->function = first == last ? first : PTC_NO_NUMBER;
	return first != PTC_NO_NUMBER && last != PTC_NO_NUMBER;
}

static bool take_block(void *ctx, const struct ptc_item *it, struct ptc_counts_entry *block)
{
	struct ptc_line_costs *c = ctx;
	struct visit v = { .c = c, .it = it, .block = block };

	block->lines = c->nparts;
	block->nlines = 0;
	return find_block_function(&v) &&
	       !ptc_decode_each_insn(c->stream->opts.d, it, block->from.ip, block->to.ip,
				     block->kind == PTC_KIND_ASYNC, visit_insn, &v);
}

void ptc_line_costs_init(struct ptc_line_costs *c, struct ptc_call_stream *s)
{
	*c = (struct ptc_line_costs){ .stream = s };
	c->blocks = (struct ptc_counts){
		.of = PTC_COUNTS_BLOCKS, .d = s->opts.d, .on_block = take_block, .ctx = c
	};
}

void ptc_line_costs_release(struct ptc_line_costs *c)
{
	ptc_counts_release(&c->blocks);
	free(c->parts);
	free(c->costs);
	free(c->index.slots);
	*c = (struct ptc_line_costs){ .stream = c->stream };
}

int ptc_line_costs_items(struct ptc_line_costs *c, const struct ptc_item *items, size_t n)
{
	return ptc_counts_items(&c->blocks, items, n);
}

/* --- after all items --- */

/* A function without a symbol. */
struct unnamed {
	uint32_t file;
	uint64_t off;
	uint32_t function;
};

static bool is_before(const struct ptc_names *names, const struct unnamed *a,
		      const struct ptc_function *f)
{
	const int r = ptc_names_compare(names, a->file, f->file);

	return r ? r < 0 : a->off <= f->off;
}

/* Move costs of code without a symbol to the functions without a symbol that were entered. */
static bool move_unnamed(struct ptc_line_costs *c, const bool *entered, size_t nentered,
			 const struct ptc_function_order *order)
{
	const struct ptc_function *f = c->stream->functions;
	struct unnamed *v = calloc(nentered + 1, sizeof(*v));
	size_t n = 0, i, at;

	if (!v)
		return false;
	for (i = 0; i < c->stream->nfunctions; i++) {
		at = order->at[i];
		if (at < nentered && entered[at] && !f[at].name)
			v[n++] = (struct unnamed){ f[at].file, f[at].off, (uint32_t)at };
	}
	for (i = 0; i < c->n; i++) {
		const struct ptc_function *own = &f[c->costs[i].function];

		if (own->name)
			continue;
		at = PTC_PARTITION_POINT(k, 0, n, is_before(order->names, &v[k], own));
		if (at && v[at - 1].file == own->file)
			c->costs[i].function = v[at - 1].function;
	}
	free(v);
	return true;
}

static int by_function_and_line(const void *a, const void *b, void *order)
{
	const struct ptc_function_order *o = order;
	const struct ptc_line_cost *x = a, *y = b;
	int r;

	if (x->function != y->function)
		return o->rank[x->function] < o->rank[y->function] ? -1 : 1;
	r = ptc_names_compare(o->names, x->at.file, y->at.file);
	return r ? r : (x->at.line > y->at.line) - (x->at.line < y->at.line);
}

/* Add up equal places, which are neighbors. */
static void merge_costs(struct ptc_line_costs *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->n; i++) {
		if (n && is_same_cost(&c->costs[n - 1], &c->costs[i]))
			c->costs[n - 1].insns += c->costs[i].insns;
		else if (c->costs[i].insns)
			c->costs[n++] = c->costs[i];
	}
	c->n = n;
}

void ptc_line_costs_count(struct ptc_line_costs *c)
{
	size_t i, k;

	ptc_counts_settle(&c->blocks);
	for (i = 0; i < c->blocks.n; i++) {
		const struct ptc_counts_entry *b = &c->blocks.entries[i];

		for (k = b->lines; k < b->lines + b->nlines; k++)
			c->costs[c->parts[k].cost].insns += b->times * c->parts[k].insns;
	}
}

bool ptc_line_costs_settle(struct ptc_line_costs *c, const bool *entered, size_t nentered,
			   const struct ptc_function_order *order)
{
	if (!move_unnamed(c, entered, nentered, order))
		return false;
	if (c->n)
		qsort_r(c->costs, c->n, sizeof(*c->costs), by_function_and_line, (void *)order);
	merge_costs(c);
	return true;
}
