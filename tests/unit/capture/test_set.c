/* SPDX-License-Identifier: MIT */
/* Description: which events are told what, and in what order. */
#include <criterion/criterion.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "capture/perf/set.h"

/* What the kernel was asked: "D7 E7 " is DISABLE, then ENABLE, of descriptor 7. */
static char asked[256];

static int note(int fd, unsigned long request)
{
	const size_t n = strlen(asked);

	(void)snprintf(asked + n, sizeof(asked) - n, "%c%d ",
		       request == PERF_EVENT_IOC_ENABLE	 ? 'E' :
		       request == PERF_EVENT_IOC_DISABLE ? 'D' :
							   '?',
		       fd);
	return 0;
}

/* Two threads on two CPUs: the events of CPU 0 are in ring 0, those of CPU 1 in ring 1. */
static struct ptc_slot slots[] = {
	{ .tid = 10, .ring = 0, .fd = { 3, 4, -1 } },
	{ .tid = 10, .ring = 1, .fd = { 5, 6, -1 } },
	{ .tid = 11, .ring = 0, .fd = { 7, 8, -1 } },
	{ .tid = 11, .ring = 1, .fd = { 9, -1, -1 } },
};

static struct ptc_set set(void)
{
	asked[0] = '\0';
	return (struct ptc_set){
		.nevents = 2, .slots = slots, .nslots = 4, .nrings = 2, .control = note
	};
}

Test(set, a_ring_that_was_full_is_switched_off_and_then_on)
{
	struct ptc_set s = set();

	ptc_set_restart_ring(&s, 0);
	cr_assert_str_eq(asked, "D3 D7 E3 E7 ", "each of its events, no side records");
	asked[0] = '\0';
	ptc_set_restart_ring(&s, 1);
	cr_assert_str_eq(asked, "D5 D9 E5 E9 ");
}

Test(set, side_records_go_on_while_the_trace_stands_still)
{
	struct ptc_set s = set();

	ptc_set_enable_side(&s);
	cr_assert_str_eq(asked, "E4 E6 E8 ", "what is not open is not asked");
	asked[0] = '\0';
	ptc_set_disable(&s);
	ptc_set_enable(&s);
	cr_assert_str_eq(asked, "D3 D5 D7 D9 E3 E5 E7 E9 ");
	asked[0] = '\0';
	ptc_set_disable_all(&s);
	cr_assert(strstr(asked, "D3 ") && strstr(asked, "D4 ") && strstr(asked, "D9 "), "%s",
		  asked);
	cr_assert(!strchr(asked, 'E'));
}
