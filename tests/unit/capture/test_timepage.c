/* SPDX-License-Identifier: MIT */
/* Description: the clock is used only if the kernel offers it. */
#include <criterion/criterion.h>

#include "auxtrace/record/layout.h"
#include "base/cursor.h"
#include "capture/host/timepage.h"
#include "capture/session/initial_records.h"

static struct perf_event_mmap_page offered(void)
{
	struct perf_event_mmap_page page = { .time_shift = 31, .time_mult = 826955501 };

	page.cap_user_time_zero = 1;
	page.time_zero = 77;
	return page;
}

static bool taken(const struct perf_event_mmap_page *page)
{
	struct ptc_time_conv tc = { 1, 2, 3 };
	const bool ok = ptc_timepage_read(page, &tc);

	if (!ok)
		cr_assert(tc.shift == 1 && tc.mult == 2 && tc.zero == 3, "it was changed");
	return ok;
}

Test(timepage, what_is_offered_is_taken)
{
	const struct perf_event_mmap_page page = offered();
	struct ptc_time_conv tc;

	cr_assert(ptc_timepage_read(&page, &tc));
	cr_assert_eq(tc.shift, 31);
	cr_assert_eq(tc.mult, 826955501);
	cr_assert_eq(tc.zero, 77);
}

Test(timepage, without_the_capability_there_is_none)
{
	struct perf_event_mmap_page page = offered();

	page.cap_user_time_zero = 0; /* time_shift and time_mult still belong to cap_user_time */
	page.cap_user_time = 1;
	cr_assert(!taken(&page));
}

Test(timepage, what_cannot_be_is_not_taken)
{
	struct perf_event_mmap_page page = offered();

	page.time_mult = 0;
	cr_assert(!taken(&page));
	page = offered();
	page.time_shift = 35;
	cr_assert(!taken(&page));
}

/*
 * Returns how many records of @type a recording of Intel PT begins with; @clock: the kernel has a
 * clock.
 */
static unsigned int count(bool clock, uint32_t type)
{
	const struct ptc_source_id id = { .event = 0, .id = 1, .cpu = 0, .tid = -1 };
	const struct ptc_buf running = PTC_BUF_INIT;
	struct ptc_source_desc desc = {
		.nevents = 1,
		.info = { .type = PTC_AUXTRACE_TYPE_INTEL_PT, .cap_user_time_zero = clock },
	};
	const struct ptc_prologue p = { &desc, &id, 1, &running, 0, false };
	struct ptc_buf b = PTC_BUF_INIT;
	unsigned int n = 0;
	size_t at;

	ptc_prologue_put(&b, &p);
	for (at = 0; at + 8 <= b.len; at += (size_t)(b.bytes[at + 6] | b.bytes[at + 7] << 8))
		n += b.bytes[at] == type && !b.bytes[at + 1];
	cr_assert_eq(at, b.len);
	ptc_buf_release(&b);
	return n;
}

Test(timepage, a_recording_without_that_clock_has_its_trace_and_no_conversion)
{
	cr_assert_eq(count(true, PTC_REC_TIME_CONV), 1);
	cr_assert_eq(count(true, PTC_REC_AUXTRACE_INFO), 1);
	cr_assert_eq(count(false, PTC_REC_TIME_CONV), 0);
	cr_assert_eq(count(false, PTC_REC_AUXTRACE_INFO), 1);
}
