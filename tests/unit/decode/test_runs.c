/* SPDX-License-Identifier: MIT */
/*
 * Description: branches in RUN items equal those in BRANCH items, in the same order. RUN items
 * reuse memory. tests/damage/mutate.c checks that both are equal for any trace.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "decode/items/item_queue.h"
#include "recording.h"

enum { TID = 7, OTHER = 8, JUMPS = 40, PIECES = 6 };

/* Runs the jmp *%rax of the code, which jumps to itself, @n times from @time on. */
static void jumps(struct ptc_buf *b, uint64_t time, int n)
{
	pt_psb_on_at(b, time, 0x100b);
	while (n--)
		pt_ip(b, PT_TIP, 0x100b);
}

/* Two threads with pieces that begin at alternating times. */
static void two_queues(struct recording *t)
{
	int i;

	rec_begin_two(t, 0x1000);
	for (i = 0; i < PIECES; i++) {
		jumps(&t->a, 10 + 20 * (uint64_t)i, JUMPS);
		jumps(&t->b, 20 + 20 * (uint64_t)i, i % 2 ? JUMPS : 2);
	}
	pt_ip_none(&t->a, PT_PGD);
	pt_ip_none(&t->b, PT_PGD);
	rec_piece(t, 0, TID, -1, 0, &t->a);
	rec_piece(t, 1, OTHER, -1, 0, &t->b);
}

static char *decode(struct recording *t, const uint8_t *bytes, size_t len)
{
	struct ptc_err err;

	cr_assert_eq(rec_run_bytes(t, bytes, len, &err), 0, "%s", err.msg);
	return t->text;
}

Test(runs, are_the_same_transfers_in_the_same_order)
{
	struct recording t = { .opts = PTC_DECODE_OPTS_INIT };
	char *items, *runs;
	uint64_t branches;
	uint8_t *bytes;
	size_t len;

	two_queues(&t);
	bytes = pd_finish(&t.pd, &len);
	items = decode(&t, bytes, len);
	cr_assert_eq(t.runs, 0);
	branches = t.stats.branches;
	t.opts.runs = true;
	for (t.opts.jobs = 1; t.opts.jobs < 4; t.opts.jobs++) {
		t.opts.slice = t.opts.jobs == 3;
		runs = decode(&t, bytes, len);
		cr_assert_str_eq(runs, items, "got:\n%swant:\n%s", runs, items);
		/* Short runs become no RUN items, nor do branches that libipt decodes. */
		cr_assert_geq(t.runs, PIECES, "-j %u: %" PRIu64, t.opts.jobs, t.runs);
		cr_assert_eq(t.stats.branches, branches);
		free(runs);
	}
	free(items);
	free(bytes);
	rec_end(&t);
}

/* Addresses of the items and runs that were handed over. */
struct places {
	size_t items, astray; /* items that cross a cache line */
	uint64_t runs[PIECES];
	size_t nruns;
};

static int see_places(void *ctx, const struct ptc_item *items, size_t n)
{
	struct places *p = ctx;
	size_t i;

	for (i = 0; i < n; i++) {
		p->items++;
		p->astray += (uintptr_t)&items[i] % sizeof(*items) != 0;
		if (items[i].type == PTC_ITEM_RUN && p->nruns < PIECES)
			p->runs[p->nruns++] = items[i].from;
	}
	return 0;
}

/* Decodes a queue with pieces larger than a batch. */
static struct places places_of(bool runs)
{
	struct places p = { .items = 0 };
	const struct ptc_sink sink = { see_places, &p };
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_decode *d;
	struct recording t;
	struct ptc_err err;
	struct rec_file f;
	uint8_t *bytes;
	size_t len;
	int i;

