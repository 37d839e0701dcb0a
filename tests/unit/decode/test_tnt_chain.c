/* SPDX-License-Identifier: MIT */
/*
 * Description: chains stay complete while their table grows; a block and a chain are as described
 * in doc/engine.md.
 */
#include <string.h>

#include <criterion/criterion.h>

#include "decode/engine/tnt_chain.h"
#include "lib_jcc.h"

enum { BITS = 8, BLOCKS = 80000, START = 0x100000, ROOM_BITS = 16 };

/* The bits of the block with number @i. */
static uint64_t bits_of(size_t i)
{
	return (uint64_t)(i * 2654435761u >> 3 & 0xff) << 56;
}

static uint64_t end_of(size_t i)
{
	const uint64_t taken = (uint64_t)__builtin_popcountll(bits_of(i));

	return START + 2 * i + 16 * taken + 2 * (BITS - taken);
}

static uint32_t make(struct ptc_fast_chains *c, struct ptc_fast_hand *h, size_t i)
{
	const uint32_t block = ptc_fast_code_find(h, START + 2 * i, PTC_MODE_64);
	size_t k;

	cr_assert(block);
	for (k = 0; k <= PTC_FAST_CHAIN_HEAT; k++)
		ptc_fast_chain_make(c, h, block, bits_of(i), BITS);
	return block;
}

/* Returns true if the chain of @block exists, after a check of its contents. */
static bool find(const struct ptc_fast_chains *c, const struct ptc_fast_code *code, uint32_t block,
		 size_t i)
{
	const struct ptc_fast_chain *chain = ptc_fast_chain_find(
		ptc_fast_chains_table(c), ptc_fast_chain_key(block, bits_of(i), BITS));

	if (!chain)
		return false;
	cr_assert_eq(code->blocks[chain->end].ip, end_of(i));
	cr_assert_eq(chain->nbits, BITS);
	cr_assert_eq(chain->nrecs, __builtin_popcountll(bits_of(i)));
	return true;
}

/* Creates the cache for the code of @read, for one thread. */
static struct ptc_fast_hand *begin(struct ptc_fast_code *code, struct ptc_fast_chains *c,
				   ptc_fast_read *read)
{
	const struct ptc_fast_source source = { read, NULL };
	struct ptc_fast_hand *h;

	cr_assert(ptc_fast_code_init(code) && ptc_fast_chains_init(c));
	h = ptc_fast_hand_new(code, &source);
	cr_assert(h);
	return h;
}

static void end(struct ptc_fast_code *code, struct ptc_fast_chains *c)
{
	ptc_fast_chains_release(c);
	ptc_fast_code_release(code);
}

Test(tnt_chain, all_that_are_there_stay_while_the_table_grows)
{
	static uint32_t blocks[BLOCKS];
	struct ptc_fast_chains c;
	struct ptc_fast_code code;
	struct ptc_fast_hand *h;
	size_t i, was, found = 0, refused = 0;

	h = begin(&code, &c, jcc_read);
	for (i = 0; i < BLOCKS; i++) {
		was = c.used;
		blocks[i] = make(&c, h, i);
		cr_assert_geq(c.used, was, "lost at %zu", i);
		refused += !find(&c, &code, blocks[i], i);
	}
	cr_expect_lt(refused, BLOCKS / 10, "where there was no room");
	cr_assert_gt(ptc_fast_chains_table(&c)->bits, ROOM_BITS + 1,
		     "it grew in its place, and more than once");
	for (i = 0; i < BLOCKS; i++)
		found += find(&c, &code, blocks[i], i);
	cr_expect_eq(found, c.used);
	cr_expect_gt(found, BLOCKS - BLOCKS / 10);
	ptc_fast_chains_forget(&c);
	cr_expect_not(find(&c, &code, blocks[0], 0));
	cr_assert(find(&c, &code, make(&c, h, 1), 1));
	end(&code, &c);
}

/* Returns the size of the tables in use, as chains_bytes() should count it. */
static size_t bytes_in_use(const struct ptc_fast_chains *c)
{
	size_t bytes = 0;
	unsigned int i;

	for (i = 0; i < c->n; i++)
		bytes += sizeof(struct ptc_fast_chain) << c->tables[i].bits;
	return bytes;
}

