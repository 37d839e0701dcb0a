/* SPDX-License-Identifier: MIT */
#include "decode/fast/block.h"

#include <stdlib.h>
#include <string.h>

#include "decode/fast/table.h"

enum { FIRST_BITS = 12, TRIES = 200, PAUSES = 8 /* some 20 us, together */ };

/* Pages that blocks have code in, those of blocks that were built anew included. */
#define MAX_LINKS (2 * (size_t)PTC_FAST_MAX_BLOCKS)

/* One more than there may be, to be read behind the last one. */
#define RECS_ROOM (PTC_FAST_MAX_REC + 1)

/*
 * Return addresses, of blocks and chains, and instructions of blocks. Blocks or records are too
 * many before these are, as a rule; if not, it has failed, and is forgotten as a full one is.
 */
#define MAX_PUSHES ((size_t)1 << 23)
#define MAX_LENS   ((size_t)1 << 25)

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
	while (c->nold)
		drop_index(c->old[--c->nold]);
}

uint32_t *ptc_fast_tips_new(void)
{
	return calloc((size_t)1 << PTC_FAST_TIPS_BITS, sizeof(uint32_t));
}

void ptc_fast_tips_forget(uint32_t *tips)
{
	memset(tips, 0, sizeof(*tips) << PTC_FAST_TIPS_BITS);
}

static size_t measure(const struct ptc_fast_code *c)
{
	size_t bytes = c->blocks_cap * sizeof(*c->blocks) + c->recs_cap * sizeof(*c->recs) +
		       c->pushes_cap * sizeof(*c->pushes) + c->lens_cap + index_bytes(c->index) +
		       (sizeof(*c->tips) << PTC_FAST_TIPS_BITS) + ptc_fast_pages_bytes(&c->pages);
	size_t i;

	for (i = 0; i < c->nold; i++)
		bytes += index_bytes(c->old[i]);
	return bytes;
}

/* One of its tables. */
static bool grow(struct ptc_fast_code *c, void *items, size_t *cap, size_t want, size_t size,
		 size_t max)
{
	if (want <= *cap)
		return true;
	if (!ptc_fast_table_grow(items, cap, want, size, max))
		return false;
	if (c->index)
		ptc_fast_put_hint(&c->bytes, measure(c));
	return true;
}

static bool room_for_blocks(struct ptc_fast_code *c, size_t n)
{
	return grow(c, &c->blocks, &c->blocks_cap, n, sizeof(*c->blocks), PTC_FAST_MAX_BLOCKS);
}

/* With the lock, behind what was added. */
static void judge(struct ptc_fast_code *c)
{
	if (c->nblocks > (PTC_FAST_MAX_BLOCKS >> c->halved) / 4 * 3 ||
	    c->nrecs > (PTC_FAST_MAX_REC >> c->halved) / 4 * 3)
		ptc_fast_put_hint(&c->full, true);
}

bool ptc_fast_code_init(struct ptc_fast_code *c, ptc_fast_read *read, const void *ctx)
{
	*c = (struct ptc_fast_code){ .source = { read, ctx } };
	(void)pthread_mutex_init(&c->lock, NULL);
	c->index = new_index(FIRST_BITS);
	c->tips = ptc_fast_tips_new();
	/* All are there from now on: others read where they are without the lock. */
	if (!c->index || !c->tips || !room_for_blocks(c, 2) || !ptc_fast_code_reserve(c, 1, 1) ||
	    !grow(c, &c->lens, &c->lens_cap, 1, 1, MAX_LENS))
		return false;
	ptc_fast_code_forget(c);
	return true;
}

