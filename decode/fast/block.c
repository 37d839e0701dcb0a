/* SPDX-License-Identifier: MIT */
#include "decode/fast/block.h"

#include <stdlib.h>
#include <string.h>

#include "decode/fast/table.h"
#include "decode/grow.h"

enum { FIRST_BITS = 12 };

/* Pages that blocks have code in, those of blocks that were built anew included. */
#define MAX_LINKS (2 * (size_t)PTC_FAST_MAX_BLOCKS)

/* One more than there may be, to be read behind the last one. */
#define RECS_ROOM (PTC_FAST_MAX_REC + 1)

static bool room_for_blocks(struct ptc_fast_code *c, size_t n)
{
	return ptc_fast_table_grow(&c->blocks, &c->blocks_cap, n, sizeof(*c->blocks),
				   PTC_FAST_MAX_BLOCKS);
}

bool ptc_fast_code_init(struct ptc_fast_code *c, ptc_fast_read *read, const void *ctx)
{
	*c = (struct ptc_fast_code){ .read = read, .ctx = ctx, .index_bits = FIRST_BITS };
	c->index = ptc_fast_table_new(sizeof(*c->index) << c->index_bits);
	c->tips = ptc_fast_table_new(sizeof(*c->tips) << PTC_FAST_TIPS_BITS);
	if (!c->index || !c->tips || !room_for_blocks(c, 2))
		return false;
	ptc_fast_code_forget(c);
	return true;
}

void ptc_fast_code_release(struct ptc_fast_code *c)
{
	ptc_fast_table_drop(c->blocks, c->blocks_cap, sizeof(*c->blocks), PTC_FAST_MAX_BLOCKS);
	ptc_fast_table_drop(c->recs, c->recs_cap, sizeof(*c->recs), RECS_ROOM);
	free(c->pushes);
	free(c->lens);
	ptc_fast_table_free(c->index, sizeof(*c->index) << c->index_bits);
	ptc_fast_table_free(c->tips, sizeof(*c->tips) << PTC_FAST_TIPS_BITS);
	ptc_fast_pages_release(&c->pages);
	*c = (struct ptc_fast_code){ .nblocks = 0 };
}

void ptc_fast_code_forget(struct ptc_fast_code *c)
{
	memset(c->index, 0, sizeof(*c->index) << c->index_bits);
	memset(c->tips, 0, sizeof(*c->tips) << PTC_FAST_TIPS_BITS);
	c->blocks[PTC_FAST_NONE] = (struct ptc_fast_block){ .end = PTC_FAST_BAD };
	c->nblocks = 1;
	c->nrecs = c->npushes = c->nlens = 0;
	ptc_fast_pages_forget(&c->pages);
	c->failed = false;
}

bool ptc_fast_code_is_full(const struct ptc_fast_code *c)
{
	return c->failed || c->nblocks > (PTC_FAST_MAX_BLOCKS >> c->halved) / 4 * 3 ||
	       c->nrecs > (PTC_FAST_MAX_REC >> c->halved) / 4 * 3;
}

