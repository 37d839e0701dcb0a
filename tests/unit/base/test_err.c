/* SPDX-License-Identifier: MIT */
/* Description: error objects: the code, the message, the context. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"

Test(err, fail_formats_and_returns_the_code)
{
	struct ptc_err err = { .sys = 5, .off = 7 };

	cr_assert_eq(ptc_fail(&err, PTC_E_LIMIT, "%d of '%s'", 3, "x"), PTC_E_LIMIT);
	cr_assert_eq(err.code, PTC_E_LIMIT);
	cr_assert_str_eq(err.msg, "3 of 'x'");
	cr_assert_eq(err.sys, 0, "nothing is left of an older error");
	cr_assert_eq(err.off, 0);
}

Test(err, fail_at_names_the_offset)
{
	struct ptc_err err;

	cr_assert_eq(ptc_fail_at(&err, PTC_E_FORMAT, 0x1f0, "bad record"), PTC_E_FORMAT);
	cr_assert_str_eq(err.msg, "bad record (offset 0x1f0)");
	cr_assert_eq(err.off, 0x1f0);
}

Test(err, fail_sys_says_what_the_caller_can_do_next)
{
	static const struct {
		int sys;
		enum ptc_errc code;
	} cases[] = {
		{ EIO, PTC_E_IO },	     { ENOSPC, PTC_E_IO },
		{ EACCES, PTC_E_PERM },	     { EPERM, PTC_E_PERM },
		{ ENOENT, PTC_E_NOT_EXIST }, { ESRCH, PTC_E_NOT_EXIST },
		{ ENOMEM, PTC_E_NO_MEMORY }, { EBUSY, PTC_E_BUSY },
	};
	struct ptc_err err;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(ptc_fail_sys(&err, cases[i].sys, "cannot open '%s'", "f"),
			     cases[i].code, "errno %d", cases[i].sys);
		cr_assert_eq(err.sys, cases[i].sys);
	}
	(void)ptc_fail_sys(&err, ENOENT, "cannot open '%s'", "f");
	cr_assert_str_eq(err.msg, "cannot open 'f': No such file or directory");
}

Test(err, out_of_memory_needs_no_words)
{
	struct ptc_err err;

	cr_assert_eq(ptc_fail_mem(&err), PTC_E_NO_MEMORY);
	cr_assert_str_eq(err.msg, "out of memory");
	cr_assert_eq(err.sys, ENOMEM);
}

Test(err, prefix_keeps_code_and_offset)
{
	struct ptc_err err;

	(void)ptc_fail_at(&err, PTC_E_FORMAT, 16, "bad magic");
	cr_assert_eq(ptc_err_prefix(&err, "'%s': ", "perf.data"), PTC_E_FORMAT);
	cr_assert_str_eq(err.msg, "'perf.data': bad magic (offset 0x10)");
	cr_assert_eq(err.off, 16);
}

Test(err, long_messages_are_cut_not_overrun)
{
	struct ptc_err err;
	char name[1000];
	int i;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	(void)ptc_fail_at(&err, PTC_E_FORMAT, 1, "'%s'", name);
	cr_assert_eq(strlen(err.msg), sizeof(err.msg) - 1);
	for (i = 0; i < 3; i++)
		cr_assert_eq(ptc_err_prefix(&err, "%s: ", name), PTC_E_FORMAT);
	cr_assert_eq(strlen(err.msg), sizeof(err.msg) - 1);
}