void ptc_fast_code_release(struct ptc_fast_code *c)
{
	ptc_fast_table_drop(c->blocks, c->blocks_cap, sizeof(*c->blocks), PTC_FAST_MAX_BLOCKS);
	ptc_fast_table_drop(c->recs, c->recs_cap, sizeof(*c->recs), RECS_ROOM);
	ptc_fast_table_drop(c->pushes, c->pushes_cap, sizeof(*c->pushes), MAX_PUSHES);
	ptc_fast_table_drop(c->lens, c->lens_cap, 1, MAX_LENS);
	drop_old(c);
	drop_index(c->index);
	free(c->tips);
	ptc_fast_pages_release(&c->pages);
	(void)pthread_mutex_destroy(&c->lock);
	*c = (struct ptc_fast_code){ .nblocks = 0 };
}

void ptc_fast_code_forget(struct ptc_fast_code *c)
{
	drop_old(c);
	memset(c->index->slots, 0, sizeof(*c->index->slots) << c->index->bits);
	ptc_fast_tips_forget(c->tips);
	c->blocks[PTC_FAST_NONE] = (struct ptc_fast_block){ .end = PTC_FAST_BAD };
	c->nblocks = 1;
	c->nrecs = c->npushes = c->nlens = 0;
	ptc_fast_pages_forget(&c->pages);
	c->full = c->failed = false;
	c->bytes = measure(c);
}

/* As a rule it is held for far less than it takes to sleep and to wake. */
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

static void fail(struct ptc_fast_code *c)
{
	ptc_fast_put_hint(&c->failed, true);
}

/* A range of addresses that blocks are looked for in. */
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

static bool look_at(void *ctx, uint32_t block)
{
	struct sought *s = ctx;
	struct ptc_fast_block *b = &s->code->blocks[block];

	if (b->end == PTC_FAST_UNBUILT)
		return false;
	if (!is_sought(s, b))
		return true;
	s->found = true;
	if (s->drop)
		*b = (struct ptc_fast_block){ .ip = b->ip, .mode = b->mode };
	return !s->drop;
}

bool ptc_fast_code_knows(struct ptc_fast_code *c, uint64_t start, uint64_t end)
{
	struct sought s = { .code = c, .start = start, .end = end };

	ptc_fast_code_lock(c);
	ptc_fast_pages_visit(&c->pages, start, end, look_at, &s);
	ptc_fast_code_unlock(c);
	return s.found;
}

bool ptc_fast_code_drop(struct ptc_fast_code *c, uint64_t start, uint64_t end)
{
	struct sought s = { .code = c, .start = start, .end = end, .drop = true };

	ptc_fast_pages_visit(&c->pages, start, end, look_at, &s);
	return s.found;
}

/* The upper bits of the product are the index. */
static size_t slot_of(uint64_t ip, enum ptc_mode mode, unsigned int bits)
{
	return (size_t)((ip ^ ip >> 15 ^ (uint64_t)mode << 60) * 0x9e3779b97f4a7c15 >> (64 - bits));
}

static bool is_at(const struct ptc_fast_code *c, uint32_t block, uint64_t ip, enum ptc_mode mode)
{
	return c->blocks[block].ip == ip && c->blocks[block].mode == mode;
}

/* With the lock: the slot of the block at @ip, or the free one where it belongs. */
static size_t find_slot(const struct ptc_fast_code *c, const struct ptc_fast_index *x, uint64_t ip,
			enum ptc_mode mode)
{
	const size_t mask = ((size_t)1 << x->bits) - 1;
	size_t i = slot_of(ip, mode, x->bits);

	while (x->slots[i] && !is_at(c, x->slots[i], ip, mode))
		i = (i + 1) & mask;
	return i;
}

/*
 * Without: the block at @ip, or NONE. A slot is looked at once: one that was free may be another
 * block's at the next look.
 */
static uint32_t find_block(const struct ptc_fast_code *c, uint64_t ip, enum ptc_mode mode)
{
	const struct ptc_fast_index *x = ptc_fast_see(&c->index);
	const size_t mask = ((size_t)1 << x->bits) - 1;
	size_t i = slot_of(ip, mode, x->bits);
	uint32_t id;

	for (;; i = (i + 1) & mask) {
		id = ptc_fast_see(&x->slots[i]);
		if (!id || is_at(c, id, ip, mode))
			return id;
	}
}

