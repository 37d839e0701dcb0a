/* SPDX-License-Identifier: MIT */
/* Description: messages of runtimes in a saved state, and the functions that they depend on. */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/crash/runtime_message.h"

enum { PAGE = 4096, AT = 0x10000 };

Test(runtime_message, a_saved_message_is_read_and_another_kind_is_none)
{
	uint8_t page[64] = { 0, 0x10 }; /* the size of the message's memory: 4096 */
	struct ptc_crash_state_piece piece = { AT, ptc_cur_init(page, sizeof(page)), NULL };
	struct ptc_crash_state d = { .pieces = &piece, .npieces = 1, .nmessages = 1 };
	struct ptc_runtime_message m;

	memcpy(page + 4, "double free\n", sizeof("double free\n"));
	d.messages[0] = (struct ptc_crash_message){ 1, 1, PTC_CRASH_ABORT_MSG, AT };
	cr_assert(ptc_runtime_message_read(&d, 0, &m));
	cr_assert_str_eq(m.text, "double free");
	cr_assert(!m.cut && !m.type[0] && !m.file[0]);
	cr_assert_str_eq(ptc_runtime_message_name(m.kind), "abort-message");
	d.messages[0].addr = AT + PAGE;
	cr_assert_not(ptc_runtime_message_read(&d, 0, &m));
	d.messages[0] = (struct ptc_crash_message){ 1, 1, 77, AT };
	cr_assert_not(ptc_runtime_message_read(&d, 0, &m));
	d.messages[0].what = UINT64_MAX;
	cr_assert_not(ptc_runtime_message_read(&d, 0, &m));
	cr_assert_str_eq(ptc_runtime_message_name((enum ptc_crash_message_kind)77), "?");
}

Test(runtime_message, the_text_counts_if_what_is_the_librarys)
{
	cr_assert(ptc_runtime_message_is_what("std::runtime_error::what() const", "mine"));
	cr_assert(ptc_runtime_message_is_what("_ZNKSt11logic_error4whatEv", "mine"));
	cr_assert(ptc_runtime_message_is_what(NULL, "std::out_of_range"));
	cr_assert_not(ptc_runtime_message_is_what(NULL, "mine"));
	cr_assert_not(ptc_runtime_message_is_what("mine::what() const", "mine"));
	cr_assert_not(ptc_runtime_message_is_what(
		"std::filesystem::__cxx11::filesystem_error::what() const", "mine"));
	cr_assert_not(ptc_runtime_message_is_what(NULL, "std::filesystem::filesystem_error"));
}

Test(runtime_message, functions_that_end_a_program_are_known)
{
	cr_assert(ptc_runtime_message_terminates("std::terminate()"));
	cr_assert(ptc_runtime_message_terminates("_ZSt9terminatev"));
	cr_assert(ptc_runtime_message_terminates("__cxa_throw"));
	cr_assert_not(ptc_runtime_message_terminates("std::terminates()"));
	cr_assert_not(ptc_runtime_message_terminates("abort"));
	cr_assert_not(ptc_runtime_message_terminates(NULL));
}
