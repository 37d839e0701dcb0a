/* SPDX-License-Identifier: MIT */
/* Description: a file has names and lines, or none, or cannot be read. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "ptcap/debug_state.h"

Test(debug_state, this_program_has_names_and_a_text_has_none)
{
	struct ptc_debug_search *s;
	const struct ptc_debug_state *state;
	char *self = realpath("/proc/self/exe", NULL);
	struct ptc_err err;

	cr_assert_not_null(self);
	cr_assert_eq(ptc_debug_search_new(NULL, &s, &err), 0);
	state = ptc_debug_search_file(s, self, -1);
	cr_assert_geq(state->has, PTC_DEBUG_NAMES);
	cr_assert_null(state->path);
	state = ptc_debug_search_file(s, "/etc/passwd", -1);
	cr_assert_eq(state->has, PTC_DEBUG_UNREADABLE);
	cr_assert_eq(state->id.len, 0);
	state = ptc_debug_search_file(s, "/no/such/file", (int32_t)getpid());
	cr_assert_eq(state->has, PTC_DEBUG_UNREADABLE);
	ptc_debug_search_free(s);
	ptc_debug_search_free(NULL);
	free(self);
}
