/* SPDX-License-Identifier: MIT */
/*
 * Description: each block of code is stored once, for all describers and any number of
 * descriptions.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/emu/block_store.h"

enum { PAGE = 4096 };

static struct ptc_emu_shared *segment(uint64_t arena)
{
	struct ptc_emu_shared *sh = mmap(NULL, ptc_emu_segment_size(arena), PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	cr_assert_neq(sh, MAP_FAILED);
	ptc_emu_arena_init(sh, arena);
	return sh;
}

static void drop(struct ptc_emu_shared *sh)
{
	cr_assert_eq(munmap(sh, ptc_emu_segment_size(sh->arena_size)), 0);
}

/* Makes the code of block @n: all blocks differ, many of them in only a few bytes. */
static uint32_t code_of(uint32_t n, uint8_t *code)
{
	const uint32_t len = 4 + n % 40;

	memset(code, 0x90, len);
	memcpy(code + len - sizeof(n), &n, sizeof(n));
	return len;
}

static uint32_t place(struct ptc_emu_shared *sh, uint32_t n)
{
	uint8_t code[64];
	struct ptc_emu_block b = { .start = 0x400000 + 16 * (uint64_t)(n / 3), .insns = 2 };

	b.len = code_of(n, code);
	return ptc_emu_arena_place(sh, &b, code);
}

static void check_block(struct ptc_emu_shared *sh, uint32_t at, uint32_t n)
{
	const struct ptc_emu_block *b = ptc_emu_block(sh, at);
	uint8_t code[64];

	cr_assert_neq(at, 0);
	cr_assert_eq(b->len, code_of(n, code));
	cr_assert_eq(memcmp(b + 1, code, b->len), 0);
}

Test(block_store, a_block_that_is_known_takes_no_room)
{
	struct ptc_emu_shared *sh = segment(1 << 20);
	const uint32_t first = place(sh, 1), second = place(sh, 2);
	const uint64_t used = atomic_load(&sh->arena_used);
	int i;

	cr_assert_neq(first, second);
	for (i = 0; i < 100000; i++) { /* as if code is toggled between two versions */
		cr_assert_eq(place(sh, 1), first);
		cr_assert_eq(place(sh, 2), second);
	}
	cr_assert_eq(atomic_load(&sh->arena_used), used);
	drop(sh);
}

Test(block_store, whatever_differs_makes_it_another_block)
{
	struct ptc_emu_shared *sh = segment(1 << 20);
	const struct ptc_emu_block b = { .start = 0x1000, .len = 9, .insns = 3 };
	const struct ptc_emu_block start = { .start = 0x1001, .len = 9, .insns = 3 };
	const struct ptc_emu_block len = { .start = 0x1000, .len = 8, .insns = 3 };
	const struct ptc_emu_block insns = { .start = 0x1000, .len = 9, .insns = 2 };
	uint8_t code[9] = { 0 };
	uint32_t at[14] = { ptc_emu_arena_place(sh, &b, code),
			    ptc_emu_arena_place(sh, &start, code),
			    ptc_emu_arena_place(sh, &len, code),
			    ptc_emu_arena_place(sh, &insns, code) };
	size_t n = 4, i, j;

	for (i = 0; i < sizeof(code); i++) {
		code[i] = 1;
		at[n++] = ptc_emu_arena_place(sh, &b, code);
		code[i] = 0;
	}
	for (i = 0; i < n; i++)
		for (j = 0; j < i; j++)
			cr_assert_neq(at[i], at[j], "%zu and %zu", i, j);
	cr_assert_eq(ptc_emu_arena_place(sh, &b, code), at[0]);
	drop(sh);
}

/* Many more blocks than the first levels of the index hold. */
Test(block_store, many_blocks_are_found_again)
{
	enum { MANY = 200000 };
	struct ptc_emu_shared *sh = segment(16 << 20);
	uint32_t *at = calloc(MANY, sizeof(*at));
	uint64_t used;
	uint32_t i;

	cr_assert_not_null(at);
	for (i = 0; i < MANY; i++)
		at[i] = place(sh, i);
	used = atomic_load(&sh->arena_used);
	for (i = 0; i < MANY; i++) {
		check_block(sh, at[i], i);
		cr_assert_eq(place(sh, i), at[i]);
	}
	cr_assert_eq(atomic_load(&sh->arena_used), used);
	free(at);
	drop(sh);
}

