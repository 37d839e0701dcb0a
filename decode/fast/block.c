/* SPDX-License-Identifier: MIT */
#include "decode/fast/block.h"

#include <stdlib.h>
#include <string.h>

#include "decode/grow.h"

enum { FIRST_BITS = 12 };

bool ptc_fast_code_init(struct ptc_fast_code *c, ptc_fast_read *read, const void *ctx)
{
	*c = (struct ptc_fast_code){ .read = read, .ctx = ctx, .index_bits = FIRST_BITS };
	c->index = calloc((size_t)1 << c->index_bits, sizeof(*c->index));
	if (!c->index || !ptc_grow(&c->blocks, &c->blocks_cap, 2, sizeof(*c->blocks)))
		return false;
	ptc_fast_code_forget(c);
	return true;
}

void ptc_fast_code_release(struct ptc_fast_code *c)
{
	free(c->blocks);
	free(c->recs);
	free(c->pushes);
	free(c->lens);
	free(c->index);
	*c = (struct ptc_fast_code){ .nblocks = 0 };
}

void ptc_fast_code_forget(struct ptc_fast_code *c)
{
	memset(c->index, 0, sizeof(*c->index) << c->index_bits);
	c->blocks[PTC_FAST_NONE] = (struct ptc_fast_block){ .end = PTC_FAST_BAD };
	c->nblocks = 1;
	c->nrecs = c->npushes = c->nlens = 0;
	c->failed = false;
}

bool ptc_fast_code_is_full(const struct ptc_fast_code *c)
{
	return c->failed || c->nblocks > PTC_FAST_MAX_BLOCKS >> c->halved >> 1 ||
	       c->nrecs > PTC_FAST_MAX_REC >> c->halved >> 1;
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
	uint32_t *index = calloc(mask + 1, sizeof(*index));
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
	free(c->index);
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

	if (id >= PTC_FAST_MAX_BLOCKS >> c->halved ||
	    !ptc_grow(&c->blocks, &c->blocks_cap, (size_t)id + 1, sizeof(*c->blocks))) {
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
	    !ptc_grow(&c->recs, &c->recs_cap, c->nrecs + n + 1, sizeof(*c->recs)))
		c->failed = true;
	return !c->failed;
}

/* A block in the making: what is added is behind all that there is. */
struct making {
	struct ptc_fast_code *code;
	struct ptc_fast_block b;
	enum ptc_mode mode;
	uint64_t ip; /* of the next instruction */
};

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
		return false;
	}
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
			    .ip = c->blocks[block].ip };

	/* For the largest there can be. */
	if (!ptc_fast_code_reserve(c, PTC_FAST_MAX_RECS + 1) ||
	    !ptc_grow(&c->pushes, &c->pushes_cap, c->npushes + PTC_FAST_MAX_RECS + 1,
		      sizeof(*c->pushes)) ||
	    !ptc_grow(&c->lens, &c->lens_cap, c->nlens + PTC_FAST_MAX_INSNS, 1)) {
		c->failed = true;
		c->blocks[block].end = PTC_FAST_BAD;
		return;
	}
	m.b.recs = (uint32_t)c->nrecs;
	m.b.pushes = (uint32_t)c->npushes;
	m.b.lens = (uint32_t)c->nlens;
	while (add_insn(&m))
		;
	c->built++;
	c->blocks[block] = m.b;
	/* Some of where it leads there may be no room for. */
	if (c->failed)
		c->blocks[block].end = PTC_FAST_BAD;
}
