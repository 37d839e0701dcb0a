/* SPDX-License-Identifier: MIT */
/* Description: a part of a recording: the last branches, threads, CPUs, a time. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "fewer.h"
#include "recording.h"

/* Adds @n PSBs at 100, 200, ..., each with a syscall behind it; threads 7 and 8 take turns. */
static void take_turns(struct recording *t, int n)
{
	struct ptc_buf a = PTC_BUF_INIT;
	int i;

	rec_begin(t, &rec_clock_1ns);
	rec_map_code(t, 7, 0, 0x1000);
	rec_map_code(t, 8, 0, 0x2000);
	for (i = 1; i <= n; i++) {
		pd_switch(&t->pd, i % 2 ? 7 : 8, 2, (uint64_t)i * 100 - 10, false);
		rec_psb_at(&a, (uint64_t)i * 100);
		rec_syscall_at(&a, (uint64_t)i * 100 + 20, i % 2 ? 0x1000 : 0x2000);
		pd_switch(&t->pd, i % 2 ? 7 : 8, 2, (uint64_t)i * 100 + 50, true);
	}
	rec_piece(t, 2, -1, 2, 0, &a);
}

Test(open_select, the_last_transfers_of_each_thread_are_found_from_the_end)
{
	struct recording t;

	take_turns(&t, 40);
	t.opts.last = 1;
	rec_expect(&t, "7 1016 0 syscall\n8 2016 0 syscall\n");
	cr_assert_eq(t.stats.branches, 2);
	cr_assert_lt(t.stats.aux_bytes, 200);
	t.opts.last = 3;
	rec_expect(&t, "7 1016 0 syscall\n8 2016 0 syscall\n7 0 1016 start\n7 1016 0 syscall\n"
		       "8 0 2016 start\n8 2016 0 syscall\n");
	t.opts.last = 2;
	t.opts.tids = (struct ptc_ids){ &(struct ptc_id_range){ 7, 7 }, 1 };
	rec_expect(&t, "7 0 1016 start\n7 1016 0 syscall\n");
	rec_end(&t);
}

Test(open_select, of_a_thread_that_rests_the_last_transfers_are_looked_for_further_back)
{
	struct recording t;
	int i;

	rec_begin_two(&t, 0x2000);
	rec_psb_at(&t.a, 1);
	pd_switch(&t.pd, 8, 2, 10, false);
	rec_syscall_at(&t.a, 20, 0x2000);
	pd_switch(&t.pd, 7, 2, 30, false);
	for (i = 0; i < FEWER(5000, 1000); i++) {
		rec_psb_at(&t.a, (uint64_t)i * 100 + 100);
		rec_syscall_at(&t.a, (uint64_t)i * 100 + 120, 0x1000);
	}
	rec_piece(&t, 2, -1, 2, 0, &t.a);
	t.opts.last = 1;
	rec_expect(&t, "8 2016 0 syscall\n7 1016 0 syscall\n");
	t.opts.tids =
		(struct ptc_ids){ &(struct ptc_id_range){ 7, 7 }, 1 }; /* it is not selected */
	rec_expect(&t, "7 1016 0 syscall\n");
	cr_assert_lt(t.stats.aux_bytes, 200);
	rec_end(&t);
}

Test(open_select, of_chosen_threads_and_cpus_only)
{
	static const struct ptc_id_range some[] = { { 1, 1 }, { 8, 9 } };
	struct recording t;

	take_turns(&t, 2);
	t.opts.tids = (struct ptc_ids){ some, 2 };
	rec_expect(&t, "8 0 2016 start\n8 2016 0 syscall\n");
	t.opts.tids.n = 1;
	rec_expect(&t, "");
	t.opts.tids.n = 0;
	t.opts.cpus = (struct ptc_ids){ some, 2 };
	rec_expect(&t, "");
	rec_end(&t);
}

