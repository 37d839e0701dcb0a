/* SPDX-License-Identifier: MIT */
#include "decode/engine/tnt_chain.h"

#include <string.h>

#include "decode/engine/huge_table.h"

enum { FIRST_BITS = 12, LAST_BITS = 20, MAX_PUSHES = 64, MAX_BLOCKS = 64 };

/* Chains that an arena makes in a shared table are added to the total in groups of this size. */
enum { UNSAID_MAX = 16 };

/*
 * To do without a chain this many times costs as much as to make one. The table is full when the
 * refused chains have cost more than it would cost to make all used ones again.
 */
enum { REFUSED_EACH = 8 };

/* The key of a chain that is being written. No chain has this key. */
#define CLAIMED UINT64_MAX

/* Returns the number of records above which no more chains are made. */
static size_t max_recs(const struct ptc_fast_code *c)
{
	return ptc_fast_list_max(c, PTC_FAST_LIST_RECS) / 8 * 7;
}

/* A big table grows in place. */
#define MAX_BYTES (sizeof(struct ptc_fast_chain) << LAST_BITS)

/*
 * Write to each page first. A page that is read first is shared until it is written to, and that
 * write interrupts other threads.
 */
static void touch(struct ptc_fast_chain *from, size_t bytes)
{
	volatile uint64_t *word;
	size_t at;

	for (at = 0; at < bytes; at += PTC_FAST_ROOM_MIN) {
		word = &from[at / sizeof(*from)].key;
		*word = 0;
	}
}

static size_t table_bytes(const struct ptc_fast_chain_table *t)
{
	return sizeof(*t->v) << t->bits;
}

/* Prepare one more table, not in use yet, if it does not exist. Returns false if out of memory. */
static bool get_next(struct ptc_fast_chains *c, unsigned int bits)
{
	struct ptc_fast_chain_table *t = &c->tables[c->n];
	const size_t bytes = sizeof(*t->v) << bits;

	if (t->v)
		return true;
	t->bits = bits;
	t->v = bytes < PTC_FAST_ROOM_MIN ? ptc_fast_table_new(bytes) :
					   ptc_fast_room_new(bytes, MAX_BYTES);
	ptc_fast_put_hint(&c->touched, bytes < PTC_FAST_ROOM_MIN ? bytes : 0);
	return t->v;
}

/* Touch another large page of the prepared table. Returns false if all pages were touched. */
static bool touch_next(struct ptc_fast_chains *c)
{
	const struct ptc_fast_chain_table *t = &c->tables[c->n];

	if (c->touched >= table_bytes(t))
		return false;
	touch(&t->v[c->touched / sizeof(*t->v)], PTC_FAST_ROOM_MIN);
	ptc_fast_put_hint(&c->touched, c->touched + PTC_FAST_ROOM_MIN);
	return true;
}

static void use_next(struct ptc_fast_chains *c)
{
	ptc_fast_publish(&c->n, c->n + 1);
	ptc_fast_put_hint(&c->touched, 0);
}

static void drop_table(struct ptc_fast_chain_table *t)
{
	if (table_bytes(t) < PTC_FAST_ROOM_MIN)
		ptc_fast_table_free(t->v, table_bytes(t));
	else
		ptc_fast_room_free(t->v, MAX_BYTES);
	t->v = NULL;
}

bool ptc_fast_chains_init(struct ptc_fast_chains *c)
{
	*c = (struct ptc_fast_chains){ .n = 0 };
	if (!get_next(c, FIRST_BITS))
		return false;
	use_next(c);
	return true;
}

/* Drop all tables but the one in use. */
static void drop_old(struct ptc_fast_chains *c)
{
	while (c->first + 1 < c->n)
		drop_table(&c->tables[c->first++]);
}

void ptc_fast_chains_release(struct ptc_fast_chains *c)
{
	drop_old(c);
	if (c->n)
		drop_table(&c->tables[c->n - 1]);
	if (c->tables[c->n].v)
		drop_table(&c->tables[c->n]);
	*c = (struct ptc_fast_chains){ .n = 0 };
}

void ptc_fast_chains_forget(struct ptc_fast_chains *c)
{
	drop_old(c);
	if (c->any)
		memset(c->tables[c->n - 1].v, 0, table_bytes(&c->tables[c->n - 1]));
	c->any = false;
	c->used = 0;
	c->refused = 0;
}