size_t ptc_fast_code_bytes(const struct ptc_fast_code *c)
{
	return c->blocks_cap * sizeof(*c->blocks) + c->recs_cap * sizeof(*c->recs) +
	       c->pushes_cap * sizeof(*c->pushes) + c->lens_cap +
	       (sizeof(*c->index) << c->index_bits) + (sizeof(*c->tips) << PTC_FAST_TIPS_BITS) +
	       ptc_fast_pages_bytes(&c->pages);
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

	ptc_fast_pages_visit(&c->pages, start, end, look_at, &s);
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

static bool grow_index(struct ptc_fast_code *c)
{
	const unsigned int bits = c->index_bits + 2;
	const size_t mask = ((size_t)1 << bits) - 1;
	uint32_t *index = ptc_fast_table_new((mask + 1) * sizeof(*index));
	uint32_t id;
	size_t i;

	if (!index)
		return false;
	for (id = 1; id < c->nblocks; id++) {
		i = slot_of(c->blocks[id].ip, (enum ptc_mode)c->blocks[id].mode, bits);
		while (index[i])
			i = (i + 1) & mask;
		index[i] = id;
	}
	ptc_fast_table_free(c->index, sizeof(*c->index) << c->index_bits);
	c->index = index;
	c->index_bits = bits;
	return true;
}

/* The slot of the block at @ip, or the free one where it belongs. */
static size_t find_slot(const struct ptc_fast_code *c, uint64_t ip, enum ptc_mode mode)
{
	const size_t mask = ((size_t)1 << c->index_bits) - 1;
	size_t i = slot_of(ip, mode, c->index_bits);

	for (; c->index[i]; i = (i + 1) & mask)
		if (c->blocks[c->index[i]].ip == ip && c->blocks[c->index[i]].mode == mode)
			break;
	return i;
}

static uint32_t add_block(struct ptc_fast_code *c, size_t slot, uint64_t ip, enum ptc_mode mode)
{
	const uint32_t id = c->nblocks;

	if (id >= PTC_FAST_MAX_BLOCKS >> c->halved || !room_for_blocks(c, (size_t)id + 1)) {
		c->failed = true;
		return PTC_FAST_NONE;
	}
	c->blocks[id] = (struct ptc_fast_block){ .ip = ip, .mode = (uint8_t)mode };
	c->index[slot] = id;
	c->nblocks++;
	return id;
}

uint32_t ptc_fast_code_find(struct ptc_fast_code *c, uint64_t ip, enum ptc_mode mode)
{
	size_t slot = find_slot(c, ip, mode);

	if (c->index[slot])
		return c->index[slot];
	if ((size_t)c->nblocks * 2 >> c->index_bits) {
		if (!grow_index(c)) {
			c->failed = true;
			return PTC_FAST_NONE;
		}
		slot = find_slot(c, ip, mode);
	}
	return add_block(c, slot, ip, mode);
}

bool ptc_fast_code_reserve(struct ptc_fast_code *c, size_t n)
{
	if (c->nrecs + n > PTC_FAST_MAX_REC >> c->halved ||
	    !ptc_fast_table_grow(&c->recs, &c->recs_cap, c->nrecs + n + PTC_FAST_READ_ON,
				 sizeof(*c->recs), RECS_ROOM))
		c->failed = true;
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

/* A block in the making: what is added is behind all that there is. */
struct making {
	struct ptc_fast_code *code;
	struct ptc_fast_block b;
	enum ptc_mode mode;
	uint32_t number;
	uint64_t ip;   /* of the next instruction */
	uint64_t page; /* that of the last one */
};

/* The block has, or wants, code at @ip. */
static void note_page(struct making *m, uint64_t ip)
{
	struct ptc_fast_pages *p = &m->code->pages;

	if (ip >> PTC_FAST_PAGE_BITS == m->page)
		return;
	m->page = ip >> PTC_FAST_PAGE_BITS;
	if (p->nlinks > MAX_LINKS >> m->code->halved || !ptc_fast_pages_add(p, m->page, m->number))
		m->code->failed = true;
}

static void note_pages(struct making *m, size_t len)
{
	note_page(m, m->ip);
	note_page(m, m->ip + (len - 1));
}

/* The block at @ip is where something in the block leads. */
static uint32_t leads_to(struct making *m, uint64_t ip)
{
	return ptc_fast_code_find(m->code, ip, m->mode);
}

static void add_rec(struct making *m, uint64_t to, enum ptc_kind kind)
{
	m->code->recs[m->code->nrecs++] = ptc_fast_rec(m->ip, to, kind);
}

static void add_push(struct making *m, uint64_t ip)
{
	m->code->pushes[m->code->npushes++] = leads_to(m, ip);
	m->b.npushes++;
}

static void leap(struct making *m, const struct ptc_insn *in)
{
	const uint64_t behind = m->ip + in->len;

	add_rec(m, in->target, (enum ptc_kind)in->kind);
	m->b.nrecs++;
	m->code->lens[m->code->nlens - 1] |= PTC_FAST_LEAPS;
	/* A call to the next instruction is there for its address: it is not returned to. */
	if (in->kind == PTC_KIND_CALL && in->target != behind) {
		add_push(m, behind);
		m->code->lens[m->code->nlens - 1] |= PTC_FAST_PUSHES;
	}
	m->ip = in->target;
}

/* @in needs trace: the block ends here. */
static void end_with(struct making *m, const struct ptc_insn *in)
{
	const uint64_t behind = m->ip + in->len;

	m->b.end = in->kind == PTC_KIND_RET ? PTC_FAST_RET : PTC_FAST_JUMP;
	if (in->kind == PTC_KIND_ICALL)
		add_push(m, behind);
	if (in->kind == PTC_KIND_JCC) {
		m->b.end = PTC_FAST_COND;
		m->b.stays = in->target == behind;
		m->b.next[0] = leads_to(m, behind);
		m->b.next[1] = leads_to(m, in->target);
	}
	add_rec(m, in->target, (enum ptc_kind)in->kind);
}

/* One instruction. False: the block is at its end. */
static bool add_insn(struct making *m)
{
	struct ptc_fast_code *c = m->code;
	uint8_t bytes[PTC_INSN_MAX];
	struct ptc_insn in;
	size_t n;

	if (m->b.ninsns == PTC_FAST_MAX_INSNS || m->b.nrecs == PTC_FAST_MAX_RECS) {
		m->b.end = PTC_FAST_ON;
		m->b.next[0] = leads_to(m, m->ip);
		return false;
	}
	n = c->read(c->ctx, m->ip, bytes, sizeof(bytes));
	if (!n || !ptc_fast_is_address(m->ip) ||
	    ptc_insn_decode(m->mode, bytes, n, m->ip, &in) != PTC_INSN_OK) {
		m->b.end = PTC_FAST_BAD;
		note_pages(m, PTC_INSN_MAX);
		return false;
	}
	note_pages(m, in.len);
	m->b.ninsns++;
	m->b.end_ip = m->ip;
	m->b.end_len = in.len;
	m->b.end_kind = in.kind;
	c->lens[c->nlens++] = in.len;
	if (in.kind == PTC_KIND_NONE)
		m->ip += in.len;
	else if (in.kind == PTC_KIND_JMP || in.kind == PTC_KIND_CALL)
		leap(m, &in);
	else
		end_with(m, &in);
	return m->b.end == PTC_FAST_UNBUILT;
}

void ptc_fast_code_build(struct ptc_fast_code *c, uint32_t block)
{
	struct making m = { .code = c,
			    .b = c->blocks[block],
			    .mode = (enum ptc_mode)c->blocks[block].mode,
			    .number = block,
			    .ip = c->blocks[block].ip,
			    .page = UINT64_MAX };
	ptc_fast_kinds kinds;

	/* For the largest there can be. */
	if (!ptc_fast_code_reserve(c, 1 + PTC_FAST_MAX_RECS + 1) ||
	    !ptc_grow(&c->pushes, &c->pushes_cap, c->npushes + PTC_FAST_MAX_RECS + 1,
		      sizeof(*c->pushes)) ||
	    !ptc_grow(&c->lens, &c->lens_cap, c->nlens + PTC_FAST_MAX_INSNS, 1)) {
		c->failed = true;
		c->blocks[block].end = PTC_FAST_BAD;
		return;
	}
	m.b.recs = (uint32_t)++c->nrecs;
	m.b.pushes = (uint32_t)c->npushes;
	m.b.lens = (uint32_t)c->nlens;
	while (add_insn(&m))
		;
	kinds = ptc_fast_kinds_count(c->recs + m.b.recs, c->nrecs - m.b.recs);
	memcpy(c->recs + m.b.recs - 1, &kinds, sizeof(kinds));
	c->built++;
	c->blocks[block] = m.b;
	/* Some of where it leads there may be no room for. */
	if (c->failed)
		c->blocks[block].end = PTC_FAST_BAD;
}