	rec_begin_code(&t);
	for (i = 0; i < PIECES; i++)
		jumps(&t.a, 10 + 20 * (uint64_t)i, 3000);
	pt_ip_none(&t.a, PT_PGD);
	rec_piece(&t, 0, TID, -1, 0, &t.a);
	bytes = pd_finish(&t.pd, &len);
	f = rec_make_file(bytes, len);
	opts.jobs = 1;
	opts.runs = runs;
	cr_assert_eq(ptc_decode_open(f.path, &opts, &d, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_decode_run(d, &sink, &err), 0, "%s", err.msg);
	ptc_decode_free(d);
	close(f.fd);
	free(bytes);
	rec_end(&t);
	return p;
}

Test(runs, items_are_lines_of_the_cache)
{
	const struct places p = places_of(false);

	cr_assert_geq(p.items, (size_t)(PIECES - 1) * 3000);
	cr_assert_eq(p.astray, 0);
}

/* Memory in the CPU's cache is reused, not memory read two pieces ago. */
Test(runs, of_a_piece_are_where_those_of_the_last_one_were)
{
	const struct places p = places_of(true);
	size_t i;

	cr_assert_geq(p.nruns, PIECES - 1);
	for (i = 1; i < p.nruns; i++)
		cr_assert_eq(p.runs[i], p.runs[0], "%zu", i);
}

Test(runs, are_none_where_something_chooses_among_transfers)
{
	const struct ptc_id_range both = { TID, OTHER };
	struct recording t = { .opts = PTC_DECODE_OPTS_INIT };
	const struct ptc_decode_opts none = PTC_DECODE_OPTS_INIT;
	struct ptc_decode_opts opts[8] = { none, none, none, none, none, none, none, none };
	uint8_t *bytes;
	size_t len, i;

	opts[0].tids = (struct ptc_ids){ &(struct ptc_id_range){ TID, TID }, 1 };
	opts[1].tids = (struct ptc_ids){ &both, 1 };
	opts[2].last = 100;
	opts[3].sym = "main";
	opts[4].bytes = true;
	opts[5].engine = PTC_ENGINE_VERIFY;
	opts[6].engine = PTC_ENGINE_LIBIPT;
	opts[7].lengths = true;
	two_queues(&t);
	bytes = pd_finish(&t.pd, &len);
	for (i = 0; i < sizeof(opts) / sizeof(opts[0]); i++) {
		t.opts = opts[i];
		t.opts.runs = true;
		free(decode(&t, bytes, len));
		cr_assert_eq(t.runs, 0, "%zu", i);
	}
	free(bytes);
	rec_end(&t);
}

/* The lengths of all branches. */
struct lengths {
	size_t n, known;
	uint8_t len[8 * PIECES];
};

static int see_lengths(void *ctx, const struct ptc_item *items, size_t n)
{
	struct lengths *l = ctx;
	size_t i;

	for (i = 0; i < n; i++) {
		if (items[i].type != PTC_ITEM_BRANCH)
			continue;
		l->known += items[i].insn_len != 0;
		l->len[l->n++ % sizeof(l->len)] += items[i].insn_len;
	}
	return 0;
}

static struct lengths lengths_of(const struct ptc_decode_opts *opts, const char *path)
{
	struct lengths l = { .n = 0 };
	const struct ptc_sink sink = { see_lengths, &l };
	struct ptc_decode *d;
	struct ptc_err err;

	cr_assert_eq(ptc_decode_open(path, opts, &d, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_decode_run(d, &sink, &err), 0, "%s", err.msg);
	ptc_decode_free(d);
	return l;
}

/* Each engine lists branches in a way of its own, with and without bytes. */
Test(runs, lengths_are_those_of_the_bytes)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct recording t = { .opts = PTC_DECODE_OPTS_INIT };
	struct lengths bytes, lengths;
	uint8_t *file;
	struct rec_file f;
	size_t len;
	int i;

