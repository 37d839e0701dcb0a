/* SPDX-License-Identifier: MIT */
#include "decode/engine/block.h"

#include <sched.h>
#include <string.h>

#include "decode/engine/huge_table.h"

enum { FIRST_BITS = 12, TRIES = 200, PAUSES = 8 /* about 20 us in total */ };

static size_t index_bytes(const struct ptc_fast_index *x)
{
	return sizeof(*x) + (sizeof(*x->slots) << x->bits);
}

static struct ptc_fast_index *new_index(unsigned int bits)
{
	const struct ptc_fast_index x = { .bits = bits };
	struct ptc_fast_index *ret = ptc_fast_table_new(index_bytes(&x));

	if (ret)
		ret->bits = bits;
	return ret;
}

static void drop_index(struct ptc_fast_index *x)
{
	if (x)
		ptc_fast_table_free(x, index_bytes(x));
}

static void drop_old(struct ptc_fast_code *c)
{
	struct ptc_fast_index *x;

	while (c->nold) {
		x = c->old[--c->nold];
		ptc_fast_code_count_bytes(c, index_bytes(x), 0);
		drop_index(x);
	}
}

bool ptc_fast_code_init(struct ptc_fast_code *c)
{
	*c = (struct ptc_fast_code){ .nold = 0 };
	(void)pthread_mutex_init(&c->lock, NULL);
	c->index = new_index(FIRST_BITS);
	if (!c->index || !ptc_fast_lists_init(c))
		return false;
	ptc_fast_code_count_bytes(c, 0, index_bytes(c->index));
	ptc_fast_code_forget(c);
	return true;
}

void ptc_fast_code_release(struct ptc_fast_code *c)
{
	ptc_fast_hands_release(c);
	ptc_fast_lists_release(c);
	drop_old(c);
	drop_index(c->index);
	(void)pthread_mutex_destroy(&c->lock);
	*c = (struct ptc_fast_code){ .nold = 0 };
}

void ptc_fast_code_forget(struct ptc_fast_code *c)
{
	drop_old(c);
	memset(c->index->slots, 0, sizeof(*c->index->slots) << c->index->bits);
	ptc_fast_hands_forget(c);
	memset(c->used, 0, sizeof(c->used));
	c->blocks[c->used[PTC_FAST_LIST_BLOCKS]++] = (struct ptc_fast_block){ .end = PTC_FAST_BAD };
	c->full = c->failed = false;
}

/* Spin first: usually the lock is held for far less time than sleeping and waking take. */
static void lock_soon(pthread_mutex_t *lock)
{
	int i, k;

	for (i = 0; i < TRIES; i++) {
		if (!pthread_mutex_trylock(lock))
			return;
		for (k = 0; k < PAUSES; k++)
			__builtin_ia32_pause();
	}
	(void)pthread_mutex_lock(lock);
}

void ptc_fast_code_lock(struct ptc_fast_code *c)
{
	if (c->shared)
		lock_soon(&c->lock);
}

void ptc_fast_code_unlock(struct ptc_fast_code *c)
{
	if (c->shared)
		(void)pthread_mutex_unlock(&c->lock);
}

static void set_code_failed(struct ptc_fast_code *c)
{
	ptc_fast_put_hint(&c->failed, true);
}

/* A range of addresses, to search blocks in. */
struct sought {
	struct ptc_fast_code *code;
	uint64_t start, end;
	bool drop, found;
};

static bool overlaps(const struct sought *s, uint64_t ip, size_t len)
{
	return ip < s->end && (s->start < ip || s->start - ip < len);
}

static bool is_sought(const struct sought *s, const struct ptc_fast_block *b)
{
	const struct ptc_fast_code *c = s->code;
	uint32_t rec = b->recs;
	uint64_t ip = b->ip;
	size_t i;

	for (i = 0; i < b->ninsns; i++) {
		const uint8_t len = c->lens[b->lens + i];

		if (overlaps(s, ip, len & PTC_FAST_LEN))
			return true;
		ip = len & PTC_FAST_LEAPS ? c->recs[rec++].to : ip + (len & PTC_FAST_LEN);
	}
	return b->end == PTC_FAST_BAD && overlaps(s, ip, PTC_INSN_MAX);
}

