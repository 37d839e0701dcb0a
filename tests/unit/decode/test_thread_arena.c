/* SPDX-License-Identifier: MIT */
/*
 * Description: hands of the same code know the same blocks, and each fills its own part of the
 * lists. Above a limit an addition fails; it works again after everything was forgotten.
 */
#include <criterion/criterion.h>

#include "decode/engine/tnt_chain.h"
#include "lib_jcc.h"

enum { START = 0x100000, BITS = 8 };

static struct ptc_fast_hand *add_hand(struct ptc_fast_code *c)
{
	struct ptc_fast_hand *h = ptc_fast_hand_new(c, &(struct ptc_fast_source){ jcc_read, NULL });

	cr_assert(h);
	return h;
}

static uint32_t find(struct ptc_fast_hand *h, size_t i)
{
	return ptc_fast_code_find(h, START + 2 * i, PTC_MODE_64);
}

Test(thread_arena, blocks_are_all_hands_and_each_fills_its_own_part)
{
	enum { BLOCKS = 5000 };
	static bool theirs[3 * BLOCKS]; /* records, by number */
	struct ptc_fast_hand *hands[2];
	struct ptc_fast_code c;
	size_t i;

	cr_assert(ptc_fast_code_init(&c));
	c.shared = true;
	hands[0] = add_hand(&c);
	hands[1] = add_hand(&c);
	for (i = 0; i < BLOCKS; i++) {
		const uint32_t block = find(hands[i % 2], i);
		const struct ptc_fast_block *b = ptc_fast_code_get(hands[i % 2], block);

		cr_assert_eq(b->end, PTC_FAST_COND);
		cr_assert_eq(c.blocks[b->next[1]].ip, START + 2 * i + 16);
		cr_assert_eq(find(hands[(i + 1) % 2], i), block);
		cr_assert_eq(ptc_fast_rec_from(c.recs[b->recs]), START + 2 * i);
		cr_assert_lt(b->recs, sizeof(theirs));
		cr_assert(!theirs[b->recs] && !theirs[b->recs - 1], "it is another one's");
		theirs[b->recs] = theirs[b->recs - 1] = true;
	}
	cr_assert_eq(hands[0]->built, BLOCKS / 2);
	cr_assert_eq(ptc_fast_code_built(&c), BLOCKS);
	cr_assert(ptc_fast_code_knows(&c, START, START + 1), "that of the first hand");
	cr_assert(ptc_fast_code_knows(&c, START + 2, START + 3), "that of the second hand");
	cr_assert_not(ptc_fast_code_knows(&c, START - 1, START));
	cr_assert_gt(ptc_fast_code_bytes(&c), BLOCKS * sizeof(*c.blocks));
	ptc_fast_code_release(&c);
}

Test(thread_arena, more_blocks_than_there_may_be_are_none)
{
	struct ptc_fast_hand *h;
	struct ptc_fast_code c;
	size_t i, n, max;

	cr_assert(ptc_fast_code_init(&c));
	h = add_hand(&c);
	c.halved = 12;
	max = ptc_fast_list_max(&c, PTC_FAST_LIST_BLOCKS);
	for (n = 0; find(h, n); n++)
		cr_assert_lt(n, max);
	cr_assert_eq(n, max - 1, "that of no number is one of them");
	cr_assert(c.failed && ptc_fast_code_is_full(&c));
	cr_assert(find(h, 0), "what is there is there");
	ptc_fast_code_forget(&c);
	cr_assert_not(ptc_fast_code_is_full(&c));
	for (i = 0; i < n; i++)
		cr_assert(find(h, i));
	cr_assert_not(find(h, n));
	ptc_fast_code_release(&c);
}

/* In a shared cache they are not counted exactly, but none may be left. */
Test(thread_arena, what_is_forgotten_is_not_there_however_little_it_was)
{
	struct ptc_fast_chains chains;
	struct ptc_fast_hand *h;
	struct ptc_fast_code c;
	uint32_t block;
	uint64_t key;
	size_t i;

	cr_assert(ptc_fast_code_init(&c) && ptc_fast_chains_init(&chains));
	c.shared = true;
	h = add_hand(&c);
	block = find(h, 0);
	key = ptc_fast_chain_key(block, 0, BITS);
	for (i = 0; i <= PTC_FAST_CHAIN_HEAT; i++)
		(void)ptc_fast_chain_make(&chains, h, block, 0, BITS);
	cr_assert(ptc_fast_chain_find(ptc_fast_chains_table(&chains), key));
	ptc_fast_chains_forget(&chains);
	cr_assert_not(ptc_fast_chain_find(ptc_fast_chains_table(&chains), key));
	ptc_fast_chains_release(&chains);
	ptc_fast_code_release(&c);
}

/* Chains leave space for blocks, because the engine cannot work without blocks. */
Test(thread_arena, records_that_there_may_be_are_for_chains_and_then_for_blocks)
{
	enum { BLOCKS = 32, MORE = 200 };
	struct ptc_fast_chains chains;
	struct ptc_fast_hand *h;
	struct ptc_fast_code c;
	size_t i, k, max;

	cr_assert(ptc_fast_code_init(&c) && ptc_fast_chains_init(&chains));
	h = add_hand(&c);
	c.halved = 10;
	max = ptc_fast_list_max(&c, PTC_FAST_LIST_RECS);
	for (i = 0; i < BLOCKS << BITS; i++)
		for (k = 0; k <= PTC_FAST_CHAIN_HEAT; k++)
			(void)ptc_fast_chain_make(&chains, h, find(h, i % BLOCKS),
						  (uint64_t)(i / BLOCKS) << 56, BITS);
	cr_assert_gt(c.used[PTC_FAST_LIST_RECS], max / 2, "there were enough");
	cr_assert(ptc_fast_code_is_full(&c) && !c.failed);
	for (i = 0; i < MORE; i++) {
		k = find(h, (size_t)10 * BLOCKS + i);
		cr_assert_eq(ptc_fast_code_get(h, (uint32_t)k)->end, PTC_FAST_COND);
	}
	cr_assert_not(c.failed);
	ptc_fast_chains_release(&chains);
	ptc_fast_code_release(&c);
}

/* The block is not built, because its target cannot be recorded. */
Test(thread_arena, a_block_that_leads_where_there_is_no_room_is_bad)
{
	struct ptc_fast_hand *h;
	struct ptc_fast_code c;
	uint32_t last = 0, block;
	size_t i;

	cr_assert(ptc_fast_code_init(&c));
	h = add_hand(&c);
	c.halved = 12;
	for (i = 0; (block = find(h, 100 * i)); i++)
		last = block;
	cr_assert_eq(ptc_fast_code_get(h, last)->end, PTC_FAST_BAD);
	cr_assert(c.failed);
	ptc_fast_code_release(&c);
}
