/* SPDX-License-Identifier: MIT */
/* Description: the options of the doctor have a size. */
#include <criterion/criterion.h>

#include "ptcap/doctor.h"

Test(doctor, options_need_a_size)
{
	const struct ptc_doctor_opts none = { .quick = true };
	struct ptc_doctor *d = NULL;
	struct ptc_err err;

	cr_assert_eq(ptc_doctor_new(&none, &d, &err), PTC_E_USAGE);
	cr_assert_null(d);
	ptc_doctor_free(d);
}
