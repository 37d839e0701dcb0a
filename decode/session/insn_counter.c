/* SPDX-License-Identifier: MIT */
#include "decode/session/insn_counter.h"

#include <stdlib.h>
#include <string.h>

#include "arch/insn.h"
#include "base/grow.h"
#include "base/sorted.h"
#include "decode/image/addrspace.h"
#include "decode/session/decoder.h"
#include "decode/session/item_lookup.h"

/* Longer than any code that compilers generate without a branch. */
#define BLOCK_MAX ((uint64_t)1 << 20)

void ptc_insn_counter_release(struct ptc_insn_counter *c)
{
	ptc_code_numbers_release(&c->numbers);
	free(c->blocks);
	free(c->threads);
}

/* Returns the length of the instruction at @ip. 0: there is none, or its code is not known. */
static uint8_t insn_length(const struct ptc_addrspace *as, uint64_t ip, enum ptc_mode mode)
{
	uint8_t bytes[PTC_INSN_MAX];
	struct ptc_insn insn;
	const size_t n = ptc_addrspace_read(as, ip, bytes, sizeof(bytes));

	return ptc_insn_decode(mode, bytes, n, ip, &insn) == PTC_INSN_OK ? insn.len : 0;
}

static uint32_t count_in_mode(const struct ptc_addrspace *as, uint64_t start, uint64_t end,
			      bool open, enum ptc_mode mode)
{
	uint64_t ip = start;
	uint32_t insns = 0;
	uint8_t len;

	while (ip < end) {
		len = insn_length(as, ip, mode);
		if (!len)
			return 0;
		ip += len;
		insns++;
	}
	return ip == end ? insns + !open : 0;
}

static uint32_t count_in_some_mode(const struct ptc_addrspace *as, uint64_t start, uint64_t end,
				   bool open, enum ptc_mode *ret_mode)
{
	uint32_t n;

	if (start > end || end - start > BLOCK_MAX)
		return 0;
	*ret_mode = PTC_MODE_64;
	n = count_in_mode(as, start, end, open, PTC_MODE_64);
	if (n)
		return n;
	*ret_mode = PTC_MODE_32;
	return count_in_mode(as, start, end, open, PTC_MODE_32);
}

uint32_t ptc_insn_count(const struct ptc_addrspace *as, uint64_t start, uint64_t end, bool open)
{
	enum ptc_mode mode;

	return count_in_some_mode(as, start, end, open, &mode);
}

int ptc_insn_each(const struct ptc_addrspace *as, uint64_t start, uint64_t end, bool open,
		  int (*on_insn)(void *ctx, uint64_t ip), void *ctx)
{
	enum ptc_mode mode;
	uint32_t n = count_in_some_mode(as, start, end, open, &mode);
	uint64_t ip;
	int rc = 0;

	for (ip = start; n && !rc; n--) {
		rc = on_insn(ctx, ip);
		ip += insn_length(as, ip, mode);
	}
	return rc;
}

static struct ptc_insn_thread *counted_thread(struct ptc_insn_counter *c, const struct ptc_item *it)
{
	const int64_t who = it->tid >= 0 ? it->tid : -1 - (int64_t)it->queue;
	struct ptc_insn_thread *t;

	if (c->newest < c->n && c->threads[c->newest].who == who)
		return &c->threads[c->newest];
	c->newest = PTC_PARTITION_POINT(i, 0, c->n, c->threads[i].who < who);
	if (c->newest < c->n && c->threads[c->newest].who == who)
		return &c->threads[c->newest];
	if (!ptc_grow(&c->threads, &c->cap, c->n + 1, sizeof(*c->threads)))
		return NULL;
	t = &c->threads[c->newest];
	memmove(t + 1, t, (c->n++ - c->newest) * sizeof(*t));
	*t = (struct ptc_insn_thread){ .who = who };
	return t;
}

static uint64_t batch_state(struct ptc_insn_counter *c, const struct ptc_item *it)
{
	if (!c->state_known || c->pid != it->pid) {
		c->state = ptc_decode_code_state(c->d, it);
		c->pid = it->pid;
		c->state_known = true;
	}
	return c->state;
}

/* Returns a number for the code of the block [@start, @end]. */
static uint64_t block_code(struct ptc_insn_counter *c, const struct ptc_item *it, uint64_t start,
			   uint64_t end)
{
	const uint64_t state = batch_state(c, it);
	const struct ptc_code_part *part = &c->part;

	if (!part->number || c->part_state != state || start < part->start || start >= part->end) {
		ptc_code_numbers_part(&c->numbers, c->d, it, start, &c->part);
		c->part_state = state;
	}
	/* The last instruction may be in the next part. */
	if (end < part->start || end >= part->end || part->end - end < PTC_INSN_MAX)
		return state << 1 | 1;
	return part->number;
}

/* Counts the block of @it from @start up to its branch, with the remembered blocks. */
static uint32_t count_block(struct ptc_insn_counter *c, const struct ptc_item *it, uint64_t start)
{
	const bool open = it->kind == PTC_KIND_ASYNC; /* the interrupted instruction did not run */
	const uint64_t code = block_code(c, it, start, it->from) << 1 | open;
	const uint64_t hash = start * 0x9e3779b97f4a7c15 + it->from * 0xc2b2ae3d27d4eb4f + code;
	struct ptc_insn_block *b = &c->blocks[hash >> (64 - PTC_INSN_COUNTER_BITS)];

	if (b->start != start || b->end != it->from || b->code != code || !b->insns)
		*b = (struct ptc_insn_block){
			.start = start,
			.end = it->from,
			.code = code,
			.insns = ptc_insn_count(ptc_decode_addrspace(c->d, it), start, it->from,
						open),
		};
	return b->insns;
}

/*
 * After a gap the position of threads is unknown: of the gap's thread, or of all for a gap of a
 * CPU.
 */
static void lose(struct ptc_insn_counter *c, const struct ptc_item *gap)
{
	const bool own = gap->cause == PTC_GAP_NOCODE || gap->cause == PTC_GAP_BADPACKET ||
			 gap->cause == PTC_GAP_DESYNC;
	size_t i;

	for (i = 0; i < c->n; i++)
		if (!own || gap->tid < 0 || c->threads[i].who == gap->tid)
			c->threads[i].known = false;
}

uint64_t *ptc_insn_counter_add(struct ptc_insn_counter *c, const struct ptc_item *it)
{
	struct ptc_insn_thread *t = counted_thread(c, it);

	if (!c->blocks)
		c->blocks = calloc((size_t)1 << PTC_INSN_COUNTER_BITS, sizeof(*c->blocks));
	if (!t || !c->blocks)
		return NULL;
	if (it->type == PTC_ITEM_GAP)
		lose(c, it);
	if (it->type == PTC_ITEM_INSN)
		t->pending++;
	if (it->type != PTC_ITEM_BRANCH)
		return &t->pending;
	if (t->known && ptc_item_has_from(it))
		t->pending += count_block(c, it, t->at);
	t->known = ptc_item_has_to(it);
	t->at = it->to;
	return &t->pending;
}

int ptc_decode_each_insn(const struct ptc_decode *d, const struct ptc_item *item, uint64_t start,
			 uint64_t end, bool open, int (*on_insn)(void *ctx, uint64_t ip), void *ctx)
{
	return ptc_insn_each(ptc_decode_addrspace(d, item), start, end, open, on_insn, ctx);
}