/* Who looks into the old one finds all that was there. */
static bool grow_index(struct ptc_fast_code *c)
{
	struct ptc_fast_index *x = new_index(c->index->bits + 2), *was = c->index;
	uint32_t id;

	if (!x)
		return false;
	for (id = 1; id < c->nblocks; id++)
		x->slots[find_slot(c, x, c->blocks[id].ip, (enum ptc_mode)c->blocks[id].mode)] = id;
	ptc_fast_publish(&c->index, x);
	if (c->shared)
		c->old[c->nold++] = was;
	else
		drop_index(was);
	return true;
}

static uint32_t add_block(struct ptc_fast_code *c, size_t slot, uint64_t ip, enum ptc_mode mode)
{
	const uint32_t id = c->nblocks;

	if (id >= PTC_FAST_MAX_BLOCKS >> c->halved || !room_for_blocks(c, (size_t)id + 1)) {
		fail(c);
		return PTC_FAST_NONE;
	}
	c->blocks[id] = (struct ptc_fast_block){ .ip = ip, .mode = (uint8_t)mode };
	ptc_fast_publish(&c->index->slots[slot], id);
	c->nblocks++;
	return id;
}

/* With the lock. */
static uint32_t find_or_add(struct ptc_fast_code *c, uint64_t ip, enum ptc_mode mode)
{
	size_t slot = find_slot(c, c->index, ip, mode);

	if (c->index->slots[slot])
		return c->index->slots[slot];
	if ((size_t)c->nblocks * 2 >> c->index->bits) {
		if (!grow_index(c)) {
			fail(c);
			return PTC_FAST_NONE;
		}
		slot = find_slot(c, c->index, ip, mode);
	}
	return add_block(c, slot, ip, mode);
}

uint32_t ptc_fast_code_find(struct ptc_fast_code *c, uint64_t ip, enum ptc_mode mode)
{
	uint32_t id = find_block(c, ip, mode);

	if (id)
		return id;
	ptc_fast_code_lock(c);
	id = find_or_add(c, ip, mode);
	judge(c);
	ptc_fast_code_unlock(c);
	return id;
}

bool ptc_fast_code_reserve(struct ptc_fast_code *c, size_t n, size_t npushes)
{
	if (c->nrecs + n > PTC_FAST_MAX_REC >> c->halved ||
	    !grow(c, &c->recs, &c->recs_cap, c->nrecs + n + PTC_FAST_READ_ON, sizeof(*c->recs),
		  RECS_ROOM) ||
	    !grow(c, &c->pushes, &c->pushes_cap, c->npushes + npushes, sizeof(*c->pushes),
		  MAX_PUSHES))
		fail(c);
	judge(c);
	return !c->failed;
}

static_assert((int)PTC_KIND_COUNT <= (int)sizeof(ptc_fast_kinds), "each kind has a count");

ptc_fast_kinds ptc_fast_kinds_count(const struct ptc_fast_rec *recs, size_t n)
{
	ptc_fast_kinds kinds = { 0 };
	size_t i;

	for (i = 0; i < n; i++)
		kinds[ptc_fast_rec_kind(recs[i])]++;
	return kinds;
}

/* A block in the making, of addresses: nothing of it is anybody else's yet. */
struct making {
	struct ptc_fast_block b;
	enum ptc_mode mode;
	uint64_t ip; /* of the next instruction */
	struct ptc_fast_rec recs[PTC_FAST_MAX_RECS + 1];
	uint64_t pushes[PTC_FAST_MAX_RECS + 1], next[2];
	uint8_t lens[PTC_FAST_MAX_INSNS];
	uint64_t pages[2 * (PTC_FAST_MAX_INSNS + 1)];
	size_t npages, nrecs, nnext;
	/* What was read of the code: @nread bytes at @read_at, of which more than this may be
	 * there. */
	uint8_t read[4 * PTC_INSN_MAX];
	uint64_t read_at;
	size_t nread;
};

