/* SPDX-License-Identifier: MIT */
/* Skips a unit test that cannot run here. Where no test may be skipped, it fails. */
#ifndef PTC_TESTS_LIB_SKIP_H
#define PTC_TESTS_LIB_SKIP_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Skips the test for an ordinary user, who cannot give files away. `scripts/test --all` is root. */
static inline void skip_without_root(void)
{
	if (geteuid())
		skip_without("root");
}

#endif
