/* SPDX-License-Identifier: MIT */
/* Description: visits of library code, and repeated branches, are single entries. */
#include <criterion/criterion.h>
#include <string.h>

#include "cli/crash/branch_fold.h"

enum { LIBRARY = 1000, MOST = 64 };

static struct ptc_item items[MOST];
static size_t nitems;

static const struct ptc_item *item_at(void *ctx, size_t i)
{
	(void)ctx;
	return &items[i];
}

static bool is_library(void *ctx, uint64_t ip)
{
	(void)ctx;
	return ip >= LIBRARY;
}

static void setup(void)
{
	memset(items, 0, sizeof(items));
	nitems = 0;
}

static void branch(uint64_t from, uint64_t to, enum ptc_kind kind)
{
	items[nitems++] = (struct ptc_item){
		.type = PTC_ITEM_BRANCH, .kind = (uint8_t)kind, .from = from, .to = to
	};
}

static void gap(void)
{
	items[nitems++] = (struct ptc_item){ .type = PTC_ITEM_GAP };
}

static void folds(size_t want, size_t n, const struct ptc_fold_entry *expected)
{
	const struct ptc_fold_opts opts = {
		.n = nitems, .want = want, .item = item_at, .is_library = is_library
	};
	struct ptc_fold f;
	size_t i;

	cr_assert(ptc_fold_branches(&opts, &f));
	cr_assert_eq(f.n, n, "%zu entries, not %zu", f.n, n);
	for (i = 0; i < n; i++) {
		cr_expect_eq(f.entries[i].first, expected[i].first, "entry %zu begins at %td", i,
			     f.entries[i].first - items);
		cr_expect_eq(f.entries[i].n, expected[i].n, "entry %zu has %zu", i, f.entries[i].n);
		cr_expect_eq(f.entries[i].library, expected[i].library, "entry %zu", i);
	}
	ptc_fold_release(&f);
}

TestSuite(branch_fold, .init = setup);

Test(branch_fold, nothing)
{
	folds(10, 0, NULL);
}

Test(branch_fold, a_call_into_a_library_is_one_entry)
{
	branch(1, 2, PTC_KIND_JCC);
	branch(3, 1000, PTC_KIND_CALL);
	branch(1001, 1002, PTC_KIND_JCC);
	branch(1003, 4, PTC_KIND_RET);
	branch(5, 6, PTC_KIND_JMP);
	folds(10, 3,
	      (const struct ptc_fold_entry[]){
		      { &items[0], 1, false }, { &items[1], 3, true }, { &items[4], 1, false } });
}

Test(branch_fold, two_calls_in_a_row_are_two_entries)
{
	branch(1, 1000, PTC_KIND_CALL);
	branch(1001, 2, PTC_KIND_RET);
	branch(3, 1000, PTC_KIND_CALL);
	branch(1001, 4, PTC_KIND_RET);
	folds(10, 2,
	      (const struct ptc_fold_entry[]){ { &items[0], 2, true }, { &items[2], 2, true } });
}

Test(branch_fold, a_system_call_in_a_library_does_not_end_its_entry)
{
	branch(1, 1000, PTC_KIND_CALL);
	branch(1001, 0, PTC_KIND_SYSCALL);
	branch(0, 1002, PTC_KIND_START);
	branch(1003, 0, PTC_KIND_ASYNC);
	folds(10, 1, (const struct ptc_fold_entry[]){ { &items[0], 4, true } });
}

Test(branch_fold, a_callback_is_code_of_the_program)
{
	branch(1, 1000, PTC_KIND_CALL);
	branch(1001, 5, PTC_KIND_ICALL);
	branch(6, 7, PTC_KIND_JCC);
	branch(7, 1002, PTC_KIND_RET);
	branch(1003, 2, PTC_KIND_RET);
	folds(10, 3,
	      (const struct ptc_fold_entry[]){
		      { &items[0], 2, true }, { &items[2], 1, false }, { &items[3], 2, true } });
}

Test(branch_fold, equal_branches_are_one_entry)
{
	branch(1, 2, PTC_KIND_JCC);
	branch(1, 2, PTC_KIND_JCC);
	branch(1, 2, PTC_KIND_JCC);
	branch(1, 3, PTC_KIND_JCC);
	branch(1, 3, PTC_KIND_IJMP);
	folds(10, 3,
	      (const struct ptc_fold_entry[]){
		      { &items[0], 3, false }, { &items[3], 1, false }, { &items[4], 1, false } });
}

Test(branch_fold, a_gap_is_an_entry_and_ends_another)
{
	branch(1, 1000, PTC_KIND_CALL);
	gap();
	gap();
	branch(1001, 1002, PTC_KIND_JCC);
	branch(1003, 2, PTC_KIND_RET);
	folds(10, 4,
	      (const struct ptc_fold_entry[]){ { &items[0], 1, true },
					       { &items[1], 1, false },
					       { &items[2], 1, false },
					       { &items[3], 2, true } });
}

Test(branch_fold, the_last_entries_are_whole)
{
	int i;

	branch(9, 8, PTC_KIND_JMP);
	branch(1, 1000, PTC_KIND_CALL);
	for (i = 0; i < 20; i++)
		branch(1001, 1002, PTC_KIND_JCC);
	branch(1003, 2, PTC_KIND_RET);
	branch(3, 4, PTC_KIND_JCC);
	folds(1, 1, (const struct ptc_fold_entry[]){ { &items[23], 1, false } });
	folds(2, 2,
	      (const struct ptc_fold_entry[]){ { &items[1], 22, true }, { &items[23], 1, false } });
}

Test(branch_fold, the_address_0_is_an_end)
{
	items[nitems++] = (struct ptc_item){ .type = PTC_ITEM_BRANCH,
					     .kind = PTC_KIND_ICALL,
					     .from = 1,
					     .flags = PTC_ITEM_TO_ZERO };
	folds(10, 1, (const struct ptc_fold_entry[]){ { &items[0], 1, false } });
}
