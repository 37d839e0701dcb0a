/* SPDX-License-Identifier: MIT */
/* Description: where a chunk of a ring can begin: at a PSB, and not before a given time. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "arch/pt_packet.h"
#include "base/buf.h"
#include "capture/rings/first_psb.h"

#define NOW UINT64_C(0x0300000000000500)
/* One tick is one nanosecond. */
static const struct ptc_time_conv conv = { .shift = 0, .mult = 1, .zero = 0 };

static void put_psb(struct ptc_buf *b)
{
	int i;

	for (i = 0; i < PTC_PSB_LEN / 2; i++)
		ptc_buf_le16(b, 0x8202);
}

/* PSB, the low 7 bytes of @tsc, PSBEND. */
static void put_psb_plus(struct ptc_buf *b, uint64_t tsc)
{
	put_psb(b);
	ptc_buf_u8(b, 0x19);
	ptc_buf_le32(b, (uint32_t)tsc);
	ptc_buf_le16(b, (uint16_t)(tsc >> 32));
	ptc_buf_u8(b, (uint8_t)(tsc >> 48));
	ptc_buf_le16(b, 0x2302);
}

/*
 * Returns a partial packet, then three PSB+ with these times, each followed by TNT packets; @at:
 * offsets of the PSBs.
 */
static struct ptc_buf trace(const uint64_t times[3], size_t at[3])
{
	struct ptc_buf b = PTC_BUF_INIT;
	int i, k;

	ptc_buf_u8(&b, 0x82); /* the rest of a packet */
	for (i = 0; i < 3; i++) {
		at[i] = b.len;
		put_psb_plus(&b, times[i]);
		for (k = 0; k < 10; k++)
			ptc_buf_u8(&b, 0x06);
	}
	return b;
}

static struct ptc_begin find(const struct ptc_buf *b, size_t len, uint64_t since)
{
	uint8_t *exact = malloc(len ? len : 1); /* exact size, for sanitizers */
	struct ptc_begin ret;

	if (len)
		memcpy(exact, b->bytes, len);
	ret = ptc_begin_find(exact, len, &conv, NOW, since);
	free(exact);
	return ret;
}

Test(first_psb, at_the_first_psb_not_before_a_time)
{
	const uint64_t top = NOW & UINT64_C(0xff00000000000000);
	const uint64_t times[3] = { top + 0x100, top + 0x200, top + 0x300 };
	size_t at[3];
	struct ptc_buf b = trace(times, at);

	cr_assert_eq(find(&b, b.len, 0).at, at[0]);
	cr_assert_eq(find(&b, b.len, 0).time, times[0]);
	cr_assert_eq(find(&b, b.len, times[0]).at, at[0]);
	cr_assert_eq(find(&b, b.len, times[0] + 1).at, at[1]);
	cr_assert_eq(find(&b, b.len, times[2]).at, at[2]);
	cr_assert_eq(find(&b, b.len, times[2] + 1).at, b.len, "all of it is too old");
	cr_assert_eq(find(&b, b.len, times[2] + 1).time, 0);
	ptc_buf_release(&b);
}

/*
 * Packets carry the low 7 bytes of the TSC: times from before the last change of the top byte are
 * handled too.
 */
Test(first_psb, the_top_byte_is_that_of_now_or_one_less)
{
	const uint64_t times[3] = { UINT64_C(0x02fffffffffffff0), UINT64_C(0x0300000000000001),
				    NOW };
	size_t at[3];
	struct ptc_buf b = trace(times, at);

	cr_assert_eq(find(&b, b.len, 0).time, times[0]);
	cr_assert_eq(find(&b, b.len, times[1]).at, at[1]);
	cr_assert_eq(find(&b, b.len, NOW).at, at[2]);
	ptc_buf_release(&b);
}

Test(first_psb, a_psb_without_a_time_will_do_if_no_time_is_asked_for)
{
	struct ptc_buf b = PTC_BUF_INIT;

	put_psb(&b);
	ptc_buf_le16(&b, 0x2302);
	cr_assert_eq(find(&b, b.len, 0).at, 0);
	cr_assert_eq(find(&b, b.len, 0).time, 0);
	cr_assert_eq(find(&b, b.len, 1).at, b.len);
	ptc_buf_release(&b);
}

Test(first_psb, wherever_it_is_cut)
{
	const uint64_t times[3] = { NOW - 3, NOW - 2, NOW - 1 };
	size_t at[3], len;
	struct ptc_buf b = trace(times, at);

	for (len = 0; len <= b.len; len++) {
		const struct ptc_begin any = find(&b, len, 0), last = find(&b, len, times[2]);

		cr_assert_eq(any.at, len < at[0] + PTC_PSB_LEN ? len : at[0], "cut at %zu", len);
		cr_assert_eq(last.at, len < at[2] + PTC_PSB_LEN + 8 ? len : at[2], "cut at %zu",
			     len);
	}
	ptc_buf_release(&b);
}
