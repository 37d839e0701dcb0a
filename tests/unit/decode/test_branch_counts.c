/* SPDX-License-Identifier: MIT */
/*
 * Description: branches that are counted, not listed. pt_replay() checks, for all its traces, that
 * sums and items add up.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "decode/items/branch_counts.h"
#include "recording.h"

enum { TID = 7, QUEUE = 3 };

static const uint64_t JUMPS = 5;

/* Number of branches that run() decodes. */
static const uint64_t ALL = 16;
/* Branches in the two pieces of the engine, without the last one of each, which leads out of it. */
static const uint64_t OURS = 8;

/* Runs the jmp *%rax of the code, which jumps to itself, JUMPS times from @time on. */
static void jumps(struct ptc_buf *b, uint64_t time)
{
	uint64_t i;

	pt_psb_on_at(b, time, 0x100b);
	for (i = 0; i < JUMPS; i++)
		pt_ip(b, PT_TIP, 0x100b);
}

struct got {
	struct ptc_sums sums;
	uint64_t items;
	int stop;
};

static int on_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct got *g = ctx;

	(void)items;
	g->items += n;
	return 0;
}

static int on_sums(void *ctx, const struct ptc_sums *sums)
{
	struct got *g = ctx;

	ptc_sums_add_kinds(&g->sums, sums->kinds, sums->transfers);
	ptc_sums_add_time(&g->sums, sums->first_ns);
	ptc_sums_add_time(&g->sums, sums->last_ns);
	g->sums.queue = sums->queue;
	return g->stop;
}

/* Decodes two pieces of the engine and a rest by libipt, with @opts. */
static int run(struct ptc_decode_opts opts, struct got *g)
{
	const struct ptc_sink sink = { on_items, g };
	const struct ptc_sums_sink sums = { on_sums, g };
	struct ptc_decode_stats stats = PTC_DECODE_STATS_INIT;
	struct recording t;
	struct ptc_decode *d;
	struct rec_file f;
	struct ptc_err err;
	uint8_t *bytes;
	size_t len;
	int r;

	g->sums = ptc_sums_none();
	rec_begin_code(&t);
	jumps(&t.a, 10);
	jumps(&t.a, 20);
	jumps(&t.a, 30);
	pt_ip_none(&t.a, PT_PGD);
	rec_piece(&t, QUEUE, TID, -1, 0, &t.a);
	bytes = pd_finish(&t.pd, &len);
	f = rec_make_file(bytes, len);
	opts.sums = &sums;
	cr_assert_eq(ptc_decode_open(f.path, &opts, &d, &err), 0, "%s", err.msg);
	r = ptc_decode_run(d, &sink, &err);
	ptc_decode_get_stats(d, &stats);
	if (!r)
		cr_assert_eq(stats.branches, ALL);
	ptc_decode_free(d);
	(void)close(f.fd);
	free(bytes);
	rec_end(&t);
	return r;
}

Test(branch_counts, are_of_what_the_engine_follows_and_the_rest_comes_as_items)
{
	const struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct got g = { .stop = 0 };

	cr_assert_eq(run(opts, &g), 0);
	cr_assert_eq(g.sums.transfers, OURS, "%d", (int)g.sums.transfers);
	cr_assert_eq(g.sums.kinds[PTC_KIND_IJMP], g.sums.transfers);
	cr_assert_eq(g.items, ALL - g.sums.transfers);
	cr_assert_eq(g.sums.first_ns, 10);
	cr_assert_eq(g.sums.last_ns, 20);
	cr_assert_eq(g.sums.queue, QUEUE);
}

Test(branch_counts, are_none_where_something_chooses_among_transfers)
{
	const struct ptc_decode_opts none = PTC_DECODE_OPTS_INIT;
	struct ptc_decode_opts opts[4] = { none, none, none, none };
	size_t i;

	opts[0].tids = (struct ptc_ids){ &(struct ptc_id_range){ TID, TID }, 1 };
	opts[1].last = 100;
	opts[2].engine = PTC_ENGINE_LIBIPT;
	opts[3].engine = PTC_ENGINE_VERIFY;
	for (i = 0; i < sizeof(opts) / sizeof(opts[0]); i++) {
		struct got g = { .stop = 0 };

		cr_assert_eq(run(opts[i], &g), 0);
		cr_assert_eq(g.sums.transfers, 0, "%zu", i);
		cr_assert_eq(g.items, ALL, "%zu", i);
	}
}

Test(branch_counts, stop_decoding_if_they_are_told_to)
{
	const struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct got g = { .stop = 1 };

	cr_assert_eq(run(opts, &g), PTC_E_STOPPED);
}
