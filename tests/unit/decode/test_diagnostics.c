/* SPDX-License-Identifier: MIT */
/* Description: notes of a segment that another thread made join those of the decoder. */
#include <criterion/criterion.h>

#include "decode/image/diagnostics.h"

Test(diagnostics, code_that_was_mapped_later_is_taken_with_its_first_address)
{
	struct ptc_notes all = { .n = 0 }, part = { .apart = true };

	cr_assert(!ptc_notes_are_any(&part));
	ptc_notes_late_code(&part, 0x1000);
	ptc_notes_late_code(&part, 0x2000);
	cr_assert(ptc_notes_are_any(&part));
	ptc_notes_take(&all, &part);
	cr_assert_eq(all.late_code, 2);
	cr_assert_eq(all.late_ip, 0x1000);
	part = (struct ptc_notes){ .apart = true };
	ptc_notes_late_code(&part, 0x3000);
	ptc_notes_take(&all, &part);
	cr_assert_eq(all.late_code, 3);
	cr_assert_eq(all.late_ip, 0x1000);
	ptc_notes_release(&part);
	ptc_notes_release(&all);
}
