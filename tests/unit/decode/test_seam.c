/* SPDX-License-Identifier: MIT */
/* Description: when two replays of a queue have the same state. */
#include <criterion/criterion.h>
#include <stddef.h>
#include <string.h>

#include "decode/segment/seam.h"

static const struct ptc_seam here = {
	.spot = { 1, 0x100 },
	.from = 0xe0,
	.floor = 0xf0,
	.raw = 0x100,
	.prev_off = 0xf8,
	.prev2_off = 0xf0,
	.psb = 0x800,
	.now = 5,
	.ahead = { { .spot = { 1, 0x800 }, .ns = 9 }, { .spot = { 1, 0x1000 }, .ns = 12 } },
	.last_ip = 0x401000,
	.last_kind = 3,
	.last_len = 2,
	.pid = 7,
	.tid = 8,
	.cpu = 1,
	.as_version = 4,
};

Test(seam, those_that_stand_alike_agree)
{
	const struct ptc_seam other = here;

	cr_assert(ptc_seam_agrees(&here, &other));
}

#define FIELD(name)                                                                                \
	{                                                                                          \
		offsetof(struct ptc_seam, name), #name                                             \
	}

Test(seam, one_difference_is_enough_to_disagree)
{
	static const struct {
		size_t at;
		const char *name;
	} fields[] = {
		FIELD(spot.span),  FIELD(spot.off),    FIELD(raw),
		FIELD(prev_off),   FIELD(prev2_off),   FIELD(psb),
		FIELD(next_mark),  FIELD(now),	       FIELD(prev_now),
		FIELD(told),	   FIELD(bound),       FIELD(ahead_last),
		FIELD(ahead[0]),   FIELD(ahead[1].ns), FIELD(ahead[1].spot.off),
		FIELD(last_ip),	   FIELD(last_time),   FIELD(last_kind),
		FIELD(last_len),   FIELD(loop_mark),   FIELD(loop_steps),
		FIELD(loop_limit), FIELD(pid),	       FIELD(tid),
		FIELD(cpu),	   FIELD(as_version),  FIELD(from),
		FIELD(floor),	   FIELD(mode),
	};
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct ptc_seam other = here;

		((unsigned char *)&other)[fields[i].at] ^= 1;
		cr_assert_not(ptc_seam_agrees(&here, &other), "%s", fields[i].name);
	}
}