static bool visit_block_in_range(void *ctx, uint32_t block)
{
	struct sought *s = ctx;
	struct ptc_fast_block *b = &s->code->blocks[block];

	if (ptc_fast_see(&b->end) == PTC_FAST_UNBUILT)
		return ptc_fast_get_hint(&b->found); /* a thread builds it right now */
	if (!is_sought(s, b))
		return true;
	s->found = true;
	if (s->drop)
		*b = (struct ptc_fast_block){ .ip = b->ip, .mode = b->mode };
	return !s->drop;
}

static void lock_hand(struct ptc_fast_hand *h)
{
	if (h->code->shared)
		(void)pthread_mutex_lock(&h->lock);
}

static void unlock_hand(struct ptc_fast_hand *h)
{
	if (h->code->shared)
		(void)pthread_mutex_unlock(&h->lock);
}

static bool look_for(struct sought *s)
{
	struct ptc_fast_hand *h;

	for (h = ptc_fast_see(&s->code->hands); h; h = h->next) {
		lock_hand(h);
		ptc_fast_pages_visit(&h->pages, s->start, s->end, visit_block_in_range, s);
		unlock_hand(h);
	}
	return s->found;
}

bool ptc_fast_code_knows(struct ptc_fast_code *c, uint64_t start, uint64_t end)
{
	return look_for(&(struct sought){ .code = c, .start = start, .end = end });
}

bool ptc_fast_code_drop(struct ptc_fast_code *c, uint64_t start, uint64_t end)
{
	return look_for(&(struct sought){ .code = c, .start = start, .end = end, .drop = true });
}

uint64_t ptc_fast_code_built(const struct ptc_fast_code *c)
{
	const struct ptc_fast_hand *h;
	uint64_t n = 0;

	for (h = c->hands; h; h = h->next)
		n += h->built;
	return n;
}

/* The upper bits of the product are the index. */
static size_t block_hash_slot(uint64_t ip, enum ptc_mode mode, unsigned int bits)
{
	return (size_t)((ip ^ ip >> 15 ^ (uint64_t)mode << 60) * 0x9e3779b97f4a7c15 >> (64 - bits));
}

static bool is_at(const struct ptc_fast_code *c, uint32_t block, uint64_t ip, enum ptc_mode mode)
{
	return c->blocks[block].ip == ip && c->blocks[block].mode == mode;
}

/*
 * Returns the block at @ip, or NONE, and the slot where it belongs. Reads each slot once: a slot
 * that was free may have another block when it is read again.
 */
static uint32_t find_block(const struct ptc_fast_code *c, struct ptc_fast_index *x, uint64_t ip,
			   enum ptc_mode mode, uint32_t **ret)
{
	const size_t mask = ((size_t)1 << x->bits) - 1;
	size_t i = block_hash_slot(ip, mode, x->bits);
	uint32_t id;

	for (;; i = (i + 1) & mask) {
		id = ptc_fast_see(&x->slots[i]);
		if (!id || is_at(c, id, ip, mode))
			break;
	}
	*ret = &x->slots[i];
	return id;
}

/*
 * With the lock. Threads that read the old index find everything that was in it. What a thread adds
 * to the old index from now on is not found here. Then one place has two blocks, which is harmless.
 */
static bool grow_index(struct ptc_fast_code *c)
{
	struct ptc_fast_index *x = new_index(c->index->bits + 2), *was = c->index;
	const struct ptc_fast_block *b;
	uint32_t id, *slot;
	size_t i;

	if (!x)
		return false;
	for (i = 0; i >> was->bits == 0; i++) {
		id = ptc_fast_see(&was->slots[i]);
		b = &c->blocks[id];
		if (id && !find_block(c, x, b->ip, (enum ptc_mode)b->mode, &slot))
			*slot = id;
	}
	ptc_fast_publish(&c->index, x);
	ptc_fast_code_count_bytes(c, 0, index_bytes(x));
	c->old[c->nold++] = was;
	if (!c->shared)
		drop_old(c);
	return true;
}