Test(open_select, of_a_time_nothing_in_front_and_behind_is_decoded)
{
	struct ptc_decode_stats stats = PTC_DECODE_STATS_INIT;
	struct ptc_sink sink;
	uint64_t first, last;
	struct ptc_err err;
	uint8_t *bytes;
	struct rec_file f;
	struct recording t;
	size_t len;

	take_turns(&t, 40);
	bytes = pd_finish(&t.pd, &len);
	f = rec_make_file(bytes, len);
	t.out = open_memstream(&t.text, &t.len);
	cr_assert_eq(ptc_decode_open(f.path, &t.opts, &t.d, &err), 0);
	cr_assert_eq(ptc_decode_get_times(t.d, &first, &last, &err), 0);
	cr_assert_eq(first, 100);
	cr_assert_eq(last, 4020);
	cr_assert_eq(ptc_decode_choose_time(t.d, 2020, 2119, &err), 0);
	sink = (struct ptc_sink){ rec_on_items, &t };
	cr_assert_eq(ptc_decode_run(t.d, &sink, &err), 0);
	ptc_decode_get_stats(t.d, &stats);
	cr_assert_eq(stats.branches, 2);
	cr_assert_lt(stats.aux_bytes, 300);
	ptc_decode_free(t.d);
	fclose(t.out);
	cr_assert_str_eq(t.text, "8 0 2016 start\n8 2016 0 syscall\n");
	free(t.text);
	t.opts.last = 1;
	cr_assert_eq(ptc_decode_open(f.path, &t.opts, &t.d, &err), 0);
	cr_assert_eq(ptc_decode_choose_time(t.d, 2020, 2119, &err), PTC_E_USAGE);
	ptc_decode_free(t.d);
	close(f.fd);
	free(bytes);
	rec_end(&t);
}

/* Shard @i of @n of the recording in @f. Returns its number of branches. */
static uint64_t branches_of_shard(const struct rec_file *f, struct recording *t, uint32_t i,
				  uint32_t n)
{
	struct ptc_decode_stats stats = PTC_DECODE_STATS_INIT;
	struct ptc_sink sink = { rec_on_items, t };
	struct ptc_err err;

	cr_assert_eq(ptc_decode_open(f->path, &t->opts, &t->d, &err), 0);
	cr_assert_eq(ptc_decode_choose_shard(t->d, i, n, &err), 0);
	cr_assert_eq(ptc_decode_run(t->d, &sink, &err), 0);
	ptc_decode_get_stats(t->d, &stats);
	ptc_decode_free(t->d);
	return stats.branches;
}

Test(open_select, shards_add_up_and_refuse_what_they_cannot_know)
{
	uint64_t all, sum = 0;
	struct recording t;
	struct rec_file f;
	struct ptc_err err;
	uint8_t *bytes;
	char *whole;
	size_t len;
	uint32_t i;

	take_turns(&t, 40);
	bytes = pd_finish(&t.pd, &len);
	f = rec_make_file(bytes, len);
	t.out = open_memstream(&t.text, &t.len);
	all = branches_of_shard(&f, &t, 1, 1);
	fclose(t.out);
	whole = t.text;
	t.out = open_memstream(&t.text, &t.len);
	t.last = 0; /* times ascend over all shards */
	for (i = 1; i <= 7; i++)
		sum += branches_of_shard(&f, &t, i, 7);
	fclose(t.out);
	cr_assert_eq(sum, all);
	cr_assert_gt(all, 7);
	cr_assert_str_eq(t.text, whole);
	cr_assert_eq(ptc_decode_open(f.path, &t.opts, &t.d, &err), 0);
	cr_assert_eq(ptc_decode_choose_shard(t.d, 0, 2, &err), PTC_E_USAGE);
	cr_assert_eq(ptc_decode_choose_shard(t.d, 3, 2, &err), PTC_E_USAGE);
	cr_assert_eq(ptc_decode_choose_shard(t.d, 2, 2, &err), 0);
	cr_assert_eq(ptc_decode_choose_time(t.d, 2020, 2119, &err), PTC_E_USAGE);
	ptc_decode_free(t.d);
	t.opts.icount = true;
	cr_assert_eq(ptc_decode_open(f.path, &t.opts, &t.d, &err), 0);
	cr_assert_eq(ptc_decode_choose_shard(t.d, 1, 2, &err), PTC_E_USAGE);
	ptc_decode_free(t.d);
	free(whole);
	free(t.text);
	close(f.fd);
	free(bytes);
	rec_end(&t);
}