/* The code at ip: at least as much as the longest instruction has, or all that is there. */
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

/* The block has, or wants, code at @ip. */
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
	/* A call to the next instruction is there for its address: it is not returned to. */
	if (in->kind == PTC_KIND_CALL && in->target != behind) {
		m->pushes[m->b.npushes++] = behind;
		m->lens[m->b.ninsns - 1] |= PTC_FAST_PUSHES;
	}
	m->ip = in->target;
}

/* @in needs trace: the block ends here. */
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

/* One instruction. False: the block is at its end. */
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
	    ptc_insn_decode(m->mode, bytes, n, m->ip, &in) != PTC_INSN_OK) {
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

/* With the lock, for what follows. */
static bool has_room(struct ptc_fast_code *c)
{
	/* For the largest there can be. */
	if (!ptc_fast_code_reserve(c, 1 + PTC_FAST_MAX_RECS + 1, PTC_FAST_MAX_RECS + 1))
		return false;
	if (!grow(c, &c->lens, &c->lens_cap, c->nlens + PTC_FAST_MAX_INSNS, 1, MAX_LENS))
		fail(c);
	return !c->failed;
}

static void add_pages(struct ptc_fast_code *c, const struct making *m, uint32_t block)
{
	size_t i;

	for (i = 0; i < m->npages; i++)
		if (c->pages.nlinks > MAX_LINKS >> c->halved ||
		    !ptc_fast_pages_add(&c->pages, m->pages[i], block))
			fail(c);
}

/* Behind all that there is. */
static void append(struct ptc_fast_code *c, struct making *m)
{
	const ptc_fast_kinds kinds = ptc_fast_kinds_count(m->recs, m->nrecs);
	size_t i;

	memcpy(c->recs + c->nrecs, &kinds, sizeof(kinds));
	m->b.recs = (uint32_t)++c->nrecs;
	memcpy(c->recs + c->nrecs, m->recs, m->nrecs * sizeof(*c->recs));
	c->nrecs += m->nrecs;
	m->b.lens = (uint32_t)c->nlens;
	memcpy(c->lens + c->nlens, m->lens, m->b.ninsns);
	c->nlens += m->b.ninsns;
	m->b.pushes = (uint32_t)c->npushes;
	for (i = 0; i < m->b.npushes; i++)
		c->pushes[c->npushes++] = find_or_add(c, m->pushes[i], m->mode);
	for (i = 0; i < m->nnext; i++)
		m->b.next[i] = find_or_add(c, m->next[i], m->mode);
}

/* What it is known by stays as it is: others look at that. */
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

void ptc_fast_code_build(struct ptc_fast_code *c, const struct ptc_fast_source *s, uint32_t block)
{
	struct ptc_fast_block *b = &c->blocks[block];
	struct making m; /* the lists need no zeros */

	m.b = (struct ptc_fast_block){ .end = PTC_FAST_UNBUILT };
	m.mode = (enum ptc_mode)b->mode;
	m.ip = b->ip;
	m.npages = m.nrecs = m.nnext = m.nread = 0;
	m.read_at = m.ip;
	while (add_insn(&m, s))
		;
	ptc_fast_code_lock(c);
	if (b->end == PTC_FAST_UNBUILT) {
		if (has_room(c)) {
			append(c, &m);
			add_pages(c, &m, block);
		} else {
			m.b = (struct ptc_fast_block){ .end = PTC_FAST_BAD };
		}
		c->built++;
		judge(c);
		/* Some of where it leads there may be no room for. */
		become(b, &m.b, c->failed ? PTC_FAST_BAD : (enum ptc_fast_end)m.b.end);
	}
	ptc_fast_code_unlock(c);
}