/* With the lock: ensures a number for one more block in the arena, and a slot in the index. */
static bool take_number(struct ptc_fast_hand *h)
{
	struct ptc_fast_code *c = h->code;

	if (c->used[PTC_FAST_LIST_BLOCKS] * 2 >> c->index->bits && !grow_index(c))
		return false;
	return ptc_fast_hand_take(h, PTC_FAST_LIST_BLOCKS, 1,
				  ptc_fast_list_max(c, PTC_FAST_LIST_BLOCKS));
}

static bool has_number(struct ptc_fast_hand *h)
{
	const struct ptc_fast_part *p = &h->parts[PTC_FAST_LIST_BLOCKS];
	bool ok = true;

	if (p->at == p->end) {
		ptc_fast_code_lock(h->code);
		ok = take_number(h);
		ptc_fast_code_unlock(h->code);
	}
	return ok;
}

/* Add the block, which is not in the index. Another thread may add it at the same time. */
static uint32_t add_block(struct ptc_fast_hand *h, uint64_t ip, enum ptc_mode mode)
{
	struct ptc_fast_code *c = h->code;
	uint32_t id, *slot, found;

	if (!has_number(h)) {
		set_code_failed(c);
		return PTC_FAST_NONE;
	}
	id = (uint32_t)h->parts[PTC_FAST_LIST_BLOCKS].at;
	c->blocks[id] = (struct ptc_fast_block){ .ip = ip, .mode = (uint8_t)mode };
	do {
		found = find_block(c, ptc_fast_see(&c->index), ip, mode, &slot);
		if (found)
			return found;
	} while (!ptc_fast_claim(slot, &found, id));
	h->parts[PTC_FAST_LIST_BLOCKS].at++;
	return id;
}

uint32_t ptc_fast_code_find(struct ptc_fast_hand *h, uint64_t ip, enum ptc_mode mode)
{
	struct ptc_fast_code *c = h->code;
	uint32_t *slot;
	const uint32_t id = find_block(c, ptc_fast_see(&c->index), ip, mode, &slot);

	return id ? id : add_block(h, ip, mode);
}

static_assert((int)PTC_KIND_COUNT <= (int)sizeof(ptc_fast_kinds), "each kind has a count");

static ptc_fast_kinds count_kinds(const struct ptc_fast_rec *recs, size_t n)
{
	ptc_fast_kinds kinds = { 0 };
	size_t i;

	for (i = 0; i < n; i++)
		kinds[ptc_fast_rec_kind(recs[i])]++;
	return kinds;
}

uint32_t ptc_fast_hand_add_recs(struct ptc_fast_hand *h, const struct ptc_fast_rec *recs, size_t n,
				size_t nkept)
{
	struct ptc_fast_part *p = &h->parts[PTC_FAST_LIST_RECS];
	const ptc_fast_kinds kinds = count_kinds(recs, n);
	const size_t at = p->at + 1;

	memcpy(h->code->recs + p->at, &kinds, sizeof(kinds));
	memcpy(h->code->recs + at, recs, nkept * sizeof(*recs));
	p->at = at + nkept;
	return (uint32_t)at;
}

/* A block that is being built. It has addresses instead of numbers, and no other thread sees it. */
struct making {
	struct ptc_fast_block b;
	enum ptc_mode mode;
	uint64_t ip; /* of the next instruction */
	struct ptc_fast_rec recs[PTC_FAST_MAX_RECS + 1];
	uint64_t pushes[PTC_FAST_MAX_RECS + 1], next[2];
	uint8_t lens[PTC_FAST_MAX_INSNS];
	uint64_t pages[2 * (PTC_FAST_MAX_INSNS + 1)];
	size_t npages, nrecs, nnext;
	/* Code that was read ahead: @nread bytes at @read_at. More code may follow. */
	uint8_t read[4 * PTC_INSN_MAX];
	uint64_t read_at;
	size_t nread;
};

