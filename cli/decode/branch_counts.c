/* SPDX-License-Identifier: MIT */
#include "cli/decode/branch_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sorted.h"

#define INSIDE inline __attribute__((always_inline))

/* AHEAD: the counter of a pair is fetched so many branches before the pair is counted. */
enum { SEEN_MAX = 1 << 20, AHEAD = 12 };

void ptc_counts_release(struct ptc_counts *c)
{
	ptc_names_release(&c->names);
	free(c->entries);
	free(c->lines);
	free(c->index.slots);
	free(c->seen);
	free(c->seen_index.slots);
	free(c->recent);
	free(c->threads);
}

static INSIDE uint64_t hash_of_pair(uint64_t from, uint64_t to)
{
	return from * 0x9e3779b97f4a7c15 + to * 0xc2b2ae3d27d4eb4f;
}

static uint64_t hash_of_seen(const void *entry)
{
	const struct ptc_counts_seen *s = entry;

	return hash_of_pair(s->from, s->to) + s->code * 0xd6e8feb86659fd93;
}

static uint64_t hash_of_place(uint64_t hash, const struct ptc_counts_place *p)
{
	hash = ptc_hash_mix(hash, (uint64_t)p->file << 32 | p->symbol);
	return ptc_hash_mix(ptc_hash_mix(hash, p->id), p->off);
}

static uint64_t hash_of_entry(const void *entry)
{
	const struct ptc_counts_entry *e = entry;

	return hash_of_place(hash_of_place(e->kind, &e->from), &e->to);
}

static bool is_same_place(const struct ptc_counts_place *a, const struct ptc_counts_place *b)
{
	return a->file == b->file && a->id == b->id && a->symbol == b->symbol && a->off == b->off &&
	       a->symbol_off == b->symbol_off;
}

static bool is_same_entry(const void *entry, const void *key)
{
	const struct ptc_counts_entry *a = entry, *b = key;

	return a->kind == b->kind && is_same_place(&a->from, &b->from) &&
	       is_same_place(&a->to, &b->to);
}

/* Returns the entry with the places and kind of @e, which may be new. NULL: out of memory. */
static struct ptc_counts_entry *get_entry(struct ptc_counts *c, const struct ptc_counts_entry *e)
{
	static const struct ptc_number_kind kind = { sizeof(*e), hash_of_entry, is_same_entry };
	uint32_t number = ptc_number_find(&c->index, &kind, c->entries, e);

	if (!number)
		number = ptc_number_append(&c->index, &kind, &c->entries, &c->n, &c->cap, e);
	return number ? &c->entries[number - 1] : NULL;
}

static bool set_place(struct ptc_counts *c, const struct ptc_item *it, uint64_t ip,
		      struct ptc_counts_place *ret)
{
	*ret = (struct ptc_counts_place){ .ip = ip, .off = ip };
	ret->file = ptc_names_get(&c->names, ptc_decode_file(c->d, it, ip, &ret->off));
	ret->symbol = ptc_names_get(&c->names, ptc_decode_symbol(c->d, it, ip, &ret->symbol_off));
	ret->id = ptc_names_get_file_id(&c->names, c->d, it, ip);
	return ret->file != UINT32_MAX && ret->symbol != UINT32_MAX && ret->id != UINT32_MAX;
}

/* Extend a location to its function, if known. */
static void widen(struct ptc_counts_place *p)
{
	if (!p->symbol)
		return;
	p->ip -= p->symbol_off;
	p->off -= p->symbol_off;
	p->symbol_off = 0;
}

static bool add_line(struct ptc_counts *c, struct ptc_counts_entry *e, const char *file, int line)
{
	const uint32_t name = ptc_names_get(&c->names, file);
	size_t i;

	for (i = e->lines; i < c->nlines; i++)
		if (c->lines[i].file == name && c->lines[i].line == (uint32_t)line)
			return true;
	if (name == UINT32_MAX ||
	    !ptc_grow(&c->lines, &c->lines_cap, c->nlines + 1, sizeof(*c->lines)))
		return false;
	c->lines[c->nlines++] = (struct ptc_counts_line){ name, (uint32_t)line };
	e->nlines++;
	return true;
}

