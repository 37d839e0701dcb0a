/* SPDX-License-Identifier: MIT */
/* Description: numbers as hex digits. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/hex.h"

static void hold(uint64_t v)
{
	char room[PTC_HEX_ROOM + 1], want[PTC_HEX_ROOM + 1];
	const char *end;
	size_t n;

	memset(room, '?', sizeof(room));
	n = (size_t)snprintf(want, sizeof(want), "%" PRIx64, v);
	end = ptc_put_hex(room, v);
	cr_assert(end == room + n && !memcmp(room, want, n), "%s", want);
	cr_assert_eq(room[PTC_HEX_ROOM], '?', "nothing is written behind its room");
}

Test(hex, numbers_of_every_length_are_written)
{
	int bits;

	hold(0);
	for (bits = 0; bits < 64; bits++) {
		hold(1ull << bits);
		hold(UINT64_MAX >> bits);
		hold(0x9abcdef012345678 >> bits);
		hold(0x0f1e2d3c4b5a6978 >> bits);
	}
}
