/* SPDX-License-Identifier: MIT */
#include "decode/lbr/flow_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

enum { SLOTS_FIRST = 1 << 10 };

void ptc_flow_table_release(struct ptc_flow_table *t)
{
	free(t->edges);
	free(t->edge_slots.items);
	free(t->stacks);
	free(t->stack_slots.items);
	free(t->numbers);
	free(t->windows);
	ptc_idmap_release(&t->threads);
	*t = (struct ptc_flow_table){ .nedges = 0 };
}

int ptc_flow_filter(struct ptc_flow_table *t, const struct ptc_wants *w)
{
	size_t i;

	for (i = 0; i < t->nfilters; i++)
		if (t->filters[i].kinds == w->kinds && t->filters[i].user == w->user &&
		    t->filters[i].kernel == w->kernel)
			return (int)i;
	if (i == PTC_FLOW_FILTERS)
		return -1;
	t->filters[t->nfilters++] = *w;
	return (int)i;
}

/* --- hash tables --- */

static uint64_t mix(uint64_t hash)
{
	hash ^= hash >> 32;
	hash *= FACTOR;
	return hash ^ hash >> 29;
}

static uint64_t hash_of_edge(uint64_t from, uint64_t to)
{
	return mix(from * FACTOR + to);
}

static void put_slot(struct ptc_flow_slots *s, uint64_t hash, size_t index)
{
	size_t at = hash & (s->cap - 1);

	while (s->items[at])
		at = (at + 1) & (s->cap - 1);
	s->items[at] = (uint32_t)index + 1;
}

/* Makes space for one more than @n. *@ret_grown: all items must be put again. */
static bool grow_slots(struct ptc_flow_slots *s, size_t n, bool *ret_grown)
{
	const size_t cap = s->cap ? 2 * s->cap : SLOTS_FIRST;
	uint32_t *items;

	*ret_grown = false;
	if (n + 1 <= s->cap / 2)
		return true;
	items = calloc(cap, sizeof(*items));
	if (!items)
		return false;
	free(s->items);
	s->items = items;
	s->cap = cap;
	*ret_grown = true;
	return true;
}

/* --- edges --- */

const struct ptc_flow_edge *ptc_flow_find_edge(const struct ptc_flow_table *t, uint64_t from,
					       uint64_t to, uint32_t *ret_number)
{
	const struct ptc_flow_slots *s = &t->edge_slots;
	size_t at;

	*ret_number = 0;
	if (!from || !to || !s->cap)
		return NULL;
	for (at = hash_of_edge(from, to) & (s->cap - 1); s->items[at];
	     at = (at + 1) & (s->cap - 1)) {
		const struct ptc_flow_edge *e = &t->edges[s->items[at] - 1];

		if (e->from == from && e->to == to) {
			*ret_number = s->items[at];
			return e;
		}
	}
	return NULL;
}

bool ptc_flow_add_edge(struct ptc_flow_table *t, uint64_t from, uint64_t to, uint32_t *ret_number)
{
	bool grown;
	size_t i;

	if (ptc_flow_find_edge(t, from, to, ret_number) || !from || !to)
		return true;
	if (t->nedges == PTC_FLOW_EDGES) {
		t->limited = true;
		return true;
	}
	if (!ptc_grow(&t->edges, &t->edges_cap, t->nedges + 1, sizeof(*t->edges)) ||
	    !grow_slots(&t->edge_slots, t->nedges, &grown))
		return false;
	t->edges[t->nedges] = (struct ptc_flow_edge){ .from = from, .to = to };
	for (i = grown ? 0 : t->nedges; i <= t->nedges; i++)
		put_slot(&t->edge_slots, hash_of_edge(t->edges[i].from, t->edges[i].to), i);
	*ret_number = (uint32_t)++t->nedges;
	return true;
}

/* --- stacks --- */

/* The hash of numbers, as a difference of two sums of a window gives it. */
static uint64_t hash_of_numbers(const uint32_t *numbers, size_t n)
{
	uint64_t hash = 0;
	size_t i;

	for (i = 0; i < n; i++)
		hash = hash * FACTOR + numbers[i];
	return hash;
}

/* Returns the next slot from *@at on that has a stack with these properties, or NULL. */
static struct ptc_flow_stack *next_stack(const struct ptc_flow_table *t, size_t *at, uint64_t hash,
					 int filter, size_t n)
{
	const struct ptc_flow_slots *s = &t->stack_slots;

	for (; s->cap && s->items[*at]; *at = (*at + 1) & (s->cap - 1)) {
		struct ptc_flow_stack *k = &t->stacks[s->items[*at] - 1];

		if (k->hash == hash && k->n == n && k->filter == filter) {
			*at = (*at + 1) & (s->cap - 1);
			return k;
		}
	}
	return NULL;
}

static size_t first_slot(const struct ptc_flow_table *t, uint64_t hash)
{
	return t->stack_slots.cap ? mix(hash) & (t->stack_slots.cap - 1) : 0;
}

const struct ptc_flow_stack *ptc_flow_find_stack(const struct ptc_flow_table *t, int filter,
						 const uint32_t *numbers, size_t n)
{
	const uint64_t hash = hash_of_numbers(numbers, n);
	size_t at = first_slot(t, hash);
	const struct ptc_flow_stack *k;

	while ((k = next_stack(t, &at, hash, filter, n)) != NULL)
		if (!memcmp(t->numbers + k->first, numbers, n * sizeof(*numbers)))
			return k;
	return NULL;
}