/* Longer than any code that compilers generate without a branch. */
#define BLOCK_MAX ((uint64_t)1 << 20)

/* Return whether the block can be scanned byte by byte. A damaged trace can produce huge blocks. */
static bool is_in_one_file(const struct ptc_counts_entry *block)
{
	const uint64_t len = block->to.ip - block->from.ip;

	return block->from.file && block->from.file == block->to.file &&
	       block->to.off - block->from.off == len && len < BLOCK_MAX;
}

/*
 * Add the source lines of a block. A line begins at an instruction, so scan all bytes of the block.
 */
static bool add_lines(struct ptc_counts *c, const struct ptc_item *it, struct ptc_counts_entry *e)
{
	const uint64_t end = e->to.ip + (e->kind != PTC_KIND_ASYNC);
	const char *file, *last_file = NULL;
	int line, last_line = 0;
	uint64_t ip;

	e->lines = c->nlines;
	if (!is_in_one_file(e))
		return true;
	for (ip = e->from.ip; ip < end; ip++) {
		file = ptc_decode_srcline(c->d, it, ip, &line);
		if (!file || (file == last_file && line == last_line))
			continue;
		last_file = file;
		last_line = line;
		if (!add_line(c, e, file, line))
			return false;
	}
	return true;
}

static bool wants_lines(const struct ptc_counts *c)
{
	return c->of == PTC_COUNTS_LINES || c->of == PTC_COUNTS_COVERAGE;
}

/*
 * Returns the entry of @s for the code that is currently mapped, in the process of @it. NULL: out
 * of memory.
 */
static struct ptc_counts_entry *find_out(struct ptc_counts *c, const struct ptc_item *it,
					 const struct ptc_counts_seen *s)
{
	struct ptc_counts_entry e = { .kind = (enum ptc_kind)(s->code & 0xff) }, *found;
	size_t n;

	if (!set_place(c, it, s->from, &e.from) || !set_place(c, it, s->to, &e.to))
		return NULL;
	if (c->of == PTC_COUNTS_CALLS)
		widen(&e.from);
	n = c->n;
	found = get_entry(c, &e);
	if (!found || c->n == n)
		return found;
	if ((wants_lines(c) && !add_lines(c, it, found)) ||
	    (c->on_block && !c->on_block(c->ctx, it, found)))
		return NULL;
	return found;
}

static bool is_same_pair(const void *entry, const void *key)
{
	const struct ptc_counts_seen *a = entry, *b = key;

	return a->from == b->from && a->to == b->to && a->code == b->code;
}

static const struct ptc_number_kind seen_kind = { sizeof(struct ptc_counts_seen), hash_of_seen,
						  is_same_pair };

static bool remember(struct ptc_counts *c, const struct ptc_counts_seen *s)
{
	if (c->nseen == SEEN_MAX) {
		memset(c->seen_index.slots, 0, sizeof(*c->seen_index.slots) << c->seen_index.bits);
		c->seen_index.n = c->nseen = 0;
	}
	return ptc_number_append(&c->seen_index, &seen_kind, &c->seen, &c->nseen, &c->seen_cap, s);
}

/* Get the entry number of @s. Returns false if out of memory. */
static bool get_number(struct ptc_counts *c, const struct ptc_item *it, struct ptc_counts_seen *s)
{
	const uint32_t seen = ptc_number_find(&c->seen_index, &seen_kind, c->seen, s);
	struct ptc_counts_entry *e;

	if (seen) {
		s->entry = c->seen[seen - 1].entry;
		return true;
	}
	e = find_out(c, it, s);
	if (!e)
		return false;
	s->entry = (uint32_t)(e - c->entries);
	return remember(c, s);
}

static void add_times(struct ptc_counts *c, struct ptc_counts_seen *r)
{
	if (!r->times)
		return;
	c->entries[r->entry].times += r->times;
	c->times += r->times;
	r->times = 0;
}

void ptc_counts_settle(struct ptc_counts *c)
{
	size_t i;

	for (i = 0; c->recent && i < (size_t)1 << PTC_COUNTS_RECENT_BITS; i++)
		add_times(c, &c->recent[i]);
}

