/* SPDX-License-Identifier: MIT */
/* Description: the text of /proc/TID/syscall, and the numbers of our own thread. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "capture/crash/thread_status.h"

Test(thread_status, a_call_has_a_number_arguments_and_two_addresses)
{
	struct ptc_thread_call c;

	cr_assert(ptc_thread_status_parse(
		"58 0x1 0x2 0x3 0x4 0x5 0xffffffffffffffff 0x7ffc0010 0x7f0012\n", &c));
	cr_assert(c.nr == 58 && c.args[0] == 1 && c.args[5] == UINT64_MAX && c.sp == 0x7ffc0010 &&
		  c.ip == 0x7f0012);
}

Test(thread_status, a_thread_outside_of_a_call_has_none)
{
	struct ptc_thread_call c;

	cr_assert_not(ptc_thread_status_parse("running\n", &c));
	cr_assert_not(ptc_thread_status_parse("-1 0x7ffc0010 0x7f0012\n", &c));
	cr_assert_not(ptc_thread_status_parse("", &c));
	cr_assert_not(ptc_thread_status_parse("58 0x1 0x2 0x3 0x4 0x5 0x6 0x7\n", &c));
}

Test(thread_status, it_has_the_number_in_the_innermost_namespace)
{
	struct ptc_thread_status s = { .own_tid = 0 };

	ptc_thread_status_read(&s, getpid());
	cr_assert_eq(s.own_tid, (uint64_t)getpid());
}
