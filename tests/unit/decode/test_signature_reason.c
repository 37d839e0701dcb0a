/* SPDX-License-Identifier: MIT */
/* Description: the kind of the C library's message, which the signature of a crash has. */
#include <criterion/criterion.h>

#include "decode/crash/signature_reason.h"

Test(signature_reason, each_message_about_the_heap_is_the_same_kind)
{
	static const char *const texts[] = {
		"double free or corruption (!prev)",
		"free(): invalid next size (fast)",
		"free(): double free detected in tcache 2",
		"malloc(): corrupted top size",
		"munmap_chunk(): invalid pointer",
		"corrupted size vs. prev_size",
		"realloc(): invalid next size",
		"malloc_consolidate(): unaligned fastbin chunk",
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_assert_str_eq(ptc_signature_abort(texts[i], NULL), "heap", "%s", texts[i]);
}

Test(signature_reason, other_messages_have_their_kind)
{
	cr_assert_str_eq(ptc_signature_abort("*** stack smashing detected ***: terminated", NULL),
			 "buffer");
	cr_assert_str_eq(ptc_signature_abort("*** buffer overflow detected ***: terminated", NULL),
			 "buffer");
	cr_assert_str_eq(ptc_signature_abort("p: free.c:3: free_all: Assertion `n' failed.", NULL),
			 "assertion");
	cr_assert_str_eq(ptc_signature_abort("something else", NULL), "");
}

Test(signature_reason, the_function_tells_the_kind_of_an_unknown_message)
{
	cr_assert_str_eq(ptc_signature_abort(NULL, "__assert_fail"), "assertion");
	cr_assert_str_eq(ptc_signature_abort("", "cfree"), "heap");
	cr_assert_str_eq(ptc_signature_abort(NULL, "__stack_chk_fail"), "buffer");
	cr_assert_str_eq(ptc_signature_abort(NULL, "__memcpy_chk_fail"), "buffer");
	cr_assert_str_eq(ptc_signature_abort(NULL, "runtime.goPanicIndex"), "go-panic");
	cr_assert_str_eq(ptc_signature_abort(NULL, "core::panicking::panic_fmt"), "panic");
	cr_assert_str_eq(ptc_signature_abort(NULL, "abort"), "");
	cr_assert_str_eq(ptc_signature_abort(NULL, NULL), "");
}