/* Without the code's number, so that a pair can be fetched before its code is known. */
static INSIDE struct ptc_counts_seen *recent_of(const struct ptc_counts *c, uint64_t from,
						uint64_t to)
{
	return &c->recent[hash_of_pair(from, to) >> (64 - PTC_COUNTS_RECENT_BITS)];
}

/* Slow path of count_recent_pair: the pair is not recent, or its counter is about to overflow. */
static __attribute__((noinline)) bool count_anew(struct ptc_counts *c, const struct ptc_item *it,
						 uint64_t from, uint64_t to, uint64_t code)
{
	struct ptc_counts_seen s = { .from = from, .to = to, .code = code };
	struct ptc_counts_seen *r = recent_of(c, from, to);

	if (!get_number(c, it, &s))
		return false;
	add_times(c, r);
	*r = s;
	r->times = 1;
	return true;
}

/*
 * Fast path: count the branch from @from to @to, with @code as in struct ptc_counts_seen. @it: its
 * process. Returns false if out of memory. The arguments are separate numbers to keep them in
 * registers; a struct would be stored to memory each time. There is a single conditional branch.
 */
static INSIDE bool count_recent_pair(struct ptc_counts *c, const struct ptc_item *it, uint64_t from,
				     uint64_t to, uint64_t code)
{
	struct ptc_counts_seen *r = recent_of(c, from, to);
	const uint64_t other = (r->from ^ from) | (r->to ^ to) | (r->code ^ code);

	/* Times is neither 0 nor UINT32_MAX. */
	if (__builtin_expect(other || r->times - 1 >= UINT32_MAX - 1, 0))
		return count_anew(c, it, from, to, code);
	r->times++;
	return true;
}

/* Slow path of pair_code. */
static __attribute__((noinline)) uint64_t find_code(struct ptc_counts *c, const struct ptc_item *it,
						    uint64_t from, uint64_t to)
{
	const struct ptc_code_part part = *ptc_code_parts_at(&c->code, c->d, it, from);

	/* If the ends have different numbers, the state has a number for both. */
	if (ptc_code_parts_at(&c->code, c->d, it, to)->number != part.number)
		return ptc_code_parts_state(&c->code, c->d, it) << 1 | 1;
	c->part = part;
	return part.number;
}

/* Returns the number of the code at @from and @to, in the process of @it. */
static INSIDE uint64_t pair_code(struct ptc_counts *c, const struct ptc_item *it, uint64_t from,
				 uint64_t to)
{
	if (__builtin_expect(ptc_is_in_part(&c->part, from) && ptc_is_in_part(&c->part, to), 1))
		return c->part.number;
	return find_code(c, it, from, to);
}

static size_t find_thread_index(const struct ptc_counts *c, int64_t who)
{
	return PTC_PARTITION_POINT(i, 0, c->nthreads, c->threads[i].who < who);
}

static struct ptc_counts_thread *get_thread(struct ptc_counts *c, const struct ptc_item *it)
{
	const int64_t who = it->tid >= 0 ? it->tid : -1 - (int64_t)it->queue;
	struct ptc_counts_thread *t;

	if (c->newest < c->nthreads && c->threads[c->newest].who == who)
		return &c->threads[c->newest];
	c->newest = find_thread_index(c, who);
	if (c->newest < c->nthreads && c->threads[c->newest].who == who)
		return &c->threads[c->newest];
	if (!ptc_grow(&c->threads, &c->threads_cap, c->nthreads + 1, sizeof(*c->threads)))
		return NULL;
	t = &c->threads[c->newest];
	memmove(t + 1, t, (c->nthreads++ - c->newest) * sizeof(*t));
	*t = (struct ptc_counts_thread){ .who = who };
	return t;
}

/*
 * After a gap the position of threads is unknown: of the gap's thread, or of all for a gap of a
 * CPU.
 */
static void lose_threads(struct ptc_counts *c, const struct ptc_item *gap)
{
	const bool own = gap->cause == PTC_GAP_NOCODE || gap->cause == PTC_GAP_BADPACKET ||
			 gap->cause == PTC_GAP_DESYNC;
	size_t i;

	for (i = 0; i < c->nthreads; i++)
		if (!own || gap->tid < 0 || c->threads[i].who == gap->tid)
			c->threads[i].at = 0;
}

