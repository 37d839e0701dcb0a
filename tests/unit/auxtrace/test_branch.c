/* SPDX-License-Identifier: MIT */
/* Description: branch entries: every flag, compared with the bit-fields of perf_event.h. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/branch.h"
#include "lib_perfdata.h"

/* Returns the same entry in the bit-fields of the vendored header. */
static struct perf_branch_entry entry_of(const struct ptc_branch *e)
{
	struct perf_branch_entry k = { 0 };

	k.from = e->from;
	k.to = e->to;
	k.mispred = e->mispred;
	k.predicted = e->predicted;
	k.in_tx = e->in_tx;
	k.abort = e->abort;
	k.cycles = e->cycles;
	k.type = e->type & 15u;
	k.spec = e->spec & 3u;
	k.new_type = e->new_type & 15u;
	k.priv = e->priv & 7u;
	k.reserved = e->reserved & 0x7fffffff;
	return k;
}

static void check_same(const struct ptc_branch *a, const struct ptc_branch *b)
{
	cr_assert(a->from == b->from && a->to == b->to && a->mispred == b->mispred &&
		  a->predicted == b->predicted && a->in_tx == b->in_tx && a->abort == b->abort);
	cr_assert(a->cycles == b->cycles && a->type == b->type && a->spec == b->spec &&
		  a->new_type == b->new_type && a->priv == b->priv && a->reserved == b->reserved);
}

Test(branch, every_flag_is_where_the_kernel_has_it)
{
	static const struct ptc_branch entries[] = {
		{ .from = 0x1234567890, .to = 0xffffffff81000000 },
		{ .mispred = true },
		{ .predicted = true },
		{ .in_tx = true },
		{ .abort = true },
		{ .cycles = 0xffff },
		{ .cycles = 1 },
		{ .type = PERF_BR_EXTEND_ABI },
		{ .type = PERF_BR_COND },
		{ .spec = PERF_BR_SPEC_CORRECT_PATH },
		{ .new_type = 15 },
		{ .new_type = PERF_BR_NEW_FAULT_DATA },
		{ .priv = 7 },
		{ .priv = PERF_BR_PRIV_USER },
		{ .reserved = 0x7fffffff },
		{ .reserved = 1 },
	};
	size_t i;

	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		const struct perf_branch_entry k = entry_of(&entries[i]);
		struct ptc_buf b = PTC_BUF_INIT, stack = PTC_BUF_INIT;
		struct ptc_branches s = { .has_hw_idx = true };
		struct ptc_branch got;
		struct ptc_cur c;

		ptc_branch_put(&b, &entries[i]);
		cr_assert_eq(b.len, PTC_BRANCH_SIZE);
		cr_assert_eq(memcmp(b.bytes, &k, sizeof(k)), 0, "entry %zu", i);
		s.hw_idx = 5;
		s.entries = ptc_cur_init(b.bytes, b.len);
		ptc_branches_put(&stack, &s);
		cr_assert_eq(stack.len, 8 + 8 + 24);
		c = ptc_cur_init(stack.bytes, stack.len);
		cr_assert(ptc_branches_parse(&c, &s));
		cr_assert(s.n == 1 && s.hw_idx == 5 && !ptc_cur_left(&c));
		cr_assert(ptc_branches_next(&s, &got));
		check_same(&entries[i], &got);
		cr_assert(!ptc_branches_next(&s, &got));
		ptc_buf_release(&b);
		ptc_buf_release(&stack);
	}
}

Test(branch, a_stack_cut_at_every_length_is_refused_in_each_of_its_forms)
{
	unsigned int form;
	size_t len;

	for (form = 0; form < 4; form++) {
		const bool hw = form & 1, counters = form & 2;
		const size_t whole = 8 + (hw ? 8u : 0u) + (size_t)2 * 24 + (counters ? 16u : 0u);
		uint8_t full[8 + 8 + 48 + 16] = { 2 };

		for (len = 0; len <= whole; len++) {
			struct ptc_branches s = { .has_hw_idx = hw, .has_counters = counters };
			uint8_t *bytes = pd_exact(full, len);
			struct ptc_cur c = ptc_cur_init(bytes, len);

			cr_assert_eq(ptc_branches_parse(&c, &s), len == whole, "form %u length %zu",
				     form, len);
			cr_assert_eq(ptc_cur_left(&c), len == whole ? 0 : len);
			free(bytes);
		}
	}
}

Test(branch, counters_and_entries_that_do_not_pair_are_not_built)
{
	static const uint8_t bytes[48];
	struct ptc_branches s = { .has_counters = true };
	struct ptc_buf b = PTC_BUF_INIT;

	s.entries = ptc_cur_init(bytes, 48);
	s.counters = ptc_cur_init(bytes, 8);
	ptc_branches_put(&b, &s);
	cr_assert(ptc_buf_failed(&b));
	ptc_buf_reset(&b);
	s.has_counters = false;
	s.counters = ptc_cur_init(bytes, 0);
	s.entries = ptc_cur_init(bytes, 47);
	ptc_branches_put(&b, &s);
	cr_assert(ptc_buf_failed(&b));
	ptc_buf_release(&b);
}
