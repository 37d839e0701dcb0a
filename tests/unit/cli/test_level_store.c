/* SPDX-License-Identifier: MIT */
/* Description: levels of detail against a model that looks at all calls. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cli/serve/level_store.h"

enum { CALLS = 20000, DEPTHS = 3, CHUNK = 512 };

static struct ptc_served_cell calls[CALLS];
static struct ptc_level_store store;
static struct ptc_temp_store file;
static struct ptc_err err;
static uint32_t seed = 7;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* Calls of three depths. Those of one depth follow each other, and ends never go back. */
static void make_calls(void)
{
	uint64_t free_from[DEPTHS] = { 0 }, now = 5;
	uint32_t i;

	cr_assert_eq(ptc_temp_store_open(&file, UINT64_C(1) << 30, &err), 0, "%s", err.msg);
	for (i = 0; i < CALLS; i++) {
		const uint32_t depth = random_below(DEPTHS);
		const uint64_t most = now - free_from[depth];
		const uint64_t length = random_below(50) ? random_below(90) : most;

		calls[i] = (struct ptc_served_cell){ .number = i,
						     .depth = depth,
						     .function = i % 9,
						     .how = (uint8_t)(i % 5),
						     .end = now,
						     .count = 1 };
		calls[i].busy = calls[i].longest = length < most ? length : most;
		calls[i].begin = now - calls[i].busy;
		free_from[depth] = now;
		cr_assert_eq(ptc_level_store_add(&store, &file, &calls[i], CHUNK, &err), 0);
		now += random_below(1000) ? random_below(60) : random_below(300000);
	}
	cr_assert_eq(ptc_level_store_finish(&store, &file, &err), 0);
}

static void drop_calls(void)
{
	ptc_level_store_release(&store);
	ptc_temp_store_release(&file);
}

TestSuite(level_store, .init = make_calls, .fini = drop_calls);

/* Reads the cells of chunk @i. */
static void read_chunk(const struct ptc_level *l, size_t i, struct ptc_served_cell *ret)
{
	const struct ptc_level_chunk *c = &l->chunks[i];
	struct ptc_served_cell_codec codec = { .last.number = 0 };
	struct ptc_buf bytes = PTC_BUF_INIT;
	struct ptc_numbers from;
	uint32_t k;

	cr_assert_eq(ptc_packed_chunk_get(&file, &c->packed, &bytes, &err), 0);
	from = (struct ptc_numbers){ bytes.bytes, bytes.bytes + bytes.len, false };
	for (k = 0; k < c->cells; k++) {
		cr_assert(ptc_served_cell_get(&codec, &from, &ret[k]));
		cr_assert(ret[k].end >= c->first && ret[k].end <= c->last &&
			  ret[k].begin >= c->begin);
	}
	cr_assert(from.at == from.end);
	ptc_buf_release(&bytes);
}

/* Checks the cells of a level against all calls: each cell is the next calls of its depth. */
static void check_level(unsigned int k)
{
	const struct ptc_level *l = &store.levels[k];
	const uint64_t slot = UINT64_C(1) << ptc_level_shift(k);
	static struct ptc_served_cell cells[CALLS];
	size_t next[DEPTHS] = { 0 }, n = 0, i, c;

	for (i = 0; i < l->n; i++) {
		cr_assert(!i || l->chunks[i].first > l->chunks[i - 1].last ||
				  l->chunks[i].first / slot >= l->chunks[i - 1].last / slot,
			  "chunks are in order");
		read_chunk(l, i, cells + n);
		n += l->chunks[i].cells;
	}
	for (c = 0; c < n; c++) {
		const struct ptc_served_cell *cell = &cells[c];
		uint64_t busy = 0, longest = 0, count;
		size_t at = next[cell->depth];

		for (count = 0; count < cell->count; count++, at++) {
			while (calls[at].depth != cell->depth)
				at++;
			cr_assert(count || calls[at].begin == cell->begin);
			cr_assert(cell->count == 1 || calls[at].busy < slot, "a long call");
			busy += calls[at].busy;
			longest = calls[at].longest > longest ? calls[at].longest : longest;
		}
		cr_assert_eq(calls[at - 1].end, cell->end);
		cr_assert(cell->busy == busy && cell->longest == longest);
		cr_assert_eq(calls[cell->number].longest, longest);
		cr_assert_eq(calls[cell->number].function, cell->function);
		cr_assert(cell->count == 1 || cell->end - cell->begin < 2 * slot);
		next[cell->depth] = at;
	}
	for (i = 0; i < CALLS; i++)
		cr_assert(next[calls[i].depth] > i, "call %zu of level %u is lost", i, k);
}

Test(level_store, each_level_has_all_calls_in_order)
{
	unsigned int k;

	cr_assert_gt(store.levels[0].n, 9, "there are several chunks");
	for (k = 0; k < PTC_LEVELS; k++)
		check_level(k);
	cr_assert_lt(store.levels[8].n, store.levels[0].n);
}

Test(level_store, a_range_has_the_chunks_with_its_cells)
{
	const struct ptc_level *l = &store.levels[1];
	uint64_t from, cells;
	size_t i, begin, end;

	for (from = 0; from < calls[CALLS - 1].end + 100; from += 9973) {
		begin = ptc_level_range(l, from, from + 5000, &end, &cells);
		for (i = 0; i < l->n; i++)
			cr_assert((i >= begin && i < end) == (l->chunks[i].last >= from &&
							      l->chunks[i].first <= from + 5000),
				  "chunk %zu at %llu", i, (unsigned long long)from);
	}
}