/*
 * Count the block from *@at to @end, and continue at @to. Skipped if the start of the block is
 * unknown.
 */
static INSIDE bool count_block(struct ptc_counts *c, const struct ptc_item *it, uint64_t *at,
			       uint64_t end, uint64_t to, enum ptc_kind kind)
{
	const uint64_t from = *at;

	*at = to;
	if (!from || from > end || (from == end && kind == PTC_KIND_ASYNC))
		return true;
	return count_recent_pair(c, it, from, end, pair_code(c, it, from, end) << 8 | kind);
}

static INSIDE bool count_edge(struct ptc_counts *c, const struct ptc_item *it, uint64_t from,
			      uint64_t to, enum ptc_kind kind)
{
	return count_recent_pair(c, it, from, to, pair_code(c, it, from, to) << 8 | kind);
}

static bool is_call(enum ptc_kind kind)
{
	return kind == PTC_KIND_CALL || kind == PTC_KIND_ICALL;
}

/* Fetch the counter of a pair, which is usually in no cache near the processor. */
static INSIDE void fetch(const struct ptc_counts *c, uint64_t from, uint64_t to)
{
	__builtin_prefetch(recent_of(c, from, to), 1);
}

/* Count the @n branches of @run at @t. */
static bool take_edges(struct ptc_counts *c, const struct ptc_item *run,
		       const struct ptc_transfer *t, uint64_t n)
{
	const struct ptc_transfer *ahead;
	uint64_t i;

	for (i = 0; i < n; i++) {
		ahead = &t[i + AHEAD < n ? i + AHEAD : i];
		fetch(c, ptc_transfer_from(*ahead), ahead->to);
		if (!count_edge(c, run, ptc_transfer_from(t[i]), t[i].to, ptc_transfer_kind(t[i])))
			return false;
	}
	return true;
}

/* Count the calls among the @n branches of @run at @t. */
static bool take_calls(struct ptc_counts *c, const struct ptc_item *run,
		       const struct ptc_transfer *t, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		if (is_call(ptc_transfer_kind(t[i])) &&
		    !count_edge(c, run, ptc_transfer_from(t[i]), t[i].to, ptc_transfer_kind(t[i])))
			return false;
	return true;
}

/* Count the blocks that the @n branches of @run at @t end. */
static bool take_blocks(struct ptc_counts *c, const struct ptc_item *run,
			const struct ptc_transfer *t, uint64_t n)
{
	struct ptc_counts_thread *thread = get_thread(c, run);
	uint64_t i, ahead, at;
	bool ok = thread;

	if (!ok)
		return false;
	at = thread->at;
	for (i = 0; i < n && ok; i++) {
		ahead = i + AHEAD < n ? i + AHEAD : i;
		fetch(c, ahead ? t[ahead - 1].to : at, ptc_transfer_from(t[ahead]));
		ok = count_block(c, run, &at, ptc_transfer_from(t[i]), t[i].to,
				 ptc_transfer_kind(t[i]));
	}
	thread->at = at;
	return ok;
}

static bool counts_blocks(const struct ptc_counts *c)
{
	return c->of == PTC_COUNTS_BLOCKS || wants_lines(c);
}

/* Count the branches of a RUN item. */
static bool take_run(struct ptc_counts *c, const struct ptc_item *run)
{
	const struct ptc_transfer *t = ptc_item_transfers(run);

	if (counts_blocks(c))
		return take_blocks(c, run, t, run->to);
	return (c->of == PTC_COUNTS_CALLS ? take_calls : take_edges)(c, run, t, run->to);
}

/* Count a BRANCH item, like a run with one branch. */
static bool take_branch(struct ptc_counts *c, const struct ptc_item *it)
{
	const enum ptc_kind kind = (enum ptc_kind)it->kind;
	struct ptc_counts_thread *thread;

	if (counts_blocks(c)) {
		thread = get_thread(c, it);
		return thread && count_block(c, it, &thread->at, it->from, it->to, kind);
	}
	if (c->of == PTC_COUNTS_CALLS && !is_call(kind))
		return true;
	return count_edge(c, it, it->from, it->to, kind);
}

