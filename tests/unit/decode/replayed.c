/* SPDX-License-Identifier: MIT */
#include "replayed.h"

#include <criterion/criterion.h>

void replay_expect(struct ptc_buf *b, struct pt_how how, const char *lines)
{
	const char *got = pt_replay(b, &how);

	cr_assert_str_eq(got, lines, "got:\n%swant:\n%s", got, lines);
	ptc_buf_release(b);
}