void ptc_fast_chains_set_counts(struct ptc_fast_chains *c, bool counts)
{
	if (c->counts == counts)
		return;
	ptc_fast_chains_forget(c);
	c->counts = counts;
}

size_t ptc_fast_chains_bytes(const struct ptc_fast_chains *c)
{
	const unsigned int n = ptc_fast_see(&c->n);
	size_t bytes = ptc_fast_get_hint(&c->touched);
	unsigned int i;

	for (i = c->first; i < n; i++)
		bytes += table_bytes(&c->tables[i]);
	return bytes;
}

static bool is_largest(const struct ptc_fast_chain_table *t, const struct ptc_fast_code *code)
{
	return t->bits + code->halved >= LAST_BITS;
}

bool ptc_fast_chains_is_full(const struct ptc_fast_chains *c, const struct ptc_fast_code *code)
{
	return is_largest(ptc_fast_chains_table(c), code) &&
	       ptc_fast_get_hint(&c->refused) / REFUSED_EACH > ptc_fast_get_hint(&c->used);
}

const struct ptc_fast_chain *ptc_fast_chain_find_far(const struct ptc_fast_chain_table *t,
						     size_t slot, uint64_t key)
{
	if (ptc_fast_chain_is(&t->v[slot ^ 2], key))
		return &t->v[slot ^ 2];
	return ptc_fast_chain_is(&t->v[slot ^ 3], key) ? &t->v[slot ^ 3] : NULL;
}

/* Returns where the chain of @key is, or would go. NULL: its set is full. */
static struct ptc_fast_chain *find_room(const struct ptc_fast_chain_table *t, uint64_t key)
{
	const size_t slot = ptc_fast_chain_slot(key, t->bits);
	uint64_t there;
	size_t i;

	for (i = 0; i < PTC_FAST_CHAIN_SET; i++) {
		there = ptc_fast_see(&t->v[slot ^ i].key);
		if (!there || there == key)
			return &t->v[slot ^ i];
	}
	return NULL;
}

/* Publish the key last: other threads look at it. */
static void fill(struct ptc_fast_chain *to, const struct ptc_fast_chain *from, uint64_t key)
{
	to->end = from->end;
	to->recs = from->recs;
	to->pushes = from->pushes;
	to->last = from->last;
	to->ninsns = from->ninsns;
	to->nrecs = from->nrecs;
	to->npushes = from->npushes;
	to->nbits = from->nbits;
	to->listed = from->listed;
	ptc_fast_publish(&to->key, key);
}

static void refuse(struct ptc_fast_chains *c)
{
	ptc_fast_put_hint(&c->refused, ptc_fast_get_hint(&c->refused) + 1);
}

/* Put a chain into a table that no other thread reads. Returns whether it is in there now. */
static bool insert_chain(const struct ptc_fast_chain_table *t, const struct ptc_fast_chain *chain,
			 uint64_t key)
{
	struct ptc_fast_chain *room = find_room(t, key);

	if (room)
		fill(room, chain, key);
	return room;
}

/*
 * Double the table in place. No other thread may read it. The chains of a set go to one of two new
 * sets, at or behind twice its index. So from the last set down, no chain is overwritten.
 */
static bool spread(struct ptc_fast_chains *c)
{
	struct ptc_fast_chain_table *t = &c->tables[c->n - 1];
	const size_t bytes = table_bytes(t);
	struct ptc_fast_chain set[PTC_FAST_CHAIN_SET];
	size_t i, k, used = 0;

	if (!ptc_fast_room_grow(t->v, bytes * 2))
		return false;
	touch(&t->v[(size_t)1 << t->bits], bytes);
	t->bits++;
	for (i = (size_t)1 << (t->bits - 1); i;) {
		i -= PTC_FAST_CHAIN_SET;
		memcpy(set, &t->v[i], sizeof(set));
		memset(&t->v[i], 0, sizeof(set));
		for (k = 0; k < PTC_FAST_CHAIN_SET; k++)
			used += set[k].key && insert_chain(t, &set[k], set[k].key);
	}
	c->used = used;
	return true;
}

/*
 * Copy into the next table. Chains that other threads add to the old one during the copy are lost.
 */
static void move(struct ptc_fast_chains *c, bool shared)
{
	const struct ptc_fast_chain_table *was = ptc_fast_chains_table(c), *t = &c->tables[c->n];
	size_t i, used = 0;
	uint64_t key;

	while (touch_next(c))
		;
	for (i = 0; i >> was->bits == 0; i++) {
		key = ptc_fast_see(&was->v[i].key);
		used += key && key != CLAIMED && insert_chain(t, &was->v[i], key);
	}
	ptc_fast_put_hint(&c->used, used);
	use_next(c);
	if (!shared)
		drop_old(c);
}