/* Returns a zeroed table whose entries are each in one cache line. */
static struct ptc_counts_seen *new_recent(void)
{
	const size_t bytes = sizeof(struct ptc_counts_seen) << PTC_COUNTS_RECENT_BITS;
	struct ptc_counts_seen *recent = aligned_alloc(sizeof(*recent), bytes);

	if (recent)
		memset(recent, 0, bytes);
	return recent;
}

int ptc_counts_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_counts *c = ctx;
	const struct ptc_code_part none = { .end = 0 };
	int32_t pid = -1;
	size_t i;

	ptc_code_parts_begin(&c->code);
	c->part = none; /* mappings may have changed */
	if (!c->recent)
		c->recent = new_recent();
	c->failed |= !c->recent;
	for (i = 0; i < n && !c->failed; i++) {
		const struct ptc_item *it = &items[i];

		if (it->type == PTC_ITEM_GAP)
			lose_threads(c, it);
		c->gaps += it->type == PTC_ITEM_GAP;
		if (it->type != PTC_ITEM_BRANCH && it->type != PTC_ITEM_RUN)
			continue;
		if (it->pid != pid)
			c->part = none;
		pid = it->pid;
		c->failed = !(it->type == PTC_ITEM_RUN ? take_run : take_branch)(c, it);
	}
	return c->failed;
}

/* Returns the target of the last branch of @it. */
static uint64_t last_target(const struct ptc_item *it)
{
	return it->type == PTC_ITEM_RUN ? ptc_item_transfers(it)[it->to - 1].to : it->to;
}

bool ptc_counts_before(struct ptc_counts *c, const struct ptc_item *items, size_t n)
{
	const struct ptc_item *it;

	for (it = items; it < items + n && !c->failed && counts_blocks(c); it++) {
		struct ptc_counts_thread *thread;

		if (it->type == PTC_ITEM_GAP)
			lose_threads(c, it);
		if (it->type != PTC_ITEM_BRANCH && it->type != PTC_ITEM_RUN)
			continue;
		thread = get_thread(c, it);
		c->failed = !thread;
		if (thread)
			thread->at = last_target(it);
	}
	return !c->failed;
}

/* Convert blocks to source lines, with the counts of the blocks. Returns false if out of memory. */
static bool make_lines(struct ptc_counts *c)
{
	struct ptc_counts_entry *blocks = c->entries, *e;
	const size_t n = c->n;
	bool ok = true;
	size_t i, k;

	free(c->index.slots);
	c->index = (struct ptc_number_index){ .n = 0 };
	c->entries = NULL;
	c->n = c->cap = 0;
	c->blocks = c->times;
	c->times = 0;
	for (i = 0; i < n && ok; i++) {
		c->lineless += blocks[i].nlines ? 0 : blocks[i].times;
		for (k = 0; k < blocks[i].nlines && ok; k++) {
			const struct ptc_counts_line *l = &c->lines[blocks[i].lines + k];

			e = get_entry(c, &(struct ptc_counts_entry){
						 .from = { .file = l->file, .off = l->line } });
			ok = e != NULL;
			if (ok)
				e->times += blocks[i].times;
			c->times += blocks[i].times;
		}
	}
	free(blocks);
	return ok;
}

/* Add a line that has code. Usually it is already known. */
static int see_line(void *ctx, const char *file, int line)
{
	struct ptc_counts *c = ctx;
	const struct ptc_counts_entry e = { .from = { .file = ptc_names_get(&c->names, file),
						      .off = (uint64_t)line } };

	return e.from.file == UINT32_MAX || !get_entry(c, &e);
}

bool ptc_counts_sort(struct ptc_counts *c)
{
	ptc_counts_settle(c);
	if (wants_lines(c) && !make_lines(c))
		return false;
	if (c->of == PTC_COUNTS_COVERAGE && ptc_decode_each_srcline(c->d, see_line, c))
		return false;
	ptc_counts_order(c);
	return true;
}
