/* SPDX-License-Identifier: MIT */
#include "cli/sum/count_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "cli/sum/sum_line.h"

enum keyed_by { BY_ADDRESS, BY_FUNCTION, BY_FILE, BY_BUILD_ID };

/* The identity of a place. */
struct place_key {
	uint32_t name; /* number of the build-id, file or function; 0: none */
	enum keyed_by by;
	uint64_t at; /* offset, address or line */
};

struct ptc_count_key {
	struct place_key from, to;
	enum ptc_kind kind;
};

static struct place_key key_of_place(const struct ptc_counts_place *p)
{
	if (p->id)
		return (struct place_key){ p->id, BY_BUILD_ID, p->off };
	if (p->file)
		return (struct place_key){ p->file, BY_FILE, p->off };
	if (p->symbol)
		return (struct place_key){ p->symbol, BY_FUNCTION, p->symbol_off };
	return (struct place_key){ 0, BY_ADDRESS, p->ip };
}

static uint64_t hash_of_place_key(uint64_t hash, const struct place_key *k)
{
	return ptc_hash_mix(ptc_hash_mix(hash, (uint64_t)k->name << 2 | k->by), k->at);
}

static uint64_t hash_of_key(const void *entry)
{
	const struct ptc_count_key *k = entry;

	return hash_of_place_key(hash_of_place_key(k->kind, &k->from), &k->to);
}

static bool is_same_place_key(const struct place_key *a, const struct place_key *b)
{
	return a->name == b->name && a->by == b->by && a->at == b->at;
}

static bool is_same_key(const void *entry, const void *key)
{
	const struct ptc_count_key *a = entry, *b = key;

	return a->kind == b->kind && is_same_place_key(&a->from, &b->from) &&
	       is_same_place_key(&a->to, &b->to);
}

/* Is the name @a known, and in front of @b or @b not known? */
static bool is_better(const struct ptc_names *names, uint32_t a, uint32_t b)
{
	return a && a != b && (!b || strcmp(ptc_names_of(names, a), ptc_names_of(names, b)) < 0);
}

/* Merges the details of @more, the same place, into @p. */
static void merge_place(const struct ptc_names *names, struct ptc_counts_place *p,
			const struct ptc_counts_place *more)
{
	if (is_better(names, more->symbol, p->symbol) ||
	    (more->symbol == p->symbol && more->symbol_off < p->symbol_off)) {
		p->symbol = more->symbol;
		p->symbol_off = more->symbol_off;
	}
	if (is_better(names, more->file, p->file))
		p->file = more->file;
	if (more->ip < p->ip) {
		p->ip = more->ip;
		p->off = p->file ? p->off : p->ip;
	}
}

/* Appends a copy of @e without its times. The key is already in the table. */
static bool append_entry(struct ptc_counts *c, const struct ptc_counts_entry *e)
{
	if (!ptc_grow(&c->entries, &c->cap, c->n + 1, sizeof(*c->entries)))
		return false;
	c->entries[c->n] = *e;
	c->entries[c->n++].times = 0;
	return true;
}

struct ptc_counts_entry *ptc_count_table_add(struct ptc_count_table *t,
					     const struct ptc_counts_entry *e)
{
	static const struct ptc_number_kind kind = { sizeof(struct ptc_count_key), hash_of_key,
						     is_same_key };
	const struct ptc_count_key key = { key_of_place(&e->from), key_of_place(&e->to), e->kind };
	uint32_t number = ptc_number_find(&t->index, &kind, t->keys, &key);
	struct ptc_counts *c = &t->counts;
	struct ptc_counts_entry *found;

	if (!number) {
		number = ptc_number_append(&t->index, &kind, &t->keys, &t->nkeys, &t->keys_cap,
					   &key);
		if (!number || !append_entry(c, e))
			return NULL;
	}
	found = &c->entries[number - 1];
	merge_place(&c->names, &found->from, &e->from);
	merge_place(&c->names, &found->to, &e->to);
	ptc_sum_add(&found->times, e->times);
	return found;
}

struct ptc_counts_entry *ptc_count_table_add_line(struct ptc_count_table *t, const char *file,
						  uint64_t line, uint64_t times)
{
	const struct ptc_counts_entry e = { .from = { .file = ptc_names_get(&t->counts.names, file),
						      .off = line },
					    .times = times };

	return e.from.file == UINT32_MAX ? NULL : ptc_count_table_add(t, &e);
}

void ptc_count_table_release(struct ptc_count_table *t)
{
	ptc_counts_release(&t->counts);
	free(t->keys);
	free(t->index.slots);
}