/* A shared table is left behind when it is replaced, so the next one is larger. */
static unsigned int next_bits(const struct ptc_fast_chains *c, const struct ptc_fast_code *code)
{
	const unsigned int bits = ptc_fast_chains_table(c)->bits;

	return bits + (code->shared && bits + code->halved + 2 <= LAST_BITS ? 2 : 1);
}

/* Grow the table. If that fails, keep the current one. */
static void grow_chain_table(struct ptc_fast_chains *c, const struct ptc_fast_code *code)
{
	const bool big = table_bytes(ptc_fast_chains_table(c)) >= PTC_FAST_ROOM_MIN;

	if (big && !code->shared) {
		if (!spread(c))
			return;
	} else {
		if (!get_next(c, next_bits(c, code)))
			return;
		move(c, code->shared);
	}
	ptc_fast_put_hint(&c->refused, 0);
}

/* Are more than @eighths of the table in use, or were too many chains refused? */
static bool is_used(const struct ptc_fast_chains *c, const struct ptc_fast_code *code,
		    unsigned int eighths, unsigned int refused)
{
	const struct ptc_fast_chain_table *t = ptc_fast_chains_table(c);

	return !is_largest(t, code) && (ptc_fast_get_hint(&c->used) * 8 >> t->bits > eighths ||
					ptc_fast_get_hint(&c->refused) * refused >> t->bits > 0);
}

static bool is_crowded(const struct ptc_fast_chains *c, const struct ptc_fast_code *code)
{
	return is_used(c, code, 3, 64);
}

/* Does it take long to get the memory of the next table? */
static bool is_slow(const struct ptc_fast_chains *c, const struct ptc_fast_code *code)
{
	return code->shared &&
	       sizeof(struct ptc_fast_chain) << next_bits(c, code) > PTC_FAST_ROOM_MIN;
}

/* Can the table grow: is the memory of the next one ready, quick to get, or overdue? */
static bool is_ready(const struct ptc_fast_chains *c, const struct ptc_fast_code *code)
{
	const struct ptc_fast_chain_table *t = &c->tables[c->n];

	return !is_slow(c, code) || (t->v && c->touched >= table_bytes(t)) ||
	       is_used(c, code, 4, 4);
}

static bool claim_growth(struct ptc_fast_chains *c)
{
	bool grows = false;

	return ptc_fast_claim(&c->grows, &grows, true);
}

/* A chain that is being made. No other thread sees it. */
struct making {
	struct ptc_fast_hand *hand;
	struct ptc_fast_code *code;
	struct ptc_fast_chain chain;
	uint32_t at;
	struct ptc_fast_rec recs[PTC_FAST_CHAIN_RECS];
	uint32_t pushes[MAX_PUSHES + PTC_FAST_MAX_RECS + 1];
	size_t npushes, nrecs, ninsns;
};

