/* SPDX-License-Identifier: MIT */
/* Description: the file of a program is found as by execvp. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/find_program.h"

Test(find_program, commands_are_found_on_the_path_and_failures_told_apart)
{
	struct ptc_err err;
	char *path = NULL;

	cr_assert_eq(setenv("PATH", "/nowhere:/usr/bin:/bin", 1), 0);
	cr_assert_eq(ptc_find_program("true", &path, &err), 0);
	cr_assert(path[0] == '/');
	free(path);
	cr_assert_eq(ptc_find_program("no-such-command-here", &path, &err), PTC_E_NO_COMMAND);
	cr_assert_eq(ptc_find_program("", &path, &err), PTC_E_NO_COMMAND);
	cr_assert_eq(ptc_find_program("/etc/passwd/x", &path, &err), PTC_E_NO_COMMAND);
	cr_assert_eq(ptc_find_program("/etc", &path, &err), PTC_E_BAD_COMMAND);
	cr_assert_eq(ptc_find_program("/etc/passwd", &path, &err), PTC_E_BAD_COMMAND);
}
