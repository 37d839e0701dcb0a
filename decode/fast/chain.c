/* SPDX-License-Identifier: MIT */
#include "decode/fast/chain.h"

#include <string.h>

#include "decode/fast/table.h"
#include "decode/grow.h"

enum { FIRST_BITS = 12, LAST_BITS = 20, MAX_PUSHES = 64, MAX_BLOCKS = 64 };

/* Records that there may be before no more chains are made. */
static size_t max_recs(const struct ptc_fast_code *c)
{
	return (PTC_FAST_MAX_REC >> c->halved) / 8 * 7;
}

/* A big one is to grow where it is. */
#define MAX_BYTES (sizeof(struct ptc_fast_chain) << LAST_BITS)

/* A page that is read first is shared until it is written to, which interrupts other threads. */
static void touch(struct ptc_fast_chain *from, size_t bytes)
{
	volatile uint64_t *word;
	size_t at;

	for (at = 0; at < bytes; at += PTC_FAST_ROOM_MIN) {
		word = &from[at / sizeof(*from)].key;
		*word = 0;
	}
}

static struct ptc_fast_chain *new_table(size_t bytes)
{
	struct ptc_fast_chain *table;

	if (bytes < PTC_FAST_ROOM_MIN)
		return ptc_fast_table_new(bytes);
	table = ptc_fast_room_new(bytes, MAX_BYTES);
	if (table)
		touch(table, bytes);
	return table;
}

static void drop_table(struct ptc_fast_chain *table, size_t bytes)
{
	if (bytes < PTC_FAST_ROOM_MIN)
		ptc_fast_table_free(table, bytes);
	else
		ptc_fast_room_free(table, MAX_BYTES);
}

bool ptc_fast_chains_init(struct ptc_fast_chains *c)
{
	*c = (struct ptc_fast_chains){ .bits = FIRST_BITS };
	c->table = new_table(ptc_fast_chains_bytes(c));
	return c->table;
}

void ptc_fast_chains_release(struct ptc_fast_chains *c)
{
	drop_table(c->table, ptc_fast_chains_bytes(c));
	c->table = NULL;
}

void ptc_fast_chains_forget(struct ptc_fast_chains *c)
{
	if (!c->used)
		return;
	memset(c->table, 0, ptc_fast_chains_bytes(c));
	c->used = 0;
	c->evicted = 0;
}

void ptc_fast_chains_set_counts(struct ptc_fast_chains *c, bool counts)
{
	if (c->counts != counts)
		ptc_fast_chains_forget(c);
	c->counts = counts;
}

size_t ptc_fast_chains_bytes(const struct ptc_fast_chains *c)
{
	return sizeof(*c->table) << c->bits;
}

/* Where a new one goes: the free one of its pair, or else the first. */
static void put(struct ptc_fast_chains *c, const struct ptc_fast_chain *chain)
{
	struct ptc_fast_chain *slot = &c->table[ptc_fast_chain_slot(chain->key, c->bits)];
	struct ptc_fast_chain *other = &c->table[ptc_fast_chain_slot(chain->key, c->bits) ^ 1];

	if (slot->key && !other->key)
		slot = other;
	if (slot->key)
		c->evicted++;
	else
		c->used++;
	*slot = *chain;
}

/*
 * Twice as large, where it is. What was in a pair is in one of two now, and both are behind it:
 * from the last pair on nothing is in the way.
 */
static bool spread(struct ptc_fast_chains *c)
{
	const size_t bytes = ptc_fast_chains_bytes(c);
	struct ptc_fast_chain pair[2];
	size_t i;

	if (!ptc_fast_room_grow(c->table, bytes * 2))
		return false;
	touch(&c->table[(size_t)1 << c->bits], bytes);
	c->bits++;
	c->used = 0;
	for (i = (size_t)1 << (c->bits - 1); i;) {
		i -= 2;
		memcpy(pair, &c->table[i], sizeof(pair));
		memset(&c->table[i], 0, sizeof(pair));
		if (pair[0].key)
			put(c, &pair[0]);
		if (pair[1].key)
			put(c, &pair[1]);
	}
	return true;
}

static bool move(struct ptc_fast_chains *c)
{
	const size_t n = (size_t)1 << c->bits, bytes = n * sizeof(*c->table);
	struct ptc_fast_chain *old = c->table;
	struct ptc_fast_chain *table = new_table(bytes * 2);
	size_t i;

	if (!table)
		return false;
	c->table = table;
	c->bits++;
	c->used = 0;
	for (i = 0; i < n; i++)
		if (old[i].key)
			put(c, &old[i]);
	drop_table(old, bytes);
	return true;
}

/* If it cannot, it stays as it is. */
static void grow(struct ptc_fast_chains *c)
{
	const bool big = ptc_fast_chains_bytes(c) >= PTC_FAST_ROOM_MIN;

	if (big ? spread(c) : move(c))
		c->evicted = 0;
}

static bool is_crowded(const struct ptc_fast_chains *c, const struct ptc_fast_code *code)
{
	return c->bits + code->halved < LAST_BITS &&
	       (c->used * 8 >> c->bits > 3 || c->evicted * 64 >> c->bits > 0);
}

