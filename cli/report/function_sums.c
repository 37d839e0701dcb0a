/* SPDX-License-Identifier: MIT */
#include "cli/report/function_sums.h"

#include <stdlib.h>

#include "base/budget.h"
#include "base/grow.h"
#include "cli/report/function_focus.h"

/* A function in a thread. */
struct ptc_sums_pair {
	uint32_t thread, function;
	uint32_t row;
	uint32_t open; /* calls of the function that are open in the thread */
};

struct sums_frame {
	uint32_t pair;
	bool is_outermost; /* no other call of the function was open */
	bool is_late;	   /* the begin is not known */
	uint32_t edge;	   /* index + 1 of the edge in the focus; 0: none */
	uint64_t from;	   /* address in the caller; 0: not known */
	const char *file;  /* of the focus: source of this address when the call began, or NULL */
	int line;
	uint64_t since[PTC_SUMS_AXES];
};

struct ptc_sums_thread {
	struct sums_frame *frames; /* owned; the outermost first */
	size_t depth, cap;
	uint64_t at[PTC_SUMS_AXES]; /* place of the last event; time: may be PTC_NO_TIME */
};

void ptc_sums_add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

/* Make space for one more element of any array. Returns false if there is no memory. */
static bool grow_sums(void *items, size_t *cap, size_t n, size_t size)
{
	return n < *cap || (n < UINT32_MAX - 1 && ptc_budget_allows((n + 1) * size) &&
			    ptc_grow(items, cap, n + 1, size));
}

/* --- rows and pairs --- */

static uint64_t hash_of_row(const void *entry)
{
	const struct ptc_function_sum *row = entry;

	return ptc_hash_mix(0, (uint64_t)row->group << 32 | row->function);
}

static bool is_same_row(const void *entry, const void *key)
{
	const struct ptc_function_sum *a = entry, *b = key;

	return a->group == b->group && a->function == b->function;
}

/* Returns the number of the row, which may be new. PTC_NO_NUMBER: no memory. */
static uint32_t row_with(struct ptc_function_sums *s, uint32_t group, uint32_t function)
{
	static const struct ptc_number_kind kind = { sizeof(struct ptc_function_sum), hash_of_row,
						     is_same_row };
	const struct ptc_function_sum row = { .group = group, .function = function };
	uint32_t number = ptc_number_find(&s->row_index, &kind, s->rows, &row);

	if (!number && grow_sums(&s->rows, &s->rows_cap, s->nrows, sizeof(row)))
		number = ptc_number_append(&s->row_index, &kind, &s->rows, &s->nrows, &s->rows_cap,
					   &row);
	return number - 1; /* 0 becomes PTC_NO_NUMBER */
}

static uint64_t hash_of_sums_pair(const void *entry)
{
	const struct ptc_sums_pair *pair = entry;

	return ptc_hash_mix(0, (uint64_t)pair->thread << 32 | pair->function);
}

static bool is_same_sums_pair(const void *entry, const void *key)
{
	const struct ptc_sums_pair *a = entry, *b = key;

	return a->thread == b->thread && a->function == b->function;
}

/*
 * Returns the number of the pair of a thread and function, which may be new. @event: an entry, for
 * its group; NULL: there are no groups. PTC_NO_NUMBER: no memory.
 */
static uint32_t pair_of(struct ptc_function_sums *s, uint32_t thread, uint32_t function,
			const struct ptc_call_event *event)
{
	static const struct ptc_number_kind kind = { sizeof(struct ptc_sums_pair),
						     hash_of_sums_pair, is_same_sums_pair };
	struct ptc_sums_pair pair = { .thread = thread, .function = function };
	uint32_t number = ptc_number_find(&s->pair_index, &kind, s->pairs, &pair);

	if (number)
		return number - 1;
	pair.row = row_with(s, s->group_of && event ? s->group_of(s->ctx, event) : 0, function);
	if (pair.row != PTC_NO_NUMBER &&
	    grow_sums(&s->pairs, &s->pairs_cap, s->npairs, sizeof(pair)))
		number = ptc_number_append(&s->pair_index, &kind, &s->pairs, &s->npairs,
					   &s->pairs_cap, &pair);
	return number - 1; /* 0 becomes PTC_NO_NUMBER */
}

/* Returns the thread of @event, which may be new. NULL: no memory. */
static struct ptc_sums_thread *thread_with(struct ptc_function_sums *s, uint32_t number)
{
	while (s->nthreads <= number) {
		if (!grow_sums(&s->threads, &s->threads_cap, s->nthreads, sizeof(*s->threads)))
			return NULL;
		s->threads[s->nthreads++] = (struct ptc_sums_thread){ .depth = 0 };
	}
	return &s->threads[number];
}

/* --- events --- */