/* Add block @b, the next one, to the chain. */
static void add_block(struct making *m, const struct ptc_fast_block *b)
{
	if (b->npushes) /* most blocks have neither calls nor records inside */
		memcpy(m->pushes + m->npushes, m->code->pushes + b->pushes,
		       b->npushes * sizeof(*m->pushes));
	m->npushes += b->npushes;
	if (b->nrecs)
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

/* Go over one block, with the bit @taken if it needs one. Returns false at the end of the chain. */
static bool add_block_to_chain(struct making *m, bool taken)
{
	const struct ptc_fast_block *b = ptc_fast_code_get(m->hand, m->at);
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

/* Is there space for the chain? If it @counts, it needs KINDS only, and no records. */
static bool reserve_chain_space(const struct making *m, bool counts)
{
	return ptc_fast_hand_reserve(m->hand, PTC_FAST_LIST_RECS, 1 + (counts ? 0 : m->nrecs),
				     max_recs(m->code)) &&
	       ptc_fast_hand_reserve(m->hand, PTC_FAST_LIST_PUSHES, m->npushes,
				     ptc_fast_list_max(m->code, PTC_FAST_LIST_PUSHES));
}

/* Store the chain in the space of reserve_chain_space(). */
static void store_chain(struct making *m, bool counts)
{
	struct ptc_fast_part *pushes = &m->hand->parts[PTC_FAST_LIST_PUSHES];

	m->chain.recs = ptc_fast_hand_add_recs(m->hand, m->recs, m->nrecs, counts ? 0 : m->nrecs);
	m->chain.nrecs = (uint8_t)m->nrecs;
	m->chain.ninsns = (uint16_t)m->ninsns;
	m->chain.npushes = (uint8_t)m->npushes;
	if (m->npushes == 1) {
		m->chain.pushes = m->pushes[0];
		return;
	}
	m->chain.pushes = (uint32_t)pushes->at;
	memcpy(m->code->pushes + pushes->at, m->pushes, m->npushes * sizeof(*m->pushes));
	pushes->at += m->npushes;
}

static void count_one(struct ptc_fast_chains *c, struct ptc_fast_hand *h)
{
	if (!ptc_fast_get_hint(&c->any))
		ptc_fast_put_hint(&c->any, true);
	h->chains++;
	h->unsaid++;
	if (h->code->shared && h->unsaid < UNSAID_MAX)
		return;
	ptc_fast_put_hint(&c->used, ptc_fast_get_hint(&c->used) + h->unsaid);
	h->unsaid = 0;
}

/* Grow without blocking: other threads use the current table until the new one is published. */
static void grow_in_time(struct ptc_fast_chains *c, const struct ptc_fast_code *code)
{
	if (!is_crowded(c, code) || !claim_growth(c))
		return;
	if (is_crowded(c, code) && is_ready(c, code)) /* another thread may have been faster */
		grow_chain_table(c, code);
	ptc_fast_publish(&c->grows, false);
}

void ptc_fast_chains_prepare(struct ptc_fast_chains *c, const struct ptc_fast_code *code)
{
	if (!is_slow(c, code) || !is_used(c, code, 0, 256) || !claim_growth(c))
		return;
	if (is_slow(c, code) && is_used(c, code, 0, 256) && get_next(c, next_bits(c, code)))
		(void)touch_next(c);
	ptc_fast_publish(&c->grows, false);
}

/* Returns false if there is no space for the chain. */
static bool add_chain(struct ptc_fast_chains *c, struct making *m)
{
	struct ptc_fast_chain *room;
	uint64_t was;

	grow_in_time(c, m->code);
	if (!reserve_chain_space(m, c->counts))
		return false;
	do {
		room = find_room(ptc_fast_chains_table(c), m->chain.key);
		if (!room) {
			refuse(c);
			return false;
		}
		was = ptc_fast_see(&room->key);
		if (was == m->chain.key) /* another thread was faster */
			return true;
	} while (was || !ptc_fast_claim(&room->key, &was, CLAIMED));
	store_chain(m, c->counts);
	fill(room, &m->chain, m->chain.key);
	count_one(c, m->hand);
	return true;
}

/* Count an execution of the block. Returns whether it was executed often enough. */
static bool is_hot(struct ptc_fast_block *b)
{
	const uint8_t heat = ptc_fast_get_hint(&b->heat);

	if (heat >= PTC_FAST_CHAIN_HEAT)
		return true;
	ptc_fast_put_hint(&b->heat, (uint8_t)(heat + 1));
	return false;
}

/* Could the chain be stored? If not, it is not made. */
static bool is_room(struct ptc_fast_chains *c, const struct ptc_fast_code *code, uint64_t key)
{
	const struct ptc_fast_chain_table *t = ptc_fast_chains_table(c);

	if (!is_largest(t, code) || find_room(t, key))
		return true;
	refuse(c);
	return false;
}

bool ptc_fast_chain_make(struct ptc_fast_chains *c, struct ptc_fast_hand *h, uint32_t block,
			 uint64_t bits, unsigned int n)
{
	const uint64_t key = ptc_fast_chain_key(block, bits, n);
	struct making m; /* the arrays need no zeros */
	size_t i;

	if (!is_hot(&h->code->blocks[block]) || !is_room(c, h->code, key))
		return false;
	m.hand = h;
	m.code = h->code;
	m.chain = (struct ptc_fast_chain){ .key = key };
	m.at = block;
	m.npushes = m.nrecs = m.ninsns = 0;
	for (i = 0; i < MAX_BLOCKS && m.chain.nbits < n; i++)
		if (!add_block_to_chain(&m, bits << m.chain.nbits >> 63))
			break;
	if (!m.chain.nbits || ptc_fast_get_hint(&m.code->failed))
		return false;
	m.chain.end = m.at;
	return add_chain(c, &m);
}
