/* SPDX-License-Identifier: MIT */
/*
 * Description: counts of address pairs, of more pairs than the table remembers at once, and counts
 * of blocks, with alternating threads and behind gaps.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/decode/branch_counts.h"
#include "fewer.h"
#include "lib_elf.h"
#include "lib_perfdata.h"
#include "lib_pt.h"

/* With a third more for calls, these are more pairs than the table of known pairs can hold. */
enum { PAIRS = 7 << 17, TURNS = FEWER(2, 1), FEW = 64 /* items at a time */ };

/* Returns a decoder of an empty trace: no address has a name. */
static struct ptc_decode *nothing(void)
{
	static const uint8_t psb[16] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };
	const int fd = memfd_create("pt", MFD_CLOEXEC);
	struct ptc_decode *d;
	struct ptc_err err;
	char path[64];

	cr_assert_eq(write(fd, psb, sizeof(psb)), (ssize_t)sizeof(psb));
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	cr_assert_eq(ptc_decode_open_raw(path, NULL, 0, NULL, &d, &err), 0, "%s", err.msg);
	(void)close(fd);
	return d;
}

static struct ptc_item branch(int32_t tid, uint64_t from, uint64_t to, enum ptc_kind kind)
{
	return (struct ptc_item){ .from = from,
				  .to = to,
				  .time = PTC_NO_TIME,
				  .pid = -1,
				  .tid = tid,
				  .type = PTC_ITEM_BRANCH,
				  .kind = (uint8_t)kind };
}

static void take(struct ptc_counts *c, struct ptc_item item)
{
	cr_assert_eq(ptc_counts_items(c, &item, 1), 0);
}

static void take_gap(struct ptc_counts *c, int32_t tid, enum ptc_gap_cause cause)
{
	take(c, (struct ptc_item){ .type = PTC_ITEM_GAP, .tid = tid, .cause = (uint8_t)cause });
}

Test(branch_counts, of_more_pairs_than_are_remembered_are_right)
{
	struct ptc_counts c = { .of = PTC_COUNTS_EDGES, .d = nothing() };
	struct ptc_item items[FEW + 2];
	uint32_t turn, i;
	size_t n = 0;

	for (turn = 0; turn < TURNS; turn++)
		for (i = 0; i < PAIRS; i++) {
			items[n] = branch(1, 0x1000 + i, 0x2000 + i % 77, PTC_KIND_JMP);
			items[n + 1] = items[n];
			items[n + 1].kind = PTC_KIND_CALL;
			n += i % 3 ? 1 : 2;
			if (n >= FEW || i + 1 == PAIRS) {
				cr_assert_eq(ptc_counts_items(&c, items, n), 0);
				n = 0;
			}
		}
	cr_assert_eq(c.n, PAIRS + (PAIRS + 2) / 3);
	cr_assert(ptc_counts_sort(&c));
	cr_assert_eq(c.times, TURNS * c.n);
	for (i = 0; i < c.n; i++) {
		const struct ptc_counts_entry *e = &c.entries[i];

		/* Entries with equal counts are sorted by address. */
		if (e->times != TURNS || e->to.ip != 0x2000 + (e->from.ip - 0x1000) % 77 ||
		    (i && e[-1].from.ip >= e->from.ip &&
		     (e[-1].from.ip > e->from.ip || e[-1].kind >= e->kind)))
			break;
	}
	cr_assert_eq(i, c.n, "entry %u is wrong or out of order", i);
	ptc_decode_free(c.d);
	ptc_counts_release(&c);
}

/*
 * Checks the count @times of the block from @first to @last, and the number @n of different blocks.
 */
static void expect(struct ptc_counts *c, size_t n, uint64_t first, uint64_t last, uint64_t times)
{
	uint64_t found = 0;
	size_t i;

	ptc_counts_settle(c);
	for (i = 0; i < c->n; i++)
		if (c->entries[i].from.ip == first && c->entries[i].to.ip == last)
			found += c->entries[i].times;
	cr_assert_eq(found, times, "%d of %#x to %#x", (int)found, (int)first, (int)last);
	cr_assert_eq(c->n, n, "%zu blocks", c->n);
}

/* The two kinds alternate, so that one replaces the other in the table of recent pairs. */
Test(branch_counts, of_one_pair_and_two_kinds_are_two)
{
	struct ptc_counts c = { .of = PTC_COUNTS_EDGES, .d = nothing() };
	int i;

	for (i = 0; i < 3; i++) {
		take(&c, branch(1, 0x1000, 0, PTC_KIND_SYSCALL));
		take(&c, branch(1, 0x1000, 0, PTC_KIND_ASYNC));
		take(&c, branch(1, 0x1000, 0, PTC_KIND_ASYNC));
	}
	cr_assert(ptc_counts_sort(&c));
	cr_assert_eq(c.n, 2);
	cr_assert_eq(c.entries[0].kind, PTC_KIND_ASYNC);
	cr_assert_eq(c.entries[0].times, 6);
	cr_assert_eq(c.entries[1].times, 3);
	ptc_decode_free(c.d);
	ptc_counts_release(&c);
}