static struct ptc_function_sum *row_of(const struct ptc_function_sums *s,
				       const struct sums_frame *f)
{
	return &s->rows[s->pairs[f->pair].row];
}

/* Returns the edge of an open call in the focus. NULL: none. */
static struct ptc_call_edge *edge_of(const struct ptc_function_sums *s, const struct sums_frame *f)
{
	return s->focus && f->edge ? &s->focus->edges[f->edge - 1] : NULL;
}

/* Returns the distance. 0: it is not known. */
static uint64_t distance(uint64_t since, uint64_t until)
{
	return since == PTC_NO_TIME || until == PTC_NO_TIME || until < since ? 0 : until - since;
}

/* Add what ran since the last event of the thread to the function at the top. */
static void add_self_until(struct ptc_function_sums *s, struct ptc_sums_thread *t,
			   const uint64_t *now)
{
	struct ptc_function_sum *row = row_of(s, &t->frames[t->depth - 1]);
	struct ptc_call_edge *edge = edge_of(s, &t->frames[t->depth - 1]);
	unsigned int a;

	for (a = 0; a < PTC_SUMS_AXES; a++) {
		const uint64_t ran = distance(t->at[a], now[a]);

		ptc_sums_add(&row->self[a], ran);
		ptc_sums_add(&s->all.self[a], ran);
		if (edge)
			ptc_sums_add(&edge->self[a], ran);
		if (now[a] != PTC_NO_TIME)
			t->at[a] = now[a];
	}
}

static void add_self(struct ptc_function_sums *s, struct ptc_sums_thread *t,
		     const struct ptc_call *call)
{
	const uint64_t now[] = { call->insns, call->item->time };

	add_self_until(s, t, now);
}

/*
 * The first call of a thread, or the first one behind a gap: the function gets the instructions
 * that belong to no call. Time before it is not known.
 */
static bool begin_stack(struct ptc_function_sums *s, struct ptc_sums_thread *t,
			const struct ptc_call *call)
{
	const uint64_t *insns = ptc_tid_counter_of(&s->insns, call->item->tid);

	if (!insns)
		return false;
	t->at[PTC_SUMS_INSNS] = *insns;
	if (s->is_part && !*insns) {
		s->left_out += call->insns;
		t->at[PTC_SUMS_INSNS] = call->insns;
	}
	t->at[PTC_SUMS_TIME] = call->item->time;
	return true;
}

/* Did the trace begin inside of the function? The function may also begin where the trace does. */
static bool begins_before(const struct ptc_function_sums *s, const struct ptc_call_event *event)
{
	const struct ptc_call *call = event->call;

	if (call->how == PTC_CALL_BY_RETURN)
		return true;
	return call->how == PTC_CALL_BY_TRACE &&
	       (!call->ip || ptc_call_stream_start(s->stream, call->item, call->ip) != call->ip);
}

/* Returns the function of the innermost of the first @n calls. */
static uint32_t function_at(const struct ptc_function_sums *s, const struct ptc_sums_thread *t,
			    size_t n)
{
	return n ? s->pairs[t->frames[n - 1].pair].function : PTC_NO_NUMBER;
}

static int add_entry(struct ptc_function_sums *s, struct ptc_sums_thread *t,
		     const struct ptc_call_event *event)
{
	const struct ptc_call *call = event->call;
	struct ptc_function_sum *row;
	struct ptc_sums_pair *pair;
	struct sums_frame f;

	if (t->depth)
		add_self(s, t, call);
	else if (!begin_stack(s, t, call))
		return PTC_E_NO_MEMORY;
	f = (struct sums_frame){ .pair = pair_of(s, event->thread, event->function, event),
				 .is_late = begins_before(s, event),
				 .from = call->from,
				 .since = { t->at[PTC_SUMS_INSNS], call->item->time } };
	if (f.pair == PTC_NO_NUMBER || !grow_sums(&t->frames, &t->cap, t->depth, sizeof(f)))
		return PTC_E_NO_MEMORY;
	if (s->focus && !ptc_function_focus_edge(s->focus, function_at(s, t, t->depth),
						 event->function, &f.edge))
		return PTC_E_NO_MEMORY;
	/* Later another program may be at this address. */
	if (s->focus && ptc_function_focus_has(s->focus, event->function))
		ptc_function_focus_line(s->focus, call->item, call->from, &f.file, &f.line);
	pair = &s->pairs[f.pair];
	f.is_outermost = !pair->open++;
	row = &s->rows[pair->row];
	row->calls += !f.is_late;
	s->all.calls += !f.is_late;
	if (f.edge)
		edge_of(s, &f)->calls += !f.is_late;
	/* An inlined function has no known begin. */
	f.is_late |= call->how == PTC_CALL_BY_INLINING;
	t->frames[t->depth++] = f;
	if (t->depth == 1)
		add_self(s, t, call);
	return 0;
}