Test(block_store, when_it_is_full_what_it_has_is_still_found)
{
	struct ptc_emu_shared *sh = segment(PTC_EMU_ARENA_MIN);
	uint32_t n = 0, i;

	while (place(sh, n))
		n++;
	cr_assert_gt(n, PTC_EMU_ARENA_MIN / 80);
	cr_assert_leq(atomic_load(&sh->arena_used), PTC_EMU_ARENA_MIN);
	for (i = 0; i < n; i++)
		check_block(sh, place(sh, i), i);
	cr_assert_eq(place(sh, n), 0);
	drop(sh);
}

Test(block_store, when_its_index_is_full_blocks_have_a_place_all_the_same)
{
	struct ptc_emu_shared *sh = segment(PTC_EMU_ARENA_MIN);
	const uint64_t size =
		ptc_emu_segment_size(PTC_EMU_ARENA_MIN) - PTC_EMU_ARENA_AT - PTC_EMU_ARENA_MIN;
	uint64_t *entries = (uint64_t *)(uintptr_t)ptc_emu_block(sh, PTC_EMU_ARENA_MIN / 16);
	uint32_t n, last = place(sh, 0), at;
	uint64_t i;

	for (i = 0; i < size / sizeof(*entries); i++)
		entries[i] = last;
	for (n = 1; (at = place(sh, n)); n++) {
		check_block(sh, at, n);
		cr_assert_gt(at, last);
		last = at;
	}
	cr_assert_gt(n, PTC_EMU_ARENA_MIN / 80);
	drop(sh);
}

static size_t resident(struct ptc_emu_shared *sh)
{
	const size_t n = (size_t)ptc_emu_segment_size(sh->arena_size) / PAGE;
	unsigned char *in = malloc(n);
	size_t i, ret = 0;

	cr_assert_not_null(in);
	cr_assert_eq(mincore(sh, n * PAGE, in), 0);
	for (i = 0; i < n; i++)
		ret += in[i] & 1;
	free(in);
	return ret;
}

Test(block_store, memory_is_touched_as_it_fills)
{
	struct ptc_emu_shared *sh = segment(PTC_EMU_ARENA);
	const size_t before = resident(sh);
	uint32_t i;

	for (i = 0; i < 20000; i++)
		cr_assert(place(sh, i));
	cr_assert_lt(resident(sh) - before, 2 * atomic_load(&sh->arena_used) / PAGE,
		     "%zu pages for %llu bytes", resident(sh) - before,
		     (unsigned long long)atomic_load(&sh->arena_used));
	drop(sh);
}

enum { THREADS = 4, BLOCKS = 20000 };

struct worker {
	struct ptc_emu_shared *sh;
	pthread_barrier_t *begin;
	uint32_t at[BLOCKS];
};

static void *describe_all(void *arg)
{
	struct worker *w = arg;
	uint32_t i;

	(void)pthread_barrier_wait(w->begin);
	for (i = 0; i < BLOCKS; i++)
		w->at[i] = place(w->sh, i);
	return NULL;
}

Test(block_store, those_who_describe_the_same_at_once_agree)
{
	struct ptc_emu_shared *sh = segment(16 << 20);
	struct worker *w = calloc(THREADS, sizeof(*w));
	pthread_barrier_t begin;
	pthread_t t[THREADS];
	uint32_t i, j;

	cr_assert_not_null(w);
	cr_assert_eq(pthread_barrier_init(&begin, NULL, THREADS), 0);
	for (i = 0; i < THREADS; i++) {
		w[i].sh = sh;
		w[i].begin = &begin;
		cr_assert_eq(pthread_create(&t[i], NULL, describe_all, &w[i]), 0);
	}
	for (i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_join(t[i], NULL), 0);
	for (i = 0; i < BLOCKS; i++) {
		check_block(sh, w[0].at[i], i);
		for (j = 1; j < THREADS; j++)
			cr_assert_eq(w[j].at[i], w[0].at[i]);
	}
	cr_assert_eq(pthread_barrier_destroy(&begin), 0);
	free(w);
	drop(sh);
}
