/* SPDX-License-Identifier: MIT */
/* Description: chains that were made are there, whole, while their table grows. */
#include <criterion/criterion.h>

#include "decode/fast/chain.h"

enum { BITS = 8, BLOCKS = 80000, START = 0x100000, ROOM_BITS = 16 };

/* jne +14 at each even address. */
static size_t read_code(const void *ctx, uint64_t ip, uint8_t *out, size_t len)
{
	size_t i;

	(void)ctx;
	for (i = 0; i < len; i++)
		out[i] = (ip + i) % 2 ? 0x0e : 0x75;
	return len;
}

/* Those of the block at the number @i. */
static uint64_t bits_of(size_t i)
{
	return (uint64_t)(i * 2654435761u >> 3 & 0xff) << 56;
}

static uint64_t end_of(size_t i)
{
	const uint64_t taken = (uint64_t)__builtin_popcountll(bits_of(i));

	return START + 2 * i + 16 * taken + 2 * (BITS - taken);
}

static uint32_t make(struct ptc_fast_chains *c, struct ptc_fast_code *code, size_t i)
{
	const uint32_t block = ptc_fast_code_find(code, START + 2 * i, PTC_MODE_64);
	size_t k;

	cr_assert(block);
	for (k = 0; k <= PTC_FAST_CHAIN_HEAT; k++)
		ptc_fast_chain_make(c, code, &code->source, block, bits_of(i), BITS);
	return block;
}

/* Is that of @block there? If so it is right. */
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

Test(chain, all_that_are_there_stay_while_the_table_grows)
{
	static uint32_t blocks[BLOCKS];
	struct ptc_fast_chains c;
	struct ptc_fast_code code;
	size_t i, was, found = 0, refused = 0;

	cr_assert(ptc_fast_code_init(&code, read_code, NULL) && ptc_fast_chains_init(&c));
	for (i = 0; i < BLOCKS; i++) {
		was = c.used;
		blocks[i] = make(&c, &code, i);
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
	cr_assert(find(&c, &code, make(&c, &code, 1), 1));
	ptc_fast_chains_release(&c);
	ptc_fast_code_release(&code);
}

Test(chain, of_who_counts_it_has_how_many_there_are)
{
	const struct ptc_fast_chain *chain;
	struct ptc_fast_chains c;
	struct ptc_fast_code code;
	const size_t i = 5;
	uint32_t block;

	cr_assert(ptc_fast_code_init(&code, read_code, NULL) && ptc_fast_chains_init(&c));
	ptc_fast_chains_set_counts(&c, true);
	block = make(&c, &code, i);
	cr_assert(find(&c, &code, block, i));
	chain = ptc_fast_chain_find(ptc_fast_chains_table(&c),
				    ptc_fast_chain_key(block, bits_of(i), BITS));
	cr_assert_eq(chain->recs, code.nrecs, "no record is behind");
	cr_assert_gt(chain->nrecs, 1);
	cr_assert_eq(ptc_fast_kinds_of(code.recs + chain->recs)[PTC_KIND_JCC], chain->nrecs);
	ptc_fast_chains_set_counts(&c, true);
	cr_assert(find(&c, &code, block, i));
	ptc_fast_chains_set_counts(&c, false);
	cr_assert_not(find(&c, &code, block, i), "without records it is of no use to who lists");
	make(&c, &code, i);
	chain = ptc_fast_chain_find(ptc_fast_chains_table(&c),
				    ptc_fast_chain_key(block, bits_of(i), BITS));
	cr_assert_eq(chain->recs + chain->nrecs, code.nrecs);
	cr_assert_eq(ptc_fast_kinds_of(code.recs + chain->recs)[PTC_KIND_JCC], chain->nrecs);
	ptc_fast_chains_release(&c);
	ptc_fast_code_release(&code);
}
