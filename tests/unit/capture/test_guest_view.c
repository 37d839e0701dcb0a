/* SPDX-License-Identifier: MIT */
/* Description: which mappings of QEMU's process are the emulated program's. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "capture/emu/guest_maps.h"
#include "capture/emu/guest_view.h"

/* A QEMU with one library, and the guest's program and libc, which is the same file as QEMU's. */
static const char host_text[] =
	"00400000-00403000 r--p 00000000 fe:01 7 /bin/prog\n"
	"00404000-00405000 rw-p 00003000 fe:01 7 /bin/prog\n"
	"00405000-00426000 rw-p 00000000 00:00 0 \n"
	"4000000000-4000001000 ---p 00000000 00:00 0 \n"
	"4000001000-4000801000 rw-p 00000000 00:00 0 \n"
	"4000802000-4000806000 r--p 00000000 fe:01 9 /lib/libc.so\n"
	"4000810000-4000811000 r--p 00000000 00:00 0 \n"
	"555500000000-555500001000 r--p 00000000 fe:01 8 /bin/qemu\n"
	"555500001000-555500002000 r-xp 00001000 fe:01 8 /bin/qemu\n"
	"555500002000-555500003000 rw-p 00002000 fe:01 8 /bin/qemu\n"
	"555500003000-555500009000 rw-p 00000000 00:00 0 \n"
	"555500100000-555500200000 rw-p 00000000 00:00 0 [heap]\n"
	"7f0000000000-7f0008000000 rwxp 00000000 00:00 0 \n"
	"7f0010000000-7f0011000000 rw-p 00000000 00:00 0 \n"
	"7f0020000000-7f0020001000 r--p 00000000 fe:01 9 /lib/libc.so\n"
	"7f0020001000-7f0020002000 r-xp 00001000 fe:01 9 /lib/libc.so\n"
	"7f0030000000-7f0040000000 rw-s 00000000 00:01 3 /SYSV00000000 (deleted)\n"
	"7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

static void no_tell(void *ctx, const struct ptc_maps *maps, const struct ptc_map *map)
{
	(void)ctx;
	(void)maps;
	(void)map;
}

static void know(struct ptc_maps *known, uint64_t start, uint64_t len, uint64_t off, uint32_t prot,
		 const char *name)
{
	const struct ptc_emu_map map = {
		.change = PTC_EMU_MMAP, .start = start, .len = len, .off = off, .prot = prot
	};

	cr_assert(ptc_space_apply(known, &map, name, no_tell, NULL));
}

/* Returns the mappings as text: "start-end prot+off name;". */
static const char *text_of(const struct ptc_maps *m)
{
	static char text[2048];
	size_t i, n = 0;

	text[0] = '\0';
	for (i = 0; i < m->n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%llx-%llx %x+%llx %s;",
				      (unsigned long long)m->items[i].start,
				      (unsigned long long)m->items[i].end, m->items[i].prot,
				      (unsigned long long)m->items[i].off,
				      ptc_map_name(m, &m->items[i]));
	return text;
}

static const char *view(const struct ptc_maps *known, uint64_t base)
{
	struct ptc_maps host = PTC_MAPS_INIT, ret = PTC_MAPS_INIT;
	struct ptc_err err;
	const char *text;

	cr_assert_eq(ptc_maps_parse(&host, host_text, sizeof(host_text) - 1, &err), 0);
	cr_assert(ptc_emu_guest_view(&host, known, base, &ret));
	text = text_of(&ret);
	ptc_maps_release(&host);
	ptc_maps_release(&ret);
	return text;
}

Test(guest_view, qemus_own_mappings_are_left_out)
{
	const struct ptc_maps known = PTC_MAPS_INIT;

	cr_assert_str_eq(view(&known, 0),
			 "400000-403000 1+0 /bin/prog;404000-405000 3+3000 /bin/prog;"
			 "405000-426000 3+0 ;4000000000-4000001000 0+0 ;4000001000-4000801000 3+0 ;"
			 "4000802000-4000806000 1+0 /lib/libc.so;4000810000-4000811000 1+0 ;");
}

Test(guest_view, known_mappings_have_the_guests_rights)
{
	struct ptc_maps known = PTC_MAPS_INIT;

	know(&known, 0x401000, 0x1000, 0x1000, 5, "/bin/prog");
	know(&known, 0x4000803000, 0x2000, 0x1000, 5, "/lib/libc.so");
	know(&known, 0x4000810000, 0x1000, 0, 7, "");
	cr_assert_str_eq(view(&known, 0),
			 "400000-401000 1+0 /bin/prog;401000-402000 5+1000 /bin/prog;"
			 "402000-403000 1+2000 /bin/prog;404000-405000 3+3000 /bin/prog;"
			 "405000-426000 3+0 ;4000000000-4000001000 0+0 ;4000001000-4000801000 3+0 ;"
			 "4000802000-4000803000 1+0 /lib/libc.so;4000803000-4000805000 5+1000 "
			 "/lib/libc.so;4000805000-4000806000 1+3000 /lib/libc.so;"
			 "4000810000-4000811000 7+0 ;");
	ptc_maps_release(&known);
}

Test(guest_view, a_known_mapping_among_qemus_is_kept_and_one_that_is_gone_is_not)
{
	struct ptc_maps known = PTC_MAPS_INIT;

	know(&known, 0x7f0010001000, 0x1000, 0, 5, "/lib/plugin.so");
	know(&known, 0x10000, 0x1000, 0, 5, "/lib/gone.so");
	cr_assert_not_null(
		strstr(view(&known, 0), "7f0010001000-7f0010002000 5+0 /lib/plugin.so;"));
	cr_assert_null(strstr(view(&known, 0), "gone"));
	cr_assert_null(strstr(view(&known, 0), "7f0010002000-"));
	ptc_maps_release(&known);
}

Test(guest_view, addresses_are_the_guests)
{
	const struct ptc_maps known = PTC_MAPS_INIT;

	cr_assert_eq(strncmp(view(&known, 0x4000000000), "0-1000 0+0 ;1000-801000 3+0 ;", 29), 0);
}