bool ptc_flow_add_stack(struct ptc_flow_table *t, int filter, const uint32_t *numbers, size_t n)
{
	bool grown;
	size_t i;

	if (!n || n >= PTC_ALIGN_ENTRIES || ptc_flow_find_stack(t, filter, numbers, n))
		return true;
	if (t->nnumbers + n > PTC_FLOW_ENTRIES || t->nstacks == PTC_FLOW_STACKS) {
		t->limited = true;
		return true;
	}
	if (!ptc_grow(&t->numbers, &t->numbers_cap, t->nnumbers + n, sizeof(*t->numbers)) ||
	    !ptc_grow(&t->stacks, &t->stacks_cap, t->nstacks + 1, sizeof(*t->stacks)) ||
	    !grow_slots(&t->stack_slots, t->nstacks, &grown))
		return false;
	memcpy(t->numbers + t->nnumbers, numbers, n * sizeof(*numbers));
	t->stacks[t->nstacks] = (struct ptc_flow_stack){ .hash = hash_of_numbers(numbers, n),
							 .first = (uint32_t)t->nnumbers,
							 .n = (uint16_t)n,
							 .filter = (uint8_t)filter };
	for (i = grown ? 0 : t->nstacks; i <= t->nstacks; i++)
		put_slot(&t->stack_slots, mix(t->stacks[i].hash), i);
	t->nnumbers += n;
	t->nstacks++;
	t->edges[numbers[n - 1] - 1].lengths |= UINT64_C(1) << n % 64;
	t->has_length[filter][n] = true;
	t->longest = n > t->longest ? n : t->longest;
	return true;
}

/* --- the trace --- */

/* Returns the number of the edge that @w has @back branches in front of the newest one. */
static uint32_t number_at(const struct ptc_flow_window *w, size_t back)
{
	return w->numbers[(w->n - 1 - back) % PTC_ALIGN_ENTRIES];
}

static bool ends_with(const struct ptc_flow_table *t, const struct ptc_flow_window *w,
		      const struct ptc_flow_stack *k)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		if (number_at(w, i) != t->numbers[k->first + k->n - 1 - i])
			return false;
	return true;
}

/* Marks the stacks of @n entries that end with the newest branch of @w. */
static void find_stacks(struct ptc_flow_table *t, const struct ptc_flow_window *w, size_t filter,
			size_t n)
{
	const uint64_t before = n < w->n ? w->sums[(w->n - 1 - n) % PTC_ALIGN_ENTRIES] : 0;
	const uint64_t hash = w->sum - before * t->powers[n];
	size_t at = first_slot(t, hash);
	struct ptc_flow_stack *k;

	while ((k = next_stack(t, &at, hash, (int)filter, n)) != NULL)
		if (!k->found && ends_with(t, w, k))
			k->found = true;
}

static void feed_window(struct ptc_flow_table *t, struct ptc_flow_window *w, size_t filter,
			uint32_t number)
{
	const uint64_t lengths = number ? t->edges[number - 1].lengths : 0;
	size_t n;

	w->numbers[w->n % PTC_ALIGN_ENTRIES] = number;
	w->sum = w->sum * FACTOR + number;
	w->sums[w->n % PTC_ALIGN_ENTRIES] = w->sum;
	w->n++;
	w->known = number ? w->known + 1 : 0;
	for (n = 1; lengths && n <= t->longest && n <= w->known; n++)
		if (lengths >> n % 64 & 1 && t->has_length[filter][n])
			find_stacks(t, w, filter, n);
}

static bool begin_windows(struct ptc_flow_table *t)
{
	size_t i;

	t->powers[0] = 1;
	for (i = 1; i <= PTC_ALIGN_ENTRIES; i++)
		t->powers[i] = t->powers[i - 1] * FACTOR;
	t->windows = calloc((size_t)PTC_FLOW_THREADS * (t->nfilters ? t->nfilters : 1),
			    sizeof(*t->windows));
	return t->windows;
}

bool ptc_flow_feed(struct ptc_flow_table *t, int32_t tid, const struct ptc_step *step,
		   uint64_t from, uint64_t to)
{
	size_t at = ptc_idmap_find(&t->threads, tid), i;
	uint32_t number;

	if (!t->windows && !begin_windows(t))
		return false;
	if (ptc_flow_find_edge(t, from, to, &number))
		t->edges[number - 1].seen = true;
	if (at == SIZE_MAX && t->nthreads == PTC_FLOW_THREADS) {
		t->many_threads = true;
		return true;
	}
	if (at == SIZE_MAX) {
		at = t->nthreads;
		if (!ptc_idmap_add(&t->threads, tid, at))
			return false;
		t->nthreads++;
	}
	for (i = 0; i < t->nfilters; i++)
		if (ptc_wants_step(&t->filters[i], step))
			feed_window(t, &t->windows[at * t->nfilters + i], i, number);
	return true;
}

void ptc_flow_cut_thread(struct ptc_flow_table *t, int32_t tid)
{
	const size_t at = ptc_idmap_find(&t->threads, tid);
	size_t i;

	for (i = 0; at != SIZE_MAX && i < t->nfilters; i++)
		t->windows[at * t->nfilters + i].known = 0;
}

void ptc_flow_cut(struct ptc_flow_table *t)
{
	size_t i;

	for (i = 0; i < t->nthreads * t->nfilters; i++)
		t->windows[i].known = 0;
}
