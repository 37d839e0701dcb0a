/* SPDX-License-Identifier: MIT */
/*
 * Description: the output of --format bin, read as doc/format.md describes, equals the items that
 * were printed. The bytes are the same for every grouping of the branches.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/decode/out_bin.h"
#include "lib_runs.h"

enum {
	HEAD = 64,
	UNIT = 16,
	RECORD = UNIT + sizeof(struct ptc_item),
	LONG = 5000,
	MAX = 6 * LONG,
	COUNTS = 6
};

/* The printed bytes and the items read from them. */
struct written {
	uint8_t *bytes;
	size_t len;
	struct ptc_item items[MAX]; /* read from the bytes */
	bool of_unit[MAX];	    /* a branch of 16 bytes */
	bool icount;
	size_t n;
};

static struct ptc_item item(uint8_t type, uint64_t from, uint64_t to, uint8_t kind, int32_t tid)
{
	return (struct ptc_item){ .type = type,
				  .from = from,
				  .to = to,
				  .kind = kind,
				  .time = 100 + (uint64_t)tid,
				  .pid = 1,
				  .tid = tid,
				  .cpu = 3,
				  .queue = 4 };
}

static struct ptc_item branch(uint64_t from, uint64_t to, int32_t tid)
{
	return item(PTC_ITEM_BRANCH, from, to, PTC_KIND_JMP, tid);
}

static struct ptc_item run(const struct ptc_transfer *t, size_t n, int32_t tid)
{
	return item(PTC_ITEM_RUN, (uint64_t)(uintptr_t)t, n, 0, tid);
}

/*
 * Reads a record of counts for the branch units from item *@counted on. Returns its bytes. Items of
 * other records have their own counts.
 */
static size_t read_counts(struct written *w, size_t *counted, const uint8_t *bytes, uint64_t units)
{
	uint32_t insns;
	uint64_t i;

	for (i = 0; i < 4 * units; i++) {
		memcpy(&insns, bytes + 4 * i, sizeof(insns));
		while (*counted < w->n && !w->of_unit[*counted])
			++*counted;
		cr_assert(*counted < w->n || !insns, "a count without a branch");
		if (*counted < w->n)
			w->items[(*counted)++].insns = insns;
	}
	return units * UNIT;
}

static void read_items(struct written *w)
{
	struct ptc_item context = { .type = 0 }, it;
	uint64_t word, value;
	size_t at = HEAD, counted = 0, without = 0;

	cr_assert(!memcmp(w->bytes, "PTCAPDEC 2 16 ", 14) && w->bytes[HEAD - 1] == '\n');
	while (at < w->len) {
		memcpy(&word, w->bytes + at, 8);
		memcpy(&value, w->bytes + at + 8, 8);
		at += UNIT;
		cr_assert_lt(w->n, MAX);
		if (word & 0xff) {
			cr_assert(context.type, "a transfer of nobody");
			it = context;
			it.type = PTC_ITEM_BRANCH;
			it.from = (uint64_t)((int64_t)word >> 8);
			it.to = value;
			it.kind = (uint8_t)word;
			w->of_unit[w->n] = true;
			without += w->icount;
			w->items[w->n++] = it;
			continue;
		}
		if (word == COUNTS << 8) {
			at += read_counts(w, &counted, w->bytes + at, value);
			without = 0;
			continue;
		}
		cr_assert_eq(value, sizeof(it) / UNIT);
		memcpy(&it, w->bytes + at, sizeof(it));
		at += sizeof(it);
		cr_assert_eq(word, (uint64_t)it.type << 8);
		if (it.type == PTC_ITEM_RUN) {
			context = it;
			continue;
		}
		cr_assert_eq(without, 0, "a record comes before the counts of earlier branches");
		w->items[w->n++] = it;
	}
	cr_assert_eq(at, w->len);
	cr_assert_eq(without, 0);
}

/* Prints the items, @each at a time, and reads them back. */
static struct written *print_with(bool icount, const struct ptc_item *items, size_t n, size_t each)
{
	static struct ptc_bin_printer p;
	struct written *w = calloc(1, sizeof(*w));
	const int fd = memfd_create("out", MFD_CLOEXEC);
	off_t len;
	size_t i;