/* Add the duration of a whole call. */
static bool add_duration(struct ptc_function_sums *s, const struct sums_frame *f, unsigned int axis,
			 uint64_t since, uint64_t until)
{
	struct ptc_function_sum *row = row_of(s, f);
	const uint64_t took = distance(since, until);

	if (since == PTC_NO_TIME || until == PTC_NO_TIME)
		return true;
	row->known[axis]++;
	ptc_sums_add(&row->sum[axis], took);
	if (took > row->max[axis])
		row->max[axis] = took;
	return ptc_durations_add(&s->durations,
				 (uint64_t)s->pairs[f->pair].row * PTC_SUMS_AXES + axis, took);
}

/* Offer a complete call to the slowest calls. Returns false if out of memory. */
static bool offer_call(struct ptc_function_sums *s, const struct ptc_sums_thread *t,
		       const struct sums_frame *f, const struct ptc_call *call)
{
	const struct ptc_sums_pair *pair = &s->pairs[f->pair];
	struct ptc_slow_call slow = {
		.at = { f->since[PTC_SUMS_INSNS], f->since[PTC_SUMS_TIME] },
		.duration = { distance(f->since[PTC_SUMS_INSNS], call->insns),
			      distance(f->since[PTC_SUMS_TIME], call->item->time) },
		.thread = pair->thread,
		.function = pair->function,
		.caller = function_at(s, t, t->depth),
		.from = f->from,
		.file = f->file,
		.line = f->line,
	};

	return !s->focus || !ptc_function_focus_has(s->focus, pair->function) ||
	       ptc_function_focus_offer(s->focus, &slow);
}

static int add_end(struct ptc_function_sums *s, struct ptc_sums_thread *t,
		   const struct ptc_call *call)
{
	const uint64_t now[] = { call->insns, call->item->time };
	const bool is_cut = call->how == PTC_CALL_BY_GAP || call->how == PTC_CALL_BY_END;
	struct ptc_function_sum *row;
	struct ptc_call_edge *edge;
	struct sums_frame f;
	uint64_t *insns;
	unsigned int a;

	add_self(s, t, call);
	f = t->frames[--t->depth];
	row = row_of(s, &f);
	edge = edge_of(s, &f);
	s->pairs[f.pair].open--;
	for (a = 0; a < PTC_SUMS_AXES && f.is_outermost; a++) {
		ptc_sums_add(&row->total[a], distance(f.since[a], now[a]));
		if (edge)
			ptc_sums_add(&edge->total[a], distance(f.since[a], now[a]));
	}
	row->open += f.is_late || is_cut;
	s->all.open += f.is_late || is_cut;
	for (a = 0; a < PTC_SUMS_AXES && !f.is_late && !is_cut; a++)
		if (!add_duration(s, &f, a, f.since[a], now[a]))
			return PTC_E_NO_MEMORY;
	if (!f.is_late && !is_cut && !offer_call(s, t, &f, call))
		return PTC_E_NO_MEMORY;
	if (t->depth)
		return 0;
	insns = ptc_tid_counter_of(&s->insns, call->item->tid);
	if (!insns)
		return PTC_E_NO_MEMORY;
	*insns = call->insns;
	return 0;
}

int ptc_function_sums_event(void *ctx, const struct ptc_call_event *event)
{
	struct ptc_function_sums *s = ctx;
	struct ptc_sums_thread *t;

	if (event->call->type == PTC_CALL_LOST) {
		s->gaps++;
		return 0;
	}
	t = thread_with(s, event->thread);
	if (!t)
		return PTC_E_NO_MEMORY;
	return event->call->type == PTC_CALL_ENTER ? add_entry(s, t, event) :
						     add_end(s, t, event->call);
}

/* --- parts --- */

/* The nodes of a part as lists of children. 0 ends a list, because the root is nobody's child. */
struct node_walk {
	uint32_t *child, *next; /* owned; first child, next sibling */
	uint32_t *pair;		/* owned; of each open node */
};

static bool walk_init(struct node_walk *w, const struct ptc_joined_tree *part)
{
	size_t i;

	w->child = calloc(part->n, sizeof(*w->child));
	w->next = calloc(part->n, sizeof(*w->next));
	w->pair = calloc(part->n, sizeof(*w->pair));
	if (!w->child || !w->next || !w->pair)
		return false;
	for (i = part->n; i-- > 1;) {
		w->next[i] = w->child[part->nodes[i].parent];
		w->child[part->nodes[i].parent] = (uint32_t)i;
	}
	return true;
}

static void walk_release(struct node_walk *w)
{
	free(w->child);
	free(w->next);
	free(w->pair);
}