	two_queues(&t);
	file = pd_finish(&t.pd, &len);
	f = rec_make_file(file, len);
	for (i = 0; i < 4; i++) {
		opts.engine = i % 2 ? PTC_ENGINE_LIBIPT : PTC_ENGINE_FAST;
		opts.runs = i > 1;
		opts.bytes = true;
		opts.lengths = false;
		bytes = lengths_of(&opts, f.path);
		opts.bytes = false;
		opts.lengths = true;
		lengths = lengths_of(&opts, f.path);
		cr_assert_gt(bytes.known, (size_t)PIECES);
		cr_assert_eq(memcmp(&bytes, &lengths, sizeof(bytes)), 0, "%d", i);
	}
	close(f.fd);
	free(file);
	rec_end(&t);
}

/* Adds @n branches from @first on, which are lent. */
static void lend_run(struct ptc_out *o, struct ptc_fast_rec *recs, uint64_t first, size_t n,
		     uint64_t time)
{
	size_t i;

	for (i = 0; i < n; i++)
		recs[i] = ptc_fast_rec(first + i, 2 * (first + i), PTC_KIND_IJMP);
	ptc_out_run(o, recs, n, time);
}

/* The same, copied. */
static void put_run(struct ptc_out *o, uint64_t first, size_t n, uint64_t time)
{
	struct ptc_fast_rec recs[16];

	lend_run(o, recs, first, n, time);
	ptc_out_keep(o);
	memset(recs, 0xff, sizeof(recs));
}

static void expect_run(const struct ptc_item *it, uint64_t first, size_t n)
{
	const struct ptc_transfer *t = ptc_item_transfers(it);
	size_t i;

	cr_assert_eq(it->type, PTC_ITEM_RUN);
	cr_assert_eq(it->to, n);
	for (i = 0; i < n; i++) {
		cr_assert_eq(ptc_transfer_from(t[i]), first + i);
		cr_assert_eq(t[i].to, 2 * (first + i));
		cr_assert_eq(ptc_transfer_kind(t[i]), PTC_KIND_IJMP);
	}
}

static void out_begin(struct ptc_out *o, struct ptc_decode_stats *stats)
{
	const struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;

	ptc_out_init(o, 0, &opts, stats);
	o->runs = true;
}

Test(runs, wait_with_the_items_among_them)
{
	struct ptc_decode_stats stats = { 0 };
	const struct ptc_item *items;
	struct ptc_out o;
	size_t i;

	out_begin(&o, &stats);
	put_run(&o, 100, 4, 1);
	(void)ptc_out_branch(&o, 1, 2, PTC_KIND_JMP, 2);
	for (i = 0; i < 100; i++) /* the memory grows, and moves */
		put_run(&o, 1000 + 16 * i, 16, 3);
	cr_assert_eq(ptc_out_waiting(&o), 102 + 4 + 1600);
	cr_assert_eq(stats.branches, 4 + 1 + 1600);
	items = ptc_out_take(&o, 2);
	expect_run(&items[0], 100, 4);
	cr_assert_eq(items[1].type, PTC_ITEM_BRANCH);
	cr_assert_eq(ptc_out_waiting(&o), 100 + 1600);
	items = ptc_out_take(&o, 100);
	for (i = 0; i < 100; i++)
		expect_run(&items[i], 1000 + 16 * i, 16);
	/* Empty: the next runs begin at the start. */
	put_run(&o, 5, 4, 4);
	cr_assert_eq(o.recs.n, 4);
	ptc_out_release(&o);
}

Test(runs, are_lent_until_their_memory_is_wanted)
{
	struct ptc_fast_rec first[4], second[5], third[6];
	struct ptc_decode_stats stats = { 0 };
	const struct ptc_item *items;
	struct ptc_out o;

	out_begin(&o, &stats);
	lend_run(&o, first, 10, 4, 1);
	put_run(&o, 90, 7, 1); /* copies the run in front, too */
	memset(first, 0xff, sizeof(first));
	(void)ptc_out_branch(&o, 1, 2, PTC_KIND_JMP, 2);
	lend_run(&o, second, 20, 5, 2);
	cr_assert_eq(ptc_out_waiting(&o), 4 + 4 + 7 + 5);
	items = ptc_out_take(&o, 4);
	expect_run(&items[0], 10, 4);
	expect_run(&items[1], 90, 7);
	expect_run(&items[3], 20, 5);
	cr_assert_eq(items[3].from, (uintptr_t)second);
	cr_assert_eq(items[3].cause, 0);
	cr_assert_eq(ptc_out_waiting(&o), 0);
	/* Runs that were handed over are not copied. */
	lend_run(&o, first, 10, 4, 3);
	lend_run(&o, third, 30, 6, 3);
	(void)ptc_out_take(&o, 1);
	ptc_out_keep(&o);
	cr_assert_eq(o.recs.n, 6);
	cr_assert_eq(ptc_out_waiting(&o), 1 + 6);
	memset(third, 0xff, sizeof(third));
	expect_run(ptc_out_take(&o, 1), 30, 6);
	ptc_out_release(&o);
}