	cr_assert(w && fd >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
	ptc_print_bin_begin(&p, icount, true);
	for (i = 0; i < n; i += each)
		cr_assert_eq(ptc_print_bin(&p, items + i, n - i < each ? n - i : each), 0);
	cr_assert(ptc_print_bin_end(&p));
	len = lseek(fd, 0, SEEK_END);
	w->len = (size_t)len;
	w->icount = icount;
	w->bytes = malloc(w->len);
	cr_assert(w->bytes && pread(fd, w->bytes, w->len, 0) == len);
	(void)close(fd);
	read_items(w);
	return w;
}

static struct written *print(const struct ptc_item *items, size_t n, size_t each)
{
	return print_with(false, items, n, each);
}

static void drop(struct written *w)
{
	free(w->bytes);
	free(w);
}

/* Checks that the output lists @items, expanded, in this order. */
static void expect(const struct written *w, const struct ptc_item *items, size_t n)
{
	struct ptc_item want;
	size_t i, at = 0;
	uint64_t k;

	for (i = 0; i < n; i++)
		for (k = 0; k < runs_count(&items[i]); k++, at++) {
			want = runs_item(&items[i], k);
			cr_assert_lt(at, w->n);
			cr_assert(!memcmp(&w->items[at], &want, sizeof(want)), "item %zu", at);
		}
	cr_assert_eq(at, w->n);
}

static struct ptc_transfer many[LONG];

static void make_transfers(void)
{
	size_t i;

	for (i = 0; i < LONG; i++)
		many[i] = (struct ptc_transfer){ (0x400000 + i) << 8 | PTC_KIND_JCC, i };
}

TestSuite(out_bin, .init = make_transfers);

Test(out_bin, all_that_there_may_be)
{
	const struct ptc_item items[] = {
		branch(1, 2, 7),
		branch(0xffffffff81000000, 3, 7), /* a kernel address */
		branch(0x1ffffffffffffff, 4, 7),  /* too large for 56 bits */
		branch(5, 6, 7),
		item(PTC_ITEM_GAP, 0x100, 8, 0, 9),
		branch(7, 8, 7), /* another thread than the gap's */
		run(many, 4, 7),
		branch(9, 10, 8),
		run(many, LONG, 8),
		item(PTC_ITEM_EVENT, 0, 11, PTC_EVENT_CBR, 8),
		run(many + 10, 1, 8),
	};
	const size_t n = sizeof(items) / sizeof(items[0]);
	struct written *w = print(items, n, n), *one = print(items, n, 1);

	expect(w, items, n);
	/*
	 * Two contexts: before the first branch, and before the first branch of the other thread.
	 * Three records: the gap, the event and the wide branch.
	 */
	cr_assert_eq(w->len, HEAD + (w->n - 3) * UNIT + (size_t)(2 + 3) * RECORD);
	cr_assert(w->len == one->len && !memcmp(w->bytes, one->bytes, w->len));
	drop(w);
	drop(one);
}

Test(out_bin, is_the_same_in_runs_of_any_length)
{
	static struct ptc_item items[LONG], runs[LONG];
	struct ptc_item whole = run(many, LONG, 7);
	struct written *a, *b;
	size_t i, n, len;

	for (i = 0; i < LONG; i++)
		items[i] = runs_item(&whole, i);
	a = print(items, LONG, LONG);
	expect(a, items, LONG);
	cr_assert_eq(a->len, HEAD + RECORD + LONG * UNIT);
	for (len = 1; len < LONG; len = len * 3 + 1) {
		for (i = n = 0; i < LONG; i += len)
			runs[n++] = run(many + i, LONG - i < len ? LONG - i : len, 7);
		b = print(runs, n, n);
		cr_assert(a->len == b->len && !memcmp(a->bytes, b->bytes, a->len), "%zu", len);
		drop(b);
	}
	drop(a);
}

/* More parts than one write call takes, from alternating threads. */
Test(out_bin, runs_of_threads_in_turns)
{
	struct ptc_item items[60];
	struct written *w;
	size_t i;

	for (i = 0; i < 60; i++)
		items[i] = run(many + i, 70 + 2 * (i % 5), (int32_t)(i % 3));
	w = print(items, 60, 60);
	expect(w, items, 60);
	drop(w);
}

Test(out_bin, what_is_not_taken_is_told)
{
	static struct ptc_bin_printer p;
	const struct ptc_item it = run(many, LONG, 7);
	int fds[2];

	cr_assert(!pipe(fds) && dup2(fds[0], STDOUT_FILENO) == STDOUT_FILENO);
	ptc_print_bin_begin(&p, false, true);
	cr_assert_neq(ptc_print_bin(&p, &it, 1), 0); /* the read end of a pipe */
	cr_assert_not(ptc_print_bin_end(&p));
}

/* The count of each item is its own, however the items are grouped. */
Test(out_bin, counts_of_instructions)
{
	static struct ptc_item items[1000];
	struct written *w, *other;
	size_t i, each;

	for (i = 0; i < 1000; i++) {
		items[i] = branch(i % 97 ? i : 0x1ffffffffffffff, i + 1, i % 300 < 10);
		if (i % 331 == 330)
			items[i] = item(PTC_ITEM_GAP, i, 0, 0, 1);
		items[i].insns = (uint32_t)(i * 1000003);
	}
	w = print_with(true, items, 1000, 1000);
	expect(w, items, 1000);
	for (each = 1; each < 1000; each += 123) {
		other = print_with(true, items, 1000, each);
		cr_assert(w->len == other->len && !memcmp(w->bytes, other->bytes, w->len));
		drop(other);
	}
	drop(w);
}
