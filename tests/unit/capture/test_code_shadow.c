/* SPDX-License-Identifier: MIT */
/*
 * Description: the saved copy of a program's code; here arrays stand for the memory and the file.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "capture/step/code_shadow.h"

enum { PAGE = PTC_SAVED_PAGE, BASE = 0x10000, PAGES = 4 };

struct world {
	uint8_t memory[PAGES * PAGE], file[PAGES * PAGE];
	bool has_file, unreadable;
	unsigned int reads;
	/* The code as a reader of the recording rebuilds it, and the calls as text. */
	uint8_t reader[PAGES * PAGE];
	char log[256];
};

static size_t read_memory(void *ctx, uint64_t addr, uint8_t *out, size_t len)
{
	struct world *w = ctx;

	w->reads++;
	if (w->unreadable)
		return 0;
	memcpy(out, w->memory + (addr - BASE), len);
	return len;
}

static bool read_file(void *ctx, uint64_t addr, uint8_t out[PTC_SAVED_PAGE])
{
	const struct world *w = ctx;

	if (w->has_file)
		memcpy(out, w->file + (addr - BASE), PAGE);
	return w->has_file;
}

static void save(void *ctx, uint64_t addr, const uint8_t *bytes, size_t len)
{
	struct world *w = ctx;
	const size_t used = strlen(w->log);

	(void)snprintf(w->log + used, sizeof(w->log) - used, "%llx+%zx ",
		       (unsigned long long)(addr - BASE), len);
	memcpy(w->reader + (addr - BASE), bytes, len);
}

static struct ptc_saved_io io_of(struct world *w)
{
	return (struct ptc_saved_io){ read_memory, read_file, save, w };
}

/* Returns the calls since the last call of this function. */
static const char *calls(struct world *w)
{
	static char log[sizeof(w->log)];

	memcpy(log, w->log, sizeof(log));
	w->log[0] = '\0';
	return log;
}

static void look(struct ptc_saved *s, struct world *w, size_t off, bool watch)
{
	const struct ptc_saved_io io = io_of(w);

	cr_assert(ptc_saved_look(s, &io, BASE + off, watch));
}

static void check(struct ptc_saved *s, struct world *w, size_t off, size_t len)
{
	const struct ptc_saved_io io = io_of(w);

	cr_assert(ptc_saved_check(s, &io, BASE + off, w->memory + off, len));
}

Test(code_shadow, a_page_that_is_as_its_file_is_not_saved_and_read_once)
{
	static struct world w = { .has_file = true };
	struct ptc_saved s = { NULL, 0, 0, 0 };

	look(&s, &w, 5, false);
	look(&s, &w, 4095, false);
	cr_assert_eq(w.reads, 1);
	cr_assert_str_eq(calls(&w), "");
	ptc_saved_flush(&s);
	w.memory[7] = w.memory[9] = 1; /* patched */
	look(&s, &w, 5, false);
	cr_assert_str_eq(calls(&w), "7+3 ");
	ptc_saved_flush(&s);
	look(&s, &w, 5, false);
	cr_assert_str_eq(calls(&w), "");
	w.memory[7] = w.memory[9] = 0; /* and restored */
	ptc_saved_flush(&s);
	look(&s, &w, 5, false);
	cr_assert_str_eq(calls(&w), "7+3 ");
	ptc_saved_release(&s);
}

Test(code_shadow, a_page_without_a_file_is_saved_whole_and_then_what_changed)
{
	static struct world w;
	struct ptc_saved s = { NULL, 0, 0, 0 };

	look(&s, &w, PAGE + 1, false);
	cr_assert_str_eq(calls(&w), "1000+1000 ");
	w.memory[PAGE] = w.memory[2 * PAGE - 1] = 1;
	ptc_saved_flush(&s);
	look(&s, &w, PAGE + 1, false);
	cr_assert_str_eq(calls(&w), "1000+1000 ");
	w.memory[PAGE + 8] = 1;
	ptc_saved_flush(&s);
	look(&s, &w, PAGE + 1, false);
	cr_assert_str_eq(calls(&w), "1008+1 ");
	cr_assert_eq(memcmp(w.reader + PAGE, w.memory + PAGE, PAGE), 0);
	ptc_saved_release(&s);
}

Test(code_shadow, a_watched_page_is_compared_with_each_instruction)
{
	static struct world w = { .has_file = true };
	struct ptc_saved s = { NULL, 0, 0, 0 };

	look(&s, &w, 0, true);
	look(&s, &w, PAGE, false);
	cr_assert_str_eq(calls(&w), "");
	check(&s, &w, 100, 15);
	cr_assert_eq(w.reads, 2);
	w.memory[102] = 1;
	w.memory[500] = 2;
	check(&s, &w, 103, 15);
	cr_assert_str_eq(calls(&w), "");
	check(&s, &w, 100, 15); /* takes all changes in one call */
	cr_assert_str_eq(calls(&w), "66+18f ");
	check(&s, &w, 500, 1);
	cr_assert_str_eq(calls(&w), "");
	w.memory[PAGE] = 1;
	check(&s, &w, PAGE, 1);		    /* not watched */
	check(&s, &w, (size_t)2 * PAGE, 1); /* never checked */
	cr_assert_str_eq(calls(&w), "");
	ptc_saved_release(&s);
}

Test(code_shadow, what_cannot_be_read_is_asked_for_again)
{
	static struct world w = { .unreadable = true };
	struct ptc_saved s = { NULL, 0, 0, 0 };

	look(&s, &w, 0, false);
	cr_assert_str_eq(calls(&w), "");
	w.unreadable = false;
	look(&s, &w, 0, false);
	cr_assert_str_eq(calls(&w), "0+1000 ");
	ptc_saved_release(&s);
}

Test(code_shadow, a_copy_knows_the_same_and_goes_its_own_way)
{
	static struct world w;
	struct ptc_saved s = { NULL, 0, 0, 0 }, copy = { NULL, 0, 0, 0 };

	look(&s, &w, 0, true);
	look(&s, &w, PAGE, true);
	(void)calls(&w);
	cr_assert(ptc_saved_copy(&copy, &s));
	w.memory[3] = 1;
	look(&copy, &w, 0, true);
	cr_assert_str_eq(calls(&w), "3+1 ");
	check(&s, &w, 0, 8); /* the original has not seen the change */
	cr_assert_str_eq(calls(&w), "3+1 ");
	ptc_saved_release(&s);
	w.memory[PAGE + 1] = 2;
	look(&copy, &w, PAGE, true);
	cr_assert_str_eq(calls(&w), "1001+1 ");
	ptc_saved_release(&copy);
}

Test(code_shadow, only_what_is_kept_stays)
{
	static const struct ptc_saved_range ranges[] = { { BASE, BASE + PAGE },
							 { BASE + 2 * PAGE, BASE + 3 * PAGE } };
	static struct world w;
	struct ptc_saved s = { NULL, 0, 0, 0 };
	size_t i;

	for (i = PAGES; i--;)
		look(&s, &w, i * PAGE, false);
	cr_assert_str_eq(calls(&w), "3000+1000 2000+1000 1000+1000 0+1000 ");
	ptc_saved_keep(&s, ranges, 2);
	cr_assert_eq(s.n, 2);
	for (i = 0; i < PAGES; i++)
		look(&s, &w, i * PAGE, false);
	cr_assert_str_eq(calls(&w), "1000+1000 3000+1000 ");
	ptc_saved_keep(&s, NULL, 0);
	cr_assert_eq(s.n, 0);
	ptc_saved_release(&s);
}
