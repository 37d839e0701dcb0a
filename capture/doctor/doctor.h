/* SPDX-License-Identifier: MIT */
/* All checks of `ptcap doctor`. */
#ifndef PTC_CAPTURE_DOCTOR_DOCTOR_H
#define PTC_CAPTURE_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "capture/doctor/check.h"
#include "capture/doctor/commands.h"
#include "capture/doctor/judge.h"
#include "ptcap/error.h"

enum { PTC_CHECKS_MAX = 40 };

enum ptc_doctor_verdict {
	PTC_DOCTOR_NOTHING, /* no source works for this user */
	PTC_DOCTOR_SOFTWARE,
	PTC_DOCTOR_HARDWARE, /* this user may record own programs with Intel PT */
};

struct ptc_doctor {
	struct ptc_check checks[PTC_CHECKS_MAX];
	size_t n;
	struct ptc_check commands[PTC_COMMANDS_MAX];
	size_t ncommands;
	struct ptc_ring_sizes rings; /* the largest; zeros: none */
	struct ptc_costs costs;
	enum ptc_doctor_verdict verdict;
};

struct ptc_doctor_opts {
	bool quick;	    /* measure nothing */
	const char *folder; /* of the recordings: its disk is checked */
};

/*
 * Makes all checks of this machine and user. Takes about two seconds, or a fraction of one with
 * opts->quick. Always succeeds: what cannot be read is a check with PTC_CHECK_UNKNOWN.
 */
void ptc_doctor_run(const struct ptc_doctor_opts *opts, struct ptc_doctor *ret);

#endif