/* Tables made ahead count too: the memory limit is for everything. */
Test(tnt_chain, memory_of_a_shared_table_counts_as_soon_as_it_is_there)
{
	struct ptc_fast_chains c;
	struct ptc_fast_code code;
	struct ptc_fast_hand *h;
	size_t i, n = 0, most = 0;
	unsigned int was;

	h = begin(&code, &c, jcc_read);
	code.shared = true;
	cr_assert_eq(ptc_fast_chains_bytes(&c), bytes_in_use(&c));
	for (i = 0; i < BLOCKS && ptc_fast_chains_table(&c)->bits <= ROOM_BITS; i++) {
		(void)make(&c, h, i);
		if (i % 256)
			continue;
		was = c.n;
		ptc_fast_chains_prepare(&c, &code);
		cr_assert_eq(c.n, was, "that is only ahead");
		n = ptc_fast_chains_bytes(&c) - bytes_in_use(&c);
		most = n > most ? n : most;
	}
	cr_expect_eq(most, sizeof(struct ptc_fast_chain) << (ROOM_BITS + 2), "all of it, ahead");
	cr_expect_eq(ptc_fast_chains_table(&c)->bits, ROOM_BITS + 2);
	cr_expect_eq(ptc_fast_chains_bytes(&c), bytes_in_use(&c), "and now in use");
	for (i = 0; i < c.n; i++)
		cr_expect_not_null(c.tables[i].v, "others may look into them");
	end(&code, &c);
}

/* A few chains requested repeatedly do not justify making everything again. */
Test(tnt_chain, the_table_is_full_when_those_without_room_cost_more_than_all_others)
{
	struct ptc_fast_chains c;
	struct ptc_fast_code code;
	size_t i;

	(void)begin(&code, &c, jcc_read);
	c.used = 1000;
	c.refused = 1000000;
	cr_assert_not(ptc_fast_chains_is_full(&c, &code), "it may grow");
	code.halved = 8;
	cr_assert(ptc_fast_chains_is_full(&c, &code));
	for (i = 0; i < 8; i++) {
		c.refused = c.used * i;
		cr_assert_not(ptc_fast_chains_is_full(&c, &code));
	}
	end(&code, &c);
}

Test(tnt_chain, of_who_counts_it_has_how_many_there_are)
{
	const struct ptc_fast_chain *chain;
	struct ptc_fast_chains c;
	struct ptc_fast_code code;
	struct ptc_fast_hand *h;
	const size_t i = 5;
	uint32_t block;

	h = begin(&code, &c, jcc_read);
	ptc_fast_chains_set_counts(&c, true);
	block = make(&c, h, i);
	cr_assert(find(&c, &code, block, i));
	chain = ptc_fast_chain_find(ptc_fast_chains_table(&c),
				    ptc_fast_chain_key(block, bits_of(i), BITS));
	cr_assert_eq(chain->recs, h->parts[PTC_FAST_LIST_RECS].at, "no record is behind");
	cr_assert_gt(chain->nrecs, 1);
	cr_assert_eq(ptc_fast_kinds_of(code.recs + chain->recs)[PTC_KIND_JCC], chain->nrecs);
	ptc_fast_chains_set_counts(&c, true);
	cr_assert(find(&c, &code, block, i));
	ptc_fast_chains_set_counts(&c, false);
	cr_assert_not(find(&c, &code, block, i), "without records it is of no use to who lists");
	make(&c, h, i);
	chain = ptc_fast_chain_find(ptc_fast_chains_table(&c),
				    ptc_fast_chain_key(block, bits_of(i), BITS));
	cr_assert_eq(chain->recs + chain->nrecs, h->parts[PTC_FAST_LIST_RECS].at);
	cr_assert_eq(ptc_fast_kinds_of(code.recs + chain->recs)[PTC_KIND_JCC], chain->nrecs);
	end(&code, &c);
}

/* The code of the example in doc/engine.md. */
enum { EXAMPLE = 0x401000, EXAMPLE_LEN = 0x2b };

/* clang-format off */
static const uint8_t example[EXAMPLE_LEN] = {
	[0x00] = 0x48, 0x85, 0xff,		/* test %rdi,%rdi */
	[0x03] = 0x74, 0x0b,			/* je 401010 */
	[0x05] = 0xe8, 0x16, 0x00, 0x00, 0x00,	/* call 401020 */
	[0x0a] = 0xeb, 0xf4,			/* jmp 401000 */
	[0x10] = 0xc3,				/* ret */
	[0x20] = 0x48, 0x83, 0x3f, 0x07,	/* cmpq $7,(%rdi) */
	[0x24] = 0x75, 0x04,			/* jne 40102a */
	[0x26] = 0xc3,				/* ret */
	[0x2a] = 0xc3,				/* ret */
};
/* clang-format on */

static size_t read_example(const void *ctx, uint64_t ip, uint8_t *out, size_t len)
{
	const uint64_t at = ip - EXAMPLE;

	(void)ctx;
	if (at >= EXAMPLE_LEN)
		return 0;
	len = len < EXAMPLE_LEN - at ? len : EXAMPLE_LEN - at;
	memcpy(out, example + at, len);
	return len;
}

