/* SPDX-License-Identifier: MIT */
/* What the samples of ptcap/compare.h and ptcap/compare_runs.h lend, behind their functions. */
#ifndef PTC_DECODE_LBR_COMPARE_OWN_H
#define PTC_DECODE_LBR_COMPARE_OWN_H

#include "ptcap/compare.h"
#include "ptcap/compare_runs.h"

/* Of struct ptc_compare_sample. */
struct ptc_compare_own {
	const struct ptc_compare_entry *entries; /* lent; n of them */
	const struct ptc_step *steps;		 /* lent; the steps of the entries point into it */
};

/* Of struct ptc_runs_sample. */
struct ptc_runs_own {
	const struct ptc_runs_entry *entries; /* lent; n of them */
};

#endif
