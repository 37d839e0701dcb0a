/* SPDX-License-Identifier: MIT */
/* Skips a unit test whose program is not installed. Where no test may be skipped, it fails. */
#ifndef PTC_TESTS_LIB_SKIP_H
#define PTC_TESTS_LIB_SKIP_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/*
 * Skips the test, because the program @what is missing. Fails instead if the environment has
 * PTCAP_GUEST=required: `scripts/test --all` installs each program, so a missing one is a fault.
 */
static inline void skip_without(const char *what)
{
	const char *required = getenv("PTCAP_GUEST");

	cr_assert(!required || strcmp(required, "required") != 0, "%s is missing", what);
	cr_skip_test("no %s", what);
}

#endif
