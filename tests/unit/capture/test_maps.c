/* SPDX-License-Identifier: MIT */
/* Description: /proc/PID/maps is parsed, and malformed lines are reported. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/host/maps.h"

static const char text[] =
	"555555554000-555555556000 r--p 00000000 fe:00 1234                       /usr/bin/a b\n"
	"555555556000-55555555a000 r-xp 00002000 fe:00 1234                       /usr/bin/a b\n"
	"7ffff7fc1000-7ffff7fc5000 rw-s 00000000 00:05 99 /dev/zero (deleted)\n"
	"7ffff7fc5000-7ffff7fc7000 r-xp 00000000 00:00 0                          [vdso]\n"
	"7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 \n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

Test(maps, every_field_of_a_line_is_read)
{
	struct ptc_maps m = PTC_MAPS_INIT;
	struct ptc_err err;

	cr_assert_eq(ptc_maps_parse(&m, text, sizeof(text) - 1, &err), 0);
	cr_assert_eq(m.n, 6);
	cr_assert_eq(m.items[1].start, 0x555555556000);
	cr_assert_eq(m.items[1].end, 0x55555555a000);
	cr_assert_eq(m.items[1].off, 0x2000);
	cr_assert_eq(m.items[1].maj, 0xfe);
	cr_assert_eq(m.items[1].ino, 1234);
	cr_assert_eq(m.items[1].prot, PROT_READ | PROT_EXEC);
	cr_assert_eq(m.items[1].flags, MAP_PRIVATE);
	cr_assert_str_eq(ptc_map_name(&m, &m.items[1]), "/usr/bin/a b");
	cr_assert_eq(m.items[2].flags, MAP_SHARED);
	cr_assert_eq(m.items[2].prot, PROT_READ | PROT_WRITE);
	cr_assert_str_eq(ptc_map_name(&m, &m.items[2]), "/dev/zero (deleted)");
	cr_assert_str_eq(ptc_map_name(&m, &m.items[4]), "");
	cr_assert_eq(m.items[5].start, 0xffffffffff600000);
	ptc_maps_release(&m);
}

Test(maps, an_address_is_found_in_the_mapping_that_holds_it)
{
	struct ptc_maps m = PTC_MAPS_INIT;
	struct ptc_err err;

	cr_assert_eq(ptc_maps_parse(&m, text, sizeof(text) - 1, &err), 0);
	cr_assert_eq(ptc_maps_find(&m, 0x555555556000), &m.items[1]);
	cr_assert_eq(ptc_maps_find(&m, 0x555555555fff), &m.items[0]);
	cr_assert_eq(ptc_maps_find(&m, 0x55555555a000), NULL);
	cr_assert_eq(ptc_maps_find(&m, 0), NULL);
	cr_assert_eq(ptc_maps_find(&m, UINT64_MAX), NULL);
	cr_assert_eq(ptc_maps_find(&m, 0xffffffffff600fff), &m.items[5]);
	ptc_maps_release(&m);
}

/* The text is at the end of an exact allocation, so that ASan sees one byte too many. */
Test(maps, a_text_cut_anywhere_is_an_error_or_whole_lines)
{
	size_t len;

	for (len = 0; len < sizeof(text); len++) {
		struct ptc_maps m = PTC_MAPS_INIT;
		struct ptc_err err;
		char *exact = malloc(len ? len : 1);
		int rc;

		memcpy(exact, text, len);
		rc = ptc_maps_parse(&m, exact, len, &err);
		if (!len || text[len - 1] == '\n')
			cr_assert_eq(rc, 0);
		else
			cr_assert_eq(rc, PTC_E_FORMAT, "length %zu", len);
		ptc_maps_release(&m);
		free(exact);
	}
}

Test(maps, lines_that_are_none_are_refused)
{
	static const char *const bad[] = {
		"\n",
		"hello\n",
		"2000-1000 r--p 00000000 00:00 0\n",
		"1000-2000 r-\n",
		"1000-2000 r--p 0000000z 00:00 0\n",
		"10000000000000000-20000000000000000 r--p 0 00:00 0\n",
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ptc_maps m = PTC_MAPS_INIT;
		struct ptc_err err;

		cr_assert_eq(ptc_maps_parse(&m, bad[i], strlen(bad[i]), &err), PTC_E_FORMAT, "%s",
			     bad[i]);
		ptc_maps_release(&m);
	}
}

Test(maps, our_own_map_has_this_function)
{
	struct ptc_maps m = PTC_MAPS_INIT;
	struct ptc_err err;
	const struct ptc_map *map;

	cr_assert_eq(ptc_maps_read(&m, "/proc", getpid(), &err), 0);
	map = ptc_maps_find(&m, (uint64_t)(uintptr_t)&ptc_maps_find);
	cr_assert_not_null(map);
	cr_assert(map->prot & PROT_EXEC);
	cr_assert_eq(ptc_maps_read(&m, "/nowhere", getpid(), &err), PTC_E_NOT_EXIST);
	ptc_maps_release(&m);
}