static void expect_rec(struct ptc_fast_rec r, uint64_t from, uint64_t to, enum ptc_kind kind)
{
	cr_assert_eq(ptc_fast_rec_from(r), EXAMPLE + from, "%lx", ptc_fast_rec_from(r));
	cr_assert_eq(r.to, to, "%lx", r.to);
	cr_assert_eq(ptc_fast_rec_kind(r), kind);
}

/* Checks block #2 of the document. */
static void expect_block(struct ptc_fast_hand *h)
{
	const uint32_t id = ptc_fast_code_find(h, EXAMPLE + 0x05, PTC_MODE_64);
	const struct ptc_fast_block *b = ptc_fast_code_get(h, id);
	const struct ptc_fast_code *code = h->code;
	const uint8_t *lens = code->lens + b->lens;

	cr_assert_eq(b->end, PTC_FAST_COND);
	cr_assert_eq(code->blocks[b->next[0]].ip, EXAMPLE + 0x26);
	cr_assert_eq(code->blocks[b->next[1]].ip, EXAMPLE + 0x2a);
	cr_assert_eq(b->nrecs, 1);
	expect_rec(code->recs[b->recs], 0x05, EXAMPLE + 0x20, PTC_KIND_CALL);
	expect_rec(code->recs[b->recs + 1], 0x24, EXAMPLE + 0x2a, PTC_KIND_JCC);
	cr_assert_eq(b->npushes, 1);
	cr_assert_eq(code->blocks[code->pushes[b->pushes]].ip, EXAMPLE + 0x0a);
	cr_assert_eq(b->ninsns, 3);
	cr_assert_eq(lens[0], 5 | PTC_FAST_LEAPS | PTC_FAST_PUSHES);
	cr_assert(lens[1] == 4 && lens[2] == 2);
}

static void expect_chain(struct ptc_fast_chains *c, struct ptc_fast_hand *h)
{
	const uint64_t bits = (uint64_t)0x67 << 56; /* 0 1 1 0 0 1 1 1 */
	const uint32_t block = ptc_fast_code_find(h, EXAMPLE, PTC_MODE_64);
	const struct ptc_fast_code *code = h->code;
	const uint64_t key = ptc_fast_chain_key(block, bits, BITS);
	const struct ptc_fast_chain *chain;
	const struct ptc_fast_rec *r;
	ptc_fast_kinds kinds;
	size_t i;

	for (i = 0; i <= PTC_FAST_CHAIN_HEAT; i++)
		ptc_fast_chain_make(c, h, block, bits, BITS);
	chain = ptc_fast_chain_find(ptc_fast_chains_table(c), key);
	cr_assert(chain && key == ((uint64_t)block << 16 | 1 << 8 | 0x67));
	cr_assert_eq(chain->end, PTC_FAST_NONE);
	cr_assert_eq(code->blocks[chain->last].ip, EXAMPLE + 0x10);
	cr_assert(chain->npushes == 0 && chain->ninsns == 17 && chain->nbits == 8);
	cr_assert_eq(chain->nrecs, 9);
	r = code->recs + chain->recs;
	expect_rec(r[0], 0x05, EXAMPLE + 0x20, PTC_KIND_CALL);
	expect_rec(r[1], 0x24, EXAMPLE + 0x2a, PTC_KIND_JCC);
	expect_rec(r[2], 0x2a, EXAMPLE + 0x0a, PTC_KIND_RET);
	expect_rec(r[3], 0x0a, EXAMPLE, PTC_KIND_JMP);
	expect_rec(r[4], 0x05, EXAMPLE + 0x20, PTC_KIND_CALL);
	expect_rec(r[5], 0x26, EXAMPLE + 0x0a, PTC_KIND_RET);
	expect_rec(r[6], 0x0a, EXAMPLE, PTC_KIND_JMP);
	expect_rec(r[7], 0x03, EXAMPLE + 0x10, PTC_KIND_JCC);
	expect_rec(r[8], 0x10, 0, PTC_KIND_RET);
	kinds = ptc_fast_kinds_of(r);
	cr_assert(kinds[PTC_KIND_CALL] == 2 && kinds[PTC_KIND_JCC] == 2);
	cr_assert(kinds[PTC_KIND_JMP] == 2 && kinds[PTC_KIND_RET] == 3);
}

Test(tnt_chain, is_as_the_document_has_it)
{
	struct ptc_fast_chains c;
	struct ptc_fast_code code;
	struct ptc_fast_hand *h = begin(&code, &c, read_example);

	expect_block(h);
	expect_chain(&c, h);
	end(&code, &c);
}
