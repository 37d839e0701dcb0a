/* SPDX-License-Identifier: MIT */
/* Description: options of older and newer callers, and of callers that did not set the size. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/opts.h"

struct known {
	size_t size;
	int first, second;
};

struct newer {
	struct known known;
	int third;
};

static struct ptc_err err;

static int take(struct known *ret, const void *opts)
{
	memset(ret, 0xff, sizeof(*ret));
	return ptc_opts_take(ret, sizeof(*ret), opts, "X_INIT", &err);
}

Test(opts, the_same_size_is_copied)
{
	const struct known o = { .size = sizeof(o), .first = 1, .second = 2 };
	struct known got;

	cr_assert_eq(take(&got, &o), 0);
	cr_assert_eq(got.first, 1);
	cr_assert_eq(got.second, 2);
}

Test(opts, what_an_older_caller_does_not_know_is_0)
{
	const size_t size = offsetof(struct known, second);
	const struct known older = { .size = size, .first = 7 };
	void *o = malloc(size); /* exact size: ASan sees one byte too many */
	struct known got;

	memcpy(o, &older, size);
	cr_assert_eq(take(&got, o), 0);
	cr_assert_eq(got.first, 7);
	cr_assert_eq(got.second, 0);
	cr_assert_eq(got.size, sizeof(got));
	free(o);
}

Test(opts, what_a_newer_caller_set_is_refused)
{
	struct newer o = { .known.size = sizeof(o) };
	struct known got;

	cr_assert_eq(take(&got, &o), 0);
	o.third = 1;
	cr_assert_eq(take(&got, &o), PTC_E_UNSUPPORTED);
}

Test(opts, a_size_that_is_not_set_is_refused_and_the_initialiser_named)
{
	struct known o = { .size = 0 };
	struct known got;

	cr_assert_eq(take(&got, &o), PTC_E_USAGE);
	cr_assert(strstr(err.msg, "X_INIT"), "%s", err.msg);
	o.size = SIZE_MAX; /* as if the caller left it uninitialised */
	cr_assert_eq(take(&got, &o), PTC_E_USAGE);
	cr_assert_eq(take(&got, NULL), PTC_E_USAGE);
}

Test(opts, an_older_caller_gets_the_members_that_it_knows)
{
	const size_t size = offsetof(struct known, second);
	const struct known mine = { .size = 77, .first = 1, .second = 2 };
	struct known *older = malloc(size); /* exact size: ASan sees one byte too many */

	memcpy(older, &size, sizeof(size));
	ptc_opts_give(older, &mine, sizeof(mine));
	cr_assert(!memcmp(older, &size, sizeof(size)));
	cr_assert_eq(older->first, 1);
	free(older);
}

Test(opts, a_newer_caller_keeps_what_this_library_does_not_know)
{
	const struct known mine = { .size = 77, .first = 1, .second = 2 };
	struct newer n = { .known.size = sizeof(n), .third = 3 };

	ptc_opts_give(&n, &mine, sizeof(mine));
	cr_assert(n.known.size == sizeof(n) && n.known.second == 2 && n.third == 3);
}

Test(opts, nothing_is_given_without_a_size)
{
	const struct known mine = { .size = sizeof(mine), .first = 1 };
	struct known k = { .size = 0 };

	ptc_opts_give(&k, &mine, sizeof(mine));
	cr_assert(!k.size && !k.first);
	k.size = SIZE_MAX;
	ptc_opts_give(&k, &mine, sizeof(mine));
	cr_assert(!k.first);
}