/* Returns the code at ip: at least as much as the longest instruction has, or all there is. */
static size_t look_at_code(struct making *m, const struct ptc_fast_source *s, const uint8_t **ret)
{
	uint64_t off = m->ip - m->read_at;

	if (off >= m->nread || m->nread - off < PTC_INSN_MAX) {
		m->read_at = m->ip;
		m->nread = s->read(s->ctx, m->ip, m->read, sizeof(m->read));
		off = 0;
	}
	*ret = m->read + off;
	return m->nread - off < PTC_INSN_MAX ? m->nread - off : PTC_INSN_MAX;
}

/* Record that the block has, or lacks, code at @ip. */
static void note_page(struct making *m, uint64_t ip)
{
	const uint64_t page = ip >> PTC_FAST_PAGE_BITS;

	if (!m->npages || m->pages[m->npages - 1] != page)
		m->pages[m->npages++] = page;
}

static void note_pages(struct making *m, size_t len)
{
	note_page(m, m->ip);
	note_page(m, m->ip + (len - 1));
}

static void add_rec(struct making *m, uint64_t to, enum ptc_kind kind)
{
	m->recs[m->nrecs++] = ptc_fast_rec(m->ip, to, kind);
}

static void leap(struct making *m, const struct ptc_insn *in)
{
	const uint64_t behind = m->ip + in->len;

	add_rec(m, in->target, (enum ptc_kind)in->kind);
	m->b.nrecs++;
	m->lens[m->b.ninsns - 1] |= PTC_FAST_LEAPS;
	/* A call to the next instruction only gets an address: no return goes back to it. */
	if (in->kind == PTC_KIND_CALL && in->target != behind) {
		m->pushes[m->b.npushes++] = behind;
		m->lens[m->b.ninsns - 1] |= PTC_FAST_PUSHES;
	}
	m->ip = in->target;
}

/* @in needs trace, so the block ends here. */
static void end_with(struct making *m, const struct ptc_insn *in)
{
	const uint64_t behind = m->ip + in->len;

	m->b.end = in->kind == PTC_KIND_RET ? PTC_FAST_RET : PTC_FAST_JUMP;
	if (in->kind == PTC_KIND_ICALL)
		m->pushes[m->b.npushes++] = behind;
	if (in->kind == PTC_KIND_JCC) {
		m->b.end = PTC_FAST_COND;
		m->b.stays = in->target == behind;
		m->next[0] = behind;
		m->next[1] = in->target;
		m->nnext = 2;
	}
	add_rec(m, in->target, (enum ptc_kind)in->kind);
}

/* Add one instruction. Returns false at the end of the block. */
static bool add_insn(struct making *m, const struct ptc_fast_source *s)
{
	const uint8_t *bytes;
	struct ptc_insn in;
	size_t n;

	if (m->b.ninsns == PTC_FAST_MAX_INSNS || m->b.nrecs == PTC_FAST_MAX_RECS) {
		m->b.end = PTC_FAST_ON;
		m->next[0] = m->ip;
		m->nnext = 1;
		return false;
	}
	n = look_at_code(m, s, &bytes);
	if (!n || !ptc_fast_is_address(m->ip) ||
	    ptc_insn_decode(m->mode, bytes, n, m->ip, &in) != PTC_INSN_OK || in.unknown ||
	    (in.direct && !in.target)) { /* libipt's path lists a branch to address 0 */
		m->b.end = PTC_FAST_BAD;
		note_pages(m, PTC_INSN_MAX);
		return false;
	}
	note_pages(m, in.len);
	m->b.end_ip = m->ip;
	m->b.end_len = in.len;
	m->b.end_kind = in.kind;
	m->lens[m->b.ninsns++] = in.len;
	if (in.kind == PTC_KIND_NONE)
		m->ip += in.len;
	else if (in.kind == PTC_KIND_JMP || in.kind == PTC_KIND_CALL)
		leap(m, &in);
	else
		end_with(m, &in);
	return m->b.end == PTC_FAST_UNBUILT;
}

static bool has_room_in(struct ptc_fast_hand *h, enum ptc_fast_list l, size_t n)
{
	return ptc_fast_hand_reserve(h, l, n, ptc_fast_list_max(h->code, l));
}