Test(branch_counts, a_block_is_of_one_thread_and_leads_over_no_gap)
{
	struct ptc_counts c = { .of = PTC_COUNTS_BLOCKS, .d = nothing() };

	take(&c, branch(1, 0, 0x100, PTC_KIND_START));
	take(&c, branch(2, 0, 0x200, PTC_KIND_START));
	take(&c, branch(1, 0x110, 0x100, PTC_KIND_JMP));
	take(&c, branch(2, 0x210, 0x200, PTC_KIND_JMP));
	take(&c, branch(1, 0x110, 0x120, PTC_KIND_JMP));
	expect(&c, 2, 0x100, 0x110, 2);
	expect(&c, 2, 0x200, 0x210, 1);
	/*
	 * The first gap belongs to one thread, the second to every thread that may have run on the
	 * queue.
	 */
	take_gap(&c, 1, PTC_GAP_NOCODE);
	take(&c, branch(1, 0x130, 0x140, PTC_KIND_JMP));
	take(&c, branch(2, 0x208, 0x200, PTC_KIND_JMP));
	expect(&c, 3, 0x200, 0x208, 1);
	take_gap(&c, 1, PTC_GAP_OVERFLOW);
	take(&c, branch(2, 0x20c, 0x200, PTC_KIND_JMP));
	take(&c, branch(1, 0x148, 0x150, PTC_KIND_JMP));
	expect(&c, 3, 0x200, 0x20c, 0);
	/* An event at the first instruction of a block: no instruction of this block ran. */
	take(&c, branch(1, 0x150, 0x300, PTC_KIND_ASYNC));
	take(&c, branch(1, 0x308, 0, PTC_KIND_ASYNC));
	expect(&c, 4, 0x300, 0x308, 1);
	/* While tracing is off the position of a thread is unknown. */
	take(&c, branch(1, 0, 0x310, PTC_KIND_START));
	take(&c, branch(1, 0x310, 0x320, PTC_KIND_RET));
	expect(&c, 5, 0x310, 0x310, 1);
	cr_assert_eq(c.gaps, 2);
	ptc_decode_free(c.d);
	ptc_counts_release(&c);
}

Test(branch_counts, of_queues_of_nobody_each_has_its_own_blocks)
{
	static const uint64_t starts[] = { 0x100, 0x200, 0x300 };
	struct ptc_counts c = { .of = PTC_COUNTS_BLOCKS, .d = nothing() };
	struct ptc_item item;
	uint32_t queue;

	for (queue = 0; queue < 3; queue++) {
		item = branch(-1, 0, starts[queue], PTC_KIND_START);
		item.queue = queue;
		take(&c, item);
	}
	for (queue = 0; queue < 3; queue++) {
		item = branch(-1, starts[queue] + 8, 0x1000, PTC_KIND_JMP);
		item.queue = queue;
		take(&c, item);
		expect(&c, queue + 1, starts[queue], starts[queue] + 8, 1);
	}
	ptc_decode_free(c.d);
	ptc_counts_release(&c);
}

Test(branch_counts, names_are_kept_once)
{
	struct ptc_names t = { .n = 0 };
	char name[16];
	uint32_t i;

	cr_assert_eq(ptc_names_get(&t, NULL), 0);
	cr_assert_null(ptc_names_of(&t, 0));
	for (i = 0; i < 3000; i++) {
		(void)snprintf(name, sizeof(name), "n%u", i * 7919 % 1000);
		cr_assert_eq(ptc_names_get(&t, name), i % 1000 + 1);
		cr_assert_str_eq(ptc_names_of(&t, i % 1000 + 1), name);
	}
	cr_assert_eq(t.n, 1000);
	ptc_names_release(&t);
}

static int drop(void *ctx, const struct ptc_item *items, size_t n)
{
	(void)ctx;
	(void)items;
	(void)n;
	return 0;
}

/* Process 7 has a program mapped at 0x1000 whose mapping claims 64 TiB. @dir is its folder. */
static struct ptc_decode *open_large(const char *dir)
{
	const struct ptc_auxtrace aux = { .idx = 1, .tid = 7, .cpu = -1 };
	const struct ptc_sink sink = { .on_items = drop };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_decode *d;
	struct ptc_err err;
	char path[128];
	struct pd p;

	pd_init_pt(&p, &(struct ptc_time_conv){ .mult = 1 });
	le_program(&b, 0, 0, pt_code, PT_CODE_LEN);
	pd_mmap2(&p, 7, 1, 0x1000, (uint64_t)1 << 46, LE_CODE_OFF, le_write(dir, "a", &b));
	ptc_buf_reset(&b);
	pt_psb_on_at(&b, 10, PT_CODE);
	pt_ip_none(&b, PT_PGD);
	pd_auxtrace(&p, &aux, b.bytes, b.len);
	ptc_buf_release(&b);
	(void)snprintf(path, sizeof(path), "%s/perf.data", dir);
	pd_write(&p, path);
	pd_release(&p);
	cr_assert_eq(ptc_decode_open(path, NULL, &d, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_decode_run(d, &sink, &err), 0, "%s", err.msg);
	return d;
}

Test(branch_counts, lines_are_not_looked_for_between_places_far_apart)
{
	static const uint64_t ends[] = { 0x1010, 0x2000000, (uint64_t)1 << 45, UINT64_MAX };
	struct ptc_counts c = { .of = PTC_COUNTS_LINES };
	char dir[64];
	size_t i;

	le_folder(dir, sizeof(dir));
	c.d = open_large(dir);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct ptc_item start = branch(7, 0, 0x1000, PTC_KIND_START);
		struct ptc_item end = branch(7, ends[i], 0, PTC_KIND_JMP);

		start.pid = end.pid = 7;
		take(&c, start);
		take(&c, end);
	}
	cr_assert(ptc_counts_sort(&c));
	cr_assert_eq(c.blocks, 4);
	cr_assert_eq(c.lineless, 4);
	ptc_decode_free(c.d);
	ptc_counts_release(&c);
	le_folder_remove(dir);
}