/* Adds a node, and opens its function. The total counts only outside of calls of the function. */
static bool open_node(struct ptc_function_sums *s, const struct ptc_joined_tree *part, size_t i,
		      uint32_t *ret_pair)
{
	const struct ptc_part_node *n = &part->nodes[i];
	const uint32_t pair = pair_of(s, part->thread, n->function, NULL);
	struct ptc_function_sum *row;
	bool is_outermost;
	unsigned int a;

	if (pair == PTC_NO_NUMBER)
		return false;
	*ret_pair = pair;
	is_outermost = !s->pairs[pair].open++;
	row = &s->rows[s->pairs[pair].row];
	ptc_sums_add(&row->calls, n->calls);
	ptc_sums_add(&s->all.calls, n->calls);
	for (a = 0; a < PTC_SUMS_AXES; a++) {
		ptc_sums_add(&row->self[a], n->self[a]);
		ptc_sums_add(&s->all.self[a], n->self[a]);
		if (is_outermost)
			ptc_sums_add(&row->total[a], n->total[a]);
	}
	return true;
}

/* Visits each node once, below the nodes that are open around it. Returns false if out of memory.
 */
static bool join_nodes(struct ptc_function_sums *s, const struct ptc_joined_tree *part,
		       const struct node_walk *w)
{
	uint32_t i = w->child[0];

	while (i) {
		if (!open_node(s, part, i, &w->pair[i]))
			return false;
		if (w->child[i]) {
			i = w->child[i];
			continue;
		}
		s->pairs[w->pair[i]].open--;
		while (!w->next[i] && part->nodes[i].parent) {
			i = part->nodes[i].parent;
			s->pairs[w->pair[i]].open--;
		}
		i = w->next[i];
	}
	return true;
}

int ptc_function_sums_join(struct ptc_function_sums *s, const struct ptc_joined_tree *part)
{
	struct ptc_sums_thread *t = &s->threads[part->thread];
	struct ptc_function_sum *row = row_of(s, &t->frames[t->depth - 1]);
	struct node_walk w;
	unsigned int a;
	bool ok;

	add_self_until(s, t, part->first);
	for (a = 0; a < PTC_SUMS_AXES; a++) {
		ptc_sums_add(&row->self[a], part->nodes[0].self[a]);
		ptc_sums_add(&s->all.self[a], part->nodes[0].self[a]);
		if (part->last[a] != PTC_NO_TIME)
			t->at[a] = part->last[a];
	}
	ok = walk_init(&w, part) && join_nodes(s, part, &w);
	walk_release(&w);
	return ok ? 0 : PTC_E_NO_MEMORY;
}

int ptc_function_sums_open(struct ptc_function_sums *s, uint32_t thread, uint32_t function,
			   const uint64_t *since)
{
	struct ptc_sums_thread *t = &s->threads[thread];
	struct sums_frame f = { .pair = pair_of(s, thread, function, NULL),
				.since = { since[PTC_SUMS_INSNS], since[PTC_SUMS_TIME] } };

	if (f.pair == PTC_NO_NUMBER || !grow_sums(&t->frames, &t->cap, t->depth, sizeof(f)))
		return PTC_E_NO_MEMORY;
	f.is_outermost = !s->pairs[f.pair].open++;
	t->frames[t->depth++] = f;
	return 0;
}

uint64_t ptc_function_sums_known(struct ptc_function_sums *s, uint32_t function, unsigned int axis,
				 uint64_t known, uint64_t sum, uint64_t max)
{
	const uint32_t number = row_with(s, 0, function);
	struct ptc_function_sum *row;

	if (number == PTC_NO_NUMBER)
		return UINT64_MAX;
	row = &s->rows[number];
	ptc_sums_add(&row->known[axis], known);
	ptc_sums_add(&row->sum[axis], sum);
	if (max > row->max[axis])
		row->max[axis] = max;
	return (uint64_t)number * PTC_SUMS_AXES + axis;
}

void ptc_function_sums_finish(struct ptc_function_sums *s)
{
	ptc_durations_sort(&s->durations);
}

uint64_t ptc_function_sums_p99(const struct ptc_function_sums *s,
			       const struct ptc_function_sum *row, unsigned int axis)
{
	const uint64_t set = (uint64_t)(row - s->rows) * PTC_SUMS_AXES + axis;
	const uint64_t p99 = ptc_durations_percentile(&s->durations, set, row->known[axis], 99);

	return p99 < row->max[axis] ? p99 : row->max[axis];
}

void ptc_function_sums_release(struct ptc_function_sums *s)
{
	size_t i;

	for (i = 0; i < s->nthreads; i++)
		free(s->threads[i].frames);
	free(s->threads);
	free(s->rows);
	free(s->row_index.slots);
	free(s->pairs);
	free(s->pair_index.slots);
	ptc_tid_counter_release(&s->insns);
	ptc_durations_release(&s->durations);
	*s = (struct ptc_function_sums){ .nrows = 0 };
}
