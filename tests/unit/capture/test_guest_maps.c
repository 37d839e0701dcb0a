/* SPDX-License-Identifier: MIT */
/* Description: the mappings of an emulated process, after each system call that changes them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/emu/guest_maps.h"
#include "fewer.h"

struct bench {
	struct ptc_maps maps;
	char told[1024]; /* "start-end+off name;" */
};

static void tell(void *ctx, const struct ptc_maps *maps, const struct ptc_map *map)
{
	struct bench *b = ctx;
	const size_t n = strlen(b->told);

	(void)snprintf(b->told + n, sizeof(b->told) - n, "%llx-%llx+%llx %s;",
		       (unsigned long long)map->start, (unsigned long long)map->end,
		       (unsigned long long)map->off, ptc_map_name(maps, map));
}

static void apply(struct bench *b, struct ptc_emu_map change, const char *name)
{
	b->told[0] = '\0';
	cr_assert(ptc_space_apply(&b->maps, &change, name, tell, b));
}

static void map(struct bench *b, uint64_t start, uint64_t len, uint32_t prot, uint64_t off,
		const char *name)
{
	apply(b,
	      (struct ptc_emu_map){ .change = PTC_EMU_MMAP,
				    .start = start,
				    .len = len,
				    .prot = prot,
				    .off = off },
	      name);
}

static void change(struct bench *b, uint32_t what, uint64_t start, uint64_t len, uint32_t prot)
{
	apply(b, (struct ptc_emu_map){ .change = what, .start = start, .len = len, .prot = prot },
	      "");
}

/* Returns the whole map in the same form. */
static const char *all(struct bench *b)
{
	size_t i;

	b->told[0] = '\0';
	for (i = 0; i < b->maps.n; i++)
		tell(b, &b->maps, &b->maps.items[i]);
	return b->told;
}

Test(guest_maps, code_is_told_of_and_data_is_not)
{
	struct bench b = { .maps = PTC_MAPS_INIT };

	map(&b, 0x1000, 0x2000, PROT_READ | PROT_EXEC, 0x5000, "/lib/a");
	cr_assert_str_eq(b.told, "1000-3000+5000 /lib/a;");
	map(&b, 0x8000, 0x1000, PROT_READ, 0, "/lib/a");
	cr_assert_str_eq(b.told, "");
	map(&b, 0x9000, 0x1000, PROT_READ | PROT_EXEC, 0, "");
	cr_assert_str_eq(b.told, "9000-a000+0 ;");
	ptc_maps_release(&b.maps);
}

Test(guest_maps, what_is_mapped_over_or_unmapped_is_cut_out)
{
	struct bench b = { .maps = PTC_MAPS_INIT };

	map(&b, 0x1000, 0x4000, PROT_EXEC, 0, "/lib/a");
	change(&b, PTC_EMU_MUNMAP, 0x2000, 0x1000, 0);
	cr_assert_str_eq(all(&b), "1000-2000+0 /lib/a;3000-5000+2000 /lib/a;");
	map(&b, 0x3000, 0x1000, PROT_EXEC, 0x7000, "/lib/b");
	cr_assert_str_eq(all(&b),
			 "1000-2000+0 /lib/a;3000-4000+7000 /lib/b;4000-5000+3000 /lib/a;");
	map(&b, 0x0, 0x10000, PROT_READ, 0, ""); /* data */
	cr_assert_str_eq(all(&b), "");
	ptc_maps_release(&b.maps);
}

Test(guest_maps, only_what_was_not_executable_becomes_it)
{
	struct bench b = { .maps = PTC_MAPS_INIT };

	map(&b, 0x1000, 0x1000, PROT_EXEC, 0, "/lib/a");
	map(&b, 0x2000, 0x2000, PROT_READ, 0x1000, "/lib/a");
	change(&b, PTC_EMU_MPROTECT, 0x1000, 0x2000, PROT_EXEC);
	cr_assert_str_eq(b.told, "2000-3000+1000 /lib/a;");
	change(&b, PTC_EMU_MPROTECT, 0x1000, 0x3000, PROT_READ);
	cr_assert_str_eq(b.told, "");
	change(&b, PTC_EMU_MPROTECT, 0x3000, 0x1000, PROT_EXEC);
	cr_assert_str_eq(b.told, "3000-4000+2000 /lib/a;");
	ptc_maps_release(&b.maps);
}

