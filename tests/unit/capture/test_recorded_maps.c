/* SPDX-License-Identifier: MIT */
/* Description: which mappings are announced when mappings come, go, split and merge. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "capture/step/recorded_maps.h"

struct world {
	struct ptc_maps maps;
	struct ptc_told told;
	struct ptc_saved saved; /* one page at each of 0x1000, 0x2000, ... 0x8000 */
	char log[512];
};

static void tell(void *ctx, const struct ptc_map *part)
{
	struct world *w = ctx;
	const size_t used = strlen(w->log);

	(void)snprintf(w->log + used, sizeof(w->log) - used, "%llx-%llx@%llx%s ",
		       (unsigned long long)part->start, (unsigned long long)part->end,
		       (unsigned long long)part->off, ptc_map_name(&w->maps, part));
}

static size_t read_nothing(void *ctx, uint64_t addr, uint8_t *out, size_t len)
{
	(void)ctx;
	(void)addr;
	memset(out, 0, len);
	return len;
}

static bool no_file(void *ctx, uint64_t addr, uint8_t out[PTC_SAVED_PAGE])
{
	(void)ctx;
	(void)addr;
	memset(out, 1, PTC_SAVED_PAGE);
	return false;
}

static void save(void *ctx, uint64_t addr, const uint8_t *bytes, size_t len)
{
	(void)ctx;
	(void)addr;
	(void)bytes;
	(void)len;
}

/*
 * Updates to the mappings @text. Returns the announced mappings, then each page whose saved copy
 * was dropped, as "!N".
 */
static const char *update(struct world *w, const char *text)
{
	static const struct ptc_saved_io io = { read_nothing, no_file, save, NULL };
	static char ret[sizeof(w->log)];
	struct ptc_err err;
	uint64_t page;

	for (page = 1; page <= 8; page++)
		cr_assert(ptc_saved_look(&w->saved, &io, page << 12, false));
	cr_assert_eq(ptc_maps_parse(&w->maps, text, strlen(text), &err), 0, "%s", err.msg);
	w->log[0] = '\0';
	cr_assert(ptc_told_update(&w->told, &w->maps, &w->saved, tell, w));
	for (page = 1; page <= 8; page++) {
		const size_t n = w->saved.n, used = strlen(w->log);

		cr_assert(ptc_saved_look(&w->saved, &io, page << 12, false));
		if (w->saved.n != n)
			(void)snprintf(w->log + used, sizeof(w->log) - used, "!%d ", (int)page);
	}
	memcpy(ret, w->log, sizeof(ret));
	return ret;
}

static void drop(struct world *w)
{
	ptc_maps_release(&w->maps);
	ptc_told_release(&w->told);
	ptc_saved_release(&w->saved);
}

Test(recorded_maps, each_executable_mapping_is_told_of_once)
{
	struct world w = { .maps = PTC_MAPS_INIT };
	const char *text = "1000-3000 r-xp 00005000 08:01 7 /a\n"
			   "3000-4000 rw-p 00007000 08:01 7 /a\n"
			   "4000-6000 r-xp 00000000 00:00 0\n"
			   "7000-8000 r-xp 00000000 00:00 0 [vsyscall]\n";

	cr_assert_str_eq(update(&w, text), "1000-3000@5000/a 4000-6000@0 !1 !2 !3 !4 !5 !6 !7 !8 ");
	cr_assert_str_eq(update(&w, text), "!3 !6 !7 !8 ");
	drop(&w);
}

Test(recorded_maps, what_is_split_and_merged_is_still_the_same)
{
	struct world w = { .maps = PTC_MAPS_INIT };

	(void)update(&w, "1000-5000 r-xp 00000000 00:00 0\n5000-9000 r-xp 00001000 08:01 7 /a\n");
	/* Writable for a while, then executable again. */
	cr_assert_str_eq(update(&w, "1000-2000 r-xp 00000000 00:00 0\n"
				    "2000-3000 rw-p 00000000 00:00 0\n"
				    "3000-5000 r-xp 00000000 00:00 0\n"
				    "5000-6000 r-xp 00001000 08:01 7 /a\n"
				    "6000-9000 rwxp 00002000 08:01 7 /a\n"),
			 "");
	cr_assert_str_eq(update(&w, "1000-5000 rwxp 00000000 00:00 0\n"
				    "5000-9000 r-xp 00001000 08:01 7 /a\n"),
			 "");
	/* Longer at the end: only the new part is announced. */
	cr_assert_str_eq(update(&w, "1000-5000 r-xp 00000000 00:00 0\n"
				    "5000-a000 r-xp 00001000 08:01 7 /a\n"),
			 "9000-a000@5000/a ");
	drop(&w);
}

Test(recorded_maps, what_became_executable_between_two_parts_is_told_of)
{
	struct world w = { .maps = PTC_MAPS_INIT };

	(void)update(&w, "1000-2000 r-xp 00001000 08:01 7 /a\n"
			 "2000-4000 r--p 00002000 08:01 7 /a\n"
			 "4000-5000 r-xp 00004000 08:01 7 /a\n");
	cr_assert_str_eq(update(&w, "1000-6000 r-xp 00001000 08:01 7 /a\n"),
			 "2000-4000@2000/a 5000-6000@5000/a !2 !3 !5 !6 !7 !8 ");
	drop(&w);
}

Test(recorded_maps, another_thing_at_the_same_place_is_new)
{
	static const char *const others[] = {
		"1000-3000 r-xp 00001000 08:01 7 /a\n", /* another offset */
		"1000-3000 r-xp 00000000 08:01 7 /b\n", /* another name */
		"1000-3000 r-xp 00000000 08:01 8 /a\n", /* another file with that name */
		"1000-3000 r-xp 00000000 08:02 7 /a\n", "1000-3000 r-xp 00000000 00:00 0\n",
	};
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct world w = { .maps = PTC_MAPS_INIT };
		const char *got;

		(void)update(&w, "1000-3000 r-xp 00000000 08:01 7 /a\n");
		got = update(&w, others[i]);
		cr_assert(!strncmp(got, "1000-3000@", 10), "%s%s", others[i], got);
		cr_assert_not_null(strstr(got, "!1 !2 "), "%s%s", others[i], got);
		drop(&w);
	}
}

Test(recorded_maps, what_was_unmapped_is_told_of_again)
{
	struct world w = { .maps = PTC_MAPS_INIT };
	struct ptc_told copy = { NULL, 0, 0 };

	(void)update(&w, "1000-3000 r-xp 00000000 00:00 0\n");
	cr_assert(ptc_told_copy(&copy, &w.told));
	cr_assert_str_eq(update(&w, "1000-2000 r-xp 00000000 00:00 0\n"), "!2 !3 !4 !5 !6 !7 !8 ");
	cr_assert_str_eq(update(&w, "1000-3000 r-xp 00000000 00:00 0\n"),
			 "2000-3000@0 !2 !3 !4 !5 !6 !7 !8 ");
	ptc_told_release(&w.told);
	w.told = copy; /* as in a child that still maps everything */
	cr_assert_str_eq(update(&w, "1000-3000 r-xp 00000000 00:00 0\n"), "!3 !4 !5 !6 !7 !8 ");
	drop(&w);
}