/* A chain in the making. */
struct making {
	struct ptc_fast_code *code;
	struct ptc_fast_chain chain;
	uint32_t at;
	struct ptc_fast_rec recs[PTC_FAST_CHAIN_RECS];
	uint32_t pushes[MAX_PUSHES + PTC_FAST_MAX_RECS + 1];
	size_t npushes, nrecs, ninsns;
};

/* The block that comes next goes into the chain. */
static void add_block(struct making *m, const struct ptc_fast_block *b)
{
	memcpy(m->pushes + m->npushes, m->code->pushes + b->pushes,
	       b->npushes * sizeof(*m->pushes));
	m->npushes += b->npushes;
	memcpy(m->recs + m->nrecs, m->code->recs + b->recs, b->nrecs * sizeof(*m->recs));
	m->nrecs += b->nrecs;
	m->ninsns += b->ninsns;
	m->chain.last = m->at;
	m->chain.listed = b->end == PTC_FAST_ON &&
			  (b->end_kind == PTC_KIND_JMP || b->end_kind == PTC_KIND_CALL);
}

static void add_end(struct making *m, const struct ptc_fast_block *b, uint64_t to)
{
	struct ptc_fast_rec rec = m->code->recs[b->recs + b->nrecs];

	rec.to = to;
	m->recs[m->nrecs++] = rec;
	m->chain.listed = true;
}

/* Over one block, with the bit @taken if it needs one. False: the chain is at its end. */
static bool add(struct making *m, bool taken)
{
	const struct ptc_fast_block *b = ptc_fast_code_get(m->code, m->at);
	const uint32_t on = b->next[0], jump = b->next[1];

	if (m->nrecs + b->nrecs + 1 > PTC_FAST_CHAIN_RECS || m->npushes > MAX_PUSHES ||
	    b->end == PTC_FAST_BAD || b->end == PTC_FAST_JUMP || (b->end == PTC_FAST_RET && !taken))
		return false;
	add_block(m, b);
	if (b->end == PTC_FAST_ON) {
		m->at = on;
		return true;
	}
	m->chain.nbits++;
	if (b->end == PTC_FAST_COND) {
		m->at = taken ? jump : on;
		if (taken && !b->stays)
			add_end(m, b, m->code->blocks[m->at].ip);
		return true;
	}
	m->at = m->npushes ? m->pushes[--m->npushes] : PTC_FAST_NONE;
	add_end(m, b, m->code->blocks[m->at].ip);
	return m->at != PTC_FAST_NONE;
}

/*
 * What was found on the way goes behind all that the code has; who @counts wants KINDS alone.
 * False: there is no room.
 */
static bool keep(struct making *m, bool counts)
{
	const ptc_fast_kinds kinds = ptc_fast_kinds_count(m->recs, m->nrecs);
	const size_t nrecs = counts ? 0 : m->nrecs;
	struct ptc_fast_code *code = m->code;

	if (code->nrecs + 1 + nrecs > max_recs(code) || !ptc_fast_code_reserve(code, 1 + nrecs) ||
	    !ptc_grow(&code->pushes, &code->pushes_cap, code->npushes + m->npushes,
		      sizeof(*code->pushes)))
		return false;
	memcpy(code->recs + code->nrecs, &kinds, sizeof(kinds));
	m->chain.recs = (uint32_t)++code->nrecs;
	m->chain.nrecs = (uint8_t)m->nrecs;
	m->chain.ninsns = (uint16_t)m->ninsns;
	m->chain.npushes = (uint8_t)m->npushes;
	memcpy(code->recs + code->nrecs, m->recs, nrecs * sizeof(*m->recs));
	code->nrecs += nrecs;
	if (m->npushes == 1) {
		m->chain.pushes = m->pushes[0];
		return true;
	}
	m->chain.pushes = (uint32_t)code->npushes;
	memcpy(code->pushes + code->npushes, m->pushes, m->npushes * sizeof(*m->pushes));
	code->npushes += m->npushes;
	return true;
}

bool ptc_fast_chain_make(struct ptc_fast_chains *c, struct ptc_fast_code *code, uint32_t block,
			 uint64_t bits, unsigned int n)
{
	struct making m;
	size_t i;

	if (code->blocks[block].heat < PTC_FAST_CHAIN_HEAT) {
		code->blocks[block].heat++;
		return false;
	}
	/* The lists need no zeros. */
	m.code = code;
	m.chain = (struct ptc_fast_chain){ .key = ptc_fast_chain_key(block, bits, n) };
	m.at = block;
	m.npushes = m.nrecs = m.ninsns = 0;
	for (i = 0; i < MAX_BLOCKS && m.chain.nbits < n; i++)
		if (!add(&m, bits << m.chain.nbits >> 63))
			break;
	if (!m.chain.nbits || code->failed || !keep(&m, c->counts))
		return false;
	m.chain.end = m.at;
	if (is_crowded(c, code))
		grow(c);
	put(c, &m.chain);
	c->made++;
	return true;
}