Test(guest_maps, memory_that_nothing_was_said_of_is_anonymous)
{
	struct bench b = { .maps = PTC_MAPS_INIT };

	map(&b, 0x2000, 0x1000, PROT_READ, 0, "/lib/a");
	change(&b, PTC_EMU_MPROTECT, 0x1000, 0x3000, PROT_EXEC);
	cr_assert_str_eq(b.told, "1000-2000+0 ;2000-3000+0 /lib/a;3000-4000+0 ;");
	change(&b, PTC_EMU_MPROTECT, 0x8000, 0x1000, PROT_READ | PROT_WRITE);
	cr_assert_eq(b.maps.n, 3);
	ptc_maps_release(&b.maps);
}

Test(guest_maps, code_that_moves_is_told_of_where_it_is)
{
	struct bench b = { .maps = PTC_MAPS_INIT };
	const struct ptc_emu_map move = { .change = PTC_EMU_MREMAP,
					  .from = 0x2000,
					  .from_len = 0x1000,
					  .start = 0x9000,
					  .len = 0x2000 };

	map(&b, 0x1000, 0x2000, PROT_EXEC, 0x4000, "/lib/a");
	apply(&b, move, "");
	cr_assert_str_eq(b.told, "9000-b000+5000 /lib/a;");
	cr_assert_str_eq(all(&b), "1000-2000+4000 /lib/a;9000-b000+5000 /lib/a;");
	ptc_maps_release(&b.maps);
}

Test(guest_maps, a_copy_is_the_same_and_apart)
{
	struct bench a = { .maps = PTC_MAPS_INIT }, b = { .maps = PTC_MAPS_INIT };

	map(&a, 0x1000, 0x2000, PROT_EXEC, 0, "/lib/a");
	cr_assert(ptc_space_copy(&b.maps, &a.maps));
	change(&a, PTC_EMU_MUNMAP, 0x1000, 0x2000, 0);
	cr_assert_str_eq(all(&b), "1000-3000+0 /lib/a;");
	cr_assert_str_eq(all(&a), "");
	ptc_maps_release(&a.maps);
	ptc_maps_release(&b.maps);
}

Test(guest_maps, names_that_are_gone_take_no_room)
{
	struct bench b = { .maps = PTC_MAPS_INIT };
	char name[64];
	int i;

	map(&b, 0x100000, 0x1000, PROT_EXEC, 0, "/lib/that stays");
	map(&b, 0x1000, 0x1000, PROT_READ, 0, "/bin/that stays, too");
	for (i = 0; i < FEWER(100000, 30000);
	     i++) { /* as if a program loads code it just compiled */
		(void)snprintf(name, sizeof(name), "/tmp/a name of a library %d", i);
		map(&b, 0x8000, 0x2000, PROT_EXEC, 0, name);
		cr_assert_str_eq(ptc_map_name(&b.maps, ptc_maps_find(&b.maps, 0x9000)), name);
		cr_assert(strstr(b.told, name));
		change(&b, PTC_EMU_MUNMAP, 0x8000, 0x2000, 0);
		cr_assert_lt(b.maps.text.len, 65536);
	}
	cr_assert_str_eq(all(&b),
			 "1000-2000+0 /bin/that stays, too;100000-101000+0 /lib/that stays;");
	ptc_maps_release(&b.maps);
}

/* A view tells whether an address holds the same part of the same file. */
Test(guest_maps, a_view_is_of_a_file_and_where_it_is_mapped)
{
	struct bench b = { .maps = PTC_MAPS_INIT };
	const struct ptc_map *m;
	uint64_t first, part;

	map(&b, 0x10000, 0x4000, PROT_EXEC, 0x1000, "/lib/a");
	first = ptc_maps_find(&b.maps, 0x10000)->view;
	cr_assert_neq(first, 0);
	map(&b, 0x12000, 0x1000, PROT_EXEC, 0x3000, "/lib/a"); /* a part again, unchanged */
	part = ptc_maps_find(&b.maps, 0x12000)->view;
	cr_assert_eq(part, first);
	cr_assert_eq(ptc_maps_find(&b.maps, 0x13000)->view, first);
	map(&b, 0x10000, 0x1000, PROT_EXEC, 0x2000, "/lib/a"); /* another part */
	cr_assert_neq(ptc_maps_find(&b.maps, 0x10000)->view, first);
	map(&b, 0x10000, 0x1000, PROT_EXEC, 0x1000, "/lib/b");
	cr_assert_neq(ptc_maps_find(&b.maps, 0x10000)->view, first);
	map(&b, 0x10000, 0x1000, PROT_EXEC, 0x1000, "");
	m = ptc_maps_find(&b.maps, 0x10000);
	cr_assert_eq(m->view, 0);
	ptc_maps_release(&b.maps);
}