static bool has_room_for_block(struct ptc_fast_hand *h, const struct making *m)
{
	return has_room_in(h, PTC_FAST_LIST_RECS, 1 + m->nrecs) &&
	       has_room_in(h, PTC_FAST_LIST_PUSHES, m->b.npushes) &&
	       has_room_in(h, PTC_FAST_LIST_LENS, m->b.ninsns) &&
	       has_room_in(h, PTC_FAST_LIST_LINKS, m->npages);
}

static bool add_pages(struct ptc_fast_hand *h, const struct making *m, uint32_t block)
{
	const size_t was = ptc_fast_pages_bytes(&h->pages);
	bool ok = true;
	size_t i;

	lock_hand(h);
	for (i = 0; i < m->npages && ok; i++)
		ok = ptc_fast_pages_add(&h->pages, m->pages[i], block);
	unlock_hand(h);
	ptc_fast_code_count_bytes(h->code, was, ptc_fast_pages_bytes(&h->pages));
	h->parts[PTC_FAST_LIST_LINKS].at += m->npages;
	return ok;
}

/*
 * Store the block in the arena's parts. Returns false if there is no space for a block that
 * follows.
 */
static bool store_block(struct ptc_fast_hand *h, struct making *m)
{
	struct ptc_fast_part *lens = &h->parts[PTC_FAST_LIST_LENS];
	struct ptc_fast_part *pushes = &h->parts[PTC_FAST_LIST_PUSHES];
	struct ptc_fast_code *c = h->code;
	bool ok = true;
	size_t i;

	m->b.recs = ptc_fast_hand_add_recs(h, m->recs, m->nrecs, m->nrecs);
	m->b.lens = (uint32_t)lens->at;
	memcpy(c->lens + lens->at, m->lens, m->b.ninsns);
	lens->at += m->b.ninsns;
	m->b.pushes = (uint32_t)pushes->at;
	for (i = 0; i < m->b.npushes && ok; i++) {
		c->pushes[pushes->at] = ptc_fast_code_find(h, m->pushes[i], m->mode);
		ok = c->pushes[pushes->at++];
	}
	for (i = 0; i < m->nnext && ok; i++) {
		m->b.next[i] = ptc_fast_code_find(h, m->next[i], m->mode);
		ok = m->b.next[i];
	}
	return ok;
}

/* Copy everything except ip and mode, which other threads read, then publish end. */
static void become(struct ptc_fast_block *b, const struct ptc_fast_block *made,
		   enum ptc_fast_end end)
{
	b->end_ip = made->end_ip;
	b->next[0] = made->next[0];
	b->next[1] = made->next[1];
	b->recs = made->recs;
	b->pushes = made->pushes;
	b->lens = made->lens;
	b->nrecs = made->nrecs;
	b->npushes = made->npushes;
	b->ninsns = made->ninsns;
	b->end_kind = made->end_kind;
	b->end_len = made->end_len;
	b->stays = made->stays;
	ptc_fast_publish(&b->end, (uint8_t)end);
}

/* Another thread is about to publish the block, usually soon. */
static void wait_for(const struct ptc_fast_block *b)
{
	int i;

	for (i = 0; ptc_fast_see(&b->end) == PTC_FAST_UNBUILT; i += i < TRIES)
		if (i < TRIES)
			__builtin_ia32_pause();
		else
			(void)sched_yield();
}

void ptc_fast_code_build(struct ptc_fast_hand *h, uint32_t block)
{
	struct ptc_fast_block *b = &h->code->blocks[block];
	bool found = false;
	struct making m; /* the arrays need no zeros */

	m.b = (struct ptc_fast_block){ .end = PTC_FAST_UNBUILT };
	m.mode = (enum ptc_mode)b->mode;
	m.ip = b->ip;
	m.npages = m.nrecs = m.nnext = m.nread = 0;
	m.read_at = m.ip;
	while (add_insn(&m, &h->source))
		;
	if (!ptc_fast_claim(&b->found, &found, true)) {
		wait_for(b);
		return;
	}
	if (!has_room_for_block(h, &m) || !store_block(h, &m) || !add_pages(h, &m, block)) {
		set_code_failed(h->code);
		m.b = (struct ptc_fast_block){ .end = PTC_FAST_BAD };
	}
	h->built++;
	become(b, &m.b, (enum ptc_fast_end)m.b.end);
}
