/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/decode/format_pool.h"
#include "cli/decode/line_buffer.h"

enum { ITEMS = 20000 };

static struct ptc_line line;
static atomic_int printed;     /* items */
static atomic_int at_most_one; /* threads that look up names */
static size_t wide;	       /* bytes of a line, if not 0 */
static uint64_t fails_at = UINT64_MAX;

/* Prints the addresses, and acts as a lookup of names. */
static int print_addresses(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_printer *p = ctx;
	size_t i, k;

	for (i = 0; i < n; i++) {
		while (sem_wait(p->names))
			;
		cr_assert_eq(atomic_fetch_add(&at_most_one, 1), 0);
		(void)atomic_fetch_sub(&at_most_one, 1);
		(void)sem_post(p->names);
		ptc_line_hex(p->line, items[i].from);
		ptc_line_char(p->line, ' ');
		ptc_line_dec(p->line, (int64_t)ptc_printer_count(p, &items[i]));
		for (k = 0; k < wide; k++)
			ptc_line_char(p->line, 'x');
		ptc_line_char(p->line, '\n');
		p->line->failed |= items[i].from == fails_at;
		(void)atomic_fetch_add(&printed, 1);
	}
	return p->line->failed;
}

static struct ptc_item *make_items(size_t n)
{
	struct ptc_item *items = calloc(n, sizeof(*items));
	size_t i;

	for (i = 0; i < n; i++)
		items[i] = (struct ptc_item){
			.type = PTC_ITEM_BRANCH, .from = i, .tid = (int32_t)(i % 3), .insns = 2
		};
	return items;
}

/* Standard output becomes the file @path. */
static void write_to(const char *path)
{
	cr_assert_not_null(freopen(path, "w", stdout));
}

/* Each line has its item's number, and the instructions of its thread. */
static void check_lines(const char *path, size_t n)
{
	FILE *f = fopen(path, "r");
	char *text = NULL, want[64];
	size_t i, cap = 0;

	(void)fflush(stdout);
	cr_assert_not_null(f);
	cr_assert_gt(getline(&text, &cap, f), 0);
	cr_assert_str_eq(text, "head\n");
	for (i = 0; i < n; i++) {
		cr_assert_gt(getline(&text, &cap, f), 0, "line %zu", i);
		(void)snprintf(want, sizeof(want), "%zx %zu", i, 2 * (i / 3 + 1));
		cr_assert_eq(strncmp(text, want, strlen(want)), 0, "%s, not %s", text, want);
	}
	cr_assert_lt(getline(&text, &cap, f), 0);
	free(text);
	(void)fclose(f);
}

static struct ptc_printer printer = { .line = &line, .icount = true };

static struct ptc_format_pool *begin(unsigned int helpers)
{
	struct ptc_format_pool *pool;

	ptc_line_str(&line, "head\n");
	pool = ptc_format_pool_begin(&printer, print_addresses, helpers);
	cr_assert_not_null(pool);
	return pool;
}

static char *file_name(void)
{
	static char name[] = "/tmp/ptcap-unit-XXXXXX";
	const int fd = mkstemp(name);

	cr_assert_geq(fd, 0);
	(void)close(fd);
	return name;
}

/* Gives the items in batches of changing size. */
static void give(struct ptc_format_pool *pool, const struct ptc_item *items, size_t n, size_t most)
{
	size_t at = 0, k = 1;

	for (; at < n; at += k, k = k * 7 % most + 1) {
		if (k > n - at)
			k = n - at;
		cr_assert_eq(ptc_format_pool_items(pool, items + at, k), 0);
	}
}

Test(format_pool, prints_in_order_with_any_number_of_threads)
{
	struct ptc_item *items = make_items(ITEMS);
	unsigned int helpers;

	for (helpers = 1; helpers <= 7; helpers += 3) {
		char *name = file_name();
		struct ptc_format_pool *pool;

		write_to(name);
		pool = begin(helpers);
		give(pool, items, ITEMS, 1000 * helpers);
		ptc_format_pool_end(pool);
		cr_assert_not(line.failed);
		check_lines(name, ITEMS);
		(void)unlink(name);
		memcpy(strrchr(name, '-') + 1, "XXXXXX", 6);
		ptc_printer_release(&printer);
	}
	free(items);
}

Test(format_pool, at_a_change_everything_is_printed)
{
	struct ptc_item *items = make_items(ITEMS);
	struct ptc_format_pool *pool;
	char *name = file_name();
	size_t at = 0;

	write_to(name);
	pool = begin(2);
	ptc_format_pool_before_change(pool);
	for (; at < ITEMS; at += 50) {
		cr_assert_eq(ptc_format_pool_items(pool, items + at, 50), 0);
		if (at % 350)
			continue;
		ptc_format_pool_before_change(pool);
		cr_assert_eq(atomic_load(&printed), (int)at + 50);
	}
	ptc_format_pool_end(pool);
	check_lines(name, ITEMS);
	(void)unlink(name);
	ptc_printer_release(&printer);
	free(items);
}

/* More text than may wait for the output. */
Test(format_pool, long_lines)
{
	enum { FEW = 3000 };
	struct ptc_item *items = make_items(FEW);
	struct ptc_format_pool *pool;
	char *name = file_name();

	wide = 1 << 16;
	write_to(name);
	pool = begin(3);
	give(pool, items, FEW, 600);
	ptc_format_pool_end(pool);
	cr_assert_not(line.failed);
	check_lines(name, FEW);
	(void)unlink(name);
	ptc_printer_release(&printer);
	free(items);
}

Test(format_pool, a_failure_stops_the_decoder)
{
	struct ptc_item *items = make_items(ITEMS);
	struct ptc_format_pool *pool;
	bool stopped = false;
	size_t at;

	fails_at = 5000;
	write_to("/dev/null");
	pool = begin(2);
	for (at = 0; at < ITEMS && !stopped; at += 100)
		stopped = ptc_format_pool_items(pool, items + at, 100);
	cr_assert(stopped);
	ptc_format_pool_end(pool);
	cr_assert(line.failed);
	ptc_printer_release(&printer);
	free(items);
}

Test(format_pool, a_full_disk_is_a_failure)
{
	struct ptc_item *items = make_items(ITEMS);
	struct ptc_format_pool *pool;
	size_t at;

	write_to("/dev/full");
	(void)setvbuf(stdout, NULL, _IONBF, 0);
	pool = begin(2);
	for (at = 0; at < ITEMS; at += 100)
		if (ptc_format_pool_items(pool, items + at, 100))
			break;
	ptc_format_pool_end(pool);
	cr_assert(line.failed);
	ptc_printer_release(&printer);
	free(items);
}
